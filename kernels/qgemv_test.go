package kernels

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
	"memwall/gpu/quant"
)

// TestQGEMVHeaders holds what the headers of the sources expect of the counters.
func TestQGEMVHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const n, k = 64, 4096
	w, x, y := h.dev.Randn(gpu.Q4_0, n, k), h.dev.Randn(gpu.F16, k), h.dev.Zeros(gpu.F16, n)
	launches, err := measured("qgemv/1_dequantize", nil, []any{y, w, x})
	if err != nil || len(launches) != 2 {
		t.Fatal(len(launches), err)
	}
	near(t, "1_dequantize: 2NK bytes stored", float64(launches[0].Counts.GlobalStore.Bytes), 2*n*k)
	near(t, "1_dequantize: as many loaded again, and x a row", float64(launches[1].Counts.GlobalLoad.Bytes), 2*2*n*k)
	fused, packed := h.count(t, "qgemv/2_fused", y, w, x), h.count(t, "qgemv/3_packed", y, w, x)
	near(t, "2_fused: loads of code, scale and x a value", 32*float64(fused.GlobalLoad.Requests)/n/k, 3)
	near(t, "2_fused: writes y alone", float64(fused.GlobalStore.Bytes), 2*n)
	near(t, "3_packed: W once, x for the rows of eight warps", float64(packed.GlobalLoad.Bytes), n*k*18/32+2*k*n/16)
	xq := h.dev.Empty(gpu.Q8_1, k)
	mustRun(t, "quantize", xq, x)
	dp4a := h.count(t, "qgemv/4_dp4a", y, w, xq)
	near(t, "4_dp4a: the same bytes of W", float64(dp4a.GlobalLoad.Bytes), n*k*18/32+34.0/32*k*n/16)
	perWeight := func(c *perf.Counts) float64 {
		total := 0.0
		for _, instructions := range c.Instructions {
			total += float64(instructions)
		}
		return 32 * total / n / k
	}
	if f, p, b := perWeight(fused), perWeight(packed), perWeight(dp4a); !(f > 15 && p < f/2 && b < p/2) {
		t.Errorf("instructions a weight: %.1f fused, %.1f packed, %.1f dp4a; the headers say less than half at each step", f, p, b)
	}
	if share := ratio(dp4a.FLOPs[perf.FLOPF32], packed.FLOPs[perf.FLOPF32]); !(share < 0.15) {
		t.Errorf("4_dp4a has %.2f of 3_packed's FP32 FLOPs", share)
	}
}

// The ladder is chosen by the tensors: f16 activations stay f16, Q8_1 ones take dp4a, whose only further error is their rounding.
func TestQGEMVChoice(t *testing.T) {
	dev := open(t, "virtual:h200")
	const n, k = 48, 2048
	w, x := dev.Randn(gpu.Q4_K, n, k), dev.Randn(gpu.F16, k)
	y, z, xq := dev.Zeros(gpu.F16, n), dev.Zeros(gpu.F16, n), dev.Empty(gpu.Q8_1, k)
	mustRun(t, "quantize", xq, x)
	for _, c := range []struct {
		y, x *gpu.Tensor
		want string
	}{{y, x, "qgemv/3_packed"}, {z, xq, "qgemv/4_dp4a"}} {
		launches, err := measured("qgemv", nil, []any{c.y, w, c.x})
		if err != nil || launches[0].Kernel != c.want {
			t.Fatalf("%v, want %s", err, c.want)
		}
	}
	if e, err := quant.NMSE(z.Float32s(), y.Float32s()); err != nil || !(e > 0 && e < 1e-4) {
		t.Errorf("8-bit activations: NMSE %g, %v", e, err)
	}
	err := Run("qgemv", y, dev.Zeros(gpu.F16, n, k), x)
	if err == nil {
		t.Fatal("f16 weights pass")
	}
	t.Log(err)
}

// Infinite x and infinite scales give what whole weights give, in every step and format: an infinity with the weight's sign, also where
// the code is 0 and the minimum is the weight; NaN where weights are zero or infinities have both signs.
func TestQGEMVInfinities(t *testing.T) {
	dev := open(t, "virtual:h200")
	const n, k, infinite, huge = 24, 256, 40, 1e7 // huge has a scale in Q8_1 that f16 rounds to infinity
	for _, step := range []string{"qgemv/2_fused", "qgemv/3_packed", "qgemv/4_dp4a"} {
		for _, v := range Get(step).variants() {
			r := rand.New(rand.NewPCG(5, 7))
			dtype := v.operands[1].dtype
			values := make([]float64, n*k)
			for i := range values {
				values[i] = r.NormFloat64()
				if i%k/32 == infinite/32 {
					values[i] = (0.5 + r.Float64()) * float64(1-i/k%2*2) // of the row's sign
				}
			}
			var w *gpu.Tensor
			if f := formatOf(dtype); f == nil {
				w = dev.FromAs(dtype, values, n, k)
			} else {
				var packed []byte
				if encoded := packedAs(dtype, values); encoded == nil {
					packed = anyCodes(f, r, n*k)
				} else {
					for _, b := range encoded {
						packed = append(packed, byte(b))
					}
				}
				for row := 3; row < n && f.Scale+2 <= f.Bytes && dtype != gpu.MXFP4; row += 4 {
					binary.LittleEndian.PutUint16(packed[row*k/f.Block*f.Bytes+f.Scale:], 0x7c00)
				}
				w = dev.From(packed, n, k/f.Block*f.Bytes).View(dtype)
			}
			vector := make([]float64, k)
			for i := range vector {
				vector[i] = r.NormFloat64()
			}
			vector[infinite] = math.Inf(1)
			x, y := dev.Empty(v.operands[2].dtype, k), dev.Zeros(gpu.F16, n)
			if x.DType() == gpu.Q8_1 {
				for i := range 32 {
					vector[infinite/32*32+i] = huge
				}
				mustRun(t, "quantize", x, dev.FromAs(gpu.F32, vector, k))
			} else {
				x = dev.FromAs(gpu.F16, vector, k)
			}
			mustRun(t, step, y, w, x)
			want, _ := product(x.Float64s(), w.Float64s(), 1, n, k)
			seen := map[float64]int{}
			for i, got := range y.Float64s() {
				if got != want[i] && !(math.IsNaN(got) && math.IsNaN(want[i])) {
					t.Errorf("%s %s: row %d is %g, the reference %g", step, dtype, i, got, want[i])
				}
				if !math.IsNaN(got) {
					seen[got]++
				}
			}
			if dtype != gpu.Q2_K && dtype != gpu.Q3_K && dtype.Block() != 1 && len(seen) < 2 && dtype.String()[:2] != "q5" {
				t.Errorf("%s %s: results are %v; a test needs infinities of both signs", step, dtype, seen)
			}
		}
	}
}
