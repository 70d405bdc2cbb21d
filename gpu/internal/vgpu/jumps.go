package vgpu

import "unsafe"

// Threaded assembly goes from a block to the next by itself: the last instruction of a block's code counts what (*warp).run counts of
// its ending, takes the next block's fuel, and jumps (asmgen, jumps). It does so while the lanes of a split stay together, and where
// all lanes of a warp part and join again at once; else it leaves, with nothing done, and (*warp).run executes the ending.

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
	// Where lanes part and the ways join behind a block each, and perhaps an empty one before it, or one of them at once: the code of
	// the blocks for some lanes, where they join, and what fuel the blocks cost. Join is nil where that is not so.
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
