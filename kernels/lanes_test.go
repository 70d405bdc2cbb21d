package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestLanePaths runs every shipped kernel on portable, threaded and compiled lanes: the same bits and the same counters. On
// a machine that lacks a path the environment falls back to the best that there is.
func TestLanePaths(t *testing.T) {
	type answer struct {
		bits   []uint64
		counts perf.Counts
	}
	answers := map[string]map[string]answer{}
	defer gpu.CloseAll()
	for _, lanes := range []string{"portable", "threaded", "jit"} {
		t.Setenv("MEMWALL_LANES", lanes)
		answers[lanes] = map[string]answer{}
		gpu.CloseAll() // a new device takes the path, and gives the same addresses
		dev := open(t, "virtual:h200")
		for _, k := range registry {
			if _, cannot := k.targetFor(dev); cannot != nil {
				continue
			}
			for i, c := range k.cases[:min(len(k.cases), 4)] {
				for range 2 { // the second launch begins with what the first one compiled
					bits, counts := k.bitsOf(t, dev, c, uint64(i))
					answers[lanes][k.name+" "+k.typeNames()+" "+c.String()] = answer{bits, counts}
				}
			}
		}
	}
	if len(answers["portable"]) < 20 {
		t.Fatalf("only %d cases", len(answers["portable"]))
	}
	for _, lanes := range []string{"threaded", "jit"} {
		for name, want := range answers["portable"] {
			got := answers[lanes][name]
			if got.counts != want.counts {
				t.Errorf("%s: counters on %s lanes\n%+v\nportable\n%+v", name, lanes, got.counts, want.counts)
			}
			for i := range want.bits {
				if got.bits[i] != want.bits[i] {
					t.Errorf("%s: element %d on %s lanes is %g, portable %g", name, i, lanes, math.Float64frombits(got.bits[i]), math.Float64frombits(want.bits[i]))
					break
				}
			}
		}
	}
}

// bitsOf runs a case and gives the bits of its outputs, as float64, and what the launch counted.
func (k *Kernel) bitsOf(t *testing.T, dev *gpu.Device, c trial, seed uint64) ([]uint64, perf.Counts) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0x6c616e6573))
	made := k.arguments(dev, c, random)
	defer free(made.tensors)
	launches, err := measured(k.name, random, made.args)
	if err != nil {
		t.Fatalf("%s %s: %v", k.name, c, err)
	}
	var bits []uint64
	for i, o := range k.operands {
		if o.written() && made.tensors[i] != nil {
			for _, v := range made.tensors[i].Float64s() {
				bits = append(bits, math.Float64bits(v))
			}
		}
	}
	counts, _ := sumOf(launches)
	return bits, *counts
}
