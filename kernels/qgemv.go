package kernels

import (
	"fmt"
	"slices"

	"memwall/gpu"
)

// qgemvs multiply quantized weights by a vector, y = W·x: decode with fewer bytes a weight.
var qgemvs = slices.Concat(
	qgemv("qgemv/1_dequantize", throughMemory, gpu.Q8_0, gpu.Q4_0, gpu.Q4_1, gpu.Q4_K, gpu.Q6_K, gpu.MXFP4, gpu.E4M3, gpu.E5M2),
	qgemv("qgemv/2_fused", fusedProduct, gpu.Q8_0, gpu.Q4_0, gpu.Q4_1, gpu.Q4_K, gpu.Q6_K, gpu.MXFP4, gpu.E4M3, gpu.E5M2, gpu.Q5_0, gpu.Q5_1, gpu.Q5_K, gpu.Q2_K, gpu.Q3_K),
	qgemv("qgemv/3_packed", packedProduct, gpu.Q8_0, gpu.Q4_0, gpu.Q4_1, gpu.Q4_K, gpu.Q6_K, gpu.MXFP4),
	qgemv("qgemv/4_dp4a", byteProduct, gpu.Q8_0, gpu.Q4_0, gpu.Q4_1, gpu.Q4_K, gpu.Q6_K, gpu.MXFP4),
)

// qgemv is a step for several formats of weights; complete adds what differs between steps.
func qgemv(name string, complete func(k *Kernel, w gpu.DType), formats ...gpu.DType) []*Kernel {
	var variants []*Kernel
	for _, w := range formats {
		b := w.Block()
		k := &Kernel{
			name: name,
			operands: []operand{
				{name: "y", output: true, dtype: gpu.F16, shape: []string{"N"}},
				{name: "w", dtype: w, shape: []string{"N", "K"}},
				{name: "x", dtype: gpu.F16, shape: []string{"K"}},
			},
			multiples: map[string]int{"K": b},
			pass:      []string{"N", "K"},
			bytes: formula{fmt.Sprintf("%g·N·K + 2·K + 2·N", w.Bits()/8), func(d dims) float64 {
				return w.Bits()/8*d.f("N")*d.f("K") + 2*d.f("K") + 2*d.f("N")
			}},
			flops: formula{"2·N·K", func(d dims) float64 { return 2 * d.f("N") * d.f("K") }},
			reference: func(d dims, in map[string][]float64) (want, scale []float64) {
				return product(in["x"], in["w"], 1, d["N"], d["K"])
			},
			terms: func(d dims) float64 { return d.f("K") },
		}
		k.cases = []trial{{dims: dims{"N": 1, "K": b}}, {dims: dims{"N": 33, "K": 2048}}, {dims: dims{"N": 7, "K": 17 * 256}}, {dims: dims{"N": 40, "K": 512}, inputs: outliers},
			{dims: dims{"N": 9, "K": 768}, inputs: special}}
		if b == 32 {
			k.cases = append(k.cases, trial{dims: dims{"N": 31, "K": 96}}, trial{dims: dims{"N": 5, "K": 2112}}, trial{dims: dims{"N": 17, "K": 576}})
		}
		k.bench = []benchShape{{trial: trial{dims: dims{"N": 57344, "K": 8192}}, share: packedShare(w)}}
		complete(k, w)
		variants = append(variants, k)
	}
	return variants
}

// packedShare is the share of the roof that facts name for a format's width.
func packedShare(w gpu.DType) float64 {
	if w.Bits() > 8 || w == gpu.E4M3 || w == gpu.E5M2 {
		return .75
	}
	return .55
}

// throughMemory is 1_dequantize: two launches. The copy is rounded to f16, half a step of 2⁻¹¹.
func throughMemory(k *Kernel, w gpu.DType) {
	k.workspaces = []workspace{{name: "v", dtype: gpu.F16, shape: []string{"N", "K"}}}
	k.stages = []stage{
		{idea: "values", function: "qgemv_values_" + w.String(), args: []string{"v", "w", "N", "K"}, flops: func(dims) float64 { return 0 },
			config: func(d dims) gpu.Config { return gpu.Threads(d["N"]*d["K"], 256) }},
		{idea: "product", function: "qgemv_product", args: []string{"y", "v", "x", "N", "K"}, main: true,
			config: func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(over(d["N"], 4)), CTA: gpu.Dim(128)} }},
	}
	k.terms = func(d dims) float64 { return d.f("K") + 1<<13 }
	k.counts = func(d dims) counters {
		n, values := d.f("N"), d.f("N")*d.f("K")
		return counters{storeBytes: 2*values + 2*n, storeRequests: ceil(values, 32) + n, storeSectors: ceil(values, 16) + n}
	}
}

func fusedProduct(k *Kernel, w gpu.DType) {
	k.function = "qgemv_fused_" + w.String()
	k.config = func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(over(d["N"], 4)), CTA: gpu.Dim(128)} }
	k.counts = func(d dims) counters {
		n, k := d.f("N"), d.f("K")
		c := counters{storeRequests: n, storeBytes: 2 * n, storeSectors: n}
		if loads := loadsOf[w]; loads > 0 {
			c[loadRequests] = n * ceil(k, 32) * (loads + 1)
		}
		return c
	}
}

// unpacking is what qgemv/3_packed and 4_dp4a know of a format: warps a CTA, groups of a lane's 64 values, minima, and the products
// that make a lane's scales.
type unpacking struct {
	warps, groups, products int // as qgemv/3_packed has them
	minima                  bool
}

var unpackings = map[gpu.DType]unpacking{gpu.Q8_0: {4, 2, 0, false}, gpu.Q4_0: {8, 2, 0, false}, gpu.Q4_1: {8, 2, 0, true}, gpu.Q4_K: {8, 2, 4, true},
	gpu.Q6_K: {4, 4, 4, false}, gpu.MXFP4: {8, 2, 0, false}}

// rowsOfBytes are the rows of a warp of qgemv/4_dp4a.
func rowsOfBytes(w gpu.DType) int {
	if w == gpu.Q8_0 || w == gpu.Q6_K {
		return 2
	}
	return 4
}

// tileValues are the values of a row in a tile, streamRows the rows of a warp.
const (
	tileValues = 2048
	streamRows = 2
)

// streamed are the closed forms of streaming W in tiles: its copies, and y; whole says that rows start on 16 bytes.
func streamed(d dims, w gpu.DType) (c counters, tiles int, whole bool) {
	row, n := int(w.Size(d["K"])), d.f("N")
	c = counters{storeRequests: n, storeBytes: 2 * n, storeSectors: n}
	tiles = over(d["K"], tileValues)
	tile := int(w.Size(tileValues))
	for at := 0; at < row; at += tile {
		c[loadRequests] += n * float64(over(min(tile, row-at), 512))
	}
	c[loadBytes] = n * float64(row)
	return c, tiles, row%16 == 0 && d["K"]%64 == 0
}

// cancels makes a format with minima tested for what it is: 15·d·q and the minimum nearly cancel, so that rounding errors are of
// their size, not of the weight's.
func (u unpacking) cancels(k *Kernel) {
	if u.minima {
		k.terms = func(d dims) float64 { return 16 * d.f("K") }
	}
}

// unlessSpecial are the closed forms of rows whose products are finite. The others are multiplied a second time, value by value: of a
// call with an infinity or NaN only the stores are known beforehand.
func unlessSpecial(of func(d dims) counters) func(d dims, in map[string][]float64) counters {
	return func(d dims, in map[string][]float64) counters {
		c := of(d)
		if slices.ContainsFunc(slices.Concat(in["w"], in["x"]), func(v float64) bool { return v-v != 0 }) {
			return counters{storeRequests: c[storeRequests], storeBytes: c[storeBytes], storeSectors: c[storeSectors]}
		}
		return c
	}
}

func packedProduct(k *Kernel, w gpu.DType) {
	u := unpackings[w]
	rows := u.warps * streamRows
	k.function = "qgemv_packed_" + w.String()
	k.config = func(d dims) gpu.Config {
		return gpu.Config{Grid: gpu.Dim(over(d["N"], rows)), CTA: gpu.Dim(32 * u.warps)}
	}
	u.cancels(k)
	k.countsIn = unlessSpecial(func(d dims) counters {
		c, tiles, whole := streamed(d, w)
		if !whole {
			return counters{storeRequests: c[storeRequests], storeBytes: c[storeBytes], storeSectors: c[storeSectors]}
		}
		ctas := ceil(d.f("N"), rows)
		lanes := ceil(d.f("N"), streamRows) * d.f("K") / 64
		each := float64(streamRows * (2*64 + 2*u.groups + u.products))
		if u.minima {
			each += float64(64 + streamRows*2*u.groups)
		}
		c[flopsF32] = lanes*each + ctas*float64(u.warps*streamRows*5*32)
		panels := over(tiles, 2)
		c[barriers] = 2 * float64(panels*u.warps) * ctas
		c[loadBytes] += 2 * d.f("K") * ctas
		for p := range panels {
			c[loadRequests] += ctas * float64(over(min(d["K"]-p*2*tileValues, 2*tileValues), 256))
		}
		return c
	})
}

// byteProduct takes x in Q8_1.
func byteProduct(k *Kernel, w gpu.DType) {
	u, rows := unpackings[w], rowsOfBytes(w)
	k.operands[2].dtype = gpu.Q8_1
	k.function = "qgemv_dp4a_" + w.String()
	k.config = func(d dims) gpu.Config {
		return gpu.Config{Grid: gpu.Dim(over(d["N"], 4*rows)), CTA: gpu.Dim(128)}
	}
	k.bytes = formula{fmt.Sprintf("%g·N·K + 1.125·K + 2·N", w.Bits()/8), func(d dims) float64 {
		return w.Bits()/8*d.f("N")*d.f("K") + 1.125*d.f("K") + 2*d.f("N")
	}}
	u.cancels(k)
	k.countsIn = unlessSpecial(func(d dims) counters {
		c, tiles, whole := streamed(d, w)
		if !whole {
			return counters{storeRequests: c[storeRequests], storeBytes: c[storeBytes], storeSectors: c[storeSectors]}
		}
		ctas := ceil(d.f("N"), 4*rows)
		c[barriers] = 2 * 4 * float64(tiles) * ctas
		c[loadBytes] += 34.0 / 32 * d.f("K") * ctas // not the sum that a block of Q8_1 holds
		for t := range tiles {
			c[loadRequests] += ctas * 9 * float64(over(min(d["K"]-t*tileValues, tileValues)/32, 32)) // a lane a block
		}
		return c
	})
}
