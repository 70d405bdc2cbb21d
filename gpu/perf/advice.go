package perf

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Advice is one sentence with its number. Occupancy is not speed: no rule advises it alone.
type Advice struct {
	Rule string // name of the rule that fired
	Text string
	Line *LineCounts // the source line that it is about, or nil
	Tags []Tag       // of its numbers
}

// adviceRules are tried in order; the first that fires is what a card shows. A rule returns "" when it does not apply.
var adviceRules = []struct {
	name string
	rule func(*Launch) (string, *LineCounts)
	tags []Tag
}{
	{"does not fit", adviseFit, []Tag{Formula}},
	{"excessive sectors", adviseSectors, []Tag{Executed}},
	{"spills", adviseSpills, []Tag{Formula}},
	{"contention", adviseContention, []Tag{Executed}},
	{"launch", adviseLaunch, []Tag{Modelled}},
	{"small grid", adviseGrid, []Tag{Formula, Datasheet}},
	{"partial last wave", adviseTail, []Tag{Formula, Datasheet}},
	{"balanced", adviseBalanced, []Tag{Modelled}},
	{"bank conflicts", adviseConflicts, []Tag{Executed}},
	{"shared contention", adviseSharedContention, []Tag{Executed}},
	{"shared memory", adviseShared, []Tag{Executed}},
	{"latency", adviseLatency, []Tag{Executed}},
	{"re-fetched bytes", adviseRefetch, []Tag{Modelled}},
	{"L2 reuse", adviseL2, []Tag{Modelled}},
	{"bytes are the cost", adviseBytes, []Tag{Modelled, Datasheet}},
	{"divergence", adviseDivergence, []Tag{Executed}},
	{"issue", adviseIssue, []Tag{Executed}},
	{"tensor cores", adviseTensor, []Tag{Datasheet}},
	{"arithmetic is the cost", adviseFLOPs, []Tag{Modelled}},
}

// Advise lists what would help, most useful first.
func (l *Launch) Advise() []Advice {
	var out []Advice
	for _, r := range adviceRules {
		if text, line := r.rule(l); text != "" {
			out = append(out, Advice{r.name, text, line, l.roofTags(r.tags)})
		}
	}
	return out
}

// roofTags are a rule's tags; a user's profile may have its roofs from another GPU.
func (l *Launch) roofTags(tags []Tag) []Tag {
	if l.Profile == nil || l.Profile.Origin == nil || !slices.Contains(tags, Datasheet) {
		return tags
	}
	tag := l.Profile.TagOf(keyDRAM, roofKey(l.Pipe()), "sms")
	out := slices.DeleteFunc(slices.Clone(tags), func(t Tag) bool { return t == Datasheet || t == tag })
	return append(out, tag)
}

// TopAdvice is the first of Advise, zero where no rule applies.
func (l *Launch) TopAdvice() Advice {
	for _, r := range adviceRules {
		if text, line := r.rule(l); text != "" {
			return Advice{r.name, text, line, l.roofTags(r.tags)}
		}
	}
	return Advice{}
}

// top is the resource that limits; "" where nothing was bounded.
func (l *Launch) top() string { return l.Limit().Resource }

// bound is the best time of one resource, 0 where it has none.
func (l *Launch) bound(resource string) float64 {
	for _, b := range l.Bounds {
		if b.Resource == resource {
			return b.Seconds
		}
	}
	return 0
}

// near reports whether a resource is within half of the largest bound: worth a word.
func (l *Launch) near(resource string) bool {
	return len(l.Bounds) > 0 && l.bound(resource) >= l.Bounds[0].Seconds/2
}

func adviseFit(l *Launch) (string, *LineCounts) {
	if !l.Occupancy.Known() || l.Occupancy.CTAsPerSM > 0 {
		return "", nil
	}
	return fmt.Sprintf("One CTA needs %d threads × %d registers and %s of shared memory: more than an SM has. Use smaller CTAs",
		l.Shape.Threads(), l.Registers, FormatCapacity(float64(l.StaticShared+l.Shape.DynamicShared))), nil
}

// Where names a line as advice and cards do: "2_tile.cu:17", or the PTX line.
func (c *LineCounts) Where() string {
	if c.File != "" && c.SourceLine > 0 {
		return path.Base(c.File) + ":" + strconv.Itoa(c.SourceLine)
	}
	return "PTX line " + strconv.Itoa(c.PTXLine)
}

// WorstLine is the line with most excessive sectors, or nil.
func (l *Launch) WorstLine() *LineCounts {
	var worst *LineCounts
	most := uint64(0)
	for i := range l.PerLine {
		g := &l.PerLine[i].Global
		if e := g.Sectors - min(g.IdealSectors, g.Sectors); e > most {
			worst, most = &l.PerLine[i], e
		}
	}
	return worst
}

func adviseSectors(l *Launch) (string, *LineCounts) {
	share, _ := l.ExcessShare()
	if share < wastefulShare {
		return "", nil
	}
	r := l.top()
	if r != ResourceDRAM && r != ResourceL2 && r != ResourceLatency && r != ResourceLSU {
		return "", nil
	}
	excess := FormatCount(share * l.Sectors.Value)
	text := fmt.Sprintf("%s excessive sectors, %s of all", excess, WholePercent(100*share))
	line := l.WorstLine()
	if line != nil && line.Global.Requests > 0 {
		g := line.Global
		text += fmt.Sprintf(", most at %s: %s sectors a request, ideal %s", line.Where(),
			Trimmed(float64(g.Sectors)/float64(g.Requests)), Trimmed(float64(g.IdealSectors)/float64(g.Requests)))
	}
	if hit := l.L1Hit; hit.Known() && hit.Value >= 50 && r != ResourceDRAM {
		text += fmt.Sprintf(". L1 hides %s of them from L2", WholePercent(hit.Value))
	}
	return text, line
}

func adviseSpills(l *Launch) (string, *LineCounts) {
	beyond := ""
	if l.Simulated.Done() && l.Simulated.LocalBeyondL2 > 0 {
		beyond = fmt.Sprintf(", %s of it more than L2 holds", WholePercent(100*l.Simulated.LocalBeyondL2))
	}
	local, global := l.Counts.LocalLoad.Sectors+l.Counts.LocalStore.Sectors, l.Counts.GlobalLoad.Sectors+l.Counts.GlobalStore.Sectors
	switch {
	case l.SpillBytes > 0:
		return fmt.Sprintf("Registers spill %s a thread to local memory%s: fewer values alive at once, or smaller tiles",
			Format(float64(l.SpillBytes), "B"), beyond), nil
	case l.LocalBytes > 0 && 4*local >= global && local > 0:
		return fmt.Sprintf("An array of each thread lies in local memory (%s)%s: indices that the compiler knows keep it in registers, or use shared memory",
			Format(float64(l.LocalBytes), "B"), beyond), nil
	}
	return "", nil
}

func adviseLaunch(l *Launch) (string, *LineCounts) {
	if l.top() != ResourceLaunch || l.Profile == nil {
		return "", nil
	}
	share := 1.0
	if model := l.modelled(); model > 0 {
		share = min(1, l.Profile.LaunchSeconds/model)
	}
	return fmt.Sprintf("The launch alone is %s of the time: give one launch more work, or fuse it with its neighbours",
		WholePercent(100*share)), nil
}

// smallGrid is the share of the SMs below which a grid is called too small.
const smallGrid = 0.75

func adviseGrid(l *Launch) (string, *LineCounts) {
	n := l.Shape.CTAs()
	if !l.gridTooSmall() {
		return "", nil
	}
	return fmt.Sprintf("Grid too small: %s %s %d of %d SMs idle. Split the work into more CTAs",
		counted(float64(n), "CTA"), plural(n, "leaves", "leave"), l.Profile.SMs-int(n), l.Profile.SMs), nil
}

// gridTooSmall: so few CTAs that many SMs have no work.
func (l *Launch) gridTooSmall() bool {
	return l.Profile != nil && float64(l.Shape.CTAs()) <= smallGrid*float64(l.Profile.SMs)
}

// adviseTail: CTAs are handed out whole, so a partial last wave leaves SMs idle while the busiest one finishes.
func adviseTail(l *Launch) (string, *LineCounts) {
	if l.Profile == nil || l.Duration.Tag == Measured || boundWords[l.top()].tone != ToneFLOPs {
		return "", nil
	}
	sp := l.spread(l.Profile)
	if sp.imbalance < 1.25 || sp.ctas < float64(l.Profile.SMs) {
		return "", nil
	}
	return fmt.Sprintf("The busiest SM has %s, the mean is %s: a grid near a multiple of %d CTAs would end together",
		counted(sp.perSM, "CTA"), Trimmed(sp.ctas/float64(l.Profile.SMs)), l.Profile.SMs), nil
}

func adviseConflicts(l *Launch) (string, *LineCounts) {
	w, c := l.SharedWavefronts, l.BankConflicts
	if !w.Known() || !(w.Value > 0) || c.Value < 0.2*w.Value || !l.near(ResourceShared) {
		return "", nil
	}
	var worst *LineCounts
	most := uint64(0)
	for i := range l.PerLine {
		s := &l.PerLine[i].Shared
		if e := s.Wavefronts - min(s.IdealWavefronts, s.Wavefronts); e > most {
			worst, most = &l.PerLine[i], e
		}
	}
	text := fmt.Sprintf("%s of %s shared wavefronts are bank conflicts", WholePercent(100*c.Value/w.Value), FormatCount(w.Value))
	if worst != nil {
		text += ", most at " + worst.Where()
	}
	return text + ": pad or swizzle the rows", worst
}

func adviseShared(l *Launch) (string, *LineCounts) {
	if l.top() != ResourceShared || !(l.SharedWavefronts.Value > 0) || !(l.TotalFLOPs.Value > 0) {
		return "", nil
	}
	return fmt.Sprintf("Each shared wavefront feeds %s FLOP: larger tiles in registers use a loaded value more often",
		FormatCount(math.Round(l.TotalFLOPs.Value/l.SharedWavefronts.Value))), nil
}

func adviseLatency(l *Launch) (string, *LineCounts) {
	if l.top() != ResourceLatency {
		return "", nil
	}
	if wait, share := l.Simulated.Longest(); share > 0 && l.Duration.Tag != Measured && (wait != WaitMemory || l.Counts.LoadRounds == 0) {
		return fmt.Sprintf("Schedulers wait %s of their cycles for %s: %s", WholePercent(100*share), wait, waits[wait].help), nil
	}
	switch n := l.Counts.LoadRounds; {
	case n > 1:
		return fmt.Sprintf("%s loads wait for each other in a warp: issue several independent loads before the first use", FormatCount(float64(n))), nil
	case n == 1:
		return "Warps wait for their loads: keep more bytes under way, with wider loads, several before the first use, or more warps", nil
	}
	if warps := (l.Shape.Threads() + WarpSize - 1) / WarpSize; warps < SubPartitions {
		return fmt.Sprintf("%s a CTA cannot fill the %d schedulers of an SM: spread the work over more warps", counted(float64(warps), "warp"), SubPartitions), nil
	}
	return "Each instruction waits for the one before it: several independent sums a thread, or more warps", nil
}

// adviseContention: the updates of one place come one after another, whoever makes them.
func adviseContention(l *Launch) (string, *LineCounts) {
	if l.top() != ResourceAtomics {
		return "", nil
	}
	var worst *LineCounts
	most := uint64(0)
	for i := range l.PerLine {
		if c := &l.PerLine[i]; c.Class == ClassGlobal && c.Contention.Passes > most {
			worst, most = c, c.Contention.Passes
		}
	}
	at := ""
	if worst != nil {
		at = " at " + worst.Where()
	}
	h := &l.Counts.Hottest
	if c := l.Profile; float64(h.Compares)*c.L2Latency >= h.Cycles(c) {
		return fmt.Sprintf("%s compare-and-swaps of one address%s wait for each other: use an atomic that does it in one step (atomicAdd, atomicMax), or one a CTA",
			FormatCount(float64(h.Compares)), at), worst
	}
	return fmt.Sprintf("%s updates of one place%s wait for each other: add up in the warp (__reduce_add_sync, shuffles) and the CTA (shared memory) first, then one atomic a CTA",
		FormatCount(float64(h.Updates)), at), worst
}

// adviseSharedContention: lanes that update one address of shared memory come one after another too.
func adviseSharedContention(l *Launch) (string, *LineCounts) {
	c := &l.Counts.SharedContention
	if r := l.top(); r != ResourceLSU && r != ResourceShared || c.Passes < 2*c.Requests || c.Requests == 0 {
		return "", nil
	}
	var worst *LineCounts
	most, at := uint64(0), ""
	for i := range l.PerLine {
		if c := &l.PerLine[i]; c.Class == ClassShared && c.Contention.Passes > most {
			worst, most, at = c, c.Contention.Passes, " at "+c.Where()
		}
	}
	return fmt.Sprintf("Atomics on shared memory%s have %s lanes a request at one address, one after another: add up in the warp (__reduce_add_sync, shuffles) first, then one atomic a warp",
		at, Trimmed(float64(c.Passes)/float64(c.Requests))), worst
}

func adviseRefetch(l *Launch) (string, *LineCounts) {
	r := 0.0 // lanes that ask for parts of sectors are another matter
	if least := max(l.IdealBytes.Value, l.MinBytes.Value); least > 0 {
		r = l.DRAMBytes.Value / least
	}
	if r < 1.25 || !l.near(ResourceDRAM) {
		return "", nil
	}
	return fmt.Sprintf("DRAM moves %s× the least: data leaves L2 before it is used again. Order CTAs so that neighbours share it",
		Significant(r)), nil
}

func adviseL2(l *Launch) (string, *LineCounts) {
	if l.top() != ResourceL2 {
		return "", nil
	}
	if l.FromL2() && l.Profile != nil {
		return fmt.Sprintf("The launch before left the data in L2: from DRAM the same bytes would take %s at best",
			Format(l.IdealBytes.Value/l.Profile.DRAMBytesPerSecond, "s")), nil
	}
	if !(l.DRAMBytes.Value > 0) {
		return "", nil
	}
	return fmt.Sprintf("Each DRAM byte is read %s times from L2: keep tiles in shared memory or registers",
		Significant(l.L2Bytes.Value/l.DRAMBytes.Value)), nil
}

func adviseBytes(l *Launch) (string, *LineCounts) {
	if l.top() != ResourceDRAM || !l.Traffic().Known() {
		return "", nil
	}
	if l.Intensity.Known() && l.Intensity.Value > 0 && l.Intensity.Value < l.Ridge.Value {
		return fmt.Sprintf("Bytes are the cost: %s FLOP/B of %.0f at the ridge. Use each byte %s× more often, or store it in fewer bits",
			Significant(l.Intensity.Value), l.Ridge.Value, Trimmed(l.Ridge.Value/l.Intensity.Value)), nil
	}
	return fmt.Sprintf("Bytes are the cost: half of the %s would take half the %s",
		Format(l.Traffic().Value, "B"), Format(l.bound(ResourceDRAM), "s")), nil
}

func adviseDivergence(l *Launch) (string, *LineCounts) {
	if !l.Counted || l.Counts.Branches == 0 || l.top() != ResourceIssue {
		return "", nil
	}
	share := float64(l.Counts.DivergentBranches) / float64(l.Counts.Branches)
	if share < 0.2 {
		return "", nil
	}
	return fmt.Sprintf("%s of the branches part a warp, and both sides are issued: let whole warps decide alike",
		WholePercent(100*share)), nil
}

func adviseIssue(l *Launch) (string, *LineCounts) {
	if l.top() != ResourceIssue || !(l.WarpInstructions.Value > 0) {
		return "", nil
	}
	best := ClassFP32
	for k := Class(0); k < NumClasses; k++ {
		if k != ClassMove && l.Instructions[k].Value > l.Instructions[best].Value {
			best = k
		}
	}
	return fmt.Sprintf("Instructions are the cost, %s of them %s: more work an instruction, by wider loads and longer unrolled loops",
		WholePercent(100*l.Instructions[best].Value/l.WarpInstructions.Value), best), nil
}

func adviseTensor(l *Launch) (string, *LineCounts) {
	if l.top() != ResourceFP32 || l.Profile == nil || l.Duration.Tag == Measured {
		return "", nil
	}
	return fmt.Sprintf("Arithmetic is the cost: for f16 or bf16 inputs the tensor roof is %s× higher (mma)",
		Significant(l.Profile.TensorFLOPs/l.Profile.FP32FLOPs)), nil
}

func adviseFLOPs(l *Launch) (string, *LineCounts) {
	if len(l.Bounds) == 0 || boundWords[l.top()].kind != computeBound {
		return "", nil
	}
	d := l.bound(ResourceDRAM)
	if d == 0 {
		return "", nil
	}
	return fmt.Sprintf("DRAM needs %s, %s of the %s: bytes are not the limit", Format(d, "s"), WholePercent(100*d/l.Limit().Seconds),
		Format(l.Limit().Seconds, "s")), nil
}

func adviseBalanced(l *Launch) (string, *LineCounts) {
	a, b, two := strings.Cut(l.Bound, " and ")
	if !two {
		return "", nil
	}
	return fmt.Sprintf("Both %s (%s) and %s (%s) must shrink before the time does", a, Format(l.bound(a), "s"), b, Format(l.bound(b), "s")), nil
}
