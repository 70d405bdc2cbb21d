package kernels

import (
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestGEMVHeaders holds what the headers of the sources expect of the counters, on shapes where nothing is ragged.
func TestGEMVHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
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
}
