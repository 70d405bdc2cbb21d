package vgpu

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"memwall/gpu/internal/vgpu/lanegen"
)

// lanes_gen.go is what the generator writes.
func TestGeneratedLanesAreCurrent(t *testing.T) {
	want, err := lanegen.Generate()
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("lanes_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("lanes_gen.go is stale: run go generate ./gpu/internal/vgpu")
	}
}

// registerType is the untyped register that holds an operand of the table.
func registerType(t string) string { return fmt.Sprintf("b%d", 8*max(typeBytes(t), 2)) }

// opKernel is an entry that applies an instruction to operands a, b, c, e at 8·thread, for threads whose bit in mask is
// set, and stores the result at 8·thread of d; other threads store what was there.
func opKernel(spelling, dst string, src []string, target string) string {
	var b strings.Builder
	b.WriteString(".version 8.8\n.target " + target + "\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pe, .param .u64 pd, .param .u32 mask)\n{\n")
	b.WriteString(".reg .pred %p, %q;\n.reg .b32 %t, %m, %one;\n.reg .b64 %o, %a<5>;\n")
	names := []string{"a", "b", "c", "e"}
	for k, t := range src {
		fmt.Fprintf(&b, ".reg .%s %%v%s;\n", registerType(t), names[k])
	}
	b.WriteString("mov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 8;\n")
	for k, t := range src {
		fmt.Fprintf(&b, "ld.param.u64 %%a%d, [p%s];\nadd.s64 %%a%d, %%a%d, %%o;\nld.global.%s %%v%s, [%%a%d];\n", k, names[k], k, k, registerType(t), names[k], k)
	}
	b.WriteString("ld.param.u64 %a4, [pd];\nadd.s64 %a4, %a4, %o;\nld.param.u32 %m, [mask];\nand.b32 %one, %t, 31;\nshr.u32 %m, %m, %one;\nand.b32 %m, %m, 1;\nsetp.ne.u32 %q, %m, 0;\n")
	operands := ""
	for k := range src {
		operands += ", %v" + names[k]
	}
	if dst == "pred" {
		fmt.Fprintf(&b, ".reg .b32 %%d;\nld.global.b32 %%d, [%%a4];\nsetp.eq.u32 %%p, %%d, 1;\n@%%q %s %%p%s;\nselp.u32 %%d, 1, 0, %%p;\nst.global.b32 [%%a4], %%d;\n", spelling, operands)
	} else {
		r := registerType(dst)
		fmt.Fprintf(&b, ".reg .%s %%d;\nld.global.%s %%d, [%%a4];\n@%%q %s %%d%s;\nst.global.%s [%%a4], %%d;\n", r, r, spelling, operands, r)
	}
	b.WriteString("ret;\n}\n")
	return b.String()
}

// specialBits are values at the edges of a type.
func specialBits(t string) []uint64 {
	f, float := formats[t]
	if float {
		var list []uint64
		one := uint64(f.bias()) << f.fraction
		for _, v := range []uint64{0, 1, 2, 1<<f.fraction - 1, 1 << f.fraction, 1<<f.fraction + 1, one, one + 1, one - 1, one + 1<<f.fraction, one - 1<<f.fraction,
			f.inf() - 1, f.inf(), f.inf() + 1, f.nan(), one + 5<<f.fraction, one + 12<<f.fraction + 12345&(1<<f.fraction-1)} {
			list = append(list, v, v|f.sign())
		}
		return list
	}
	n := 8 * typeBytes(t)
	top := uint64(1) << (n - 1)
	return []uint64{0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 255, 256, top, top - 1, top + 1, top<<1 - 1, top<<1 - 2, 0x5555555555555555, 0x80008000, 0xff00ff}
}

// draw gives a random value of a type: special, of any bits, or a number of moderate size.
func draw(r *rand.Rand, t string) uint64 {
	special := specialBits(t)
	switch r.IntN(3) {
	case 0:
		return special[r.IntN(len(special))]
	case 1:
		return r.Uint64()
	}
	switch x := r.NormFloat64() * 8; t {
	case "f32":
		return uint64(math.Float32bits(float32(x)))
	case "f64":
		return math.Float64bits(x)
	case "f16":
		return uint64(floatToHalf(float32(x)))
	case "bf16":
		return uint64(math.Float32bits(float32(x)) >> 16)
	}
	return uint64(r.IntN(100))
}

// opCase gives what an op row's spelling must yield, or ok = false where the oracle does not cover it; check compares.
type opCase struct {
	op   string
	mods []string
	t    string // the instruction's type
	dst  string
}

func (c *opCase) has(m string) bool {
	for _, x := range c.mods {
		if x == m {
			return true
		}
	}
	return false
}

func (c *opCase) rounding() string {
	for _, m := range []string{"rz", "rm", "rp"} {
		if c.has(m) {
			return m
		}
	}
	return "rn"
}

// expect gives the wanted bits, or for approximations the bounds; ok is false where no oracle exists.
func (c *opCase) expect(v [4]uint64) (want uint64, approximate func(got uint64) bool, ok bool) {
	if want, approximate, ok = c.packedOracle(v); ok {
		return want, approximate, ok
	}
	t := c.t
	if half, packed := strings.CutSuffix(t, "x2"); packed {
		low := opCase{c.op, c.mods, half, half}
		mask := func(x uint64, s int) uint64 { return x >> s & 0xffff }
		a, f, ok := low.expect([4]uint64{mask(v[0], 0), mask(v[1], 0), mask(v[2], 0)})
		b, g, _ := low.expect([4]uint64{mask(v[0], 16), mask(v[1], 16), mask(v[2], 16)})
		return 0, func(got uint64) bool {
			return (f == nil && got&0xffff == a || f != nil && f(got&0xffff)) && (g == nil && got>>16&0xffff == b || g != nil && g(got>>16&0xffff))
		}, ok
	}
	f, float := formats[t]
	switch {
	case c.op == "setp" && c.dst == "pred":
		compare := c.mods[0]
		return uint64(b2i(compareOracle(compare, t, v[0], v[1], c.has("ftz")))), nil, true
	case c.op == "cvt":
		return c.convert(v)
	case float:
		return c.float(f, v)
	}
	if w, ok := bitOracle(c.op, c.mods, t, v[0], v[1], v[2], v[3]); ok {
		return w, nil, true
	}
	w, ok := integerOracle(c.op, c.mods, t, v[0], v[1], v[2], v[3])
	return w, nil, ok
}

func (c *opCase) float(f format, v [4]uint64) (uint64, func(uint64) bool, bool) {
	ftz, sat, relu := c.has("ftz"), c.has("sat"), c.has("relu")
	var x []value
	for _, b := range v {
		x = append(x, f.decode(b, ftz))
	}
	op := c.op
	if op == "mad" {
		op = "fma"
	}
	approx := c.has("approx") || c.has("full")
	switch op {
	case "add", "sub", "mul", "fma", "div", "rcp", "sqrt":
		if approx && c.t != "f32" {
			return 0, nil, false
		}
		w := f.finish(f.arithmetic(op, c.rounding(), x), ftz, sat, relu)
		if c.t == "f64" && w&^f.sign() > f.inf() { // payloads of f64 are not defined
			return 0, func(got uint64) bool { return got&^f.sign() > f.inf() }, true
		}
		if approx { // these are computed better than they need be
			return 0, func(got uint64) bool { return got == w || got+1 == w || got == w+1 }, true
		}
		return w, nil, true
	case "ex2", "lg2", "sin", "cos", "tanh", "rsqrt":
		return 0, c.approximate(f, x[0]), c.t != "f64"
	case "neg":
		return flushed(f, v[0], ftz) ^ f.sign(), nil, true
	case "abs":
		return flushed(f, v[0], ftz) &^ f.sign(), nil, true
	case "copysign": // 9.7.3.2: the sign of a, the magnitude of b
		return v[0]&f.sign() | v[1]&^f.sign()&(f.sign()<<1-1), nil, true
	case "mov":
		return v[0] & (f.sign()<<1 - 1), nil, true
	case "min", "max":
		a, b := flushed(f, v[0], ftz), flushed(f, v[1], ftz)
		sign := (a ^ b) & f.sign()
		if c.has("xorsign") {
			a, b = a&^f.sign(), b&^f.sign()
		}
		w := f.pick(op, a, b, c.has("NaN"))
		if c.has("xorsign") {
			w = w&^f.sign() | sign
			if w&^f.sign() > f.inf() {
				return 0, func(got uint64) bool { return got&^f.sign() > f.inf() }, true
			}
		}
		return w, nil, true
	case "testp":
		m := v[0] & (f.sign() - 1)
		return uint64(b2i(map[string]bool{"finite": m < f.inf(), "infinite": m == f.inf(), "number": m <= f.inf(), "notanumber": m > f.inf(),
			"normal": m < f.inf() && m>>f.fraction != 0, "subnormal": m != 0 && m>>f.fraction == 0}[c.mods[0]])), nil, true
	}
	return 0, nil, false
}

func flushed(f format, b uint64, ftz bool) uint64 {
	b &= f.sign()<<1 - 1
	if ftz && b&f.inf() == 0 {
		b &= f.sign()
	}
	return b
}

// pick is min or max of bits.
func (f format) pick(op string, a, b uint64, nan bool) uint64 {
	isNaN := func(x uint64) bool { return x&^f.sign() > f.inf() }
	switch {
	case isNaN(a) && isNaN(b), nan && (isNaN(a) || isNaN(b)):
		return f.nan()
	case isNaN(a):
		return b
	case isNaN(b):
		return a
	}
	key := func(x uint64) int64 { // in the order of the values, −0 below +0
		if x&f.sign() != 0 {
			return -int64(x&^f.sign()) - 1
		}
		return int64(x)
	}
	if (key(a) < key(b)) == (op == "min") {
		return a
	}
	return b
}

// approximate bounds a transcendental function by the PTX ISA's error.
func (c *opCase) approximate(f format, v value) func(uint64) bool {
	x := math.NaN()
	switch {
	case v.inf:
		x = math.Inf(1 - 2*b2i(v.negative))
	case !v.nan:
		x, _ = v.x.Float64()
		if x == 0 && v.negative {
			x = math.Copysign(0, -1)
		}
	}
	want, relative, absolute := transcendental(c.op, x)
	if f.bits == 16 {
		relative, absolute = max(relative, math.Ldexp(1, -int(f.fraction))), math.Ldexp(1, 1-f.bias()-int(f.fraction))
	}
	tiny := math.Ldexp(1, 1-f.bias())
	return func(got uint64) bool {
		g := f.decode(got, false)
		if want != want {
			return g.nan
		}
		rounded := want
		if f.bits == 32 {
			rounded = float64(float32(want))
		}
		if math.IsInf(rounded, 0) || f.bits == 16 && math.Abs(want) > 60000 {
			return g.inf && g.negative == (want < 0) || f.bits == 16
		}
		if g.nan || g.inf {
			return false
		}
		y, _ := g.x.Float64()
		if math.Abs(want) < tiny && c.has("ftz") && y == 0 {
			return true
		}
		return math.Abs(y-want) <= relative*math.Abs(want)+absolute+math.Ldexp(tiny, -int(f.fraction))
	}
}

// convert is the oracle of cvt.
func (c *opCase) convert(v [4]uint64) (uint64, func(uint64) bool, bool) {
	var types []string
	for _, m := range c.mods {
		if typeBytes(m) > 0 && m != "tf32" {
			types = append(types, m)
		}
	}
	if len(types) != 2 || c.has("pack") || c.has("tf32") || strings.HasSuffix(types[0], "x2") {
		return 0, nil, false
	}
	return convertOracle(c, types[0], types[1], v[0])
}

// runOp runs a spelling on vectors and compares each result with the oracle.
func runOp(t *testing.T, d *Device, spelling string, r *row) {
	parts := strings.Split(spelling, ".")
	c := &opCase{op: parts[0], mods: parts[1:], dst: r.dst}
	c.t = parts[len(parts)-1]
	if typeBytes(c.t) == 0 && c.t != "three" {
		c.t = "b32"
	}
	target := "sm_90"
	if r.sm > 90 {
		target = "sm_100a"
	}
	m, err := d.LoadPTX(opKernel(strings.TrimSuffix(spelling, ".three"), r.dst, r.src, target), driverOptions)
	if err != nil {
		t.Errorf("%s: %v", spelling, err)
		return
	}
	defer m.Unload()
	random := rand.New(rand.NewPCG(1, uint64(len(spelling))))
	const n = 128
	var in [4][]uint64
	for k := range in {
		in[k] = make([]uint64, n)
		for i := range in[k] {
			if k < len(r.src) {
				s := strings.Replace(strings.TrimSuffix(r.src[k], "x2"), "h16", strings.TrimSuffix(c.t, "x2"), 1)
				in[k][i] = draw(random, s)
				if strings.HasSuffix(r.src[k], "x2") {
					in[k][i] = in[k][i]&0xffff | draw(random, s)<<16
				}
			}
		}
	}
	const before = 1
	out := bytes.Repeat([]byte{before, 0, 0, 0, 0, 0, 0, 0}, n)
	f := fn(t, m, "k")
	for _, mask := range []uint32{allLanes, 0x80000001, 0x0f0ff00f} {
		address := upload(t, d, out)
		var a [4]any
		var free []uint64
		for k := range a {
			p := upload(t, d, in[k])
			a[k] = p
			free = append(free, uint64(p))
		}
		launch(t, d, f, dim(1), dim(n), a[0], a[1], a[2], a[3], address, mask)
		got := download[uint64](t, d, address, n)
		for _, p := range append(free, uint64(address)) {
			d.memory.free(p, true)
		}
		for i := range n {
			if mask>>(i&31)&1 == 0 {
				if got[i] != before {
					t.Errorf("%s, mask %#x: lane %d is inactive and was written: %#x", spelling, mask, i, got[i])
					return
				}
				continue
			}
			w, approximate, ok := c.expect([4]uint64{in[0][i], in[1][i], in[2][i], in[3][i]})
			if !ok {
				continue
			}
			size := typeBytes(r.dst)
			if r.dst == "pred" {
				size = 4
			}
			g := got[i]
			if size < 8 {
				g &= 1<<(8*max(size, 2)) - 1
				w &= 1<<(8*max(size, 2)) - 1
			}
			if approximate != nil && !approximate(g) || approximate == nil && g != w {
				t.Errorf("%s(%#x, %#x, %#x, %#x) = %#x, want %#x", spelling, in[0][i], in[1][i], in[2][i], in[3][i], g, w)
				return
			}
		}
	}
}

// Every generated row, in its first spelling of each pattern, against the oracle.
func TestLaneOps(t *testing.T) {
	profile := testProfile()
	profile.Major = 10
	d := openTest(t, profile)
	covered, all := 0, 0
	for i := range laneRows {
		r := &laneRows[i]
		for _, p := range r.patterns {
			spelling := expandPattern(p)[0]
			all++
			if spellingHasOracle(spelling, r) {
				covered++
			}
			runOp(t, d, spelling, r)
		}
	}
	t.Logf("%d of %d spellings have an oracle", covered, all)
	if covered < all*9/10 {
		t.Errorf("only %d of %d spellings have an oracle", covered, all)
	}
}

func spellingHasOracle(spelling string, r *row) bool {
	parts := strings.Split(spelling, ".")
	c := &opCase{op: parts[0], mods: parts[1:], dst: r.dst, t: parts[len(parts)-1]}
	_, _, ok := c.expect([4]uint64{1, 1, 1, 1})
	return ok
}
