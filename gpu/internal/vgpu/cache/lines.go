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

// A quad is the state of four neighbouring lines, as long as they came together and were only ever read as a whole: the first one's
// place among the lines that came, and its age; the others follow it. Otherwise their lineStates stand in the page's lines. 0: none
// is in L2.
type quad uint64

const (
	quadWhole  quad = 1 << 0
	quadRead   quad = 1 << 1 // by this launch
	quadSpread quad = 1 << 2 // over lines
	quadLines       = 4
)

// line is the state of the k-th line.
func (q quad) line(k int) (s lineState) {
	if q&quadWhole == 0 {
		return 0
	}
	s = lineState(q)>>bornShift<<bornShift | 15<<validShift
	if q&quadRead != 0 {
		s |= 15 << readShift
	}
	return s + lineState(k)<<bornShift + lineState(k)<<ageShift
}

// page is what is known of neighbouring lines.
type page struct {
	at      uint64                       // number of the page
	quads   *[pageLines / quadLines]quad // nil: sets hold the state
	lines   *[pageLines]lineState        // of quads that are spread; nil: none is
	seen    *[pageLines]uint8            // beside sets
	partial *[pageLines]filledSectors    // of sectors that stores have filled in part; nil: none
	dirty   bool                         // among those with dirty lines
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

// nearPage is a page that was looked for lately.
type nearPage struct {
	after uint64 // its number, and 1 more
	quads *[pageLines / quadLines]quad
	page  *page
}

// pages finds the pages of lines.
type pages struct {
	byNumber map[uint64]*page
	near     [nearPages]nearPage // by the last bits of their numbers
	list     []*page
	fresh    slabs[page]
	quads    slabs[[pageLines / quadLines]quad]
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
	p.quads.reset(most)
	p.lines.reset(most)
	p.seen.reset(most)
}

// page finds or makes a page.
func (p *pages) page(at uint64) *page {
	near := &p.near[at%nearPages]
	if near.after == at+1 {
		return near.page
	}
	g := p.byNumber[at]
	if g == nil {
		g = p.fresh.next()
		g.at = at
		p.byNumber[at] = g
		p.list = append(p.list, g)
	}
	*near = nearPage{at + 1, g.quads, g}
	return g
}

// hold gives a page room for the state of its lines.
func (p *pages) hold(g *page) {
	g.quads = p.quads.next()
	p.near[g.at%nearPages] = nearPage{g.at + 1, g.quads, g}
}

// spread gives each line of a quad a state of its own.
func (p *pages) spread(g *page, at int) {
	if g.lines == nil {
		g.lines = p.lines.next()
	}
	q := &g.quads[at]
	for k := range quadLines {
		g.lines[quadLines*at+k] = q.line(k)
	}
	*q = quadSpread
}

// line is the state of a line.
func (g *page) line(i int) lineState {
	if q := g.quads[i/quadLines]; q&quadSpread == 0 {
		return q.line(i % quadLines)
	}
	return g.lines[i]
}

// filled is how far stores have filled the sectors of a line.
func (g *page) filled(i int) (f filledSectors) {
	if g.partial != nil {
		f = g.partial[i]
	}
	return f
}

// forget drops what a launch has touched, and keeps what is in L2.
func (p *pages) forget() {
	for _, g := range p.list {
		if g.quads != nil {
			for i := range g.quads {
				g.quads[i] &^= quadRead
			}
		}
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
