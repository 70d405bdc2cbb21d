package vgpu

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
)

// narrowFormats are the formats below 16 bits as the oracle's: the fraction, exponent and sign as in PTX ISA 5.2.3. Their top
// codes are not IEEE's, so that the oracle rounds in a format with one more bit of exponent.
var narrowFormats = map[string]struct {
	exponent, fraction uint
	most               float64
}{"e4m3": {4, 3, 448}, "e5m2": {5, 2, 57344}, "e2m3": {2, 3, 7.5}, "e3m2": {3, 2, 28}, "e2m1": {2, 1, 6}}

// narrowValue is the value of a code by the formula (−1)^s · 2^(e−bias) · 1.m; ok is false for NaN and infinity.
func narrowValue(name string, code uint8) (v float64, ok bool) {
	f := narrowFormats[name]
	bias := 1<<(f.exponent-1) - 1
	e, m := int(code>>f.fraction)&(1<<f.exponent-1), float64(code&(1<<f.fraction-1))
	if e == 0 {
		v = math.Ldexp(m, 1-bias-int(f.fraction))
	} else {
		v = math.Ldexp(m+float64(int(1)<<f.fraction), e-bias-int(f.fraction))
	}
	if code>>(f.exponent+f.fraction)&1 != 0 {
		v = -v
	}
	return v, math.Abs(v) <= f.most
}

// nearestNarrow looks through all codes for the one nearest to x, ties to the even one, saturating.
func nearestNarrow(name string, x float64) uint8 {
	f := narrowFormats[name]
	best, least := uint8(0), math.Inf(1)
	for code := range 1 << (f.exponent + f.fraction) {
		v, ok := narrowValue(name, uint8(code))
		if !ok {
			continue
		}
		exact, _ := new(big.Float).Sub(big.NewFloat(math.Abs(x)), big.NewFloat(v)).Float64()
		if distance := math.Abs(exact); distance < least || distance == least && code&1 == 0 {
			best, least = uint8(code), distance
		}
	}
	if math.Signbit(x) {
		best |= 1 << (f.exponent + f.fraction)
	}
	return best
}

// Every code of fp8, fp6 and fp4 widens to its value, every f16 rounds to the nearest code, and so do f32 around each tie.
func TestNarrowFormatsExhaustive(t *testing.T) {
	for name := range narrowFormats {
		s := narrowFloats[name]
		for code := range 1 << s.width() {
			v, ok := narrowValue(name, uint8(code))
			have := float64(s.decode(uint8(code)))
			if ok && (have != v || math.Signbit(have) != math.Signbit(v)) {
				t.Fatalf("%s %#x is %v, want %v", name, code, have, v)
			}
			if !ok && (name == "e4m3" || code&3 != 0) && have == have {
				t.Fatalf("%s %#x is %v, want NaN", name, code, have)
			}
			if name == "e5m2" && code&0x7f == 0x7c && !math.IsInf(have, 1-code>>7*2) {
				t.Fatalf("%s %#x is %v, want an infinity", name, code, have)
			}
			if ok && code>>(s.width()-1) == 0 {
				next, _ := narrowValue(name, uint8(code+1))
				middle := float32((v + next) / 2)
				for _, x := range []float32{middle, -middle, math.Nextafter32(middle, 0), math.Nextafter32(middle, 1e9)} {
					if have, want := s.encode(x), nearestNarrow(name, float64(x)); have != want {
						t.Fatalf("%v becomes %s %#x, want %#x", x, name, have, want)
					}
				}
			}
		}
		for h := 0; h < 1<<16; h += 7 {
			x := float64(halfToFloat(uint16(h)))
			if math.IsInf(x, 0) || x != x {
				continue
			}
			if have, want := s.encode(float32(x)), nearestNarrow(name, x); have != want {
				t.Fatalf("f16 %v becomes %s %#x, want %#x", x, name, have, want)
			}
		}
	}
}

// narrowKernel converts the two words at 8·thread.
func narrowKernel(target, body string) string {
	return ".version 8.8\n.target " + target + `
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
	.reg .b64 %p, %q, %o; .reg .b32 %t, %x, %y, %z; .reg .b16 %h; .reg .b8 %b;
	ld.param.u64 %p, [p]; ld.param.u64 %q, [q];
	mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 8; add.s64 %p, %p, %o;
	ld.global.v2.b32 {%x, %y}, [%p];
	mul.wide.u32 %o, %t, 4; add.s64 %q, %q, %o;
` + body + "\nst.global.b32 [%q], %z;\nret;\n}\n"
}

// Conversions of packed formats: of two sources the first goes up; NaN, infinities, −0 and .relu by the tables of PTX ISA
// 9.7.9.21.
func TestNarrowConversions(t *testing.T) {
	p := testProfile()
	p.Major = 10
	d := openTest(t, p)
	f := func(x float32) uint32 { return math.Float32bits(x) }
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	h := func(x, y float32) uint32 { return uint32(floatToHalf(x))<<16 | uint32(floatToHalf(y)) }
	for _, c := range []struct {
		body string
		x, y uint32
		want uint32
	}{
		{"cvt.rn.satfinite.e4m3x2.f32 %h, %x, %y; cvt.u32.u16 %z, %h;", f(1), f(-2), 0x38c0},
		{"cvt.rn.satfinite.e4m3x2.f32 %h, %x, %y; cvt.u32.u16 %z, %h;", f(inf), f(-449), 0x7efe},
		{"cvt.rn.satfinite.e4m3x2.f32 %h, %x, %y; cvt.u32.u16 %z, %h;", f(nan), f(-0x1p-9), 0x7f81},
		{"cvt.rn.satfinite.relu.e4m3x2.f32 %h, %x, %y; cvt.u32.u16 %z, %h;", f(-3), f(nan), 0x007f},
		{"cvt.rn.satfinite.e5m2x2.f32 %h, %x, %y; cvt.u32.u16 %z, %h;", f(1e9), f(1), 0x7b3c},
		{"cvt.rn.satfinite.e5m2x2.f16x2 %h, %x; cvt.u32.u16 %z, %h;", h(1, -2), 0, 0x3cc0},
		{"cvt.rn.satfinite.relu.e4m3x2.f16x2 %h, %x; cvt.u32.u16 %z, %h;", h(1, -2), 0, 0x3800},
		{"mov.b32 {%h, _}, %x; cvt.rn.f16x2.e4m3x2 %z, %h;", 0x38c0, 0, h(1, -2)},
		{"mov.b32 {%h, _}, %x; cvt.rn.relu.f16x2.e4m3x2 %z, %h;", 0x38c0, 0, h(1, 0)},
		{"mov.b32 {%h, _}, %x; cvt.rn.f16x2.e5m2x2 %z, %h;", 0x7cfc, 0, 0x7c00fc00},
		{"mov.b32 {%h, _}, %x; cvt.rn.f16x2.e4m3x2 %z, %h;", 0x7f01, 0, 0x7fff<<16 | uint32(floatToHalf(0x1p-9))},
		{"cvt.rn.satfinite.e2m1x2.f32 %b, %x, %y; mov.b32 %z, {%b, 0, 0, 0};", f(6.5), f(-0.25), 0x78},
		{"cvt.rn.satfinite.e2m1x2.f32 %b, %x, %y; mov.b32 %z, {%b, 0, 0, 0};", f(nan), f(-1.25), 0x7a},
		{"mov.b32 {%b, _, _, _}, %x; cvt.rn.f16x2.e2m1x2 %z, %b;", 0x7f, 0, h(6, -6)},
		{"cvt.rn.satfinite.e2m3x2.f32 %h, %x, %y; cvt.u32.u16 %z, %h;", f(7.5), f(-100), 0x1f3f},
		{"cvt.rn.satfinite.e3m2x2.f32 %h, %x, %y; cvt.u32.u16 %z, %h;", f(28), f(0.0625), 0x1f01},
		{"mov.b32 {%h, _}, %x; cvt.rn.f16x2.e3m2x2 %z, %h;", 0x1f21, 0, h(28, -0.0625)},
		{"cvt.rz.ue8m0x2.f32 %h, %x, %y; cvt.u32.u16 %z, %h;", f(3), f(-1), 0x807f},
		{"cvt.rp.ue8m0x2.f32 %h, %x, %y; cvt.u32.u16 %z, %h;", f(3), f(nan), 0x81ff},
		{"cvt.rp.satfinite.ue8m0x2.f32 %h, %x, %y; cvt.u32.u16 %z, %h;", f(inf), f(0x1.8p127), 0xfefe},
		{"cvt.rp.ue8m0x2.bf16x2 %h, %x; cvt.u32.u16 %z, %h;", 0x40403f80, 0, 0x817f},
		{"mov.b32 {%h, _}, %x; cvt.rn.bf16x2.ue8m0x2 %z, %h;", 0x80ff, 0, 0x40007fff},
		{"cvt.rz.f16x2.f32 %z, %x, %y;", f(65535), f(-1.0009), h(65504, -1)},
		{"cvt.rn.satfinite.f16x2.f32 %z, %x, %y;", f(1e6), f(-inf), h(65504, -65504)},
		{"cvt.rn.relu.satfinite.bf16x2.f32 %z, %x, %y;", f(inf), f(-1), 0x7f7f0000},
		{"cvt.rn.satfinite.relu.f16x2.f32 %z, %x, %y;", f(nan), f(-1), 0x7fff0000},
		{"cvt.rz.satfinite.f16.f32 %h, %x; cvt.u32.u16 %z, %h;", f(1e6), 0, 0x7bff},
		{"cvt.rn.relu.tf32.f32 %z, %x;", f(-5), 0, 0},
		{"cvt.rz.tf32.f32 %z, %x;", f(1.9999999), 0, 0x3fffe000},
		{"cvt.rna.satfinite.tf32.f32 %z, %x;", f(math.MaxFloat32), 0, 0x7f7fe000},
		{"cvt.rn.ftz.f16.f32 %h, %x; cvt.u32.u16 %z, %h;", f(0x1p-20), 0, 0x0010},
	} {
		m := loadModule(t, d, narrowKernel("sm_100a", c.body))
		in, out := upload(t, d, []uint32{c.x, c.y}), upload(t, d, []uint32{0})
		launch(t, d, fn(t, m, "k"), dim(1), dim(1), in, out)
		if have := download[uint32](t, d, out, 1)[0]; have != c.want {
			t.Errorf("%s of %#x, %#x: %#x, want %#x", c.body, c.x, c.y, have, c.want)
		}
	}
}

// Conversions that a target lacks, and forms that PTX does not have, are refused with what is wrong.
func TestConversionErrors(t *testing.T) {
	for body, want := range map[string]string{
		"cvt.rn.satfinite.e4m3x2.f32 %h, %x, %y;": "cvt.rn.satfinite.e4m3x2.f32: needs .target sm_89 or higher, the module has .target sm_80",
		"cvt.rn.satfinite.e2m1x2.f32 %b, %x, %y;": "cvt.rn.satfinite.e2m1x2.f32: needs .target sm_100 or higher, the module has .target sm_80",
		"cvt.rn.ftz.u32.u32 %z, %x;":              "cvt.rn.ftz.u32.u32: a conversion between integers takes no rounding mode",
		"cvt.ftz.u16.u32 %h, %x;":                 "cvt.ftz.u16.u32: .ftz is only for f32",
		"cvt.rs.f16x2.f32 %z, %x, %y, %t;":        "stochastic rounding (.rs) is not executed; nearest that works: .rn",
		"cvt.rn.sat.bf16.f32 %h, %x;":             "cvt.rn.sat.bf16.f32: .sat is not for bf16",
		"cvt.rm.satfinite.f16.f32 %h, %x;":        "cvt.rm.satfinite.f16.f32: .relu and .satfinite stand with .rn or .rz alone",
		"cvt.rna.relu.tf32.f32 %z, %x;":           "cvt.rna.relu.tf32.f32: .rna takes no .relu",
	} {
		refuse(t, narrowKernel("sm_80", body), want)
	}
}

// refuse checks that a module is refused with a message.
func refuse(t *testing.T, text, want string) {
	t.Helper()
	d := openTest(t, testProfile())
	_, err := d.LoadPTX(text, loadTest)
	if have := fmt.Sprint(err); !strings.Contains(have, want) {
		t.Errorf("%s\nwant %s", have, want)
	}
}
