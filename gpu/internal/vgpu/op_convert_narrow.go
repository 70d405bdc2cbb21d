package vgpu

import (
	"math"
	"strings"
	"sync"

	"memwall/gpu/internal/ptx"
)

// narrowFloat is a floating-point format of 4 to 8 bits (PTX ISA 5.2.3): bits of the exponent and of the fraction, the
// largest finite magnitude, and the code of NaN (0 where there is none: NaN then becomes the largest magnitude).
type narrowFloat struct {
	exponent, fraction uint
	most, nan          uint8
}

var narrowFloats = map[string]*narrowFloat{
	"e4m3": {4, 3, 0x7e, 0x7f}, // no infinity
	"e5m2": {5, 2, 0x7b, 0x7f}, // infinity 0x7c
	"e2m3": {2, 3, 0x1f, 0},
	"e3m2": {3, 2, 0x1f, 0},
	"e2m1": {2, 1, 0x07, 0},
}

func (s *narrowFloat) bias() int   { return 1<<(s.exponent-1) - 1 }
func (s *narrowFloat) width() uint { return 1 + s.exponent + s.fraction }

// encode rounds to nearest, ties to even, and saturates to the largest finite magnitude.
func (s *narrowFloat) encode(x float32) uint8 {
	b := math.Float32bits(x)
	sign := uint8(b >> 31 << (s.width() - 1))
	b &= 0x7fffffff
	if b > 0x7f800000 {
		if s.nan == 0 {
			return s.most
		}
		return s.nan
	}
	var r uint32
	if normal := uint32(128-s.bias()) << 23; b < normal {
		// A denormal: adding this puts its last bit at the last bit of an f32.
		magic := math.Float32frombits(uint32(128-s.bias()+23-int(s.fraction)) << 23)
		r = math.Float32bits(math.Float32frombits(b)+magic) - math.Float32bits(magic)
	} else {
		shift := 23 - s.fraction
		r = (b + 1<<(shift-1) - 1 + b>>shift&1 - uint32(127-s.bias())<<23) >> shift
	}
	return sign | uint8(min(r, uint32(s.most)))
}

// decode gives the value of a code, exactly.
func (s *narrowFloat) decode(code uint8) float32 {
	magnitude := code & (1<<(s.width()-1) - 1)
	e, m := int(magnitude>>s.fraction), float64(magnitude&(1<<s.fraction-1))
	v := math.Ldexp(m+float64(int(1)<<s.fraction), e-s.bias()-int(s.fraction))
	switch {
	case s.nan != 0 && (magnitude == s.nan || magnitude > s.most && magnitude&(1<<s.fraction-1) != 0):
		return canonicalNaN
	case magnitude > s.most:
		v = math.Inf(1)
	case e == 0:
		v = math.Ldexp(m, 1-s.bias()-int(s.fraction))
	}
	if code>>(s.width()-1)&1 != 0 {
		v = -v
	}
	return float32(v)
}

// narrowHalves are the f16 of every code of the formats, all exact.
var narrowHalves = sync.OnceValue(func() map[string]*[256]uint16 {
	all := map[string]*[256]uint16{}
	for name, s := range narrowFloats {
		all[name] = new([256]uint16)
		for code := range all[name] {
			all[name][code] = floatToHalf(s.decode(uint8(code)))
		}
	}
	return all
})

// encodeScale rounds to ue8m0, a power of two from 2⁻¹²⁷ to 2¹²⁷ without a sign; 0xff is NaN.
func encodeScale(bits uint32, up, finite bool) uint32 {
	magnitude := bits & 0x7fffffff
	r := magnitude >> 23
	if up && magnitude&0x7fffff != 0 && magnitude > 0x400000 && magnitude < 0x7f800000 {
		r++
	}
	if finite && r == 0xff && magnitude <= 0x7f800000 {
		r--
	}
	return r
}

// scaleToBfloat gives the bf16 of a ue8m0 code.
func scaleToBfloat(code uint32) uint32 {
	switch code {
	case 0xff:
		return 0x7fff
	case 0:
		return 0x0040
	}
	return code << 7
}

// roundTF32 rounds to the 10 fraction bits of tf32: .rna, .rn or .rz.
func roundTF32(x float32, mode string) uint32 {
	switch mode {
	case "rna":
		return roundTF32Away(x)
	case "rz":
		return math.Float32bits(x) &^ 0x1fff
	}
	return roundTF32Even(x)
}

// packedForm is a cvt between packed or narrow formats: which modifiers may stand before its types, what its operands are
// and the least target.
type packedForm struct {
	modes     string // of rounding; the first may be left out where it is "-"
	satfinite string // "must", "may", ""
	relu      bool
	dst       string // types of the registers
	src       []string
	sm        int
	narrow    int // the least target with .satfinite, where it is another
}

// packedForms are the conversions of PTX ISA 9.7.9.21 that are not between two scalar types, by destination and source;
// "fp8" stands for e4m3x2 and e5m2x2, "fp6" for e2m3x2 and e3m2x2, "half" for f16x2 and bf16x2.
var packedForms = map[string]packedForm{
	"half.f32":       {modes: "rn rz", satfinite: "may", relu: true, dst: "b32", src: []string{"f32", "f32"}, sm: 80},
	"tf32.f32":       {modes: "rna rn rz", satfinite: "may", relu: true, dst: "b32", src: []string{"f32"}, sm: 80},
	"fp8.f32":        {modes: "rn", satfinite: "must", relu: true, dst: "b16", src: []string{"f32", "f32"}, sm: 89},
	"fp8.f16x2":      {modes: "rn", satfinite: "must", relu: true, dst: "b16", src: []string{"b32"}, sm: 89},
	"f16x2.fp8":      {modes: "rn", relu: true, dst: "b32", src: []string{"b16"}, sm: 89},
	"fp6.f32":        {modes: "rn", satfinite: "must", relu: true, dst: "b16", src: []string{"f32", "f32"}, sm: 100},
	"f16x2.fp6":      {modes: "rn", relu: true, dst: "b32", src: []string{"b16"}, sm: 100},
	"e2m1x2.f32":     {modes: "rn", satfinite: "must", relu: true, dst: "b8", src: []string{"f32", "f32"}, sm: 100},
	"f16x2.e2m1x2":   {modes: "rn", relu: true, dst: "b32", src: []string{"b8"}, sm: 100},
	"ue8m0x2.f32":    {modes: "rz rp", satfinite: "may", dst: "b16", src: []string{"f32", "f32"}, sm: 100},
	"ue8m0x2.bf16x2": {modes: "rz rp", satfinite: "may", dst: "b16", src: []string{"b32"}, sm: 100},
	"bf16x2.ue8m0x2": {modes: "rn", dst: "b32", src: []string{"b16"}, sm: 100},
}

// packedFamily names a type as packedForms does.
func packedFamily(t string) string {
	switch t {
	case "e4m3x2", "e5m2x2":
		return "fp8"
	case "e2m3x2", "e3m2x2":
		return "fp6"
	}
	return t
}

// packedConversion finds the form of a cvt by its last two modifiers.
func packedConversion(in *ptx.Instruction) (form packedForm, dst, src string, ok bool) {
	n := len(in.Modifiers)
	if n < 2 {
		return form, "", "", false
	}
	dst, src = in.Modifiers[n-2], in.Modifiers[n-1]
	key := packedFamily(dst) + "." + packedFamily(src)
	if src == "f32" && (dst == "f16x2" || dst == "bf16x2") {
		key = "half.f32"
	}
	form, ok = packedForms[key]
	return form, dst, src, ok
}

// decodePackedConvert decodes a conversion to or from packed and narrow formats.
func decodePackedConvert(d *decoder, in *ptx.Instruction, form packedForm, dst, src string) (inst, error) {
	x := inst{fn: opPackedConvert, flags: flagSelf, ext: &extra{second: -1}, pattern: -1}
	groups := []string{form.modes, dst, src}
	if form.satfinite != "" {
		groups = append(groups, map[string]string{"may": "- ", "must": ""}[form.satfinite]+"satfinite")
	}
	if form.relu {
		groups = append(groups, "- relu")
	}
	picks, err := d.anyOrder(in, groups...)
	if err != nil {
		return x, err
	}
	mode, finite, relu := picks[0], in.Has("satfinite"), in.Has("relu")
	if mode == "rna" && relu {
		return x, decodeError(d.m, in, ".rna takes no .relu")
	}
	if dst == "tf32" && finite && mode != "rna" {
		form.sm = 100
	}
	if err := d.least(in, form.sm); err != nil {
		return x, err
	}
	n := 1 + len(form.src)
	if err := d.operands(in, n, n); err != nil {
		return x, err
	}
	if x.d, err = d.destination(&in.Operands[0], form.dst); err != nil {
		return x, err
	}
	for k, into := range []*uint32{&x.a, &x.b}[:len(form.src)] {
		if *into, err = d.source(&in.Operands[k+1], form.src[k]); err != nil {
			return x, err
		}
	}
	x.n = uint8(len(form.src))
	x.ext.scalar = packedConvert(mode, dst, src, finite, relu)
	return x, nil
}

// packedConvert gives what one lane computes: of two sources the first goes to the upper half.
func packedConvert(mode, dst, src string, finite, clamp bool) func(a, b, c uint64) uint64 {
	value := func(bits uint64) float32 {
		x := math.Float32frombits(uint32(bits))
		if clamp {
			x = quiet(relu(x))
		}
		return x
	}
	if dst == "tf32" {
		return func(a, _, _ uint64) uint64 {
			x := value(a)
			if (finite || clamp) && x != x {
				return uint64(math.Float32bits(canonicalNaN))
			}
			r := roundTF32(x, mode)
			if finite && r&0x7fffffff == 0x7f800000 {
				r -= 0x2000
			}
			return uint64(r)
		}
	}
	if strings.HasPrefix(dst, "ue8m0") {
		up := mode == "rp"
		if src == "bf16x2" {
			return func(a, _, _ uint64) uint64 {
				return uint64(encodeScale(uint32(a)&0xffff0000, up, finite)<<8 | encodeScale(uint32(a)<<16, up, finite))
			}
		}
		return func(a, b, _ uint64) uint64 {
			return uint64(encodeScale(uint32(a), up, finite)<<8 | encodeScale(uint32(b), up, finite))
		}
	}
	if src == "ue8m0x2" {
		return func(a, _, _ uint64) uint64 {
			return uint64(scaleToBfloat(uint32(a>>8&0xff))<<16 | scaleToBfloat(uint32(a&0xff)))
		}
	}
	if s := narrowFloats[strings.TrimSuffix(dst, "x2")]; s != nil {
		shift := max(8*uint(b2i(s.width() > 4)), 4)
		pair := func(x, y float32) uint64 { return uint64(s.encode(x))<<shift | uint64(s.encode(y)) }
		if src == "f16x2" {
			half := func(h uint64) float32 {
				return value(uint64(math.Float32bits(halfToFloat(uint16(h)))))
			}
			return func(a, _, _ uint64) uint64 { return pair(half(a>>16), half(a)) }
		}
		return func(a, b, _ uint64) uint64 { return pair(value(a), value(b)) }
	}
	if s := narrowFloats[strings.TrimSuffix(src, "x2")]; s != nil {
		table := narrowHalves()[strings.TrimSuffix(src, "x2")]
		shift := max(8*uint(b2i(s.width() > 4)), 4)
		half := func(code uint64) uint64 {
			h := table[code&(1<<shift-1)]
			if clamp && h > 0x8000 && h <= 0xfc00 || clamp && h == 0x8000 {
				h = 0
			}
			return uint64(h)
		}
		return func(a, _, _ uint64) uint64 { return half(a>>shift)<<16 | half(a) }
	}
	c := &conversion{dst: strings.TrimSuffix(dst, "x2"), src: "f32", rounding: floatModes[mode], relu: clamp, finite: finite}
	return func(a, b, _ uint64) uint64 { return c.apply(a)<<16 | c.apply(b) }
}

// opPackedConvert is d = scalar(a, b), lane by lane.
func opPackedConvert(w *warp, in *inst) {
	f, a, b, d := in.ext.scalar, w.u32(in.a), w.u32(in.b), w.u32(in.d)
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i] = uint32(f(uint64(a[i]), uint64(b[i]), 0))
	}
}
