package asmgen

import (
	"fmt"
	"math"
)

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

// exponential is ex2, by the polynomial of exp2 (transcendental.go) with the same f32 operations in the same order.
func (s *set) exponential() {
	words := []uint32{}
	for _, v := range []float32{-126, 128, -152, 0x1.8p23, 0x1.44138ap-13, 0x1.5f0890p-10, 0x1.3b2a54p-7, 0x1.c6af6cp-5, 0x1.ebfbe0p-3, 0x1.62e43p-1, 1} {
		for range 8 {
			words = append(words, math.Float32bits(v))
		}
	}
	constants := s.table("exp2Constants", words)
	constant := func(n int) string { return fmt.Sprintf("%s+%d(SB)", constants, 32*n) }
	// polynomial of x in Y0…3: p in Y4…7, x + magic in Y0…3, whose last bits are the integer.
	polynomial := func(b *block) {
		b.i("VMOVUPS %s, Y15", constant(3))
		for k := range 4 {
			b.i("VADDPS Y15, Y%d, Y%d", k, 8+k) // n + magic
			b.i("VSUBPS Y15, Y%d, Y12", 8+k)
			b.i("VSUBPS Y12, Y%d, Y%d", k, k) // f
			b.i("VMULPS %s, Y%d, Y%d", constant(4), k, 4+k)
		}
		for c := 5; c <= 10; c++ {
			b.i("VMOVUPS %s, Y15", constant(c))
			b.each(4, "VADDPS Y15, Y%d, Y%d", 4, 4)
			if c < 10 {
				b.each(4, "VMULPS Y%d, Y%d, Y%d", 0, 4, 4)
			}
		}
		for k := range 4 {
			b.i("VMOVAPS Y%d, Y%d", 8+k, k)
		}
	}
	for _, ftz := range []string{"", "Ftz"} {
		s.variant("laneEx2Approx"+ftz+"F32", 0, func(b *block) {
			b.slots(1)
			b.load(0, "BX", 4)
			// A denormal has 1 as its power, flushed or not. All in [−126, 128): p's exponent takes the integer.
			b.i("VMOVUPS %s, Y14", constant(0))
			b.i("VMOVUPS %s, Y15", constant(1))
			for k := range 4 {
				b.i("VCMPPS $%d, Y14, Y%d, Y%d", 13, k, 4+k) // ≥, false of NaN
				b.i("VCMPPS $%d, Y15, Y%d, Y%d", 1, k, 8+k)  // <
				b.i("VPAND Y%d, Y%d, Y%d", 8+k, 4+k, 4+k)
			}
			b.i("VPAND Y5, Y4, Y4")
			b.i("VPAND Y7, Y6, Y6")
			b.i("VPAND Y6, Y4, Y4")
			b.i("VMOVMSKPS Y4, AX")
			b.i("CMPL AX, $255")
			b.i("JNE beyond")
			polynomial(b)
			b.each(4, "VPSLLD $23, Y%d, Y%d", 0, 0)
			b.each(4, "VPADDD Y%d, Y%d, Y%d", 4, 0, 0)
			b.store(0, 4)
			b.next()
			b.label("beyond")
			b.i("VMOVUPS %s, Y14", constant(2))
			b.each(4, "VMAXPS Y%d, Y14, Y%d", 0, 0) // of NaN and a number the second operand
			b.each(4, "VMINPS Y%d, Y15, Y%d", 0, 0)
			polynomial(b)
			b.fill(15, one32)
			for k := range 4 {
				b.i("VPSLLD $23, Y%d, Y%d", k, k) // the integer, with its sign: nine bits
				b.i("VPSRAD $23, Y%d, Y%d", k, k)
				b.i("VPSRAD $1, Y%d, Y12", k)
				b.i("VPSUBD Y12, Y%d, Y%d", k, k)
				b.i("VPSLLD $23, Y12, Y12")
				b.i("VPSLLD $23, Y%d, Y%d", k, k)
				b.i("VPADDD Y15, Y12, Y12")
				b.i("VPADDD Y15, Y%d, Y%d", k, k)
				b.i("VMULPS Y12, Y%d, Y%d", 4+k, 4+k)
				b.i("VMULPS Y%d, Y%d, Y%d", k, 4+k, k)
			}
			if ftz != "" {
				b.flush(0, 4)
			}
			b.canonical()
		})
	}
}
