package kernels

import (
	"math"

	"memwall/gpu"
)

// probes measure the roofs of a device, each by a kernel that does one thing.
var probes = []*Kernel{
	{
		name: "probe/1_copy", function: "probe_copy",
		operands: []operand{
			{name: "dst", output: true, dtype: gpu.F32, shape: []string{"*n"}, align: 16},
			{name: "src", dtype: gpu.F32, shape: []string{"*n"}, align: 16},
		},
		pass: []string{"n"}, wide: true,
		config: func(d dims) gpu.Config {
			return gpu.Config{Grid: gpu.Dim(max(1, over(d["n"]/4, 256))), CTA: gpu.Dim(256)}
		},
		bytes: formula{"8·n", func(d dims) float64 { return 8 * d.f("n") }},
		flops: formula{"0: it computes nothing", func(dims) float64 { return 0 }},
		terms: func(dims) float64 { return 0 },
		reference: func(d dims, in map[string][]float64) (want, scale []float64) {
			return in["src"], make([]float64, d["n"])
		},
		counts: func(d dims) counters {
			n := d.f("n")
			requests := ceil(float64(d["n"]/4), 32)
			if d["n"]%4 != 0 {
				requests++
			}
			return counters{flopsF32: 0, loadRequests: requests, loadBytes: 4 * n, storeRequests: requests, storeBytes: 4 * n,
				loadSectors: copySectors(d["n"]), storeSectors: copySectors(d["n"])}
		},
		cases: []trial{{dims: dims{"n": 1}}, {dims: dims{"n": 31}}, {dims: dims{"n": 33}}, {dims: dims{"n": 127}}, {dims: dims{"n": 4095}},
			{dims: dims{"n": 4096}}, {dims: dims{"n": 65536}, inputs: outliers}, {dims: dims{"n": 1030}, inputs: special}},
	},
	{
		name: "probe/2_read", function: "probe_read",
		operands: []operand{
			{name: "sums", output: true, dtype: gpu.F32, shape: []string{"p"}},
			{name: "src", dtype: gpu.F32, shape: []string{"*n"}, align: 16},
		},
		pass: []string{"n"}, wide: true,
		config:    func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["p"]), CTA: gpu.Dim(256)} },
		bytes:     formula{"4·n + 4·p", func(d dims) float64 { return 4*d.f("n") + 4*d.f("p") }},
		flops:     formula{"n", func(d dims) float64 { return d.f("n") }},
		terms:     func(d dims) float64 { return d.f("n")/d.f("p") + 16 },
		reference: readReference,
		counts: func(d dims) counters {
			// Each thread joins its four sums (3), a warp its 32 (5), the first thread eight (8); the rest adds an element each.
			n, p := d.f("n"), d.f("p")
			c := counters{flopsF32: n + (3+5)*256*p + 8*p, loadBytes: 4 * n, storeRequests: p, storeBytes: 4 * p, storeSectors: p, barriers: 8 * p}
			if d["n"]%(4*256*d["p"]) == 0 {
				c[loadRequests], c[loadSectors] = n/128, n/8
			}
			return c
		},
		cases: []trial{{dims: dims{"p": 1, "n": 1}}, {dims: dims{"p": 3, "n": 31}}, {dims: dims{"p": 2, "n": 4095}}, {dims: dims{"p": 7, "n": 33000}},
			{dims: dims{"p": 8, "n": 65536}, inputs: outliers}, {dims: dims{"p": 4, "n": 0}}, {dims: dims{"p": 2, "n": 2050}, inputs: special}},
	},
	{
		name: "probe/3_fma", function: "probe_fma",
		operands: []operand{
			{name: "y", output: true, dtype: gpu.F32, shape: []string{"*n"}},
			{name: "x", dtype: gpu.F32, shape: []string{"*n"}},
		},
		scalars: []scalar{{name: "iterations", least: 1, most: 1 << 20}},
		pass:    []string{"n", "iterations"},
		config:  func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(over(d["n"], 256)), CTA: gpu.Dim(256)} },
		bytes:   formula{"8·n", func(d dims) float64 { return 8 * d.f("n") }},
		flops:   formula{"16·n·(iterations + 1)", func(d dims) float64 { return 16 * d.f("n") * (d.f("iterations") + 1) }},
		// An error shrinks by 0.999 each iteration, so at most a thousand of them live at once.
		terms:     func(d dims) float64 { return math.Min(d.f("iterations"), 1000) + 16 },
		reference: fmaReference,
		counts: func(d dims) counters {
			n := d.f("n")
			return counters{flopsF32: 16 * n * (d.f("iterations") + 1), loadRequests: ceil(n, 32), loadBytes: 4 * n, loadSectors: ceil(n, 8),
				storeRequests: ceil(n, 32), storeBytes: 4 * n, storeSectors: ceil(n, 8)}
		},
		cases: []trial{{dims: dims{"n": 1, "iterations": 1}}, {dims: dims{"n": 33, "iterations": 7}}, {dims: dims{"n": 257, "iterations": 100}},
			{dims: dims{"n": 1024, "iterations": 64}, inputs: outliers}, {dims: dims{"n": 100, "iterations": 3}, inputs: special}},
	},
}

// copySectors counts the sectors of n floats moved four at a time and a tail of up to three.
func copySectors(n int) float64 {
	sectors := ceil(float64(n/4*16), 32)
	if n%4 != 0 {
		sectors++ // the tail is a request of its own, inside one sector
	}
	return sectors
}

func readReference(d dims, in map[string][]float64) (want, scale []float64) {
	want, scale = make([]float64, d["p"]), make([]float64, d["p"])
	for j, v := range in["src"] {
		c := j / 4 / 256 % d["p"]
		want[c] += v
		scale[c] += math.Abs(v)
	}
	return want, scale
}

func fmaReference(d dims, in map[string][]float64) (want, scale []float64) {
	want, scale = make([]float64, d["n"]), make([]float64, d["n"])
	for i, x := range in["x"] {
		for c := range 8 {
			v := x + float64(c+1)
			for range d["iterations"] {
				v = float64(float32(0.999))*v + float64(float32(0.001))
			}
			want[i] += v / 8
			scale[i] += (math.Abs(x) + float64(c+1)) / 8
		}
	}
	return want, scale
}
