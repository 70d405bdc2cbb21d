package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"

	"memwall/gpu"
)

// logsoftmaxes turn rows of logits into logarithms of probabilities: what perplexity adds up.
var logsoftmaxes = []*Kernel{
	logsoftmax("logsoftmax/1_warp", "logsoftmax_warp", []string{"R", "C"}, rowsEach(4), func(d dims) counters {
		rc := d.f("R") * d.f("C")
		c := counters{loadBytes: 12 * rc, storeBytes: 4 * rc}
		if d["C"]%32 == 0 { // a ragged row ends in extra requests of the unrolled loop's remainder
			c[loadRequests], c[loadSectors], c[storeRequests] = 3*rc/32, 12*rc/32, rc/32
		}
		return c
	}),
	logsoftmax("logsoftmax/2_online", "logsoftmax_online", []string{"C"}, func(d dims) gpu.Config {
		return gpu.Config{Grid: gpu.Dim(d["R"]), CTA: gpu.Dim(512)}
	}, func(d dims) counters {
		rc := d.f("R") * d.f("C")
		c := counters{loadBytes: 8 * rc, storeBytes: 4 * rc, barriers: 16 * d.f("R")}
		if d["C"]%2048 == 0 {
			c[loadRequests], c[loadSectors], c[storeRequests] = 2*rc/128, 8*rc/32, rc/128
		}
		return c
	}),
}

func logsoftmax(name, function string, pass []string, config func(d dims) gpu.Config, counts func(d dims) counters) *Kernel {
	return &Kernel{
		name: name, function: function, pass: pass, config: config, counts: counts,
		operands: []operand{
			{name: "y", output: true, dtype: gpu.F32, shape: []string{"*R", "C"}},
			{name: "x", dtype: gpu.F32, shape: []string{"*R", "C"}},
		},
		bytes: formula{"8·R·C", func(d dims) float64 { return 8 * d.f("R") * d.f("C") }},
		flops: formula{"4·R·C (subtract, exponential, add, subtract)", func(d dims) float64 { return 4 * d.f("R") * d.f("C") }},
		terms: func(d dims) float64 { return 3*d.f("C") + 16 },
		reference: func(d dims, in map[string][]float64) (want, scale []float64) {
			want, scale = make([]float64, len(in["x"])), make([]float64, len(in["x"]))
			for r := range d["R"] {
				logRow(want[r*d["C"]:], scale[r*d["C"]:], in["x"][r*d["C"]:(r+1)*d["C"]])
			}
			return want, scale
		},
		bench: large(dims{"R": 1024, "C": 128256}, nil),
		cases: []trial{
			{dims: dims{"R": 1, "C": 1}}, {dims: dims{"R": 33, "C": 31}}, {dims: dims{"R": 5, "C": 33}}, {dims: dims{"R": 3, "C": 4095}}, {dims: dims{"R": 2, "C": 6144}},
			{dims: dims{"R": 9, "C": 320}, inputs: outliers}, {dims: dims{"R": 40, "C": 72}, inputs: special}, {dims: dims{"R": 40, "C": 96}, inputs: masked},
		},
	}
}

// logRow is one row in float64. A row of −inf alone stays so; one with +inf has no logarithm that means anything: NaN.
func logRow(want, scale, row []float64) {
	top, bad := math.Inf(-1), false
	for _, v := range row {
		bad = bad || math.IsNaN(v) || math.IsInf(v, 1)
		top = math.Max(top, v)
	}
	if math.IsInf(top, -1) {
		top = 0
	}
	sum, size := 0.0, 0.0
	for _, v := range row {
		e := math.Exp(v - top)
		sum += e
		if e > 0 {
			size += e * math.Abs(v-top)
		}
	}
	for c, v := range row {
		switch {
		case bad:
			want[c] = math.NaN()
		case sum == 0:
			want[c] = v
		default:
			want[c] = v - top - math.Log(sum)
			scale[c] = (1 + size/sum + math.Abs(v-top) + math.Log(sum))
			if math.IsInf(v, -1) {
				scale[c] = 0
			}
		}
	}
}

// argmaxes find the largest element of rows: greedy decoding.
var argmaxes = []*Kernel{
	argmax("argmax/1_cta", func(k *Kernel) {
		k.function, k.pass = "argmax_cta", []string{"C"}
		k.config = func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["R"]), CTA: gpu.Dim(256)} }
		k.counts = func(d dims) counters {
			return counters{loadBytes: 4 * d.f("R") * d.f("C"), storeBytes: 4 * d.f("R"), barriers: 8 * d.f("R")}
		}
	}),
	argmax("argmax/2_split", func(k *Kernel) {
		k.derived = []derivedExtent{{"parts", func(d dims) int { return over(d["C"], 4096) }}}
		k.workspaces = []workspace{{name: "part", dtype: gpu.U64, shape: []string{"R", "parts"}}}
		k.stages = []stage{
			{idea: "stretches", function: "argmax_stretch", args: []string{"part", "x", "C"}, main: true,
				config: func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["parts"], d["R"]), CTA: gpu.Dim(256)} }},
			{idea: "join", function: "argmax_join", args: []string{"index", "part", "parts"}, flops: func(dims) float64 { return 0 },
				config: func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["R"]), CTA: gpu.Dim(32)} }},
		}
		k.limits = map[string]limit{"R": {65535, "split the rows"}}
		k.prefer = func(d dims) bool { return d["C"] > 4096 && d["R"] < 2*d[multiprocessors] } // else one CTA a row is enough
		k.counts = func(d dims) counters {
			parts := d.f("R") * d.f("parts")
			return counters{loadBytes: 4*d.f("R")*d.f("C") + 8*parts, storeBytes: 4*d.f("R") + 8*parts, barriers: 8 * parts}
		}
	}),
}

func argmax(name string, rest func(k *Kernel)) *Kernel {
	k := &Kernel{
		name: name,
		operands: []operand{
			{name: "index", output: true, exact: true, dtype: gpu.I32, shape: []string{"R"}},
			{name: "x", dtype: gpu.F32, shape: []string{"R", "C"}},
		},
		bytes: formula{"4·R·C + 4·R", func(d dims) float64 { return 4*d.f("R")*d.f("C") + 4*d.f("R") }},
		flops: formula{"R·C (compare)", func(d dims) float64 { return d.f("R") * d.f("C") }},
		results: func(d dims, in map[string][]float64) map[string]result {
			want := make([]float64, d["R"])
			for r := range want {
				best := -1
				for c, v := range in["x"][r*d["C"] : (r+1)*d["C"]] {
					if v == v && (best < 0 || v > in["x"][r*d["C"]+best]) {
						best = c
					}
				}
				want[r] = float64(best)
			}
			return map[string]result{"index": {want: want}}
		},
		bench: large(dims{"R": 1024, "C": 128256}, nil),
		cases: []trial{
			{dims: dims{"R": 1, "C": 1}}, {dims: dims{"R": 33, "C": 31}}, {dims: dims{"R": 3, "C": 4097}}, {dims: dims{"R": 1, "C": 20000}}, {dims: dims{"R": 5, "C": 8192}, inputs: outliers},
			{dims: dims{"R": 40, "C": 72}, inputs: special}, {dims: dims{"R": 40, "C": 96}, inputs: masked}, {dims: dims{"R": 200, "C": 3}, inputs: special},
		},
	}
	rest(k)
	return k
}

// penalties lower the logits of tokens that were there before.
var penalties = []*Kernel{{
	name: "penalty/1_repetition", function: "penalty_repetition",
	operands: []operand{
		{name: "logits", inout: true, partial: true, dtype: gpu.F32, shape: []string{"B", "V"}},
		{name: "history", dtype: gpu.I32, shape: []string{"B", "N"}, fill: func(d dims, r *rand.Rand) []float64 {
			values := make([]float64, d["B"]*d["N"])
			for i := range values {
				values[i] = float64(r.IntN(min(d["V"], 2*d["N"])+1) - 1) // many twice, some padding
			}
			return values
		}},
	},
	scalars: []scalar{{name: "repetition", kind: fraction, low: 0.01, high: 100}, {name: "presence", kind: fraction, low: -100, high: 100}},
	pass:    []string{"V", "N", "repetition", "presence"},
	config: func(d dims) gpu.Config {
		return gpu.Config{Grid: gpu.Dim(d["B"]), CTA: gpu.Dim(256), Shared: 4 * over(d["V"], 32)}
	},
	contents: []contentExtent{{"different", func(d dims, ints func(string) []int) int {
		history, n := ints("history"), 0
		for b := range d["B"] {
			seen := map[int]bool{-1: true}
			for _, token := range history[b*d["N"] : (b+1)*d["N"]] {
				if token >= 0 && !seen[token] {
					seen[token] = true
					n++
				}
			}
		}
		return n
	}}},
	limits: map[string]limit{"V": {8 * 48 << 10, "its bitmap lies in 48 KiB of shared memory"}},
	validate: func(d dims, ints func(string) []int) error {
		for i, token := range ints("history") {
			if token >= d["V"] {
				return &gpu.Error{What: fmt.Sprintf("history[%d][%d] = %d, the vocabulary has %d tokens", i/d["N"], i%d["N"], token, d["V"]), How: "give tokens of the model, −1 for padding"}
			}
		}
		return nil
	},
	bytes: formula{"4·B·N + 8·different", func(d dims) float64 { return 4*d.f("B")*d.f("N") + 8*d.f("different") }},
	flops: formula{"2·different (scale, subtract)", func(d dims) float64 { return 2 * d.f("different") }},
	terms: func(dims) float64 { return 8 },
	results: func(d dims, in map[string][]float64) map[string]result {
		out := result{want: append([]float64(nil), in["logits"]...), scale: make([]float64, len(in["logits"]))}
		for b := range d["B"] {
			seen := map[float64]bool{-1: true}
			for _, token := range in["history"][b*d["N"] : (b+1)*d["N"]] {
				if seen[token] {
					continue
				}
				seen[token] = true
				x := &out.want[b*d["V"]+int(token)]
				if *x > 0 {
					*x /= in["repetition"][0]
				} else {
					*x *= in["repetition"][0]
				}
				out.scale[b*d["V"]+int(token)] = math.Abs(*x) + math.Abs(in["presence"][0])
				*x -= in["presence"][0]
			}
		}
		return map[string]result{"logits": out}
	},
	counts: func(d dims) counters {
		return counters{loadBytes: 4*d.f("B")*d.f("N") + 4*d.f("different"), storeBytes: 4 * d.f("different"), barriers: 8 * d.f("B")}
	},
	bench: []benchShape{{trial: trial{dims: dims{"B": 256, "V": 128256, "N": 8192}, fractions: map[string]float64{"repetition": 1.1, "presence": 0}}}},
	cases: []trial{
		{dims: dims{"B": 1, "V": 1, "N": 1}, fractions: map[string]float64{"repetition": 1.1, "presence": 0}},
		{dims: dims{"B": 3, "V": 1000, "N": 300}, fractions: map[string]float64{"repetition": 1.3, "presence": 0.5}},
		{dims: dims{"B": 2, "V": 33, "N": 500}, fractions: map[string]float64{"repetition": 0.5, "presence": -1}},
		{dims: dims{"B": 5, "V": 31, "N": 7}, fractions: map[string]float64{"repetition": 1, "presence": 2}, inputs: special},
		{dims: dims{"B": 1, "V": 49152, "N": 64}, fractions: map[string]float64{"repetition": 1.1, "presence": 0}},
	},
}}
