package vgpu

import "encoding/binary"

// General registers that compiled code uses, by their numbers. R8, R9, R10 and R11 mean what they mean to every threaded op
// (threads_amd64.go); RSP, RBP and R14 belong to Go.
const (
	regAX, regCX, regDX, regBX, regSI, regDI     = 0, 1, 2, 3, 6, 7
	regR8, regR9, regR11, regR12, regR13, regR15 = 8, 9, 11, 12, 13, 15
	noRegister                                   = -1
)

// place is a memory operand: [base + disp], or with base == noRegister the constant at offset disp of the code's buffer.
type place struct {
	base int
	disp int32
}

// machineCode is x86-64 code under construction (Intel SDM, volume 2). Constants stand before it in the same buffer.
type machineCode struct{ b []byte }

func (c *machineCode) bytes(b ...byte) { c.b = append(c.b, b...) }
func (c *machineCode) word(v int32)    { c.b = binary.LittleEndian.AppendUint32(c.b, uint32(v)) }
func (c *machineCode) at() int         { return len(c.b) }

// operand writes ModRM, SIB and displacement of a memory operand; tail is how many bytes of immediate follow.
func (c *machineCode) operand(reg int, m place, tail int) {
	if m.base == noRegister { // RIP-relative: the distance from the end of the instruction
		c.bytes(byte(reg&7)<<3 | 5)
		c.word(m.disp - int32(c.at()+4+tail))
		return
	}
	short := m.disp >= -128 && m.disp < 128
	mod := byte(0x80)
	if short {
		mod = 0x40
	}
	c.bytes(mod | byte(reg&7)<<3 | byte(m.base&7))
	if m.base&7 == 4 { // R12 takes a SIB byte
		c.bytes(0x24)
	}
	if short {
		c.bytes(byte(m.disp))
	} else {
		c.word(m.disp)
	}
}

// vector is a VEX instruction: map (1: 0F, 2: 0F38, 3: 0F3A), prefix (0, 1: 66, 2: F3, 3: F2) and opcode.
type vector struct{ space, prefix, opcode byte }

const (
	wide256 = 1
	wide128 = 0
)

// vex writes a VEX instruction of registers: reg = op(v, rm).
func (c *machineCode) vex(o vector, length byte, reg, v, rm int, immediate ...byte) {
	c.prefix(o, length, reg, v, rm)
	c.bytes(0xC0 | byte(reg&7)<<3 | byte(rm&7))
	c.bytes(immediate...)
}

// vexMemory is vex with the last operand in memory.
func (c *machineCode) vexMemory(o vector, length byte, reg, v int, m place, immediate ...byte) {
	c.prefix(o, length, reg, v, max(m.base, 0))
	c.operand(reg, m, len(immediate))
	c.bytes(immediate...)
}

func (c *machineCode) prefix(o vector, length byte, reg, v, rm int) {
	second := 0x40 | o.space // X is not used: its inverse is set
	if reg < 8 {
		second |= 0x80
	}
	if rm < 8 {
		second |= 0x20
	}
	wide := byte(0)
	if o == vPermQuads {
		wide = 0x80
	}
	c.bytes(0xC4, second, wide|byte(^v&15)<<3|length<<2|o.prefix, o.opcode)
}

// gather writes vgatherdps reg, [base + index·1 + disp], mask.
func (c *machineCode) gather(reg, base, index int, disp int32, mask int) {
	second := byte(2)
	if reg < 8 {
		second |= 0x80
	}
	if index < 8 {
		second |= 0x40
	}
	if base < 8 {
		second |= 0x20
	}
	c.bytes(0xC4, second, byte(^mask&15)<<3|wide256<<2|1, 0x92, 0x80|byte(reg&7)<<3|4, byte(index&7)<<3|byte(base&7))
	c.word(disp)
}

// The vector instructions that are used.
var (
	vLoad         = vector{1, 0, 0x10} // vmovups
	vStore        = vector{1, 0, 0x11}
	vMove         = vector{1, 0, 0x28}
	vBroadcast    = vector{2, 1, 0x18} // of a float in memory
	vBroadcastD   = vector{2, 1, 0x58}
	vBroadcastQ   = vector{2, 1, 0x59}
	vFMA231       = vector{2, 1, 0xB8} // reg = v·rm + reg
	vFMA213       = vector{2, 1, 0xA8} // reg = v·reg + rm
	vAddF         = vector{1, 0, 0x58}
	vMulF         = vector{1, 0, 0x59}
	vSubF         = vector{1, 0, 0x5C}
	vMinF         = vector{1, 0, 0x5D}
	vMaxF         = vector{1, 0, 0x5F}
	vAndF         = vector{1, 0, 0x54}
	vOrF          = vector{1, 0, 0x56}
	vCompareF     = vector{1, 0, 0xC2}
	vBlendF       = vector{3, 1, 0x4A}
	vAdd          = vector{1, 1, 0xFE}
	vAddQuads     = vector{1, 1, 0xD4}
	vSub          = vector{1, 1, 0xFA}
	vMulLow       = vector{2, 1, 0x40}
	vAnd          = vector{1, 1, 0xDB}
	vAndNot       = vector{1, 1, 0xDF} // ^v & rm
	vOr           = vector{1, 1, 0xEB}
	vXor          = vector{1, 1, 0xEF}
	vShiftLeft    = vector{2, 1, 0x47} // by the lanes of rm
	vShiftRight   = vector{2, 1, 0x45}
	vShiftSigned  = vector{2, 1, 0x46}
	vShiftBy      = vector{1, 1, 0x72} // by an immediate; reg says which way
	vMinS         = vector{2, 1, 0x39}
	vMaxS         = vector{2, 1, 0x3D}
	vMinU         = vector{2, 1, 0x3B}
	vMaxU         = vector{2, 1, 0x3F}
	vAbs          = vector{2, 1, 0x1E}
	vEqual        = vector{1, 1, 0x76}
	vEqualQuads   = vector{2, 1, 0x29}
	vToFloat      = vector{1, 0, 0x5B} // of signed words
	vHalfToFloat  = vector{2, 1, 0x13}
	vShuffleBytes = vector{2, 1, 0x00}
	vPermQuads    = vector{3, 1, 0x00}
	vInsertHigh   = vector{3, 1, 0x18}
	vExtractHigh  = vector{3, 1, 0x39}
	vUnpackLow    = vector{1, 0, 0x14}
	vUnpackHigh   = vector{1, 0, 0x15}
	vUnpackLowQ   = vector{1, 1, 0x14}
	vUnpackHighQ  = vector{1, 1, 0x15}
	vSignBits     = vector{1, 1, 0xD7} // vpmovmskb
	vFromGeneral  = vector{1, 1, 0x6E} // vmovd
)

const (
	shiftRightBy  = 2 // reg of vShiftBy
	shiftSignedBy = 4
	shiftLeftBy   = 6
)

// rex is the prefix of an instruction on 64-bit general registers.
func rex(reg, rm int) byte {
	r := byte(0x48)
	if reg >= 8 {
		r |= 4
	}
	if rm >= 8 {
		r |= 1
	}
	return r
}

// loadQuad is mov r64, [m]; loadWord is mov r32, [m], which clears the upper half.
func (c *machineCode) loadQuad(reg int, m place) {
	c.bytes(rex(reg, m.base), 0x8B)
	c.operand(reg, m, 0)
}

func (c *machineCode) loadWord(reg int, m place) {
	c.bytes(rex(reg, m.base)&^8, 0x8B)
	c.operand(reg, m, 0)
}

// addQuad is add reg, [m].
func (c *machineCode) addQuad(reg int, m place) {
	c.bytes(rex(reg, m.base), 0x03)
	c.operand(reg, m, 0)
}

// address is lea reg, [m].
func (c *machineCode) address(reg int, m place) {
	c.bytes(rex(reg, max(m.base, 0)), 0x8D)
	c.operand(reg, m, 0)
}

// incrementQuad is inc qword [m].
func (c *machineCode) incrementQuad(m place) {
	c.bytes(rex(0, m.base), 0xFF)
	c.operand(0, m, 0)
}

// jumpIf is a conditional jump to a place that is patched later; it gives where.
func (c *machineCode) jumpIf(condition byte) int {
	c.bytes(0x0F, 0x80|condition)
	c.word(0)
	return c.at()
}

const (
	ifAbove    = 7
	ifNotEqual = 5
	ifNegative = 8
	ifEqual    = 4
)

// land makes a jump of jumpIf go to here.
func (c *machineCode) land(from int) {
	binary.LittleEndian.PutUint32(c.b[from-4:], uint32(c.at()-from))
}

// jumpBack makes a jump of jumpIf go to a place before it.
func (c *machineCode) jumpBack(from, to int) {
	binary.LittleEndian.PutUint32(c.b[from-4:], uint32(int32(to-from)))
}

// jumpTo is a jump to an absolute address.
func (c *machineCode) jumpTo(address uintptr) {
	c.bytes(0x48, 0xB8) // mov rax, imm64
	c.b = binary.LittleEndian.AppendUint64(c.b, uint64(address))
	c.bytes(0xFF, 0xE0)
}

// vShufflePairs is vshufps.
var vShufflePairs = vector{1, 0, 0xC6}
