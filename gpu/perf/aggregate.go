package perf

import (
	"fmt"
	"sort"
)

// Total is what several launches of one cell cost together.
type Total struct {
	Launches  int
	Device    string
	Virtual   bool
	Profile   *Profile
	Groups    []Group // by CUDA kernel, most time first
	Duration  Figure  // busy time: the sum over launches
	Wall      Figure  // time of the whole cell on the device, absent where it was not measured
	FLOPs     Figure
	DRAMBytes Figure
	Ideal     Figure // least traffic
	Intensity Figure
	Ridge     Figure // of the pipe that does most FLOPs
	Floor     Figure // DRAM bytes at the datasheet's bandwidth
	Sampled   int    // largest sampling step, 1 where all CTAs ran
	Warm      int    // launches that started with a warm L2
	Bound     string // resource of most time
	all       []*Launch
}

// Group is the launches of one CUDA kernel.
type Group struct {
	Kernel    string
	Launches  int
	Duration  Figure
	Share     float64 // of busy time, 0 to 1
	DRAMBytes Figure
	Bound     string  // of the launch that took longest
	Longest   *Launch // that launch
}

// Aggregate adds up launches. wall is the time of the whole cell, or a zero Figure. Sums keep the weakest tag: one MODELLED
// addend makes a MODELLED sum.
func Aggregate(launches []*Launch, wall Figure) *Total {
	t := &Total{Launches: len(launches), Wall: wall, Sampled: 1, all: launches}
	if !wall.Known() {
		t.Wall = Absent("s", "the virtual GPU has no host clock")
	}
	if len(launches) == 0 {
		return t
	}
	first := launches[0]
	t.Device, t.Virtual, t.Profile = first.Device, first.Virtual, first.Profile
	pipes := map[FLOPType]float64{}
	groups := map[string]*Group{}
	var order []string
	var durations, flops, useful, dram, ideal sum
	for _, l := range launches {
		durations.add(l.Duration)
		flops.add(l.TotalFLOPs)
		useful.add(l.Useful())
		dram.add(l.Traffic())
		ideal.add(l.IdealBytes)
		t.Sampled = max(t.Sampled, l.Sampled)
		if !l.Cold {
			t.Warm++
		}
		pipes[l.Pipe()] += l.TotalFLOPs.Value
		g := groups[l.Kernel]
		if g == nil {
			g = &Group{Kernel: l.Kernel}
			groups[l.Kernel], order = g, append(order, l.Kernel)
		}
		g.merge(l)
	}
	n := fmt.Sprintf("sum over %s launches", FormatCount(float64(len(launches))))
	t.Duration, t.FLOPs = durations.figure("s", n), flops.figure("FLOP", n)
	t.DRAMBytes, t.Ideal = dram.figure("B", n), ideal.figure("B", n)
	t.fillRoofline(pipes, useful.figure("FLOP", n))
	for _, k := range order {
		g := groups[k]
		if t.Duration.Value > 0 {
			g.Share = g.Duration.Value / t.Duration.Value
		}
		t.Groups = append(t.Groups, *g)
	}
	sort.SliceStable(t.Groups, func(i, j int) bool { return t.Groups[i].Duration.Value > t.Groups[j].Duration.Value })
	t.Bound = t.boundOfMostTime()
	return t
}

func (t *Total) fillRoofline(pipes map[FLOPType]float64, useful Figure) {
	if t.Profile == nil {
		return
	}
	best := FLOPF32
	for pipe := FLOPType(0); pipe < NumFLOPTypes; pipe++ {
		if pipes[pipe] > pipes[best] {
			best = pipe
		}
	}
	roof := t.Profile.Roof(best)
	t.Ridge = Figure{Value: t.Profile.Ridge(best), Unit: "FLOP/B", Tag: t.Profile.RoofTag(best), Source: roof.Name + " roof ÷ DRAM roof: " + roof.Source}
	t.Intensity, t.Floor = Absent("FLOP/B", "needs FLOPs and DRAM bytes"), Absent("s", "needs DRAM bytes")
	if t.DRAMBytes.Known() {
		t.Floor = Figure{Value: t.DRAMBytes.Value / t.Profile.DRAMBytesPerSecond, Unit: "s", Tag: Formula, Source: "DRAM bytes ÷ datasheet bandwidth"}
		if t.FromL2() {
			t.Intensity = Absent("FLOP/B", "L2 held the working set: DRAM's roof does not apply")
		} else if useful.Known() && t.DRAMBytes.Value > 0 {
			t.Intensity = Figure{
				Value: useful.Value / t.DRAMBytes.Value, Unit: "FLOP/B", Tag: t.DRAMBytes.Tag,
				Source: fmt.Sprintf("%s FLOP ÷ %s DRAM bytes", useful.Tag, t.DRAMBytes.Tag),
			}
		}
	}
}

// FromL2 tells whether most of what warm launches had to read came from L2.
func (t *Total) FromL2() bool {
	return t.Warm > 0 && t.DRAMBytes.Known() && t.Ideal.Known() && t.DRAMBytes.Value < fromL2Below*t.Ideal.Value
}

// boundOfMostTime is the bound that holds for the largest share of the busy time.
func (t *Total) boundOfMostTime() string {
	byBound := map[string]float64{}
	var order []string
	for _, l := range t.all {
		if _, seen := byBound[l.Bound]; !seen {
			order = append(order, l.Bound)
		}
		byBound[l.Bound] += l.Duration.Value
	}
	best := ""
	for _, b := range order {
		if best == "" || byBound[b] > byBound[best] {
			best = b
		}
	}
	return best
}

// BoundShare is the share of busy time, 0 to 1, spent in launches with this bound.
func (t *Total) BoundShare(bound string) float64 {
	if !(t.Duration.Value > 0) {
		return 0
	}
	sum := 0.0
	for _, l := range t.all {
		if l.Bound == bound {
			sum += l.Duration.Value
		}
	}
	return sum / t.Duration.Value
}

func (g *Group) merge(l *Launch) {
	g.Launches++
	g.Duration = addFigures(g.Duration, l.Duration)
	g.DRAMBytes = addFigures(g.DRAMBytes, l.Traffic())
	if g.Longest == nil || l.Duration.Value > g.Longest.Duration.Value {
		g.Longest, g.Bound = l, l.Bound
	}
}

// sum of figures; one absent addend makes the sum absent, because a partial sum would be read as the whole.
type sum struct {
	f      Figure
	n      int
	absent string
}

func (s *sum) add(f Figure) {
	if !f.Known() {
		s.absent = f.Why
	}
	s.f = addFigures(s.f, f)
	s.n++
}

func (s *sum) figure(unit, source string) Figure {
	if s.absent != "" || !s.f.Known() {
		return Absent(unit, "one launch lacks it: "+s.absent)
	}
	if s.n > 1 {
		s.f.Source = source
	}
	s.f.Unit = unit
	return s.f
}

// weakness orders tags: a sum is only as good as its weakest addend.
var weakness = map[Tag]int{Measured: 0, Counter: 1, Executed: 2, Datasheet: 3, Formula: 4, Modelled: 5}

func addFigures(a, b Figure) Figure {
	if !a.Known() {
		return b
	}
	if !b.Known() {
		return a
	}
	lowA, highA := ends(a)
	lowB, highB := ends(b)
	out := a
	out.Value += b.Value
	if a.High > 0 || b.High > 0 {
		out.Low, out.High = lowA+lowB, highA+highB
	}
	if weakness[b.Tag] > weakness[a.Tag] {
		out.Tag = b.Tag
	}
	return out
}

func ends(f Figure) (low, high float64) {
	if f.High > 0 {
		return f.Low, f.High
	}
	return f.Value, f.Value
}

// All are the launches that were added up, in their order.
func (t *Total) All() []*Launch { return t.all }
