package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// glus are the gated activations of feed-forward layers, y = act(gate)·up: SwiGLU and GeGLU.
var glus = slices.Concat(
	glu("glu/1_separate", func(k *Kernel, t gpu.DType, suffix string) {
		e := float64(t.Bytes())
		each := func(d dims) gpu.Config { return gpu.Threads(d["R"]*d["C"], 256) }
		k.workspaces = []workspace{{name: "a", dtype: t, shape: []string{"R", "C"}}}
		k.stages = []stage{
			{idea: "activation", function: "glu_act" + suffix, config: each, args: []string{"a", "gate", "n", "act"}, main: true},
			{idea: "product", function: "glu_mul" + suffix, config: each, args: []string{"y", "a", "up", "n"}, flops: func(d dims) float64 { return d.f("n") }},
		}
		k.terms = func(dims) float64 { return 32 + step(t, 1)*0x1p23 } // the activation is rounded for memory
		k.counts = func(d dims) counters {
			return counters{loadBytes: 3 * e * d.f("n"), storeBytes: 2 * e * d.f("n"), loadRequests: 3 * ceil(d.f("n"), 32), storeRequests: 2 * ceil(d.f("n"), 32)}
		}
	}),
	glu("glu/2_fused", func(k *Kernel, t gpu.DType, suffix string) {
		e := float64(t.Bytes())
		k.function = "glu_fused" + suffix
		k.config = func(d dims) gpu.Config { return gpu.Threads(d["n"], 256) }
		k.counts = func(d dims) counters {
			return counters{loadBytes: 2 * e * d.f("n"), storeBytes: e * d.f("n"), loadRequests: 2 * ceil(d.f("n"), 32), storeRequests: ceil(d.f("n"), 32)}
		}
	}),
	glu("glu/3_vec16", func(k *Kernel, t gpu.DType, suffix string) {
		e, wide := float64(t.Bytes()), 16/t.Bytes()
		k.function = "glu_vec16" + suffix
		k.config = func(d dims) gpu.Config { return gpu.Threads(over(d["n"], 2*wide), 256) }
		k.counts = func(d dims) counters {
			c := counters{loadBytes: 2 * e * d.f("n"), storeBytes: e * d.f("n")}
			if d["n"]%wide == 0 {
				requests := ceil(d.f("n"), 32*wide)
				c[loadRequests], c[storeRequests] = 2*requests, requests
				c[loadSectors], c[storeSectors] = 2*ceil(e*d.f("n"), 32), ceil(e*d.f("n"), 32)
			}
			return c
		}
	}),
)

// Activations of glu, as its argument act.
const (
	siLU = iota
	geLUTanh
	geLUErf
)

func glu(name string, rest func(k *Kernel, t gpu.DType, suffix string)) []*Kernel {
	var variants []*Kernel
	for _, v := range elementTypes {
		t, e := v.dtype, v.dtype.Bytes()
		k := &Kernel{
			name: name,
			operands: []operand{
				{name: "y", output: true, dtype: t, shape: []string{"*R", "C"}},
				{name: "gate", dtype: t, shape: []string{"*R", "C"}, fill: activationInput(math.Inf(1))},
				{name: "up", dtype: t, shape: []string{"*R", "C"}, fill: activationInput(math.NaN())},
			},
			scalars: []scalar{{name: "act", least: siLU, most: geLUErf}},
			derived: []derivedExtent{{"n", func(d dims) int { return d["R"] * d["C"] }}},
			pass:    []string{"n", "act"},
			bytes:   formula{fmt.Sprintf("%d·R·C", 3*e), func(d dims) float64 { return 3 * float64(e) * d.f("n") }},
			flops:   formula{"5·R·C (negate, exponential, add, divide, multiply)", func(d dims) float64 { return 5 * d.f("n") }},
			terms:   func(dims) float64 { return 32 },
			bench:   large(dims{"R": 8192, "C": 14336, "act": siLU}, nil),
			cases: []trial{
				{dims: dims{"R": 1, "C": 1, "act": siLU}}, {dims: dims{"R": 33, "C": 31, "act": siLU}}, {dims: dims{"R": 3, "C": 4095, "act": geLUTanh}},
				{dims: dims{"R": 16, "C": 512, "act": siLU}}, {dims: dims{"R": 7, "C": 1536, "act": geLUErf}}, {dims: dims{"R": 1, "C": 4100, "act": geLUErf}},
			},
		}
		rest(k, t, v.suffix)
		k.reference = func(d dims, in map[string][]float64) (want, scale []float64) { return gluReference(d, in, k.terms(d)) }
		variants = append(variants, k)
	}
	return variants
}

// activationInput is N(0, 4) with some outliers, large numbers of either sign and one more value.
func activationInput(rare float64) func(d dims, r *rand.Rand) []float64 {
	return func(d dims, r *rand.Rand) []float64 {
		values := make([]float64, d["R"]*d["C"])
		for i := range values {
			values[i] = 2 * r.NormFloat64()
			switch r.IntN(400) {
			case 0:
				values[i] *= 30
			case 1:
				values[i] = rare
			case 2:
				values[i] = 0
			}
		}
		return values
	}
}

func gluReference(d dims, in map[string][]float64, terms float64) (want, scale []float64) {
	want, scale = make([]float64, d["n"]), make([]float64, d["n"])
	for i, x := range in["gate"] {
		up, a, slope := in["up"][i], 0.0, math.Abs(x)
		switch d["act"] {
		case siLU:
			a = x / (1 + math.Exp(-x))
		case geLUTanh:
			u := math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x)
			a = x / (1 + math.Exp(-2*u))
			slope = math.Abs(2 * u)
		case geLUErf:
			a = 0.5 * x * (1 + math.Erf(x/math.Sqrt2))
		}
		want[i] = a * up
		// An argument's rounding error counts as often as the argument is large; what underflows in f32, or as the f16 between two
		// launches, is lost.
		scale[i] = math.Abs(want[i])*(1+slope) + math.Abs(up)*(1e-28+0.5/terms)
		if d["act"] == geLUErf {
			scale[i] += math.Abs(x * up)
		}
	}
	return want, scale
}
