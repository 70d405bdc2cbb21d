package perf

import (
	"fmt"
	"math"
	"sort"
	"time"
)

// The first time model: launch overhead plus the largest bound, shown as a range. Each bound is the time that one resource
// would need at its best; the predicted time takes for each the reach that streams attain (DRAM) or the busiest SM
// (everything that an SM does), because CTAs are handed out whole and the last wave may be partial.
//
// The range × 1.0–1.6 covers what plain bounds miss (facts: such a model is 13–22 % too fast in the median).
const (
	modelLow  = 1.0
	modelHigh = 1.6
	// balancedWithin is how close two bounds must be to be named together.
	balancedWithin = 0.10
	// l2BytesPerSMCycle is what one SM can take from L2.
	l2BytesPerSMCycle = 40
)

// Names of the resources in Launch.Bounds.
const (
	ResourceDRAM    = "DRAM"
	ResourceL2      = "L2"
	ResourceShared  = "shared"
	ResourceIssue   = "issue"
	ResourceFP32    = "FP32"
	ResourceFP16    = "FP16"
	ResourceFP64    = "FP64"
	ResourceSFU     = "special function"
	ResourceTensor  = "tensor"
	ResourceLatency = "latency"
	ResourceLaunch  = "launch"
)

// model is what the bounds say of one launch.
type model struct {
	bounds  []Bound // largest first
	seconds float64 // predicted, before the range
}

func (m model) figure() Figure {
	low, high := m.seconds*modelLow, m.seconds*modelHigh
	return Figure{
		Value: math.Sqrt(low * high), Low: low, High: high, Unit: "s", Tag: Modelled,
		Source: fmt.Sprintf("launch + largest bound (%s), × %.1f–%.1f", winners(m.bounds), modelLow, modelHigh),
	}
}

// spread is how CTAs fall on SMs.
type spread struct {
	imbalance float64 // work of the busiest SM ÷ the mean over all SMs
	waves     float64 // whole waves
	warps     float64 // warps that work together on the busiest SM
	perSM     float64 // CTAs of the busiest SM
	ctas      float64
}

func (l *Launch) spread(p *Profile) spread {
	n := float64(l.Shape.CTAs())
	resident := float64(max(l.Occupancy.CTAsPerSM, 1))
	perSM := math.Ceil(n / float64(p.SMs))
	w := math.Ceil(float64(l.Shape.Threads()) / WarpSize)
	return spread{
		imbalance: perSM * float64(p.SMs) / n, waves: math.Ceil(n / (resident * float64(p.SMs))),
		warps: min(perSM, resident) * w, perSM: perSM, ctas: n,
	}
}

// model computes the bounds of a launch that was counted; without counts only those of the kernel's formulas and the launch
// itself. An Occupancy of zero gives no time.
func (l *Launch) model(p *Profile, s scaling) model {
	var m model
	sp := l.spread(p)
	hz := p.ModelHz
	slowest := 0.0
	add := func(resource string, best, predicted float64, source string) {
		if best > 0 {
			m.bounds = append(m.bounds, Bound{resource, best, source})
			slowest = max(slowest, predicted)
		}
	}
	if traffic := l.Traffic(); traffic.Known() {
		t := traffic.Value / p.DRAMBytesPerSecond
		add(ResourceDRAM, t, t/p.DRAMReach, Format(traffic.Value, "B")+" at "+Format(p.DRAMBytesPerSecond, "B/s"))
	}
	if l.L2Bytes.Known() {
		t := l.L2Bytes.Value / p.L2BytesPerSecond
		perSM := l.L2Bytes.Value / sp.ctas * sp.perSM / (l2BytesPerSMCycle * hz)
		add(ResourceL2, t, max(t, perSM), Format(l.L2Bytes.Value, "B")+" at "+Format(p.L2BytesPerSecond, "B/s"))
	}
	smSeconds := func(cycles float64) float64 { return cycles / float64(p.SMs) / hz } // spread evenly over all SMs
	if l.Counted {
		c, lim := &l.Counts, p.Limits()
		t := smSeconds(l.SharedWavefronts.Value)
		add(ResourceShared, t, t*sp.imbalance, FormatCount(l.SharedWavefronts.Value)+" wavefronts, one a cycle and SM")
		issued := float64(c.WarpInstructions-min(c.Instructions[ClassMove], c.WarpInstructions)) * s.factor
		t = smSeconds(issued / SubPartitions)
		add(ResourceIssue, t, t*sp.imbalance, FormatCount(issued)+" instructions without moves, four a cycle and SM")
		t = smSeconds(float64(c.Instructions[ClassSFU]) * s.factor * WarpSize / lim.SpecialPerSMCycle)
		add(ResourceSFU, t, t*sp.imbalance, Trimmed(lim.SpecialPerSMCycle)+" a cycle and SM")
		t = l.latency(p, s, sp, issued)
		add(ResourceLatency, t, t, "one CTA alone × waves")
	}
	l.pipeBounds(p, sp, add)
	add(ResourceLaunch, p.LaunchSeconds, 0, "a launch, fitted")
	sort.SliceStable(m.bounds, func(i, j int) bool { return m.bounds[i].Seconds > m.bounds[j].Seconds })
	if l.Occupancy.CTAsPerSM > 0 || !l.Occupancy.Known() {
		m.seconds = p.LaunchSeconds + slowest
	}
	return m
}

// pipeBounds are FLOPs over the datasheet's roof of each pipe. The prediction adds the imbalance of the last wave and, for
// the tensor cores, what mma.sync reaches.
func (l *Launch) pipeBounds(p *Profile, sp spread, add func(string, float64, float64, string)) {
	flops := l.FLOPs
	if !l.Counted && l.TotalFLOPs.Known() {
		flops[FLOPF32] = l.TotalFLOPs
	}
	for _, t := range []FLOPType{FLOPTensor, FLOPF32, FLOPF16, FLOPF64} {
		f := flops[t]
		if !f.Known() || f.Value == 0 {
			continue
		}
		roof := p.Roof(t)
		best := f.Value / roof.FLOPs
		predicted := best * sp.imbalance
		if t == FLOPTensor {
			predicted = max(predicted, f.Value/2/(p.TensorMACsPerSMCycle*float64(p.SMs)*p.ModelHz)*sp.imbalance)
		}
		add(t.String(), best, predicted, Format(f.Value, "FLOP")+" at "+Format(roof.FLOPs, "FLOP/s"))
	}
}

// latency is the time of one CTA alone, times the waves: its longest chain of dependent loads at the mean latency that
// the modelled caches give, or issuing its own instructions with the few warps that it has.
func (l *Launch) latency(p *Profile, s scaling, sp spread, issued float64) float64 {
	c := &l.Counts
	chain := float64(c.LoadRounds) * l.meanLoadLatency(p)
	w := math.Ceil(float64(l.Shape.Threads()) / WarpSize)
	alone := issued / sp.ctas / min(w, SubPartitions)
	return max(chain, alone) * sp.waves / p.ModelHz
}

func (l *Launch) meanLoadLatency(p *Profile) float64 {
	c := &l.Counts.Cache
	l1, l2 := 0.0, 0.0
	if c.L1Lookups > 0 {
		l1 = float64(c.L1Hits) / float64(c.L1Lookups)
	}
	if c.L2Lookups > 0 {
		l2 = float64(c.L2Hits) / float64(c.L2Lookups)
	}
	return l1*p.L1Latency + (1-l1)*(l2*p.L2Latency+(1-l2)*p.DRAMLatency)
}

// winners names the largest bound, or two within 10 % of each other, joined by " and ".
func winners(bounds []Bound) string {
	switch {
	case len(bounds) == 0:
		return ""
	case len(bounds) > 1 && bounds[1].Seconds >= bounds[0].Seconds*(1-balancedWithin):
		return bounds[0].Resource + " and " + bounds[1].Resource
	}
	return bounds[0].Resource
}

func sortedSeconds(samples []time.Duration) []float64 {
	s := make([]float64, len(samples))
	for i, d := range samples {
		s[i] = d.Seconds()
	}
	sort.Float64s(s)
	return s
}

// quantile of sorted values, interpolated linearly.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
