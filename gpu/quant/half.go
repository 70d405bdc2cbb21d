package quant

import "math"

// F16ToFloat32 widens an IEEE 754 binary16 number; every value, subnormals and infinities included, is exact. A NaN keeps
// its sign and payload.
func F16ToFloat32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	magnitude := uint32(h&0x7fff) << 13
	if magnitude >= 0x7c00<<13 { // infinity or NaN: the exponent becomes all ones
		return math.Float32frombits(sign | 0x7f800000 | magnitude&0x007fffff)
	}
	// The exponents of both formats differ by 112; multiplying also normalises the subnormals.
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(magnitude)*0x1p112))
}

// F16FromFloat32 rounds to the nearest binary16, ties to even, as PTX cvt.rn.f16.f32 does (PTX ISA, cvt). From 65,520 on
// the result is an infinity; NaN becomes the quiet NaN 0x7fff, PTX's canonical one.
func F16FromFloat32(f float32) uint16 {
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 0x7fffffff
	switch {
	case bits > 0x7f800000:
		return 0x7fff
	case bits >= 0x477ff000: // 65,520, halfway between the largest number and the next power of two
		return sign | 0x7c00
	case bits < 0x38800000: // below 2⁻¹⁴: adding ½ aligns the last bit kept with float32's own rounding
		sum := math.Float32bits(math.Float32frombits(bits) + 0.5)
		return sign | uint16(sum-0x3f000000)
	}
	bits += 0xfff + bits>>13&1
	return sign | uint16(bits>>13-112<<10)
}

// BF16ToFloat32 widens a bfloat16 number, the upper half of a float32.
func BF16ToFloat32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// BF16FromFloat32 rounds to the nearest bfloat16, ties to even, as PTX cvt.rn.bf16.f32 does; NaN becomes 0x7fff.
func BF16FromFloat32(f float32) uint16 {
	bits := math.Float32bits(f)
	if bits&0x7fffffff > 0x7f800000 {
		return 0x7fff
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}
