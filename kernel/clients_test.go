package kernel

import (
	"testing"
	"time"

	"memwall/install/installtest"
	"memwall/kernel/kerneltest"
)

// TestJupyterKernelTest runs the Jupyter project's suite against the echo kernel, so that what fails here is the protocol
// and not the language; kernel/kerneltest runs it against memwall.
func TestJupyterKernelTest(t *testing.T) {
	python := installtest.Python(t)
	if python == "" {
		return
	}
	dir := t.TempDir()
	outcome, err := kerneltest.Run(limit(t, 2*time.Minute), python, dir, []string{self(t), "{connection_file}"},
		map[string]string{"KERNEL_ECHO": dir}, kerneltest.Samples{
			LanguageName: "go", FileExtension: ".go",
			HelloWorld: "hello, world", Stderr: "stderr oops",
			Completions: []kerneltest.Match{{Text: "l", Matches: []string{"lines", "later"}}, {Text: "display l", Matches: []string{"lines", "later"}}, {Text: "zz", Matches: []string{}}},
			Complete:    []string{"f {}", ""}, Incomplete: []string{"f {"}, Invalid: []string{"f }"},
			Page: "page help", Error: "error boom",
			Results:        []kerneltest.Value{{Code: "value 1", Result: "1"}, {Code: "value 22", Result: "22"}},
			Displays:       []kerneltest.Shown{{Code: "display <b>x</b>", MIME: "text/html"}},
			HistoryPattern: "value 2?", History: []string{"tail", "range", "search"},
			Inspect: "display", Clear: "clear",
		})
	if err == nil {
		err = outcome.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
}
