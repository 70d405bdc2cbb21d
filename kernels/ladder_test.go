package kernels

import (
	"math"
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// headers launches kernels to hold what their headers say against: each family has a test that compares counters of a step with
// those of the step before it.
type headers struct{ dev *gpu.Device }

func (h headers) count(t *testing.T, name string, args ...any) *perf.Counts {
	t.Helper()
	launches, err := measured(name, nil, args)
	if err != nil {
		t.Fatal(err)
	}
	counts, _ := sumOf(launches)
	return counts
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
		t.Errorf("%s: %g, the header says %g", what, got, want)
	}
}

func perRequest(c *perf.Counts) float64 {
	return float64(c.GlobalLoad.Sectors) / float64(c.GlobalLoad.Requests)
}

func ratio(a, b uint64) float64 { return float64(a) / float64(b) }

func conflictsOf(c *perf.Counts) float64 { return float64(readCounter[conflicts](c)) }

// TestMemoryWall is the turn of notebook 01: the same weights are bound by memory for one token and by compute for many. In between
// tiles of 64 tokens make fewer CTAs than the GPU has SMs: K is cut into four slices, whose sums go through memory in f32.
func TestMemoryWall(t *testing.T) {
	defer gpu.SetSimulation(gpu.Simulation())
	gpu.SetSimulation(false) // the notebook's prediction: by bounds alone
	dev := open(t, "virtual:h200")
	const n, k = 4096, 4096
	w := dev.Randn(gpu.F16, n, k)
	for _, c := range []struct {
		m, sample int
		bound     string
		slices    float64
	}{{1, 8, perf.ResourceDRAM, 0}, {16, 16, perf.ResourceDRAM, 0}, {64, 16, perf.ResourceDRAM, 4}, {256, 32, perf.ResourceTensor, 0}, {512, 64, perf.ResourceTensor, 0}} {
		y, x := dev.Zeros(gpu.F16, c.m, n), dev.Randn(gpu.F16, c.m, k)
		var err error
		r := gpu.Sample(c.sample, func() { err = Run("gemm", y, w, x) })
		if err != nil {
			t.Fatal(err)
		}
		l := r.Launches[0]
		if l.Bound != c.bound {
			t.Errorf("M = %d is bound by %s, want %s: %v", c.m, l.Bound, c.bound, l.Bounds)
		}
		m := float64(c.m)
		want := m / (1 + m/2048)
		if c.slices > 0 {
			want = 2 * m * n * k / (2*n*k + 2*m*k + 4*m*n*c.slices)
		}
		if !(math.Abs(l.Intensity.Value-want) <= 0.01*want) {
			t.Errorf("M = %d: %g FLOP/B, want %g", c.m, l.Intensity.Value, want)
		}
	}
}
