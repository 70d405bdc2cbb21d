package vgpu

import (
	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
)

// The results of wgmma.mma_async reach their registers when wgmma.wait_group has waited for their group, not before, so
// that a missing wait shows. Compilers move accumulators that are in flight from one virtual register to another (at the
// head of a loop, say), which on a GPU is no instruction; so a move of such a register moves the claim to the result.
// Any other instruction that reads or writes one stops the launch.

// findFlight numbers the registers of a function that can hold a result in flight: the D of a wgmma, and what moves copy
// from those. It gives -1 for the others, and nil for a function without wgmma.
func findFlight(f *ptx.Function) []int32 {
	var flight []int32
	n := int32(0)
	mark := func(r int32) {
		if flight[r] < 0 {
			flight[r] = n
			n++
		}
	}
	for i := range f.Body {
		in := &f.Body[i]
		if in.Opcode != "wgmma" || !in.Has("mma_async") || len(in.Operands) == 0 {
			continue
		}
		if flight == nil {
			flight = make([]int32, len(f.Registers))
			for r := range flight {
				flight[r] = -1
			}
		}
		for j := range in.Operands[0].Elements {
			if o := &in.Operands[0].Elements[j]; o.Kind == ptx.OperandRegister {
				mark(o.Register)
			}
		}
	}
	if flight == nil {
		return nil
	}
	for changed := true; changed; {
		changed = false
		for i := range f.Body {
			if in := &f.Body[i]; plainMove(in) && flight[in.Operands[1].Register] >= 0 && flight[in.Operands[0].Register] < 0 {
				mark(in.Operands[0].Register)
				changed = true
			}
		}
	}
	return flight
}

// plainMove reports whether an instruction copies one 32-bit register to another.
func plainMove(in *ptx.Instruction) bool {
	return in.Opcode == "mov" && len(in.Operands) == 2 && in.Operands[0].Kind == ptx.OperandRegister && in.Operands[1].Kind == ptx.OperandRegister &&
		in.Operands[0].Pair == nil && len(in.Modifiers) == 1 && ptx.TypeSize(in.Modifiers[0]) == 4
}

// flying lists the registers of an instruction that can be in flight.
func (d *decoder) flying(in *ptx.Instruction) []int32 {
	if d.flight == nil || in.Opcode == "wgmma" && in.Has("mma_async") {
		return nil
	}
	var list []int32
	add := func(r int32) {
		if n := d.flight[r]; n >= 0 {
			list = append(list, n)
		}
	}
	registersOf(in, add, add)
	return list
}

// watchFlight wraps an instruction that touches registers which can be in flight.
func (d *decoder) watchFlight(x inst, in *ptx.Instruction) inst {
	list := d.flying(in)
	if len(list) == 0 {
		return x
	}
	inner, twin := x, x
	if x.flags&flagSelf == 0 {
		twin.d = scratch
	}
	outer := inst{fn: opFlightCheck, id: x.id, flags: flagSelf, pattern: -1, ext: &extra{second: -1, inner: &inner, twin: &twin, flying: list}}
	if plainMove(in) && in.Guard < 0 {
		outer.fn = opFlightMove
		outer.a, outer.d = uint32(d.flight[in.Operands[1].Register]), uint32(d.flight[in.Operands[0].Register])
	}
	return outer
}

// through executes a wrapped instruction.
func (w *warp) through(in *inst) {
	x := in.ext
	if w.mask == allLanes || x.inner.flags&flagSelf != 0 {
		x.inner.fn(w, x.inner)
	} else {
		w.masked(x.inner, x.twin)
	}
}

// opFlightCheck executes an instruction none of whose registers may be in flight.
func opFlightCheck(w *warp, in *inst) {
	if w.groups.busy() {
		for _, n := range in.ext.flying {
			if w.groups.owners[n].sums != nil {
				w.fault(in, int(lowest(w.mask)), &driver.Fault{Kind: driver.Illegal,
					Detail: "a result of wgmma.mma_async is used before wgmma.wait_group has waited for it", Mend: "wgmma.commit_group and wgmma.wait_group come before the first use"})
			}
		}
	}
	w.through(in)
}

// opFlightMove is mov between registers that can be in flight: the claim to a result moves with it.
func opFlightMove(w *warp, in *inst) {
	g := &w.groups
	if g.busy() {
		from := g.owners[in.a]
		if from.sums == nil || w.mask == allLanes {
			known := g.owners[in.d] == from
			g.owners[in.d] = from
			if from.sums != nil && known {
				return
			}
			if from.sums != nil {
				from.sums.claims = append(from.sums.claims, claim{place: int32(in.d), slot: in.ext.inner.d, element: from.element})
				return
			}
		} else {
			w.fault(in, int(lowest(w.mask)), &driver.Fault{Kind: driver.Illegal,
				Detail: "a result of wgmma.mma_async is moved before wgmma.wait_group has waited for it, in a part of the warp", Mend: "wgmma.commit_group and wgmma.wait_group come before the first use"})
		}
	}
	w.through(in)
}
