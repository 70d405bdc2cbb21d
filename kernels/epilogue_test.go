package kernels

import (
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestEpilogueHeaders holds what the headers of linear and gated expect against launches of each step.
func TestEpilogueHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const m, n, k = 64, 128, 64
	const e, elements, mnk = 2, float64(m * n), float64(m * n * k)
	y, w, x := h.dev.Zeros(gpu.F16, m, n), h.dev.Randn(gpu.F16, n, k), h.dev.Randn(gpu.F16, m, k)
	bias, residual, up := h.dev.Randn(gpu.F16, n), h.dev.Randn(gpu.F16, m, n), h.dev.Randn(gpu.F16, n, k)
	traffic := func(c *perf.Counts) float64 { return float64(c.GlobalLoad.Bytes + c.GlobalStore.Bytes) }
	gemm := h.count(t, "gemm/8_swizzle", y, w, x)
	apart, fused := h.count(t, "linear/1_unfused", y, w, x, bias, residual), h.count(t, "linear/2_fused", y, w, x, bias, residual)
	near(t, "linear/1_unfused: 2MN elements more than 2_fused", traffic(apart)-traffic(fused), 2*e*elements)
	near(t, "linear/1_unfused: 2MNK on tensor cores", float64(apart.FLOPs[perf.FLOPTensor]), 2*mnk)
	near(t, "linear/2_fused: the same tensor FLOPs", ratio(fused.FLOPs[perf.FLOPTensor], apart.FLOPs[perf.FLOPTensor]), 1)
	near(t, "linear/2_fused: gemm/8_swizzle's traffic, bias and residual", traffic(fused), traffic(gemm)+2*e*elements)
	near(t, "linear/2_fused without either: gemm/8_swizzle's traffic", traffic(h.count(t, "linear/2_fused", y, w, x)), traffic(gemm))
	two, one := h.count(t, "gated/1_unfused", y, w, up, x), h.count(t, "gated/2_fused", y, w, up, x)
	near(t, "gated/1_unfused: 4MNK on tensor cores", float64(two.FLOPs[perf.FLOPTensor]), 4*mnk)
	near(t, "gated/1_unfused: 4MN elements beside the products and the result", traffic(two), 2*traffic(gemm)+3*e*elements)
	near(t, "gated/2_fused: 4MN elements fewer, and X's tiles once", traffic(two)-traffic(one), 4*e*elements+e*m*k*n/64)
	near(t, "gated/2_fused: the same tensor FLOPs", ratio(one.FLOPs[perf.FLOPTensor], two.FLOPs[perf.FLOPTensor]), 1)
	near(t, "gated/2_fused: 6 ldmatrix for 16 mma", ratio(one.SharedLoad.Requests, one.FLOPs[perf.FLOPTensor]/(2*16*8*16)), 6.0/16)
	const large = 256
	rows, wide, added := h.dev.Randn(gpu.F16, large, k), h.dev.Randn(gpu.F16, 2*large, k), h.dev.Randn(gpu.F16, large, 2*large)
	result := h.dev.Zeros(gpu.F16, large, 2*large)
	pair := h.count(t, "gemm/12_multicast", result, wide, rows)
	sum := h.count(t, "linear/3_wgmma", result, wide, rows, h.dev.Randn(gpu.F16, 2*large), added)
	near(t, "linear/3_wgmma: gemm/12_multicast's tensor FLOPs", ratio(sum.FLOPs[perf.FLOPTensor], pair.FLOPs[perf.FLOPTensor]), 1)
	near(t, "linear/3_wgmma: its barriers", ratio(sum.Barriers, pair.Barriers), 1)
	near(t, "linear/3_wgmma: its reads, the residual once, the bias 128 times", float64(sum.GlobalLoad.Bytes), float64(pair.GlobalLoad.Bytes)+e*2*large*(large+128))
	near(t, "linear/3_wgmma: adds of the bias alone", float64(sum.FLOPs[perf.FLOPF32]), 2*large*large)
	half, halves := h.dev.Zeros(gpu.F16, large, large), [2]*gpu.Tensor{h.dev.Randn(gpu.F16, large, k), h.dev.Randn(gpu.F16, large, k)}
	gate := h.count(t, "gated/3_wgmma", half, halves[0], halves[1], rows)
	near(t, "gated/3_wgmma: 4MNK on tensor cores", float64(gate.FLOPs[perf.FLOPTensor]), 4*large*large*k)
	near(t, "gated/3_wgmma: gemm/12_multicast's reads for 2N columns", ratio(gate.GlobalLoad.Bytes, pair.GlobalLoad.Bytes), 1)
	near(t, "gated/3_wgmma: half as many boxes", ratio(gate.GlobalStore.Requests, pair.GlobalStore.Requests), 0.5)
	near(t, "no bank conflicts", conflictsOf(sum)+conflictsOf(gate), 0)
	near(t, "no bank conflicts", conflictsOf(apart)+conflictsOf(fused)+conflictsOf(two)+conflictsOf(one), 0)
}
