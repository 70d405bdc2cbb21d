package kernels

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"text/tabwriter"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// trial is one test case: extents and what the inputs are filled with.
type trial struct {
	dims   dims
	inputs inputs
}

// inputs is a kind of test data.
type inputs int

const (
	normal   inputs = iota // N(0, 1)
	outliers               // N(0, 1), and one in a thousand from N(0, 100): what a model's activations look like
	special                // N(0, 1) with some NaN, +inf, −inf, −0 and the smallest numbers
	masked                 // N(0, 1) with −inf: whole rows, tails and single elements
)

func (i inputs) String() string { return [...]string{"normal", "outliers", "special", "masked"}[i] }

// String is "N=31 K=33" with the kind of input where it is not the usual one.
func (t trial) String() string {
	var parts []string
	for name, n := range t.dims {
		parts = append(parts, fmt.Sprintf("%s=%d", name, n))
	}
	sort.Strings(parts)
	if t.inputs != normal {
		parts = append(parts, t.inputs.String())
	}
	return strings.Join(parts, " ")
}

// fill makes n values of a kind; the last extent tells where rows end.
func (i inputs) fill(r *rand.Rand, n, columns int) []float64 {
	values := make([]float64, n)
	for j := range values {
		values[j] = r.NormFloat64()
		switch i {
		case outliers:
			if r.IntN(1000) == 0 {
				values[j] += 10 * r.NormFloat64() // variance 100
			}
		case special:
			if r.IntN(50) == 0 {
				values[j] = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 6e-8, -6e-8}[r.IntN(6)]
			}
		case masked:
			row, column := j/max(columns, 1), j%max(columns, 1)
			if row%4 == 0 || row%4 == 1 && column > columns/3 || row%4 == 2 && r.IntN(3) == 0 {
				values[j] = math.Inf(-1)
			}
		}
	}
	return values
}

// CaseResult is how one case went.
type CaseResult struct {
	Case   string
	NMSE   float64 // Σ(got − want)² / Σ want², over finite results
	Worst  float64 // largest error as a share of what rounding allows; above 1 fails
	Wrong  []string
	Counts bool // the counters were compared with their closed forms
}

// CheckReport is how the cases of a kernel went on a device.
type CheckReport struct {
	Kernel, Device, Target string
	Cases                  []CaseResult
}

// Passed says whether all is well.
func (r *CheckReport) Passed() bool { return r.failures() == 0 }

func (r *CheckReport) failures() int {
	n := 0
	for _, c := range r.Cases {
		if len(c.Wrong) > 0 {
			n++
		}
	}
	return n
}

// String is a table with a line a case, and what was wrong below it.
func (r *CheckReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s (%s): %d cases, %d wrong\n", r.Kernel, r.Device, r.Target, len(r.Cases), r.failures())
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "case\tNMSE\terror ÷ allowed\tcounters\tresult")
	for _, c := range r.Cases {
		counts, result := "not counted", "ok"
		if c.Counts {
			counts = "compared"
		}
		if len(c.Wrong) > 0 {
			result = "WRONG"
		}
		fmt.Fprintf(w, "%s\t%.1e\t%.3f\t%s\t%s\n", c.Case, c.NMSE, c.Worst, counts, result)
		for _, line := range c.Wrong {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	w.Flush() // into memory: cannot fail
	return b.String()
}

// MIMEBundle shows the table.
func (r *CheckReport) MIMEBundle() map[string]any { return map[string]any{"text/plain": r.String()} }

// Check runs every case of the kernel on a device: results against the float64 reference, outputs filled with NaN
// beforehand, and on a device that counts, counters against their closed forms. The error tells that a case is wrong, or
// that the device cannot run the kernel at all.
func (k *Kernel) Check(dev *gpu.Device) (*CheckReport, error) {
	target, cannot := k.targetFor(dev)
	if cannot != nil {
		return nil, cannot
	}
	report := &CheckReport{Kernel: k.name, Device: dev.Name(), Target: target}
	variants := k.variants()
	for _, v := range variants {
		for i, t := range v.cases {
			result, err := v.checkCase(dev, t, uint64(i))
			if err != nil {
				return report, fmt.Errorf("%s, case %s: %w", k.name, t, err)
			}
			if len(variants) > 1 {
				result.Case = v.operands[len(v.operands)-1].dtype.String() + " " + result.Case
			}
			report.Cases = append(report.Cases, result)
		}
	}
	if n := report.failures(); n > 0 {
		return report, &gpu.Error{What: fmt.Sprintf("%s on %s: %d of %d cases are wrong", k.name, dev.Name(), n, len(report.Cases)), Where: report.String()}
	}
	return report, nil
}

// arguments makes those of a case: outputs filled with NaN, inputs with the case's kind of data, then the scalars. The
// tensors are in the operands' order, the output first; making them panics with a *gpu.Error.
func (k *Kernel) arguments(dev *gpu.Device, t trial, random *rand.Rand) (args []any, tensors []*gpu.Tensor) {
	for _, o := range k.operands {
		shape, n, columns := make([]int, len(o.shape)), 1, 1
		for i, name := range o.shape {
			columns = t.dims[trimFold(name)]
			shape[i], n = columns, n*columns
		}
		var tensor *gpu.Tensor
		if o.output {
			tensor = dev.Full(o.dtype, math.NaN(), shape...)
		} else {
			tensor = dev.FromAs(o.dtype, t.inputs.fill(random, n, columns), shape...)
		}
		args, tensors = append(args, tensor), append(tensors, tensor)
	}
	for _, s := range k.scalars {
		args = append(args, t.dims[s.name])
	}
	return args, tensors
}

func free(tensors []*gpu.Tensor) {
	for _, t := range tensors {
		t.Free()
	}
}

// checkCase runs one case; its tensors are freed at the end.
func (k *Kernel) checkCase(dev *gpu.Device, t trial, seed uint64) (result CaseResult, err error) {
	defer func() { // making tensors panics with a *gpu.Error
		if r := recover(); r != nil {
			e, ok := r.(*gpu.Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	args, tensors := k.arguments(dev, t, rand.New(rand.NewPCG(seed, 0x6d656d77616c6c)))
	defer free(tensors)
	in := map[string][]float64{}
	for i, o := range k.operands {
		if !o.output {
			in[o.name] = tensors[i].Float64s() // as rounded to the element type
		}
	}
	launch, err := measured(k.name, args)
	if err != nil {
		return result, err
	}
	want, scale := k.reference(t.dims, in)
	result = compareResults(k.operands[0].dtype, tensors[0].Float64s(), want, scale, k.terms(t.dims))
	result.Case = t.String()
	if launch.Counted && launch.Sampled <= 1 {
		result.Counts = true
		result.Wrong = append(result.Wrong, k.expected(withSMs(t.dims, dev)).compare(&launch.Counts)...)
	}
	return result, nil
}

func withSMs(d dims, dev *gpu.Device) dims {
	d = maps.Clone(d)
	d[multiprocessors] = dev.SMs()
	return d
}

// measured runs one kernel and gives its launch.
func measured(name string, args []any) (*perf.Launch, error) {
	var err error
	report := gpu.Measure(func() { err = Run(name, args...) })
	if err != nil {
		return nil, err
	}
	return report.Launches[0], nil
}

// compareResults holds results against the reference. A result may err by terms·2⁻²⁴·scale (the roundings of f32
// accumulation) and half a step of the output's element type; NaN and infinities must stand where the reference has them.
func compareResults(dtype gpu.DType, got, want, scale []float64, terms float64) CaseResult {
	var result CaseResult
	if len(got) != len(want) {
		result.Wrong = []string{fmt.Sprintf("%d results, the reference has %d", len(got), len(want))}
		return result
	}
	squares, total := 0.0, 0.0
	wrong := 0
	for i := range want {
		allowed := terms*0x1p-24*scale[i] + step(dtype, want[i])/2
		share := 0.0
		switch {
		case math.IsNaN(want[i]) || math.IsNaN(got[i]):
			share = mismatch(math.IsNaN(want[i]) && math.IsNaN(got[i]))
		case math.IsInf(want[i], 0) || math.IsInf(got[i], 0) || math.Abs(want[i])+allowed >= overflow(dtype):
			share = mismatch(got[i] == want[i] || math.Abs(want[i])+allowed >= overflow(dtype) && math.Signbit(got[i]) == math.Signbit(want[i]))
		default:
			difference := math.Abs(got[i] - want[i])
			squares += difference * difference
			total += want[i] * want[i]
			if share = difference / allowed; !(difference <= allowed) {
				share = math.Max(share, math.Nextafter(1, 2))
			}
			if difference == 0 {
				share = 0
			}
		}
		result.Worst = math.Max(result.Worst, share)
		if !(share <= 1) {
			if wrong++; wrong <= 3 {
				result.Wrong = append(result.Wrong, fmt.Sprintf("element %d is %g, the reference %g ± %.2g", i, got[i], want[i], allowed))
			}
		}
	}
	if wrong > 3 {
		result.Wrong = append(result.Wrong, fmt.Sprintf("and %d more elements", wrong-3))
	}
	if total > 0 {
		result.NMSE = squares / total
	}
	return result
}

// mismatch is a share of the allowed error for what is right or wrong without a degree.
func mismatch(right bool) float64 {
	if right {
		return 0
	}
	return math.Inf(1)
}

// step is the distance between neighbouring numbers of an element type at a value.
func step(dtype gpu.DType, value float64) float64 {
	digits, least := 24, -149
	switch dtype {
	case gpu.F16:
		digits, least = 11, -24
	case gpu.BF16:
		digits, least = 8, -133
	}
	_, exponent := math.Frexp(value)
	return math.Ldexp(1, max(exponent-digits, least))
}

// overflow is where an element type rounds to infinity.
func overflow(dtype gpu.DType) float64 {
	if dtype == gpu.F16 {
		return 65520
	}
	return math.MaxFloat32
}
