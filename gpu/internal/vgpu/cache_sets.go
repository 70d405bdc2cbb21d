package vgpu

import "math/bits"

// Sets of the two caches: sectored lines, least-recently-used replacement. A set of L1 is one cache line of the host, one of
// L2 three. Epochs tell what is of an earlier launch, so that emptying a cache costs nothing.
type l1Set struct {
	tags   [l1Ways]uint64 // epoch<<40 | line+1
	age    [l1Ways]uint32
	valid  [l1Ways]uint8 // sectors
	recent uint8         // the way that was used last
	_      [11]uint8
}

type l2Set struct {
	tags    [l2Ways]uint32 // line+1
	age     [l2Ways]uint32
	state   [l2Ways]uint8 // valid sectors, and dirty ones above
	epoch   uint64
	recent  uint8
	partial bool // some sector was filled in part: the set's filledWays say how far
	listed  bool // among the sets with dirty lines
	_       [37]uint8
}

// sectorWords is how many words fill a sector.
const sectorWords = 8

// filledWays are, of sectors without their old contents, the words that partial stores have brought; 0: all.
type filledWays [l2Ways][4]uint8

// holes are those of a way's dirty sectors that lack a part.
func (f *filledWays) holes(way int, dirty uint8) (sectors uint8) {
	for i, n := range f[way&(l2Ways-1)] {
		if n > 0 && n < sectorWords {
			sectors |= 1 << i
		}
	}
	return sectors & dirty
}

// find gives the way of a line; a new line takes the place of the least recently used one.
func (s *l1Set) find(tag uint64, clock uint32) uint8 {
	if k := s.recent & (l1Ways - 1); s.tags[k] == tag {
		s.age[k] = clock
		return k
	}
	way, least := uint8(0), ^uint32(0)
	for k, t := range &s.tags {
		if t == tag {
			s.recent, s.age[k] = uint8(k), clock
			return uint8(k)
		}
		age := s.age[k]
		if t>>40 != tag>>40 { // of an earlier launch: empty
			age = 0
		}
		if age < least {
			way, least = uint8(k), age
		}
	}
	way &= l1Ways - 1
	s.tags[way], s.age[way], s.valid[way], s.recent = tag, clock, 0, way
	return way
}

// touch reads a word of each of the set's lines.
func (s *l2Set) touch() uint32 { return s.tags[0] + s.age[0] + uint32(s.recent) }

// find gives the way of a line, and the dirty sectors of the one that had to leave for it.
func (s *l2Set) find(epoch uint64, tag, clock uint32) (way int, evicted uint8) {
	if s.epoch != epoch {
		*s = l2Set{epoch: epoch, listed: s.listed}
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
func searchWay(s *l2Set, tag uint32) (way int, hit bool) {
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

// clean writes back what is dirty, or drops it.
func (r *replay) clean(count bool) {
	for _, at := range r.written {
		set := &r.l2[at]
		set.listed = false
		for way, state := range set.state {
			if dirty := state >> 4; dirty != 0 && set.partial && count {
				r.counts.DRAMReadSectors += uint64(bits.OnesCount8(r.filled[at].holes(way, dirty)))
			}
			set.state[way] = state & 15
		}
		if set.partial {
			set.partial, r.filled[at] = false, filledWays{}
		}
	}
	r.written = r.written[:0]
}
