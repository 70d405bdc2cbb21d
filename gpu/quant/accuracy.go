package quant

import (
	"fmt"
	"math"
)

// RelativeError is ‖got − want‖ / ‖want‖ (Euclidean), what a weight lost; 0 where both are zero. NaN in either gives NaN.
func RelativeError(got, want []float32) (float64, error) {
	d, w, err := energies(got, want)
	if err != nil || d == 0 {
		return d, err
	}
	return math.Sqrt(d / w), nil
}

// NMSE is the mean squared error over the mean square of want, what an output lost; 0 where both are zero.
func NMSE(got, want []float32) (float64, error) {
	d, w, err := energies(got, want)
	if err != nil || d == 0 {
		return d, err
	}
	return d / w, nil
}

// energies sums the squares of got − want and of want.
func energies(got, want []float32) (difference, square float64, err error) {
	if len(got) != len(want) {
		return math.NaN(), math.NaN(), fmt.Errorf("quant: %d values to compare with %d", len(got), len(want))
	}
	for i := range want {
		d := float64(got[i]) - float64(want[i])
		difference += d * d
		square += float64(want[i]) * float64(want[i])
	}
	return difference, square, nil
}

// KL is the Kullback–Leibler divergence of the softmax of got from that of want, in nats: how much the next token's
// probabilities moved. Both are logits of one position.
func KL(got, want []float32) (float64, error) {
	if len(got) != len(want) || len(got) == 0 {
		return math.NaN(), fmt.Errorf("quant: %d logits to compare with %d", len(got), len(want))
	}
	g, w := logSumExp(got), logSumExp(want)
	sum := 0.0
	for i := range want {
		logP := float64(want[i]) - w
		if p := math.Exp(logP); p > 0 || p != p {
			sum += p * (logP - (float64(got[i]) - g))
		}
	}
	if sum < 0 && sum > -1e-12 { // rounding
		sum = 0
	}
	return sum, nil
}

func logSumExp(x []float32) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = math.Max(top, float64(v))
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(float64(v) - top)
	}
	return top + math.Log(sum)
}
