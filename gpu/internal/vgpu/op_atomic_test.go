package vgpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"
)

// atomicReference is op(old, b) by PTX ISA 9.7.13.5, on values of a type.
func atomicReference(op, typ string, old, b, c uint64) uint64 {
	n := uint(8 * typeBytes(typ))
	mask := uint64(1)<<(n-1)<<1 - 1
	if f, float := formats[typ]; float {
		x, y := f.decode(old, false), f.decode(b, false)
		switch op {
		case "add":
			return f.finish(f.arithmetic("add", "rn", []value{x, y}), false, false, false)
		case "min", "max":
			return f.pick(op, old, b, false)
		}
	}
	s := func(x uint64) int64 { return int64(x<<(64-n)) >> (64 - n) }
	switch op {
	case "add":
		return (old + b) & mask
	case "min", "max":
		less := old < b
		if typ[0] == 's' {
			less = s(old) < s(b)
		}
		if less == (op == "min") {
			return old
		}
		return b
	case "and":
		return old & b
	case "or":
		return old | b
	case "xor":
		return old ^ b
	case "inc":
		if old >= b {
			return 0
		}
		return old + 1
	case "dec":
		if old == 0 || old > b {
			return b
		}
		return old - 1
	case "cas":
		if old == b {
			return c
		}
		return old
	}
	return b // exch
}

// Every operation of atom and red on every type, in global, shared and generic memory: each lane has a word of its own, whose
// old value atom returns.
func TestAtomicsOfEveryType(t *testing.T) {
	d := openTest(t, testProfile())
	spaces := map[string]string{"global": "[%mem]", "shared": "[%shared]", "generic": "[%mem]", "generic shared": "[%y2]"}
	for op, types := range map[string][]string{
		"add": {"u32", "s32", "u64", "f32", "f64", "f16", "bf16"}, "min": {"u32", "s32", "u64", "s64", "f16", "bf16"}, "max": {"u32", "s32", "u64", "s64", "f16", "bf16"},
		"and": {"b32", "b64"}, "or": {"b32", "b64"}, "xor": {"b32", "b64"}, "exch": {"b32", "b64"}, "cas": {"b16", "b32", "b64"}, "inc": {"u32"}, "dec": {"u32"},
	} {
		for _, typ := range types {
			for name, address := range spaces {
				atomicCase(t, d, op, typ, name, address)
			}
		}
	}
}

func atomicCase(t *testing.T, d *Device, op, typ, space, address string) {
	size := typeBytes(typ)
	state := map[string]string{"global": ".global", "shared": ".shared"}[space]
	extra := ""
	if typ == "f16" || typ == "bf16" {
		extra = ".noftz"
	}
	reg := map[int][2]string{2: {"%h0", "%h1"}, 4: {"%x0", "%x1"}, 8: {"%y0", "%y1"}}[size]
	old := map[int]string{2: "%s0", 4: "%z0", 8: "%y3"}[size]
	place := map[string]string{"global": "st.global", "shared": "st.shared", "generic": "st", "generic shared": "st"}[space]
	fetch := map[string]string{"global": "ld.global", "shared": "ld.shared", "generic": "ld", "generic shared": "ld"}[space]
	body := "cvt.u64.u32 %y2, %shared; cvta.shared.u64 %y2, %y2;\n"
	if op == "cas" { // compared with what is there in every other lane
		body += map[int]string{2: "@%r mov.b16 %h1, %h0;", 4: "@%r mov.b32 %x1, %x0;", 8: "@%r mov.b64 %y1, %y0;"}[size]
	}
	third := ""
	if op == "cas" {
		third = ", " + map[int]string{2: "%h2", 4: "%x2", 8: "%y1"}[size]
	}
	body += fmt.Sprintf("%s.b%d %s, %s;\natom%s.%s%s.%s %s, %s, %s%s;\n", place, 8*size, address, reg[0], state, op, extra, typ, old, address, reg[1], third)
	body += map[int]string{
		2: fmt.Sprintf("cvt.u32.u16 %%z0, %%s0; %s.b16 %%s1, %s; cvt.u32.u16 %%z2, %%s1;", fetch, address),
		4: fmt.Sprintf("%s.b32 %%z2, %s;", fetch, address),
		8: fmt.Sprintf("mov.b64 {%%z0, %%z1}, %%y3; %s.b64 %%y3, %s; mov.b64 {%%z2, %%z3}, %%y3;", fetch, address),
	}[size]
	if op != "cas" && op != "exch" { // red does the same: here it is undone by what was there before
		body += fmt.Sprintf("\n%s.b%d %s, %s;\nred%s.%s%s.%s %s, %s;\n", place, 8*size, address, reg[0], state, op, extra, typ, address, reg[1])
		body += map[int]string{2: fmt.Sprintf("%s.b16 %%s2, %s; setp.ne.b16 %%p, %%s1, %%s2; @%%p trap;", fetch, address), 4: fmt.Sprintf("%s.b32 %%u, %s; setp.ne.b32 %%p, %%u, %%z2; @%%p trap;", fetch, address),
			8: fmt.Sprintf("%s.b64 %%y0, %s; setp.ne.b64 %%p, %%y0, %%y3; @%%p trap;", fetch, address)}[size]
	}
	in := randomWords(uint64(len(op)+size), 64)
	for i, have := range runBody(t, d, "sm_90", body, in) {
		x := in[i]
		wide := func(k int) uint64 { return uint64(x[k+1])<<32 | uint64(x[k]) }
		a, b, c := uint64(x[0]), uint64(x[1]), uint64(x[2])
		switch size {
		case 2:
			a, b, c = a&0xffff, b&0xffff, c&0xffff
		case 8:
			a, b, c = wide(0), wide(2), wide(2)
		}
		if op == "cas" && x[3]&1 != 0 {
			b = a
			if size == 8 {
				c = a
			}
		}
		after := atomicReference(op, typ, a, b, c)
		want := laneWords{uint32(a), 0, uint32(after)}
		if size == 8 {
			want = laneWords{uint32(a), uint32(a >> 32), uint32(after), uint32(after >> 32)}
		}
		if typ == "f64" && after&^(1<<63) > 0x7ff0000000000000 { // payloads of f64 are not defined
			want[2], want[3] = have[2], have[3]|0x7ff00000
		}
		if have != want {
			t.Errorf("atom%s.%s.%s, lane %d: %#x and %#x: old and new %#x, want %#x", state, op, typ, i, a, b, have, want)
			return
		}
	}
}

// Lanes that meet at one address, vectors, 128 bits: all of a warp's operations happen, one after another.
func TestAtomicsTogether(t *testing.T) {
	d := openTest(t, testProfile())
	f := math.Float32bits
	for _, c := range []struct {
		body string
		want []uint32 // at the first words of memory
	}{
		{"atom.global.add.u32 %z0, [%o], 3;", []uint32{64 * 3}},
		{"red.global.add.v4.f32 [%o], {0f3F800000, 0f40000000, 0f3F000000, 0f00000000};", []uint32{f(64), f(128), f(32), 0}},
		{"atom.global.add.v2.f32 {%z0, %z1}, [%o], {0f3F800000, 0f40000000};", []uint32{f(64), f(128)}},
		{"mov.b16 %h0, 0x3c00; mov.b16 %h1, 0x4000; red.global.add.noftz.v4.f16 [%o], {%h0, %h1, %h0, %h1};", []uint32{0x58005400, 0x58005400}},
		{"mov.b32 %x0, 0x3c004000; red.global.max.noftz.v2.f16x2 [%o], {%x0, %x0};", []uint32{0x3c004000, 0x3c004000}},
		{"mov.b32 %x0, 0x3f803f80; atom.global.add.noftz.v4.bf16x2 {%z0, %z1, %z2, %z3}, [%o], {%x0, %x0, %x0, %x0};", []uint32{0x42804280, 0x42804280, 0x42804280, 0x42804280}},
		{"mov.b64 %y0, 7; mov.b64 %y1, 9; mov.b128 %w0, {%y0, %y1}; atom.global.exch.b128 %w1, [%o], %w0;", []uint32{7, 0, 9, 0}},
		{"mov.b64 %y0, 0; mov.b64 %y1, 0; mov.b128 %w0, {%y0, %y1}; mov.b64 %y1, 5; mov.b128 %w2, {%y1, %y1}; atom.global.cas.b128 %w1, [%o], %w0, %w2;", []uint32{5, 0, 5, 0}},
		{"red.global.inc.u32 [%o], 9;", []uint32{64 % 10}},
		{"add.s64 %o, %o, 2; mov.b16 %h0, 1; atom.global.cas.b16 %h1, [%o], 0, %h0;", []uint32{1 << 16}},
		{"atom.relaxed.sys.global.or.b32 %z0, [%o], 6; red.release.gpu.global.xor.b32 [%o], 0; atom.acq_rel.cta.global.and.b32 %z1, [%o], 5;", []uint32{4}},
	} {
		text := ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b16 %h<2>; .reg .b32 %x<2>, %z<4>; .reg .b64 %o, %y<2>; .reg .b128 %w<3>;\nld.param.u64 %o, [p];\n" +
			c.body + "\nret;\n}\n"
		m := loadModule(t, d, text)
		p := upload(t, d, make([]byte, 64))
		r := launch(t, d, fn(t, m, "k"), dim(1), dim(64), p)
		have := download[byte](t, d, p, 4*len(c.want))
		for k, want := range c.want {
			if got := binary.LittleEndian.Uint32(have[4*k:]); got != want {
				t.Errorf("%s\nword %d is %#x, want %#x", c.body, k, got, want)
			}
		}
		if g := r.Counts.GlobalContention; g.Requests == 0 || g.Addresses != g.Requests || g.Passes != 32*g.Requests {
			t.Errorf("%s\ncontention %+v: each request has one address for 32 lanes", c.body, g)
		}
	}
	for body, want := range map[string]string{
		"red.global.exch.b32 [%p], %x;":                     "red.global.exch.b32: red has no .exch: use atom",
		"atom.global.add.s64 %p, [%p], %p;":                 "atom.global.add.s64: there is no .add of .s64: it takes .u32 .s32 .u64 .f32 .f64 .f16 .f16x2 .bf16 .bf16x2",
		"red.shared.add.v2.f32 [%x], {%x, %y};":             "red.shared.add.v2.f32: a vector is only for global memory",
		"red.global.min.v2.f32 [%p], {%x, %y};":             "red.global.min.v2.f32: there is no .min of .f32: it takes .u32 .s32 .u64 .s64 .f16 .f16x2 .bf16 .bf16x2",
		"atom.global.cas.b32 %z, [%p], %x;":                 "atom.global.cas.b32: 3 operands, expected 4",
		"ld.relaxed.global.b32 %z, [%p];":                   "ld.relaxed.global.b32: .relaxed needs a scope: .cta, .cluster, .gpu or .sys",
		"ld.gpu.global.b32 %z, [%p];":                       "ld.gpu.global.b32: a scope stands only with .relaxed, .acquire or .release",
		"ld.global.v8.b32 {%z,%z,%z,%z,%z,%z,%z,%z}, [%p];": "ld.global.v8.b32: needs .target sm_100 or higher, the module has .target sm_80",
		"ld.shared.v4.b64 {%p,%p,%p,%p}, [%x];":             "ld.shared.v4.b64: an access of 32 bytes is only for global memory",
		"redux.sync.min.f32 %z, %x, -1;":                    "redux.sync.min.f32: needs .target sm_100 or higher, the module has .target sm_80",
	} {
		refuse(t, narrowKernel("sm_80", body), want)
	}
}
