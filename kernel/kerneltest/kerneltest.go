// Package kerneltest runs the Jupyter project's own test suite for kernels, jupyter_kernel_test, against any kernel.
package kerneltest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed suite.py
var suite string

// Tests is the number of tests in jupyter_kernel_test 0.7.
const Tests = 13

// Samples is code in the kernel's language and what it must do; the names are jupyter_kernel_test's.
type Samples struct {
	LanguageName   string   `json:"language_name"`
	FileExtension  string   `json:"file_extension"`
	HelloWorld     string   `json:"code_hello_world"` // prints hello, world
	Stderr         string   `json:"code_stderr"`
	Completions    []Match  `json:"completion_samples"`
	Complete       []string `json:"complete_code_samples"`
	Incomplete     []string `json:"incomplete_code_samples"`
	Invalid        []string `json:"invalid_code_samples"`
	Page           string   `json:"code_page_something"`
	Error          string   `json:"code_generate_error"`
	Results        []Value  `json:"code_execute_result"`
	Displays       []Shown  `json:"code_display_data"`
	HistoryPattern string   `json:"code_history_pattern"` // matches exactly one of Results
	History        []string `json:"supported_history_operations"`
	Inspect        string   `json:"code_inspect_sample"`
	Clear          string   `json:"code_clear_output"`
}

// Match is code to complete and all matches at its end.
type Match struct {
	Text    string   `json:"text"`
	Matches []string `json:"matches"`
}

// Value is a cell and its value as plain text.
type Value struct {
	Code   string `json:"code"`
	Result string `json:"result"`
}

// Shown is a cell and a MIME type that it displays.
type Shown struct {
	Code string `json:"code"`
	MIME string `json:"mime"`
}

// Outcome is what became of each test: its name, and empty for passed, else what went wrong or why it was skipped.
type Outcome map[string]string

// Check is nil when all of the suite's tests ran and passed.
func (o Outcome) Check() error {
	var faults []string
	for name, text := range o {
		if text != "" {
			faults = append(faults, name+": "+text)
		}
	}
	slices.Sort(faults)
	if len(o) != Tests {
		faults = append(faults, fmt.Sprintf("%d tests ran, want %d", len(o), Tests))
	}
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "\n"))
	}
	return nil
}

// Run runs the suite with a Python interpreter that has jupyter_kernel_test, against the kernel that argv starts (a
// kernelspec's argv, with {connection_file}; argv[0] an absolute path). dir is an empty folder for the kernelspec and
// Jupyter's files.
func Run(ctx context.Context, python, dir string, argv []string, env map[string]string, samples Samples) (Outcome, error) {
	if env == nil {
		env = map[string]string{} // not null
	}
	spec := map[string]any{
		"argv": argv, "display_name": "under test", "language": samples.LanguageName, "interrupt_mode": "message", "env": env,
	}
	if err := WriteSpec(dir, "under-test", spec); err != nil {
		return nil, err
	}
	text, err := json.Marshal(samples)
	if err != nil {
		return nil, err
	}
	cmd := Command(ctx, python, dir, "-c", suite)
	cmd.Env = append(cmd.Env, "KERNEL_SAMPLES="+string(text))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var outcome Outcome
	if err == nil {
		lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
		err = json.Unmarshal([]byte(lines[len(lines)-1]), &outcome)
	}
	if err != nil {
		return nil, fmt.Errorf("jupyter_kernel_test: %w\n%s%s", err, stdout.String(), stderr.String())
	}
	return outcome, nil
}

// WriteSpec writes a kernelspec below dir, where Command's Python finds it.
func WriteSpec(dir, name string, spec map[string]any) error {
	folder := filepath.Join(dir, "data", "kernels", name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "kernel.json"), text, 0o644)
}

// Command prepares a run of Python whose Jupyter keeps its files in dir, and finds the kernelspecs of WriteSpec there.
func Command(ctx context.Context, python, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, python, args...)
	cmd.WaitDelay = 5 * time.Second // a kernel that outlives its client may hold the pipes
	cmd.Env = append(os.Environ(),
		"JUPYTER_DATA_DIR="+filepath.Join(dir, "data"), "JUPYTER_CONFIG_DIR="+filepath.Join(dir, "config"),
		"JUPYTER_RUNTIME_DIR="+filepath.Join(dir, "run"), "IPYTHONDIR="+filepath.Join(dir, "ipython"), "PYTHONWARNINGS=ignore")
	return cmd
}
