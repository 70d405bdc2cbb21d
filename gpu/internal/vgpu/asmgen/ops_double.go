package asmgen

import "math"

func (s *set) doubles() {
	for _, d := range []struct{ name, table string }{{"", ""}, {"Rz", "roundZero"}, {"Rm", "roundDown"}, {"Rp", "roundUp"}} {
		direct := func(twin string, sources int, body func(b *block, k int)) {
			s.define(twin, func(b *block) {
				b.slots(sources)
				if d.table != "" {
					b.i("VLDMXCSR %s<>(SB)", d.table)
				}
				for k := range 8 {
					b.i("VMOVDQU %s, Y0", at("BX", k))
					body(b, k)
					b.i("VMOVDQU Y0, %s", at("DX", k))
				}
				if d.table != "" {
					b.i("VLDMXCSR roundNearest<>(SB)")
				}
			})
		}
		for _, o := range []struct{ name, instruction string }{{"Add", "VADDPD"}, {"Sub", "VSUBPD"}, {"Mul", "VMULPD"}} {
			direct("lane"+o.name+d.name+"F64", 2, func(b *block, k int) { b.i("%s %s, Y0, Y0", o.instruction, at("CX", k)) })
		}
		name := d.name
		if name == "" {
			name = "Rn"
		}
		direct("laneFma"+name+"F64", 3, func(b *block, k int) {
			b.i("VMOVDQU %s, Y1", at("CX", k))
			b.i("VFMADD213PD %s, Y1, Y0", at("SI", k))
		})
		direct("laneDiv"+name+"F64", 2, func(b *block, k int) { b.i("VDIVPD %s, Y0, Y0", at("CX", k)) })
		direct("laneSqrt"+name+"F64", 1, func(b *block, k int) { b.i("VSQRTPD Y0, Y0") })
		direct("laneRcp"+name+"F64", 1, func(b *block, k int) {
			if k == 0 {
				b.fill64(1, math.Float64bits(1))
			}
			b.i("VDIVPD Y0, Y1, Y0")
		})
	}
	s.slices64("laneNegF64", 1, func(b *block, k int) {
		if k == 0 {
			b.fill64(4, 1<<63)
		}
		b.i("VPXOR Y4, Y0, Y0")
	})
	s.slices64("laneAbsF64", 1, func(b *block, k int) {
		if k == 0 {
			b.fill64(4, 1<<63-1)
		}
		b.i("VPAND Y4, Y0, Y0")
	})
	s.slices64("laneCopysignF64", 2, func(b *block, k int) {
		if k == 0 {
			b.fill64(4, 1<<63)
		}
		b.i("VPAND Y4, Y0, Y0")
		b.i("VPANDN Y1, Y4, Y1")
		b.i("VPOR Y1, Y0, Y0")
	})
	for _, m := range []struct{ name, instruction, zeros string }{{"Max", "VMAXPD", "VANDPD"}, {"Min", "VMINPD", "VORPD"}} {
		s.slices64("lane"+m.name+"F64", 2, func(b *block, k int) { // as extremes
			b.i("%s Y1, Y0, Y2", m.instruction)
			b.i("%s Y0, Y1, Y3", m.instruction)
			b.i("%s Y2, Y3, Y2", m.zeros)
			b.i("VCMPPD $3, Y1, Y1, Y3")
			b.i("VBLENDVPD Y3, Y0, Y2, Y2")
			b.i("VCMPPD $3, Y0, Y0, Y3")
			b.i("VBLENDVPD Y3, Y1, Y2, Y0")
		})
	}
}
