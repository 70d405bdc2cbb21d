package cache

import "math/bits"

// pageLines is how many neighbouring lines have their state in one page.
const pageLines = 512

// A lineState is what is known of a line as long as L2 has evicted nothing. From bit 0: the sectors that are valid in L2, those that
// the launch has read, those that it has written, which are dirty; how many lines came before it; and when it was used last. 0:
// the line is not in L2.
type lineState uint64

const (
	validShift   = 0
	readShift    = 4
	writtenShift = 8
	bornShift    = 12
	ageShift     = 32
	mostBorn     = 1<<(ageShift-bornShift) - 1
)

func (s lineState) valid() uint8   { return uint8(s>>validShift) & 15 }
func (s lineState) written() uint8 { return uint8(s>>writtenShift) & 15 }
func (s lineState) born() uint32   { return uint32(s) >> bornShift }
func (s lineState) age() uint32    { return uint32(s >> ageShift) }

// seen is which sectors the launch has read, and above them those that it has written.
func (s lineState) seen() uint8 { return uint8(s >> readShift) }

// forgotten is the state after the end of a launch: what is dirty has been written back.
func (s lineState) forgotten() lineState { return s &^ (255 << readShift) }

// page is what is known of neighbouring lines.
type page struct {
	at      uint64                    // number of the page
	lines   *[pageLines]lineState     // nil: none is in L2, or sets hold their state
	seen    *[pageLines]uint8         // beside sets
	partial *[pageLines]filledSectors // of sectors that stores have filled in part; nil: none
	dirty   bool                      // among those with dirty lines
}

// filledSectors are, of a line's sectors without their old contents, the words that partial stores have brought; 0: all.
type filledSectors [4]uint8

// store notes a store of so many words to each of some sectors (0: all of them), of a line with these valid and dirty ones.
func (f *filledSectors) store(words, sectors, valid, dirty uint8) {
	if words == 0 {
		for left := sectors; left != 0; left &= left - 1 {
			f[bits.TrailingZeros8(left)&3] = 0
		}
		return
	}
	for left := sectors &^ (valid &^ f.holes(dirty)); left != 0; left &= left - 1 {
		filled := &f[bits.TrailingZeros8(left)&3]
		*filled = min(*filled+words, sectorWords)
	}
}

// holes are those of the dirty sectors that lack a part.
func (f *filledSectors) holes(dirty uint8) (sectors uint8) {
	for i, n := range f {
		if n > 0 && n < sectorWords {
			sectors |= 1 << i
		}
	}
	return sectors & dirty
}

const (
	nearPages = 1024
	slabSize  = 64
)

// pages finds the pages of lines.
type pages struct {
	byNumber map[uint64]*page
	near     [nearPages]*page // by the last bits of their numbers
	list     []*page
	fresh    slabs[page]
	lines    slabs[[pageLines]lineState]
	seen     slabs[[pageLines]uint8]
}

// slabs are structures that are allocated in lots, and all given back at once.
type slabs[T any] struct {
	slabs []*[slabSize]T
	used  int
}

// next is a cleared structure.
func (s *slabs[T]) next() *T {
	lot := s.used / slabSize
	if lot == len(s.slabs) {
		s.slabs = append(s.slabs, new([slabSize]T))
	}
	t := &s.slabs[lot][s.used%slabSize]
	s.used++
	var zero T
	*t = zero
	return t
}

// reset takes all structures back, and leaves to the garbage collector what is more than most.
func (s *slabs[T]) reset(most int) {
	s.used = 0
	if n := (most + slabSize - 1) / slabSize; len(s.slabs) > n {
		clear(s.slabs[n:])
		s.slabs = s.slabs[:n]
	}
}

// reset forgets all pages, and keeps the memory of at most so many.
func (p *pages) reset(most int) {
	p.byNumber = make(map[uint64]*page, min(len(p.list), most))
	clear(p.near[:])
	p.list = p.list[:0]
	p.fresh.reset(most)
	p.lines.reset(most)
	p.seen.reset(most)
}

// page finds or makes a page.
func (p *pages) page(at uint64) *page {
	near := &p.near[at%nearPages]
	if g := *near; g != nil && g.at == at {
		return g
	}
	g := p.byNumber[at]
	if g == nil {
		g = p.fresh.next()
		g.at = at
		p.byNumber[at] = g
		p.list = append(p.list, g)
	}
	*near = g
	return g
}

// forget drops what a launch has touched, and keeps what is in L2.
func (p *pages) forget() {
	for _, g := range p.list {
		if g.lines != nil {
			for i, s := range g.lines {
				g.lines[i] = s.forgotten()
			}
		}
		if g.seen != nil {
			*g.seen = [pageLines]uint8{}
		}
	}
}
