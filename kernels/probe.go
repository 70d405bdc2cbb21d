package kernels

import (
	"math"
	"slices"

	"memwall/gpu"
	"memwall/gpu/perf"
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
		ceiling: &ceiling{"DRAM copy", "B", func(d dims) float64 { return 8 * d.f("n") }, dramRoof},
		bench:   []benchShape{{trial: trial{dims: dims{"n": 1 << 28}}}},
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
		ceiling: &ceiling{dramRead, "B", func(d dims) float64 { return 4 * d.f("n") }, dramRoof},
		bench:   []benchShape{{trial: trial{dims: dims{"p": 8448, "n": 1 << 30}}}},
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
		ceiling: &ceiling{"FP32", "FLOP", func(d dims) float64 { return 16 * d.f("n") * d.f("iterations") }, pipeRoof(perf.FLOPF32)},
		bench:   []benchShape{{trial: trial{dims: dims{"n": 132 * 2048 * 4, "iterations": 1 << 12}}}},
		cases: []trial{{dims: dims{"n": 1, "iterations": 1}}, {dims: dims{"n": 33, "iterations": 7}}, {dims: dims{"n": 257, "iterations": 100}},
			{dims: dims{"n": 1024, "iterations": 64}, inputs: outliers}, {dims: dims{"n": 100, "iterations": 3}, inputs: special}},
	},
	{
		name: "probe/4_write", function: "probe_write",
		operands: []operand{{name: "dst", output: true, dtype: gpu.F32, shape: []string{"*n"}, align: 16}},
		scalars:  []scalar{{name: "value", kind: fraction, low: -1e30, high: 1e30}},
		pass:     []string{"n", "value"}, wide: true,
		config: func(d dims) gpu.Config {
			return gpu.Config{Grid: gpu.Dim(max(1, over(d["n"]/4, 2048))), CTA: gpu.Dim(256)}
		},
		bytes: formula{"4·n", func(d dims) float64 { return 4 * d.f("n") }},
		flops: formula{"0: it computes nothing", func(dims) float64 { return 0 }},
		reference: func(d dims, in map[string][]float64) (want, scale []float64) {
			return slices.Repeat(in["value"], d["n"]), nil
		},
		counts: func(d dims) counters {
			return counters{flopsF32: 0, loadRequests: 0, storeRequests: ceil(float64(d["n"]/4), 32) + min(1, float64(d["n"]%4)), storeBytes: 4 * d.f("n"), storeSectors: copySectors(d["n"])}
		},
		ceiling: &ceiling{"DRAM write", "B", func(d dims) float64 { return 4 * d.f("n") }, dramRoof},
		bench:   []benchShape{{trial: trial{dims: dims{"n": 1 << 29}, fractions: map[string]float64{"value": 1}}}},
		cases:   scaled("value", 1.5, dims{"n": 1}, dims{"n": 31}, dims{"n": 33}, dims{"n": 127}, dims{"n": 4095}, dims{"n": 65536}, dims{"n": 1030}),
	},
	{
		name: "probe/5_l2_read", function: "probe_l2_read",
		operands: []operand{
			{name: "sums", output: true, dtype: gpu.F32, shape: []string{"p"}},
			{name: "src", dtype: gpu.F32, shape: []string{"*n"}, align: 16},
		},
		pass: []string{"n"}, multiples: map[string]int{"n": 4},
		config: func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["p"]), CTA: gpu.Dim(256)} },
		bytes:  formula{"4·n + 4·p", func(d dims) float64 { return 4*d.f("n") + 4*d.f("p") }},
		flops:  formula{"n·p", func(d dims) float64 { return d.f("n") * d.f("p") }},
		terms:  func(d dims) float64 { return d.f("n")/1024 + 16 },
		reference: func(d dims, in map[string][]float64) (want, scale []float64) {
			sum, magnitude := 0.0, 0.0
			for _, v := range in["src"] {
				sum, magnitude = sum+v, magnitude+math.Abs(v)
			}
			return slices.Repeat([]float64{sum}, d["p"]), slices.Repeat([]float64{magnitude}, d["p"])
		},
		counts: func(d dims) counters {
			n, p := d.f("n"), d.f("p")
			c := counters{flopsF32: p * (n + (3+5)*256 + 8), loadBytes: 4 * n * p, storeRequests: p, storeBytes: 4 * p, storeSectors: p, barriers: 8 * p}
			if d["n"]%(4*32*d["p"]) == 0 { // every CTA begins on a multiple of 512 B
				c[loadRequests], c[loadSectors] = p*n/128, p*n/8
			}
			return c
		},
		ceiling: &ceiling{"L2 read", "B", func(d dims) float64 { return 4 * d.f("n") * d.f("p") }, nil},
		bench:   []benchShape{{trial: trial{dims: dims{"p": 1056, "n": 1 << 19}}}},
		cases: []trial{{dims: dims{"p": 1, "n": 4}}, {dims: dims{"p": 3, "n": 32}}, {dims: dims{"p": 5, "n": 4092}}, {dims: dims{"p": 7, "n": 33000}},
			{dims: dims{"p": 8, "n": 16384}, inputs: outliers}, {dims: dims{"p": 4, "n": 0}}, {dims: dims{"p": 2, "n": 2048}, inputs: special}},
	},
	{
		name: "probe/6_mma", function: "probe_mma",
		operands: []operand{
			{name: "y", output: true, dtype: gpu.F32, shape: []string{"W", "16", "8"}},
			{name: "a", dtype: gpu.F16, shape: []string{"16", "16"}, align: 4},
			{name: "b", dtype: gpu.F16, shape: []string{"8", "16"}, align: 4},
		},
		scalars: []scalar{{name: "iterations", least: 1, most: 1 << 20}},
		pass:    []string{"W", "iterations"},
		config:  func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(over(d["W"], 8)), CTA: gpu.Dim(256)} },
		bytes:   formula{"512·W + 768", func(d dims) float64 { return 512*d.f("W") + 768 }},
		flops:   formula{"32768·W·iterations", func(d dims) float64 { return 32768 * d.f("W") * d.f("iterations") }},
		terms:   func(d dims) float64 { return d.f("iterations") + 32 },
		reference: func(d dims, in map[string][]float64) (want, scale []float64) {
			want, scale = product(in["a"], in["b"], 16, 8, 16)
			for i := range want {
				want[i], scale[i] = want[i]*d.f("iterations"), scale[i]*d.f("iterations")
			}
			return slices.Repeat(want, d["W"]), slices.Repeat(scale, d["W"])
		},
		counts: func(d dims) counters {
			w := d.f("W")
			return counters{flopsTensor: 32768 * w * d.f("iterations"), flopsF32: 8 * 4 * 32 * w, loadRequests: 6 * w, loadBytes: 6 * 128 * w, loadSectors: 6 * 8 * w,
				storeRequests: 4 * w, storeBytes: 512 * w, storeSectors: 4 * 8 * w}
		},
		ceiling: &ceiling{"mma.sync", "FLOP", func(d dims) float64 { return 32768 * d.f("W") * d.f("iterations") }, pipeRoof(perf.FLOPTensor)},
		bench:   []benchShape{{trial: trial{dims: dims{"W": 132 * 32, "iterations": 1 << 10}}}},
		cases: []trial{{dims: dims{"W": 1, "iterations": 1}}, {dims: dims{"W": 7, "iterations": 2}}, {dims: dims{"W": 9, "iterations": 33}},
			{dims: dims{"W": 33, "iterations": 3}, inputs: outliers}, {dims: dims{"W": 2, "iterations": 2}, inputs: special}},
	},
	{
		name: "probe/7_shared", function: "probe_shared",
		operands: []operand{
			{name: "y", output: true, dtype: gpu.F32, shape: []string{"C", "256"}},
			{name: "src", dtype: gpu.F32, shape: []string{"1024"}, align: 16},
		},
		scalars: []scalar{{name: "iterations", least: 1, most: 1 << 20}},
		pass:    []string{"iterations"},
		config:  func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["C"]), CTA: gpu.Dim(256)} },
		bytes:   formula{"1024·C + 4096", func(d dims) float64 { return 1024*d.f("C") + 4096 }},
		flops:   formula{"1024·C·iterations", func(d dims) float64 { return 1024 * d.f("C") * d.f("iterations") }},
		terms:   func(d dims) float64 { return d.f("iterations") + 4 },
		reference: func(d dims, in map[string][]float64) (want, scale []float64) {
			want, scale = make([]float64, 256), make([]float64, 256)
			for i := range want {
				for r := range d["iterations"] {
					for _, v := range in["src"][(i+32*r)%256*4:][:4] {
						want[i], scale[i] = want[i]+v, scale[i]+math.Abs(v)
					}
				}
			}
			return slices.Repeat(want, d["C"]), slices.Repeat(scale, d["C"])
		},
		counts: func(d dims) counters {
			c, r := d.f("C"), d.f("iterations")
			return counters{flopsF32: 256 * c * (4*r + 3), sharedLoads: 8 * c * r, sharedStores: 8 * c, conflicts: 0, barriers: 8 * c,
				loadRequests: 8 * c, loadBytes: 4096 * c, loadSectors: 128 * c, storeRequests: 8 * c, storeBytes: 1024 * c, storeSectors: 32 * c}
		},
		ceiling: &ceiling{"shared memory", "B", func(d dims) float64 { return 4096 * d.f("C") * d.f("iterations") }, sharedRoof},
		bench:   []benchShape{{trial: trial{dims: dims{"C": 132 * 8, "iterations": 1 << 12}}}},
		cases: []trial{{dims: dims{"C": 1, "iterations": 1}}, {dims: dims{"C": 3, "iterations": 7}}, {dims: dims{"C": 2, "iterations": 100}},
			{dims: dims{"C": 5, "iterations": 33}, inputs: outliers}, {dims: dims{"C": 2, "iterations": 9}, inputs: special}},
	},
	{
		name: "probe/8_launch", function: "probe_launch",
		operands: []operand{{name: "one", output: true, exact: true, dtype: gpu.I32, shape: []string{"1"}}},
		scalars:  []scalar{{name: "CTAs", least: 1, most: 1 << 20}},
		config:   func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["CTAs"]), CTA: gpu.Dim(32)} },
		bytes:    formula{"4", func(dims) float64 { return 4 }},
		flops:    formula{"0: it computes nothing", func(dims) float64 { return 0 }},
		reference: func(dims, map[string][]float64) (want, scale []float64) {
			return []float64{1}, nil
		},
		counts: func(d dims) counters {
			return counters{flopsF32: 0, loadRequests: 0, storeRequests: 1, storeBytes: 4, storeSectors: 1}
		},
		ceiling: &ceiling{"launch", "s", nil, nil},
		bench:   []benchShape{{trial: trial{dims: dims{"CTAs": 1}}}},
		cases:   []trial{{dims: dims{"CTAs": 1}}, {dims: dims{"CTAs": 2}}, {dims: dims{"CTAs": 33}}, {dims: dims{"CTAs": 132}}, {dims: dims{"CTAs": 1000}}},
	},
	{
		name: "probe/9_wgmma", function: "probe_wgmma",
		operands: []operand{
			{name: "y", output: true, dtype: gpu.F32, shape: []string{"C", "64", "256"}},
			{name: "a", dtype: gpu.F16, shape: []string{"64", "64"}, align: 16},
			{name: "b", dtype: gpu.F16, shape: []string{"256", "64"}, align: 16},
		},
		scalars: []scalar{{name: "iterations", least: 1, most: 1 << 20}},
		maps: []tensorMap{
			{name: "amap", of: "a", config: func(dims) gpu.TensorMapConfig { return gpu.TensorMapConfig{Box: []int{64, 64}, Swizzle: 128} }},
			{name: "bmap", of: "b", config: func(dims) gpu.TensorMapConfig { return gpu.TensorMapConfig{Box: []int{256, 64}, Swizzle: 128} }},
		},
		args: []string{"y", "amap", "bmap", "iterations"},
		config: func(d dims) gpu.Config {
			return gpu.Config{Grid: gpu.Dim(d["C"]), CTA: gpu.Dim(128), Shared: (64+256)*128 + 1024}
		},
		bytes: formula{"65536·C + 40960", func(d dims) float64 { return 65536*d.f("C") + 40960 }},
		flops: formula{"2097152·C·iterations", wgmmaFLOPs},
		terms: func(d dims) float64 { return 4*d.f("iterations") + 64 },
		reference: func(d dims, in map[string][]float64) (want, scale []float64) {
			want, scale = product(in["a"], in["b"], 64, 256, 64)
			for i := range want {
				want[i], scale[i] = want[i]*d.f("iterations"), scale[i]*d.f("iterations")
			}
			return slices.Repeat(want, d["C"]), slices.Repeat(scale, d["C"])
		},
		counts: func(d dims) counters {
			c := d.f("C")
			return counters{flopsTensor: wgmmaFLOPs(d), flopsF32: 0, loadRequests: 2 * c, loadBytes: 40960 * c, loadSectors: 1280 * c,
				sharedLoads: 4 * 5 * c * d.f("iterations"), sharedStores: 2 * c, conflicts: 0, barriers: 4 * c, storeRequests: 4 * 64 * c, storeBytes: 65536 * c, storeSectors: 2048 * c}
		},
		ceiling: &ceiling{"wgmma", "FLOP", wgmmaFLOPs, pipeRoof(perf.FLOPTensor)},
		bench:   []benchShape{{trial: trial{dims: dims{"C": 132 * 2, "iterations": 1 << 10}}}},
		cases: []trial{{dims: dims{"C": 1, "iterations": 1}}, {dims: dims{"C": 3, "iterations": 2}}, {dims: dims{"C": 2, "iterations": 33}},
			{dims: dims{"C": 5, "iterations": 3}, inputs: outliers}, {dims: dims{"C": 2, "iterations": 2}, inputs: special}},
	},
}

// wgmmaFLOPs are those of four m64n256k16 an iteration and CTA.
func wgmmaFLOPs(d dims) float64 { return 4 * 2 * 64 * 256 * 16 * d.f("C") * d.f("iterations") }

// scaled are trials that differ in extents and share the value of a fraction.
func scaled(name string, value float64, all ...dims) []trial {
	var trials []trial
	for _, d := range all {
		trials = append(trials, trial{dims: d, fractions: map[string]float64{name: value}})
	}
	return trials
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
