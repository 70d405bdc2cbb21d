package asmgen

import "strings"

// two is d = instruction(a, b) on n registers, the second operand from memory.
func (s *set) two(twin, instruction string, n int) *op {
	return s.define(twin, func(b *block) {
		b.slots(2)
		b.load(0, "BX", n)
		for k := range n {
			b.i("%s %s, Y%d, Y%d", instruction, at("CX", k), k, k)
		}
		b.store(0, n)
	})
}

// extend16 loads a slot and extends the lower halves of its lanes.
func (b *block) extend16(reg int, index string, signed bool) {
	b.load(reg, index, 4)
	b.each(4, "VPSLLD $16, Y%d, Y%d", reg, reg)
	if signed {
		b.each(4, "VPSRAD $16, Y%d, Y%d", reg, reg)
	} else {
		b.each(4, "VPSRLD $16, Y%d, Y%d", reg, reg)
	}
}

// store16 stores the lower halves of four registers.
func (b *block) store16(reg int) {
	b.each(4, "VPSLLD $16, Y%d, Y%d", reg, reg)
	b.each(4, "VPSRLD $16, Y%d, Y%d", reg, reg)
	b.store(reg, 4)
}

// narrow16 is an op on 16-bit operands: body computes on Y0…3 and Y4…7 (and Y8…11), the result in Y0…3.
func (s *set) narrow16(twin string, signed bool, sources int, body func(b *block)) *op {
	return s.define(twin, func(b *block) {
		b.slots(sources)
		for k := range sources {
			b.extend16(4*k, sourceIndex[k], signed)
		}
		body(b)
		b.store16(0)
	})
}

// lanes32 is an op on 32-bit operands: body computes on Y0…3 and Y4…7 (and Y8…11), the result in Y0…3.
func (s *set) lanes32(twin string, sources int, body func(b *block)) *op {
	return s.define(twin, func(b *block) {
		b.slots(sources)
		for k := range min(sources, 3) {
			b.load(4*k, sourceIndex[k], 4)
		}
		body(b)
		b.store(0, 4)
	})
}

// slices64 is an op on 64-bit operands, 32 bytes after the other: body computes on Y0, Y1, Y2, the result in Y0.
func (s *set) slices64(twin string, sources int, body func(b *block, k int)) *op {
	return s.define(twin, func(b *block) {
		b.slots(sources)
		for k := range 8 {
			for n := range sources {
				b.i("VMOVDQU %s, Y%d", at(sourceIndex[n], k), n)
			}
			body(b, k)
			b.i("VMOVDQU Y0, %s", at("DX", k))
		}
	})
}

func (s *set) integer() {
	for _, o := range []struct{ twin, instruction string }{{"laneAddS32", "VPADDD"}, {"laneSubS32", "VPSUBD"}, {"laneMulLoS32", "VPMULLD"},
		{"laneMinS32", "VPMINSD"}, {"laneMaxS32", "VPMAXSD"}, {"laneMinU32", "VPMINUD"}, {"laneMaxU32", "VPMAXUD"},
		{"laneAndB32", "VPAND"}, {"laneOrB32", "VPOR"}, {"laneXorB32", "VPXOR"},
		{"laneShlB32", "VPSLLVD"}, {"laneShrU32", "VPSRLVD"}, {"laneShrS32", "VPSRAVD"}} {
		s.two(o.twin, o.instruction, 4)
	}
	for _, o := range []struct{ twin, instruction string }{{"laneAddS64", "VPADDQ"}, {"laneSubS64", "VPSUBQ"}, {"laneAndB64", "VPAND"}, {"laneOrB64", "VPOR"}, {"laneXorB64", "VPXOR"}} {
		s.two(o.twin, o.instruction, 8)
	}
	s.lanes32("laneMadLoS32", 2, func(b *block) {
		b.i("MOVL %d(R9), SI", instC)
		b.each(4, "VPMULLD Y%d, Y%d, Y%d", 4, 0, 0)
		for k := range 4 {
			b.i("VPADDD %s, Y%d, Y%d", at("SI", k), k, k)
		}
	})
	s.integer16()
	s.wideProducts()
	s.highProducts()
	s.integer64()
	for _, t := range []string{"U", "S"} {
		s.lanes32("laneSad"+t+"32", 3, func(b *block) {
			b.each(4, "VPMIN"+t+"D Y%d, Y%d, Y%d", 4, 0, 12)
			b.each(4, "VPMAX"+t+"D Y%d, Y%d, Y%d", 4, 0, 0)
			b.each(4, "VPSUBD Y%d, Y%d, Y%d", 12, 0, 0)
			b.each(4, "VPADDD Y%d, Y%d, Y%d", 8, 0, 0)
		})
		for _, u := range []string{"U", "S"} {
			s.dot4(t, u)
		}
	}
	s.lanes32("laneAbsS32", 1, func(b *block) { b.each(4, "VPABSD Y%d, Y%d", 0, 0) })
	s.lanes32("laneNegS32", 1, func(b *block) {
		b.fill(4, 0)
		b.each(4, "VPSUBD Y%d, Y4, Y%d", 0, 0)
	})
	for _, o := range []struct{ twin, add string }{{"laneAddSatS32", "VPADDD"}, {"laneSubSatS32", "VPSUBD"}} {
		s.lanes32(o.twin, 2, func(b *block) { // overflow: the sign of the result differs from a's, and those of a and ±b agree
			b.fill(15, 0x7fffffff)
			for k := range 4 {
				b.i("%s Y%d, Y%d, Y8", o.add, 4+k, k)
				b.i("VPXOR Y8, Y%d, Y9", k)
				b.i("VPXOR Y%d, Y%d, Y10", 4+k, k)
				if o.add == "VPADDD" {
					b.i("VPANDN Y9, Y10, Y9")
				} else {
					b.i("VPAND Y9, Y10, Y9")
				}
				b.i("VPSRAD $31, Y%d, Y10", k)
				b.i("VPXOR Y15, Y10, Y10")
				b.i("VBLENDVPS Y9, Y10, Y8, Y%d", k)
			}
		})
	}
}

func (s *set) integer16() {
	for _, o := range []struct {
		twin, instruction string
		signed            bool
	}{{"laneAddS16", "VPADDD", false}, {"laneSubS16", "VPSUBD", false}, {"laneMulLoS16", "VPMULLD", false}, {"laneMinU16", "VPMINUD", false}, {"laneMaxU16", "VPMAXUD", false},
		{"laneMinS16", "VPMINSD", true}, {"laneMaxS16", "VPMAXSD", true}, {"laneAndB16", "VPAND", false}, {"laneOrB16", "VPOR", false}, {"laneXorB16", "VPXOR", false}} {
		s.narrow16(o.twin, o.signed, 2, func(b *block) { b.each(4, o.instruction+" Y%d, Y%d, Y%d", 4, 0, 0) })
	}
	s.narrow16("laneMadLoS16", false, 3, func(b *block) {
		b.each(4, "VPMULLD Y%d, Y%d, Y%d", 4, 0, 0)
		b.each(4, "VPADDD Y%d, Y%d, Y%d", 8, 0, 0)
	})
	s.narrow16("laneAbsS16", true, 1, func(b *block) { b.each(4, "VPABSD Y%d, Y%d", 0, 0) })
	s.narrow16("laneNegS16", true, 1, func(b *block) {
		b.fill(4, 0)
		b.each(4, "VPSUBD Y%d, Y4, Y%d", 0, 0)
	})
	s.narrow16("laneNotB16", false, 1, func(b *block) {
		b.fill(4, 0xffffffff)
		b.each(4, "VPXOR Y%d, Y4, Y%d", 0, 0)
	})
	s.narrow16("laneMovB16", false, 1, func(b *block) {})
	for _, t := range []string{"U", "S"} {
		signed := t == "S"
		for _, o := range []struct {
			twin string
			mad  bool
		}{{"laneMulWide", false}, {"laneMadWide", true}} {
			s.define(o.twin+t+"16", func(b *block) {
				b.slots(3)
				b.extend16(0, "BX", signed)
				b.extend16(4, "CX", signed)
				b.each(4, "VPMULLD Y%d, Y%d, Y%d", 4, 0, 0)
				if o.mad {
					for k := range 4 {
						b.i("VPADDD %s, Y%d, Y%d", at("SI", k), k, k)
					}
				}
				b.store(0, 4)
			})
		}
		s.narrow16("laneMulHi"+t+"16", signed, 2, func(b *block) {
			b.each(4, "VPMULLD Y%d, Y%d, Y%d", 4, 0, 0)
			b.each(4, "VPSRLD $16, Y%d, Y%d", 0, 0)
		})
	}
	// The count of a 16-bit shift has 32 bits.
	for _, o := range []struct {
		twin, shift string
		signed      bool
	}{{"laneShlB16", "VPSLLVD", false}, {"laneShrU16", "VPSRLVD", false}, {"laneShrS16", "VPSRAVD", true}} {
		s.define(o.twin, func(b *block) {
			b.slots(2)
			b.extend16(0, "BX", o.signed)
			for k := range 4 {
				b.i("%s %s, Y%d, Y%d", o.shift, at("CX", k), k, k)
			}
			b.store16(0)
		})
	}
}

// wideProducts are mul.wide and mad.wide of 32 bits.
func (s *set) wideProducts() {
	for _, t := range []struct{ name, extend, multiply string }{{"U32", "VPMOVZXDQ", "VPMULUDQ"}, {"S32", "VPMOVSXDQ", "VPMULDQ"}} {
		for _, o := range []struct {
			twin string
			mad  bool
		}{{"laneMulWide", false}, {"laneMadWide", true}} {
			s.define(o.twin+t.name, func(b *block) {
				b.slots(3)
				for k := range 8 {
					b.i("%s %s, Y%d", t.extend, atHalf("BX", k), k)
				}
				for k := range 8 {
					b.i("%s %s, Y8", t.extend, atHalf("CX", k))
					b.i("%s Y8, Y%d, Y%d", t.multiply, k, k)
					if o.mad {
						b.i("VPADDQ %s, Y%d, Y%d", at("SI", k), k, k)
					}
				}
				b.store(0, 8)
			})
		}
	}
}

// highProducts are mul.hi, mad.hi of 32 bits.
func (s *set) highProducts() {
	for _, t := range []struct{ name, multiply string }{{"U32", "VPMULUDQ"}, {"S32", "VPMULDQ"}} {
		high := func(b *block) {
			for k := range 4 {
				b.i("%s Y%d, Y%d, Y12", t.multiply, 4+k, k)
				b.i("VPSRLQ $32, Y%d, Y13", k)
				b.i("VPSRLQ $32, Y%d, Y14", 4+k)
				b.i("%s Y14, Y13, Y13", t.multiply)
				b.i("VPSRLQ $32, Y12, Y12")
				b.i("VPBLENDD $0xAA, Y13, Y12, Y%d", k)
			}
		}
		s.lanes32("laneMulHi"+t.name, 2, high)
		s.lanes32("laneMadHi"+t.name, 3, func(b *block) {
			high(b)
			b.each(4, "VPADDD Y%d, Y%d, Y%d", 8, 0, 0)
		})
	}
}

// product64 is Y0 = Y0·Y1 of 64-bit lanes, by three products of 32 bits.
func (b *block) product64() {
	b.i("VPSHUFD $0xB1, Y1, Y14")
	b.i("VPMULLD Y0, Y14, Y14")
	b.i("VPSRLQ $32, Y14, Y15")
	b.i("VPADDD Y14, Y15, Y14")
	b.i("VPSLLQ $32, Y14, Y14")
	b.i("VPMULUDQ Y1, Y0, Y0")
	b.i("VPADDQ Y14, Y0, Y0")
}

func (s *set) integer64() {
	s.slices64("laneMulLoS64", 2, func(b *block, k int) { b.product64() })
	s.slices64("laneMadLoS64", 2, func(b *block, k int) {
		if k == 0 {
			b.i("MOVL %d(R9), SI", instC)
		}
		b.product64()
		b.i("VPADDQ %s, Y0, Y0", at("SI", k))
	})
	s.slices64("laneNegS64", 1, func(b *block, k int) {
		b.i("VPXOR Y4, Y4, Y4")
		b.i("VPSUBQ Y0, Y4, Y0")
	})
	s.slices64("laneAbsS64", 1, func(b *block, k int) {
		b.i("VPXOR Y4, Y4, Y4")
		b.i("VPCMPGTQ Y0, Y4, Y5")
		b.i("VPXOR Y5, Y0, Y0")
		b.i("VPSUBQ Y5, Y0, Y0")
	})
	for _, t := range []string{"U", "S"} {
		for _, m := range []string{"Min", "Max"} {
			s.slices64("lane"+m+t+"64", 2, func(b *block, k int) {
				x, y := "Y0", "Y1"
				if t == "U" {
					if k == 0 {
						b.fill64(7, 1<<63)
					}
					b.i("VPXOR Y7, Y0, Y4")
					b.i("VPXOR Y7, Y1, Y5")
					x, y = "Y4", "Y5"
				}
				b.i("VPCMPGTQ %s, %s, Y6", y, x) // x > y
				if m == "Max" {
					b.i("VBLENDVPD Y6, Y0, Y1, Y0")
				} else {
					b.i("VBLENDVPD Y6, Y1, Y0, Y0")
				}
			})
		}
	}
	for _, o := range []struct{ twin, shift string }{{"laneShlB64", "VPSLLVQ"}, {"laneShrU64", "VPSRLVQ"}, {"laneShrS64", "VPSRLVQ"}} {
		s.define(o.twin, func(b *block) {
			b.slots(2)
			for k := range 8 {
				b.i("VMOVDQU %s, Y0", at("BX", k))
				b.i("VPMOVZXDQ %s, Y1", atHalf("CX", k))
				if strings.HasSuffix(o.twin, "S64") { // there is no arithmetic shift of 64 bits
					b.i("VPXOR Y2, Y2, Y2")
					b.i("VPCMPGTQ Y0, Y2, Y2")
					b.i("VPXOR Y2, Y0, Y0")
				}
				b.i("%s Y1, Y0, Y0", o.shift)
				if strings.HasSuffix(o.twin, "S64") {
					b.i("VPXOR Y2, Y0, Y0")
				}
				b.i("VMOVDQU Y0, %s", at("DX", k))
			}
		})
	}
}

// dot4 is dp4a: the products of the even bytes and of the odd ones, extended to 16 bits, added in pairs.
func (s *set) dot4(t, u string) {
	s.lanes32("laneDp4a"+t+"32"+u+"32", 3, func(b *block) {
		split := func(sign string, from, even, odd int) {
			shift := map[string]string{"U": "VPSRLW", "S": "VPSRAW"}[sign]
			b.i("VPSLLW $8, Y%d, Y%d", from, even)
			b.i("%s $8, Y%d, Y%d", shift, even, even)
			b.i("%s $8, Y%d, Y%d", shift, from, odd)
		}
		for k := range 4 {
			split(t, k, 12, 13)
			split(u, 4+k, 14, 15)
			b.i("VPMADDWD Y14, Y12, Y12")
			b.i("VPMADDWD Y15, Y13, Y13")
			b.i("VPADDD Y13, Y12, Y12")
			b.i("VPADDD Y12, Y%d, Y%d", 8+k, k)
		}
	})
}
