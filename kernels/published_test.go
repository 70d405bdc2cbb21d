package kernels

import (
	"strings"
	"testing"

	"memwall/gpu/perf"
)

// TestPublished prints the ladders beside what others have measured (-v) and holds their order against it: nine of ten pairs.
func TestPublished(t *testing.T) {
	tables, err := Published(t.Context())
	if err != nil || len(tables) != len(publishedLadders) {
		t.Fatal(len(tables), err)
	}
	for _, table := range tables {
		t.Log("\n" + table.String())
		if got := table.InOrder(); !(got >= .9) {
			t.Errorf("%s: %g of the pairs are in order", table.Title, got)
		}
	}
}

// TestInOrder counts pairs by hand.
func TestInOrder(t *testing.T) {
	line := func(published, seconds float64) PublishedLine {
		return PublishedLine{Kernel: "k", Published: published, Time: perf.Figure{Value: seconds, Unit: "s", Tag: perf.Modelled}}
	}
	table := PublishedTable{Title: "T", Unit: "u", Lines: []PublishedLine{line(1, 8), line(2, 9), line(2.2, 1), line(4, .5)}}
	if got := table.InOrder(); got != .8 { // of five pairs, 1 and 2 are turned round; 2 and 2.2 are too near
		t.Errorf("%g in order", got)
	}
	if text := table.String(); !strings.HasPrefix(text, "T: 80% of pairs ≥ 20% apart in order\n  step  published  of the last  predicted") {
		t.Errorf("%s", text)
	}
}
