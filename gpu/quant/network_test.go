package quant

import (
	"math"
	"strings"
	"testing"
)

// Accuracy gets worse with fewer bits by every measure, and is as large as theory says: rounding to steps of d leaves an error
// of d/√12 each, for 8-bit codes of blocks of 32 normal values about 0.5 %; logits lose about the square of what weights lose.
func TestAccuracy(t *testing.T) {
	n := NewNetwork(1)
	var before *Accuracy
	for _, name := range []string{"Q8_0", "Q6_K", "Q4_K", "MXFP4"} {
		a, err := n.Accuracy(mustGet(t, name), 32)
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && !(a.WeightError > before.WeightError && a.OutputNMSE > before.OutputNMSE && a.KL > before.KL) {
			t.Errorf("%s is not worse than %s:\n%s\n%s", name, before.Format, a, before)
		}
		if square := a.WeightError * a.WeightError; !(a.OutputNMSE > 0.5*square && a.OutputNMSE < 8*square) {
			t.Errorf("%s: NMSE %g for weights ± %g", name, a.OutputNMSE, a.WeightError)
		}
		before = a
	}
	a, err := n.Accuracy(mustGet(t, "Q8_0"), 32)
	if err != nil || !(a.WeightError > 0.003 && a.WeightError < 0.008) || !(a.KL > 0 && a.KL < 1e-2) {
		t.Errorf("%v, %v", a, err)
	}
	if !strings.HasPrefix(a.String(), "Q8_0      8.5 bits  weights ±  0.") {
		t.Error(a)
	}
	same := NewNetwork(1)
	if same.In[7] != n.In[7] || NewNetwork(2).In[7] == n.In[7] {
		t.Error("a seed does not tell the weights")
	}
	// By hand: one input, one hidden value h = 2, silu(2) = 2/(1 + e⁻²), times 3.
	tiny := &Network{Width: 1, Hidden: 1, Vocabulary: 1, In: []float32{2}, Out: []float32{3}}
	y, err := tiny.Logits([]float32{1})
	if want := 3 * 2 / (1 + math.Exp(-2)); err != nil || math.Abs(float64(y[0])-want) > 1e-6 {
		t.Errorf("%v, %v; want %g", y, err, want)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(n.Accuracy(mustGet(t, "Q2_K"), 4)), "quant: Q2_K can be read, not made; Q4_K and Q6_K can be made"},
		{second(n.Accuracy(mustGet(t, "Q8_0"), 0)), "quant: accuracy on 0 inputs; give at least 1"},
		{second(n.Logits(make([]float32, 3))), "quant: 3 inputs for a network of 256"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }
