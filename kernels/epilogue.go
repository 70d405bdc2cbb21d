package kernels

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"memwall/gpu"
)

// linears are linear layers with what follows them, Y = X·Wᵀ + bias + residual, gateds the first half of a gated MLP,
// Y = silu(X·Gᵀ)·(X·Uᵀ): as launches after each other, and fused into the product.
var (
	linears = slices.Concat(linear("linear/1_unfused", apart), linear("linear/2_fused", fused), linear("linear/3_wgmma", onHopper))
	gateds  = slices.Concat(gated("gated/1_unfused", apart), gated("gated/2_fused", fused), gated("gated/3_wgmma", onHopper))
)

// way is how a step joins the product with the rest.
type way int

const (
	apart    way = iota // launches after each other
	fused               // in the registers of include/multiply.cuh
	onHopper            // in those of include/multicast.cuh
)

// roundingTerms is what rounding an intermediate result to 16 bits errs by, in units of 2⁻²⁴.
func roundingTerms(t gpu.DType) float64 {
	if t == gpu.BF16 {
		return 0x1p16 // 2⁻⁸
	}
	return 0x1p13 // 2⁻¹¹
}

// squares is the launch of a product, 64 × 64 of Y a CTA; elementwise that of a thread an element.
func squares(d dims) gpu.Config {
	return gpu.Config{Grid: gpu.Dim(over(d["M"], 64), over(d["N"], 64)), CTA: gpu.Dim(128)}
}
func elementwise(d dims) gpu.Config { return gpu.Threads(d["M"]*d["N"], 256) }

// epilogueCases are the shapes of gemm that matter here.
func epilogueCases() []trial {
	return []trial{
		{dims: dims{"M": 1, "N": 1, "K": 1}}, {dims: dims{"M": 31, "N": 33, "K": 127}}, {dims: dims{"M": 65, "N": 130, "K": 200}},
		{dims: dims{"M": 64, "N": 64, "K": 128}}, {dims: dims{"M": 40, "N": 96, "K": 192}, inputs: outliers}, {dims: dims{"M": 2, "N": 3, "K": 0}},
		{dims: dims{"M": 20, "N": 24, "K": 40}, inputs: special},
	}
}

// epilogueShapes are a prompt's and a small batch's, of a layer with 4096 inputs; the step on warpgroups aims at what gemm's does.
func epilogueShapes(name string) []benchShape {
	prompt, few := benchShape{trial: trial{dims: dims{"M": 2048, "N": 4096, "K": 4096}}}, benchShape{trial: trial{dims: dims{"M": 16, "N": 4096, "K": 4096}}}
	if strings.HasSuffix(name, "wgmma") {
		prompt.own, prompt.share, prompt.aim = true, 600./989, "≥ 60.7% (600 TFLOP/s of an H200, by wgmma)"
	}
	return []benchShape{prompt, few}
}

// epilogue is what both families have in common: a row an element type.
func epilogue(name string, fill func(k *Kernel, t gpu.DType, suffix string)) []*Kernel {
	var variants []*Kernel
	for _, v := range sixteenBits {
		k := &Kernel{name: name, least: v.least, config: squares, pass: []string{"M", "N", "K"}, cases: epilogueCases(), bench: epilogueShapes(name)}
		fill(k, v.dtype, v.suffix)
		estimated(k, v.dtype.Bytes())
		variants = append(variants, k)
	}
	return variants
}

func linear(name string, how way) []*Kernel {
	return epilogue(name, func(k *Kernel, t gpu.DType, suffix string) {
		e := float64(t.Bytes())
		k.operands = []operand{
			{name: "y", output: true, dtype: t, shape: []string{"M", "N"}},
			{name: "w", dtype: t, shape: []string{"N", "K"}},
			{name: "x", dtype: t, shape: []string{"M", "K"}},
			{name: "bias", optional: true, dtype: t, shape: []string{"N"}},
			{name: "residual", optional: true, dtype: t, shape: []string{"M", "N"}},
		}
		k.bytes = formula{fmt.Sprintf("%g·(N·K + M·K + M·N), %g·N for a bias, %g·M·N for a residual", e, e, e), func(d dims) float64 {
			return e * (d.f("N")*d.f("K") + d.f("M")*d.f("K") + d.f("M")*d.f("N") + given(d, "bias")*d.f("N") + given(d, "residual")*d.f("M")*d.f("N"))
		}}
		k.flops = formula{"2·M·N·K", func(d dims) float64 { return 2 * d.f("M") * d.f("N") * d.f("K") }}
		k.terms = func(d dims) float64 { return d.f("K") + 2 }
		k.reference = func(d dims, in map[string][]float64) (want, scale []float64) {
			want, scale = product(in["x"], in["w"], d["M"], d["N"], d["K"])
			for i := range want {
				for _, more := range [][]float64{in["bias"], in["residual"]} {
					if len(more) > 0 {
						want[i] += more[i%len(more)]
						scale[i] += math.Abs(more[i%len(more)])
					}
				}
			}
			return want, scale
		}
		for _, without := range [][]string{{"bias"}, {"residual"}, {"bias", "residual"}} {
			k.cases = append(k.cases, trial{dims: dims{"M": 33, "N": 70, "K": 72}, without: without})
		}
		k.counts = func(d dims) counters {
			elements := d.f("M") * d.f("N")
			c := mmaCounts(d, t)
			delete(c, loadRequests)
			delete(c, loadSectors)
			c[flopsF32] = (given(d, "bias") + given(d, "residual")) * elements
			c[loadBytes] += e * c[flopsF32]
			if how == apart { // the product comes back, and the sum leaves
				c[loadBytes] += e * elements
				c[storeBytes] += e * elements
				delete(c, storeRequests)
			}
			return c
		}
		switch how {
		case fused:
			k.function = "linear_fused" + suffix
			return
		case onHopper:
			onPairs(k, "linear_wgmma"+suffix, 256, []string{"w"}, []string{"y", "wmap", "xmap", "bias", "residual", "M", "N", "K"}, "linear/2_fused")
			for _, without := range [][]string{{"bias"}, {"residual"}, {"bias", "residual"}} {
				k.cases = append(k.cases, trial{dims: dims{"M": 33, "N": 72, "K": 72}, without: without})
			}
			k.counts = func(d dims) counters { return addedOnPairs(d, t) }
			return
		}
		k.terms = func(d dims) float64 { return d.f("K") + 2 + roundingTerms(t) }
		k.workspaces = []workspace{{name: "p", dtype: t, shape: []string{"M", "N"}}}
		k.stages = []stage{
			{idea: "product", function: "linear_product" + suffix, config: squares, args: []string{"p", "w", "x", "M", "N", "K"}, main: true},
			{idea: "add", function: "linear_add" + suffix, config: elementwise, args: []string{"y", "p", "bias", "residual", "M", "N"}, flops: func(dims) float64 { return 0 }},
		}
	})
}

func gated(name string, how way) []*Kernel {
	return epilogue(name, func(k *Kernel, t gpu.DType, suffix string) {
		e := float64(t.Bytes())
		k.operands = []operand{
			{name: "y", output: true, dtype: t, shape: []string{"M", "N"}},
			{name: "g", dtype: t, shape: []string{"N", "K"}},
			{name: "u", dtype: t, shape: []string{"N", "K"}},
			{name: "x", dtype: t, shape: []string{"M", "K"}},
		}
		k.bytes = formula{fmt.Sprintf("%g·(2·N·K + M·K + M·N)", e), func(d dims) float64 {
			return e * (2*d.f("N")*d.f("K") + d.f("M")*d.f("K") + d.f("M")*d.f("N"))
		}}
		k.flops = formula{"4·M·N·K", func(d dims) float64 { return 4 * d.f("M") * d.f("N") * d.f("K") }}
		k.terms = func(d dims) float64 { return d.f("K") + 16 } // and expf, a division and two products
		k.reference = func(d dims, in map[string][]float64) (want, scale []float64) {
			a, ofA := product(in["x"], in["g"], d["M"], d["N"], d["K"])
			b, ofB := product(in["x"], in["u"], d["M"], d["N"], d["K"])
			for i := range a {
				s := a[i] / (1 + math.Exp(-a[i]))
				a[i] = s * b[i]
				ofA[i] = 1.1*ofA[i]*math.Abs(b[i]) + math.Abs(s)*ofB[i] // silu climbs by 1.1 at most
			}
			return a, ofA
		}
		k.counts = func(d dims) counters {
			elements := d.f("M") * d.f("N")
			c := mmaCounts(d, t)
			delete(c, loadRequests)
			delete(c, loadSectors)
			delete(c, flopsF32)
			c[flopsTensor] *= 2
			if how == fused { // a tile of X serves both
				c[sharedLoads] *= 1.5
				c[sharedStores] *= 1.5
				c[loadBytes] += e * d.f("K") * d.f("N") * ceil(d.f("M"), 64)
				return c
			}
			for _, name := range []string{sharedLoads, sharedStores, loadBytes, storeBytes, barriers} {
				c[name] *= 2
			}
			c[loadBytes] += 2 * e * elements
			c[storeBytes] += e * elements
			delete(c, storeRequests)
			return c
		}
		switch how {
		case fused:
			k.function = "gated_fused" + suffix
			return
		case onHopper:
			onPairs(k, "gated_wgmma"+suffix, 128, []string{"g", "u"}, []string{"y", "gmap", "umap", "xmap", "M", "N", "K"}, "gated/2_fused")
			k.counts = func(d dims) counters {
				c := pairCounts(d, 128, 64)
				c.tensorTraffic(d, t, 256, 128)
				c[loadBytes] += e * d.f("K") * d.f("N") * ceil(d.f("M"), 256) // U's
				if d["K"]%64 == 0 {
					c[loadSectors] = c[loadBytes] / 32
				}
				delete(c, flopsF32)
				return c.inBoxes(d, 128)
			}
			return
		}
		k.terms = func(d dims) float64 { return d.f("K") + 16 + 2*roundingTerms(t) }
		k.workspaces = []workspace{{name: "a", dtype: t, shape: []string{"M", "N"}}, {name: "b", dtype: t, shape: []string{"M", "N"}}}
		half := func(d dims) float64 { return 2 * d.f("M") * d.f("N") * d.f("K") }
		k.stages = []stage{
			{idea: "gate", function: "gated_product" + suffix, config: squares, args: []string{"a", "g", "x", "M", "N", "K"}, flops: half},
			{idea: "up", function: "gated_product" + suffix, config: squares, args: []string{"b", "u", "x", "M", "N", "K"}, main: true},
			{idea: "multiply", function: "gated_multiply" + suffix, config: elementwise, args: []string{"y", "a", "b", "M", "N"}, flops: func(dims) float64 { return 0 }},
		}
	})
}

// addedOnPairs are the closed forms of linear/3_wgmma: 16 warps of a tile read the bias for eight lanes each, and those of rows that
// there are the residual.
func addedOnPairs(d dims, t gpu.DType) counters {
	c := pairCounts(d, 256, 64)
	c.tensorTraffic(d, t, 256, 256)
	c.inBoxes(d, 256)
	tall, pieces := ceil(d.f("M"), 256), ceil(d.f("N"), 8) // a request for eight columns
	if d["N"]%8 != 0 {
		pieces += ceil(d.f("N")-1, 8)
	}
	bias, residual := given(d, "bias"), given(d, "residual")
	c[flopsF32] = bias * 256 * 256 * tall * ceil(d.f("N"), 256)
	c[loadBytes] += float64(t.Bytes()) * d.f("N") * (128*tall*bias + d.f("M")*residual)
	c[loadRequests] += pieces * (16*tall*bias + ceil(d.f("M"), 8)*residual)
	if bias+residual > 0 {
		delete(c, loadSectors)
	}
	return c
}
