package vgpu

import (
	"math"
	"math/bits"
)

func popcount(m uint32) int { return bits.OnesCount32(m) }

type integral interface {
	int16 | int32 | int64 | uint16 | uint32 | uint64
}

// divide is integer division; by zero it gives all ones, as NVIDIA GPUs do (PTX ISA 9.7.1.8 leaves it open).
func divide[T integral](x, y T) T {
	if y == 0 {
		return ^T(0)
	}
	return x / y
}

// remainder is that of a division towards zero; by zero it gives x.
func remainder[T integral](x, y T) T {
	if y == 0 {
		return x
	}
	return x % y
}

func isZero[T uint16 | uint32 | uint64](x T) T {
	if x == 0 {
		return 1
	}
	return 0
}

func mulHighUnsigned(x, y uint64) uint64 {
	high, _ := bits.Mul64(x, y)
	return high
}

func mulHighSigned(x, y int64) int64 {
	high, _ := bits.Mul64(uint64(x), uint64(y))
	return int64(high) - x>>63&y - y>>63&x
}

func saturate32(x int64) int32 { return int32(min(max(x, math.MinInt32), math.MaxInt32)) }

// byteOf is byte k of x, extended.
func byteOf(x uint32, k int, signed bool) int32 {
	if signed {
		return int32(int8(x >> (8 * k)))
	}
	return int32(uint8(x >> (8 * k)))
}

// dot4 is dp4a: c + the sum of the products of four bytes.
func dot4(x, y, c uint32, signedX, signedY bool) uint32 {
	for k := range 4 {
		c += uint32(byteOf(x, k, signedX) * byteOf(y, k, signedY))
	}
	return c
}

// dot2 is dp2a: c + the products of x's two halves and two bytes of y from the given one on.
func dot2(x, y, c uint32, signedX, signedY bool, from int) uint32 {
	for k := range 2 {
		half := int32(uint16(x >> (16 * k)))
		if signedX {
			half = int32(int16(half))
		}
		c += uint32(half * byteOf(y, from+k, signedY))
	}
	return c
}

// extractField is bfe: length bits from pos on of a value of n bits, extended by the sign bit of the field.
func extractField(x uint64, pos, length uint32, n uint32, signed bool) uint64 {
	pos, length = pos&0xff, length&0xff
	var extension uint64
	if signed && length > 0 {
		top := min(pos+length-1, n-1)
		extension = -(x >> top & 1)
	}
	if length == 0 {
		return 0
	}
	if n < 64 {
		x &= 1<<n - 1
	}
	width := uint32(0)
	if pos < n {
		width = min(length, n-pos)
	}
	if width == 64 {
		return x
	}
	if width == 0 {
		return extension
	}
	return x>>pos&(1<<width-1) | extension<<width
}

// insertField32 is bfi.b32: y with length bits from pos on replaced by those of x.
func insertField32(x, y, pos, length uint32) uint32 {
	pos, length = pos&0xff, length&0xff
	mask := uint32((uint64(1)<<min(length, 32) - 1) << pos)
	return y&^mask | x<<pos&mask
}

func insertField64(x, y uint64, pos, length uint32) uint64 {
	pos, length = pos&0xff, length&0xff
	mask := ^uint64(0)
	if length < 64 {
		mask = 1<<length - 1
	}
	mask <<= pos
	return y&^mask | x<<pos&mask
}

// findTop is bfind: the position of the most significant one, all ones where there is none.
func findTop(x uint64) uint32 { return uint32(bits.Len64(x)) - 1 }

// topShift is bfind.shiftamt: the shift that brings the most significant one to the top.
func topShift(x uint64, n uint32) uint32 {
	if x == 0 {
		return math.MaxUint32
	}
	return n - uint32(bits.Len64(x))
}

// extendSign is szext: the lower n bits of x, extended.
func extendSign(x, n uint32, signed bool) uint32 {
	if n >= 32 {
		return x
	}
	if n == 0 {
		return 0
	}
	if signed {
		return uint32(int32(x<<(32-n)) >> (32 - n))
	}
	return x & (1<<n - 1)
}

// bitMask is bmsk: n ones from position from on.
func bitMask(from, n uint32) uint32 { return uint32((uint64(1)<<n - 1) << from) }

// permute is prmt: each nibble of the selector picks a byte of {y, x}, or with its top bit set the byte's sign.
func permute(x, y, selector uint32) uint32 {
	v := uint64(y)<<32 | uint64(x)
	var r uint32
	for k := range 4 {
		s := selector >> (4 * k) & 15
		b := uint8(v >> (8 * (s & 7)))
		if s&8 != 0 {
			b = uint8(int8(b) >> 7)
		}
		r |= uint32(b) << (8 * k)
	}
	return r
}

// The modes of prmt (PTX ISA, table 32): which byte stands where is a function of the selector's lower two bits.
func permuteF4e(x, y, s uint32) uint32 { s &= 3; return permute(x, y, 0x3210+0x1111*s) }
func permuteB4e(x, y, s uint32) uint32 {
	return permute(x, y, [4]uint32{0x5670, 0x6701, 0x7012, 0x0123}[s&3])
}
func permuteRc8(x, y, s uint32) uint32 { return permute(x, y, 0x1111*(s&3)) }
func permuteEcl(x, y, s uint32) uint32 {
	return permute(x, y, [4]uint32{0x3210, 0x3211, 0x3222, 0x3333}[s&3])
}
func permuteEcr(x, y, s uint32) uint32 {
	return permute(x, y, [4]uint32{0x0000, 0x1110, 0x2210, 0x3210}[s&3])
}
func permuteRc16(x, y, s uint32) uint32 {
	return permute(x, y, [4]uint32{0x1010, 0x3232, 0x1010, 0x3232}[s&3])
}

// clampSigned converts an integral value to a signed integer of n bits, clamped; NaN gives 0.
func clampSigned(x float64, n int) int64 {
	limit := float64(uint64(1) << (n - 1))
	switch {
	case x != x:
		return 0
	case x >= limit:
		return 1<<(n-1) - 1
	case x < -limit:
		return -1 << (n - 1)
	}
	return int64(x)
}

// clampUnsigned is the counterpart for unsigned integers.
func clampUnsigned(x float64, n int) uint64 {
	switch {
	case !(x > 0):
		return 0
	case x >= 2*float64(uint64(1)<<(n-1)):
		return ^uint64(0) >> (64 - n)
	case x >= 1<<63:
		return uint64(x-1<<63) + 1<<63
	}
	return uint64(x)
}

// findNthSet is fns: the position of the n-th set bit of mask, counted from position base, upwards for n > 0 and
// downwards for n < 0; for n = 0 base itself where that bit is set. All ones where there is none.
func findNthSet(mask, base uint32, n int32) uint32 {
	const none = ^uint32(0)
	if n == 0 {
		if base < 32 && mask>>base&1 != 0 {
			return base
		}
		return none
	}
	step := int64(1)
	left := int64(n)
	if n < 0 {
		step, left = -1, -left
	}
	for at := int64(base); at >= 0 && at < 32; at += step {
		if mask>>uint(at)&1 != 0 {
			if left--; left == 0 {
				return uint32(at)
			}
		}
	}
	return none
}
