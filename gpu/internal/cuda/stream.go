//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"gorgonia.org/cu"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// owned is what belongs to a context of a device, and goes with it.
type owned struct {
	device     *Device
	generation uint64
	destroyed  atomic.Bool
}

var errDestroyed = errors.New("it is destroyed")

// usable says why it is not; what names it. The caller holds the device's mu.
func (o *owned) usable(what string) error {
	switch {
	case o.destroyed.Load():
		return fmt.Errorf("%s: the %s: %w", o.device.name, what, errDestroyed)
	case o.generation != o.device.generation:
		return fmt.Errorf("%s: the %s is gone: it went with the context that %s ruined\nmake it again", o.device.name, what, o.device.ruined)
	}
	return nil
}

// do is the device's do for what is usable.
func (o *owned) do(what, operation string, call func() Result) error {
	d := o.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := o.usable(what); err != nil {
		return err
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	return d.check(operation, call())
}

// destroy runs call once; what went with its context is gone already.
func (o *owned) destroy(what string, call func() Result) error {
	if o.destroyed.Swap(true) {
		return fmt.Errorf("%s: the %s: %w", o.device.name, what, errDestroyed)
	}
	d := o.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || o.generation != d.generation {
		return nil
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	return d.check("destroy the "+what, call())
}

type stream struct {
	owned
	s         cu.Stream
	capturing atomic.Bool
}

// NewStream makes a stream that does not wait for the default one.
func (d *Device) NewStream() (driver.Stream, error) {
	s := &stream{}
	s.device = d
	err := d.do("make a stream", func() Result {
		made, err := cu.MakeStream(cu.NonBlocking)
		s.s, s.generation = made, d.generation
		return resultOf(err)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// streamOf is cu's stream; the caller holds mu.
func (d *Device) streamOf(s driver.Stream) (cu.Stream, error) {
	if s == nil {
		return cu.Stream{}, nil
	}
	own, ok := s.(*stream)
	if !ok || own.device != d {
		return cu.Stream{}, fmt.Errorf("%s: the stream belongs to another device", d.name)
	}
	return own.s, own.usable("stream")
}

// drain waits for a stream, or for the whole device, so that ctx can end the waiting: an event is looked at until it is done, and
// then wait asks for the result.
func (d *Device) drain(ctx context.Context, what string, s cu.Stream, wait func() Result) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	e, err := cu.MakeEvent(cu.DisableTiming)
	r := resultOf(err)
	if r == success {
		defer cu.DestroyEvent(&e)
		r = resultOf(e.Record(s))
	}
	if r == success {
		r = d.await(ctx, e)
	}
	if r == notReady && ctx.Err() != nil {
		return fmt.Errorf("%s: %s: %w", d.name, what, context.Cause(ctx))
	}
	if r == success {
		r = wait()
	}
	if err := d.check(what, r); err != nil {
		return err
	}
	d.queued = nil
	return ctx.Err()
}

func (s *stream) Synchronize(ctx context.Context) error {
	s.device.mu.Lock()
	err := s.usable("stream")
	s.device.mu.Unlock()
	if err != nil {
		return err
	}
	return s.device.drain(ctx, "wait for a stream", s.s, func() Result { return resultOf(s.s.Synchronize()) })
}

func (s *stream) Record(e driver.Event) error {
	v, ok := e.(*event)
	if !ok || v.device != s.device {
		return fmt.Errorf("%s: the event belongs to another device", s.device.name)
	}
	return s.do("stream", "record an event", func() Result {
		v.recorded.Store(true)
		return resultOf(v.e.Record(s.s))
	})
}

func (s *stream) Wait(e driver.Event) error {
	v, ok := e.(*event)
	if !ok || v.device != s.device {
		return fmt.Errorf("%s: the event belongs to another device", s.device.name)
	}
	return s.do("stream", "wait for an event", func() Result { return resultOf(s.s.Wait(v.e, 0)) })
}

func (s *stream) Destroy() error {
	return s.destroy("stream", func() Result { return resultOf(s.s.Destroy()) })
}

type event struct {
	owned
	e        cu.Event
	recorded atomic.Bool
}

// NewEvent makes an event that takes the time.
func (d *Device) NewEvent() (driver.Event, error) {
	e := &event{}
	e.device = d
	err := d.do("make an event", func() Result {
		made, err := cu.MakeEvent(cu.DefaultEvent)
		e.e, e.generation = made, d.generation
		return resultOf(err)
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (e *event) Done() bool {
	if !e.recorded.Load() {
		return false
	}
	ready := false
	err := e.do("event", "look at an event", func() Result {
		r := resultOf(e.e.Query())
		if ready = r == success; r == notReady {
			return success
		}
		return r
	})
	return err == nil && ready
}

func (e *event) Since(from driver.Event) (perf.Figure, error) {
	other, ok := from.(*event)
	if !ok || other.device != e.device {
		return perf.Figure{}, fmt.Errorf("%s: the event belongs to another device", e.device.name)
	}
	if !e.recorded.Load() || !other.recorded.Load() {
		return perf.Figure{}, fmt.Errorf("%s: the event was never recorded", e.device.name)
	}
	var ms float64
	err := e.do("event", "read the time between events", func() Result {
		var err error
		ms, err = other.e.Elapsed(e.e)
		return resultOf(err)
	})
	if err != nil {
		return perf.Figure{}, err
	}
	f := perf.Figure{Value: ms / 1e3, Unit: "s", Tag: perf.Measured, Source: "CUDA events"}
	if e.device.virtual {
		f.Tag, f.Source = perf.Modelled, "events of the virtual GPU's driver"
	}
	return f, nil
}

func (e *event) Destroy() error {
	return e.destroy("event", func() Result { return resultOf(cu.DestroyEvent(&e.e)) })
}

// graph is an instantiated graph.
type graph struct {
	owned
	exec  unsafe.Pointer
	nodes int
}

// BeginCapture records what is queued on a stream. CUDA does not capture the default stream, so that nil records on one of the
// device's own, which EndCapture(nil) ends.
func (d *Device) BeginCapture(s driver.Stream) error {
	return d.do("begin a capture", func() Result {
		raw, err := d.captureStream(s)
		if err != nil {
			return invalidValue
		}
		r := beginCapture(raw)
		if own, ok := s.(*stream); ok && r == success {
			own.capturing.Store(true)
		}
		return r
	})
}

// captureStream is the stream to capture; the caller holds mu and has entered.
func (d *Device) captureStream(s driver.Stream) (cu.Stream, error) {
	if s != nil {
		return d.streamOf(s)
	}
	t, err := d.timing()
	if err != nil {
		return cu.Stream{}, err
	}
	return t.stream, nil
}

// EndCapture gives what was recorded, instantiated.
func (d *Device) EndCapture(s driver.Stream) (driver.Graph, error) {
	g := &graph{}
	g.device = d
	err := d.do("end a capture", func() Result {
		raw, err := d.captureStream(s)
		if err != nil {
			return invalidValue
		}
		var r Result
		g.exec, g.nodes, r = endCapture(raw)
		g.generation = d.generation
		if own, ok := s.(*stream); ok {
			own.capturing.Store(false)
		}
		return r
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

// UpdateGraph gives a graph the arguments of what was recorded on a stream since BeginCapture: the same operations.
func (d *Device) UpdateGraph(g driver.Graph, s driver.Stream) error {
	own, ok := g.(*graph)
	if !ok || own.device != d {
		return fmt.Errorf("%s: the graph belongs to another device", d.name)
	}
	return own.do("graph", "update a graph", func() Result {
		raw, err := d.captureStream(s)
		if err != nil {
			return invalidValue
		}
		if captured, ok := s.(*stream); ok {
			captured.capturing.Store(false)
		}
		return updateGraph(own.exec, raw)
	})
}

// LaunchGraph queues a graph.
func (d *Device) LaunchGraph(ctx context.Context, g driver.Graph, s driver.Stream) error {
	own, ok := g.(*graph)
	if !ok || own.device != d {
		return fmt.Errorf("%s: the graph belongs to another device", d.name)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return own.do("graph", "launch a graph", func() Result {
		raw, err := d.streamOf(s)
		if err != nil {
			return invalidValue
		}
		d.queue("a graph")
		return launchGraph(own.exec, raw)
	})
}

func (g *graph) Nodes() int { return g.nodes }

func (g *graph) Destroy() error {
	return g.destroy("graph", func() Result { return destroyGraph(g.exec) })
}
