package vgpu

import (
	"context"
	"maps"
	"slices"
	"testing"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

const addKernel = header + `.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
	.reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %d<8>;
	ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [c]; ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
	setp.ge.u32 %p, %r5, %r1; @%p bra END;
	mul.wide.u32 %d4, %r5, 4; add.s64 %d5, %d1, %d4; add.s64 %d6, %d2, %d4; add.s64 %d7, %d3, %d4;
	ld.global.f32 %f1, [%d5]; ld.global.f32 %f2, [%d6]; add.f32 %f3, %f1, %f2; st.global.f32 [%d7], %f3;
END:
	ret;
}
`

func simulateLaunch(t *testing.T, d *Device, f driver.Function, ctx context.Context, n uint32, probe bool, a ...any) *driver.Result {
	t.Helper()
	r, err := d.Launch(ctx, &driver.Launch{Function: f, Grid: dim((n + 255) / 256), CTA: dim(256), Args: pack(t, f, append(a, n)...), Wait: true, Count: true, Simulate: true, Probe: probe})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A vector add is predicted close to its bytes over what DRAM gives; the same launch again gives the same, from memory; a
// probe that runs a part of it gives nearly the same.
func TestPrediction(t *testing.T) {
	p := timed(t, "l4")
	d := openTest(t, p)
	const n = 1 << 21
	a, b, c := allocate(t, d, 4*n), allocate(t, d, 4*n), allocate(t, d, 4*n)
	f := fn(t, loadModule(t, d, addKernel), "add")
	first := simulateLaunch(t, d, f, t.Context(), n, false, a, b, c).Simulated
	want := 12 * n / (p.DRAMBytesPerSecond * p.DRAMReach)
	if !first.Done() || !(first.Seconds > .95*want && first.Seconds < 1.25*want) {
		t.Fatalf("predicted %+v, DRAM alone %g s", first, want)
	}
	kept := slices.Collect(maps.Values(d.predictions.known))
	if again := simulateLaunch(t, d, f, t.Context(), n, false, a, b, c).Simulated; *again != *first {
		t.Errorf("again %+v, first %+v", again, first)
	}
	if now := slices.Collect(maps.Values(d.predictions.known)); len(kept) != 1 || len(now) != 1 || now[0] != kept[0] {
		t.Errorf("the same launch was simulated twice: %v, then %v", kept, now)
	}
	if probe := simulateLaunch(t, d, f, t.Context(), n, true, a, b, c).Simulated; !(probe.Seconds > .93*first.Seconds && probe.Seconds < 1.07*first.Seconds) {
		t.Errorf("a probe gives %g s, the launch %g", probe.Seconds, first.Seconds)
	}
	if half := simulateLaunch(t, d, f, t.Context(), n/2, false, a, b, c).Simulated; !(half.Seconds > .45*first.Seconds && half.Seconds < .55*first.Seconds) {
		t.Errorf("half of it takes %g s, all %g", half.Seconds, first.Seconds)
	}
}

// timed is a profile of the table with little memory.
func timed(t *testing.T, name string) *perf.Profile {
	t.Helper()
	p, err := perf.ProfileByName(name)
	if err != nil {
		t.Fatal(err)
	}
	p.MemoryBytes = 1 << 30
	return p
}

// Without Simulate there is no prediction; counters are those of a launch that is simulated.
func TestNoSimulation(t *testing.T) {
	d := openTest(t, timed(t, "h100"))
	const n = 4096
	a, b, c := allocate(t, d, 4*n), allocate(t, d, 4*n), allocate(t, d, 4*n)
	f := fn(t, loadModule(t, d, addKernel), "add")
	plain := launch(t, d, f, dim(n/256), dim(256), a, b, c, uint32(n))
	watched := simulateLaunch(t, d, f, t.Context(), n, false, a, b, c)
	if plain.Simulated != nil || !watched.Simulated.Done() || plain.Counts != watched.Counts {
		t.Errorf("%+v and %+v: counts %+v and %+v", plain.Simulated, watched.Simulated, plain.Counts, watched.Counts)
	}
}

// Data decide how long a kernel runs: the same arguments with other work are scaled, then simulated anew.
func TestDataDependentPrediction(t *testing.T) {
	const text = header + `.visible .entry k(.param .u64 p) {
	.reg .pred %p; .reg .b32 %n, %i; .reg .b64 %a;
	ld.param.u64 %a, [p]; ld.global.u32 %n, [%a]; mov.u32 %i, 0;
L:	add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;
	st.global.u32 [%a+4], %i;
	ret;
}
`
	d := openTest(t, timed(t, "h100"))
	f := fn(t, loadModule(t, d, text), "k")
	p := allocate(t, d, 256)
	run := func(n byte) *perf.Simulation {
		if err := d.CopyIn(p, []byte{0, n, 0, 0}, nil); err != nil {
			t.Fatal(err)
		}
		r, err := d.Launch(t.Context(), &driver.Launch{Function: f, Grid: dim(1), CTA: dim(32), Args: pack(t, f, p), Wait: true, Count: true, Simulate: true})
		if err != nil {
			t.Fatal(err)
		}
		return r.Simulated
	}
	short, long, same := run(4), run(16), run(16)
	if !(long.Cycles > 2*short.Cycles) || !(same.Cycles > 2*short.Cycles) || *same == *long {
		t.Errorf("1,024 rounds take %g cycles, 4,096 scaled %g, simulated %g", short.Cycles, long.Cycles, same.Cycles)
	}
}

func allocate(t *testing.T, d *Device, bytes int64) driver.Address {
	t.Helper()
	a, err := d.Alloc(bytes)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Lines that are read with .cs leave L2 first: what stands beside them stays.
func TestEvictionHints(t *testing.T) {
	kernel := func(hint string) string {
		return header + `.visible .entry k(.param .u64 keep, .param .u64 stream, .param .u32 lines) {
	.reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<8>;
	ld.param.u64 %d1, [keep]; ld.param.u64 %d2, [stream]; ld.param.u32 %r1, [lines]; mov.u32 %r2, 0; mov.u32 %r3, %tid.x;
	mul.wide.u32 %d3, %r3, 4; add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
L:	ld.global.cg.u32 %r4, [%d1];
	ld.global` + hint + `.u32 %r5, [%d2]; add.s64 %d2, %d2, 128;
	ld.global` + hint + `.u32 %r5, [%d2]; add.s64 %d2, %d2, 128;
	add.s64 %d1, %d1, 128; add.u32 %r2, %r2, 1; and.b32 %r6, %r2, 127; setp.ne.u32 %p, %r6, 0; @%p bra N;
	sub.s64 %d1, %d1, 16384;
N:	setp.lt.u32 %p, %r2, %r1; @%p bra L;
	ret;
}
`
	}
	p := testProfile()
	p.L2Bytes, p.L1Bytes = 32<<10, 16<<10 // 256 lines, of which 128 are read again and again
	read := map[string]uint64{}
	for _, hint := range []string{"", ".cs", ".L2::evict_first"} {
		d := openTest(t, p)
		keep, stream := allocate(t, d, 1<<20), allocate(t, d, 1<<22)
		name := hint
		if hint == ".L2::evict_first" {
			hint = ".L1::no_allocate.L2::evict_first"
		}
		r := launch(t, d, fn(t, loadModule(t, d, kernel(hint)), "k"), dim(1), dim(32), keep, stream, uint32(2048))
		read[name] = r.Counts.Cache.DRAMReadSectors
	}
	// The stream alone is 2 · 2,048 lines of four sectors, what is kept 128 lines.
	least := uint64(4 * (2*2048 + 128))
	if read[".cs"] > least+least/20 || read[".L2::evict_first"] > least+least/20 || read[""] < least+least/5 {
		t.Errorf("sectors from DRAM: %v, at least %d", read, least)
	}
}
