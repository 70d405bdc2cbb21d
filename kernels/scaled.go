package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
	"memwall/gpu/quant"
)

// scaleds store a matrix [R, K] in 8 bits, int8 or fp8, with f32 scales: one for the tensor, scale [1, 1]; one for each row, [R, 1],
// per channel; or one for each of G groups of a row, [R, G]. They are the codes and scales of quant.EncodeInt8 and quant.EncodeFP8. A span,
// the values that share a scale, with a NaN or an infinity gets the scale NaN and zeros.
var scaleds = append(scaling("scaled/1_passes", passes), scaling("scaled/2_rows", spansOfRows)...)

func scaling(name string, fill func(k *Kernel, y, x string)) []*Kernel {
	var variants []*Kernel
	for _, x := range []gpu.DType{gpu.F16, gpu.BF16, gpu.F32} {
		for _, y := range []gpu.DType{gpu.I8, gpu.E4M3, gpu.E5M2} {
			e := float64(x.Bytes())
			k := &Kernel{
				name: name,
				operands: []operand{
					{name: "y", output: true, exact: true, dtype: y, shape: []string{"R", "K"}},
					{name: "scale", output: true, exact: true, dtype: gpu.F32, shape: []string{"SR", "G"}},
					{name: "x", dtype: x, shape: []string{"R", "K"}},
				},
				wide:         true,
				precondition: spansFit,
				derived: []derivedExtent{
					{"spans", func(d dims) int { return d["SR"] * d["G"] }},
					{"length", func(d dims) int { return d["R"] * d["K"] / max(d["spans"], 1) }},
				},
				bytes: formula{fmt.Sprintf("%g·R·K + 4·spans", e+1), func(d dims) float64 { return (e+1)*d.f("R")*d.f("K") + 4*d.f("spans") }},
				flops: formula{"2·R·K", func(d dims) float64 { return 2 * d.f("R") * d.f("K") }},
				results: func(d dims, in map[string][]float64) map[string]result {
					codes, scales := scaledAs(y, in["x"], d["length"])
					return map[string]result{"y": {want: codes}, "scale": {want: scales}}
				},
				cases: scaledCases,
				draw: func(r *rand.Rand) trial {
					d := dims{"R": 1 + r.IntN(40), "K": 1 + r.IntN(3000), "G": 1}
					if d["SR"] = d["R"]; r.IntN(3) == 0 {
						d["SR"] = 1
					} else if g := 1 + r.IntN(5); r.IntN(2) == 0 {
						d["G"], d["K"] = g, g*(1+r.IntN(600))
					}
					return trial{dims: d, inputs: inputs(r.IntN(3))}
				},
			}
			if x == gpu.F16 {
				for _, spans := range []dims{{"SR": 8192, "G": 1}, {"SR": 8192, "G": 64}} {
					spans["R"], spans["K"] = 8192, 8192
					k.bench = append(k.bench, large(spans, nil)...)
				}
				k.bench = append(k.bench, benchShape{trial: trial{dims: dims{"R": 8192, "K": 8192, "SR": 1, "G": 1}}, share: .8 * 3 / 5, aim: "≥ 48% of the roof: x, twice as large as y, comes twice"})
			}
			fill(k, y.String(), x.String())
			variants = append(variants, k)
		}
	}
	return variants
}

var scaledCases = []trial{
	{dims: dims{"R": 1, "K": 1, "SR": 1, "G": 1}}, {dims: dims{"R": 33, "K": 31, "SR": 1, "G": 1}}, {dims: dims{"R": 33, "K": 127, "SR": 33, "G": 1}},
	{dims: dims{"R": 5, "K": 256, "SR": 5, "G": 8}}, {dims: dims{"R": 7, "K": 99, "SR": 7, "G": 3}}, {dims: dims{"R": 3, "K": 5000, "SR": 3, "G": 1}},
	{dims: dims{"R": 2, "K": 36864, "SR": 2, "G": 1}}, {dims: dims{"R": 3, "K": 16387, "SR": 1, "G": 1}},
	{dims: dims{"R": 16, "K": 512, "SR": 16, "G": 4}, inputs: outliers}, {dims: dims{"R": 9, "K": 72, "SR": 9, "G": 9}, inputs: special},
	{dims: dims{"R": 4, "K": 40, "SR": 1, "G": 1}, inputs: special},
}

// spansFit refuses scales that do not divide x.
func spansFit(d dims) error {
	how := func() string {
		return fmt.Sprintf("one for the tensor is [1, 1], one a row [%d, 1], G groups a row [%[1]d, G]", d["R"])
	}
	switch {
	case d["R"] < 1 || d["K"] < 1:
		return &gpu.Error{What: fmt.Sprintf("x is [%d, %d]", d["R"], d["K"]), How: "there is nothing to store: leave the call out"}
	case d["SR"] != d["R"] && d["SR"] != 1, d["SR"] == 1 && d["R"] > 1 && d["G"] != 1:
		return &gpu.Error{What: fmt.Sprintf("scale is [%d, %d], and x [%d, %d]", d["SR"], d["G"], d["R"], d["K"]), How: how()}
	case d["G"] < 1 || d["K"]%d["G"] != 0:
		return &gpu.Error{What: fmt.Sprintf("scale is [%d, %d], and %d groups do not divide K = %d", d["SR"], d["G"], d["G"], d["K"]), How: how()}
	case d["spans"] > 1<<30:
		return &gpu.Error{What: fmt.Sprintf("scale has %d elements", d["spans"]), How: "split the rows"}
	}
	return nil
}

// scaledAs are the codes of values, length of which share a scale, and the scales: those of gpu/quant, where it has any.
func scaledAs(y gpu.DType, x []float64, length int) (codes, scales []float64) {
	for at := 0; at < len(x); at += length {
		span := make([]float32, length)
		for i := range span {
			span[i] = float32(x[at+i])
		}
		if y == gpu.I8 {
			if q, err := quant.EncodeInt8(span, 1, length, 0, false); err == nil {
				scales = append(scales, float64(q.Scales[0]))
				for _, c := range q.Codes {
					codes = append(codes, float64(c))
				}
				continue
			}
		} else if small, err := quant.Small(y.String()); err == nil {
			if q, err := quant.EncodeFP8(small, span, 1, length, 0, false); err == nil {
				scales = append(scales, float64(q.Scales[0]))
				for _, c := range q.Codes {
					codes = append(codes, float64(c))
				}
				continue
			}
		}
		scales, codes = append(scales, math.NaN()), append(codes, make([]float64, length)...)
	}
	return codes, scales
}

// parts are how many pieces of so many values a span has.
func parts(values int) derivedExtent {
	return derivedExtent{"chunks", func(d dims) int { return over(d["length"], values) }}
}

// passes is 1_passes: every span in chunks, twice.
func passes(k *Kernel, y, x string) {
	k.derived = append(k.derived, parts(4096))
	k.workspaces = []workspace{{name: "most", dtype: gpu.I32, shape: []string{"spans"}, zero: true}}
	config := func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["spans"] * d["chunks"]), CTA: gpu.Dim(256)} }
	k.stages = []stage{
		{idea: "largest", function: "scaled_largest_" + x, args: []string{"most", "x", "length", "chunks"}, config: config, flops: func(dims) float64 { return 0 }},
		{idea: "codes", main: true, function: "scaled_codes_" + y + "_" + x, args: []string{"y", "scale", "x", "most", "length", "chunks"}, config: config},
	}
	e := float64(k.operands[2].dtype.Bytes())
	k.countsIn = func(d dims, in map[string][]float64) counters {
		n, ctas, again := d.f("R")*d.f("K"), d.f("spans")*d.f("chunks"), 0.0
		_, scales := scaledAs(k.operands[0].dtype, in["x"], d["length"])
		for _, s := range scales {
			if s == s { // else zeros are stored, whatever the values are
				again += d.f("length")
			}
		}
		return counters{loadBytes: e*(n+again) + 4*256*ctas, storeBytes: n + 4*d.f("spans"), barriers: 0}
	}
}

// spansOfRows is 2_rows: a span at a time, or in chunks where there are few long ones.
func spansOfRows(k *Kernel, y, x string) {
	const most = 1024 // of a warp's span
	k.derived = append(k.derived,
		derivedExtent{"chunks", func(d dims) int {
			if d["spans"] < 2*d[multiprocessors] && d["length"] > 2*16384 || d["length"] > 1<<24 {
				return over(d["length"], 16384)
			}
			return 0 // by themselves
		}},
		derivedExtent{"units", func(d dims) int { return d["spans"] * max(d["chunks"], 1) }},
		derivedExtent{"threads", func(d dims) int {
			if d["length"] > most {
				return 256
			}
			threads := 4 // of four pieces each where that makes a whole warp or less
			for threads < 32 && 32*threads < d["length"] {
				threads *= 2
			}
			return threads
		}},
		derivedExtent{"apart", func(d dims) int { return d["spans"] * min(d["chunks"], 1) }})
	k.workspaces = []workspace{{name: "most", dtype: gpu.I32, shape: []string{"apart"}, zero: true}}
	k.stages = []stage{
		{idea: "largest", function: "scaled_chunks_" + x, args: []string{"most", "x", "length", "chunks"}, flops: func(dims) float64 { return 0 },
			when:   func(d dims) bool { return d["chunks"] > 0 },
			config: func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["units"]), CTA: gpu.Dim(256)} }},
		{idea: "codes", main: true, function: "scaled_rows_" + y + "_" + x, args: []string{"y", "scale", "x", "most", "length", "units", "chunks", "threads"},
			config: func(d dims) gpu.Config {
				return gpu.Config{Grid: gpu.Dim(over(d["units"], 256/d["threads"])), CTA: gpu.Dim(256)}
			}},
	}
	e := float64(k.operands[2].dtype.Bytes())
	k.countsIn = func(d dims, in map[string][]float64) counters {
		n := d.f("R") * d.f("K")
		c := counters{loadBytes: 2 * e * n, storeBytes: n + 4*d.f("spans")}
		if d["chunks"] > 0 {
			c[loadBytes] += 4 * 256 * d.f("units")
		}
		_, scales := scaledAs(k.operands[0].dtype, in["x"], d["length"])
		if slices.ContainsFunc(scales, math.IsNaN) { // single values of a span without a scale are not read again, pieces are
			delete(c, loadBytes)
		}
		return c
	}
}
