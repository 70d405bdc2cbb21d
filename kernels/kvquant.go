package kernels

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// kvquants keep a paged KV cache in 8 bits, int8 or fp8 (e4m3), with a scale a token and head: what is stored times its scale is
// the value. The pages are those of pageds, and the scales lie in [P, page, Hkv].
var kvquants = slices.Concat(
	[]*Kernel{quantAppend(gpu.F16, gpu.I8), quantAppend(gpu.BF16, gpu.I8), quantAppend(gpu.F16, gpu.E4M3), quantAppend(gpu.BF16, gpu.E4M3)},
	[]*Kernel{quantDecode(gpu.F16, gpu.I8), quantDecode(gpu.BF16, gpu.I8), quantDecode(gpu.F16, gpu.E4M3), quantDecode(gpu.BF16, gpu.E4M3)},
)

// storedSuffix is the part of an entry's name that says element types.
func storedSuffix(dtype, stored gpu.DType) string {
	suffix := "_" + stored.String()
	if dtype == gpu.BF16 {
		suffix += "_bf16"
	}
	return suffix
}

// quantAppend writes the keys and values of new tokens.
func quantAppend(dtype, stored gpu.DType) *Kernel {
	pages, scales, rows := []string{"P", "page", "Hkv", "D"}, []string{"P", "page", "Hkv"}, []string{"T", "Hkv", "D"}
	codes := func(d dims, r *rand.Rand) []float64 { return someCodes(stored, r, d["P"]*d["page"]*d["Hkv"]*d["D"]) }
	return &Kernel{
		name: "kvquant/1_append", function: "kvquant_append" + storedSuffix(dtype, stored),
		operands: []operand{
			{name: "kPages", inout: true, exact: true, partial: true, dtype: stored, shape: pages, fill: codes},
			{name: "vPages", inout: true, exact: true, partial: true, dtype: stored, shape: pages, fill: codes},
			{name: "kScale", inout: true, exact: true, partial: true, dtype: gpu.F32, shape: scales},
			{name: "vScale", inout: true, exact: true, partial: true, dtype: gpu.F32, shape: scales},
			{name: "k", dtype: dtype, shape: rows, partial: true},
			{name: "v", dtype: dtype, shape: rows, partial: true},
			{name: "slots", dtype: gpu.I32, shape: []string{"T"}, fill: func(d dims, r *rand.Rand) []float64 {
				return slotsOf(dims{"N": d["P"], "S": d["page"], "T": d["T"]}, r)
			}},
		},
		pass: []string{"T", "Hkv", "D"},
		precondition: func(d dims) error {
			if d["T"]*d["Hkv"]*d["D"] < 1 {
				return &gpu.Error{What: fmt.Sprintf("T = %d, Hkv = %d, D = %d: there is nothing to append", d["T"], d["Hkv"], d["D"]), How: "each is at least 1"}
			}
			return nil
		},
		validate: func(d dims, ints func(string) []int) error { return checkSlots(ints("slots"), d["P"]*d["page"]) },
		config:   func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(over(d["T"]*d["Hkv"], 4)), CTA: gpu.Dim(128)} },
		bytes: formula{"2·T·Hkv·(2·D + D + 4) + 4·T", func(d dims) float64 {
			return 2*d.f("T")*d.f("Hkv")*(3*d.f("D")+4) + 4*d.f("T")
		}},
		flops:   formula{"2·2·T·Hkv·D (largest, divide)", func(d dims) float64 { return 4 * d.f("T") * d.f("Hkv") * d.f("D") }},
		results: func(d dims, in map[string][]float64) map[string]result { return quantAppended(d, in, stored) },
		countsIn: func(d dims, in map[string][]float64) counters {
			tokens := 0.0
			for _, slot := range in["slots"] {
				if slot >= 0 {
					tokens++
				}
			}
			return counters{storeBytes: 2 * tokens * d.f("Hkv") * (d.f("D") + 4)}
		},
		bench: []benchShape{{trial: trial{dims: namedExtents("T Hkv D P page", "16384 8 128 2048 16"),
			values: map[string]func(d dims) []int{"slots": func(d dims) []int { return slotsInPages(d["T"], d["P"], d["page"]) }}}, share: .8}},
		cases: []trial{
			{dims: namedExtents("T Hkv D P page", "1 1 1 1 1")}, {dims: namedExtents("T Hkv D P page", "7 2 64 3 16")},
			{dims: namedExtents("T Hkv D P page", "33 3 111 20 5")}, {dims: namedExtents("T Hkv D P page", "5 1 128 40 1"), inputs: outliers},
			{dims: namedExtents("T Hkv D P page", "20 2 40 2 256"), inputs: special}, {dims: namedExtents("T Hkv D P page", "9 4 256 4 32")},
		},
		draw: func(r *rand.Rand) trial {
			d := dims{"T": 1 + r.IntN(60), "Hkv": 1 + r.IntN(4), "D": 1 + r.IntN(200), "page": 1 + r.IntN(40)}
			d["P"] = over(d["T"], d["page"]) + r.IntN(9)
			return trial{dims: d, inputs: inputs(r.IntN(3))}
		},
	}
}

// someCodes are stored elements of test data.
func someCodes(stored gpu.DType, r *rand.Rand, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		if values[i] = float64(r.IntN(255) - 127); stored == gpu.E4M3 {
			values[i] = 448 * (2*r.Float64() - 1) // rounded when it is stored
		}
	}
	return values
}

// quantAppended is what append writes, to the bit: the divisions are those of f32.
func quantAppended(d dims, in map[string][]float64, stored gpu.DType) map[string]result {
	all := map[string]result{}
	for _, name := range []string{"k", "v"} {
		pages, scales := slices.Clone(in[name+"Pages"]), slices.Clone(in[name+"Scale"])
		for t, slot := range in["slots"] {
			for h := range d["Hkv"] {
				if slot < 0 {
					continue
				}
				to := int(slot)*d["Hkv"] + h
				row := in[name][(t*d["Hkv"]+h)*d["D"]:][:d["D"]]
				scales[to] = quantRow(row, pages[to*d["D"]:], stored)
			}
		}
		if stored == gpu.E4M3 {
			pages = packedAs(stored, pages) // compared as bytes
		}
		all[name+"Pages"], all[name+"Scale"] = result{want: pages}, result{want: scales}
	}
	return all
}

// quantRow stores a row and gives its scale: NaN where an element is not finite, 0 where all are zero, and then zeros.
func quantRow(row, to []float64, stored gpu.DType) float64 {
	largest, finite := 0.0, true
	for _, x := range row {
		largest = math.Max(largest, math.Abs(x))
		finite = finite && !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	most := float32(127)
	if stored == gpu.E4M3 {
		most = 448
	}
	scale := float32(largest) / most
	if !finite {
		scale = float32(math.NaN())
	}
	for i, x := range row {
		to[i] = 0
		switch {
		case !(scale > 0):
		case stored == gpu.E4M3:
			y := float64(float32(math.Abs(x)) / scale)
			step := 0x1p-9
			if y >= 0x1p-6 {
				step = math.Ldexp(1, math.Ilogb(y)-3)
			}
			to[i] = math.Copysign(math.Min(448, math.RoundToEven(y/step)*step), x)
		default:
			to[i] = math.RoundToEven(float64(float32(x)/scale)) + 0 // no −0
		}
	}
	return float64(scale)
}

// quantWarps are the warps of a CTA of kvquant/2_decode, each of which is a part of its own.
const quantWarps = 4

// quantSlots are its CTAs on an SM.
const quantSlots = 3

// quantDecode is paged/1_decode over stored elements.
func quantDecode(dtype, stored gpu.DType) *Kernel {
	k := paged("kvquant/2_decode", dtype)
	suffix := storedSuffix(dtype, stored)
	scales := []string{"P", "page", "Hkv"}
	somePageScales := func(d dims, r *rand.Rand) []float64 { return someScales(d, r, stored) }
	k.operands[0].shape, k.operands[1].shape = []string{"B", "Hq", "D"}, []string{"B", "Hq", "D"}
	for i := 2; i <= 3; i++ {
		k.operands[i].dtype = stored
		k.operands[i].fill = func(d dims, r *rand.Rand) []float64 { return someCodes(stored, r, d["P"]*d["page"]*d["Hkv"]*d["D"]) }
	}
	k.operands = slices.Insert(k.operands, 4, operand{name: "kScale", dtype: gpu.F32, shape: scales, partial: true, fill: somePageScales},
		operand{name: "vScale", dtype: gpu.F32, shape: scales, partial: true, fill: somePageScales})
	k.multiples = map[string]int{"D": 16}
	k.limits = maps.Clone(k.limits)
	k.limits["D"] = limit{128, "keep longer heads in f16 or bf16: paged/1_decode"}
	k.scalars = []scalar{{name: "scale", kind: fraction, high: 1e6}, {name: "window", most: 1 << 30}, {name: "cap", kind: fraction, high: 1e6}}
	k.derived = []derivedExtent{{"rows", func(d dims) int { return d["B"] * d["Hq"] }}, {"S", func(d dims) int { return d["columns"] * d["page"] }},
		{"parts", func(d dims) int {
			if d["Hkv"] < 1 {
				return quantWarps // refused later
			}
			return quantWarps * splits(d["B"]*d["Hkv"]*groupTiles(d), quantSlots*d[multiprocessors], over(d["S"], 16*quantWarps))
		}}}
	k.contents = []contentExtent{{"tokens", visibleTokens}}
	k.workspaces = []workspace{
		{name: "partO", dtype: gpu.F32, shape: []string{"B", "Hq", "parts", "D"}}, {name: "partLSE", dtype: gpu.F32, shape: []string{"B", "Hq", "parts"}}}
	combined := ""
	if dtype == gpu.BF16 {
		combined = "_bf16"
	}
	k.stages = []stage{
		{idea: "parts", main: true, function: "kvquant_decode_128" + suffix,
			args: []string{"q", "k", "v", "kScale", "vScale", "table", "lengths", "partO", "partLSE", "Hq", "Hkv", "page", "columns", "D", "parts", "scale", "window", "cap"},
			choose: func(d dims) (string, gpu.Config) {
				width, buffers := paddedHead(d), 4
				if width == 64 {
					buffers = 6
				}
				return fmt.Sprintf("kvquant_decode_%d%s", width, suffix), gpu.Config{Grid: gpu.Dim(d["Hkv"]*groupTiles(d), d["B"], d["parts"]/quantWarps),
					CTA: gpu.Dim(32 * quantWarps), Shared: quantWarps * buffers * (32*width + 128)}
			}},
		combineStage(combined),
	}
	k.bytes = formula{"4·D·B·Hq + 2·(D + 4)·Hkv·tokens that count + 4·B·columns", func(d dims) float64 {
		return 4*d.f("D")*d.f("B")*d.f("Hq") + 2*(d.f("D")+4)*d.f("Hkv")*d.f("tokens") + 4*d.f("B")*d.f("columns")
	}}
	k.flops = formula{"4·D·Hq·tokens that count", func(d dims) float64 { return 4 * d.f("D") * d.f("Hq") * d.f("tokens") }}
	k.reference = func(d dims, in map[string][]float64) (want, scale []float64) {
		return quantDecodeReference(d, in, dtype)
	}
	k.countsIn = func(d dims, in map[string][]float64) counters {
		c := counters{flopsTensor: groupCounts(d, in, 1)[flopsTensor], storeBytes: 4*d.f("rows")*d.f("parts")*(d.f("D")+1) + 2*d.f("D")*d.f("rows"), barriers: 0}
		return c
	}
	k.cases = []trial{
		pagedCase("1 1 1 1 1 1 64", 0), pagedCase("2 4 2 9 5 16 64", 0), pagedCase("3 5 1 150 50 1 48", 0), pagedCase("2 7 1 4 2 256 80", 100),
		pagedCase("1 8 1 40 40 32 128", 0), pagedCase("4 2 2 20 30 16 112", 33), pagedCase("2 34 2 9 12 7 128", 0),
	}
	for _, s := range pagedShapes(dtype) {
		if s.dims["page"] == 16 { // beside the same pages in 16 bits
			k.bench = append(k.bench, benchShape{trial: s.trial, base: &base{step: "paged/1_decode", trial: s.trial, types: dtype.String()}, most: 1 / 1.7, aim: "1 ÷ 1.7 of the time with 16 bits"})
		}
	}
	k.draw = func(r *rand.Rand) trial {
		t := drawPaged(r, false)
		t.dims["D"] = 16 * (1 + r.IntN(8))
		return t
	}
	return k
}

// someScales are scales of test data, NaN in every slot that no sequence has filled.
func someScales(d dims, r *rand.Rand, stored gpu.DType) []float64 {
	values := make([]float64, d["P"]*d["page"]*d["Hkv"])
	poison(values, 0, len(values))
	most := 127.0
	if stored == gpu.E4M3 {
		most = 448
	}
	table := someTable(d)
	for b, length := range pagedLengths(d) {
		for j := range length {
			slot := table[b*d["columns"]+j/d["page"]]*d["page"] + j%d["page"]
			for h := range d["Hkv"] {
				values[slot*d["Hkv"]+h] = (0.5 + 2*r.Float64()) / most
			}
		}
	}
	return values
}

// quantDecodeReference is decode in float64 of what the stored elements stand for, so that the error of storing them is not
// counted.
func quantDecodeReference(d dims, in map[string][]float64, dtype gpu.DType) (want, scale []float64) {
	values := maps.Clone(in)
	for _, name := range []string{"k", "v"} {
		values[name] = slices.Clone(in[name])
		for i := range values[name] {
			values[name][i] *= in[name+"Scale"][i/d["D"]]
		}
	}
	least := math.Inf(1)
	for _, s := range in["vScale"] {
		if s > 0 {
			least = math.Min(least, s)
		}
	}
	a := attendingAs(gpu.F16, d["D"], in["scale"][0], in["cap"][0]) // the weights are f16, whatever the element type
	a.queries = 0x1p13
	if a.tiny = 0.5 / (64 * least); math.IsInf(least, 1) {
		a.tiny = 0
	}
	return decodeWith(a, d, values, pagedRow(d, in))
}
