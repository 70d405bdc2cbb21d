package vgpu

import (
	"sort"

	"memwall/gpu/internal/ptx"
)

// slots is where each register of a function lies: a byte offset in the register file, or for a predicate its index.
type slots struct {
	at    []uint32
	wide  []bool
	bytes uint32
	preds int
	// peak is the largest number of 32-bit registers alive at once: the base of the estimate of a function's registers.
	peak int
	zero []int32 // registers that may be read before they are written
}

const (
	predSink  = 0 // predicate that swallows results
	predCarry = 1 // CC.CF
	firstPred = 2
)

func isPredicate(r *ptx.Register) bool { return r.Type == "pred" }
func isWide(r *ptx.Register) bool      { return ptx.TypeSize(r.Type) == 8 }

// interval is from the first to the last position at which a register is alive, in the order of the text.
type interval struct {
	register int32
	low      int
	high     int
}

// assign gives registers slots by a linear scan over their intervals. Two registers whose intervals do not overlap may
// share one; lanes on different paths never disturb each other, since every write is masked. Registers numbered in alone
// share with none.
func (g *flow) assign(f *ptx.Function, alone []int32) *slots {
	n := len(f.Registers)
	s := &slots{at: make([]uint32, n), wide: make([]bool, n), preds: firstPred}
	spans := make([]interval, n)
	for i := range spans {
		spans[i] = interval{int32(i), int(^uint(0) >> 1), -1}
	}
	touch := func(r, at int) {
		spans[r].low, spans[r].high = min(spans[r].low, at), max(spans[r].high, at)
	}
	for k := range g.blocks {
		g.scanBlock(f, &g.blocks[k], touch, s)
	}
	for r, n := range alone {
		if n >= 0 {
			touch(r, 0)
			touch(r, len(f.Body))
		}
	}
	if len(g.blocks) > 0 {
		for r := range f.Registers {
			if g.blocks[0].liveIn.has(r) {
				s.zero = append(s.zero, int32(r))
			}
		}
	}
	next := uint32(4 * unit) // scratch first
	var wait []interval
	for r := range f.Registers {
		reg := &f.Registers[r]
		switch {
		case isPredicate(reg):
			s.at[r] = uint32(s.preds)
			s.preds++
		default:
			s.wide[r] = isWide(reg) || isQuad(reg)
			if spans[r].high >= 0 {
				wait = append(wait, spans[r])
			}
		}
	}
	sort.Slice(wait, func(i, j int) bool {
		if wait[i].low != wait[j].low {
			return wait[i].low < wait[j].low
		}
		return wait[i].register < wait[j].register
	})
	var free [3][]uint32
	size := func(v interval) int { return b2i(s.wide[v.register]) + b2i(isQuad(&f.Registers[v.register])) }
	var active []interval
	for _, v := range wait {
		keep := active[:0]
		for _, a := range active {
			if a.high < v.low {
				class := size(a)
				free[class] = append(free[class], s.at[a.register])
			} else {
				keep = append(keep, a)
			}
		}
		active = append(keep, v)
		class := size(v)
		if list := free[class]; len(list) > 0 {
			s.at[v.register] = list[len(list)-1]
			free[class] = list[:len(list)-1]
			continue
		}
		s.at[v.register] = next
		next += unit << class
	}
	s.bytes = next
	return s
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// scanBlock walks a block backwards, extends the intervals of what is alive and measures the pressure.
func (g *flow) scanBlock(f *ptx.Function, b *flowBlock, touch func(r, at int), s *slots) {
	live := b.liveOut.copyOf()
	pressure := 0
	count := func(r, sign int) {
		if reg := &f.Registers[r]; isQuad(reg) {
			pressure += 4 * sign
		} else if isWide(reg) {
			pressure += 2 * sign
		} else if !isPredicate(reg) {
			pressure += sign
		}
	}
	for r := range f.Registers {
		if live.has(r) {
			count(r, 1)
			touch(r, b.to)
		}
		if b.liveIn.has(r) {
			touch(r, b.from)
		}
	}
	s.peak = max(s.peak, pressure)
	for i := b.to - 1; i >= b.from; i-- {
		in := &f.Body[i]
		registersOf(in, func(int32) {}, func(r int32) {
			touch(int(r), i)
			if !live.has(int(r)) { // a dead result needs its slot here
				count(int(r), 1)
				live.set(int(r))
			}
		})
		s.peak = max(s.peak, pressure)
		if in.Guard < 0 {
			registersOf(in, func(int32) {}, func(r int32) {
				if live.has(int(r)) {
					count(int(r), -1)
					live.clear(int(r))
				}
			})
		}
		registersOf(in, func(r int32) {
			touch(int(r), i)
			if !live.has(int(r)) {
				count(int(r), 1)
				live.set(int(r))
			}
		}, func(int32) {})
		s.peak = max(s.peak, pressure)
	}
}
