package kvcache

// none is no page.
const none = -1

// page is what is known of one page of device memory. It is in one of four states: never used (beyond the end of
// pool.pages), free (in pool.free), kept (nobody refers to it, but its contents can be found: in the list by age), or used.
type page struct {
	refs         int32 // sequences that have it
	fill         int32 // tokens in it
	older, newer int32 // neighbours in the list of kept pages
	chain        int32 // the next page with the same hash
	indexed      bool  // it can be found by its contents
	parent       uint64
	content      uint64 // see index
	tokens       []int32
}

// room gives a page that holds known tokens for the first time the memory to note them.
func (g *page) room(size int) {
	if cap(g.tokens) < size {
		g.tokens = make([]int32, 0, size)
	}
}

// pool hands out pages: freed ones first, the last freed first, then new ones, then the kept one that was not used for
// the longest time.
type pool struct {
	total          int
	pages          []page // those that were ever used; it grows, so that a large cache costs nothing at first
	free           []int32
	oldest, newest int32 // ends of the list of kept pages
	kept           int

	used, shared int // pages with references; with more than one
	references   int // of all sequences together
	filled       int // tokens in used pages, each page counted once
	evictions    uint64
}

func (p *pool) init(total int) { p.total, p.oldest, p.newest = total, none, none }

// available is how many pages can be taken.
func (p *pool) available() int { return p.total - p.used }

// take gives a page with one reference and nothing in it; ok is false when all are in use. Evicted is called for a page
// whose contents are given up.
func (p *pool) take(evicted func(n int32)) (n int32, ok bool) {
	switch {
	case len(p.free) > 0:
		n = p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
	case len(p.pages) < p.total:
		n = int32(len(p.pages))
		p.pages = append(p.pages, page{older: none, newer: none, chain: none})
	case p.oldest != none:
		n = p.oldest
		p.unlink(n)
		evicted(n)
		p.evictions++
	default:
		return none, false
	}
	g := &p.pages[n]
	g.refs, g.fill = 1, 0
	p.used++
	p.references++
	return n, true
}

// refer adds a reference to a page, which may be a kept one.
func (p *pool) refer(n int32) {
	g := &p.pages[n]
	switch g.refs {
	case 0:
		p.unlink(n)
		p.used++
		p.filled += int(g.fill)
	case 1:
		p.shared++
	}
	g.refs++
	p.references++
}

// release takes a reference away. A page without references is kept where its contents can be found, else free.
func (p *pool) release(n int32) {
	g := &p.pages[n]
	g.refs--
	p.references--
	switch g.refs {
	case 0:
		p.used--
		p.filled -= int(g.fill)
		if g.indexed {
			p.link(n)
		} else {
			p.free = append(p.free, n)
		}
	case 1:
		p.shared--
	}
}

// grow notes that tokens were written into a page.
func (p *pool) grow(n int32, tokens int) {
	p.pages[n].fill += int32(tokens)
	p.filled += tokens
}

// link puts a page at the new end of the list of kept ones.
func (p *pool) link(n int32) {
	g := &p.pages[n]
	g.older, g.newer = p.newest, none
	if p.newest != none {
		p.pages[p.newest].newer = n
	} else {
		p.oldest = n
	}
	p.newest = n
	p.kept++
}

func (p *pool) unlink(n int32) {
	g := &p.pages[n]
	if g.older != none {
		p.pages[g.older].newer = g.newer
	} else {
		p.oldest = g.newer
	}
	if g.newer != none {
		p.pages[g.newer].older = g.older
	} else {
		p.newest = g.older
	}
	g.older, g.newer = none, none
	p.kept--
}
