package kernels

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// open gives a virtual device that is closed at the end of the test.
func open(t *testing.T, name string) *gpu.Device {
	t.Helper()
	dev, err := gpu.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// TestEveryCase runs every case of every kernel, as PTX for sm_80 on an H200 and for sm_75 on a T4: results against the
// float64 reference in outputs filled with NaN, counters against the closed forms; on an L4 what depends on its SMs.
func TestEveryCase(t *testing.T) {
	for _, name := range []string{"virtual:h200", "virtual:t4", "virtual:l4"} {
		dev := open(t, name)
		for _, k := range unique(registry) {
			if name == "virtual:l4" && k.choose == nil {
				continue // the same PTX and geometry as on the H200
			}
			if _, cannot := k.targetFor(dev); cannot != nil {
				continue
			}
			t.Run(name+"/"+k.name, func(t *testing.T) {
				report, err := k.Check(dev)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range report.Cases {
					if !c.Counts && !strings.Contains(c.Case, " GB, ") {
						t.Errorf("%s: counters were not compared", c.Case)
					}
					if !(c.NMSE <= 5e-4) {
						t.Errorf("%s: NMSE %g", c.Case, c.NMSE)
					}
				}
			})
		}
	}
}

// TestComparator fails on what a comparator must not pass.
func TestComparator(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name      string
		got, want float64
		right     bool
	}{
		{"equal", 1, 1, true}, {"half a step of f16", 1 + 0x1p-12, 1, true}, {"a step of f16", 1 + 0x1p-10, 1, false},
		{"NaN for a number", nan, 1, false}, {"a number for NaN", 1, nan, false}, {"NaN for NaN", nan, nan, true},
		{"infinity for a number", inf, 1, false}, {"the wrong infinity", -inf, inf, false}, {"infinity", inf, inf, true},
		{"too large for f16", inf, 70000, true}, {"too large for f16, wrong sign", -inf, 70000, false}, {"zero", 0, 0, true}, {"zero for one", 0, 1, false},
		{"the smallest f16", 0x1p-24, 0x1p-24, true}, {"twice the smallest", 0x1p-23, 0x1p-24, false},
	} {
		r := compareResults(gpu.F16, []float64{c.got}, []float64{c.want}, []float64{0}, 0)
		if (len(r.Wrong) == 0) != c.right || (r.Worst <= 1) != c.right {
			t.Errorf("%s: worst %g, %v", c.name, r.Worst, r.Wrong)
		}
	}
	if r := compareResults(gpu.F16, []float64{1}, []float64{1, 2}, []float64{0, 0}, 0); len(r.Wrong) == 0 {
		t.Error("a missing result passes")
	}
	if wrong := (counters{loadRequests: 5}).compare(&someCounts); len(wrong) != 1 || wrong[0] != "global load requests: 4 executed, 5 by formula" {
		t.Errorf("counters: %v", wrong)
	}
}

var someCounts = perf.Counts{GlobalLoad: perf.Access{Requests: 4}}

// TestRandomShapes runs every kernel on shapes and numbers that nobody has chosen; a failure names the seed.
func TestRandomShapes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	h200, t4 := open(t, "virtual:h200"), open(t, "virtual:t4")
	for _, k := range registry {
		for n := range 6 {
			dev := h200
			if _, cannot := k.targetFor(t4); cannot == nil && n%2 == 1 {
				dev = t4
			}
			trial := k.randomTrial(random)
			result, err := k.checkCase(dev, trial, seed)
			if err != nil || len(result.Wrong) > 0 {
				t.Errorf("%s on %s, seed %d, %s: %v %q", k.name, dev.Name(), seed, trial, err, result.Wrong)
			}
		}
	}
}

// randomTrial chooses extents that the row takes, scalars, kinds of inputs and which optional operands are missing.
func (k *Kernel) randomTrial(random *rand.Rand) trial {
	if k.draw != nil {
		return k.draw(random)
	}
	for {
		t := trial{dims: dims{}, fractions: map[string]float64{}, inputs: inputs(random.IntN(3))}
		for _, o := range k.operands {
			for _, name := range o.shape {
				name = trimFold(name)
				if _, fixed := fixedExtent(name); fixed || k.isDerived(name) {
					continue
				}
				m := max(k.multiples[name], 1)
				t.dims[name] = m * (1 + random.IntN(max(150/m, 2)))
				if l, ok := k.limits[name]; ok {
					t.dims[name] = m * (1 + random.IntN(max(min(l.most, 150)/m, 1)))
				}
			}
			if o.optional && random.IntN(2) == 0 {
				t.without = append(t.without, o.name)
			}
		}
		for _, s := range k.scalars {
			switch s.kind {
			case fraction:
				t.fractions[s.name] = s.low + random.Float64()*(s.high-s.low)
			case flag:
				t.dims[s.name] = random.IntN(2)
			default:
				t.dims[s.name] = s.least + random.IntN(min(s.most-s.least, 29)+1)
			}
		}
		k.shrink(t.dims)
		if k.refuses(t.dims) == nil {
			return t
		}
	}
}

// shrink halves extents until no tensor of a random trial has more than 60,000 elements, the largest extent first.
func (k *Kernel) shrink(d dims) {
	for _, o := range k.operands {
		for d.elements(o.shape) > 60_000 {
			largest, most := "", 0
			for _, name := range o.shape {
				if n := d[trimFold(name)] / max(k.multiples[trimFold(name)], 1); n > most {
					largest, most = trimFold(name), n
				}
			}
			d[largest] = max(most/2, 1) * max(k.multiples[largest], 1)
		}
	}
}
