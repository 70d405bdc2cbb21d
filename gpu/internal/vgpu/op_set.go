package vgpu

import (
	"math"
	"slices"
	"strings"

	"memwall/gpu/internal/ptx"
)

// comparisons are what set and setp compare by; the later ones are for floating-point types alone.
const comparisons = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan"

// setSources are the types that set compares for each type of its result (PTX ISA 9.7.6.1, 9.7.7.1).
var setSources = map[string]string{
	"u32": "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64 f16x2 bf16x2", "s32": "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64 f16x2 bf16x2",
	"f32": "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", "u16": "f16 bf16", "s16": "f16 bf16", "f16": "b32 u32 s32 f32 f16",
	"bf16": "f16 bf16", "f16x2": "f16x2", "bf16x2": "bf16x2",
}

// decodeSet decodes set: a comparison whose result is a number (PTX ISA 9.7.6.1, 9.7.7.1): all ones for an integer
// destination, 1.0 for a floating-point one; packed types compare their halves. A predicate may be combined with it.
func decodeSet(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opSet, flags: flagSelf, pattern: -1}
	picks, err := d.grammar(in, comparisons, "- and or xor", "- ftz", "u32 s32 f32 u16 s16 f16 bf16 f16x2 bf16x2", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f16x2 bf16x2 f32 f64")
	if err != nil {
		return x, err
	}
	compare, combine, ftz, dst, src := picks[0], picks[1], picks[2] != "", picks[3], picks[4]
	if !slices.Contains(strings.Fields(setSources[dst]), src) {
		return x, decodeError(d.m, in, "a result of .%s compares .%s", dst, strings.ReplaceAll(setSources[dst], " ", ", ."))
	}
	if ftz && src != "f32" && src != "f16" && src != "f16x2" {
		return x, decodeError(d.m, in, ".ftz is not for .%s", src)
	}
	n := 3 + b2i(combine != "")
	if err := d.operands(in, n, n); err != nil {
		return x, err
	}
	if x.d, err = d.destination(&in.Operands[0], dst); err != nil {
		return x, err
	}
	if x.a, err = d.source(&in.Operands[1], src); err != nil {
		return x, err
	}
	if x.b, err = d.source(&in.Operands[2], src); err != nil {
		return x, err
	}
	x.ext = &extra{second: -1, combine: combines[combine]}
	if combine != "" {
		if x.ext.third, x.ext.notC, err = d.predicate(&in.Operands[3]); err != nil {
			return x, err
		}
	}
	if isWideType(src) {
		x.flags |= flagWide64
	}
	yes := map[string]uint64{"f32": uint64(math.Float32bits(1)), "f16": 0x3c00, "bf16": 0x3f80, "f16x2": 0x3c00, "bf16x2": 0x3f80, "u16": 0xffff, "s16": 0xffff}[dst]
	if yes == 0 {
		yes = 0xffffffff
	}
	x.imm, x.n = yes, 1
	if strings.HasSuffix(src, "x2") {
		x.n = 3 // a bit for each half
		x.imm &= 0xffff
	}
	x.ext.scalar = comparer(compare, src, ftz)
	return x, nil
}

// combines are the ways in which a comparison is joined with a predicate.
var combines = map[string]int8{"and": 1, "or": 2, "xor": 3}

// joined combines a comparison's result with a predicate.
func joined(combine int8, r, c uint64) uint64 {
	switch combine {
	case 1:
		return r & c
	case 2:
		return r | c
	case 3:
		return r ^ c
	}
	return r
}

// comparer compares two values; of packed types bit 0 is for the lower halves and bit 1 for the upper ones.
func comparer(compare, t string, ftz bool) func(a, b, _ uint64) uint64 {
	half, packed := strings.CutSuffix(t, "x2")
	if !packed {
		return func(a, b, _ uint64) uint64 { return uint64(b2i(compareBits(compare, t, a, b, ftz))) }
	}
	return func(a, b, _ uint64) uint64 {
		low := b2i(compareBits(compare, half, a&0xffff, b&0xffff, ftz))
		return uint64(low | b2i(compareBits(compare, half, a>>16&0xffff, b>>16&0xffff, ftz))<<1)
	}
}

// opSet is d = a compared with b, and the predicate, lane by lane: in.imm where it holds, for each half of a packed type.
func opSet(w *warp, in *inst) {
	x := in.ext
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		var r uint64
		if in.flags&flagWide64 != 0 {
			r = x.scalar(w.u64(in.a)[i], w.u64(in.b)[i], 0)
		} else {
			r = x.scalar(uint64(w.u32(in.a)[i]), uint64(w.u32(in.b)[i]), 0)
		}
		if x.combine != 0 {
			c := uint64((w.pred[x.third] ^ x.notC) >> i & 1)
			r = joined(x.combine, r, c|c<<1) & uint64(in.n)
		}
		v := in.imm * (r & 1)
		v |= in.imm * (r >> 1) << 16 // of packed halves
		w.u32(in.d)[i] = uint32(v)
	}
}

// decodePackedCompare decodes setp.f16x2 and setp.bf16x2 (PTX ISA 9.7.7.2): the first predicate is for the lower halves,
// the second for the upper ones, each combined with the same third.
func decodePackedCompare(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opPackedCompare, flags: flagSelf, pattern: -1}
	picks, err := d.grammar(in, "eq ne lt le gt ge equ neu ltu leu gtu geu num nan", "- and or xor", "- ftz", "f16x2 bf16x2")
	if err != nil {
		return x, err
	}
	if picks[2] != "" && picks[3] == "bf16x2" {
		return x, decodeError(d.m, in, ".ftz is not for .bf16x2")
	}
	n := 3 + b2i(picks[1] != "")
	if err := d.operands(in, n, n); err != nil {
		return x, err
	}
	o := in.Operands[0]
	if x.d, err = d.predicateDestination(&o); err != nil {
		return x, err
	}
	x.ext = &extra{second: -1, combine: combines[picks[1]], scalar: comparer(picks[0], picks[3], picks[2] != "")}
	if o.Pair != nil {
		second, err := d.predicateDestination(o.Pair)
		if err != nil {
			return x, err
		}
		x.ext.second = int32(second)
	}
	if x.a, err = d.source(&in.Operands[1], picks[3]); err != nil {
		return x, err
	}
	if x.b, err = d.source(&in.Operands[2], picks[3]); err != nil {
		return x, err
	}
	if picks[1] != "" {
		x.ext.third, x.ext.notC, err = d.predicate(&in.Operands[3])
	}
	return x, err
}

// opPackedCompare is setp of packed halves.
func opPackedCompare(w *warp, in *inst) {
	x := in.ext
	var low, high uint32
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		r := x.scalar(uint64(w.u32(in.a)[i]), uint64(w.u32(in.b)[i]), 0)
		if x.combine != 0 {
			c := uint64((w.pred[x.third] ^ x.notC) >> i & 1)
			r = joined(x.combine, r, c|c<<1)
		}
		low |= uint32(r&1) << i
		high |= uint32(r>>1&1) << i
	}
	w.pred[in.d] = w.pred[in.d]&^w.mask | low
	if x.second >= 0 {
		w.pred[x.second] = w.pred[x.second]&^w.mask | high
	}
}

// compareBits compares two values of a type by the name of a comparison.
func compareBits(compare, t string, a, b uint64, ftz bool) bool {
	if !isFloatType(t) {
		return compareIntegers(compare, t, extendInteger(t, a), extendInteger(t, b))
	}
	x, y := loadFloat(t, a), loadFloat(t, b)
	if ftz {
		switch t {
		case "f32":
			x, y = float64(flush(float32(x))), float64(flush(float32(y)))
		case "f16":
			x, y = float64(flushHalf(float32(x))), float64(flushHalf(float32(y)))
		}
	}
	unordered := x != x || y != y
	switch compare {
	case "num":
		return !unordered
	case "nan":
		return unordered
	}
	if base, ok := strings.CutSuffix(compare, "u"); ok && unordered {
		return true
	} else if ok {
		compare = base
	}
	if unordered {
		return false
	}
	switch compare {
	case "eq":
		return x == y
	case "ne":
		return x != y
	case "lt":
		return x < y
	case "le":
		return x <= y
	case "gt":
		return x > y
	}
	return x >= y
}

func compareIntegers(compare, t string, a, b uint64) bool {
	less := a < b
	if t[0] == 's' {
		less = int64(a) < int64(b)
	}
	switch compare {
	case "eq":
		return a == b
	case "ne":
		return a != b
	case "lt", "lo":
		return less
	case "le", "ls":
		return less || a == b
	case "gt", "hi":
		return !less && a != b
	}
	return !less
}
