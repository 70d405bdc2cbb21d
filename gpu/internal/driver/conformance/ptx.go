package conformance

// PTX has one entry a property. It is written by hand in the subset of the PTX ISA that compiled CUDA C++ uses, for
// sm_75, so that every device loads it.
const PTX = `.version 6.5
.target sm_75
.address_size 64

.global .align 4 .u32 counter = 7;
.extern .shared .align 16 .b8 pool[];

// scale(float *x, float a, int n): x[i] *= a for i < n, one thread an element.
.visible .entry scale(
	.param .u64 scale_x,
	.param .f32 scale_a,
	.param .u32 scale_n
)
{
	.reg .pred %p<2>;
	.reg .f32 %f<4>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [scale_x];
	ld.param.f32 %f1, [scale_a];
	ld.param.u32 %r1, [scale_n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	setp.ge.s32 %p1, %r5, %r1;
	@%p1 bra DONE;
	cvta.to.global.u64 %rd2, %rd1;
	mul.wide.s32 %rd3, %r5, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.f32 %f2, [%rd4];
	mul.f32 %f3, %f1, %f2;
	st.global.f32 [%rd4], %f3;
DONE:
	ret;
}

// places(unsigned *out): every thread of a three-dimensional grid writes its linear index at that index.
.visible .entry places(
	.param .u64 places_out
)
{
	.reg .b32 %r<24>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [places_out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %tid.y;
	mov.u32 %r3, %tid.z;
	mov.u32 %r4, %ntid.x;
	mov.u32 %r5, %ntid.y;
	mov.u32 %r6, %ntid.z;
	mov.u32 %r7, %ctaid.x;
	mov.u32 %r8, %ctaid.y;
	mov.u32 %r9, %ctaid.z;
	mov.u32 %r10, %nctaid.x;
	mov.u32 %r11, %nctaid.y;
	mad.lo.s32 %r12, %r9, %r11, %r8;
	mad.lo.s32 %r13, %r12, %r10, %r7;
	mad.lo.s32 %r14, %r3, %r5, %r2;
	mad.lo.s32 %r15, %r14, %r4, %r1;
	mul.lo.s32 %r16, %r4, %r5;
	mul.lo.s32 %r17, %r16, %r6;
	mad.lo.s32 %r18, %r13, %r17, %r15;
	cvta.to.global.u64 %rd2, %rd1;
	mul.wide.u32 %rd3, %r18, 4;
	add.s64 %rd4, %rd2, %rd3;
	st.global.u32 [%rd4], %r18;
	ret;
}

// arguments(out, u8, u16, u32, u64, f32, f64): stores each parameter at 8-byte steps.
.visible .entry arguments(
	.param .u64 arguments_out,
	.param .u8 arguments_b,
	.param .u16 arguments_h,
	.param .u32 arguments_w,
	.param .u64 arguments_q,
	.param .f32 arguments_f,
	.param .f64 arguments_d
)
{
	.reg .b16 %rs<3>;
	.reg .b32 %r<2>;
	.reg .f32 %f<2>;
	.reg .f64 %fd<2>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [arguments_out];
	ld.param.u8 %rs1, [arguments_b];
	ld.param.u16 %rs2, [arguments_h];
	ld.param.u32 %r1, [arguments_w];
	ld.param.u64 %rd2, [arguments_q];
	ld.param.f32 %f1, [arguments_f];
	ld.param.f64 %fd1, [arguments_d];
	cvta.to.global.u64 %rd3, %rd1;
	st.global.u8 [%rd3], %rs1;
	st.global.u16 [%rd3+8], %rs2;
	st.global.u32 [%rd3+16], %r1;
	st.global.u64 [%rd3+24], %rd2;
	st.global.f32 [%rd3+32], %f1;
	st.global.f64 [%rd3+40], %fd1;
	ret;
}

// reverse(unsigned *x): each CTA of 64 threads reverses its 64 elements through dynamic shared memory.
.visible .entry reverse(
	.param .u64 reverse_x
)
{
	.reg .b32 %r<12>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [reverse_x];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.s32 %r4, %r2, %r3, %r1;
	mul.wide.u32 %rd3, %r4, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.u32 %r5, [%rd4];
	shl.b32 %r6, %r1, 2;
	mov.u32 %r7, pool;
	add.s32 %r8, %r7, %r6;
	st.shared.u32 [%r8], %r5;
	bar.sync 0;
	shl.b32 %r9, %r3, 2;
	add.s32 %r10, %r7, %r9;
	sub.s32 %r11, %r10, %r6;
	ld.shared.u32 %r5, [%r11+-4];
	st.global.u32 [%rd4], %r5;
	ret;
}

// count(): one thread adds one to the module's counter.
.visible .entry count()
{
	.reg .b32 %r<3>;
	ld.global.u32 %r1, [counter];
	add.s32 %r2, %r1, 1;
	st.global.u32 [counter], %r2;
	ret;
}

// poke(char *p, long offset): stores four bytes at p + offset from thread 0 of CTA (1,0,0); the launch is expected to fault.
.visible .entry poke(
	.param .u64 poke_p,
	.param .u64 poke_offset
)
{
	.reg .pred %p<3>;
	.reg .b32 %r<3>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [poke_p];
	ld.param.u64 %rd2, [poke_offset];
	mov.u32 %r1, %ctaid.x;
	setp.ne.s32 %p1, %r1, 1;
	@%p1 bra DONE;
	mov.u32 %r2, %tid.x;
	setp.ne.s32 %p2, %r2, 5;
	@%p2 bra DONE;
	cvta.to.global.u64 %rd3, %rd1;
	add.s64 %rd4, %rd3, %rd2;
	st.global.u32 [%rd4], %r1;
DONE:
	ret;
}

// spin(): never ends.
.visible .entry spin()
{
	.reg .b32 %r<2>;
	mov.u32 %r1, 0;
AGAIN:
	add.s32 %r1, %r1, 1;
	bra.uni AGAIN;
}
`
