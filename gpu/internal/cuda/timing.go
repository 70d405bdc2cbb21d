//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"fmt"
	"runtime"
	"sort"
	"sync/atomic"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vdrv"
)

// Timing: the launch runs once to warm up; then samples are queued behind a wait that is released when all are queued, so that the
// host's pace does not show; before a cold sample the L2 is overwritten; an event stands on each side of a launch. Samples are
// taken until there are enough of them and they agree. A short launch that may run warm is captured many times in a graph, and the
// graph's time divided: events are off by 10 to 30 µs.
const (
	warmUps        = 2
	leastSamples   = 10
	mostSamples    = 1000
	samplesAtOnce  = 50                     // queued behind one wait
	enoughTime     = 500 * time.Millisecond // of samples
	enoughNoise    = .5                     // percent: half the distance between the quartiles, of the median
	unstableNoise  = 2                      // percent
	shortLaunch    = 20 * time.Microsecond  // below it warm launches are timed in batches
	batchTime      = 400 * time.Microsecond // of a graph
	mostBatch      = 500                    // launches in a graph
	flushedPerL2   = 2                      // bytes that are overwritten for a byte of L2
	longestFlush   = 1 << 30
	releasedByHost = 1
)

// TimeOptions say how a launch is timed.
type TimeOptions struct {
	Warm        bool // what the launch before left in the L2 stays there
	Least, Most int  // samples; 0: as many as are needed
}

// Timing is what timing a launch gave.
type Timing struct {
	Samples []time.Duration
	Cold    bool
	Batch   int     // launches in a graph; 1: each was timed by itself
	Median  float64 // seconds
	Spread  float64 // percent
	Blocked bool    // the stream waited until all samples were queued
	Clock   Health  // of the GPU, after the samples
	Host    time.Duration
}

// Unstable says whether the samples disagree by more than a card may pass over.
func (t *Timing) Unstable() bool { return t.Spread > unstableNoise }

// timer is what timing needs of a device.
type timer struct {
	stream     cu.Stream
	start, end cu.Event
	marks      []cu.Event // two a sample
	gate       unsafe.Pointer
	passed     uint32 // value of the gate that lets everything through
	ungated    bool   // the driver has no such wait
	flush      cu.DevicePtr
	flushBytes int64
}

// timing makes the timer; the caller holds mu and has entered.
func (d *Device) timing() (*timer, error) {
	if d.timer != nil {
		return d.timer, nil
	}
	t := &timer{}
	var err error
	if t.stream, err = cu.MakeStream(cu.NonBlocking); err == nil {
		if t.start, err = cu.MakeEvent(cu.DefaultEvent); err == nil {
			t.end, err = cu.MakeEvent(cu.DefaultEvent)
		}
	}
	if err != nil {
		return nil, d.check("make what times launches", resultOf(err))
	}
	d.timer = t
	return t, nil
}

// prepare makes the gate, the memory that flushes the L2 and the events of n samples.
func (t *timer) prepare(n int, l2 int) Result {
	if t.gate == nil && !t.ungated {
		p, r := allocPinned(64)
		if r != success {
			return r
		}
		*(*uint32)(p) = 0
		t.gate = p
	}
	if want := min(int64(flushedPerL2)*int64(l2), longestFlush); t.flush == 0 && want > 0 {
		p, err := cu.MemAlloc(want)
		if err != nil {
			return resultOf(err)
		}
		t.flush, t.flushBytes = p, want
	}
	for len(t.marks) < 2*n {
		e, err := cu.MakeEvent(cu.DefaultEvent)
		if err != nil {
			return resultOf(err)
		}
		t.marks = append(t.marks, e)
	}
	return success
}

// free gives everything back; the caller has entered.
func (t *timer) free() {
	for i := range t.marks {
		cu.DestroyEvent(&t.marks[i])
	}
	cu.DestroyEvent(&t.start)
	cu.DestroyEvent(&t.end)
	if t.flush != 0 {
		cu.MemFree(t.flush)
	}
	if t.gate != nil {
		freePinned(t.gate)
	}
	t.stream.Destroy()
}

// close makes the stream wait; release lets it go on.
func (t *timer) close() Result {
	if t.ungated {
		return success
	}
	t.passed += releasedByHost
	r := waitFor(t.stream, t.gate, t.passed)
	if r == notSupported {
		t.ungated, r = true, success
	}
	return r
}

func (t *timer) release() {
	if t.gate != nil {
		atomic.StoreUint32((*uint32)(t.gate), t.passed)
	}
}

// Time times a launch. It runs many times, so that it must not depend on what it has written before.
func (d *Device) Time(ctx context.Context, l *driver.Launch, o TimeOptions) (*Timing, error) {
	f, ok := l.Function.(*function)
	if !ok || f.module.device != d {
		return nil, fmt.Errorf("%s: the function does not belong to this device", d.name)
	}
	if err := f.check(l); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	return d.time(ctx, f, l, o)
}

// time is Time without its checks; the caller holds mu and has entered.
func (d *Device) time(ctx context.Context, f *function, l *driver.Launch, o TimeOptions) (*Timing, error) {
	if o.Least < 1 {
		o.Least = leastSamples
	}
	if o.Most < 1 {
		o.Most = mostSamples
	}
	o.Most = max(o.Most, o.Least)
	began := time.Now()
	m := &measurement{d: d, f: f, l: l, ctx: ctx, session: &vdrv.Session{Context: ctx, Like: &driver.Launch{Warm: o.Warm, Simulate: true}}, o: o, t: &Timing{Cold: !o.Warm, Batch: 1}}
	if d.virtual {
		defer vdrv.Bind(m.session)()
	}
	if err := m.run(); err != nil {
		return nil, err
	}
	m.t.Median, m.t.Spread = medianAndSpread(m.t.Samples)
	m.t.Blocked = !m.timer.ungated
	m.t.Host = time.Since(began)
	m.t.Clock = d.health()
	return m.t, nil
}

// measurement is one call of Time.
type measurement struct {
	d       *Device
	f       *function
	l       *driver.Launch
	ctx     context.Context
	session *vdrv.Session
	o       TimeOptions
	t       *Timing
	handle  *cu.Function
	timer   *timer
}

func (m *measurement) run() error {
	var err error
	if m.handle, err = m.f.handle(); err != nil {
		return err
	}
	if m.timer, err = m.d.timing(); err != nil {
		return err
	}
	if r := m.timer.prepare(min(samplesAtOnce, m.o.Most), m.d.properties.L2Bytes); r != success {
		return m.d.check("prepare the timing", r)
	}
	single, err := m.warmUp()
	if err != nil {
		return err
	}
	if m.o.Warm && single < shortLaunch && m.o.Most > 1 {
		return m.batches(single)
	}
	for total := time.Duration(0); !m.enough(total); {
		n := min(samplesAtOnce, m.o.Most-len(m.t.Samples))
		got, err := m.samples(n)
		if err != nil {
			return err
		}
		for _, s := range got {
			total += s
		}
		m.t.Samples = append(m.t.Samples, got...)
	}
	return nil
}

// enough says whether the samples will do.
func (m *measurement) enough(total time.Duration) bool {
	n := len(m.t.Samples)
	if n < m.o.Least {
		return false
	}
	if n >= m.o.Most || total >= enoughTime {
		return true
	}
	_, spread := medianAndSpread(m.t.Samples)
	return spread < enoughNoise
}

// warmUp launches a few times and gives the time of the last.
func (m *measurement) warmUp() (time.Duration, error) {
	for i := range warmUps {
		if i == warmUps-1 {
			if r := resultOf(m.timer.start.Record(m.timer.stream)); r != success {
				return 0, m.failed(r)
			}
		}
		m.d.queue(m.f.name)
		if r := launchKernel(m.handle, m.l, m.timer.stream); r != success {
			return 0, m.failed(r)
		}
	}
	r := resultOf(m.timer.end.Record(m.timer.stream))
	if r == success {
		r = m.await(m.timer.end)
	}
	if r != success {
		return 0, m.failed(r)
	}
	ms, err := m.timer.start.Elapsed(m.timer.end)
	m.d.queued = nil
	return time.Duration(ms * 1e6), m.d.check("read a time", resultOf(err))
}

func (m *measurement) await(e cu.Event) Result { return m.d.await(m.ctx, e) }

// failed explains a result of a timed launch.
func (m *measurement) failed(r Result) error {
	m.timer.release()
	if r == notReady && m.ctx.Err() != nil {
		return m.d.interrupted(m.ctx, m.f, true)
	}
	return m.d.launched("time "+m.f.name, r, m.session)
}

// samples times n launches one by one.
func (m *measurement) samples(n int) ([]time.Duration, error) {
	t := m.timer
	r := t.close()
	m.d.queue(m.f.name)
	for i := 0; i < n && r == success; i++ {
		if !m.o.Warm && t.flushBytes > 0 {
			r = resultOf(cu.MemsetD32Async(t.flush, uint(i), t.flushBytes/4, t.stream))
		}
		if r == success {
			r = resultOf(t.marks[2*i].Record(t.stream))
		}
		if r == success {
			r = launchKernel(m.handle, m.l, t.stream)
		}
		if r == success {
			r = resultOf(t.marks[2*i+1].Record(t.stream))
		}
	}
	t.release()
	if r == success {
		r = m.await(t.marks[2*n-1])
	}
	if r != success {
		return nil, m.failed(r)
	}
	m.d.queued = nil
	out := make([]time.Duration, n)
	for i := range out {
		ms, err := t.marks[2*i].Elapsed(t.marks[2*i+1])
		if err != nil {
			return nil, m.d.check("read a time", resultOf(err))
		}
		out[i] = time.Duration(ms * 1e6)
	}
	return out, nil
}

// batches times graphs of many launches.
func (m *measurement) batches(single time.Duration) error {
	t := m.timer
	m.t.Batch = int(min(max(batchTime/max(single, time.Microsecond), 2), mostBatch))
	r := beginCapture(t.stream)
	for i := 0; i < m.t.Batch && r == success; i++ {
		r = launchKernel(m.handle, m.l, t.stream)
	}
	exec, _, ended := endCapture(t.stream)
	if r == success {
		r = ended
	}
	if r != success {
		return m.failed(r)
	}
	defer destroyGraph(exec)
	for total := time.Duration(0); !m.enough(total); {
		m.d.queue(m.f.name)
		if r = t.close(); r == success {
			r = resultOf(t.start.Record(t.stream))
		}
		if r == success {
			r = launchGraph(exec, t.stream)
		}
		if r == success {
			r = resultOf(t.end.Record(t.stream))
		}
		t.release()
		if r == success {
			r = m.await(t.end)
		}
		if r != success {
			return m.failed(r)
		}
		ms, err := t.start.Elapsed(t.end)
		if err != nil {
			return m.d.check("read a time", resultOf(err))
		}
		m.d.queued = nil
		m.t.Samples = append(m.t.Samples, time.Duration(ms*1e6/float64(m.t.Batch)))
		total += time.Duration(ms * 1e6)
	}
	runtime.KeepAlive(m.l.Args)
	return nil
}

// medianAndSpread gives the median in seconds, and half the distance between the quartiles in percent of it.
func medianAndSpread(samples []time.Duration) (median, spread float64) {
	if len(samples) == 0 {
		return 0, 0
	}
	s := append([]time.Duration(nil), samples...)
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	at := func(q float64) float64 {
		x := q * float64(len(s)-1)
		i := int(x)
		v := s[i].Seconds()
		if i+1 < len(s) {
			v += (x - float64(i)) * (s[i+1].Seconds() - v)
		}
		return v
	}
	median = at(.5)
	if median > 0 {
		spread = 100 * (at(.75) - at(.25)) / 2 / median
	}
	return median, spread
}
