package kernel

import (
	"strings"
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

// TestPythonClients: what jupyter_client and libzmq themselves do to a kernel.
func TestPythonClients(t *testing.T) {
	python := installtest.Python(t)
	if python == "" {
		return
	}
	dir := t.TempDir()
	spec := map[string]any{
		"argv": []string{self(t), "{connection_file}"}, "display_name": "under test", "language": "go", "interrupt_mode": "message",
		"env": map[string]string{"KERNEL_ECHO": dir},
	}
	if err := kerneltest.WriteSpec(dir, "under-test", spec); err != nil {
		t.Fatal(err)
	}
	cmd := kerneltest.Command(limit(t, 2*time.Minute), python, dir, "testdata/clients.py")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	got, err := cmd.Output()
	want := `slow joiners that got everything: 8
ready: ok
two clients, 400 requests: {'ok'}
a client that leaves while its cell prints: ok
50 MB in: ok
50 MB echoed: ['status', 'execute_input', 'display_data', 'status']
libzmq's heartbeats: disconnects: 0
libzmq's heartbeats: reply: True
Jupyter's heartbeat: True
interrupt: Interrupted
input: ('name?', 'ok')
restart: ('ok', True)
shutdown within 2 s: True
`
	if err != nil || string(got) != want {
		t.Errorf("%v\n got\n%s\nwant\n%s\n%s", err, got, want, stderr.String())
	}
}
