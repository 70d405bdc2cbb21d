package gpu

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
)

const endless = `.version 8.0
.target sm_75
.address_size 64
.visible .entry forever(.param .u64 p) {
	.reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<2>; .shared .align 4 .b8 s[4];
	ld.param.u64 %rd0, [p]; mov.u32 %r0, 7; st.global.u32 [%rd0], %r0;
LOOP:
	ld.global.u32 %r1, [%rd0+4]; atom.shared.add.u32 %r2, [s], %r1; setp.ne.u32 %p, %r1, 3; @%p bra LOOP;
	ret;
}
.visible .entry waits(.param .u64 p) {
	.reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<2>;
	ld.param.u64 %rd0, [p]; mov.u32 %r0, 9; st.global.u32 [%rd0], %r0;
LOOP:
	nanosleep.u32 1000000; bar.sync 0; bra LOOP;
}
`

// A launch that never ends stops within a second of its limit, its device's, or an interrupt; what it wrote stays, and the
// device works on.
func TestRunaway(t *testing.T) {
	d := fresh(t, "h200")
	m, err := d.LoadPTX(endless)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"forever", "waits"} {
		f, err := m.Function(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, how := range []string{"limit", "device", "interrupt"} {
			x := d.Zeros(U32, 2)
			config := Config{Grid: Dim(300), CTA: Dim(256)}
			switch how {
			case "limit":
				config.Limit = 50 * time.Millisecond
			case "device":
				d.SetLimit(50 * time.Millisecond)
			case "interrupt":
				ctx, cancel := context.WithCancel(context.Background())
				time.AfterFunc(50*time.Millisecond, cancel)
				BeginCell(ctx, 1)
			}
			start := time.Now()
			err := f.Launch(config, x)
			took := time.Since(start)
			d.SetLimit(0)
			EndCell()
			var e *Error
			kind := map[bool]string{true: "interrupted", false: "time-out"}[how == "interrupt"]
			if !errors.As(err, &e) || e.Fault == nil || e.Fault.Kind != kind {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			if how != "interrupt" && (e == nil || !strings.Contains(e.Error(), "\nthe launch did not end within its limit of 50ms\n")) {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			if took > 1050*time.Millisecond {
				t.Errorf("%s, %s: stopped after %v", name, how, took)
			}
			if got := x.Ints()[0]; got != map[string]int{"forever": 7, "waits": 9}[name] {
				t.Errorf("%s, %s: what it wrote is lost: %d", name, how, got)
			}
		}
	}
	if err := load(t, d, "scale").Launch(Threads(64, 32), d.Zeros(F32, 64), 2, 64); err != nil {
		t.Errorf("the launch after: %v", err)
	}
	wantError(t, load(t, d, "scale").Launch(Config{Limit: -1}, d.Zeros(F32, 64), 2, 64), "launch scale: the limit -1ns is negative\ngive a time ≥ 0; 0 is the device's limit")
	wantError(t, panicOf(t, func() { d.SetLimit(-time.Second) }), "SetLimit: the limit -1s is negative\ngive a time ≥ 0; 0 means no limit")
}

// SampleFor samples what takes too long and says how; what it leaves incomplete cannot be read.
func TestSampleFor(t *testing.T) {
	d := fresh(t, "h200")
	scale := load(t, d, "scale")
	const n = 1 << 22
	x := d.Arange(F32, n)
	r := SampleFor(time.Microsecond, func() { scale.Launch(Threads(n, 128), x, 1, n) })
	k := r.Launches[0].Sampled
	if k < 64 || k&(k-1) != 0 || !strings.Contains(r.String(), fmt.Sprintf("sampled 1 of %d CTAs", k)) {
		t.Errorf("%d: %s", k, r)
	}
	wantError(t, panicOf(t, func() { x.Float32s() }), fmt.Sprintf("read tensor f32 [4194304]: its contents are incomplete\nlaunch scale ran 1 of every %d CTAs (gpu.Sample)\nlaunch it without gpu.Sample to read the result; the launch's counters are in its report", k))
	y := d.Arange(F32, 256)
	if r := SampleFor(time.Hour, func() { scale.Launch(Threads(256, 128), y, 2, 256) }); r.Launches[0].Sampled != 1 || y.At(255) != 510 {
		t.Errorf("a launch that fits: %s", r)
	}
	wantError(t, panicOf(t, func() { SampleFor(0, func() {}) }), "SampleFor(0s, …): the budget is not positive\ngive a time, such as 2*time.Second")
}

// narrow is a device on a computer that has no memory left.
type narrow struct{ driver.Device }

func (narrow) HostMemory(bytes int64) error {
	return fmt.Errorf("%d B of host memory asked for, and the host has 7 B of 9 B free", bytes)
}

// What fills a tensor asks the host first, and an interrupt ends it.
func TestFillsWithinHost(t *testing.T) {
	d := fresh(t, "h200")
	x := d.Empty(F32, 8)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	BeginCell(ctx, 1)
	err := x.Fill(1)
	EndCell()
	wantError(t, err, "Fill: interrupted")
	d.d = narrow{d.d}
	free, _ := d.d.MemoryInfo()
	for _, c := range []struct {
		what string
		make func()
	}{
		{"Full f16 [1000, 8]", func() { d.Full(F16, 1.5, 1000, 8) }},
		{"Full q8_0 [16, 32]", func() { d.Full(Q8_0, 1.5, 16, 32) }},
		{"Randn f32 [9]", func() { d.Randn(F32, 9) }},
		{"Arange i32 [9]", func() { d.Arange(I32, 9) }},
		{"From f64 [2]", func() { d.From([]float64{1, 2}) }},
	} {
		func() {
			defer func() {
				e, ok := recover().(*Error)
				if !ok || !strings.HasPrefix(e.What, c.what+": out of memory: ") || !strings.HasSuffix(e.What, " B of host memory asked for, and the host has 7 B of 9 B free") ||
					e.How != "make it smaller; dev.Zeros and dev.Empty take memory as it is touched, dev.Procedural makes its pages as they are read" {
					t.Errorf("%s: %v", c.what, e)
				}
			}()
			c.make()
		}()
	}
	if left, _ := d.d.MemoryInfo(); left != free {
		t.Errorf("refused tensors kept %d B of device memory", free-left)
	}
}
