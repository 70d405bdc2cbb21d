package gpu

import (
	"reflect"
	"testing"
)

const fetchPTX = `.version 8.0
.target sm_75
.address_size 64
.visible .entry fetch(.param .u64 x, .param .u64 out) {
	.reg .b32 %r<9>; .reg .b64 %rd<5>;
	ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [out]; cvta.to.global.u64 %rd3, %rd2;
	mov.u32 %r1, %tid.x;
	tex.1d.v4.f32.s32 {%r3, %r4, %r5, %r6}, [%rd1, {%r1}];
	mul.wide.s32 %rd4, %r1, 4; add.s64 %rd3, %rd3, %rd4; st.global.b32 [%rd3], %r3;
	ret;
}
`

// A kernel fetches a tensor's elements through a texture; behind its end it reads zeros.
func TestTexture(t *testing.T) {
	d, err := Open("virtual:h200")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	m, err := d.LoadPTX(fetchPTX)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("fetch")
	if err != nil {
		t.Fatal(err)
	}
	x, out := d.From([]float32{1, 2, 3}, 3), d.Zeros(F32, 5)
	texture, err := x.Texture(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Launch(Threads(5, 5), texture, out); err != nil {
		t.Fatal(err)
	}
	if have := out.Float32s(); !reflect.DeepEqual(have, []float32{1, 2, 3, 0, 0}) {
		t.Errorf("fetched %v", have)
	}
	if err := texture.Free(); err != nil {
		t.Fatal(err)
	}
	wantError(t, texture.Free(), "Free: the texture was freed before\ncall Free once")
	wantError(t, f.Launch(Threads(5, 5), texture, out), "launch fetch: argument 1 (x .u64): the texture was freed\nmake it again, or call Free later")
	wantError(t, f.Launch(Threads(5, 5), (*Texture)(nil), out), "launch fetch: argument 1 (x .u64): the texture is nil\nmake the texture first: t.Texture(1)")
	_, err = d.Zeros(F64, 4).Texture(1)
	wantError(t, err, "Texture of f64 [4]: virtual GPU: texture of format \"f64\": it must be u8, s8, u16, s16, u32, s32, f16 or f32")
}
