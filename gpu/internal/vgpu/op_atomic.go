package vgpu

import (
	"math"
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
	"add": "u32 s32 u64 s64 f32 f64 f16 f16x2 bf16 bf16x2", "min": "u32 s32 u64 s64 f16 f16x2 bf16 bf16x2", "max": "u32 s32 u64 s64 f16 f16x2 bf16 bf16x2",
	"and": "b32 b64", "or": "b32 b64", "xor": "b32 b64", "exch": "b32 b64 u32 u64 s32 s64 f32", "cas": "b16 b32 b64 u32 u64 s32 s64", "inc": "u32", "dec": "u32",
}

// decodeAtomic decodes atom and red.
func decodeAtomic(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opAtomic, flags: flagSelf | flagAtomic, n: 1, pattern: -1}
	op := ""
	for _, m := range in.Modifiers {
		if _, ok := atomicOps[m]; ok {
			op = m
		}
	}
	if op == "" {
		return x, d.m.ErrorAt(in, "not supported by the virtual GPU", "expected an operation: .add .min .max .and .or .xor .exch .cas .inc .dec")
	}
	picks, err := d.anyOrder(in, "- relaxed acquire release acq_rel", "- cta cluster gpu sys", "- global shared shared::cta", op, "- noftz", "- L2::cache_hint", atomicTypes[op])
	if err != nil {
		return x, err
	}
	space, t := picks[2], picks[6]
	k := 0
	if in.Opcode == "atom" {
		k = 1
	}
	n := k + 2
	if op == "cas" {
		n++
	}
	hint := 0
	if picks[5] != "" {
		hint = 1
	}
	if err := d.operands(in, n+hint, n+hint); err != nil {
		return x, err
	}
	e := &atomicExtra{op: atomicOps[op], t: t, drop: in.Opcode == "red" || in.Operands[0].Kind == ptx.OperandSink, integer: !isFloatType(t)}
	x.size = uint8(ptx.TypeSize(t))
	if isWideType(t) {
		x.flags |= flagWide
	}
	if !e.drop {
		if x.d, err = d.destination(&in.Operands[0], t); err != nil {
			return x, err
		}
	}
	if err := d.address(&x, &in.Operands[k], space, true); err != nil {
		return x, err
	}
	if x.b, err = d.source(&in.Operands[k+1], t); err != nil {
		return x, err
	}
	if op == "cas" {
		if x.c, err = d.source(&in.Operands[k+2], t); err != nil {
			return x, err
		}
	}
	if isFloatType(t) && op == "add" {
		d.inf.flops, d.inf.flop = 1, map[string]perf.FLOPType{"f32": perf.FLOPF32, "f64": perf.FLOPF64}[t]
		if t != "f32" && t != "f64" {
			d.inf.flop = perf.FLOPF16
			d.inf.flops = int(x.size) / 2
		}
	}
	x.ext = &extra{second: -1, atomic: e}
	switch space {
	case "shared", "shared::cta":
		x.fn, d.inf.kind, d.inf.class = opAtomicShared, sharedAtomic, perf.ClassShared
	case "global":
		d.inf.kind, d.inf.global = globalAtomic, !e.drop
	default:
		x.fn, d.inf.kind, d.inf.global = opAtomicGeneric, globalAtomic, !e.drop
	}
	return x, nil
}

// atomicExtra is what an atomic does.
type atomicExtra struct {
	op   atomicOp
	t    string
	drop bool // nobody reads the old value
	// integer: the type is one of whole numbers
	integer bool
}

// opAtomic is atom.global d, [a], b: for each lane in order, d = old; memory[a] = op(old, b).
func opAtomic(w *warp, in *inst) {
	a := *w.addresses(in)
	w.touch(in, w.site(in), &a, uint64(in.size))
	w.atomicLanes(in, &a, w.w.memory, deviceBase, true)
}

// opAtomicShared is atom.shared; the CTAs of a cluster run on one worker, so that nobody else is there.
func opAtomicShared(w *warp, in *inst) {
	a := *w.addresses(in)
	w.atomicShared(in, &a)
}

func (w *warp) atomicShared(in *inst, a *[32]uint64) {
	w.touchShared(in, w.site(in), a, uint64(in.size))
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
