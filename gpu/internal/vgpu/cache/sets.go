package cache

import "math/bits"

const l2Ways = 16

// set is a set of L2: three cache lines of the host. Epochs tell what is of an earlier launch, so that emptying it costs nothing.
type set struct {
	tags    [l2Ways]uint32 // line+1
	age     [l2Ways]uint32
	state   [l2Ways]uint8 // valid sectors, and dirty ones above
	epoch   uint64
	recent  uint8 // the way that was used last
	partial bool  // some sector was filled in part: the set's filledWays say how far
	listed  bool  // among the sets with dirty lines
	_       [37]uint8
}

// filledWays are the partly filled sectors of a set's ways.
type filledWays [l2Ways]filledSectors

// touch reads a word of each of the set's lines.
func (s *set) touch() uint32 { return s.tags[0] + s.age[0] + uint32(s.recent) }

// find gives the way of a line, and the dirty sectors of the one that had to leave for it.
func (s *set) find(epoch uint64, tag, clock uint32) (way int, evicted uint8) {
	if s.epoch != epoch {
		*s = set{epoch: epoch, listed: s.listed}
	}
	if k := int(s.recent & (l2Ways - 1)); s.tags[k] == tag {
		s.age[k] = clock
		return k, 0
	}
	way, hit := findWay(s, tag)
	s.recent, s.age[way] = uint8(way), clock
	if hit {
		return way, 0
	}
	evicted = s.state[way] >> 4
	s.tags[way], s.state[way] = tag, 0
	return way, evicted
}

// searchWay is findWay: the way with a tag, else the first of the least recently used ones.
func searchWay(s *set, tag uint32) (way int, hit bool) {
	least := ^uint32(0)
	for k, t := range &s.tags {
		if t == tag {
			return k, true
		}
		if age := s.age[k]; age < least {
			way, least = k, age
		}
	}
	return way, false
}

// inSets takes lines of a miss through the sets.
func (l *second) inSets(e Entry, line uint64, n int, clock uint32) {
	var at [mostRun]uint32
	touched := l.sink
	for k := range n {
		at[k&(mostRun-1)] = uint32(l.place(line + uint64(k)))
		touched += l.sets[at[k&(mostRun-1)]].touch()
	}
	l.sink = touched
	for k := range n {
		clock++
		p := l.pages.page((line + uint64(k)) / pageLines)
		if p.seen == nil {
			p.seen = l.pages.seen.next()
		}
		l.see(&p.seen[(line+uint64(k))%pageLines], e)
		l.access(at[k&(mostRun-1)], e, line+uint64(k), clock)
	}
}

// access takes a line through its set.
func (l *second) access(at uint32, e Entry, line uint64, clock uint32) {
	s := &l.sets[at]
	way, evicted := s.find(l.epoch, uint32(line+1), clock)
	if evicted != 0 {
		n := uint64(bits.OnesCount8(evicted))
		l.counts.DRAMWriteSectors += n
		l.dirty -= n
		if s.partial {
			l.counts.DRAMReadSectors += uint64(bits.OnesCount8(l.filled[at][way].holes(evicted)))
			l.filled[at][way] = filledSectors{}
		}
	} else if s.partial && s.state[way] == 0 {
		l.filled[at][way] = filledSectors{}
	}
	if h := l.hintOf(e); h != 0 {
		s.age[way] = h.inL2(clock)
	}
	state := s.state[way]
	if e&(Write|Atomic) == Write {
		if words := e.fill(); words != 0 && !s.partial {
			s.partial, l.filled[at] = true, filledWays{}
		}
		if s.partial {
			l.filled[at][way].store(e.fill(), uint8(e&Sectors), state&15, state>>4)
		}
	}
	s.state[way] = l.step(state, e)
	if s.state[way]>>4 != 0 && !s.listed {
		s.listed = true
		l.written = append(l.written, at)
	}
}

// cleanSets writes back what is dirty in the sets, or drops it.
func (l *second) cleanSets(count bool) {
	for _, at := range l.written {
		s := &l.sets[at]
		s.listed = false
		for way, state := range s.state {
			if dirty := state >> 4; dirty != 0 && s.partial && count {
				l.counts.DRAMReadSectors += uint64(bits.OnesCount8(l.filled[at][way].holes(dirty)))
			}
			s.state[way] = state & 15
		}
		if s.partial {
			s.partial, l.filled[at] = false, filledWays{}
		}
	}
	l.written = l.written[:0]
}
