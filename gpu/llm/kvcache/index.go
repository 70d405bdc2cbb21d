package kvcache

import (
	"math/bits"
	"slices"
)

// index finds full pages by their contents. Two pages have the same keys and values when their tokens are equal and so are
// all tokens before them. So each different content gets a number when its page is filled, and a page is looked up by the
// number of the page before it (its parent, 0 at the start) together with its own tokens; by induction equal numbers mean
// equal beginnings. A hash only says where to look: parent and tokens are compared, so two contents are never mixed up.
type index struct {
	seed    uint64
	buckets []int32 // heads of chains through page.chain; their number is a power of two
	entries int
	serial  uint64 // the last number given to a content
}

// hash mixes 128-bit products, as wyhash does.
func (x *index) hash(parent uint64, tokens []int32) uint64 {
	h := mix(x.seed^parent, 0x9e3779b97f4a7c15)
	for len(tokens) > 1 {
		h = mix(h^(uint64(uint32(tokens[0]))|uint64(uint32(tokens[1]))<<32), 0xe7037ed1a0b428db^x.seed)
		tokens = tokens[2:]
	}
	if len(tokens) == 1 {
		h = mix(h^uint64(uint32(tokens[0])), 0x8ebc6af09c88c6e3^x.seed)
	}
	return h
}

func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// find gives the page with these contents, or none.
func (x *index) find(pages []page, parent uint64, tokens []int32) int32 {
	if x.entries == 0 {
		return none
	}
	for n := x.buckets[x.hash(parent, tokens)&uint64(len(x.buckets)-1)]; n != none; n = pages[n].chain {
		if pages[n].parent == parent && slices.Equal(pages[n].tokens, tokens) {
			return n
		}
	}
	return none
}

// add enters a full page under a new number.
func (x *index) add(pages []page, n int32, parent uint64) {
	if x.entries >= len(x.buckets) {
		x.resize(pages, max(64, 2*len(x.buckets)))
	}
	x.serial++
	g := &pages[n]
	g.parent, g.content, g.indexed = parent, x.serial, true
	x.chain(pages, n)
	x.entries++
}

func (x *index) chain(pages []page, n int32) {
	head := &x.buckets[x.hash(pages[n].parent, pages[n].tokens)&uint64(len(x.buckets)-1)]
	pages[n].chain, *head = *head, n
}

func (x *index) resize(pages []page, size int) {
	x.buckets = make([]int32, size)
	for i := range x.buckets {
		x.buckets[i] = none
	}
	for n := range pages {
		if pages[n].indexed {
			x.chain(pages, int32(n))
		}
	}
}

// remove takes a page out, before its contents are overwritten.
func (x *index) remove(pages []page, n int32) {
	g := &pages[n]
	at := &x.buckets[x.hash(g.parent, g.tokens)&uint64(len(x.buckets)-1)]
	for *at != n {
		at = &pages[*at].chain
	}
	*at, g.chain, g.indexed = g.chain, none, false
	x.entries--
}
