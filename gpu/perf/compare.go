package perf

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Verdicts of a comparison: B against A.
const (
	Faster  = "FASTER"
	Slower  = "SLOWER"
	Same    = "SAME"
	Unclear = "UNCLEAR"
)

// Comparison is the outcome of an A/B comparison: interleaved runs, or two predictions.
type Comparison struct {
	A, B      *Total
	NameA     string
	NameB     string
	Pairs     int     // interleaved pairs; 0 for predictions
	Ratio     float64 // time of A ÷ time of B: above 1, B is faster
	Low, High float64 // 95 % interval of Ratio; equal to Ratio for predictions
	Verdict   string  // Faster, Slower, Same or Unclear
	Reason    string  // how the verdict came about
	Tag       Tag
	Agreement string // whether the results agree: "same", "differs: …", "" where nothing was checked
}

const (
	// sameWithin: a ratio whose interval stays this close to 1 makes no difference.
	sameWithin = 0.02
	// modelOrders: the time model puts pairs at least this far apart in the right order (≥ 95 % of published ladders).
	modelOrders = 1.20
)

// Compare tells whether B is faster than A. Measured launches need samples taken in turn (A B A B …): the 95 % interval of
// the ratio comes from the pairs' logarithms. Predictions are ordered only where they are 20 % apart. Comparing different
// tags or devices is refused: the error says which differ.
func Compare(nameA string, a []*Launch, nameB string, b []*Launch) (*Comparison, error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, fmt.Errorf("comparing %q with %q: %s launched nothing", nameA, nameB, map[bool]string{true: nameA, false: nameB}[len(a) == 0])
	}
	c := &Comparison{A: Aggregate(a, Figure{}), B: Aggregate(b, Figure{}), NameA: nameA, NameB: nameB}
	if c.A.Device != c.B.Device {
		return nil, fmt.Errorf("comparing %q on %s with %q on %s: run both on one device", nameA, c.A.Device, nameB, c.B.Device)
	}
	ta, tb := c.A.Duration, c.B.Duration
	if !ta.Known() || !tb.Known() {
		return nil, fmt.Errorf("comparing %q with %q: a time is missing (%s; %s)", nameA, nameB, ta.Number(), tb.Number())
	}
	if ta.Tag != tb.Tag {
		return nil, fmt.Errorf("comparing %q (%s) with %q (%s): a %s time says nothing about a %s one", nameA, ta.Tag, nameB, tb.Tag, ta.Tag, tb.Tag)
	}
	if !(ta.Value > 0) || !(tb.Value > 0) {
		return nil, fmt.Errorf("comparing %q (%s) with %q (%s): times must be above zero", nameA, ta.Number(), nameB, tb.Number())
	}
	c.Tag, c.Ratio = ta.Tag, ta.Value/tb.Value
	c.Low, c.High = c.Ratio, c.Ratio
	if ta.Tag == Measured {
		c.judgeMeasured(pairedLogRatios(a, b))
	} else {
		c.judgeModelled()
	}
	return c, nil
}

// judgeModelled: predictions share their errors, so their order holds where they are far enough apart.
func (c *Comparison) judgeModelled() {
	r := c.Ratio
	switch {
	case r >= modelOrders:
		c.Verdict, c.Reason = Faster, "predicted: the model orders pairs 20% apart"
	case r <= 1/modelOrders:
		c.Verdict, c.Reason = Slower, "predicted: the model orders pairs 20% apart"
	case math.Abs(r-1) <= sameWithin:
		c.Verdict, c.Reason = Same, "predicted within 2%"
	default:
		c.Verdict, c.Reason = Unclear, "predictions less than 20% apart are not ordered"
	}
}

// pairedLogRatios are log(A/B) of samples taken in turn, summed over each side's launches.
func pairedLogRatios(a, b []*Launch) []float64 {
	sa, sb := sampleSums(a), sampleSums(b)
	n := min(len(sa), len(sb))
	out := make([]float64, 0, n)
	for i := 0; i < n; i++ {
		if sa[i] > 0 && sb[i] > 0 {
			out = append(out, math.Log(sa[i].Seconds()/sb[i].Seconds()))
		}
	}
	return out
}

// sampleSums adds the i-th samples of all launches; as many as the launch with fewest has.
func sampleSums(ls []*Launch) []time.Duration {
	n := len(ls[0].Samples)
	for _, l := range ls {
		n = min(n, len(l.Samples))
	}
	out := make([]time.Duration, n)
	for _, l := range ls {
		for i := range out {
			out[i] += l.Samples[i]
		}
	}
	return out
}

func (c *Comparison) judgeMeasured(logs []float64) {
	c.Pairs = len(logs)
	if len(logs) < 5 {
		c.Verdict, c.Reason = Unclear, fmt.Sprintf("%d interleaved pairs are too few, 5 are the least", len(logs))
		return
	}
	mean, dev := stat.MeanStdDev(logs, nil)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(logs) - 1)}.Quantile(0.975)
	half := t * dev / math.Sqrt(float64(len(logs)))
	c.Ratio, c.Low, c.High = math.Exp(mean), math.Exp(mean-half), math.Exp(mean+half)
	c.Reason = fmt.Sprintf("95%% interval of %d interleaved pairs", len(logs))
	switch {
	case c.Low >= 1-sameWithin && c.High <= 1+sameWithin:
		c.Verdict = Same
	case c.Low > 1:
		c.Verdict = Faster
	case c.High < 1:
		c.Verdict = Slower
	default:
		c.Verdict = Unclear
	}
}
