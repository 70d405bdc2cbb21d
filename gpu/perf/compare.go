package perf

// Comparison is the outcome of an A/B comparison: interleaved runs, or two predictions.
type Comparison struct {
	A, B      *Total
	NameA     string
	NameB     string
	Pairs     int     // interleaved pairs; 0 for predictions
	Ratio     float64 // time of A ÷ time of B: above 1, B is faster
	Low, High float64 // 95 % interval of Ratio
	Verdict   string  // "FASTER", "SLOWER", "SAME", "UNCLEAR": B against A
	Reason    string  // of UNCLEAR
	Tag       Tag
	Same      string // whether the results agree: "same", "differs: …", "" where nothing was checked
}
