package gpu

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

func text(c Card) string { return c.MIMEBundle()["text/plain"].(string) }

func TestCellCards(t *testing.T) {
	d := fresh(t, "h200")
	scale := load(t, d, "scale")
	x := d.Zeros(F32, 64)
	launch := func() error { return scale.Launch(Threads(64, 64), x, 2, 64) }
	cell := func(f func() []error) []Card {
		BeginCell(context.Background(), 1)
		return EndCell(f()...)
	}
	if cards := cell(func() []error { return nil }); len(cards) != 0 {
		t.Errorf("an empty cell has %d cards", len(cards))
	}
	if cards := cell(func() []error { launch(); return nil }); len(cards) != 1 || !strings.Contains(text(cards[0]), "scale") {
		t.Errorf("one launch: %v", cards)
	}
	if l := Last(); len(l.Launches) != 1 || l.Launches[0].TotalFLOPs.Value != 64 {
		t.Errorf("Last has %d launches", len(l.Launches))
	}
	if cards := cell(func() []error { launch(); launch(); launch(); return nil }); len(cards) != 1 || !strings.Contains(text(cards[0]), "3 launches") {
		t.Errorf("three launches: %v", cards)
	}
	if cards := cell(func() []error { Measure(func() { launch() }).MIMEBundle(); return nil }); len(cards) != 0 {
		t.Errorf("a report that was shown has %d cards more", len(cards))
	}
	if cards := cell(func() []error { Measure(func() { launch() }).MIMEBundle(); launch(); return nil }); len(cards) != 1 {
		t.Errorf("a launch after a report that was shown: %d cards", len(cards))
	}
	if len(Last().Launches) != 2 {
		t.Errorf("Last has %d launches, want 2", len(Last().Launches))
	}
}

func TestDroppedErrorsAreShown(t *testing.T) {
	d := fresh(t, "h200")
	scale, poke := load(t, d, "scale"), load(t, d, "poke")
	x := d.Zeros(F32, 64)
	BeginCell(context.Background(), 1)
	scale.Launch(Threads(64, 64), x) // two arguments are missing, and nobody looks at the error
	cards := EndCell()
	if len(cards) != 1 || !strings.HasPrefix(text(cards[0]), "launch failed: launch scale: 1 argument given, the function takes 3\n") {
		t.Errorf("a dropped error gives %v", cards)
	}
	BeginCell(context.Background(), 2)
	for range 3 {
		scale.Launch(Threads(64, 64), x)
	}
	if cards := EndCell(); len(cards) != 1 || !strings.HasPrefix(text(cards[0]), "launch failed 3 times: launch scale: 1 argument") {
		t.Errorf("three equal errors give %v", cards)
	}
	BeginCell(context.Background(), 2)
	err := scale.Launch(Threads(64, 64), x)
	if cards := EndCell(fmt.Errorf("cell 2: %w", err)); len(cards) != 0 {
		t.Errorf("an error that the user sees is repeated: %v", cards)
	}
	BeginCell(context.Background(), 3)
	err = poke.Launch(Config{Grid: Dim(2), CTA: Dim(32)}, x, 1<<20)
	if cards := EndCell(err); len(cards) != 1 || !strings.Contains(text(cards[0]), "st.global.u32 out of bounds") {
		t.Errorf("a fault gives %v", cards)
	}
	BeginCell(context.Background(), 4)
	var inside error
	func() {
		defer func() { inside, _ = recover().(error) }()
		Measure(func() { poke.Launch(Config{Grid: Dim(2), CTA: Dim(32)}, x, 1<<20) })
	}()
	if cards := EndCell(inside); inside == nil || len(cards) != 1 {
		t.Errorf("a fault inside Measure: %v gives %v", inside, cards)
	}
}

func TestMeasure(t *testing.T) {
	d := fresh(t, "h200")
	scale := load(t, d, "scale")
	const n = 1 << 22
	x := d.Zeros(F32, n)
	r := Measure(func() {
		for range 2 {
			scale.Launch(Threads(n, 256), x, 2, n)
		}
	})
	// One FLOP for a load and a store of 4 B: 0.125 FLOP/B with a cold L2.
	if got := r.Intensity(); len(r.Launches) != 2 || !(math.Abs(got-0.125) < 0.01) {
		t.Errorf("%d launches, intensity %v, want 2 and 0.125", len(r.Launches), got)
	}
	if f := r.FLOPs(); f.Value != 2*n {
		t.Errorf("%v FLOP, want %d", f, 2*n)
	}
	if v := r.Launches[0].DRAMBytes; v.Tag != "MODELLED" || !(math.Abs(v.Value-8*n) < 0.01*8*n) {
		t.Errorf("DRAM bytes %+v, want %d", v, 8*n)
	}
	if !strings.HasPrefix(r.Verdict(), "Memory-bound") || !(r.Seconds() > 8*n/4.8e12) {
		t.Errorf("verdict %q in %v s", r.Verdict(), r.Seconds())
	}
	var launches []struct{ Kernel string }
	if err := json.Unmarshal([]byte(r.JSON()), &launches); err != nil || len(launches) != 2 || launches[0].Kernel != "scale" {
		t.Errorf("JSON: %v, %+v", err, launches)
	}
	wantError(t, panicOf(t, func() { Measure(func() {}) }), "Measure: the function launched nothing\ncall f.Launch or kernels.Run inside the function")
	wantError(t, panicOf(t, func() { Measure(func() { scale.Launch(Threads(n, 256), x) }) }),
		"launch scale: 1 argument given, the function takes 3\nits parameters: scale_x .u64, scale_a .f32, scale_n .u32\ngive a value for argument 2 (scale_a .f32)")
	wantError(t, panicOf(t, func() { Measure(func() { Failed(fail("", "gemv: shapes differ")) }) }), "gemv: shapes differ")
	wantError(t, panicOf(t, func() { Sample(0, func() {}) }), "Sample(0, …): k is at least 1\nk = 1 runs every CTA")
	wantError(t, panicOf(t, func() { Roofline() }), "Roofline: there is no launch to draw\ngive it reports: gpu.Roofline(gpu.Measure(…))")
	wantError(t, panicOf(t, func() { Roofline(r, nil) }), "Roofline: report 2 is nil\nmeasure it first")
	wantError(t, panicOf(t, func() { SideBySide() }), "SideBySide: there is nothing to show\ngive it reports: gpu.SideBySide(a, b)")
}

// TestWarm: the second launch over 4 MB finds them in the 50 MiB L2, unless it starts cold; what it writes goes to DRAM at last.
func TestWarm(t *testing.T) {
	d := fresh(t, "h200")
	scale := load(t, d, "scale")
	const n = 1 << 20
	x := d.Zeros(F32, n)
	launch := func() { scale.Launch(Threads(n, 256), x, 2, n) }
	cold, again := Measure(launch), Measure(launch)
	warm := Warm(launch)
	if a, b, c := cold.DRAMBytes().Value, again.DRAMBytes().Value, warm.DRAMBytes().Value; a != b || !(c <= a/2) {
		t.Errorf("cold %v, cold %v, warm %v B of DRAM", a, b, c)
	}
	if !cold.Launches[0].Cold || warm.Launches[0].Cold {
		t.Error("the launches do not say which was cold")
	}
}

func TestSweepAndCompare(t *testing.T) {
	d := fresh(t, "h200")
	scale := load(t, d, "scale")
	const n = 1 << 18
	x := d.Zeros(F32, n)
	s := Sweep("threads", []int{32, 64, 2048, 256}, func(size int) { scale.Launch(Threads(n, size), x, 2, n) })
	if len(s.Rows) != 4 || s.Rows[2].Report != nil || s.Rows[2].Failed != "launch scale: CTA extent x is 2,048, the limit is 1,024" || len(s.Reports()) != 3 {
		t.Errorf("rows %+v", s.Rows)
	}
	if b := s.Best(); b == nil || b.Report == nil {
		t.Error("no best row")
	}
	for _, want := range []string{"threads", "2048"} {
		if !strings.Contains(s.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, s)
		}
	}
	if picture := s.Roofline().String(); !strings.Contains(picture, "threads 32") || strings.Contains(picture, "threads 2048") {
		t.Errorf("the roofline should name the values that ran:\n%s", picture)
	}
	wantError(t, panicOf(t, func() { Sweep("threads", nil, func(int) {}) }), "Sweep(\"threads\"): there are no values\ngive the values to try: []int{1, 2, 4}")
	wantError(t, panicOf(t, func() { Sweep("a", []int{1, 2}, func(int) {}) }),
		"Sweep(\"a\"): every row failed\na = 2: Measure: the function launched nothing\ncall f.Launch or kernels.Run inside the function")

	half := func() { scale.Launch(Threads(n/2, 256), x, 2, n/2) }
	whole := func() { scale.Launch(Threads(n, 256), x, 2, n) }
	if c := Compare(whole, whole); c.Verdict != "SAME" || c.Ratio != 1 {
		t.Errorf("the same twice: %s, %v", c.Verdict, c.Ratio)
	}
	big := d.Zeros(F32, 1<<22)
	if c := CompareNamed("big", func() { scale.Launch(Threads(1<<22, 256), big, 2, 1<<22) }, "half", half); c.Verdict != "FASTER" || !(c.Ratio > 1.2) {
		t.Errorf("big against small: %s, %v", c.Verdict, c.Ratio)
	}
	other := fresh(t, "t4")
	elsewhere, y := load(t, other, "scale"), other.Zeros(F32, 64)
	wantError(t, panicOf(t, func() { Compare(whole, func() { elsewhere.Launch(Threads(64, 64), y, 2, 64) }) }),
		"comparing \"A\" on virtual:h200 with \"B\" on virtual:t4: run both on one device")
}

func TestPath(t *testing.T) {
	d := fresh(t, "h200")
	scale := load(t, d, "scale")
	x := d.Zeros(F32, 64)
	v := Path(func() { scale.Launch(Threads(64, 64), x, 2, 64) })
	for _, want := range []string{"scale", "check and pack arguments", "MEASURED", "MODELLED", "CUDA kernel"} {
		if !strings.Contains(v.String(), want) {
			t.Errorf("the path lacks %q:\n%s", want, v)
		}
	}
}
