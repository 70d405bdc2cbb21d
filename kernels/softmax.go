package kernels

import (
	"math"

	"memwall/gpu"
)

// softmaxes turn each row into probabilities; a row of −inf alone gives zeros, as a row that attention masks throughout needs.
var softmaxes = []*Kernel{
	softmax("softmax/1_naive", "softmax_naive", 128, func(d dims) counters {
		rows, columns := d.f("R"), d.f("C")
		warps := ceil(rows, 32)
		c := counters{flopsF32: 6 * rows * columns, loadRequests: 3 * warps * columns, loadBytes: 12 * rows * columns,
			storeRequests: warps * columns, storeBytes: 4 * rows * columns}
		if d["C"] >= 8 { // neighbouring rows start in different sectors
			c[loadSectors], c[storeSectors] = 3*rows*columns, rows*columns
		}
		return c
	}),
	softmax("softmax/2_warp", "softmax_warp", 4, func(d dims) counters {
		rows, columns := d.f("R"), d.f("C")
		c := counters{flopsF32: 6*rows*columns + 5*32*rows, loadBytes: 12 * rows * columns, storeBytes: 4 * rows * columns}
		if d["C"]%32 == 0 { // a ragged row ends in extra requests of the unrolled loop's remainder
			c[loadRequests], c[loadSectors] = 3*rows*columns/32, 12*rows*columns/32
			c[storeRequests], c[storeSectors] = rows*columns/32, 4*rows*columns/32
		}
		return c
	}),
	softmax("softmax/3_online", "softmax_online", 4, func(d dims) counters {
		rows, columns := d.f("R"), d.f("C")
		c := counters{loadBytes: 8 * rows * columns, storeBytes: 4 * rows * columns}
		if d["C"]%32 == 0 {
			c[loadRequests], c[loadSectors] = 2*rows*columns/32, 8*rows*columns/32
			c[storeRequests], c[storeSectors] = rows*columns/32, 4*rows*columns/32
		}
		return c
	}),
}

// softmax is one step; rows is how many rows a CTA of 128 threads takes.
func softmax(name, function string, rows int, counts func(d dims) counters) *Kernel {
	return &Kernel{
		name: name, function: function,
		operands: []operand{
			{name: "y", output: true, dtype: gpu.F32, shape: []string{"*R", "C"}},
			{name: "x", dtype: gpu.F32, shape: []string{"*R", "C"}},
		},
		pass:   []string{"R", "C"},
		config: func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(over(d["R"], rows)), CTA: gpu.Dim(128)} },
		bytes:  formula{"8·R·C", func(d dims) float64 { return 8 * d.f("R") * d.f("C") }},
		flops:  formula{"4·R·C (subtract, exponential, add, divide)", func(d dims) float64 { return 4 * d.f("R") * d.f("C") }},
		// The sum's terms, each exponential (ex2.approx errs by 2 ulp), and the steps of a running sum.
		terms:     func(d dims) float64 { return 3*d.f("C") + 16 },
		reference: softmaxReference,
		counts:    counts,
		bench:     large(dims{"R": 8192, "C": 8192}, nil),
		cases: []trial{
			{dims: dims{"R": 1, "C": 1}}, {dims: dims{"R": 33, "C": 31}}, {dims: dims{"R": 31, "C": 33}}, {dims: dims{"R": 5, "C": 4095}},
			{dims: dims{"R": 127, "C": 127}}, {dims: dims{"R": 128, "C": 256}}, {dims: dims{"R": 64, "C": 320}, inputs: outliers},
			{dims: dims{"R": 40, "C": 72}, inputs: special}, {dims: dims{"R": 40, "C": 96}, inputs: masked},
		},
	}
}

func softmaxReference(d dims, in map[string][]float64) (want, scale []float64) {
	columns := d["C"]
	want, scale = make([]float64, d["R"]*columns), make([]float64, d["R"]*columns)
	for r := range d["R"] {
		row := in["x"][r*columns : (r+1)*columns]
		top := math.Inf(-1)
		for _, v := range row {
			if v > top { // like fmaxf, this passes over NaN, which the sum then brings in
				top = v
			}
		}
		if math.IsInf(top, -1) {
			top = 0
		}
		sum, weighted := 0.0, 0.0
		for _, v := range row {
			e := math.Exp(v - top)
			sum += e
			if e > 0 {
				weighted += e * math.Abs(v-top) // the argument's rounding error grows with it
			}
		}
		for c, v := range row {
			e := math.Exp(v - top)
			switch {
			case sum == 0:
			case e == 0 && !math.IsNaN(sum):
				want[r*columns+c] = 0
			default:
				want[r*columns+c] = e / sum
				scale[r*columns+c] = e / sum * (1 + math.Abs(v-top) + weighted/sum)
			}
		}
	}
	return want, scale
}
