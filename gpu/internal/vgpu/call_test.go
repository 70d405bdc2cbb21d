package vgpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
)

func collatz(n int) int {
	steps := 0
	for ; n != 1; steps++ {
		if n%2 == 1 {
			n = 3*n + 1
		} else {
			n /= 2
		}
	}
	return steps
}

// deepCalls is what f8 of calls.cu computes: f0 to f8, each of which calls the one before twice… 2^8 and more calls.
func deepCalls(n, x uint32) uint32 {
	if n == 0 {
		return x*2654435761 + 1
	}
	a := deepCalls(n-1, x+n)
	return deepCalls(n-1, a^n) + deepCalls(n-1, x*3)
}

func TestFunctions(t *testing.T) {
	everyOrder(t, func(t *testing.T, d *Device) {
		m := testPTX(t, d, "calls")
		check := func(name string, n int, got []int32, want func(i int) int32) {
			t.Helper()
			for i := range n {
				if got[i] != want(i) {
					t.Errorf("%s: thread %d has %d, want %d", name, i, got[i], want(i))
					return
				}
			}
		}
		const n = 64
		out := zeros(t, d, n)
		mustRun(t, d, fn(t, m, "plain"), 1, n, out)
		check("plain", n, download[int32](t, d, out, n), func(i int) int32 {
			s := int32(0)
			for k := range 10 {
				s = s*3 + int32(i*((k+i%3)%10)) + int32(2.5*float64(i))
			}
			return int32(collatz(i+1)) + s
		})
		which := make([]int32, n)
		for i := range which {
			which[i] = int32(i * 7 % 4)
		}
		mustRun(t, d, fn(t, m, "pointers"), 1, n, out, upload(t, d, which))
		check("pointers", n, download[int32](t, d, out, n), func(i int) int32 {
			a, b := i, 40-i
			switch which[i] {
			case 0:
				return int32(a + b)
			case 1:
				return int32(a - b)
			case 2:
				return int32(a * b)
			}
			if a > b {
				return int32(collatz(a))
			}
			return int32(a+b) * 2
		})
		mustRun(t, d, fn(t, m, "virtuals"), 1, n, out)
		check("virtuals", n, download[int32](t, d, out, n), func(i int) int32 {
			switch i % 3 {
			case 0:
				return int32(i*i*i) + 50
			case 1:
				return int32(3*(i+1)*(i+1)+i) + 50
			}
			return int32((i+2)*(i+2)*i+1) + 50
		})
		mustRun(t, d, fn(t, m, "deep"), 1, n, out)
		check("deep", n, download[int32](t, d, out, n), func(i int) int32 { return int32(deepCalls(8, uint32(i))) })
		mustRun(t, d, fn(t, m, "heap"), 1, n, out, int32(10))
		check("heap", n, download[int32](t, d, out, n), func(i int) int32 { return int32(45 * i) })
		mustRun(t, d, fn(t, m, "heap"), 1, 1, out, int32(3<<20))
		check("heap used up", 1, download[int32](t, d, out, 1), func(int) int32 { return -1 })
	})
}

// What printf writes, by the rules of C.
func TestPrintf(t *testing.T) {
	everyOrder(t, func(t *testing.T, d *Device) {
		m := testPTX(t, d, "calls")
		r := mustRun(t, d, fn(t, m, "prints"), 3, 32, driver.Address(0))
		var want strings.Builder
		for cta := range 3 {
			for i, pi := range []string{" 0.00", " 3.14", " 6.28"} {
				fmt.Fprintf(&want, "cta %d thread %d: %s|42    |-00042|+7|ff|0XFF|10|%c|text|%%|-1234567890123|18446744073709551615|1.234568e+04|0.0001|1E+20|   right|left    |abc|5000000000\n", cta, i, pi, 'A'+i)
			}
		}
		if r.Printed != want.String() {
			t.Errorf("printed\n%s\nwant\n%s", r.Printed, want.String())
		}
		r = mustRun(t, d, fn(t, m, "specials"), 1, 1)
		if want := "inf -inf 100000 -1 4464     z|     12 0.67 0x1234\n"; r.Printed != want {
			t.Errorf("printed %q, want %q", r.Printed, want)
		}
	})
}

func TestPrintfDirectives(t *testing.T) {
	for _, c := range []struct {
		v    directive
		x    float64
		want string
	}{
		{directive{verb: 'g', width: -1, precision: -1}, 1e6, "1e+06"},
		{directive{verb: 'g', width: -1, precision: -1}, 123456, "123456"},
		{directive{verb: 'g', width: -1, precision: -1}, 1e-5, "1e-05"},
		{directive{verb: 'g', width: -1, precision: 0}, 25, "2e+01"},
		{directive{verb: 'f', width: 8, precision: 1, flags: "0"}, -2.25, "-00002.2"},
		{directive{verb: 'a', width: -1, precision: -1}, 1, "0x1p+0"},
		{directive{verb: 'A', width: -1, precision: -1}, 0.15625, "0X1.4P-3"},
		{directive{verb: 'f', width: 6, precision: -1, flags: "0"}, math.NaN(), "   nan"},
		{directive{verb: 'E', width: -1, precision: 2}, math.Inf(-1), "-INF"},
	} {
		p := &printer{}
		if p.float(c.v, c.x); string(p.out) != c.want {
			t.Errorf("%+v of %v: %q, want %q", c.v, c.x, p.out, c.want)
		}
	}
}

func TestAssert(t *testing.T) {
	d := openTest(t, testProfile())
	m := testPTX(t, d, "calls")
	f := fn(t, m, "asserts")
	mustRun(t, d, f, 2, 64, int32(64))
	_, err := within(t, d, 5*time.Second, driver.Launch{Function: f, Grid: dim(2), CTA: dim(64)}, int32(40))
	var fault *driver.Fault
	if !errors.As(err, &fault) || fault.Kind != driver.Assert || fault.Detail != "calls.cu:43: void asserts(int): block: [0,0,0], thread: [40,0,0] Assertion `threadIdx.x < n && \"too many threads\"` failed." {
		t.Errorf("%v", err)
	}
}

// Calls through registers, switch tables, a stack, and what is refused or stopped.
func TestCallForms(t *testing.T) {
	d := openTest(t, testProfile())
	run := func(functions, body string) ([]int32, error) {
		m, err := d.LoadPTX(header+functions+".visible .entry k(.param .u64 p) {\n.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %a, %o, %f; .reg .b64 %rd<4>;\nld.param.u64 %a, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %o, %r0, 4; add.s64 %a, %a, %o;\n"+body+"\nst.global.u32 [%a], %r1;\nret;\n}\n", driver.LoadOptions{Name: "k.ptx"})
		if err != nil {
			return nil, err
		}
		out := zeros(t, d, 32)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		f := fn(t, m, "k")
		_, err = d.Launch(ctx, &driver.Launch{Function: f, Grid: dim(1), CTA: dim(32), Args: pack(t, f, out), Wait: true, Count: true})
		return download[int32](t, d, out, 32), err
	}
	for _, c := range []struct {
		name, functions, body string
		want                  func(i int) int32
	}{
		{"registers", ".func (.reg .b32 r) f(.reg .b32 a, .reg .b32 b) { mul.lo.u32 r, a, b; add.u32 r, r, 1; ret; }\n", "call (%r1), f, (%r0, 5);", func(i int) int32 { return int32(5*i + 1) }},
		{"registers for .param", ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 9; st.param.b32 [r], %x; ret; }\n", "call (%r1), f, (%r0);", func(i int) int32 { return int32(i + 9) }},
		{"table", "", "T: .branchtargets A, B, C;\nand.b32 %r2, %r0, 3; min.u32 %r2, %r2, 2; brx.idx %r2, T;\nA: mov.b32 %r1, 10; bra END;\nB: mov.b32 %r1, 20; bra END;\nC: mov.b32 %r1, 30;\nEND:", func(i int) int32 { return int32(10 * (min(i&3, 2) + 1)) }},
		{"pointer in a register", ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 1; st.param.b32 [r], %x; ret; }\n.func (.param .b32 r) g(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; shl.b32 %x, %x, 1; st.param.b32 [r], %x; ret; }\n",
			"P: .callprototype (.param .b32 _) _ (.param .b32 _);\nmov.u64 %rd0, f; mov.u64 %rd1, g; setp.lt.u32 %p0, %r0, 7; selp.b64 %f, %rd0, %rd1, %p0;\n{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call (y), %f, (x), P; ld.param.b32 %r1, [y]; }", func(i int) int32 {
				if i < 7 {
					return int32(i + 1)
				}
				return int32(2 * i)
			}},
		{"stack", "", "stacksave.u64 %rd2; mov.b32 %r1, 0; mov.b32 %r3, 0;\nLOOP: alloca.u64 %rd1, 1024; st.local.b32 [%rd1+1020], %r0; ld.local.b32 %r4, [%rd1+1020]; add.u32 %r1, %r1, %r4; stackrestore.u64 %rd2; add.u32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, 100; @%p0 bra LOOP;", func(i int) int32 { return int32(100 * i) }},
	} {
		got, err := run(c.functions, c.body)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i, v := range got {
			if v != c.want(i) {
				t.Errorf("%s: thread %d has %d, want %d", c.name, i, v, c.want(i))
				break
			}
		}
	}
	for _, c := range []struct{ functions, body, want string }{
		{".func f() { ret; }\n", "P: .callprototype _ ();\nmov.u64 %f, 64; call %f, P;", "virtual GPU: k.ptx:9: call.enter illegal instruction\nCTA (0,0,0) warp 0 lane 0\nthe pointer 0x40 is to no function of this module"},
		{"", "T: .branchtargets A;\nbrx.idx %r0, T;\nA:", "virtual GPU: k.ptx:8: brx.idx illegal instruction\nCTA (0,0,0) warp 0 lane 1\nindex 1: the list has 1 targets"},
		{".func f();\n.func g() { call f, (); ret; }\n.func f() { call g, (); ret; }\n", "call f, ();", "k.ptx:5:13: call: not supported by the virtual GPU: recursion k → f → g → f\n    .func g() { call f, (); ret; }\n                ^\nwrite it as a loop"},
		{"", "alloca.u64 %rd1, 20000;", "virtual GPU: k.ptx:7: alloca.u64 illegal instruction\nCTA (0,0,0) warp 0 lane 0\nalloca of 20000 B: a thread's stack has 16384 B, 0 are in use"},
	} {
		if _, err := run(c.functions, c.body); err == nil || err.Error() != c.want {
			t.Errorf("%s\n%v\nwant\n%s", c.body, err, c.want)
		}
	}
}
