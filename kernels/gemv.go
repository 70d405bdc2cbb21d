package kernels

import (
	"math"

	"memwall/gpu"
)

// gemvs multiply a matrix by a vector, y = W·x: the decode step of every linear layer.
var gemvs = []*Kernel{
	gemv("gemv/1_naive", "gemv_naive", 128, func(d dims) counters {
		warps, n, k := ceil(d.f("N"), 32), d.f("N"), d.f("K")
		c := counters{flopsF32: 2 * n * k, loadRequests: 2 * warps * k, loadBytes: 4 * n * k,
			storeRequests: warps, storeBytes: 2 * n, storeSectors: ceil(2*n, 32)}
		if d["K"] >= 16 { // neighbouring rows start in different sectors
			c[loadSectors] = n*k + warps*k
		}
		return c
	}),
	gemv("gemv/2_warp", "gemv_warp", 4, func(d dims) counters {
		n, k := d.f("N"), d.f("K")
		c := warpRow(d)
		if d["K"]%32 == 0 { // a ragged row ends in extra requests of the unrolled loop's remainder
			c[loadRequests] = 2 * n * k / 32
			c[loadSectors] = 4 * n * k / 32
		}
		return c
	}),
	gemv("gemv/3_vec16", "gemv_vec16", 4, func(d dims) counters {
		n, k := d.f("N"), d.f("K")
		c := warpRow(d)
		switch {
		case d["K"]%256 == 0:
			c[loadRequests] = 2 * n * k / 256
			c[loadSectors] = 32 * n * k / 256
		case d["K"]%8 != 0: // the narrow loop
			c[loadRequests] = 2 * n * ceil(k, 32)
		}
		return c
	}),
}

// warpRow are the closed forms of a warp a row: the products, five steps of the warp's sum, one lane writing.
func warpRow(d dims) counters {
	n, k := d.f("N"), d.f("K")
	return counters{flopsF32: 2*n*k + 5*32*n, loadBytes: 4 * n * k, storeRequests: n, storeBytes: 2 * n, storeSectors: n}
}

// gemv is one step; rows is how many rows of W a CTA of 128 threads takes.
func gemv(name, function string, rows int, counts func(d dims) counters) *Kernel {
	return &Kernel{
		name: name, function: function,
		operands: []operand{
			{name: "y", output: true, dtype: gpu.F16, shape: []string{"N"}},
			{name: "w", dtype: gpu.F16, shape: []string{"N", "K"}},
			{name: "x", dtype: gpu.F16, shape: []string{"K"}},
		},
		pass:   []string{"N", "K"},
		config: func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(over(d["N"], rows)), CTA: gpu.Dim(128)} },
		bytes:  formula{"2·N·K + 2·K + 2·N", func(d dims) float64 { return 2*d.f("N")*d.f("K") + 2*d.f("K") + 2*d.f("N") }},
		flops:  formula{"2·N·K", func(d dims) float64 { return 2 * d.f("N") * d.f("K") }},
		terms:  func(d dims) float64 { return d.f("K") },
		reference: func(d dims, in map[string][]float64) (want, scale []float64) {
			return product(in["x"], in["w"], 1, d["N"], d["K"])
		},
		counts: counts,
		cases: []trial{
			{dims: dims{"N": 1, "K": 1}}, {dims: dims{"N": 31, "K": 33}}, {dims: dims{"N": 33, "K": 31}},
			{dims: dims{"N": 127, "K": 4095}}, {dims: dims{"N": 4095, "K": 127}}, {dims: dims{"N": 129, "K": 264}},
			{dims: dims{"N": 64, "K": 1024}}, {dims: dims{"N": 256, "K": 512}, inputs: outliers},
			{dims: dims{"N": 5, "K": 0}}, {dims: dims{"N": 40, "K": 96}, inputs: special},
		},
	}
}

// product is X·Wᵀ in float64, X [m, k], W [n, k], and the sum of the products' magnitudes.
func product(x, w []float64, m, n, k int) (want, scale []float64) {
	want, scale = make([]float64, m*n), make([]float64, m*n)
	for i := range m {
		for j := range n {
			sum, magnitude := 0.0, 0.0
			for c := range k {
				p := x[i*k+c] * w[j*k+c]
				sum += p
				magnitude += math.Abs(p)
			}
			want[i*n+j], scale[i*n+j] = sum, magnitude
		}
	}
	return want, scale
}

// over is ⌈a/b⌉.
func over(a, b int) int { return (a + b - 1) / b }
