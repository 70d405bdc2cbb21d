package perf

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func h200(t testing.TB) *Profile {
	t.Helper()
	p, err := ProfileByName("h200")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// copyLaunch is a copy of n floats, a thread an element: counts by hand.
func copyLaunch(n uint64) Observation {
	warps := (n + 31) / 32
	a := Access{Requests: warps, Lanes: n, Bytes: 4 * n, Sectors: n / 8, IdealSectors: n / 8, Lines: n / 32}
	return Observation{
		Kernel: "probe/1_copy", Function: "copy", Device: "virtual:h200", Virtual: true, Registers: 16, Counted: true, Sampled: 1, Cold: true,
		Shape: Shape{Grid: [3]uint32{uint32(n / 256), 1, 1}, CTA: [3]uint32{256, 1, 1}}, Executed: n / 256, MinimumBytes: float64(8 * n),
		Counts: Counts{CTAs: n / 256, Warps: warps, WarpInstructions: 12 * warps, ThreadInstructions: 12 * n, GlobalLoad: a, GlobalStore: a, LoadRounds: 1,
			Instructions: [NumClasses]uint64{ClassGlobal: 2 * warps, ClassInteger: 6 * warps, ClassMove: 4 * warps},
			Cache: CacheCounts{L1Lookups: n / 8, L2Lookups: n / 4, L2Hits: n / 8, DRAMReadSectors: n / 8, DRAMWriteSectors: n / 8,
				DistinctRead: n / 8, DistinctWritten: n / 8}},
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// TestEvaluateCopy: every figure of a copy against its closed form.
// Lanes that use four bytes of every sector: the ideal is what they ask for, the range never goes below what a bound allows at
// best, and sharing between CTAs decides whether contention grows with the grid.
func TestIdealRangeAndContention(t *testing.T) {
	p := h200(t)
	l := Evaluate(shaped(func(o *Observation) {
		o.Counts.GlobalLoad, o.Counts.GlobalStore = Access{Requests: 1 << 15, Lanes: 1 << 20, Bytes: 4 << 20, Sectors: 1 << 20, IdealSectors: 1 << 17}, Access{Bytes: 4 << 20}
		o.Counts.Cache = CacheCounts{DRAMReadSectors: 1 << 20, DRAMWriteSectors: 1 << 17, DistinctRead: 1 << 20, DistinctWritten: 1 << 17}
	}), p)
	if l.IdealBytes.Value != 8<<20 || l.IdealBytes.Tag != Executed || l.Refetch() != 4.5 || l.MinBytes.Value != 36<<20 {
		t.Errorf("ideal %+v of %+v, %v× fetched", l.IdealBytes, l.MinBytes, l.Refetch())
	}
	near := Evaluate(shaped(func(o *Observation) {
		o.Counts.Cache.DRAMReadSectors = 1 << 20
		o.Simulated = &Simulation{Seconds: 7e-6, Cycles: 12000, Alone: 300, Waits: [NumWaits]float64{WaitMemory: .1}}
	}), p)
	if d := near.Duration; d.Low < near.Limit().Seconds || d.Low < .79*d.Value || d.High < d.Value {
		t.Errorf("%+v goes below %+v", d, near.Limit())
	}
	for shared, factor := range map[bool]float64{true: 4, false: 1} {
		o := shaped(func(o *Observation) { o.Counts.Hottest = Hottest{Packets: 1e5, Updates: 1e5, Shared: shared} })
		o.Sampled, o.Executed = 4, o.Shape.CTAs()/4
		if b := Evaluate(o, p).Limit(); b.Resource != ResourceAtomics || math.Abs(b.Seconds/(factor*11e5/p.BoostHz)-1) > 1e-9 {
			t.Errorf("shared %v: %+v", shared, b)
		}
	}
}

func TestEvaluateCopy(t *testing.T) {
	const n = 1 << 24
	p := h200(t)
	l := Evaluate(copyLaunch(n), p)
	for _, c := range []struct {
		name string
		f    Figure
		want float64
		unit string
		tag  Tag
	}{
		{"DRAM bytes", l.DRAMBytes, 8 * n, "B", Modelled},
		{"least bytes", l.MinBytes, 8 * n, "B", Executed},
		{"ideal bytes", l.IdealBytes, 8 * n, "B", Formula},
		{"L2 bytes", l.L2Bytes, 8 * n, "B", Modelled},
		{"requests", l.Requests, 2 * n / 32, "", Executed},
		{"sectors", l.Sectors, 2 * n / 8, "", Executed},
		{"ideal sectors", l.IdealSectors, 2 * n / 8, "", Executed},
		{"L1 hit", l.L1Hit, 0, "%", Modelled},
		{"L2 hit", l.L2Hit, 50, "%", Modelled},
		{"FLOPs", l.TotalFLOPs, 0, "FLOP", Executed},
		{"intensity", l.Intensity, 0, "FLOP/B", Modelled},
		{"ridge", l.Ridge, 67e12 / 4.8e12, "FLOP/B", Datasheet},
		{"instructions", l.WarpInstructions, 12 * n / 32, "", Executed},
		{"global instructions", l.Instructions[ClassGlobal], 2 * n / 32, "", Executed},
		{"registers", l.RegistersPerThread, 16, "", Formula},
		{"shared", l.SharedBytes, 0, "B", Formula},
		{"waves", l.Waves, float64(n) / 256 / (8 * 132), "", Formula},
		{"occupancy", l.Occupancy.Figure, 100, "%", Formula},
		{"duration, low", Figure{l.Duration.Low, 0, 0, "s", l.Duration.Tag, "", ""}, 2e-6 + 8*n/4.8e12/.83, "s", Modelled},
		{"duration, high", Figure{l.Duration.High, 0, 0, "s", l.Duration.Tag, "", ""}, 1.6 * (2e-6 + 8*n/4.8e12/.83), "s", Modelled},
	} {
		if !(c.f.Value == c.want || near(c.f.Value, c.want)) || c.f.Unit != c.unit || c.f.Tag != c.tag {
			t.Errorf("%s: %v %q %s, want %v %q %s", c.name, c.f.Value, c.f.Unit, c.f.Tag, c.want, c.unit, c.tag)
		}
	}
	if l.Bound != ResourceDRAM || !near(l.Bounds[0].Seconds, 8*n/4.8e12) {
		t.Errorf("bound %s, %v", l.Bound, l.Bounds)
	}
	if l.Duration.Source != "launch + DRAM, × 1.0–1.6" {
		t.Errorf("source %q", l.Duration.Source)
	}
	if l.Occupancy.Limiter != LimitWarps || l.Occupancy.CTAsPerSM != 8 {
		t.Errorf("occupancy %+v", l.Occupancy)
	}
}

// TestBounds: each resource's best time against its closed form.
func TestBounds(t *testing.T) {
	p := h200(t)
	o := copyLaunch(1 << 20)
	c := &o.Counts
	c.FLOPs = [NumFLOPTypes]uint64{FLOPF32: 67e9, FLOPF16: 134e9, FLOPF64: 34e9, FLOPTensor: 1e12}
	c.SharedLoad = SharedAccess{Requests: 1e6, Wavefronts: 132e4, IdealWavefronts: 132e4}
	c.Instructions = [NumClasses]uint64{ClassMove: 1e6, ClassSFU: 132e3}
	c.WarpInstructions = 1e6 + 132*4e4
	c.Cache.L2Lookups = 132 * 1e5
	c.LoadRounds = 10
	l := Evaluate(o, p)
	want := map[string]float64{
		ResourceDRAM: 8 * (1 << 20) / 4.8e12, ResourceL2: 132 * 1e5 * 32 / (64 * 132 * 1.98e9), ResourceShared: 1e4 / 1.98e9, ResourceIssue: 1e4 / 1.98e9,
		ResourceSFU: 1e3 * 2 / 1.98e9, ResourceFP32: 1e-3, ResourceFP16: 1e-3, ResourceFP64: 1e-3,
		ResourceTensor: 1e12 / (2 * 2048 * .63 * 132 * 1.755e9), ResourceLaunch: 2e-6,
	}
	for _, b := range l.Bounds {
		if w, ok := want[b.Resource]; ok {
			if !near(b.Seconds, w) {
				t.Errorf("%s: %v, want %v", b.Resource, b.Seconds, w)
			}
			delete(want, b.Resource)
		}
		if b.Source == "" {
			t.Errorf("%s has no source", b.Resource)
		}
	}
	for r := range want {
		t.Errorf("no bound for %s", r)
	}
	for i := 1; i < len(l.Bounds); i++ {
		if l.Bounds[i].Seconds > l.Bounds[i-1].Seconds {
			t.Error("bounds are not in order")
		}
	}
}

// TestLatencyBound: one CTA that chases pointers takes the mean latency of its chain, times the waves.
func TestLatencyBound(t *testing.T) {
	o := copyLaunch(1 << 8)
	o.Shape.Grid, o.Counts.LoadRounds = [3]uint32{1, 1, 1}, 10000
	l := Evaluate(o, h200(t))
	if want := 10000 * (.5*275 + .5*650) / 1.755e9; l.Bound != ResourceLatency || !near(l.Bounds[0].Seconds, want) {
		t.Errorf("%s %v, want latency %v", l.Bound, l.Bounds[0], want)
	}
	if l.Verdict().Headline != "Latency-bound: one CTA at a time takes 2.64 ms" {
		t.Errorf("verdict %q", l.Verdict())
	}
}

// TestTail: 133 CTAs on 132 SMs keep one SM busy twice as long; the prediction knows, the bound at best doesn't.
func TestTail(t *testing.T) {
	o := copyLaunch(132 * 256)
	o.Counts.FLOPs[FLOPF32] = 1e12
	even := Evaluate(o, h200(t))
	o.Shape.Grid[0]++
	uneven := Evaluate(o, h200(t))
	if even.Bounds[0] != uneven.Bounds[0] {
		t.Error("the best time depends on the tail")
	}
	work := func(l *Launch) float64 { return l.Duration.Low - 2e-6 }
	if r := work(uneven) / work(even); !near(r, 2*132./133) {
		t.Errorf("the tail costs %v, want %v", r, 2*132./133)
	}
}

func TestSampledIsScaled(t *testing.T) {
	const n = 1 << 24
	whole := Evaluate(copyLaunch(n), h200(t))
	part := copyLaunch(n / 16)
	part.Shape, part.Sampled = copyLaunch(n).Shape, 16
	part.MinimumBytes = 8 * n
	l := Evaluate(part, h200(t))
	for _, f := range [][2]Figure{{l.Requests, whole.Requests}, {l.Sectors, whole.Sectors}, {l.L2Bytes, whole.L2Bytes}, {l.WarpInstructions, whole.WarpInstructions},
		{l.DRAMBytes, whole.DRAMBytes}, {l.MinBytes, whole.MinBytes}, {l.Duration, whole.Duration}} {
		if !near(f[0].Value, f[1].Value) {
			t.Errorf("scaled %v, want %v (%s)", f[0].Value, f[1].Value, f[0].Source)
		}
	}
	if want := "32-byte sectors of those requests, scaled from 4,096 of 65,536 CTAs"; l.Sectors.Source != want {
		t.Errorf("source %q, want %q", l.Sectors.Source, want)
	}
	if l.MinBytes.Tag != Formula || l.DRAMBytes.Source != "the kernel's formula × 1, the sample's re-fetch ratio in the modelled L2" {
		t.Errorf("%s, %q", l.MinBytes.Tag, l.DRAMBytes.Source)
	}
	part.MinimumBytes, part.FormulaFLOPs, part.OwnBytes = 0, 0, 8*n // a part of a step, whose traffic is its own and whose share is nothing
	l = Evaluate(part, h200(t))
	if !near(l.DRAMBytes.Value, whole.DRAMBytes.Value) || l.IdealBytes.Value != 0 || l.IdealBytes.Tag != Formula || l.Useful().Value != 0 || l.Useful().Tag != Formula {
		t.Errorf("a part of a step: %+v of %+v, useful %+v", l.DRAMBytes, l.IdealBytes, l.Useful())
	}
	part.OwnBytes = 0 // data that CTAs share is not known: both ends
	l = Evaluate(part, h200(t))
	if !near(l.DRAMBytes.Low, 8*n/16) || !near(l.DRAMBytes.High, 8*n) || !strings.HasSuffix(l.DRAMBytes.Source, "less where CTAs share data") {
		t.Errorf("%+v", l.DRAMBytes)
	}
}

func TestMeasured(t *testing.T) {
	o := copyLaunch(1 << 24)
	o.Virtual, o.Device = false, "cuda:0"
	for _, us := range []time.Duration{34, 33, 35, 34, 36} {
		o.Samples = append(o.Samples, us*time.Microsecond)
	}
	l := Evaluate(o, h200(t))
	if l.Duration.Value != 34e-6 || l.Duration.Tag != Measured || l.Duration.High != 0 || l.Duration.Source != "CUDA events, median of 5, ±1.47%" {
		t.Errorf("%+v", l.Duration)
	}
	if got := l.Verdict().Headline; got != "Memory-bound: 82% of the DRAM roof" {
		t.Errorf("verdict %q", got)
	}
	timed := o
	timed.Batch, timed.Clocks = 12, "SM 1980 MHz, memory 3201 MHz, 612 W, 54 °C"
	const source = "CUDA events, median of 5, ±1.47%, each the mean of 12 in a graph; SM 1980 MHz, memory 3201 MHz, 612 W, 54 °C"
	if l := Evaluate(timed, h200(t)); l.Duration.Source != source {
		t.Errorf("%q, want %q", l.Duration.Source, source)
	}
	virtual := copyLaunch(1 << 24)
	if want := Evaluate(virtual, h200(t)).Duration; l.Predicted != want || want.Tag != Modelled {
		t.Errorf("predicted %+v, want what the virtual GPU says: %+v", l.Predicted, want)
	}
	o.Counted, o.Counts, o.FormulaFLOPs = false, Counts{}, 1e9
	l = Evaluate(o, h200(t))
	if l.Predicted.Known() || l.Predicted.Why != "predictions need exact counts and a profile" {
		t.Errorf("predicted without counts: %+v", l.Predicted)
	}
	if l.DRAMBytes.Known() || l.DRAMBytes.Why != "needs hardware counters, or the virtual GPU" || l.TotalFLOPs.Tag != Formula || l.IdealBytes.Tag != Formula {
		t.Errorf("without counters: %+v", l.DRAMBytes)
	}
	if got := l.Verdict().Headline; got != "Memory-bound: 82% of the DRAM roof" {
		t.Errorf("verdict without counters %q", got)
	}
	o.Samples = nil
	if l = Evaluate(o, h200(t)); l.Duration.Known() || l.Duration.Why != "not timed" {
		t.Errorf("not timed: %+v", l.Duration)
	}
}

func TestWithoutProfile(t *testing.T) {
	l := Evaluate(copyLaunch(1<<20), nil)
	if l.Duration.Why != "the device has no profile" || !l.Sectors.Known() || l.Verdict().Headline != "Unknown: the device has no profile" {
		t.Errorf("%+v %q", l.Duration, l.Verdict())
	}
}

func TestEstimatedRegisters(t *testing.T) {
	o := copyLaunch(1 << 20)
	o.Registers, o.Estimated, o.RegistersLow, o.RegistersHigh = 40, true, 24, 64
	l := Evaluate(o, h200(t))
	if l.RegistersPerThread.Tag != Modelled || l.RegistersPerThread.Number() != "24.0–64.0 " && l.RegistersPerThread.Number() != "24.0–64.0" {
		t.Errorf("registers %q", l.RegistersPerThread.Number())
	}
	if l.Occupancy.Tag != Modelled || l.Occupancy.Number() != "50.0–100%" || l.Occupancy.Value != 75 {
		t.Errorf("occupancy %q, %v", l.Occupancy.Number(), l.Occupancy.Value)
	}
}

// TestEvaluateProperties: more of anything never predicts less time, figures are never NaN, and the time is never below a
// bound's best.
func TestEvaluateProperties(t *testing.T) {
	p := h200(t)
	rapid.Check(t, func(r *rapid.T) {
		o := copyLaunch(uint64(rapid.IntRange(1, 4096).Draw(r, "CTAs")) * 256)
		c := &o.Counts
		n := func(name string) uint64 { return rapid.Uint64Range(0, 1e9).Draw(r, name) }
		c.FLOPs[FLOPF32], c.FLOPs[FLOPTensor] = n("FP32"), n("tensor")
		c.SharedLoad.Wavefronts, c.Instructions[ClassSFU] = n("wavefronts"), n("SFU")
		c.WarpInstructions += n("instructions")
		a := Evaluate(o, p)
		for _, b := range a.Bounds {
			if !(b.Seconds > 0) || math.IsInf(b.Seconds, 0) || b.Seconds > a.Duration.Low*(1+1e-9) {
				r.Fatalf("%s needs %v at best, predicted %v", b.Resource, b.Seconds, a.Duration)
			}
		}
		if !near(a.Duration.High, 1.6*a.Duration.Low) || a.Duration.Value < a.Duration.Low || a.Duration.Value > a.Duration.High {
			r.Fatalf("range %+v", a.Duration)
		}
		c.FLOPs[FLOPTensor] += n("more tensor")
		c.SharedLoad.Wavefronts += n("more wavefronts")
		c.Cache.DRAMReadSectors += n("more sectors")
		if b := Evaluate(o, p); b.Duration.Low < a.Duration.Low {
			r.Fatalf("more work takes less time: %v, %v", a.Duration, b.Duration)
		}
		if v := a.Verdict(); v.Headline == "" || strings.Contains(v.Headline, NotANumber) || v.Kind == "" {
			r.Fatalf("verdict %+v", v)
		}
	})
}

func TestCountsAdd(t *testing.T) {
	a, b := copyLaunch(1<<10).Counts, copyLaunch(1<<12).Counts
	a.LoadRounds, b.LoadRounds = 3, 2
	a.Add(&b)
	want := copyLaunch(5 << 10).Counts
	want.LoadRounds = 3
	if a != want {
		t.Errorf("got %+v\nwant %+v", a, want)
	}
	if ClassTensor.String() != "tensor" || NumClasses.String() != "unknown class" || FLOPTensor.String() != "tensor" || NumFLOPTypes.String() != "unknown type" {
		t.Error("names")
	}
}
