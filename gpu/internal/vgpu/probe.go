package vgpu

import (
	"context"
	"runtime"
	"time"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu/cache"
)

// What a probe executes: of the first wave so many instructions of warps, but of each warp at least a few.
const (
	probeWave   = 800_000
	probeTraces = 120_000 // of the traces
	probeLeast  = 300
	probeMost   = 2048 // CTAs of the first wave
	probeWhole  = 3    // CTAs that are executed to their end
)

// probe predicts the time of a launch without running it whole: the first, the middle and the last CTA to their ends, which tells how
// long CTAs are; the CTAs that one SM would run, cut, for their traces; and the first wave, cut, through the caches. What it leaves in
// memory is incomplete. Counts are those of the three CTAs, scaled to the grid.
func (d *Device) probe(ctx context.Context, f *function, l *driver.Launch) (*driver.Result, error) {
	d.exec.Lock()
	defer d.exec.Unlock()
	d.hold.RLock()
	defer d.hold.RUnlock()
	if d.closed.Load() {
		return nil, errClosed
	}
	start := time.Now()
	total := l.Grid.Count()
	resident := d.residentCTAs(f, l)
	sms := uint64(max(d.properties.SMs, 1))
	traces := f.tracing(l, int(sms), resident, total, probeTraces)
	traces.every, traces.partial = 1, true

	few := min(total, probeWhole)
	whole, err := d.excerpt(ctx, f, l, excerpt{ctas: few, step: (total - 1) / max(few-1, 1)}, nil)
	if err != nil {
		return nil, err
	}
	if _, err := d.excerpt(ctx, f, l, excerpt{ctas: uint64(traces.own), step: sms, cut: uint64(traces.limit) + 1000}, traces); err != nil {
		return nil, err
	}
	wave := min(total, uint64(resident)*sms, probeMost)
	warps := wave * ((l.CTA.Count() + warpSize - 1) / warpSize)
	caches := d.replayFor(f, l, nil)
	seen, err := d.excerpt(ctx, f, l, excerpt{ctas: wave, step: 1, cut: max(probeWave/warps, probeLeast), caches: caches}, nil)
	if err != nil {
		return nil, err
	}
	result := &driver.Result{Executed: few, Sampled: 1, Cold: true, Counts: whole.Counts}
	result.Counts.Cache = seen.Counts.Cache
	in := d.inputFor(f, l, traces, caches, &whole.Counts, whole.done)
	in.Stop = func() bool { return ctx.Err() != nil }
	if h := &seen.Counts.Hottest; h.Shared { // three CTAs cannot tell whether others want the same
		in.Contention = h.Cycles(d.profile) * float64(total) * float64(whole.Counts.WarpInstructions) / float64(max(seen.Counts.WarpInstructions, 1))
	}
	result.Simulated = simulated(in)
	result.Host = time.Since(start)
	return result, nil
}

// excerpt is some CTAs of a grid.
type excerpt struct {
	ctas, step uint64
	cut        uint64
	caches     *cache.Replay
}

// excerpted is what an excerpt has counted.
type excerpted struct {
	driver.Result
	done work
}

// excerpt executes some CTAs.
func (d *Device) excerpt(ctx context.Context, f *function, l *driver.Launch, x excerpt, traces *tracing) (*excerpted, error) {
	r, err := d.newRun(ctx, f, l)
	if err != nil {
		return nil, err
	}
	r.count, r.step, r.executed, r.cut, r.caches = true, int(x.step), x.ctas, x.cut, x.caches
	r.most = int64(max(r.sms, 1) * d.residentCTAs(f, l))
	if traces != nil {
		r.watch = traces.watch
	}
	pool := f.workers(l, int(min(uint64(runtime.GOMAXPROCS(0)), x.ctas)))
	defer f.giveBack(l, pool)
	fault := r.execute(pool)
	result := &excerpted{done: workOf(pool)}
	if x.caches != nil {
		result.Counts.Cache = x.caches.Finish(fault == nil)
	}
	if fault != nil {
		return nil, fault
	}
	f.program.collect(&result.Result, pool, true)
	result.Counts.CTAs = x.ctas
	return result, nil
}
