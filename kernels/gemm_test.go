package kernels

import (
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestGEMMHeaders holds what the headers of the GEMM ladder expect against a launch of each step and of the one before it, on
// a shape where nothing is ragged.
func TestGEMMHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const m, n, k = 128, 128, 64
	const e, mnk = 2, float64(m * n * k)
	args := func(dtype gpu.DType, n int) []any {
		return []any{h.dev.Zeros(dtype, m, n), h.dev.Randn(dtype, n, k), h.dev.Randn(dtype, m, k)}
	}
	half, float := args(gpu.F16, n), args(gpu.F32, n)
	naive, coalesced, tile := h.count(t, "gemm/1_naive", half...), h.count(t, "gemm/2_coalesced", half...), h.count(t, "gemm/3_smem_tile", half...)
	near(t, "1_naive: half a FLOP a byte", ratio(naive.FLOPs[perf.FLOPF32], naive.GlobalLoad.Bytes), 0.5)
	near(t, "1_naive: two elements a multiplication", float64(naive.GlobalLoad.Bytes), 2*e*mnk)
	near(t, "1_naive: a request of W touches 16 rows, one of X 2", perRequest(naive), (16+2)/2.0)
	near(t, "2_coalesced: as many requests as 1_naive", ratio(coalesced.GlobalLoad.Requests, naive.GlobalLoad.Requests), 1)
	near(t, "2_coalesced: two sectors a request", perRequest(coalesced), 2)
	near(t, "2_coalesced: four of f32", perRequest(h.count(t, "gemm/2_coalesced", float...)), 4)
	near(t, "2_coalesced: 32·5 adds an element more", float64(coalesced.FLOPs[perf.FLOPF32]), 2*mnk+32*5*m*n)
	near(t, "3_smem_tile: loads fall 32 times", ratio(coalesced.GlobalLoad.Bytes, tile.GlobalLoad.Bytes), 32)
	near(t, "3_smem_tile: MNK/16 elements", float64(tile.GlobalLoad.Bytes), e*mnk/16)
	near(t, "3_smem_tile: sectors a request", perRequest(tile), 2)
	near(t, "3_smem_tile: sectors a request of f32", perRequest(h.count(t, "gemm/3_smem_tile", float...)), 4)
	near(t, "3_smem_tile: two barriers a tile and warp", float64(tile.Barriers), 2*32*(m/32)*(n/32)*(k/32))
	near(t, "3_smem_tile: two loads from shared memory an FMA", loadsPerFMA(tile), 2)
	near(t, "3_smem_tile: FLOPs stay", float64(tile.FLOPs[perf.FLOPF32]), 2*mnk)
	oneD, twoD, wide := h.count(t, "gemm/4_tile_1d", half...), h.count(t, "gemm/5_tile_2d", half...), h.count(t, "gemm/6_vectorised", half...)
	near(t, "4_tile_1d: 9 shared loads for 8 FMAs", loadsPerFMA(oneD), 9.0/8)
	near(t, "4_tile_1d: half of 3_smem_tile's global loads", ratio(oneD.GlobalLoad.Bytes, tile.GlobalLoad.Bytes), 0.5)
	near(t, "4_tile_1d: FLOPs stay", float64(oneD.FLOPs[perf.FLOPF32]), 2*mnk)
	near(t, "5_tile_2d: 16 shared loads for 64 FMAs", loadsPerFMA(twoD), 16.0/64)
	near(t, "5_tile_2d: half of 4_tile_1d's global loads", ratio(twoD.GlobalLoad.Bytes, oneD.GlobalLoad.Bytes), 0.5)
	near(t, "6_vectorised: 4 shared loads for 64 FMAs", loadsPerFMA(wide), 4.0/64)
	near(t, "6_vectorised: an eighth of the requests", ratio(wide.GlobalLoad.Requests, twoD.GlobalLoad.Requests), 1.0/8)
	near(t, "6_vectorised: the same bytes", ratio(wide.GlobalLoad.Bytes, twoD.GlobalLoad.Bytes), 1)
	near(t, "6_vectorised: a quarter of the requests in f32", ratio(h.count(t, "gemm/6_vectorised", float...).GlobalLoad.Requests, h.count(t, "gemm/5_tile_2d", float...).GlobalLoad.Requests), 0.25)
	near(t, "6_vectorised: the same barriers", ratio(wide.Barriers, twoD.Barriers), 1)
	near(t, "no bank conflicts", conflictsOf(tile)+conflictsOf(oneD)+conflictsOf(twoD)+conflictsOf(wide), 0)

	mma, swizzle := h.count(t, "gemm/7_mma", half...), h.count(t, "gemm/8_swizzle", half...)
	near(t, "7_mma: no FP32 FLOPs", float64(mma.FLOPs[perf.FLOPF32]), 0)
	near(t, "7_mma: 2MNK on tensor cores", float64(mma.FLOPs[perf.FLOPTensor]), 2*mnk)
	near(t, "7_mma: MNK/32 elements", float64(mma.GlobalLoad.Bytes), e*mnk/32)
	near(t, "7_mma: 4 ldmatrix for 8 mma", ratio(mma.SharedLoad.Requests, mma.FLOPs[perf.FLOPTensor]/(2*16*8*16)), 0.5)
	near(t, "7_mma: 32 wavefronts a ldmatrix", ratio(mma.SharedLoad.Wavefronts, mma.SharedLoad.Requests), 32)
	near(t, "7_mma: stores without conflict", ratio(mma.SharedStore.Wavefronts, mma.SharedStore.IdealWavefronts), 1)
	near(t, "8_swizzle: 4 wavefronts a ldmatrix", ratio(swizzle.SharedLoad.Wavefronts, swizzle.SharedLoad.Requests), 4)
	near(t, "8_swizzle: no bank conflicts", conflictsOf(swizzle), 0)
	same := *swizzle
	same.SharedLoad.Wavefronts, same.Instructions = mma.SharedLoad.Wavefronts, mma.Instructions
	if same.GlobalLoad != mma.GlobalLoad || same.GlobalStore != mma.GlobalStore || same.SharedLoad != mma.SharedLoad || same.SharedStore != mma.SharedStore ||
		same.FLOPs != mma.FLOPs || same.Barriers != mma.Barriers || same.Warps != mma.Warps {
		t.Errorf("8_swizzle differs from 7_mma in more than wavefronts:\n%+v\n%+v", swizzle, mma)
	}

	large := args(gpu.F16, 7168) // 56 tiles of 128 × 128: enough for 9_cp_async's largest
	before, async := h.count(t, "gemm/8_swizzle", large...), h.count(t, "gemm/9_cp_async", large...)
	near(t, "9_cp_async: half of 8_swizzle's loads", ratio(async.GlobalLoad.Bytes, before.GlobalLoad.Bytes), 0.5)
	near(t, "9_cp_async: the same tensor FLOPs", ratio(async.FLOPs[perf.FLOPTensor], before.FLOPs[perf.FLOPTensor]), 1)
	near(t, "9_cp_async: a barrier a step and warp", float64(async.Barriers), 4*(7168/128)*(k/64))
	near(t, "9_cp_async: 8 ldmatrix for 32 mma", ratio(async.SharedLoad.Requests, async.FLOPs[perf.FLOPTensor]/(2*16*8*16)), 0.25)
	near(t, "9_cp_async: no bank conflicts", conflictsOf(async), 0)

	// 64 × 64 of K = 4096 are 16 slices of four steps.
	long := []any{h.dev.Zeros(gpu.F16, 64, 64), h.dev.Randn(gpu.F16, 64, 4096), h.dev.Randn(gpu.F16, 64, 4096)}
	whole, cut := h.count(t, "gemm/9_cp_async", long...), h.count(t, "gemm/13_split_k", long...)
	near(t, "13_split_k: 9_cp_async's loads, and the slices once", float64(cut.GlobalLoad.Bytes), float64(whole.GlobalLoad.Bytes)+4*64*64*16)
	near(t, "13_split_k: the same tensor FLOPs", ratio(cut.FLOPs[perf.FLOPTensor], whole.FLOPs[perf.FLOPTensor]), 1)
	near(t, "13_split_k: the result and the slices are written", float64(cut.GlobalStore.Bytes), float64(whole.GlobalStore.Bytes)+4*64*64*16)
	near(t, "13_split_k: adds of four warps in each CTA, and of the slices", float64(cut.FLOPs[perf.FLOPF32]), 3*64*64*16+64*64*(16+7))
	near(t, "13_split_k: no bank conflicts", conflictsOf(cut), 0)

	huge := args(gpu.F16, 33792) // 132 tiles of 128 × 256: enough for 10_wgmma's largest
	warpgroups, steps := h.count(t, "gemm/10_wgmma", huge...), float64(33792/256)
	near(t, "10_wgmma: 2MNK on tensor cores", float64(warpgroups.FLOPs[perf.FLOPTensor]), 2*m*33792*k)
	near(t, "10_wgmma: MNK·(1/128 + 1/256) elements", float64(warpgroups.GlobalLoad.Bytes), e*m*33792*k*(1.0/128+1.0/256))
	near(t, "10_wgmma: two copies a step", float64(warpgroups.GlobalLoad.Requests), 2*steps)
	near(t, "10_wgmma: 5 requests of shared memory a wgmma", float64(warpgroups.SharedLoad.Requests), 5*8*steps)
	near(t, "10_wgmma: TMA writes two boxes a step", float64(warpgroups.SharedStore.Requests), 2*steps)
	near(t, "10_wgmma: no bank conflicts", conflictsOf(warpgroups), 0)
	special := h.count(t, "gemm/11_warp_specialised", huge...)
	near(t, "11_warp_specialised: 10_wgmma's tensor FLOPs", ratio(special.FLOPs[perf.FLOPTensor], warpgroups.FLOPs[perf.FLOPTensor]), 1)
	near(t, "11_warp_specialised: 10_wgmma's reads", ratio(special.GlobalLoad.Bytes, warpgroups.GlobalLoad.Bytes), 1)
	near(t, "11_warp_specialised: 8 boxes a tile leave", float64(special.GlobalStore.Requests), 8*33792/256)
	near(t, "11_warp_specialised: 12 arrivals a CTA and 32 a tile", float64(special.Barriers), 12*132+32*33792/256)
	near(t, "11_warp_specialised: 512 shared stores a tile, and TMA's two a step", float64(special.SharedStore.Requests), 512*33792/256+2*steps)
	near(t, "11_warp_specialised: as many CTAs as SMs", float64(special.CTAs), 132)
	near(t, "11_warp_specialised: no bank conflicts", conflictsOf(special), 0)

	pair := []any{h.dev.Zeros(gpu.F16, 2*m, 33792), huge[1], h.dev.Randn(gpu.F16, 2*m, k)} // two tiles for each of 66 clusters
	alone, both := h.count(t, "gemm/11_warp_specialised", pair...), h.count(t, "gemm/12_multicast", pair...)
	near(t, "12_multicast: 11_warp_specialised's tensor FLOPs", ratio(both.FLOPs[perf.FLOPTensor], alone.FLOPs[perf.FLOPTensor]), 1)
	near(t, "12_multicast: MNK/128 elements", float64(both.GlobalLoad.Bytes), e*2*m*33792*k/128)
	near(t, "12_multicast: 2/3 of 11_warp_specialised's reads", ratio(both.GlobalLoad.Bytes, alone.GlobalLoad.Bytes), 2.0/3)
	near(t, "12_multicast: four copies a step and cluster", float64(both.GlobalLoad.Requests), 4*steps)
	near(t, "12_multicast: the same shared loads", ratio(both.SharedLoad.Requests, alone.SharedLoad.Requests), 1)
	near(t, "12_multicast: the same shared stores", ratio(both.SharedStore.Requests, alone.SharedStore.Requests), 1)
	near(t, "12_multicast: a CTA's barriers of the epilogue", float64(both.Barriers), 4*12*132+32*2*steps)
	near(t, "12_multicast: no bank conflicts", conflictsOf(both), 0)
}

// loadsPerFMA is how many values a lane reads from shared memory for each multiplication.
func loadsPerFMA(c *perf.Counts) float64 {
	return ratio(64*c.SharedLoad.Requests, c.FLOPs[perf.FLOPF32])
}
