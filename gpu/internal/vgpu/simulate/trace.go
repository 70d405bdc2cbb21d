package simulate

import (
	"math/bits"
	"slices"
)

// Access is what one execution of a memory instruction by a warp touched.
type Access struct {
	Lanes  uint8
	Width  uint8  // bytes a lane
	Waves  uint16 // passes through the shared-memory or L1 data path
	Wide   [2]uint16
	Same   uint16 // most lanes of an atomic on one address; of a cp.async the passes of its write to shared memory
	Lines  uint16 // in the warp's Lines from At on
	At     uint32
	First  uint32 // of shared memory: the first active lane's address
	Object uint32 // of an mbarrier or a bulk copy: the barrier's address; 0: none
	Phase  uint32 // of that mbarrier: the phase that an arrival or a copy belongs to, or a wait waits for; NoPhase: it waits for none
	Bytes  uint32 // of a bulk copy
}

// NoPhase is the Phase of a wait that succeeds before any phase of its mbarrier has ended.
const NoPhase = ^uint32(0)

// Partial marks a store that fills some sector only in part, in an entry of Lines.
const Partial = 1 << 4

// Warp is what one warp executed: its basic blocks in order, and an Access for each memory instruction in them, in the
// order of the program, whether its guard held or not.
type Warp struct {
	Blocks   []int32
	Accesses []Access
	Lines    []uint64 // line<<5 | Partial | sectors, of 128 and 32 bytes
	// Recorded of the PTX instructions that the warp executed, out of Executed; more than Recorded where the trace was cut.
	Recorded, Executed float64
}

// CTA is the trace of one CTA, perhaps cut: Recorded of the PTX instructions that its warps execute, out of Executed.
type CTA struct {
	Warps              []Warp
	Recorded, Executed float64
}

// Cut tells whether some warp's trace was cut.
func (c *CTA) Cut() bool {
	for i := range c.Warps {
		if w := &c.Warps[i]; w.Executed > w.Recorded {
			return true
		}
	}
	return false
}

// Stretch says that the CTA executed so much: the trace stands for one that did the same for longer, or shorter.
func (c *CTA) Stretch(executed float64) {
	f := executed / max(c.Executed, 1)
	c.Warps = slices.Clone(c.Warps)
	for i := range c.Warps {
		c.Warps[i].Executed *= f
	}
	c.Executed = executed
}

// Elsewhere gives the trace of a CTA that does the same with data of its own.
func (c *CTA) Elsewhere(n int) CTA {
	const apart = 1 << 52 // of entries of Lines: beyond any line of 48-bit addresses
	moved := *c
	moved.Warps = slices.Clone(c.Warps)
	for i := range moved.Warps {
		w := &moved.Warps[i]
		w.Lines = slices.Clone(w.Lines)
		for k := range w.Lines {
			w.Lines[k] += uint64(n) * apart
		}
	}
	return moved
}

// SetShared fills in an access to shared memory: the passes that it takes, and those of the accesses of twice and four times
// the width that it may become part of. Wide accesses take as many passes as the most loaded bank has distinct words over the
// whole warp, not over a phase (facts: time-model).
func (a *Access) SetShared(addresses *[32]uint64, lanes uint32, size uint64) {
	if lanes == 0 {
		return
	}
	a.Lanes, a.Width = uint8(bits.OnesCount32(lanes)), uint8(size)
	a.First = uint32(addresses[bits.TrailingZeros32(lanes)])
	words := max(size/4, 1)
	a.Waves += bankPasses(addresses, lanes, words)
	if size == 4 {
		a.Wide[0] = bankPasses(addresses, lanes, 2)
		a.Wide[1] = bankPasses(addresses, lanes, 4)
	} else {
		a.Wide = [2]uint16{a.Waves, a.Waves}
	}
}

// bankPasses is the largest number of distinct words that lie in one of the 32 banks.
func bankPasses(addresses *[32]uint64, lanes uint32, words uint64) uint16 {
	var bank [32][]uint64
	var room [32][8]uint64
	most := 0
	for m := lanes; m != 0; m &= m - 1 {
		first := addresses[bits.TrailingZeros32(m)] / 4
		for w := first; w < first+words; w++ {
			b := &bank[w&31]
			if *b == nil {
				*b = room[w&31][:0]
			}
			known := false
			for _, x := range *b {
				if x == w {
					known = true
					break
				}
			}
			if !known {
				*b = append(*b, w)
				most = max(most, len(*b))
			}
		}
	}
	return uint16(most)
}

// AddGlobal adds an access to global or local memory to a warp's trace.
func (a *Access) AddGlobal(w *Warp, addresses *[32]uint64, lanes uint32, size uint64, store bool) {
	if lanes == 0 {
		return
	}
	if a.Lines == 0 {
		a.At = uint32(len(w.Lines))
	}
	a.Lanes, a.Width = uint8(bits.OnesCount32(lanes)), uint8(size)
	start := len(w.Lines) - int(a.Lines)
	var filled [128]uint8 // bytes of the sectors of the lines so far
	for m := lanes; m != 0; m &= m - 1 {
		at := addresses[bits.TrailingZeros32(m)]
		for x := at / 32; x <= (at+size-1)/32; x++ {
			line, sector := x/4, x%4
			k := -1
			for i := len(w.Lines) - 1; i >= start; i-- {
				if w.Lines[i]>>5 == line {
					k = i
					break
				}
			}
			if k < 0 {
				k = len(w.Lines)
				w.Lines = append(w.Lines, line<<5)
			}
			w.Lines[k] |= 1 << sector
			if n := (k-start)*4 + int(sector); n < len(filled) {
				filled[n] += uint8(min(at+size, 32*x+32) - max(at, 32*x))
			}
		}
	}
	if store {
		for k := start; k < len(w.Lines); k++ {
			for s := range 4 {
				if n := (k-start)*4 + s; w.Lines[k]>>s&1 == 1 && (n >= len(filled) || filled[n] < 32) {
					w.Lines[k] |= Partial
				}
			}
		}
	}
	a.Lines = uint16(len(w.Lines) - start)
	a.Waves = max(a.Lines, uint16((uint64(a.Lanes)*size+127)/128))
}

// SetAtomic fills in how many lanes of an atomic share the most wanted address.
func (a *Access) SetAtomic(addresses *[32]uint64, lanes uint32) {
	for m := lanes; m != 0; m &= m - 1 {
		at, n := addresses[bits.TrailingZeros32(m)], uint16(0)
		for o := lanes; o != 0; o &= o - 1 {
			if addresses[bits.TrailingZeros32(o)] == at {
				n++
			}
		}
		a.Same = max(a.Same, n)
	}
}
