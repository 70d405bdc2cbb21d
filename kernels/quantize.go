package kernels

import (
	"fmt"
	"slices"

	"memwall/gpu"
)

// quantizes make packed tensors of ordinary ones, the bytes of gpu/quant's encoders; dequantizes read them.
var (
	quantizes   = slices.Concat(quantize("quantize/1_thread", oneThread), quantize("quantize/2_staged", staged))
	dequantizes = dequantize()
)

// made are the formats that the device encodes, with the values that a thread takes, and the bytes that it stores at a time.
var made = []struct {
	dtype  gpu.DType
	values int
}{{gpu.Q8_0, 32}, {gpu.Q4_0, 32}, {gpu.Q4_1, 32}, {gpu.Q4_K, 32}, {gpu.Q6_K, 16}, {gpu.MXFP4, 32}, {gpu.Q8_1, 32}}

// encoder is how a step of quantize is launched and what it counts.
type encoder struct {
	prefix string
	types  []gpu.DType // of x
	kind   func(x gpu.DType) int
	fp8    bool
	counts func(d dims, y, x gpu.DType, values int) counters
}

// oneThread tells the type of x by the size of its elements.
var oneThread = encoder{prefix: "quantize_thread_", types: []gpu.DType{gpu.F32, gpu.F16}, kind: func(x gpu.DType) int { return x.Bytes() },
	counts: func(d dims, y, x gpu.DType, values int) counters {
		n := d.f("R") * d.f("K")
		warps := ceil(d.f("parts"), 32)
		return counters{loadRequests: warps * float64(values), loadBytes: float64(x.Bytes()) * n, loadSectors: n, storeBytes: float64(y.Size(int(n))), barriers: 0}
	}}

// staged tells it by a number.
var staged = encoder{prefix: "quantize_staged_", types: []gpu.DType{gpu.F32, gpu.F16, gpu.BF16}, fp8: true,
	kind: func(x gpu.DType) int { return map[gpu.DType]int{gpu.F32: 0, gpu.F16: 1, gpu.BF16: 2}[x] },
	counts: func(d dims, y, x gpu.DType, values int) counters {
		n, e := d.f("R")*d.f("K"), float64(x.Bytes())
		if values == 1 { // fp8
			c := counters{loadBytes: e * n, storeBytes: n, barriers: 0}
			if n == 4*ceil(n, 4) {
				c[loadRequests], c[storeRequests], c[storeSectors] = 4*ceil(n, 128), ceil(n, 128), ceil(n, 32)
			}
			return c
		}
		ctas := over(d["parts"], 128)
		// Words of a CTA's bytes, and a request for what is left over.
		requests := func(parts int) float64 {
			bytes := int(y.Size(parts * values))
			return float64(over(bytes/4, 32) + min(bytes%4, 1))
		}
		return counters{loadRequests: n / 32, loadBytes: e * n, loadSectors: e * n / 32, barriers: 3 * 4 * float64(ctas),
			storeBytes: float64(y.Size(int(n))), storeRequests: requests(128)*float64(ctas-1) + requests(d["parts"]-128*(ctas-1))}
	}}

func quantize(name string, e encoder) []*Kernel {
	var variants []*Kernel
	for _, x := range e.types {
		for _, y := range made {
			variants = append(variants, encoding(name, e, y.dtype, x, y.values))
		}
		for _, y := range []gpu.DType{gpu.E4M3, gpu.E5M2} {
			if e.fp8 {
				variants = append(variants, encoding(name, e, y, x, 1))
			}
		}
	}
	return variants
}

// encoding is a row: x of one type in one format, a thread taking so many values, or of fp8 four.
func encoding(name string, e encoder, y, x gpu.DType, values int) *Kernel {
	share := max(values, 1)
	threads := "parts"
	if values == 1 {
		threads = "quads"
	}
	k := &Kernel{
		name: name, function: e.prefix + y.String(),
		operands: []operand{
			{name: "y", output: true, exact: true, dtype: y, shape: []string{"*R", "K"}},
			{name: "x", dtype: x, shape: []string{"*R", "K"}},
		},
		derived: []derivedExtent{
			{"parts", func(d dims) int { return d["R"] * d["K"] / share }}, {"quads", func(d dims) int { return over(d["R"]*d["K"], 4) }},
			{"kind", func(dims) int { return e.kind(x) }},
		},
		pass: []string{"parts", "kind"}, wide: true,
		config: func(d dims) gpu.Config { return gpu.Threads(d[threads], 128) },
		bytes: formula{fmt.Sprintf("(%d + %g)·R·K", x.Bytes(), y.Bits()/8), func(d dims) float64 {
			return d.f("R") * d.f("K") * (float64(x.Bytes()) + y.Bits()/8)
		}},
		flops:     formula{"2·R·K", func(d dims) float64 { return 2 * d.f("R") * d.f("K") }}, // by the inverse scale, and rounded
		reference: func(_ dims, in map[string][]float64) (want, scale []float64) { return packedAs(y, in["x"]), nil },
		counts:    func(d dims) counters { return e.counts(d, y, x, values) },
	}
	b := y.Block()
	k.multiples = map[string]int{"K": b}
	if x == gpu.F16 { // of the other types only the loads differ
		k.bench = large(dims{"R": 8192, "K": 8192}, nil)
	}
	k.cases = []trial{{dims: dims{"R": 3, "K": 5 * b}}, {dims: dims{"R": 1, "K": b}}, {dims: dims{"R": 9, "K": 2 * b}, inputs: outliers},
		{dims: dims{"R": 2, "K": 7 * b}, inputs: special}, {dims: dims{"R": 130, "K": b}}}
	switch {
	case values == 1:
		k.cases = append(k.cases, trial{dims: dims{"R": 31, "K": 33}, inputs: special}, trial{dims: dims{"R": 16, "K": 64}, inputs: outliers})
	case b == 256:
		k.cases[4] = trial{dims: dims{"R": 1, "K": 17 * b}}
	}
	if x != gpu.F32 { // only the loads differ
		k.cases = k.cases[:5]
	}
	return k
}

// readFormats are those that the device reads.
var readFormats = []gpu.DType{gpu.Q8_0, gpu.Q4_0, gpu.Q4_1, gpu.Q5_0, gpu.Q5_1, gpu.Q2_K, gpu.Q3_K, gpu.Q4_K, gpu.Q5_K, gpu.Q6_K, gpu.MXFP4, gpu.Q8_1, gpu.E4M3, gpu.E5M2}

// dequantize has a row for each format and type of y.
func dequantize() []*Kernel {
	var variants []*Kernel
	for _, y := range []gpu.DType{gpu.F16, gpu.F32, gpu.BF16} {
		for _, w := range readFormats {
			k := decoding(w, y)
			if y == gpu.F16 {
				k.bench = large(dims{"R": 8192, "K": 8192}, nil)
			}
			variants = append(variants, k)
		}
	}
	return variants
}

// loadsOf are the loads with which a thread of dequantize/1_blocks reads a value: code, scale and what else there is.
var loadsOf = map[gpu.DType]float64{gpu.Q8_0: 2, gpu.Q8_1: 2, gpu.Q4_0: 2, gpu.Q4_1: 3, gpu.Q5_0: 4, gpu.Q5_1: 5, gpu.MXFP4: 2, gpu.Q6_K: 4, gpu.Q2_K: 4, gpu.Q3_K: 5,
	gpu.E4M3: 1, gpu.E5M2: 1}

func decoding(w, y gpu.DType) *Kernel {
	b, e := w.Block(), float64(y.Bytes())
	return &Kernel{
		name: "dequantize/1_blocks", function: "dequantize_" + w.String() + "_" + y.String(),
		operands: []operand{
			{name: "y", output: true, dtype: y, shape: []string{"*R", "K"}},
			{name: "w", dtype: w, shape: []string{"*R", "K"}},
		},
		derived: []derivedExtent{{"values", func(d dims) int { return d["R"] * d["K"] }}},
		pass:    []string{"values"}, wide: true, multiples: map[string]int{"K": b},
		config: func(d dims) gpu.Config { return gpu.Threads(d["values"], 256) },
		bytes: formula{fmt.Sprintf("(%d + %g)·R·K", y.Bytes(), w.Bits()/8), func(d dims) float64 {
			return d.f("R") * d.f("K") * (e + w.Bits()/8)
		}},
		flops:     formula{"R·K", func(d dims) float64 { return d.f("R") * d.f("K") }},
		reference: func(_ dims, in map[string][]float64) (want, scale []float64) { return in["w"], nil },
		counts: func(d dims) counters {
			n := d.f("values")
			c := counters{storeRequests: ceil(n, 32), storeBytes: e * n, storeSectors: ceil(e*n, 32)}
			if loads := loadsOf[w]; loads > 0 {
				c[loadRequests] = loads * ceil(n, 32)
			}
			return c
		},
		cases: []trial{{dims: dims{"R": 3, "K": 5 * b}}, {dims: dims{"R": 1, "K": b}}, {dims: dims{"R": 9, "K": 2 * b}, inputs: outliers},
			{dims: dims{"R": 2, "K": 7 * b}, inputs: special}, {dims: dims{"R": 33, "K": b}}},
	}
}
