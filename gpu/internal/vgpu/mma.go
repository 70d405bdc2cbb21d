package vgpu

import (
	"math"
	"math/bits"
)

// How an mma adds: products of f16, bf16, tf32 and the 8-bit types are exact in f32. They are added to the element of C
// one after another in the order of k, each sum rounded to the nearest f32; a D of f16 is rounded once, at the end.
// Tensor cores add several products at once and cut off low bits, so results may differ from theirs in the last bits; sums
// that are exact in f32 are equal. Sums of f64 are chains of fma in the order of k. Integer sums are exact, and wrap or
// with .satfinite stay at the limits when C is added.

// tile holds the operands of one mma as matrices, row after row.
type tile[T float32 | float64 | int32] struct {
	a [16 * 64]T // the stored elements of A
	b [128 * 8]T
	c [16 * 8]T
}

// placeA gives row and column of element e of register reg of lane l in the stored A, n elements a register (PTX ISA
// 9.7.14.5: lanes of a group of four hold n neighbours each; of m16 every second register lies eight rows down).
func (s *mmaShape) placeA(l, reg, e, n int) (row, column int) {
	row = l >> 2
	if s.m == 16 {
		row += 8 * (reg & 1)
		reg >>= 1
	}
	return row, (l&3)*n + e + 4*n*reg
}

// placeB gives row (k) and column (n) of an element in B.
func (s *mmaShape) placeB(l, reg, e, n int) (k, column int) {
	return (l&3)*n + e + 4*n*reg, l >> 2
}

// placeC gives row and column of register reg of lane l in C and D, of f16 of its lower half.
func (s *mmaShape) placeC(t string, l, reg int) (row, column int) {
	if t == "f16" {
		return l>>2 + 8*reg, 2 * (l & 3)
	}
	return l>>2 + 8*(reg>>1), 2*(l&3) + reg&1
}

// unpack reads A and B from 32-bit registers.
func unpack[T float32 | int32](w *warp, s *mmaShape, r []uint32, t *tile[T], fromA, fromB func(uint32) T) {
	na, nb, _, _ := s.regs()
	width, n := s.a.bits, max(32/s.a.bits, 1)
	for reg := range na {
		for l, v := range w.u32(r[reg]) {
			for e := range n {
				row, column := s.placeA(l, reg, e, n)
				t.a[(row*s.kept+column)&1023] = fromA(v >> (width * e))
			}
		}
	}
	for reg := range nb {
		for l, v := range w.u32(r[na+reg]) {
			for e := range n {
				k, column := s.placeB(l, reg, e, n)
				t.b[(8*k+column)&1023] = fromB(v >> (width * e))
			}
		}
	}
}

// multiply adds the product of A and B to C. where gives for the stored elements of A the row of B that each meets; nil
// for a dense A.
func (t *tile[T]) multiply(rows, kept int, where []uint8) {
	for i := range rows {
		row := t.a[i*kept : (i+1)*kept]
		sum := t.c[8*i : 8*i+8 : 8*i+8]
		c0, c1, c2, c3, c4, c5, c6, c7 := sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7]
		for p, x := range row {
			k := p
			if where != nil {
				k = int(where[i*kept+p])
			}
			y := t.b[8*k : 8*k+8 : 8*k+8]
			c0 += T(x * y[0])
			c1 += T(x * y[1])
			c2 += T(x * y[2])
			c3 += T(x * y[3])
			c4 += T(x * y[4])
			c5 += T(x * y[5])
			c6 += T(x * y[6])
			c7 += T(x * y[7])
		}
		sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7] = c0, c1, c2, c3, c4, c5, c6, c7
	}
}

// opMatrixFloat is mma.sync and mma.sp of floating-point types of up to 32 bits.
func opMatrixFloat(w *warp, in *inst) {
	w.whole(in)
	s, r := in.ext.mma, in.ext.sources
	na, nb, nc, nd := s.regs()
	var t tile[float32]
	unpack(w, s, r, &t, s.a.float, s.b.float)
	for reg := range nc {
		for l, v := range w.u32(r[na+nb+reg]) {
			row, column := s.placeC(s.c, l, reg)
			if s.c == "f16" {
				t.c[8*row+column], t.c[8*row+column+1] = halfToFloat(uint16(v)), halfToFloat(uint16(v>>16))
			} else {
				t.c[8*row+column] = math.Float32frombits(v)
			}
		}
	}
	t.multiply(s.m, s.kept, w.metadata(in))
	for reg := range nd {
		d := w.u32(in.ext.regs[reg])
		for l := range d {
			row, column := s.placeC(s.d, l, reg)
			if s.d == "f16" {
				d[l] = uint32(floatToHalf(t.c[8*row+column])) | uint32(floatToHalf(t.c[8*row+column+1]))<<16
			} else {
				d[l] = math.Float32bits(quiet(t.c[8*row+column]))
			}
		}
	}
}

// opMatrixInteger is mma.sync and mma.sp of s8, u8, s4 and u4 with s32 sums.
func opMatrixInteger(w *warp, in *inst) {
	w.whole(in)
	s, r := in.ext.mma, in.ext.sources
	na, nb, nc, _ := s.regs()
	var t tile[int32]
	unpack(w, s, r, &t, s.a.integer(), s.b.integer())
	t.multiply(s.m, s.kept, w.metadata(in))
	for reg := range nc {
		c := *w.s32(r[na+nb+reg])
		d := w.s32(in.ext.regs[reg])
		for l := range d {
			row, column := s.placeC(s.d, l, reg)
			if sum := t.c[8*row+column]; s.sat {
				d[l] = saturate32(int64(sum) + int64(c[l]))
			} else {
				d[l] = sum + c[l]
			}
		}
	}
}

// integer gives what reads an element of s8, u8, s4 or u4 from the low end of a register.
func (e *element) integer() func(uint32) int32 {
	switch e.name {
	case "s8":
		return func(v uint32) int32 { return int32(int8(v)) }
	case "u8":
		return func(v uint32) int32 { return int32(uint8(v)) }
	case "s4":
		return func(v uint32) int32 { return int32(v<<28) >> 28 }
	}
	return func(v uint32) int32 { return int32(v & 15) }
}

// opMatrixBits is mma.sync of b1: D = C + the number of ones in the xor, or the and, of a row of A and a column of B.
func opMatrixBits(w *warp, in *inst) {
	w.whole(in)
	s, r := in.ext.mma, in.ext.sources
	na, nb, nc, _ := s.regs()
	var a [16][8]uint32 // words of 32 elements
	var b [8][8]uint32
	for reg := range na {
		for l, v := range w.u32(r[reg]) {
			row, word := s.placeA(l, reg, 0, 1)
			a[row&15][word&7] = v
		}
	}
	for reg := range nb {
		for l, v := range w.u32(r[na+reg]) {
			word, column := s.placeB(l, reg, 0, 1)
			b[column&7][word&7] = v
		}
	}
	for reg := range nc {
		c := *w.s32(r[na+nb+reg])
		d := w.s32(in.ext.regs[reg])
		for l := range d {
			row, column := s.placeC(s.d, l, reg)
			sum := c[l]
			for word := range s.k / 32 {
				v := a[row&15][word&7] ^ b[column&7][word&7]
				if s.and {
					v = a[row&15][word&7] & b[column&7][word&7]
				}
				sum += int32(bits.OnesCount32(v))
			}
			d[l] = sum
		}
	}
}

// opMatrixDouble is mma.sync of f64: each product is fused into the sum.
func opMatrixDouble(w *warp, in *inst) {
	w.whole(in)
	s, r := in.ext.mma, in.ext.sources
	na, nb, nc, _ := s.regs()
	var a [16][16]float64
	var b [16][8]float64
	for reg := range na {
		for l, v := range w.f64(r[reg]) {
			row, column := s.placeA(l, reg, 0, 1)
			a[row&15][column&15] = v
		}
	}
	for reg := range nb {
		for l, v := range w.f64(r[na+reg]) {
			k, column := s.placeB(l, reg, 0, 1)
			b[k&15][column&7] = v
		}
	}
	var result [4][32]float64
	for reg := range nc {
		for l, v := range w.f64(r[na+nb+reg]) {
			row, column := s.placeC(s.d, l, reg)
			for k := range s.k {
				v = math.FMA(a[row&15][k&15], b[k&15][column&7], v)
			}
			result[reg&3][l] = v
		}
	}
	for reg := range nc {
		*w.f64(in.ext.regs[reg]) = result[reg&3]
	}
}

// opMatrixQuadPairs is mma.sync.m8n8k4 of f16: lanes 4q … 4q+3 and 16+4q … 16+4q+3 compute the q-th of four products
// (PTX ISA 9.7.14.5.1).
func opMatrixQuadPairs(w *warp, in *inst) {
	w.whole(in)
	s, r := in.ext.mma, in.ext.sources
	_, _, nc, nd := s.regs()
	var a [4][8][4]float32
	var b [4][4][8]float32
	var c [4][8][8]float32
	for l := range warpSize {
		q, place, half := l>>2&3, l&3, l>>4
		for i := range 4 {
			x := halfToFloat(uint16(w.u32(r[i>>1])[l] >> (16 * (i & 1))))
			y := halfToFloat(uint16(w.u32(r[2+i>>1])[l] >> (16 * (i & 1))))
			if s.colA {
				a[q][i+4*half][place] = x
			} else {
				a[q][place+4*half][i] = x
			}
			if s.rowB {
				b[q][place][i+4*half] = y
			} else {
				b[q][i][place+4*half] = y
			}
		}
		for reg := range nc {
			v := w.u32(r[4+reg])[l]
			if s.c == "f16" {
				c[q][place+4*half][2*reg&7], c[q][place+4*half][2*reg&7+1] = halfToFloat(uint16(v)), halfToFloat(uint16(v>>16))
			} else {
				c[q][l&1+reg&2+4*half][reg&4+l&2+reg&1] = math.Float32frombits(v)
			}
		}
	}
	for q := range c {
		for i := range 8 {
			for k := range 4 {
				for j := range 8 {
					c[q][i][j] += float32(a[q][i][k] * b[q][k][j])
				}
			}
		}
	}
	for l := range warpSize {
		q, place, half := l>>2&3, l&3, l>>4
		for reg := range nd {
			if s.d == "f16" {
				low, high := c[q][place+4*half][2*reg&7], c[q][place+4*half][2*reg&7+1]
				w.u32(in.ext.regs[reg])[l] = uint32(floatToHalf(low)) | uint32(floatToHalf(high))<<16
			} else {
				w.f32(in.ext.regs[reg])[l] = quiet(c[q][l&1+reg&2+4*half][reg&4+l&2+reg&1])
			}
		}
	}
}
