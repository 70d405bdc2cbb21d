package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// fp8gemms multiply matrices of 8-bit floating-point elements, Y = diag(xscale)·X·Wᵀ·diag(wscale), with f32 sums: a scale for each
// row of X and of W, or one for all.
var fp8gemms = slices.Concat(
	fp8gemm("fp8gemm/1_mma", func(k *Kernel, narrow gpu.DType, suffix string) {
		k.function, k.config = "fp8gemm_"+narrow.String()+suffix, squares
		k.limits = map[string]limit{"N": columnLimit(64)}
		k.counts = func(d dims) counters {
			half := pairsOf(d)
			c := mmaCounts(half, gpu.F16)
			tiles := ceil(d.f("M"), 64) * ceil(d.f("N"), 64)
			c[flopsTensor] *= 2
			c[flopsF32] = 2 * 64 * 64 * tiles
			c.scales(12 * 4 * tiles)
			return c
		}
	}),
	fp8gemm("fp8gemm/2_wgmma", func(k *Kernel, narrow gpu.DType, suffix string) {
		cases := k.cases
		byTMA(k, func(dims) int { return 128 }, "fp8gemm/1_mma")
		for i := range k.maps {
			k.maps[i].config = func(dims) gpu.TensorMapConfig { return gpu.TensorMapConfig{Box: []int{128, 128}, Swizzle: 128} }
		}
		k.multiples = map[string]int{"K": 16}
		k.cases = slices.DeleteFunc(cases, func(t trial) bool { return t.dims["K"] == 0 })
		k.cases = append(k.cases, trial{dims: dims{"M": 1, "N": 34000, "K": 144, "XS": 1, "WS": 34000}}, trial{dims: dims{"M": 2100, "N": 24, "K": 16, "XS": 2100, "WS": 1}})
		k.precondition = both(k.precondition, scalesFit)
		leaveInBoxes(k, "fp8gemm_wgmma_"+narrow.String()+suffix, pairs(256), []string{"y", "wmap", "xmap", "xscale", "wscale", "M", "N", "K", "XS", "WS"})
		k.counts = func(d dims) counters {
			c := pairCounts(d, 256, 128)
			c.tensorTraffic(pairsOf(d), gpu.F16, 256, 256)
			c.inBoxes(d, 256)
			tiles := ceil(d.f("M"), 256) * ceil(d.f("N"), 256)
			c[flopsF32] = 2 * 256 * 256 * tiles
			c.scales(16 * 66 * tiles)
			return c
		}
	}),
)

// pairsOf are the extents of matrices in which two elements of 8 bits are one of 16.
func pairsOf(d dims) dims {
	half := dims{}
	for name, n := range d {
		half[name] = n
	}
	half["K"] = over(d["K"], 2)
	return half
}

// scales adds requests of warps for scales, a number a lane.
func (c counters) scales(requests float64) {
	c[loadRequests] += requests
	c[loadBytes] += 128 * requests
	delete(c, loadSectors)
}

// scalesFit refuses numbers of scales that are neither one a row nor one for all.
func scalesFit(d dims) error {
	for _, s := range []struct{ scales, of, rows, name string }{{"XS", "x", "M", "xscale"}, {"WS", "w", "N", "wscale"}} {
		if n := d[s.scales]; n != 1 && n != d[s.rows] {
			return &gpu.Error{What: fmt.Sprintf("%s has %d scales, and %s %d rows", s.name, n, s.of, d[s.rows]), How: fmt.Sprintf("give it %d, or 1 for all", d[s.rows])}
		}
	}
	return nil
}

func both(first, second func(d dims) error) func(d dims) error {
	return func(d dims) error {
		if err := first(d); err != nil {
			return err
		}
		return second(d)
	}
}

// fp8gemm is one step, a row for each type of the results and of the elements.
func fp8gemm(name string, fill func(k *Kernel, narrow gpu.DType, suffix string)) []*Kernel {
	var variants []*Kernel
	for _, y := range sixteenBits {
		for _, narrow := range []gpu.DType{gpu.E4M3, gpu.E5M2} {
			scales := func(extent string) func(d dims, r *rand.Rand) []float64 {
				return func(d dims, r *rand.Rand) []float64 {
					values := make([]float64, d[extent])
					for i := range values {
						values[i] = math.Exp2(3*r.Float64() - 2)
					}
					return values
				}
			}
			k := &Kernel{
				name: name,
				operands: []operand{
					{name: "y", output: true, dtype: y.dtype, shape: []string{"M", "N"}},
					{name: "w", dtype: narrow, shape: []string{"N", "K"}, align: 16},
					{name: "x", dtype: narrow, shape: []string{"M", "K"}, align: 16},
					{name: "xscale", dtype: gpu.F32, shape: []string{"XS"}, fill: scales("XS")},
					{name: "wscale", dtype: gpu.F32, shape: []string{"WS"}, fill: scales("WS")},
				},
				pass:         []string{"M", "N", "K", "XS", "WS"},
				multiples:    map[string]int{"K": 16},
				precondition: scalesFit,
				bytes: formula{"N·K + M·K + 2·M·N + 4·scales", func(d dims) float64 {
					return d.f("N")*d.f("K") + d.f("M")*d.f("K") + 2*d.f("M")*d.f("N") + 4*(d.f("XS")+d.f("WS"))
				}},
				flops: formula{"2·M·N·K", func(d dims) float64 { return 2 * d.f("M") * d.f("N") * d.f("K") }},
				terms: func(d dims) float64 { return tensorSum8(d["K"]) },
				bench: []benchShape{{trial: trial{dims: dims{"M": 4096, "N": 4096, "K": 4096, "XS": 4096, "WS": 4096}}}},
				reference: func(d dims, in map[string][]float64) (want, scale []float64) {
					want, scale = product(in["x"], in["w"], d["M"], d["N"], d["K"])
					for i := range want {
						by := in["xscale"][min(i/d["N"], d["XS"]-1)] * in["wscale"][min(i%d["N"], d["WS"]-1)]
						want[i] *= by
						scale[i] *= by
					}
					return want, scale
				},
				cases: fp8Cases(),
				draw: func(r *rand.Rand) trial {
					t := trial{dims: dims{"M": 1 + r.IntN(300), "N": 1 + r.IntN(300), "K": 16 * (1 + r.IntN(30)), "XS": 1, "WS": 1}}
					if r.IntN(2) == 0 {
						t.dims["XS"] = t.dims["M"]
					}
					if r.IntN(2) == 0 {
						t.dims["WS"] = t.dims["N"]
					}
					return t
				},
			}
			fill(k, narrow, y.suffix)
			estimated(k, 1)
			variants = append(variants, k)
		}
	}
	return variants
}

// tensorSum8 is what a sum of so many products of fp8 errs by, in units of 2⁻²⁴: tensor cores of sm_89 and sm_90 keep about 14 bits,
// and round once for each 32 products, up or down.
func tensorSum8(k int) float64 { return 0x1p11*math.Sqrt(ceil(float64(k), 32)) + 4 }

// fp8Cases have one scale, or one a row, on either side.
func fp8Cases() []trial {
	return []trial{
		{dims: dims{"M": 1, "N": 1, "K": 16, "XS": 1, "WS": 1}}, {dims: dims{"M": 31, "N": 33, "K": 128, "XS": 31, "WS": 33}},
		{dims: dims{"M": 129, "N": 31, "K": 64, "XS": 1, "WS": 31}}, {dims: dims{"M": 65, "N": 257, "K": 208, "XS": 65, "WS": 1}},
		{dims: dims{"M": 3, "N": 66, "K": 4096, "XS": 3, "WS": 66}}, {dims: dims{"M": 128, "N": 256, "K": 320, "XS": 1, "WS": 1}},
		{dims: dims{"M": 257, "N": 512, "K": 144, "XS": 257, "WS": 512}, inputs: outliers}, {dims: dims{"M": 20, "N": 24, "K": 80, "XS": 20, "WS": 24}, inputs: special},
		{dims: dims{"M": 2, "N": 3, "K": 0, "XS": 2, "WS": 3}},
	}
}
