package vgpu

import (
	"fmt"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// ringKernel is a ring of stages: one thread fetches tiles of `bytes` with bulk copies, four warps multiply each `products` times by
// wgmma m64nNk16. Parameters: source, tiles, stages.
func ringKernel(n, products, bytes int) string {
	var registers, names, multiply []string
	for i := range n / 2 {
		names = append(names, fmt.Sprintf("%%f%d", i))
		registers = append(registers, fmt.Sprintf("mov.f32 %%f%d, 0f00000000;", i))
	}
	for range products {
		multiply = append(multiply, fmt.Sprintf("wgmma.mma_async.sync.aligned.m64n%dk16.f32.bf16.bf16 {%s}, %%d4, %%d4, 1, 1, 1, 0, 0;", n, strings.Join(names, ", ")))
	}
	return strings.NewReplacer("FLOATS", fmt.Sprint(n/2), "BYTES", fmt.Sprint(bytes), "ZEROS", strings.Join(registers, " "), "MULTIPLY", strings.Join(multiply, "\n")).Replace(`.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 ring[];
.visible .entry k(.param .u64 source, .param .u32 tiles, .param .u32 stages) {
	.reg .pred %p<8>; .reg .b32 %r<24>; .reg .b64 %d<8>; .reg .f32 %f<FLOATS>;
	.shared .align 8 .b8 full[64]; .shared .align 8 .b8 empty[64];
	ld.param.u64 %d1, [source]; ld.param.u32 %r1, [tiles]; ld.param.u32 %r2, [stages];
	mov.u32 %r3, %tid.x; mov.u32 %r4, full; mov.u32 %r5, empty; mov.u32 %r6, ring; mov.u32 %r7, 0;
	setp.ne.u32 %p1, %r3, 0; @%p1 bra READY;
INIT:	mad.lo.u32 %r8, %r7, 8, %r4; mbarrier.init.shared::cta.b64 [%r8], 1;
	mad.lo.u32 %r8, %r7, 8, %r5; mbarrier.init.shared::cta.b64 [%r8], 4;
	add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, %r2; @%p2 bra INIT;
READY:	bar.sync 0;
	mov.u32 %r9, 0; mov.u32 %r10, 0; mov.u32 %r11, 0;
	setp.lt.u32 %p3, %r3, 128; @%p3 bra MULTIPLIER;
	setp.ne.u32 %p1, %r3, 128; @%p1 bra END;
	mov.u32 %r12, %ctaid.x; mul.lo.u32 %r12, %r12, %r1; mul.wide.u32 %d2, %r12, BYTES; add.s64 %d1, %d1, %d2;
FETCH:	mad.lo.u32 %r13, %r10, 8, %r5; xor.b32 %r14, %r11, 1;
W1:	mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r13], %r14; @!%p4 bra W1;
	mad.lo.u32 %r13, %r10, 8, %r4; mad.lo.u32 %r15, %r10, BYTES, %r6;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r13], BYTES;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r15], [%d1], BYTES, [%r13];
	add.s64 %d1, %d1, BYTES; add.u32 %r9, %r9, 1; add.u32 %r10, %r10, 1;
	setp.eq.u32 %p5, %r10, %r2; @%p5 xor.b32 %r11, %r11, 1; @%p5 mov.u32 %r10, 0;
	setp.lt.u32 %p6, %r9, %r1; @%p6 bra FETCH;
	bra END;
MULTIPLIER:
	ZEROS
	and.b32 %r16, %r3, 31;
NEXT:	mad.lo.u32 %r13, %r10, 8, %r4;
W2:	mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r13], %r11; @!%p4 bra W2;
	mad.lo.u32 %r15, %r10, BYTES, %r6; shr.u32 %r15, %r15, 4; cvt.u64.u32 %d4, %r15; or.b64 %d4, %d4, 4611686293305360384;
	wgmma.fence.sync.aligned;
	MULTIPLY
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	mad.lo.u32 %r13, %r10, 8, %r5;
	setp.ne.u32 %p1, %r16, 0; @%p1 bra PASSED;
	mbarrier.arrive.shared::cta.b64 _, [%r13];
PASSED:	add.u32 %r9, %r9, 1; add.u32 %r10, %r10, 1;
	setp.eq.u32 %p5, %r10, %r2; @%p5 xor.b32 %r11, %r11, 1; @%p5 mov.u32 %r10, 0;
	setp.lt.u32 %p6, %r9, %r1; @%p6 bra NEXT;
END:	ret;
}
`)
}

func simulateRing(t *testing.T, n, products, bytes, ctas, tiles, stages int) (*perf.Simulation, *perf.Profile) {
	t.Helper()
	p := timed(t, "h100")
	d := openTest(t, p)
	f := fn(t, loadModule(t, d, ringKernel(n, products, bytes)), "k")
	shared := stages*bytes + 48<<10 // a tile of B is read up to 32 KiB behind its address
	if err := f.SetMaxDynamicShared(shared); err != nil {
		t.Fatal(err)
	}
	source := allocate(t, d, int64(ctas*tiles*bytes))
	if err := d.Fill(source, []byte{0, 0, 0, 0}, int64(ctas*tiles*bytes/4), nil); err != nil {
		t.Fatal(err)
	}
	r, err := d.Launch(t.Context(), &driver.Launch{Function: f, Grid: dim(uint32(ctas)), CTA: dim(160), Shared: shared,
		Args: pack(t, f, source, uint32(tiles), uint32(stages)), Wait: true, Count: true, Simulate: true})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Simulated.Done() {
		t.Fatalf("%+v", r.Simulated)
	}
	return r.Simulated, p
}

// Bulk copies take at least the time of their bytes in DRAM; copy and product overlap in a ring of three stages, where each is
// as long as the other, and not in one of one stage.
func TestBulkRing(t *testing.T) {
	const bytes, tiles, ctas = 16 << 10, 12, 132
	one, p := simulateRing(t, 128, 10, bytes, ctas, tiles, 1)
	three, _ := simulateRing(t, 128, 10, bytes, ctas, tiles, 3)
	dram := float64(bytes*tiles*ctas) / (p.DRAMBytesPerSecond * p.DRAMReach)
	tensor := 64 * 10 * float64(tiles) / p.ModelHz
	if !(three.Seconds >= max(dram, tensor)*.9) || !(three.Seconds < 2.2*max(dram, tensor)) {
		t.Errorf("three stages take %g s; DRAM alone %g, wgmma alone %g", three.Seconds, dram, tensor)
	}
	latency := float64(tiles) * p.DRAMLatency / p.ModelHz // every tile of a single stage waits for memory
	if !(one.Seconds > latency+tensor) || !(one.Seconds > 1.3*three.Seconds) {
		t.Errorf("one stage takes %g s, three %g; a trip to DRAM a tile and wgmma are %g", one.Seconds, three.Seconds, latency+tensor)
	}
}

// wgmma.m64nN takes N/2 cycles at N ≥ 64 and 24, 20 and 18 at 32, 16 and 8 (Luo et al. 2025).
func TestWarpgroupRate(t *testing.T) {
	for _, x := range []struct{ n, cycles int }{{8, 18}, {16, 20}, {32, 24}, {64, 32}, {128, 64}, {256, 128}} {
		few, _ := simulateRing(t, x.n, 60, 1<<10, 1, 4, 2)
		many, _ := simulateRing(t, x.n, 100, 1<<10, 1, 4, 2)
		if got := (many.Cycles - few.Cycles) / (4 * 40); !(got > .97*float64(x.cycles) && got < 1.03*float64(x.cycles)) {
			t.Errorf("m64n%d takes %g cycles, want %d", x.n, got, x.cycles)
		}
	}
}

// A sample of the CTAs is predicted to take what the whole grid takes, within 5 %.
func TestSampledPrediction(t *testing.T) {
	d := openTest(t, timed(t, "l4"))
	const n = 1 << 20
	a, b, c := allocate(t, d, 4*n), allocate(t, d, 4*n), allocate(t, d, 4*n)
	f := fn(t, loadModule(t, d, addKernel), "add")
	run := func(sample int) *driver.Result {
		r, err := d.Launch(t.Context(), &driver.Launch{Function: f, Grid: dim(n / 256), CTA: dim(256), Sample: sample, Args: pack(t, f, a, b, c, uint32(n)), Wait: true, Count: true, Simulate: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	whole, part := run(1), run(8)
	if part.Sampled != 8 {
		t.Fatalf("a sample of %d", part.Sampled)
	}
	if x := part.Simulated.Seconds / whole.Simulated.Seconds; !part.Simulated.Done() || !(x > .95 && x < 1.05) {
		t.Errorf("a sample of an eighth is predicted to take %g of the whole, %+v", x, part.Simulated)
	}
}

// A launch in clusters of two takes the time of its CTAs without clusters, within 5 %, where they exchange nothing.
func TestClusteredPrediction(t *testing.T) {
	d := openTest(t, timed(t, "h100"))
	const n = 1 << 20
	a, b, c := allocate(t, d, 4*n), allocate(t, d, 4*n), allocate(t, d, 4*n)
	f := fn(t, loadModule(t, d, strings.Replace(addKernel, "sm_80", "sm_90", 1)), "add")
	run := func(cluster uint32) *perf.Simulation {
		l := &driver.Launch{Function: f, Grid: dim(n / 256), CTA: dim(256), Args: pack(t, f, a, b, c, uint32(n)), Wait: true, Count: true, Simulate: true}
		if cluster > 1 {
			l.Cluster = dim(cluster)
		}
		r, err := d.Launch(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		return r.Simulated
	}
	alone, pairs := run(1), run(2)
	if x := pairs.Seconds / alone.Seconds; !pairs.Done() || !(x > .95 && x < 1.05) {
		t.Errorf("in clusters %g of the time without, %+v", x, pairs)
	}
}

// A barrier of 128 threads does not wait for the CTA's others: two warpgroups, of which one computes and the other only meets
// itself, take as long as the one that takes longer.
func TestNamedBarriersApart(t *testing.T) {
	d := openTest(t, timed(t, "h100"))
	f := fn(t, loadModule(t, d, `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 products, .param .u32 meetings) {
	.reg .pred %p<4>; .reg .b32 %r<8>; .reg .f32 %f<4>;
	ld.param.u32 %r1, [products]; ld.param.u32 %r2, [meetings]; mov.u32 %r3, %tid.x; mov.f32 %f1, 0f3F800000;
	setp.ge.u32 %p1, %r3, 128; @%p1 bra MEET;
	setp.eq.u32 %p2, %r1, 0; @%p2 bra END;
PRODUCT:	fma.rn.f32 %f1, %f1, %f1, %f1; sub.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r1, 0; @%p2 bra PRODUCT;
	bra END;
MEET:	setp.eq.u32 %p3, %r2, 0; @%p3 bra END;
NEXT:	bar.sync 1, 128; sub.u32 %r2, %r2, 1; setp.ne.u32 %p3, %r2, 0; @%p3 bra NEXT;
END:	ret;
}
`), "k")
	cycles := func(products, meetings uint32) float64 {
		r, err := d.Launch(t.Context(), &driver.Launch{Function: f, Grid: dim(1), CTA: dim(256), Args: pack(t, f, products, meetings), Wait: true, Count: true, Simulate: true})
		if err != nil || !r.Simulated.Done() {
			t.Fatal(err, r.Simulated)
		}
		return r.Simulated.Cycles
	}
	products, meetings, both := cycles(2000, 0), cycles(0, 400), cycles(2000, 400)
	if !(meetings > 400*20) || !(both < 1.1*max(products, meetings)) || !(both >= 0.99*max(products, meetings)) {
		t.Errorf("products take %g cycles, meetings %g, both %g", products, meetings, both)
	}
}

// CTAs that all read the same: those of a sample lie apart and each reads it from DRAM, those of the whole grid share it in L2. The
// least traffic, where it is known, tells the difference.
func TestSampledSharing(t *testing.T) {
	const text = header + `.visible .entry k(.param .u64 x, .param .u64 y) {
	.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<5>; .reg .f32 %f<5>;
	ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; and.b32 %r3, %r2, 63;
	mul.wide.u32 %d3, %r1, 16; add.s64 %d1, %d1, %d3; mul.wide.u32 %d3, %r3, 65536; add.s64 %d1, %d1, %d3; mov.u32 %r3, 0;
L:	ld.global.cg.v4.f32 {%f1, %f2, %f3, %f4}, [%d1]; add.s64 %d1, %d1, 4096; add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 16; @%p bra L;
	mad.lo.u32 %r3, %r2, 256, %r1; mul.wide.u32 %d3, %r3, 4; add.s64 %d2, %d2, %d3; st.global.f32 [%d2], %f1;
	ret;
}
`
	d := openTest(t, timed(t, "h100"))
	f := fn(t, loadModule(t, d, text), "k")
	const ctas = 4096
	x, y := allocate(t, d, 4<<20), allocate(t, d, 4*256*ctas)
	run := func(sample int, least float64) float64 {
		r, err := d.Launch(t.Context(), &driver.Launch{Function: f, Grid: dim(ctas), CTA: dim(256), Sample: sample, LeastBytes: least, Args: pack(t, f, x, y), Wait: true, Count: true, Simulate: true})
		if err != nil || !r.Simulated.Done() {
			t.Fatalf("%v, %+v", err, r)
		}
		return r.Simulated.Seconds
	}
	whole, told := run(1, 0), run(64, 8<<20)
	if x := told / whole; !(x > .75 && x < 1.3) {
		t.Errorf("a sample that knows the least traffic is predicted to take %.2f of the whole", x)
	}
}
