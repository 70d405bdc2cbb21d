package kernels

import (
	"testing"

	"memwall/gpu"
)

// TestNormHeaders holds what the headers of the sources expect of the counters, on shapes where nothing is ragged.
func TestNormHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const rows, columns = 128, 1024
	tensor := func(shape ...int) *gpu.Tensor { return h.dev.Randn(gpu.F16, shape...) }
	y, x, hidden, w, b := tensor(rows, columns), tensor(rows, columns), tensor(rows, columns), tensor(columns), tensor(columns)
	naive, warp, vec := h.count(t, "rmsnorm/1_naive", y, x, w, 1e-5), h.count(t, "rmsnorm/2_warp", y, x, w, 1e-5), h.count(t, "rmsnorm/3_vec16", y, x, w, 1e-5)
	near(t, "rmsnorm/1_naive: 32 sectors a request for x, one for w", 3*perRequest(naive), 32+32+1)
	near(t, "rmsnorm/1_naive: two reads of x and one of w", float64(naive.GlobalLoad.Bytes), 3*2*rows*columns)
	near(t, "rmsnorm/1_naive: no barriers", float64(naive.Barriers), 0)
	near(t, "rmsnorm/2_warp: sectors a request", perRequest(warp), 2)
	near(t, "rmsnorm/2_warp: as many requests", ratio(warp.GlobalLoad.Requests, naive.GlobalLoad.Requests), 1)
	near(t, "rmsnorm/2_warp: 32 times as many warps", ratio(warp.Warps, naive.Warps), 32)
	near(t, "rmsnorm/3_vec16: two reads in place of three", ratio(vec.GlobalLoad.Bytes, warp.GlobalLoad.Bytes), 2.0/3)
	near(t, "rmsnorm/3_vec16: an eighth of the requests a byte", ratio(vec.GlobalLoad.Requests, warp.GlobalLoad.Requests), 2.0/3/8)
	near(t, "rmsnorm/3_vec16: sectors a request", perRequest(vec), 16)
	near(t, "rmsnorm/3_vec16: two barriers a warp", ratio(vec.Barriers, vec.Warps), 2)

	naive, warp, vec = h.count(t, "layernorm/1_naive", y, x, w, b, 1e-5), h.count(t, "layernorm/2_warp", y, x, w, b, 1e-5), h.count(t, "layernorm/3_vec16", y, x, w, b, 1e-5)
	near(t, "layernorm/1_naive: 32 sectors a request for x, one for w and b", 5*perRequest(naive), 3*32+2)
	near(t, "layernorm/2_warp: sectors a request", perRequest(warp), 2)
	near(t, "layernorm/2_warp: five reads an element", float64(warp.GlobalLoad.Bytes), 5*2*rows*columns)
	near(t, "layernorm/3_vec16: three reads in place of five", ratio(vec.GlobalLoad.Bytes, warp.GlobalLoad.Bytes), 3.0/5)
	near(t, "layernorm/3_vec16: an eighth of the requests a byte", ratio(vec.GlobalLoad.Requests, warp.GlobalLoad.Requests), 3.0/5/8)
	near(t, "layernorm/3_vec16: sectors a request", perRequest(vec), 16)
	near(t, "layernorm/3_vec16: four barriers a warp", ratio(vec.Barriers, vec.Warps), 4)

	separate, fused := h.count(t, "addnorm/1_separate", y, hidden, x, w, 1e-5), h.count(t, "addnorm/2_fused", y, hidden, x, w, 1e-5)
	const element = 2 * rows * columns
	near(t, "addnorm/1_separate: six elements' worth", float64(separate.GlobalLoad.Bytes+separate.GlobalStore.Bytes), 6*element)
	near(t, "addnorm/2_fused: five in place of six", float64(fused.GlobalLoad.Bytes+fused.GlobalStore.Bytes), 5*element)
	near(t, "addnorm/2_fused: four from DRAM in place of five, and w", float64(fused.Cache.DistinctRead+fused.Cache.DistinctWritten)*32, 4*element+2*columns)
	near(t, "addnorm/1_separate: five, and w", float64(separate.Cache.DistinctRead+separate.Cache.DistinctWritten)*32, 5*element+2*columns)
}
