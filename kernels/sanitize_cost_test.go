package kernels

import (
	"testing"

	"memwall/gpu"
)

// BenchmarkSanitize runs a kernel plain and sanitized; the quotient of their CPU times is what the sanitizer costs.
func BenchmarkSanitize(b *testing.B) {
	dev, err := gpu.Open("virtual:h200")
	if err != nil {
		b.Fatal(err)
	}
	w, x, y := dev.Randn(gpu.F16, 512, 1024), dev.Randn(gpu.F16, 1024), dev.Zeros(gpu.F16, 512)
	m, n, c := dev.Randn(gpu.F16, 128, 256), dev.Randn(gpu.F16, 128, 256), dev.Zeros(gpu.F16, 128, 128)
	s, p := dev.Randn(gpu.F32, 64, 2048), dev.Zeros(gpu.F32, 64, 2048)
	for _, k := range []struct {
		name string
		args []any
	}{{"gemv/2_warp", []any{y, w, x}}, {"gemv/3_vec16", []any{y, w, x}}, {"gemm/3_smem_tile", []any{c, m, n}}, {"gemm/8_swizzle", []any{c, m, n}},
		{"gemm/9_cp_async", []any{c, m, n}}, {"softmax/2_warp", []any{p, s}}} {
		run := func(b *testing.B) {
			if err := Run(k.name, k.args...); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(k.name+"/plain", func(b *testing.B) {
			for b.Loop() {
				run(b)
			}
		})
		b.Run(k.name+"/sanitized", func(b *testing.B) {
			for b.Loop() {
				if f := gpu.Sanitize(func() { run(b) }); !f.Clean() {
					b.Fatal(f)
				}
			}
		})
	}
}
