package vgpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// streamKernel stores op of a[i] (and b[i], c[i]) to d[i] for every i below n; src and dst are register types.
func streamKernel(op string, dst string, src ...string) string {
	var b strings.Builder
	b.WriteString(".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pd, .param .u32 n) {\n.reg .pred %p; .reg .b32 %t, %n, %i; .reg .b64 %a, %o;\n")
	fmt.Fprintf(&b, ".reg .%s %%x, %%y; .reg .%s %%d;\n", src[0], dst)
	b.WriteString("mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %t, %i, 256, %t; ld.param.u32 %n, [n]; setp.ge.u32 %p, %t, %n; @%p ret;\n")
	for k, name := range []string{"a", "b"}[:len(src)] {
		fmt.Fprintf(&b, "ld.param.u64 %%a, [p%s]; mul.wide.u32 %%o, %%t, %d; add.s64 %%a, %%a, %%o; ld.global.%s %%%c, [%%a];\n", name, typeBytes(src[k]), src[k], 'x'+k)
	}
	operands := []string{"%d", "%x", "%y"}[:1+len(src)]
	fmt.Fprintf(&b, "%s %s;\nld.param.u64 %%a, [pd]; mul.wide.u32 %%o, %%t, %d; add.s64 %%a, %%a, %%o; st.global.%s [%%a], %%d;\nret;\n}\n", op, strings.Join(operands, ", "), typeBytes(dst), dst)
	return b.String()
}

// streamOp runs a stream kernel over the values.
func streamOp[D, S any](t *testing.T, d *Device, text string, a, b []S) []D {
	t.Helper()
	m := loadModule(t, d, text)
	defer m.Unload()
	if b == nil {
		b = a[:1]
	}
	pa, pb, pd := upload(t, d, a), upload(t, d, b), upload(t, d, make([]D, len(a)))
	launch(t, d, fn(t, m, "k"), dim(uint32(len(a)+255)/256), dim(256), pa, pb, pd, uint32(len(a)))
	out := download[D](t, d, pd, len(a))
	for _, p := range []driver.Address{pa, pb, pd} {
		if err := d.Free(p); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// round16 rounds a float64, of which rest is missing, to f16 (10, −14, 15) or bf16 (7, −126, 127), ties to even: by scaling to
// integers, NaN as 0x7fff.
func round16(v, rest float64, brain bool) uint16 {
	fraction, low, high := 10, -14, 15
	if brain {
		fraction, low, high = 7, -126, 127
	}
	var sign uint16
	if math.Signbit(v) {
		sign, v, rest = 0x8000, -v, -rest
	}
	infinity := uint16((high - low + 2) << fraction)
	switch {
	case v != v:
		return 0x7fff
	case math.IsInf(v, 0):
		return sign | infinity
	case v == 0:
		return sign
	}
	_, e := math.Frexp(v)
	e = max(e-1, low)
	scaled := math.Ldexp(v, fraction-e)
	r := math.RoundToEven(scaled)
	if d := scaled - math.Trunc(scaled); d == 0.5 && rest != 0 { // no tie after all
		r = math.Floor(scaled)
		if rest > 0 {
			r++
		}
	}
	if r >= math.Ldexp(1, fraction+1) {
		r, e = r/2, e+1
	}
	if e > high {
		return sign | infinity
	}
	code := uint16(r)
	if r >= math.Ldexp(1, fraction) {
		code = uint16(e-low+1)<<fraction | uint16(r)&(1<<fraction-1)
	}
	return sign | code
}

func widen16(h uint16, brain bool) float64 {
	if brain {
		return float64(math.Float32frombits(uint32(h) << 16))
	}
	e, m := int(h>>10&31), float64(h&1023)
	v := math.Ldexp(m+1024, e-25)
	switch {
	case e == 31 && m != 0:
		return math.NaN()
	case e == 31:
		v = math.Inf(1)
	case e == 0:
		v = math.Ldexp(m, -24)
	}
	if h&0x8000 != 0 {
		return -v
	}
	return v
}

// Arithmetic of f16 and bf16 on pairs that cover all exponents, against float64, which holds sums and products exactly.
func TestHalfArithmeticByStride(t *testing.T) {
	d := openTest(t, testProfile())
	var a, b []uint16
	for x := 0; x < 1<<16; x += 151 {
		for y := 0; y < 1<<16; y += 163 {
			a, b = append(a, uint16(x)), append(b, uint16(y^x<<3))
		}
	}
	for _, typ := range []string{"f16", "bf16"} {
		brain := typ == "bf16"
		for op, f := range map[string]func(x, y float64) float64{
			"add": func(x, y float64) float64 { return x + y }, "sub": func(x, y float64) float64 { return x - y }, "mul": func(x, y float64) float64 { return x * y },
			"min": math.Min, "max": math.Max,
		} {
			have := streamOp[uint16](t, d, streamKernel(op+"."+typ, "b16", "b16", "b16"), a, b)
			for i := range a {
				x, y := widen16(a[i], brain), widen16(b[i], brain)
				v := f(x, y)
				switch minmax := op == "min" || op == "max"; {
				case minmax && x != x:
					v = y
				case minmax && y != y:
					v = x
				}
				rest := 0.0
				if v-v == 0 && (op == "add" || op == "sub") {
					if op == "sub" {
						y = -y
					}
					rest = sumError(x, y, v) // of bf16 a sum may take more than 53 bits
				}
				if want := round16(v, rest, brain); have[i] != want {
					t.Fatalf("%s.%s of %#x, %#x: %#x, want %#x", op, typ, a[i], b[i], have[i], want)
				}
			}
		}
	}
}

// Conversions and unary operations of every f16 and bf16.
func TestHalfUnaryExhaustive(t *testing.T) {
	d := openTest(t, testProfile())
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	clamp := func(v, low, high float64) int32 {
		if v != v {
			return 0
		}
		return int32(int64(math.Max(low, math.Min(high, v))))
	}
	for _, typ := range []string{"f16", "bf16"} {
		brain := typ == "bf16"
		for op, f := range map[string]func(v float64) int32{
			"cvt.rni.s32": func(v float64) int32 { return clamp(math.RoundToEven(v), -1<<31, 1<<31-1) }, "cvt.rzi.u32": func(v float64) int32 { return clamp(math.Trunc(v), 0, 1<<32-1) },
			"cvt.rmi.s16": func(v float64) int32 { return clamp(math.Floor(v), -32768, 32767) },
		} {
			dst := "b32"
			if strings.HasSuffix(op, "16") {
				dst = "b16"
			}
			text := streamKernel(op+"."+typ, dst, "b16")
			if dst == "b16" {
				for i, h := range streamOp[int16](t, d, text, all, nil) {
					if want := int16(f(widen16(all[i], brain))); h != want {
						t.Fatalf("%s.%s of %#x: %d, want %d", op, typ, i, h, want)
					}
				}
				continue
			}
			for i, h := range streamOp[int32](t, d, text, all, nil) {
				if want := f(widen16(all[i], brain)); h != want {
					t.Fatalf("%s.%s of %#x: %d, want %d", op, typ, i, h, want)
				}
			}
		}
		for op, f := range map[string]struct {
			want  func(v float64) float64
			error float64 // relative, of PTX ISA 9.7.4.9 and 9.7.4.10
		}{"tanh.approx": {math.Tanh, math.Exp2(-10.987)}, "ex2.approx": {math.Exp2, math.Exp2(-9.9)}} {
			limit, spelling := f.error, op+"."+typ
			if brain {
				limit = math.Exp2(-7)
				if op == "ex2.approx" {
					spelling = "ex2.approx.ftz.bf16"
				}
			}
			tiny := map[bool]float64{false: math.Ldexp(1, -24), true: math.Ldexp(1, -126)}[brain]
			for i, h := range streamOp[uint16](t, d, streamKernel(spelling, "b16", "b16"), all, nil) {
				have, want := widen16(h, brain), f.want(widen16(all[i], brain))
				if want != want && have != have || round16(want, 0, brain) == h {
					continue
				}
				if !(math.Abs(have-want) <= limit*math.Abs(want)+tiny) {
					t.Fatalf("%s of %v: %v, want %v", spelling, widen16(all[i], brain), have, want)
				}
			}
		}
	}
}

// The approximations of f32 stay within the errors of PTX ISA 9.7.3, on 128 values of each exponent and sign.
func TestApproximationsStratified(t *testing.T) {
	d := openTest(t, testProfile())
	r := rand.New(rand.NewPCG(11, 12))
	var x []float32
	for e := range uint32(512) {
		for k := range 128 {
			m := r.Uint32() & 0x7fffff
			if k < 4 {
				m = []uint32{0, 1, 0x7fffff, 0x400000}[k]
			}
			x = append(x, math.Float32frombits(e<<23|m))
		}
	}
	ulp := func(v float64) float64 {
		_, e := math.Frexp(v)
		return math.Ldexp(1, max(e-24, -149))
	}
	relative := func(b float64) func(x, v float64) float64 {
		return func(_, v float64) float64 { return math.Exp2(b) * math.Abs(v) }
	}
	for op, c := range map[string]struct {
		want  func(float64) float64
		bound func(x, v float64) float64
	}{
		"rcp.approx":  {func(v float64) float64 { return 1 / v }, func(_, v float64) float64 { return ulp(v) }},
		"sqrt.approx": {math.Sqrt, relative(-23)}, "rsqrt.approx": {func(v float64) float64 { return 1 / math.Sqrt(v) }, relative(-22.9)},
		"ex2.approx": {math.Exp2, func(_, v float64) float64 { return 2 * ulp(v) }},
		"lg2.approx": {math.Log2, func(x, v float64) float64 {
			if x > 0.5 && x < 2 {
				return math.Exp2(-22)
			}
			return math.Exp2(-22) * math.Max(math.Abs(v), 1)
		}},
		"sin.approx": {math.Sin, func(float64, float64) float64 { return math.Exp2(-20.5) }}, "cos.approx": {math.Cos, func(float64, float64) float64 { return math.Exp2(-20.5) }},
		"tanh.approx": {math.Tanh, relative(-11)},
	} {
		for _, ftz := range []string{"", ".ftz"} {
			if ftz != "" && op == "tanh.approx" {
				continue
			}
			for i, have := range streamOp[float32](t, d, streamKernel(op+ftz+".f32", "f32", "f32"), x, nil) {
				in := float64(x[i])
				if ftz != "" {
					in = float64(flush(x[i]))
				}
				want := c.want(in)
				y := float64(have)
				rounded := float64(float32(want))
				switch {
				case want != want:
					if y == y || math.Float32bits(have) != 0x7fffffff {
						t.Fatalf("%s%s of %v: %v (%#x), want the NaN 0x7fffffff", op, ftz, x[i], have, math.Float32bits(have))
					}
					continue
				case math.IsInf(rounded, 0), rounded == 0:
					if y != rounded || math.Signbit(y) != math.Signbit(rounded) {
						t.Fatalf("%s%s of %v: %v, want %v", op, ftz, x[i], have, rounded)
					}
					continue
				case ftz != "" && math.Abs(rounded) < 0x1p-126:
					if y != 0 || math.Signbit(y) != math.Signbit(want) {
						t.Fatalf("%s%s of %v: %v, want a zero of %v", op, ftz, x[i], have, want)
					}
					continue
				}
				if !(math.Abs(y-want) <= c.bound(in, want)+math.Ldexp(1, -150)) {
					t.Fatalf("%s%s of %v: %v, want %v within %g", op, ftz, x[i], have, want, c.bound(in, want))
				}
			}
		}
	}
}
