package vgpu

import (
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// The oracle computes PTX operations one value at a time from their definition, with math/big: it shares no code with
// the lane functions.

// format is a binary floating-point format.
type format struct{ bits, exponent, fraction uint }

var formats = map[string]format{"f16": {16, 5, 10}, "bf16": {16, 8, 7}, "f32": {32, 8, 23}, "f64": {64, 11, 52}}

func (f format) bias() int    { return 1<<(f.exponent-1) - 1 }
func (f format) nan() uint64  { return 1<<(f.bits-1) - 1 }
func (f format) inf() uint64  { return (1<<f.exponent - 1) << f.fraction }
func (f format) sign() uint64 { return 1 << (f.bits - 1) }

// value is a decoded number: NaN, infinity, or exact.
type value struct {
	nan, inf, negative bool
	x                  *big.Float
}

const oraclePrecision = 5000

func newBig() *big.Float { return new(big.Float).SetPrec(oraclePrecision) }

func (f format) decode(b uint64, ftz bool) value {
	v := value{negative: b&f.sign() != 0}
	e, m := int(b>>f.fraction)&(1<<f.exponent-1), b&(1<<f.fraction-1)
	switch {
	case e == 1<<f.exponent-1:
		v.nan, v.inf = m != 0, m == 0
		return v
	case e == 0 && ftz:
		m = 0
	case e == 0:
		e = 1
	default:
		m |= 1 << f.fraction
	}
	v.x = newBig().SetMantExp(newBig().SetUint64(m), e-f.bias()-int(f.fraction))
	if v.negative {
		v.x.Neg(v.x)
	}
	return v
}

// encode rounds an exact value in a mode: rn, rz, rm, rp.
func (f format) encode(x *big.Float, mode string, negativeZero bool) uint64 {
	if x.Sign() == 0 {
		if negativeZero {
			return f.sign()
		}
		return 0
	}
	var sign uint64
	if x.Sign() < 0 {
		sign = f.sign()
	}
	magnitude := newBig().Abs(x)
	e := magnitude.MantExp(nil) - 1
	q := max(e-int(f.fraction), 1-f.bias()-int(f.fraction))
	scaled := newBig().SetMantExp(magnitude, -q)
	n, _ := scaled.Int(nil)
	rest := newBig().Sub(scaled, newBig().SetInt(n))
	up := false
	switch mode {
	case "rn":
		half := rest.Cmp(big.NewFloat(0.5))
		up = half > 0 || half == 0 && n.Bit(0) == 1
	case "rm":
		up = rest.Sign() > 0 && sign != 0
	case "rp":
		up = rest.Sign() > 0 && sign == 0
	}
	if up {
		n.Add(n, big.NewInt(1))
	}
	m := n.Uint64()
	if m>>(f.fraction+1) != 0 {
		m >>= 1
		q++
	}
	if m>>f.fraction == 0 {
		return sign | m // denormal
	}
	biased := q + int(f.fraction) + f.bias()
	if biased >= 1<<f.exponent-1 {
		if mode == "rz" || mode == "rm" && sign == 0 || mode == "rp" && sign != 0 {
			return sign | (f.inf() - 1)
		}
		return sign | f.inf()
	}
	return sign | uint64(biased)<<f.fraction | m&(1<<f.fraction-1)
}

// finish applies ftz, sat and relu to a result.
func (f format) finish(b uint64, ftz, sat, relu bool) uint64 {
	magnitude := b &^ f.sign()
	isNaN := magnitude > f.inf()
	if isNaN {
		b = f.nan()
	}
	if ftz && magnitude>>f.fraction == 0 {
		b &= f.sign()
	}
	one := uint64(f.bias()) << f.fraction
	if sat && (isNaN || b&f.sign() != 0) {
		b = 0
	} else if sat && b > one {
		b = one
	}
	if relu && !isNaN && b&f.sign() != 0 {
		b = 0
	}
	return b
}

// arithmetic is add, sub, mul, fma, div, rcp, sqrt on decoded values, rounded.
func (f format) arithmetic(op, mode string, v []value) uint64 {
	for _, x := range v {
		if x.nan {
			return f.nan()
		}
	}
	infinity := func(negative bool) uint64 {
		if negative {
			return f.sign() | f.inf()
		}
		return f.inf()
	}
	switch op {
	case "rcp":
		one := f.decode(uint64(f.bias())<<f.fraction, false)
		return f.arithmetic("div", mode, []value{one, v[0]})
	case "sqrt":
		x := v[0]
		switch {
		case !x.inf && x.x.Sign() == 0:
			return f.encode(x.x, mode, x.negative)
		case x.negative:
			return f.nan()
		case x.inf:
			return f.inf()
		}
		return f.encode(sticky(new(big.Float).SetPrec(400).SetMode(big.ToZero).Sqrt(x.x), func(r *big.Float) bool {
			return newBig().Mul(r, r).Cmp(x.x) == 0
		}), mode, false)
	case "div":
		a, b := v[0], v[1]
		negative := a.negative != b.negative
		zero := func(x value) bool { return !x.inf && x.x.Sign() == 0 }
		switch {
		case a.inf && b.inf, zero(a) && zero(b):
			return f.nan()
		case a.inf, zero(b):
			return infinity(negative)
		case b.inf, zero(a):
			return f.encode(newBig(), mode, negative)
		}
		q := new(big.Float).SetPrec(400).SetMode(big.ToZero).Quo(a.x, b.x)
		return f.encode(sticky(q, func(r *big.Float) bool { return newBig().Mul(r, b.x).Cmp(a.x) == 0 }), mode, negative)
	}
	product, addend := v[0], value{}
	var hasAddend bool
	switch op {
	case "add":
		addend, hasAddend = v[1], true
	case "sub":
		addend, hasAddend = v[1], true
		addend.negative = !addend.negative
		if !addend.inf {
			addend.x = newBig().Neg(addend.x)
		}
	default:
		a, b := v[0], v[1]
		product = value{negative: a.negative != b.negative, inf: a.inf || b.inf}
		if product.inf {
			if !a.inf && a.x.Sign() == 0 || !b.inf && b.x.Sign() == 0 {
				return f.nan()
			}
		} else {
			product.x = newBig().Mul(a.x, b.x)
		}
		if op == "fma" {
			addend, hasAddend = v[2], true
		}
	}
	switch {
	case !hasAddend && product.inf:
		return infinity(product.negative)
	case !hasAddend:
		return f.encode(product.x, mode, product.negative)
	case product.inf && addend.inf && product.negative != addend.negative:
		return f.nan()
	case product.inf:
		return infinity(product.negative)
	case addend.inf:
		return infinity(addend.negative)
	}
	sum := newBig().Add(product.x, addend.x)
	negativeZero := product.negative && addend.negative
	if product.negative != addend.negative {
		negativeZero = mode == "rm"
	}
	return f.encode(sum, mode, negativeZero)
}

// sticky adds a trace to a truncated result that is not exact.
func sticky(r *big.Float, isExact func(*big.Float) bool) *big.Float {
	wide := newBig().Set(r)
	if isExact(wide) {
		return wide
	}
	return wide.Add(wide, newBig().SetMantExp(big.NewFloat(1), wide.MantExp(nil)-410))
}

// countOracle is popc, clz and brev.
func countOracle(op string, n uint, x *big.Int) (uint64, bool) {
	switch op {
	case "popc":
		return uint64(bits.OnesCount64(x.Uint64())), true
	case "clz":
		return uint64(int(n) - x.BitLen()), true
	case "brev":
		r := new(big.Int)
		for i := range int(n) {
			r.SetBit(r, int(n)-1-i, x.Bit(i))
		}
		return r.Uint64(), true
	}
	return 0, false
}

// integerOracle computes an integer operation on n-bit values by big integers.
func integerOracle(op string, mods []string, t string, a, b, c, e uint64) (uint64, bool) {
	n := uint(8 * typeBytes(t))
	signed := t[0] == 's'
	read := func(x uint64) *big.Int {
		v := new(big.Int).SetUint64(x & (1<<(n-1)<<1 - 1))
		if signed && v.Bit(int(n-1)) == 1 {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), n))
		}
		return v
	}
	wrap := func(v *big.Int, width uint) uint64 {
		m := new(big.Int).Lsh(big.NewInt(1), width)
		return new(big.Int).Mod(v, m).Uint64()
	}
	has := func(m string) bool {
		for _, x := range mods {
			if x == m {
				return true
			}
		}
		return false
	}
	x, y, z := read(a), read(b), read(c)
	r := new(big.Int)
	width := n
	switch op {
	case "add":
		r.Add(x, y)
	case "sub":
		r.Sub(x, y)
	case "mul", "mad":
		r.Mul(x, y)
		switch {
		case has("hi"):
			r.Rsh(r, n)
		case has("wide"):
			width = 2 * n
			if op == "mad" {
				z = new(big.Int).SetUint64(c)
			}
		}
		if op == "mad" {
			r.Add(r, z)
		}
	case "div", "rem":
		if y.Sign() == 0 {
			if op == "rem" {
				return wrap(x, n), true
			}
			return wrap(big.NewInt(-1), n), true
		}
		q, m := new(big.Int).QuoRem(x, y, new(big.Int))
		if r = q; op == "rem" {
			r = m
		}
	case "min", "max":
		r = x
		if (x.Cmp(y) < 0) != (op == "min") {
			r = y
		}
	case "sad":
		r.Add(z, new(big.Int).Abs(new(big.Int).Sub(x, y)))
	case "abs":
		r.Abs(x)
	case "neg":
		r.Neg(x)
	case "and":
		r.And(x, y)
	case "or":
		r.Or(x, y)
	case "xor":
		r.Xor(x, y)
	case "not":
		r.Not(x)
	case "cnot":
		if x.Sign() == 0 {
			r.SetInt64(1)
		}
	case "shl":
		r.Lsh(x, uint(min(b&0xffffffff, 64)))
	case "shr":
		r.Rsh(x, uint(min(b&0xffffffff, 64)))
	case "mov":
		r = x
	default:
		return countOracle(op, n, x)
	}
	if has("sat") {
		low, high := new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), n-1)), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), n-1), big.NewInt(1))
		if r.Cmp(low) < 0 {
			r = low
		} else if r.Cmp(high) > 0 {
			r = high
		}
	}
	return wrap(r, width), true
}

// bitOracle computes the bit-field operations and small products as the PTX ISA's pseudo-code does.
func bitOracle(op string, mods []string, t string, a, b, c, e uint64) (uint64, bool) {
	if d, ok := fieldOracle(op, mods, t, a, b, c, e); ok {
		return d, true
	}
	if d, ok := shiftOracle(op, mods, t, a, b, c); ok {
		return d, true
	}
	return productOracle(op, mods, t, a, b, c)
}

func bitOf(x uint64, i int) uint64 { return x >> i & 1 }

// fieldOracle is bfe, bfi and bfind, bit by bit.
func fieldOracle(op string, mods []string, t string, a, b, c, e uint64) (uint64, bool) {
	n := 8 * typeBytes(t)
	var d uint64
	switch op {
	case "bfe": // 9.7.1.19
		msb := n - 1
		pos, length := int(b&0xff), int(c&0xff)
		var sbit uint64
		if t[0] == 's' && length != 0 {
			sbit = bitOf(a, min(pos+length-1, msb))
		}
		for i := 0; i <= msb; i++ {
			v := sbit
			if i < length && pos+i <= msb {
				v = bitOf(a, pos+i)
			}
			d |= v << i
		}
		return d, true
	case "bfi": // 9.7.1.20: bfi d, a, b, c(pos), e(len)
		pos, length := int(c&0xff), int(e&0xff)
		d = b
		for i := 0; i < length && pos+i <= n-1; i++ {
			d = d&^(1<<(pos+i)) | bitOf(a, i)<<(pos+i)
		}
		return d & (1<<(n-1)<<1 - 1), true
	case "bfind": // 9.7.1.16
		d = 0xffffffff
		if t[0] == 's' && bitOf(a, n-1) == 1 {
			a = ^a
		}
		for i := n - 1; i >= 0; i-- {
			if bitOf(a, i) == 1 {
				d = uint64(i)
				break
			}
		}
		if len(mods) > 0 && mods[0] == "shiftamt" && d != 0xffffffff {
			d = uint64(n-1) - d
		}
		return d, true
	}
	return 0, false
}

// shiftOracle is shf, prmt, szext and bmsk.
func shiftOracle(op string, mods []string, t string, a, b, c uint64) (uint64, bool) {
	var d uint64
	switch op {
	case "shf": // 9.7.8.7: the pair is {b, a}
		amount := c & 0xffffffff
		if mods[1] == "wrap" {
			amount &= 31
		} else {
			amount = min(amount, 32)
		}
		if mods[0] == "l" {
			return (b<<amount | (a&0xffffffff)>>(32-amount)) & 0xffffffff, true
		}
		return ((b&0xffffffff)<<(32-amount) | (a&0xffffffff)>>amount) & 0xffffffff, true
	case "prmt":
		if len(mods) > 1 {
			return 0, false
		}
		bytes := [8]uint8{uint8(a), uint8(a >> 8), uint8(a >> 16), uint8(a >> 24), uint8(b), uint8(b >> 8), uint8(b >> 16), uint8(b >> 24)}
		for k := range 4 {
			s := c >> (4 * k)
			v := bytes[s&7]
			if s&8 != 0 {
				v = uint8(0 - v>>7)
			}
			d |= uint64(v) << (8 * k)
		}
		return d, true
	case "szext":
		width := b & 0xffffffff
		if mods[0] == "wrap" {
			width &= 31
		}
		a &= 0xffffffff
		if width >= 32 {
			return a, true
		}
		for i := range 32 {
			v := uint64(0)
			if i < int(width) {
				v = bitOf(a, i)
			} else if t == "s32" && width > 0 {
				v = bitOf(a, int(width)-1)
			}
			d |= v << i
		}
		return d, true
	case "bmsk":
		from, count := a&0xffffffff, b&0xffffffff
		if mods[0] == "wrap" {
			from, count = from&31, count&31
		} else {
			from, count = min(from, 32), min(count, 32)
		}
		for i := from; i < from+count && i < 32; i++ {
			d |= 1 << i
		}
		return d, true
	}
	return 0, false
}

// productOracle is mul24, mad24, dp4a and dp2a.
func productOracle(op string, mods []string, t string, a, b, c uint64) (uint64, bool) {
	switch op {
	case "mul24", "mad24":
		x, y := int64(a&0xffffff), int64(b&0xffffff)
		if t == "s32" {
			x, y = x<<40>>40, y<<40>>40
		}
		p := x * y
		if mods[0] == "hi" {
			p >>= 16
		}
		if op == "mad24" {
			p += int64(c)
		}
		return uint64(uint32(p)), true
	case "dp4a", "dp2a":
		sum := int64(int32(c))
		for k := range 4 {
			if op == "dp2a" && k > 1 {
				break
			}
			x, y := int64(a>>(8*k)&0xff), int64(b>>(8*k)&0xff)
			xt, yt := mods[len(mods)-2], mods[len(mods)-1]
			if op == "dp2a" {
				x = int64(a >> (16 * k) & 0xffff)
				if xt == "s32" {
					x = int64(int16(x))
				}
				if mods[0] == "hi" {
					y = int64(b >> (8*k + 16) & 0xff)
				}
			} else if xt == "s32" {
				x = int64(int8(x))
			}
			if yt == "s32" {
				y = int64(int8(y))
			}
			sum += x * y
		}
		return uint64(uint32(sum)), true
	}
	return 0, false
}

// compareOracle is setp on decoded values.
func compareOracle(op, t string, a, b uint64, ftz bool) bool {
	f, float := formats[t]
	var order int
	unordered := false
	if float {
		x, y := f.decode(a, ftz), f.decode(b, ftz)
		unordered = x.nan || y.nan
		rank := func(v value) *big.Float {
			if v.inf {
				return newBig().SetInf(v.negative)
			}
			return v.x
		}
		if !unordered {
			order = rank(x).Cmp(rank(y))
		}
	} else {
		n := uint(8 * typeBytes(t))
		x, y := new(big.Int).SetUint64(a&(1<<(n-1)<<1-1)), new(big.Int).SetUint64(b&(1<<(n-1)<<1-1))
		if t[0] == 's' {
			for _, v := range []*big.Int{x, y} {
				if v.Bit(int(n-1)) == 1 {
					v.Sub(v, new(big.Int).Lsh(big.NewInt(1), n))
				}
			}
		}
		order = x.Cmp(y)
	}
	switch op {
	case "num":
		return !unordered
	case "nan":
		return unordered
	}
	if float && strings.HasSuffix(op, "u") {
		if unordered {
			return true
		}
		op = op[:2]
	} else if unordered {
		return false
	}
	return map[string]bool{"eq": order == 0, "ne": order != 0, "lt": order < 0, "le": order <= 0, "gt": order > 0, "ge": order >= 0,
		"lo": order < 0, "ls": order <= 0, "hi": order > 0, "hs": order >= 0}[op]
}

// transcendental gives the exact value in float64 and the error that the PTX ISA allows: relative, and absolute.
func transcendental(op string, x float64) (want, relative, absolute float64) {
	switch op {
	case "ex2":
		return math.Exp2(x), 0x1p-22, 0
	case "lg2":
		return math.Log2(x), 0x1p-22, 0x1p-22
	case "sin":
		return math.Sin(x), 0, 0x1p-20
	case "cos":
		return math.Cos(x), 0, 0x1p-20
	case "tanh":
		return math.Tanh(x), 0x1p-11, 0
	case "rsqrt":
		return 1 / math.Sqrt(x), 0x1p-22, 0
	case "rcp":
		return 1 / x, 0x1p-23, 0
	}
	return math.Sqrt(x), 0x1p-22, 0
}
