package kernels

import (
	"testing"

	"memwall/gpu"
)

// TestGLUHeaders holds what the headers of the sources expect of the counters, on shapes where nothing is ragged.
func TestGLUHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const n = 32 * 1024
	y, gate, up := h.dev.Zeros(gpu.F16, 32, 1024), h.dev.Randn(gpu.F16, 32, 1024), h.dev.Randn(gpu.F16, 32, 1024)
	separate, fused, vec := h.count(t, "glu/1_separate", y, gate, up, 0), h.count(t, "glu/2_fused", y, gate, up, 0), h.count(t, "glu/3_vec16", y, gate, up, 0)
	near(t, "1_separate: five elements' worth", float64(separate.GlobalLoad.Bytes+separate.GlobalStore.Bytes), 5*2*n)
	near(t, "2_fused: three in place of five", float64(fused.GlobalLoad.Bytes+fused.GlobalStore.Bytes), 3*2*n)
	near(t, "3_vec16: an eighth of the requests", ratio(vec.GlobalLoad.Requests, fused.GlobalLoad.Requests), 1.0/8)
	near(t, "3_vec16: sectors a request", perRequest(vec), 16)
	near(t, "3_vec16: the same bytes", ratio(vec.GlobalLoad.Bytes, fused.GlobalLoad.Bytes), 1)
}
