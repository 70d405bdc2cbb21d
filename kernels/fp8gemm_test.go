package kernels

import (
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestFP8GEMMHeaders holds what the headers expect of the counters.
func TestFP8GEMMHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const m, n, k = 256, 512, 256
	scales := func(n int) *gpu.Tensor { return h.dev.Full(gpu.F32, 0.5, n) }
	narrow := []any{h.dev.Zeros(gpu.F16, m, n), h.dev.Randn(gpu.E4M3, n, k), h.dev.Randn(gpu.E4M3, m, k), scales(m), scales(n)}
	half := []any{narrow[0], h.dev.Randn(gpu.F16, n, k/2), h.dev.Randn(gpu.F16, m, k/2)}
	mma, swizzle := h.count(t, "fp8gemm/1_mma", narrow...), h.count(t, "gemm/8_swizzle", half...)
	tiles := float64(m / 64 * n / 64)
	near(t, "1_mma: 2MNK on tensor cores", float64(mma.FLOPs[perf.FLOPTensor]), 2*m*n*k)
	near(t, "1_mma: two multiplications an element", float64(mma.FLOPs[perf.FLOPF32]), 2*m*n)
	near(t, "1_mma: 8_swizzle's loads of half the K, and 12 requests for scales a warp", float64(mma.GlobalLoad.Requests), float64(swizzle.GlobalLoad.Requests)+12*4*tiles)
	near(t, "1_mma: its ldmatrix", ratio(mma.SharedLoad.Requests, swizzle.SharedLoad.Requests), 1)
	near(t, "1_mma: its barriers", ratio(mma.Barriers, swizzle.Barriers), 1)
	near(t, "1_mma: no bank conflicts", conflictsOf(mma), 0)
	wgmma, pair := h.count(t, "fp8gemm/2_wgmma", narrow...), h.count(t, "gemm/12_multicast", half...)
	near(t, "2_wgmma: 2MNK on tensor cores", float64(wgmma.FLOPs[perf.FLOPTensor]), 2*m*n*k)
	near(t, "2_wgmma: 12_multicast's loads, and 66 requests for scales a warp and tile", float64(wgmma.GlobalLoad.Requests), float64(pair.GlobalLoad.Requests)+66*16*m/256*n/256)
	near(t, "2_wgmma: its wgmmas", ratio(wgmma.SharedLoad.Requests, pair.SharedLoad.Requests), 1)
	near(t, "2_wgmma: its barriers", ratio(wgmma.Barriers, pair.Barriers), 1)
	near(t, "2_wgmma: two multiplications an element", float64(wgmma.FLOPs[perf.FLOPF32]), 2*m*n)
}

// TestFP8GEMM: 2·3·K times both scales, from the step that a device runs, and what a wrong number of scales says.
func TestFP8GEMM(t *testing.T) {
	for device, want := range map[string]string{"virtual:h200": "fp8gemm/2_wgmma", "virtual:l4": "fp8gemm/1_mma", "virtual:b200": "fp8gemm/1_mma"} {
		dev := open(t, device)
		y, w, x := dev.Zeros(gpu.BF16, 2048, 2048), dev.Full(gpu.E5M2, 2, 2048, 128), dev.Full(gpu.E5M2, 3, 2048, 128)
		launches, err := measured("fp8gemm", nil, []any{y, w, x, dev.Full(gpu.F32, 0.25, 2048), dev.Full(gpu.F32, 2, 1)})
		if err != nil || launches[0].Kernel != want {
			t.Fatalf("%s: %v, %v, want %s", device, launches, err, want)
		}
		for i, v := range y.Float32s() {
			if v != 2*3*128*0.25*2 {
				t.Fatalf("%s: element %d is %g, want 384", device, i, v)
			}
		}
	}
	dev := open(t, "virtual:h200")
	args := func(k, xs, ws int) []any {
		return []any{dev.Zeros(gpu.F16, 8, 4), dev.Zeros(gpu.E4M3, 4, k), dev.Zeros(gpu.E4M3, 8, k), dev.Zeros(gpu.F32, xs), dev.Zeros(gpu.F32, ws)}
	}
	for _, c := range []struct {
		name string
		args []any
		want string
	}{
		{"fp8gemm", args(32, 7, 4), "fp8gemm/2_wgmma: xscale has 7 scales, and x 8 rows\ngive it 8, or 1 for all"},
		{"fp8gemm/1_mma", args(32, 8, 8), "fp8gemm/1_mma: wscale has 8 scales, and w 4 rows\ngive it 4, or 1 for all"},
		{"fp8gemm", args(24, 8, 4), "fp8gemm/2_wgmma: K = 24, it takes multiples of 16\nuse K = 16 or 32, or fill up with zeros"},
		{"fp8gemm/2_wgmma", args(0, 8, 4), "fp8gemm/2_wgmma: K = 0: there is nothing to copy\nuse fp8gemm/1_mma, which writes zeros"},
	} {
		if err := Run(c.name, c.args...); err == nil || err.Error() != c.want {
			t.Errorf("%s: got\n%v\nwant\n%s", c.name, err, c.want)
		}
	}
}
