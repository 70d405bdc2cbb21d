package kernels

import (
	"math"
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// headers launches kernels to hold what their headers say against.
type headers struct{ dev *gpu.Device }

func (h headers) count(t *testing.T, name string, args ...any) *perf.Counts {
	t.Helper()
	l, err := measured(name, args)
	if err != nil {
		t.Fatal(err)
	}
	return &l.Counts
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
		t.Errorf("%s: %g, the header says %g", what, got, want)
	}
}

func perRequest(c *perf.Counts) float64 {
	return float64(c.GlobalLoad.Sectors) / float64(c.GlobalLoad.Requests)
}

func ratio(a, b uint64) float64 { return float64(a) / float64(b) }

func conflictsOf(c *perf.Counts) float64 { return float64(readCounter[conflicts](c)) }

// TestHeaders holds what the headers of the sources expect of the counters against a launch of each step and of the one
// before it, on shapes where nothing is ragged.
func TestHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	t.Run("gemv", func(t *testing.T) {
		const n, k = 128, 1024
		y, w, x := h.dev.Zeros(gpu.F16, n), h.dev.Randn(gpu.F16, n, k), h.dev.Randn(gpu.F16, k)
		naive, warp, vec16 := h.count(t, "gemv/1_naive", y, w, x), h.count(t, "gemv/2_warp", y, w, x), h.count(t, "gemv/3_vec16", y, w, x)
		near(t, "1_naive: sectors of W a request (x takes one)", 2*perRequest(naive)-1, 32)
		near(t, "1_naive: requests for W and x", float64(naive.GlobalLoad.Requests), 2*n*k/32)
		near(t, "2_warp: sectors a request", perRequest(warp), 2)
		near(t, "2_warp: as many requests as 1_naive", ratio(warp.GlobalLoad.Requests, naive.GlobalLoad.Requests), 1)
		near(t, "2_warp: 32 times as many warps", ratio(warp.Warps, naive.Warps), 32)
		near(t, "3_vec16: sectors a request", perRequest(vec16), 16)
		near(t, "3_vec16: an eighth of the requests", ratio(vec16.GlobalLoad.Requests, warp.GlobalLoad.Requests), 1.0/8)
		near(t, "3_vec16: the same FLOPs as 2_warp", ratio(vec16.FLOPs[perf.FLOPF32], warp.FLOPs[perf.FLOPF32]), 1)
		rows, split := h.count(t, "gemv/4_rows", y, w, x), h.count(t, "gemv/5_split_k", y, w, x)
		near(t, "4_rows: 5/8 of 3_vec16's requests", ratio(rows.GlobalLoad.Requests, vec16.GlobalLoad.Requests), 5.0/8)
		near(t, "4_rows: a quarter of the warps", ratio(rows.Warps, vec16.Warps), 1.0/4)
		near(t, "4_rows: the same FLOPs", ratio(rows.FLOPs[perf.FLOPF32], vec16.FLOPs[perf.FLOPF32]), 1)
		near(t, "5_split_k: 3_vec16's requests", ratio(split.GlobalLoad.Requests, vec16.GlobalLoad.Requests), 1)
		near(t, "5_split_k: 8 warps a row of so few", ratio(split.Warps, vec16.Warps), 8)
		near(t, "5_split_k: a barrier a warp", ratio(split.Barriers, split.Warps), 1)
		near(t, "1_naive: 2NK FLOPs", float64(naive.FLOPs[perf.FLOPF32]), 2*n*k)
		near(t, "2_warp and 3_vec16 ask for no more than the ideal", ratio(warp.GlobalLoad.Sectors, warp.GlobalLoad.IdealSectors)+ratio(vec16.GlobalLoad.Sectors, vec16.GlobalLoad.IdealSectors), 2)
	})
	t.Run("gemm", func(t *testing.T) {
		const m, n, k = 128, 7168, 64 // 56 tiles of 128 × 128: enough for 4_cp_async's largest
		y, w, x := h.dev.Zeros(gpu.F16, m, n), h.dev.Randn(gpu.F16, n, k), h.dev.Randn(gpu.F16, m, k)
		mma, async := h.count(t, "gemm/3_mma", y, w, x), h.count(t, "gemm/4_cp_async", y, w, x)
		const side = 64
		small := []any{h.dev.Zeros(gpu.F16, side, side), h.dev.Randn(gpu.F16, side, side), h.dev.Randn(gpu.F16, side, side)}
		naive, tile := h.count(t, "gemm/1_naive", small...), h.count(t, "gemm/2_smem_tile", small...)
		near(t, "1_naive: half a FLOP a byte", ratio(naive.FLOPs[perf.FLOPF32], naive.GlobalLoad.Bytes), 0.5)
		near(t, "2_smem_tile: loads fall 32 times", ratio(naive.GlobalLoad.Bytes, tile.GlobalLoad.Bytes), 32)
		near(t, "2_smem_tile: MNK/16 elements", float64(tile.GlobalLoad.Bytes), 2*side*side*side/16)
		near(t, "2_smem_tile: sectors a request", perRequest(tile), 2)
		near(t, "2_smem_tile: two barriers a tile and warp", float64(tile.Barriers), 2*32*(side/32)*(side/32)*(side/32))
		near(t, "2_smem_tile: two loads from shared memory an FMA", ratio(64*tile.SharedLoad.Requests, tile.FLOPs[perf.FLOPF32]), 2)
		near(t, "3_mma: no FP32 FLOPs", float64(mma.FLOPs[perf.FLOPF32]), 0)
		near(t, "3_mma: 2MNK on tensor cores", float64(mma.FLOPs[perf.FLOPTensor]), 2*m*n*k)
		near(t, "3_mma: MNK/32 elements", float64(mma.GlobalLoad.Bytes), 2*m*n*k/32)
		near(t, "3_mma: 4 ldmatrix for 8 mma", ratio(mma.SharedLoad.Requests, mma.FLOPs[perf.FLOPTensor]/(2*16*8*16)), 0.5)
		near(t, "4_cp_async: half of 3_mma's loads", ratio(async.GlobalLoad.Bytes, mma.GlobalLoad.Bytes), 0.5)
		near(t, "4_cp_async: the same tensor FLOPs", ratio(async.FLOPs[perf.FLOPTensor], mma.FLOPs[perf.FLOPTensor]), 1)
		near(t, "4_cp_async: a barrier a step and warp", float64(async.Barriers), 4*(m/128)*(n/128)*(k/64))
		near(t, "4_cp_async: 8 ldmatrix for 32 mma", ratio(async.SharedLoad.Requests, async.FLOPs[perf.FLOPTensor]/(2*16*8*16)), 0.25)
		near(t, "no bank conflicts", conflictsOf(tile)+conflictsOf(mma)+conflictsOf(async), 0)
	})
	t.Run("batch", func(t *testing.T) {
		const m, n, k = 16, 128, 1024
		y, w, x := h.dev.Zeros(gpu.F16, m, n), h.dev.Randn(gpu.F16, n, k), h.dev.Randn(gpu.F16, m, k)
		looped, registers, mma := h.count(t, "batch/1_looped", y, w, x), h.count(t, "batch/2_registers", y, w, x), h.count(t, "batch/3_mma", y, w, x)
		one := h.count(t, "gemv/3_vec16", h.dev.Zeros(gpu.F16, n), w, h.dev.Randn(gpu.F16, k))
		near(t, "1_looped: M times 3_vec16's requests", ratio(looped.GlobalLoad.Requests, one.GlobalLoad.Requests), m)
		near(t, "1_looped: M times its FLOPs", ratio(looped.FLOPs[perf.FLOPF32], one.FLOPs[perf.FLOPF32]), m)
		near(t, "2_registers: W once for eight sequences, x as before", float64(registers.GlobalLoad.Requests), n*k/256*m/8+m*n*k/256)
		near(t, "2_registers: the same FLOPs", ratio(registers.FLOPs[perf.FLOPF32], looped.FLOPs[perf.FLOPF32]), 1)
		near(t, "3_mma: W once, x once for 16 rows", float64(mma.GlobalLoad.Requests), n*k/256+m*n*k/256/16)
		near(t, "3_mma: 16 sectors a request", perRequest(mma), 16)
		near(t, "3_mma: 2MNK on tensor cores", float64(mma.FLOPs[perf.FLOPTensor]), 2*m*n*k)
		near(t, "3_mma: FP32 FLOPs only where sums meet", float64(mma.FLOPs[perf.FLOPF32]), 3*m*n)
	})
}

// TestSmallHeaders does the same for softmax and the probes.
func TestSmallHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	t.Run("softmax", func(t *testing.T) {
		const rows, columns = 64, 512
		y, x := h.dev.Zeros(gpu.F32, rows, columns), h.dev.Randn(gpu.F32, rows, columns)
		naive, warp, online := h.count(t, "softmax/1_naive", y, x), h.count(t, "softmax/2_warp", y, x), h.count(t, "softmax/3_online", y, x)
		near(t, "1_naive: sectors a request", perRequest(naive), 32)
		near(t, "1_naive: three reads an element", float64(naive.GlobalLoad.Bytes), 3*4*rows*columns)
		near(t, "2_warp: sectors a request", perRequest(warp), 4)
		near(t, "2_warp: as many requests as 1_naive", ratio(warp.GlobalLoad.Requests, naive.GlobalLoad.Requests), 1)
		near(t, "3_online: load requests fall to two thirds", ratio(online.GlobalLoad.Requests, warp.GlobalLoad.Requests), 2.0/3)
		near(t, "3_online: sectors a request", perRequest(online), 4)
	})
	t.Run("probe", func(t *testing.T) {
		const n = 1 << 16
		y, x := h.dev.Zeros(gpu.F32, n), h.dev.Randn(gpu.F32, n)
		copied := h.count(t, "probe/1_copy", y, x)
		near(t, "1_copy: bytes a request", ratio(copied.GlobalLoad.Bytes, copied.GlobalLoad.Requests), 512)
		near(t, "1_copy: sectors a request", perRequest(copied), 16)
		near(t, "1_copy: no FLOPs", float64(copied.FLOPs[perf.FLOPF32]), 0)
		read := h.count(t, "probe/2_read", h.dev.Zeros(gpu.F32, 8), x)
		near(t, "2_read: sectors a request", perRequest(read), 16)
		near(t, "2_read: 4 bytes written a CTA", ratio(read.GlobalStore.Bytes, read.CTAs), 4)
		fma := h.count(t, "probe/3_fma", y, x, 100)
		near(t, "3_fma: 16·iterations + 16 FLOPs a thread", float64(fma.FLOPs[perf.FLOPF32])/n, 16*100+16)
		near(t, "3_fma: 2·iterations + 2 FLOP/B", ratio(fma.FLOPs[perf.FLOPF32], fma.GlobalLoad.Bytes+fma.GlobalStore.Bytes), 2*100+2)
	})
}

// TestMemoryWall is the turn of notebook 01: the same weights are bound by memory for one token and by compute for many; in
// between tiles of 64 tokens make fewer CTAs than the GPU has SMs.
func TestMemoryWall(t *testing.T) {
	defer gpu.SetSimulation(gpu.Simulation())
	gpu.SetSimulation(false) // the notebook's prediction: by bounds alone
	dev := open(t, "virtual:h200")
	const n, k = 4096, 4096
	w := dev.Randn(gpu.F16, n, k)
	for _, c := range []struct {
		m, sample int
		bound     string
	}{{1, 8, perf.ResourceDRAM}, {16, 16, perf.ResourceDRAM}, {64, 16, perf.ResourceGrid}, {256, 32, perf.ResourceTensor}, {512, 64, perf.ResourceTensor}} {
		y, x := dev.Zeros(gpu.F16, c.m, n), dev.Randn(gpu.F16, c.m, k)
		var err error
		r := gpu.Sample(c.sample, func() { err = Run("gemm", y, w, x) })
		if err != nil {
			t.Fatal(err)
		}
		l := r.Launches[0]
		if l.Bound != c.bound {
			t.Errorf("M = %d is bound by %s, want %s: %v", c.m, l.Bound, c.bound, l.Bounds)
		}
		if want := float64(c.m) / (1 + float64(c.m)/2048); math.Abs(l.Intensity.Value-want) > 0.01*want {
			t.Errorf("M = %d: %g FLOP/B, want M/(1 + M/2048) = %g", c.m, l.Intensity.Value, want)
		}
	}
}
