package kernels

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"memwall/gpu/perf"
)

// suiteTime is how long Suite may take.
const suiteTime = 10 * time.Minute

// Shares of the datasheet's DRAM bandwidth. Reading has a target; below the least share, and above the whole, it is the timing that is
// doubted: bytes that stayed in L2, a clock held down, another program on the GPU.
const (
	readTarget     = .92
	leastDRAMShare = .75
	mostDRAMShare  = 1.0
)

// SuiteOptions say what Suite runs.
type SuiteOptions struct {
	Filter string // a family or a step; empty: everything
	Device string // "cuda:0"
	Seed   uint64
	Each   func(fmt.Stringer) // called with each part as it is done
}

// SuiteReport is what Suite found.
type SuiteReport struct {
	Device      string            `json:"device"`
	Conformance ConformanceReport `json:"conformance"`
	Timing      []TimingLine      `json:"timing"`
	Targets     *BenchReport      `json:"targets"` // of each group: aim, measured, reached
	Notes       []string          `json:"notes"`   // what could not be compared, and why
}

// TimingLine is a ceiling that timing has to find where it is known to be.
type TimingLine struct {
	Name    string      `json:"name"`
	Rate    perf.Figure `json:"rate"`
	Share   float64     `json:"share"` // of the datasheet's roof
	Target  float64     `json:"target,omitempty"`
	Reached bool        `json:"reached"` // the target, where there is one
	Sane    bool        `json:"sane"`    // the share can be true
}

// String is a line of the table.
func (l TimingLine) String() string {
	verdict := "sane"
	if !l.Sane {
		verdict = fmt.Sprintf("NOT SANE: %.0f to %.0f %% can be true", 100*leastDRAMShare, 100*mostDRAMShare)
	}
	if l.Target > 0 {
		reached := "reached"
		if !l.Reached {
			reached = "NOT reached"
		}
		verdict += fmt.Sprintf(", target %.0f %% %s", 100*l.Target, reached)
	}
	return fmt.Sprintf("timing: %s reaches %.1f %% of the roof, %s: %s", l.Name, 100*l.Share, l.Rate.Tag, verdict)
}

type suiteNote string

func (n suiteNote) String() string { return string(n) }

// Wrong is how many kernels are wrong and how many ceilings cannot be true.
func (r *SuiteReport) Wrong() int {
	n := r.Conformance.Failures()
	for _, l := range r.Timing {
		if !l.Sane {
			n++
		}
	}
	return n
}

// Suite checks one device in at most ten minutes: the conformance of the CUDA kernels, whether timing finds the known ceilings of
// DRAM, and the targets of each step beside what it takes. A report comes with an error too: what was done by then.
func Suite(ctx context.Context, o SuiteOptions) (*SuiteReport, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, suiteTime, fmt.Errorf("check: more than %v: what is missing was not run; name a family", suiteTime))
	defer cancel()
	each := o.Each
	if each == nil {
		each = func(fmt.Stringer) {}
	}
	r := &SuiteReport{Device: o.Device, Timing: []TimingLine{}}
	note := func(text string) {
		r.Notes = append(r.Notes, text)
		each(suiteNote(text))
	}
	var err error
	r.Conformance, err = Conformance(ctx, ConformanceOptions{Filter: o.Filter, Devices: []string{o.Device}, Seed: o.Seed,
		Each: func(l *ConformanceLine) { each(l) }})
	if err == nil {
		r.Targets, err = BenchKernels(ctx, BenchOptions{Filter: o.Filter, Device: o.Device, Each: each})
	}
	if r.Targets != nil {
		r.Timing = timingOf(r.Targets.Ceilings)
	}
	for _, l := range r.Timing {
		each(l)
	}
	if len(r.Timing) == 0 {
		note("timing: not compared with the known ceilings: the probes of DRAM were not among what ran")
	}
	if _, lacks := exec.LookPath("ncu"); lacks != nil {
		note("counters: not compared with Nsight Compute: there is no ncu on PATH")
	} else {
		note("counters: not compared with Nsight Compute: memwall does not run ncu yet")
	}
	if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return r, err
}

// timingOf judges the ceilings of DRAM.
func timingOf(ceilings []Ceiling) []TimingLine {
	lines := []TimingLine{}
	for _, c := range ceilings {
		if c.Roof.Source != dramSource {
			continue
		}
		l := TimingLine{Name: c.Name, Rate: c.Rate, Share: c.Share, Sane: c.Share >= leastDRAMShare && c.Share <= mostDRAMShare}
		if c.Name == dramRead {
			l.Target = readTarget
		}
		l.Reached = l.Sane && c.Share >= l.Target
		lines = append(lines, l)
	}
	return lines
}
