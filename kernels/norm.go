package kernels

import (
	"fmt"
	"math"
	"slices"

	"memwall/gpu"
)

// elementTypes are those of the kernels around the matrix products, with the ending of their entries.
var elementTypes = []struct {
	dtype  gpu.DType
	suffix string
}{{gpu.F16, ""}, {gpu.BF16, "_bf16"}, {gpu.F32, "_f32"}}

// rowThreads is a CTA for a row of 16-byte pieces: a thread a piece, whole warps, 256 at most.
func rowThreads(columns int, t gpu.DType) int {
	return min(256, 32*over(max(columns, 1), 32*16/t.Bytes()))
}

// aRow is the geometry of kernels that give a CTA to each row.
func aRow(t gpu.DType) func(d dims) gpu.Config {
	return func(d dims) gpu.Config {
		return gpu.Config{Grid: gpu.Dim(d["R"]), CTA: gpu.Dim(rowThreads(d["C"], t))}
	}
}

// rowsEach is the geometry of kernels whose CTA of 128 threads takes n rows.
func rowsEach(n int) func(d dims) gpu.Config {
	return func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(over(d["R"], n)), CTA: gpu.Dim(128)} }
}

// pieces says whether rows are whole pieces of 16 bytes, and how many requests a warp's walk along a row of columns takes.
func pieces(columns int, t gpu.DType) (requests float64, whole bool) {
	n := 16 / t.Bytes()
	if columns%n != 0 {
		return ceil(float64(columns), 32), false
	}
	return ceil(float64(columns/n), 32), true
}

// rmsnorms scale each row to a mean square of one, then by a weight a column.
var rmsnorms = slices.Concat(
	rmsnorm("rmsnorm/1_naive", "rmsnorm_naive", []string{"R", "C", "eps"}, func(gpu.DType) func(dims) gpu.Config { return rowsEach(128) }, func(d dims, t gpu.DType) counters {
		r, c, e := d.f("R"), d.f("C"), float64(t.Bytes())
		warps := ceil(r, 32)
		n := counters{loadRequests: 3 * warps * c, loadBytes: 3 * e * r * c, storeRequests: warps * c, storeBytes: e * r * c}
		if d["C"]*t.Bytes() >= 32 { // neighbouring rows start in different sectors
			n[loadSectors], n[storeSectors] = 2*r*c+warps*c, r*c
		}
		return n
	}),
	rmsnorm("rmsnorm/2_warp", "rmsnorm_warp", []string{"R", "C", "eps"}, func(gpu.DType) func(dims) gpu.Config { return rowsEach(4) }, func(d dims, t gpu.DType) counters {
		r, c, e := d.f("R"), d.f("C"), float64(t.Bytes())
		n := counters{loadBytes: 3 * e * r * c, storeBytes: e * r * c}
		if d["C"]%32 == 0 {
			n[loadRequests], n[storeRequests] = 3*r*c/32, r*c/32
			n[loadSectors], n[storeSectors] = 3*e*r*c/32, e*r*c/32
		}
		return n
	}),
	rmsnorm("rmsnorm/3_vec16", "rmsnorm_vec16", []string{"C", "eps"}, aRow, func(d dims, t gpu.DType) counters { return normRow(d, t, 1, 1, 1) }),
)

// normRow are the closed forms of a CTA a row: so many tensors of rows read and written, and of columns read, with the barriers
// of so many sums. Rows that do not fit the registers are read once more for each sum.
func normRow(d dims, t gpu.DType, read, columns, sums float64) counters {
	r, c, e := d.f("R"), d.f("C"), float64(t.Bytes())
	requests, whole := pieces(d["C"], t)
	threads := rowThreads(d["C"], t)
	n := counters{storeBytes: e * r * c, storeRequests: r * requests}
	again := max(0, float64(d["C"]-4*threads*16/t.Bytes()))
	if !whole {
		again = c
	}
	n[loadBytes] = e * r * (read*(c+sums*again) + columns*c)
	if again == 0 {
		n[loadRequests] = r * requests * (read + columns)
	}
	if whole && d["C"]*t.Bytes()%512 == 0 {
		n[storeSectors] = 16 * n[storeRequests]
	}
	if threads > 32 {
		n[barriers] = 2 * sums * r * float64(threads/32)
	}
	return n
}

// normCases are shapes that matter to kernels that walk along rows.
func normCases(eps float64) []trial {
	f := map[string]float64{"eps": eps}
	var all []trial
	for _, d := range []dims{{"R": 1, "C": 1}, {"R": 33, "C": 31}, {"R": 31, "C": 33}, {"R": 3, "C": 4095}, {"R": 5, "C": 576}, {"R": 2, "C": 8200}, {"R": 129, "C": 128}} {
		all = append(all, trial{dims: d, fractions: f})
	}
	return append(all, trial{dims: dims{"R": 16, "C": 1024}, inputs: outliers, fractions: f}, trial{dims: dims{"R": 40, "C": 72}, inputs: special, fractions: f},
		trial{dims: dims{"R": 4, "C": 64}, fractions: map[string]float64{"eps": 0.1}})
}

// epsilon is the scalar that keeps rows of zeros from a division by zero.
var epsilon = scalar{name: "eps", kind: fraction, low: 1e-8, high: 1}

func rmsnorm(name, function string, pass []string, config func(gpu.DType) func(dims) gpu.Config, counts func(dims, gpu.DType) counters) []*Kernel {
	var variants []*Kernel
	for _, v := range elementTypes {
		t, e := v.dtype, v.dtype.Bytes()
		variants = append(variants, &Kernel{
			name: name, function: function + v.suffix,
			operands: []operand{
				{name: "y", output: true, dtype: t, shape: []string{"*R", "C"}},
				{name: "x", dtype: t, shape: []string{"*R", "C"}},
				{name: "w", dtype: t, shape: []string{"C"}},
			},
			scalars: []scalar{epsilon},
			pass:    pass, config: config(t),
			bytes: formula{fmt.Sprintf("%d·R·C + %d·C", 2*e, e), func(d dims) float64 { return float64(e) * (2*d.f("R")*d.f("C") + d.f("C")) }},
			flops: formula{"4·R·C (square and add, scale, weigh)", func(d dims) float64 { return 4 * d.f("R") * d.f("C") }},
			terms: func(d dims) float64 { return d.f("C") + 16 },
			reference: func(d dims, in map[string][]float64) (want, scale []float64) {
				want, scale = make([]float64, len(in["x"])), make([]float64, len(in["x"]))
				for r := range d["R"] {
					rmsRow(want[r*d["C"]:], scale[r*d["C"]:], in["x"][r*d["C"]:(r+1)*d["C"]], in["w"], in["eps"][0])
				}
				return want, scale
			},
			counts: func(d dims) counters { return counts(d, t) },
			cases:  normCases(1e-5),
			bench:  large(dims{"R": 16384, "C": 4096}, map[string]float64{"eps": 1e-5}),
		})
	}
	return variants
}

// rmsRow is one row's RMS norm in float64.
func rmsRow(want, scale, x, w []float64, eps float64) {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	by := 1 / math.Sqrt(sum/float64(len(x))+eps)
	for c, v := range x {
		want[c] = v * by * w[c]
		scale[c] = math.Abs(want[c])
	}
}

// layernorms shift each row to a mean of zero and scale it to a variance of one, then weigh and shift each column.
var layernorms = slices.Concat(
	layernorm("layernorm/1_naive", "layernorm_naive", []string{"R", "C", "eps"}, func(gpu.DType) func(dims) gpu.Config { return rowsEach(128) }, func(d dims, t gpu.DType) counters {
		r, c, e, b := d.f("R"), d.f("C"), float64(t.Bytes()), given(d, "b")
		warps := ceil(r, 32)
		n := counters{loadRequests: (4 + b) * warps * c, loadBytes: (4 + b) * e * r * c, storeRequests: warps * c, storeBytes: e * r * c}
		if d["C"]*t.Bytes() >= 32 {
			n[loadSectors], n[storeSectors] = 3*r*c+(1+b)*warps*c, r*c
		}
		return n
	}),
	layernorm("layernorm/2_warp", "layernorm_warp", []string{"R", "C", "eps"}, func(gpu.DType) func(dims) gpu.Config { return rowsEach(4) }, func(d dims, t gpu.DType) counters {
		r, c, e, b := d.f("R"), d.f("C"), float64(t.Bytes()), given(d, "b")
		n := counters{loadBytes: (4 + b) * e * r * c, storeBytes: e * r * c}
		if d["C"]%32 == 0 {
			n[loadRequests], n[storeRequests] = (4+b)*r*c/32, r*c/32
			n[loadSectors], n[storeSectors] = (4+b)*e*r*c/32, e*r*c/32
		}
		return n
	}),
	layernorm("layernorm/3_vec16", "layernorm_vec16", []string{"C", "eps"}, aRow, func(d dims, t gpu.DType) counters { return normRow(d, t, 1, 1+given(d, "b"), 2) }),
)

// given is 1 where a call has an optional operand, else 0.
func given(d dims, operand string) float64 {
	if d.has(operand) {
		return 1
	}
	return 0
}

func layernorm(name, function string, pass []string, config func(gpu.DType) func(dims) gpu.Config, counts func(dims, gpu.DType) counters) []*Kernel {
	var variants []*Kernel
	for _, v := range elementTypes {
		t, e := v.dtype, v.dtype.Bytes()
		variants = append(variants, &Kernel{
			name: name, function: function + v.suffix,
			operands: []operand{
				{name: "y", output: true, dtype: t, shape: []string{"*R", "C"}},
				{name: "x", dtype: t, shape: []string{"*R", "C"}},
				{name: "w", dtype: t, shape: []string{"C"}},
				{name: "b", optional: true, dtype: t, shape: []string{"C"}},
			},
			scalars: []scalar{epsilon},
			pass:    pass, config: config(t),
			bytes: formula{fmt.Sprintf("%d·R·C + %d·C, %d·C more with b", 2*e, e, e), func(d dims) float64 {
				return float64(e) * (2*d.f("R")*d.f("C") + (1+given(d, "b"))*d.f("C"))
			}},
			flops:     formula{"8·R·C (mean, difference, square and add, difference, scale, weigh and shift)", func(d dims) float64 { return 8 * d.f("R") * d.f("C") }},
			terms:     func(d dims) float64 { return d.f("C") + 16 },
			reference: layernormReference,
			counts:    func(d dims) counters { return counts(d, t) },
			bench:     large(dims{"R": 16384, "C": 4096}, map[string]float64{"eps": 1e-5}),
			cases:     append(normCases(1e-5), trial{dims: dims{"R": 9, "C": 256}, without: []string{"b"}, fractions: map[string]float64{"eps": 1e-5}}),
		})
	}
	return variants
}

func layernormReference(d dims, in map[string][]float64) (want, scale []float64) {
	want, scale = make([]float64, len(in["x"])), make([]float64, len(in["x"]))
	columns := d["C"]
	for r := range d["R"] {
		row := in["x"][r*columns : (r+1)*columns]
		sum, size, squares := 0.0, 0.0, 0.0
		for _, v := range row {
			sum += v
			size += math.Abs(v)
		}
		mean := sum / float64(columns)
		size /= float64(columns)
		for _, v := range row {
			squares += (v - mean) * (v - mean)
		}
		by := 1 / math.Sqrt(squares/float64(columns)+in["eps"][0])
		for c, v := range row {
			shift := 0.0
			if d.has("b") {
				shift = in["b"][c]
			}
			want[r*columns+c] = (v-mean)*by*in["w"][c] + shift
			// The mean's own rounding error moves every difference, also a small one.
			scale[r*columns+c] = (math.Abs(v)+size)*by*math.Abs(in["w"][c]) + math.Abs(shift)
		}
	}
	return want, scale
}

// addnorms add the residual stream and norm the sum: what stands between any two parts of a decoder layer.
var addnorms = slices.Concat(addnorm("addnorm/1_separate", true), addnorm("addnorm/2_fused", false))

func addnorm(name string, separate bool) []*Kernel {
	var variants []*Kernel
	for _, v := range elementTypes {
		t, e := v.dtype, v.dtype.Bytes()
		k := &Kernel{
			name: name,
			operands: []operand{
				{name: "y", output: true, dtype: t, shape: []string{"*R", "C"}},
				{name: "h", inout: true, dtype: t, shape: []string{"*R", "C"}},
				{name: "x", dtype: t, shape: []string{"*R", "C"}},
				{name: "w", dtype: t, shape: []string{"C"}},
			},
			scalars: []scalar{epsilon},
			bytes:   formula{fmt.Sprintf("%d·R·C + %d·C", 4*e, e), func(d dims) float64 { return float64(e) * (4*d.f("R")*d.f("C") + d.f("C")) }},
			flops:   formula{"5·R·C (add, square and add, scale, weigh)", func(d dims) float64 { return 5 * d.f("R") * d.f("C") }},
			// The rounding of the sum to h, which 1_separate norms, is a term as large as half a step of the element type, and a
			// row's mean square has a share in each of its elements.
			terms:   func(d dims) float64 { return d.f("C") + 16 + step(t, 1)*0x1p24 },
			results: addnormReference,
			cases:   normCases(1e-6),
			bench:   large(dims{"R": 16384, "C": 4096}, map[string]float64{"eps": 1e-6}),
		}
		if separate {
			k.stages = []stage{
				{idea: "add", function: "addnorm_add" + v.suffix, args: []string{"h", "x", "R", "C"}, flops: func(d dims) float64 { return d.f("R") * d.f("C") },
					config: func(d dims) gpu.Config { return gpu.Threads(over(d["R"]*d["C"]*e, 16), 256) }},
				{idea: "norm", function: "addnorm_norm" + v.suffix, args: []string{"y", "h", "w", "C", "eps"}, config: aRow(t), main: true},
			}
			k.counts = func(d dims) counters {
				n, rc := normRow(d, t, 1, 1, 1), float64(e)*d.f("R")*d.f("C")
				requests := ceil(d.f("R")*ceil(d.f("C")*float64(e), 16), 32)
				c := counters{loadBytes: n[loadBytes] + 2*rc, storeBytes: n[storeBytes] + rc, barriers: n[barriers],
					distinctWrite: 2 * ceil(rc, 32)} // the norm only reads h
				if _, whole := pieces(d["C"], t); whole {
					c[storeRequests] = n[storeRequests] + requests
				}
				return c
			}
		} else {
			k.function, k.pass, k.config = "addnorm_fused"+v.suffix, []string{"C", "eps"}, aRow(t)
			k.counts = func(d dims) counters {
				n := normRow(d, t, 2, 1, 1)
				n[storeBytes], n[storeRequests] = 2*n[storeBytes], 2*n[storeRequests]
				delete(n, storeSectors)
				return n
			}
		}
		variants = append(variants, k)
	}
	return variants
}

func addnormReference(d dims, in map[string][]float64) map[string]result {
	n := len(in["x"])
	h, y := result{want: make([]float64, n), scale: make([]float64, n)}, result{want: make([]float64, n), scale: make([]float64, n)}
	for i, v := range in["x"] {
		h.want[i] = in["h"][i] + v
		h.scale[i] = math.Abs(h.want[i]) / (d.f("C") + 16 + 0x1p16) // one rounding more, in f32
	}
	for r := range d["R"] {
		at := r * d["C"]
		rmsRow(y.want[at:], y.scale[at:], h.want[at:at+d["C"]], in["w"], in["eps"][0])
	}
	return map[string]result{"h": h, "y": y}
}
