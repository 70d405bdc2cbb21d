package quant

import "math"

// The K-quants: super-blocks of 256 values in sub-blocks of 16 or 32, whose scales (and minima) are themselves codes of an
// f16 scale of the super-block.

// nearest rounds to the nearest integer, ties to even; what is too large for 32 bits becomes the nearest that is not, and NaN 0,
// as in PTX (cvt.rni.s32.f32) and unlike Go, which leaves it to the machine.
func nearest(v float32) int {
	if v != v {
		return 0
	}
	return int(max(math.MinInt32, min(math.RoundToEven(float64(v)), math.MaxInt32)))
}

func clamp(v, low, high int) int { return max(low, min(v, high)) }

// subScale reads the j-th of eight 6-bit scales and minima, packed in 12 bytes: the first four in the low six bits of
// bytes 0–3 and 4–7, the others in nibbles of bytes 8–11 and the two high bits of bytes 0–7.
func subScale(b []byte, j int) (scale, minimum byte) {
	if j < 4 {
		return b[j] & 63, b[j+4] & 63
	}
	return b[j+4]&15 | b[j-4]>>6<<4, b[j+4]>>4 | b[j]>>6<<4
}

func putSubScale(b []byte, j int, scale, minimum byte) {
	if j < 4 {
		b[j] |= scale
		b[j+4] |= minimum
		return
	}
	b[j+4] |= scale&15 | minimum&15<<4
	b[j-4] |= scale >> 4 << 6
	b[j] |= minimum >> 4 << 6
}

// boundK bounds the error of Q4_K and Q5_K: a step of the widest sub-block, since the search weighs values and may leave
// half a step, and half a code of its 6-bit scale and minimum.
func boundK(levels float64) func([]float32) float64 {
	return func(x []float32) float64 {
		widest, deepest := 0.0, 0.0
		for i := 0; i < len(x); i += 32 {
			low, high := span(x[i : i+32])
			low = min(low, 0)
			widest = math.Max(widest, float64(high)-float64(low))
			deepest = math.Max(deepest, -float64(low))
		}
		return widest/levels + (widest+deepest)/63
	}
}

// fitRange finds scale and minimum of codes 0…levels for the values of a sub-block, x ≈ scale·code − minimum with
// minimum ≥ 0, so that the squared error weighted by w is least: for each of several first scales the codes are rounded and
// the best line through them is solved for.
func fitRange(x, w []float32, levels int, from, step float32, steps int, codes []byte) (scale, minimum float32) {
	low, high := span(x)
	low = min(low, 0)
	if low == high {
		clear(codes)
		return 0, -low
	}
	var sumW, sumX float32
	for i, v := range x {
		sumW += w[i]
		sumX += float32(w[i] * v)
	}
	trial := make([]byte, len(x))
	round := func(inverse float32, into []byte) {
		for i, v := range x {
			into[i] = byte(clamp(nearest(float32(inverse*(v-low))), 0, levels))
		}
	}
	badness := func(scale, low float32, of []byte) float32 {
		var sum float32
		for i, v := range x {
			d := float32(scale*float32(of[i])) + low - v
			sum += float32(w[i] * float32(d*d))
		}
		return sum
	}
	inverse := float32(levels) / (high - low)
	scale = 1 / inverse
	round(inverse, codes)
	best := badness(scale, low, codes)
	for k := range steps + 1 {
		round((from+float32(step*float32(k))+float32(levels))/(high-low), trial)
		var sumL, sumL2, sumXL float32
		for i, c := range trial {
			l := float32(c)
			sumL += float32(w[i] * l)
			sumL2 += float32(float32(w[i]*l) * l)
			sumXL += float32(float32(w[i]*l) * x[i])
		}
		det := float32(sumW*sumL2) - float32(sumL*sumL)
		if det <= 0 {
			continue
		}
		s, m := (float32(sumW*sumXL)-float32(sumX*sumL))/det, (float32(sumL2*sumX)-float32(sumL*sumXL))/det
		if m > 0 {
			s, m = sumXL/sumL2, 0
		}
		if bad := badness(s, m, trial); bad < best {
			copy(codes, trial)
			best, scale, low = bad, s, m // the next tries start from this minimum
		}
	}
	return scale, -low
}

// encodeWithMinima makes the scales of Q4_K and Q5_K, 16 bytes of dst, and the codes.
func encodeWithMinima(dst []byte, x []float32, levels int, from float32, steps int) (codes [256]byte) {
	var scales, minima [8]float32
	var w [32]float32
	var mostScale, mostMinimum float32
	for j := range 8 {
		sub := x[32*j : 32*j+32]
		var squares float32
		for _, v := range sub {
			squares += float32(v * v)
		}
		average := float32(math.Sqrt(float64(squares / 32)))
		for i, v := range sub {
			w[i] = average + abs32(v)
		}
		scales[j], minima[j] = fitRange(sub, w[:], levels, from, 0.1, steps, codes[32*j:32*j+32])
		mostScale, mostMinimum = max(mostScale, scales[j]), max(mostMinimum, minima[j])
	}
	var perScale, perMinimum float32
	if mostScale > 0 {
		perScale = 63 / mostScale
	}
	if mostMinimum > 0 {
		perMinimum = 63 / mostMinimum
	}
	putHalf(dst, mostScale/63)
	putHalf(dst[2:], mostMinimum/63)
	packed := dst[4:16]
	clear(packed)
	for j := range 8 {
		putSubScale(packed, j, byte(min(nearest(float32(perScale*scales[j])), 63)), byte(min(nearest(float32(perMinimum*minima[j])), 63)))
	}
	for j := range 8 {
		s, m := subScale(packed, j)
		d, low := half(dst)*float32(s), half(dst[2:])*float32(m)
		for i := 32 * j; d != 0 && i < 32*j+32; i++ {
			codes[i] = byte(clamp(nearest((x[i]+low)/d), 0, levels))
		}
	}
	return codes
}

func encodeQ4_K(dst []byte, x []float32) {
	codes := encodeWithMinima(dst, x, 15, -1, 20)
	for j := range 128 {
		at := j/32*64 + j%32
		dst[16+j] = codes[at] | codes[at+32]<<4
	}
}

func encodeQ5_K(dst []byte, x []float32) {
	codes := encodeWithMinima(dst, x, 31, -0.5, 15)
	clear(dst[16:48])
	for j := range 128 {
		at := j/32*64 + j%32
		low, high := codes[at], codes[at+32]
		dst[16+j%32] |= low>>4<<(j/32*2) | high>>4<<(j/32*2+1)
		dst[48+j] = low&15 | high&15<<4
	}
}

func decodeQ4_K(dst []float32, b []byte) {
	decodeWithMinima(dst, b, func(i int) byte { return b[16+i/64*32+i%32] >> (i / 32 % 2 * 4) & 15 })
}

func decodeQ5_K(dst []float32, b []byte) {
	decodeWithMinima(dst, b, func(i int) byte {
		return b[48+i/64*32+i%32]>>(i/32%2*4)&15 | b[16+i%32]>>(i/32)&1<<4
	})
}

func decodeWithMinima(dst []float32, b []byte, code func(int) byte) {
	d, least := half(b), half(b[2:])
	for j := range 8 {
		s, m := subScale(b[4:16], j)
		scale, low := d*float32(s), least*float32(m)
		for i := 32 * j; i < 32*j+32; i++ {
			dst[i] = float32(scale*float32(code(i))) - low
		}
	}
}

// nearlyZero is the largest magnitude that counts as nothing to scale.
const nearlyZero = 1e-15

// fitSymmetric finds the scale of codes −levels…levels−1 for a sub-block, x ≈ scale·code, with the squared error weighted by
// x² least, over several first scales.
func fitSymmetric(x []float32, levels int, codes []int8) float32 {
	top := largest(x)
	if abs32(top) < nearlyZero {
		clear(codes)
		return 0
	}
	var scale, best float32
	trial := make([]int8, len(x))
	try := func(inverse float32) (sumXL, sumL2 float32) {
		for i, v := range x {
			c := clamp(nearest(float32(inverse*v)), -levels, levels-1)
			trial[i] = int8(c)
			w, l := float32(v*v), float32(c)
			sumXL += float32(float32(w*v) * l)
			sumL2 += float32(float32(w*l) * l)
		}
		return sumXL, sumL2
	}
	sumXL, sumL2 := try(-float32(levels) / top)
	copy(codes, trial)
	if sumL2 != 0 {
		scale = sumXL / sumL2
	}
	best = scale * sumXL
	for k := -9; k <= 9; k++ {
		if k == 0 {
			continue
		}
		sumXL, sumL2 = try(-(float32(levels) + float32(0.1*float32(k))) / top)
		if sumL2 > 0 && float32(sumXL*sumXL) > float32(best*sumL2) {
			copy(codes, trial)
			scale = sumXL / sumL2
			best = scale * sumXL
		}
	}
	return scale
}

// boundQ6_K: a step of the widest sub-block, and half a code of its 8-bit scale.
func boundQ6_K(x []float32) float64 {
	a := float64(abs32(largest(x)))
	return a/32 + a/128
}

func encodeQ6_K(dst []byte, x []float32) {
	var codes [256]int8
	var scales [16]float32
	for j := range scales {
		scales[j] = fitSymmetric(x[16*j:16*j+16], 32, codes[16*j:16*j+16])
	}
	top := largest(scales[:])
	clear(dst)
	if abs32(top) < nearlyZero {
		return
	}
	perScale := -128 / top
	putHalf(dst[208:], 1/perScale)
	for j, s := range scales {
		code := int8(min(nearest(float32(perScale*s)), 127))
		dst[192+j] = byte(code)
		d := half(dst[208:]) * float32(code)
		for i := 16 * j; d != 0 && i < 16*j+16; i++ {
			codes[i] = int8(clamp(nearest(x[i]/d), -32, 31))
		}
	}
	for i, c := range codes {
		q := byte(c + 32)
		n, l := i/128, i%128
		dst[64*n+l%64] |= q & 15 << (l / 64 * 4)
		dst[128+32*n+l%32] |= q >> 4 << (l / 32 * 2)
	}
}

func decodeQ6_K(dst []float32, b []byte) {
	d := half(b[208:])
	for i := range dst {
		n, l := i/128, i%128
		q := b[64*n+l%64]>>(l/64*4)&15 | b[128+32*n+l%32]>>(l/32*2)&3<<4
		dst[i] = float32(d*float32(int8(b[192+i/16]))) * float32(int(q)-32)
	}
}

func decodeQ2_K(dst []float32, b []byte) {
	d, least := half(b[80:]), half(b[82:])
	for i := range dst {
		s := b[i/16]
		q := b[16+i/128*32+i%32] >> (i % 128 / 32 * 2) & 3
		dst[i] = float32(float32(d*float32(s&15))*float32(q)) - float32(least*float32(s>>4))
	}
}

// decodeQ3_K: the third bit of a code stands in the first 32 bytes, clear where 4 is to be taken off.
func decodeQ3_K(dst []float32, b []byte) {
	d := half(b[108:])
	scales := b[96:108]
	for i := range dst {
		j := i / 16
		s := int(scales[j%8]>>(j/8*4)&15|scales[8+j%4]>>(j/4*2)&3<<4) - 32
		q := int(b[32+i/128*32+i%32] >> (i % 128 / 32 * 2) & 3)
		if b[i%32]>>(i/32)&1 == 0 {
			q -= 4
		}
		dst[i] = float32(d*float32(s)) * float32(q)
	}
}
