package vgpu

import (
	"context"
	"errors"
	"sync/atomic"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// stream is a queue that is always empty: the virtual GPU finishes each call before it returns.
type stream struct {
	device    *Device
	destroyed atomic.Bool
}

var errDestroyed = errors.New("virtual GPU: the stream is destroyed")

// NewStream gives a stream.
func (d *Device) NewStream() (driver.Stream, error) {
	if d.closed.Load() {
		return nil, errClosed
	}
	return &stream{device: d}, nil
}

func (s *stream) Synchronize(ctx context.Context) error {
	if s.destroyed.Load() {
		return errDestroyed
	}
	return s.device.Synchronize(ctx)
}

func (s *stream) Record(e driver.Event) error {
	v, ok := e.(*event)
	switch {
	case s.destroyed.Load():
		return errDestroyed
	case !ok:
		return errors.New("virtual GPU: the event belongs to another device")
	}
	v.recorded.Store(true)
	return nil
}

func (s *stream) Wait(e driver.Event) error {
	if _, ok := e.(*event); !ok {
		return errors.New("virtual GPU: the event belongs to another device")
	}
	if s.destroyed.Load() {
		return errDestroyed
	}
	return nil
}

func (s *stream) Destroy() error {
	if s.destroyed.Swap(true) {
		return errDestroyed
	}
	return nil
}

// event is a mark; what was queued before it is done when it is recorded.
type event struct{ recorded atomic.Bool }

// NewEvent gives an event.
func (d *Device) NewEvent() (driver.Event, error) {
	if d.closed.Load() {
		return nil, errClosed
	}
	return &event{}, nil
}

func (e *event) Done() bool { return e.recorded.Load() }

// Since is absent: the virtual GPU does not run in real time. What a launch would take is MODELLED on its card.
func (e *event) Since(from driver.Event) (perf.Figure, error) {
	other, ok := from.(*event)
	if !ok {
		return perf.Figure{}, errors.New("virtual GPU: the event belongs to another device")
	}
	if !e.recorded.Load() || !other.recorded.Load() {
		return perf.Figure{}, errors.New("virtual GPU: the event was never recorded")
	}
	return perf.Absent("s", "events on the virtual GPU carry no time: it executes, and models the duration of each launch from what it counted"), nil
}

func (e *event) Destroy() error { return nil }
