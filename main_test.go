package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memwall/gpu"
	"memwall/kernel/notebook"
)

func TestMain(m *testing.M) {
	gpu.ChildMain()
	os.Exit(m.Run())
}

var notebooksFirst = filepath.Join("notebooks", "01-the-memory-wall.ipynb")

// call runs a command line in this process and returns what it prints and its error.
func call(t *testing.T, input string, args ...string) (string, error) {
	t.Helper()
	cmd := root()
	var out bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(input))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// TestCheckCommand runs the cases of one step as JSON, and reads them.
func TestCheckCommand(t *testing.T) {
	out, err := call(t, "", "check", "probe/1_copy", "--device", "t4", "--seed", "3", "--json")
	var lines []map[string]any
	if err != nil || json.Unmarshal([]byte(out), &lines) != nil || len(lines) != 1 || lines[0]["device"] != "virtual:t4" || lines[0]["cases"] != 8.0 || lines[0]["counted"] != 8.0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestBadCommandLines(t *testing.T) {
	dir := t.TempDir()
	notJSON := filepath.Join(dir, "no.ipynb")
	if err := os.WriteFile(notJSON, []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run"}, "run: one notebook is needed, 0 given\nusage: memwall run NOTEBOOK.ipynb [flags]"},
		{[]string{"sanitize"}, "sanitize: one notebook is needed, 0 given\nusage: memwall sanitize NOTEBOOK.ipynb [flags]"},
		{[]string{"ptx"}, "ptx: which PTX file?\nusage: memwall ptx FILE… [flags]"},
		{[]string{"compile"}, "compile: which CUDA C++ file?\nusage: memwall compile FILE.cu [-- NVRTC OPTIONS] [flags]"},
		{[]string{"install", "--user", "--sys-prefix"}, "install: --user excludes --sys-prefix and --prefix: give one"},
		{[]string{"kernel"}, `required flag(s) "file" not set`},
		{[]string{"frob"}, `unknown command "frob" for "memwall"`},
		{[]string{"bench", "nope"}, `unknown command "nope" for "memwall bench"`},
		{[]string{"run", notebooksFirst, "--html", notebooksFirst}, "run: --html " + notebooksFirst + " would replace the notebook: give the page a name of its own"},
		{[]string{"check", "gemv", "more"}, "accepts at most 1 arg(s), received 2"},

		{[]string{"lab", "extra"}, `unknown command "extra" for "memwall lab"`},
	} {
		if _, err := call(t, "", c.args...); err == nil || err.Error() != c.want {
			t.Errorf("%q: error\n%v\nwant\n%s", c.args, err, c.want)
		}
	}
	if _, err := call(t, "", "run", notJSON); err == nil || !strings.Contains(err.Error(), "no.ipynb") {
		t.Errorf("a notebook that is no JSON: error %v", err)
	}
	if _, err := call(t, "", "check", "--device", "x9"); err == nil || !strings.HasPrefix(err.Error(), `open "x9": there is no such device`) {
		t.Errorf("check on an unknown device: error %v", err)
	}
	if data, err := os.ReadFile(notJSON); err != nil || string(data) != "hello" {
		t.Errorf("the file was changed: %q, %v", data, err)
	}
	if _, err := call(t, "", "run", "--device", "t5", notJSON); err == nil || !strings.HasPrefix(err.Error(), `open "t5": there is no such device`) {
		t.Errorf("an unknown device: error %v", err)
	}
}

func TestPTXCommand(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.ptx")
	if err := os.WriteFile(bad, []byte("nonsense\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	good := filepath.Join("kernels", "gemv", "1_naive.sm_80.ptx")
	out, err := call(t, "", "ptx", good, bad, filepath.Join(dir, "missing.ptx"))
	want := good + ": loads\n" +
		bad + `:1:1: expected .version, found "nonsense"; PTX begins with .version, .target and .address_size` + "\n"
	if !strings.HasPrefix(out, want) || strings.Count(out, "\n") != 3 {
		t.Errorf("output\n%s\nwant\n%s and a line for the missing file", out, want)
	}
	if err == nil || err.Error() != "2 of 3 files do not load" {
		t.Errorf("error %v", err)
	}
	out, err = call(t, "", "ptx", "--json", good)
	var verdicts []ptxVerdict
	if err != nil || json.Unmarshal([]byte(out), &verdicts) != nil || len(verdicts) != 1 || !verdicts[0].Loads {
		t.Errorf("--json: %s, %v", out, err)
	}
}

// TestOccupancyCommand answers rows whose answers NVIDIA's cuda_occupancy.h gave.
func TestOccupancyCommand(t *testing.T) {
	text, err := call(t, "", "occupancy", "--static", "60000")
	if !strings.HasSuffix(text, "\nthe assembler refuses static shared memory of more than 49152 B: declare it extern __shared__, and give it as --dynamic\n") || err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	out, err := call(t, "", "occupancy", "--cc", "9.0", "--threads", "256", "--regs", "64", "--json")
	var answer map[string]any
	if err != nil || json.Unmarshal([]byte(out), &answer) != nil || answer["occupancy_percent"] != 50.0 {
		t.Errorf("--json: %s, %v", out, err)
	}
	cases, err := os.ReadFile(filepath.Join("..", "shared", "cases", "occupancy.tsv"))
	if err != nil {
		t.Log("the cases are not here: ", err)
		return
	}
	var input strings.Builder
	for line := range strings.Lines(string(cases)) {
		input.WriteString(strings.Join(strings.Split(strings.TrimRight(line, "\n"), "\t")[:5], "\t") + "\n")
	}
	if out, err = call(t, input.String(), "occupancy", "--tsv"); err != nil || out != string(cases) {
		t.Errorf("--tsv differs from the cases (%d bytes, want %d): %v", len(out), len(cases), err)
	}
}

func TestDevicesAndDoctor(t *testing.T) {
	out, err := call(t, "", "devices", "--json")
	var devices []map[string]any
	if err != nil || json.Unmarshal([]byte(out), &devices) != nil || len(devices) < 7 {
		t.Errorf("devices --json: %s, %v", out, err)
	}
	if out, err = call(t, "", "doctor"); err != nil || !strings.Contains(out, "NVRTC") || !strings.Contains(out, "cache") {
		t.Errorf("doctor: %s, %v", out, err)
	}
}

// What `memwall sanitize` reads from a notebook that has run: findings, clean launches, and cells that failed.
func TestSanitizedCells(t *testing.T) {
	bundle := func(text string) *notebook.Output {
		return &notebook.Output{Type: notebook.DisplayData, Data: map[string]any{"text/plain": "text", gpu.FindingsType: json.RawMessage(text)}}
	}
	nb := &notebook.Notebook{Cells: []*notebook.Cell{
		{Type: notebook.Markdown},
		{Type: notebook.Code, Outputs: []*notebook.Output{{Type: notebook.Stream, Text: "x"}, bundle(`{"findings":null}`)}},
		{Type: notebook.Code, Outputs: []*notebook.Output{bundle(`{"findings":[{},{}]}`), {Type: notebook.ErrorOutput, EName: "gpu.Error", EValue: "why"}}},
	}}
	cells, wrong := sanitizedCells(nb)
	if len(cells) != 3 || wrong != 2 || cells[0].Cell != 1 || cells[1].Cell != 2 || cells[2].Error != "gpu.Error: why" {
		t.Errorf("%+v, %d wrong", cells, wrong)
	}
}
