package vgpu

import "slices"

// jitSpec is how a lane function is said in the intermediate form.
type jitSpec struct {
	code    jitCode
	sources int
	floats  bool // NaNs of any payload may go in
	nan     bool // and may come out
}

// jitSpecs are the lane functions that runs are made of, by their code; copies, shifts, fields and loads are read by the
// builder itself.
var jitSpecs = func() map[uintptr]jitSpec {
	specs := map[uintptr]jitSpec{}
	for _, s := range []struct {
		fn opFunc
		jitSpec
	}{
		{laneFmaRnF32, jitSpec{jitFMA, 3, true, true}}, {laneFmaHalves, jitSpec{jitFMA, 3, true, true}},
		{laneAddF32, jitSpec{jitAddF, 2, true, true}}, {laneSubF32, jitSpec{jitSubF, 2, true, true}}, {laneMulF32, jitSpec{jitMulF, 2, true, true}},
		{laneMinF32, jitSpec{jitMinF, 2, true, true}}, {laneMaxF32, jitSpec{jitMaxF, 2, true, true}},
		{laneAbsF32, jitSpec{jitAbsF, 1, false, false}}, {laneNegF32, jitSpec{jitSignF, 1, false, false}},
		{laneAddS32, jitSpec{jitAdd, 2, false, false}}, {laneSubS32, jitSpec{jitSub, 2, false, false}}, {laneMulLoS32, jitSpec{jitMulLow, 2, false, false}},
		{laneAndB32, jitSpec{jitAnd, 2, false, false}}, {laneOrB32, jitSpec{jitOr, 2, false, false}}, {laneXorB32, jitSpec{jitXor, 2, false, false}},
		{laneNotB32, jitSpec{jitNot, 1, false, false}}, {laneNegS32, jitSpec{jitNeg, 1, false, false}}, {laneAbsS32, jitSpec{jitAbs, 1, false, false}},
		{laneMinS32, jitSpec{jitMinS, 2, false, false}}, {laneMaxS32, jitSpec{jitMaxS, 2, false, false}},
		{laneMinU32, jitSpec{jitMinU, 2, false, false}}, {laneMaxU32, jitSpec{jitMaxU, 2, false, false}},
		{laneShlB32, jitSpec{jitShl, 2, false, false}}, {laneShrU32, jitSpec{jitShr, 2, false, false}}, {laneShrS32, jitSpec{jitSar, 2, false, false}},
		{laneCvtU32U16, jitSpec{jitLow16, 1, false, false}}, {laneCvtU16U32, jitSpec{jitLow16, 1, false, false}},
		{lanePack16, jitSpec{jitPack16, 2, false, false}}, {laneLop3, jitSpec{jitLop3, 3, false, false}},
		{laneCvtRnF32S32, jitSpec{jitFromS32, 1, false, false}}, {laneCvtRnF32U32, jitSpec{jitFromU32, 1, false, false}},
		{laneCvtF32F16, jitSpec{jitHalf, 1, false, true}},
	} {
		specs[codeOf(s.fn)] = s.jitSpec
	}
	return specs
}()

// Lane functions that the builder reads itself.
var (
	codeMov      = codeOf(laneMovB32)
	codeCopy     = codeOf(laneCvtU32U32)
	codeMad      = codeOf(laneMadLoS32)
	codeBfe      = codeOf(laneBfeU32)
	codeSext     = codeOf(laneCvtS32S16)
	codeBfloat   = codeOf(laneCvtF32Bf16)
	codeHighHalf = codeOf(laneCvtF32F16High)
	codeHalves   = codeOf(opHalves)
	codeUnpack   = codeOf(opUnpack16)
	codeLoad     = codeOf(opLoadShared)
)

const (
	jitLongest    = 1024 // instructions of a run
	jitShortest   = 4
	jitMostGroups = 5 // base registers
)

// builder turns instructions into a run.
type builder struct {
	run       *jitRun
	program   *program
	deltas    map[int32]*[32]int64  // of loads, by their pattern: the lanes' distances from the first
	constants map[uint32]uint32     // bits of slots that never change
	now       [4]map[uint32]int32   // value of a slot, by the slice in hand
	quiet     map[int32]int32       // values with NaNs made canonical
	slotValue map[uint32]int32      // values of slots at the start
	shared    map[sharedValue]int32 // words of shared memory
}

type sharedValue struct {
	group, disp int32
	broadcast   bool
}

// buildRun reads as many instructions of a block's code as a run can have, from `from` on, for so many slices side by side.
func buildRun(p *program, deltas map[int32]*[32]int64, code []inst, from, most, unroll int) *builder {
	b := &builder{run: &jitRun{from: from, to: from, unroll: unroll}, program: p, deltas: deltas, constants: map[uint32]uint32{},
		quiet: map[int32]int32{}, slotValue: map[uint32]int32{}, shared: map[sharedValue]int32{}}
	for _, c := range p.constants {
		if !c.wide {
			b.constants[c.at] = uint32(c.bits)
		}
	}
	for u := range unroll {
		b.now[u] = map[uint32]int32{}
	}
	for b.run.to < len(code) && b.run.to-from < most && b.instruction(&code[b.run.to]) {
		b.run.to++
	}
	return b
}

// instruction adds one instruction for all slices; false where a run cannot have it.
func (b *builder) instruction(in *inst) bool {
	if in.fn == nil || in.flags&(flagWide|flagStore|flagAtomic) != 0 {
		return false
	}
	code := codeOf(in.fn)
	if code == codeLoad {
		return b.load(in)
	}
	spec, known := jitSpecs[code]
	if in.ext != nil && code != codeUnpack {
		return false
	}
	for u := range b.run.unroll {
		if known {
			b.plain(u, in, spec)
		} else if !b.special(u, in, code) {
			return false
		}
	}
	return true
}

// plain is an instruction of jitSpecs.
func (b *builder) plain(u int, in *inst, s jitSpec) {
	if by, ok := map[jitCode]jitCode{jitShl: jitShlBy, jitShr: jitShrBy, jitSar: jitSarBy}[s.code]; ok {
		if shift, constant := b.constants[in.b]; constant && shift < 32 {
			b.by(u, by, in.d, b.read(u, in.a, false), int32(shift))
			return
		}
	}
	slots := [3]uint32{in.a, in.b, in.c}
	use := make([]int32, s.sources)
	for i := range use {
		use[i] = b.read(u, slots[i], s.floats)
	}
	o := b.run.op(s.code, 1, use...)
	o.imm = int32(in.imm)
	b.run.values[o.def[0]].nan = s.nan
	b.write(u, in.d, o.def[0])
}

// by appends an operation with an immediate.
func (b *builder) by(u int, code jitCode, slot uint32, x, imm int32) {
	o := b.run.op(code, 1, x)
	o.imm = imm
	b.write(u, slot, o.def[0])
}

// special is an instruction that the table does not say; false where it is none of these.
func (b *builder) special(u int, in *inst, code uintptr) bool {
	x := func() int32 { return b.read(u, in.a, false) }
	switch code {
	case codeMov, codeCopy:
		b.write(u, in.d, b.read(u, in.a, true))
	case codeMad:
		product := b.run.op(jitMulLow, 1, x(), b.read(u, in.b, false)).def[0]
		b.write(u, in.d, b.run.op(jitAdd, 1, product, b.read(u, in.c, false)).def[0])
	case codeBfe:
		at, constant := b.constants[in.b]
		n, too := b.constants[in.c]
		if at, n = at&255, n&255; !constant || !too || n == 0 || at+n > 32 {
			return false
		}
		left := b.run.op(jitShlBy, 1, x())
		left.imm = int32(32 - at - n)
		b.by(u, jitShrBy, in.d, left.def[0], int32(32-n))
	case codeSext:
		left := b.run.op(jitShlBy, 1, x())
		left.imm = 16
		b.by(u, jitSarBy, in.d, left.def[0], 16)
	case codeBfloat:
		b.by(u, jitShlBy, in.d, x(), 16)
		b.run.values[b.now[u][in.d]].nan = true
	case codeHighHalf:
		right := b.run.op(jitShrBy, 1, x())
		right.imm = 16
		o := b.run.op(jitHalf, 1, right.def[0])
		b.run.values[o.def[0]].nan = true
		b.write(u, in.d, o.def[0])
	case codeHalves:
		o := b.run.op(jitHalves, 2, x())
		b.run.values[o.def[0]].nan, b.run.values[o.def[1]].nan = true, true
		b.write(u, in.d, o.def[0])
		b.write(u, in.e, o.def[1])
	case codeUnpack:
		a := x()
		b.write(u, in.ext.regs[0], b.run.op(jitLow16, 1, a).def[0])
		b.by(u, jitShrBy, in.ext.regs[1], a, 16)
	default:
		return false
	}
	return true
}

// read gives the value of a slot in a slice; unless any NaN will do, its NaNs are canonical.
func (b *builder) read(u int, slot uint32, anyNaN bool) int32 {
	v, ok := b.now[u][slot]
	if !ok {
		at := slot + 32*uint32(u)
		if v, ok = b.slotValue[at]; !ok {
			v = b.run.add(jitValue{kind: valueSlot, slot: at})
			b.slotValue[at] = v
		}
	}
	if anyNaN || !b.run.values[v].nan {
		return v
	}
	q, ok := b.quiet[v]
	if !ok {
		q = b.run.op(jitQuiet, 1, v).def[0]
		b.quiet[v] = q
	}
	return q
}

func (b *builder) write(u int, slot uint32, v int32) { b.now[u][slot] = v }

// load is ld.shared of words; false where its addresses are not known.
func (b *builder) load(in *inst) bool {
	if in.size != 4 || in.pattern < 0 || in.ext != nil && in.ext.flying != nil {
		return false
	}
	size := int64(in.size) * int64(in.n)
	g := b.group(in)
	if g < 0 {
		return false
	}
	group := &b.run.groups[g]
	disp := int32(uint32(in.imm))
	if int64(disp) != int64(in.imm) && in.imm>>32 != 0 {
		return false
	}
	kind := group.kind(size)
	regs := []uint32{in.d}
	if in.n > 1 {
		regs = in.ext.regs
	}
	group.low, group.high = min(group.low, slices.Min(group.delta[:])+int64(disp)), max(group.high, slices.Max(group.delta[:])+int64(disp)+size)
	if a := (alignment{disp & int32(size-1), int32(size)}); !slices.Contains(group.aligns, a) {
		group.aligns = append(group.aligns, a)
	}
	for u := range b.run.unroll {
		base := int32(g*b.run.unroll + u)
		var words [4]int32
		switch {
		case kind == lanesAlike || kind == lanesInARow && in.n == 1:
			for i := range regs {
				words[i] = b.word(base, disp+4*int32(i), kind == lanesAlike)
			}
		case kind == lanesInARow:
			code := jitLoad2
			if in.n == 4 {
				code = jitLoad4
			}
			o := b.run.op(code, int(in.n))
			o.group, o.imm = base, disp
			copy(words[:], o.def)
		default:
			for i := range regs {
				o := b.run.op(jitGather, 1)
				o.group, o.imm = base, disp+4*int32(i)
				words[i] = o.def[0]
			}
		}
		for i, slot := range regs {
			b.write(u, slot, words[i])
		}
	}
	b.run.loads = append(b.run.loads, jitLoad{in.pattern, group.counts(uint64(size))})
	return true
}

// word is a word of shared memory; the same one is one value.
func (b *builder) word(base, disp int32, broadcast bool) int32 {
	key := sharedValue{base, disp, broadcast}
	v, ok := b.shared[key]
	if !ok {
		v = b.run.add(jitValue{kind: valueShared, group: base, disp: disp, broadcast: broadcast})
		b.shared[key] = v
	}
	return v
}

// group finds or makes the group of a load's address register, or −1 where the run cannot have the load: its address is made
// in the run, its pattern is not known, differs from that of the group, or there are too many.
func (b *builder) group(in *inst) int {
	g := sharedGroup{slot: in.a, wide: in.flags&flagWide64 != 0, fixed: in.flags&flagFixed != 0}
	if g.fixed {
		g.slot, g.wide = 0, false
	} else {
		if _, written := b.now[0][in.a]; written && !g.wide {
			return -1
		}
		known := b.deltas[in.pattern]
		if known == nil {
			return -1
		}
		g.delta = *known
	}
	for i := range b.run.groups {
		h := &b.run.groups[i]
		if h.slot == g.slot && h.wide == g.wide && h.fixed == g.fixed {
			if h.delta != g.delta {
				return -1
			}
			return i
		}
	}
	if (len(b.run.groups)+1)*b.run.unroll > jitMostGroups {
		return -1
	}
	g.low, g.high = 1<<40, -1<<40
	b.run.groups = append(b.run.groups, g)
	return len(b.run.groups) - 1
}

// laneOrder is how the lanes of each slice lie.
type laneOrder uint8

const (
	lanesAnyhow laneOrder = iota
	lanesAlike            // one address
	lanesInARow
)

// kind is how the lanes of each slice lie: one address, a row, or anyhow.
func (g *sharedGroup) kind(size int64) laneOrder {
	same, row := true, true
	for i, d := range g.delta {
		first := g.delta[i&^7]
		same = same && d == first
		row = row && d == first+int64(i&7)*size
	}
	switch {
	case same:
		return lanesAlike
	case row:
		return lanesInARow
	}
	return lanesAnyhow
}

// counts is what one load of the group counts: bank conflicts depend on the distances of the lanes alone.
func (g *sharedGroup) counts(size uint64) sharedCounts {
	var a [32]uint64
	for i := range a {
		a[i] = uint64(1<<40 + g.delta[i])
	}
	waves, phases := wavefronts(&a, allLanes, size)
	return sharedCounts{requests: 1, lanes: 32, bytes: 32 * size, waves: waves, ideal: phases}
}

// finish puts down which values the registers hold that are alive behind the run.
func (b *builder) finish(alive func(slot uint32) bool) {
	for u := range b.run.unroll {
		written := make([]uint32, 0, len(b.now[u]))
		for slot := range b.now[u] {
			if slot != scratch && alive(slot) {
				written = append(written, slot)
			}
		}
		slices.Sort(written)
		for _, slot := range written {
			v := b.read(u, slot, false)
			if b.run.values[v].kind == valueSlot { // its register may be written before this one: keep a copy
				v = b.run.op(jitCopy, 1, v).def[0]
			}
			b.run.out = append(b.run.out, jitOut{v, slot + 32*uint32(u)})
		}
	}
}
