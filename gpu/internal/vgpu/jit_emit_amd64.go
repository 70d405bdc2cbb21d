package vgpu

// baseRegisters hold the host addresses of the groups of shared loads, for the slices in hand.
var baseRegisters = [jitMostGroups]int{regSI, regDI, regR12, regR13, regR15}

// Constants that stand before the code.
const (
	tableNaN     = 0   // the canonical NaN
	tableSign    = 32  // the sign bit
	tableLow16   = 64  // the lower half
	tableSplit   = 96  // byte order: lower halves, then upper ones, of four words
	table65536   = 128 // 65536.0
	tableOnes    = 160 // all ones
	tableAbs     = 192 // all but the sign
	tablesBytes  = 224 // indexes of gathers and distances of groups come behind
	compareOrder = 3   // predicate of vcmpps: unordered
)

// jitTables are the places of what a run adds to the constants, by group.
type jitTables struct {
	delta []int32
	index []int32
}

func rip(at int32) place { return place{noRegister, at} }

// twoOperand are operations that one instruction does: v op rm.
var twoOperand = map[jitCode]vector{jitAddF: vAddF, jitSubF: vSubF, jitMulF: vMulF, jitAdd: vAdd, jitSub: vSub, jitMulLow: vMulLow, jitAnd: vAnd, jitOr: vOr, jitXor: vXor,
	jitMinS: vMinS, jitMaxS: vMaxS, jitMinU: vMinU, jitMaxU: vMaxU, jitShl: vShiftLeft, jitShr: vShiftRight, jitSar: vShiftSigned}

// commutes says whether operands may be exchanged. Those of floats may not: x86 takes the first NaN, and so would not show
// the same payload, but every payload becomes canonical: they may.
var commutes = map[jitCode]bool{jitAddF: true, jitMulF: true, jitAdd: true, jitMulLow: true, jitAnd: true, jitOr: true, jitXor: true, jitMinS: true, jitMaxS: true, jitMinU: true, jitMaxU: true}

var shiftDirections = map[jitCode]int{jitShlBy: shiftLeftBy, jitShrBy: shiftRightBy, jitSarBy: shiftSignedBy}

// masks are operations with a constant.
var masks = map[jitCode]struct {
	vector
	at int32
}{jitNot: {vXor, tableOnes}, jitLow16: {vAnd, tableLow16}, jitSignF: {vXor, tableSign}, jitAbsF: {vAnd, tableAbs}}

// operation writes one operation.
func (e *emitter) operation(o *jitOp) {
	c := e.code
	if v, ok := twoOperand[o.code]; ok {
		e.two(o, v)
		return
	}
	if m, ok := masks[o.code]; ok {
		x := e.load(o.use[0])
		e.locked = 0
		c.vexMemory(m.vector, wide256, e.define(o.def[0]), x, rip(m.at))
		return
	}
	if way, ok := shiftDirections[o.code]; ok {
		x := e.load(o.use[0])
		e.locked = 0
		c.vex(vShiftBy, wide256, way, e.define(o.def[0]), x, byte(o.imm))
		return
	}
	switch o.code {
	case jitFMA:
		e.fma(o)
	case jitMinF, jitMaxF:
		e.extreme(o)
	case jitQuiet:
		x, t := e.load(o.use[0]), e.temporary()
		c.vex(vCompareF, wide256, t, x, x, compareOrder)
		e.locked = 1 << t
		c.vexMemory(vBlendF, wide256, e.define(o.def[0]), x, rip(tableNaN), byte(t)<<4)
	case jitCopy:
		x := e.load(o.use[0])
		e.locked = 0
		if d := e.define(o.def[0]); d != x {
			c.vex(vMove, wide256, d, 0, x)
		}
	case jitNeg:
		x, t := e.load(o.use[0]), e.temporary()
		c.vex(vXor, wide256, t, t, t)
		e.locked = 1 << t
		c.vex(vSub, wide256, e.define(o.def[0]), t, x)
	case jitAbs:
		x := e.load(o.use[0])
		e.locked = 0
		c.vex(vAbs, wide256, e.define(o.def[0]), 0, x)
	case jitPack16:
		x, y, t := e.load(o.use[0]), e.load(o.use[1]), e.temporary()
		c.vex(vShiftBy, wide256, shiftLeftBy, t, y, 16)
		e.locked = 1 << t
		d := e.define(o.def[0])
		c.vexMemory(vAnd, wide256, d, x, rip(tableLow16))
		c.vex(vOr, wide256, d, d, t)
	case jitLop3:
		e.lop3(o)
	case jitFromS32:
		x := e.load(o.use[0])
		e.locked = 0
		c.vex(vToFloat, wide256, e.define(o.def[0]), 0, x)
	case jitFromU32:
		e.fromUnsigned(o)
	case jitHalf, jitHalves:
		e.halves(o)
	case jitLoad2:
		e.loadPairs(o)
	case jitLoad4:
		e.loadQuads(o)
	case jitGather:
		e.gather(o)
	}
}

// two is an operation of one instruction, an operand from memory where that is better.
func (e *emitter) two(o *jitOp, v vector) {
	x, y := o.use[0], o.use[1]
	if commutes[o.code] && e.reg[x] < 0 && e.reg[y] >= 0 {
		x, y = y, x
	}
	a := e.load(x)
	m, memory := e.inMemory(y)
	b := 0
	if !memory {
		b = e.load(y)
	}
	e.locked = 0
	d := e.define(o.def[0])
	if memory {
		e.code.vexMemory(v, wide256, d, a, m)
	} else {
		e.code.vex(v, wide256, d, a, b)
	}
}

// fma is x·y + z. The instruction overwrites one operand: best z, when nobody needs it any more.
func (e *emitter) fma(o *jitOp) {
	x, y, z := o.use[0], o.use[1], o.use[2]
	c := e.code
	if e.reg[x] < 0 { // y is the one that may stay in memory
		if _, ok := e.home(x); ok && (e.reg[y] >= 0 || e.run.values[y].broadcast) {
			x, y = y, x
		}
	}
	rz := e.load(z)
	rx := e.load(x)
	m, memory := e.inMemory(y)
	ry := 0
	if !memory {
		ry = e.load(y)
	}
	d := rz
	if e.next(z, e.now+1) < never || z == x || z == y {
		e.locked = 1<<rx | 1<<rz
		if !memory {
			e.lock(ry)
		}
		d = e.define(o.def[0])
		c.vex(vMove, wide256, d, 0, rz)
	} else {
		e.reg[z] = -1
		e.hold(o.def[0], d)
	}
	if memory {
		c.vexMemory(vFMA231, wide256, d, rx, m)
	} else {
		c.vex(vFMA231, wide256, d, rx, ry)
	}
}

// extreme is PTX's min or max: of a NaN and a number the number, and −0 is less than +0.
func (e *emitter) extreme(o *jitOp) {
	c := e.code
	least, join := vMinF, vOrF
	if o.code == jitMaxF {
		least, join = vMaxF, vAndF
	}
	x, y, t := e.load(o.use[0]), e.load(o.use[1]), e.temporary()
	d := e.define(o.def[0])
	c.vex(least, wide256, t, x, y)
	c.vex(least, wide256, d, y, x)
	c.vex(join, wide256, d, d, t)
	c.vex(vCompareF, wide256, t, x, x, compareOrder)
	c.vex(vBlendF, wide256, d, d, y, byte(t)<<4)
	c.vex(vCompareF, wide256, t, y, y, compareOrder)
	c.vex(vBlendF, wide256, d, d, x, byte(t)<<4)
}

// lop3 is any function of three bits: f0(y, z) ^ x & (f0 ^ f1)(y, z), where f1 is the half of the table for x = 1.
func (e *emitter) lop3(o *jitOp) {
	c := e.code
	x, y, z, t := e.load(o.use[0]), e.load(o.use[1]), e.load(o.use[2]), e.temporary()
	d := e.define(o.def[0])
	f0, f1 := byte(o.imm&15), byte(o.imm>>4&15)
	c.ofTwo(f0^f1, t, y, z)
	c.vex(vAnd, wide256, t, t, x)
	c.ofTwo(f0, d, y, z)
	c.vex(vXor, wide256, d, d, t)
}

// ofTwo writes any function of two bits; bit 2y+z of the table is its value.
func (c *machineCode) ofTwo(table byte, d, y, z int) {
	not := false
	if table&1 != 0 { // of y = z = 0: make the complement
		table, not = ^table&15, true
	}
	switch table {
	case 0:
		c.vex(vXor, wide256, d, d, d)
	case 2:
		c.vex(vAndNot, wide256, d, y, z)
	case 4:
		c.vex(vAndNot, wide256, d, z, y)
	case 6:
		c.vex(vXor, wide256, d, y, z)
	case 8:
		c.vex(vAnd, wide256, d, y, z)
	case 10:
		c.vex(vMove, wide256, d, 0, z)
	case 12:
		c.vex(vMove, wide256, d, 0, y)
	case 14:
		c.vex(vOr, wide256, d, y, z)
	}
	if not {
		c.vexMemory(vXor, wide256, d, d, rip(tableOnes))
	}
}

// fromUnsigned adds both halves as floats, which are exact, in one rounding.
func (e *emitter) fromUnsigned(o *jitOp) {
	c := e.code
	x, t := e.load(o.use[0]), e.temporary()
	c.vex(vShiftBy, wide256, shiftRightBy, t, x, 16)
	c.vex(vToFloat, wide256, t, 0, t)
	e.locked |= 1 << t
	d := e.define(o.def[0])
	c.vexMemory(vAnd, wide256, d, x, rip(tableLow16))
	c.vex(vToFloat, wide256, d, 0, d)
	k := e.temporary()
	c.vexMemory(vLoad, wide256, k, 0, rip(table65536))
	c.vex(vFMA231, wide256, d, t, k)
}

// halves converts the lower halves of eight words from f16, or both halves.
func (e *emitter) halves(o *jitOp) {
	c := e.code
	x, t := e.load(o.use[0]), e.temporary()
	c.vexMemory(vLoad, wide256, t, 0, rip(tableSplit))
	c.vex(vShuffleBytes, wide256, t, x, t)
	c.vex(vPermQuads, wide256, t, 0, t, 0xD8) // all lower halves, then all upper ones
	if o.code == jitHalf {
		e.locked = 1 << t
		c.vex(vHalfToFloat, wide256, e.define(o.def[0]), 0, t)
		return
	}
	e.locked = 1 << t
	low := e.define(o.def[0])
	c.vex(vHalfToFloat, wide256, low, 0, t)
	high := e.define(o.def[1])
	c.vex(vExtractHigh, wide256, t, 0, t, 1)
	c.vex(vHalfToFloat, wide256, high, 0, t)
}

// loadPairs loads two words of each of eight lanes that lie in a row.
func (e *emitter) loadPairs(o *jitOp) {
	c, base := e.code, baseRegisters[o.group]
	t, u := e.temporary(), e.temporary()
	first, second := e.define(o.def[0]), e.define(o.def[1])
	// t: lanes 0 1 and 4 5; u: lanes 2 3 and 6 7.
	for k, r := range [2]int{t, u} {
		c.vexMemory(vLoad, wide128, r, 0, place{base, o.imm + int32(16*k)})
		c.vexMemory(vInsertHigh, wide256, r, r, place{base, o.imm + int32(32+16*k)}, 1)
	}
	c.vex(vShufflePairs, wide256, first, t, u, 0x88)
	c.vex(vShufflePairs, wide256, second, t, u, 0xDD)
}

// loadQuads loads four words of each of eight lanes that lie in a row: a transposition.
func (e *emitter) loadQuads(o *jitOp) {
	c, base := e.code, baseRegisters[o.group]
	var d, t [4]int
	for k := range d {
		t[k] = e.temporary()
	}
	for k := range d {
		d[k] = e.define(o.def[k])
		c.vexMemory(vLoad, wide128, d[k], 0, place{base, o.imm + int32(16*k)}) // lane k
		c.vexMemory(vInsertHigh, wide256, d[k], d[k], place{base, o.imm + int32(64+16*k)}, 1)
	}
	c.vex(vUnpackLow, wide256, t[0], d[0], d[1])
	c.vex(vUnpackHigh, wide256, t[1], d[0], d[1])
	c.vex(vUnpackLow, wide256, t[2], d[2], d[3])
	c.vex(vUnpackHigh, wide256, t[3], d[2], d[3])
	c.vex(vUnpackLowQ, wide256, d[0], t[0], t[2])
	c.vex(vUnpackHighQ, wide256, d[1], t[0], t[2])
	c.vex(vUnpackLowQ, wide256, d[2], t[1], t[3])
	c.vex(vUnpackHighQ, wide256, d[3], t[1], t[3])
}

// gather loads a word of each of eight lanes; the table has their distances from the slice's first lane.
func (e *emitter) gather(o *jitOp) {
	c := e.code
	index, mask := e.temporary(), e.temporary()
	d := e.define(o.def[0])
	group, slice := int(o.group)/e.run.unroll, int32(o.group)%int32(e.run.unroll)
	c.address(regAX, rip(e.tables.index[group]+32*slice))
	c.bytes(0x48, 0x01, 0xC8) // add rax, rcx: the slices done so far, 32 bytes each
	c.vexMemory(vLoad, wide256, index, 0, place{regAX, 0})
	c.vex(vEqual, wide256, mask, mask, mask)
	c.gather(d, baseRegisters[o.group], index, o.imm, mask)
}
