package kernels

import (
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestQGEMMHeaders holds what the header expects of the counters.
func TestQGEMMHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const m, n, k = 16, 128, 1024
	w, x, y := h.dev.Randn(gpu.Q4_0, n, k), h.dev.Randn(gpu.F16, m, k), h.dev.Zeros(gpu.F16, m, n)
	mma := h.count(t, "qgemm/1_mma", y, w, x)
	near(t, "1_mma: W once, X once for 64 rows", float64(mma.GlobalLoad.Bytes), n*k*18/32+2*m*k*n/64)
	near(t, "1_mma: 16NK FLOPs for eight sequences", float64(mma.FLOPs[perf.FLOPTensor]), 2*n*k*m)
	near(t, "1_mma: a barrier a tile and warp", float64(mma.Barriers), 4*n/64*k/512)
	err := Run("qgemm", h.dev.Zeros(gpu.F16, 2, 8), h.dev.Zeros(gpu.Q4_0, 8, 96), h.dev.Zeros(gpu.F16, 2, 96))
	if want := "qgemm/1_mma: K = 96, it takes multiples of 256\nuse K = 256, or fill up with zeros"; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
