package kernels

import (
	"fmt"
	"math/rand/v2"

	"memwall/gpu"
	"memwall/gpu/quant"
)

// gptqs and awqs make ordinary weights [K, N] in f16 of those of checkpoints in safetensors, the values of quant.Packed. Words are
// tensors of gpu.I32, as they lie in the file; G is the number of groups of K that share scale and zero.
var (
	gptqs = []*Kernel{gptqValues()}
	awqs  = []*Kernel{awqValues()}
)

// packedWords are any codes: every word is one.
func packedWords(extents ...string) func(d dims, r *rand.Rand) []float64 {
	return func(d dims, r *rand.Rand) []float64 {
		words := make([]float64, int(d.elements(extents)))
		for i := range words {
			words[i] = float64(int32(r.Uint32()))
		}
		return words
	}
}

// words are those of an operand, as gpu/quant takes them.
func words(values []float64) []uint32 {
	out := make([]uint32, len(values))
	for i, v := range values {
		out[i] = uint32(int32(v))
	}
	return out
}

// checkpointValues is what both layouts have in common; the rows of Words and Zeros have the extents that are given.
func checkpointValues(k *Kernel, wordShape, zeroShape []string) *Kernel {
	k.operands = []operand{
		{name: "y", output: true, exact: true, dtype: gpu.F16, shape: []string{"K", "N"}, align: 16},
		{name: "words", dtype: gpu.I32, shape: wordShape, align: 16, fill: packedWords(wordShape...)},
		{name: "zeros", dtype: gpu.I32, shape: zeroShape, align: 4, fill: packedWords(zeroShape...)},
		{name: "scales", dtype: gpu.F16, shape: []string{"G", "N"}, align: 16},
	}
	k.multiples = map[string]int{"K": 32, "N": 32}
	k.derived = append(k.derived, derivedExtent{"size", func(d dims) int { return d["K"] / max(d["G"], 1) }})
	k.flops = formula{"2·K·N", func(d dims) float64 { return 2 * d.f("K") * d.f("N") }}
	return k
}

// groupsFit says where groups do not divide K.
func groupsFit(d dims) error {
	if d["G"] < 1 || d["K"]%d["G"] != 0 {
		return &gpu.Error{What: fmt.Sprintf("G = %d groups do not divide K = %d", d["G"], d["K"]), How: "scales are [K ÷ group size, N]"}
	}
	return nil
}

// decoded are the reference's values of a layer.
func decoded(d dims, in map[string][]float64, bits int, less bool, decode func(*quant.Packed) ([]float32, error)) (want, scale []float64) {
	p := &quant.Packed{K: d["K"], N: d["N"], Bits: bits, Group: d["size"], Words: words(in["words"]), Zeros: words(in["zeros"]), ZerosLessOne: less}
	for _, s := range in["scales"] {
		p.Scales = append(p.Scales, quant.F16FromFloat32(float32(s)))
	}
	for _, g := range in["groups"] {
		p.Groups = append(p.Groups, int32(g))
	}
	values, err := decode(p)
	if err != nil {
		return nil, nil // compared with results, this has the wrong length
	}
	for _, v := range values {
		want = append(want, float64(v))
	}
	return want, nil
}

func gptqValues() *Kernel {
	k := checkpointValues(&Kernel{name: "gptq/1_values", function: "gptq_values_4", derived: []derivedExtent{
		{"KW", func(d dims) int { return d["K"] * d["bits"] / 32 }}, {"NW", func(d dims) int { return d["N"] * d["bits"] / 32 }},
	}}, []string{"KW", "N"}, []string{"G", "NW"})
	k.operands = append(k.operands, operand{name: "groups", optional: true, dtype: gpu.I32, shape: []string{"K"}, fill: func(d dims, r *rand.Rand) []float64 {
		groups := make([]float64, d["K"])
		for i, to := range r.Perm(len(groups)) {
			groups[i] = float64(to / d["size"])
		}
		return groups
	}})
	k.scalars = []scalar{{name: "bits", least: 2, most: 8}, {name: "less", kind: flag}}
	k.pass = []string{"K", "N", "size", "less"}
	k.precondition = func(d dims) error {
		if bits := d["bits"]; bits != 2 && bits != 3 && bits != 4 && bits != 8 {
			return &gpu.Error{What: fmt.Sprintf("bits = %d: GPTQ has 2, 3, 4 and 8", bits), How: "the file's quantize_config.json says how many"}
		}
		return groupsFit(d)
	}
	k.validate = func(d dims, ints func(string) []int) error {
		for row, g := range ints("groups") {
			if g < 0 || g >= d["G"] {
				return &gpu.Error{What: fmt.Sprintf("groups[%d] = %d, there are %d groups", row, g, d["G"]), How: "groups are g_idx of the file, or nil where it has none"}
			}
		}
		return nil
	}
	k.choose = func(d dims) (string, gpu.Config) {
		return fmt.Sprintf("gptq_values_%d", d["bits"]), gpu.Threads(d["K"]/32*(d["N"]/2), 256)
	}
	k.bytes = formula{"(2 + bits÷8)·K·N + (2 + bits÷8)·G·N", func(d dims) float64 {
		return (2 + d.f("bits")/8) * (d.f("K") + d.f("G")) * d.f("N")
	}}
	k.reference = func(d dims, in map[string][]float64) (want, scale []float64) {
		return decoded(d, in, d["bits"], d["less"] != 0, (*quant.Packed).DecodeGPTQ)
	}
	k.counts = func(d dims) counters {
		threads := d.f("K") / 32 * d.f("N") / 2
		c := counters{storeBytes: 2 * d.f("K") * d.f("N"), storeRequests: 32 * ceil(threads, 32), barriers: 0}
		if !d.has("groups") && d["size"]%32 == 0 && d["bits"] != 3 {
			c[loadRequests], c[loadBytes] = ceil(threads, 32)*(d.f("bits")+2), threads*(8*d.f("bits")+8)
		}
		return c
	}
	one := func(k, n, g, bits, less int, in inputs, without ...string) trial {
		return trial{dims: dims{"K": k, "N": n, "G": g, "bits": bits, "less": less}, inputs: in, without: without}
	}
	k.cases = []trial{
		one(32, 32, 1, 4, 1, normal, "groups"), one(64, 32, 2, 2, 1, normal, "groups"), one(96, 64, 3, 3, 0, normal, "groups"),
		one(128, 96, 1, 8, 1, outliers, "groups"), one(128, 64, 4, 4, 1, normal), one(64, 160, 8, 3, 1, special), one(96, 32, 96, 4, 0, special, "groups"),
		one(160, 64, 10, 2, 0, outliers), one(64, 32, 2, 8, 0, normal),
	}
	k.bench = []benchShape{{trial: one(8192, 8192, 64, 4, 1, normal, "groups"), share: .8}}
	k.draw = func(r *rand.Rand) trial {
		t := one(32*(1+r.IntN(6)), 32*(1+r.IntN(6)), 1<<r.IntN(6), [...]int{2, 3, 4, 8}[r.IntN(4)], r.IntN(2), inputs(r.IntN(3)))
		if r.IntN(2) == 0 {
			t.without = []string{"groups"}
		}
		return t
	}
	return k
}

func awqValues() *Kernel {
	k := checkpointValues(&Kernel{name: "awq/1_values", function: "awq_values", derived: []derivedExtent{
		{"NW", func(d dims) int { return d["N"] / 8 }},
	}}, []string{"K", "NW"}, []string{"G", "NW"})
	k.pass = []string{"K", "N", "size"}
	k.precondition = groupsFit
	k.config = func(d dims) gpu.Config { return gpu.Threads(d["K"]/8*d["NW"], 256) }
	k.bytes = formula{"2.5·K·N + 2.5·G·N", func(d dims) float64 { return 2.5 * (d.f("K") + d.f("G")) * d.f("N") }}
	k.reference = func(d dims, in map[string][]float64) (want, scale []float64) {
		return decoded(d, in, 4, false, (*quant.Packed).DecodeAWQ)
	}
	k.counts = func(d dims) counters {
		threads := d.f("K") / 8 * d.f("NW")
		c := counters{storeBytes: 2 * d.f("K") * d.f("N"), storeRequests: 8 * ceil(threads, 32), barriers: 0}
		if d["size"]%8 == 0 {
			c[loadRequests], c[loadBytes] = ceil(threads, 32)*10, threads*(8*4+4+16)
		}
		return c
	}
	k.cases = []trial{{dims: dims{"K": 32, "N": 32, "G": 1}}, {dims: dims{"K": 64, "N": 96, "G": 2}}, {dims: dims{"K": 96, "N": 64, "G": 96}, inputs: outliers},
		{dims: dims{"K": 160, "N": 32, "G": 8}, inputs: special}, {dims: dims{"K": 128, "N": 256, "G": 1}, inputs: special}}
	k.bench = large(dims{"K": 8192, "N": 8192, "G": 64}, nil)
	k.draw = func(r *rand.Rand) trial {
		return trial{dims: dims{"K": 32 * (1 + r.IntN(6)), "N": 32 * (1 + r.IntN(6)), "G": 1 << r.IntN(6)}, inputs: inputs(r.IntN(3))}
	}
	return k
}
