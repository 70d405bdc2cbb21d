package kernels

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"memwall/gpu"
)

// gemvs multiply a matrix by a vector, y = W·x: the decode step of every linear layer.
var gemvs = slices.Concat(
	gemv("gemv/1_naive", "gemv_naive", 128, func(d dims, t gpu.DType) counters {
		e := float64(t.Bytes())
		warps, n, k := ceil(d.f("N"), 32), d.f("N"), d.f("K")
		c := counters{flopsF32: 2 * n * k, loadRequests: 2 * warps * k, loadBytes: 2 * e * n * k,
			storeRequests: warps, storeBytes: e * n, storeSectors: ceil(e*n, 32)}
		if d["K"]*t.Bytes() >= 32 { // neighbouring rows start in different sectors
			c[loadSectors] = n*k + warps*k
		}
		return c
	}),
	gemv("gemv/2_warp", "gemv_warp", 4, func(d dims, t gpu.DType) counters {
		n, k := d.f("N"), d.f("K")
		c := warpRow(d, t)
		if d["K"]%32 == 0 { // a ragged row ends in extra requests of the unrolled loop's remainder
			c[loadRequests] = 2 * n * k / 32
			c[loadSectors] = 2 * float64(t.Bytes()) * n * k / 32
		}
		return c
	}),
	gemv("gemv/3_vec16", "gemv_vec16", 4, func(d dims, t gpu.DType) counters {
		n, k := d.f("N"), d.f("K")
		c := warpRow(d, t)
		wide := 16 / t.Bytes()
		switch {
		case d["K"]%(32*wide) == 0:
			c[loadRequests] = 2 * n * k / float64(32*wide)
			c[loadSectors] = 16 * c[loadRequests]
		case d["K"]%wide != 0: // the narrow loop
			c[loadRequests] = 2 * n * ceil(k, 32)
		}
		return c
	}),
	gemv("gemv/4_rows", "gemv_rows", 16, func(d dims, t gpu.DType) counters {
		e, k := float64(t.Bytes()), d.f("K")
		c := warpRow(d, t)
		reads := float64(5*(d["N"]/4) + 2*(d["N"]%4)) // rows of W, and x for each group of four or row of the rest
		c[loadBytes] = e * k * reads
		wide := 16 / t.Bytes()
		switch {
		case d["K"]%(32*wide) == 0:
			c[loadRequests] = reads * k / float64(32*wide)
			c[loadSectors] = 16 * c[loadRequests]
		case d["K"]%wide != 0:
			c[loadRequests] = reads * ceil(k, 32)
		}
		return c
	}),
	split(gemv("gemv/5_split_k", "gemv_split_1", 8, func(d dims, t gpu.DType) counters {
		n, k, slices := d.f("N"), d.f("K"), slicesOf(d)
		c := warpRow(d, t)
		rows := splitRows(d, slices)
		ctas := float64(over(d["N"], rows))
		warps := ctas * float64(rows) // that join the slices
		c[flopsF32] = 2*n*k + 5*32*n*float64(slices) + 32*warps*float64(slices-1)
		if slices > 1 {
			c[barriers], c[sharedStores] = warps*float64(slices), warps*float64(slices)
		}
		if wide := 32 * 16 / t.Bytes(); d["K"]%(wide*slices) == 0 {
			c[loadRequests] = 2 * n * k / float64(wide)
			c[loadSectors] = 16 * c[loadRequests]
		}
		return c
	})),
)

// slicesOf is how many warps share a row in gemv/5_split_k: the fewest that give every SM 16 warps.
func slicesOf(d dims) int {
	slices := 1
	for slices < 8 && d["N"]*slices < 16*d[multiprocessors] {
		slices *= 2
	}
	return slices
}

// manyRows says that rows fill the GPU more than twice without slices: two waves of gemv/4_rows, 8 CTAs of 16 rows an SM.
func manyRows(d dims) bool { return d["N"] >= 2*8*16*d[multiprocessors] }

// splitRows is how many rows a CTA of gemv/5_split_k makes, of 4 to 16 warps: those with which the SM that has most has least; 8
// where there are so many that it hardly matters.
func splitRows(d dims, slices int) int {
	if manyRows(d) {
		return 8 / slices
	}
	best, least := 0, math.MaxInt
	for rows := 16 / slices; rows*slices >= 4; rows-- {
		if n := over(over(d["N"], rows), d[multiprocessors]) * rows; n < least {
			best, least = rows, n
		}
	}
	return best
}

// split gives a step the geometry of gemv/5_split_k.
func split(variants []*Kernel) []*Kernel {
	for _, k := range variants {
		suffix := strings.TrimPrefix(k.function, "gemv_split_1")
		k.prefer = func(d dims) bool { return !manyRows(d) } // which gemv/4_rows reads x less often for
		k.choose = func(d dims) (string, gpu.Config) {
			s := slicesOf(d)
			return fmt.Sprintf("gemv_split_%d%s", s, suffix), gpu.Config{Grid: gpu.Dim(over(d["N"], splitRows(d, s))), CTA: gpu.Dim(32 * s * splitRows(d, s))}
		}
		k.cases = append(k.cases, trial{dims: dims{"N": 2113, "K": 40}}, trial{dims: dims{"N": 1057, "K": 16}}, trial{dims: dims{"N": 600, "K": 72}})
	}
	return variants
}

// warpRow are the closed forms of a warp a row: the products, five steps of the warp's sum, one lane writing.
func warpRow(d dims, t gpu.DType) counters {
	n, k, e := d.f("N"), d.f("K"), float64(t.Bytes())
	return counters{flopsF32: 2*n*k + 5*32*n, loadBytes: 2 * e * n * k, storeRequests: n, storeBytes: e * n, storeSectors: n}
}

// gemv is one step, for f16, bf16 and f32; rows is how many rows of W a CTA of 128 threads takes.
func gemv(name, function string, rows int, counts func(d dims, t gpu.DType) counters) []*Kernel {
	var variants []*Kernel
	for _, v := range []struct {
		dtype  gpu.DType
		suffix string
	}{{gpu.F16, ""}, {gpu.BF16, "_bf16"}, {gpu.F32, "_f32"}} {
		t := v.dtype
		e := t.Bytes()
		variants = append(variants, &Kernel{
			name: name, function: function + v.suffix,
			operands: []operand{
				{name: "y", output: true, dtype: t, shape: []string{"N"}},
				{name: "w", dtype: t, shape: []string{"N", "K"}},
				{name: "x", dtype: t, shape: []string{"K"}},
			},
			pass:   []string{"N", "K"},
			config: func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(over(d["N"], rows)), CTA: gpu.Dim(128)} },
			bytes: formula{fmt.Sprintf("%d·N·K + %d·K + %d·N", e, e, e), func(d dims) float64 {
				return float64(e) * (d.f("N")*d.f("K") + d.f("K") + d.f("N"))
			}},
			flops: formula{"2·N·K", func(d dims) float64 { return 2 * d.f("N") * d.f("K") }},
			terms: func(d dims) float64 { return d.f("K") },
			reference: func(d dims, in map[string][]float64) (want, scale []float64) {
				return product(in["x"], in["w"], 1, d["N"], d["K"])
			},
			counts: func(d dims) counters { return counts(d, t) },
			cases: []trial{
				{dims: dims{"N": 1, "K": 1}}, {dims: dims{"N": 31, "K": 33}}, {dims: dims{"N": 33, "K": 31}},
				{dims: dims{"N": 127, "K": 4095}}, {dims: dims{"N": 4095, "K": 127}}, {dims: dims{"N": 129, "K": 264}},
				{dims: dims{"N": 64, "K": 1024}}, {dims: dims{"N": 256, "K": 512}, inputs: outliers},
				{dims: dims{"N": 5, "K": 0}}, {dims: dims{"N": 40, "K": 96}, inputs: special},
			},
		})
	}
	// 2¹⁹ rows are 4 GiB and 2³¹ elements; the last CTAs' lie beyond.
	variants[0].far = &farCase{dims: dims{"N": 1<<19 + 64, "K": 1 << 12}, operand: "w", rows: "N", sample: 1 << 19 / rows}
	variants[0].bench = []benchShape{
		{trial: trial{dims: dims{"N": 57344, "K": 7168}}, share: .85}, {trial: trial{dims: dims{"N": 14336, "K": 7168}}, share: .85},
		{trial: trial{dims: dims{"N": 7168, "K": 7168}}, share: .75}, {trial: trial{dims: dims{"N": 4096, "K": 4096}}}, {trial: trial{dims: dims{"N": 512, "K": 16384}}},
	}
	variants[1].bench = variants[0].bench[:1]
	variants[2].bench = []benchShape{{trial: trial{dims: dims{"N": 14336, "K": 7168}}, share: .85}}
	return variants
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
