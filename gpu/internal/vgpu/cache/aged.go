package cache

// agedSet is a set of L1 in a launch whose loads have used an eviction hint for it.
type agedSet struct {
	tags  [l1Ways]uint64 // line+1; 0: empty
	age   [l1Ways]uint64
	valid [l1Ways]uint8 // sectors
}

// usedAge is the age of a line that was used, without a hint, at clock 0. Lower ones are for lines that were used before the launch's
// first hint, which are l1Ways a set, and below those for lines that should leave first.
const usedAge = 1<<32 + l1Ways

// inL1 is the age of a line of L1 just used. Lines that should leave first do so before all others, the oldest of them first.
func (h Hint) inL1(clock uint32) uint64 {
	switch {
	case h&FirstL1 != 0:
		return uint64(clock)
	case h&LastL1 != 0:
		return usedAge + uint64(clock) + keptAhead
	}
	return usedAge + uint64(clock)
}

// toAges moves what the groups hold, by order of use, to sets by age: a hint has come.
func (f *first) toAges() {
	f.aged = emptied(f.aged, int(f.of.n))
	for at := range f.aged {
		s, g := &f.aged[at], &f.groups[at/4]
		for way := range l1Ways {
			word := g[way][at&3]
			if word == 0 {
				break
			}
			s.tags[way], s.valid[way], s.age[way] = word>>tagShift, uint8(word&^tagMask), usedAge-uint64(way)
		}
	}
}

// find gives the way of a line; a new line takes the place of the oldest one.
func (s *agedSet) find(tag, age uint64) int {
	way, least := 0, ^uint64(0)
	for k, t := range &s.tags {
		if t == tag {
			s.age[k] = age
			return k
		}
		if s.age[k] < least {
			way, least = k, s.age[k]
		}
	}
	s.tags[way], s.age[way], s.valid[way] = tag, age, 0
	return way
}

// loadHinted is load by ages; clock is that of the line before the turn.
func (f *first) loadHinted(w *tally, e Entry, line uint64, n, after int, clock uint32, hint Hint) {
	sectors := uint8(e & Sectors)
	f.leaving(w, e, line, n, after, func(k int) uint64 {
		at := line + uint64(k)
		s := &f.aged[f.of.of(at^at>>7)]
		way := s.find(at+1, hint.inL1(clock+uint32(after+k)+1)) & (l1Ways - 1)
		lack := sectors &^ s.valid[way]
		s.valid[way] |= sectors
		return uint64(lack)
	})
}
