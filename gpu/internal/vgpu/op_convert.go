package vgpu

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"memwall/gpu/internal/ptx"
)

// conversion is a cvt that has no lane loop of its own.
type conversion struct {
	dst, src string
	integral string // rni, rzi, rmi, rpi
	rounding rounding
	ftz, sat bool
	relu     bool
	finite   bool // .satfinite: overflow gives the largest finite magnitude
}

var integralModes = map[string]rounding{"rni": toNearest, "rzi": toZero, "rmi": toMinus, "rpi": toPlus}
var floatModes = map[string]rounding{"rn": toNearest, "rz": toZero, "rm": toMinus, "rp": toPlus}

// decodeConvert decodes any cvt (PTX ISA 9.7.9.21): here those between two scalar types.
func decodeConvert(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	if form, dst, src, ok := packedConversion(in); ok {
		return decodePackedConvert(d, in, form, dst, src)
	}
	x := inst{fn: opScalar, flags: flagSelf, ext: &extra{second: -1}, pattern: -1}
	if in.Has("rs") {
		return x, d.m.ErrorAt(in, "stochastic rounding is not supported by the virtual GPU", "nearest that works: .rn")
	}
	types := "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64"
	order := in.Modifiers
	at := slices.Index(order, "relu")
	if k := slices.Index(order, "satfinite"); at >= 0 && k >= 0 && k < at { // either order is legal
		order = slices.Clone(order)
		order[k], order[at] = "relu", "satfinite"
	}
	ordered := *in
	ordered.Modifiers = order
	picks, err := d.grammar(&ordered, "- rn rz rm rp rni rzi rmi rpi", "- relu", "- satfinite", "- ftz", "- sat", types, types)
	if err != nil {
		return x, err
	}
	c := &conversion{dst: picks[5], src: picks[6], relu: picks[1] != "", finite: picks[2] != "", ftz: picks[3] != "", sat: picks[4] != ""}
	if mode, ok := integralModes[picks[0]]; ok {
		c.integral, c.rounding = picks[0], mode
	} else {
		c.rounding = floatModes[picks[0]]
	}
	if wrong := c.check(picks[0]); wrong != "" {
		return x, decodeError(d.m, in, "%s", wrong)
	}
	if err := d.operands(in, 2, 2); err != nil {
		return x, err
	}
	if x.d, err = d.destination(&in.Operands[0], d.slotType(&in.Operands[0], c.dst)); err != nil {
		return x, err
	}
	if x.a, err = d.source(&in.Operands[1], d.slotType(&in.Operands[1], c.src)); err != nil {
		return x, err
	}
	if d.wideOperand(&in.Operands[0], c.dst) {
		x.flags |= flagWide
	}
	if d.wideOperand(&in.Operands[1], c.src) {
		x.flags |= flagWide64
	}
	x.ext.scalar = func(a, _, _ uint64) uint64 { return c.apply(a) }
	return x, nil
}

// least refuses an instruction that the module's target does not have.
func (d *decoder) least(in *ptx.Instruction, sm int) error {
	if have := targetNumber(d.m.Target); have < sm {
		return d.m.ErrorAt(in, fmt.Sprintf("needs .target sm_%d or higher, the module has .target %s", sm, d.m.Target), "")
	}
	return nil
}

// targetNumber is 90 for "sm_90a".
func targetNumber(target string) int {
	n := 0
	for _, c := range strings.TrimPrefix(target, "sm_") {
		if c < '0' || c > '9' || n > 1000 {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// slotType widens a narrow type to that of the register it lies in, which may be wider.
func (d *decoder) slotType(o *ptx.Operand, t string) string {
	if o.Kind == ptx.OperandRegister && isWide(&d.f.Registers[o.Register]) && !isWideType(t) {
		return "b64"
	}
	return t
}

func (d *decoder) wideOperand(o *ptx.Operand, t string) bool { return isWideType(d.slotType(o, t)) }

// check says what is wrong with a conversion, or nothing.
func (c *conversion) check(mode string) string {
	df, sf := isFloatType(c.dst), isFloatType(c.src)
	brain := c.dst == "bf16" || c.src == "bf16"
	narrower := ptx.TypeSize(c.dst) < ptx.TypeSize(c.src)
	switch {
	case df && sf && mode == "" && narrower:
		return "a conversion to a narrower floating-point type needs a rounding mode: .rn, .rz, .rm or .rp"
	case df && sf && c.integral != "" && c.dst != c.src:
		return "." + c.integral + " rounds within one type, or to an integer"
	case df && sf && mode != "" && c.integral == "" && !narrower && !brain:
		return "a conversion that is exact takes no rounding mode"
	case df && !sf && c.integral != "", df && !sf && mode == "":
		return "a conversion from integer to floating point needs a rounding mode: .rn, .rz, .rm or .rp"
	case !df && sf && c.integral == "":
		return "a conversion from floating point to integer needs a rounding mode: .rni, .rzi, .rmi or .rpi"
	case !df && !sf && mode != "":
		return "a conversion between integers takes no rounding mode"
	case brain && c.sat:
		return ".sat is not for bf16"
	case c.ftz && c.dst != "f32" && c.src != "f32":
		return ".ftz is only for f32"
	case (c.relu || c.finite) && (!(c.dst == "f16" || c.dst == "bf16") || c.src != "f32"):
		return ".relu and .satfinite are only for f32 to f16 or bf16"
	case (c.relu || c.finite) && (c.ftz || c.sat || mode != "rn" && mode != "rz"):
		return ".relu and .satfinite stand with .rn or .rz alone"
	}
	return ""
}

// opScalar is the general lane loop: d = scalar(a, b, c), on 64-bit containers.
func opScalar(w *warp, in *inst) {
	f := in.ext.scalar
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		var a uint64
		if in.flags&flagWide64 != 0 {
			a = w.u64(in.a)[i]
		} else {
			a = uint64(w.u32(in.a)[i])
		}
		r := f(a, 0, 0)
		if in.flags&flagWide != 0 {
			w.u64(in.d)[i] = r
		} else {
			w.u32(in.d)[i] = uint32(r)
		}
	}
}

// apply converts the bits of one value. An integer result narrower than its register is extended by its sign.
func (c *conversion) apply(bits uint64) uint64 {
	if !isFloatType(c.src) {
		return c.fromInteger(bits)
	}
	v := loadFloat(c.src, bits)
	if c.ftz && c.src == "f32" {
		v = float64(flush(float32(v)))
	}
	if isFloatType(c.dst) {
		return c.toFloat(v)
	}
	return c.toInteger(v)
}

func loadFloat(t string, bits uint64) float64 {
	switch t {
	case "f16":
		return float64(halfToFloat(uint16(bits)))
	case "bf16":
		return float64(bfloatToFloat(uint16(bits)))
	case "f32":
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// extendInteger reads the bits of an integer type, extended to 64.
func extendInteger(t string, bits uint64) uint64 {
	shift := 64 - 8*uint(ptx.TypeSize(t))
	if t[0] == 's' {
		return uint64(int64(bits<<shift) >> shift)
	}
	return bits << shift >> shift
}

func (c *conversion) fromInteger(bits uint64) uint64 {
	v := extendInteger(c.src, bits)
	if isFloatType(c.dst) {
		return c.integerToFloat(v)
	}
	if c.sat {
		n := 8 * ptx.TypeSize(c.dst)
		negative := c.src[0] == 's' && int64(v) < 0
		switch {
		case c.dst[0] == 'u' && negative:
			v = 0
		case c.dst[0] == 'u':
			v = min(v, ^uint64(0)>>(64-n))
		case negative:
			v = uint64(max(int64(v), -1<<(n-1)))
		default:
			v = min(v, 1<<(n-1)-1)
		}
	}
	return extendInteger(c.dst, v)
}

// integerToFloat rounds an integer once: 64-bit integers do not fit an f64, so the part below is passed on.
func (c *conversion) integerToFloat(v uint64) uint64 {
	var s, e float64
	if c.src[0] == 's' {
		s = float64(int64(v))
		e = float64(int64(v) - int64(clampSigned(s, 64)))
		if s == 0x1p63 {
			e = float64(int64(v)-math.MaxInt64) - 1
		}
	} else {
		s = float64(v)
		e = float64(int64(v - clampUnsigned(s, 64)))
		if s == 0x1p64 {
			e = float64(int64(v-math.MaxUint64)) - 1
		}
	}
	return c.storeFloat(s, e)
}

func (c *conversion) toFloat(v float64) uint64 {
	if c.integral != "" {
		v = roundIntegral(v, c.rounding)
	}
	return c.storeFloat(v, 0)
}

func roundIntegral(v float64, mode rounding) float64 {
	switch mode {
	case toZero:
		return math.Trunc(v)
	case toMinus:
		return math.Floor(v)
	case toPlus:
		return math.Ceil(v)
	}
	return math.RoundToEven(v)
}

// storeFloat rounds s + e to the destination and gives its bits.
func (c *conversion) storeFloat(s, e float64) uint64 {
	mode := c.rounding
	if c.integral != "" {
		mode = toNearest
	}
	switch c.dst {
	case "f64":
		if e != 0 && mode != toNearest {
			s = nudge64(s, e, mode)
		}
		if c.sat {
			if s = min(max(s, 0), 1); s != s {
				s = 0
			}
		}
		return math.Float64bits(s)
	case "f32":
		f := quiet(round32(s, e, mode))
		if c.ftz {
			f = flush(f)
		}
		if c.sat {
			f = saturate(f)
		}
		return uint64(math.Float32bits(f))
	}
	// Rounding to odd in f32 keeps what the rounding to 16 bits needs to know.
	f := oddFloat(s, e)
	if c.relu {
		f = relu(f)
	}
	if c.sat {
		f = saturate(f)
	}
	if c.dst == "f16" {
		return uint64(c.limit(roundHalf(f, mode), 0x7c00))
	}
	return uint64(c.limit(roundBfloat(f, mode), 0x7f80))
}

// limit is .satfinite for the bits of a 16-bit float: an infinity becomes the magnitude before it.
func (c *conversion) limit(h, infinity uint16) uint16 {
	if c.finite && h&0x7fff == infinity {
		return h - 1
	}
	return h
}

func nudge64(s, e float64, mode rounding) float64 {
	switch {
	case e > 0 && (mode == toPlus || mode == toZero && s < 0):
		return math.Nextafter(s, math.Inf(1))
	case e < 0 && (mode == toMinus || mode == toZero && s > 0):
		return math.Nextafter(s, math.Inf(-1))
	}
	return s
}

// oddFloat rounds s + e to odd in f32.
func oddFloat(s, e float64) float32 {
	if s-s != 0 {
		return float32(s)
	}
	s = roundToOdd(s, e)
	f := round32(s, 0, toZero)
	if float64(f) != s {
		f = math.Float32frombits(math.Float32bits(f) | 1)
	}
	return f
}

// roundHalf rounds an f32 to f16 in any mode.
func roundHalf(f float32, mode rounding) uint16 {
	h := floatToHalf(f)
	return nudge16(h, f, halfToFloat(h), mode)
}

func roundBfloat(f float32, mode rounding) uint16 {
	h := floatToBfloat(f)
	return nudge16(h, f, bfloatToFloat(h), mode)
}

// nudge16 moves h, whose value is v and which is nearest to f, to the neighbour that mode asks for. The bits of a
// 16-bit float less its sign are in the order of its magnitude.
func nudge16(h uint16, f, v float32, mode rounding) uint16 {
	if f != f || f == v || f-f != 0 {
		return h
	}
	negative := h&0x8000 != 0
	switch {
	case v > f && (mode == toMinus || mode == toZero && !negative), v < f && (mode == toPlus || mode == toZero && negative):
		if (v > f) == negative {
			return h + 1
		}
		if h&0x7fff == 0 {
			return 0x8001 &^ (h & 0x8000)
		}
		return h - 1
	}
	return h
}

func (c *conversion) toInteger(v float64) uint64 {
	n := 8 * ptx.TypeSize(c.dst)
	if v != v {
		if c.src == "f64" || n == 64 {
			return 1 << (n - 1)
		}
		return 0
	}
	v = roundIntegral(v, c.rounding)
	if c.dst[0] == 's' {
		return uint64(clampSigned(v, n))
	}
	return clampUnsigned(v, n)
}
