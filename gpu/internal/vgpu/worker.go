package vgpu

import (
	"runtime"
	"time"
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu/cache"
)

// worker executes CTAs and owns what they count. It has one in hand at a time; others stay resident beside it when CTAs
// wait for each other.
type worker struct {
	p           *program
	run         *launchRun
	cta         *cta // the CTA in hand
	resident    []*cta
	spare       []*cta
	memory      unsafe.Pointer
	base        uint64 // device address of its first byte
	allocations []*allocation
	args        []byte
	count       bool
	fuel        int    // of the warp's slice
	idle        int    // fuel of the slice that looks took
	idleCycles  uint64 // what the clock gets for them
	unchecked   int    // instructions since the launch was last found not to be cancelled
	address     [32]uint64
	address2    [32]uint64
	olds        [32]uint32 // what lanes of an atomic found
	meetings    meetings   // of lanes, at atomics
	contention  contention // of atomics on global memory

	blocks  []blockCounts
	guarded []guardCounts
	sites   []site
	trace   []cache.Entry
	threads *threads // of assembly; nil: portable lanes
	loose   []pinned // pages of procedural contents, held until the next visit
	rounds  uint64   // most dependent global loads of a warp
	latest  uint64   // clock of the warp that ended last
	done    work     // by the CTAs that have ended
}

type guardCounts struct{ warps, active, lanes uint64 }

// newWorker makes a worker with room for one CTA of a shape.
func newWorker(p *program, grid, dim, span driver.Dim3, dynamic int) *worker {
	return &worker{p: p, spare: []*cta{newCTA(p, grid, dim, span, dynamic)}, blocks: make([]blockCounts, len(p.blocks)),
		guarded: make([]guardCounts, len(p.infos)), sites: make([]site, p.patterns)}
}

// begin prepares the worker for a launch.
func (k *worker) begin(r *launchRun) {
	k.run, k.memory, k.base, k.allocations, k.args, k.count = r, r.memory.host, r.memory.base, r.allocations, r.args, r.count
	k.fuel, k.idle, k.idleCycles, k.unchecked, k.rounds, k.latest, k.done = fullFuel, 0, 0, 0, 0, 0, work{}
	k.contention.begin()
	clear(k.blocks)
	clear(k.guarded)
	for i := range k.sites {
		s := &k.sites[i]
		s.low, s.high, s.alloc = 1, 0, nil
		s.global, s.local, s.shared = globalCounts{}, globalCounts{}, sharedCounts{}
		s.atomicGlobal, s.atomicShared = atomicCounts{}, atomicCounts{}
	}
	if r.lanes >= ThreadedLanes {
		k.p.threading.Do(k.p.thread)
		if k.threads == nil {
			k.threads = newThreads(k.p)
		}
		k.threads.begin(k)
	} else {
		k.threads = nil
	}
}

// free gives a CTA of the worker's shape that is not in use.
func (k *worker) free() *cta {
	if n := len(k.spare); n > 0 {
		c := k.spare[n-1]
		k.spare = k.spare[:n-1]
		return c
	}
	return newCTA(k.p, k.run.grid, k.run.dim, k.run.span, k.run.dynamic)
}

// take makes a CTA the one in hand.
func (k *worker) take(c *cta) {
	if k.cta == c {
		return
	}
	if k.cta != nil {
		k.cta.trace, k.trace = k.trace, nil
	}
	k.cta = c
	if c != nil && c.trace != nil {
		k.trace, c.trace = c.trace, nil
	}
}

// admit makes the launch's next CTA resident, with the others of its cluster; false: there is none, or no room for it.
func (k *worker) admit() bool {
	r := k.run
	n := r.span.Count()
	if len(k.resident) > 0 && uint64(r.resident.Load())+n > uint64(r.most) {
		return false
	}
	first := r.next.Add(n) - n
	if first >= r.executed {
		return false
	}
	r.resident.Add(int64(n))
	cluster := first / n
	if r.device.backwards != r.reverse {
		cluster = r.executed/n - 1 - cluster
	}
	clusters := driver.Dim3{X: r.grid.X / r.span.X, Y: r.grid.Y / r.span.Y, Z: r.grid.Z / r.span.Z}
	corner := split3(pick(cluster, uint64(r.step), uint64(clusters.X), clusters.Count()), clusters)
	g := &gang{ctas: make([]*cta, n)}
	for rank := range g.ctas {
		c := k.free()
		g.ctas[rank] = c
		at := split3(uint64(rank), r.span)
		span := r.span.Array()
		for i := range at {
			at[i] += corner[i] * span[i]
		}
		c.ordinal, c.rank, c.cluster, c.gang = first+uint64(rank), rank, g.ctas, g
		for j := range c.warps {
			c.warps[j].w = k
		}
		c.start(r, at, int(first/n*n%uint64(r.sms)+uint64(rank))%r.sms)
		c.watch = r.observe(c)
		if c.check = r.check; c.check != nil {
			c.watch = c.check
			c.check.startCTA(c)
		}
		k.resident = append(k.resident, c)
	}
	g.begin()
	return true
}

// split3 gives the coordinates of the i-th element of an extent.
func split3(i uint64, e driver.Dim3) [3]uint32 {
	return [3]uint32{uint32(i % uint64(e.X)), uint32(i / uint64(e.X) % uint64(e.Y)), uint32(i / uint64(e.X) / uint64(e.Y))}
}

// work executes CTAs until the launch has no more. A CTA runs until it finishes or until all that its warps do is look
// whether another has done something; then the others that are resident have their turn, and when none of them gets on,
// as many again are started.
func (k *worker) work() {
	k.begin(k.run)
	defer k.take(nil)
	for fruitless := 0; !k.run.stopFlag.Load(); {
		moved := false
		for i := 0; i < len(k.resident); {
			c := k.resident[i]
			k.take(c)
			done, got, fault := k.try(c)
			moved = moved || got || done
			if fault != nil {
				k.run.fail(c.ordinal, fault)
			}
			if done {
				k.run.keepPrinted(c)
			}
			if !done {
				i++
				continue
			}
			k.resident = append(k.resident[:i], k.resident[i+1:]...)
			k.run.resident.Add(-1)
			k.cta = nil
			if c.gang.left--; c.gang.left == 0 { // until then others may look into its shared memory
				k.spare = append(k.spare, c.cluster...)
			}
			if !k.submit(c) {
				return
			}
		}
		if moved && len(k.resident) > 0 {
			fruitless = 0
			continue
		}
		started := false
		for range max(len(k.resident), 1) {
			if !k.admit() {
				break
			}
			started = true
		}
		switch {
		case started:
			fruitless = 0
		case len(k.resident) == 0:
			return
		case k.run.resident.Load() == int64(len(k.resident)): // nobody else can do what they wait for
		default: // another worker's CTAs must get on
			if fruitless++; fruitless < 64 {
				runtime.Gosched()
			} else {
				time.Sleep(20 * time.Microsecond)
			}
		}
	}
}

// submit hands the trace of a CTA that is done to the caches; false: the launch has stopped.
func (k *worker) submit(c *cta) (ok bool) {
	r := k.run
	if r.caches == nil {
		return true
	}
	k.trace, ok = r.caches.Submit(c.ordinal, k.trace, &r.stopFlag, len(k.resident) == 0)
	return ok
}

// try runs a CTA until it is done or waits for another; a fault ends it. moved tells whether it got on.
func (k *worker) try(c *cta) (done, moved bool, f *driver.Fault) {
	defer func() {
		if e := recover(); e != nil {
			s, ok := e.(stopped)
			if !ok {
				panic(e)
			}
			done, f = true, s.fault
		}
	}()
	if !c.begun {
		c.begun = true
		k.check(&c.warps[0], 0)
	}
	done, moved = k.advance(c)
	return done, moved, nil
}

// advance gives the CTA's warps their turns, until all have finished, or until each of them waits or has only looked
// whether something has changed.
func (k *worker) advance(c *cta) (done, moved bool) {
	for {
		got, alive, can := false, 0, 0
		for i := range c.warps {
			w := &c.warps[i]
			if k.run.reverse {
				w = &c.warps[len(c.warps)-1-i]
			}
			if w.state == running {
				k.turn(w)
				got = got || !w.spun
			}
			switch w.state {
			case running:
				can++
				fallthrough
			case blocked:
				alive++
			}
		}
		moved = moved || got
		switch {
		case alive == 0:
			c.landAll()
			k.tally(c)
			if c.watch != nil {
				c.watch.endCTA(c)
			}
			return true, true
		case c.releaseBarriers():
			moved = true
		case got && can > 0:
		case can == 0 && c.gang.waits():
			return false, moved
		case can == 0:
			c.deadlock()
		case !c.freeJoined():
			return false, moved
		}
	}
}

// turn gives a warp its turn.
func (k *worker) turn(w *warp) {
	k.fuel, k.idle, k.idleCycles = fullFuel, 0, 0
	w.spun = false
	w.run()
	w.spinning = w.spinning && w.spun
	used := k.settle(w)
	if w.state == finished {
		k.latest = max(k.latest, k.clock(w))
	}
	if k.unchecked += used; k.unchecked > fullFuel && w.state != finished {
		k.check(w, w.stack[len(w.stack)-1].block)
	}
}

// settle adds what the slice has used up to the warp's clock, and gives it a new one.
func (k *worker) settle(w *warp) int {
	used := fullFuel - k.fuel - k.idle
	w.spent += uint64(used)*issueCycles + k.idleCycles
	w.executed += uint64(used)
	k.fuel, k.idle, k.idleCycles = fullFuel, 0, 0
	return used
}

// freeJoined lets lanes of warps that do nothing but look go ahead where they wait for others; it reports whether there
// were any.
func (c *cta) freeJoined() bool {
	freed := false
	for i := range c.warps {
		if w := &c.warps[i]; w.state == running && w.freeJoined() {
			w.eager, freed = true, true
		}
	}
	return freed
}

const (
	issueCycles = 4     // that an instruction adds to its warp's clock
	waveCycles  = 20000 // between the CTAs that start first and those that take their places
)

// clock is the warp's time in cycles since the launch began: what it has executed and waited for, as far as its barriers know
// also what others have. It depends on the CTA alone, not on who executes it.
func (k *worker) clock(w *warp) uint64 {
	wave := w.cta.ordinal / uint64(max(k.run.most, 1))
	return 1000 + wave*waveCycles + w.spent + uint64(fullFuel-k.fuel-k.idle)*issueCycles + k.idleCycles
}

// globalTimer is %globaltimer in ns.
func (k *worker) globalTimer(w *warp) uint64 {
	return k.run.began + uint64(float64(k.clock(w))*1e9/max(k.run.device.properties.ClockHz, 1e6))
}

// refuel gives the warp another slice, and keeps the trace short.
func (k *worker) refuel(w *warp, at int32) {
	k.settle(w)
	if cache.Longer(k.trace, cache.MaxTrace) {
		k.run.caches.Flush(k.cta.ordinal, k.trace, len(k.resident) == 1, func() bool { return k.run.cancelled() != nil })
		k.trace = k.trace[:0]
	}
	k.check(w, at)
}

// check stops a launch that was cancelled.
func (k *worker) check(w *warp, at int32) {
	k.unchecked = 0
	if cause := k.run.cancelled(); cause != nil && len(k.p.f.Body) > 0 {
		id := int32(0)
		if int(at) < len(k.p.blocks) {
			id = k.p.blocks[at].from
		}
		k.stop(w, id, int(lowest(w.stack[len(w.stack)-1].mask)), cause)
	}
}
