package cache

import "math/bits"

// agedSet is a set of L1 in launches whose loads have eviction hints for it.
type agedSet struct {
	tags  [l1Ways]uint64 // line+1; 0: empty
	age   [l1Ways]uint32
	valid [l1Ways]uint8 // sectors
}

// find gives the way of a line; a new line takes the place of the least recently used one.
func (s *agedSet) find(tag uint64, clock uint32) int {
	way, least := 0, ^uint32(0)
	for k, t := range &s.tags {
		if t == tag {
			s.age[k] = clock
			return k
		}
		if s.age[k] < least {
			way, least = k, s.age[k]
		}
	}
	s.tags[way], s.age[way], s.valid[way] = tag, clock, 0
	return way
}

// loadHinted is load by ages; clock is that of the line before the turn.
func (f *first) loadHinted(w *tally, e Entry, line uint64, n, after int, clock uint32, hint Hint) {
	sectors := uint8(e & Sectors)
	for k := range n {
		at := line + uint64(k)
		now := clock + uint32(after+k) + 1
		s := &f.aged[f.of.of(at^at>>7)]
		way := s.find(at+1, now) & (l1Ways - 1)
		if hint != 0 {
			s.age[way] = hint.age(now, FirstL1, LastL1)
		}
		lack := sectors &^ s.valid[way]
		s.valid[way] |= sectors
		w.hits += uint64(bits.OnesCount8(sectors &^ lack))
		if lack != 0 {
			f.put(e&^Sectors|Entry(lack), at, 1, after+k)
		}
	}
}
