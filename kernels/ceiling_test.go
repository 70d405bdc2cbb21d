package kernels

import (
	"strings"
	"testing"

	"memwall/gpu/perf"
)

// TestCeilings holds what the probes find on the virtual H200 against what is known of it: DRAM reaches 92 % of the datasheet
// when it is read and 83 % when it is copied, mma.sync 63 % of the tensor roof and wgmma all of it (Luo et al. 2025), plain loads from L2 5.5 TB/s
// on an H100, a launch 2 µs (../shared/facts/time-model.md).
func TestCeilings(t *testing.T) {
	dev := open(t, "virtual:h200")
	all, err := Ceilings(t.Context(), dev)
	if err != nil {
		t.Fatal(err)
	}
	share := map[string]Ceiling{}
	for _, c := range all {
		share[c.Name] = c
		if c.Time.Tag != perf.Modelled || c.Rate.Known() && c.Rate.Tag != perf.Modelled {
			t.Errorf("%s is not tagged as modelled", c.Name)
		}
	}
	for _, c := range []struct {
		name      string
		low, high float64
	}{{"DRAM read", .90, .92}, {"DRAM copy", .81, .83}, {"DRAM write", .80, .92}, {"FP32", .70, .90}, {"mma.sync", .55, .63}, {"wgmma", .95, 1}, {"shared memory", .70, .89}} {
		if got := share[c.name].Share; !(got >= c.low && got <= c.high) {
			t.Errorf("%s: %g of %v, want %g to %g", c.name, got, share[c.name].Roof, c.low, c.high)
		}
	}
	if l2 := share["L2 read"].Rate.Value; !(l2 > 5e12 && l2 < 7.4e12) {
		t.Errorf("L2 reads at %g B/s", l2)
	}
	if us := share["launch"].Time.Value; !(us > 1.9e-6 && us < 2.5e-6) || share["launch"].Rate.Known() {
		t.Errorf("a launch takes %g s", us)
	}
	text := (&BenchReport{Device: dev.Name(), Ceilings: all}).String()
	if !strings.HasPrefix(text, "what virtual:h200 does at best\n  ceiling        probe            predicted ") || strings.Count(text, "\n") != 2+len(all) {
		t.Errorf("table\n%s", text)
	}
}

// TestCeilingsElsewhere: a device has the probes that it can run.
func TestCeilingsElsewhere(t *testing.T) {
	all, err := Ceilings(t.Context(), open(t, "virtual:t4"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Name == "wgmma" {
			t.Errorf("a T4 has no wgmma: %v", c)
		}
	}
	if len(all) != 8 {
		t.Errorf("%d ceilings of a T4, want 8", len(all))
	}
}
