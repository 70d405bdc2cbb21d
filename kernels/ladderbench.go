package kernels

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// benchShape is a case whose time is of interest.
type benchShape struct {
	trial
	share float64 // of the roof that the ladder's best step aims at, 0: none (facts: the CUDA kernels)
	own   bool    // the aim is this step's, whatever step the ladder takes
	aim   string  // the aim as it is published, where it is no share: "mma ≥ 400 TFLOP/s"
	base  *base   // a time that this one is compared with
	most  float64 // times base that the ladder's best step may take, 0: no aim
}

// base is a step or ladder at a shape.
type base struct {
	step string
	trial
	types string // element types, where they are not those of what is compared with it
}

// published is the filter that means the ladders that others have measured.
const published = "published"

// benchWork is how many FLOPs or bytes of a launch are executed, of larger ones in a sample of benchCTAs at least: neighbours
// show what caches share.
const (
	benchWork = 1 << 24
	benchCTAs = 6
)

// BenchOptions say what BenchKernels runs.
type BenchOptions struct {
	Filter string             // a family or a step; empty: everything
	Device string             // empty: the default one
	Each   func(fmt.Stringer) // called with the ceilings, if there are any, and with each group
}

// BenchGroup is the steps of a family at one shape, or one probe.
type BenchGroup struct {
	Family string      `json:"family"`
	Types  string      `json:"types,omitempty"` // element types: "f16"
	Shape  string      `json:"shape"`
	Device string      `json:"device"`
	Bytes  float64     `json:"minimum_bytes"` // FORMULA
	FLOPs  float64     `json:"flops"`         // FORMULA
	Roof   string      `json:"roof"`          // "DRAM", "tensor", "FP32"
	Floor  float64     `json:"roof_seconds"`  // FORMULA, from the datasheet's roof
	Ladder bool        `json:"ladder"`
	Lines  []BenchLine `json:"steps"`
}

// BenchLine is a step.
type BenchLine struct {
	Kernel  string      `json:"kernel"`
	Picked  bool        `json:"picked"` // the ladder's name means this step here
	Time    perf.Figure `json:"time"`   // MODELLED on a virtual device, MEASURED on a real one
	Bound   string      `json:"bound"`
	Share   float64     `json:"share"`             // roof time ÷ time: predicted where the time is MODELLED
	Own     float64     `json:"own,omitempty"`     // share of what the device's probe reaches, 0 where no probe shows it
	Sampled int         `json:"sampled,omitempty"` // every so many CTAs ran
	Ratio   float64     `json:"ratio,omitempty"`   // time ÷ the group's base
	Base    string      `json:"base,omitempty"`
	Aim     string      `json:"aim,omitempty"`
	Reached *bool       `json:"reached,omitempty"`
	Cannot  string      `json:"cannot,omitempty"` // why there is no time
}

// BenchReport is what a device can do at best, where that was asked for, and every group.
type BenchReport struct {
	Device    string           `json:"device"`
	Ceilings  []Ceiling        `json:"ceilings,omitempty"`
	Groups    []*BenchGroup    `json:"groups,omitempty"`
	Published []PublishedTable `json:"published,omitempty"` // of their own devices
}

// BenchKernels predicts, on a virtual device, or measures the time of the shapes that rows of the registry name, beside the
// time that the roof allows. ctx ends it between two launches; the report holds what is done by then.
func BenchKernels(ctx context.Context, o BenchOptions) (*BenchReport, error) {
	var chosen []*Kernel
	var err error
	if o.Filter != published {
		if chosen, err = matching("bench kernels", o.Filter); err != nil {
			return nil, err
		}
	}
	dev, err := gpu.OpenDefault()
	if o.Device != "" {
		dev, err = gpu.Open(o.Device)
	}
	if err != nil {
		return nil, err
	}
	each := func(s fmt.Stringer) {
		if o.Each != nil {
			o.Each(s)
		}
	}
	b := bencher{ctx: ctx, dev: dev, times: map[string]benchTime{}}
	report := &BenchReport{Device: dev.Name()}
	if report.Ceilings, err = b.ceilings(chosen); err != nil {
		return report, err
	}
	if len(report.Ceilings) > 0 {
		each(ceilingTable{dev.Name(), report.Ceilings})
	}
	for _, g := range b.groups(chosen) {
		for i := range g.rows {
			if ctx.Err() != nil {
				return report, ctx.Err()
			}
			b.line(&g, i)
		}
		report.Groups = append(report.Groups, g.group)
		each(g.group)
	}
	if o.Filter == "" || o.Filter == published {
		report.Published, err = Published(ctx)
		for _, table := range report.Published {
			each(table)
		}
	}
	return report, err
}

// bencher keeps the times of launches that groups share.
type bencher struct {
	ctx   context.Context
	dev   *gpu.Device
	times map[string]benchTime
}

type benchTime struct {
	total *perf.Total
	pick  string // the step that the ladder's name means for these arguments
	err   error
}

// benchGroup is a group with the rows and shapes of its lines.
type benchGroup struct {
	group  *BenchGroup
	rows   []*Kernel
	shapes []benchShape
}

// groups collects the shapes of rows, those of a ladder's steps at the same shape together.
func (b *bencher) groups(chosen []*Kernel) []benchGroup {
	var all []benchGroup
	for _, k := range chosen {
		for _, v := range k.variants() {
			if v.ceiling != nil {
				continue // in a table of its own
			}
			for _, s := range v.bench {
				key := BenchGroup{Family: v.Family(), Types: v.elementTypes(), Shape: s.trial.shape(), Device: b.dev.Name(), Ladder: ladders[v.Family()]}
				at := slices.IndexFunc(all, func(g benchGroup) bool {
					return key.Ladder && g.group.Family == key.Family && g.group.Types == key.Types && g.group.Shape == key.Shape
				})
				if at < 0 {
					at, all = len(all), append(all, benchGroup{group: &key})
				}
				all[at].rows, all[at].shapes = append(all[at].rows, v), append(all[at].shapes, s)
			}
		}
	}
	for _, g := range all {
		b.roof(&g)
	}
	return all
}

// roof works out the least time of a group's operation: its bytes at the datasheet's bandwidth or its FLOPs at the roof of the
// pipe that some step of the family can use for these types, whichever is longer.
func (b *bencher) roof(g *benchGroup) {
	k, p := g.rows[0], b.dev.Profile()
	d := k.benchDims(g.shapes[0].trial, b.dev.SMs())
	g.group.Bytes, g.group.FLOPs = k.bytes.of(d), k.flops.of(d)
	if p == nil {
		return
	}
	pipe := perf.FLOPF32
	for _, other := range registry {
		if target, cannot := other.targetFor(b.dev); cannot == nil && other.Family() == k.Family() && other.elementTypes() == k.elementTypes() {
			if text, _ := other.ptx(target); (other == k || ladders[k.Family()]) && usesTensorCores(text) {
				pipe = perf.FLOPTensor
			}
		}
	}
	roof := p.Roof(pipe)
	g.group.Roof, g.group.Floor = "DRAM", g.group.Bytes/p.DRAMBytesPerSecond
	if t := g.group.FLOPs / roof.FLOPs; t > g.group.Floor {
		g.group.Roof, g.group.Floor = roof.Name, t
	}
}

// usesTensorCores says whether PTX has an mma instruction of any kind.
func usesTensorCores(ptx string) bool {
	return strings.Contains(ptx, "mma.sync") || strings.Contains(ptx, "wgmma.mma_async")
}

// line measures a row of a group.
func (b *bencher) line(g *benchGroup, i int) {
	k, s := g.rows[i], g.shapes[i]
	line := BenchLine{Kernel: k.name}
	defer func() { g.group.Lines = append(g.group.Lines, line) }()
	t := b.time(k, s.trial)
	if t.err != nil {
		line.Cannot = t.err.Error()
		return
	}
	line.Time, line.Bound, line.Sampled = t.total.Duration, t.total.Bound, t.total.Sampled
	line.Share = g.group.Floor / t.total.Duration.Value
	line.Own = line.Share / b.own(g.group.Roof, k)
	line.Picked = t.pick == k.name
	aims := line.Picked || s.own || !g.group.Ladder
	if s.share > 0 && aims {
		line.aim(line.Share >= s.share, s.aim, fmt.Sprintf("≥ %s of the roof", perf.FormatPercent(100*s.share)))
	}
	if s.base == nil {
		return
	}
	types := s.base.types
	if types == "" {
		types = k.elementTypes()
	}
	reference := lookUpRow(s.base.step, types)
	if reference == nil {
		return
	}
	if t := b.time(reference, s.base.trial); t.err == nil {
		line.Base, line.Ratio = fmt.Sprintf("%s %s", reference.name, s.base.trial.shape()), line.Time.Value/t.total.Duration.Value
		if s.most > 0 && aims {
			line.aim(line.Ratio <= s.most, s.aim, fmt.Sprintf("≤ %g × M = 1", s.most))
		}
	}
}

// own is the share of a roof that the probe of the device reaches; infinite where none shows it.
func (b *bencher) own(roof string, k *Kernel) float64 {
	target, _ := k.targetFor(b.dev)
	text, _ := k.ptx(target)
	probe := map[string]string{"DRAM": "DRAM read", "FP32": "FP32", "tensor": "mma.sync"}[roof]
	if roof == "tensor" && strings.Contains(text, "wgmma") {
		probe = "wgmma"
	}
	for _, p := range unique(registry) {
		if p.ceiling == nil || p.ceiling.name != probe {
			continue
		}
		if c, err := b.ceiling(p); err == nil && c.Share > 0 {
			return c.Share
		}
	}
	return math.Inf(1)
}

// aim notes an aim and whether it is reached.
func (l *BenchLine) aim(reached bool, words, usual string) {
	if l.Aim = words; words == "" {
		l.Aim = usual
	}
	l.Reached = &reached
}

// lookUpRow is the row of a step for element types, nil where there is none.
func lookUpRow(name, types string) *Kernel {
	for _, k := range registry {
		if k.name == name && k.elementTypes() == types {
			return k
		}
	}
	return nil
}

// time runs a shape once, or gives what it took before.
func (b *bencher) time(k *Kernel, s trial) (t benchTime) {
	key := k.name + " " + k.elementTypes() + " " + s.String()
	if known, is := b.times[key]; is {
		return known
	}
	defer func() { b.times[key] = t }()
	defer caught(&t.err)
	if _, cannot := k.targetFor(b.dev); cannot != nil {
		return benchTime{err: cannot}
	}
	d := k.benchDims(s, b.dev.SMs())
	if t.err = k.refuses(d); t.err != nil {
		return t
	}
	made := k.benchArguments(b.dev, s)
	defer free(made.tensors)
	var report *gpu.Report
	launch := func() { t.err = run(k.name, nil, made.args) }
	if step := k.sampleOf(d); step > 1 && b.dev.Supports("sampling") == "" {
		report = gpu.Sample(step, launch)
	} else {
		report = gpu.Measure(launch)
	}
	if t.err != nil {
		return t
	}
	t.total = report.Total()
	if ladders[k.Family()] {
		if picked, _, err := best(k.Family(), b.dev, made.args); err == nil {
			t.pick = picked.name
		}
	}
	return t
}

// sampleOf is the power of two that leaves benchWork of a step's work, and CTAs enough; less where an SM of the sample would have
// more of them than one of the whole grid.
func (k *Kernel) sampleOf(d dims) int {
	ctas, cluster, most := 1, 1, 0.0 // of the launch with the most FLOPs, of several alike with the most CTAs
	for _, p := range k.shares(d) {
		_, config := p.stage.entry(d)
		if n := count(config.Grid); p.flops > most || p.flops == most && n >= ctas {
			ctas, cluster, most = n, count(config.Cluster), p.flops
		}
	}
	work, step := math.Max(k.bytes.of(d), k.flops.of(d)), 1
	for work/float64(step) > benchWork && ctas/(2*step) >= benchCTAs {
		step *= 2
	}
	for step > 1 && crowded(ctas, cluster, step, d[multiprocessors]) {
		step--
	}
	return step
}

func count(d gpu.Dim3) int { return max(d.X, 1) * max(d.Y, 1) * max(d.Z, 1) }

// crowded says whether an SM of a sample has more CTAs than one of the whole grid: 9 of 132 CTAs on 8 of 132 SMs, where each
// had one to itself, take twice as long. A sample is of whole clusters.
func crowded(ctas, cluster, step, sms int) bool {
	used := max((sms+step/2)/step, 1) // as gpu deals a sample
	return over(over(ctas/cluster, step)*cluster, used) > over(ctas, sms)
}
