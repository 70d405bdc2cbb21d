package asmgen

import "math"

func (s *set) conversions() {
	s.integerConversions()
	s.floatToInteger()
	s.integerToFloat()
	s.halfConversions()
	for _, ftz := range []string{"", "Ftz"} {
		s.lanes32("laneCvt"+ftz+"SatF32F32", 1, func(b *block) {
			if ftz != "" {
				b.flush(0, 4)
			}
			b.saturate()
		})
	}
	s.define("laneCvtF64F32", func(b *block) {
		b.slots(1)
		for k := range 8 {
			b.i("VCVTPS2PD %s, Y%d", atHalf("BX", k), k)
		}
		b.store(0, 8)
	})
	s.variant("laneCvtRnF32F64", 0, func(b *block) {
		b.slots(1)
		for k := range 8 {
			b.i("VCVTPD2PSY %s, X%d", at("BX", k), 4+k)
		}
		for k := range 4 {
			b.i("VINSERTF128 $1, X%d, Y%d, Y%d", 5+2*k, 4+2*k, k)
		}
		b.canonical()
	})
	for _, o := range []struct {
		twin string
		even bool
	}{{"laneCvtRnaTf32F32", false}, {"laneCvtRnTf32F32", true}} {
		s.lanes32(o.twin, 1, func(b *block) { // infinities and NaN are only cut
			b.fill(12, exponentMask)
			b.fill(14, 0xffffe000)
			for k := range 4 {
				b.i("VPAND Y%d, Y12, Y4", k)
				b.i("VPCMPEQD Y12, Y4, Y4")
				if o.even {
					b.fill(15, 0xfff)
					b.i("VPSLLD $18, Y%d, Y5", k)
					b.i("VPSRLD $31, Y5, Y5")
					b.i("VPADDD Y15, Y5, Y5")
				} else {
					b.fill(5, 0x1000)
				}
				b.i("VPANDN Y5, Y4, Y5")
				b.i("VPADDD Y5, Y%d, Y%d", k, k)
				b.i("VPAND Y14, Y%d, Y%d", k, k)
			}
		})
	}
}

func (s *set) integerConversions() {
	for _, o := range []struct{ twin, extend string }{{"laneCvtU64U32", "VPMOVZXDQ"}, {"laneCvtS64S32", "VPMOVSXDQ"}} {
		s.define(o.twin, func(b *block) {
			b.slots(1)
			for k := range 8 {
				b.i("%s %s, Y%d", o.extend, atHalf("BX", k), k)
			}
			b.store(0, 8)
		})
	}
	s.define("laneCvtU32U64", func(b *block) {
		b.slots(1)
		b.load(0, "BX", 8)
		b.narrow(0, 0)
		b.store(0, 4)
	})
	for _, o := range []struct {
		twin  string
		shift int
		right string
		wide  bool
	}{{"laneCvtU16U32", 16, "VPSRLD", false}, {"laneCvtS16U32", 16, "VPSRAD", false}, {"laneCvtU16U64", 16, "VPSRLD", true}, {"laneCvtS16U64", 16, "VPSRAD", true},
		{"laneCvtU32U16", 16, "VPSRLD", false}, {"laneCvtS32S16", 16, "VPSRAD", false}, {"laneCvtU32U8", 24, "VPSRLD", false}, {"laneCvtS32S8", 24, "VPSRAD", false}} {
		s.define(o.twin, func(b *block) {
			b.slots(1)
			if o.wide {
				b.load(0, "BX", 8)
				b.narrow(0, 0)
			} else {
				b.load(0, "BX", 4)
			}
			for k := range 4 {
				b.i("VPSLLD $%d, Y%d, Y%d", o.shift, k, k)
				b.i("%s $%d, Y%d, Y%d", o.right, o.shift, k, k)
			}
			b.store(0, 4)
		})
	}
	for _, o := range []struct{ twin, right, extend string }{{"laneCvtU64U16", "VPSRLD", "VPMOVZXDQ"}, {"laneCvtS64S16", "VPSRAD", "VPMOVSXDQ"}} {
		s.define(o.twin, func(b *block) {
			b.slots(1)
			for k := range 8 {
				b.i("VMOVDQU %s, X%d", atHalf("BX", k), k)
				b.i("VPSLLD $16, X%d, X%d", k, k)
				b.i("%s $16, X%d, X%d", o.right, k, k)
				b.i("%s X%d, Y%d", o.extend, k, k)
			}
			b.store(0, 8)
		})
	}
}

// floatToInteger are the conversions of f32 to s32, u32 and integral f32: clamped, NaN to 0.
func (s *set) floatToInteger() {
	for _, m := range []struct {
		name string
		mode int
	}{{"Rni", 8}, {"Rmi", 9}, {"Rpi", 10}, {"Rzi", 11}} {
		for _, ftz := range []string{"", "Ftz"} {
			start := func(b *block) {
				b.slots(1)
				b.load(0, "BX", 4)
				if ftz != "" {
					b.flush(0, 4)
				}
				for k := range 4 {
					b.i("VROUNDPS $%d, Y%d, Y%d", m.mode, k, k)
				}
			}
			s.variant("laneCvt"+m.name+ftz+"F32F32", 0, func(b *block) {
				start(b)
				b.canonical()
			})
			s.define("laneCvt"+m.name+ftz+"S32F32", func(b *block) {
				start(b)
				b.fill(15, math.Float32bits(0x1p31))
				for k := range 4 { // out of range the instruction gives 0x80000000, which is right below
					b.i("VCMPPS $7, Y%d, Y%d, Y4", k, k)
					b.i("VCMPPS $13, Y15, Y%d, Y5", k)
					b.i("VCVTTPS2DQ Y%d, Y%d", k, k)
					b.i("VPXOR Y5, Y%d, Y%d", k, k)
					b.i("VPAND Y4, Y%d, Y%d", k, k)
				}
				b.store(0, 4)
			})
			s.define("laneCvt"+m.name+ftz+"U32F32", func(b *block) {
				start(b)
				b.fill(14, 0)
				b.fill(15, math.Float32bits(0x1p31))
				b.fill(13, math.Float32bits(0x1p32))
				for k := range 4 { // from 2^31 on in two parts
					b.i("VMAXPS Y14, Y%d, Y%d", k, k)
					b.i("VCMPPS $13, Y13, Y%d, Y4", k)
					b.i("VCMPPS $13, Y15, Y%d, Y5", k)
					b.i("VANDPS Y15, Y5, Y6")
					b.i("VSUBPS Y6, Y%d, Y%d", k, k)
					b.i("VCVTTPS2DQ Y%d, Y%d", k, k)
					b.i("VPSLLD $31, Y5, Y5")
					b.i("VPXOR Y5, Y%d, Y%d", k, k)
					b.i("VPOR Y4, Y%d, Y%d", k, k)
				}
				b.store(0, 4)
			})
		}
	}
}

func (s *set) integerToFloat() {
	s.lanes32("laneCvtRnF32S32", 1, func(b *block) { b.each(4, "VCVTDQ2PS Y%d, Y%d", 0, 0) })
	s.lanes32("laneCvtRnF32U32", 1, func(b *block) { // upper half · 2^16 + lower half: one rounding
		b.fill(14, 0xffff)
		b.fill(15, math.Float32bits(0x1p16))
		for k := range 4 {
			b.i("VPAND Y14, Y%d, Y4", k)
			b.i("VPSRLD $16, Y%d, Y%d", k, k)
			b.i("VCVTDQ2PS Y4, Y4")
			b.i("VCVTDQ2PS Y%d, Y%d", k, k)
			b.i("VFMADD213PS Y4, Y15, Y%d", k)
		}
	})
	s.define("laneCvtRnF64S32", func(b *block) {
		b.slots(1)
		for k := range 8 {
			b.i("VCVTDQ2PD %s, Y%d", atHalf("BX", k), k)
		}
		b.store(0, 8)
	})
	s.define("laneCvtRnF64U32", func(b *block) { // as the lower bits of 2^52
		b.slots(1)
		b.fill64(8, math.Float64bits(0x1p52))
		for k := range 8 {
			b.i("VPMOVZXDQ %s, Y%d", atHalf("BX", k), k)
			b.i("VPOR Y8, Y%d, Y%d", k, k)
			b.i("VSUBPD Y8, Y%d, Y%d", k, k)
		}
		b.store(0, 8)
	})
}

func (s *set) halfConversions() {
	s.variant("laneCvtF32F16", 0, func(b *block) {
		b.slots(1)
		b.i("VMOVDQU lowHalves<>(SB), Y15")
		b.load(0, "BX", 4)
		for k := range 4 {
			b.widenHalf(k)
		}
		b.canonical()
	})
	s.variant("laneCvtF32F16High", 0, func(b *block) {
		b.slots(1)
		b.i("VMOVDQU lowHalves<>(SB), Y15")
		b.load(0, "BX", 4)
		for k := range 4 {
			b.i("VPSRLD $16, Y%d, Y%d", k, k)
			b.widenHalf(k)
		}
		b.canonical()
	})
	s.variant("opHalves", 0, func(b *block) {
		b.i("MOVL %d(R9), BX", instA)
		b.i("VMOVDQU splitHalves<>(SB), Y15")
		b.load(8, "BX", 4)
		for k := range 4 {
			b.i("VPSHUFB Y15, Y%d, Y%d", 8+k, 8+k)
			b.i("VPERMQ $0xD8, Y%d, Y%d", 8+k, 8+k)
			b.i("VCVTPH2PS X%d, Y%d", 8+k, k)
			b.i("VEXTRACTI128 $1, Y%d, X%d", 8+k, 8+k)
			b.i("VCVTPH2PS X%d, Y%d", 8+k, 4+k)
		}
		b.i("VCMPPS $3, Y1, Y0, Y8")
		for k := 2; k < 8; k += 2 {
			b.i("VCMPPS $3, Y%d, Y%d, Y9", k, k+1)
			b.i("VORPS Y9, Y8, Y8")
		}
		b.i("VMOVMSKPS Y8, AX")
		b.i("TESTL AX, AX")
		b.i("JNE bail") // a NaN, which becomes canonical
		b.i("MOVL %d(R9), DX", instD)
		b.i("MOVL %d(R9), CX", instE)
		b.store(0, 4)
		b.storeTo(4, "CX", 4)
		b.next()
		b.label("bail")
		b.leave()
	})
	s.variant("laneCvtF32Bf16", 0, func(b *block) {
		b.slots(1)
		b.load(0, "BX", 4)
		b.each(4, "VPSLLD $16, Y%d, Y%d", 0, 0)
		b.canonical()
	})
	for _, h := range []half{{"F16", false, false}, {"Bf16", true, false}} {
		s.define("laneCvtRn"+h.name+"F32", func(b *block) {
			b.slots(1)
			b.fill(14, h.nan())
			for k := range 4 {
				b.i("VMOVDQU %s, Y0", at("BX", k))
				h.round(b)
				h.store(b, inSlot, k)
			}
		})
		for _, relu := range []string{"", "Relu"} {
			s.define("laneCvtRn"+relu+h.name+"x2F32", func(b *block) { // the first source goes into the upper half
				b.slots(2)
				b.fill(14, h.nan())
				for k := range 4 {
					for n, index := range []string{"BX", "CX"} {
						b.i("VMOVDQU %s, Y0", at(index, k))
						if relu != "" {
							b.reluSlice()
						}
						h.round(b)
						if !h.bf {
							b.i("VPMOVZXWD X0, Y0")
						}
						if n == 0 {
							b.i("VPSLLD $16, Y0, Y1")
						}
					}
					b.i("VPOR Y1, Y0, Y0")
					b.i("VMOVDQU Y0, %s", at("DX", k))
				}
			})
		}
	}
}
