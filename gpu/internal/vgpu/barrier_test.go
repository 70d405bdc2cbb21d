package vgpu

import (
	"testing"
)

// Named barriers: a producer that only arrives, a consumer that waits; and reductions over all threads of a CTA.
func TestNamedBarriers(t *testing.T) {
	d := openTest(t, testProfile())
	m := loadModule(t, d, header+`.visible .entry k(.param .u64 p) {
	.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %a, %o;
	.shared .align 4 .b32 slot;
	ld.param.u64 %a, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %o, %r0, 4; add.s64 %a, %a, %o;
	setp.lt.u32 %p0, %r0, 32;
	@%p0 bra CONSUME;
	mov.b32 %r1, 77; st.shared.b32 [slot], %r1;
	bar.arrive 3, 64;
	bra JOIN;
CONSUME:
	barrier.sync 3, 64;
JOIN:
	ld.shared.b32 %r2, [slot];
	setp.lt.u32 %p1, %r0, 40;
	bar.red.popc.u32 %r3, 0, %p1;
	bar.red.and.pred %p2, 0, !%p1;
	barrier.cta.red.or.aligned.pred %p3, 0, %p1;
	selp.b32 %r4, 100, 0, %p2; selp.b32 %r5, 1000, 0, %p3;
	add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5;
	st.global.u32 [%a], %r2;
	ret;
}
`)
	p := upload(t, d, make([]uint32, 64))
	launch(t, d, fn(t, m, "k"), dim(1), dim(64), p)
	for i, v := range download[uint32](t, d, p, 64) {
		if v != 77+40+0+1000 {
			t.Fatalf("thread %d: %d", i, v)
		}
	}
}

// A body without an instruction, a label at the end, a loop that is left by a guard.
func TestOddControlFlow(t *testing.T) {
	d := openTest(t, testProfile())
	m := loadModule(t, d, header+`.visible .entry empty() { }
.visible .entry tail(.param .u64 p) {
	.reg .pred %p; .reg .b32 %r<3>; .reg .b64 %a, %o;
	ld.param.u64 %a, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %o, %r0, 4; add.s64 %a, %a, %o; mov.b32 %r1, 0;
LOOP:
	setp.eq.u32 %p, %r1, %r0;
	@%p st.global.u32 [%a], %r1;
	@%p ret;
	add.u32 %r1, %r1, 1;
	bra LOOP;
END:
}
`)
	launch(t, d, fn(t, m, "empty"), dim(3), dim(33))
	p := upload(t, d, make([]uint32, 64))
	r := launch(t, d, fn(t, m, "tail"), dim(1), dim(64), p)
	for i, v := range download[uint32](t, d, p, 64) {
		if v != uint32(i) {
			t.Fatalf("thread %d: %d", i, v)
		}
	}
	// Each of the 32 passes of warp 0, and of the 64 of warp 1 from the 32nd on, stores for one lane.
	if s := r.Counts.GlobalStore; s.Requests != 64 || s.Lanes != 64 {
		t.Errorf("%+v", s)
	}
}
