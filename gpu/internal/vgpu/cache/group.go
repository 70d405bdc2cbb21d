package cache

const (
	l1Ways   = 4
	tagShift = 4
	tagMask  = ^uint64(15)
)

// group is four neighbouring sets of L1, way by way, so that four neighbouring lines are looked up at once: the way used last
// first. A word is the line plus one, shifted left over its valid sectors. Line n stands in set n ^ n>>7, modulo the sets: a group
// holds four lines that are neighbours, in an order that is the same for each of them.
type group [l1Ways][4]uint64

// look looks for a line in a lane, makes it the one used last, and tells which sectors it lacks.
func (g *group) look(lane, line, sectors uint64) (lack uint64) {
	tag := (line + 1) << tagShift
	lane &= 3
	word, way := tag, 0
	for ; way < l1Ways; way++ {
		if g[way][lane]&tagMask == tag {
			word = g[way][lane]
			break
		}
	}
	for way = min(way, l1Ways-1); way > 0; way-- {
		g[way][lane] = g[way-1][lane]
	}
	g[0][lane] = word | sectors
	return sectors &^ word
}
