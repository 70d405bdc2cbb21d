package vgpu

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// lanesKernel runs a body in one warp: %r0 is the lane's input, %r1 a second one, %r2 the result; the body may use
// %p0 … %p3, %r3 … %r9, %rd3 … %rd5. Lanes not in mask skip it.
func runLanes(t *testing.T, d *Device, body string, a, b []uint32, mask uint32) []uint32 {
	t.Helper()
	m := loadModule(t, d, header+`.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 mask) {
	.reg .pred %p<5>; .reg .b32 %r<12>; .reg .b64 %rd<9>;
	.shared .align 16 .b8 buffer[1024];
	ld.param.u64 %rd0, [pa]; ld.param.u64 %rd1, [pb]; ld.param.u64 %rd2, [pc]; ld.param.u32 %r10, [mask];
	mov.u32 %r11, %laneid; mul.wide.u32 %rd8, %r11, 4;
	add.s64 %rd0, %rd0, %rd8; add.s64 %rd1, %rd1, %rd8; add.s64 %rd2, %rd2, %rd8;
	ld.global.u32 %r0, [%rd0]; ld.global.u32 %r1, [%rd1]; mov.b32 %r2, 0xdead;
	shr.u32 %r10, %r10, %r11; and.b32 %r10, %r10, 1; setp.eq.u32 %p4, %r10, 0;
	@%p4 bra DONE;
`+body+`
DONE:
	st.global.u32 [%rd2], %r2;
	ret;
}
`)
	pa, pb, pc := upload(t, d, a), upload(t, d, b), upload(t, d, make([]uint32, 32))
	launch(t, d, fn(t, m, "k"), dim(1), dim(32), pa, pb, pc, mask)
	return download[uint32](t, d, pc, 32)
}

func TestShuffle(t *testing.T) {
	d := openTest(t, testProfile())
	a, b := make([]uint32, 32), make([]uint32, 32)
	for i := range a {
		a[i], b[i] = uint32(1000+i), uint32(i*7%32)
	}
	for _, width := range []int{32, 8, 2} {
		segment := uint32(32-width)<<8 | 0x1f
		up := uint32(32-width) << 8 // __shfl_up's clamp is 0
		for _, c := range []struct {
			mode, distance string
			c              uint32
			from           func(lane, base int) int // source lane; outside the segment: the lane itself
		}{
			{"idx", "%r1", segment, func(l, base int) int { return base + int(b[l])%width }},
			{"bfly", "1", segment, func(l, base int) int { return l ^ 1 }},
			{"down", "3", segment, func(l, base int) int { return l + 3 }},
			{"up", "3", up, func(l, base int) int { return l - 3 }},
		} {
			body := fmt.Sprintf("shfl.sync.%s.b32 %%r3|%%p0, %%r0, %s, %d, 0xffffffff; selp.u32 %%r4, 1, 0, %%p0; shl.b32 %%r4, %%r4, 16; or.b32 %%r2, %%r3, %%r4;", c.mode, c.distance, c.c)
			for lane, got := range runLanes(t, d, body, a, b, allLanes) {
				base := lane / width * width
				from, in := c.from(lane, base), uint32(1<<16)
				if from < base || from >= base+width {
					from, in = lane, 0
				}
				if want := a[from] | in; got != want {
					t.Errorf("%s, width %d, lane %d: %#x, want %#x", c.mode, width, lane, got, want)
				}
			}
		}
	}
}

func TestVoteMatchRedux(t *testing.T) {
	d := openTest(t, testProfile())
	a, zero := make([]uint32, 32), make([]uint32, 32)
	for i := range a {
		a[i] = uint32(i * i % 5)
	}
	const mask = 0x00ff0ff1
	fold := func(start int64, f func(x, y int64) int64) uint32 {
		r := start
		for i, v := range a {
			if mask>>i&1 != 0 {
				r = f(r, int64(int32(v-2)))
			}
		}
		return uint32(r)
	}
	var odd, active uint32 = 0, mask
	for i, v := range a {
		odd |= (v & 1) << i & mask
	}
	groups := "mov.u32 %r6, %laneid; and.b32 %r4, %r6, 24; mov.u32 %r5, 255; shl.b32 %r4, %r5, %r4; and.b32 %r4, %r4, 0x00ff0ff1; " // eight lanes vote apart
	vote := "and.b32 %r3, %r0, 1; setp.ne.u32 %p0, %r3, 0; "
	signed := "sub.s32 %r3, %r0, 2; "
	for _, c := range []struct {
		body string
		want func(lane int) uint32
	}{
		{vote + "vote.sync.ballot.b32 %r2, %p0, 0x00ff0ff1;", func(int) uint32 { return odd }},
		{vote + groups + "vote.sync.ballot.b32 %r2, %p0, %r4;", func(i int) uint32 { return odd & (0xff << (i &^ 7)) }},
		{groups + "setp.eq.u32 %p0, %r6, 9; vote.sync.any.pred %p1, %p0, %r4; selp.u32 %r2, 1, 0, %p1;", func(i int) uint32 { return uint32(b2i(i/8 == 1)) }},
		{groups + "setp.ne.u32 %p0, %r6, 9; vote.sync.all.pred %p1, %p0, %r4; selp.u32 %r2, 1, 0, %p1;", func(i int) uint32 { return uint32(b2i(i/8 != 1)) }},
		{vote + "vote.sync.any.pred %p1, %p0, 0x00ff0ff1; selp.u32 %r2, 1, 0, %p1;", func(int) uint32 { return uint32(b2i(odd != 0)) }},
		{vote + "vote.sync.all.pred %p1, !%p0, 0x00ff0ff1; selp.u32 %r2, 1, 0, %p1;", func(int) uint32 { return uint32(b2i(odd == 0)) }},
		{"activemask.b32 %r2;", func(int) uint32 { return active }},
		{"match.any.sync.b32 %r2, %r0, 0x00ff0ff1;", func(lane int) uint32 {
			var m uint32
			for i, v := range a {
				m |= uint32(b2i(v == a[lane])) << i
			}
			return m & mask
		}},
		{"mov.b32 %r3, 5; match.all.sync.b32 %r2|%p0, %r3, 0x00ff0ff1;", func(int) uint32 { return mask }},
		{signed + "redux.sync.add.s32 %r2, %r3, 0x00ff0ff1;", func(int) uint32 { return fold(0, func(x, y int64) int64 { return x + y }) }},
		{signed + "redux.sync.min.s32 %r2, %r3, 0x00ff0ff1;", func(int) uint32 { return fold(1<<40, func(x, y int64) int64 { return min(x, y) }) }},
		{"redux.sync.max.u32 %r2, %r0, 0x00ff0ff1;", func(int) uint32 { return 4 }},
		{"redux.sync.or.b32 %r2, %r0, 0x00ff0ff1;", func(int) uint32 { return 5 }},
	} {
		for lane, got := range runLanes(t, d, c.body, a, zero, mask) {
			want := uint32(0xdead)
			if mask>>lane&1 != 0 {
				want = c.want(lane)
			}
			if got != want {
				t.Errorf("%s lane %d: %#x, want %#x", c.body, lane, got, want)
			}
		}
	}
}

// Atomics in every space: all lanes on one address give the sum, and the old values are those of some order.
func TestAtomics(t *testing.T) {
	d := openTest(t, testProfile())
	a, zero := make([]uint32, 32), make([]uint32, 32)
	for i := range a {
		a[i] = uint32(i + 1)
	}
	for _, c := range []struct {
		op   string
		want uint32 // in memory, from 10
	}{
		{"add.u32", 10 + 528}, {"max.u32", 32}, {"min.u32", 1}, {"and.b32", 0}, {"or.b32", 63}, {"xor.b32", 10 ^ 32}, {"exch.b32", 32}, {"inc.u32", 0}, {"dec.u32", 0},
	} {
		want := c.want
		if c.op == "inc.u32" || c.op == "dec.u32" { // by the definition, lane after lane
			want = 10
			for _, limit := range a {
				switch {
				case c.op == "inc.u32" && want >= limit:
					want = 0
				case c.op == "inc.u32":
					want++
				case want == 0 || want > limit:
					want = limit
				default:
					want--
				}
			}
		}
		for _, space := range []string{"shared", "generic shared", "global", "generic"} {
			at, name := "[%rd5]", "."+space
			set := "mov.u32 %r5, buffer; cvt.u64.u32 %rd5, %r5; "
			switch space {
			case "generic shared":
				set += "cvta.shared.u64 %rd5, %rd5; "
				name = ""
			case "global", "generic":
				set = "sub.s64 %rd5, %rd1, %rd8; "
				name = strings.TrimPrefix(name, ".generic")
				if space == "global" {
					name = ".global"
				}
			}
			body := set + "mov.b32 %r6, 10; st" + name + ".u32 " + at + ", %r6; atom" + name + "." + c.op + " %r7, " + at + ", %r0; bar.warp.sync -1; ld" + name + ".u32 %r2, " + at + ";"
			if got := runLanes(t, d, body, a, zero, allLanes); got[5] != want {
				t.Errorf("%s in %s: %d, want %d", c.op, space, got[5], want)
			}
		}
	}
	// cas: one lane wins, the others see its value.
	got := runLanes(t, d, "sub.s64 %rd5, %rd1, %rd8; atom.global.cas.b32 %r2, [%rd5], 0, %r0;", a, zero, allLanes)
	if got[0] != 0 || got[1] != 1 || got[31] != 1 {
		t.Errorf("cas: %v", got)
	}
	// Floating point, 16 bits and packed.
	got = runLanes(t, d, "sub.s64 %rd5, %rd1, %rd8; .reg .f32 %f; cvt.rn.f32.u32 %f, %r0; red.global.add.f32 [%rd5], %f; .reg .b16 %h; mov.b16 %h, 0x3c00; red.global.add.noftz.f16 [%rd5+6], %h; mov.b32 %r5, 0x3c004000; red.global.add.noftz.f16x2 [%rd5+8], %r5; bar.warp.sync -1; .reg .b32 %q; ld.global.u32 %r2, [%rd1];", a, zero, allLanes)
	if math.Float32frombits(got[0]) != 528 || got[1] != 0x50000000 || got[2] != 0x50005400 {
		t.Errorf("add.f32 %v, add.f16 %#x, add.f16x2 %#x", math.Float32frombits(got[0]), got[1], got[2])
	}
}

// A copy that is not waited for has not arrived; after its group's wait it has, and what src-size leaves out is zero.
func TestAsyncCopy(t *testing.T) {
	d := openTest(t, testProfile())
	a, zero := make([]uint32, 32), make([]uint32, 32)
	for i := range a {
		a[i] = uint32(100 + i)
	}
	start := "mov.u32 %r5, buffer; mad.lo.u32 %r5, %r11, 4, %r5; mov.b32 %r6, 7; st.shared.u32 [%r5], %r6; cp.async.ca.shared.global [%r5], [%rd0], 4SIZE; cp.async.commit_group; "
	for _, c := range []struct {
		name, size, wait string
		want             func(lane int) uint32
	}{
		{"waited", "", "cp.async.wait_group 0;", func(l int) uint32 { return a[l] }},
		{"wait_all", "", "cp.async.wait_all;", func(l int) uint32 { return a[l] }},
		{"not waited", "", "", func(l int) uint32 { return 7 }},
		{"one group may stay", "", "cp.async.wait_group 1;", func(l int) uint32 { return 7 }},
		{"two bytes", ", 2", "cp.async.wait_group 0;", func(l int) uint32 { return a[l] & 0xffff }},
		{"nothing, by a register", ", %r3", "cp.async.wait_group 0;", func(l int) uint32 { return 0 }},
	} {
		body := "mov.b32 %r3, 0; " + strings.Replace(start, "SIZE", c.size, 1) + c.wait + " ld.shared.u32 %r2, [%r5];"
		for lane, got := range runLanes(t, d, body, a, zero, allLanes) {
			if got != c.want(lane) {
				t.Errorf("%s: lane %d read %d, want %d", c.name, lane, got, c.want(lane))
			}
		}
	}
	// A source that is not read is not checked.
	runLanes(t, d, "mov.b32 %r3, 0; mov.u32 %r5, buffer; mov.u64 %rd0, 0; cp.async.ca.shared.global [%r5], [%rd0], 4, %r3; cp.async.wait_all;", a, zero, allLanes)
}

// Carries run through chains: a 128-bit addition and subtraction.
func TestCarry(t *testing.T) {
	d := openTest(t, testProfile())
	a, b := make([]uint32, 32), make([]uint32, 32)
	for i := range a {
		a[i], b[i] = 0xffffffff-uint32(i%3), uint32(i%4)
	}
	sum := "add.cc.u32 %r3, %r0, %r1; addc.cc.u32 %r4, 0xffffffff, 0; addc.u32 %r2, 5, 0;"
	difference := "sub.cc.u32 %r3, %r1, %r0; subc.u32 %r2, 5, 0;"
	for lane, got := range runLanes(t, d, sum, a, b, 0x7fffffff) {
		_, c := bits.Add32(a[lane], b[lane], 0)
		want := 5 + c
		if lane == 31 {
			want = 0xdead
		}
		if got != want {
			t.Errorf("sum, lane %d: %d, want %d", lane, got, want)
		}
	}
	for lane, got := range runLanes(t, d, difference, a, b, allLanes) {
		if _, borrow := bits.Sub32(b[lane], a[lane], 0); got != 5-borrow {
			t.Errorf("difference, lane %d: %d", lane, got)
		}
	}
}

// What is not supported, or wrong, is said at load with line, instruction and what works instead.
func TestLoadErrors(t *testing.T) {
	p := testProfile()
	d := openTest(t, p)
	p75 := testProfile()
	p75.Major, p75.Minor, p75.Name = 7, 5, "t4"
	old := openTest(t, p75)
	wrap := func(s string) string {
		return strings.Replace(header, "sm_80", "sm_75", 1) + ".visible .entry k() {\n.reg .pred %p; .reg .b16 %h; .reg .b32 %r<9>; .reg .f32 %f; .reg .b64 %rd;\n" + s + "\nret;\n}\n"
	}
	for _, c := range []struct {
		d          *Device
		text, want string
	}{
		{d, wrap("wgmma.fence.sync.aligned;"), "k.ptx:6:1: wgmma.fence.sync.aligned: needs .target sm_90a, and the PTX is for sm_75\n    wgmma.fence.sync.aligned;\n    ^\ncompile it for sm_90a, or use mma.sync"},
		{d, wrap("add.rn.s32 %r1, %r2, %r3;"), "k.ptx:6:1: add.rn.s32: not supported by the virtual GPU\n    add.rn.s32 %r1, %r2, %r3;\n    ^\nnearest that works: add.s32"},
		{d, wrap("call.uni f, ();\n"), "k.ptx:6:1: call.uni: not supported by the virtual GPU: function f has no body here\n    call.uni f, ();\n    ^\nput its body into the same source: modules are not linked"},
		{d, wrap("fmad.rn.f32 %f, %f, %f;"), "k.ptx:6:1: fmad.rn.f32: not supported by the virtual GPU\n    fmad.rn.f32 %f, %f, %f;\n    ^\ndid you mean fma?"},
		{d, wrap("mvo.u32 %r1, %r2;"), "k.ptx:6:1: mvo.u32: not supported by the virtual GPU\n    mvo.u32 %r1, %r2;\n    ^\ndid you mean mov?"},
		{d, wrap("bogus.u32 %r1, %r2;"), "k.ptx:6:1: bogus.u32: not supported by the virtual GPU\n    bogus.u32 %r1, %r2;\n    ^"},
		// Of several faults the first is told, whoever finds it.
		{d, wrap("bogus.u32 %r1, %r2;\nadd.u32 %r1, %r2, %missing;"), "k.ptx:6:1: bogus.u32: not supported by the virtual GPU\n    bogus.u32 %r1, %r2;\n    ^"},
		{d, wrap("bogus.u32 %r1, %missing;"), "k.ptx:6:1: bogus.u32: not supported by the virtual GPU\n    bogus.u32 %r1, %missing;\n    ^"},
		{d, wrap("add.u32 %r1, %r2, %missing;\nbogus.u32 %r1, %r2;"), "k.ptx:6:19: add.u32: unknown register %missing\n    add.u32 %r1, %r2, %missing;\n                      ^\ndeclare it with .reg"},
		{d, wrap("add.s32 %r1, %rd, %r3;"), "k.ptx:6:1: add.s32: operand %rd is of type .b64, expected .u32\n    add.s32 %r1, %rd, %r3;\n    ^\nconvert it: cvt.u32.u64 x, %rd"},
		{d, wrap("add.f32 %f, %f, %p;"), "k.ptx:6:1: add.f32: operand %p is a predicate, expected .f32\n    add.f32 %f, %f, %p;\n    ^\nmake a number of it: selp.b32 r, 1, 0, %p"},
		{d, wrap("ld.global.u32 %r1, [%r2];"), "k.ptx:6:1: ld.global.u32: address %r2 has 32 bits, and global addresses have 64\n    ld.global.u32 %r1, [%r2];\n    ^\nwiden it with cvt.u64.u32"},
		{d, wrap("cvt.f16.f32 %h, %f;"), "k.ptx:6:1: cvt.f16.f32: a conversion to a narrower floating-point type needs a rounding mode: .rn, .rz, .rm or .rp\n    cvt.f16.f32 %h, %f;\n    ^"},
		{old, wrap("redux.sync.add.u32 %r1, %r2, -1;"), "k.ptx:6:1: redux.sync.add.u32: redux.sync needs sm_80\n    redux.sync.add.u32 %r1, %r2, -1;\n    ^\nuse shfl.sync"},
		{d, wrap("add.s32 %r1, %r2, %h;"), "k.ptx:6:1: add.s32: operand %h is of type .b16, expected .u32\n    add.s32 %r1, %r2, %h;\n    ^\nconvert it: cvt.u32.u16 x, %h"},
		{d, wrap("add.s32 %r1, %r2, %f;"), "k.ptx:6:1: add.s32: operand %f is of type .f32, expected .u32\n    add.s32 %r1, %r2, %f;\n    ^\ndeclare it .b32, or move its bits: mov.b32 x, %f"},
		{d, wrap("add.s32 %r1, %r2;"), "k.ptx:6:1: add.s32: 2 operands, expected 3\n    add.s32 %r1, %r2;\n    ^\noperands stand between commas, the result first"},
		{d, wrap("add.s32 5, %r2, %r3;"), "k.ptx:6:1: add.s32: destination 5 is no register\n    add.s32 5, %r2, %r3;\n    ^\nthe first operand receives the result: give a register, or _ to drop it"},
		{d, wrap("selp.b32 %r1, %r2, %r3, %r4;"), "k.ptx:6:1: selp.b32: operand %r4 is no predicate\n    selp.b32 %r1, %r2, %r3, %r4;\n    ^\ncompare it first, with setp, and give the predicate"},
		{old, header, "k.ptx:2:9: the PTX is for sm_80, device \"virtual:t4\" is sm_75\n    .target sm_80\n            ^\ncompile it for sm_75, or open a device that runs it"},
	} {
		_, err := c.d.LoadPTX(c.text, driver.LoadOptions{Name: "k.ptx"})
		if got := fmt.Sprint(err); got != c.want {
			t.Errorf("%s\nwant\n%s", got, c.want)
		}
	}
}
