package asmgen

// jumps are how the code of a block for all lanes ends in the assembly: it goes on with the next block by itself while all lanes
// go there, its code is known, and there is fuel; else it leaves to (*warp).run, before it has counted anything.
func (s *set) jumps() {
	s.variant("opJump", 0, func(b *block) {
		b.i("MOVQ %d(R9), DI", instImm)
		b.i("MOVQ %d(DI), SI", jumpTaken)
		b.landing(func() {})
	})
	s.variant("opBranch", 0, func(b *block) {
		b.i("MOVQ %d(R9), DI", instImm)
		b.i("MOVL %d(R9), BX", instA)
		b.i("MOVL (R10)(BX*4), AX")
		b.i("XORL %d(R9), AX", instB)
		b.i("MOVQ %d(DI), SI", jumpNext)
		b.i("XORL R12, R12") // how often it is taken
		b.i("TESTL AX, AX")
		b.i("JEQ decided")
		b.i("CMPL AX, $-1")
		b.i("JNE bail")
		b.i("MOVQ %d(DI), SI", jumpTaken)
		b.i("MOVL $1, R12")
		b.label("decided")
		b.landing(func() {
			b.i("MOVL %d(R9), DI", instD)
			b.i("ADDQ CX, DI")
			b.i("INCQ %d(DI)", countsBranches)
			b.i("ADDQ R12, %d(DI)", countsTaken)
			b.i("SHLQ $5, R12")
			b.i("ADDQ R12, %d(DI)", countsTakenLanes)
		})
	})
}

// landing goes to the block whose landing SI points at, and counts; own counts what the block behind does, whose counts lie from CX on.
func (b *block) landing(own func()) {
	b.i("TESTQ SI, SI")
	b.i("JEQ bail")
	b.i("MOVQ %d(R11), AX", contextSelect)
	b.i("MOVQ (SI)(AX*1), DX")
	b.i("TESTQ DX, DX")
	b.i("JEQ bail")
	b.i("MOVQ %d(R11), AX", contextFuel)
	b.i("TESTQ AX, AX")
	b.i("JLE bail")
	b.i("SUBQ %d(SI), AX", landingCost)
	b.i("MOVQ AX, %d(R11)", contextFuel)
	b.i("MOVQ %d(R11), CX", contextCounts)
	own()
	b.i("ADDQ %d(SI), CX", landingCounts)
	b.i("INCQ %d(CX)", countsWarps)
	b.i("ADDQ $32, %d(CX)", countsLanes)
	b.i("MOVQ %d(SI), AX", landingChase)
	b.i("ADDQ AX, %d(R11)", contextRounds)
	b.i("MOVQ %d(SI), AX", landingNumber)
	b.i("MOVQ AX, %d(R11)", contextBlock)
	b.i("MOVQ DX, R9")
	b.i("MOVQ (R9), AX")
	b.i("JMP AX")
	b.label("bail")
	b.leave()
}
