//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"gorgonia.org/cu"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vdrv"
)

// check compares a launch's configuration with the limits of the device, in the words of the virtual GPU.
func (f *function) check(l *driver.Launch) error {
	p, a := &f.module.device.properties, &f.attributes
	fail := func(format string, args ...any) error {
		return fmt.Errorf("launch %s: "+format, append([]any{f.name}, args...)...)
	}
	for _, e := range []struct {
		what       string
		have, most driver.Dim3
	}{{"grid", l.Grid, p.MaxGridDim}, {"CTA", l.CTA, p.MaxCTADim}} {
		if e.have.X < 1 || e.have.Y < 1 || e.have.Z < 1 {
			return fail("the %s (%d, %d, %d) is empty: every extent is at least 1", e.what, e.have.X, e.have.Y, e.have.Z)
		}
		if e.have.X > e.most.X || e.have.Y > e.most.Y || e.have.Z > e.most.Z {
			return fail("the %s (%d, %d, %d) is larger than (%d, %d, %d)", e.what, e.have.X, e.have.Y, e.have.Z, e.most.X, e.most.Y, e.most.Z)
		}
	}
	f.mu.Lock()
	limit := f.maxDynamic
	f.mu.Unlock()
	threads := l.CTA.Count()
	switch {
	case threads > uint64(a.MaxThreadsPerCTA):
		return fail("a CTA of %d threads: this function allows %d", threads, a.MaxThreadsPerCTA)
	case a.RequiredCTA.X > 0 && a.RequiredCTA != l.CTA:
		return fail("a CTA of (%d, %d, %d): this function requires (%d, %d, %d)", l.CTA.X, l.CTA.Y, l.CTA.Z, a.RequiredCTA.X, a.RequiredCTA.Y, a.RequiredCTA.Z)
	case l.Shared < 0:
		return fail("%d B of dynamic shared memory", l.Shared)
	case a.SharedBytes+l.Shared > p.SharedPerCTAOptin:
		return fail("%d B of shared memory a CTA (%d static): the device has %d", a.SharedBytes+l.Shared, a.SharedBytes, p.SharedPerCTAOptin)
	case l.Shared > limit:
		return fail("%d B of dynamic shared memory: more than %d need SetMaxDynamicShared first", l.Shared, limit)
	case len(l.Args) != f.bytes:
		return fail("%d B of arguments: its parameters take %d", len(l.Args), f.bytes)
	}
	for _, q := range []struct {
		asked bool
		what  driver.Capability
	}{{l.Sample > 1 || l.SampleTime > 0, driver.Sampling}, {l.Sanitize, driver.Sanitizer}, {l.Cluster != driver.Dim3{}, driver.Clusters}} {
		if why := f.module.device.Capability(q.what); q.asked && why != "" {
			return fail("%s", why)
		}
	}
	return nil
}

// Launch queues a function; with l.Wait it waits, and times it. ctx ends the waiting, not the launch: a GPU has no way to stop one.
func (d *Device) Launch(ctx context.Context, l *driver.Launch) (*driver.Result, error) {
	f, ok := l.Function.(*function)
	if !ok || f.module.device != d {
		return nil, fmt.Errorf("%s: the function does not belong to this device", d.name)
	}
	if err := ctx.Err(); err != nil {
		return nil, d.interrupted(ctx, f, false)
	}
	if err := f.check(l); err != nil {
		return nil, err
	}
	if l.Repeat > 1 && l.Wait {
		return d.repeated(ctx, f, l)
	}
	start := time.Now()
	session := &vdrv.Session{Context: ctx, Like: l}
	var elapsed time.Duration
	err := d.launchOnce(ctx, f, l, session, &elapsed)
	if err != nil {
		return nil, err
	}
	if !l.Wait {
		return nil, nil
	}
	r := &driver.Result{Executed: l.Grid.Count(), Sampled: 1, Host: time.Since(start)}
	if d.virtual {
		if n := len(session.Launched); n > 0 && session.Launched[n-1].Result != nil {
			*r = *session.Launched[n-1].Result
			r.Printed = "" // the driver wrote it
			r.Modelled = true
		}
		return r, nil
	}
	r.Samples, r.Clocks = []time.Duration{elapsed}, d.clocks()
	return r, nil
}

// launchOnce queues a launch between two events, and waits for the second one where l.Wait says so.
func (d *Device) launchOnce(ctx context.Context, f *function, l *driver.Launch, session *vdrv.Session, elapsed *time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.streamOf(l.Stream)
	if err == nil {
		err = d.enter()
	}
	if err != nil {
		return err
	}
	defer d.leave()
	handle, err := f.handle()
	if err != nil {
		return err
	}
	if d.virtual {
		defer vdrv.Bind(session)()
	}
	if !l.Wait {
		if own, ok := l.Stream.(*stream); !ok || !own.capturing.Load() { // what is captured does not run
			d.queue(f.name)
		}
		return d.launched("launch "+f.name, launchKernel(handle, l, s), session)
	}
	t, err := d.timing()
	if err != nil {
		return err
	}
	r := resultOf(t.start.Record(s))
	if r == success {
		d.queue(f.name)
		r = launchKernel(handle, l, s)
	}
	if r == success {
		r = resultOf(t.end.Record(s))
	}
	if r == success {
		r = d.await(ctx, t.end)
	}
	if r == notReady && ctx.Err() != nil {
		return d.interrupted(ctx, f, true)
	}
	if err := d.launched("launch "+f.name, r, session); err != nil {
		return err
	}
	d.waited(l.Stream)
	ms, err := t.start.Elapsed(t.end)
	*elapsed = time.Duration(ms * 1e6)
	return d.check("read the time of "+f.name, resultOf(err))
}

// launched is check with what the virtual GPU knows of a fault.
func (d *Device) launched(what string, r Result, session *vdrv.Session) error {
	if _, ruins := fatal[r]; !ruins {
		return d.check(what, r)
	}
	var fault *driver.Fault
	if n := len(session.Launched); n > 0 {
		errors.As(session.Launched[n-1].Err, &fault)
	}
	return d.lost(what, r, fault)
}

// queue notes a launch that nobody has waited for yet.
func (d *Device) queue(name string) {
	if len(d.queued) < mostQueued && !slices.Contains(d.queued, name) {
		d.queued = append(d.queued, name)
	}
}

// waited forgets the launches before a wait: what the default stream was waited for has all run, as its launches wait for the others'.
func (d *Device) waited(s driver.Stream) {
	if s == nil {
		d.queued = nil
	}
}

// await waits for an event: a little while busily, then by sleeping. It answers notReady where ctx ended first.
func (d *Device) await(ctx context.Context, e cu.Event) Result {
	const busy, longest = 200 * time.Microsecond, time.Millisecond
	pause := 5 * time.Microsecond
	for start := time.Now(); ; {
		r := resultOf(e.Query())
		if r != notReady {
			return r
		}
		if ctx.Err() != nil {
			return notReady
		}
		if time.Since(start) < busy {
			runtime.Gosched()
			continue
		}
		time.Sleep(pause)
		pause = min(2*pause, longest)
	}
}

// interrupted is the fault of a launch that nobody waits for any more.
func (d *Device) interrupted(ctx context.Context, f *function, running bool) error {
	fault := &driver.Fault{Device: d.name, Kind: driver.Interrupted, Function: f.name, Module: f.module.options.Name, Detail: "the launch was cancelled"}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		fault.Kind, fault.Detail = driver.Timeout, "the launch did not end within its time limit"
		if cause := context.Cause(ctx); cause != nil && cause != ctx.Err() {
			fault.Detail = cause.Error()
		}
	}
	if running {
		fault.Detail += "\na GPU cannot stop a launch: it goes on, and later ones wait for it; restart the session to end it"
	}
	return fault
}
