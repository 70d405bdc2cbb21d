package kernels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"text/tabwriter"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// CaseResult is how one case went.
type CaseResult struct {
	Case   string
	NMSE   float64 // Σ(got − want)² / Σ want², over finite results
	Worst  float64 // largest error as a share of what rounding allows; above 1 fails
	Wrong  []string
	Counts bool // the counters were compared with their closed forms
	// Sanitized: it ran a second time, watched by the sanitizer, whose findings are in Wrong.
	Sanitized bool
}

// add joins the result of another output or row.
func (r *CaseResult) add(other CaseResult, prefix string) {
	r.NMSE, r.Worst = math.Max(r.NMSE, other.NMSE), math.Max(r.Worst, other.Worst)
	for _, line := range other.Wrong {
		r.Wrong = append(r.Wrong, prefix+line)
	}
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
	report, err := k.check(context.Background(), dev, 0, false)
	if err != nil {
		return report, err
	}
	if n := report.failures(); n > 0 {
		return report, &gpu.Error{What: fmt.Sprintf("%s on %s: %d of %d cases are wrong", k.name, dev.Name(), n, len(report.Cases)), Where: report.String()}
	}
	return report, nil
}

// check is Check with numbers from a seed, under the sanitizer too where that is wanted and a case is of moderate size. The
// error is why the device cannot run it, or the interrupt.
func (k *Kernel) check(ctx context.Context, dev *gpu.Device, seed uint64, sanitize bool) (*CheckReport, error) {
	target, cannot := k.targetFor(dev)
	if cannot != nil {
		return nil, cannot
	}
	report := &CheckReport{Kernel: k.name, Device: dev.Name(), Target: target}
	add := func(v *Kernel, name string, result CaseResult, err error) error {
		if ctx.Err() != nil || errors.Is(err, context.Canceled) {
			return cmp.Or(ctx.Err(), err)
		}
		if err != nil {
			result.Wrong = append(result.Wrong, err.Error())
		}
		if result.Case == "" {
			result.Case = name
		}
		if types := v.typeNames(); types != "" {
			result.Case = types + " " + result.Case
		}
		report.Cases = append(report.Cases, result)
		return nil
	}
	for _, v := range k.variants() {
		if _, cannot := v.targetFor(dev); cannot != nil {
			continue // an element type that only later devices have
		}
		for i, t := range v.cases {
			result, err := v.checkCase(dev, t, seed+uint64(i))
			if err == nil && sanitize && t.work() <= sanitizedWork {
				result.Sanitized = true
				found := gpu.Sanitize(func() { _, err = v.checkCase(dev, t, seed+uint64(i)) })
				if !found.Clean() {
					result.Wrong = append(result.Wrong, found.String())
				}
			}
			if err := add(v, t.String(), result, err); err != nil {
				return report, err
			}
		}
		if v.far != nil {
			result, err := v.checkFar(dev, seed)
			if err := add(v, "beyond 4 GiB", result, err); err != nil {
				return report, err
			}
		}
	}
	return report, nil
}

// checkCase runs one case; its tensors are freed at the end.
func (k *Kernel) checkCase(dev *gpu.Device, t trial, seed uint64) (result CaseResult, err error) {
	defer caught(&err)
	random := rand.New(rand.NewPCG(seed, 0x6d656d77616c6c))
	made := k.arguments(dev, t, random)
	defer free(made.tensors)
	launches, err := measured(k.name, random, made.args)
	if err != nil {
		return result, err
	}
	d := t.of(k, dev.SMs())
	k.readContents(d, made.ints)
	result = k.compareOutputs(d, made)
	result.Case = t.String()
	if counts, whole := sumOf(launches); whole {
		result.Counts = true
		result.Wrong = append(result.Wrong, k.expected(d, made.in).compare(counts)...)
	}
	return result, nil
}

// compareOutputs holds every output against the reference.
func (k *Kernel) compareOutputs(d dims, made *data) CaseResult {
	var all CaseResult
	want := map[string]result{}
	if k.results != nil {
		want = k.results(d, made.in)
	}
	terms := 0.0
	if k.terms != nil {
		terms = k.terms(d)
	}
	for i, o := range k.operands {
		if !o.written() || made.tensors[i] == nil {
			continue
		}
		r, known := want[o.name]
		if k.reference != nil {
			r.want, r.scale = k.reference(d, made.in)
		} else if !known {
			all.Wrong = append(all.Wrong, "the reference has no "+o.name)
			continue
		}
		got := resultsOf(made.tensors[i], o)
		var one CaseResult
		if o.exact {
			one = compareExactly(got, r.want)
		} else {
			one = compareResults(o.dtype, got, r.want, r.scale, terms)
		}
		prefix := ""
		if k.results != nil {
			prefix = o.name + ": "
		}
		all.add(one, prefix)
	}
	return all
}

// measured runs one step and gives its launches; poison, where it is not nil, fills workspaces with garbage.
func measured(name string, poison *rand.Rand, args []any) (launches []*perf.Launch, err error) {
	defer caught(&err)
	report := gpu.Measure(func() { err = run(name, poison, args) })
	if err != nil {
		return nil, err
	}
	return report.Launches, nil
}

// sumOf adds up what the launches of a step counted; whole says whether all CTAs of all of them ran and were counted.
func sumOf(launches []*perf.Launch) (sum *perf.Counts, whole bool) {
	sum, whole = &perf.Counts{}, true
	for _, l := range launches {
		sum.Add(&l.Counts)
		whole = whole && l.Counted && l.Sampled <= 1
	}
	return sum, whole
}
