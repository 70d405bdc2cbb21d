package gpu

import (
	"memwall/gpu/card"
	"memwall/gpu/perf"
)

// Comparison is the outcome of Compare.
type Comparison struct {
	A, B    *Report
	Ratio   float64 // time of A ÷ time of B: above 1, B is faster
	Verdict string  // FASTER, SLOWER, SAME or UNCLEAR: B against A
	result  *perf.Comparison
}

// Compare runs a and b and says whether b is faster, and how sure that is. It panics with an *Error when a launch fails, or
// when the two ran on different devices. Reports that were measured already stand next to each other by SideBySide.
func Compare(a, b func()) *Comparison { return CompareNamed("A", a, "B", b) }

// CompareNamed is Compare with names for the card.
func CompareNamed(nameA string, a func(), nameB string, b func()) *Comparison {
	ra, rb := measure("Compare", &frame{}, a), measure("Compare", &frame{}, b)
	result, err := perf.Compare(nameA, ra.Launches, nameB, rb.Launches)
	if err != nil {
		panic(wrap("", err))
	}
	return &Comparison{A: ra, B: rb, Ratio: result.Ratio, Verdict: result.Verdict, result: result}
}

// MIMEBundle shows the verdict.
func (c *Comparison) MIMEBundle() map[string]any {
	c.A.markShown()
	c.B.markShown()
	return card.Compare(c.result).MIMEBundle()
}

// String is the verdict as text.
func (c *Comparison) String() string { return card.Compare(c.result).Text }
