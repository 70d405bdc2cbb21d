package card

import (
	"testing"
	"time"

	"memwall/gpu/perf"
)

func profile(t testing.TB, name string) *perf.Profile {
	t.Helper()
	p, err := perf.ProfileByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// gemv is a decode product of a 4096 × 4096 matrix of halves, a warp a row with 16-byte loads, as counted by hand: weights
// once, x out of L1, one FMA a weight.
func gemv(kernel string) perf.Observation {
	const n, k = 4096, 4096
	weights := uint64(2 * n * k)
	loads := weights/16/32 + uint64(n*k/8/32) // w, and 8 values of x with each
	o := perf.Observation{
		Kernel: kernel, Function: "gemv", Device: "virtual:h200", Virtual: true,
		Shape:     perf.Shape{Grid: [3]uint32{512, 1, 1}, CTA: [3]uint32{256, 1, 1}},
		Registers: 48, Counted: true, Sampled: 1, Executed: 512, Cold: true, MinimumBytes: float64(2*n*k + 2*k + 2*n),
	}
	c := &o.Counts
	c.CTAs, c.Warps = 512, 4096
	c.FLOPs[perf.FLOPF32] = 2 * n * k
	c.GlobalLoad = perf.Access{Requests: loads, Lanes: loads * 32, Bytes: loads * 512, Sectors: loads * 16, IdealSectors: loads * 16, Lines: loads * 4}
	c.GlobalStore = perf.Access{Requests: n, Lanes: n, Bytes: 2 * n, Sectors: n, IdealSectors: n, Lines: n}
	c.Instructions[perf.ClassFP32] = n * k / 32
	c.Instructions[perf.ClassConvert] = 2 * n * k / 32
	c.Instructions[perf.ClassGlobal] = loads + n
	c.WarpInstructions = 4 * n * k / 32
	c.LoadRounds = 1
	c.Cache = perf.CacheCounts{
		L1Lookups: 2 * weights / 32, L1Hits: weights/32 - 256*132, L2Lookups: weights/32 + 256*132, L2Hits: 256*132 - 256,
		DRAMReadSectors: weights/32 + 256, DRAMWriteSectors: 2 * n / 32, DistinctRead: weights/32 + 256, DistinctWritten: 2 * n / 32,
	}
	return o
}

// warmGEMV is gemv once more with the L2 as it was left: DRAM sees the output written.
func warmGEMV() perf.Observation {
	o := gemv("gemv/3_vec16")
	o.Cold = false
	c := &o.Counts.Cache
	c.L2Hits, c.DRAMReadSectors = c.L2Lookups, 0
	return o
}

// gemm is a prefill product of m rows with the same weights by mma, CTA tiles of 128 × 128.
func gemm(kernel string, m uint64) perf.Observation {
	const n, k = 4096, 4096
	tiles := (m + 127) / 128 * (n / 128)
	o := perf.Observation{
		Kernel: kernel, Device: "virtual:h200", Virtual: true,
		Shape:     perf.Shape{Grid: [3]uint32{n / 128, uint32((m + 127) / 128), 1}, CTA: [3]uint32{256, 1, 1}},
		Registers: 128, StaticShared: 40 << 10, Counted: true, Sampled: 1, Executed: tiles, Cold: true,
		MinimumBytes: float64(2*n*k + 2*m*k + 2*m*n),
	}
	c := &o.Counts
	c.CTAs, c.Warps = tiles, tiles*8
	c.FLOPs[perf.FLOPTensor] = 2 * m * n * k
	l2 := tiles * 256 * k * 2 / 32
	c.GlobalLoad = perf.Access{Requests: l2 / 16, Lanes: l2 * 2, Bytes: l2 * 32, Sectors: l2, IdealSectors: l2, Lines: l2 / 4}
	c.GlobalStore = perf.Access{Requests: m * n / 64, Lanes: m * n / 2, Bytes: 2 * m * n, Sectors: m * n / 16, IdealSectors: m * n / 16}
	mma := 2 * m * n * k / 4096
	c.Instructions[perf.ClassTensor], c.Instructions[perf.ClassShared] = mma, mma/2
	c.WarpInstructions = 2 * mma
	c.SharedLoad = perf.SharedAccess{Requests: mma / 4, Wavefronts: mma, IdealWavefronts: mma}
	c.LoadRounds = 1
	least := (n*k + m*k) * 2 / 32
	c.Cache = perf.CacheCounts{L1Lookups: l2, L2Lookups: l2 + m*n/16, L2Hits: l2 - least + m*n/16,
		DRAMReadSectors: least, DRAMWriteSectors: m * n / 16, DistinctRead: least, DistinctWritten: m * n / 16}
	return o
}

// sampledReuse is a sample of a product whose operands are larger than the L2 of a T4.
func sampledReuse() perf.Observation {
	o := gemm("gemm/7_mma", 512)
	o.Device, o.Sampled, o.Executed = "virtual:t4", 16, o.Executed/16
	c := &o.Counts
	for _, n := range []*uint64{&c.FLOPs[perf.FLOPTensor], &c.WarpInstructions, &c.Instructions[perf.ClassTensor], &c.Instructions[perf.ClassShared],
		&c.SharedLoad.Wavefronts, &c.SharedLoad.IdealWavefronts, &c.GlobalLoad.Bytes, &c.GlobalLoad.Sectors, &c.GlobalLoad.IdealSectors,
		&c.GlobalLoad.Requests, &c.Cache.L1Lookups, &c.Cache.L2Lookups} {
		*n /= 16
	}
	o.Counts.Cache.DRAMReadSectors /= 2
	o.Counts.Cache.DistinctRead /= 2
	return o
}

// tiny is a launch of one CTA that does next to nothing.
func tiny() perf.Observation {
	o := perf.Observation{
		Kernel: "softmax/1_naive", Device: "virtual:h200", Virtual: true,
		Shape:     perf.Shape{Grid: [3]uint32{1, 1, 1}, CTA: [3]uint32{32, 1, 1}},
		Registers: 24, Counted: true, Sampled: 1, Executed: 1, Cold: true, MinimumBytes: 256,
	}
	c := &o.Counts
	c.CTAs, c.Warps, c.WarpInstructions, c.LoadRounds = 1, 1, 90, 1
	c.FLOPs[perf.FLOPF32] = 128
	c.GlobalLoad = perf.Access{Requests: 1, Lanes: 32, Bytes: 128, Sectors: 4, IdealSectors: 4, Lines: 1}
	c.GlobalStore = c.GlobalLoad
	c.Cache = perf.CacheCounts{L1Lookups: 4, L2Lookups: 8, L2Hits: 4, DRAMReadSectors: 4, DRAMWriteSectors: 4, DistinctRead: 4, DistinctWritten: 4}
	return o
}

// transpose is a naive transpose of 4096² floats: whole lines in, 32 sectors a request out.
func transpose() perf.Observation {
	const n = 4096
	requests := uint64(n * n / 32)
	o := perf.Observation{
		Kernel: "transpose/1_naive", Device: "virtual:h200", Virtual: true,
		Shape:     perf.Shape{Grid: [3]uint32{128, 128, 1}, CTA: [3]uint32{32, 32, 1}},
		Registers: 16, Counted: true, Sampled: 1, Executed: 128 * 128, Cold: true, MinimumBytes: 2 * 4 * n * n,
	}
	load := perf.Access{Requests: requests, Lanes: n * n, Bytes: 4 * n * n, Sectors: requests * 4, IdealSectors: requests * 4, Lines: requests}
	store := load
	store.Sectors, store.Lines = requests*32, requests*32
	c := &o.Counts
	c.CTAs, c.Warps, c.WarpInstructions = 128*128, requests, requests*14
	c.GlobalLoad, c.GlobalStore, c.LoadRounds = load, store, 1
	c.Cache = perf.CacheCounts{L1Lookups: load.Sectors, L2Lookups: load.Sectors + store.Sectors, L2Hits: store.Sectors / 2,
		DRAMReadSectors: load.Sectors, DRAMWriteSectors: 3 * load.Sectors, DistinctRead: load.Sectors, DistinctWritten: load.Sectors}
	o.Lines = []perf.LineCounts{
		{PTXLine: 41, SourceLine: 12, File: "src/1_naive.cu", Text: "ld.global.f32", Class: perf.ClassGlobal, Global: load},
		{PTXLine: 44, SourceLine: 12, File: "src/1_naive.cu", Text: "st.global.f32", Class: perf.ClassGlobal, Global: store},
	}
	return o
}

// sampledGEMV is the GEMV with every 16th CTA executed.
func sampledGEMV() perf.Observation {
	o := gemv("gemv/2_warp")
	o.Sampled, o.Executed = 16, 32
	c := &o.Counts
	for _, v := range []*uint64{&c.CTAs, &c.Warps, &c.WarpInstructions, &c.FLOPs[perf.FLOPF32], &c.GlobalLoad.Requests, &c.GlobalLoad.Lanes,
		&c.GlobalLoad.Bytes, &c.GlobalLoad.Sectors, &c.GlobalLoad.IdealSectors, &c.GlobalStore.Requests, &c.GlobalStore.Bytes,
		&c.GlobalStore.Sectors, &c.GlobalStore.IdealSectors, &c.Cache.L1Lookups, &c.Cache.L1Hits, &c.Cache.L2Lookups, &c.Cache.L2Hits,
		&c.Cache.DRAMReadSectors, &c.Cache.DRAMWriteSectors, &c.Cache.DistinctRead, &c.Cache.DistinctWritten} {
		*v /= 16
	}
	for i := range c.Instructions {
		c.Instructions[i] /= 16
	}
	return o
}

// measuredGEMV is the GEMV on a real GPU with its counts from the virtual one.
func measuredGEMV(times ...float64) perf.Observation {
	o := gemv("gemv/3_vec16")
	o.Device, o.Virtual = "cuda:0", false
	for _, us := range times {
		o.Samples = append(o.Samples, time.Duration(us*1000))
	}
	return o
}

func fault() FaultInfo {
	return FaultInfo{
		Kind: "out of bounds", Instruction: "ld.shared.f32", Kernel: "transpose/2_tile", Device: "virtual:h200", Virtual: true,
		Located: true, CTA: [3]uint32{3, 0, 0}, CTAs: 16384, Warp: 2, Warps: 32, Lane: 31, Address: 0x1008, Space: "shared", Bytes: 4,
		Allocation: "8 B past the end of the CTA's 4,096 B of shared memory", Module: "transpose/2_tile.ptx", PTXLine: 96,
		PTXText: "ld.shared.f32 %f1, [%r9];", File: "2_tile.cu", SourceLine: 18,
		Lines:  []SourceLine{{17, "  __syncthreads();"}, {18, "  out[j*n + i] = tile[threadIdx.x + 1][threadIdx.y];"}},
		Advice: "Check the index on line 18. Your variables and buffers are kept",
	}
}

// sweep runs the GEMM for several numbers of tokens.
func sweep(t testing.TB) *perf.Sweep {
	s := &perf.Sweep{Parameter: "tokens", Item: "token", Note: "weights 4096×4096 f16"}
	for _, m := range []uint64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512} {
		s.Rows = append(s.Rows, perf.SweepRow{Label: perf.FormatCount(float64(m)), Value: float64(m),
			Launches: []*perf.Launch{perf.Evaluate(gemm("gemm/7_mma", m), profile(t, "h200"))}})
	}
	return s
}
