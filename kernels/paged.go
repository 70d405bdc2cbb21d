package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// pageds are attention over a paged KV cache, as gpu/llm/kvcache hands it out: K and V in pages [P, page, Hkv, D], a block table
// [B, columns] with the page of each page tokens, and how many tokens each sequence has. Entries of the table behind the last
// token are not read and may be −1; sequences may share pages.
var pageds = slices.Concat(
	pagedSteps("paged/1_decode", pagedDecode),
	pagedSteps("paged/2_prefill", pagedPrefill),
)

func pagedSteps(name string, finish func(k *Kernel, suffix string)) []*Kernel {
	f16, bf16 := paged(name, gpu.F16), paged(name, gpu.BF16)
	finish(f16, "")
	finish(bf16, "_bf16")
	return []*Kernel{f16, bf16}
}

// mostPage is the largest page that the issue of paging has ever asked for.
const mostPage = 256

// paged is what both jobs share, without o, q and what goes with them.
func paged(name string, dtype gpu.DType) *Kernel {
	pages := []string{"P", "page", "Hkv", "D"}
	return &Kernel{
		name: name,
		operands: []operand{
			{name: "o", output: true, dtype: dtype},
			{name: "q", dtype: dtype},
			{name: "k", dtype: dtype, shape: pages, partial: true, fill: somePages},
			{name: "v", dtype: dtype, shape: pages, partial: true, fill: somePages},
			{name: "table", dtype: gpu.I32, shape: []string{"B", "columns"}, partial: true, fill: func(d dims, _ *rand.Rand) []float64 { return floats(someTable(d)) }},
			{name: "lengths", dtype: gpu.I32, shape: []string{"B"}, fill: func(d dims, _ *rand.Rand) []float64 { return floats(pagedLengths(d)) }},
		},
		limits: map[string]limit{"D": {mostHeadDim, "split the head"}, "B": {65535, "split the batch"}, "page": {mostPage, "use smaller pages"},
			"Hq": {65535, "split the heads"}},
		precondition: func(d dims) error {
			if d["page"] < 1 {
				return &gpu.Error{What: "page = 0", How: fmt.Sprintf("a page holds 1 to %d tokens", mostPage)}
			}
			return headsFit(d)
		},
		validate: checkTable,
		terms:    func(dims) float64 { return 1 },
	}
}

// checkTable refuses lengths beyond the table, and entries below the lengths that name no page, or one page twice in a sequence.
func checkTable(d dims, ints func(string) []int) error {
	table, lengths := ints("table"), ints("lengths")
	if err := checkLengths(lengths, d["columns"]*d["page"], "the table has room for %d tokens a sequence"); err != nil {
		return err
	}
	for b, length := range lengths {
		seen := map[int]int{}
		for i, page := range table[b*d["columns"]:][:over(length, d["page"])] {
			if page < 0 || page >= d["P"] {
				return &gpu.Error{What: fmt.Sprintf("table[%d][%d] = %d, and sequence %d has %d tokens there", b, i, page, b, length-i*d["page"]),
					How: fmt.Sprintf("pages are numbered from 0 to %d", d["P"]-1)}
			}
			if before, twice := seen[page]; twice {
				return &gpu.Error{What: fmt.Sprintf("table[%d][%d] and table[%d][%d] are both page %d", b, before, b, i, page),
					How: "sequences may share a page, but one sequence holds different tokens in each of its own"}
			}
			seen[page] = i
		}
	}
	return nil
}

// pagedLengths are lengths of test data; several sequences share the first pages of someTable.
func pagedLengths(d dims) []int { return someLengths(d["B"], d["columns"]*d["page"]) }

// someTable is a block table of test data: shuffled pages, −1 behind the last; where there are fewer pages than entries,
// sequences share.
func someTable(d dims) []int {
	order := rand.New(rand.NewPCG(uint64(d["P"]), 3)).Perm(d["P"])
	table := make([]int, d["B"]*d["columns"])
	for b, length := range pagedLengths(d) {
		for i := range d["columns"] {
			if table[b*d["columns"]+i] = -1; i < over(length, d["page"]) {
				table[b*d["columns"]+i] = order[(b*d["columns"]+i)%d["P"]]
			}
		}
	}
	return table
}

// somePages are keys or values of test data: N(0, 1) with outliers, and NaN in every slot that no sequence has filled.
func somePages(d dims, r *rand.Rand) []float64 {
	width := d["Hkv"] * d["D"]
	values := outliers.fill(r, d["P"]*d["page"]*width, d["D"])
	filled := make([]bool, d["P"]*d["page"])
	table := someTable(d)
	for b, length := range pagedLengths(d) {
		for j := range length {
			filled[table[b*d["columns"]+j/d["page"]]*d["page"]+j%d["page"]] = true
		}
	}
	for slot, is := range filled {
		if !is {
			poison(values, slot*width, width)
		}
	}
	return values
}

// pagedRow is where token j of sequence b and KV head h lies.
func pagedRow(d dims, in map[string][]float64) func(b, h, j int) int {
	return func(b, h, j int) int {
		page := int(in["table"][b*d["columns"]+j/d["page"]])
		return (page*d["page"]+j%d["page"])*d["Hkv"] + h
	}
}

// pagedDecode is decode/3_split over pages.
func pagedDecode(k *Kernel, suffix string) {
	dtype := k.operands[0].dtype
	k.operands[0].shape, k.operands[1].shape = []string{"B", "Hq", "D"}, []string{"B", "Hq", "D"}
	k.scalars = []scalar{{name: "scale", kind: fraction, high: 1e6}, {name: "window", most: 1 << 30}, {name: "cap", kind: fraction, high: 1e6}}
	k.derived = []derivedExtent{{"rows", func(d dims) int { return d["B"] * d["Hq"] }}, {"S", func(d dims) int { return d["columns"] * d["page"] }}}
	k.contents = []contentExtent{{"tokens", visibleTokens}}
	splitParts(k, "S")
	k.stages = []stage{
		{idea: "parts", main: true, function: "paged_decode_128" + suffix,
			args: []string{"o", "q", "k", "v", "table", "lengths", "partO", "partLSE", "B", "Hq", "Hkv", "page", "columns", "D", "parts", "scale", "window", "cap"},
			choose: func(d dims) (string, gpu.Config) {
				width, warps, shared := groupShape(d)
				return fmt.Sprintf("paged_decode_%d%s", width, suffix),
					gpu.Config{Grid: gpu.Dim(d["Hkv"]*groupTiles(d), d["B"], d["parts"]), CTA: gpu.Dim(32 * warps), Shared: shared}
			}},
		combineStage(suffix),
	}
	k.bytes = formula{"2·D·(2·B·Hq + 2·Hkv·tokens that count) + 4·B·columns", func(d dims) float64 {
		return 4*d.f("D")*(d.f("B")*d.f("Hq")+d.f("Hkv")*d.f("tokens")) + 4*d.f("B")*d.f("columns")
	}}
	k.flops = formula{"4·D·Hq·tokens that count", func(d dims) float64 { return 4 * d.f("D") * d.f("Hq") * d.f("tokens") }}
	k.reference = func(d dims, in map[string][]float64) (want, scale []float64) {
		return decodeReference(d, in, dtype, pagedRow(d, in))
	}
	k.countsIn = func(d dims, in map[string][]float64) counters {
		c := groupCounts(d, in, d["parts"])
		for _, length := range lengthsOf(d, in) { // two lanes look up a token's row for each CTA of its KV head
			from, to := window(length, d["window"])
			c[loadBytes] += 8 * float64(max(0, to-from/16*16)*d["Hkv"]*groupTiles(d))
		}
		return splitCounts(d, c)
	}
	k.cases, k.draw = pagedDecodeCases, func(r *rand.Rand) trial { return drawPaged(r, false) }
	k.bench = pagedShapes(dtype)
}

// pagedPrefill is attention/4_cp_async over pages, for chunks of several sequences.
func pagedPrefill(k *Kernel, suffix string) {
	dtype := k.operands[0].dtype
	k.operands[0].shape, k.operands[1].shape = []string{"T", "Hq", "D"}, []string{"T", "Hq", "D"}
	k.operands = append(k.operands, operand{name: "cuQ", dtype: gpu.I32, shape: []string{"B+1"}, partial: true, fill: func(d dims, _ *rand.Rand) []float64 { return floats(sequenceStarts(d["B"], d["T"], 1)) }})
	k.scalars = []scalar{{name: "scale", kind: fraction, high: 1e6}, {name: "causal", kind: flag}, {name: "window", most: 1 << 30}, {name: "cap", kind: fraction, high: 1e6}}
	k.derived = []derivedExtent{{"B+1", func(d dims) int { return d["B"] + 1 }}, {"rows", func(d dims) int { return d["T"] * d["Hq"] }}}
	k.pass = []string{"B", "Hq", "Hkv", "page", "columns", "D", "scale", "causal", "window", "cap"}
	k.contents = []contentExtent{
		{"tokens", func(_ dims, ints func(string) []int) int { return sum(ints("lengths")) }},
		{"pairs", func(d dims, ints func(string) []int) int {
			return visiblePairs(d, func(operand string) []int {
				if operand == "cuK" {
					return starts(ints("lengths"))
				}
				return ints(operand)
			})
		}},
	}
	heads := k.precondition
	k.precondition = func(d dims) error {
		if d["window"] > 0 && d["causal"] == 0 {
			return windowWithoutCausal(d)
		}
		return heads(d)
	}
	k.validate = func(d dims, ints func(string) []int) error {
		if err := checkStarts("cuQ", ints("cuQ"), d["T"]); err != nil {
			return err
		}
		return checkTable(d, ints)
	}
	k.function = "paged_prefill_128" + suffix
	k.choose = func(d dims) (string, gpu.Config) {
		width, bm, _, shared := asyncShape(d)
		return fmt.Sprintf("paged_prefill_%d%s", width, suffix), gpu.Config{Grid: gpu.Dim(d["T"]/bm+d["B"], d["Hq"]), CTA: gpu.Dim(128), Shared: shared}
	}
	k.bytes = formula{"2·D·(2·T·Hq + 2·Hkv·tokens) + 4·B·columns", func(d dims) float64 {
		return 4*d.f("D")*(d.f("T")*d.f("Hq")+d.f("Hkv")*d.f("tokens")) + 4*d.f("B")*d.f("columns")
	}}
	k.flops = formula{"4·D·Hq·(pairs of a query and a key that it sees)", prefillFLOPs}
	k.reference = func(d dims, in map[string][]float64) (want, scale []float64) {
		return pagedPrefillReference(d, in, dtype)
	}
	k.countsIn = func(d dims, in map[string][]float64) counters {
		width, bm, bn, _ := asyncShape(d)
		ctas, tiles := 0.0, 0.0
		walk(d, chunks(d, in), bm, bn, func(_ int, keys []int) {
			ctas++
			tiles += float64(len(keys))
		})
		c := counters{storeBytes: 2 * d.f("D") * d.f("rows")}
		asyncCounts(c, ctas, tiles, width, bm, bn)
		return c
	}
	k.bench = chunkShapes()
	k.cases, k.draw = pagedPrefillCases, func(r *rand.Rand) trial { return drawPaged(r, true) }
}

func sum(values []int) int {
	total := 0
	for _, v := range values {
		total += v
	}
	return total
}

// starts are where sequences of these lengths begin one after the other, and where the last ends.
func starts(lengths []int) []int {
	all := []int{0}
	for _, n := range lengths {
		all = append(all, all[len(all)-1]+n)
	}
	return all
}

// chunks are the sequences of a call of test data; k is not used.
func chunks(d dims, in map[string][]float64) []span {
	var all []span
	for b, length := range lengthsOf(d, in) {
		first, end := int(in["cuQ"][b]), int(in["cuQ"][b+1])
		all = append(all, span{batch: b, q: first, queries: end - first, keys: length})
	}
	return all
}

// pagedPrefillReference is the prefill of chunks in float64.
func pagedPrefillReference(d dims, in map[string][]float64, dtype gpu.DType) (want, scale []float64) {
	width, row := d["D"], pagedRow(d, in)
	want, scale = make([]float64, d["rows"]*width), make([]float64, d["rows"]*width)
	a := attendingAs(dtype, width, in["scale"][0], in["cap"][0])
	at := func(values []float64, i int) []float64 { return values[i*width : (i+1)*width] }
	for _, s := range chunks(d, in) {
		for h := range d["Hq"] {
			kv := h / (d["Hq"] / d["Hkv"])
			key := func(j int) []float64 { return at(in["k"], row(s.batch, kv, j)) }
			value := func(j int) []float64 { return at(in["v"], row(s.batch, kv, j)) }
			for i := range s.queries {
				from, to := visible(i, s.queries, s.keys, d["causal"] != 0, d["window"])
				r := (s.q+i)*d["Hq"] + h
				a.query(at(in["q"], r), from, to, key, value, at(want, r), at(scale, r))
			}
		}
	}
	return want, scale
}

// pagedDecodeCases are pages of 1 to 256 tokens, also with fewer pages than entries, which sequences then share.
var pagedDecodeCases = []trial{
	pagedCase("1 1 1 1 1 1 64", 0),
	pagedCase("2 4 2 9 5 16 64", 0),
	pagedCase("3 5 1 150 50 1 40", 0),
	pagedCase("2 7 1 4 2 256 80", 100),
	pagedCase("3 8 2 30 20 3 96", 0),
	pagedCase("1 8 1 40 40 32 128", 0),
	pagedCase("4 2 2 20 30 16 111", 33),
	pagedCase("2 3 3 9 4 7 256", 0),
	pagedCase("6 4 1 24 20 16 128", 0),
}

// pagedPrefillCases have chunks of several sequences.
var pagedPrefillCases = []trial{
	chunkCase(1, pagedCase("1 1 1 1 1 1 64", 0)),
	chunkCase(40, pagedCase("2 4 2 9 5 16 64", 0)),
	chunkCase(90, pagedCase("3 5 1 150 50 1 40", 0)),
	chunkCase(130, pagedCase("2 7 1 4 2 64 80", 50)),
	chunkCase(200, pagedCase("3 2 1 90 60 3 96", 0)),
	chunkCase(160, pagedCase("1 2 1 12 12 16 128", 0)),
	chunkCase(64, pagedCase("4 2 2 20 30 5 111", 33)),
	chunkCase(70, pagedCase("2 3 3 9 4 7 256", 0)),
}

// pagedCase has the extents "B Hq Hkv P columns page D".
func pagedCase(extents string, window int) trial {
	t := trial{dims: namedExtents("B Hq Hkv P columns page D", extents), fractions: map[string]float64{"cap": 0, "scale": 0}}
	t.dims["window"], t.dims["P"] = window, max(t.dims["P"], t.dims["columns"])
	return t
}

// pagedShapes are the caches of decodeShapes in shuffled pages, which may take 1.1 times as long.
func pagedShapes(dtype gpu.DType) []benchShape {
	var shapes []benchShape
	for _, page := range []int{16, 256, 1} {
		t := pagedCase(fmt.Sprintf("8 32 8 %d %d %d 128", 8*8192/page, 8192/page, page), 0)
		t.values = map[string]func(d dims) []int{"table": wholeTable, "lengths": wholeLengths}
		s := benchShape{trial: t, base: &base{step: "decode/3_split", trial: decodeCase("8 32 8 8192 128", 0, 0, 0, true)}}
		if page == 16 {
			s.most, s.aim = 1.1, "≤ 1.1 × contiguous"
		}
		if shapes = append(shapes, s); dtype != gpu.F16 {
			break
		}
	}
	return shapes
}

// chunkShapes are the prompts of prefillShapes in pages.
func chunkShapes() []benchShape {
	t := chunkCase(4*4096, pagedCase("4 16 16 1024 256 16 128", 0))
	t.values = map[string]func(d dims) []int{"table": wholeTable, "lengths": wholeLengths, "cuQ": func(d dims) []int { return starts(wholeLengths(d)) }}
	contiguous := prefillCase("4 16 16 4096 4096 128", 1, 0, 0, 0)
	return []benchShape{{trial: t, base: &base{step: "attention/4_cp_async", trial: contiguous}, most: 1.1, aim: "≤ 1.1 × contiguous"}}
}

// wholeTable is a block table of full sequences in shuffled pages, each of its own.
func wholeTable(d dims) []int {
	return rand.New(rand.NewPCG(uint64(d["P"]), 3)).Perm(d["P"])[:d["B"]*d["columns"]]
}

func wholeLengths(d dims) []int { return slices.Repeat([]int{d["columns"] * d["page"]}, d["B"]) }

func chunkCase(tokens int, t trial) trial {
	t.dims["T"], t.dims["causal"] = tokens, 1
	return t
}

// drawPaged is a case that nobody has chosen.
func drawPaged(r *rand.Rand, prefill bool) trial {
	group, kv, columns := [...]int{1, 2, 4, 5, 7, 8, 17}[r.IntN(7)], 1+r.IntN(2), 1+r.IntN(12)
	d := dims{"B": 1 + r.IntN(4), "Hq": group * kv, "Hkv": kv, "columns": columns, "P": columns + r.IntN(30), "page": 1 + r.IntN(40), "D": 8 * (1 + r.IntN(32)), "window": 0}
	if r.IntN(3) == 0 {
		d["D"] = 1 + r.IntN(mostHeadDim)
	}
	t := trial{dims: d, inputs: inputs(r.IntN(2)), fractions: map[string]float64{"scale": 0, "cap": 0}}
	if prefill {
		t = chunkCase(1+r.IntN(150), t)
		d["causal"] = r.IntN(2)
	}
	if r.IntN(3) == 0 && d["causal"] == 1 {
		d["window"] = 1 + r.IntN(100)
	}
	if r.IntN(3) == 0 {
		t.fractions["scale"], t.fractions["cap"] = r.Float64()/4, 1+20*r.Float64()
	}
	return t
}
