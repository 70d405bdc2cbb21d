package cache

const (
	l1Ways   = 4
	tagShift = 4
	tagMask  = ^uint64(15)
)

// group is four neighbouring sets of L1, way by way, so that four neighbouring lines are looked up at once: the way used last
// first. A word is the line plus one, shifted left over its valid sectors.
type group [l1Ways][4]uint64

// What look finds.
const (
	allFound  = 0 // every sector
	noneFound = 1
	someFound = 2
)

// lookUp is look: it looks for some of four neighbouring lines, of which the first has the tag and lane k is for line k ^ flip,
// makes them the ones used last, and tells by lane which sectors they lack.
func lookUp(g *group, tag, flip, lines, sectors uint64, lack *[4]uint64) (found int) {
	any, all := uint64(0), sectors
	for k := range uint64(4) {
		lane := (k ^ flip) & 3
		if lines>>k&1 == 0 {
			lack[lane] = 0
			continue
		}
		t := tag + k<<tagShift
		word, way := t, 0
		for ; way < l1Ways; way++ {
			if g[way][lane]&tagMask == t {
				word = g[way][lane]
				break
			}
		}
		for way = min(way, l1Ways-1); way > 0; way-- {
			g[way][lane] = g[way-1][lane]
		}
		g[0][lane] = word | sectors
		lack[lane] = sectors &^ word
		any, all = any|lack[lane], all&lack[lane]
	}
	switch {
	case any == 0:
		return allFound
	case all == sectors:
		return noneFound
	}
	return someFound
}
