package kerneltest_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"memwall/install/installtest"
	"memwall/kernel/client"
	"memwall/kernel/kerneltest"
)

var samples = kerneltest.Samples{
	LanguageName: "go", FileExtension: ".go",
	HelloWorld:  `fmt.Println("hello, world")`,
	Stderr:      `fmt.Fprintln(os.Stderr, "oops")`,
	Completions: []kerneltest.Match{{Text: "fmt.Println", Matches: []string{"Println"}}, {Text: "strings.ToLo", Matches: []string{"ToLower", "ToLowerSpecial"}}},
	Complete:    []string{"x := 1", "func f() int { return 1 }", "for i := range 3 {\n}", `fmt.Println("a")`},
	Incomplete:  []string{"func f() int {", "fmt.Println(1,", "x := `a", "for i := range 3 {"},
	Invalid:     []string{"x := )", "func func"},
	Page:        "fmt.Println?",
	Error:       `panic("boom")`,
	Results:     []kerneltest.Value{{Code: "6 * 7", Result: "42"}, {Code: "1 + 1", Result: "2"}},
	Displays:    []kerneltest.Shown{{Code: `display.Show(display.HTML("<b>x</b>"))`, MIME: "text/html"}, {Code: `display.HTML("<i>y</i>")`, MIME: "text/html"}},
	// matches 6 * 7 alone
	HistoryPattern: "6 ?*", History: []string{"tail", "range", "search"},
	Inspect: "fmt.Println", Clear: "display.Clear(true)",
}

// TestMemwall: all 13 tests of jupyter_kernel_test pass on the real kernel.
func TestMemwall(t *testing.T) {
	python := installtest.Python(t)
	if python == "" {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	outcome, err := kerneltest.Run(ctx, python, t.TempDir(), []string{installtest.Memwall(t), "kernel", "-f", "{connection_file}"}, nil, samples)
	if err == nil {
		err = outcome.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkFigures measures memwall and, by the same harness in the same run, ipykernel, the yardstick. Times are shown, not
// judged: a machine that does other work beside makes any limit fail.
func BenchmarkFigures(b *testing.B) {
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Minute)
	defer cancel()
	for b.Loop() {
		ours := bench(ctx, b, "memwall", []string{installtest.Memwall(b), "kernel", "-f", "{connection_file}"}, client.GoWorkload)
		if python := installtest.Python(b); python != "" {
			theirs := bench(ctx, b, "ipykernel", []string{python, "-m", "ipykernel_launcher", "-f", "{connection_file}"}, client.PythonWorkload)
			b.ReportMetric(float64(ours.Idle.Median)/float64(theirs.Idle.Median), "of-ipykernel/cell")
		}
		b.ReportMetric(float64(ours.Idle.Median)/1e6, "ms/cell")
		b.ReportMetric(float64(ours.Idle.P99)/1e6, "ms-p99/cell")
		b.ReportMetric(float64(ours.Lines)/1e6, "ms/100k-lines")
	}
}

func bench(ctx context.Context, b *testing.B, name string, argv []string, w client.Workload) client.Figures {
	var stderr strings.Builder
	f, err := client.Bench(ctx, argv, w, client.BenchOptions{Stderr: &stderr})
	b.Logf("%s\n%v", name, f)
	if err != nil {
		b.Fatalf("%s: %v\n%s", name, err, stderr.String())
	}
	return f
}

// TestMemory: kernel and worker together stay below 80 MB after the first cell.
func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("not run: only Linux tells the memory that processes share")
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f, err := client.Bench(ctx, []string{installtest.Memwall(t), "kernel", "-f", "{connection_file}"}, client.GoWorkload,
		client.BenchOptions{Starts: 1, Cells: 10, Interrupts: 1})
	if err != nil {
		t.Fatal(err)
	}
	if f.PSS <= 0 || f.PSS > 80e6 {
		t.Errorf("kernel and worker take %d bytes, the limit is 80 MB", f.PSS)
	}
}
