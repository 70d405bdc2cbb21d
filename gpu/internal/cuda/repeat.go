//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"time"

	"gorgonia.org/cu"

	"memwall/gpu/internal/driver"
)

// repeated times a launch many times and leaves memory as if it had run once: what it may write is saved before, put back after,
// and then it runs once more. Any pointer may lie in any buffer, so that all memory is saved. Where there is no room for that, or
// a variable of the module cannot be found, it is timed once.
func (d *Device) repeated(ctx context.Context, f *function, l *driver.Launch) (*driver.Result, error) {
	start := time.Now()
	once := *l
	once.Repeat = 1
	d.mu.Lock()
	s, err := d.streamOf(l.Stream)
	if err == nil {
		err = d.enter()
	}
	if err != nil {
		d.mu.Unlock()
		return nil, err
	}
	t, saved, err := d.timeSaved(ctx, f, l, s)
	d.leave()
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	r, err := d.Launch(ctx, &once)
	if err != nil || !saved {
		return r, err
	}
	r.Samples, r.Batch, r.Cold, r.Host = t.Samples, t.Batch, t.Cold, time.Since(start)
	if t.Clock.Missing == "" {
		r.Clocks = t.Clock.String()
	}
	return r, nil
}

// timeSaved saves memory, times, and puts it back; it answers false where memory cannot be saved. The caller holds mu and has
// entered.
func (d *Device) timeSaved(ctx context.Context, f *function, l *driver.Launch, s cu.Stream) (*Timing, bool, error) {
	t, err := d.timing()
	if err != nil {
		return nil, false, err
	}
	for _, before := range []cu.Stream{s, {}} { // what was queued before must not be timed, and writes what is saved
		if r := resultOf(t.end.Record(before)); r != success {
			return nil, false, d.check("mark a stream", r)
		}
		if r := d.await(ctx, t.end); r == notReady {
			return nil, false, d.interrupted(ctx, f, true)
		} else if r != success {
			return nil, false, d.check("wait for the launches before", r)
		}
	}
	d.waited(nil)
	kept, saved, err := d.save(f)
	if err != nil || !saved {
		return nil, false, err
	}
	generation := d.generation
	timing, err := d.time(ctx, f, l, TimeOptions{Warm: l.Warm, Least: l.Repeat})
	if d.generation != generation { // a fault took the context, and with it the buffers and what was kept of them
		return nil, false, err
	}
	r := success
	for _, k := range kept {
		if err == nil && r == success {
			r = resultOf(cu.MemcpyDtoD(cu.DevicePtr(k.of.base), k.at, k.of.bytes))
		}
	}
	if err == nil {
		err = d.check("put memory back after timing "+f.name, r)
	}
	if synced := resultOf(cu.Synchronize()); err == nil {
		err = d.check("put memory back after timing "+f.name, synced)
	}
	d.drop(kept)
	return timing, err == nil, err
}

// copied is what is kept of an allocation.
type copied struct {
	of allocation
	at cu.DevicePtr
}

func (d *Device) drop(kept []copied) {
	for _, k := range kept {
		cu.MemFree(k.at)
	}
}

// leastLeft is how much device memory copies leave free, for the driver's own needs and the flush of the L2.
const leastLeft = 2 * longestFlush

// save keeps a copy of all memory that a launch can write: each live allocation, and the variables of its module. It answers false
// where that is not to be had. The caller holds mu and has entered.
func (d *Device) save(f *function) ([]copied, bool, error) {
	all, found := d.writable(f.module)
	if !found {
		return nil, false, nil
	}
	need := int64(0)
	for _, a := range all {
		need += a.bytes
	}
	if free, _, err := cu.MemInfo(); err != nil || need > free-leastLeft {
		return nil, false, d.check("ask for free memory", resultOf(err))
	}
	var kept []copied
	r := success
	for _, a := range all {
		at, err := cu.MemAlloc(a.bytes)
		if err != nil { // fragmented: the launch is timed once
			d.drop(kept)
			return nil, false, nil
		}
		kept = append(kept, copied{a, at})
		if r = resultOf(cu.MemcpyDtoD(at, cu.DevicePtr(a.base), a.bytes)); r != success {
			break
		}
	}
	if r == success {
		r = resultOf(cu.Synchronize())
	}
	if r != success {
		err := d.check("keep memory while "+f.name+" is timed", r)
		d.drop(kept)
		return nil, false, err
	}
	return kept, true, nil
}

// writable are the live allocations and the variables of a module; false where one of these has no name that the driver knows.
func (d *Device) writable(m *module) ([]allocation, bool) {
	all := append([]allocation(nil), d.live...)
	if m.current() != nil {
		return nil, false
	}
	for _, v := range m.parsed.Variables {
		if v.Space != "global" {
			continue
		}
		p, n, err := m.m.Global(v.Name)
		if err != nil {
			return nil, false
		}
		if _, there := d.locate(driver.Address(p)); !there {
			all = append(all, allocation{driver.Address(p), n})
		}
	}
	return all, true
}

// clocksFor is how long clocks are believed: asking NVML takes longer than many launches.
const clocksFor = 200 * time.Millisecond

// clocks of the GPU now, or a moment ago; "" where NVML does not say.
func (d *Device) clocks() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.clocksRead) > clocksFor {
		d.clocksRead, d.clocksText = time.Now(), ""
		if h := d.health(); h.Missing == "" {
			d.clocksText = h.String()
		}
	}
	return d.clocksText
}
