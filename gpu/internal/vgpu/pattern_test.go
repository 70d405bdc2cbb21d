package vgpu

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A pattern that matches moved addresses touches what one does that is learned from them.
func TestPatternMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	moved := 0
	for range 4000 {
		size, step := uint64(1)<<r.IntN(5), uint64(1)<<r.IntN(8)
		mask := allLanes
		if r.IntN(3) == 0 {
			mask = r.Uint32() | 1<<r.IntN(32)
		}
		base := deviceBase + 1<<20 + r.Uint64N(64)*size
		var a [32]uint64
		for i := range a {
			a[i] = base + uint64(i)/step*size
			if r.IntN(40) == 0 {
				a[i] += r.Uint64N(64) * size
			}
		}
		store := r.IntN(2) == 0
		var p pattern
		p.learn(&a, a[lowest(mask)], mask, size, store)
		for shift := -128 / int(size); shift <= 128/int(size); shift++ {
			b := a
			for i := range b {
				b[i] += uint64(shift) * size
			}
			first := b[lowest(mask)]
			if first>>5&3 != a[lowest(mask)]>>5&3 || !p.matches(&b, first, mask, size) {
				continue
			}
			var q pattern
			q.learn(&b, first, mask, size, store)
			if p.sectors != q.sectors || p.lines != q.lines || p.low != q.low || p.high != q.high || !slices.Equal(p.entries, q.entries) {
				t.Fatalf("addresses %x of %d B, lanes %x, moved by %d: %d sectors in %d lines %x, want %d in %d %x", a, size, mask, shift*int(size),
					p.sectors, p.lines, p.entries, q.sectors, q.lines, q.entries)
			}
			if shift%(128/int(size)) != 0 {
				moved++
			}
		}
	}
	if moved < 1000 {
		t.Errorf("only %d moved patterns matched", moved)
	}
}
