package kernels

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"memwall/gpu/perf"
)

// TestBenchKernels predicts a step beside its roof: 8·R·C bytes at the datasheet's 4.8 TB/s.
func TestBenchKernels(t *testing.T) {
	report, err := BenchKernels(t.Context(), BenchOptions{Filter: "softmax/3_online", Device: "h200"})
	if err != nil || len(report.Groups) != 1 || len(report.Groups[0].Lines) != 1 || len(report.Ceilings) != 0 {
		t.Fatalf("%v\n%v", err, report)
	}
	g, l := report.Groups[0], report.Groups[0].Lines[0]
	near(t, "roof", g.Floor, 8*8192*8192/4.8e12)
	near(t, "share", l.Share, g.Floor/l.Time.Value)
	if g.Roof != "DRAM" || g.Types != "f32" || l.Time.Tag != perf.Modelled || !(l.Time.Low < l.Time.Value && l.Time.Value < l.Time.High) || !l.Picked || l.Sampled < 2 {
		t.Errorf("%+v\n%+v", g, l)
	}
	if l.Reached == nil || *l.Reached != (l.Share >= .8) || strings.Contains(report.String(), "B/s") {
		t.Errorf("the aim is 80%%: %v\n%s", l.Reached, report)
	}
	// A step that the device does not have says so.
	report, err = BenchKernels(t.Context(), BenchOptions{Filter: "gemm/9_cp_async", Device: "t4"})
	if err != nil || report.Groups[0].Lines[0].Cannot == "" || !strings.Contains(report.String(), "–     launch gemm/9_cp_async") {
		t.Errorf("%v\n%s", err, report)
	}
	if _, err := BenchKernels(t.Context(), BenchOptions{Filter: "gemx"}); err == nil || !strings.HasPrefix(err.Error(), "bench kernels: there is no family and no kernel \"gemx\"\ndid you mean gem") {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if report, err := BenchKernels(ended, BenchOptions{Filter: "softmax"}); !errors.Is(err, context.Canceled) || len(report.Groups) != 0 {
		t.Errorf("interrupted: %v, %v", report, err)
	}
}

// TestBenchTable compares the whole text of a group, of a virtual device and of a real one.
func TestBenchTable(t *testing.T) {
	yes, no := true, false
	g := &BenchGroup{Family: "gemv", Types: "f16", Shape: "K=64 N=8", Device: "virtual:h200", Bytes: 48e6, FLOPs: 1e6, Roof: "DRAM", Floor: 10e-6, Ladder: true, Lines: []BenchLine{
		{Kernel: "gemv/1_naive", Time: perf.Figure{Value: 80e-6, Unit: "s", Tag: perf.Modelled}, Bound: "latency", Share: .125, Own: .14},
		{Kernel: "gemv/2_warp", Cannot: "launch gemv/2_warp: needs sm_80\nuse another"},
		{Kernel: "gemv/3_vec16", Picked: true, Time: perf.Figure{Value: 11e-6, Unit: "s", Tag: perf.Modelled}, Bound: "DRAM", Share: .909, Own: 1.01, Aim: "≥ 85% of the roof", Reached: &yes,
			Ratio: 1.1, Base: "gemv/1_naive N=1"},
	}}
	want := `gemv f16 K=64 N=8 on virtual:h200: 48.0 MB, 1.00 MFLOP FORMULA; DRAM allows 10.0 µs DATASHEET
     step          time              bound                            predicted  of own ceiling  aim
     gemv/1_naive  80.0 µs MODELLED  latency                          12.5%      14%
     gemv/2_warp   –                 launch gemv/2_warp: needs sm_80
  →  gemv/3_vec16  11.0 µs MODELLED  DRAM                             90.9%      101%            1.10 × gemv/1_naive N=1; ≥ 85% of the roof: reached
`
	if got := g.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	g.Device, g.Lines = "cuda:0", []BenchLine{{Kernel: "gemv/1_naive", Time: perf.Figure{Value: 16e-6, Unit: "s", Tag: perf.Measured}, Bound: "DRAM", Share: .625, Aim: "≥ 85% of the roof", Reached: &no}}
	if got := (&BenchReport{Groups: []*BenchGroup{g, g}}).String(); strings.Count(got, "of the roof  of own ceiling  aim") != 2 || !strings.Contains(got, "16.0 µs MEASURED, 3.00 TB/s  DRAM   62.5%                        ≥ 85% of the roof: missed\n") {
		t.Errorf("got\n%s", got)
	}
}

// TestBenchShapes: each shape of a row names all of its extents and is one that the row takes.
func TestBenchShapes(t *testing.T) {
	for _, k := range registry {
		for _, s := range k.bench {
			d := k.benchDims(s.trial, 132)
			for _, o := range k.operands {
				if slices.Contains(s.without, o.name) {
					continue
				}
				for _, name := range o.shape {
					if d.of(name) < 1 {
						t.Errorf("%s: the shape %s lacks %s", k.name, s.trial, name)
					}
				}
			}
			if err := k.refuses(d); err != nil {
				t.Errorf("%s: %v", k.name, err)
			}
			if step := k.sampleOf(d); step < 1 || math.IsNaN(k.bytes.of(d)) {
				t.Errorf("%s, %s: a sample of 1 in %d", k.name, s.trial, step)
			}
		}
	}
	// A persistent grid of one CTA an SM: a sample that put two on one would take twice as long.
	for _, c := range []struct {
		ctas, cluster, step, sms int
		want                     bool
	}{{132, 1, 16, 132, true}, {132, 1, 15, 132, false}, {132, 2, 8, 132, true}, {132, 2, 6, 132, false}, {512, 1, 64, 132, false}, {1 << 16, 1, 1024, 132, false}} {
		if got := crowded(c.ctas, c.cluster, c.step, c.sms); got != c.want {
			t.Errorf("1 in %d of %d CTAs on %d SMs: crowded is %t", c.step, c.ctas, c.sms, got)
		}
	}
	for _, k := range unique(registry) {
		if !slices.ContainsFunc(k.variants(), func(v *Kernel) bool { return len(v.bench) > 0 }) {
			t.Errorf("%s has no shape", k.name)
		}
	}
}
