package kernels

import (
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestGEMMHeaders holds what the headers of the sources expect of the counters, on shapes where nothing is ragged.
func TestGEMMHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
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
}
