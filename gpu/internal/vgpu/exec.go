package vgpu

import (
	"memwall/gpu/internal/driver"
)

// split is a part of a warp whose lanes run together: where it is, where it joins the lanes below it on the stack, and
// which lanes. It is a stack of reconvergence at immediate post-dominators, with one freedom: a part that waits at a
// barrier may be overtaken by one whose lanes are all different.
type split struct {
	block   int32
	join    int32 // block at which it ends, -1: never
	mask    uint32
	waiting bool
}

type warpState uint8

const (
	running warpState = iota
	atBarrier
	finished
)

// barrierWait is where a warp waits.
type barrierWait struct {
	number  uint32
	threads uint32 // 0: all of the CTA
	end     *ending
}

// blockCounts are what a worker counts of one block.
type blockCounts struct {
	warps, lanes        uint64
	taken, takenLanes   uint64 // of its ending, where that has a guard: executions with any lane, lanes
	branches, divergent uint64
	barriers            uint64
}

// fullFuel is how many instructions a worker executes between two looks at whether the launch was cancelled; an mma takes
// under a microsecond.
const fullFuel = 1 << 16

// run executes the warp until it finishes or waits at a barrier.
func (w *warp) run() {
	p, k := w.w.p, w.w
	blocks := p.blocks
	exit := int32(len(blocks))
	for {
		top := &w.stack[len(w.stack)-1]
		for top.block == top.join && !top.waiting {
			w.stack = w.stack[:len(w.stack)-1]
			top = &w.stack[len(w.stack)-1]
		}
		if top.waiting { // the lanes above have joined one that waits
			if w.overtake() {
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
		if k.fuel -= b.cost; k.fuel <= 0 {
			k.refuel(w, at)
		}
		m := top.mask
		w.mask = m
		if w.cta.watch != nil {
			w.cta.watch.enter(w, at, m)
		}
		c := &k.blocks[at]
		c.warps++
		w.rounds += b.chase
		if m == allLanes {
			c.lanes += 32
			code := b.code
			for i := range code {
				in := &code[i]
				in.fn(w, in)
			}
		} else {
			c.lanes += uint64(popcount(m))
			w.runMasked(b)
		}
		switch b.end.kind {
		case endFall:
			top.block = b.end.next
		case endBranch:
			w.branch(b, c, top)
		case endBarrier:
			if w.arrive(b, c, top) {
				return
			}
		default:
			if w.leave(b, c, top) {
				return
			}
		}
	}
}

// runMasked executes a block for some of the lanes.
func (w *warp) runMasked(b *block) {
	code, twins := b.code, b.twins
	for i := range code {
		in := &code[i]
		if in.flags&flagSelf != 0 {
			in.fn(w, in)
		} else {
			w.masked(in, &twins[i])
		}
	}
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
		w.w.stop(w, e.id, int(lowest(gone)), &driver.Fault{Kind: driver.Trap})
	}
	return w.exitLanes(gone)
}

// exitLanes takes lanes away everywhere; it reports whether the warp is finished.
func (w *warp) exitLanes(gone uint32) bool {
	w.live &^= gone
	n := 0
	for _, s := range w.stack {
		if s.mask &^= gone; s.mask != 0 {
			w.stack[n] = s
			n++
		}
	}
	w.stack = w.stack[:n]
	if n == 0 {
		w.state = finished
		w.w.rounds = max(w.w.rounds, w.rounds)
		w.async.finish(w)
		return true
	}
	return false
}

// arrive handles a barrier at the end of a block; it reports whether the warp stops there.
func (w *warp) arrive(b *block, c *blockCounts, top *split) bool {
	e := &b.end
	m := w.guardOf(e, top.mask)
	if e.guard >= 0 {
		c.takenLanes += uint64(popcount(m))
	}
	top.block = e.next
	if m == 0 {
		return false
	}
	c.barriers++
	if m != top.mask {
		w.w.stop(w, e.id, int(lowest(top.mask&^m)), &driver.Fault{Kind: driver.Deadlock, Detail: "the barrier's guard differs between the lanes of a warp"})
	}
	wait := barrierWait{number: e.barrier, threads: e.threads, end: e}
	lane := lowest(m)
	if e.barReg >= 0 {
		wait.number = w.u32(uint32(e.barReg))[lane]
	}
	if e.countReg >= 0 {
		wait.threads = w.u32(uint32(e.countReg))[lane]
	}
	if wait.number >= maxBarriers {
		w.w.stop(w, e.id, int(lane), &driver.Fault{Kind: driver.Illegal, Detail: "there is no such barrier: they are 0 to 15"})
	}
	if e.reduce.op != 0 {
		w.cta.contribute(w, &wait, m)
	}
	w.wait = wait
	if w.cta.watch != nil {
		w.cta.watch.arrive(w, e, wait.number, m)
	}
	if e.arrive {
		w.cta.arriveOnly(w, &wait)
		return false
	}
	if len(w.stack) == 1 {
		w.state = atBarrier
		return true
	}
	top.waiting = true
	return w.overtake()
}

// overtake is called when the part on top waits at a barrier and other lanes are on their way: it puts a part whose
// lanes are independent of all above it on top. Where there is none the warp waits, if all of its lanes do.
func (w *warp) overtake() bool {
	var above, waiting uint32
	for i := len(w.stack) - 1; i >= 0; i-- {
		s := w.stack[i]
		if s.waiting {
			waiting |= s.mask
		} else if s.mask&above == 0 {
			copy(w.stack[i:], w.stack[i+1:])
			w.stack[len(w.stack)-1] = s
			return false
		}
		above |= s.mask
	}
	if waiting == w.live {
		w.state = atBarrier
		return true
	}
	missing := w.live &^ waiting
	w.w.stop(w, w.wait.end.id, int(lowest(missing)), &driver.Fault{Kind: driver.Deadlock,
		Detail: "lanes of this warp wait at the barrier for lanes that wait for them where the paths join"})
	return true
}

// resume lets a warp go on behind its barrier.
func (w *warp) resume() {
	w.state = running
	for i := range w.stack {
		w.stack[i].waiting = false
	}
}
