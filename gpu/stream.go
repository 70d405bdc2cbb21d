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

// alive says why the stream cannot be used, or nil.
func (s *Stream) alive(operation string) error {
	if s == nil {
		return fail("make one: s := dev.NewStream()", "%s: the stream is nil", operation)
	}
	return s.dev.open()
}

func (e *Event) alive(operation string) error {
	if e == nil {
		return fail("make one: e := dev.NewEvent()", "%s: the event is nil", operation)
	}
	return nil
}

func both(s *Stream, e *Event, operation string) error {
	if err := s.alive(operation); err != nil {
		return err
	}
	return e.alive(operation)
}

// String names the stream's device.
func (s *Stream) String() string {
	if s == nil {
		return "no stream"
	}
	return "stream on " + s.dev.name
}

// Synchronize waits until everything queued so far is over.
func (s *Stream) Synchronize() error {
	if err := s.alive("Synchronize"); err != nil {
		return err
	}
	if err := s.s.Synchronize(records.context()); err != nil {
		return wrap("synchronize stream", err)
	}
	return nil
}

// Record puts a mark behind what is queued so far.
func (s *Stream) Record(e *Event) error {
	if err := both(s, e, "Record"); err != nil {
		return err
	}
	if err := s.s.Record(e.e); err != nil {
		return wrap("record event", err)
	}
	return nil
}

// Wait holds back what is queued from now on until the mark is reached.
func (s *Stream) Wait(e *Event) error {
	if err := both(s, e, "Wait"); err != nil {
		return err
	}
	if err := s.s.Wait(e.e); err != nil {
		return wrap("wait for event", err)
	}
	return nil
}

// Destroy frees the stream.
func (s *Stream) Destroy() error {
	if err := s.alive("Destroy"); err != nil {
		return err
	}
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
func (e *Event) Done() bool { return e != nil && e.e.Done() }

// String says whether the mark has been reached.
func (e *Event) String() string {
	switch {
	case e == nil:
		return "no event"
	case e.e.Done():
		return "event, reached"
	}
	return "event, not reached"
}

// Since is the time from an earlier event to this one, in seconds, MEASURED or MODELLED.
func (e *Event) Since(earlier *Event) (perf.Figure, error) {
	for _, x := range []*Event{e, earlier} {
		if err := x.alive("Since"); err != nil {
			return perf.Figure{}, err
		}
	}
	f, err := e.e.Since(earlier.e)
	if err != nil {
		return f, wrap("time between events", err)
	}
	return f, nil
}

// Destroy frees the event.
func (e *Event) Destroy() error {
	if err := e.alive("Destroy"); err != nil {
		return err
	}
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
	if err := s.alive("Graph"); err != nil {
		return nil, err
	}
	if build == nil {
		return nil, fail("pass a function: func() { f.Launch(gpu.Config{Stream: s, …}, …) }", "Graph: the function is nil")
	}
	if why := s.dev.d.Capability(driver.Graphs); why != "" {
		return nil, fail("launch the functions one by one", "graphs on %s: %s", s.dev.name, why)
	}
	if err := s.dev.d.BeginCapture(s.s); err != nil {
		return nil, wrap("graph", err)
	}
	built := false
	defer func() {
		if !built { // it panicked: the stream must not stay one that records
			s.dev.d.EndCapture(s.s)
		}
	}()
	build()
	built = true
	g, err := s.dev.d.EndCapture(s.s)
	if err != nil {
		return nil, wrap("graph", err)
	}
	return &Graph{dev: s.dev, g: g}, nil
}

// Launch runs the graph on a stream.
func (g *Graph) Launch(s *Stream) error {
	if g == nil {
		return fail("record one: g := s.Graph(func() { … })", "Launch: the graph is nil")
	}
	if err := s.alive("Launch"); err != nil {
		return err
	}
	if err := g.dev.d.LaunchGraph(records.context(), g.g, s.s); err != nil {
		return Failed(wrap("launch graph", err))
	}
	return nil
}

// Nodes is the number of recorded operations.
func (g *Graph) Nodes() int {
	if g == nil {
		return 0
	}
	return g.g.Nodes()
}

// String says how many operations there are.
func (g *Graph) String() string {
	return "graph of " + plural(g.Nodes(), "operation", "operations")
}
