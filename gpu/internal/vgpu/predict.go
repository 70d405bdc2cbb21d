package vgpu

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"sync"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu/cache"
	"memwall/gpu/internal/vgpu/simulate"
	"memwall/gpu/perf"
)

// traceInstructions bounds what a simulation may cost: traces are cut to so many PTX instructions of warps. It is a launch's own
// bound: what a launch is predicted to take may not depend on what the process has launched before.
const traceInstructions = 240_000

// predictions keeps what simulations have found, by what was launched.
type predictions struct {
	mu    sync.Mutex
	known map[[32]byte]*prediction
}

type prediction struct {
	simulation   perf.Simulation
	instructions uint64 // of all warps: tells whether another launch does the same
	longest      uint64 // of one CTA
	sectors      uint64
}

// predictionKey names a launch as far as its time depends on it: PTX, entry, geometry, caches, and arguments that are no
// addresses.
func predictionKey(f *function, l *driver.Launch) [32]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00%v %v %v %d %d %v %d\x00", f.program.module.Text, f.Name(), l.Grid, l.CTA, l.Cluster, l.Shared, l.Sample, l.Warm, f.attributes.Registers)
	for i, p := range f.program.params {
		if !f.program.pointers[i] && p.offset+p.size <= len(l.Args) {
			h.Write(l.Args[p.offset : p.offset+p.size])
		}
	}
	return [32]byte(h.Sum(nil))
}

// traceFor prepares to trace a launch that is to be simulated; nil where its time is known already.
func (d *Device) traceFor(f *function, l *driver.Launch, key [32]byte, executed uint64) *tracing {
	d.predictions.mu.Lock()
	known := d.predictions.known[key] != nil
	d.predictions.mu.Unlock()
	if known {
		return nil
	}
	t := f.tracing(l, d.usedSMs(l), d.residentCTAs(f, l), executed, traceInstructions)
	t.tellApart(executed)
	return t
}

// predict simulates a launch that was traced, or gives what is known of the same launch.
func (d *Device) predict(ctx context.Context, f *function, l *driver.Launch, key [32]byte, t *tracing, r *cache.Replay, result *driver.Result, done work) *perf.Simulation {
	instructions, sectors := result.Counts.WarpInstructions, result.Counts.Cache.L1Lookups+result.Counts.Cache.L2Lookups
	d.predictions.mu.Lock()
	known := d.predictions.known[key]
	d.predictions.mu.Unlock()
	if known != nil {
		s := known.simulation
		if known.instructions != instructions || !near(known.sectors, sectors) || !near(known.longest, done.longest) {
			// The same arguments gave other work, so it depends on the data: by its instructions now, simulated the next time.
			s.Scale(float64(instructions) / float64(max(known.instructions, 1)))
			d.predictions.mu.Lock()
			delete(d.predictions.known, key)
			d.predictions.mu.Unlock()
		}
		s.Contention = d.contentionOf(l, &result.Counts) / d.profile.ModelHz // which addresses atomics want depends on the data
		return &s
	}
	if t == nil {
		return &perf.Simulation{Why: "the launch has no trace"}
	}
	in := d.inputFor(f, l, t, r, &result.Counts, done)
	in.Stop = func() bool { return ctx.Err() != nil }
	s := simulated(in)
	if !s.Done() {
		return s
	}
	d.predictions.mu.Lock()
	defer d.predictions.mu.Unlock()
	if d.predictions.known == nil || len(d.predictions.known) >= mostPredictions {
		d.predictions.known = map[[32]byte]*prediction{}
	}
	d.predictions.known[key] = &prediction{*s, instructions, done.longest, sectors}
	return s
}

// simulated runs a simulation.
func simulated(in *simulate.Input) *perf.Simulation {
	if in.CTAs == nil {
		return &perf.Simulation{Why: "the launch has no trace"}
	}
	if err := in.Profile.Check(); err != nil {
		return &perf.Simulation{Why: err.Error()}
	}
	found, ok := simulate.Run(in)
	if !ok {
		return &perf.Simulation{Why: "the simulation was interrupted"}
	}
	s := found.Simulation()
	return &s
}

// mostPredictions bounds what a device remembers.
const mostPredictions = 4096

// near: within 2 %, since data may decide a few accesses.
func near(a, b uint64) bool {
	return math.Abs(float64(a)-float64(b)) <= 0.02*float64(max(a, b))
}

// sharedBySample is what part of the sectors that a sample's CTAs read from DRAM the CTAs of the whole grid would, each for itself:
// those of a sample lie far apart, and find nothing in L2 that their neighbours have read. 1 where that is not known.
func sharedBySample(l *driver.Launch, c *perf.Counts, fetched uint64) float64 {
	if l.Sample <= 1 || l.LeastBytes <= 0 || fetched == 0 || c.CTAs == 0 {
		return 1
	}
	whole := 32 * float64(fetched) * float64(l.Grid.Count()) / float64(c.CTAs)
	again := float64(c.Cache.DRAMReadSectors) / float64(max(c.Cache.DistinctRead, 1)) // the sample's own re-fetches
	return min(1, l.LeastBytes*max(again, 1)/whole)
}

// contentionOf is how many cycles L2 works for what the atomics of the whole grid want most.
func (d *Device) contentionOf(l *driver.Launch, c *perf.Counts) float64 {
	cycles := c.Hottest.Cycles(d.profile)
	if c.Hottest.Shared {
		cycles *= float64(l.Grid.Count()) / float64(max(c.CTAs, 1))
	}
	return cycles
}

// localBeyondL2 is the share of local memory that L2 has no room for, 0 where it holds all: the threads that are resident together
// have so many bytes each as they store, at most their frame. The replay of the caches sees no local memory.
func (d *Device) localBeyondL2(f *function, l *driver.Launch, c *perf.Counts, resident int) float64 {
	if c.Warps == 0 {
		return 0
	}
	each := min(float64(f.program.local), float64(c.LocalStore.Bytes)/float64(c.Warps)/warpSize)
	ctas := min(float64(resident*max(d.properties.SMs, 1)), float64(l.Grid.Count()))
	warps := float64((l.CTA.Count() + warpSize - 1) / warpSize)
	all := each * ctas * warps * warpSize
	return max(0, 1-float64(d.profile.L2Bytes)/max(all, 1))
}

// inputFor puts together what the simulation needs.
func (d *Device) inputFor(f *function, l *driver.Launch, t *tracing, r *cache.Replay, c *perf.Counts, done work) *simulate.Input {
	resident := d.residentCTAs(f, l)
	in := &simulate.Input{Profile: d.profile, Program: t.program, Resident: resident, Grid: float64(l.Grid.Count()),
		L1Bytes: d.firstCache(f, l, resident), DRAM: make([]float64, len(f.program.f.Body))}
	t.fill(in, l, c, done)
	for i := range in.DRAM {
		in.DRAM[i] = -1
	}
	var requested, fetched, stored uint64
	f.program.eachSite(func(pattern, id int32) {
		asked, came := r.Traffic(int(pattern + 1))
		if asked == 0 {
			return
		}
		if kind := f.program.infos[id].kind; kind == globalStore || kind == bulkOut || kind == bulkReduce {
			stored += asked
			return
		}
		requested += asked
		fetched += came
		in.DRAM[id] = float64(came) / float64(asked)
	})
	in.Contention = d.contentionOf(l, c)
	if share := sharedBySample(l, c, fetched); share < 1 {
		for i := range in.DRAM {
			in.DRAM[i] *= share // unknown ones stay below 0
		}
		fetched = uint64(share * float64(fetched))
	}
	in.Local = d.localBeyondL2(f, l, c, resident)
	for i := range in.DRAM {
		if kind := f.program.infos[i].kind; kind == localLoad || kind == localStore {
			in.DRAM[i] = in.Local
		}
	}
	if requested > 0 {
		in.Mean = float64(fetched) / float64(requested)
	}
	moved := r.Counts()
	in.Written = float64(moved.DRAMWriteSectors) / float64(max(moved.DRAMReadSectors+moved.DRAMWriteSectors, 1))
	if stored > 0 {
		in.WriteBack = float64(moved.DRAMWriteSectors) / float64(stored)
	}
	return in
}
