package simulate

import (
	"math"
	"slices"

	"memwall/gpu/perf"
)

// warp is a warp while it is simulated.
type warp struct {
	trace      *Warp
	cta        int32
	at, access int // where in the trace
	r          *region
	position   int
	ready      []float64 // of the region's items, by number
	registers  []float64
	causes     []class   // of registers: what wrote them last
	next       float64   // when its next item may issue, by what it reads
	after      perf.Wait // what it waits for until then, where that is nothing that it reads
	waits      bool      // at a barrier
	gate       int       // at which: 0 is that of the whole CTA, g that of the g-th group of warps as many as it counts
	done       bool
	ended      float64
	copies     asynchronous
	matrices   asynchronous
}

// asynchronous work of a warp: when the open part ends, and the committed groups do.
type asynchronous struct {
	open   float64
	groups []float64
}

func (a *asynchronous) commit() { a.groups, a.open = append(a.groups, a.open), 0 }

// wait gives when all groups but the latest n have ended.
func (a *asynchronous) wait(n int) float64 {
	t := 0.0
	for i := 0; i < len(a.groups)-n; i++ {
		t = max(t, a.groups[i])
	}
	return t
}

// quarter is one sub-partition: a scheduler with its pipes.
type quarter struct {
	warps                                                   []*warp // oldest first
	try                                                     float64 // nothing can issue before
	free                                                    float64 // of the issue slot
	fp32, imad, alu, mufu, fp64, half, tensor, memory, wide float64 // when each pipe is free
	began, idles                                            bool    // it has had warps; it waits
	why                                                     perf.Wait
	since                                                   float64 // it waits
}

// resident is a CTA on the SM.
type resident struct {
	warps   []*warp
	left    int // warps that run
	arrived int // at the barrier
	last    float64
	objects map[uint32]*object
	began   float64
	ended   float64
}

// sm is the simulation's state.
type sm struct {
	p        *Program
	m        *machine
	in       *Input
	quarters [4]quarter
	ctas     []resident
	next     int // CTA to start
	live     int // warps
	turn     int // of quarters, for the next warp
	regions  map[uint64]*region
	path     []int32
	lsu      float64
	l1       l1
	share    share
	stats    Breakdown
	used     float64 // PTX instructions begun
	total    float64
	marks    [2]mark
	waits    [perf.NumWaits]float64 // cycles, of all quarters
	steps    int
}

// mark is a moment: cycles, and PTX instructions begun.
type mark struct{ at, used float64 }

// Marks between which the steady rate is measured, as shares of the trace.
var markShares = [2]float64{0.4, 0.9}

// mostCycles bounds what is simulated: an hour of a GPU; beyond 2^53 a cycle more would be no more.
const mostCycles = 1e13

// stopEvery is how many steps pass between two looks at whether the caller has had enough.
const stopEvery = 4096

// run simulates the traced CTAs and gives the cycle at which all is done; ok is false when it was stopped.
func (s *sm) run() (cycles float64, ok bool) {
	for s.next < min(max(s.in.Resident, 1), len(s.ctas)) {
		s.start(0)
	}
	t := 0.0
	for s.live > 0 {
		if s.steps++; s.steps%stopEvery == 0 && s.in.Stop != nil && s.in.Stop() {
			return 0, false
		}
		soonest := never
		for q := range s.quarters {
			soonest = min(soonest, s.step(&s.quarters[q], t))
		}
		if s.live == 0 {
			break
		}
		if soonest == never && !s.unlock(t) {
			break
		}
		if soonest == never {
			soonest = t + 1
		}
		if t = math.Ceil(max(soonest, t+1)); !(t < mostCycles) {
			return 0, false
		}
	}
	return max(t, s.share.l2, s.share.dram), true
}

// start puts the next CTA on the SM.
func (s *sm) start(t float64) {
	c := int32(s.next)
	s.next++
	r := &s.ctas[c]
	r.began = t
	for i := range s.in.CTAs[c].Warps {
		w := &warp{trace: &s.in.CTAs[c].Warps[i], cta: c, next: t, after: perf.WaitStart, registers: make([]float64, s.p.registers), causes: make([]class, s.p.registers)}
		q := &s.quarters[s.turn&3]
		s.turn++
		q.warps, q.began = append(q.warps, w), true
		q.try = min(q.try, t)
		r.warps = append(r.warps, w)
		r.left++
		s.live++
	}
}

// step lets a quarter issue at most one instruction at time t, and gives when it may issue the next.
func (s *sm) step(q *quarter, t float64) float64 {
	if q.try > t {
		return q.try
	}
	if q.free > t {
		q.try = q.free
		return q.try
	}
	soonest := never
	var first *warp // that can go on
	for i := 0; i < len(q.warps); i++ {
		w := q.warps[i]
		if w.done {
			q.warps = append(q.warps[:i], q.warps[i+1:]...)
			i--
			continue
		}
		if w.waits {
			continue
		}
		if w.r == nil {
			if w.next > t {
				if w.next < soonest {
					soonest, first = w.next, w
				}
				continue
			}
			if !s.load(w, t) {
				s.finish(w, t)
				soonest = min(soonest, q.try)
				continue
			}
			if len(w.r.items) == 0 {
				s.leave(w)
				i--
				continue
			}
			w.next = max(w.next, s.depends(w))
		}
		at := max(w.next, s.pipe(q, w))
		if at <= t {
			s.settle(q, t)
			s.issue(q, w, t)
			q.try = t + 1
			return q.try
		}
		if at < soonest {
			soonest, first = at, w
		}
	}
	q.try = soonest
	s.idle(q, first, t)
	return soonest
}

// depends is when what the warp's next item reads is ready.
func (s *sm) depends(w *warp) float64 {
	it := &w.r.items[w.position]
	t := 0.0
	for _, n := range it.needs {
		if n >= 0 {
			t = max(t, w.ready[n])
		} else {
			t = max(t, w.registers[^n])
		}
	}
	if it.code.wait >= 0 {
		a := &w.copies
		if it.code.wgmma {
			a = &w.matrices
		}
		t = max(t, a.wait(it.code.wait))
		if it.code.opcode == "cp" && it.code.wait == 0 {
			t = max(t, a.open)
		}
	}
	if it.code.polls && it.access >= 0 {
		t = max(t, s.phase(w, &w.trace.Accesses[w.access+int(it.access)]))
	}
	return t
}

// pipe is when the pipe of the warp's next item takes it.
func (s *sm) pipe(q *quarter, w *warp) float64 {
	const early = 0.99 // an interval that is no whole number of cycles
	switch w.r.items[w.position].class {
	case fp32:
		return q.fp32 - early
	case imad:
		return max(q.imad, q.fp32) - early
	case alu, misc, mbarrier:
		return q.alu - early
	case mufu:
		return q.mufu
	case fp64:
		return q.fp64
	case half:
		return q.half
	case tensor, asyncTensor:
		return q.tensor - early
	case storeGlobal, atomicGlobal:
		return max(q.memory, s.lsu-s.m.queue, s.share.dram-2000, s.share.l2-1000)
	case loadGlobal, loadShared, storeShared, atomicShared, copyAsync, bulkCopy, loadConstant, shuffle:
		return max(q.memory, s.lsu-s.m.queue)
	}
	return 0
}

// issue issues the warp's next item.
func (s *sm) issue(q *quarter, w *warp, t float64) {
	it := &w.r.items[w.position]
	weight := float64(it.weight)
	s.stats.Issued += weight
	s.stats.ByClass[it.class] += weight
	q.free = t + weight
	w.ready[it.number], w.after = s.execute(q, w, it, t), perf.WaitArithmetic
	next := t + weight
	if it.class == branch {
		next = t + s.m.branchCycles
	}
	w.position++
	if w.position >= len(w.r.items) {
		s.leave(w)
		w.next = next
	} else {
		w.next = max(next, s.depends(w))
	}
	if it.bar {
		s.arrive(w, it.code.partners, t)
	}
}

// execute occupies the pipe and gives when the result is ready.
func (s *sm) execute(q *quarter, w *warp, it *item, t float64) float64 {
	weight := float64(it.weight)
	ready := t + float64(it.latency) + weight - 1
	take := func(pipe *float64, interval float64) { *pipe = max(*pipe, t) + interval*weight }
	var a *Access
	if it.access >= 0 {
		a = &w.trace.Accesses[w.access+int(it.access)]
	}
	switch it.class {
	case fp32:
		take(&q.fp32, s.m.fp32)
	case imad:
		take(&q.imad, s.m.imad)
		take(&q.fp32, s.m.fp32)
	case alu:
		take(&q.alu, s.m.alu)
	case misc:
		take(&q.alu, s.m.alu)
		if it.code.commit && it.code.wgmma {
			w.matrices.commit()
		} else if it.code.commit {
			w.copies.commit()
		}
	case mbarrier:
		take(&q.alu, s.m.alu)
		s.signal(w, it, a, t)
		ready = t + 20
	case mufu:
		take(&q.mufu, s.m.mufu)
	case fp64:
		take(&q.fp64, s.m.fp64)
	case half:
		take(&q.half, s.m.half)
	case tensor:
		c := float64(it.code.macs) / s.m.macs
		q.tensor = max(t, q.tensor) + c
		s.stats.Tensor += c
		ready = q.tensor + s.m.mmaLatency - min(c, s.m.mmaLatency)
	case asyncTensor: // the tensor core has read its operands when the warp's group ends
		q.tensor = max(t, q.tensor) + float64(it.code.macs)
		s.stats.Tensor += float64(it.code.macs)
		w.matrices.open = max(w.matrices.open, q.tensor+2*s.m.mmaLatency)
		ready = t + 1 // the next adds to the same registers without a wait
	case loadShared, storeShared, atomicShared, shuffle, loadConstant:
		q.memory = t + 2
		ready = s.sharedAccess(it, a, t)
	case loadGlobal, storeGlobal, atomicGlobal, copyAsync:
		q.memory = t + 2
		ready = s.globalAccess(w, it, a, t)
	case bulkCopy:
		q.memory = t + 2
		s.bulk(w, it, a, t)
		ready = t + 4
	}
	return ready
}

// leave ends a region: the registers that it leaves behind get their times.
func (s *sm) leave(w *warp) {
	for i := range w.r.results {
		d := &w.r.results[i]
		t, cause := 0.0, free
		for _, n := range d.needs {
			if n >= 0 && w.ready[n] > t {
				t, cause = w.ready[n], w.r.classes[n]
			} else if n < 0 && w.registers[^n] > t {
				t, cause = w.registers[^n], w.causes[^n]
			}
		}
		w.registers[d.register], w.causes[d.register] = t, cause
	}
	w.access += w.r.accesses
	w.r = nil
}

// arrive brings a warp to the barrier of its CTA, or of so many neighbouring warps of it.
func (s *sm) arrive(w *warp, partners int, t float64) {
	c := &s.ctas[w.cta]
	w.waits, w.gate = true, 0
	if partners > 0 && partners < len(c.warps) {
		w.gate = 1 + slices.Index(c.warps, w)/partners
		waiting := 0
		for _, other := range c.warps {
			if other.waits && other.gate == w.gate {
				waiting++
			}
		}
		if waiting >= partners {
			s.release(c, w.gate, t+barrierDelay)
		}
		return
	}
	c.arrived++
	c.last = max(c.last, t)
	if c.arrived >= c.left {
		s.release(c, 0, t+barrierDelay)
	}
}

// release lets the warps of a CTA go that wait at one of its barriers.
func (s *sm) release(c *resident, gate int, t float64) {
	for _, w := range c.warps {
		if w.waits && w.gate == gate {
			w.waits = false
			w.next, w.after = max(w.next, t), perf.WaitBarrier
		}
	}
	if gate == 0 {
		c.arrived = 0
	}
	for q := range s.quarters {
		s.quarters[q].try = min(s.quarters[q].try, t)
	}
}

// finish ends a warp; its CTA's end lets the next CTA start.
func (s *sm) finish(w *warp, t float64) {
	w.done, w.ended = true, t
	s.live--
	c := &s.ctas[w.cta]
	c.left--
	switch {
	case c.left == 0:
		c.ended = max(t, w.matrices.open, w.copies.open)
		if s.next < len(s.ctas) {
			s.start(t + s.m.turn*s.in.cutShare(int(w.cta)))
		}
	case c.arrived >= c.left && c.arrived > 0:
		s.release(c, 0, max(c.last, t)+barrierDelay)
	}
}

// unlock is called when no warp can go on: a trace that was cut may lack what others wait for. It lets all of them go.
func (s *sm) unlock(t float64) bool {
	any := false
	for i := range s.ctas[:s.next] {
		c := &s.ctas[i]
		for _, w := range c.warps {
			if w.waits && !w.done {
				any = true
				s.release(c, w.gate, t+1)
			}
		}
		for _, o := range c.objects {
			any = any || !o.open
			o.open = true
		}
	}
	for q := range s.quarters {
		for _, w := range s.quarters[q].warps {
			if !w.done && w.r != nil {
				w.next = max(t, s.depends(w))
			}
		}
		s.quarters[q].try = t + 1
	}
	return any
}
