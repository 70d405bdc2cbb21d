package vgpu

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// halvesKernel converts both halves of a[i] and b[i] as NVRTC writes it and adds the products to c[i]; threads at or beyond
// the limit do nothing, so that warps run with some of their lanes.
const halvesKernel = header + `.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 limit) {
	.reg .pred %p; .reg .b64 %a, %b, %c, %o; .reg .b32 %i, %n, %r<2>, %t; .reg .f32 %f<8>;
	ld.param.u64 %a, [pa]; ld.param.u64 %b, [pb]; ld.param.u64 %c, [pc]; ld.param.u32 %n, [limit];
	mov.u32 %i, %ctaid.x; mov.u32 %t, %ntid.x; mul.lo.u32 %i, %i, %t; mov.u32 %t, %tid.x; add.u32 %i, %i, %t;
	setp.ge.u32 %p, %i, %n; @%p bra DONE;
	mul.wide.u32 %o, %i, 4; add.s64 %a, %a, %o; add.s64 %b, %b, %o; add.s64 %c, %c, %o;
	ld.global.u32 %r0, [%a]; ld.global.u32 %r1, [%b]; ld.global.f32 %f4, [%c];
	{.reg .b16 low, high; mov.b32 {low, high}, %r0; cvt.f32.f16 %f0, low;}
	{.reg .b16 low, high; mov.b32 {low, high}, %r0; cvt.f32.f16 %f1, high;}
	{.reg .b16 low, high; mov.b32 {low, high}, %r1; cvt.f32.f16 %f2, low;}
	{.reg .b16 low, high; mov.b32 {low, high}, %r1; cvt.f32.f16 %f3, high;}
	fma.rn.f32 %f5, %f0, %f2, %f4;
	fma.rn.f32 %f6, %f1, %f3, %f5;
	st.global.f32 [%c], %f6;
DONE:
	ret;
}
`

// TestFusedHalves: fused conversions and the products of converted halves give what the instructions one by one give, for
// every half, infinities, NaN and subnormals included, and for warps with some of their lanes.
func TestFusedHalves(t *testing.T) {
	d := openTest(t, testProfile())
	f := fn(t, loadModule(t, d, halvesKernel), "k")
	fused, products := 0, 0
	for _, b := range f.(*function).program.blocks {
		for i := range b.code {
			switch reflect.ValueOf(b.code[i].fn).Pointer() {
			case reflect.ValueOf(opHalves).Pointer():
				fused++
			case reflect.ValueOf(laneFmaHalves).Pointer():
				products++
			}
		}
	}
	if fused != 2 || products != 2 {
		t.Errorf("%d pairs of conversions and %d products are fused, want 2 and 2", fused, products)
	}
	const n = 1 << 16
	for _, limit := range []int{n, n - 19} {
		a, b, c := make([]uint32, n), make([]uint32, n), make([]float32, n)
		want := make([]float32, n)
		for i := range a {
			a[i] = uint32(i) | uint32(i*40503)<<16
			b[i] = uint32(i*7919+12345)&0xffff | uint32(i*104729+77)<<16
			c[i] = []float32{0, 1, -3.7, 1e30, float32(math.Inf(1)), 1e-40, float32(math.Copysign(0, -1))}[i%7]
			want[i] = c[i]
			if i < limit {
				half := func(v uint32) float32 { return quiet(halfToFloat(uint16(v))) }
				want[i] = fma32(half(a[i]>>16), half(b[i]>>16), fma32(half(a[i]), half(b[i]), c[i]))
			}
		}
		pa, pb, pc := upload(t, d, a), upload(t, d, b), upload(t, d, c)
		r := launch(t, d, f, dim(n/64), dim(64), pa, pb, pc, uint32(limit))
		for i, v := range download[float32](t, d, pc, n) {
			if math.Float32bits(v) != math.Float32bits(want[i]) {
				t.Fatalf("limit %d, thread %d: %#x · %#x + %g = %g (%#x), want %g", limit, i, a[i], b[i], c[i], v, math.Float32bits(v), want[i])
			}
		}
		for _, l := range r.Lines {
			if strings.HasPrefix(l.Text, "cvt.f32.f16") && l.ThreadInstructions%uint64(limit) != 0 {
				t.Errorf("%d threads executed %s, want a multiple of %d", l.ThreadInstructions, l.Text, limit)
			}
		}
	}
}

// TestSampledCaches: a vector that every CTA reads costs each SM's L1 one miss, however many CTAs the SM has; a sample of the
// CTAs, scaled, moves the bytes from L2 that the whole grid moves.
func TestSampledCaches(t *testing.T) {
	m := benchModule(t, "gemv/3_vec16.sm_80.ptx")
	d := m.(*module).device
	f := fn(t, m, m.Functions()[0])
	const n, k = 8192, 512
	w, x, y := upload(t, d, make([]uint16, n*k)), upload(t, d, make([]uint16, k)), upload(t, d, make([]uint16, n))
	l := driver.Launch{Function: f, Grid: dim(n / 4), CTA: dim(128), Args: pack(t, f, y, w, x, int32(n), int32(k)), Wait: true, Count: true}
	all, err := d.Launch(context.Background(), &l)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []int{2, 4, 8, 16} {
		l.Sample = step
		part, err := d.Launch(context.Background(), &l)
		if err != nil {
			t.Fatal(err)
		}
		scaled := float64(part.Counts.Cache.L2Lookups) * float64(n/4) / float64(part.Executed)
		if ratio := scaled / float64(all.Counts.Cache.L2Lookups); math.Abs(ratio-1) > 0.02 {
			t.Errorf("1 of %d CTAs: %.4g sectors from L2 when scaled, the whole grid has %d (%.3f ×)", step, scaled, all.Counts.Cache.L2Lookups, ratio)
		}
	}
}
