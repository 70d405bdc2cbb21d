package kernels

import (
	"testing"

	"memwall/gpu"
)

// TestSoftmaxHeaders holds what the headers of the sources expect of the counters, on shapes where nothing is ragged.
func TestSoftmaxHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const rows, columns = 64, 512
	y, x := h.dev.Zeros(gpu.F32, rows, columns), h.dev.Randn(gpu.F32, rows, columns)
	naive, warp, online := h.count(t, "softmax/1_naive", y, x), h.count(t, "softmax/2_warp", y, x), h.count(t, "softmax/3_online", y, x)
	near(t, "1_naive: sectors a request", perRequest(naive), 32)
	near(t, "1_naive: three reads an element", float64(naive.GlobalLoad.Bytes), 3*4*rows*columns)
	near(t, "2_warp: sectors a request", perRequest(warp), 4)
	near(t, "2_warp: as many requests as 1_naive", ratio(warp.GlobalLoad.Requests, naive.GlobalLoad.Requests), 1)
	near(t, "3_online: load requests fall to two thirds", ratio(online.GlobalLoad.Requests, warp.GlobalLoad.Requests), 2.0/3)
	near(t, "3_online: sectors a request", perRequest(online), 4)
}
