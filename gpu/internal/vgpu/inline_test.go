package vgpu

import (
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// calling holds max(a·b, c) in a function that returns early for some lanes, called by another one and from a branch.
const calling = header + `
.func (.param .b32 r) larger(.param .b32 a, .param .b32 b) {
	.reg .pred %p; .reg .u32 %r<3>;
	ld.param.u32 %r0, [a]; ld.param.u32 %r1, [b];
	setp.gt.u32 %p, %r0, %r1;
	st.param.b32 [r+0], %r1;
	@!%p ret;
	st.param.b32 [r+0], %r0;
	ret;
}
.func (.param .b32 r) work(.param .align 8 .b8 ab[8], .param .b32 c) {
	.reg .u32 %r<5>; .local .align 4 .b8 frame[4];
	ld.param.v2.u32 {%r0, %r1}, [ab]; ld.param.u32 %r2, [c];
	mul.lo.u32 %r3, %r0, %r1; st.local.u32 [frame], %r3;
	{ .param .b32 x; .param .b32 y; .param .b32 z;
	ld.local.u32 %r3, [frame]; st.param.b32 [x], %r3; st.param.b32 [y], %r2;
	call.uni (z), larger, (x, y);
	ld.param.b32 %r4, [z]; }
	st.param.b32 [r], %r4;
	ret;
}
.visible .entry k(.param .u64 p) {
	.reg .pred %p; .reg .u32 %r<6>; .reg .b64 %a, %o;
	ld.param.u64 %a, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %o, %r0, 4; add.s64 %a, %a, %o;
	mov.u32 %r1, 1000;
	and.b32 %r2, %r0, 1; setp.eq.u32 %p, %r2, 0;
	@%p bra SKIP;
	{ .param .align 8 .b8 x[8]; .param .b32 y; .param .b32 z;
	st.param.v2.b32 [x], {%r0, %r0}; st.param.b32 [y], 50;
	call (z), work, (x, y);
	ld.param.b32 %r1, [z]; }
SKIP:
	{ .param .b32 x; .param .b32 y; .param .b32 z;
	st.param.b32 [x], %r1; st.param.b32 [y], 7;
	@%p call (z), larger, (x, y);
	@%p ld.param.b32 %r1, [z]; }
	st.global.u32 [%a], %r1;
	ret;
}
`

func TestCalls(t *testing.T) {
	d := openTest(t, testProfile())
	m := loadModule(t, d, calling)
	if names := strings.Join(m.Functions(), ","); names != "k" {
		t.Errorf("functions %s", names)
	}
	p := upload(t, d, make([]uint32, 32))
	r := launch(t, d, fn(t, m, "k"), dim(1), dim(32), p)
	for i, v := range download[uint32](t, d, p, 32) {
		want := uint32(1000)
		if i%2 == 1 {
			want = max(uint32(i*i), 50)
		}
		if v != want {
			t.Errorf("thread %d: %d, want %d", i, v, want)
		}
	}
	// The comparison in larger stands on one line and ran once from work and once from the entry.
	for _, l := range r.Lines {
		if strings.HasPrefix(l.Text, "setp.gt") && (l.WarpInstructions != 2 || l.ThreadInstructions != 32) {
			t.Errorf("%+v", l)
		}
	}
	if a := r.Counts.LocalLoad; a.Requests != 1 || a.Lanes != 16 {
		t.Errorf("local loads %+v: only the frame's count", a)
	}
	_, err := d.LoadPTX(header+".func again() { call.uni again, (); ret; }\n.visible .entry k() {\ncall.uni again, ();\nret;\n}\n", driver.LoadOptions{Name: "k.ptx"})
	if want := "k.ptx:4:17: call.uni: not supported by the virtual GPU: recursion k → again → again\n    .func again() { call.uni again, (); ret; }\n                    ^\nwrite it as a loop"; err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}
