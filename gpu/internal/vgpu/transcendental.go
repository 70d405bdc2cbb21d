package vgpu

import "math"

func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }

func reciprocalSqrt(x float32) float32 { return float32(1 / math.Sqrt(float64(x))) }

func sine(x float32) float32   { return float32(math.Sin(float64(x))) }
func cosine(x float32) float32 { return float32(math.Cos(float64(x))) }
func log2(x float32) float32   { return float32(math.Log2(float64(x))) }
func tanh32(x float32) float32 { return float32(math.Tanh(float64(x))) }

// exp2 is 2^x within half an ulp of f32 and a little: the integral part goes into the exponent, the fraction in
// [−½, ½] through a polynomial in f64 (Taylor in x·ln 2 to the seventh power; its error is below 2⁻³¹).
func exp2(x float32) float32 {
	if !(x > -151 && x < 129) {
		return exp2Extreme(x)
	}
	const magic = 0x1.8p52 // adding it leaves the nearest integer in the last bits
	n := float64(x) + magic
	f := (float64(x) - (n - magic)) * math.Ln2
	p := 1 + f*(1+f*(1./2+f*(1./6+f*(1./24+f*(1./120+f*(1./720+f*(1./5040)))))))
	return float32(math.Float64frombits(math.Float64bits(p) + math.Float64bits(n)<<52))
}

func exp2Extreme(x float32) float32 {
	switch {
	case x != x:
		return canonicalNaN
	case x > 0:
		return float32(math.Inf(1))
	}
	return 0
}
