package perf

import (
	"fmt"
	"time"
)

// scaling is how the counts of a sampled launch become those of the whole launch.
type scaling struct {
	factor float64 // CTAs of the grid ÷ CTAs executed
	note   string  // appended to every source; empty when all CTAs ran
	k      int
}

func scalingOf(o *Observation) scaling {
	total := float64(gridCTAs(o.Shape.Grid))
	ran := float64(o.Executed)
	if ran == 0 {
		ran = float64(o.Counts.CTAs)
	}
	if o.Sampled <= 1 || ran <= 0 || total <= ran {
		return scaling{factor: 1, k: max(o.Sampled, 1)}
	}
	return scaling{
		factor: total / ran, k: o.Sampled,
		note: fmt.Sprintf(", scaled from %s of %s CTAs", FormatCount(ran), FormatCount(total)),
	}
}

func gridCTAs(g [3]uint32) uint64 {
	return uint64(max(g[0], 1)) * uint64(max(g[1], 1)) * uint64(max(g[2], 1))
}

// Threads of a CTA.
func (s Shape) Threads() int { return int(max(s.CTA[0], 1) * max(s.CTA[1], 1) * max(s.CTA[2], 1)) }

// CTAs of the grid.
func (s Shape) CTAs() uint64 { return gridCTAs(s.Grid) }

// Evaluate turns what a device observed into figures, each with unit, tag and source. On the virtual GPU counts are
// EXECUTED, cache and DRAM traffic MODELLED and the duration MODELLED with its range; on a real GPU the duration is
// MEASURED. Counts of a sampled launch are scaled and say so. Without a profile every figure that needs roofs or limits is
// absent and says so.
func Evaluate(o Observation, p *Profile) *Launch {
	if p == nil {
		return withoutProfile(o)
	}
	l := &Launch{Observation: o, Profile: p}
	s := scalingOf(&o)
	l.launchFigures(p)
	if o.Counted {
		l.countFigures(s)
		l.trafficFigures(s)
	} else {
		l.absentFigures()
	}
	l.intensityFigures(p)
	l.PerLine = o.Lines
	m := l.model(p, s)
	l.Bounds = m.bounds
	l.Bound = m.winner
	l.durationFigure(m)
	return l
}

func withoutProfile(o Observation) *Launch {
	const why = "the device has no profile"
	l := &Launch{Observation: o, PerLine: o.Lines}
	if o.Counted {
		s := scalingOf(&o)
		l.countFigures(s)
		l.trafficFigures(s)
	} else {
		l.absentFigures()
	}
	l.RegistersPerThread = Figure{Value: float64(o.Registers), Tag: Formula, Source: "cubin of this architecture"}
	l.Occupancy.Figure, l.Waves, l.SharedBytes = Absent("%", why), Absent("", why), Absent("B", why)
	l.Ridge, l.Intensity = Absent("FLOP/B", why), Absent("FLOP/B", why)
	l.durationFigure(model{})
	return l
}

// launchFigures are those that follow from the configuration alone.
func (l *Launch) launchFigures(p *Profile) {
	o := &l.Observation
	lim := p.Limits()
	occ, err := OccupancyOf(lim, o.Shape.Threads(), o.Registers, o.StaticShared, o.Shape.DynamicShared)
	if err != nil {
		occ = Occupancy{Figure: Absent("%", err.Error())}
	}
	l.RegistersPerThread = Figure{Value: float64(o.Registers), Tag: Formula, Source: "cubin of this architecture"}
	if o.Estimated {
		l.RegistersPerThread.Low, l.RegistersPerThread.High = float64(o.RegistersLow), float64(o.RegistersHigh)
		l.RegistersPerThread.Tag = Modelled
		l.RegistersPerThread.Source = "estimated by liveness; no cubin"
		if occ.Known() {
			occ.Tag = Modelled
			occ.Source += "; registers estimated"
			l.occupancyRange(&occ, lim)
		}
	}
	l.Occupancy = occ
	l.SharedBytes = Figure{Value: float64(o.StaticShared + o.Shape.DynamicShared), Unit: "B", Tag: Formula, Source: "static + dynamic, a CTA"}
	if occ.CTAsPerSM > 0 {
		l.Waves = Figure{
			Value: float64(o.Shape.CTAs()) / float64(occ.CTAsPerSM*p.SMs), Tag: Formula,
			Source: fmt.Sprintf("CTAs ÷ (%d a SM × %d SMs)", occ.CTAsPerSM, p.SMs),
		}
	} else {
		l.Waves = Absent("", "the launch does not fit on an SM")
	}
}

// occupancyRange gives the occupancy at both ends of an estimated register count.
func (l *Launch) occupancyRange(occ *Occupancy, lim *Limits) {
	o := &l.Observation
	if o.RegistersHigh <= 0 || o.RegistersHigh == o.RegistersLow {
		return
	}
	low, err1 := OccupancyOf(lim, o.Shape.Threads(), min(o.RegistersHigh, MaxRegisters), o.StaticShared, o.Shape.DynamicShared)
	high, err2 := OccupancyOf(lim, o.Shape.Threads(), max(o.RegistersLow, 0), o.StaticShared, o.Shape.DynamicShared)
	if err1 == nil && err2 == nil && low.Value != high.Value {
		occ.Low, occ.High = low.Value, high.Value
	}
}

// countFigures are what the virtual GPU counted while it ran the PTX.
func (l *Launch) countFigures(s scaling) {
	c := &l.Counts
	count := func(v uint64, unit, source string) Figure {
		return Figure{Value: float64(v) * s.factor, Unit: unit, Tag: Executed, Source: source + s.note}
	}
	var flops uint64
	for t := range c.FLOPs {
		l.FLOPs[t] = count(c.FLOPs[t], "FLOP", flopSource[t])
		flops += c.FLOPs[t]
	}
	l.TotalFLOPs = count(flops, "FLOP", "sum over types; an FMA is two")
	for k := range c.Instructions {
		l.Instructions[k] = count(c.Instructions[k], "", classSource[k])
	}
	g := globalAccess(c)
	l.Requests = count(g.Requests, "", "global loads, stores and atomics of a warp")
	l.Sectors = count(g.Sectors, "", "32-byte sectors of those requests")
	l.IdealSectors = count(g.IdealSectors, "", "⌈active lanes × width / 32⌉ of those requests")
	wave := c.SharedLoad.Wavefronts + c.SharedStore.Wavefronts + c.SharedAtomic.Wavefronts
	ideal := c.SharedLoad.IdealWavefronts + c.SharedStore.IdealWavefronts + c.SharedAtomic.IdealWavefronts
	l.SharedWavefronts = count(wave, "", "shared-memory wavefronts")
	l.BankConflicts = count(wave-min(ideal, wave), "", "wavefronts beyond the ideal")
	l.WarpInstructions = count(c.WarpInstructions, "", "PTX instructions issued once a warp")
	l.DivergentBranches = count(c.DivergentBranches, "", "branches where the lanes of a warp part")
	l.Barriers = count(c.Barriers, "", "warps arriving at a barrier")
}

var classSource = func() (s [NumClasses]string) {
	for k := range s {
		s[k] = "warp instructions, " + Class(k).String()
	}
	return s
}()

var flopSource = [NumFLOPTypes]string{
	"scalar f32 instructions", "f16 and bf16 instructions", "f64 instructions", "mma: 2·M·N·K", "transcendentals, one each",
}

func globalAccess(c *Counts) Access {
	var a Access
	for _, x := range []*Access{&c.GlobalLoad, &c.GlobalStore, &c.GlobalAtomic} {
		a.Add(*x)
	}
	return a
}

// trafficFigures are the bytes between the caches. The cache model's are MODELLED; the distinct sectors, the least that any
// cache could move, are EXECUTED.
func (l *Launch) trafficFigures(s scaling) {
	c := &l.Counts.Cache
	const sector = 32
	dram := float64(c.DRAMReadSectors+c.DRAMWriteSectors) * sector
	distinct := float64(c.DistinctRead+c.DistinctWritten) * sector
	l.DRAMBytes = Figure{Value: dram, Unit: "B", Tag: Modelled, Source: "sectors that missed the modelled L2, and write-backs"}
	l.MinBytes = Figure{Value: distinct, Unit: "B", Tag: Executed, Source: "distinct sectors touched: the least any cache could move"}
	if s.factor > 1 {
		l.sampledTraffic(s, dram, distinct)
	}
	l.L2Bytes = Figure{Value: float64(c.L2Lookups) * sector * s.factor, Unit: "B", Tag: Modelled, Source: "sectors that missed the modelled L1" + s.note}
	l.L1Hit = rate(c.L1Hits, c.L1Lookups, "modelled L1 of each SM"+s.note)
	l.L2Hit = rate(c.L2Hits, c.L2Lookups, "modelled sectored L2, writes count as hits"+s.note)
	l.IdealBytes = l.asked(s)
	if l.MinimumBytes > 0 || l.OwnBytes > 0 {
		l.IdealBytes = Figure{Value: l.MinimumBytes, Unit: "B", Tag: Formula, Source: "each operand once, by the kernel's formula"}
	}
}

// asked is the least that the lanes' own bytes need: each sector that they touch once, and of it no more than they asked for, so
// that lanes which use 4 bytes of each sector show. The sums cannot tell bytes that several lanes share, so it is at most too large.
func (l *Launch) asked(s scaling) Figure {
	const sector = 32
	c := &l.Counts
	read := min(c.Cache.DistinctRead*sector, c.GlobalLoad.Bytes+c.GlobalAtomic.Bytes)
	written := min(c.Cache.DistinctWritten*sector, c.GlobalStore.Bytes+c.GlobalAtomic.Bytes)
	f := l.MinBytes
	if distinct := (c.Cache.DistinctRead + c.Cache.DistinctWritten) * sector; distinct > 0 && read+written > 0 && read+written < distinct {
		share := float64(read+written) / float64(distinct)
		f.Value, f.Low, f.High = f.Value*share, f.Low*share, f.High*share
		f.Source = "bytes that lanes asked for" + s.note
	}
	return f
}

// sampledTraffic scales DRAM traffic. Data that belongs to one CTA scales with the CTAs, data that all share does not, so
// where the kernel's formula is known the sample's re-fetch ratio is applied to that; otherwise scaling gives an upper
// bound, and the figure carries both ends.
func (l *Launch) sampledTraffic(s scaling, dram, distinct float64) {
	least := l.MinimumBytes
	if l.OwnBytes > 0 {
		least = l.OwnBytes
	}
	if least > 0 && distinct > 0 {
		refetch := dram / distinct
		l.DRAMBytes.Value = min(max(least*refetch, dram), dram*s.factor)
		l.DRAMBytes.Source = fmt.Sprintf("the kernel's formula × %s, the sample's re-fetch ratio in the modelled L2", Trimmed(refetch))
		l.MinBytes.Value = min(max(least, distinct), distinct*s.factor)
		l.MinBytes.Tag = Formula
		l.MinBytes.Source = "the kernel's formula; the sample touched " + Format(distinct, "B")
		return
	}
	for _, f := range []*Figure{&l.DRAMBytes, &l.MinBytes} {
		f.Low, f.High = f.Value, f.Value*s.factor
		f.Value = f.High
		f.Source += s.note + "; less where CTAs share data"
	}
}

func rate(hits, lookups uint64, source string) Figure {
	if lookups == 0 {
		return Absent("%", "no access reached this cache")
	}
	return Figure{Value: 100 * float64(hits) / float64(lookups), Unit: "%", Tag: Modelled, Source: source}
}

// absentFigures says why a real GPU without counters has none, and fills in what the kernel's formulas give.
func (l *Launch) absentFigures() {
	const why = "needs hardware counters, or the virtual GPU"
	for _, f := range []*Figure{&l.Requests, &l.Sectors, &l.IdealSectors, &l.SharedWavefronts, &l.BankConflicts,
		&l.WarpInstructions, &l.DivergentBranches, &l.Barriers} {
		*f = Absent("", why)
	}
	for k := range l.Instructions {
		l.Instructions[k] = Absent("", why)
	}
	for t := range l.FLOPs {
		l.FLOPs[t] = Absent("FLOP", why)
	}
	for _, f := range []*Figure{&l.L1Hit, &l.L2Hit} {
		*f = Absent("%", why)
	}
	l.L2Bytes, l.DRAMBytes, l.MinBytes = Absent("B", why), Absent("B", why), Absent("B", why)
	l.IdealBytes, l.TotalFLOPs = Absent("B", "the kernel has no formula"), Absent("FLOP", "the kernel has no formula")
	if l.MinimumBytes > 0 || l.OwnBytes > 0 {
		l.IdealBytes = Figure{Value: l.MinimumBytes, Unit: "B", Tag: Formula, Source: "each operand once, by the kernel's formula"}
	}
	if l.FormulaFLOPs > 0 || l.OwnBytes > 0 {
		l.TotalFLOPs = Figure{Value: l.FormulaFLOPs, Unit: "FLOP", Tag: Formula, Source: "the kernel's formula"}
	}
}

// Traffic is the DRAM traffic that rooflines use: the modelled or counted bytes, else the kernel's formula.
func (l *Launch) Traffic() Figure {
	if l.DRAMBytes.Known() {
		return l.DRAMBytes
	}
	return l.IdealBytes
}

// Useful is the work that was asked for: the FLOPs of the kernel's formula where it has one, because tiles that reach beyond
// the matrix execute FLOPs that nobody needs; else the FLOPs executed.
func (l *Launch) Useful() Figure {
	if l.FormulaFLOPs > 0 || l.OwnBytes > 0 {
		return Figure{Value: l.FormulaFLOPs, Unit: "FLOP", Tag: Formula, Source: "the kernel's formula"}
	}
	return l.TotalFLOPs
}

// Pipe is the pipe that does most of the floating-point work: tensor where any mma ran and it outweighs the rest.
func (l *Launch) Pipe() FLOPType {
	best := FLOPF32
	for t := FLOPType(0); t < NumFLOPTypes; t++ {
		if l.FLOPs[t].Known() && l.FLOPs[t].Value > l.FLOPs[best].Value {
			best = t
		}
	}
	if best == FLOPSFU {
		return FLOPF32
	}
	return best
}

func (l *Launch) intensityFigures(p *Profile) {
	roof := p.Roof(l.Pipe())
	l.Ridge = Figure{Value: p.Ridge(l.Pipe()), Unit: "FLOP/B", Tag: p.RoofTag(l.Pipe()), Source: roof.Name + " roof ÷ DRAM roof: " + roof.Source}
	traffic, useful := l.Traffic(), l.Useful()
	switch {
	case !traffic.Known() || !useful.Known():
		l.Intensity = Absent("FLOP/B", "needs FLOPs and DRAM bytes")
	case l.FromL2():
		l.Intensity = Absent("FLOP/B", "L2 held the working set: DRAM's roof does not apply")
	case traffic.Value == 0:
		l.Intensity = Absent("FLOP/B", "no DRAM traffic")
	default:
		l.Intensity = Figure{
			Value: useful.Value / traffic.Value, Unit: "FLOP/B", Tag: traffic.Tag,
			Source: fmt.Sprintf("%s FLOP ÷ %s DRAM bytes", useful.Tag, traffic.Tag),
		}
	}
}

// durationFigure is the measured median, or the model's range.
func (l *Launch) durationFigure(m model) {
	l.Predicted = Absent("s", "predictions need exact counts and a profile")
	if m.seconds > 0 && l.Counted {
		l.Predicted = l.figure(m)
	}
	if len(l.Samples) > 0 {
		median, spread := medianOf(l.Samples)
		l.Duration = Figure{Value: median, Unit: "s", Tag: Measured, Source: fmt.Sprintf("CUDA events, median of %d", len(l.Samples))}
		if l.Virtual { // a driver whose events the model moves
			l.Duration.Tag, l.Duration.Source = Modelled, "the model, as events read it, median of "+fmt.Sprint(len(l.Samples))
		}
		if len(l.Samples) > 1 {
			l.Duration.Source += ", ±" + FormatPercent(spread)
		}
		if l.Batch > 1 {
			l.Duration.Source += fmt.Sprintf(", each the mean of %d in a graph", l.Batch)
		}
		if l.Clocks != "" {
			l.Duration.Source += "; " + l.Clocks
		}
		return
	}
	if !l.Virtual {
		l.Duration = Absent("s", "not timed")
		return
	}
	if m.seconds <= 0 {
		why := "the launch does not fit on an SM"
		if l.Profile == nil {
			why = "the device has no profile"
		}
		l.Duration = Absent("s", why)
		return
	}
	l.Duration = l.figure(m)
}

// Spread of measured samples: half the distance between the quartiles in percent of the median, 0 for fewer than two.
func (l *Launch) Spread() float64 {
	if len(l.Samples) < 2 {
		return 0
	}
	_, s := medianOf(l.Samples)
	return s
}

// Scale is what counts are multiplied by: CTAs of the grid ÷ CTAs executed, 1 unless sampled.
func (l *Launch) Scale() float64 { return scalingOf(&l.Observation).factor }

// medianOf returns the median in seconds and half the spread between the quartiles in percent of it.
func medianOf(samples []time.Duration) (median, spreadPercent float64) {
	s := sortedSeconds(samples)
	median = quantile(s, .5)
	if median > 0 {
		spreadPercent = 100 * (quantile(s, .75) - quantile(s, .25)) / 2 / median
	}
	return median, spreadPercent
}
