package vgpu

import (
	"runtime"
	"time"
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
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

	blocks  []blockCounts
	guarded []guardCounts
	sites   []site
	trace   []uint64
	loose   []pinned // pages of procedural contents, held until the next visit
	rounds  uint64   // most dependent global loads of a warp
}

type guardCounts struct{ warps, active, lanes uint64 }

// newWorker makes a worker with room for one CTA of a shape.
func newWorker(p *program, grid, dim driver.Dim3, dynamic int) *worker {
	return &worker{p: p, spare: []*cta{newCTA(p, grid, dim, dynamic)}, blocks: make([]blockCounts, len(p.blocks)),
		guarded: make([]guardCounts, len(p.infos)), sites: make([]site, p.patterns)}
}

// begin prepares the worker for a launch.
func (k *worker) begin(r *launchRun) {
	k.run, k.memory, k.allocations, k.args, k.count = r, r.memory.host, r.allocations, r.args, r.count
	k.fuel, k.idle, k.idleCycles, k.unchecked, k.rounds = fullFuel, 0, 0, 0, 0
	clear(k.blocks)
	clear(k.guarded)
	for i := range k.sites {
		s := &k.sites[i]
		s.low, s.high, s.alloc = 1, 0, nil
		s.global, s.local, s.shared = globalCounts{}, globalCounts{}, sharedCounts{}
		s.atomicGlobal, s.atomicShared = atomicCounts{}, atomicCounts{}
	}
}

// free gives a CTA of the worker's shape that is not in use.
func (k *worker) free() *cta {
	if n := len(k.spare); n > 0 {
		c := k.spare[n-1]
		k.spare = k.spare[:n-1]
		return c
	}
	return newCTA(k.p, k.run.grid, k.run.dim, k.run.dynamic)
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

// admit makes the launch's next CTA resident; false: there is none, or no room for one.
func (k *worker) admit() bool {
	r := k.run
	if len(k.resident) > 0 && r.resident.Load() >= r.most {
		return false
	}
	i := r.next.Add(1) - 1
	if i >= r.executed {
		return false
	}
	r.resident.Add(1)
	c := k.free()
	c.ordinal = i
	index := i * uint64(r.step)
	if r.device.backwards {
		index = (r.executed - 1 - i) * uint64(r.step)
	}
	for j := range c.warps {
		c.warps[j].w = k
	}
	for _, s := range k.p.specials {
		for j := range c.warps {
			switch s.special {
			case ptx.NSMID:
				fill(c.warps[j].u32(s.at), uint32(r.sms))
			case ptx.GridID:
				fill(c.warps[j].u64(s.at), r.number)
			case ptx.NwarpID:
				fill(c.warps[j].u32(s.at), uint32(r.device.warpsPerSM()))
			}
		}
	}
	c.start(index, int(i%uint64(r.sms)))
	c.watch = r.observe(c)
	if c.check = r.check; c.check != nil {
		c.watch = c.check
		c.check.startCTA(c)
	}
	k.resident = append(k.resident, c)
	return true
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
			if !done {
				i++
				continue
			}
			k.resident = append(k.resident[:i], k.resident[i+1:]...)
			k.run.resident.Add(-1)
			k.cta, k.spare = nil, append(k.spare, c)
			if r := k.run; r.caches != nil && !r.caches.submit(c.ordinal, k, &r.stopFlag, len(k.resident) == 0) {
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
			if c.watch != nil {
				c.watch.endCTA(c)
			}
			return true, true
		case c.releaseBarriers():
			moved = true
		case got && can > 0:
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
	if k.unchecked += used; k.unchecked > fullFuel && w.state != finished {
		k.check(w, w.stack[len(w.stack)-1].block)
	}
}

// settle adds what the slice has used up to the warp's clock, and gives it a new one.
func (k *worker) settle(w *warp) int {
	used := fullFuel - k.fuel - k.idle
	w.spent += uint64(used) + k.idleCycles
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

// clock is the warp's time in cycles: four an instruction, and those of its waits.
func (k *worker) clock(w *warp) uint64 {
	return (w.spent+uint64(fullFuel-k.fuel-k.idle)+k.idleCycles)*4 + 1000
}

// refuel gives the warp another slice, and keeps the trace short.
func (k *worker) refuel(w *warp, at int32) {
	k.settle(w)
	if len(k.trace) > maxTrace {
		k.run.caches.flush(k.cta.ordinal, k, len(k.resident) == 1, func() bool { return k.run.cancelled() != nil })
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
