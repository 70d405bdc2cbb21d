package quant

import (
	"encoding/binary"
	"math"
)

// The formats with blocks of 32 values: a scale in f16, for some a minimum, and codes of 4, 5 or 8 bits. With 4 bits byte j
// holds value j in its low nibble and value j+16 in its high one; the fifth bits stand apart, in 32 bits by value.

const f16Rounding = 0x1p-11 // relative error of a normal f16

func putHalf(b []byte, v float32) { binary.LittleEndian.PutUint16(b, F16FromFloat32(v)) }
func half(b []byte) float32       { return F16ToFloat32(binary.LittleEndian.Uint16(b)) }

// inverse is 1/d, 0 for 0.
func inverse(d float32) float32 {
	if d == 0 {
		return 0
	}
	return 1 / d
}

// largest gives the first value with the largest magnitude, signed.
func largest(x []float32) float32 {
	var most, signed float32
	for _, v := range x {
		if a := abs32(v); a > most {
			most, signed = a, v
		}
	}
	return signed
}

func abs32(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

func span(x []float32) (low, high float32) {
	low, high = x[0], x[0]
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// truncated is v without its fraction, at most `most`, and rounded the nearest integer, ties away from zero; both are 0 for what is
// no number, which a scale too small to have an inverse makes.
func truncated(v float32, most int) byte {
	if v-v != 0 {
		return 0
	}
	return byte(min(int(v), most))
}

func rounded(v float32) int8 {
	if v-v != 0 {
		return 0
	}
	return int8(math.Round(float64(v)))
}

func boundQ8_0(x []float32) float64 {
	a := float64(abs32(largest(x)))
	return a/127/2*(1+2*f16Rounding) + a*f16Rounding
}

// encodeQ8_0: scale = largest/127, codes rounded half away from zero.
func encodeQ8_0(dst []byte, x []float32) {
	d := abs32(largest(x)) / 127
	id := inverse(d)
	putHalf(dst, d)
	for i, v := range x {
		dst[2+i] = byte(rounded(v * id))
	}
}

func decodeQ8_0(dst []float32, b []byte) {
	d := half(b)
	for i := range dst {
		dst[i] = float32(int8(b[2+i])) * d
	}
}

// encodeQ8_1: as Q8_0, and the sum of the codes times the scale, which a product with codes that have a minimum needs.
func encodeQ8_1(dst []byte, x []float32) {
	d := abs32(largest(x)) / 127
	id := inverse(d)
	putHalf(dst, d)
	sum := 0
	for i, v := range x {
		code := rounded(v * id)
		dst[4+i] = byte(code)
		sum += int(code)
	}
	putHalf(dst[2:], float32(sum)*d)
}

func decodeQ8_1(dst []float32, b []byte) { decodeQ8_0(dst, append([]byte{b[0], b[1]}, b[4:]...)) }

// boundSymmetric bounds Q4_0 and Q5_0: the value opposite to the largest may fall off the scale's shorter side by up to a
// whole step.
func boundSymmetric(levels float64) func([]float32) float64 {
	return func(x []float32) float64 {
		a := float64(abs32(largest(x)))
		return a/levels*(1+f16Rounding) + a*f16Rounding
	}
}

// encodeSymmetric gives the codes of Q4_0 and Q5_0: the largest value, with its sign, becomes code 0.
func encodeSymmetric(dst []byte, x []float32, levels int) (codes [32]byte) {
	d := largest(x) / float32(-levels)
	id := inverse(d)
	putHalf(dst, d)
	for i, v := range x {
		codes[i] = truncated(float32(v*id)+(float32(levels)+0.5), 2*levels-1)
	}
	return codes
}

func boundRange(levels float64) func([]float32) float64 {
	return func(x []float32) float64 {
		low, high := span(x)
		reach := float64(high) - float64(low)
		return reach/levels/2*(1+2*f16Rounding) + reach*f16Rounding + math.Abs(float64(low))*f16Rounding
	}
}

// encodeRange gives the codes of Q4_1 and Q5_1: the smallest value is code 0, the largest the last.
func encodeRange(dst []byte, x []float32, levels int) (codes [32]byte) {
	low, high := span(x)
	d := (high - low) / float32(levels)
	id := inverse(d)
	putHalf(dst, d)
	putHalf(dst[2:], low)
	for i, v := range x {
		codes[i] = truncated(float32((v-low)*id)+0.5, levels)
	}
	return codes
}

// putNibbles stores the low four bits of 32 codes.
func putNibbles(dst []byte, codes *[32]byte) {
	for j := range 16 {
		dst[j] = codes[j]&15 | codes[j+16]&15<<4
	}
}

// nibbles reads 32 codes of four bits, and where high is set their fifth bits from it.
func nibbles(b []byte, high uint32) (codes [32]byte) {
	for j := range 16 {
		codes[j] = b[j]&15 | byte(high>>j&1<<4)
		codes[j+16] = b[j]>>4 | byte(high>>(j+16)&1<<4)
	}
	return codes
}

// putFifth stores the fifth bit of each code.
func putFifth(dst []byte, codes *[32]byte) {
	var high uint32
	for i, c := range codes {
		high |= uint32(c>>4&1) << i
	}
	binary.LittleEndian.PutUint32(dst, high)
}

func encodeQ4_0(dst []byte, x []float32) {
	codes := encodeSymmetric(dst, x, 8)
	putNibbles(dst[2:], &codes)
}

func encodeQ4_1(dst []byte, x []float32) {
	codes := encodeRange(dst, x, 15)
	putNibbles(dst[4:], &codes)
}

func encodeQ5_0(dst []byte, x []float32) {
	codes := encodeSymmetric(dst, x, 16)
	putFifth(dst[2:], &codes)
	putNibbles(dst[6:], &codes)
}

func encodeQ5_1(dst []byte, x []float32) {
	codes := encodeRange(dst, x, 31)
	putFifth(dst[4:], &codes)
	putNibbles(dst[8:], &codes)
}

func decodeQ4_0(dst []float32, b []byte) {
	scaled(dst, nibbles(b[2:], 0), half(b), -8)
}

func decodeQ5_0(dst []float32, b []byte) {
	scaled(dst, nibbles(b[6:], binary.LittleEndian.Uint32(b[2:])), half(b), -16)
}

func decodeQ4_1(dst []float32, b []byte) {
	shifted(dst, nibbles(b[4:], 0), half(b), half(b[2:]))
}

func decodeQ5_1(dst []float32, b []byte) {
	shifted(dst, nibbles(b[8:], binary.LittleEndian.Uint32(b[4:])), half(b), half(b[2:]))
}

// scaled is (code + offset)·d.
func scaled(dst []float32, codes [32]byte, d float32, offset int) {
	for i, c := range codes {
		dst[i] = float32(int(c)+offset) * d
	}
}

// shifted is code·d + m, rounded twice.
func shifted(dst []float32, codes [32]byte, d, m float32) {
	for i, c := range codes {
		dst[i] = float32(float32(c)*d) + m
	}
}

// e2m1Values are the magnitudes of e2m1 (OCP Microscaling Formats 1.0, 5.3.3).
var e2m1Values = [8]float32{0, 0.5, 1, 1.5, 2, 3, 4, 6}

// boundMXFP4: the largest value lies in [4, 8) times the scale and at most 6 has a code, so it may lose a quarter of
// itself; the widest step below is 2 scales.
func boundMXFP4(x []float32) float64 { return float64(abs32(largest(x))) / 4 }

// encodeMXFP4: the scale is the power of two at or below the largest value, over 4 (OCP MX 1.0, 6.3); a value takes the
// nearest code, the lower-numbered of two equally near.
func encodeMXFP4(dst []byte, x []float32) {
	a := abs32(largest(x))
	dst[0] = 0
	if a > 0 {
		_, e := math.Frexp(float64(a)) // a = f·2^e, f in [½, 1)
		dst[0] = byte(max(e-1-2+127, 0))
	}
	d := e8m0(dst[0])
	var codes [32]byte
	for i, v := range x {
		least := float32(math.Inf(1))
		for c := range byte(16) {
			if err := abs32(e2m1(c)*d - v); err < least {
				least, codes[i] = err, c
			}
		}
	}
	putNibbles(dst[1:], &codes)
}

func decodeMXFP4(dst []float32, b []byte) {
	d := e8m0(b[0])
	for i, c := range nibbles(b[1:], 0) {
		dst[i] = e2m1(c) * d
	}
}

func e2m1(code byte) float32 {
	v := e2m1Values[code&7]
	if code&8 != 0 {
		return -v
	}
	return v
}

// e8m0 is a power of two, 2^(code-127), of an MX block. GGUF knows no NaN here: code 255 is 2^128, infinite in f32 but for
// halves of it.
func e8m0(code byte) float32 {
	if code == 0 {
		return math.Float32frombits(0x00400000) // 2⁻¹²⁷
	}
	return math.Float32frombits(uint32(code) << 23)
}
