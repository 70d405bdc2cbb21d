package vgpu

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
)

// A launch that has a time to keep (gpu.SampleFor) tries a few CTAs first, to see how long they take. They are executed twice:
// watched, to learn what they write, then timed; each time device memory is put back, so that the launch finds it as it was.

const (
	pilotCTAs   = 16      // or clusters
	largestStep = 1 << 40 // of a sample that a time budget asks for
)

// stepFor finds the sample, a power of two, that fits a launch into its time.
func (d *Device) stepFor(ctx context.Context, f *function, l *driver.Launch) (int, error) {
	total := l.Grid.Count()
	if total <= pilotCTAs {
		return 1, nil
	}
	took, executed, err := d.tryCTAs(ctx, f, l)
	if err != nil {
		return 0, err
	}
	// Counting takes a half more.
	each := float64(took) * 1.5 / float64(executed)
	step := 1
	for float64(total)*each/float64(step) > float64(l.SampleTime) && step < largestStep && uint64(step) < total/2 {
		step *= 2
	}
	return step, nil
}

// tryCTAs executes a few CTAs of a launch and leaves device memory as it was; took is the host's time for them.
func (d *Device) tryCTAs(ctx context.Context, f *function, l *driver.Launch) (took time.Duration, executed uint64, err error) {
	if f.program.storesInBulk() {
		return 0, 0, fmt.Errorf("launch %s: to keep a time, a few CTAs are tried first, and what this function writes in bulk cannot be taken back\nchoose the sample yourself: gpu.Sample(k, …)", f.Name())
	}
	d.exec.Lock()
	defer d.exec.Unlock()
	d.hold.RLock()
	defer d.hold.RUnlock()
	if d.closed.Load() {
		return 0, 0, errClosed
	}
	w := &writes{saved: saved{}}
	if _, _, err := d.pilot(ctx, f, l, w); err != nil {
		return 0, 0, err
	}
	if len(w.saved) >= mostSaved {
		return 0, 0, fmt.Errorf("launch %s: to keep a time, a few CTAs are tried first, and they write more than the %s that can be taken back\nchoose the sample yourself: gpu.Sample(k, …)",
			f.Name(), byteCount(mostSaved*savedPage))
	}
	return d.pilot(ctx, f, l, w)
}

// pilot executes the CTAs and puts back what w has seen them write. The first pilot, of which w has seen nothing yet, is
// watched by it.
func (d *Device) pilot(ctx context.Context, f *function, l *driver.Launch, w *writes) (took time.Duration, executed uint64, err error) {
	r, err := d.newRun(ctx, f, l)
	if err != nil {
		return 0, 0, err
	}
	clusters := l.Grid.Count() / r.span.Count()
	tried := min(clusters, pilotCTAs)
	r.count, r.step, r.executed, r.most = false, int(clusters/tried), tried*r.span.Count(), int64(max(r.sms, 1)*d.residentCTAs(f, l))
	workers := int(min(uint64(runtime.GOMAXPROCS(0)), tried))
	if !w.seen {
		workers, w.seen = 1, true
		r.watch = func(*cta) observer { return w }
	}
	pool := f.workers(l, workers)
	defer f.giveBack(l, pool)
	defer func() { w.saved.put(r.memory, r.allocations) }()
	start := time.Now()
	err = r.execute(pool)
	return time.Since(start), r.executed, err
}

// writes saves the pages of device memory that watched CTAs write to, as they were.
type writes struct {
	saved saved
	seen  bool
}

func (x *writes) access(w *warp, in *inst, a access) {
	if a.space != spaceGlobal || a.kind != globalStore && a.kind != globalAtomic {
		return
	}
	for m := a.lanes; m != 0; m &= m - 1 {
		address := a.addresses[lowest(m)]
		if found := findIn(w.w.allocations, address); found != nil {
			x.saved.keep(w.w.run.memory, found, address, address+a.size)
		}
	}
}

func (x *writes) enter(*warp, int32, uint32)            {}
func (x *writes) arrive(*warp, *ending, uint32, uint32) {}
func (x *writes) released(*cta, uint32)                 {}
func (x *writes) group(*warp, *inst, int)               {}
func (x *writes) endCTA(*cta)                           {}

// storesInBulk tells whether some instruction writes device memory in bulk, past what observers are shown.
func (p *program) storesInBulk() bool {
	return slices.ContainsFunc(p.f.Body, func(in ptx.Instruction) bool {
		return in.Opcode == "cp" && in.Has("bulk") || in.Opcode == "multimem"
	})
}
