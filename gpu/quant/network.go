package quant

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Network is the end of a small language model, to see what a format does to its next-token probabilities: two layers,
// logits = Out · silu(In · x). Its weights are random, a few of them large, as those of trained models are.
type Network struct {
	Width, Hidden, Vocabulary int
	In                        []float32 // [Hidden, Width]
	Out                       []float32 // [Vocabulary, Hidden]
	seed                      uint64
}

// NewNetwork makes one with 256 inputs, 512 hidden values and 256 tokens; the same for each seed.
func NewNetwork(seed uint64) *Network {
	n := &Network{Width: 256, Hidden: 512, Vocabulary: 256, seed: seed}
	r := rand.New(rand.NewPCG(seed, 0x6e6574))
	n.In = someWeights(r, n.Hidden*n.Width, 1/math.Sqrt(float64(n.Width)))
	n.Out = someWeights(r, n.Vocabulary*n.Hidden, 4/math.Sqrt(float64(n.Hidden)))
	return n
}

// someWeights are normal with a spread, one in a thousand ten times as large.
func someWeights(r *rand.Rand, n int, spread float64) []float32 {
	w := make([]float32, n)
	for i := range w {
		v := r.NormFloat64() * spread
		if r.IntN(1000) == 0 {
			v *= 10
		}
		w[i] = float32(v)
	}
	return w
}

// Logits are the scores of the tokens for one input of Width numbers, summed in float64.
func (n *Network) Logits(x []float32) ([]float32, error) {
	if len(x) != n.Width {
		return nil, fmt.Errorf("quant: %d inputs for a network of %d", len(x), n.Width)
	}
	hidden := multiply(n.In, x)
	for i, v := range hidden {
		hidden[i] = float32(float64(v) / (1 + math.Exp(-float64(v))))
	}
	return multiply(n.Out, hidden), nil
}

// multiply is w·x for rows as long as x.
func multiply(w, x []float32) []float32 {
	y := make([]float32, len(w)/len(x))
	for i := range y {
		sum := 0.0
		for k, v := range w[i*len(x) : (i+1)*len(x)] {
			sum += float64(v) * float64(x[k])
		}
		y[i] = float32(sum)
	}
	return y
}

// Stored is the network with its weights rounded to a format.
func (n *Network) Stored(f *Format) (*Network, error) {
	stored := *n
	for _, w := range []*[]float32{&stored.In, &stored.Out} {
		packed, err := f.Encode(*w)
		if err != nil {
			return nil, err
		}
		if *w, err = f.Decode(packed); err != nil {
			return nil, err
		}
	}
	return &stored, nil
}

// Accuracy is what a format costs a network.
type Accuracy struct {
	Format      string
	Bits        float64 // a weight
	WeightError float64 // ‖stored − exact‖ / ‖exact‖ of all weights
	OutputNMSE  float64 // of the logits
	KL          float64 // mean divergence of the next token's probabilities, nats
}

// Accuracy compares the network stored in a format with itself, on so many random inputs.
func (n *Network) Accuracy(f *Format, inputs int) (*Accuracy, error) {
	if inputs < 1 {
		return nil, fmt.Errorf("quant: accuracy on %d inputs; give at least 1", inputs)
	}
	stored, err := n.Stored(f)
	if err != nil {
		return nil, err
	}
	a := &Accuracy{Format: f.Name, Bits: f.Bits()}
	both := func(m *Network) []float32 { return append(append([]float32(nil), m.In...), m.Out...) }
	if a.WeightError, err = RelativeError(both(stored), both(n)); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(n.seed, 0x78))
	var got, want []float32
	for range inputs {
		x := someWeights(r, n.Width, 1)
		exact, err := n.Logits(x)
		if err != nil {
			return nil, err
		}
		near, err := stored.Logits(x)
		if err != nil {
			return nil, err
		}
		d, err := KL(near, exact)
		if err != nil {
			return nil, err
		}
		a.KL += d / float64(inputs)
		got, want = append(got, near...), append(want, exact...)
	}
	a.OutputNMSE, err = NMSE(got, want)
	return a, err
}

// String is a line: "Q4_0    4.5 bits  weights ± 9.1 %  outputs NMSE 8.2e-03  KL 0.031 nats".
func (a *Accuracy) String() string {
	return fmt.Sprintf("%-6s %6.4g bits  weights ± %5.2f %%  outputs NMSE %.1e  KL %.1e nats", a.Format, a.Bits, 100*a.WeightError, a.OutputNMSE, a.KL)
}
