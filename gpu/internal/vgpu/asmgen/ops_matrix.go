package asmgen

import "fmt"

// matrix are mma.sync.m16n8k16 of f16 and bf16 with f32 sums, and ldmatrix.
func (s *set) matrix() {
	s.product("opMatrixHalf16", false)
	s.product("opMatrixBfloat16", true)
	for _, wide := range []bool{false, true} {
		for n := 1; n <= 4; n *= 2 {
			s.matrixLoad(space{wide: wide}, n, false)
			s.matrixLoad(space{wide: wide}, n, true)
		}
	}
}

// big is the context's large scratch memory.
func big(offset int) string { return fmt.Sprintf("%d(R11)", contextBig+offset) }

// product is D = A·B + C. A quad of lanes, which holds a row of A, C and D, is a 128-bit lane. B is turned so that a
// vector holds what a quad needs of one row of B: columns 0, 2, 4, 6 in its lower half and 1, 3, 5, 7 in its upper one.
// Sums are taken in the order of k, fused: the products are exact.
func (s *set) product(twin string, bf bool) {
	s.variant(twin, 0, func(b *block) {
		b.i("MOVQ %d(R9), DI", instExt)
		b.i("MOVQ 24(DI), R12") // sources: A 0…3, B 4, 5, C 6…9
		b.i("MOVQ (DI), R13")   // D
		if bf {
			b.fill(15, 0xffff0000)
		} else {
			b.i("VMOVDQU splitHalves<>(SB), Y15")
		}
		// halves converts eight lanes to their lower and upper elements.
		halves := func(k, low, high int) {
			b.i("VMOVDQU %s, Y%d", at("BX", k), high)
			if bf {
				b.i("VPSLLD $16, Y%d, Y%d", high, low)
				b.i("VPAND Y15, Y%d, Y%d", high, high)
				return
			}
			b.i("VPSHUFB Y15, Y%d, Y%d", high, high)
			b.i("VPERMQ $0xD8, Y%d, Y%d", high, high)
			b.i("VCVTPH2PS X%d, Y%d", high, low)
			b.i("VEXTRACTI128 $1, Y%d, X%d", high, high)
			b.i("VCVTPH2PS X%d, Y%d", high, high)
		}
		row := func(h, t, part int) int { return 32 * ((h*4+t)*2 + part) }
		for h := range 2 {
			b.i("MOVL %d(R12), BX", 4*(4+h))
			for k := range 4 {
				halves(k, k, 4+k)
			}
			for part := range 2 {
				b.transposeInPlace(4 * part)
				for t := range 4 {
					b.i("VMOVDQU Y%d, %s", 4*part+t, big(row(h, t, part)))
				}
			}
		}
		for group := range 2 { // rows 0…7, 8…15
			for e := range 2 {
				b.i("MOVL %d(R12), BX", 4*(6+2*group+e))
				b.load(4*e, "BX", 4)
			}
			for h := range 2 {
				b.i("MOVL %d(R12), BX", 4*(2*h+group))
				const converted = 1024 // of A, where conversion takes more than a shift
				if !bf {
					for k := range 4 {
						halves(k, 12, 13)
						b.i("VMOVDQU Y12, %s", big(converted+64*k))
						b.i("VMOVDQU Y13, %s", big(converted+64*k+32))
					}
				}
				for t := range 4 {
					for part := range 2 {
						b.i("VBROADCASTF128 %s, Y%d", big(row(h, t, part)), 8+2*part)
						b.i("VBROADCASTF128 %s, Y%d", big(row(h, t, part)+16), 9+2*part)
					}
					for k := range 4 {
						if bf {
							b.i("VPSHUFD $0x%02x, %s, Y14", t*0x55, at("BX", k))
							b.i("VPSLLD $16, Y14, Y13")
							b.i("VPAND Y15, Y14, Y14")
						} else {
							b.i("VPERMILPS $0x%02x, %s, Y13", t*0x55, big(converted+64*k))
							b.i("VPERMILPS $0x%02x, %s, Y14", t*0x55, big(converted+64*k+32))
						}
						b.i("VFMADD231PS Y8, Y13, Y%d", k)
						b.i("VFMADD231PS Y9, Y13, Y%d", 4+k)
						b.i("VFMADD231PS Y10, Y14, Y%d", k)
						b.i("VFMADD231PS Y11, Y14, Y%d", 4+k)
					}
				}
			}
			b.quietAll(fmt.Sprint(group))
			if group == 0 { // D may lie where A and C do
				for k := range 8 {
					b.i("VMOVDQU Y%d, %s", k, scratch(32*k))
				}
				continue
			}
			for e := range 2 {
				b.i("MOVL %d(R13), BX", 4*(2+e))
				b.storeTo(4*e, "BX", 4)
			}
			for e := range 2 {
				b.i("MOVL %d(R13), BX", 4*e)
				for k := range 4 {
					b.i("VMOVDQU %s, Y8", scratch(128*e+32*k))
					b.i("VMOVDQU Y8, %s", at("BX", k))
				}
			}
		}
		b.next()
	})
}

// transposeInPlace turns 4×4 words in each half of four registers; it uses Y8…11.
func (b *block) transposeInPlace(r int) {
	b.i("VPUNPCKLDQ Y%d, Y%d, Y8", r+1, r)
	b.i("VPUNPCKHDQ Y%d, Y%d, Y9", r+1, r)
	b.i("VPUNPCKLDQ Y%d, Y%d, Y10", r+3, r+2)
	b.i("VPUNPCKHDQ Y%d, Y%d, Y11", r+3, r+2)
	b.i("VPUNPCKLQDQ Y10, Y8, Y%d", r)
	b.i("VPUNPCKHQDQ Y10, Y8, Y%d", r+1)
	b.i("VPUNPCKLQDQ Y11, Y9, Y%d", r+2)
	b.i("VPUNPCKHQDQ Y11, Y9, Y%d", r+3)
}

// quietAll makes NaN of Y0…7 canonical; it uses Y8…11.
func (b *block) quietAll(label string) {
	b.i("VCMPPS $3, Y1, Y0, Y8")
	for k := 2; k < 8; k += 2 {
		b.i("VCMPPS $3, Y%d, Y%d, Y9", k, k+1)
		b.i("VORPS Y9, Y8, Y8")
	}
	b.i("VMOVMSKPS Y8, AX")
	b.i("TESTL AX, AX")
	b.i("JEQ numbers%s", label)
	b.fill(9, canonicalNaN)
	for k := range 8 {
		b.i("VCMPPS $3, Y%d, Y%d, Y8", k, k)
		b.i("VBLENDVPS Y8, Y9, Y%d, Y%d", k, k)
	}
	b.label("numbers" + label)
}

// matrixLoad is ldmatrix: lane 8q+r gives the address of row r of matrix q.
func (s *set) matrixLoad(sp space, n int, turned bool) {
	variant := n
	if turned {
		variant += perSize
	}
	if sp.wide {
		variant |= wideAddress
	}
	s.variant("opLoadMatrix", variant, func(b *block) {
		sp.pattern(b, 16, false)
		b.registers(n)
		for q := range n {
			target := targetList[q]
			for r := range 8 {
				sp.lane(b, 8*q+r)
				b.i("VMOVDQU (AX)(CX*1), X%d", r)
				if !turned {
					b.i("VMOVDQU X%d, %d(R8)(%s*1)", r, 16*r, target)
				}
			}
			if !turned {
				continue
			}
			// Lane 4g+t receives element g of rows 2t and 2t+1.
			for t := range 4 {
				b.i("VPUNPCKLWD X%d, X%d, X%d", 2*t+1, 2*t, 8+t)
				b.i("VPUNPCKHWD X%d, X%d, X%d", 2*t+1, 2*t, 12+t)
			}
			for half, from := range []int{8, 12} {
				b.i("VPUNPCKLDQ X%d, X%d, X0", from+1, from)
				b.i("VPUNPCKHDQ X%d, X%d, X1", from+1, from)
				b.i("VPUNPCKLDQ X%d, X%d, X2", from+3, from+2)
				b.i("VPUNPCKHDQ X%d, X%d, X3", from+3, from+2)
				b.i("VPUNPCKLQDQ X2, X0, X4")
				b.i("VPUNPCKHQDQ X2, X0, X5")
				b.i("VPUNPCKLQDQ X3, X1, X6")
				b.i("VPUNPCKHQDQ X3, X1, X7")
				for g := range 4 {
					b.i("VMOVDQU X%d, %d(R8)(%s*1)", 4+g, 64*half+16*g, target)
				}
			}
		}
		b.next()
		b.label("bail")
		b.leave()
	})
}
