package vgpu

import (
	"sync"

	"memwall/gpu/internal/ptx"
)

// deviceLibraryText are functions of CUDA's run-time library for devices that compilers call by name, written in PTX. A grid
// meets as cooperative_groups lets it: the CTAs count in one word of the launch's workspace, whose top bit turns over when the
// last has come.
const deviceLibraryText = `.version 8.0
.target sm_70
.address_size 64
.func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope) {
	.reg .b32 %r<2>; .reg .b64 %h;
	mov.u32 %r0, %envreg2; mov.u32 %r1, %envreg1; mov.b64 %h, {%r0, %r1};
	st.param.b64 [r], %h;
	ret;
}
.func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags) {
	.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %h;
	ld.param.b64 %h, [handle];
	barrier.sync 0;
	mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; or.b32 %r0, %r0, %r1; mov.u32 %r1, %tid.z; or.b32 %r0, %r0, %r1;
	setp.ne.u32 %p0, %r0, 0;
	@%p0 bra MEET;
	mov.u32 %r0, %nctaid.x; mov.u32 %r1, %nctaid.y; mul.lo.u32 %r0, %r0, %r1; mov.u32 %r1, %nctaid.z; mul.lo.u32 %r0, %r0, %r1;
	sub.u32 %r0, 0x80000001, %r0;
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; or.b32 %r1, %r1, %r2; mov.u32 %r2, %ctaid.z; or.b32 %r1, %r1, %r2;
	setp.eq.u32 %p1, %r1, 0;
	selp.u32 %r0, %r0, 1, %p1;
	atom.add.acq_rel.gpu.u32 %r3, [%h+4], %r0;
LOOK:
	ld.acquire.gpu.u32 %r4, [%h+4];
	xor.b32 %r5, %r3, %r4;
	setp.ge.s32 %p2, %r5, 0;
	@%p2 bra LOOK;
MEET:
	barrier.sync 0;
	mov.b32 %r6, 0;
	st.param.b32 [r], %r6;
	ret;
}
`

var deviceLibrary = sync.OnceValue(func() *ptx.Module {
	m, err := ptx.Parse("device library", deviceLibraryText)
	if err != nil {
		panic(err) // the text is a constant, which a test loads
	}
	return m
})

// function finds a function with a body in the module, else in the device library.
func (x *linker) function(name string) *ptx.Function {
	if g := x.m.Function(name); g != nil {
		return g
	}
	return deviceLibrary().Function(name)
}

// placedLike gives an instruction of the device library the place of the call that brought it in.
func (x *linker) placedLike(g *ptx.Function, in, call *ptx.Instruction) {
	if call != nil && deviceLibrary().Function(g.Name) == g {
		in.Line, in.Col, in.Source = call.Line, call.Col, call.Source
	}
}
