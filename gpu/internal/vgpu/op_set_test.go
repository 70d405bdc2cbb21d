package vgpu

import (
	"context"
	"math"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
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
					bodyCase{"set." + op + suffix + ".u32." + typ + " %z0, %x0, %x1;", func(x laneWords, _ int) laneWords {
						return laneWords{yes(low(x), 0xffff) | yes(high(x), 0xffff0000)}
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

// prmt's modes (PTX ISA 9.7.9.7, table of modes): which byte of {b, a} stands where, from the uppermost down, by the
// selector's lower two bits.
func TestPermuteModes(t *testing.T) {
	d := openTest(t, testProfile())
	var cases []bodyCase
	for mode, table := range map[string][4][4]int{
		"f4e": {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}, "b4e": {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}},
		"rc8": {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}, "ecl": {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}},
		"ecr": {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}, "rc16": {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}},
	} {
		cases = append(cases, bodyCase{body: "prmt.b32." + mode + " %z0, %x0, %x1, %x2;", want: func(x laneWords, _ int) laneWords {
			pool := uint64(x[1])<<32 | uint64(x[0])
			var r uint32
			for _, k := range table[x[2]&3] {
				r = r<<8 | uint32(pool>>(8*k)&0xff)
			}
			return laneWords{r}
		}})
	}
	runBodies(t, d, "sm_70", cases)
}

// The parameters of an entry, by name, by an address in a register, through a generic pointer, and as a vector.
func TestParametersByAddress(t *testing.T) {
	d := openTest(t, testProfile())
	const text = header + `.visible .entry k(.param .align 16 .b8 table[64], .param .u64 out, .param .u32 from) {
	.reg .pred %p, %q; .reg .b32 %r<9>; .reg .b64 %rd<9>;
	ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; ld.param.u32 %r1, [from];
	mul.wide.u32 %rd1, %r0, 4; mov.b64 %rd2, table; add.s64 %rd3, %rd2, %rd1; ld.param.u32 %r2, [%rd3];
	cvta.param.u64 %rd4, %rd2; add.s64 %rd5, %rd4, %rd1; ld.u32 %r3, [%rd5];
	ld.param.v2.u32 {%r4, %r5}, [table+8];
	isspacep.param %p, %rd5; isspacep.global %q, %rd5; selp.u32 %r6, 1, 0, %p; @%q add.u32 %r6, %r6, 2;
	isspacep.global %q, %rd0; @%q add.u32 %r6, %r6, 4; isspacep.const %q, %rd0; @%q add.u32 %r6, %r6, 8;
	add.u32 %r7, %r4, %r5; add.u32 %r7, %r7, %r1;
	mul.wide.u32 %rd6, %r0, 16; add.s64 %rd0, %rd0, %rd6; st.global.v4.u32 [%rd0], {%r2, %r3, %r6, %r7};
	ret;
}
`
	m := loadModule(t, d, text)
	var table [16]uint32
	for i := range table {
		table[i] = uint32(i*i + 1)
	}
	out := upload(t, d, make([]laneWords, 16))
	launch(t, d, fn(t, m, "k"), dim(1), dim(16), table, out, uint32(1000))
	for i, have := range download[laneWords](t, d, out, 16) {
		if want := (laneWords{table[i], table[i], 1 + 4, table[2] + table[3] + 1000}); have != want {
			t.Errorf("thread %d: %v, want %v", i, have, want)
		}
	}
	f := fn(t, m, "k")
	_, err := d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(1), CTA: dim(32), Args: pack(t, f, table, out, uint32(0)), Wait: true})
	if err == nil || !strings.Contains(err.Error(), "param") {
		t.Errorf("reading behind the parameters: %v", err)
	}
}

// redux.sync of f32 (sm_100a): of NaN and a number the number, or with .NaN the canonical NaN; .abs joins magnitudes.
func TestReduxFloat(t *testing.T) {
	p := testProfile()
	p.Major = 10
	d := openTest(t, p)
	for _, op := range []string{"min", "max"} {
		for _, abs := range []string{"", ".abs"} {
			for _, nan := range []string{"", ".NaN"} {
				in := randomWords(3, 64)
				f := formats["f32"]
				for i, have := range runBody(t, d, "sm_100a", "redux.sync."+op+abs+nan+".f32 %z0, %x0, -1;", in) {
					var want uint64
					for k := i / 32 * 32; k < i/32*32+32; k++ {
						v := uint64(in[k][0])
						if abs != "" {
							v &= 0x7fffffff
						}
						if k%32 == 0 {
							want = v
						} else {
							want = f.pick(op, want, v, nan != "")
						}
					}
					if have[0] != uint32(want) {
						t.Fatalf("redux.sync.%s%s%s.f32 in lane %d: %#x, want %#x", op, abs, nan, i, have[0], want)
					}
				}
			}
		}
	}
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

// Elements of arrays by subscript: their addresses in mov, themselves in loads and stores.
func TestSubscripts(t *testing.T) {
	d := openTest(t, testProfile())
	runBodies(t, d, "sm_80", []bodyCase{{".shared .align 8 .b64 words[4]; .local .u32 own[4]; mov.u64 %y2, words[2]; mov.u64 %y3, words; sub.s64 %y2, %y2, %y3; cvt.u32.u64 %z0, %y2;" +
		" st.local.u32 own[3], %x0; ld.local.u32 %z1, own[3]; mov.u64 %y2, own[1]; ld.local.u32 %z2, [%y2+8];", func(x laneWords, _ int) laneWords { return laneWords{16, x[0], x[0]} }}})
}
