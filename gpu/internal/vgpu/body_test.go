package vgpu

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// laneWords are the four words that a lane of runBody reads or writes.
type laneWords [4]uint32

// runBody runs instructions on 32 lanes: %x0 … %x3 hold a lane's words, %y0 and %y1 the same as two 64-bit values, %h0 … %h3
// the words' lower halves; %z0 … %z3 are what the lane gives back, %z0 also as %lz of 64 bits where the body stores that. %p, %q,
// %r are predicates, %r true where the lowest bit of %x3 is set; %mem is 64 B a lane of global memory, %shared as much of shared.
func runBody(t *testing.T, d *Device, target, body string, in []laneWords) []laneWords {
	t.Helper()
	text := ".version 8.8\n.target " + target + `
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q, .param .u64 g) {
	.reg .pred %p, %q, %r; .reg .b16 %h<4>, %s<4>; .reg .b32 %x<4>, %z<4>, %t, %u, %shared; .reg .b64 %p1, %q1, %o, %y<4>, %mem; .reg .b128 %w<3>; .reg .b8 %b<4>;
	.shared .align 16 .b8 pool[8192];
	ld.param.u64 %p1, [p]; ld.param.u64 %q1, [q]; ld.param.u64 %mem, [g];
	mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 16; add.s64 %p1, %p1, %o; add.s64 %q1, %q1, %o;
	mul.wide.u32 %o, %t, 64; add.s64 %mem, %mem, %o; mov.u32 %shared, pool; mad.lo.u32 %shared, %t, 64, %shared;
	ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%p1];
	mov.b64 %y0, {%x0, %x1}; mov.b64 %y1, {%x2, %x3};
	cvt.u16.u32 %h0, %x0; cvt.u16.u32 %h1, %x1; cvt.u16.u32 %h2, %x2; cvt.u16.u32 %h3, %x3;
	and.b32 %t, %x3, 1; setp.ne.u32 %r, %t, 0; mov.u32 %t, %tid.x;
	mov.b32 %z0, 0; mov.b32 %z1, 0; mov.b32 %z2, 0; mov.b32 %z3, 0;
` + body + "\n	st.global.v4.b32 [%q1], {%z0, %z1, %z2, %z3};\n	ret;\n}\n"
	m := loadModule(t, d, text)
	defer m.Unload()
	p, q, g := upload(t, d, in), upload(t, d, make([]laneWords, len(in))), upload(t, d, make([]byte, 64*len(in)))
	launch(t, d, fn(t, m, "k"), dim(1), dim(uint32(len(in))), p, q, g)
	out := download[laneWords](t, d, q, len(in))
	for _, a := range []uint64{uint64(p), uint64(q), uint64(g)} {
		d.memory.free(a, true)
	}
	return out
}

// randomWords are words of any bits, of small numbers and of special f16 and f32.
func randomWords(seed uint64, n int) []laneWords {
	r := rand.New(rand.NewPCG(seed, 5))
	special := []uint32{0, 0x80000000, 0x7fffffff, 0xffffffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0xbf800000, 0x00000001, 0x80000001, 0x7c003c00, 0xfc008000, 0x7e00fe01, 0x3c003c00, 0x00010002, 0x007fffff}
	words := make([]laneWords, n)
	for i := range words {
		for k := range words[i] {
			switch r.IntN(4) {
			case 0:
				words[i][k] = special[r.IntN(len(special))]
			case 1:
				words[i][k] = uint32(r.IntN(9)) - 4
			case 2:
				words[i][k] = words[i][r.IntN(4)] // equal ones too
			default:
				words[i][k] = r.Uint32()
			}
		}
	}
	return words
}

// bodyCase is a body with what each lane must give.
type bodyCase struct {
	body string
	want func(x laneWords, lane int) laneWords
}

// runWhole runs each body on four whole warps.
func runWhole(t *testing.T, d *Device, target string, cases []bodyCase) {
	t.Helper()
	for k, c := range cases {
		in := randomWords(uint64(k)+1, 128)
		for i, have := range runBody(t, d, target, c.body, in) {
			if want := c.want(in[i], i); have != want {
				t.Errorf("%s\nlane %d, %#x: %#x, want %#x", strings.TrimSpace(c.body), i, in[i], have, want)
				break
			}
		}
	}
}

// runBodies is runWhole, and again where the lanes whose fourth word is odd are elsewhere and the last warp has ten lanes only:
// what a lane must give does not depend on that.
func runBodies(t *testing.T, d *Device, target string, cases []bodyCase) {
	t.Helper()
	runWhole(t, d, target, cases)
	for k, c := range cases {
		in := randomWords(uint64(k)+1, 106)
		for i, have := range runBody(t, d, target, "@%r bra OUT;\n{\n"+c.body+"\n}\nOUT:", in) {
			want := laneWords{}
			if in[i][3]&1 == 0 {
				want = c.want(in[i], i)
			}
			if have != want {
				t.Errorf("%s\nlane %d of a part of the warp, %#x: %#x, want %#x", strings.TrimSpace(c.body), i, in[i], have, want)
				break
			}
		}
	}
}
