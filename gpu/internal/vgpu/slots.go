package vgpu

import (
	"container/heap"
	"slices"
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
	// passing are the slots of registers that are alive only between two blocks' borders, where no lane waits for another: what
	// is written there may be written for all lanes.
	passing map[uint32]bool
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
// share with none, and neither do those of functions that are entered with those of others, or passing ones with others.
func (g *flow) assign(f *ptx.Function, alone []int32, parts []portion) *slots {
	n := len(f.Registers)
	s := &slots{at: make([]uint32, n), wide: make([]bool, n), preds: firstPred, passing: map[uint32]bool{}}
	passing := g.passing(f, alone)
	spans := make([]interval, n)
	for i := range spans {
		spans[i] = interval{int32(i), int(^uint(0) >> 1), -1}
	}
	touch := func(r, at int) {
		spans[r].low, spans[r].high = min(spans[r].low, at), max(spans[r].high, at)
	}
	alive := make([]bool, n)
	for k := range g.blocks {
		g.scanBlock(f, &g.blocks[k], touch, alive, s)
	}
	for r, n := range alone {
		if n >= 0 {
			touch(r, 0)
			touch(r, len(f.Body))
		}
	}
	if len(g.blocks) > 0 {
		for k := range g.blocks {
			if k == 0 || slices.ContainsFunc(parts, func(p portion) bool { return p.from == g.blocks[k].from }) {
				g.blocks[k].liveIn.each(func(i int) { s.zero = append(s.zero, g.across[i]) })
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
	var free [6][]uint32 // by size, passing ones behind the others
	size := func(r int32) int { return b2i(s.wide[r]) + b2i(isQuad(&f.Registers[r])) }
	class := func(r int32) int { return size(r) + 3*b2i(passing[r]) }
	var active expiring
	for _, v := range wait {
		for len(parts) > 0 && v.low >= parts[0].from {
			parts, active, free = parts[1:], nil, [6][]uint32{}
		}
		for len(active) > 0 && active[0].high < v.low {
			r := heap.Pop(&active).(interval).register
			free[class(r)] = append(free[class(r)], s.at[r])
		}
		class := class(v.register)
		if list := free[class]; len(list) > 0 {
			s.at[v.register] = list[len(list)-1]
			free[class] = list[:len(list)-1]
		} else {
			s.at[v.register] = next
			next += unit << size(v.register)
		}
		if passing[v.register] {
			s.passing[s.at[v.register]] = true
		}
		heap.Push(&active, v)
	}
	s.bytes = next
	return s
}

// passing finds the registers that are alive within one block alone, in which lanes do not wait for others: while some lanes run
// there, nothing of the others' is kept in them.
func (g *flow) passing(f *ptx.Function, alone []int32) []bool {
	list := make([]bool, len(f.Registers))
	for k := range g.blocks {
		body := f.Body[g.blocks[k].from:g.blocks[k].to]
		waits := false
		for i := range body {
			waits = waits || !endsBlock(&body[i]) && (body[i].Has("sync") || body[i].Opcode == "bar" || body[i].Opcode == "barrier")
		}
		for i := range body {
			registersOf(&body[i], func(int32) {}, func(r int32) { list[r] = !waits })
		}
	}
	for _, r := range g.across {
		list[r] = false
	}
	for r, n := range alone {
		if n >= 0 {
			list[r] = false
		}
	}
	return list
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// expiring is a heap of intervals, the first to end on top.
type expiring []interval

func (e expiring) Len() int { return len(e) }
func (e expiring) Less(i, j int) bool {
	if e[i].high != e[j].high {
		return e[i].high < e[j].high
	}
	return e[i].register < e[j].register
}
func (e expiring) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *expiring) Push(x any)   { *e = append(*e, x.(interval)) }
func (e *expiring) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

// scanBlock walks a block backwards, extends the intervals of what is alive and measures the pressure. alive is all false
// before and after.
func (g *flow) scanBlock(f *ptx.Function, b *flowBlock, touch func(r, at int), alive []bool, s *slots) {
	pressure := 0
	count := func(r int32, sign int) {
		if reg := &f.Registers[r]; isQuad(reg) {
			pressure += 4 * sign
		} else if isWide(reg) {
			pressure += 2 * sign
		} else if !isPredicate(reg) {
			pressure += sign
		}
	}
	begin := func(r int32) {
		if !alive[r] {
			count(r, 1)
			alive[r] = true
		}
	}
	end := func(r int32) {
		if alive[r] {
			count(r, -1)
			alive[r] = false
		}
	}
	b.liveOut.each(func(i int) {
		begin(g.across[i])
		touch(int(g.across[i]), b.to)
	})
	s.peak = max(s.peak, pressure)
	for i := b.to - 1; i >= b.from; i-- {
		in := &f.Body[i]
		registersOf(in, func(int32) {}, func(r int32) {
			touch(int(r), i)
			begin(r) // a dead result needs its slot here
		})
		s.peak = max(s.peak, pressure)
		if in.Guard < 0 {
			registersOf(in, func(int32) {}, end)
		}
		registersOf(in, func(r int32) {
			touch(int(r), i)
			begin(r)
		}, func(int32) {})
		s.peak = max(s.peak, pressure)
	}
	b.liveIn.each(func(i int) {
		touch(int(g.across[i]), b.from)
		end(g.across[i])
	})
}
