package kernels

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"memwall/gpu"
)

// architectures are the virtual devices that between them run the PTX of every target that is shipped.
var architectures = []string{"virtual:h200", "virtual:a100", "virtual:t4"}

// ConformanceOptions say what Conformance runs.
type ConformanceOptions struct {
	Filter  string   // a family, or a step; empty: everything
	Devices []string // empty: the default device, then virtual devices of every architecture that there is PTX for
	Seed    uint64   // of the test data
	Each    func(*ConformanceLine)
}

// ConformanceLine is how a CUDA kernel did on a device.
type ConformanceLine struct {
	Kernel    string  `json:"kernel"`
	Device    string  `json:"device"`
	Target    string  `json:"target,omitempty"` // of the PTX: "sm_80"
	Cases     int     `json:"cases"`
	Counted   int     `json:"counted"`          // cases whose counters were compared with their closed forms
	Sanitized int     `json:"sanitized"`        // cases that ran under the sanitizer too
	Worst     float64 `json:"worst_of_allowed"` // largest error as a share of what rounding allows
	NMSE      float64 `json:"nmse"`
	Wrong     []Wrong `json:"wrong,omitempty"`
	CannotRun string  `json:"cannot_run,omitempty"` // why there is no such kernel on the device
}

// Wrong is what was found in a case.
type Wrong struct {
	Case  string   `json:"case"`
	Found []string `json:"found"`
}

// String is one line, and below it what was wrong.
func (l *ConformanceLine) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s %-14s ", l.Kernel, l.Device)
	if l.CannotRun != "" {
		fmt.Fprintf(&b, "–       %s", l.CannotRun)
		return b.String()
	}
	verdict := "ok"
	if len(l.Wrong) > 0 {
		verdict = fmt.Sprintf("WRONG in %d", len(l.Wrong))
	}
	fmt.Fprintf(&b, "%-7s %3d cases, %3d counted, %3d sanitized, error ≤ %.2f of the allowed: %s", l.Target, l.Cases, l.Counted, l.Sanitized, l.Worst, verdict)
	for _, w := range l.Wrong {
		fmt.Fprintf(&b, "\n  %s", w.Case)
		for _, text := range w.Found {
			fmt.Fprintf(&b, "\n    %s", strings.ReplaceAll(text, "\n", "\n    "))
		}
	}
	return b.String()
}

// ConformanceReport is every line.
type ConformanceReport []*ConformanceLine

// Failures are how many lines have something wrong.
func (r ConformanceReport) Failures() int {
	n := 0
	for _, l := range r {
		if len(l.Wrong) > 0 {
			n++
		}
	}
	return n
}

// Conformance runs every case of the kernels of a family, or of all, on several devices: results against float64 references
// in outputs filled with garbage, counters against their closed forms, cases of moderate size again under the sanitizer. The
// report holds what ran until ctx ended. The error is why it could not run, or an interrupt; what is wrong is in the report.
func Conformance(ctx context.Context, o ConformanceOptions) (ConformanceReport, error) {
	chosen, err := matching("check", o.Filter)
	if err != nil {
		return nil, err
	}
	devices, err := conformanceDevices(o.Devices)
	if err != nil {
		return nil, err
	}
	var report ConformanceReport
	for _, dev := range devices {
		for _, k := range chosen {
			line := &ConformanceLine{Kernel: k.name, Device: dev.Name()}
			checked, err := k.check(ctx, dev, o.Seed, dev.Supports("sanitizer") == "")
			if ctx.Err() != nil {
				return report, ctx.Err()
			}
			if err != nil {
				var e *gpu.Error
				if !errors.As(err, &e) {
					return report, err
				}
				_, line.CannotRun, _ = strings.Cut(e.What, k.name+": ")
			} else {
				line.take(checked)
			}
			report = append(report, line)
			if o.Each != nil {
				o.Each(line)
			}
		}
	}
	return report, nil
}

// take sums up the cases of a kernel.
func (l *ConformanceLine) take(r *CheckReport) {
	l.Target, l.Cases = r.Target, len(r.Cases)
	for _, c := range r.Cases {
		if c.Counts {
			l.Counted++
		}
		if c.Sanitized {
			l.Sanitized++
		}
		if len(c.Wrong) > 0 {
			l.Wrong = append(l.Wrong, Wrong{c.Case, c.Wrong})
		}
		l.Worst, l.NMSE = max(l.Worst, c.Worst), max(l.NMSE, c.NMSE)
	}
}

// matching are the kernels of a family or of one step; "" is all.
func matching(verb, filter string) ([]*Kernel, error) {
	if filter == "" {
		return unique(registry), nil
	}
	if all := steps(filter); len(all) > 0 {
		return all, nil
	}
	for _, k := range registry {
		if k.name == filter {
			return []*Kernel{k}, nil
		}
	}
	return nil, &gpu.Error{What: fmt.Sprintf("%s: there is no family and no kernel %q", verb, filter),
		How: "did you mean " + nearest(filter, Families()) + "? families: " + strings.Join(Families(), ", ")}
}

// conformanceDevices opens devices by name, each once.
func conformanceDevices(names []string) ([]*gpu.Device, error) {
	var devices []*gpu.Device
	if len(names) == 0 {
		dev, err := gpu.OpenDefault()
		if err != nil {
			return nil, err
		}
		devices, names = append(devices, dev), architectures
	}
	for _, name := range names {
		dev, err := gpu.Open(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(devices, dev) {
			devices = append(devices, dev)
		}
	}
	return devices, nil
}
