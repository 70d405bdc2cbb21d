package vgpu

import (
	"math"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu/simulate"
	"memwall/gpu/perf"
)

// tracing collects the traces of some CTAs of a launch, for the time model: those of SM 0, and a few others that lie evenly over the
// grid, should CTAs differ in what they execute.
type tracing struct {
	program *simulate.Program
	ctas    []simulate.CTA // of SM 0, then the spares
	own     int            // of SM 0
	every   uint64         // the ordinals of the CTAs of SM 0 are multiples of it
	spares  []uint64       // ordinals
	limit   int            // PTX instructions that are recorded of a warp
	spare   int            // and of a warp of a spare
	local   uint64         // bytes of local memory of a warp
	each    []uint32       // instructions that each CTA has executed, by ordinal; nil: of too many
	warps   [][]uint64     // and each warp, of the CTAs that are traced
	partial bool           // of a probe: CTAs were stopped early, what they would have executed is not known
}

const (
	spareTraces       = 5
	spareInstructions = traceInstructions / 3
	// mostDispatched is how many CTAs are told apart; of more the longest and the mean are known.
	mostDispatched = 1 << 16
	// unequal is from how many times the mean of its grid the longest CTA decides how long the launch takes.
	unequal = 1.05
)

// tracing prepares traces of the CTAs that SM 0 runs of those that are executed: three residents' worth and one more.
func (f *function) tracing(l *driver.Launch, used, resident int, executed uint64, limit int) *tracing {
	own := int(min((executed+uint64(used)-1)/uint64(used), uint64(3*resident+1)))
	warps := int((l.CTA.Count() + warpSize - 1) / warpSize)
	return &tracing{program: f.program.simulation(), own: own, ctas: make([]simulate.CTA, own), warps: make([][]uint64, own), every: uint64(used),
		limit: max(limit/(own*warps), 64), spare: max(spareInstructions/(spareTraces*warps), 64), local: uint64(f.program.local) * warpSize}
}

// tellApart has the spares traced too, and notes what each CTA executes.
func (t *tracing) tellApart(executed uint64) {
	for i := range uint64(spareTraces) {
		at := (i + 1) * (executed - 1) / spareTraces
		if t.find(at) < 0 {
			t.spares = append(t.spares, at)
		}
	}
	if executed <= mostDispatched {
		t.each = make([]uint32, executed)
	}
	t.ctas, t.warps = append(t.ctas, make([]simulate.CTA, len(t.spares))...), append(t.warps, make([][]uint64, len(t.spares))...)
}

// find gives the place of a CTA among those traced, −1 where it is not.
func (t *tracing) find(ordinal uint64) int {
	if at := ordinal / t.every; ordinal%t.every == 0 && at < uint64(t.own) {
		return int(at)
	}
	for i, at := range t.spares {
		if at == ordinal {
			return t.own + i
		}
	}
	return -1
}

// watch gives the tracer of a CTA; nil for those that are not traced.
func (t *tracing) watch(c *cta) observer {
	at := t.find(c.ordinal)
	if at < 0 {
		return nil
	}
	x := &tracer{t: t, at: at, cta: c, phases: map[uint64]uint32{}, warps: make([]warpTracer, len(c.warps)), limit: t.limit, left: len(c.warps)}
	if at >= t.own {
		x.limit = t.spare
	}
	for i := range x.warps {
		x.warps[i].block = -1
	}
	return x
}

// work is what CTAs have executed, in instructions of warps as their fuel counts them.
type work struct{ sum, longest uint64 }

func workOf(pool []*worker) (all work) {
	for _, k := range pool {
		all.sum += k.done.sum
		all.longest = max(all.longest, k.done.longest)
	}
	return all
}

// tally notes what a CTA that has ended has executed.
func (k *worker) tally(c *cta) {
	sum := uint64(0)
	for i := range c.warps {
		sum += c.warps[i].executed
	}
	k.done.sum += sum
	k.done.longest = max(k.done.longest, sum)
	t := k.run.traces
	if t == nil {
		return
	}
	if t.each != nil {
		t.each[c.ordinal] = uint32(min(sum, math.MaxUint32))
	}
	if at := t.find(c.ordinal); at >= 0 {
		t.warps[at] = make([]uint64, len(c.warps))
		for i := range c.warps {
			t.warps[at][i] = c.warps[i].executed
		}
	}
}

// fill puts the traces into the simulation's input: those of SM 0 where CTAs execute about as much as each other; else of the SM that
// has the most to do, as the CTAs are dispatched.
func (t *tracing) fill(in *simulate.Input, l *driver.Launch, c *perf.Counts, done work) {
	perCTA := float64(c.WarpInstructions) / float64(max(c.CTAs, 1))
	unit := float64(c.WarpInstructions) / float64(max(done.sum, 1)) // PTX instructions for one of fuel
	var known []simulate.CTA
	for i := range t.ctas {
		x := &t.ctas[i]
		if x.Warps == nil || x.Recorded == 0 {
			continue
		}
		t.finish(x, i, perCTA, unit)
		if known = append(known, *x); i < t.own {
			in.CTAs = known
		}
	}
	longest := float64(done.longest) * unit
	if len(known) == 0 || longest <= unequal*perCTA {
		return
	}
	whole := perCTA * in.Grid
	in.Average = whole / max(min(in.Grid, float64(in.Profile.SMs)), 1)
	in.Busiest = max(in.Average, longest)
	in.Longest = nearest(known, make([]int, len(known)), longest)
	if t.each == nil || in.Grid > mostDispatched {
		return
	}
	each := make([]float64, int(in.Grid))
	for i := range each {
		each[i] = float64(t.each[min(i/max(l.Sample, 1), len(t.each)-1)]) * unit
	}
	d := simulate.Dispatched(each, in.Profile.SMs, in.Resident)
	in.Busiest = max(d.Busiest, in.Average)
	in.CTAs = nil
	n := min(len(d.CTAs), 3*in.Resident+1)
	uses := make([]int, len(known))
	for i := range n {
		in.CTAs = append(in.CTAs, *nearest(known, uses, each[d.CTAs[i*len(d.CTAs)/n]]))
	}
}

// finish fills in what a traced CTA executed.
func (t *tracing) finish(x *simulate.CTA, at int, perCTA, unit float64) {
	cut := x.Cut()
	x.Executed = 0
	for i := range x.Warps {
		w := &x.Warps[i]
		switch {
		case w.Executed <= w.Recorded:
		case t.partial || t.warps[at] == nil:
			w.Executed = w.Recorded
		default:
			w.Executed = max(float64(t.warps[at][i])*unit, w.Recorded)
		}
		x.Executed += w.Executed
	}
	if t.partial && cut && perCTA > x.Executed {
		x.Stretch(perCTA)
	}
}

// nearest gives, of the traces, the one whose CTA executed nearest to so much, made to stand for one that executed just that. One that
// stands for another CTA already is taken again only where the rest is far off; uses counts how often.
func nearest(known []simulate.CTA, uses []int, executed float64) *simulate.CTA {
	const far = 1.25
	best, unused := -1, -1
	off := func(i int) float64 {
		a, b := max(known[i].Executed, 1), max(executed, 1)
		return max(a/b, b/a)
	}
	for i := range known {
		if best < 0 || off(i) < off(best) {
			best = i
		}
		if uses[i] == 0 && (unused < 0 || off(i) < off(unused)) {
			unused = i
		}
	}
	if unused >= 0 && off(unused) <= far {
		best = unused
	}
	x := known[best].Elsewhere(uses[best])
	uses[best]++
	x.Stretch(executed)
	return &x
}
