package kernels

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"memwall/gpu/perf"
)

// A ceiling of DRAM that no GPU has, a share above the whole and one that is not a number are not believed; other roofs are not judged.
func TestTimingSanity(t *testing.T) {
	dram, other := dramRoof(&perf.Profile{}), perf.Figure{Source: "FP32 roof"}
	var got []string
	for _, l := range timingOf([]Ceiling{{Name: "read", Roof: dram, Share: .92}, {Name: dramRead, Roof: dram, Share: .9}, {Name: "slow", Roof: dram, Share: .5}, {Name: "cached", Roof: dram, Share: 1.2},
		{Name: "none", Roof: dram, Share: math.NaN()}, {Name: "fma", Roof: other, Share: .3}}) {
		got = append(got, fmt.Sprint(l.Name, " ", l.Sane, " ", l.Reached))
	}
	if want := []string{"read true true", "DRAM read true false", "slow false false", "cached false false", "none false false"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The suite with the probes alone: right, at the known ceilings, and it says what it did not compare.
func TestSuite(t *testing.T) {
	r, err := Suite(t.Context(), SuiteOptions{Filter: "probe", Device: "virtual:h200", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Conformance) == 0 || len(r.Timing) < 2 || r.Wrong() != 0 || len(r.Targets.Ceilings) <= len(r.Timing) {
		t.Errorf("%d wrong: %v %v", r.Wrong(), r.Conformance, r.Timing)
	}
	const slow = "timing: DRAM read reaches 90.0 % of the roof, MEASURED: sane, target 92 % NOT reached"
	if got := (TimingLine{Name: dramRead, Rate: perf.Figure{Tag: perf.Measured}, Share: .9, Target: readTarget, Sane: true}).String(); got != slow {
		t.Errorf("%s, want %s", got, slow)
	}
	if len(r.Notes) != 1 {
		t.Errorf("the notes are %q", r.Notes)
	}
}
