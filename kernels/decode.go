package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// decodes are attention of one new query a sequence against its KV cache, k and v [B, Hkv, S, D]: of sequence b the first
// lengths[b] tokens count, all S where lengths is missing, with a window only the last of them. Without a token the result is
// zero.
var decodes = slices.Concat(
	decodeSteps("decode/1_head", headDecode),
	decodeSteps("decode/2_packed", packedDecode),
	decodeSteps("decode/3_split", splitDecode),
)

// decodeSteps makes a step's rows, one for each element type.
func decodeSteps(name string, finish func(k *Kernel, suffix string)) []*Kernel {
	f16, bf16 := decode(name, gpu.F16), decode(name, gpu.BF16)
	finish(f16, "")
	finish(bf16, "_bf16")
	return []*Kernel{f16, bf16}
}

// decode is what all steps share.
func decode(name string, dtype gpu.DType) *Kernel {
	cache := []string{"B", "Hkv", "S", "D"}
	return &Kernel{
		name: name,
		operands: []operand{
			{name: "o", output: true, dtype: dtype, shape: []string{"B", "Hq", "D"}},
			{name: "q", dtype: dtype, shape: []string{"B", "Hq", "D"}},
			{name: "k", dtype: dtype, shape: cache, partial: true, fill: someCache}, // up to the lengths
			{name: "v", dtype: dtype, shape: cache, partial: true, fill: someCache},
			{name: "lengths", dtype: gpu.I32, shape: []string{"B"}, optional: true, fill: func(d dims, _ *rand.Rand) []float64 { return floats(someLengths(d["B"], d["S"])) }},
		},
		scalars:      []scalar{{name: "scale", kind: fraction, high: 1e6}, {name: "window", most: 1 << 30}, {name: "cap", kind: fraction, high: 1e6}},
		pass:         []string{"B", "Hq", "Hkv", "S", "D", "scale", "window", "cap"},
		derived:      []derivedExtent{{"rows", func(d dims) int { return d["B"] * d["Hq"] }}},
		contents:     []contentExtent{{"tokens", visibleTokens}},
		limits:       map[string]limit{"D": {mostHeadDim, "split the head"}, "B": {65535, "split the batch"}, "S": {1 << 28, "split the keys"}},
		precondition: headsFit,
		validate: func(d dims, ints func(string) []int) error {
			return checkLengths(ints("lengths"), d["S"], "the tensors k and v have S = %d tokens")
		},
		bytes: formula{"2·D·(2·B·Hq + 2·Hkv·tokens that count)", func(d dims) float64 {
			return 4 * d.f("D") * (d.f("B")*d.f("Hq") + d.f("Hkv")*d.f("tokens"))
		}},
		flops: formula{"4·D·Hq·tokens that count", func(d dims) float64 { return 4 * d.f("D") * d.f("Hq") * d.f("tokens") }},
		reference: func(d dims, in map[string][]float64) (want, scale []float64) {
			row := func(b, h, j int) int { return (b*d["Hkv"]+h)*d["S"] + j }
			return decodeReference(d, in, dtype, row)
		},
		terms: func(dims) float64 { return 1 },
		cases: decodeCases,
		draw:  drawDecode,
		bench: decodeShapes(dtype),
	}
}

// visibleTokens counts the tokens that the sequences' queries see.
func visibleTokens(d dims, ints func(string) []int) int {
	lengths, total := ints("lengths"), 0
	for b := range d["B"] {
		length := d["S"]
		if b < len(lengths) {
			length = lengths[b]
		}
		from, to := window(length, d["window"])
		total += to - from
	}
	return total
}

// window gives the tokens that the newest query of a sequence sees: from ≤ j < to.
func window(length, window int) (from, to int) {
	if window > 0 {
		from = max(0, length-window)
	}
	return from, length
}

// someLengths are n lengths of test data up to most.
func someLengths(n, most int) []int {
	r := rand.New(rand.NewPCG(uint64(n), uint64(most)))
	lengths := make([]int, n)
	for i := range lengths {
		switch r.IntN(4) {
		case 0:
			lengths[i] = most
		case 1:
			lengths[i] = min(most, r.IntN(3))
		default:
			lengths[i] = r.IntN(most + 1)
		}
	}
	return lengths
}

// someCache are keys or values of test data: N(0, 1) with outliers, and NaN behind each sequence's length, where nobody may look.
func someCache(d dims, r *rand.Rand) []float64 {
	values := outliers.fill(r, d["B"]*d["Hkv"]*d["S"]*d["D"], d["D"])
	for b, length := range someLengths(d["B"], d["S"]) {
		for h := range d["Hkv"] {
			for j := length; d.has("lengths") && j < d["S"]; j++ {
				poison(values, ((b*d["Hkv"]+h)*d["S"]+j)*d["D"], d["D"])
			}
		}
	}
	return values
}

// poison writes NaN over n values.
func poison(values []float64, at, n int) {
	for i := range n {
		values[at+i] = math.NaN()
	}
}

// checkLengths refuses lengths that the cache does not have.
func checkLengths(lengths []int, most int, has string) error {
	for b, n := range lengths {
		if n < 0 || n > most {
			return &gpu.Error{What: fmt.Sprintf("lengths[%d] = %d", b, n), How: "a length is from 0 up, and " + fmt.Sprintf(has, most)}
		}
	}
	return nil
}

// lengthsOf are the lengths of a call of test data.
func lengthsOf(d dims, in map[string][]float64) []int {
	lengths := make([]int, d["B"])
	for b := range lengths {
		if lengths[b] = d["S"]; in["lengths"] != nil {
			lengths[b] = int(in["lengths"][b])
		}
	}
	return lengths
}

// decodeReference is decode in float64; row is where token j of sequence b and KV head h lies in k and v.
func decodeReference(d dims, in map[string][]float64, dtype gpu.DType, row func(b, h, j int) int) (want, scale []float64) {
	return decodeWith(attendingAs(dtype, d["D"], in["scale"][0], in["cap"][0]), d, in, row)
}

func decodeWith(a attending, d dims, in map[string][]float64, row func(b, h, j int) int) (want, scale []float64) {
	n, width := d["Hq"]/d["Hkv"], d["D"]
	want, scale = make([]float64, d["rows"]*width), make([]float64, d["rows"]*width)
	at := func(values []float64, i int) []float64 { return values[i*width : (i+1)*width] }
	for b, length := range lengthsOf(d, in) {
		from, to := window(length, d["window"])
		for h := range d["Hq"] {
			key := func(j int) []float64 { return at(in["k"], row(b, h/n, j)) }
			value := func(j int) []float64 { return at(in["v"], row(b, h/n, j)) }
			i := b*d["Hq"] + h
			a.query(at(in["q"], i), from, to, key, value, at(want, i), at(scale, i))
		}
	}
	return want, scale
}

// headDecode is a CTA for each query head.
func headDecode(k *Kernel, suffix string) {
	k.function = "decode_head_128" + suffix
	k.choose = func(d dims) (string, gpu.Config) {
		return fmt.Sprintf("decode_head_%d%s", paddedHead(d), suffix), gpu.Config{Grid: gpu.Dim(d["Hq"], d["B"]), CTA: gpu.Dim(128)}
	}
	k.countsIn = func(d dims, in map[string][]float64) counters {
		rows, tokens := d.f("rows"), 0.0
		for _, length := range lengthsOf(d, in) {
			from, to := window(length, d["window"])
			tokens += float64(to-from) * d.f("Hq")
		}
		c := counters{barriers: 4 * rows, storeBytes: 2 * d.f("D") * rows,
			loadBytes: 2*d.f("D")*(4*rows+2*tokens) + lengthBytes(d, 128*rows)}
		if d["D"]%32 == 0 && !d.has("lengths") {
			c[loadRequests] = d.f("D") / 32 * (4*rows + 2*tokens)
		}
		return c
	}
}

// lengthBytes are those of every thread's look at its sequence's length.
func lengthBytes(d dims, threads float64) float64 {
	if d.has("lengths") {
		return 4 * threads
	}
	return 0
}

// groupTiles is how many CTAs of up to 16 query heads share a KV head.
func groupTiles(d dims) int { return over(d["Hq"]/d["Hkv"], 16) }

// groupShape is a CTA of attention_decode.cuh: its warps, and bytes of shared memory for their buffers.
func groupShape(d dims) (width, warps, shared int) {
	switch width = paddedHead(d); width {
	case 64:
		return width, 4, 4 * 4 * 2 * 16 * 2 * width
	case 128:
		return width, 4, 4 * 3 * 2 * 16 * 2 * width
	}
	return width, 2, 2 * 3 * 2 * 16 * 2 * width
}

// groupCounts are the closed forms of the steps on tensor cores: K and V once for each 16 query heads that share them.
func groupCounts(d dims, in map[string][]float64, parts int) counters {
	width, warps, _ := groupShape(d)
	ctas := float64(d["B"]*d["Hkv"]*groupTiles(d)) * float64(parts)
	bytes, tiles := 2*d.f("D")*d.f("rows")*float64(warps*parts)+lengthBytes(d, 32*float64(warps)*ctas), 0.0
	for _, length := range lengthsOf(d, in) {
		from, to := window(length, d["window"])
		from = from / 16 * 16
		tiles += ceil(float64(max(0, to-from)), 16) * float64(d["Hkv"]*groupTiles(d))
		bytes += 2 * 2 * d.f("D") * float64(max(0, to-from)*d["Hkv"]*groupTiles(d))
	}
	return counters{loadBytes: bytes, flopsTensor: 4 * 16 * 16 * float64(width) * tiles, storeBytes: 2 * d.f("D") * d.f("rows"), barriers: 2 * float64(warps) * ctas}
}

// packedDecode is a CTA for the query heads of a KV head.
func packedDecode(k *Kernel, suffix string) {
	k.function = "decode_packed_128" + suffix
	k.choose = func(d dims) (string, gpu.Config) {
		width, warps, shared := groupShape(d)
		return fmt.Sprintf("decode_packed_%d%s", width, suffix), gpu.Config{Grid: gpu.Dim(d["Hkv"]*groupTiles(d), d["B"]), CTA: gpu.Dim(32 * warps), Shared: shared}
	}
	k.countsIn = func(d dims, in map[string][]float64) counters { return groupCounts(d, in, 1) }
}

// splits is the number of parts of a launch of ctas CTAs by the occupancy rule of FlashAttention's split-KV: one where they fill
// four fifths of the slots, else the fewest parts whose last wave is within 85 % of the fullest that any number of parts gives.
// There are no more parts than steps.
func splits(ctas, slots, steps int) int {
	if 5*ctas >= 4*slots {
		return 1
	}
	full := func(n int) float64 { return float64(ctas*n) / float64(over(ctas*n, slots)*slots) }
	counts := func(n int) bool { return n == 1 || over(steps, n) != over(steps, n-1) } // else a part would be empty
	best, most := 0.0, max(1, min(128, slots, steps))
	for n := 1; n <= most; n++ {
		if counts(n) {
			best = max(best, full(n))
		}
	}
	for n := 1; ; n++ {
		if counts(n) && full(n) >= 0.85*best {
			return n
		}
	}
}

// slotsAnSM is how many CTAs of a split the rule counts on an SM.
const slotsAnSM = 2

// splitParts are the extents of a step that splits the keys: how many parts, and none where nothing is to be combined.
func splitParts(k *Kernel, keys string) {
	k.derived = append(k.derived,
		derivedExtent{"parts", func(d dims) int {
			if d["Hkv"] < 1 {
				return 1 // refused later
			}
			_, warps, _ := groupShape(d)
			return splits(d["B"]*d["Hkv"]*groupTiles(d), slotsAnSM*d[multiprocessors], over(d[keys], 16*warps))
		}},
		derivedExtent{"partial", func(d dims) int {
			if d["parts"] > 1 {
				return d["parts"]
			}
			return 0
		}})
	k.workspaces = []workspace{
		{name: "partO", dtype: gpu.F32, shape: []string{"B", "Hq", "partial", "D"}}, {name: "partLSE", dtype: gpu.F32, shape: []string{"B", "Hq", "partial"}}}
}

// combineStage adds the parts' results.
func combineStage(suffix string) stage {
	return stage{idea: "combine", function: "decode_combine" + suffix, when: func(d dims) bool { return d["parts"] > 1 },
		args:   []string{"o", "partO", "partLSE", "parts", "D"},
		config: func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["rows"]), CTA: gpu.Dim(128)} },
		flops:  func(dims) float64 { return 0 }}
}

// splitDecode cuts the keys into parts.
func splitDecode(k *Kernel, suffix string) {
	splitParts(k, "S")
	k.stages = []stage{
		{idea: "parts", main: true, function: "decode_split_128" + suffix,
			args: []string{"o", "q", "k", "v", "lengths", "partO", "partLSE", "B", "Hq", "Hkv", "S", "D", "parts", "scale", "window", "cap"},
			choose: func(d dims) (string, gpu.Config) {
				width, warps, shared := groupShape(d)
				return fmt.Sprintf("decode_split_%d%s", width, suffix),
					gpu.Config{Grid: gpu.Dim(d["Hkv"]*groupTiles(d), d["B"], d["parts"]), CTA: gpu.Dim(32 * warps), Shared: shared}
			}},
		combineStage(suffix),
	}
	k.countsIn = func(d dims, in map[string][]float64) counters { return splitCounts(d, groupCounts(d, in, d["parts"])) }
}

// splitCounts adds what goes through memory between the launches, 8·parts·B·Hq·(D + 1) bytes, of which the second launch reads
// the logarithms more often than once.
func splitCounts(d dims, c counters) counters {
	results := ceil(2*d.f("D")*d.f("rows"), 32)
	c[distinctWrite] = results
	if d["parts"] == 1 {
		return c
	}
	rows, parts := d.f("rows"), d.f("parts")
	c[storeBytes] += 4 * rows * parts * (d.f("D") + 1)
	c[distinctWrite] += ceil(4*rows*parts*d.f("D"), 32) + ceil(4*rows*parts, 32)
	delete(c, loadBytes)
	return c
}

// decodeCases are lengths around tiles and parts, head dims and groups.
var decodeCases = []trial{
	decodeCase("1 1 1 1 1", 0, 0, 0, true),
	decodeCase("2 4 4 64 64", 0, 0, 0, true),
	decodeCase("3 5 1 113 40", 0, 0, 0, false),
	decodeCase("2 7 1 203 80", 0, 30, 0.2, false),
	decodeCase("1 8 1 1023 128", 0, 0, 0, true),
	decodeCase("2 8 2 1024 96", 100, 0, 0, false),
	decodeCase("1 3 3 65 111", 0, 0, 0, true),
	decodeCase("5 2 1 127 256", 33, 5, 0, false),
	decodeCase("2 40 2 130 64", 0, 0, 0, false),
	decodeCase("4 2 2 0 64", 0, 0, 0, true),
	outlierCase(decodeCase("2 4 1 640 128", 0, 0, 0, false)),
	outlierCase(decodeCase("1 16 1 48 256", 0, 0, 0, true)),
}

// decodeCase has the extents "B Hq Hkv S D" and the scalars; whole: every sequence has all tokens.
func decodeCase(extents string, window int, cap, scale float64, whole bool) trial {
	t := trial{dims: namedExtents("B Hq Hkv S D", extents), fractions: map[string]float64{"cap": cap, "scale": scale}}
	t.dims["window"] = window
	if whole {
		t.without = []string{"lengths"}
	}
	return t
}

// decodeShapes are caches of 268 MB, the size from which bandwidth is aimed at, as one long sequence, some and many; and a small one.
func decodeShapes(dtype gpu.DType) []benchShape {
	shapes := []benchShape{{trial: decodeCase("8 32 8 8192 128", 0, 0, 0, true), share: .8}}
	if dtype == gpu.F16 {
		shapes = append(shapes, benchShape{trial: decodeCase("1 32 8 65536 128", 0, 0, 0, true), share: .8},
			benchShape{trial: decodeCase("64 32 8 1024 128", 0, 0, 0, true), share: .8}, benchShape{trial: decodeCase("1 32 8 4096 128", 0, 0, 0, true)})
	}
	return shapes
}

// drawDecode is a case that nobody has chosen.
func drawDecode(r *rand.Rand) trial {
	group, kv := [...]int{1, 2, 4, 5, 7, 8, 17}[r.IntN(7)], 1+r.IntN(3)
	d := dims{"B": 1 + r.IntN(3), "Hq": group * kv, "Hkv": kv, "S": r.IntN(700), "D": 1 + r.IntN(mostHeadDim), "window": 0}
	if r.IntN(2) == 0 {
		d["D"] = [...]int{40, 64, 80, 96, 128, 256}[r.IntN(6)]
	}
	if r.IntN(3) == 0 {
		d["window"] = 1 + r.IntN(300)
	}
	t := trial{dims: d, inputs: inputs(r.IntN(2)), fractions: map[string]float64{"scale": 0, "cap": 0}}
	if r.IntN(3) == 0 {
		t.fractions["scale"], t.fractions["cap"] = r.Float64()/4, 1+20*r.Float64()
	}
	if r.IntN(3) == 0 {
		t.without = []string{"lengths"}
	}
	return t
}
