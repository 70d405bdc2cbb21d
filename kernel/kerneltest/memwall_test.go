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

// Lines of the figures. They hold on a machine with nothing else to do; a test runs beside others, so it fails only
// beyond slack times the line. `memwall bench cells` shows the figures themselves.
const slack = 5

// TestFigures measures memwall, and by the same harness in the same run ipykernel, the yardstick.
func TestFigures(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var stderr strings.Builder
	o := client.BenchOptions{Starts: 3, Cells: 200, Interrupts: 3, Stderr: &stderr}
	ours, err := client.Bench(ctx, []string{installtest.Memwall(t), "kernel", "-f", "{connection_file}"}, client.GoWorkload, o)
	t.Logf("memwall\n%v", ours)
	if err != nil {
		t.Fatalf("memwall: %v\n%s", err, stderr.String())
	}
	for _, line := range []struct {
		name       string
		got, limit time.Duration
	}{
		{"kernel_info after the start", ours.KernelInfo.Median, 50 * time.Millisecond},
		{"first result after the start", ours.FirstResult.Median, 190 * time.Millisecond},
		{"trivial cell to idle, p99", ours.Idle.P99, 4 * time.Millisecond},
		{"100,000 printed lines", ours.Lines, 300 * time.Millisecond},
		{"completion", ours.Completion.Median, 3 * time.Millisecond},
		{"interrupt of a busy loop", ours.Interrupt.Median, 20 * time.Millisecond},
	} {
		if line.got > slack*line.limit {
			t.Errorf("%s: %v, the line is %v", line.name, line.got, line.limit)
		}
	}
	if runtime.GOOS == "linux" && (ours.PSS <= 0 || ours.PSS > 80e6) {
		t.Errorf("kernel and worker take %d bytes after start, the line is 80 MB", ours.PSS)
	}
	python := installtest.Python(t)
	if python == "" {
		return
	}
	theirs, err := client.Bench(ctx, []string{python, "-m", "ipykernel_launcher", "-f", "{connection_file}"}, client.PythonWorkload, client.BenchOptions{Starts: 1, Cells: 200, Interrupts: 1})
	t.Logf("ipykernel\n%v", theirs)
	if err != nil {
		t.Fatalf("ipykernel: %v", err)
	}
	if ratio := float64(ours.Idle.Median) / float64(theirs.Idle.Median); !(ratio <= 0.3) {
		t.Errorf("a trivial cell takes %.2f of ipykernel's time, the line is 0.3", ratio)
	}
}
