package card

import (
	"strings"
	"testing"

	"memwall/gpu/perf"
)

// A measured launch says at which clock, and what held it down; where nothing is known of clocks it says nothing.
func TestClocksOnCard(t *testing.T) {
	for clocks, want := range map[string]string{
		"": "±0.0%, n=3|cold\u00a0L2",
		"SM 1980 MHz, memory 3201 MHz, 612 W, 54 °C":                             "±0.0%, n=3|SM 1980 MHz|cold\u00a0L2",
		"SM 1200 MHz, memory 3201 MHz, 700 W, 80 °C, held down by the power cap": "±0.0%, n=3|SM 1200 MHz|clock held down by the power cap|cold\u00a0L2",
	} {
		o := measuredGEMV(40, 40, 40)
		o.Clocks, o.Cold = clocks, true
		c := launchCard{l: perf.Evaluate(o, profile(t, "h200"))}
		if got := strings.Join(c.notes(), "|"); got != want {
			t.Errorf("%q: %q, want %q", clocks, got, want)
		}
	}
}
