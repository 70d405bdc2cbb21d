package vgpu

// Variants of the memory ops: the element's size and number, whether registers have 64 bits, and how the address is given.
const (
	variantWide64  = 1 << 8 // 64-bit address register
	variantWide    = 1 << 9 // 64-bit data registers
	variantSigned  = 1 << 10
	variantPerSize = 16 // variant = elements + variantPerSize·log2 size
)

// variantByFunc gives the variant of instructions whose op depends on more than their function; ok is false where there
// is no assembly.
var variantByFunc = map[uintptr]func(in *inst) (int, bool){
	codeOf(laneLop3):        func(in *inst) (int, bool) { return int(in.imm), true },
	codeOf(opShuffle):       shuffleVariant,
	codeOf(opVote):          func(in *inst) (int, bool) { return int(in.n), true },
	codeOf(opLoadParam):     paramVariant,
	codeOf(opLoadGlobal):    memoryVariant,
	codeOf(opStoreGlobal):   memoryVariant,
	codeOf(opLoadGeneric):   memoryVariant,
	codeOf(opStoreGeneric):  memoryVariant,
	codeOf(opLoadShared):    memoryVariant,
	codeOf(opStoreShared):   memoryVariant,
	codeOf(opLoadMatrix):    matrixLoadVariant,
	codeOf(laneSelect32):    immediate,
	codeOf(laneSelect64):    immediate,
	codeOf(opButterfly):     immediate,
	codeOf(opGuarded):       func(in *inst) (int, bool) { return 0, true },
	codeOf(opMovePredicate): plainPredicate,
	codeOf(opSetPredicate):  plainPredicate,
	codeOf(opAndPredicate):  plainPredicate,
	codeOf(opOrPredicate):   plainPredicate,
	codeOf(opXorPredicate):  plainPredicate,
}

// variantOf gives the variant of an instruction; a comparison that combines or has two destinations has none.
func variantOf(in *inst) (int, bool) {
	if f := variantByFunc[codeOf(in.fn)]; f != nil {
		return f(in)
	}
	if x := in.ext; x != nil && (x.combine != 0 || x.second >= 0) {
		return 0, false
	}
	// A parameter that the assembly does not look at means another operation.
	return 0, in.imm == 0 && in.size == 0 && in.n == 0 && in.flags&^(flagSelf|flagWide|flagLow|flagHigh) == 0
}

// immediate is for ops that take imm as it stands.
func immediate(in *inst) (int, bool) { return 0, in.ext == nil || in.ext.second < 0 }

func plainPredicate(in *inst) (int, bool) { return 0, in.ext == nil }

func shuffleVariant(in *inst) (int, bool) {
	if in.ext.second >= 0 {
		return int(in.imm) + 4, true
	}
	return int(in.imm), true
}

func sizeVariant(in *inst) int {
	log := map[uint8]int{1: 0, 2: 1, 4: 2, 8: 3, 16: 4}[in.size]
	v := int(in.n) + variantPerSize*log
	if in.flags&flagWide != 0 {
		v |= variantWide
	}
	if in.flags&flagSigned != 0 && in.flags&flagStore == 0 && int(in.size) < 4<<b2i(in.flags&flagWide != 0) {
		v |= variantSigned
	}
	return v
}

func paramVariant(in *inst) (int, bool) { return sizeVariant(in), true }

func memoryVariant(in *inst) (int, bool) {
	if in.flags&flagFixed != 0 || in.pattern < 0 {
		return 0, false
	}
	v := sizeVariant(in)
	if in.flags&flagWide64 != 0 {
		v |= variantWide64
	}
	return v, true
}

func matrixLoadVariant(in *inst) (int, bool) {
	if in.flags&(flagFixed|flagGeneric) != 0 {
		return 0, false
	}
	v := int(in.n)
	if in.flags&flagTrans != 0 {
		v += variantPerSize
	}
	if in.flags&flagWide64 != 0 {
		v |= variantWide64
	}
	return v, true
}
