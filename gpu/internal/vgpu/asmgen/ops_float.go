package asmgen

import "math"

const (
	canonicalNaN = 0x7fffffff
	exponentMask = 0x7f800000
	one32        = 0x3f800000
)

// canonical stores Y0…3 and goes on; where one of them is NaN it becomes the canonical one first. It may use Y12…15.
func (b *block) canonical() {
	b.i("VCMPPS $3, Y1, Y0, Y12")
	b.i("VCMPPS $3, Y3, Y2, Y13")
	b.i("VORPS Y13, Y12, Y12")
	b.i("VMOVMSKPS Y12, AX")
	b.i("TESTL AX, AX")
	b.i("JNE nan")
	b.label("keep")
	b.store(0, 4)
	b.next()
	b.label("nan")
	b.quiet()
	b.i("JMP keep")
}

// quiet makes NaN of Y0…3 canonical; it uses Y12, Y13.
func (b *block) quiet() {
	b.fill(13, canonicalNaN)
	for k := range 4 {
		b.i("VCMPPS $3, Y%d, Y%d, Y12", k, k)
		b.i("VBLENDVPS Y12, Y13, Y%d, Y%d", k, k)
	}
}

// flush is .ftz on n registers: denormals become zeros of their sign. It uses Y13…15.
func (b *block) flush(reg, n int) {
	b.fill(14, exponentMask)
	b.fill(15, 0)
	for k := range n {
		b.i("VPAND Y14, Y%d, Y13", reg+k)
		b.i("VPCMPEQD Y15, Y13, Y13")
		b.i("VPSRLD $1, Y13, Y13")
		b.i("VPANDN Y%d, Y13, Y%d", reg+k, reg+k)
	}
}

// saturate clamps Y0…3 to [0, 1], NaN to +0; it uses Y14, Y15.
func (b *block) saturate() {
	b.fill(14, one32)
	b.fill(15, 0)
	b.each(4, "VMAXPS Y15, Y%d, Y%d", 0, 0) // of NaN and of two zeros the first operand
	b.each(4, "VMINPS Y14, Y%d, Y%d", 0, 0)
}

// floatOp is an op on f32 lanes.
type floatOp struct {
	twin     string
	sources  int
	mode     string // "" to nearest, or the table with MXCSR for the direction
	ftz, sat bool
	compute  func(b *block) // from Y0…3, Y4…7, Y8…11 into Y0…3; may use Y12…15
}

func (s *set) float(o floatOp) *op {
	return s.variant(o.twin, 0, func(b *block) {
		b.slots(o.sources)
		for k := range o.sources {
			b.load(4*k, sourceIndex[k], 4)
			if o.ftz {
				b.flush(4*k, 4)
			}
		}
		if o.mode != "" {
			b.i("VLDMXCSR %s<>(SB)", o.mode)
		}
		o.compute(b)
		if o.mode != "" {
			b.i("VLDMXCSR roundNearest<>(SB)")
		}
		if o.ftz {
			b.flush(0, 4)
		}
		if o.sat {
			b.saturate()
			b.store(0, 4)
			b.next()
			return
		}
		b.canonical()
	})
}

func (s *set) floats() {
	// MXCSR with all exceptions masked, as Go runs, and a rounding direction.
	s.table("roundNearest", []uint32{0x1f80})
	s.table("roundDown", []uint32{0x3f80})
	s.table("roundUp", []uint32{0x5f80})
	s.table("roundZero", []uint32{0x7f80})
	directions := []struct{ name, table string }{{"", ""}, {"Rz", "roundZero"}, {"Rm", "roundDown"}, {"Rp", "roundUp"}}
	for _, d := range directions {
		for _, ftz := range []string{"", "Ftz"} {
			for _, sat := range []string{"", "Sat"} {
				if d.name+ftz+sat == "" {
					continue
				}
				for _, o := range []struct{ name, instruction string }{{"Add", "VADDPS"}, {"Sub", "VSUBPS"}, {"Mul", "VMULPS"}} {
					s.float(floatOp{"lane" + o.name + d.name + ftz + sat + "F32", 2, d.table, ftz != "", sat != "", func(b *block) { b.each(4, o.instruction+" Y%d, Y%d, Y%d", 4, 0, 0) }})
				}
				name := d.name
				if name == "" {
					name = "Rn"
				}
				s.float(floatOp{"laneFma" + name + ftz + sat + "F32", 3, d.table, ftz != "", sat != "", func(b *block) { b.each(4, "VFMADD213PS Y%d, Y%d, Y%d", 8, 4, 0) }})
			}
			s.divisions(d.name, d.table, ftz)
		}
	}
	for _, o := range []struct{ name, instruction string }{{"Add", "VADDPS"}, {"Sub", "VSUBPS"}, {"Mul", "VMULPS"}} {
		s.variant("lane"+o.name+"F32", 0, func(b *block) {
			b.slots(2)
			b.load(0, "BX", 4)
			for k := range 4 {
				b.i("%s %s, Y%d, Y%d", o.instruction, at("CX", k), k, k)
			}
			b.canonical()
		})
	}
	s.variant("laneFmaRnF32", 0, func(b *block) {
		b.slots(3)
		b.load(0, "BX", 4)
		b.load(4, "CX", 4)
		for k := range 4 {
			b.i("VFMADD213PS %s, Y%d, Y%d", at("SI", k), 4+k, k)
		}
		b.canonical()
	}).also("laneFmaHalves")
	s.extremes()
	s.signBits()
	s.exponential()
}

// divisions are div, rcp and sqrt of one rounding direction; .approx and .full are computed as to nearest.
func (s *set) divisions(mode, table, ftz string) {
	names := []string{mode}
	if mode == "" {
		names = []string{"Rn", "Approx"}
	}
	for _, n := range names {
		s.float(floatOp{"laneDiv" + n + ftz + "F32", 2, table, ftz != "", false, func(b *block) { b.each(4, "VDIVPS Y%d, Y%d, Y%d", 4, 0, 0) }})
		s.float(floatOp{"laneRcp" + n + ftz + "F32", 1, table, ftz != "", false, func(b *block) {
			b.fill(15, one32)
			b.each(4, "VDIVPS Y%d, Y15, Y%d", 0, 0)
		}})
		s.float(floatOp{"laneSqrt" + n + ftz + "F32", 1, table, ftz != "", false, func(b *block) { b.each(4, "VSQRTPS Y%d, Y%d", 0, 0) }})
	}
	if mode != "" {
		return
	}
	s.float(floatOp{"laneRsqrtApprox" + ftz + "F32", 1, "", ftz != "", false, func(b *block) { // in f64, as its twin
		b.fill64(15, math.Float64bits(1))
		for k := range 4 {
			b.i("VEXTRACTF128 $1, Y%d, X5", k)
			b.i("VCVTPS2PD X%d, Y4", k)
			b.i("VCVTPS2PD X5, Y5")
			for r := 4; r < 6; r++ {
				b.i("VSQRTPD Y%d, Y%d", r, r)
				b.i("VDIVPD Y%d, Y15, Y%d", r, r)
				b.i("VCVTPD2PSY Y%d, X%d", r, r)
			}
			b.i("VINSERTF128 $1, X5, Y4, Y%d", k)
		}
	}})
}

// extremes are min and max: a NaN loses, −0 lies below +0.
func (s *set) extremes() {
	for _, m := range []struct{ name, instruction, zeros string }{{"Max", "VMAXPS", "VANDPS"}, {"Min", "VMINPS", "VORPS"}} {
		// The instruction gives its first operand where one is NaN or both are zeros, so it is asked both ways round.
		pick := func(b *block) {
			for k := range 4 {
				b.i("%s Y%d, Y%d, Y12", m.instruction, 4+k, k)
				b.i("%s Y%d, Y%d, Y13", m.instruction, k, 4+k)
				b.i("%s Y12, Y13, Y12", m.zeros)
				b.i("VCMPPS $3, Y%d, Y%d, Y13", 4+k, 4+k)
				b.i("VBLENDVPS Y13, Y%d, Y12, Y12", k)
				b.i("VCMPPS $3, Y%d, Y%d, Y13", k, k)
				b.i("VBLENDVPS Y13, Y%d, Y12, Y%d", 4+k, k)
			}
		}
		for _, ftz := range []string{"", "Ftz"} {
			prepare := func(b *block) {
				b.slots(2)
				b.load(0, "BX", 4)
				b.load(4, "CX", 4)
				if ftz != "" {
					b.flush(0, 8)
				}
			}
			s.variant("lane"+m.name+ftz+"F32", 0, func(b *block) {
				prepare(b)
				pick(b)
				b.canonical()
			})
			s.variant("lane"+m.name+ftz+"NaNF32", 0, func(b *block) {
				prepare(b)
				b.each(4, "VCMPPS $3, Y%d, Y%d, Y%d", 0, 4, 8)
				pick(b)
				b.each(4, "VORPS Y%d, Y%d, Y%d", 8, 0, 0) // all ones are NaN
				b.canonical()
			})
			s.variant("lane"+m.name+ftz+"XorsignAbsF32", 0, func(b *block) {
				prepare(b)
				b.fill(15, 0x80000000)
				for k := range 4 {
					b.i("VXORPS Y%d, Y%d, Y%d", k, 4+k, 8+k)
					b.i("VANDPS Y15, Y%d, Y%d", 8+k, 8+k)
					b.i("VANDNPS Y%d, Y15, Y%d", k, k)
					b.i("VANDNPS Y%d, Y15, Y%d", 4+k, 4+k)
				}
				pick(b)
				b.quiet()
				b.each(4, "VORPS Y%d, Y%d, Y%d", 8, 0, 0)
				b.store(0, 4)
				b.next()
			})
		}
	}
}

// signBits are neg, abs and copysign.
func (s *set) signBits() {
	for _, ftz := range []string{"", "Ftz"} {
		for _, o := range []struct {
			name string
			bits uint32
			what string
		}{{"Neg", 0x80000000, "VPXOR"}, {"Abs", 0x7fffffff, "VPAND"}} {
			s.lanes32("lane"+o.name+ftz+"F32", 1, func(b *block) {
				if ftz != "" {
					b.flush(0, 4)
				}
				b.fill(4, o.bits)
				b.each(4, o.what+" Y%d, Y4, Y%d", 0, 0)
			})
		}
	}
	s.lanes32("laneCopysignF32", 2, func(b *block) { // a's sign, b's magnitude
		b.fill(8, 0x80000000)
		for k := range 4 {
			b.i("VPAND Y%d, Y8, Y%d", k, k)
			b.i("VPANDN Y%d, Y8, Y%d", 4+k, 4+k)
			b.i("VPOR Y%d, Y%d, Y%d", 4+k, k, k)
		}
	})
}

// doublesTable keeps f64 constants, each four times, and gives the symbol.
func (s *set) doublesTable(name string, list ...float64) string {
	var words []uint32
	for _, v := range list {
		bits := math.Float64bits(v)
		for range 4 {
			words = append(words, uint32(bits), uint32(bits>>32))
		}
	}
	return s.table(name, words)
}

// exponential is ex2, by the polynomial of exp2 (transcendental.go) in the same order of f64 operations.
func (s *set) exponential() {
	// −151 and 129 give what lies beyond: 0 and infinity.
	constants := s.doublesTable("exp2Constants", -151, 129, 0x1.8p52, math.Ln2, 1./5040, 1./720, 1./120, 1./24, 1./6, 1./2, 1, 1)
	for _, ftz := range []string{"", "Ftz"} {
		s.float(floatOp{"laneEx2Approx" + ftz + "F32", 1, "", ftz != "", false, func(b *block) {
			for k := range 4 {
				b.i("VMOVAPS Y%d, Y11", k)
				b.i("VEXTRACTF128 $1, Y%d, X5", k)
				b.i("VCVTPS2PD X%d, Y4", k)
				b.i("VCVTPS2PD X5, Y5")
				pair := func(format string, constant int) {
					for r := range 2 {
						b.i(format, constants, 32*constant, 4+r, 4+r)
					}
				}
				pair("VMAXPD %s+%d(SB), Y%d, Y%d", 0)
				pair("VMINPD %s+%d(SB), Y%d, Y%d", 1)
				b.i("VMOVUPD %s+%d(SB), Y10", constants, 64)
				for r := range 2 {
					b.i("VADDPD Y10, Y%d, Y%d", 4+r, 6+r) // n + magic
					b.i("VSUBPD Y10, Y%d, Y%d", 6+r, 8+r)
					b.i("VSUBPD Y%d, Y%d, Y%d", 8+r, 4+r, 4+r)
					b.i("VPSLLQ $52, Y%d, Y%d", 6+r, 6+r)
				}
				pair("VMULPD %s+%d(SB), Y%d, Y%d", 3) // f
				for r := range 2 {
					b.i("VMULPD %s+%d(SB), Y%d, Y%d", constants, 32*4, 4+r, 8+r)
				}
				for c := 5; c < 12; c++ {
					for r := range 2 {
						b.i("VADDPD %s+%d(SB), Y%d, Y%d", constants, 32*c, 8+r, 8+r)
						if c < 11 {
							b.i("VMULPD Y%d, Y%d, Y%d", 4+r, 8+r, 8+r)
						}
					}
				}
				for r := range 2 {
					b.i("VPADDQ Y%d, Y%d, Y%d", 6+r, 8+r, 8+r)
					b.i("VCVTPD2PSY Y%d, X%d", 8+r, 8+r)
				}
				b.i("VINSERTF128 $1, X9, Y8, Y8")
				b.i("VCMPPS $3, Y11, Y11, Y12") // NaN stays
				b.i("VBLENDVPS Y12, Y11, Y8, Y%d", k)
			}
		}})
	}
}
