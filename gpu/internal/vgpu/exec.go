package vgpu

type warpState uint8

const (
	running warpState = iota
	blocked           // every lane waits for something outside the warp
	finished
)

// blockCounts are what a worker counts of one block.
type blockCounts struct {
	warps, lanes        uint64
	taken, takenLanes   uint64 // of its ending, where that has a guard: executions with any lane, lanes
	branches, divergent uint64
	barriers            uint64
}

const (
	// fullFuel is how many instructions a warp executes between two looks at whether the launch was cancelled; an mma takes
	// under a microsecond.
	fullFuel = 1 << 16
	// pollFuel is what an instruction costs that looks whether something has changed, so that a warp that does nothing else
	// gives way after some 32 looks; pollCycles is what it adds to the clock.
	pollFuel   = fullFuel / 32
	pollCycles = 500
	// patience is how many slices of fuel a warp may use up before others get their turn although it does not poll.
	patience = 16
)

// run executes the warp until it finishes, is blocked, or has used up its turn.
func (w *warp) run() {
	p, k := w.w.p, w.w
	blocks := p.blocks
	exit := int32(len(blocks))
	for {
		top := &w.stack[len(w.stack)-1]
		for top.block == top.join && top.wait == waitNone {
			w.stack = w.stack[:len(w.stack)-1]
			top = &w.stack[len(w.stack)-1]
		}
		if top.wait != waitNone {
			if !w.bring() {
				return
			}
			continue
		}
		at := top.block
		if at >= exit { // falling off the end is an exit
			if w.exitLanes(top.mask) {
				return
			}
			continue
		}
		b := &blocks[at]
		if k.fuel <= 0 {
			if w.turnOver(at) {
				return
			}
			continue
		}
		if k.run.cut > 0 {
			if w.probed += uint64(b.cost); w.probed > k.run.cut {
				if w.exitLanes(w.live) {
					return
				}
				continue
			}
		}
		k.fuel -= b.cost
		m := top.mask
		w.mask = m
		c := &k.blocks[at]
		if top.passed == 0 {
			if w.cta.watch != nil {
				w.cta.watch.enter(w, at, m)
			}
			c.warps++
			c.lanes += uint64(popcount(m))
			w.rounds += b.chase
		}
		if m == w.live && top.passed == 0 || len(b.syncs) == 0 {
			if last := w.runBlock(b, m); last != at {
				b, c = &blocks[last], &k.blocks[last]
			}
		} else if !w.stepwise(b, top) {
			continue
		}
		switch b.end.kind {
		case endFall:
			top.block = b.end.next
		case endBranch:
			w.branch(b, c, top)
		case endBarrier:
			w.arrive(b, c, top)
		case endWarpgroup:
			w.arriveWarpgroup(b, c, top)
		case endCluster:
			w.clusterBarrier(b, c, top)
		case endCall:
			w.call(c, top, b)
		case endTable:
			w.table(c, top, b)
		default:
			if w.leave(b, c, top) {
				return
			}
		}
	}
}

// runBlock executes the code of a block, without its ending, for the lanes of m. It gives the block whose ending is next: another one
// where assembly has gone on.
func (w *warp) runBlock(b *block, m uint32) int32 {
	if w.w.threads != nil && w.cta.watch == nil {
		if last := w.runThreads(b, m); last >= 0 {
			return last
		}
	}
	if m != allLanes || w.cta.check != nil {
		w.runRange(b, 0, int32(len(b.code)))
		return b.number
	}
	code := b.code
	for i := range code {
		in := &code[i]
		in.fn(w, in)
	}
	return b.number
}

// runRange executes a part of a block's code for the lanes of the warp's mask.
func (w *warp) runRange(b *block, from, to int32) {
	if w.cta.check != nil {
		w.runChecked(b, int(from), int(to))
		return
	}
	code, twins := b.code[from:to], b.twins[from:to]
	for i := range code {
		in := &code[i]
		if in.flags&flagSelf != 0 {
			in.fn(w, in)
		} else {
			w.masked(in, &twins[i])
		}
	}
}

// turnOver is called when a warp's fuel is used up: the launch may have been cancelled, and the trace is kept short. It
// reports whether others get their turn: a warp that only looked whether something has changed cannot go on before them.
func (w *warp) turnOver(at int32) bool {
	k := w.w
	spun := k.idle >= fullFuel/2
	k.refuel(w, at)
	if w.turns++; !spun && w.turns < patience {
		return false
	}
	w.turns, w.spun, w.spinning = 0, true, spun
	if w.eager {
		w.freeJoined()
	}
	w.rotate()
	return true
}

// poll is called by an instruction that looked whether something has changed, and found that it has not. Where that is how
// the warp's turn before ended, one look is enough.
func (w *warp) poll() {
	k := w.w
	if w.spinning {
		k.pause(pollCycles)
		return
	}
	k.fuel -= pollFuel
	k.idle += pollFuel
	k.idleCycles += pollCycles
}

// pause gives the warp's turn away at the end of its block; it adds cycles to its clock.
func (k *worker) pause(cycles uint64) {
	k.idle += max(k.fuel, 0) + fullFuel
	k.fuel = min(k.fuel, 0) - fullFuel
	k.idleCycles += cycles
}

// guardOf gives the lanes of m for which the ending's guard holds.
func (w *warp) guardOf(e *ending, m uint32) uint32 {
	if e.guard < 0 {
		return m
	}
	return m & (w.pred[e.guard] ^ e.not)
}

func (w *warp) branch(b *block, c *blockCounts, top *split) {
	e := &b.end
	if e.guard < 0 {
		top.block = e.target
		return
	}
	m := top.mask
	taken := w.guardOf(e, m)
	c.branches++
	c.takenLanes += uint64(popcount(taken))
	switch taken {
	case 0:
		top.block = e.next
		return
	case m:
		c.taken++
		top.block = e.target
		return
	}
	c.taken++
	c.divergent++
	join := b.ipdom
	if join == top.join { // the lanes below wait at the same place
		w.stack = w.stack[:len(w.stack)-1]
	} else {
		top.block = join
	}
	if e.next != join {
		w.stack = append(w.stack, split{block: e.next, join: join, mask: m &^ taken})
	}
	if e.target != join {
		w.stack = append(w.stack, split{block: e.target, join: join, mask: taken})
	}
}

// leave ends the lanes at ret, exit or trap; it reports whether the warp is finished.
func (w *warp) leave(b *block, c *blockCounts, top *split) bool {
	e := &b.end
	gone := w.guardOf(e, top.mask)
	if e.guard >= 0 {
		c.takenLanes += uint64(popcount(gone))
	}
	top.block = e.next
	if gone == 0 {
		return false
	}
	if e.kind == endTrap {
		w.w.stop(w, e.id, int(lowest(gone)), w.w.trapped())
	}
	return w.exitLanes(gone)
}

// exitLanes takes lanes away everywhere; it reports whether the warp is finished.
func (w *warp) exitLanes(gone uint32) bool {
	w.live &^= gone
	w.cta.gang.exit(w, gone)
	n := 0
	waiting := false
	for _, s := range w.stack {
		if s.mask &^= gone; s.mask != 0 {
			w.stack[n] = s
			n++
			waiting = waiting || s.wait == waitLanes
		}
	}
	w.stack = w.stack[:n]
	if n == 0 {
		w.state = finished
		w.w.rounds = max(w.w.rounds, w.rounds)
		w.async.finish(w)
		return true
	}
	if waiting { // nobody waits for lanes that have gone
		w.meet()
	}
	return false
}
