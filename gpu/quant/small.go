package quant

import (
	"fmt"
	"math"
	"strings"
)

// SmallFloat is a floating-point format of at most 8 bits (OCP 8-bit Floating Point 1.0, OCP Microscaling Formats 1.0).
type SmallFloat struct {
	Name     string
	Exponent int // bits
	Mantissa int // bits
	Bias     int
	Max      float32 // the largest finite value
	NaN      int     // the code of NaN, -1 where there is none
	Inf      int     // the code of +Inf, -1 where there is none
}

// smallFloats is the table: one row a format.
var smallFloats = []SmallFloat{
	{"e4m3", 4, 3, 7, 448, 0x7f, -1},
	{"e5m2", 5, 2, 15, 57344, 0x7e, 0x7c},
	{"e2m3", 2, 3, 1, 7.5, -1, -1},
	{"e3m2", 3, 2, 3, 28, -1, -1},
	{"e2m1", 2, 1, 1, 6, -1, -1},
}

// Small gives a format by its name: e4m3 (also e4m3fn), e5m2, e2m3, e3m2, e2m1.
func Small(name string) (*SmallFloat, error) {
	var names []string
	for i := range smallFloats {
		s := &smallFloats[i]
		if strings.EqualFold(s.Name, strings.TrimSuffix(strings.ToLower(name), "fn")) {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("quant: there is no small float %q; there are %s", name, strings.Join(names, ", "))
}

// Decode gives the value of a code; bits above the format's are ignored.
func (s *SmallFloat) Decode(code byte) float32 {
	c := int(code) & (1<<(1+s.Exponent+s.Mantissa) - 1)
	sign := c >> (s.Exponent + s.Mantissa)
	c &= 1<<(s.Exponent+s.Mantissa) - 1
	e, m := c>>s.Mantissa, c&(1<<s.Mantissa-1)
	v := 0.0
	switch {
	case s.Inf >= 0 && e == 1<<s.Exponent-1 && m == 0:
		v = math.Inf(1)
	case s.Inf >= 0 && e == 1<<s.Exponent-1, c == s.NaN:
		v = math.NaN()
	case e == 0:
		v = math.Ldexp(float64(m), 1-s.Bias-s.Mantissa)
	default:
		v = math.Ldexp(float64(m|1<<s.Mantissa), e-s.Bias-s.Mantissa)
	}
	if sign != 0 {
		v = math.Copysign(v, -1)
	}
	return float32(v)
}

// Encode rounds to the nearest value, ties to even. What rounds beyond the largest becomes Inf or, in a format without
// Inf, NaN; in a format without either, the largest. NaN stays NaN, with sign 0 or as given where the format has one; in a
// format without NaN it becomes the largest, as in PTX (cvt, .satfinite).
func (s *SmallFloat) Encode(v float32) byte {
	code, over := s.round(v)
	if !over {
		return code
	}
	switch {
	case v == v && s.Inf >= 0:
		return s.sign(v) | byte(s.Inf)
	case s.NaN >= 0:
		return s.sign(v) | byte(s.NaN)
	}
	return s.saturated(v)
}

// EncodeSaturating is Encode with the largest finite value for what lies beyond it, Inf included, as PTX cvt does with
// .satfinite; NaN stays NaN.
func (s *SmallFloat) EncodeSaturating(v float32) byte {
	code, over := s.round(v)
	switch {
	case !over:
		return code
	case v != v && s.NaN >= 0:
		return s.sign(v) | byte(s.NaN)
	}
	return s.saturated(v)
}

func (s *SmallFloat) sign(v float32) byte {
	return byte(math.Float32bits(v) >> 31 << (s.Exponent + s.Mantissa))
}

// saturated is the code of the largest finite value with v's sign; NaN counts as positive.
func (s *SmallFloat) saturated(v float32) byte {
	code, _ := s.round(s.Max)
	if v != v {
		return code
	}
	return s.sign(v) | code
}

// round gives the nearest code; over says that there is none: NaN, Inf, or beyond the largest.
func (s *SmallFloat) round(v float32) (code byte, over bool) {
	a := math.Abs(float64(v))
	if v != v || math.IsInf(a, 1) {
		return 0, true
	}
	_, e := math.Frexp(a) // a = f·2^e, f in [½, 1): its leading bit is worth 2^(e-1)
	e = max(e-1, 1-s.Bias)
	m := int(math.RoundToEven(math.Ldexp(a, s.Mantissa-e)))
	if m == 2<<s.Mantissa {
		m, e = m/2, e+1
	}
	if math.Ldexp(float64(m), e-s.Mantissa) > float64(s.Max) {
		return 0, true
	}
	c := m
	if m >= 1<<s.Mantissa {
		c = (e+s.Bias)<<s.Mantissa | m&(1<<s.Mantissa-1)
	}
	return s.sign(v) | byte(c), false
}
