package kernels

import (
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestProbeHeaders holds what the headers of the sources expect of the counters, on shapes where nothing is ragged.
func TestProbeHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
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
}
