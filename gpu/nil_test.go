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
