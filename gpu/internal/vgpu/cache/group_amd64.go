package cache

// vectorLook is lookUp.
//
//go:noescape
func vectorLook(quad *group, tag, flip, lines, sectors uint64, lack *[4]uint64) (found int)

func look(g *group, tag, flip, lines, sectors uint64, lack *[4]uint64) (found int) {
	if vectors {
		return vectorLook(g, tag, flip, lines, sectors, lack)
	}
	return lookUp(g, tag, flip, lines, sectors, lack)
}
