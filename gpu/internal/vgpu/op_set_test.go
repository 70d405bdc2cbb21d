package vgpu

import (
	"math"
	"testing"
)

func yes(b bool, v uint32) uint32 {
	if b {
		return v
	}
	return 0
}

// set and setp of packed halves and with a combining predicate, slct by either type, lop3 with a predicate: PTX ISA 9.7.6,
// 9.7.7, 9.7.8.6.
func TestComparisonsInAllForms(t *testing.T) {
	d := openTest(t, testProfile())
	compare := func(op, typ string, a, b uint32, ftz bool) bool {
		return compareOracle(op, typ, uint64(a), uint64(b), ftz)
	}
	var cases []bodyCase
	for _, op := range []string{"eq", "ne", "lt", "geu", "num", "nan", "neu"} {
		for typ, half := range map[string]string{"f16x2": "f16", "bf16x2": "bf16"} {
			for _, ftz := range []bool{false, true} {
				suffix := ""
				if ftz {
					if half == "bf16" {
						continue
					}
					suffix = ".ftz"
				}
				low := func(x laneWords) bool { return compare(op, half, x[0]&0xffff, x[1]&0xffff, ftz) }
				high := func(x laneWords) bool { return compare(op, half, x[0]>>16, x[1]>>16, ftz) }
				r := func(x laneWords) bool { return x[3]&1 != 0 }
				one := map[string]uint32{"f16": 0x3c00, "bf16": 0x3f80}[half]
				cases = append(cases,
					bodyCase{"setp." + op + suffix + "." + typ + " %p|%q, %x0, %x1; selp.u32 %z0, 1, 0, %p; selp.u32 %z1, 1, 0, %q;", func(x laneWords, _ int) laneWords {
						return laneWords{yes(low(x), 1), yes(high(x), 1)}
					}},
					bodyCase{"setp." + op + ".and" + suffix + "." + typ + " %p|%q, %x0, %x1, !%r; selp.u32 %z0, 1, 0, %p; selp.u32 %z1, 1, 0, %q;", func(x laneWords, _ int) laneWords {
						return laneWords{yes(low(x) && !r(x), 1), yes(high(x) && !r(x), 1)}
					}},
					bodyCase{"set." + op + ".xor" + suffix + "." + typ + "." + typ + " %z0, %x0, %x1, %r;", func(x laneWords, _ int) laneWords {
						return laneWords{yes(low(x) != r(x), one) | yes(high(x) != r(x), one<<16)}
					}})
			}
		}
		if op == "num" || op == "nan" || op == "neu" || op == "geu" {
			continue
		}
		cases = append(cases, bodyCase{"set." + op + ".or.f32.s32 %z0, %x0, %x1, %r; set." + op + ".and.u32.s64 %z1, %y0, %y1, %r; set." + op + ".s32.u16 %z2, %h0, %h1;", func(x laneWords, _ int) laneWords {
			r := x[3]&1 != 0
			wide := func(a, b uint32) uint64 { return uint64(b)<<32 | uint64(a) }
			return laneWords{yes(compare(op, "s32", x[0], x[1], false) || r, math.Float32bits(1)),
				yes(compareOracle(op, "s64", wide(x[0], x[1]), wide(x[2], x[3]), false) && r, ^uint32(0)),
				yes(compare(op, "u16", x[0]&0xffff, x[1]&0xffff, false), ^uint32(0))}
		}})
	}
	pick := func(first bool, x laneWords) laneWords {
		if first {
			return laneWords{x[0], x[0] & 0xffff}
		}
		return laneWords{x[1], x[1] & 0xffff}
	}
	f := math.Float32frombits
	cases = append(cases,
		bodyCase{"slct.b32.s32 %z0, %x0, %x1, %x2; slct.u16.s32 %s0, %h0, %h1, %x2; cvt.u32.u16 %z1, %s0;", func(x laneWords, _ int) laneWords { return pick(int32(x[2]) >= 0, x) }},
		bodyCase{"slct.b32.f32 %z0, %x0, %x1, %x2; slct.s16.f32 %s0, %h0, %h1, %x2; cvt.u32.u16 %z1, %s0;", func(x laneWords, _ int) laneWords { return pick(f(x[2]) >= 0, x) }},
		bodyCase{"slct.ftz.f32.f32 %z0, %x0, %x1, %x2; slct.ftz.b16.f32 %s0, %h0, %h1, %x2; cvt.u32.u16 %z1, %s0;", func(x laneWords, _ int) laneWords {
			return pick(f(x[2]) >= 0 || x[2]&0x7f800000 == 0, x)
		}},
		bodyCase{"slct.b64.f32 %y2, %y0, %y1, %x3; mov.b64 {%z0, %z1}, %y2;", func(x laneWords, _ int) laneWords {
			if f(x[3]) >= 0 {
				return laneWords{x[0], x[1]}
			}
			return laneWords{x[2], x[3]}
		}},
		bodyCase{"lop3.or.b32 %z0|%p, %x0, %x1, %x2, 0x80, %r; selp.u32 %z1, 1, 0, %p;", func(x laneWords, _ int) laneWords {
			v := x[0] & x[1] & x[2]
			return laneWords{v, yes(v != 0 || x[3]&1 != 0, 1)}
		}},
		bodyCase{"lop3.and.b32 _|%p, %x0, %x1, %x2, 0x96, !%r; selp.u32 %z1, 1, 0, %p;", func(x laneWords, _ int) laneWords {
			return laneWords{0, yes(x[0]^x[1]^x[2] != 0 && x[3]&1 == 0, 1)}
		}},
		// CC.CF is the carry of a + ^b + 1 after a subtraction: 0 for a borrow.
		bodyCase{"sub.cc.u32 %z0, %x0, %x1; subc.cc.u32 %z1, %x2, %x3; addc.u32 %z2, 0, 0; sub.cc.s64 %y2, %y0, %y1; subc.u32 %z3, 0, 0;", func(x laneWords, _ int) laneWords {
			a, b := uint64(x[2])<<32|uint64(x[0]), uint64(x[3])<<32|uint64(x[1])
			y0, y1 := uint64(x[1])<<32|uint64(x[0]), uint64(x[3])<<32|uint64(x[2])
			return laneWords{uint32(a - b), uint32((a - b) >> 32), yes(a >= b, 1), yes(y0 < y1, ^uint32(0))}
		}},
		bodyCase{"cvt.pack.sat.s16.s32 %z0, %x0, %x1; cvt.pack.sat.u4.s32.b32 %z1, %x0, %x1, %x2; cvt.pack.sat.s2.s32.b32 %z2, %x0, %x1, %x2; cvt.pack.sat.u8.s32.b32 %z3, %x0, %x1, %x2;", func(x laneWords, _ int) laneWords {
			clamp := func(v uint32, low, high int32) uint32 { return uint32(min(max(int32(v), low), high)) }
			return laneWords{clamp(x[0], -32768, 32767)<<16 | clamp(x[1], -32768, 32767)&0xffff,
				x[2]<<8 | clamp(x[0], 0, 15)<<4 | clamp(x[1], 0, 15),
				x[2]<<4 | clamp(x[0], -2, 1)&3<<2 | clamp(x[1], -2, 1)&3,
				x[2]<<16 | clamp(x[0], 0, 255)<<8 | clamp(x[1], 0, 255)}
		}})
	runBodies(t, d, "sm_90", cases)
}

// Moves of vectors and of 128 bits, and 128-bit accesses of every space that has them.
func TestWideMoves(t *testing.T) {
	d := openTest(t, testProfile())
	same := func(x laneWords, _ int) laneWords { return x }
	swapped := func(x laneWords, _ int) laneWords { return laneWords{x[2], x[3], x[0], x[1]} }
	runBodies(t, d, "sm_90", []bodyCase{
		{"mov.b128 %w0, {%y0, %y1}; mov.b128 %w1, %w0; mov.b128 {%y2, %y3}, %w1; mov.b64 {%z0, %z1}, %y2; mov.b64 {%z2, %z3}, %y3;", same},
		{"mov.b128 %w0, {%y0, %y1}; mov.b128 {%y1, %y0}, %w0; mov.b64 {%z0, %z1}, %y0; mov.b64 {%z2, %z3}, %y1;", swapped},
		{"mov.v4.b32 {%z0, %z1, %z2, %z3}, {%x2, %x3, %x0, %x1};", swapped},
		{"mov.v2.b32 {%x0, %x1}, {%x1, %x0}; mov.v4.b32 {%z1, %z0, %z2, %z3}, {%x0, %x1, %x2, %x3};", same},
		{"mov.v4.u32 {%z0, %z1, %z2, %z3}, %tid;", func(_ laneWords, i int) laneWords { return laneWords{uint32(i)} }},
		{"mov.b128 %w0, {%y0, %y1}; st.global.b128 [%mem+16], %w0; ld.global.b128 %w1, [%mem+16]; mov.b128 {%y2, %y3}, %w1; mov.b64 {%z0, %z1}, %y2; mov.b64 {%z2, %z3}, %y3;", same},
		{"mov.b128 %w0, {%y0, %y1}; st.shared.b128 [%shared], %w0; ld.shared.v4.b32 {%z0, %z1, %z2, %z3}, [%shared];", same},
		{".local .align 16 .b8 frame[32]; mov.u64 %y2, frame; cvta.local.u64 %y2, %y2; st.v4.b32 [%y2+16], {%x0, %x1, %x2, %x3}; ld.b128 %w1, [%y2+16]; mov.b128 {%y2, %y3}, %w1; mov.b64 {%z0, %z1}, %y2; mov.b64 {%z2, %z3}, %y3;", same},
	})
}
