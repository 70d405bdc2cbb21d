//go:build !amd64

package cache

func look(g *group, tag, flip, lines, sectors uint64, lack *[4]uint64) (found int) {
	return lookUp(g, tag, flip, lines, sectors, lack)
}
