package vgpu

import (
	"math"
	"strconv"

	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// mixedRows are register operations that are no plain loops over lanes: predicates, packing, selection, address spaces.
var mixedRows = []row{
	{patterns: []string{"mov.pred"}, class: perf.ClassMove, section: "9.7.9.3", decode: decodeMovePredicate},
	{patterns: []string{"mov{.v2,.v4}{.b16,.u16,.s16,.b32,.u32,.s32,.f32}", "mov.v2{.b64,.u64,.s64,.f64}"}, class: perf.ClassMove, section: "9.7.9.3", decode: decodeVectorMove},
	{patterns: []string{"mov.b128"}, class: perf.ClassMove, section: "9.7.9.4", decode: decodeWideMove},
	{patterns: []string{"{and,or,xor,not}.pred"}, class: perf.ClassInteger, section: "9.7.8.1", decode: decodeLogicPredicate},
	{patterns: []string{"selp{.b16,.u16,.s16,.f16,.bf16,.b32,.u32,.s32,.f32,.b64,.u64,.s64,.f64}"}, class: perf.ClassInteger, section: "9.7.6.3", decode: decodeSelect},
	{patterns: []string{"setp{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{,.ftz}{.f16x2,.bf16x2}"}, class: perf.ClassFP16, section: "9.7.7.2", decode: decodePackedCompare},
	{patterns: []string{"slct{.b16,.u16,.s16,.b32,.u32,.s32,.f32,.b64,.u64,.s64,.f64}{.s32,.f32}", "slct.ftz{.b16,.u16,.s16,.b32,.u32,.s32,.f32,.b64,.u64,.s64,.f64}.f32"}, class: perf.ClassInteger, section: "9.7.6.4", decode: decodeSelectSign},
	{patterns: []string{"lop3{,.and,.or}.b32"}, class: perf.ClassInteger, section: "9.7.8.6", decode: decodeLop3},
	{patterns: []string{"cvta{,.to}{.global,.const,.shared,.shared::cta,.shared::cluster,.local,.param,.param::entry}.u64"}, class: perf.ClassMove, section: "9.7.9.20", decode: decodeAddressSpace},
	{patterns: []string{"isspacep{.global,.const,.shared,.shared::cta,.shared::cluster,.local,.param,.param::entry}"}, class: perf.ClassInteger, section: "9.7.9.19", decode: decodeIsSpace},
	{patterns: []string{"cvt"}, class: perf.ClassConvert, section: "9.7.9.21", decode: decodeConvert},
	{patterns: []string{"set"}, class: perf.ClassInteger, section: "9.7.6.1", decode: decodeSet},
	{patterns: []string{"{add,addc,sub,subc}.cc{.u32,.s32,.u64,.s64}", "{addc,subc}{.u32,.s32,.u64,.s64}"}, class: perf.ClassInteger, section: "9.7.2", decode: decodeCarry},
	{patterns: []string{"{mad,madc}{.lo,.hi}.cc{.u32,.s32,.u64,.s64}", "madc{.lo,.hi}{.u32,.s32,.u64,.s64}"}, class: perf.ClassInteger, section: "9.7.2", decode: decodeCarryMad},
}

// move handles the moves that are no lane loops: packing, unpacking, and clocks. ok is false for a plain one.
func (d *decoder) move(in *ptx.Instruction) (inst, bool, error) {
	if err := d.operands(in, 2, 2); err != nil {
		return inst{}, false, err
	}
	t := lastType(in)
	switch {
	case in.Operands[0].Kind == ptx.OperandVector:
		x, err := d.unpack(in, t)
		return x, true, err
	case in.Operands[1].Kind == ptx.OperandVector:
		x, err := d.pack(in, t)
		return x, true, err
	case in.Operands[1].Kind == ptx.OperandSpecial:
		s := in.Operands[1].Special
		if s >= ptx.Clock && s <= ptx.GlobalTimerHi {
			x := inst{fn: opClock, flags: flagSelf, imm: uint64(s), pattern: -1}
			var err error
			x.d, err = d.destination(&in.Operands[0], t)
			if isWideType(t) {
				x.flags |= flagWide
			}
			return x, true, err
		}
		if isWideType(t) && !s.Wide() { // mov.u64 of a 32-bit special register: widened
			at, err := d.specialSlot(s, false)
			x := inst{fn: laneCvtU64U32, flags: flagWide, a: at, pattern: -1}
			if err == nil {
				x.d, err = d.destination(&in.Operands[0], t)
			}
			return x, true, err
		}
		if s == ptx.GridID && t == "u32" {
			at, err := d.specialSlot(s, true)
			x := inst{fn: laneCvtU32U64, a: at, pattern: -1}
			if err == nil {
				x.d, err = d.destination(&in.Operands[0], t)
			}
			return x, true, err
		}
		if !isWideType(t) && s.Wide() {
			return inst{}, true, decodeError(d.m, in, "a 64-bit special register needs mov.u64")
		}
	case in.Operands[1].Kind == ptx.OperandSymbol && in.Operands[1].Variable.Space == "param" && !d.isParameter(in.Operands[1].Variable):
		return inst{}, true, d.m.ErrorAt(in, "the address of a call's argument is not supported by the virtual GPU", "read it with ld.param")
	case in.Operands[1].Kind == ptx.OperandFunction:
		address, ok := functionAddress(d.m, in.Operands[1].Name)
		if !ok || !isWideType(t) {
			return inst{}, true, d.m.ErrorAt(in, "the address of "+in.Operands[1].Name+" is not supported by the virtual GPU", "take that of a .func with a body, by mov.u64")
		}
		x := inst{fn: laneMovB64, flags: flagWide, a: d.constant(address, true), pattern: -1}
		var err error
		x.d, err = d.destination(&in.Operands[0], t)
		return x, true, err
	}
	return inst{}, false, nil
}

// opClock is mov of %clock, %clock64, %globaltimer. Lane by lane: d = clock.
func opClock(w *warp, in *inst) {
	now := w.w.clock(w)
	switch s := ptx.Special(in.imm); {
	case s >= ptx.GlobalTimer && s <= ptx.GlobalTimerHi:
		now = w.w.globalTimer(w)
	default: // all of the block is paid for at its start
		b := &w.w.p.blocks[w.stack[len(w.stack)-1].block]
		now -= uint64(min(int(b.to-in.id), b.cost)) * issueCycles
	}
	switch ptx.Special(in.imm) {
	case ptx.ClockHi, ptx.GlobalTimerHi:
		now >>= 32
	}
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		if in.flags&flagWide != 0 {
			w.u64(in.d)[i] = now
		} else {
			w.u32(in.d)[i] = uint32(now)
		}
	}
}

// part gives the type of one of n elements of a packed value of type t.
func (d *decoder) part(in *ptx.Instruction, t string, n int) (string, int, error) {
	size := ptx.TypeSize(t)
	if n < 2 || n > 4 || size%n != 0 || size/n < 1 {
		return "", 0, decodeError(d.m, in, "a vector of %d cannot be packed into .%s", n, t)
	}
	bits := 8 * size / n
	return "b" + strconv.Itoa(bits), bits, nil
}

// pack decodes mov.b32 d, {a, b}.
func (d *decoder) pack(in *ptx.Instruction, t string) (inst, error) {
	elements := in.Operands[1].Elements
	part, bits, err := d.part(in, t, len(elements))
	if err != nil {
		return inst{}, err
	}
	x := inst{fn: opPack, flags: flagSelf, imm: uint64(bits), ext: &extra{second: -1}, pattern: -1}
	if x.d, err = d.destination(&in.Operands[0], t); err != nil {
		return x, err
	}
	if isWideType(t) {
		x.flags |= flagWide
	}
	for i := range elements {
		at, err := d.source(&elements[i], part)
		if err != nil {
			return x, err
		}
		x.ext.sources = append(x.ext.sources, at)
	}
	if bits == 16 && len(elements) == 2 {
		x = inst{fn: lanePack16, d: x.d, a: x.ext.sources[0], b: x.ext.sources[1], pattern: -1}
	} else if bits == 32 && len(elements) == 2 {
		x = inst{fn: lanePack32, flags: flagWide, d: x.d, a: x.ext.sources[0], b: x.ext.sources[1], pattern: -1}
	}
	return x, nil
}

// lanePack16 is mov.b32 d, {a, b}: d = a & 0xffff | b<<16.
func lanePack16(w *warp, in *inst) {
	d, a, b := w.u32(in.d), w.u32(in.a), w.u32(in.b)
	for i := range d {
		d[i] = a[i]&0xffff | b[i]<<16
	}
}

// lanePack32 is mov.b64 d, {a, b}: d = a | b<<32.
func lanePack32(w *warp, in *inst) {
	d, a, b := w.u64(in.d), w.u32(in.a), w.u32(in.b)
	for i := range d {
		d[i] = uint64(a[i]) | uint64(b[i])<<32
	}
}

// opPack is mov of any vector into a register: element k stands at bit k·imm.
func opPack(w *warp, in *inst) {
	mask := uint64(1)<<in.imm - 1
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		var v uint64
		for k, at := range in.ext.sources {
			v |= uint64(w.u32(at)[i]) & mask << (uint64(k) * in.imm)
		}
		if in.flags&flagWide != 0 {
			w.u64(in.d)[i] = v
		} else {
			w.u32(in.d)[i] = uint32(v)
		}
	}
}

// unpack decodes mov.b32 {a, b}, s.
func (d *decoder) unpack(in *ptx.Instruction, t string) (inst, error) {
	elements := in.Operands[0].Elements
	part, bits, err := d.part(in, t, len(elements))
	if err != nil {
		return inst{}, err
	}
	x := inst{fn: opUnpack, flags: flagSelf, imm: uint64(bits), ext: &extra{second: -1}, pattern: -1}
	if x.a, err = d.source(&in.Operands[1], t); err != nil {
		return x, err
	}
	if isWideType(t) {
		x.flags |= flagWide
	}
	for i := range elements {
		at, err := d.destination(&elements[i], part)
		if err != nil {
			return x, err
		}
		x.ext.regs = append(x.ext.regs, at)
	}
	if bits == 16 && len(elements) == 2 {
		x.fn = opUnpack16
	}
	return x, nil
}

// opUnpack16 is mov.b32 {d0, d1}, a: d0 = a & 0xffff, d1 = a>>16.
func opUnpack16(w *warp, in *inst) {
	a := *w.u32(in.a)
	low, high := w.u32(in.ext.regs[0]), w.u32(in.ext.regs[1])
	if m := w.mask; m != allLanes {
		for ; m != 0; m &= m - 1 {
			i := lowest(m)
			low[i], high[i] = a[i]&0xffff, a[i]>>16
		}
		return
	}
	for i := range a {
		low[i] = a[i] & 0xffff
	}
	for i := range a {
		high[i] = a[i] >> 16
	}
}

// opUnpack is mov of a register into any vector.
func opUnpack(w *warp, in *inst) {
	mask := uint64(1)<<in.imm - 1
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		v := uint64(w.u32(in.a)[i])
		if in.flags&flagWide != 0 {
			v = w.u64(in.a)[i]
		}
		for k, at := range in.ext.regs {
			w.u32(at)[i] = uint32(v >> (uint64(k) * in.imm) & mask)
		}
	}
}

func decodeMovePredicate(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opMovePredicate, flags: flagSelf, pattern: -1}
	if err := d.operands(in, 2, 2); err != nil {
		return x, err
	}
	var err error
	if x.d, err = d.predicateDestination(&in.Operands[0]); err != nil {
		return x, err
	}
	if o := &in.Operands[1]; o.Kind == ptx.OperandSpecial && o.Special == ptx.IsExplicitCluster {
		x.fn = opSetPredicate // true where the entry names its cluster
		if d.f.ClusterCTAs[0] > 0 {
			x.imm = uint64(allLanes)
		}
		return x, nil
	}
	if o := &in.Operands[1]; o.Kind == ptx.OperandImmediate {
		x.fn = opSetPredicate
		if o.Bits != 0 {
			x.imm = uint64(allLanes)
		}
		return x, nil
	}
	var not uint32
	x.a, not, err = d.predicate(&in.Operands[1])
	x.imm = uint64(not)
	return x, err
}

// opMovePredicate is mov.pred d, a.
func opMovePredicate(w *warp, in *inst) { w.setPredicate(in, w.pred[in.a]^uint32(in.imm)) }

// opSetPredicate is mov.pred d, 0 or 1.
func opSetPredicate(w *warp, in *inst) { w.setPredicate(in, uint32(in.imm)) }

func decodeLogicPredicate(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	n := 3
	if in.Opcode == "not" {
		n = 2
	}
	x := inst{flags: flagSelf, pattern: -1}
	if err := d.operands(in, n, n); err != nil {
		return x, err
	}
	var err error
	if x.d, err = d.predicateDestination(&in.Operands[0]); err != nil {
		return x, err
	}
	var notA, notB uint32
	if x.a, notA, err = d.predicate(&in.Operands[1]); err != nil {
		return x, err
	}
	if n == 2 {
		x.fn, x.imm = opMovePredicate, uint64(^notA)
		return x, nil
	}
	if x.b, notB, err = d.predicate(&in.Operands[2]); err != nil {
		return x, err
	}
	x.imm = uint64(notA) | uint64(notB)<<32
	x.fn = map[string]opFunc{"and": opAndPredicate, "or": opOrPredicate, "xor": opXorPredicate}[in.Opcode]
	return x, nil
}

// opAndPredicate is and.pred d, a, b.
func opAndPredicate(w *warp, in *inst) {
	w.setPredicate(in, (w.pred[in.a]^uint32(in.imm))&(w.pred[in.b]^uint32(in.imm>>32)))
}

// opOrPredicate is or.pred d, a, b.
func opOrPredicate(w *warp, in *inst) {
	w.setPredicate(in, (w.pred[in.a]^uint32(in.imm))|(w.pred[in.b]^uint32(in.imm>>32)))
}

// opXorPredicate is xor.pred d, a, b.
func opXorPredicate(w *warp, in *inst) {
	w.setPredicate(in, w.pred[in.a]^uint32(in.imm)^w.pred[in.b]^uint32(in.imm>>32))
}

func decodeSelect(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	t := lastType(in)
	x := inst{fn: laneSelect32, pattern: -1}
	if err := d.operands(in, 4, 4); err != nil {
		return x, err
	}
	if isWideType(t) {
		x.fn, x.flags = laneSelect64, flagWide
	}
	var err error
	if x.d, err = d.destination(&in.Operands[0], t); err != nil {
		return x, err
	}
	if x.a, err = d.source(&in.Operands[1], t); err != nil {
		return x, err
	}
	if x.b, err = d.source(&in.Operands[2], t); err != nil {
		return x, err
	}
	var not uint32
	x.c, not, err = d.predicate(&in.Operands[3])
	x.imm = uint64(not)
	return x, err
}

// laneSelect32 is selp.b32 d, a, b, p: d = p ? a : b.
func laneSelect32(w *warp, in *inst) {
	d, a, b := w.u32(in.d), w.u32(in.a), w.u32(in.b)
	p := w.pred[in.c] ^ uint32(in.imm)
	for i := range d {
		v := b[i]
		if p>>(uint(i)&31)&1 != 0 {
			v = a[i]
		}
		d[i] = v
	}
}

// laneSelect64 is selp.b64.
func laneSelect64(w *warp, in *inst) {
	d, a, b := w.u64(in.d), w.u64(in.a), w.u64(in.b)
	p := w.pred[in.c] ^ uint32(in.imm)
	for i := range d {
		v := b[i]
		if p>>(uint(i)&31)&1 != 0 {
			v = a[i]
		}
		d[i] = v
	}
}

func decodeSelectSign(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	types := in.Modifiers
	if types[0] == "ftz" {
		types = types[1:]
	}
	x := inst{fn: laneSelectSign32, pattern: -1}
	if err := d.operands(in, 4, 4); err != nil {
		return x, err
	}
	if isWideType(types[0]) {
		x.fn, x.flags = laneSelectSign64, flagWide
	}
	switch {
	case in.Has("ftz"):
		x.imm = selectFlushed
	case types[1] == "f32":
		x.imm = selectFloat
	}
	var err error
	if x.d, err = d.destination(&in.Operands[0], types[0]); err != nil {
		return x, err
	}
	if x.a, err = d.source(&in.Operands[1], types[0]); err != nil {
		return x, err
	}
	if x.b, err = d.source(&in.Operands[2], types[0]); err != nil {
		return x, err
	}
	x.c, err = d.source(&in.Operands[3], types[1])
	return x, err
}

// What slct takes the sign of: an s32, an f32, or an f32 whose denormals are zero.
const (
	selectInteger = iota
	selectFloat
	selectFlushed
)

// takesFirst reports whether slct selects its first source: c ≥ 0, where −0 is 0 and NaN is not.
func takesFirst(bits uint32, kind uint64) bool {
	switch kind {
	case selectFloat:
		return math.Float32frombits(bits) >= 0
	case selectFlushed:
		return flush(math.Float32frombits(bits)) >= 0
	}
	return int32(bits) >= 0
}

// laneSelectSign32 is slct d, a, b, c of up to 32 bits: d = c >= 0 ? a : b.
func laneSelectSign32(w *warp, in *inst) {
	d, a, b, c := w.u32(in.d), w.u32(in.a), w.u32(in.b), w.u32(in.c)
	for i := range d {
		v := b[i]
		if takesFirst(c[i], in.imm) {
			v = a[i]
		}
		d[i] = v
	}
}

// laneSelectSign64 is slct of 64 bits.
func laneSelectSign64(w *warp, in *inst) {
	d, a, b, c := w.u64(in.d), w.u64(in.a), w.u64(in.b), w.u32(in.c)
	for i := range d {
		v := b[i]
		if takesFirst(c[i], in.imm) {
			v = a[i]
		}
		d[i] = v
	}
}

func decodeLop3(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: laneLop3, pattern: -1}
	boolean := in.Modifiers[0] != "b32"
	n := 5 + b2i(boolean)
	if err := d.operands(in, n, n); err != nil {
		return x, err
	}
	first := in.Operands[0]
	pair := first.Pair
	if boolean {
		first.Pair = nil
	}
	var err error
	if x.d, err = d.destination(&first, "b32"); err != nil {
		return x, err
	}
	for k, into := range []*uint32{&x.a, &x.b, &x.c} {
		if *into, err = d.source(&in.Operands[k+1], "b32"); err != nil {
			return x, err
		}
	}
	if o := &in.Operands[4]; o.Kind != ptx.OperandImmediate || o.Bits > 255 {
		return x, decodeError(d.m, in, "the look-up table must be a number from 0 to 255")
	}
	x.imm = in.Operands[4].Bits
	if !boolean {
		return x, nil
	}
	if pair == nil {
		return x, decodeError(d.m, in, "lop3.%s needs two destinations, d|p", in.Modifiers[0])
	}
	x.fn, x.flags, x.ext = opLop3Boolean, flagSelf, &extra{second: -1, combine: combines[in.Modifiers[0]]}
	second, err := d.predicateDestination(pair)
	if err != nil {
		return x, err
	}
	x.ext.second = int32(second)
	x.ext.third, x.ext.notC, err = d.predicate(&in.Operands[5])
	return x, err
}

// opLop3Boolean is lop3.or.b32 d|p, a, b, c, table, q: p = (d != 0) or q; with .and likewise.
func opLop3Boolean(w *warp, in *inst) {
	x, d, a, b, c := in.ext, w.u32(in.d), w.u32(in.a), w.u32(in.b), w.u32(in.c)
	var r uint32
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i] = lop3(a[i], b[i], c[i], uint32(in.imm))
		r |= uint32(b2i(d[i] != 0)) << i
	}
	r = uint32(joined(x.combine, uint64(r), uint64(w.pred[x.third]^x.notC)))
	w.pred[x.second] = w.pred[x.second]&^w.mask | r&w.mask
}

// laneLop3 is lop3.b32 d, a, b, c, table: bit by bit, d = table >> (4a + 2b + c) & 1.
func laneLop3(w *warp, in *inst) {
	d, a, b, c := w.u32(in.d), w.u32(in.a), w.u32(in.b), w.u32(in.c)
	switch in.imm {
	case 0xea:
		for i := range d {
			d[i] = a[i]&b[i] | c[i]
		}
		return
	case 0x96:
		for i := range d {
			d[i] = a[i] ^ b[i] ^ c[i]
		}
		return
	case 0x80:
		for i := range d {
			d[i] = a[i] & b[i] & c[i]
		}
		return
	case 0xfe:
		for i := range d {
			d[i] = a[i] | b[i] | c[i]
		}
		return
	}
	for i := range d {
		d[i] = lop3(a[i], b[i], c[i], uint32(in.imm))
	}
}

// lop3 picks each bit by multiplexers: over c, then b, then a.
func lop3(a, b, c, table uint32) uint32 {
	pair := func(t uint32) uint32 { return -(t&1)&^c | -(t>>1&1)&c }
	low := pair(table)&^b | pair(table>>2)&b
	high := pair(table>>4)&^b | pair(table>>6)&b
	return low&^a | high&a
}

// The windows of generic addresses (PTX ISA 6.4.1.1): shared and local memory lie apart from global addresses.
const (
	sharedWindow = uint64(0x7e0000000000)
	localWindow  = uint64(0x7d0000000000)
	paramWindow  = uint64(0x7c0000000000) // the entry's parameters
	windowBytes  = uint64(1) << 32
)

func decodeAddressSpace(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: laneMovB64, flags: flagWide, pattern: -1}
	if err := d.operands(in, 2, 2); err != nil {
		return x, err
	}
	var err error
	if x.d, err = d.destination(&in.Operands[0], "u64"); err != nil {
		return x, err
	}
	if x.a, err = d.source(&in.Operands[1], "u64"); err != nil {
		return x, err
	}
	var window uint64
	switch {
	case in.Has("shared"), in.Has("shared::cta"), in.Has("shared::cluster"):
		window = sharedWindow
	case in.Has("local"):
		window = localWindow
	case in.Has("param"), in.Has("param::entry"):
		window = paramWindow
	default:
		return x, nil
	}
	if in.Has("to") {
		x.fn, x.b = laneSubS64, d.constant(window, true)
		return x, nil
	}
	x.fn, x.b = laneAddS64, d.constant(window, true)
	return x, nil
}

func decodeIsSpace(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opIsSpace, flags: flagSelf, pattern: -1}
	if err := d.operands(in, 2, 2); err != nil {
		return x, err
	}
	var err error
	if x.d, err = d.predicateDestination(&in.Operands[0]); err != nil {
		return x, err
	}
	x.a, err = d.source(&in.Operands[1], "u64")
	switch in.Modifiers[0] {
	case "shared", "shared::cta", "shared::cluster":
		x.imm = sharedWindow
		if in.Modifiers[0] != "shared::cluster" {
			x.n = 1
		}
	case "local":
		x.imm = localWindow
	case "param", "param::entry":
		x.imm = paramWindow
	case "const":
		x.imm = 1
	}
	x.ext = &extra{second: -1, scalar: d.constants()}
	return x, err
}

// constants tells whether an address lies in a .const variable of the module; these stand in device memory.
func (d *decoder) constants() func(a, _, _ uint64) uint64 {
	type span struct{ low, high uint64 }
	var spans []span
	for _, v := range append(append([]*ptx.Variable(nil), d.m.Variables...), d.f.Variables...) {
		if at, ok := d.symbols[v]; ok && v.Space == "const" {
			spans = append(spans, span{at, at + uint64(v.Size)})
		}
	}
	return func(a, _, _ uint64) uint64 {
		for _, s := range spans {
			if a >= s.low && a < s.high {
				return 1
			}
		}
		return 0
	}
}

// opIsSpace is isspacep p, a: whether a generic address lies in the window of a space.
func opIsSpace(w *warp, in *inst) {
	var r uint32
	for i, a := range w.u64(in.a) {
		inside := false
		switch in.imm {
		case 0:
			inside = a-sharedWindow >= windowBytes && a-localWindow >= windowBytes && a-paramWindow >= windowBytes && in.ext.scalar(a, 0, 0) == 0
		case 1:
			inside = in.ext.scalar(a, 0, 0) != 0
		default:
			inside = a-in.imm < windowBytes
			if inside && in.n != 0 { // of this CTA alone
				rank := (a - in.imm) >> rankShift
				inside = rank == 0 || rank == uint64(w.cta.rank)+1
			}
		}
		r |= uint32(b2i(inside)) << i
	}
	w.setPredicate(in, r)
}
