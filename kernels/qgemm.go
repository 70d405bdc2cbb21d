package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// qgemms multiply a few or many sequences with packed weights, Y = X·Wᵀ, X in f16 (W4A16, W8A16).
var qgemms = slices.Concat(qgemm(gpu.Q4_0), qgemm(gpu.Q4_1), qgemm(gpu.Q4_K), qgemm(gpu.Q8_0))

// A CTA of qgemm/1_mma takes so many rows of W, in tiles of so many values.
const (
	packedRows = 64
	packedTile = 512
)

// packedSequences is how many sequences a CTA of qgemm/1_mma has room for, and how many buffers: what 99 KB of shared memory hold,
// which every device since sm_80 has.
func packedSequences(d dims, w gpu.DType) (sequences, stages int) {
	switch {
	case w == gpu.Q8_0:
		return 8, 2
	case d["M"] <= 8:
		return 8, 3
	}
	return 16, 2
}

func qgemm(w gpu.DType) []*Kernel {
	tileBytes := int(w.Size(packedTile))
	k := &Kernel{
		name: "qgemm/1_mma", function: "qgemm_mma_" + w.String() + "_8",
		operands: []operand{
			{name: "y", output: true, dtype: gpu.F16, shape: []string{"M", "N"}},
			{name: "w", dtype: w, shape: []string{"N", "K"}, align: 16},
			{name: "x", dtype: gpu.F16, shape: []string{"M", "K"}, align: 16},
		},
		multiples: map[string]int{"K": 256},
		pass:      []string{"M", "N", "K"},
		choose: func(d dims) (string, gpu.Config) {
			t, stages := packedSequences(d, w)
			return fmt.Sprintf("qgemm_mma_%s_%d", w, t), gpu.Config{Grid: gpu.Dim(over(d["N"], packedRows), over(d["M"], t)), CTA: gpu.Dim(128),
				Shared: stages * (packedRows*(tileBytes+16) + t*packedTile*2)}
		},
		bytes: formula{fmt.Sprintf("%g·N·K + 2·(M·K + M·N)", w.Bits()/8), func(d dims) float64 {
			return w.Bits()/8*d.f("N")*d.f("K") + 2*(d.f("M")*d.f("K")+d.f("M")*d.f("N"))
		}},
		flops: formula{"2·M·N·K", func(d dims) float64 { return 2 * d.f("M") * d.f("N") * d.f("K") }},
		reference: func(d dims, in map[string][]float64) (want, scale []float64) {
			return product(in["x"], in["w"], d["M"], d["N"], d["K"])
		},
		terms: func(d dims) float64 { return d.f("K") + 1<<13 }, // a weight is rounded to f16
		counts: func(d dims) counters {
			t, _ := packedSequences(d, w)
			ctas := ceil(d.f("N"), packedRows) * ceil(d.f("M"), t)
			halves := ceil(d.f("K"), 256)
			return counters{flopsTensor: ctas * halves * float64(4*16*(t/8)*2*16*8*16), barriers: 4 * ctas * ceil(d.f("K"), packedTile),
				loadBytes:  float64(w.Size(d["K"]))*d.f("N")*ceil(d.f("M"), t) + 2*d.f("M")*d.f("K")*ceil(d.f("N"), packedRows),
				storeBytes: 2 * d.f("M") * d.f("N")}
		},
		bench: packedShapes(w),
		cases: []trial{{dims: dims{"M": 1, "N": 1, "K": 256}}, {dims: dims{"M": 7, "N": 65, "K": 512}}, {dims: dims{"M": 16, "N": 64, "K": 2048}},
			{dims: dims{"M": 9, "N": 130, "K": 768}, inputs: outliers}, {dims: dims{"M": 33, "N": 31, "K": 1280}}, {dims: dims{"M": 70, "N": 17, "K": 256}},
			{dims: dims{"M": 3, "N": 40, "K": 512}, inputs: special}},
	}
	if unpackings[w].minima {
		k.terms = func(d dims) float64 { return 16 * (d.f("K") + 1<<13) }
		k.operands[2].fill = func(d dims, r *rand.Rand) []float64 { return outliers.fill(r, d["M"]*d["K"], d["K"]) }
	}
	return []*Kernel{k}
}

// packedShapes are few sequences, beside the ladder that reads the weights in 16 bits; those of 4 bits aim at a third of its time up to
// 16 sequences.
func packedShapes(w gpu.DType) []benchShape {
	var shapes []benchShape
	for _, m := range []int{1, 8, 16, 64} {
		t := trial{dims: dims{"M": m, "N": 14336, "K": 7168}}
		s := benchShape{trial: t, base: &base{step: "batch/3_mma", trial: t, types: gpu.F16.String()}}
		if m <= 16 && w.Bits() < 6 {
			s.most, s.aim = 1./3, "1 ÷ 3 of the time with 16 bits"
		}
		shapes = append(shapes, s)
	}
	return shapes
}
