package vgpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The vectors' row of products against the portable one, bit by bit, for every width and depth of wgmma, with denormals,
// infinities and NaN among the numbers.
func TestProductsByVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	special := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.NaN()), 1e-45, -3e-39, 3e38, -1e-30}
	draw := func(n int) []float32 {
		list := make([]float32, n)
		for i := range list {
			list[i] = float32(r.NormFloat64())
			if r.IntN(16) == 0 {
				list[i] = special[r.IntN(len(special))]
			}
		}
		return list
	}
	if c := make([]float32, 8); !addRow(c, c[:1], c) {
		t.Log("this CPU has no AVX2 (or this architecture no assembly): the portable loop is all there is")
		return
	}
	for n := 8; n <= 256; n += 8 {
		for _, k := range []int{1, 8, 16, 32} {
			a, b, c := draw(k), draw(k*n), draw(n)
			want := append([]float32(nil), c...)
			for j := range want {
				for p := range k {
					want[j] += float32(a[p] * b[p*n+j])
				}
			}
			addRow(c, a, b)
			for j := range c {
				if math.Float32bits(c[j]) != math.Float32bits(want[j]) && !(math.IsNaN(float64(c[j])) && math.IsNaN(float64(want[j]))) {
					t.Fatalf("n %d, k %d: element %d is %v, want %v", n, k, j, c[j], want[j])
				}
			}
		}
	}
}
