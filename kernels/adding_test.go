package kernels

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memwall/gpu"
	"memwall/gpu/quant"
)

// addedKernel and addedFormat are what TestAdding adds.
const (
	addedKernel = "softmax/4_added"
	addedFormat = "Q8_added"
)

// environmentAdded says that this binary was built with them.
const environmentAdded = "MEMWALL_TEST_ADDED"

// TestAdding adds a CUDA kernel, one source and one row, and a weight format, one row, to a copy of the repository, which is
// an overlay so that nothing is compiled twice; no other file changes. The copy's own test binary then finds them in lists,
// checks, benchmarks, cards and element types (TestAdded).
func TestAdding(t *testing.T) {
	if os.Getenv(environmentAdded) != "" {
		return // this is the copy
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	write := func(path, text string) {
		file := filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(here, filepath.FromSlash(path))] = file
	}
	edit := func(path, old, with string) {
		text, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil || strings.Count(string(text), old) != 1 {
			t.Fatalf("%s: %d places for the row, %v", path, strings.Count(string(text), old), err)
		}
		write(path, strings.Replace(string(text), old, with+old, 1))
	}

	// The source, and its PTX as the generator would make it: that of the step before under other names.
	k := Get("softmax/3_online")
	rename := strings.NewReplacer("softmax/3_online", addedKernel, "softmax_online", "softmax_added", "3_online.cu", "4_added.cu")
	before, after := k.sourceHash(), ""
	source := rename.Replace(k.source())
	write(addedKernel+".cu", source)
	after = hashWithHeaders(source)
	for _, target := range k.targets() {
		text, _ := k.ptx(target)
		write(addedKernel+"."+target+".ptx", rename.Replace(strings.Replace(text, before, after, 1)))
	}
	// The rows.
	edit("softmax.go", "}\n\n// softmax is one step;", "\tsoftmax(\""+addedKernel+"\", \"softmax_added\", 4, func(d dims) counters { return counters{loadBytes: 8 * d.f(\"R\") * d.f(\"C\")} }),\n")
	edit("../gpu/quant/formats.go", "}\n\n// Formats lists", "\t{\""+addedFormat+"\", 32, 34, \"a copy of Q8_0\", 0, boundQ8_0, encodeQ8_0, decodeQ8_0},\n")

	data, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	write("overlay.json", string(data))
	binary := filepath.Join(dir, "added.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-overlay", filepath.Join(dir, "overlay.json"), "-c", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), binary, "-test.run=^(TestAdded|TestSourcesAndEntries|TestPTXIsCurrent|TestBenchShapes)$", "-test.v")
	run.Env = append(os.Environ(), environmentAdded+"=1")
	out, err := run.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS: ") != 4 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAdded looks for the additions; in this repository itself there are none.
func TestAdded(t *testing.T) {
	if os.Getenv(environmentAdded) == "" {
		for _, k := range List() {
			if k.Name() == addedKernel {
				t.Errorf("%s is in the repository", addedKernel)
			}
		}
		return
	}
	if !strings.Contains(List().String(), addedKernel+" ") || Get("softmax").Name() != addedKernel {
		t.Errorf("lists have %v, softmax means %s", names(steps("softmax")), Get("softmax").Name())
	}
	checked, err := Conformance(t.Context(), ConformanceOptions{Filter: addedKernel, Devices: []string{"t4", "h200"}})
	if err != nil || len(checked) != 2 || checked.Failures() != 0 || checked[0].Counted < 5 || checked[0].Sanitized < 5 {
		t.Errorf("check: %v, %v", checked, err)
	}
	report, err := BenchKernels(t.Context(), BenchOptions{Filter: addedKernel, Device: "h200"})
	if err != nil || len(report.Groups) != 1 || !report.Groups[0].Lines[0].Picked || !(report.Groups[0].Lines[0].Share > .5) {
		t.Errorf("bench: %v, %v", report, err)
	}
	dev := open(t, "virtual:h200")
	y, x := dev.Zeros(gpu.F32, 4, 64), dev.Randn(gpu.F32, 4, 64)
	card := gpu.Measure(func() { err = Run("softmax", y, x) }).Card().Text
	if err != nil || !strings.Contains(card, addedKernel) {
		t.Errorf("card: %v\n%s", err, card)
	}
	format, err := quant.Get(addedFormat)
	if err != nil {
		t.Fatal(err)
	}
	if want := "Q8_added: 8.5 bits a weight (32 values in 34 B)"; format.String() != want {
		t.Errorf("the format says %s, want %s", format, want)
	}
	dtype, err := gpu.TypeNamed(addedFormat)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, 64)
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	w := dev.FromAs(dtype, values, 2, 32)
	for i, v := range w.Float64s() {
		if !(math.Abs(v-values[i]) <= 1./127) {
			t.Errorf("value %d is %g after %s, was %g", i, v, format.Name, values[i])
		}
	}
	if w.Bytes() != 2*34 || w.At(1, 31) != w.Float64s()[63] || !slices.Contains(quant.Formats(), format) {
		t.Errorf("%d B, the last value is %g; formats %v", w.Bytes(), w.At(1, 31), quant.Formats())
	}
}
