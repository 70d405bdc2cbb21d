package kernels

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// everything is a row with all that a row can have, over testdata/parts/1_all.cu.
func everything() *Kernel {
	return &Kernel{
		name: "parts/1_all",
		operands: []operand{
			{name: "total", output: true, dtype: gpu.F32, shape: []string{"1"}},
			{name: "count", output: true, exact: true, dtype: gpu.I32, shape: []string{"R"}},
			{name: "acc", inout: true, dtype: gpu.F32, shape: []string{"R"}},
			{name: "q", dtype: gpu.U8, shape: []string{"R", "packed"}, fill: func(d dims, r *rand.Rand) []float64 {
				values := make([]float64, d["R"]*d["packed"])
				for i := range values {
					values[i] = float64(r.IntN(256))
				}
				return values
			}},
			{name: "index", dtype: gpu.I32, shape: []string{"R"}, fill: func(d dims, r *rand.Rand) []float64 {
				values := make([]float64, d["R"])
				for i, to := range r.Perm(d["R"]) {
					values[i] = float64(to)
				}
				return values
			}},
			{name: "length", dtype: gpu.F32, shape: []string{"K"}, partial: true},
			{name: "bias", optional: true, dtype: gpu.F32, shape: []string{"R"}},
		},
		scalars:    []scalar{{name: "scale", kind: fraction, low: -2, high: 2}, {name: "negate", kind: flag}},
		derived:    []derivedExtent{{"packed", func(d dims) int { return d["K"] / 4 * 5 }}},
		contents:   []contentExtent{{"top", func(d dims, ints func(string) []int) int { return slices.Max(ints("index")) }}},
		workspaces: []workspace{{name: "part", dtype: gpu.F32, shape: []string{"R"}}},
		multiples:  map[string]int{"K": 4},
		limits:     map[string]limit{"R": {1000, "split it"}},
		precondition: func(d dims) error {
			if d["R"]*d["K"] > 20000 {
				return fmt.Errorf("R × K = %d, more than 20000", d["R"]*d["K"])
			}
			return nil
		},
		validate: func(d dims, ints func(string) []int) error {
			for i, to := range ints("index") {
				if to < 0 || to >= d["R"] {
					return &gpu.Error{What: fmt.Sprintf("index[%d] = %d, there are %d rows", i, to, d["R"]), How: "give indices of rows"}
				}
			}
			return nil
		},
		stages: []stage{
			{idea: "rows", function: "parts_rows", main: true, config: func(d dims) gpu.Config { return gpu.Threads(d["R"], 64) },
				args: []string{"count", "acc", "q", "index", "bias", "part", "R", "packed", "scale", "negate"}},
			{idea: "join", function: "parts_join", config: func(dims) gpu.Config { return gpu.Config{} }, args: []string{"total", "part", "R"},
				flops: func(d dims) float64 { return d.f("R") }},
		},
		bytes: formula{"R·packed + …", func(d dims) float64 {
			return d.f("R")*d.f("packed") + 4*d.f("R")*(1+2+1) + 4 + 4*d.f("R")*float64(1-d[absence+"bias"])
		}},
		flops:   formula{"R·(packed + 2)", func(d dims) float64 { return d.f("R") * (d.f("packed") + 2) }},
		terms:   func(d dims) float64 { return d.f("R") + 4 },
		results: partsReference,
		counts: func(d dims) counters {
			r := d.f("R")
			c := counters{loadBytes: r*d.f("packed") + 4*r + 4*(d.f("top")+1)}
			if d.has("bias") {
				c[loadBytes] += 4 * r
			}
			c[distinctRead] = ceil(r*d.f("packed"), 32) + 2*ceil(4*r, 32) // q, acc, part
			if d["packed"] > 0 {                                          // and index
				c[distinctRead] += ceil(4*r, 32)
				c[loadBytes] += 4 * r
			}
			if d.has("bias") {
				c[distinctRead] += ceil(4*r, 32)
			}
			return c
		},
		countsIn: func(d dims, in map[string][]float64) counters {
			return counters{storeBytes: 3*4*float64(len(in["index"])) + 4}
		},
		cases: []trial{
			{dims: dims{"R": 1, "K": 4, "negate": 0}, fractions: map[string]float64{"scale": 0.1}},
			{dims: dims{"R": 65, "K": 12, "negate": 1}, fractions: map[string]float64{"scale": -1.7}, inputs: outliers},
			{dims: dims{"R": 65, "K": 0, "negate": 1}, fractions: map[string]float64{"scale": 0}},
			{dims: dims{"R": 33, "K": 64, "negate": 0}, fractions: map[string]float64{"scale": 0.25}, without: []string{"bias"}},
			{dims: dims{"R": 7, "K": 8, "negate": 1}, fractions: map[string]float64{"scale": 1}, inputs: special},
		},
	}
}

func partsReference(d dims, in map[string][]float64) map[string]result {
	acc := result{want: slices.Clone(in["acc"]), scale: make([]float64, d["R"])}
	count, total := result{want: make([]float64, d["R"])}, result{want: []float64{0}, scale: []float64{0}}
	for r := range d["R"] {
		sum := 0.0
		for i := range d["packed"] {
			sum += in["q"][int(in["index"][r])*d["packed"]+i]
		}
		s := in["scale"][0] * sum
		magnitude := max(s, -s)
		if d.has("bias") {
			s += in["bias"][r]
			magnitude += max(in["bias"][r], -in["bias"][r])
		}
		if d["negate"] != 0 {
			s = -s
		}
		acc.want[r] += s
		acc.scale[r] = magnitude + max(in["acc"][r], -in["acc"][r])
		count.want[r] = d.f("packed")
		total.want[0] += s
		total.scale[0] += magnitude
	}
	return map[string]result{"acc": acc, "count": count, "total": total}
}

// register puts rows of testdata in the place of the registry for a test.
func register(t *testing.T, rows ...*Kernel) {
	t.Helper()
	oldRows, oldFiles := registry, files
	t.Cleanup(func() { registry, files = oldRows, oldFiles })
	paths, err := filepath.Glob("testdata/*/*")
	if err != nil || len(paths) == 0 {
		t.Fatal("no testdata: ", err)
	}
	tree := fstest.MapFS{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		tree[path.Join(filepath.Base(filepath.Dir(p)), filepath.Base(p))] = &fstest.MapFile{Data: data}
	}
	registry, files = rows, tree
}

// TestRowWithEverything checks the row on both targets, on shapes of its own and random ones, and under the sanitizer.
func TestRowWithEverything(t *testing.T) {
	k := everything()
	register(t, k)
	for _, name := range []string{"virtual:h200", "virtual:t4"} {
		dev := open(t, name)
		var report *CheckReport
		var err error
		found := gpu.Sanitize(func() { report, err = k.Check(dev) })
		if err != nil || len(report.Cases) != 5 {
			t.Fatalf("%s: %v\n%s", name, err, report)
		}
		if !found.Clean() {
			t.Errorf("%s: %s", name, found)
		}
		for seed := range uint64(10) {
			trial := k.randomTrial(rand.New(rand.NewPCG(seed, 5)))
			if result, err := k.checkCase(dev, trial, seed); err != nil || len(result.Wrong) > 0 {
				t.Errorf("%s, %s: %v %q", name, trial, err, result.Wrong)
			}
		}
	}
	if got, want := k.Arguments(), "total f32 [1], count i32 [R], acc f32 [R], q u8 [R, packed], index i32 [R], length f32 [K], bias f32 [R] or nil, scale float, negate bool"; got != want {
		t.Errorf("arguments %s\nwant %s", got, want)
	}
	if k.Function() != "parts_rows" {
		t.Errorf("function %s", k.Function())
	}
}

// TestCheckFindsMistakes changes the row in each place that a check must notice.
func TestCheckFindsMistakes(t *testing.T) {
	dev := open(t, "virtual:h200")
	for _, c := range []struct {
		name   string
		change func(k *Kernel)
		want   string
	}{
		{"an output that is not written", func(k *Kernel) { k.stages = k.stages[:1] }, "total: element 0 is NaN"},
		{"a wrong integer", func(k *Kernel) { wrap(k, "count", 1) }, "count: element 0 is 5, the reference 6 exactly"},
		{"a wrong sum", func(k *Kernel) { wrap(k, "acc", 0.01) }, "acc: element 0 is "},
		{"no reference for an output", func(k *Kernel) {
			old := k.results
			k.results = func(d dims, in map[string][]float64) map[string]result {
				all := old(d, in)
				delete(all, "acc")
				return all
			}
		}, "the reference has no acc"},
		{"a count that leaves out a launch", func(k *Kernel) {
			old := k.counts
			k.counts = func(d dims) counters { c := old(d); c[loadBytes] -= 4 * d.f("R"); return c }
		}, "global load bytes: "},
		{"a workspace that is read before it is written", func(k *Kernel) { slices.Reverse(k.stages) }, "total: element 0 is NaN"},
	} {
		k := everything()
		c.change(k)
		t.Run(c.name, func(t *testing.T) {
			register(t, k)
			report, err := k.Check(dev)
			if err == nil || report.Passed() || !strings.Contains(report.String(), c.want) {
				t.Errorf("%v\n%s\nwant %s", err, report, c.want)
			}
		})
	}
}

// wrap adds something to the reference's first value of an output.
func wrap(k *Kernel, output string, plus float64) {
	old := k.results
	k.results = func(d dims, in map[string][]float64) map[string]result {
		all := old(d, in)
		all[output].want[0] += plus
		return all
	}
}

// TestStages holds what the card is told of a step of two launches: names, shares that add up, and L2 kept between them.
func TestStages(t *testing.T) {
	k := everything()
	register(t, k)
	dev := open(t, "virtual:h200")
	made := k.arguments(dev, k.cases[1], rand.New(rand.NewPCG(1, 1)))
	launches, err := measured(k.name, nil, made.args)
	if err != nil || len(launches) != 2 {
		t.Fatalf("%d launches, %v", len(launches), err)
	}
	rows, join := launches[0], launches[1]
	if rows.Kernel != "parts/1_all: rows" || join.Kernel != "parts/1_all: join" || !rows.Cold || join.Cold {
		t.Errorf("%q cold %v, %q cold %v", rows.Kernel, rows.Cold, join.Kernel, join.Cold)
	}
	d := k.cases[1].of(k, dev.SMs())
	total := perf.Aggregate(launches, perf.Figure{})
	if want := k.bytes.of(d); total.Ideal.Value != want || total.Ideal.Tag != perf.Formula {
		t.Errorf("the step moves %+v at least, want %g", total.Ideal, want)
	}
	if sum := rows.FormulaFLOPs + join.FormulaFLOPs; sum != k.flops.of(d) || join.FormulaFLOPs != 65 {
		t.Errorf("FLOPs %g and %g of %g", rows.FormulaFLOPs, join.FormulaFLOPs, k.flops.of(d))
	}
	const r, packed = 65, 15 // q, count, acc twice, index, bias, part; then total, part
	if rows.OwnBytes != r*packed+4*r*(1+2+1+1+1) || join.OwnBytes != 4+4*r {
		t.Errorf("own bytes %g, %g", rows.OwnBytes, join.OwnBytes)
	}
}

// TestRowErrors compares the whole text of what a row says of bad arguments.
func TestRowErrors(t *testing.T) {
	k := everything()
	register(t, k)
	dev := open(t, "virtual:h200")
	f := func(n int) *gpu.Tensor { return dev.Zeros(gpu.F32, n) }
	i := func(n int) *gpu.Tensor { return dev.Zeros(gpu.I32, n) }
	q := dev.Zeros(gpu.U8, 8, 5)
	good := func() []any { return []any{f(1), i(8), f(8), q, i(8), f(4), f(8), 1.5, false} }
	with := func(at int, v any) []any { args := good(); args[at] = v; return args }
	takes := "it takes " + k.Arguments()
	for _, c := range []struct {
		args []any
		want string
	}{
		{with(0, f(2)), "parts/1_all: total is f32 [2], it takes f32 [1]"},
		{with(3, dev.Zeros(gpu.U8, 8, 6)), "parts/1_all: q is u8 [8, 6], but packed = 5 follows from K = 4, R = 8\n" + takes},
		{with(5, f(7)), "parts/1_all: K = 7, it takes multiples of 4\nuse K = 4 or 8, or fill up with zeros"},
		{with(4, dev.From([]int{0, 1, 2, 8, 0, 0, 0, 0})), "parts/1_all: index[3] = 8, there are 8 rows\ngive indices of rows"},
		{with(6, i(8)), "parts/1_all: bias is i32 [8], it takes f32 [R]\nconvert it: dev.FromAs(gpu.F32, bias.Float64s(), 8)"},
		{with(6, 3), "parts/1_all: argument 7 (bias) is of type int, it takes a tensor f32 [R]\nmake one with dev.Randn, dev.Zeros or dev.From"},
		{with(2, nil), "parts/1_all: argument 3 (acc) is nil, it takes a tensor f32 [R]\nmake one with dev.Randn, dev.Zeros or dev.From"},
		{with(7, 2.5), "parts/1_all: argument 8 (scale) is 2.5, it takes a number from -2 to 2"},
		{with(7, "a"), "parts/1_all: argument 8 (scale) is a, it takes a number from -2 to 2"},
		{with(8, 1), "parts/1_all: argument 9 (negate) is 1, it takes true or false"},
		{good()[:8], "parts/1_all: 8 arguments, it takes 9\nwrite kernels.Run(\"parts/1_all\", total, count, acc, q, index, length, bias, scale, negate) with " + k.Arguments()},
		{[]any{f(1), i(1001), f(1001), dev.Zeros(gpu.U8, 1001, 5), i(1001), f(4), nil, 1, false}, "parts/1_all: R = 1001, it takes up to 1000\nsplit it"},
		{[]any{f(1), i(999), f(999), dev.Zeros(gpu.U8, 999, 50), i(999), f(40), nil, 1, false}, "parts/1_all: R × K = 39960, more than 20000"},
	} {
		if err := Run(k.name, c.args...); err == nil || err.Error() != c.want {
			t.Errorf("got\n%v\nwant\n%s", err, c.want)
		}
	}
	for _, args := range [][]any{good(), with(6, nil), with(6, (*gpu.Tensor)(nil)), append(good()[:6], 1.5, true), with(7, float32(1)), with(7, 2)} {
		if err := Run(k.name, args...); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// TestBestByShape: a ladder takes the highest step whose row takes the call and prefers it.
func TestBestByShape(t *testing.T) {
	refusing, choosy := *Get("gemv/5_split_k"), *Get("gemv/4_rows")
	refusing.precondition = func(d dims) error {
		if d["K"] < 64 {
			return errors.New("K is small")
		}
		return nil
	}
	choosy.prefer = func(d dims) bool { return d["N"] >= 8 }
	old := registry
	defer func() { registry = old }()
	registry = []*Kernel{Get("gemv/3_vec16"), &choosy, &refusing}
	dev := open(t, "virtual:h200")
	for _, c := range []struct {
		n, k int
		want string
	}{{16, 64, "gemv/5_split_k"}, {16, 32, "gemv/4_rows"}, {4, 32, "gemv/3_vec16"}} {
		args := []any{dev.Zeros(gpu.F16, c.n), dev.Zeros(gpu.F16, c.n, c.k), dev.Zeros(gpu.F16, c.k)}
		launches, err := measured("gemv", nil, args)
		if err != nil || launches[0].Kernel != c.want {
			t.Errorf("N = %d, K = %d: %v, %v", c.n, c.k, launches, err)
		}
	}
	registry = []*Kernel{&choosy}
	if launches, err := measured("gemv", nil, []any{dev.Zeros(gpu.F16, 4), dev.Zeros(gpu.F16, 4, 8), dev.Zeros(gpu.F16, 8)}); err != nil || launches[0].Kernel != "gemv/4_rows" {
		t.Errorf("the only step that takes the call: %v", err)
	}
	registry = []*Kernel{&refusing}
	if _, err := measured("gemv", nil, []any{dev.Zeros(gpu.F16, 4), dev.Zeros(gpu.F16, 4, 8), dev.Zeros(gpu.F16, 8)}); err == nil || err.Error() != "gemv/5_split_k: K is small" {
		t.Errorf("no step takes the call: %v", err)
	}
}

// TestLeast: an entry that needs a later device than its source's others is left out there, and says so.
func TestLeast(t *testing.T) {
	half, brain := *Get("gemv/1_naive").variants()[0], *Get("gemv/1_naive").variants()[1]
	brain.least = 80
	old := registry
	defer func() { registry = old }()
	registry = []*Kernel{&half, &brain}
	t4 := open(t, "virtual:t4")
	if report, err := half.Check(t4); err != nil || len(report.Cases) != len(half.cases)+1 {
		t.Errorf("%v %v", report, err)
	}
	args := []any{t4.Zeros(gpu.BF16, 4), t4.Zeros(gpu.BF16, 4, 8), t4.Zeros(gpu.BF16, 8)}
	want := "launch gemv/1_naive of bf16: needs sm_80, device \"t4\" is sm_75\nuse gpu.Open(\"virtual:a100\")"
	for _, name := range []string{"gemv/1_naive", "gemv"} {
		if err := Run(name, args...); err == nil || err.Error() != want {
			t.Errorf("%s: got\n%v\nwant\n%s", name, err, want)
		}
	}
}
