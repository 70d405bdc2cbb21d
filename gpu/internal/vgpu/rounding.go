package vgpu

import (
	"math"
	"math/big"
)

// rounding is a rounding mode of PTX: .rn, .rz, .rm, .rp.
type rounding uint8

const (
	toNearest rounding = iota
	toZero
	toMinus
	toPlus
)

// round32 rounds s + e to f32, where s is a sum rounded to f64 and e what is missing in it.
func round32(s, e float64, mode rounding) float32 {
	if s-s != 0 {
		return float32(s)
	}
	if mode == toNearest {
		return float32(roundToOdd(s, e))
	}
	f := float32(s)
	above := float64(f) - s // exact: f and s are neighbours; infinite where f is
	return nudge32(f, sign(above-e), mode)
}

func sign(x float64) int {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// nudge32 moves f, which lies above (+1), on (0) or below (−1) the exact result, to the neighbour that mode asks for.
func nudge32(f float32, side int, mode rounding) float32 {
	switch {
	case side > 0 && (mode == toMinus || mode == toZero && !math.Signbit(float64(f))):
		return math.Nextafter32(f, float32(math.Inf(-1)))
	case side < 0 && (mode == toPlus || mode == toZero && math.Signbit(float64(f))):
		return math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}

// zeroSum settles the sign of an exact zero x + y: −0 towards minus infinity unless both are +0.
func zeroSum(x, y float64, mode rounding) float64 {
	if math.Signbit(x) == math.Signbit(y) {
		return x
	}
	if mode == toMinus {
		return math.Copysign(0, -1)
	}
	return 0
}

func addRounded(x, y float32, mode rounding) float32 {
	a, b := float64(x), float64(y)
	s := a + b
	if s == 0 {
		return float32(zeroSum(a, b, mode))
	}
	return round32(s, sumError(a, b, s), mode)
}

func mulRounded(x, y float32, mode rounding) float32 {
	return round32(float64(x)*float64(y), 0, mode)
}

func fmaRounded(x, y, z float32, mode rounding) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	if s == 0 {
		return float32(zeroSum(p, c, mode))
	}
	return round32(s, sumError(p, c, s), mode)
}

func divRounded(x, y float32, mode rounding) float32 {
	a, b := float64(x), float64(y)
	q := a / b
	if q == 0 || q-q != 0 {
		return float32(q)
	}
	return round32(q, math.FMA(-q, b, a)/b, mode)
}

func sqrtRounded(x float32, mode rounding) float32 {
	q := math.Sqrt(float64(x))
	if q == 0 || q-q != 0 {
		return float32(q)
	}
	return round32(q, math.FMA(-q, q, float64(x))/q, mode)
}

// exactBits are enough for any sum of products of f64.
const exactBits = 4400

func exact(x float64) *big.Float { return new(big.Float).SetPrec(exactBits).SetFloat64(x) }

// round64 rounds an exact value to f64.
func round64(x *big.Float, mode rounding) float64 {
	f, accuracy := x.Float64()
	side := int(accuracy)
	switch {
	case side > 0 && (mode == toMinus || mode == toZero && !math.Signbit(f)):
		return math.Nextafter(f, math.Inf(-1))
	case side < 0 && (mode == toPlus || mode == toZero && math.Signbit(f)):
		return math.Nextafter(f, math.Inf(1))
	}
	return f
}

func addRounded64(x, y float64, mode rounding) float64 { return fmaRounded64(x, 1, y, mode) }

func mulRounded64(x, y float64, mode rounding) float64 {
	if p := x * y; p-p != 0 && (x-x != 0 || y-y != 0) || x == 0 || y == 0 {
		return p
	}
	return round64(new(big.Float).SetPrec(exactBits).Mul(exact(x), exact(y)), mode)
}

func fmaRounded64(x, y, z float64, mode rounding) float64 {
	if x-x != 0 || y-y != 0 || z-z != 0 {
		return math.FMA(x, y, z)
	}
	s := new(big.Float).SetPrec(exactBits).Mul(exact(x), exact(y))
	s.Add(s, exact(z))
	if s.Sign() == 0 {
		return zeroSum(x*y, z, mode)
	}
	return round64(s, mode)
}

func divRounded64(x, y float64, mode rounding) float64 {
	q := x / y
	if x-x != 0 || y-y != 0 || x == 0 || y == 0 {
		return q
	}
	// 2200 bits hold any quotient of f64 with enough bits behind the last to tell the side.
	return round64(new(big.Float).SetPrec(exactBits/2).Quo(exact(x), exact(y)), mode)
}

func sqrtRounded64(x float64, mode rounding) float64 {
	q := math.Sqrt(x)
	if q == 0 || q-q != 0 {
		return q
	}
	return round64(new(big.Float).SetPrec(300).Sqrt(exact(x)), mode)
}

// approximate64 drops what .approx.ftz.f64 does not compute: the lower 32 bits of the result.
func approximate64(x float64) float64 {
	return flush64(math.Float64frombits(math.Float64bits(x) &^ (1<<32 - 1)))
}
