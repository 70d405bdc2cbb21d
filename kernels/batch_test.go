package kernels

import (
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestBatchHeaders holds what the headers of the sources expect of the counters, on shapes where nothing is ragged.
func TestBatchHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const m, n, k = 16, 128, 1024
	y, w, x := h.dev.Zeros(gpu.F16, m, n), h.dev.Randn(gpu.F16, n, k), h.dev.Randn(gpu.F16, m, k)
	looped, registers, mma := h.count(t, "batch/1_looped", y, w, x), h.count(t, "batch/2_registers", y, w, x), h.count(t, "batch/3_mma", y, w, x)
	one := h.count(t, "gemv/3_vec16", h.dev.Zeros(gpu.F16, n), w, h.dev.Randn(gpu.F16, k))
	near(t, "1_looped: M times 3_vec16's requests", ratio(looped.GlobalLoad.Requests, one.GlobalLoad.Requests), m)
	near(t, "1_looped: M times its FLOPs", ratio(looped.FLOPs[perf.FLOPF32], one.FLOPs[perf.FLOPF32]), m)
	near(t, "2_registers: W once for eight sequences, x as before", float64(registers.GlobalLoad.Requests), n*k/256*m/8+m*n*k/256)
	near(t, "2_registers: the same FLOPs", ratio(registers.FLOPs[perf.FLOPF32], looped.FLOPs[perf.FLOPF32]), 1)
	near(t, "3_mma: W once, x once for 32 rows", float64(mma.GlobalLoad.Requests), n*k/256+m*n*k/256/32)
	near(t, "3_mma: 16 sectors a request", perRequest(mma), 16)
	near(t, "3_mma: 2MNK on tensor cores", float64(mma.FLOPs[perf.FLOPTensor]), 2*m*n*k)
	near(t, "3_mma: FP32 FLOPs only where sums meet", float64(mma.FLOPs[perf.FLOPF32]), 3*m*n)
}
