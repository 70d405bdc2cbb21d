package kernels

import (
	"fmt"
	"slices"

	"memwall/gpu"
)

// gemms multiply a matrix by a matrix, Y = X·Wᵀ: the prefill of every linear layer, over the same weights as gemv.
// m runs along the grid's x, so that CTAs that start together share rows of W.
var gemms = slices.Concat(simtGEMMs, tensorGEMMs, hopperGEMMs, splitGEMMs)

// elements are the choices of element types, with what the entries' names end in.
type elements []struct {
	dtype  gpu.DType
	suffix string
	least  int // compute capability that the entry needs, where it is above the source's lowest target
}

// anyElements are what the FP32 units take, sixteenBits what tensor cores take: bf16 since sm_80.
var (
	anyElements = elements{{gpu.F16, "", 0}, {gpu.BF16, "_bf16", 0}, {gpu.F32, "_f32", 0}}
	sixteenBits = elements{{gpu.F16, "", 0}, {gpu.BF16, "_bf16", 80}}
)

// gemm is one step; tileM × tileN of Y are what a CTA makes.
func gemm(name, function string, types elements, tileM, tileN int, cta gpu.Dim3, counts func(d dims, t gpu.DType) counters) []*Kernel {
	var variants []*Kernel
	for _, v := range types {
		t, e := v.dtype, v.dtype.Bytes()
		variants = append(variants, &Kernel{
			name: name, function: function + v.suffix, least: v.least,
			operands: []operand{
				{name: "y", output: true, dtype: t, shape: []string{"M", "N"}},
				{name: "w", dtype: t, shape: []string{"N", "K"}},
				{name: "x", dtype: t, shape: []string{"M", "K"}},
			},
			pass:   []string{"M", "N", "K"},
			limits: map[string]limit{"N": columnLimit(tileN)},
			config: func(d dims) gpu.Config {
				return gpu.Config{Grid: gpu.Dim(over(d["M"], tileM), over(d["N"], tileN)), CTA: cta}
			},
			bytes: formula{fmt.Sprintf("%d·(N·K + M·K + M·N)", e), func(d dims) float64 {
				return float64(e) * (d.f("N")*d.f("K") + d.f("M")*d.f("K") + d.f("M")*d.f("N"))
			}},
			flops: formula{"2·M·N·K", func(d dims) float64 { return 2 * d.f("M") * d.f("N") * d.f("K") }},
			terms: func(d dims) float64 { return d.f("K") },
			bench: gemmShapes(name),
			reference: func(d dims, in map[string][]float64) (want, scale []float64) {
				return product(in["x"], in["w"], d["M"], d["N"], d["K"])
			},
			counts: func(d dims) counters { return counts(d, t) },
			cases: []trial{
				{dims: dims{"M": 1, "N": 1, "K": 1}}, {dims: dims{"M": 31, "N": 33, "K": 127}}, {dims: dims{"M": 33, "N": 31, "K": 64}},
				{dims: dims{"M": 1, "N": 127, "K": 512}}, {dims: dims{"M": 65, "N": 130, "K": 200}}, {dims: dims{"M": 127, "N": 33, "K": 95}},
				{dims: dims{"M": 3, "N": 66, "K": 4095}}, {dims: dims{"M": 64, "N": 64, "K": 128}}, {dims: dims{"M": 40, "N": 96, "K": 192}, inputs: outliers},
				{dims: dims{"M": 16, "N": 32, "K": 320}}, {dims: dims{"M": 130, "N": 136, "K": 64}},
				{dims: dims{"M": 2, "N": 3, "K": 0}}, {dims: dims{"M": 20, "N": 24, "K": 40}, inputs: special},
			},
		})
		estimated(variants[len(variants)-1], e)
	}
	variants[0].far, variants[1].far = farGEMM("w", "N", tileN, tileN), farGEMM("x", "M", tileM, tileN)
	return variants
}

// columnLimit is what a grid has room for whose y goes over the columns of Y, so many a CTA.
func columnLimit(tileN int) limit { return limit{65535 * tileN, "split w and y by rows of w"} }

// farGEMM has 2¹⁸ rows of 2¹³ elements of W or X, 4 GiB, and some more, or half as many twice as long where a grid has no room for
// them; of CTAs of so many rows the first and the one behind those 4 GiB run, which take all of the few columns of Y.
func farGEMM(operand, rows string, tile, columns int) *farCase {
	many := 1 << 18
	if columnLimit(columns).most < many+64 {
		many = 1 << 17
	}
	d := dims{"M": 1, "N": min(8, columns), "K": 1 << 31 / many}
	d[rows] = many + 64
	return &farCase{dims: d, operand: operand, rows: rows, sample: many / tile}
}

// gemmShapes are the shapes of interest, with the aims of the steps that are to reach a share of the tensor roof on an H200.
func gemmShapes(name string) []benchShape {
	shape := benchShape{trial: trial{dims: dims{"M": 4096, "N": 4096, "K": 4096}}}
	switch name {
	case "gemm/9_cp_async":
		shape.own, shape.share, shape.aim = true, 400./989, "≥ 40.4% (400 TFLOP/s of an H200, by mma.sync)"
	case "gemm/12_multicast":
		shape.own, shape.share, shape.aim = true, 600./989, "≥ 60.7% (600 TFLOP/s of an H200, by wgmma)"
	}
	few := benchShape{trial: trial{dims: dims{"M": 64, "N": 64, "K": 16384}}}
	if name == "gemm/13_split_k" {
		return []benchShape{few}
	}
	return []benchShape{shape, few}
}

// loads adds what every step counts that copies tiles of bm rows of X and bn rows of W: each row once for every tile that
// needs it, in requests of so many rows where the rows are read in whole pieces.
func (c counters) loads(d dims, t gpu.DType, bm, bn, bk, rows int) counters {
	m, n, k, e := d.f("M"), d.f("N"), d.f("K"), float64(t.Bytes())
	mt, nt, steps := ceil(m, bm), ceil(n, bn), ceil(k, bk)
	c[loadBytes] = e * k * (m*nt + n*mt)
	c[loadRequests] = steps * (ceil(m, rows)*nt + ceil(n, rows)*mt)
	if d["K"]%bk == 0 {
		c[loadSectors] = c[loadBytes] / 32
	}
	return c
}
