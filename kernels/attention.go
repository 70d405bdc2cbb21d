package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// attentions are the prefill ladder: softmax(scale·q·kᵀ)·v for all queries of a prompt, tensors [B, H, S, D]. Query head h
// reads KV head h ÷ (Hq/Hkv). Causal is aligned at the bottom right: query i sees keys j ≤ i + Sk − Sq, and with a window
// only j > i + Sk − Sq − window. A soft cap replaces a score s by cap·tanh(s/cap). Sequences of different lengths lie one
// after the other along S in a batch of 1; cuQ and cuK say where each starts, and where the last one ends. A query that sees
// no key gives zeros.
var attentions = slices.Concat(
	prefills("attention/1_naive", naiveAttention),
	prefills("attention/2_tiled", tiledAttention),
	prefills("attention/3_mma", tensorAttention),
	prefills("attention/4_cp_async", asyncAttention),
)

// prefills makes a step's rows, one for each element type.
func prefills(name string, finish func(k *Kernel, suffix string)) []*Kernel {
	f16, bf16 := prefill(name, gpu.F16), prefill(name, gpu.BF16)
	finish(f16, "")
	finish(bf16, "_bf16")
	return []*Kernel{f16, bf16}
}

// mostHeadDim is the longest head that the kernels have registers for.
const mostHeadDim = 256

// headDims are the extents of a head that the kernels compute with; others are filled up with zeros.
var headDims = []int{64, 128, 256}

// paddedHead is the least of headDims that holds D.
func paddedHead(d dims) int {
	for _, n := range headDims {
		if d["D"] <= n {
			return n
		}
	}
	return mostHeadDim
}

// prefill is what all steps share.
func prefill(name string, dtype gpu.DType) *Kernel {
	return &Kernel{
		name: name,
		operands: []operand{
			{name: "o", output: true, dtype: dtype, shape: []string{"B", "Hq", "Sq", "D"}},
			{name: "q", dtype: dtype, shape: []string{"B", "Hq", "Sq", "D"}},
			{name: "k", dtype: dtype, shape: []string{"B", "Hkv", "Sk", "D"}, partial: true}, // a window leaves keys out
			{name: "v", dtype: dtype, shape: []string{"B", "Hkv", "Sk", "D"}, partial: true},
			{name: "cuQ", dtype: gpu.I32, shape: []string{"N+1"}, optional: true, partial: true, fill: func(d dims, _ *rand.Rand) []float64 { return floats(sequenceStarts(d["N+1"]-1, d["Sq"], 1)) }},
			{name: "cuK", dtype: gpu.I32, shape: []string{"N+1"}, optional: true, partial: true, fill: func(d dims, _ *rand.Rand) []float64 { return floats(sequenceStarts(d["N+1"]-1, d["Sk"], 2)) }},
		},
		scalars:  []scalar{{name: "scale", kind: fraction, high: 1e6}, {name: "causal", kind: flag}, {name: "window", most: 1 << 30}, {name: "cap", kind: fraction, high: 1e6}},
		derived:  []derivedExtent{{"N", func(d dims) int { return max(0, d["N+1"]-1) }}, {"rows", func(d dims) int { return d["B"] * d["Hq"] * d["Sq"] }}},
		contents: []contentExtent{{"pairs", visiblePairs}},
		pass:     []string{"B", "Hq", "Hkv", "Sq", "Sk", "D", "N", "scale", "causal", "window", "cap"},
		limits: map[string]limit{"D": {mostHeadDim, "split the head"}, "B": {65535, "split the batch"},
			"Hq": {65535, "split the heads"}, "Sk": {1 << 24, "split the keys"}, "Sq": {1 << 24, "split the queries"}},
		precondition: prefillPrecondition,
		validate: func(d dims, ints func(string) []int) error {
			if !d.has("cuQ") {
				return nil
			}
			if err := checkStarts("cuQ", ints("cuQ"), d["Sq"]); err != nil {
				return err
			}
			return checkStarts("cuK", ints("cuK"), d["Sk"])
		},
		bytes: formula{"2·D·(2·B·Hq·Sq + 2·B·Hkv·Sk)", func(d dims) float64 {
			return 4 * d.f("D") * d.f("B") * (d.f("Hq")*d.f("Sq") + d.f("Hkv")*d.f("Sk"))
		}},
		flops: formula{"4·D·Hq·(pairs of a query and a key that it sees)", prefillFLOPs},
		reference: func(d dims, in map[string][]float64) (want, scale []float64) {
			return prefillReference(d, in, dtype, false)
		},
		terms: func(dims) float64 { return 1 },
		cases: prefillCases,
		draw:  drawPrefill,
		bench: prefillShapes(dtype),
	}
}

// prefillPrecondition says what the shapes alone do not.
func prefillPrecondition(d dims) error {
	if err := headsFit(d); err != nil {
		return err
	}
	switch {
	case d.has("cuQ") != d.has("cuK"):
		return &gpu.Error{What: "cuQ and cuK belong together, and one is nil", How: "give both, or neither where all sequences of a batch have the same length"}
	case d.has("cuQ") && d["B"] != 1:
		return &gpu.Error{What: fmt.Sprintf("B = %d together with cuQ", d["B"]), How: "with cuQ and cuK all sequences lie one after the other in a batch of 1: q is [1, Hq, sum of lengths, D]"}
	case d.has("cuQ") && d["N+1"] < 2:
		return &gpu.Error{What: fmt.Sprintf("cuQ has %d elements", d["N+1"]), How: "it has one more than there are sequences: [0, length, …]"}
	case d["window"] > 0 && d["causal"] == 0:
		return windowWithoutCausal(d)
	}
	return nil
}

func windowWithoutCausal(d dims) error {
	return &gpu.Error{What: fmt.Sprintf("window = %d without causal", d["window"]), How: "a window counts the last keys up to the query's own: pass causal true, or window 0"}
}

// headsFit refuses heads that do not divide into groups.
func headsFit(d dims) error {
	switch {
	case d["Hq"] < 1 || d["Hkv"] < 1:
		return &gpu.Error{What: fmt.Sprintf("Hq = %d, Hkv = %d", d["Hq"], d["Hkv"]), How: "there is at least one head of each"}
	case d["Hq"]%d["Hkv"] != 0:
		return &gpu.Error{What: fmt.Sprintf("Hq = %d is no multiple of Hkv = %d", d["Hq"], d["Hkv"]), How: "every KV head serves the same number of query heads"}
	}
	return nil
}

// checkStarts refuses starts of sequences that do not cover the tokens in order.
func checkStarts(name string, starts []int, total int) error {
	how := fmt.Sprintf("it begins with 0, never falls and ends with the number of tokens, %d", total)
	if starts[0] != 0 {
		return &gpu.Error{What: fmt.Sprintf("%s[0] = %d", name, starts[0]), How: how}
	}
	for i, at := range starts[1:] {
		if at < starts[i] {
			return &gpu.Error{What: fmt.Sprintf("%s[%d] = %d after %d", name, i+1, at, starts[i]), How: how}
		}
	}
	if last := starts[len(starts)-1]; last != total {
		return &gpu.Error{What: fmt.Sprintf("%s[%d] = %d", name, len(starts)-1, last), How: how}
	}
	return nil
}

// prefillFLOPs are those of the pairs that are not masked.
func prefillFLOPs(d dims) float64 { return 4 * d.f("D") * d.f("Hq") * d.f("pairs") }

// visiblePairs counts queries with the keys that each sees, over the sequences of a call.
func visiblePairs(d dims, ints func(string) []int) int {
	pairs := 0
	count := func(queries, keys int) {
		if d["causal"] == 0 {
			pairs += queries * keys
			return
		}
		for i := range queries {
			from, to := visible(i, queries, keys, true, d["window"])
			pairs += to - from
		}
	}
	if q, k := ints("cuQ"), ints("cuK"); len(q) > 0 && len(q) == len(k) {
		for n := range len(q) - 1 {
			count(q[n+1]-q[n], k[n+1]-k[n])
		}
		return pairs
	}
	count(d["Sq"], d["Sk"])
	return pairs * d["B"]
}

// sequenceStarts cuts so many tokens into n sequences of test data, some of which may be empty: n + 1 starts.
func sequenceStarts(n, tokens int, salt uint64) []int {
	r := rand.New(rand.NewPCG(uint64(n), salt))
	starts := []int{0, tokens}
	for len(starts) <= n {
		starts = append(starts, r.IntN(tokens+1))
	}
	slices.Sort(starts)
	return starts
}

func floats(values []int) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = float64(v)
	}
	return all
}

// span is one sequence of a batch: where it begins in each tensor, and its lengths.
type span struct{ batch, q, queries, k, keys int }

// spans are the sequences of a call of test data.
func spans(d dims) []span {
	var all []span
	if d.has("cuQ") {
		q, k := sequenceStarts(d["N"], d["Sq"], 1), sequenceStarts(d["N"], d["Sk"], 2)
		for n := range d["N"] {
			all = append(all, span{0, q[n], q[n+1] - q[n], k[n], k[n+1] - k[n]})
		}
		return all
	}
	for b := range d["B"] {
		all = append(all, span{b, 0, d["Sq"], 0, d["Sk"]})
	}
	return all
}

// prefillReference is attention in float64, head by head and query by query.
func prefillReference(d dims, in map[string][]float64, dtype gpu.DType, stored bool) (want, scale []float64) {
	n, width := d["Hq"]/d["Hkv"], d["D"]
	want, scale = make([]float64, d["rows"]*width), make([]float64, d["rows"]*width)
	a := attendingAs(dtype, width, in["scale"][0], in["cap"][0])
	a.stored = stored
	for _, s := range spans(d) {
		for h := range d["Hq"] {
			row := func(values []float64, at int) []float64 { return values[at*width : (at+1)*width] }
			firstK := (s.batch*d["Hkv"]+h/n)*d["Sk"] + s.k
			key := func(j int) []float64 { return row(in["k"], firstK+j) }
			value := func(j int) []float64 { return row(in["v"], firstK+j) }
			for i := range s.queries {
				at := (s.batch*d["Hq"]+h)*d["Sq"] + s.q + i
				from, to := visible(i, s.queries, s.keys, d["causal"] != 0, d["window"])
				a.query(row(in["q"], at), from, to, key, value, row(want, at), row(scale, at))
			}
		}
	}
	return want, scale
}

// walk visits the CTAs of a fused step in tiles of bm queries: how many queries a CTA has, and how many keys in each tile of
// bn keys that it loads.
func walk(d dims, sequences []span, bm, bn int, visit func(queries int, keys []int)) {
	for _, s := range sequences {
		for first := 0; first < s.queries; first += bm {
			queries := min(bm, s.queries-first)
			from, _ := visible(first, s.queries, s.keys, d["causal"] != 0, d["window"])
			_, to := visible(first+queries-1, s.queries, s.keys, d["causal"] != 0, d["window"])
			if d["causal"] != 0 {
				to = min(s.keys, first+queries+s.keys-s.queries)
			}
			var keys []int
			for j := from / bn * bn; j < to; j += bn {
				keys = append(keys, min(bn, s.keys-j))
			}
			for range d["Hq"] {
				visit(queries, keys)
			}
		}
	}
}

// fusedCounts are the closed forms that all fused steps share: Q once, K and V once for each tile of bm queries, the result
// once; a request takes the 16-byte pieces of 32 lanes.
func fusedCounts(d dims, bm, bn int) (c counters, ctas, tiles float64) {
	pieces := paddedHead(d) / 8
	bytes, requests := 0.0, 0.0
	walk(d, spans(d), bm, bn, func(queries int, keys []int) {
		ctas++
		tiles += float64(len(keys))
		bytes += float64(2 * d["D"] * queries)
		requests += ceil(float64(queries*pieces), 32)
		for _, n := range keys {
			bytes += float64(2 * 2 * d["D"] * n)
			requests += 2 * ceil(float64(n*pieces), 32)
		}
	})
	c = counters{storeBytes: 2 * d.f("D") * d.f("rows")}
	if !d.has("cuQ") { // the search for a CTA's sequence reads starts as well
		c[loadBytes] = bytes
		if d["D"]%8 == 0 {
			c[loadRequests] = requests
		}
		if d["window"] == 0 { // every key is seen by somebody
			c[distinctRead] = ceil(2*d.f("D")*d.f("rows"), 32) + 2*ceil(2*d.f("D")*d.f("B")*d.f("Hkv")*d.f("Sk"), 32)
		}
	}
	return c, ctas, tiles
}
