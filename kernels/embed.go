package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// embeds take rows of a table: the first step of a model, from token to vector. Bytes count what is read, not the table.
var embeds = slices.Concat(
	embedding("embed/1_naive", "embed_naive", func(d dims, t gpu.DType) counters {
		n := d.f("T") * d.f("C")
		return counters{storeRequests: d.f("T") * ceil(d.f("C"), 32), storeBytes: float64(t.Bytes()) * n}
	}),
	embedding("embed/2_vec16", "embed_vec16", func(d dims, t gpu.DType) counters {
		requests, _ := pieces(d["C"], t)
		return counters{storeRequests: d.f("T") * requests, storeBytes: float64(t.Bytes()) * d.f("T") * d.f("C")}
	}),
	blockEmbeddings(),
)

// tokenIDs are rows of a table of V.
func tokenIDs(d dims, r *rand.Rand) []float64 {
	values := make([]float64, d["T"])
	for i := range values {
		values[i] = float64(r.IntN(d["V"]))
	}
	return values
}

// checkTokens refuses tokens that a table of V rows does not have.
func checkTokens(tokens []int, rows int) error {
	for i, token := range tokens {
		if token < 0 || token >= rows {
			return &gpu.Error{What: fmt.Sprintf("tokens[%d] = %d, the table has %d rows", i, token, rows), How: "give tokens of the model's vocabulary"}
		}
	}
	return nil
}

func embedding(name, function string, counts func(d dims, t gpu.DType) counters) []*Kernel {
	var variants []*Kernel
	for _, v := range elementTypes {
		t, e := v.dtype, v.dtype.Bytes()
		suffix := "" // 16 bits are 16 bits
		if t == gpu.F32 {
			suffix = "_f32"
		}
		variants = append(variants, &Kernel{
			name: name, function: function + suffix,
			operands: []operand{
				{name: "y", output: true, exact: true, dtype: t, shape: []string{"T", "C"}},
				{name: "table", partial: true, dtype: t, shape: []string{"V", "C"}},
				{name: "tokens", dtype: gpu.I32, shape: []string{"T"}, fill: tokenIDs},
			},
			pass:     []string{"C"},
			config:   func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["T"]), CTA: gpu.Dim(rowThreads(d["C"], t))} },
			validate: func(d dims, ints func(string) []int) error { return checkTokens(ints("tokens"), d["V"]) },
			bytes:    formula{fmt.Sprintf("%d·T·C + 4·T", 2*e), func(d dims) float64 { return float64(2*e)*d.f("T")*d.f("C") + 4*d.f("T") }},
			flops:    formula{"0", func(dims) float64 { return 0 }},
			results: func(d dims, in map[string][]float64) map[string]result {
				var want []float64
				for _, token := range in["tokens"] {
					want = append(want, in["table"][int(token)*d["C"]:(int(token)+1)*d["C"]]...)
				}
				return map[string]result{"y": {want: want}}
			},
			counts: func(d dims) counters { return counts(d, t) },
			bench:  large(dims{"T": 16384, "V": 128256, "C": 4096}, nil),
			cases: []trial{
				{dims: dims{"T": 1, "V": 1, "C": 1}}, {dims: dims{"T": 33, "V": 100, "C": 31}}, {dims: dims{"T": 5, "V": 3, "C": 576}},
				{dims: dims{"T": 3, "V": 17, "C": 4096}}, {dims: dims{"T": 7, "V": 9, "C": 200}, inputs: special}, {dims: dims{"T": 2, "V": 4, "C": 9001}},
			},
		})
	}
	return variants
}

// blockEmbeddings are 3_blocks, a row for each format of the table and type of y.
func blockEmbeddings() []*Kernel {
	var variants []*Kernel
	for _, v := range elementTypes {
		for _, w := range readFormats {
			t, b, e := v.dtype, w.Block(), float64(v.dtype.Bytes())
			k := embedding("embed/3_blocks", "embed_blocks", nil)[0]
			k.function = "embed_blocks_" + w.String() + "_" + t.String()
			k.operands[0].dtype, k.operands[1].dtype = t, w
			k.operands[0].exact = false // 0 may be −0
			k.multiples = map[string]int{"C": b}
			k.config = func(d dims) gpu.Config {
				return gpu.Config{Grid: gpu.Dim(d["T"]), CTA: gpu.Dim(max(32, min(256, over(over(d["C"], 8), 32)*32)))}
			}
			k.bytes = formula{fmt.Sprintf("%g·T·C + 4·T", e+w.Bits()/8), func(d dims) float64 { return (e+w.Bits()/8)*d.f("T")*d.f("C") + 4*d.f("T") }}
			k.flops = formula{"T·C", func(d dims) float64 { return d.f("T") * d.f("C") }}
			k.counts = func(d dims) counters {
				c := counters{storeBytes: e * d.f("T") * d.f("C"), barriers: 0}
				if d["C"]%16 == 0 { // rows start on 32 bytes; in f32 a lane's two stores take half a sector each
					c[storeSectors] = d.f("T") * d.f("C") * e / 32 * e / 2
					c[storeRequests] = d.f("T") * ceil(d.f("C"), 8*32) * e / 2
				}
				return c
			}
			if k.bench = nil; t == gpu.F16 {
				k.bench = large(dims{"T": 16384, "V": 128256, "C": 4096}, nil)
			}
			k.cases = []trial{{dims: dims{"T": 1, "V": 1, "C": b}}, {dims: dims{"T": 33, "V": 70, "C": b}}, {dims: dims{"T": 5, "V": 3, "C": 3 * b}}, {dims: dims{"T": 3, "V": 17, "C": 4096}},
				{dims: dims{"T": 7, "V": 9, "C": 2 * b}, inputs: outliers}}
			if b == 1 {
				k.cases = append(k.cases, trial{dims: dims{"T": 6, "V": 5, "C": 203}, inputs: special}, trial{dims: dims{"T": 3, "V": 5, "C": 40}})
			}
			variants = append(variants, k)
		}
	}
	return variants
}
