package perf

// MachineCycles are cycles in which each pipe of the busiest SM has work, for machine code made from the PTX.
type MachineCycles struct {
	Issue, FP32, Integer, SFU, FP64, FP16, Tensor, LSU float64
}

// Simulation is what the cycle simulation of one SM says of a launch, without the launch's own overhead. A launch that was
// not simulated says why.
type Simulation struct {
	Seconds float64
	Cycles  float64 // of the busiest SM
	Alone   float64 // cycles of one CTA that has an SM to itself
	Tail    float64 // seconds that the partial last wave costs
	Traced  int     // CTAs that were simulated
	Cut     bool    // their traces were cut, and extended at the steady rate
	Machine MachineCycles
	Partial float64 // share of the stored sectors that were filled in part, 0 to 1
	Why     string  // there is none
}

// Done tells whether there is a prediction.
func (s *Simulation) Done() bool { return s != nil && s.Why == "" && s.Cycles > 0 }
