package kernels

import (
	"math"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// samples draw tokens from rows of logits: temperature, top-k, top-p and min-p in this order, each within what the one before
// left. A draw depends on the logits and on its row's seed and position alone. Temperature 0 takes the largest.
var samples = []*Kernel{
	sampler("sample/1_separate", func(k *Kernel) {
		aRow := func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["B"]), CTA: gpu.Dim(512)} }
		none := func(dims) float64 { return 0 }
		for _, name := range []string{"afterK", "afterP", "least"} {
			k.workspaces = append(k.workspaces, workspace{name: name, dtype: gpu.U32, shape: []string{"B"}})
		}
		k.stages = []stage{
			{idea: "top-k", function: "sample_top_k", config: aRow, args: []string{"afterK", "logits", "V", "k"}, flops: none},
			{idea: "top-p", function: "sample_top_p", config: aRow, args: []string{"afterP", "afterK", "logits", "V", "temperature", "p"}, flops: none},
			{idea: "min-p", function: "sample_min_p", config: aRow, args: []string{"least", "afterP", "logits", "V", "temperature", "minp"}, flops: none},
			{idea: "draw", function: "sample_draw", config: aRow, args: []string{"token", "least", "logits", "seeds", "positions", "V", "temperature"}},
		}
	}),
	sampler("sample/2_fused", func(k *Kernel) {
		k.function, k.pass = "sample_fused", []string{"V", "temperature", "k", "p", "minp"}
		k.config = func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["B"]), CTA: gpu.Dim(512)} }
	}),
}

func sampler(name string, rest func(k *Kernel)) *Kernel {
	number := func(d dims, r *rand.Rand) []float64 {
		values := make([]float64, d["B"])
		for i := range values {
			values[i] = float64(r.Int32())
		}
		return values
	}
	given := func(temperature, p, minp float64) map[string]float64 {
		return map[string]float64{"temperature": temperature, "p": p, "minp": minp}
	}
	k := &Kernel{
		name: name,
		operands: []operand{
			{name: "token", output: true, exact: true, dtype: gpu.I32, shape: []string{"B"}},
			{name: "logits", dtype: gpu.F32, shape: []string{"B", "V"}},
			{name: "seeds", dtype: gpu.I32, shape: []string{"B"}, fill: number},
			{name: "positions", dtype: gpu.I32, shape: []string{"B"}, fill: number},
		},
		scalars: []scalar{
			{name: "temperature", kind: fraction, low: 0, high: 100}, {name: "k", least: 0, most: math.MaxInt32},
			{name: "p", kind: fraction, low: 0, high: 1}, {name: "minp", kind: fraction, low: 0, high: 1},
		},
		limits:  map[string]limit{"V": {1 << 20, "its masses are added up in 52 bits"}},
		bytes:   formula{"4·B·V + 12·B", func(d dims) float64 { return 4*d.f("B")*d.f("V") + 12*d.f("B") }},
		flops:   formula{"4·B·V (subtract, scale, exponential, add)", func(d dims) float64 { return 4 * d.f("B") * d.f("V") }},
		results: sampleReference,
		counts:  func(d dims) counters { return counters{} },
		bench:   []benchShape{{trial: trial{dims: dims{"B": 256, "V": 128256, "k": 50}, fractions: given(0.8, 0.95, 0.05)}, share: .8}},
		cases: []trial{
			{dims: dims{"B": 1, "V": 1, "k": 0}, fractions: given(1, 1, 0)}, {dims: dims{"B": 33, "V": 31, "k": 0}, fractions: given(1, 1, 0)},
			{dims: dims{"B": 16, "V": 1000, "k": 40}, fractions: given(0.8, 0.95, 0)}, {dims: dims{"B": 7, "V": 4099, "k": 0}, fractions: given(1.3, 0.5, 0)},
			{dims: dims{"B": 9, "V": 515, "k": 0}, fractions: given(0.7, 1, 0.1)}, {dims: dims{"B": 5, "V": 200, "k": 3}, fractions: given(2, 0.6, 0.3)},
			{dims: dims{"B": 20, "V": 77, "k": 5}, fractions: given(0, 0.9, 0.05)}, {dims: dims{"B": 20, "V": 96, "k": 1}, fractions: given(1, 1, 0), inputs: outliers},
			{dims: dims{"B": 20, "V": 50, "k": 9}, fractions: given(1, 0.9, 0), inputs: special}, {dims: dims{"B": 20, "V": 96, "k": 2}, fractions: given(1, 0.9, 0.1), inputs: masked},
			{dims: dims{"B": 6, "V": 64, "k": 0}, fractions: given(1, 0, 1)},
		},
	}
	rest(k)
	return k
}

// philox4x32 is ten rounds of Philox (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
func philox4x32(counter [4]uint32, key [2]uint32) [4]uint32 {
	for range 10 {
		a, b := 0xD2511F53*uint64(counter[0]), 0xCD9E8D57*uint64(counter[2])
		counter = [4]uint32{uint32(b>>32) ^ counter[1] ^ key[0], uint32(b), uint32(a>>32) ^ counter[3] ^ key[1], uint32(a)}
		key[0] += 0x9E3779B9
		key[1] += 0xBB67AE85
	}
	return counter
}

// candidate is a token that may be drawn; its mass is in units of 2⁻³¹ of the largest's.
type candidate struct {
	token int
	logit float64
	mass  uint64
}

func sampleReference(d dims, in map[string][]float64) map[string]result {
	out := result{want: make([]float64, d["B"])}
	for b := range d["B"] {
		random := philox4x32([4]uint32{uint32(int32(in["positions"][b]))}, [2]uint32{uint32(int32(in["seeds"][b]))})[0]
		out.want[b] = float64(drawn(in["logits"][b*d["V"]:(b+1)*d["V"]], in["temperature"][0], d["k"], in["p"][0], in["minp"][0], random))
	}
	return map[string]result{"token": out}
}

// drawn sorts, which the kernels don't: the definition of each filter.
func drawn(logits []float64, temperature float64, k int, p, minp float64, random uint32) int {
	var all []candidate
	top := math.Inf(-1)
	for _, x := range logits {
		if x > top {
			top = x
		}
	}
	for token, x := range logits {
		switch {
		case math.IsNaN(x):
		case x == top:
			all = append(all, candidate{token, x, 1 << 31})
		case temperature > 0:
			all = append(all, candidate{token, x, uint64(math.RoundToEven(math.Exp((x-top)/temperature) * (1 << 31)))})
		default:
			all = append(all, candidate{token, x, 0})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		switch {
		case a.logit > b.logit:
			return -1
		case a.logit < b.logit:
			return 1
		}
		return a.token - b.token
	})
	// upto keeps n candidates and those that equal the last.
	upto := func(n int) {
		for n < len(all) && n > 0 && all[n].logit == all[n-1].logit {
			n++
		}
		all = all[:min(n, len(all))]
	}
	if k > 0 {
		upto(k)
	}
	total := func() (sum uint64) {
		for _, c := range all {
			sum += c.mass
		}
		return sum
	}
	if p < 1 && len(all) > 0 {
		need, sum, n := max(uint64(float64(total())*p), 1), uint64(0), 0
		for n < len(all) && sum < need {
			sum += all[n].mass
			n++
		}
		upto(n)
	}
	if minp > 0 && temperature > 0 && len(all) > 0 {
		n := 1
		for n < len(all) && all[n].logit >= top+temperature*math.Log(minp) {
			n++
		}
		upto(n)
	}
	slices.SortFunc(all, func(a, b candidate) int { return a.token - b.token })
	sum := total()
	target := sum>>32*uint64(random) + sum&0xffffffff*uint64(random)>>32
	if temperature <= 0 {
		target = 0
	}
	for _, c := range all {
		if target < c.mass {
			return c.token
		}
		target -= c.mass
	}
	return -1
}
