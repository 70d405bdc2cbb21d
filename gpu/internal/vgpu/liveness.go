package vgpu

import (
	"fmt"
	"math/bits"

	"memwall/gpu/internal/ptx"
)

// Limits on the sets of registers that are alive between basic blocks; compilers' output stays a hundred times below.
const (
	maxLiveWords = 8 << 20   // 64-bit words of all sets
	maxLiveWork  = 512 << 20 // words combined on the way to the fixed point
)

type bitset []uint64

func (b bitset) has(i int) bool { return b[i>>6]>>(uint(i)&63)&1 != 0 }
func (b bitset) set(i int)      { b[i>>6] |= 1 << (uint(i) & 63) }

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

// each calls visit with every element.
func (b bitset) each(visit func(i int)) {
	for k, x := range b {
		for ; x != 0; x &= x - 1 {
			visit(k<<6 + bits.TrailingZeros64(x))
		}
	}
}

// findAcross finds the registers that may be alive between blocks: those that stand in several, or that one reads before
// it writes them. Most registers of a large function live in one block alone, and need no place in the sets. It gives
// each register's bit, −1 for the others.
func (g *flow) findAcross(f *ptx.Function) []int32 {
	const unseen, several = -1, -2
	home := make([]int32, len(f.Registers)) // the only block
	for r := range home {
		home[r] = unseen
	}
	for k := range g.blocks {
		b := &g.blocks[k]
		meet := func(r int32, reads bool) {
			switch {
			case home[r] == several:
			case home[r] == unseen && !reads:
				home[r] = int32(k)
			case home[r] != int32(k):
				home[r] = several
			}
		}
		for i := b.from; i < b.to; i++ {
			in := &f.Body[i]
			registersOf(in, func(r int32) { meet(r, true) }, func(int32) {})
			registersOf(in, func(int32) {}, func(r int32) { meet(r, in.Guard >= 0) })
		}
	}
	bit := make([]int32, len(f.Registers))
	g.across = g.across[:0]
	for r, h := range home {
		bit[r] = -1
		if h == several {
			bit[r] = int32(len(g.across))
			g.across = append(g.across, int32(r))
		}
	}
	return bit
}

// liveness fills the blocks' sets by iteration to the fixed point. A guarded definition keeps what was there before.
func (g *flow) liveness(m *ptx.Module, f *ptx.Function) error {
	bit := g.findAcross(f)
	words := (len(g.across) + 63) / 64
	n := len(g.blocks)
	tooLarge := func() error {
		return &ptx.Error{Name: m.Name, Line: f.Line, Col: 1, Message: fmt.Sprintf("function %s keeps %d registers alive across %d basic blocks, more than the virtual GPU can sort out",
			f.Name, len(g.across), n), Hint: "split it, or keep arrays in memory", Source: m.SourceLine(f.Line)}
	}
	if words*n > maxLiveWords/4 {
		return tooLarge()
	}
	all := make(bitset, 4*words*n)
	take := func() bitset {
		s := all[:words:words]
		all = all[words:]
		return s
	}
	used, defined := make([]bitset, n), make([]bitset, n)
	for k := range g.blocks {
		b := &g.blocks[k]
		used[k], defined[k], b.liveIn, b.liveOut = take(), take(), take(), take()
		for i := b.from; i < b.to; i++ {
			in := &f.Body[i]
			use := func(r int32) {
				if x := int(bit[r]); x >= 0 && !defined[k].has(x) {
					used[k].set(x)
				}
			}
			registersOf(in, use, func(int32) {})
			registersOf(in, func(int32) {}, func(r int32) {
				if in.Guard >= 0 {
					use(r)
				} else if x := int(bit[r]); x >= 0 {
					defined[k].set(x)
				}
			})
		}
	}
	// Successors come first in the order, so that a body without loops takes one pass.
	order := g.postOrder()
	work := 0
	for changed := true; changed; {
		changed = false
		for _, k := range order {
			b := &g.blocks[k]
			for _, s := range b.next {
				if s < n {
					for i, x := range g.blocks[s].liveIn {
						b.liveOut[i] |= x
					}
				}
			}
			for i := range b.liveIn {
				if x := used[k][i] | b.liveOut[i]&^defined[k][i]; x != b.liveIn[i] {
					b.liveIn[i], changed = x, true
				}
			}
		}
		if work += (words + 1) * n; work > maxLiveWork {
			return tooLarge()
		}
	}
	return nil
}

// postOrder lists the blocks so that a block stands behind its successors, back edges apart; those that cannot be reached
// come last.
func (g *flow) postOrder() []int {
	n := len(g.blocks)
	order, seen := make([]int, 0, n), make([]bool, n)
	type frame struct{ node, next int }
	var walk []frame
	for root := range n {
		if seen[root] {
			continue
		}
		seen[root] = true
		walk = append(walk, frame{root, 0})
		for len(walk) > 0 {
			f := &walk[len(walk)-1]
			if next := g.blocks[f.node].next; f.next < len(next) {
				s := next[f.next]
				f.next++
				if s < n && !seen[s] {
					seen[s] = true
					walk = append(walk, frame{s, 0})
				}
				continue
			}
			order = append(order, f.node)
			walk = walk[:len(walk)-1]
		}
	}
	return order
}
