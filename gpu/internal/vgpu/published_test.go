package vgpu

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// published is one time that someone has measured and published (facts: hardware, kernels), with the launch that it belongs to.
type published struct {
	gpu, what    string
	ladder       string  // steps of one ladder are compared with each other
	seconds      float64 // 0: there is no kernel for it
	fitted       bool    // parameters of the model were fitted to it
	file         string  // below testdata/published or kernels
	function     string
	grid, cta    driver.Dim3
	shared       int
	arguments    []any // buffer(bytes) is replaced by an allocation
	prepare      func(t testing.TB, d *Device, buffers []driver.Address)
	moved        float64 // bytes, for those published as a rate
	bytesASecond float64
}

type buffer int64

// gpus are the boards of published times that are no profiles, as what differs from a profile of the same architecture.
var gpus = map[string]func() perf.Profile{
	"RTX 3070 Laptop": func() perf.Profile { return board("rtx3090", 40, 1.56e9, 448e9, 4<<20) },
	"GTX 1650":        func() perf.Profile { return board("t4", 14, 1.665e9, 192e9, 1<<20) },
	"RTX 2060":        func() perf.Profile { return board("t4", 30, 1.68e9, 215e9, 3<<20) }, // its streams reach 193 GB/s
	"H100, 2.0 TB/s": func() perf.Profile { // that card's copy reached 2.0 TB/s, its sums 2.07
		p := board("h100", 132, 1.755e9, 2250e9, 50<<20)
		p.DRAMCopyReach = 2.0 / 2.25
		return p
	},
	"RTX 3080":          func() perf.Profile { return board("rtx3090", 68, 1.71e9, 760e9, 5<<20) },
	"RTX A6000":         func() perf.Profile { return board("rtx3090", 84, 1.80e9, 768e9, 6<<20) },
	"Ada, 40 SMs":       func() perf.Profile { return board("rtx4090", 40, 2.0e9, 432e9, 48<<20) },
	"RTX 4070 Ti Super": func() perf.Profile { return board("rtx4090", 66, 2.61e9, 672e9, 48<<20) },
}

// board is a profile with another number of SMs, clock, DRAM and L2; what depends on them is scaled.
func board(like string, sms int, hz, dram float64, l2 int) perf.Profile {
	p, err := perf.ProfileByName(like)
	if err != nil {
		panic(err)
	}
	p.L2BytesPerSecond *= float64(sms) * hz / (float64(p.SMs) * p.ModelHz)
	p.SMs, p.BoostHz, p.ModelHz, p.DRAMBytesPerSecond, p.L2Bytes = sms, hz, hz, dram, l2
	return *p
}

func profileOf(t testing.TB, name string) *perf.Profile {
	t.Helper()
	p := perf.Profile{}
	if f := gpus[name]; f != nil {
		p = f()
	} else {
		q, err := perf.ProfileByName(strings.ToLower(name))
		if err != nil {
			t.Fatal(err)
		}
		p = *q
	}
	p.MemoryBytes = 16e9
	return &p
}

// recordedRegisters reads what kernelgen recorded of the sources in a folder for a compute capability.
func recordedRegisters(t testing.TB, folder string, p *perf.Profile) map[string]driver.FunctionFacts {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, "facts.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	facts := map[string]driver.FunctionFacts{}
	for in := bufio.NewScanner(f); in.Scan(); {
		x := strings.Split(in.Text(), "\t")
		if len(x) < 8 || x[2] != p.ComputeCapability() {
			continue
		}
		n := func(k int) int {
			v, err := strconv.Atoi(x[k])
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		facts[x[1]] = driver.FunctionFacts{Registers: n(3), SpillBytes: n(4), LocalBytes: n(5), SharedBytes: n(6), Source: "cubin"}
	}
	return facts
}

// folderOf is where a kernel's PTX lies.
func folderOf(file string) string {
	if family := filepath.Dir(file); family == "probe" || family == "gemv" && !strings.HasSuffix(file, "1_gemv") {
		return filepath.Join("..", "..", "..", "kernels", family)
	}
	return filepath.Join("testdata", "published", filepath.Dir(file))
}

// predicted runs a probe of the launch.
func (x *published) predicted(t testing.TB) (*driver.Result, *perf.Profile) {
	t.Helper()
	p := profileOf(t, x.gpu)
	d := openTest(t, p)
	target := "sm_80"
	if p.Major < 8 {
		target = "sm_75"
	}
	folder := folderOf(x.file)
	text, err := os.ReadFile(filepath.Join(folder, filepath.Base(x.file)+"."+target+".ptx"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.LoadPTX(string(text), driver.LoadOptions{Name: x.file, Facts: recordedRegisters(t, folder, p)})
	if err != nil {
		t.Fatal(err)
	}
	f := fn(t, m, x.function)
	var buffers []driver.Address
	arguments := append([]any(nil), x.arguments...)
	for i, a := range arguments {
		if n, ok := a.(buffer); ok {
			at, err := d.Alloc(int64(n))
			if err != nil {
				t.Fatal(err)
			}
			buffers = append(buffers, at)
			arguments[i] = at
		}
	}
	if x.prepare != nil {
		x.prepare(t, d, buffers)
	}
	if x.shared > 0 {
		if err := f.SetMaxDynamicShared(x.shared); err != nil {
			t.Fatal(err)
		}
	}
	r, err := d.Launch(t.Context(), &driver.Launch{Function: f, Grid: x.grid, CTA: x.cta, Shared: x.shared, Args: pack(t, f, arguments...), Wait: true, Count: true, Probe: true})
	if err != nil {
		t.Fatalf("%s on %s: %v", x.what, x.gpu, err)
	}
	return r, p
}

// outcome is a prediction beside the published time.
type outcome struct {
	x         *published
	predicted perf.Figure
}

func (o *outcome) error() float64 { return o.predicted.Value/o.x.seconds - 1 }

// inside: the published time lies in the range that a card would show.
func (o *outcome) inside() bool {
	return o.predicted.Low <= o.x.seconds && o.x.seconds <= o.predicted.High
}

// TestPublishedTimes predicts every published time whose CUDA kernel is here and prints predicted, published and error; those
// without a kernel are listed. Of the times that no parameter was fitted to, the median error is at most 15 %, and 80 % lie in
// the range that cards show; of all pairs of steps of a ladder that lie at least 20 % apart, 95 % come in the right order.
func TestPublishedTimes(t *testing.T) {
	var all []outcome
	var table strings.Builder
	before := cpuTime()
	for i := range publishedTimes {
		x := &publishedTimes[i]
		if x.seconds == 0 {
			fmt.Fprintf(&table, "%-18s %-32s %10s  no kernel\n", x.gpu, x.what, "")
			continue
		}
		r, p := x.predicted(t)
		if !r.Simulated.Done() {
			t.Fatalf("%s on %s: %+v", x.what, x.gpu, r.Simulated)
		}
		l := perf.Evaluate(perf.Observation{Virtual: true, Shape: perf.Shape{Grid: x.grid.Array(), CTA: x.cta.Array(), DynamicShared: x.shared}, Simulated: r.Simulated}, p)
		o := outcome{x, l.Duration}
		all = append(all, o)
		kind, in := "", ""
		if x.fitted {
			kind = "fitted"
		}
		if !o.inside() {
			in = "outside the range"
		}
		fmt.Fprintf(&table, "%-18s %-32s %10s %10s %+4.0f%%  %-6s  %s\n", x.gpu, x.what, perf.Format(o.predicted.Value, "s"), perf.Format(x.seconds, "s"), 100*o.error(), kind, in)
	}
	t.Logf("GPU, launch, predicted, published, error\n%s", table.String())
	summary(t, "fitted", all, func(o *outcome) bool { return o.x.fitted })
	median, inside := summary(t, "not fitted", all, func(o *outcome) bool { return !o.x.fitted })
	if !(median <= .15) {
		t.Errorf("median error of what was not fitted: %.1f %%, at most 15", 100*median)
	}
	if !(inside >= .80) {
		t.Errorf("%.0f %% of what was not fitted lies inside the range, at least 80", 100*inside)
	}
	right, pairs := ordered(all)
	t.Logf("steps of a ladder at least 20 %% apart: %d of %d pairs in the right order; CPU time %v", right, pairs, cpuTime()-before)
	if !(float64(right) >= .95*float64(pairs)) || pairs < 50 {
		t.Errorf("%d of %d pairs in the right order, at least 95 %%", right, pairs)
	}
}

// summary logs the errors of some outcomes and gives their median and the share that lies in the shown range.
func summary(t *testing.T, what string, all []outcome, which func(*outcome) bool) (median, inside float64) {
	t.Helper()
	var errors []float64
	bias := 0.0
	for i := range all {
		if o := &all[i]; which(o) {
			errors = append(errors, math.Abs(o.error()))
			bias += math.Log(1 + o.error())
			if o.inside() {
				inside++
			}
		}
	}
	sort.Float64s(errors)
	n := float64(len(errors))
	inside /= n
	median = (errors[len(errors)/2] + errors[(len(errors)-1)/2]) / 2
	t.Logf("%d times %s: median error %.1f %%, worst %.0f %%, bias %+.1f %%, %.0f %% inside the shown range", len(errors), what, 100*median,
		100*errors[len(errors)-1], 100*(math.Exp(bias/n)-1), 100*inside)
	return median, inside
}

// ordered counts the pairs of steps of a ladder whose published times lie at least 20 % apart, and those that come in the same
// order.
func ordered(all []outcome) (right, pairs int) {
	for i := range all {
		for j := range all {
			a, b := &all[i], &all[j]
			if a.x.ladder == "" || a.x.ladder != b.x.ladder || a.x.gpu != b.x.gpu || !(b.x.seconds >= 1.2*a.x.seconds) {
				continue
			}
			pairs++
			if b.predicted.Value > a.predicted.Value {
				right++
			}
		}
	}
	return right, pairs
}

// BenchmarkPrediction gives the processor time of a prediction, tracing and caches included, over the published launches: mean and
// most, in milliseconds.
func BenchmarkPrediction(b *testing.B) {
	for b.Loop() {
		var all, most time.Duration
		n := 0
		for i := range publishedTimes {
			if publishedTimes[i].seconds == 0 {
				continue
			}
			before := cpuTime()
			publishedTimes[i].predicted(b)
			spent := cpuTime() - before
			all, most, n = all+spent, max(most, spent), n+1
		}
		b.ReportMetric(float64(all.Milliseconds())/float64(n), "ms-mean")
		b.ReportMetric(float64(most.Milliseconds()), "ms-most")
	}
}
