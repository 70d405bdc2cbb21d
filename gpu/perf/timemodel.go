package perf

import (
	"fmt"
	"math"
	"sort"
	"time"
)

// The time model: launch overhead plus the larger of a cycle simulation of one SM (Observation.Simulated) and of every
// bound, shown as a range. Where a launch was not simulated, bounds alone.
//
// Each resource has two times. The bound is its best: datasheet roofs and the datasheet's clock, work spread evenly over all
// SMs; bounds give the verdict. The prediction takes the rates that published measurements reach, the clock of the model,
// and the busiest SM, because CTAs are handed out whole and the last wave may be partial.
//
// The range × 1.0–1.6 of bounds alone covers what they miss: such a model is 13–22 % too fast in the median, and seldom too slow.
const (
	modelLow  = 1.0
	modelHigh = 1.6
	// balancedWithin is how close two bounds must be to be named together.
	balancedWithin = 0.10
	// arithmeticShare: issue slots that are mostly arithmetic are arithmetic, not overhead.
	arithmeticShare = 0.5
	// l2PortBytes is the width of an SM's port to L2, bytes a cycle; l2ReachBytes is what one SM gets through it.
	l2PortBytes  = 64
	l2ReachBytes = 40
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
	ResourceInteger = "integer"
	ResourceLSU     = "load/store"
	ResourceLatency = "latency"
	ResourceTail    = "tail"    // what the partial last wave adds
	ResourceAtomics = "atomics" // updates of one line or address of global memory, one after another
	ResourceGrid    = "grid"    // too few CTAs: some SMs have all the work of one resource
	ResourceLaunch  = "launch"
)

// model is what the bounds say of one launch.
type model struct {
	bounds    []Bound // largest first
	winner    string  // the verdict's resource, or two joined by " and "
	slowest   string  // the resource that the prediction follows
	seconds   float64 // predicted, before the range; 0: the launch does not fit
	simulated bool    // the simulation said so, not a bound
}

// figure is the predicted time with its range; of a sample whose sharing is unknown it reaches down to where all is shared.
func (l *Launch) figure(m model) Figure {
	f := l.rangeOf(m)
	if l.sharingUnknown() {
		if share := l.leastShared(&m); share < 1 {
			f.Low *= share
			f.Source += ", less where CTAs share data"
		}
	}
	return f
}

func (l *Launch) rangeOf(m model) Figure {
	if l.Simulated.Done() {
		low, high, why := l.simulatedRange()
		what := "the simulation of one SM"
		if !m.simulated {
			low, high, why, what = simulatedLow, simulatedHigh, "", m.slowest
		}
		launch := min(l.Profile.LaunchSeconds, m.seconds)
		work := m.seconds - launch
		return Figure{Value: m.seconds, Low: max(simulatedLow*launch+low*work, m.least()), High: simulatedHigh*launch + high*work, Unit: "s", Tag: Modelled,
			Source: fmt.Sprintf("launch + %s, × %.1f–%.1f%s", what, low, high, why)}
	}
	low, high := m.seconds*modelLow, m.seconds*modelHigh
	source := fmt.Sprintf("launch + %s, × %.1f–%.1f", m.slowest, modelLow, modelHigh)
	if m.slowest == "" {
		source = fmt.Sprintf("launch, × %.1f–%.1f", modelLow, modelHigh)
	}
	return Figure{Value: math.Sqrt(low * high), Low: low, High: high, Unit: "s", Tag: Modelled, Source: source}
}

// least is below what the range does not go: what the largest bound allows at best, never more than what is predicted.
func (m *model) least() float64 {
	for _, b := range m.bounds {
		if !b.About {
			return min(b.Seconds, m.seconds)
		}
	}
	return 0
}

// spread is how CTAs fall on SMs.
type spread struct {
	imbalance float64 // work of the busiest SM ÷ the mean over all SMs
	waves     float64 // whole waves
	perSM     float64 // CTAs of the busiest SM
	ctas      float64
}

func (l *Launch) spread(p *Profile) spread {
	n := float64(l.Shape.CTAs())
	resident := float64(max(l.Occupancy.CTAsPerSM, 1))
	perSM := math.Ceil(n / float64(p.SMs))
	return spread{
		imbalance: perSM * float64(p.SMs) / n, waves: math.Ceil(n / (resident * float64(p.SMs))), perSM: perSM, ctas: n,
	}
}

// modeller collects the bounds of one launch.
type modeller struct {
	l  *Launch
	p  *Profile
	sp spread
	s  scaling
	m  model
	t  float64 // slowest prediction
	// busiest is the largest bound of the SM that has most CTAs, and whose it is.
	busiest Bound
}

// onOneSM notes the best time of the busiest SM.
func (b *modeller) onOneSM(resource string, seconds float64) {
	if seconds > b.busiest.Seconds {
		b.busiest = Bound{Resource: resource, Seconds: seconds}
	}
}

// smallGridBound is the bound of a grid too small for the GPU: where a resource of the SMs that have work takes longer than
// every bound of the whole GPU, and it is another one, spreading the work would help, and the verdict says so.
func (b *modeller) smallGridBound() {
	if len(b.m.bounds) == 0 || b.sp.ctas > smallGrid*float64(b.p.SMs) {
		return
	}
	largest := b.m.bounds[0]
	for _, x := range b.m.bounds {
		if x.Seconds > largest.Seconds {
			largest = x
		}
	}
	if b.busiest.Resource == largest.Resource || !(b.busiest.Seconds*(1-balancedWithin) > largest.Seconds) {
		return
	}
	b.m.bounds = append(b.m.bounds, Bound{Resource: ResourceGrid, Seconds: b.busiest.Seconds,
		Source: fmt.Sprintf("%s of %s on %d SMs", b.busiest.Resource, counted(b.sp.ctas, "CTA"), b.p.SMs)})
}

// add notes a resource: its best time, and the time that the prediction takes.
func (b *modeller) add(resource string, best, predicted float64, source string) {
	if !(best > 0) {
		return
	}
	x := Bound{Resource: resource, Seconds: best, Source: source, About: resource == ResourceLatency || resource == ResourceAtomics}
	if resource == ResourceDRAM || resource == ResourceL2 {
		x.reached = predicted
	}
	b.m.bounds = append(b.m.bounds, x)
	if predicted > b.t {
		b.t, b.m.slowest = predicted, resource
	}
}

// addCycles notes work in cycles of one SM, summed over the launch.
func (b *modeller) addCycles(resource string, cycles float64, source string) {
	even := cycles / float64(b.p.SMs)
	b.add(resource, even/b.p.BoostHz, even*b.sp.imbalance/b.p.ModelHz, source)
	b.onOneSM(resource, even*b.sp.imbalance/b.p.BoostHz)
}

// model computes the bounds of a launch: of its counts, or without counts those of the kernel's formulas and the launch.
func (l *Launch) model(p *Profile, s scaling) model {
	b := &modeller{l: l, p: p, sp: l.spread(p), s: s}
	b.trafficBounds()
	if l.Counted {
		b.instructionBounds()
	}
	b.pipeBounds()
	if l.Simulated.Done() {
		b.machineBounds()
	}
	if l.Counted || l.Simulated.Done() {
		t, source := l.contention(p, s)
		b.add(ResourceAtomics, t*p.ModelHz/p.BoostHz, t, source)
	}
	b.add(ResourceLaunch, p.LaunchSeconds, 0, "a launch, fitted")
	b.smallGridBound()
	sort.SliceStable(b.m.bounds, func(i, j int) bool { return b.m.bounds[i].Seconds > b.m.bounds[j].Seconds })
	b.m.winner = l.winners(b.m.bounds)
	if l.Occupancy.CTAsPerSM > 0 || !l.Occupancy.Known() {
		b.m.seconds = p.LaunchSeconds + b.t
		if l.Simulated.Done() && l.Simulated.Seconds >= b.t {
			b.m.simulated, b.m.seconds = true, p.LaunchSeconds+l.Simulated.Seconds
		}
		b.m.winner = l.limiting(&b.m)
	}
	return b.m
}

func (b *modeller) trafficBounds() {
	l, p := b.l, b.p
	if traffic := l.Traffic(); traffic.Known() {
		t := traffic.Value / p.DRAMBytesPerSecond
		c := &l.Counts.Cache
		written := float64(c.DRAMWriteSectors) / float64(max(c.DRAMReadSectors+c.DRAMWriteSectors, 1))
		b.add(ResourceDRAM, t, t/p.Reach(written), Format(traffic.Value, "B")+" at "+Format(p.DRAMBytesPerSecond, "B/s"))
		if n := len(b.m.bounds); n > 0 && l.sharingUnknown() {
			b.m.bounds[n-1].About = true
			b.m.bounds[n-1].Source += ", less where CTAs share data"
		}
	}
	if l.L2Bytes.Known() {
		busiest := l.L2Bytes.Value / b.sp.ctas * b.sp.perSM / (l2ReachBytes * p.ModelHz)
		port := l2PortBytes * float64(p.SMs) * p.BoostHz
		b.add(ResourceL2, l.L2Bytes.Value/port, max(busiest, l.L2Bytes.Value/p.L2BytesPerSecond),
			Format(l.L2Bytes.Value, "B")+" at "+Format(port, "B/s")+", the ports of all SMs")
		b.onOneSM(ResourceL2, l.L2Bytes.Value/port*b.sp.imbalance)
	}
}

func (b *modeller) instructionBounds() {
	l, c := b.l, &b.l.Counts
	b.addCycles(ResourceShared, l.SharedWavefronts.Value, FormatCount(l.SharedWavefronts.Value)+" wavefronts, one a cycle and SM")
	if l.Simulated.Done() {
		return // the machine code's bounds say the rest
	}
	issued := float64(c.WarpInstructions-min(c.Instructions[ClassMove], c.WarpInstructions)) * b.s.factor
	b.addCycles(ResourceIssue, issued/SubPartitions, FormatCount(issued)+" instructions without moves, four a cycle and SM")
	sfu := float64(c.Instructions[ClassSFU]) * b.s.factor * WarpSize
	perCycle := b.p.Limits().SpecialPerSMCycle
	b.addCycles(ResourceSFU, sfu/perCycle, FormatCount(sfu)+" at "+Trimmed(perCycle)+" a cycle and SM")
	t := l.latency(b.p, b.sp, issued)
	b.add(ResourceLatency, t, t, "one CTA alone × waves")
}

// pipeBounds are FLOPs over the datasheet's roof of each pipe; for the tensor cores over what mma.sync reaches of it, since
// no CUDA kernel made of mma.sync can do better; wgmma reaches the roof.
func (b *modeller) pipeBounds() {
	l, p := b.l, b.p
	flops := l.FLOPs
	if !l.Counted && l.TotalFLOPs.Known() {
		flops[FLOPF32] = l.TotalFLOPs
	}
	for _, t := range []FLOPType{FLOPTensor, FLOPF32, FLOPF16, FLOPF64} {
		f := flops[t]
		if !f.Known() || f.Value == 0 {
			continue
		}
		roof := p.Roof(t).FLOPs
		source := Format(f.Value, "FLOP") + " at " + Format(roof, "FLOP/s")
		if reach := p.MMAFLOPs(); t == FLOPTensor && reach < 0.99*roof && !(l.Simulated.Done() && l.Simulated.Wgmma) {
			source = Format(f.Value, "FLOP") + " at " + Format(reach, "FLOP/s") + ", what mma.sync reaches of " + Format(roof, "FLOP/s")
			roof = reach
		}
		clock := p.BoostHz / p.ModelHz
		if t == FLOPTensor {
			clock = 1
		}
		b.add(t.String(), f.Value/roof, f.Value/roof*clock*b.sp.imbalance, source)
		b.onOneSM(t.String(), f.Value/roof*b.sp.imbalance)
	}
}

// MMAFLOPs is what mma.sync reaches of the tensor roof, in FLOP/s, never above the roof.
func (p *Profile) MMAFLOPs() float64 {
	return min(p.TensorFLOPs, 2*p.TensorMACsPerSMCycle*float64(p.SMs)*p.ModelHz)
}

// winners names what limits: the largest bound, or two within 10 % of each other joined by " and ", never the launch with
// another, because their times add up. Issue slots that are
// mostly arithmetic count as arithmetic; and a pipe never beats DRAM left of the ridge that cards draw (mma.sync reaches
// less than the roof that the ridge belongs to): there the two are balanced.
func (l *Launch) winners(bounds []Bound) string {
	if len(bounds) == 0 {
		return ""
	}
	b := append([]Bound(nil), bounds...)
	if b[0].Resource == ResourceIssue {
		for i := 1; i < len(b); i++ {
			if boundWords[b[i].Resource].kind == computeBound && b[i].Seconds >= arithmeticShare*b[0].Seconds {
				b[0] = b[i]
				b = append(b[:i], b[i+1:]...)
				break
			}
		}
	}
	if shared := secondsOf(bounds, ResourceShared); b[0].Resource == ResourceLSU && shared >= arithmeticShare*b[0].Seconds {
		for i := range b { // the load/store unit is busy with wavefronts
			if b[i].Resource == ResourceShared {
				b[0], b[i] = b[i], b[0]
			}
		}
	}
	if l.Simulated.Done() && b[0].Resource == ResourceLatency { // which is an estimate of its own: it must stand out
		for i := 1; i < len(b); i++ {
			if near := b[i].Seconds >= b[0].Seconds*(1-balancedWithin); near && b[i].Resource != ResourceLaunch && b[i].Resource != ResourceTail {
				b[0], b[i] = b[i], b[0]
				break
			}
		}
	}
	top := b[0].Resource
	if boundWords[top].kind == computeBound && l.Intensity.Known() && l.Intensity.Value < l.Ridge.Value && l.hasBound(bounds, ResourceDRAM) {
		return top + " and " + ResourceDRAM
	}
	for _, x := range b[1:] {
		if x.Resource == ResourceLaunch || x.Resource == ResourceTail || x.Resource == ResourceLSU && top == ResourceShared ||
			x.Resource == ResourceLatency && l.Simulated.Done() {
			continue // they come before or behind the work, or say the same, not beside it
		}
		if top != ResourceLaunch && x.Seconds >= b[0].Seconds*(1-balancedWithin) {
			return top + " and " + x.Resource
		}
		break
	}
	return top
}

func (l *Launch) hasBound(bounds []Bound, resource string) bool {
	return secondsOf(bounds, resource) > 0
}

// secondsOf is a bound's time, 0 where there is none.
func secondsOf(bounds []Bound, resource string) float64 {
	for _, b := range bounds {
		if b.Resource == resource {
			return b.Seconds
		}
	}
	return 0
}

// latency is the time of one CTA alone, times the waves: its longest chain of dependent loads at the mean latency that
// the modelled caches give, or issuing its own instructions with the few warps that it has.
func (l *Launch) latency(p *Profile, sp spread, issued float64) float64 {
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
