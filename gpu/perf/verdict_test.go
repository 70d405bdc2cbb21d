package perf

import (
	"strings"
	"testing"
	"time"
)

// shaped is a launch of many CTAs whose counts the test fills.
func shaped(fill func(o *Observation)) Observation {
	o := copyLaunch(1 << 20)
	o.Kernel = "k"
	o.Counts.Cache, o.Counts.LoadRounds = CacheCounts{}, 0
	o.Counts.GlobalLoad, o.Counts.GlobalStore, o.MinimumBytes = Access{}, Access{}, 0
	fill(&o)
	return o
}

// TestVerdictAndAdvice compares the whole text of verdict and first advice.
func TestVerdictAndAdvice(t *testing.T) {
	line := func(file string, n int, g Access, s SharedAccess) LineCounts {
		return LineCounts{PTXLine: 7, SourceLine: n, File: file, Global: g, Shared: s}
	}
	bad := Access{Requests: 1e6, Sectors: 32e6, IdealSectors: 4e6}
	checkVerdicts(t, []judged{
		{"copy", copyLaunch(1 << 24), "Memory-bound: DRAM allows 28.0 µs at best", "Bytes are the cost: half of the 134 MB would take half the 28.0 µs"},
		{"GEMV", shaped(func(o *Observation) {
			o.Counts.FLOPs[FLOPF32], o.Counts.Cache.DRAMReadSectors, o.MinimumBytes = 33554432, 1<<20, 33554432
		}), "Memory-bound: DRAM allows 6.99 µs at best",
			"Bytes are the cost: 1.00 FLOP/B of 14 at the ridge. Use each byte 14× more often, or store it in fewer bits"},
		{"fetched again", shaped(func(o *Observation) {
			o.Counts.Cache.DRAMReadSectors, o.MinimumBytes = 3<<20, 33554432
		}), "Memory-bound: DRAM allows 21.0 µs at best",
			"DRAM moves 3.00× the least: data leaves L2 before it is used again. Order CTAs so that neighbours share it"},
		{"tensor", shaped(func(o *Observation) {
			o.Counts.FLOPs[FLOPTensor], o.Counts.Cache.DRAMReadSectors = 17179869184, 1310720
		}), "Compute-bound: the tensor cores allow 28.7 µs at best", "DRAM needs 8.74 µs, 30% of the 28.7 µs: bytes are not the limit"},
		{"left of the ridge", shaped(func(o *Observation) { // 150 FLOP/B: mma.sync's reach is 130 FLOP/B, the ridge 206
			o.Counts.FLOPs[FLOPTensor], o.Counts.Cache.DRAMReadSectors = 150*32*(1<<20), 1<<20
		}), "Balanced: tensor and DRAM", "Both tensor (8.42 µs) and DRAM (6.99 µs) must shrink before the time does"},
		{"FP32", shaped(func(o *Observation) {
			o.Counts.FLOPs[FLOPF32], o.Counts.Cache.DRAMReadSectors = 67e9, 1<<10
		}), "Compute-bound: the FP32 roof allows 1.00 ms at best", "Arithmetic is the cost: for f16 or bf16 inputs the tensor roof is 14.8× higher (mma)"},
		{"issue slots full of FMA", shaped(func(o *Observation) {
			o.Counts.FLOPs[FLOPF32], o.Counts.WarpInstructions = 67e9, 132*4*1.98e6*1.5
			o.Counts.Cache.DRAMReadSectors = 1 << 10
		}), "Compute-bound: the FP32 roof allows 1.00 ms at best", "Arithmetic is the cost: for f16 or bf16 inputs the tensor roof is 14.8× higher (mma)"},
		{"issue", shaped(func(o *Observation) {
			o.Counts.WarpInstructions, o.Counts.Instructions = 132*4*1.98e6, [NumClasses]uint64{ClassInteger: 132 * 3 * 1.98e6}
		}), "Issue-bound: the schedulers allow 1.00 ms at best",
			"Instructions are the cost, 75% of them integer: more work an instruction, by wider loads and longer unrolled loops"},
		{"divergence", shaped(func(o *Observation) {
			o.Counts.WarpInstructions, o.Counts.Branches, o.Counts.DivergentBranches = 132*4*1.98e6, 1000, 400
		}), "Issue-bound: the schedulers allow 1.00 ms at best", "40% of the branches part a warp, and both sides are issued: let whole warps decide alike"},
		{"transcendentals", shaped(func(o *Observation) {
			o.Counts.Instructions[ClassSFU] = 132 * 1.98e6
		}), "Compute-bound: the special function units allow 2.00 ms at best", ""},
		{"L2", shaped(func(o *Observation) {
			o.Counts.Cache.L2Lookups, o.Counts.Cache.DRAMReadSectors, o.MinimumBytes = 132*2*1.98e6, 1<<16, 1<<21
		}), "L2-bound: L2 allows 1.00 ms at best", "Each DRAM byte is read 7,980 times from L2: keep tiles in shared memory or registers"},
		{"bank conflicts", shaped(func(o *Observation) {
			o.Counts.SharedLoad = SharedAccess{Requests: 1e6, Wavefronts: 132 * 1.98e6, IdealWavefronts: 132 * 1.98e6 / 4}
			o.Lines = []LineCounts{line("src/t.cu", 12, Access{}, o.Counts.SharedLoad)}
		}), "Shared-memory-bound: shared memory allows 1.00 ms at best", "75% of 261 M shared wavefronts are bank conflicts, most at t.cu:12: pad or swizzle the rows"},
		{"shared without conflicts", shaped(func(o *Observation) {
			o.Counts.SharedLoad = SharedAccess{Requests: 1e6, Wavefronts: 132 * 1.98e6, IdealWavefronts: 132 * 1.98e6}
			o.Counts.FLOPs[FLOPF32] = 132 * 1.98e6 * 64
		}), "Shared-memory-bound: shared memory allows 1.00 ms at best",
			"Each shared wavefront feeds 64 FLOP: larger tiles in registers use a loaded value more often"},
		{"wasteful", shaped(func(o *Observation) {
			o.Counts.GlobalLoad, o.Counts.Cache.DRAMReadSectors, o.Counts.Cache.DistinctRead = bad, 32e6, 4e6
			o.Lines = []LineCounts{line("a/b.cu", 3, bad, SharedAccess{}), {PTXLine: 9, Global: Access{Requests: 1, Sectors: 1, IdealSectors: 4}}}
		}), "Memory-bound, wasteful: 87% of the sectors are not needed", "28.0 M excessive sectors, 87% of all, most at b.cu:3: 32 sectors a request, ideal 4"},
		{"waste that L1 hides", shaped(func(o *Observation) {
			o.Counts.GlobalLoad, o.Counts.Cache.DRAMReadSectors, o.Counts.Cache.DistinctRead = bad, 4e6, 4e6
			o.Counts.Cache.L1Lookups, o.Counts.Cache.L1Hits, o.Counts.Cache.L2Lookups = 32e6, 28e6, 4e6
			o.Lines = []LineCounts{line("", 0, bad, SharedAccess{})}
		}), "Memory-bound: DRAM allows 26.7 µs at best", "28.0 M excessive sectors, 88% of all, most at PTX line 7: 32 sectors a request, ideal 4"},
		{"launch", shaped(func(o *Observation) { o.Counts.Cache.DRAMReadSectors, o.Counts.WarpInstructions = 1<<15, 1 }),
			"Launch-bound: 2.00 of 2.24 µs", "The launch alone is 89% of the time: give one launch more work, or fuse it with its neighbours"},
		{"small grid", shaped(func(o *Observation) {
			o.Counts.Cache.DRAMReadSectors, o.Shape.Grid[0], o.Counts.WarpInstructions = 1<<20, 16, 1
		}), "Memory-bound: DRAM allows 6.99 µs at best", "Grid too small: 16 CTAs leave 116 of 132 SMs idle. Split the work into more CTAs"},
		{"tail", shaped(func(o *Observation) { o.Counts.FLOPs[FLOPTensor], o.Shape.Grid[0] = 1e12, 140 }),
			"Compute-bound: the tensor cores allow 1.67 ms at best", "The busiest SM has 2 CTAs, the mean is 1.06: a grid near a multiple of 132 CTAs would end together"},
		{"two bounds", shaped(func(o *Observation) {
			o.Counts.Cache.DRAMReadSectors, o.Counts.Cache.L2Lookups = 1<<20, 7.1e-6*132*64*1.98e9/32
		}), "Balanced: L2 and DRAM", "Both L2 (7.10 µs) and DRAM (6.99 µs) must shrink before the time does"},
		{"spills", shaped(func(o *Observation) { o.Counts.Cache.DRAMReadSectors, o.SpillBytes = 1<<20, 48 }),
			"Memory-bound: DRAM allows 6.99 µs at best", "Registers spill 48 B a thread to local memory: fewer values alive at once, or smaller tiles"},
		{"an array in local memory", shaped(func(o *Observation) {
			o.LocalBytes, o.Counts.LocalLoad.Sectors, o.Counts.GlobalLoad = 512, 1e6, Access{Sectors: 1e6, IdealSectors: 1e6}
			o.Simulated = &Simulation{Seconds: 15e-6, Cycles: 26000, Alone: 100, Waits: [NumWaits]float64{WaitMemory: .7}, LocalBeyondL2: .62}
		}), "Latency-bound: 70% of the cycles wait for data from memory",
			"An array of each thread lies in local memory (512 B), 62% of it more than L2 holds: indices that the compiler knows keep it in registers, or use shared memory"},
		{"does not fit", shaped(func(o *Observation) { o.Registers, o.Shape.CTA = 156, [3]uint32{512, 1, 1} }),
			"Does not fit: not one CTA on an SM, limit: registers",
			"One CTA needs 512 threads × 156 registers and 0 B of shared memory: more than an SM has. Use smaller CTAs"},
	})
}

// judged is a launch with the whole text of its verdict and of its first advice.
type judged struct {
	name            string
	o               Observation
	verdict, advice string
}

func checkVerdicts(t *testing.T, rows []judged) {
	t.Helper()
	for _, c := range rows {
		l := Evaluate(c.o, h200(t))
		if got := l.Verdict().Headline; got != c.verdict {
			t.Errorf("%s: verdict\n got %s\nwant %s (%v)", c.name, got, c.verdict, l.Bounds)
		}
		if got := l.TopAdvice().Text; got != c.advice {
			t.Errorf("%s: advice\n got %s\nwant %s", c.name, got, c.advice)
		}
		if a := l.Advise(); c.advice != "" && (len(a) == 0 || a[0].Text != c.advice || len(a[0].Tags) == 0) {
			t.Errorf("%s: %v", c.name, a)
		}
		if v := l.Verdict(); v.Tag == "" || v.String() != v.Headline {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

// TestVerdictOfWaits: what atomics wait for is a bound, and where no bound explains a simulated time, what the simulation waits for.
func TestVerdictOfWaits(t *testing.T) {
	bad := Access{Requests: 1e6, Sectors: 32e6, IdealSectors: 4e6}
	checkVerdicts(t, []judged{
		{"one address", shaped(func(o *Observation) { // 10 cycles a request and 1 a lane, at 1.755 GHz
			o.Counts.Hottest = Hottest{Packets: 1e5, Updates: 32e5, Shared: true}
			o.Lines = []LineCounts{{PTXLine: 7}, {PTXLine: 9, SourceLine: 4, File: "h.cu", Class: ClassGlobal, Contention: Contention{Requests: 1e5, Passes: 32e5}}}
		}), "Contention-bound: 3.20 M updates of one place take about 2.12 ms",
			"3.20 M updates of one place at h.cu:4 wait for each other: add up in the warp (__reduce_add_sync, shuffles) and the CTA (shared memory) first, then one atomic a CTA"},
		{"compare and swap", shaped(func(o *Observation) {
			o.Counts.Hottest = Hottest{Packets: 1e4, Updates: 1e5, Compares: 1e5, Shared: true}
		}), "Contention-bound: 100 k updates of one place take about 13.9 ms",
			"100 k compare-and-swaps of one address wait for each other: use an atomic that does it in one step (atomicAdd, atomicMax), or one a CTA"},
		{"waits for memory", shaped(func(o *Observation) {
			o.Counts.Cache.DRAMReadSectors, o.Counts.LoadRounds = 1<<20, 9
			o.Simulated = &Simulation{Seconds: 25e-6, Cycles: 43000, Alone: 3000, Waits: [NumWaits]float64{WaitMemory: .7, WaitBarrier: .1}}
		}), "Latency-bound: 70% of the cycles wait for data from memory", "9 loads wait for each other in a warp: issue several independent loads before the first use"},
		{"waits at barriers", shaped(func(o *Observation) {
			o.Simulated = &Simulation{Seconds: 15e-6, Cycles: 26000, Alone: 3000, Waits: [NumWaits]float64{WaitMemory: .1, WaitBarrier: .6}}
		}), "Latency-bound: 60% of the cycles wait for other warps at barriers",
			"Schedulers wait 60% of their cycles for other warps at barriers: fewer barriers, or several CTAs an SM, so that one works while another waits"},
		{"waits for a little of everything", shaped(func(o *Observation) {
			o.Simulated = &Simulation{Seconds: 15e-6, Cycles: 26000, Alone: 3000, Waits: [NumWaits]float64{WaitMemory: .1, WaitBarrier: .2}}
		}), "Latency-bound: 30% of the cycles wait, 20% for other warps at barriers",
			"Schedulers wait 20% of their cycles for other warps at barriers: fewer barriers, or several CTAs an SM, so that one works while another waits"},
		{"lines that the load/store units take apart", shaped(func(o *Observation) {
			o.Counts.GlobalLoad, o.Counts.Cache.DRAMReadSectors = bad, 1000
			o.Simulated = &Simulation{Seconds: 15e-6, Cycles: 26000, Alone: 26000, Machine: MachineCycles{LSU: 25000}}
		}), "Load/store-bound: the load/store units allow about 12.6 µs", "28.0 M excessive sectors, 88% of all"},
		{"L2 at the rate that launches reach", shaped(func(o *Observation) { // 40 of 64 bytes a cycle, at the model's clock: 18.1 of 20 µs
			o.Counts.Cache.L2Lookups = 132 * 2 * 19800
			o.Simulated = &Simulation{Seconds: 24e-6, Cycles: 42120, Alone: 100, Waits: [NumWaits]float64{WaitMemory: .5}}
		}), "L2-bound: L2 allows 10.0 µs at best", ""},
		{"a pipe of one SM", shaped(func(o *Observation) { // 1 ms of FMA on one SM; all would take 1/132 of it
			o.Counts.FLOPs[FLOPF32], o.Shape.Grid[0] = 507_575_757, 1
			o.Simulated = &Simulation{Seconds: 1.1e-3, Cycles: 1.1e-3 * 1.755e9, Alone: 1.1e-3 * 1.755e9,
				Machine: MachineCycles{FP32: .88e-3 * 1.755e9, Issue: .9e-3 * 1.755e9}, Waits: [NumWaits]float64{WaitArithmetic: .4}}
		}), "Compute-bound: the FP32 pipes of 1 of 132 SMs work 80% of the time", "Grid too small: 1 CTA leaves 131 of 132 SMs idle. Split the work into more CTAs"},
		{"a pipe of the busiest SM", shaped(func(o *Observation) { // it has two CTAs, the others one
			o.Counts.FLOPs[FLOPF64], o.Shape.Grid[0] = 33e9/2, 133
			o.Simulated = &Simulation{Seconds: 1.1e-3, Cycles: 1.1e-3 * 1.755e9, Alone: .55e-3 * 1.755e9, Machine: MachineCycles{FP64: .99e-3 * 1.755e9}}
		}), "Compute-bound: the FP64 pipes of the busiest SM work 90% of the time",
			"The busiest SM has 2 CTAs, the mean is 1.01: a grid near a multiple of 132 CTAs would end together"},
		{"few SMs wait", shaped(func(o *Observation) {
			o.Shape.Grid[0], o.Counts.LoadRounds = 3, 5
			o.Simulated = &Simulation{Seconds: 15e-6, Cycles: 26000, Alone: 26000, Waits: [NumWaits]float64{WaitMemory: .9}}
		}), "Latency-bound: 90% of the cycles of 3 of 132 SMs wait for data from memory", "Grid too small: 3 CTAs leave 129 of 132 SMs idle. Split the work into more CTAs"},
		{"less than half is the launch", shaped(func(o *Observation) { // 1.40 µs of DRAM in 2.5 µs beside 2 µs of launch
			o.Counts.Cache.DRAMReadSectors, o.MinimumBytes = 210_000, 210_000*32
			o.Simulated = &Simulation{Seconds: 2.5e-6, Cycles: 4387, Alone: 300, Waits: [NumWaits]float64{WaitMemory: .6}}
		}), "Memory-bound: DRAM allows 1.40 µs at best", "Bytes are the cost: half of the 6.72 MB would take half the 1.40 µs"},
		{"one address of shared memory", shaped(func(o *Observation) {
			o.Simulated = &Simulation{Seconds: 15e-6, Cycles: 26000, Alone: 26000, Machine: MachineCycles{LSU: 25000}}
			o.Counts.SharedContention = Contention{Requests: 100, Addresses: 100, Passes: 3200}
			o.Lines = []LineCounts{{PTXLine: 9, Class: ClassShared, Contention: o.Counts.SharedContention}}
		}), "Load/store-bound: the load/store units allow about 12.6 µs",
			"Atomics on shared memory at PTX line 9 have 32 lanes a request at one address, one after another: add up in the warp (__reduce_add_sync, shuffles) first, then one atomic a warp"},
		{"a bound explains it", shaped(func(o *Observation) {
			o.Counts.Cache.DRAMReadSectors = 1 << 20
			o.Simulated = &Simulation{Seconds: 13e-6, Cycles: 22800, Alone: 3000, Waits: [NumWaits]float64{WaitMemory: .7}}
		}), "Memory-bound: DRAM allows 6.99 µs at best", "Bytes are the cost: half of the 33.6 MB would take half the 6.99 µs"},
	})
}

func TestMeasuredVerdicts(t *testing.T) {
	for _, c := range []struct {
		name        string
		bytes, flop float64
		us          time.Duration
		want        string
	}{
		{"memory", 33.6e6, 33.6e6, 10300, "Memory-bound: 68% of the DRAM roof"},
		{"compute", 40e6, 67e9, 1500000, "Compute-bound: 67% of the FP32 roof"},
		{"both", 3.6e9, 50e9, 1000000, "Balanced: 75% of DRAM, 75% of FP32"},
		{"neither", 200e6, 1e9, 100000, "Latency-bound: 42% of DRAM, 15% of FP32"},
		{"launch", 1e6, 1e6, 3100, "Launch-bound: 2.00 of 3.10 µs"},
		{"L2", 40e6, 1e6, 5000, "Working set fits L2: faster than DRAM could deliver"},
		{"nothing known", 0, 0, 5000, "Measured: 5.00 µs, no bytes or FLOPs known to compare with a roof"},
	} {
		o := copyLaunch(1 << 20)
		o.Virtual, o.Counted, o.Counts = false, false, Counts{}
		o.MinimumBytes, o.FormulaFLOPs, o.Samples = c.bytes, c.flop, []time.Duration{c.us * time.Nanosecond}
		if got := Evaluate(o, h200(t)).Verdict(); got.Headline != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got.Headline, c.want)
		}
	}
}

// TestRange: a range is wide for the work that is predicted less well, not for the launch, nor where such stores take next to no time.
func TestRange(t *testing.T) {
	for _, c := range []struct {
		name      string
		o         Observation
		low, high float64 // µs
	}{
		{"20 µs of work", shaped(func(o *Observation) {}), .8 * 22, 1.3 * 22},
		{"one warp a CTA", shaped(func(o *Observation) { o.Shape.CTA[0] = 32 }), .8*2 + .5*20, 1.3*2 + 2*20},
		{"few partial stores", shaped(func(o *Observation) { o.Counts.GlobalStore.Sectors = 1000 }), .8 * 22, 1.3 * 22},
		{"many partial stores", shaped(func(o *Observation) { o.Counts.GlobalStore.Sectors = 1e6 }), .8*2 + .5*20, 1.3*2 + 2*20}, // 64 MB through L2
	} {
		c.o.Simulated = &Simulation{Seconds: 20e-6, Cycles: 35100, Alone: 3000, Partial: 1}
		if d := Evaluate(c.o, h200(t)).Duration; !near(d.Low, c.low*1e-6) || !near(d.High, c.high*1e-6) {
			t.Errorf("%s: %s (%s), want %.1f to %.1f µs", c.name, d.Number(), d.Source, c.low, c.high)
		}
	}
}

// TestUnknownSharing: a sample of a kernel without a formula read 2.10 MB; all CTAs read sixteen times as much if they share nothing,
// no more if they share all. The prediction is of the former, the range reaches down to the latter.
func TestUnknownSharing(t *testing.T) {
	o := shaped(func(o *Observation) {
		o.Counts.Cache.DRAMReadSectors, o.Counts.Cache.DistinctRead, o.Counts.Cache.L2Lookups = 1<<16, 1<<16, 1<<16
		o.Sampled, o.Executed, o.Counts.WarpInstructions = 16, o.Shape.CTAs()/16, 1
	})
	l := Evaluate(o, h200(t))
	if got, want := l.Verdict().Headline, "Memory-bound: DRAM allows about 6.99 µs"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	const shared = 2097152 / 4.8e12 / .93 // DRAM's reach on an H200 for reads, below what the ports of the SMs need
	if ports := 33554432 / (40 * 132 * 1.755e9); !(l.Duration.Low > 2e-6+shared && l.Duration.Low < 2e-6+1.5*ports) || l.Duration.High < 9e-6 {
		t.Errorf("%s: %s", l.Duration.Number(), l.Duration.Source)
	}
	if want := "launch + DRAM, × 1.0–1.6, less where CTAs share data"; l.Duration.Source != want {
		t.Errorf("source %q, want %q", l.Duration.Source, want)
	}
	o.MinimumBytes = 2097152 // they share all
	if l := Evaluate(o, h200(t)); l.Verdict().Headline != "L2-bound: L2 allows 2.01 µs at best" || strings.Contains(l.Duration.Source, "share") {
		t.Errorf("with the formula: %s, %s", l.Verdict(), l.Duration.Source)
	}
}

// TestMeasuredSmallGrid: a measured launch that reaches no roof says how many SMs have work.
func TestMeasuredSmallGrid(t *testing.T) {
	o := copyLaunch(1 << 20)
	o.Virtual, o.Counted, o.Counts, o.Shape.Grid = false, false, Counts{}, [3]uint32{1, 1, 1}
	o.MinimumBytes, o.FormulaFLOPs, o.Samples = 200e6, 1e9, []time.Duration{100 * time.Microsecond}
	if got, want := Evaluate(o, h200(t)).Verdict().Headline, "Latency-bound: 1 of 132 SMs has work; 42% of DRAM, 15% of FP32"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestAggregate(t *testing.T) {
	p := h200(t)
	a, b := Evaluate(copyLaunch(1<<24), p), Evaluate(copyLaunch(1<<22), p)
	small := Evaluate(shaped(func(o *Observation) { o.Counts.Cache.DRAMReadSectors, o.Counts.WarpInstructions = 1, 1 }), p)
	total := Aggregate([]*Launch{a, b, small}, Figure{})
	if !near(total.Duration.Low, a.Duration.Low+b.Duration.Low+small.Duration.Low) || total.Duration.Tag != Modelled || total.Duration.Source != "sum over 3 launches" {
		t.Errorf("duration %+v", total.Duration)
	}
	if !near(total.DRAMBytes.Value, 8*(1<<24)+8*(1<<22)+32) || len(total.Groups) != 2 || total.Groups[0].Kernel != "probe/1_copy" || total.Groups[0].Launches != 2 {
		t.Errorf("%+v", total)
	}
	if got := total.Verdict().Headline; got != "Memory-bound: 96% of the time" {
		t.Errorf("verdict %q", got)
	}
	if got := Aggregate([]*Launch{a, b}, Figure{}).Verdict().Headline; got != "Memory-bound: all 2 launches" {
		t.Errorf("verdict %q", got)
	}
	if got := Aggregate([]*Launch{a}, Figure{}).Verdict(); got != a.Verdict() {
		t.Errorf("one launch: %v", got)
	}
	if got := Aggregate(nil, Figure{}).Verdict().Headline; got != "Nothing launched" {
		t.Errorf("none: %q", got)
	}
	wall := Figure{Value: 4 * total.Duration.Value, Unit: "s", Tag: Measured}
	if got := Aggregate([]*Launch{a, b, small}, wall).Verdict().Headline; got != "Starving: the GPU idles 75% of the step" {
		t.Errorf("with gaps: %q", got)
	}
	lacking := *b
	lacking.DRAMBytes, lacking.IdealBytes = Absent("B", "no counters"), Absent("B", "no formula")
	if f := Aggregate([]*Launch{a, &lacking}, Figure{}).DRAMBytes; f.Known() || f.Why != "one launch lacks it: no formula" {
		t.Errorf("a sum of part of the launches is shown as the whole: %+v", f)
	}
}

func TestCompare(t *testing.T) {
	p := h200(t)
	one := func(o Observation) []*Launch { return []*Launch{Evaluate(o, p)} }
	for _, c := range []struct {
		name  string
		a, b  Observation
		ratio string
		want  string
	}{
		{"far apart", copyLaunch(1 << 25), copyLaunch(1 << 24), "1.94", Faster},
		{"the other way", copyLaunch(1 << 24), copyLaunch(1 << 25), "0.514", Slower},
		{"equal", copyLaunch(1 << 24), copyLaunch(1 << 24), "1.00", Same},
		{"close", copyLaunch(1 << 24), copyLaunch(15 << 20), "1.06", Unclear},
	} {
		got, err := Compare("a", one(c.a), "b", one(c.b))
		if err != nil || got.Verdict != c.want || Significant(got.Ratio) != c.ratio || got.Tag != Modelled {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	measured := func(us ...int) []*Launch {
		o := copyLaunch(1 << 24)
		o.Virtual = false
		for _, v := range us {
			o.Samples = append(o.Samples, time.Duration(v)*time.Microsecond)
		}
		return one(o)
	}
	for _, c := range []struct {
		name string
		a, b []*Launch
		want string
	}{
		{"faster", measured(40, 41, 42, 40, 41, 42), measured(30, 31, 30, 29, 30, 31), Faster},
		{"slower", measured(30, 31, 30, 29, 30, 31), measured(40, 41, 42, 40, 41, 42), Slower},
		{"same", measured(4000, 4001, 4002, 4001, 4000, 4002), measured(4001, 4000, 4002, 4002, 4001, 4000), Same},
		{"noise", measured(30, 50, 40, 35, 45, 41), measured(45, 31, 42, 39, 36, 47), Unclear},
		{"too few", measured(30, 31, 30, 30), measured(10, 11, 10, 10), Unclear},
	} {
		got, err := Compare("a", c.a, "b", c.b)
		if err != nil || got.Verdict != c.want || !(got.Low <= got.Ratio && got.Ratio <= got.High) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	other := copyLaunch(1 << 24)
	other.Device = "virtual:t4"
	real := measured(30, 31)
	real[0].Device = "virtual:h200"
	for _, c := range []struct {
		a, b []*Launch
		want string
	}{
		{nil, one(copyLaunch(1 << 20)), `comparing "a" with "b": a launched nothing`},
		{one(copyLaunch(1 << 20)), nil, `comparing "a" with "b": b launched nothing`},
		{one(copyLaunch(1 << 20)), one(other), `comparing "a" on virtual:h200 with "b" on virtual:t4: run both on one device`},
		{one(copyLaunch(1 << 20)), real, `comparing "a" (MODELLED) with "b" (MEASURED): a MODELLED time says nothing about a MEASURED one`},
	} {
		if _, err := Compare("a", c.a, "b", c.b); err == nil || err.Error() != c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

func TestSweep(t *testing.T) {
	p := h200(t)
	s := Sweep{Parameter: "batch", Item: ItemOf("batch")}
	for i, n := range []uint64{1, 2, 4} {
		s.Rows = append(s.Rows, SweepRow{Label: "x", Value: float64(int(1) << i), Launches: []*Launch{Evaluate(copyLaunch(n<<20), p)}})
	}
	s.Rows = append(s.Rows, SweepRow{Label: "8", Value: 8, Failed: "out of memory"})
	if s.Item != "token" || s.Best() != 2 {
		t.Errorf("best %d by %q, want the last that ran", s.Best(), s.Item)
	}
	s.Item = ""
	if s.Best() != 0 {
		t.Errorf("by time %d, want the first", s.Best())
	}
	if _, ok := s.Cost(&s.Rows[3]); ok {
		t.Error("a failed row has a cost")
	}
	if (&Sweep{Rows: s.Rows[3:]}).Best() != -1 {
		t.Error("best of failures")
	}
}

// TestSmallGrid: where too few CTAs make the SMs that have work the limit, the verdict says so; where the resource that limits
// the whole GPU also limits them, it stays.
func TestSmallGrid(t *testing.T) {
	p, err := ProfileByName("h200")
	if err != nil {
		t.Fatal(err)
	}
	const w = 2 * 4096 * 4096
	launch := func(ctas uint32, flops, l2 uint64) *Launch {
		o := Observation{Kernel: "gemm/9_cp_async", Device: "virtual:h200", Virtual: true, Cold: true, Counted: true, Sampled: 1, Executed: uint64(ctas),
			Shape: Shape{Grid: [3]uint32{ctas, 1, 1}, CTA: [3]uint32{128, 1, 1}}, Registers: 128, MinimumBytes: w, FormulaFLOPs: float64(flops)}
		o.Counts.FLOPs[FLOPTensor] = flops
		o.Counts.Cache = CacheCounts{L2Lookups: l2 / 32, DRAMReadSectors: w / 32, DistinctRead: w / 32}
		return Evaluate(o, p)
	}
	for _, c := range []struct {
		l    *Launch
		want string
	}{
		{launch(64, 2.1e9, 68e6), "Latency-bound: 64 of 132 SMs have work, for 8.38 µs at best"},
		{launch(128, 2.1e9, 68e6), "Memory-bound: DRAM allows 6.99 µs at best"},
		{launch(64, 17.2e9, 200e6), "Compute-bound: the tensor cores allow 28.8 µs at best"},
	} {
		if got := c.l.Verdict().Headline; got != c.want {
			t.Errorf("%d CTAs: %q, want %q; bounds %+v", c.l.Shape.Grid[0], got, c.want, c.l.Bounds)
		}
	}
	if a := launch(64, 2.1e9, 68e6).TopAdvice().Text; a != "Grid too small: 64 CTAs leave 68 of 132 SMs idle. Split the work into more CTAs" {
		t.Errorf("advice %q", a)
	}
}

// TestSampledReuse: a sample of a working set beyond L2 says that its DRAM bytes are the least.
func TestSampledReuse(t *testing.T) {
	o := Observation{Kernel: "gemm/8_swizzle", Device: "virtual:t4", Virtual: true, Cold: true, Counted: true, Sampled: 16, Executed: 32,
		Shape: Shape{Grid: [3]uint32{8, 64, 1}, CTA: [3]uint32{128, 1, 1}}, Registers: 128, MinimumBytes: 41.9e6}
	o.Counts.Cache = CacheCounts{L2Lookups: 23e6 / 32, DRAMReadSectors: 17e6 / 32, DistinctRead: 17e6 / 32}
	for name, want := range map[string]bool{"t4": true, "h200": false} {
		p, err := ProfileByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := Evaluate(o, p).LeastDRAM(); got != want {
			t.Errorf("%s: LeastDRAM %v, want %v", name, got, want)
		}
	}
}
