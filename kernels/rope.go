package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// RoPE is how a model turns pairs of a head's elements by their position: pair i of Dim/2 by position·Base^(−2i/Dim), and how
// that is stretched for contexts longer than those that it was trained on.
type RoPE struct {
	Base float64 // 10,000 at first; 500,000 in Llama 3, 1,000,000 in Qwen 2
	Dim  int     // elements of a head that are turned, an even number
	// Scaling is "" for none; "linear" (Chen et al. 2023) divides every frequency by Factor; "llama3" only those whose waves are
	// longer than Original/LowFactor, none shorter than Original/HighFactor, and blends between; "yarn" (Peng et al. 2023, as
	// Qwen has it) blends between the dimensions that turn BetaFast and BetaSlow times in Original, and makes everything longer.
	Scaling               string
	Factor                float64
	Original              int     // the context that the model was trained on: 8,192 in Llama 3, 32,768 in Qwen 2.5
	LowFactor, HighFactor float64 // llama3: 1 and 4 where they are zero
	BetaFast, BetaSlow    float64 // yarn: 32 and 1 where they are zero
}

// Frequencies is what the rope and append kernels take: radians a position of each pair, and the magnitude by which turned
// elements are multiplied, 1 but for yarn (0.1·ln Factor + 1).
func (r RoPE) Frequencies() (frequencies []float32, magnitude float64, err error) {
	if r.Dim < 0 || r.Dim%2 != 0 || r.Dim > 1<<16 {
		return nil, 0, &gpu.Error{What: fmt.Sprintf("RoPE: Dim = %d elements cannot be turned in pairs", r.Dim), How: "give the even number of a head's elements that are turned: 128"}
	}
	if !(r.Base > 1) || math.IsInf(r.Base, 0) {
		return nil, 0, &gpu.Error{What: fmt.Sprintf("RoPE: Base = %v", r.Base), How: "give a number above 1: 10000, or what the model's rope_theta says"}
	}
	scale, magnitude, err := r.scaling()
	if err != nil {
		return nil, 0, err
	}
	for i := range r.Dim / 2 {
		frequencies = append(frequencies, float32(scale(i, math.Pow(r.Base, -2*float64(i)/float64(r.Dim)))))
	}
	return frequencies, magnitude, nil
}

// scaling is what becomes of the frequency of a pair.
func (r RoPE) scaling() (scale func(i int, f float64) float64, magnitude float64, err error) {
	if r.Scaling == "" || r.Scaling == "default" {
		return func(_ int, f float64) float64 { return f }, 1, nil
	}
	if !(r.Factor >= 1) || math.IsInf(r.Factor, 0) {
		return nil, 0, &gpu.Error{What: fmt.Sprintf("RoPE: Factor = %v with Scaling %q", r.Factor, r.Scaling), How: "give how many times longer the context becomes: 8"}
	}
	if r.Scaling != "linear" && r.Original <= 0 {
		return nil, 0, &gpu.Error{What: fmt.Sprintf("RoPE: Original = %d with Scaling %q", r.Original, r.Scaling), How: "give the context that the model was trained on (original_max_position_embeddings): 8192"}
	}
	or := func(v, usual float64) float64 {
		if v == 0 {
			return usual
		}
		return v
	}
	context := float64(r.Original)
	switch r.Scaling {
	case "linear":
		return func(_ int, f float64) float64 { return f / r.Factor }, 1, nil
	case "llama3":
		low, high := or(r.LowFactor, 1), or(r.HighFactor, 4)
		if !(low > 0 && high > low) {
			return nil, 0, &gpu.Error{What: fmt.Sprintf("RoPE: LowFactor = %v, HighFactor = %v", low, high), How: "give 0 < LowFactor < HighFactor; Llama 3 has 1 and 4"}
		}
		return func(_ int, f float64) float64 {
			turns := context * f / (2 * math.Pi) // in the trained context
			keep := min(max((turns-low)/(high-low), 0), 1)
			return f/r.Factor*(1-keep) + f*keep
		}, 1, nil
	case "yarn":
		fast, slow := or(r.BetaFast, 32), or(r.BetaSlow, 1)
		if !(slow > 0 && fast > slow) {
			return nil, 0, &gpu.Error{What: fmt.Sprintf("RoPE: BetaFast = %v, BetaSlow = %v", fast, slow), How: "give 0 < BetaSlow < BetaFast; usual are 32 and 1"}
		}
		// The dimension that turns so many times in the trained context.
		dimension := func(turns float64) float64 {
			return float64(r.Dim) * math.Log(context/(turns*2*math.Pi)) / (2 * math.Log(r.Base))
		}
		first, last := max(math.Floor(dimension(fast)), 0), min(math.Ceil(dimension(slow)), float64(r.Dim-1))
		if last <= first {
			last = first + 0.001
		}
		return func(i int, f float64) float64 {
			stretch := min(max((float64(i)-first)/(last-first), 0), 1)
			return f/r.Factor*stretch + f*(1-stretch)
		}, 0.1*math.Log(r.Factor) + 1, nil
	}
	return nil, 0, &gpu.Error{What: fmt.Sprintf("RoPE: Scaling %q", r.Scaling), How: `there are "", "linear", "llama3" and "yarn"`}
}

// ropes turn heads in place.
var ropes = slices.Concat(
	rope("rope/1_pairs", "rope_pairs", []string{"T", "H", "D", "P", "magnitude", "adjacent"},
		func(d dims) gpu.Config { return gpu.Threads(d["T"]*d["H"]*d["P"], 256) },
		func(d dims, t gpu.DType) counters {
			pairs, e := d.f("T")*d.f("H")*d.f("P"), float64(t.Bytes())
			return counters{loadBytes: pairs * (2*e + 8), storeBytes: 2 * e * pairs, loadRequests: 4 * ceil(pairs, 32), storeRequests: 2 * ceil(pairs, 32), flopsSFU: 2 * pairs}
		}),
	rope("rope/2_vec", "rope_vec", []string{"H", "D", "P", "magnitude", "adjacent"},
		func(d dims) gpu.Config {
			return gpu.Config{Grid: gpu.Dim(d["T"], over(d["H"], 32)), CTA: gpu.Dim(128), Shared: sineBytes(d)}
		},
		func(d dims, t gpu.DType) counters {
			ctas, e := d.f("T")*float64(over(d["H"], 32)), float64(t.Bytes())
			elements := 2 * d.f("T") * d.f("H") * d.f("P")
			return counters{storeBytes: e * elements, loadBytes: e*elements + ctas*4*(float64(min(d["P"], 128))+d.f("P")), flopsSFU: 2 * ctas * d.f("P"), barriers: 4 * ctas}
		}),
)

// sineBytes is the shared memory for a token's sines and cosines.
func sineBytes(d dims) int { return 8 * d["P"] }

// ropeLimits: the sines lie in 48 KiB.
var ropeLimits = map[string]limit{"P": {6144, "heads of up to 12,288 elements can be turned"}}

// ropeTable are the operands that say how heads are turned.
func ropeTable() []operand {
	return []operand{
		{name: "positions", dtype: gpu.I32, shape: []string{"T"}, fill: func(d dims, r *rand.Rand) []float64 {
			values := make([]float64, d["T"])
			for i := range values {
				values[i] = float64(r.IntN(131072) >> r.IntN(17))
			}
			return values
		}},
		{name: "frequencies", dtype: gpu.F32, shape: []string{"P"}, fill: func(d dims, r *rand.Rand) []float64 {
			table, _, _ := RoPE{Base: 500_000, Dim: 2 * d["P"], Scaling: "llama3", Factor: 8, Original: 8192}.Frequencies()
			values := make([]float64, len(table))
			for i, f := range table {
				values[i] = float64(f)
			}
			return values
		}},
	}
}

var ropeScalars = []scalar{{name: "magnitude", kind: fraction, low: 0.5, high: 2}, {name: "adjacent", kind: flag}}

func ropePrecondition(d dims) error {
	if d["P"] == 0 {
		return &gpu.Error{What: "a table without frequencies", How: "leave the call out, or give kernels.RoPE{Base: …, Dim: D}.Frequencies()"}
	}
	if 2*d["P"] > d["D"] {
		return &gpu.Error{What: fmt.Sprintf("a table of %d frequencies turns %d elements, a head has D = %d", d["P"], 2*d["P"], d["D"]),
			How: "give a frequency for each pair: kernels.RoPE{Base: …, Dim: D}.Frequencies()"}
	}
	return nil
}

func rope(name, function string, pass []string, config func(d dims) gpu.Config, counts func(dims, gpu.DType) counters) []*Kernel {
	var variants []*Kernel
	for _, v := range elementTypes {
		t, e := v.dtype, float64(v.dtype.Bytes())
		f := map[string]float64{"magnitude": 1}
		variants = append(variants, &Kernel{
			name: name, function: function + v.suffix,
			operands: append([]operand{{name: "x", inout: true, partial: true, dtype: t, shape: []string{"T", "H", "D"}}}, ropeTable()...),
			scalars:  ropeScalars, pass: pass, config: config, precondition: ropePrecondition, limits: ropeLimits,
			bytes: formula{fmt.Sprintf("%g·T·H·P + 4·T + 4·P", 4*e), func(d dims) float64 { return 4*e*d.f("T")*d.f("H")*d.f("P") + 4*d.f("T") + 4*d.f("P") }},
			flops: formula{"6·T·H·P (turn) + 3·T·P (angle, sine, cosine)", func(d dims) float64 { return 6*d.f("T")*d.f("H")*d.f("P") + 3*d.f("T")*d.f("P") }},
			terms: func(dims) float64 { return 32 },
			results: func(d dims, in map[string][]float64) map[string]result {
				x := turned(d, in, in["x"], d["H"])
				return map[string]result{"x": x}
			},
			counts: func(d dims) counters { return counts(d, t) },
			bench:  large(dims{"T": 16384, "H": 32, "D": 128, "P": 64, "adjacent": 0}, f),
			cases: []trial{
				{dims: dims{"T": 1, "H": 1, "D": 2, "P": 1, "adjacent": 0}, fractions: f}, {dims: dims{"T": 5, "H": 9, "D": 64, "P": 32, "adjacent": 1}, fractions: f},
				{dims: dims{"T": 5, "H": 9, "D": 128, "P": 64, "adjacent": 0}, fractions: f, inputs: outliers}, {dims: dims{"T": 3, "H": 17, "D": 111, "P": 55, "adjacent": 1}, fractions: f},
				{dims: dims{"T": 33, "H": 2, "D": 80, "P": 20, "adjacent": 0}, fractions: map[string]float64{"magnitude": 1.1386}}, // Qwen's yarn ×4: 0.1·ln 4 + 1
				{dims: dims{"T": 4, "H": 3, "D": 256, "P": 128, "adjacent": 1}, fractions: f, inputs: special}, {dims: dims{"T": 2, "H": 3, "D": 40, "P": 4, "adjacent": 1}, fractions: f},
			},
		})
	}
	return variants
}

// turned is [T, heads, D] after the turn, in float64.
func turned(d dims, in map[string][]float64, x []float64, heads int) result {
	out := result{want: slices.Clone(x), scale: make([]float64, len(x))}
	magnitude := in["magnitude"][0]
	for t := range d["T"] {
		for i := range d["P"] {
			sine, cosine := math.Sincos(in["positions"][t] * in["frequencies"][i])
			a, b := i, i+d["P"]
			if d["adjacent"] != 0 {
				a, b = 2*i, 2*i+1
			}
			for h := range heads {
				at := (t*heads + h) * d["D"]
				u, v := x[at+a], x[at+b]
				out.want[at+a], out.want[at+b] = (u*cosine-v*sine)*magnitude, (u*sine+v*cosine)*magnitude
				size := (math.Abs(u) + math.Abs(v)) * magnitude
				out.scale[at+a], out.scale[at+b] = size, size
			}
		}
	}
	return out
}
