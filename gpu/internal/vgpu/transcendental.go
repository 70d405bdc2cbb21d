package vgpu

import "math"

func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }

func reciprocalSqrt(x float32) float32 { return float32(1 / math.Sqrt(float64(x))) }

func sine(x float32) float32   { return float32(math.Sin(float64(x))) }
func cosine(x float32) float32 { return float32(math.Cos(float64(x))) }
func log2(x float32) float32   { return float32(math.Log2(float64(x))) }
func tanh32(x float32) float32 { return float32(math.Tanh(float64(x))) }

// The polynomial of exp2: (2^f − 1)/f on [−½, ½], through the Chebyshev nodes; its error is below 2⁻²⁸.
const (
	exp2C1 = 0x1.62e43p-1
	exp2C2 = 0x1.ebfbe0p-3
	exp2C3 = 0x1.c6af6cp-5
	exp2C4 = 0x1.3b2a54p-7
	exp2C5 = 0x1.5f0890p-10
	exp2C6 = 0x1.44138ap-13
)

// exp2 is 2^x within 1.15 ulp, of the 2 that ex2.approx may have, and exact for integers: the nearest integer goes into the
// exponent, the fraction through a polynomial, each product and each sum rounded to f32, as the assembly does it.
func exp2(x float32) float32 {
	switch {
	case x != x:
		return canonicalNaN
	case x < -152:
		x = -152
	case x > 128:
		x = 128
	}
	const magic = 0x1.8p23 // adding it leaves the nearest integer in the last bits
	sum := x + magic
	n := sum - magic
	f := x - n
	p := float32(f*exp2C6) + exp2C5
	p = float32(p*f) + exp2C4
	p = float32(p*f) + exp2C3
	p = float32(p*f) + exp2C2
	p = float32(p*f) + exp2C1
	p = float32(p*f) + 1
	power := int32(math.Float32bits(sum)) << 23 >> 23 // n, and what does not fit nine bits is not there
	if n >= -126 && x < 128 {
		return math.Float32frombits(math.Float32bits(p) + uint32(power)<<23)
	}
	// Into the denormals, or to infinity, in two steps of which the second rounds.
	half := power >> 1
	return float32(p*math.Float32frombits(uint32(half+127)<<23)) * math.Float32frombits(uint32(power-half+127)<<23)
}
