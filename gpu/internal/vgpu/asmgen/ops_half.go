package asmgen

// half is a 16-bit floating-point type, alone in a register or in pairs. Its values are computed with in f32, a slice of
// eight at a time: four slices of single values, eight of pairs.
type half struct {
	name   string
	bf     bool
	packed bool
}

func (h half) slices() int {
	if h.packed {
		return 8
	}
	return 4
}

// load converts slice k of a slot to f32. Y15 holds lowHalves.
func (h half) load(b *block, index string, k, reg int) {
	switch {
	case h.bf && h.packed:
		b.i("VPMOVZXWD %s, Y%d", atHalf(index, k), reg)
		b.i("VPSLLD $16, Y%d, Y%d", reg, reg)
	case h.bf:
		b.i("VMOVDQU %s, Y%d", at(index, k), reg)
		b.i("VPSLLD $16, Y%d, Y%d", reg, reg)
	case h.packed:
		b.i("VCVTPH2PS %s, Y%d", atHalf(index, k), reg)
	default:
		b.i("VMOVDQU %s, Y%d", at(index, k), reg)
		b.widenHalf(reg)
	}
}

// widenHalf converts the f16 in the lower halves of eight lanes; Y15 holds lowHalves.
func (b *block) widenHalf(reg int) {
	b.i("VPSHUFB Y15, Y%d, Y%d", reg, reg)
	b.i("VPERMQ $0x08, Y%d, Y%d", reg, reg)
	b.i("VCVTPH2PS X%d, Y%d", reg, reg)
}

// round makes 16-bit values of Y0 in 32-bit lanes (bf16) or in X0 (f16), NaN becoming 0x7fff; Y14 holds the NaN that does
// so. It uses Y12, Y13.
func (h half) round(b *block) {
	b.i("VCMPPS $3, Y0, Y0, Y12")
	b.i("VBLENDVPS Y12, Y14, Y0, Y0")
	if !h.bf {
		b.i("VCVTPS2PH $0, Y0, X0")
		return
	}
	b.bfloat(0, 12, 13)
}

// bfloat rounds eight f32 to bf16 in the lower halves.
func (b *block) bfloat(reg, t, u int) {
	b.i("VPSRLD $16, Y%d, Y%d", reg, t)
	b.i("VPSLLD $31, Y%d, Y%d", t, t)
	b.i("VPSRLD $31, Y%d, Y%d", t, t)
	b.fill(u, 0x7fff)
	b.i("VPADDD Y%d, Y%d, Y%d", u, reg, reg)
	b.i("VPADDD Y%d, Y%d, Y%d", t, reg, reg)
	b.i("VPSRLD $16, Y%d, Y%d", reg, reg)
}

// store writes what round made as slice k at a place: "%d(…)" of the given bases.
func (h half) store(b *block, place func(bytes, k int) string, k int) {
	switch {
	case h.bf && h.packed:
		b.i("VPACKUSDW Y0, Y0, Y0")
		b.i("VPERMQ $0x08, Y0, Y0")
		b.i("VMOVDQU X0, %s", place(16, k))
	case h.packed:
		b.i("VMOVDQU X0, %s", place(16, k))
	case h.bf:
		b.i("VMOVDQU Y0, %s", place(32, k))
	default:
		b.i("VPMOVZXWD X0, Y0")
		b.i("VMOVDQU Y0, %s", place(32, k))
	}
}

func inSlot(bytes, k int) string {
	if bytes == 16 {
		return atHalf("DX", k)
	}
	return at("DX", k)
}

// nan is a NaN of f32 that rounds to 0x7fff.
func (h half) nan() uint32 {
	if h.bf {
		return 0x7fff0000
	}
	return canonicalNaN
}

// halfOp computes slice by slice on Y0, Y1, Y2 into Y0; compute may use Y3…13.
func (s *set) halfOp(twin string, h half, sources int, ftz bool, compute func(b *block)) {
	s.define(twin, func(b *block) {
		b.slots(sources)
		b.halfConstants(h)
		for k := range h.slices() {
			for n := range sources {
				h.load(b, sourceIndex[n], k, n)
				if ftz {
					b.flushHalf(n)
				}
			}
			compute(b)
			h.round(b)
			h.store(b, inSlot, k)
		}
	})
}

func (b *block) halfConstants(h half) {
	if !h.bf && !h.packed {
		b.i("VMOVDQU lowHalves<>(SB), Y15")
	}
	b.fill(14, h.nan())
}

// flushHalf makes what is denormal in f16 a zero of its sign; it uses Y12, Y13.
func (b *block) flushHalf(reg int) {
	b.fill(13, 0x7fffffff)
	b.i("VPAND Y%d, Y13, Y13", reg)
	b.fill(12, 0x38800000)        // 2⁻¹⁴
	b.i("VPCMPGTD Y13, Y12, Y13") // as integers, since both are positive
	b.i("VPSRLD $1, Y13, Y13")
	b.i("VPANDN Y%d, Y13, Y%d", reg, reg)
}

// flushHalfResult rounds Y0 to f16 and back, flushed.
func (b *block) flushHalfResult() {
	b.i("VCMPPS $3, Y0, Y0, Y12")
	b.i("VBLENDVPS Y12, Y14, Y0, Y0")
	b.i("VCVTPS2PH $0, Y0, X0")
	b.i("VCVTPH2PS X0, Y0")
	b.flushHalf(0)
}

func (b *block) saturateSlice() {
	b.fill(12, one32)
	b.fill(13, 0)
	b.i("VMAXPS Y13, Y0, Y0")
	b.i("VMINPS Y12, Y0, Y0")
}

// reluSlice makes what is not above zero +0 and keeps NaN.
func (b *block) reluSlice() {
	b.fill(13, 0)
	b.i("VCMPPS $2, Y13, Y0, Y12")
	b.i("VANDNPS Y0, Y12, Y0")
}

// fmaOdd is Y0·Y1 + Y2 rounded to odd in f32, for values whose product is exact there (float.go, fmaOdd): what is
// missing in the sum is found by Knuth's two-sum.
func (b *block) fmaOdd() {
	b.i("VMULPS Y1, Y0, Y3")
	b.oddSum()
}

func (b *block) oddSum() {
	b.i("VADDPS Y2, Y3, Y4")
	b.i("VSUBPS Y3, Y4, Y5")
	b.i("VSUBPS Y5, Y4, Y6")
	b.i("VSUBPS Y6, Y3, Y6")
	b.i("VSUBPS Y5, Y2, Y5")
	b.i("VADDPS Y5, Y6, Y6") // the error
	b.fill(8, 0)
	b.i("VCMPPS $12, Y8, Y6, Y7")
	b.i("VPXOR Y4, Y6, Y5")
	b.i("VPSRAD $31, Y5, Y5")
	b.fill(9, 1)
	b.i("VPOR Y9, Y5, Y5") // +1 away from zero, −1 towards it
	b.i("VPAND Y9, Y4, Y6")
	b.i("VPCMPEQD Y8, Y6, Y6")
	b.i("VPAND Y7, Y6, Y6")
	b.i("VPAND Y6, Y5, Y5")
	b.i("VPADDD Y5, Y4, Y0")
}

func (s *set) halves() {
	for _, h := range []half{{"F16", false, false}, {"F16x2", false, true}, {"Bf16", true, false}, {"Bf16x2", true, true}} {
		for _, ftz := range []string{"", "Ftz"} {
			if h.bf && ftz != "" {
				continue
			}
			s.halfArithmetic(h, ftz)
			s.halfExtremes(h, ftz)
			s.halfSigns(h, ftz)
		}
	}
}

func (s *set) halfArithmetic(h half, ftz string) {
	for _, sat := range []string{"", "Sat", "Relu"} {
		if h.bf && sat == "Sat" {
			continue
		}
		finish := func(b *block) {
			if ftz != "" {
				b.flushHalfResult()
			}
			switch sat {
			case "Sat":
				b.saturateSlice()
			case "Relu":
				b.reluSlice()
			}
		}
		if sat != "Relu" {
			for _, o := range []struct{ name, instruction string }{{"Add", "VADDPS"}, {"Sub", "VSUBPS"}, {"Mul", "VMULPS"}} {
				s.halfOp("lane"+o.name+ftz+sat+h.name, h, 2, ftz != "", func(b *block) {
					b.i("%s Y1, Y0, Y0", o.instruction)
					finish(b)
				})
			}
		}
		twin := "laneFmaRn" + ftz + sat + h.name
		if h.bf {
			s.bfloatFma(twin, h, finish)
			continue
		}
		s.halfOp(twin, h, 3, ftz != "", func(b *block) {
			b.fmaOdd()
			finish(b)
		})
	}
}

// bfloatFma leaves products that are not exact in f32 (of the smallest and largest values) to Go; results lie in the
// scratch until it is known that there are none.
func (s *set) bfloatFma(twin string, h half, finish func(b *block)) {
	s.define(twin, func(b *block) {
		b.slots(3)
		b.halfConstants(h)
		for k := range h.slices() {
			for n := range 3 {
				h.load(b, sourceIndex[n], k, n)
			}
			b.i("VMULPS Y1, Y0, Y3")
			b.fill(4, 0x7fffffff)
			b.i("VPAND Y3, Y4, Y4")
			b.fill(5, 0x0d800000) // 2⁻¹⁰⁰
			b.i("VPCMPGTD Y4, Y5, Y5")
			b.fill(6, 0)
			b.i("VCMPPS $4, Y6, Y0, Y7")
			b.i("VPAND Y7, Y5, Y5")
			b.i("VCMPPS $4, Y6, Y1, Y7")
			b.i("VPAND Y7, Y5, Y5") // tiny, and not for a factor zero
			b.fill(6, exponentMask)
			b.i("VPCMPEQD Y6, Y4, Y6")
			b.i("VPOR Y6, Y5, Y5")
			b.i("VMOVMSKPS Y5, AX")
			b.i("TESTL AX, AX")
			b.i("JNE bail")
			b.oddSum()
			finish(b)
			h.round(b)
			h.store(b, func(bytes, k int) string { return scratch(bytes * k) }, k)
		}
		n := 4
		for k := range n {
			b.i("VMOVDQU %s, Y%d", scratch(32*k), k)
		}
		b.store(0, n)
		b.next()
		b.label("bail")
		b.leave()
	})
}

func (s *set) halfExtremes(h half, ftz string) {
	for _, m := range []struct{ name, instruction, zeros string }{{"Max", "VMAXPS", "VANDPS"}, {"Min", "VMINPS", "VORPS"}} {
		pick := func(b *block) {
			b.i("%s Y1, Y0, Y3", m.instruction)
			b.i("%s Y0, Y1, Y4", m.instruction)
			b.i("%s Y3, Y4, Y3", m.zeros)
			b.i("VCMPPS $3, Y1, Y1, Y4")
			b.i("VBLENDVPS Y4, Y0, Y3, Y3")
			b.i("VCMPPS $3, Y0, Y0, Y4")
			b.i("VBLENDVPS Y4, Y1, Y3, Y0")
		}
		s.halfOp("lane"+m.name+ftz+h.name, h, 2, ftz != "", pick)
		s.halfOp("lane"+m.name+ftz+"NaN"+h.name, h, 2, ftz != "", func(b *block) {
			b.i("VCMPPS $3, Y0, Y1, Y5")
			pick(b)
			b.i("VORPS Y5, Y0, Y0")
		})
	}
}

// halfSigns are neg and abs, on the bits.
func (s *set) halfSigns(h half, ftz string) {
	for _, o := range []struct {
		name, what string
		bits       uint32
	}{{"Neg", "VPXOR", 0x80008000}, {"Abs", "VPAND", 0x7fff7fff}} {
		s.lanes32("lane"+o.name+ftz+h.name, 1, func(b *block) {
			if !h.packed {
				b.each(4, "VPSLLD $16, Y%d, Y%d", 0, 0)
				b.each(4, "VPSRLD $16, Y%d, Y%d", 0, 0)
			}
			if ftz != "" {
				b.fill(14, 0x7c007c00)
				b.fill(15, 0)
				for k := range 4 {
					b.i("VPAND Y14, Y%d, Y13", k)
					b.i("VPCMPEQW Y15, Y13, Y13")
					b.i("VPSRLW $1, Y13, Y13")
					b.i("VPANDN Y%d, Y13, Y%d", k, k)
				}
			}
			bits := o.bits
			if !h.packed {
				bits &= 0xffff
			}
			b.fill(4, bits)
			b.each(4, o.what+" Y%d, Y4, Y%d", 0, 0)
		})
	}
}
