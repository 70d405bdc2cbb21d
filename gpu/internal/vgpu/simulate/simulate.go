package simulate

import (
	"math"
	"sort"

	"memwall/gpu/perf"
)

// Input is one launch.
type Input struct {
	Profile  *perf.Profile
	Program  *Program
	CTAs     []CTA // that one SM runs, in order: 3·Resident + 1 where there are as many
	Resident int   // CTAs of an SM at once
	Grid     float64
	// Where CTAs differ in what they execute: PTX instructions of the SM that has the most to do, of the mean SM with work, and the
	// CTA that executes the most. Zero, and nil: all are like those of CTAs.
	Busiest, Average float64
	Longest          *CTA
	L1Bytes          int
	// DRAM is, for each PTX instruction, sectors read from DRAM per sector requested, by the replay of the caches; negative
	// where it saw none. Mean is that over all instructions, WriteBack sectors written to DRAM per sector stored.
	DRAM            []float64
	Mean, WriteBack float64
	Local           float64     // share of the sectors of local memory beyond L1 that L2 has no room for
	Written         float64     // share of the DRAM traffic that is writes
	Contention      float64     // cycles that L2 works for the line or address that atomics of the grid want most
	Stop            func() bool // nil: never
}

// active is how many SMs have work.
func (in *Input) active() float64 { return max(min(in.Grid, float64(in.Profile.SMs)), 1) }

func (in *Input) dram(site int) float64 {
	if site < len(in.DRAM) && in.DRAM[site] >= 0 {
		return in.DRAM[site]
	}
	return in.Mean
}

// cutShare is the part of a CTA that its trace holds.
func (in *Input) cutShare(cta int) float64 {
	if c := &in.CTAs[cta]; c.Executed > 0 {
		return min(c.Recorded/c.Executed, 1)
	}
	return 1
}

// Breakdown is what the simulated CTAs did.
type Breakdown struct {
	Issued                                                                          float64 // machine instructions of warps
	ByClass                                                                         [numClasses]float64
	LSU, Wavefronts, Tensor                                                         float64 // cycles of the load/store unit; wavefronts; cycles of tensor cores, all quarters
	L1Sectors, L2Sectors, DRAMSectors, LoadedSectors, StoredSectors, PartialSectors float64
}

// Result is the prediction for the whole launch, without the launch itself.
type Result struct {
	Cycles  float64 // of the busiest SM
	Seconds float64
	Alone   float64 // cycles of one CTA that has an SM to itself
	Longest float64 // and of the one that executes the most; 0 where all are alike
	Local   float64 // Input.Local
	Tail    float64 // of Cycles: what it costs that the busiest SM has more to do than the mean one
	// Contention is the seconds of Input.Contention; they run beside the rest.
	Contention float64
	Waits      [perf.NumWaits]float64 // shares of the schedulers' cycles in which they waited, 0 to 1
	Traced     int                    // CTAs
	Cut        bool                   // the traces were cut and extended at the steady rate
	Breakdown                         // of the busiest SM, extended like Cycles
	Machine    perf.MachineCycles
}

// Run simulates; ok is false when Stop ended it.
func Run(in *Input) (r Result, ok bool) {
	cycles, s, ok := simulateSM(in, in.CTAs, in.Resident)
	if !ok {
		return r, false
	}
	alone, _, ok := simulateSM(in, in.CTAs[:1], 1)
	if !ok {
		return r, false
	}
	r.Longest, ok = in.longest()
	if !ok {
		return r, false
	}
	recorded, executed := 0.0, 0.0
	for i := range in.CTAs {
		recorded += in.CTAs[i].Recorded
		executed += max(in.CTAs[i].Executed, in.CTAs[i].Recorded)
	}
	due, mean := in.due(executed, s)
	r.Cycles = cycles
	scale := 1.0
	if more := due - recorded; more > 0 {
		r.Cycles += max(more*s.rate(cycles, recorded < 0.999*executed), s.lagging())
		scale = due / recorded
	}
	r.Cycles = max(r.Cycles, r.Longest)
	r.Tail = max(0, r.Cycles*(1-mean/due))
	r.Alone = alone * max(in.CTAs[0].Executed, in.CTAs[0].Recorded) / in.CTAs[0].Recorded
	r.Local = in.Local
	r.Traced, r.Cut = len(in.CTAs), recorded < 0.999*executed
	r.Seconds, r.Contention, r.Waits = r.Cycles/in.Profile.ModelHz, in.Contention/in.Profile.ModelHz, s.waited()
	r.Breakdown = s.stats.scaled(scale)
	r.Machine = r.Breakdown.cycles(s.m)
	return r, true
}

// due is how many PTX instructions the busiest SM executes, and the mean one, when those traced do so many; both equal where that
// costs nothing.
func (in *Input) due(executed float64, s *sm) (busiest, mean float64) {
	if in.Busiest > 0 {
		return in.Busiest, min(in.Average, in.Busiest)
	}
	n := float64(len(in.CTAs))
	ctas := in.Grid / float64(in.Profile.SMs)
	whole := math.Ceil(ctas)
	due := whole
	if whole > n { // the last wave: between smooth and whole by how far apart CTAs end
		due = ctas + (whole-ctas)*(1-s.spread())
	}
	if due = max(due, 1); ctas < 1 {
		ctas = due
	}
	return due * executed / n, ctas * executed / n
}

// longest is the cycles of the longest CTA with an SM to itself.
func (in *Input) longest() (cycles float64, ok bool) {
	if in.Longest == nil {
		return 0, true
	}
	cycles, s, ok := simulateSM(in, []CTA{*in.Longest}, 1)
	if more := in.Longest.Executed - in.Longest.Recorded; more > 0 {
		cycles += max(more*s.rate(cycles, true), s.lagging())
	}
	return cycles, ok
}

func simulateSM(in *Input, ctas []CTA, resident int) (float64, *sm, bool) {
	own := *in
	own.CTAs, own.Resident = ctas, resident
	s := newSM(&own)
	cycles, ok := s.run()
	return cycles, s, ok
}

func newSM(in *Input) *sm {
	s := &sm{p: in.Program, m: machineOf(in.Profile, in.active(), in.Written), in: in, ctas: make([]resident, len(in.CTAs)), regions: map[uint64]*region{}}
	s.l1.make(in.L1Bytes)
	s.share.owed = make([]float64, len(in.Program.code))
	for i := range in.CTAs {
		s.total += in.CTAs[i].Recorded
		s.ctas[i].objects = in.Program.findObjects(&in.CTAs[i])
	}
	s.marks[0].at, s.marks[1].at = -1, -1
	return s
}

// rate is the cycles that a PTX instruction takes while the SM is full. Of whole CTAs it is the time between the end of the
// first resident set and that of the second, which are alike; of traces that were cut, that of the middle of the trace.
func (s *sm) rate(cycles float64, cut bool) float64 {
	if r := max(s.in.Resident, 1); !cut && len(s.ctas) >= 3*r {
		ends := make([]float64, len(s.ctas))
		for i := range s.ctas {
			ends[i] = s.ctas[i].ended
		}
		sort.Float64s(ends)
		if d := ends[2*r-1] - ends[r-1]; d > 0 {
			return max(s.busiest()/max(s.total, 1), d/(s.total/float64(len(s.ctas))*float64(r)))
		}
	}
	least := s.busiest() / max(s.total, 1) // what L2, DRAM and the load/store unit need in the long run
	if s.marks[1].used > s.marks[0].used && s.marks[0].at >= 0 && s.marks[1].at > s.marks[0].at {
		return max(least, (s.marks[1].at-s.marks[0].at)/(s.marks[1].used-s.marks[0].used))
	}
	return max(least, cycles/max(s.total, 1))
}

// lagging is the cycles that warps still take whose traces were cut while other warps of their CTA were about to end: each at the
// rate of its own trace, the CTAs of a resident set side by side.
func (s *sm) lagging() float64 {
	sum := 0.0
	for i := range s.ctas {
		c := &s.ctas[i]
		most, mean := 0.0, s.in.CTAs[i].Executed/float64(max(len(c.warps), 1))
		for _, w := range c.warps {
			x := w.trace
			if more := x.Executed - x.Recorded; more > 0 && x.Recorded > 0 && x.Executed > uneven*mean {
				most = max(most, more*(w.ended-c.began)/x.Recorded)
			}
		}
		sum += most
	}
	return sum / float64(max(min(s.in.Resident, len(s.ctas)), 1))
}

// uneven is from how many times the mean of its CTA a warp's own work decides how long the CTA takes.
const uneven = 1.5

// busiest is how many cycles the simulated work takes of what has the most to do: L2, its port, DRAM or the load/store unit.
func (s *sm) busiest() float64 {
	work := s.stats.L2Sectors + s.stats.PartialSectors
	return max(work*32/s.m.l2Bytes, s.stats.LoadedSectors*32/s.m.port, s.stats.DRAMSectors*32/s.m.dramBytes, s.stats.LSU)
}

// spread is how far apart the ends of CTAs lie that are resident together, 0 (at once) to 1 (evenly over a CTA's time).
func (s *sm) spread() float64 {
	r := max(s.in.Resident, 1)
	if len(s.ctas) < 2*r || r < 2 {
		return 0
	}
	group := s.ctas[len(s.ctas)-r:]
	first, last, long := never, 0.0, 0.0
	for i := range group {
		first, last = min(first, group[i].ended), max(last, group[i].ended)
		long += (group[i].ended - group[i].began) / float64(r)
	}
	if !(long > 0) {
		return 0
	}
	return min(max((last-first)/long, 0), 1)
}

func (b Breakdown) scaled(f float64) Breakdown {
	for i := range b.ByClass {
		b.ByClass[i] *= f
	}
	for _, x := range []*float64{&b.Issued, &b.LSU, &b.Wavefronts, &b.Tensor, &b.L1Sectors, &b.L2Sectors, &b.DRAMSectors, &b.LoadedSectors, &b.StoredSectors, &b.PartialSectors} {
		*x *= f
	}
	return b
}

// cycles are how long each pipe of the SM has work, as perf shows them.
func (b *Breakdown) cycles(m *machine) perf.MachineCycles {
	return perf.MachineCycles{
		Issue: b.Issued / 4, FP32: (b.ByClass[fp32] + b.ByClass[imad]) * m.fp32 / 4,
		Integer: max(b.ByClass[alu]*m.alu, b.ByClass[imad]*m.imad) / 4, SFU: b.ByClass[mufu] * m.mufu / 4, FP64: b.ByClass[fp64] * m.fp64 / 4,
		FP16: b.ByClass[half] * m.half / 4, Tensor: b.Tensor / 4, LSU: b.LSU,
	}
}

// Simulation is the result as perf shows it.
func (r *Result) Simulation() perf.Simulation {
	s := perf.Simulation{Seconds: r.Seconds, Cycles: r.Cycles, Alone: r.Alone, LongestCTA: r.Longest, Tail: r.Tail / r.Cycles * r.Seconds, Contention: r.Contention, Waits: r.Waits, Traced: r.Traced, Cut: r.Cut, Machine: r.Machine}
	s.LocalBeyondL2 = r.Local
	s.Wgmma = r.ByClass[asyncTensor] > r.ByClass[tensor]
	if r.StoredSectors > 0 {
		s.Partial = r.PartialSectors / r.StoredSectors
	}
	return s
}
