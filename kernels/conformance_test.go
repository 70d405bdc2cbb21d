package kernels

import (
	"context"
	"strings"
	"testing"
)

// TestConformance runs `memwall check` on a family: a line a kernel and device, mistakes with their case, and an interrupt
// that leaves the lines so far.
func TestConformance(t *testing.T) {
	var lines []string
	report, err := Conformance(t.Context(), ConformanceOptions{Filter: "probe", Devices: []string{"t4", "virtual:t4", "h200"}, Seed: 7,
		Each: func(l *ConformanceLine) { lines = append(lines, l.String()) }})
	if err != nil || report.Failures() != 0 || len(report) != 2*len(steps("probe")) || len(lines) != len(report) {
		t.Fatalf("%d lines, %v\n%s", len(report), err, strings.Join(lines, "\n"))
	}
	if want := "probe/1_copy           virtual:t4     sm_75     8 cases,   8 counted,   8 sanitized, error ≤ 0.00 of the allowed: ok"; lines[0] != want {
		t.Errorf("got\n%s\nwant\n%s", lines[0], want)
	}
	report, err = Conformance(t.Context(), ConformanceOptions{Filter: "gemm/9_cp_async", Devices: []string{"t4"}})
	if err != nil || report.Failures() != 0 || report[0].String() != "gemm/9_cp_async        virtual:t4     –       needs sm_80, device \"t4\" is sm_75" {
		t.Errorf("%v, %v", report, err)
	}
	if _, err := Conformance(t.Context(), ConformanceOptions{Filter: "prob"}); err == nil ||
		err.Error() != "check: there is no family and no kernel \"prob\"\ndid you mean probe? families: "+strings.Join(Families(), ", ") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	report, err = Conformance(ctx, ConformanceOptions{Filter: "probe", Devices: []string{"t4"}, Each: func(*ConformanceLine) { cancel() }})
	if err != context.Canceled || len(report) != 1 {
		t.Errorf("interrupted: %d lines, %v", len(report), err)
	}
	wrong, old := *Get("softmax/2_warp"), registry
	wrong.reference = func(d dims, in map[string][]float64) (want, scale []float64) {
		want, scale = softmaxReference(d, in)
		want[0] += 0.5
		return want, scale
	}
	defer func() { registry = old }()
	registry = []*Kernel{&wrong}
	report, err = Conformance(t.Context(), ConformanceOptions{Devices: []string{"t4"}})
	if err != nil || report.Failures() != 1 || !strings.Contains(report[0].String(), "WRONG in 8\n  C=1 R=1\n    element 0 is 1, the reference 1.5 ± ") {
		t.Errorf("%v\n%v", report, err)
	}
}
