package gpu

import (
	"strings"
	"testing"
	"time"
)

// TestNil: what a cell gets that uses a device, a tensor, a function or a report that it never made.
func TestNil(t *testing.T) {
	defer CloseAll()
	var d *Device
	var x *Tensor
	var f *Function
	var m *Module
	var r *Report
	caught := func(work func()) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = p.(error)
			}
		}()
		work()
		return nil
	}
	var s *Stream
	var e *Event
	var g *Graph
	var tx *Texture
	_, graph := s.Graph(func() {})
	_, since := e.Since(e)
	h200, err := Open("virtual:h200")
	if err != nil {
		t.Fatal(err)
	}
	real, err := h200.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	_, loading := d.LoadPTX("")
	_, function := m.Function("scale")
	for _, c := range []struct {
		err  error
		want string
	}{
		{loading, "the device is nil\nopen one: gpu.Open(\"virtual:h200\"), or use dev"},
		{caught(func() { d.Zeros(F32, 4) }), "the device is nil\nopen one: gpu.Open(\"virtual:h200\"), or use dev"},
		{caught(func() { x.Float32s() }), "Float32s: the tensor is nil\nmake one: dev.Zeros(gpu.F32, 16)"},
		{caught(func() { x.Ints() }), "Ints: the tensor is nil\nmake one: dev.Zeros(gpu.F32, 16)"},
		{s.Synchronize(), "Synchronize: the stream is nil\nmake one: s := dev.NewStream()"},
		{graph, "Graph: the stream is nil\nmake one: s := dev.NewStream()"},
		{real.Record(e), "Record: the event is nil\nmake one: e := dev.NewEvent()"},
		{real.Wait(nil), "Wait: the event is nil\nmake one: e := dev.NewEvent()"},
		{since, "Since: the event is nil\nmake one: e := dev.NewEvent()"},
		{g.Launch(real), "Launch: the graph is nil\nrecord one: g := s.Graph(func() { … })"},
		{tx.Free(), "Free: the texture is nil\nmake the texture first: t.Texture(1)"},
		{f.Launch(Threads(1, 1)), "Launch: the function is nil\ntake one of a module: f, err := mod.Function(\"name\")"},
		{function, "Function(\"scale\"): the module is nil\nload one: mod, err := dev.LoadPTX(text)"},
		{caught(func() { r.Intensity() }), "the report is nil\nmeasure first: r := gpu.Measure(func() { … })"},
		{caught(func() { Measure(nil) }), "Measure: the function is nil\npass a function: func() { kernels.Run(…) }"},
		{caught(func() { Warm(nil) }), "Warm: the function is nil\npass a function: func() { kernels.Run(…) }"},
		{caught(func() { Compare(nil, nil) }), "Compare: the function is nil\npass a function: func() { kernels.Run(…) }"},
		{caught(func() { Sweep("n", []int{1}, nil) }), "Sweep(\"n\"): the function is nil\npass a function: func(n int) { kernels.Run(…) }"},
	} {
		wantError(t, c.err, c.want)
	}
	if got := strings.Join([]string{s.String(), e.String(), g.String(), tx.String(), real.String()}, ", "); got != "no stream, no event, graph of 0 operations, no texture, stream on virtual:h200" {
		t.Errorf("shown: %s", got)
	}
	if d.String() != "no device" || x.String() != "no tensor" || r.String() != "no report" {
		t.Errorf("shown: %q, %q, %q", d, x, r)
	}
}

// TestLargeTensorShows: a tensor of gigabytes describes itself by pieces of it, at once, and says so.
func TestLargeTensorShows(t *testing.T) {
	defer CloseAll()
	d, err := Open("virtual:h200")
	if err != nil {
		t.Fatal(err)
	}
	x := d.Empty(F32, 40_000, 40_000)
	start := time.Now()
	text := x.String()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if !strings.HasPrefix(text, "f32 [40000, 40000] on virtual:h200, 6.40 GB\nmin ") && !strings.HasPrefix(text, "f32 [40000, 40000] on virtual:h200, 6.40 GB\nonly NaN") ||
		!strings.Contains(text, "(in 33.6 M of 1.60 G elements)") {
		t.Errorf("got %s", text)
	}
}
