package asmgen

func (s *set) mixed() {
	s.lanes32("lanePack16", 2, func(b *block) {
		for k := range 4 {
			b.i("VPSLLD $16, Y%d, Y%d", 4+k, 4+k)
			b.i("VPBLENDW $0xAA, Y%d, Y%d, Y%d", 4+k, k, k)
		}
	})
	s.define("lanePack32", func(b *block) {
		b.slots(2)
		for k := range 4 {
			b.i("VPERMQ $0xD8, %s, Y8", at("BX", k))
			b.i("VPERMQ $0xD8, %s, Y9", at("CX", k))
			b.i("VPUNPCKLDQ Y9, Y8, Y%d", 2*k)
			b.i("VPUNPCKHDQ Y9, Y8, Y%d", 2*k+1)
		}
		b.store(0, 8)
	})
	s.define("opUnpack16", func(b *block) {
		b.i("MOVL %d(R9), BX", instA)
		b.registers(2)
		b.load(0, "BX", 4)
		b.each(4, "VPSRLD $16, Y%d, Y%d", 0, 4)
		b.each(4, "VPSLLD $16, Y%d, Y%d", 0, 0)
		b.each(4, "VPSRLD $16, Y%d, Y%d", 0, 0)
		b.storeTo(0, "DX", 4)
		b.storeTo(4, "SI", 4)
	})
	s.define("laneSelect32", func(b *block) {
		b.slots(3)
		b.selector(8)
		b.load(0, "CX", 4)
		for k := range 4 {
			b.i("VBLENDVPS Y%d, %s, Y%d, Y%d", 8+k, at("BX", k), k, k)
		}
		b.store(0, 4)
	})
	s.define("laneSelect64", func(b *block) {
		b.slots(3)
		b.i("MOVL (R10)(SI*4), AX")
		b.i("XORL %d(R9), AX", instImm)
		b.i("VMOVQ AX, X15")
		b.i("VPBROADCASTQ X15, Y15")
		b.load(0, "CX", 8)
		for k := range 8 {
			b.i("VPSLLVQ laneToSign64<>+%d(SB), Y15, Y14", 32*k)
			b.i("VBLENDVPD Y14, %s, Y%d, Y%d", at("BX", k), k, k)
		}
		b.store(0, 8)
	})
	s.lanes32("laneSelectSign32", 3, func(b *block) {
		for k := range 4 {
			b.i("VBLENDVPS Y%d, Y%d, Y%d, Y%d", 8+k, 4+k, k, k)
		}
	})
	s.predicates()
	s.guard()
	// The blends that follow an op in the code for some of the lanes: a has all lanes, d takes the active ones.
	s.define("opBlend32", func(b *block) {
		b.slots(1)
		b.signs(contextMaskText, 8)
		b.load(0, "DX", 4)
		for k := range 4 {
			b.i("VBLENDVPS Y%d, %s, Y%d, Y%d", 8+k, at("BX", k), k, k)
		}
		b.store(0, 4)
	}).masks = true
	s.define("opBlend64", func(b *block) {
		b.slots(1)
		b.i("MOVL %s, AX", contextMaskText)
		b.i("VMOVQ AX, X15")
		b.i("VPBROADCASTQ X15, Y15")
		b.load(0, "DX", 8)
		for k := range 8 {
			b.i("VPSLLVQ laneToSign64<>+%d(SB), Y15, Y14", 32*k)
			b.i("VBLENDVPD Y14, %s, Y%d, Y%d", at("BX", k), k, k)
		}
		b.store(0, 8)
	}).masks = true
}

const contextMaskText = "56(R11)"

// registerList are the index registers of an instruction's list of registers, which it keeps in its extra.
var registerList = targetList

// registers loads the first n slots of the list; it uses R12.
func (b *block) registers(n int) {
	b.i("MOVQ %d(R9), R12", instExt)
	b.i("MOVQ (R12), R12")
	for k, r := range registerList[:n] {
		b.i("MOVL %d(R12), %s", 4*k, r)
	}
}

// selector spreads the predicate of selp, whose index is in SI, into the signs of four registers.
func (b *block) selector(reg int) {
	b.i("MOVL (R10)(SI*4), AX")
	b.i("XORL %d(R9), AX", instImm)
	b.i("VMOVD AX, X15")
	b.i("VPBROADCASTD X15, Y15")
	for k := range 4 {
		b.i("VPSLLVD laneToSign<>+%d(SB), Y15, Y%d", 32*k, reg+k)
	}
}

// guard is @p of an instruction that stands behind it, for all lanes: it goes on to that one where the predicate holds for all
// of them, and past it where for none.
func (s *set) guard() {
	s.variant("opGuarded", 0, func(b *block) {
		b.i("MOVQ %d(R9), DI", instExt)
		b.i("MOVL %d(DI), CX", extraGuard)
		b.i("MOVL (R10)(CX*4), AX")
		b.i("XORL %d(DI), AX", extraNot)
		b.i("MOVLQSX %d(R9), BX", instID)
		b.i("LEAQ (BX)(BX*2), BX") // guardCounts: warps, active, lanes
		b.i("SHLQ $3, BX")
		b.i("ADDQ %d(R11), BX", contextGuarded)
		b.i("TESTL AX, AX")
		b.i("JEQ none")
		b.i("CMPL AX, $-1")
		b.i("JNE bail")
		b.i("INCQ (BX)")
		b.i("INCQ 8(BX)")
		b.i("ADDQ $32, 16(BX)")
		b.next()
		b.label("none")
		b.i("INCQ (BX)")
		b.i("ADDQ $%d, R9", 2*instBytes)
		b.i("MOVQ (R9), AX")
		b.i("JMP AX")
		b.label("bail")
		b.leave()
	})
}

func (s *set) predicates() {
	s.define("opMovePredicate", func(b *block) {
		b.slots(1)
		b.i("MOVL (R10)(BX*4), AX")
		b.i("XORL %d(R9), AX", instImm)
		b.setPredicate()
	}).masks = true
	s.define("opSetPredicate", func(b *block) {
		b.slots(0)
		b.i("MOVL %d(R9), AX", instImm)
		b.setPredicate()
	}).masks = true
	for _, o := range []struct{ twin, instruction string }{{"opAndPredicate", "ANDL"}, {"opOrPredicate", "ORL"}, {"opXorPredicate", "XORL"}} {
		s.define(o.twin, func(b *block) {
			b.slots(2)
			b.i("MOVL (R10)(BX*4), AX")
			b.i("XORL %d(R9), AX", instImm)
			b.i("MOVL (R10)(CX*4), CX")
			b.i("XORL %d(R9), CX", instImm+4)
			b.i("%s CX, AX", o.instruction)
			b.setPredicate()
		}).masks = true
	}
}
