package asmgen

import "fmt"

// tables are the constants that ops share.
func (s *set) tables() {
	shifts := make([]uint32, 32)
	for lane := range shifts {
		shifts[lane] = uint32(31 - lane)
	}
	s.table("laneToSign", shifts) // shifting a mask left by these puts lane l's bit into its sign
	wide := make([]uint32, 64)
	for lane := range 32 {
		wide[2*lane] = uint32(63 - lane)
	}
	s.table("laneToSign64", wide)
	s.table("packOrder", []uint32{0, 4, 1, 5, 2, 6, 3, 7}) // of bytes after two rounds of packing
	low := bytesOf(0, 1, 4, 5, 8, 9, 12, 13, 128, 128, 128, 128, 128, 128, 128, 128)
	s.table("lowHalves", append(low, low...)) // the lower halves of four words
	both := bytesOf(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)
	s.table("splitHalves", append(both, both...)) // lower halves, then upper ones
}

// bytesOf packs bytes into words.
func bytesOf(list ...byte) []uint32 {
	words := make([]uint32, len(list)/4)
	for i := range words {
		words[i] = uint32(list[4*i]) | uint32(list[4*i+1])<<8 | uint32(list[4*i+2])<<16 | uint32(list[4*i+3])<<24
	}
	return words
}

// Registers that hold the slots of operands: d in DX, a in BX, b in CX, c in SI, e in DI.
var slotRegister = map[int]string{instD: "DX", instA: "BX", instB: "CX", instC: "SI", instE: "DI"}

// slots loads the slots of the destination and of n sources.
func (b *block) slots(n int) {
	for _, at := range []int{instD, instA, instB, instC, instE}[:n+1] {
		b.i("MOVL %d(R9), %s", at, slotRegister[at])
	}
}

// Operands of an op in order: the index registers of its sources.
var sourceIndex = []string{"BX", "CX", "SI", "DI"}

// at is 32 bytes of a slot.
func at(index string, k int) string { return fmt.Sprintf("%d(R8)(%s*1)", 32*k, index) }

// atHalf is 16 bytes of a slot.
func atHalf(index string, k int) string { return fmt.Sprintf("%d(R8)(%s*1)", 16*k, index) }

// load puts n times 32 bytes of a slot into registers.
func (b *block) load(reg int, index string, n int) {
	for k := range n {
		b.i("VMOVDQU %s, Y%d", at(index, k), reg+k)
	}
}

// store writes registers to the destination.
func (b *block) store(reg, n int) { b.storeTo(reg, "DX", n) }

func (b *block) storeTo(reg int, index string, n int) {
	for k := range n {
		b.i("VMOVDQU Y%d, %s", reg+k, at(index, k))
	}
}

// each writes an instruction for k = 0…n-1; every %d of the text becomes base+k of the bases in order.
func (b *block) each(n int, format string, bases ...int) {
	for k := range n {
		args := make([]any, len(bases))
		for i, base := range bases {
			args[i] = base + k
		}
		b.i(format, args...)
	}
}

// fill broadcasts a constant.
func (b *block) fill(reg int, bits uint32) {
	switch bits {
	case 0:
		b.i("VPXOR Y%d, Y%d, Y%d", reg, reg, reg)
		return
	case 0xffffffff:
		b.i("VPCMPEQD Y%d, Y%d, Y%d", reg, reg, reg)
		return
	}
	b.i("MOVL $0x%08x, AX", bits)
	b.i("VMOVD AX, X%d", reg)
	b.i("VPBROADCASTD X%d, Y%d", reg, reg)
}

// fill64 broadcasts a 64-bit constant.
func (b *block) fill64(reg int, bits uint64) {
	b.i("MOVQ $0x%x, AX", bits)
	b.i("VMOVQ AX, X%d", reg)
	b.i("VPBROADCASTQ X%d, Y%d", reg, reg)
}

// narrow packs the lower halves of eight registers of 64-bit lanes into four of 32-bit ones.
func (b *block) narrow(from, to int) {
	for k := range 4 {
		b.i("VSHUFPS $0x88, Y%d, Y%d, Y%d", from+2*k+1, from+2*k, to+k)
		b.i("VPERMQ $0xD8, Y%d, Y%d", to+k, to+k)
	}
}

// signs spreads a mask: register k's lanes get their bit of the mask, which stands in memory, as their sign.
func (b *block) signs(mask string, reg int) {
	b.i("VPBROADCASTD %s, Y15", mask)
	for k := range 4 {
		b.i("VPSLLVD laneToSign<>+%d(SB), Y15, Y%d", 32*k, reg+k)
	}
}

// maskOf gathers four registers of all-ones or zero lanes into the bits of AX; it uses Y15.
func (b *block) maskOf(reg int) {
	b.i("VPACKSSDW Y%d, Y%d, Y%d", reg+1, reg, reg)
	b.i("VPACKSSDW Y%d, Y%d, Y%d", reg+3, reg+2, reg+2)
	b.i("VPACKSSWB Y%d, Y%d, Y%d", reg+2, reg, reg)
	b.i("VMOVDQU packOrder<>(SB), Y15")
	b.i("VPERMD Y%d, Y15, Y%d", reg, reg)
	b.i("VPMOVMSKB Y%d, AX", reg)
}

// setPredicate stores AX in the active lanes of the predicate whose index is in DX.
func (b *block) setPredicate() {
	b.i("MOVL %d(R11), BX", contextMask)
	b.i("ANDL BX, AX")
	b.i("NOTL BX")
	b.i("ANDL (R10)(DX*4), BX")
	b.i("ORL BX, AX")
	b.i("MOVL AX, (R10)(DX*4)")
}

// scratch is the context's scratch memory.
func scratch(offset int) string { return fmt.Sprintf("%d(R11)", contextScratch+offset) }
