package vgpu

import "unsafe"

// blockThreads is the code of a block as threaded assembly runs it: each array ends in an instruction without fn. Full is
// for all 32 lanes. Masked is for some of them: an op that writes every lane is followed by a blend of its
// result, where another lane may have something in its destination. In full
// an instruction with a guard is followed by what it guards.
type blockThreads struct{ full, masked []inst }

// opBlend32 takes over the active lanes of a into d.
func opBlend32(w *warp, in *inst) {
	s, d := w.u32(in.a), w.u32(in.d)
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i] = s[i]
	}
}

// opBlend64 is opBlend32 for 64-bit lanes.
func opBlend64(w *warp, in *inst) {
	s, d := w.u64(in.a), w.u64(in.d)
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i] = s[i]
	}
}

// thread makes the arrays of all blocks.
func (p *program) thread() {
	for i := range p.blocks {
		b := &p.blocks[i]
		full := make([]inst, 0, len(b.code)+1)
		masked := make([]inst, 0, 2*len(b.code)+1)
		for k := range b.code {
			x := b.code[k]
			op := asmFor(&x)
			x.code = asmAddress(op)
			full = append(full, x)
			if x.code == asmGuard && x.code != 0 {
				inner := *x.ext.inner
				inner.code = asmAddress(asmFor(&inner))
				full = append(full, inner)
			}
			if x.flags&flagSelf != 0 {
				if op == nil || !op.masks {
					x.code = asmAddress(nil)
				}
				masked = append(masked, x)
				continue
			}
			if p.slots.passing[x.d] {
				masked = append(masked, x)
				continue
			}
			twin := b.twins[k]
			twin.code = asmAddress(asmFor(&twin))
			blend := inst{fn: opBlend32, d: x.d, a: scratch, id: x.id, pattern: -1, flags: flagSelf}
			if x.flags&flagWide != 0 {
				blend.fn = opBlend64
			}
			blend.code = asmAddress(asmFor(&blend))
			masked = append(masked, twin, blend)
		}
		b.threads = blockThreads{full: append(full, p.jump(b, asmJump, asmBranch)), masked: append(masked, p.jump(b, asmMaskedJump, asmMaskedBranch))}
	}
	for i := range p.blocks {
		b := &p.blocks[i]
		p.landings[i].code[0] = unsafe.Pointer(unsafe.SliceData(b.threads.full))
		if len(b.syncs) == 0 { // some lanes may have to wait there for others
			p.landings[i].masked = unsafe.Pointer(unsafe.SliceData(b.threads.masked))
		}
		p.part(b)
	}
}

// landing is what assembly knows of a block that it jumps to.
type landing struct {
	code   [2]unsafe.Pointer // *inst: where its code begins; with compiled runs, once the block is hot
	masked unsafe.Pointer    // its code for some of the lanes
	counts uint64            // place of its blockCounts
	cost   int64
	chase  uint64
	number int64
}

// jump is where the ending of a block leads; nil where assembly cannot go.
type jump struct {
	taken, next *landing
	// Where lanes part and the ways join behind a block each and perhaps an empty one before it, or one of them at once: the code of the blocks for some lanes, where
	// they join, and what fuel the blocks cost. Join is nil where that is not so.
	sides [2]unsafe.Pointer
	join  *landing
	cost  int64
	ways  [2][2]*landing // the block of each way, and an empty one before it
}

// mostAhead is how much fuel assembly may use up before it comes back to Go, where the garbage collector can stop it.
const mostAhead = 1 << 13

// jump is the last instruction of a block's code for all or for some lanes, by the ops of that kind. It has no function: (*warp).run
// executes what assembly does not.
func (p *program) jump(b *block, always, branch uintptr) inst {
	if p.landings == nil {
		p.landings, p.jumps = make([]landing, len(p.blocks)), make([]jump, len(p.blocks))
		for i := range p.blocks {
			to := &p.blocks[i]
			p.landings[i] = landing{counts: uint64(i) * uint64(unsafe.Sizeof(blockCounts{})), cost: int64(to.cost), chase: to.chase, number: int64(i)}
		}
	}
	land := func(to int32) *landing {
		if int(to) >= len(p.blocks) {
			return nil
		}
		return &p.landings[to]
	}
	e, j := &b.end, &p.jumps[b.number]
	in := inst{code: asmAddress(nil), pattern: -1, imm: uint64(uintptr(unsafe.Pointer(j)))}
	switch {
	case always == 0:
	case e.kind == endFall:
		in.code, j.taken = always, land(e.next)
	case e.kind == endBranch && e.guard < 0:
		in.code, j.taken = always, land(e.target)
	case e.kind == endBranch:
		in.code, in.a, in.b, in.d = branch, uint32(e.guard), e.not, uint32(p.landings[b.number].counts)
		j.taken, j.next = land(e.target), land(e.next)
	}
	return in
}

// part fills in where the lanes of a block's branch join again.
func (p *program) part(b *block) {
	e, j := &b.end, &p.jumps[b.number]
	if e.kind != endBranch || e.guard < 0 || int(b.ipdom) >= len(p.blocks) || b.ipdom < 0 || e.target == e.next {
		return
	}
	for k, at := range [2]int32{e.target, e.next} {
		if at == b.ipdom {
			continue
		}
		side := &p.blocks[at]
		if to := side.end.leads(); len(side.code) == 0 && to >= 0 && to != b.ipdom && int(to) < len(p.blocks) {
			j.ways[k][1] = &p.landings[at]
			j.cost += int64(side.cost)
			at, side = to, &p.blocks[to]
		}
		if !side.simple() || side.end.leads() != b.ipdom {
			return
		}
		j.ways[k][0] = &p.landings[at]
		j.sides[k] = unsafe.Pointer(unsafe.SliceData(side.threads.masked))
		j.cost += int64(side.cost)
	}
	j.join = &p.landings[b.ipdom]
}

// leads gives the block that always follows, -1 where there is none.
func (e *ending) leads() int32 {
	switch {
	case e.kind == endFall:
		return e.next
	case e.kind == endBranch && e.guard < 0:
		return e.target
	}
	return -1
}

// simple reports whether nothing in a block waits, polls or looks at the clock: all of it has assembly.
func (b *block) simple() bool {
	for i := range b.code {
		in := &b.code[i]
		if in.fn != nil && codeOf(in.fn) == codeOf(opGuarded) {
			in = in.ext.inner
		}
		if asmFor(in) == nil {
			return false
		}
	}
	return len(b.syncs) == 0
}

// These name the endings of blocks in the assembly, for (*program).jump; nothing decodes to them.
func opJump(w *warp, in *inst)         { panic("an ending is executed by (*warp).run") }
func opBranch(w *warp, in *inst)       { panic("an ending is executed by (*warp).run") }
func opMaskedJump(w *warp, in *inst)   { panic("an ending is executed by (*warp).run") }
func opMaskedBranch(w *warp, in *inst) { panic("an ending is executed by (*warp).run") }

// asmOp is an op of the assembly: the portable functions that compute the same, for instructions of one variant.
type asmOp struct {
	name    string
	twins   []opFunc
	variant int
	masks   bool // looks at the mask of active lanes itself
	address uintptr
}

// asmKey finds the op of an instruction.
type asmKey struct {
	fn      uintptr
	variant int
}

// codeOf tells functions apart, which Go cannot compare.
func codeOf(fn opFunc) uintptr { return **(**uintptr)(unsafe.Pointer(&fn)) }
