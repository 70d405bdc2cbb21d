package vgpu

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

type atomicOp uint8

const (
	atomicAdd atomicOp = iota
	atomicMin
	atomicMax
	atomicAnd
	atomicOr
	atomicXor
	atomicExchange
	atomicCompare
	atomicInc
	atomicDec
)

var atomicOps = map[string]atomicOp{"add": atomicAdd, "min": atomicMin, "max": atomicMax, "and": atomicAnd, "or": atomicOr, "xor": atomicXor,
	"exch": atomicExchange, "cas": atomicCompare, "inc": atomicInc, "dec": atomicDec}

// atomicTypes are the types that each operation takes (PTX ISA 9.7.13.5).
var atomicTypes = map[string]string{
	"add": "u32 s32 u64 f32 f64 f16 f16x2 bf16 bf16x2", "min": "u32 s32 u64 s64 f16 f16x2 bf16 bf16x2", "max": "u32 s32 u64 s64 f16 f16x2 bf16 bf16x2",
	"and": "b32 b64", "or": "b32 b64", "xor": "b32 b64", "exch": "b32 b64 u32 u64 s32 s64 f32 f64 b128", "cas": "b16 b32 b64 u32 u64 s32 s64 b128", "inc": "u32", "dec": "u32",
}

// decodeAtomic decodes atom and red, of one value or of a vector (sm_90).
func decodeAtomic(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opAtomic, flags: flagSelf | flagAtomic, n: 1, pattern: -1}
	if in.Has("async") && in.Opcode == "red" {
		return decodeStoreAsync(d, in)
	}
	op := ""
	for _, m := range in.Modifiers {
		if _, ok := atomicOps[m]; ok {
			op = m
		}
	}
	if op == "" {
		return x, d.m.ErrorAt(in, "not supported by the virtual GPU", "expected an operation: .add .min .max .and .or .xor .exch .cas .inc .dec")
	}
	for _, m := range in.Modifiers {
		if ptx.TypeSize(m) > 0 && !slices.Contains(strings.Fields(atomicTypes[op]), m) {
			return x, decodeError(d.m, in, "there is no .%s of .%s: it takes .%s", op, m, strings.ReplaceAll(atomicTypes[op], " ", " ."))
		}
	}
	orders := "- relaxed acquire release acq_rel"
	if in.Opcode == "red" {
		orders = "- relaxed release"
		if op == "cas" || op == "exch" {
			return x, decodeError(d.m, in, "red has no .%s: use atom", op)
		}
	}
	picks, err := d.anyOrder(in, orders, "- cta cluster gpu sys", "- global shared shared::cta shared::cluster", op, "- noftz", "- L2::cache_hint", atomicTypes[op], "- v2 v4 v8")
	if err != nil {
		return x, err
	}
	space, t, vector := picks[2], picks[6], picks[7]
	e := &atomicExtra{op: atomicOps[op], t: t, integer: !isFloatType(t)}
	x.ext = &extra{second: -1, atomic: e}
	x.size, x.n = uint8(ptx.TypeSize(t)), 1
	if isWideType(t) {
		x.flags |= flagWide
	}
	if vector != "" {
		if err := d.atomicVector(&x, in, op, t, vector, space); err != nil {
			return x, err
		}
	}
	k := b2i(in.Opcode == "atom")
	n := k + 2 + b2i(op == "cas") + b2i(picks[5] != "")
	if err := d.operands(in, n, n); err != nil {
		return x, err
	}
	e.drop = k == 0 || in.Operands[0].Kind == ptx.OperandSink
	if err := d.address(&x, &in.Operands[k], space, true); err != nil {
		return x, err
	}
	if !e.drop {
		if e.old, err = d.atomicValues(&x, &in.Operands[0], t, true); err != nil {
			return x, err
		}
	}
	if e.b, err = d.atomicValues(&x, &in.Operands[k+1], t, false); err != nil {
		return x, err
	}
	if op == "cas" {
		if e.c, err = d.atomicValues(&x, &in.Operands[k+2], t, false); err != nil {
			return x, err
		}
	}
	if x.n == 1 && t != "b128" {
		x.b = e.b[0]
		if !e.drop {
			x.d = e.old[0]
		}
		if op == "cas" {
			x.c = e.c[0]
		}
	}
	if t == "b128" {
		x.flags |= flagWide
		if err := d.least(in, 90); err != nil {
			return x, err
		}
	}
	if isFloatType(t) && op == "add" {
		d.inf.flops, d.inf.flop = int(x.n), map[string]perf.FLOPType{"f32": perf.FLOPF32, "f64": perf.FLOPF64}[t]
		if t != "f32" && t != "f64" {
			d.inf.flop = perf.FLOPF16
			d.inf.flops = int(x.n) * int(x.size) / 2
		}
	}
	switch space {
	case "shared", "shared::cta":
		x.fn, d.inf.kind, d.inf.class = opAtomicShared, sharedAtomic, perf.ClassShared
	case "shared::cluster":
		x.fn, d.inf.kind, d.inf.class = opAtomicCluster, sharedAtomic, perf.ClassShared
	case "global":
		d.inf.kind, d.inf.global = globalAtomic, !e.drop
	default:
		x.fn, d.inf.kind, d.inf.global = opAtomicGeneric, globalAtomic, !e.drop
	}
	return x, nil
}

// atomicVector checks a vector form: .v2 and .v4 of f32, .v2 to .v8 of f16 and bf16, .v2 and .v4 of their pairs, in global
// memory.
func (d *decoder) atomicVector(x *inst, in *ptx.Instruction, op, t, vector, space string) error {
	most := map[string]int{"f32": 4, "f16": 8, "bf16": 8, "f16x2": 4, "bf16x2": 4}[t]
	x.n = vector[1] - '0'
	switch {
	case space != "global" && space != "":
		return decodeError(d.m, in, "a vector is only for global memory")
	case int(x.n) > most || t == "f32" && op != "add":
		return decodeError(d.m, in, "there is no .%s of .%s for .%s", vector, t, op)
	}
	return d.least(in, 90)
}

// atomicValues gives the slots of a value or of a vector's elements; of 128 bits those of both halves.
func (d *decoder) atomicValues(x *inst, o *ptx.Operand, t string, load bool) ([]uint32, error) {
	if t == "b128" {
		if o.Kind == ptx.OperandVector {
			return nil, decodeError(d.m, d.in, ".b128 takes one register")
		}
		return d.quadHalves(o, load)
	}
	list := []ptx.Operand{*o}
	if o.Kind == ptx.OperandVector {
		list = o.Elements
	}
	if len(list) != int(x.n) {
		return nil, decodeError(d.m, d.in, "%d registers, expected %d", len(list), x.n)
	}
	var at []uint32
	for i := range list {
		slot, err := uint32(0), error(nil)
		if load {
			slot, err = d.destination(&list[i], t)
		} else {
			slot, err = d.source(&list[i], t)
		}
		if err != nil {
			return nil, err
		}
		at = append(at, slot)
	}
	return at, nil
}

// atomicExtra is what an atomic does, with the slots of its old values, and of its operands b and c, by element.
type atomicExtra struct {
	op        atomicOp
	t         string
	drop      bool // nobody reads the old value
	integer   bool // the type is one of whole numbers
	old, b, c []uint32
}

// atomicBytes is the size of what one lane accesses.
func (in *inst) atomicBytes() uint64 { return uint64(in.size) * uint64(in.n) }

// opAtomic is atom.global d, [a], b: for each lane in order, d = old; memory[a] = op(old, b).
func opAtomic(w *warp, in *inst) {
	a := w.addressesKept(in)
	s := w.site(in)
	w.touch(in, s, a, in.atomicBytes())
	if w.w.count {
		s.atomicGlobal.contend(w.mask, a)
		w.w.contention.add(w, in, a)
	}
	w.atomicLanes(in, a, w.w.memory, w.w.base, true)
}

// opAtomicShared is atom.shared; the CTAs of a cluster run on one worker, so that nobody else is there.
func opAtomicShared(w *warp, in *inst) {
	w.atomicShared(in, w.addressesKept(in))
}

func (w *warp) atomicShared(in *inst, a *[32]uint64) {
	s := w.site(in)
	if in.atomicBytes() != 4 || !w.meetShared(in, s, a) {
		w.touchShared(in, s, a, in.atomicBytes())
		if w.w.count {
			s.atomicShared.contend(w.mask, a)
		}
	}
	w.atomicLanes(in, a, unsafe.Pointer(unsafe.SliceData(w.cta.shared)), 0, false)
}

func opAtomicGeneric(w *warp, in *inst) {
	w.splitGeneric(in, func(a *[32]uint64) { w.atomicShared(in, a) }, func(a *[32]uint64) {
		w.atomicLanes(in, w.localAddresses(in, a), unsafe.Pointer(unsafe.SliceData(w.local)), 0, false)
	}, func() { opAtomic(w, in) })
}

// atomicLanes does the lanes' operations, one after another, at base + a[i] − bias. Other workers may be at the same word
// where it is contended. An operation that changes nothing is a look (poll.go).
func (w *warp) atomicLanes(in *inst, a *[32]uint64, base unsafe.Pointer, bias uint64, contended bool) {
	e := in.ext.atomic
	if w.mask == 0 {
		return
	}
	if in.n > 1 || in.size == 16 {
		w.atomicGroups(in, a, base, bias)
		return
	}
	if e.op == atomicAdd && in.size == 4 && e.integer {
		w.addLanes(in, a, base, bias, contended)
		return
	}
	var changed bool
	if contended {
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			changed = w.atomicLane(in, i, unsafe.Add(base, a[i]-bias)) || changed
		}
	} else {
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			changed = w.aloneLane(in, i, unsafe.Add(base, a[i]-bias)) || changed
		}
	}
	if !changed && !e.drop {
		w.poll()
	}
}

// addLanes is atomicLanes for an addition of 32-bit integers.
func (w *warp) addLanes(in *inst, a *[32]uint64, base unsafe.Pointer, bias uint64, contended bool) {
	b := w.u32(in.b)
	into := &w.w.olds
	var any uint32
	switch first := a[lowest(w.mask)]; {
	case w.mask == allLanes && a[1] == first && a[31] == first && same(a):
		var sum uint32
		for i, v := range b {
			into[i] = sum
			sum += v
			any |= v
		}
		word := (*uint32)(unsafe.Add(base, first-bias))
		var old uint32
		if contended {
			old = atomic.AddUint32(word, sum) - sum
		} else {
			old = *word
			*word = old + sum
		}
		for i := range into {
			into[i] += old
		}
	case contended:
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			into[i] = atomic.AddUint32((*uint32)(unsafe.Add(base, a[i]-bias)), b[i]) - b[i]
			any |= b[i]
		}
	default:
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			word := (*uint32)(unsafe.Add(base, a[i]-bias))
			old := *word
			*word = old + b[i]
			into[i] = old
			any |= b[i]
		}
	}
	if in.ext.atomic.drop {
		return
	}
	if any == 0 {
		w.poll()
	}
	d := w.u32(in.d)
	if w.mask == allLanes {
		*d = *into
		return
	}
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i] = into[i]
	}
}

// same reports whether all lanes have one address.
func same(a *[32]uint64) bool {
	var other uint64
	for _, x := range a {
		other |= x ^ a[0]
	}
	return other == 0
}

// aloneLane does one lane's operation where no other worker can be; it reports whether it changed memory.
func (w *warp) aloneLane(in *inst, i uint, p unsafe.Pointer) bool {
	e := in.ext.atomic
	switch in.size {
	case 4:
		word := (*uint32)(p)
		old := *word
		var c uint32
		if e.op == atomicCompare {
			c = w.u32(in.c)[i]
		}
		replace := combineTyped(e, old, w.u32(in.b)[i], c)
		*word = replace
		if !e.drop {
			w.u32(in.d)[i] = old
		}
		return replace != old
	case 8:
		word := (*uint64)(p)
		old := *word
		var c uint64
		if e.op == atomicCompare {
			c = w.u64(in.c)[i]
		}
		replace := combine64(e, old, w.u64(in.b)[i], c)
		*word = replace
		if !e.drop {
			w.u64(in.d)[i] = old
		}
		return replace != old
	}
	return w.atomicLane(in, i, p)
}

// atomicLane does one lane's operation and writes the old value; it reports whether it changed memory.
func (w *warp) atomicLane(in *inst, i uint, p unsafe.Pointer) bool {
	e := in.ext.atomic
	if in.size == 8 {
		word := (*uint64)(p)
		b := w.u64(in.b)[i]
		var c uint64
		if e.op == atomicCompare {
			c = w.u64(in.c)[i]
		}
		for {
			old := atomic.LoadUint64(word)
			replace := combine64(e, old, b, c)
			if atomic.CompareAndSwapUint64(word, old, replace) {
				if !e.drop {
					w.u64(in.d)[i] = old
				}
				return replace != old
			}
		}
	}
	// A 16-bit value is changed inside its aligned word.
	shift := uint(0)
	if in.size == 2 {
		shift = uint(uintptr(p)&2) * 8
		p = unsafe.Add(p, -int(uintptr(p)&2))
	}
	word := (*uint32)(p)
	b := w.u32(in.b)[i]
	var c uint32
	if e.op == atomicCompare {
		c = w.u32(in.c)[i]
	}
	for {
		whole := atomic.LoadUint32(word)
		old, replace := whole, uint32(0)
		if in.size == 2 {
			old = whole >> shift & 0xffff
			replace = whole&^(0xffff<<shift) | combineTyped(e, old, b&0xffff, c&0xffff)&0xffff<<shift
		} else {
			replace = combineTyped(e, old, b, c)
		}
		if atomic.CompareAndSwapUint32(word, whole, replace) {
			if !e.drop {
				w.u32(in.d)[i] = old
			}
			return replace != whole
		}
	}
}

// atomicGroups does operations on vectors, whose elements are separate ones, and on 128 bits.
func (w *warp) atomicGroups(in *inst, a *[32]uint64, base unsafe.Pointer, bias uint64) {
	e := in.ext.atomic
	changed := false
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		p := unsafe.Add(base, a[i]-bias)
		if in.size == 16 {
			changed = w.atomicWide(e, i, p) || changed
			continue
		}
		one := inst{size: in.size, ext: in.ext}
		for k, b := range e.b {
			if one.b = b; !e.drop {
				one.d = e.old[k]
			}
			changed = w.atomicLane(&one, i, unsafe.Add(p, k*int(in.size))) || changed
		}
	}
	if !changed && !e.drop {
		w.poll()
	}
}

// atomicWide is exch and cas of 128 bits. No host has them in Go, so that a lock of the launch keeps them apart from each
// other; they are not atomic against narrower accesses to the same bytes by other CTAs.
func (w *warp) atomicWide(e *atomicExtra, i uint, p unsafe.Pointer) bool {
	word := (*[2]uint64)(p)
	b := [2]uint64{w.u64(e.b[0])[i], w.u64(e.b[1])[i]}
	lock := &w.w.run.wideAtomics
	lock.Lock()
	old := *word
	switch {
	case e.op == atomicExchange:
		*word = b
	case old == b:
		*word = [2]uint64{w.u64(e.c[0])[i], w.u64(e.c[1])[i]}
	}
	changed := *word != old
	lock.Unlock()
	if !e.drop {
		w.u64(e.old[0])[i], w.u64(e.old[1])[i] = old[0], old[1]
	}
	return changed
}

// combineTyped is op(old, b) for types of up to 32 bits.
func combineTyped(e *atomicExtra, old, b, c uint32) uint32 {
	switch {
	case e.op == atomicCompare:
		if old == b {
			return c
		}
		return old
	case e.op == atomicExchange:
		return b
	case e.t == "f32":
		return math.Float32bits(quiet(math.Float32frombits(old) + math.Float32frombits(b)))
	case e.t == "f16x2" || e.t == "bf16x2":
		half := &atomicExtra{op: e.op, t: e.t[:len(e.t)-2]}
		return combineTyped(half, old&0xffff, b&0xffff, 0) | combineTyped(half, old>>16, b>>16, 0)<<16
	case e.t == "f16":
		return uint32(floatToHalf(combineFloat(e.op, halfToFloat(uint16(old)), halfToFloat(uint16(b)))))
	case e.t == "bf16":
		return uint32(floatToBfloat(combineFloat(e.op, bfloatToFloat(uint16(old)), bfloatToFloat(uint16(b)))))
	}
	return combine32(e.op, old, b, e.t[0] == 's')
}

func combineFloat(op atomicOp, x, y float32) float32 {
	switch op {
	case atomicMin:
		return minimum(x, y)
	case atomicMax:
		return maximum(x, y)
	}
	return x + y
}

// combine32 joins two integers.
func combine32(op atomicOp, x, y uint32, signed bool) uint32 {
	switch op {
	case atomicAdd:
		return x + y
	case atomicMin:
		if signed {
			return uint32(min(int32(x), int32(y)))
		}
		return min(x, y)
	case atomicMax:
		if signed {
			return uint32(max(int32(x), int32(y)))
		}
		return max(x, y)
	case atomicAnd:
		return x & y
	case atomicOr:
		return x | y
	case atomicXor:
		return x ^ y
	case atomicInc:
		if x >= y {
			return 0
		}
		return x + 1
	case atomicDec:
		if x == 0 || x > y {
			return y
		}
		return x - 1
	}
	return y
}

func combine64(e *atomicExtra, old, b, c uint64) uint64 {
	switch e.op {
	case atomicCompare:
		if old == b {
			return c
		}
		return old
	case atomicExchange:
		return b
	case atomicAnd:
		return old & b
	case atomicOr:
		return old | b
	case atomicXor:
		return old ^ b
	case atomicMin:
		if e.t == "s64" {
			return uint64(min(int64(old), int64(b)))
		}
		return min(old, b)
	case atomicMax:
		if e.t == "s64" {
			return uint64(max(int64(old), int64(b)))
		}
		return max(old, b)
	}
	if e.t == "f64" {
		return math.Float64bits(math.Float64frombits(old) + math.Float64frombits(b))
	}
	return old + b
}
