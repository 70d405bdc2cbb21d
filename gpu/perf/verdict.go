package perf

import (
	"fmt"
	"strings"
)

// Tone is what a verdict is about; cards give each a glyph and a colour.
type Tone uint8

const (
	ToneNeutral Tone = iota
	ToneBytes        // bytes are the limit
	ToneFLOPs        // arithmetic or issuing is the limit
	ToneWaiting      // the GPU waits
	ToneGood
	ToneFault
)

// Verdict names what limits a launch.
type Verdict struct {
	Kind     string // "Memory-bound", "Compute-bound", "Launch-bound", "Balanced", …
	Headline string // "Memory-bound: DRAM allows 7.00 µs at best"
	Tone     Tone
	Share    float64 // 0 to 1: of the roof, or of the sectors that are not needed; 0 where there is none
	Tag      Tag     // of the number in the headline
}

// String is the headline.
func (v Verdict) String() string { return v.Headline }

// wastefulShare is the share of excessive sectors from which a memory-bound launch is called wasteful.
const wastefulShare = 0.30

// neitherRoof is the share of a roof below which, for every roof, a measured launch is limited by latency.
const neitherRoof = 0.60

const computeBound = "Compute-bound"

// boundWords is how each resource's verdict reads.
var boundWords = map[string]struct {
	kind, subject string
	tone          Tone
}{
	ResourceDRAM:    {"Memory-bound", "DRAM allows", ToneBytes},
	ResourceL2:      {"L2-bound", "L2 allows", ToneBytes},
	ResourceShared:  {"Shared-memory-bound", "shared memory allows", ToneBytes},
	ResourceIssue:   {"Issue-bound", "the schedulers allow", ToneFLOPs},
	ResourceFP32:    {computeBound, "the FP32 roof allows", ToneFLOPs},
	ResourceFP16:    {computeBound, "the FP16 roof allows", ToneFLOPs},
	ResourceFP64:    {computeBound, "the FP64 roof allows", ToneFLOPs},
	ResourceTensor:  {computeBound, "the tensor cores allow", ToneFLOPs},
	ResourceSFU:     {computeBound, "the special function units allow", ToneFLOPs},
	ResourceInteger: {"Integer-bound", "the integer pipes allow", ToneFLOPs},
	ResourceLSU:     {"Load/store-bound", "the load/store units allow", ToneBytes},
	ResourceLatency: {"Latency-bound", "", ToneWaiting},
	ResourceGrid:    {"Latency-bound", "", ToneWaiting},
	ResourceLaunch:  {"Launch-bound", "", ToneWaiting},
	ResourceAtomics: {"Contention-bound", "", ToneWaiting},
}

// Verdict says what limits the launch: the largest bound, two within 10 % as balanced; where the time was measured, the
// share of the roof that it reached. A modelled rate is never given as achieved.
func (l *Launch) Verdict() Verdict {
	switch {
	case l.Occupancy.Known() && l.Occupancy.CTAsPerSM == 0:
		return Verdict{Kind: "Does not fit", Headline: "Does not fit: not one CTA on an SM, limit: " + l.Occupancy.Limiter, Tone: ToneFault, Tag: Formula}
	case len(l.Bounds) == 0:
		return Verdict{Kind: "Unknown", Headline: "Unknown: " + l.Duration.Number(), Tone: ToneNeutral}
	case l.Duration.Tag == Measured:
		return l.measuredVerdict()
	}
	top := l.Limit()
	words := boundWords[top.Resource]
	if share, tag := l.ExcessShare(); l.wasteful(top.Resource, share) {
		return Verdict{
			Kind: words.kind + ", wasteful", Tone: words.tone, Share: share, Tag: tag,
			Headline: words.kind + ", wasteful: " + WholePercent(100*share) + " of the sectors are not needed",
		}
	}
	if strings.Contains(l.Bound, " and ") {
		return Verdict{Kind: "Balanced", Headline: "Balanced: " + l.Bound, Tone: words.tone, Tag: Modelled}
	}
	v := Verdict{Kind: words.kind, Tone: words.tone, Tag: Modelled}
	if headline, share := l.limitHeadline(words.kind, top); headline != "" {
		v.Headline, v.Share = headline, share
		return v
	}
	switch top.Resource {
	case ResourceLaunch:
		whole := max(l.modelled(), top.Seconds)
		v.Headline, v.Share = words.kind+": "+Of(top.Seconds, whole, "s"), top.Seconds/whole
	case ResourceAtomics:
		v.Headline = fmt.Sprintf("%s: %s updates of one place take about %s", words.kind, FormatCount(float64(max(l.Counts.Hottest.Updates, l.Counts.Hottest.Compares))), Format(top.Seconds, "s"))
	case ResourceGrid:
		v.Headline = fmt.Sprintf("%s: %s %s work, for %s at best", words.kind, l.working(), plural(l.Shape.CTAs(), "has", "have"), Format(top.Seconds, "s"))
	case ResourceLatency:
		v.Headline = words.kind + ": one CTA at a time takes " + Format(top.Seconds, "s")
	default:
		v.Headline = fmt.Sprintf("%s: %s %s at best", words.kind, words.subject, Format(top.Seconds, "s"))
		if top.About {
			v.Headline = fmt.Sprintf("%s: %s about %s", words.kind, words.subject, Format(top.Seconds, "s"))
		}
	}
	return v
}

// modelled is the time of the model, which of bounds alone is the low end of the range.
func (l *Launch) modelled() float64 {
	if l.Simulated.Done() {
		return l.Duration.Value
	}
	return l.Duration.Low
}

// Limit is the bound that the verdict names first, zero where there is none.
func (l *Launch) Limit() Bound {
	name, _, _ := strings.Cut(l.Bound, " and ")
	for _, b := range l.Bounds {
		if b.Resource == name {
			return b
		}
	}
	return Bound{}
}

// wasteful: the excess must reach the resource that limits. L1 may hide it from DRAM; then the verdict does not blame it.
func (l *Launch) wasteful(resource string, share float64) bool {
	if !(share >= wastefulShare) {
		return false
	}
	switch resource {
	case ResourceDRAM:
		return l.Refetch() >= 1.25
	case ResourceL2:
		return true
	}
	return false
}

// Refetch is DRAM traffic over the least that the lanes' bytes need; 0 where one of them is unknown.
func (l *Launch) Refetch() float64 {
	if !l.DRAMBytes.Known() || !l.IdealBytes.Known() || !(l.IdealBytes.Value > 0) {
		return 0
	}
	return l.DRAMBytes.Value / l.IdealBytes.Value
}

// fromL2Below is the share of the least traffic below which DRAM's roof says nothing of a launch: L2 held the rest.
const fromL2Below = 0.5

// FromL2 tells whether most of what the launch had to read came from an L2 that an earlier launch had filled.
func (l *Launch) FromL2() bool {
	r := l.Refetch()
	return !l.Cold && l.DRAMBytes.Known() && l.IdealBytes.Known() && l.IdealBytes.Value > 0 && r < fromL2Below
}

// LeastDRAM tells whether the DRAM bytes are the least that they can be: a sample has too few CTAs side by side to show how
// often data that many of them share leaves an L2 that is smaller than the working set.
func (l *Launch) LeastDRAM() bool {
	return l.Sampled > 1 && l.Profile != nil && l.DRAMBytes.Known() && l.IdealBytes.Tag == Formula &&
		l.IdealBytes.Value > float64(l.Profile.L2Bytes) && l.L2Bytes.Value > 1.25*l.DRAMBytes.Value
}

// sharingUnknown tells whether the DRAM bytes of a sample are only known to lie between two ends: without the kernel's formula nobody
// knows how much of what the sample's CTAs read the others would find in L2.
func (l *Launch) sharingUnknown() bool {
	return l.Sampled > 1 && l.DRAMBytes.High > l.DRAMBytes.Low && l.MinimumBytes <= 0 && l.OwnBytes <= 0
}

// leastShared is the share of the predicted time that is left where the CTAs of the whole grid share all that they may: what DRAM
// then takes, or the next bound.
func (l *Launch) leastShared(m *model) float64 {
	dram, other := 0.0, 0.0
	for _, b := range m.bounds {
		switch b.Resource {
		case ResourceDRAM:
			dram = b.reached * l.DRAMBytes.Low / l.DRAMBytes.High
		case ResourceLaunch, ResourceLatency, ResourceTail:
		default:
			other = max(other, b.Seconds, b.reached)
		}
	}
	return min((l.Profile.LaunchSeconds+max(dram, other))/m.seconds, 1)
}

// ExcessShare is the share of global sectors beyond the ideal, 0 to 1. With counts by line, lines that need fewer than
// the ideal (broadcasts) do not make up for those that need more.
func (l *Launch) ExcessShare() (share float64, tag Tag) {
	if !l.Sectors.Known() || !(l.Sectors.Value > 0) {
		return 0, ""
	}
	var excess, all uint64
	for i := range l.PerLine {
		g := &l.PerLine[i].Global
		all += g.Sectors
		excess += g.Sectors - min(g.IdealSectors, g.Sectors)
	}
	if all > 0 {
		return float64(excess) / float64(all), l.Sectors.Tag
	}
	return max(0, l.Sectors.Value-l.IdealSectors.Value) / l.Sectors.Value, l.Sectors.Tag
}

// Roofs is what share of the DRAM roof and of the pipe's roof a measured launch reached, 0 to 1.
func (l *Launch) Roofs() (dram, pipe float64, pipeName string) {
	roof := Roof{Name: "FP32"}
	if l.Profile != nil {
		roof = l.Profile.Roof(l.Pipe())
	}
	if l.Profile == nil || !(l.Duration.Value > 0) {
		return 0, 0, roof.Name
	}
	if t := l.Traffic(); t.Known() {
		dram = t.Value / l.Duration.Value / l.Profile.DRAMBytesPerSecond
	}
	if l.TotalFLOPs.Known() {
		pipe = l.TotalFLOPs.Value / l.Duration.Value / roof.FLOPs
	}
	return dram, pipe, roof.Name
}

// measuredVerdict follows facts/measurement: both roofs under 60 % is latency, or a grid too small; otherwise a difference
// of 10 points names the larger. Above 100 % of DRAM the bytes came from L2 and no roof is claimed.
func (l *Launch) measuredVerdict() Verdict {
	dram, pipe, name := l.Roofs()
	launch := 0.0
	if l.Profile != nil {
		launch = l.Profile.LaunchSeconds
	}
	v := Verdict{Tag: Measured}
	switch {
	case dram == 0 && pipe == 0:
		v.Kind, v.Tone = "Measured", ToneNeutral
		v.Headline = "Measured: " + l.Duration.Number() + ", no bytes or FLOPs known to compare with a roof"
	case dram > 1:
		v.Kind, v.Tone = "Working set fits L2", ToneBytes
		v.Headline = "Working set fits L2: faster than DRAM could deliver"
	case max(dram, pipe) < neitherRoof && launch >= l.Duration.Value/2:
		v.Kind, v.Tone, v.Share = "Launch-bound", ToneWaiting, launch/l.Duration.Value
		v.Headline = "Launch-bound: " + Of(launch, l.Duration.Value, "s")
	case max(dram, pipe) < neitherRoof && l.gridTooSmall():
		v.Kind, v.Tone, v.Share = "Latency-bound", ToneWaiting, max(dram, pipe)
		v.Headline = fmt.Sprintf("Latency-bound: %s %s work; %s of DRAM, %s of %s", l.working(), plural(l.Shape.CTAs(), "has", "have"),
			WholePercent(100*dram), WholePercent(100*pipe), name)
	case max(dram, pipe) < neitherRoof:
		v.Kind, v.Tone, v.Share = "Latency-bound", ToneWaiting, max(dram, pipe)
		v.Headline = fmt.Sprintf("Latency-bound: %s of DRAM, %s of %s", WholePercent(100*dram), WholePercent(100*pipe), name)
	case dram-pipe >= 0.10:
		v.Kind, v.Tone, v.Share = "Memory-bound", ToneBytes, dram
		v.Headline = "Memory-bound: " + WholePercent(100*dram) + " of the DRAM roof"
	case pipe-dram >= 0.10:
		v.Kind, v.Tone, v.Share = "Compute-bound", ToneFLOPs, pipe
		v.Headline = "Compute-bound: " + WholePercent(100*pipe) + " of the " + name + " roof"
	default:
		v.Kind, v.Tone, v.Share = "Balanced", ToneBytes, max(dram, pipe)
		v.Headline = fmt.Sprintf("Balanced: %s of DRAM, %s of %s", WholePercent(100*dram), WholePercent(100*pipe), name)
	}
	return v
}

// starvingBelow is the busy share of the wall time below which a cell is said to starve the GPU.
const starvingBelow = 0.80

// Verdict says what limits several launches together: the one launch's own verdict, the host where the GPU idles, else the
// bound that holds for most of the time.
func (t *Total) Verdict() Verdict {
	switch {
	case t.Launches == 0:
		return Verdict{Kind: "Nothing launched", Headline: "Nothing launched", Tone: ToneNeutral}
	case t.Launches == 1:
		return t.all[0].Verdict()
	case t.Wall.Known() && t.Wall.Value > 0 && t.Duration.Known() && t.Duration.Value < starvingBelow*t.Wall.Value:
		idle := 1 - t.Duration.Value/t.Wall.Value
		return Verdict{Kind: "Starving", Headline: "Starving: the GPU idles " + WholePercent(100*idle) + " of the step", Tone: ToneWaiting, Share: idle, Tag: t.Wall.Tag}
	}
	kinds := map[string]float64{}
	first := map[string]*Launch{}
	var order []string
	for _, l := range t.all {
		v := l.Verdict()
		if first[v.Kind] == nil {
			first[v.Kind], order = l, append(order, v.Kind)
		}
		kinds[v.Kind] += l.Duration.Value
	}
	best := order[0]
	for _, k := range order {
		if kinds[k] > kinds[best] {
			best = k
		}
	}
	v := Verdict{Kind: best, Tone: first[best].Verdict().Tone, Tag: t.Duration.Tag}
	if len(order) == 1 {
		v.Share = 1
		v.Headline = fmt.Sprintf("%s: all %s launches", best, FormatCount(float64(t.Launches)))
		return v
	}
	if t.Duration.Value > 0 {
		v.Share = kinds[best] / t.Duration.Value
	}
	v.Headline = best + ": " + WholePercent(100*v.Share) + " of the time"
	return v
}
