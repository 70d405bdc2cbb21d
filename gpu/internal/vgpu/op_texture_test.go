package vgpu

import (
	"context"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// fetchKernel is what NVRTC makes of out[i] = tex1Dfetch<float4>(x, i - 1), stored channel by channel.
func fetchKernel(t string) string {
	return header + `.visible .entry k(.param .u64 x, .param .u64 out) {
	.reg .b32 %r<9>; .reg .b64 %rd<5>;
	ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [out]; cvta.to.global.u64 %rd3, %rd2;
	mov.u32 %r1, %tid.x; add.s32 %r2, %r1, -1;
	tex.1d.v4.` + t + `.s32 {%r3, %r4, %r5, %r6}, [%rd1, {%r2}];
	mul.wide.s32 %rd4, %r1, 16; add.s64 %rd3, %rd3, %rd4; st.global.v4.b32 [%rd3], {%r3, %r4, %r5, %r6};
	ret;
}
`
}

// tex1Dfetch of every format: channels that are not there and indexes outside read as zeros.
func TestTextureFetch(t *testing.T) {
	d := openTest(t, testProfile())
	bytes := make([]byte, 64)
	for i := range bytes {
		bytes[i] = byte(i * 37)
	}
	copy(bytes[32:], []byte{0, 0x3c, 0, 0xc0, 0xff, 0x7b, 1, 0}) // f16: 1, −2, 65504, the smallest
	base := upload(t, d, bytes)
	for _, c := range []struct {
		texture driver.Texture
		as      string
		index   int // thread
		want    [4]uint32
	}{
		{driver.Texture{Format: "u8", Channels: 1}, "u32", 2, [4]uint32{37}},
		{driver.Texture{Format: "s8", Channels: 2}, "s32", 3, [4]uint32{0xffffff94, 0xffffffb9}},
		{driver.Texture{Format: "u16", Channels: 4}, "u32", 1, [4]uint32{0x2500, 0x6f4a, 0xb994, 0x03de}},
		{driver.Texture{Format: "s32", Channels: 1}, "s32", 2, [4]uint32{0x03deb994}},
		{driver.Texture{Format: "f32", Channels: 2}, "f32", 1, [4]uint32{0x6f4a2500, 0x03deb994}},
		{driver.Texture{Format: "f16", Channels: 4}, "f32", 5, [4]uint32{0x3f800000, 0xc0000000, 0x477fe000, 0x33800000}},
		{driver.Texture{Format: "u8", Channels: 1, Normalized: true}, "f32", 2, [4]uint32{0x3e149495}}, // 37/255
		{driver.Texture{Format: "u8", Channels: 1}, "u32", 0, [4]uint32{}},
		{driver.Texture{Format: "u8", Channels: 1}, "u32", 65, [4]uint32{}},
	} {
		c.texture.Base, c.texture.Bytes = base, 64
		x, err := d.NewTexture(c.texture)
		if err != nil {
			t.Fatal(err)
		}
		m := loadModule(t, d, fetchKernel(c.as))
		out := upload(t, d, make([]uint32, 4*96))
		r := launch(t, d, fn(t, m, "k"), dim(1), dim(96), x, out)
		if have := download[[4]uint32](t, d, out, 96)[c.index]; have != c.want {
			t.Errorf("%+v, thread %d: %#x, want %#x", c.texture, c.index, have, c.want)
		}
		element := uint64(c.texture.Channels * int(textureKinds[c.texture.Format].bytes))
		if g := r.Counts.GlobalLoad; g.Lanes != min(64/element, 95) || g.Bytes != g.Lanes*element {
			t.Errorf("%+v: counted %+v", c.texture, g)
		}
		if err := d.FreeTexture(x); err != nil {
			t.Fatal(err)
		}
		f := fn(t, m, "k")
		_, err = d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(1), CTA: dim(1), Args: pack(t, f, x, out), Wait: true})
		if err == nil || !strings.Contains(err.Error(), "is no texture object") {
			t.Errorf("a freed texture: %v", err)
		}
		d = openTest(t, testProfile())
		base = upload(t, d, bytes)
	}
	for want, bad := range map[string]driver.Texture{
		"virtual GPU: texture of format \"f64\": it must be u8, s8, u16, s16, u32, s32, f16 or f32": {Format: "f64", Channels: 1},
		"virtual GPU: texture of 3 channels: it must have 1, 2 or 4":                                {Format: "u8", Channels: 3},
		"virtual GPU: texture at 0x10: it must begin at a multiple of 256 B":                        {Base: 16, Format: "u8", Channels: 1},
	} {
		if _, err := d.NewTexture(bad); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	refuse(t, header+".global .texref r;\n.visible .entry k() {\n.reg .f32 %f<4>; .reg .b32 %i;\ntex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [r, {%i}];\nret;\n}\n", "pass a texture object: cudaTextureObject_t")
	refuse(t, header+".visible .entry k(.param .u64 x) {\n.reg .f32 %f<4>; .reg .b64 %t;\ntex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%f0, %f1}];\nret;\n}\n", "not yet: textures other than tex.1d.v4 by an integer")
}
