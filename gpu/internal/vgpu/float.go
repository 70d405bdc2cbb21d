package vgpu

import "math"

// canonicalNaN is what NVIDIA GPUs return for a NaN of f32 (PTX ISA 9.7.3: payloads are not kept).
var canonicalNaN = math.Float32frombits(0x7fffffff)

// quiet makes any NaN the canonical one.
func quiet(x float32) float32 {
	if x != x {
		return canonicalNaN
	}
	return x
}

// flush is .ftz: a denormal becomes zero of its sign.
func flush(x float32) float32 {
	b := math.Float32bits(x)
	if b&0x7f800000 == 0 {
		return math.Float32frombits(b & 0x80000000)
	}
	return x
}

func flush64(x float64) float64 {
	b := math.Float64bits(x)
	if b>>52&0x7ff == 0 {
		return math.Float64frombits(b & (1 << 63))
	}
	return x
}

// saturate is .sat: clamped to [0, 1], NaN to +0.
func saturate(x float32) float32 {
	if x > 0 {
		return min(x, 1)
	}
	return 0
}

// relu clamps negative values to +0 and keeps NaN.
func relu(x float32) float32 {
	if x <= 0 {
		return 0
	}
	return x
}

func abs32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) & 0x7fffffff) }

func copySign32(x, sign float32) float32 {
	return math.Float32frombits(math.Float32bits(x)&0x7fffffff | math.Float32bits(sign)&0x80000000)
}

// xorSign gives v the product of the signs of x and y.
func xorSign(v, x, y float32) float32 {
	sign := (math.Float32bits(x) ^ math.Float32bits(y)) & 0x80000000
	return math.Float32frombits(math.Float32bits(v)&0x7fffffff | sign)
}

type floating interface{ float32 | float64 }

func canonical[T floating]() T { return T(math.Float32frombits(0x7fffffff)) }

// minimum is IEEE 754-2008 minNum as PTX defines min: of a NaN and a number the number, −0 below +0.
func minimum[T floating](x, y T) T {
	switch {
	case x < y:
		return x
	case y < x:
		return y
	case x != x && y != y:
		return canonical[T]()
	case x != x:
		return y
	case y != y:
		return x
	case x == 0 && math.Signbit(float64(x)):
		return x
	}
	return y
}

// maximum is the counterpart of minimum.
func maximum[T floating](x, y T) T {
	switch {
	case x > y:
		return x
	case y > x:
		return y
	case x != x && y != y:
		return canonical[T]()
	case x != x:
		return y
	case y != y:
		return x
	case x == 0 && math.Signbit(float64(x)):
		return y
	}
	return x
}

// minimumNaN is min.NaN: any NaN gives the canonical NaN.
func minimumNaN(x, y float32) float32 {
	if x != x || y != y {
		return canonicalNaN
	}
	return minimum(x, y)
}

func maximumNaN(x, y float32) float32 {
	if x != x || y != y {
		return canonicalNaN
	}
	return maximum(x, y)
}

// The properties that testp tests.
func isNumber[T floating](x T) bool     { return x == x }
func isNotanumber[T floating](x T) bool { return x != x }
func isFinite[T floating](x T) bool     { return x-x == 0 }
func isInfinite[T floating](x T) bool   { return x == x && x-x != 0 }
func isSubnormal[T floating](x T) bool  { return x != 0 && max(x, -x) < smallestNormal(x) }
func isNormal[T floating](x T) bool     { return isFinite(x) && max(x, -x) >= smallestNormal(x) }

func smallestNormal[T floating](x T) T {
	if _, single := any(x).(float32); single {
		return T(0x1p-126)
	}
	small := 0x1p-1022
	return T(small)
}

// halfToFloat converts f16 to f32, exactly.
func halfToFloat(h uint16) float32 {
	sign, rest := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	if rest >= 0x7c00 { // infinity, NaN
		return math.Float32frombits(sign | 0x7f800000 | rest<<13)
	}
	// The exponent is moved by a multiplication, which also normalises denormals.
	f := math.Float32frombits(rest<<13) * 0x1p112
	return math.Float32frombits(math.Float32bits(f) | sign)
}

// floatToHalf converts f32 to f16, to nearest, ties to even; NaN becomes 0x7fff.
func floatToHalf(x float32) uint16 {
	b := math.Float32bits(x)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return 0x7fff
	case b >= 0x47800000: // 65536 and above
		return sign | 0x7c00
	case b < 0x38800000: // denormal: adding 0.5 puts its last bit at the last bit of an f32
		return sign | uint16(math.Float32bits(math.Float32frombits(b)+0.5)-0x3f000000)
	}
	return sign | uint16((b+0xfff+b>>13&1-0x38000000)>>13)
}

func bfloatToFloat(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// floatToBfloat converts f32 to bf16, to nearest, ties to even; NaN becomes 0x7fff.
func floatToBfloat(x float32) uint16 {
	b := math.Float32bits(x)
	if b&0x7fffffff > 0x7f800000 {
		return 0x7fff
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// flushHalf flushes a value of f16 that is denormal there.
func flushHalf(x float32) float32 {
	if abs32(x) < 0x1p-14 {
		return copySign32(0, x)
	}
	return x
}

// flushHalfResult flushes a result that rounds to a denormal of f16.
func flushHalfResult(x float32) float32 { return halfToFloat(flushHalfBits(floatToHalf(x))) }

func flushHalfBits(h uint16) uint16 {
	if h&0x7c00 == 0 {
		return h & 0x8000
	}
	return h
}

// roundTF32Away rounds to the 10 fraction bits of tf32, ties away from zero.
func roundTF32Away(x float32) uint32 {
	b := math.Float32bits(x)
	if b&0x7f800000 == 0x7f800000 {
		return b &^ 0x1fff
	}
	return (b + 0x1000) &^ 0x1fff
}

// roundTF32Even rounds to tf32, ties to even.
func roundTF32Even(x float32) uint32 {
	b := math.Float32bits(x)
	if b&0x7f800000 == 0x7f800000 {
		return b &^ 0x1fff
	}
	return (b + 0xfff + b>>13&1) &^ 0x1fff
}

// fma32 is x·y + z with one rounding. The product of two f32 is exact in f64, and so the sum is rounded twice: to f64
// and to f32. The second rounding is wrong only where the f64 lies half way between two f32 (or is so small that the
// half way points lie elsewhere), which fma32Exact settles.
func fma32(x, y, z float32) float32 {
	s := float64(x)*float64(y) + float64(z)
	b := math.Float64bits(s)
	if b<<35 == 1<<63 || b>>52&0x7ff-897 >= 1150 {
		return fma32Exact(x, y, z)
	}
	return float32(s)
}

// fma32Exact rounds the sum to odd before the rounding to f32, which makes that one right.
func fma32Exact(x, y, z float32) float32 {
	p := float64(x) * float64(y)
	s := p + float64(z)
	if s-s != 0 { // infinity or NaN
		return quiet(float32(s))
	}
	return float32(roundToOdd(s, sumError(p, float64(z), s)))
}

// sumError is what is missing in s = a + b (Knuth's two-sum).
func sumError(a, b, s float64) float64 {
	t := s - a
	return (a - (s - t)) + (b - t)
}

// roundToOdd gives s, or where e is missing in it and s is even, its odd neighbour on the side of s + e.
func roundToOdd(s, e float64) float64 {
	b := math.Float64bits(s)
	if e == 0 || b&1 != 0 {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}

// fmaOdd is x·y + z for values of f16 or bf16, rounded to odd in f32: rounding that to 16 bits is the same as rounding
// the exact result, since f32 has more than two bits to spare.
func fmaOdd(x, y, z float32) float32 {
	p := float64(x) * float64(y)
	s := p + float64(z)
	if s-s != 0 {
		return float32(s)
	}
	s = roundToOdd(s, sumError(p, float64(z), s))
	f := float32(s)
	if float64(f) == s {
		return f
	}
	if f-f != 0 {
		return f
	}
	b := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(s) { // towards zero
		b--
	}
	return math.Float32frombits(b | 1)
}

// fmaOutOfBounds is fma.oob (PTX ISA 9.7.4.4): the result is 0 where a factor is the NaN that a tensor copy fills in for
// elements out of bounds, all ones in 16 bits.
func fmaOutOfBounds(x, y, z float32) float32 {
	if isOutOfBounds(x) || isOutOfBounds(y) {
		return 0
	}
	return fmaOdd(x, y, z)
}

// isOutOfBounds tells the widened 0xffff of f16 or bf16.
func isOutOfBounds(x float32) bool {
	b := math.Float32bits(x)
	return b == 0xffffe000 || b == 0xffff0000
}

// The two f32 of an f32x2.
func lowFloat(x uint64) float32  { return math.Float32frombits(uint32(x)) }
func highFloat(x uint64) float32 { return math.Float32frombits(uint32(x >> 32)) }

func joinFloats(low, high float32) uint64 {
	return uint64(math.Float32bits(low)) | uint64(math.Float32bits(high))<<32
}
