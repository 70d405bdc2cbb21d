package kernels

import (
	"fmt"
	"math"

	"memwall/gpu"
)

// compareResults holds results against the reference. A result may err by terms·2⁻²⁴·scale (the roundings of f32
// accumulation) and half a step of the output's element type; NaN and infinities must stand where the reference has them.
func compareResults(dtype gpu.DType, got, want, scale []float64, terms float64) CaseResult {
	var result CaseResult
	if len(got) != len(want) || scale != nil && len(scale) != len(want) {
		result.Wrong = []string{fmt.Sprintf("%d results, the reference has %d and %d scales", len(got), len(want), len(scale))}
		return result
	}
	squares, total := 0.0, 0.0
	wrong := 0
	for i := range want {
		allowed := step(dtype, want[i]) / 2
		if scale != nil {
			allowed += terms * 0x1p-24 * scale[i]
		}
		share := 0.0
		switch {
		case math.IsNaN(want[i]) || math.IsNaN(got[i]):
			share = mismatch(math.IsNaN(want[i]) && math.IsNaN(got[i]))
		case math.IsInf(want[i], 0) || math.IsInf(got[i], 0) || math.Abs(want[i])+allowed >= overflow(dtype):
			share = mismatch(got[i] == want[i] || math.Abs(want[i])+allowed >= overflow(dtype) && math.Signbit(got[i]) == math.Signbit(want[i]))
		default:
			difference := math.Abs(got[i] - want[i])
			squares += difference * difference
			total += want[i] * want[i]
			if share = difference / allowed; !(difference <= allowed) {
				share = math.Max(share, math.Nextafter(1, 2))
			}
			if difference == 0 {
				share = 0
			}
		}
		result.Worst = math.Max(result.Worst, share)
		if !(share <= 1) {
			if wrong++; wrong <= 3 {
				result.Wrong = append(result.Wrong, fmt.Sprintf("element %d is %g, the reference %g ± %.2g", i, got[i], want[i], allowed))
			}
		}
	}
	if wrong > 3 {
		result.Wrong = append(result.Wrong, fmt.Sprintf("and %d more elements", wrong-3))
	}
	if total > 0 {
		result.NMSE = squares / total
	}
	return result
}

// compareExactly holds results that must equal the reference: packed bytes, integers, and numbers that only one rounding makes.
// Zeros differ by their sign; NaN equals NaN.
func compareExactly(got, want []float64) CaseResult {
	if len(got) != len(want) {
		return CaseResult{Wrong: []string{fmt.Sprintf("%d results, the reference has %d", len(got), len(want))}, Worst: math.Inf(1)}
	}
	var result CaseResult
	wrong := 0
	for i := range want {
		if got[i] == want[i] && math.Signbit(got[i]) == math.Signbit(want[i]) || math.IsNaN(got[i]) && math.IsNaN(want[i]) {
			continue
		}
		result.Worst = math.Inf(1)
		if wrong++; wrong <= 3 {
			result.Wrong = append(result.Wrong, fmt.Sprintf("element %d is %g, the reference %g exactly", i, got[i], want[i]))
		}
	}
	if wrong > 3 {
		result.Wrong = append(result.Wrong, fmt.Sprintf("and %d more elements", wrong-3))
	}
	return result
}

// mismatch is a share of the allowed error for what is right or wrong without a degree.
func mismatch(right bool) float64 {
	if right {
		return 0
	}
	return math.Inf(1)
}

// step is the distance between neighbouring numbers of an element type at a value.
func step(dtype gpu.DType, value float64) float64 {
	digits, least := 24, -149
	switch dtype {
	case gpu.F16:
		digits, least = 11, -24
	case gpu.BF16:
		digits, least = 8, -133
	}
	_, exponent := math.Frexp(value)
	return math.Ldexp(1, max(exponent-digits, least))
}

// overflow is where an element type rounds to infinity.
func overflow(dtype gpu.DType) float64 {
	if dtype == gpu.F16 {
		return 65520
	}
	return math.MaxFloat32
}
