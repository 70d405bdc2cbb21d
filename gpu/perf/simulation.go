package perf

// MachineCycles are cycles in which each pipe of the busiest SM has work, for machine code made from the PTX.
type MachineCycles struct {
	Issue, FP32, Integer, SFU, FP64, FP16, Tensor, LSU float64
}

// Simulation is what the cycle simulation of one SM says of a launch, without the launch's own overhead. A launch that was
// not simulated says why.
type Simulation struct {
	Seconds    float64
	Cycles     float64 // of the busiest SM
	Alone      float64 // cycles of one CTA that has an SM to itself
	LongestCTA float64 // and of the CTA that executes the most; 0 where all are alike
	Tail       float64 // seconds that it costs that the busiest SM has more to do than the mean one
	// Contention is the seconds that L2 works for the line or the address that atomics want most.
	Contention float64
	Waits      [NumWaits]float64 // shares of the schedulers' cycles in which no warp could go on, 0 to 1, by what was waited for
	Traced     int               // CTAs that were simulated
	Cut        bool              // their traces were cut, and extended at the steady rate
	Machine    MachineCycles
	Partial    float64 // share of the stored sectors that were filled in part, 0 to 1
	Wgmma      bool    // the tensor cores worked for wgmma, which reaches more than mma.sync
	// LocalBeyondL2 is the share of the local memory beyond L1 that L2 has no room for, 0 to 1; counts of L2's and DRAM's bytes are of
	// global memory alone.
	LocalBeyondL2 float64
	Why           string // there is none
}

// Done tells whether there is a prediction.
func (s *Simulation) Done() bool { return s != nil && s.Why == "" && s.Cycles > 0 }

// Scale changes the prediction to that of f times the work.
func (s *Simulation) Scale(f float64) {
	for _, x := range []*float64{&s.Seconds, &s.Cycles, &s.Alone, &s.LongestCTA, &s.Tail, &s.Contention, &s.Machine.Issue, &s.Machine.FP32, &s.Machine.Integer, &s.Machine.SFU, &s.Machine.FP64,
		&s.Machine.FP16, &s.Machine.Tensor, &s.Machine.LSU} {
		*x *= f
	}
}

// Range of a simulated time, as shares of the prediction: it held 80 % of published times that fitted nothing (facts:
// time-model). Stores that fill sectors in part, where they take much of the time, and CTAs of one warp are predicted less well;
// the launch itself is not.
const (
	simulatedLow, simulatedHigh = 0.8, 1.3
	wideLow, wideHigh           = 0.5, 2.0
	partialStores               = 0.25 // share of the moved sectors, and of the time, that partial stores are, from which the range is wide
)

// simulatedRange is the range of a simulated time, and why it is wide.
func (l *Launch) simulatedRange() (low, high float64, why string) {
	switch {
	case l.Simulated.Partial*l.storedShare() >= partialStores && l.partialSeconds() >= partialStores*l.Simulated.Seconds:
		return wideLow, wideHigh, ", wide: stores fill sectors in part"
	case l.Shape.Threads() <= WarpSize:
		return wideLow, wideHigh, ", wide: one warp a CTA"
	}
	return simulatedLow, simulatedHigh, ""
}

// storedShare is the share of stores in the sectors that a launch asks for in global memory.
func (l *Launch) storedShare() float64 {
	stored := float64(l.Counts.GlobalStore.Sectors)
	return stored / max(1, stored+float64(l.Counts.GlobalLoad.Sectors))
}

// partialSeconds is how long L2 works for the stores that fill sectors in part: it reads such a sector, then writes it.
func (l *Launch) partialSeconds() float64 {
	return 2 * 32 * l.Simulated.Partial * float64(l.Counts.GlobalStore.Sectors) * l.Scale() / l.Profile.L2BytesPerSecond
}

// BoundsAlone says why a prediction rests on the bounds alone; "" where the launch was simulated, or nobody asked for it.
func (l *Launch) BoundsAlone() string {
	if l.Simulated == nil || l.Simulated.Done() {
		return ""
	}
	return l.Simulated.Why
}

// machineBounds are the bounds that need machine code: of the busiest SM, at the clock of the datasheet.
func (b *modeller) machineBounds() {
	m := &b.l.Simulated.Machine
	add := func(resource string, cycles float64, source string) {
		if cycles > 0 {
			b.m.bounds = append(b.m.bounds, Bound{Resource: resource, Seconds: cycles / b.p.BoostHz, Source: source, About: true})
		}
	}
	add(ResourceIssue, m.Issue, "machine code: a scheduler issues one instruction a cycle")
	add(ResourceInteger, m.Integer, "machine code: the integer pipe of each quarter of an SM")
	add(ResourceLSU, m.LSU, "machine code: wavefronts, lines and instructions, one load/store unit an SM")
	add(ResourceSFU, m.SFU, "machine code: the special function unit of each quarter of an SM")
	alone, longest := b.l.Simulated.Alone*b.sp.waves, b.l.Simulated.LongestCTA
	switch {
	case longest > 0: // others of the SM end before it, or take the slots that are free
		add(ResourceLatency, longest*b.p.BoostHz/b.p.ModelHz, "the longest CTA alone, simulated")
	case alone > 0:
		add(ResourceLatency, alone*b.p.BoostHz/b.p.ModelHz, "one CTA alone, simulated, × waves")
	}
	if b.l.Simulated.Tail > 0 {
		b.m.bounds = append(b.m.bounds, Bound{Resource: ResourceTail, Seconds: b.l.Simulated.Tail, Source: "what the partial last wave adds", About: true})
	}
}
