package gpu

import (
	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// Stream is a queue of launches on a device; launches of different streams may overlap.
type Stream struct {
	dev *Device
	s   driver.Stream
}

// NewStream makes a stream.
func (d *Device) NewStream() (*Stream, error) {
	if err := d.open(); err != nil {
		return nil, err
	}
	s, err := d.d.NewStream()
	if err != nil {
		return nil, wrap("new stream on "+d.name, err)
	}
	return &Stream{dev: d, s: s}, nil
}

// Synchronize waits until everything queued so far is over.
func (s *Stream) Synchronize() error {
	if err := s.s.Synchronize(records.context()); err != nil {
		return wrap("synchronize stream", err)
	}
	return nil
}

// Record puts a mark behind what is queued so far.
func (s *Stream) Record(e *Event) error {
	if err := s.s.Record(e.e); err != nil {
		return wrap("record event", err)
	}
	return nil
}

// Wait holds back what is queued from now on until the mark is reached.
func (s *Stream) Wait(e *Event) error {
	if err := s.s.Wait(e.e); err != nil {
		return wrap("wait for event", err)
	}
	return nil
}

// Destroy frees the stream.
func (s *Stream) Destroy() error {
	if err := s.s.Destroy(); err != nil {
		return wrap("destroy stream", err)
	}
	return nil
}

// Event is a mark in a stream.
type Event struct {
	e driver.Event
}

// NewEvent makes an event.
func (d *Device) NewEvent() (*Event, error) {
	if err := d.open(); err != nil {
		return nil, err
	}
	e, err := d.d.NewEvent()
	if err != nil {
		return nil, wrap("new event on "+d.name, err)
	}
	return &Event{e: e}, nil
}

// Done says whether the mark has been reached.
func (e *Event) Done() bool { return e.e.Done() }

// Since is the time from an earlier event to this one, in seconds, MEASURED or MODELLED.
func (e *Event) Since(earlier *Event) (perf.Figure, error) {
	f, err := e.e.Since(earlier.e)
	if err != nil {
		return f, wrap("time between events", err)
	}
	return f, nil
}

// Destroy frees the event.
func (e *Event) Destroy() error {
	if err := e.e.Destroy(); err != nil {
		return wrap("destroy event", err)
	}
	return nil
}

// Graph is launches recorded once, to be launched again as one.
type Graph struct {
	dev *Device
	g   driver.Graph
}

// Graph records what build launches on the stream, without running it.
func (s *Stream) Graph(build func()) (*Graph, error) {
	if why := s.dev.d.Capability(driver.Graphs); why != "" {
		return nil, fail("launch the functions one by one", "graphs on %s: %s", s.dev.name, why)
	}
	if err := s.dev.d.BeginCapture(s.s); err != nil {
		return nil, wrap("graph", err)
	}
	build()
	g, err := s.dev.d.EndCapture(s.s)
	if err != nil {
		return nil, wrap("graph", err)
	}
	return &Graph{dev: s.dev, g: g}, nil
}

// Launch runs the graph on a stream.
func (g *Graph) Launch(s *Stream) error {
	if err := g.dev.d.LaunchGraph(records.context(), g.g, s.s); err != nil {
		return Failed(wrap("launch graph", err))
	}
	return nil
}

// Nodes is the number of recorded operations.
func (g *Graph) Nodes() int { return g.g.Nodes() }
