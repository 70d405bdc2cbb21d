package vgpu

import (
	"encoding/binary"
	"runtime"
	"testing"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// Each warp goes round a loop of dependent fma as often as a table says.
const loopsKernel = header + `.visible .entry k(.param .u64 loops, .param .u64 out) {
	.reg .pred %p; .reg .b32 %r<8>; .reg .f32 %f; .reg .b64 %d<6>;
	ld.param.u64 %d1, [loops]; ld.param.u64 %d2, [out];
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3; shr.u32 %r5, %r4, 5;
	mul.wide.u32 %d3, %r5, 4; add.s64 %d3, %d1, %d3; ld.global.u32 %r6, [%d3]; mov.f32 %f, 0f3F000000;
L:	fma.rn.f32 %f, %f, %f, %f; fma.rn.f32 %f, %f, %f, %f; fma.rn.f32 %f, %f, %f, %f; fma.rn.f32 %f, %f, %f, %f;
	sub.u32 %r6, %r6, 1; setp.ne.u32 %p, %r6, 0; @%p bra L;
	mul.wide.u32 %d4, %r4, 4; add.s64 %d4, %d2, %d4; st.global.f32 [%d4], %f;
	ret;
}
`

// unequalRun predicts a launch whose warps loop as loops says, by CTA and warp.
func unequalRun(t *testing.T, ctas, warps int, loops func(cta, warp int) int) *perf.Simulation {
	t.Helper()
	d := openTest(t, timed(t, "h100"))
	f := fn(t, loadModule(t, d, loopsKernel), "k")
	table := make([]byte, 4*ctas*warps)
	for i := range ctas * warps {
		binary.LittleEndian.PutUint32(table[4*i:], uint32(loops(i/warps, i%warps)))
	}
	a, out := allocate(t, d, int64(len(table))), allocate(t, d, int64(32*len(table)))
	if err := d.CopyIn(a, table, nil); err != nil {
		t.Fatal(err)
	}
	r, err := d.Launch(t.Context(), &driver.Launch{Function: f, Grid: dim(uint32(ctas)), CTA: dim(uint32(32 * warps)), Args: pack(t, f, a, out), Wait: true, Count: true, Simulate: true})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Simulated.Done() {
		t.Fatal(r.Simulated.Why)
	}
	return r.Simulated
}

// CTAs, and warps of a CTA, that differ in what they execute take as long as equal ones that do as much as decides: the longest, where
// each has an SM or a slot to itself; the mean, where a grid of many waves is balanced by its dispatch.
func TestUnequalCTAs(t *testing.T) {
	const sms = 132
	all := func(n int) func(int, int) int { return func(int, int) int { return n } }
	for _, x := range []struct {
		name        string
		ctas, warps int
		loops       func(cta, warp int) int
		likeCTAs    int
		likeWarps   int
		like        int // loops of each warp of equal CTAs
		within      float64
	}{
		{"a triangle, fewer CTAs than SMs", 64, 4, func(c, _ int) int { return 25 * (c + 1) }, 64, 4, 1600, .03},
		{"a triangle that falls", 64, 4, func(c, _ int) int { return 25 * (64 - c) }, 64, 4, 1600, .03},
		{"a triangle, a CTA an SM, cut", sms, 4, func(c, _ int) int { return 200 * (c + 1) }, sms, 4, 200 * sms, .05},
		{"one long CTA between short ones", 1000, 2, func(c, _ int) int { return 20 + 3000*btoi(c == 77) }, 1, 2, 3020, .1},
		{"one long CTA at the end", 1000, 2, func(c, _ int) int { return 20 + 3000*btoi(c == 999) }, 1, 2, 3020, .1},
		{"many waves of a triangle of period 16", sms * 16 * 4, 4, func(c, _ int) int { return 8 * (c%16 + 1) }, sms * 16 * 4, 4, 68, .15},
		{"one warp of eight goes on", 16, 8, func(_, w int) int { return 10 + 9990*btoi(w == 3) }, 16, 1, 10000, .05},
		{"one warp of eight goes on, cut, two waves", 2 * sms, 8, func(_, w int) int { return 10 + 39990*btoi(w == 3) }, 2 * sms, 1, 40000, .1},
	} {
		got, want := unequalRun(t, x.ctas, x.warps, x.loops), unequalRun(t, x.likeCTAs, x.likeWarps, all(x.like))
		if e := got.Cycles/want.Cycles - 1; !(e > -x.within && e < x.within) {
			t.Errorf("%s: %.0f cycles, as much work in equal parts takes %.0f: %+.1f %%", x.name, got.Cycles, want.Cycles, 100*e)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// What is predicted of unequal CTAs does not depend on how many workers execute them.
func TestUnequalOnAnyCores(t *testing.T) {
	triangle := func(c, _ int) int { return 5 * (c%50 + 1) }
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := unequalRun(t, 900, 3, triangle)
	for _, n := range []int{2, 5} {
		runtime.GOMAXPROCS(n)
		if got := unequalRun(t, 900, 3, triangle); *got != *want {
			t.Errorf("on %d cores %+v, on one %+v", n, *got, *want)
		}
	}
}
