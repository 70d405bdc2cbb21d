package kernels

import (
	"math"
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestKVQuantHeaders holds what the headers of the sources expect of the counters.
func TestKVQuantHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const batch, hq, hkv, length, page, d = 2, 8, 2, 256, 16, 64
	half, _ := pagedCall(h.dev, batch, hq, hkv, length, page, d, 0)
	shape := half[2].(*gpu.Tensor).Shape()
	for _, stored := range []gpu.DType{gpu.I8, gpu.E4M3} {
		kp, vp := h.dev.Zeros(stored, shape...), h.dev.Zeros(stored, shape...)
		ks, vs := h.dev.Zeros(gpu.F32, shape[:3]...), h.dev.Zeros(gpu.F32, shape[:3]...)
		const tokens = 8
		slots := make([]float64, tokens)
		for i := range slots {
			slots[i] = float64(i * 3)
		}
		appended := h.count(t, "kvquant/1_append", kp, vp, ks, vs, h.dev.Randn(gpu.F16, tokens, hkv, d), h.dev.Randn(gpu.F16, tokens, hkv, d), h.dev.FromAs(gpu.I32, slots, tokens))
		near(t, "1_append: bytes stored", float64(appended.GlobalStore.Bytes), 2*tokens*hkv*(d+4))
		near(t, "1_append: rows read twice, and a slot for each warp's lanes", float64(appended.GlobalLoad.Bytes), 2*2*2*tokens*hkv*d+4*32*tokens*hkv)
		full, eighth := h.count(t, "paged/1_decode", half...), h.count(t, "kvquant/2_decode", half[0], half[1], kp, vp, ks, vs, half[4], half[5], 0.0, 0, 0.0)
		near(t, "2_decode: the same FLOPs", ratio(eighth.FLOPs[perf.FLOPTensor], full.FLOPs[perf.FLOPTensor]), 1)
		near(t, "2_decode: no barriers", float64(eighth.Barriers), 0)
	}
}

// TestKVQuantBytes holds the DRAM traffic of decode in 8 bits against f16's: half, and 4 bytes of scale for each row.
func TestKVQuantBytes(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const batch, hq, hkv, length, page, d = 2, 8, 2, 512, 16, 128
	half, _ := pagedCall(h.dev, batch, hq, hkv, length, page, d, 0)
	shape := half[2].(*gpu.Tensor).Shape()
	small := float64(2*batch*hq*d)/32 + ceil(batch*length/page*4, 32) + 1 // q, table and lengths
	for _, stored := range []gpu.DType{gpu.I8, gpu.E4M3} {
		launches, err := measured("kvquant/2_decode", nil, []any{half[0], half[1], h.dev.Zeros(stored, shape...), h.dev.Zeros(stored, shape...),
			h.dev.Zeros(gpu.F32, shape[:3]...), h.dev.Zeros(gpu.F32, shape[:3]...), half[4], half[5], 0.0, 0, 0.0})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "2_decode: sectors of K, V and scales", float64(launches[0].Counts.Cache.DistinctRead)-small, float64(2*batch*hkv*length*(d+4))/32)
	}
}

// TestQuantRow holds the reference's fp8 against the encoder of package quant, over all magnitudes.
func TestQuantRow(t *testing.T) {
	row := []float64{448}
	for x := 0x1p-12; x < 448; x *= 1.01 {
		row = append(row, float64(float32(x)), -float64(float32(x)))
	}
	to := make([]float64, len(row))
	if scale := quantRow(row, to, gpu.E4M3); scale != 1 {
		t.Fatalf("scale %g", scale)
	}
	want := open(t, "virtual:h200").FromAs(gpu.E4M3, row, len(row)).Float64s() // package quant's encoder
	for i, x := range row {
		if to[i] != want[i] {
			t.Errorf("%g is stored as %g, want %g", x, to[i], want[i])
		}
	}
	if scale := quantRow([]float64{1, math.NaN()}, make([]float64, 2), gpu.I8); !math.IsNaN(scale) {
		t.Errorf("NaN in a row: scale %g", scale)
	}
}
