package vgpu

import "math"

// tf32ToFloat gives the value of a tf32 operand: the lower 13 bits do not count.
func tf32ToFloat(v uint32) float32 { return math.Float32frombits(v &^ 0x1fff) }

// smallFloat gives the decoder of a floating-point type of up to 8 bits that stands shift bits up in its byte: e4m3 (no
// infinities, one NaN), e5m2 (as IEEE 754), e3m2, e2m3 and e2m1 (finite values alone).
func smallFloat(exponent, fraction, shift int) func(uint32) float32 {
	var values [256]float32
	bits := 1 + exponent + fraction
	bias := 1<<(exponent-1) - 1
	for b := range values {
		v := b >> shift & (1<<bits - 1)
		e, f := v>>fraction&(1<<exponent-1), v&(1<<fraction-1)
		x := math.Ldexp(float64(f), 1-bias-fraction)
		if e > 0 {
			x = math.Ldexp(float64(1<<fraction|f), e-bias-fraction)
		}
		switch last := e == 1<<exponent-1; {
		case exponent == 5 && last && f == 0:
			x = math.Inf(1)
		case exponent == 5 && last, exponent == 4 && last && f == 1<<fraction-1:
			x = math.NaN()
		}
		if v>>(bits-1) != 0 {
			x = -x
		}
		values[b] = float32(x)
	}
	return func(v uint32) float32 { return values[v&0xff] }
}
