package vgpu

import (
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
)

// worker executes CTAs, one after another, and owns what they count.
type worker struct {
	p           *program
	run         *launchRun
	cta         *cta // the CTA in hand
	memory      unsafe.Pointer
	allocations []*allocation
	args        []byte
	count       bool
	fuel        int
	executed    uint64 // instructions before the last refuel
	address     [32]uint64
	address2    [32]uint64

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
	return &worker{p: p, cta: newCTA(p, grid, dim, dynamic), blocks: make([]blockCounts, len(p.blocks)), guarded: make([]guardCounts, len(p.infos)),
		sites: make([]site, p.patterns)}
}

// begin prepares the worker for a launch.
func (k *worker) begin(r *launchRun) {
	k.run, k.memory, k.allocations, k.args, k.count = r, r.memory.host, r.allocations, r.args, r.count
	k.fuel, k.executed, k.rounds = fullFuel, 0, 0
	clear(k.blocks)
	clear(k.guarded)
	for i := range k.sites {
		s := &k.sites[i]
		s.low, s.high, s.alloc = 1, 0, nil
		s.global, s.local, s.shared = globalCounts{}, globalCounts{}, sharedCounts{}
	}
	for i := range k.cta.warps {
		k.cta.warps[i].w = k
		for _, s := range k.p.specials {
			if s.special == ptx.NSMID {
				fill(k.cta.warps[i].u32(s.at), uint32(r.sms))
			}
		}
	}
}

// execute runs one CTA.
func (k *worker) execute(index uint64, sm int) {
	c := k.cta
	k.executed += uint64(fullFuel - k.fuel)
	k.fuel = fullFuel
	c.start(index, sm)
	c.watch = k.run.observe(c)
	if cause := k.run.cancelled(); cause != nil && len(k.p.f.Body) > 0 {
		k.stop(&c.warps[0], 0, 0, cause)
	}
	for {
		waiting := 0
		for i := range c.warps {
			w := &c.warps[i]
			if w.state == running {
				w.run()
			}
			if w.state == atBarrier {
				waiting++
			}
		}
		if waiting == 0 {
			if c.watch != nil {
				c.watch.endCTA(c)
			}
			return
		}
		if !c.releaseBarriers() {
			c.deadlock()
		}
	}
}

// clock is a counter that grows with what the worker executes: four cycles an instruction.
func (k *worker) clock() uint64 {
	return (k.executed+uint64(fullFuel-k.fuel))*4 + 1000
}

// refuel looks whether the launch was cancelled, and keeps the trace short.
func (k *worker) refuel(w *warp, at int32) {
	k.executed += uint64(fullFuel - k.fuel)
	k.fuel = fullFuel
	if len(k.trace) > maxTrace {
		k.run.caches.flush(k.cta.ordinal, k, func() bool { return k.run.cancelled() != nil })
	}
	if cause := k.run.cancelled(); cause != nil {
		k.stop(w, k.p.blocks[at].from, int(lowest(w.stack[len(w.stack)-1].mask)), cause)
	}
}
