package kernels

import (
	"math"

	"memwall/gpu"
)

// attending is what a query does with the keys that it sees, in float64, and how far a CUDA kernel may be off.
type attending struct {
	d          int
	scale, cap float64 // a scale of 0 is 1/√d; a cap of 0 is none
	// weight is the rounding of a weight to the element type in units of 2⁻²⁴, and tiny that of one too small to be normal.
	weight, tiny float64
	stored       bool    // scores are rounded to the element type too
	queries      float64 // the rounding of queries before they are used
}

// attendingAs gives the roundings of an element type.
func attendingAs(dtype gpu.DType, d int, scale, cap float64) attending {
	a := attending{d: d, scale: scale, cap: cap}
	if scale == 0 {
		a.scale = 1 / math.Sqrt(float64(d))
	}
	switch dtype {
	case gpu.F16:
		a.weight, a.tiny = 0x1p13, 0.5 // 11 bits; the smallest f16 is 2⁻²⁴
	case gpu.BF16:
		a.weight = 0x1p16 // 8 bits
	}
	return a
}

// query computes softmax(scale·q·k)·v over keys from ≤ j < to into want, and into scale the error that rounding may cause, in
// units of 2⁻²⁴: of the dot product, of the score, of the weights and of the sums. Without a key the result is zero.
func (a attending) query(q []float64, from, to int, key, value func(j int) []float64, want, scale []float64) {
	if to <= from {
		return
	}
	scores, errs := make([]float64, to-from), make([]float64, to-from)
	top := math.Inf(-1)
	for n := range scores {
		dot, size := 0.0, 0.0
		for x, v := range key(from + n) {
			dot += q[x] * v
			size += math.Abs(q[x] * v)
		}
		s := a.scale * dot
		errs[n] = (float64(a.d+4) + a.queries) * a.scale * size
		if a.cap > 0 {
			s = a.cap * math.Tanh(s/a.cap)
			errs[n] += 4 * a.cap
		}
		if a.stored {
			errs[n] += a.weight * math.Abs(s)
		}
		scores[n], top = s, math.Max(top, s)
	}
	sum, mean := 0.0, 0.0
	for n, s := range scores {
		scores[n] = math.Exp(s - top)
		errs[n] += 3 * math.Abs(s-top) // the exponent's own rounding grows with it
		sum += scores[n]
		mean += scores[n] * errs[n]
	}
	mean /= sum
	for n, p := range scores {
		p /= sum
		allowed := p * (a.weight + float64(len(scores)) + 16 + errs[n] + mean)
		for x, v := range value(from + n) {
			want[x] += p * v
			scale[x] += (allowed + a.tiny) * math.Abs(v)
		}
	}
}

// visible is the range of keys that query i of sq sees among sk: from ≤ j < to. The last query stands with the last key.
func visible(i, sq, sk int, causal bool, window int) (from, to int) {
	shift := sk - sq
	if to = sk; causal {
		to = min(sk, i+shift+1)
	}
	if window > 0 {
		from = max(0, i+shift-window+1)
	}
	return from, max(from, to)
}
