package vgpu

import (
	"math"
	"strings"

	"memwall/gpu/internal/ptx"
)

// decodeSet decodes set: a comparison whose result is a number (PTX ISA 9.7.6.1, 9.7.7.1): all ones for an integer
// destination, 1.0 for a floating-point one; packed types compare their halves.
func decodeSet(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opSet, flags: flagSelf, pattern: -1}
	picks, err := d.grammar(in, "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan", "- and or xor", "- ftz",
		"u32 s32 f32 u16 s16 f16 bf16 f16x2 bf16x2", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f16x2 bf16x2 f32 f64")
	if err != nil {
		return x, err
	}
	if picks[1] != "" {
		return x, d.m.ErrorAt(in, "not supported by the virtual GPU", "nearest that works: set without a combining predicate, or setp")
	}
	if err := d.operands(in, 3, 3); err != nil {
		return x, err
	}
	dst, src := picks[3], picks[4]
	if x.d, err = d.destination(&in.Operands[0], dst); err != nil {
		return x, err
	}
	if x.a, err = d.source(&in.Operands[1], src); err != nil {
		return x, err
	}
	if x.b, err = d.source(&in.Operands[2], src); err != nil {
		return x, err
	}
	if isWideType(src) {
		x.flags |= flagWide64
	}
	compare, ftz := picks[0], picks[2] != ""
	half, packed := strings.CutSuffix(src, "x2")
	yes := map[string]uint64{"f32": uint64(math.Float32bits(1)), "f16": 0x3c00, "bf16": 0x3f80, "f16x2": 0x3c00, "bf16x2": 0x3f80, "u16": 0xffff, "s16": 0xffff}[dst]
	if yes == 0 {
		yes = 0xffffffff
	}
	x.ext = &extra{second: -1, scalar: func(a, b, _ uint64) uint64 {
		if !packed {
			return yes * uint64(b2i(compareBits(compare, src, a, b, ftz)))
		}
		low := yes & 0xffff * uint64(b2i(compareBits(compare, half, a&0xffff, b&0xffff, ftz)))
		return low | yes&0xffff*uint64(b2i(compareBits(compare, half, a>>16&0xffff, b>>16&0xffff, ftz)))<<16
	}}
	return x, nil
}

// opSet is d = scalar(a, b), lane by lane.
func opSet(w *warp, in *inst) {
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		if in.flags&flagWide64 != 0 {
			w.u32(in.d)[i] = uint32(in.ext.scalar(w.u64(in.a)[i], w.u64(in.b)[i], 0))
		} else {
			w.u32(in.d)[i] = uint32(in.ext.scalar(uint64(w.u32(in.a)[i]), uint64(w.u32(in.b)[i]), 0))
		}
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
