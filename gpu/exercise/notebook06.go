package exercise

import (
	"fmt"
	"math"
)

// The attention of notebook 06: heads, tokens of the prompt and elements of a head, f16.
const (
	heads      = 2
	promptLen  = 1024
	headDim    = 64
	tileLength = 32 // queries of a CTA of attention/2_tiled
)

// matrixBytes is what the three launches move of scores and weights: each matrix is written once and read once.
const matrixBytes = 4 * halfBytes * heads * promptLen * promptLen

// withoutMatrix are the exercises of notebook 06.
var withoutMatrix = []exercise{
	{
		id: "06.1", unit: "B", within: 0.02,
		question: "Two heads, 1024 tokens, f16: how many bytes of scores and weights do the three launches write and read together?",
		answer:   func() float64 { return matrixBytes },
		formula: func() string {
			return "Scores are written and read, then weights are written and read: 4 · 2 B · S² · H = 8 · 1024² · 2 = 16.8 MB."
		},
		start: "One matrix of a head has S² = 1024² elements of 2 B. There are two such matrices, each is written once and read once, and there are H = 2 heads.",
		mistakes: []mistake{
			{leadsTo: func() float64 { return matrixBytes / 4 }, hint: "That is a quarter: both heads, and scores as well as weights, each written, then read."},
			{leadsTo: func() float64 { return matrixBytes / 2 }, hint: "That is half: two matrices (scores, weights), each written and read, are four passes."},
			{leadsTo: func() float64 { return matrixBytes / 8 }, hint: "That is one matrix of one head, once. Two heads; scores AND weights; each is written, then read."},
			{leadsTo: func() float64 { return matrixBytes * 2 }, hint: "f16 has 2 bytes an element, not 4."},
		},
	},
	{
		id: "06.2", unit: "", within: 0.01,
		question: "The sum so far is relative to the maximum 3. Then a 5 arrives. What must the old sum be multiplied by?",
		answer:   func() float64 { return math.Exp(-2) },
		formula: func() string {
			return "Every old term was exp(x − 3) and must become exp(x − 5): a factor exp(3 − 5) = 0.135."
		},
		start: "An old term is exp(x − 3). What turns it into exp(x − 5), whatever x is?",
		mistakes: []mistake{
			{leadsTo: func() float64 { return math.Exp(2) }, hint: "The other way round: the maximum rose, so old terms shrink. exp(old − new), not exp(new − old)."},
			{leadsTo: func() float64 { return 3.0 / 5 }, hint: "Maxima are exponents: their difference counts, not their quotient."},
			{leadsTo: func() float64 { return 1 }, hint: "Left as it is, the sum would be relative to 3 and the new term to 5: they cannot be added."},
		},
	},
	{
		id:       "06.3",
		question: "Write the online-softmax update as a Go function: from maximum m, sum l and a new number x to the new m and l.",
		start:    "It is `update := func(m, l, x float64) (float64, float64) { … }`. First the new maximum; then the old sum, scaled by exp(old − new), and the new term exp(x − new).",
		update:   judgeUpdate,
	},
	{
		id: "06.4", unit: "", within: 0.02,
		question: "A CTA of attention/2_tiled computes 32 of the 1024 queries of a head. How many times is each key read?",
		answer:   func() float64 { return promptLen / tileLength },
		formula: func() string {
			return "Every CTA passes over all keys, and there are ⌈1024/32⌉ = 32 CTAs a head. L2 serves nearly all of these reads."
		},
		start: "Every CTA passes over all keys of its head. How many CTAs has a head?",
		mistakes: []mistake{
			{leadsTo: func() float64 { return promptLen }, hint: "That would be a CTA a query. The queries of a tile share the keys that pass by."},
			{leadsTo: func() float64 { return promptLen / tileLength * heads }, hint: "That counts all heads. Each head has keys of its own."},
			{leadsTo: func() float64 { return 1 }, hint: "Once would need one CTA with all 1024 queries: their sums and results would not fit its registers."},
		},
	},
}

// updateCase is what an update is tried on: numbers one after the other.
type updateCase struct {
	what   string
	values []float64
}

var updateCases = []updateCase{
	{"1, 3, 2, 5, 0, 4", []float64{1, 3, 2, 5, 0, 4}}, {"numbers that fall: 5, 4, 1", []float64{5, 4, 1}}, {"equal numbers: 2, 2, 2", []float64{2, 2, 2}},
	{"negative numbers: −7, −9, −8", []float64{-7, -9, -8}}, {"large numbers: 1000, 1002, 1001", []float64{1000, 1002, 1001}},
}

// judgeUpdate tries the reader's function from m = −inf and l = 0 on, and holds it against the maximum and the sum in two passes.
func judgeUpdate(f func(m, l, x float64) (float64, float64)) (right bool, headline, why string) {
	for _, c := range updateCases {
		m, l := math.Inf(-1), 0.0
		for i, x := range c.values {
			oldM, oldL := m, l
			m, l = f(m, l, x)
			wantM, wantL := plain(c.values[:i+1])
			if m == wantM && math.Abs(l-wantL) <= 1e-12*wantL {
				continue
			}
			headline = fmt.Sprintf("Not yet: for %s, after %d of them, it gives m = %.4g, l = %.4g; two passes give m = %.4g, l = %.4g.", c.what, i+1, m, l, wantM, wantL)
			return false, headline, updateHint(oldM, oldL, x, m, l, wantM)
		}
	}
	return true, "Right: it agrees with two passes over the numbers.", "One pass is enough, because a sum relative to one maximum becomes a sum relative to another by one factor. The same factor serves the result: o = o·exp(old − new) + p·v."
}

// plain is softmax's maximum and sum in two passes.
func plain(values []float64) (m, l float64) {
	m = math.Inf(-1)
	for _, x := range values {
		m = math.Max(m, x)
	}
	for _, x := range values {
		l += math.Exp(x - m)
	}
	return m, l
}

// updateHint finds the likely mistake behind one wrong step.
func updateHint(oldM, oldL, x, m, l, wantM float64) string {
	is := func(v float64) bool { return !math.IsInf(v, 0) && math.Abs(l-v) <= 1e-9*math.Abs(v) }
	fade, term := math.Exp(oldM-wantM), math.Exp(x-wantM)
	switch {
	case m != wantM:
		return "The new maximum is the larger of m and x: math.Max(m, x)."
	case (math.IsInf(l, 0) || math.IsNaN(l)) && x > 700:
		return "exp of a large number overflows; that is why softmax subtracts the maximum: exp(x − new)."
	case math.IsInf(l, 0) || math.IsNaN(l):
		return "At the start m is −inf and l is 0. Subtract from the NEW maximum only: −inf − (−inf) is no number, exp(−inf − new) is 0."
	case is(oldL + term):
		return "The new term is right; the old sum is still relative to the old maximum. Scale it by exp(old − new)."
	case is(oldL/fade + term):
		return "The factor is upside down: old terms shrink when the maximum rises. exp(old − new)."
	case is(oldL*fade + 1):
		return "The new term is exp(x − new); it is 1 only where x is the new maximum."
	case is(oldL*fade + math.Exp(x)):
		return "The new term is exp(x − new): relative to the maximum, like the rest of the sum."
	case is(oldL*fade + math.Exp(x-oldM)):
		return "The new term is relative to the old maximum; the sum is now relative to the new one: exp(x − new)."
	case is(oldL * fade):
		return "The old sum is scaled rightly, but the new term exp(x − new) is missing."
	}
	return "l = l·exp(old − new) + exp(x − new), with new = max(old, x)."
}
