package notebooks_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memwall/install/installtest"
	"memwall/notebooks"
)

const first = "01-the-memory-wall.ipynb"

// TestNbclientRunsNotebook01 executes the notebook with the client that papermill, nbval and Jupyter Book use.
func TestNbclientRunsNotebook01(t *testing.T) {
	python := installtest.Python(t)
	if python == "" {
		return
	}
	dir := specDir(t)
	script := `
import sys, nbformat
from nbclient import NotebookClient
nb = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(nb, kernel_name="memwall", timeout=120).execute()
nbformat.validate(nb)
nbformat.write(nb, sys.argv[2])
`
	out := filepath.Join(dir, "out.ipynb")
	text := command(t, dir, python, "-c", script, filepath.Join(installtest.Root(t), "notebooks", first), out)
	if text != "" {
		t.Log(text)
	}
	checkCards(t, out)
}

// TestConsoleRunsNotebook01 gives the code cells of notebook 01 to the shell of `jupyter console`, and finds the text twins of
// its cards in what it prints.
func TestConsoleRunsNotebook01(t *testing.T) {
	python := installtest.Python(t)
	if python == "" {
		return
	}
	dir := specDir(t)
	script := `
import sys, nbformat
from jupyter_console.app import ZMQTerminalIPythonApp
app = ZMQTerminalIPythonApp.instance()
app.initialize(["--kernel", "memwall", "--simple-prompt"])
for cell in nbformat.read(sys.argv[1], as_version=4).cells:
    if cell.cell_type == "code":
        app.shell.run_cell(cell.source)
app.kernel_client.stop_channels()
app.kernel_manager.shutdown_kernel()
`
	out := command(t, dir, python, "-c", script, filepath.Join(installtest.Root(t), "notebooks", first))
	for _, want := range []string{
		"memory-bound: DRAM allows 6.99 µs at best",
		"compute-bound: the tensor cores allow 28.7 µs at best",
		"ridges 14 (FP32) and 206 (tensor) FLOP/B",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the console's output lacks %q:\n%s", want, out)
		}
	}
}

// TestConsolePrompt types lines at the prompt of `jupyter console`.
func TestConsolePrompt(t *testing.T) {
	python := installtest.Python(t)
	if python == "" {
		return
	}
	dir := specDir(t)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "-m", "jupyter_console", "--kernel", "memwall", "--simple-prompt")
	cmd.Dir, cmd.Env = dir, clientEnv(dir)
	cmd.Stdin = strings.NewReader("x := 6\nfmt.Println(\"six by seven is\", x*7)\nx * 8\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("jupyter console: %v\n%s", err, out)
	}
	for _, want := range []string{"memwall", "six by seven is 42", "Out[3]: 48"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the console's output lacks %q:\n%s", want, out)
		}
	}
}

// TestRunReproducesSavedOutputs runs the notebook in pure Go and compares every output with the committed one.
func TestRunReproducesSavedOutputs(t *testing.T) {
	dir := t.TempDir()
	saved := filepath.Join(installtest.Root(t), "notebooks", first)
	out, page := filepath.Join(dir, "out.ipynb"), filepath.Join(dir, "out.html")
	command(t, dir, installtest.Memwall(t), "run", saved, "--output", out, "--html", page)
	checkCards(t, out)
	sameOutputs(t, saved, out)
	html, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(html), "MODELLED") {
		t.Errorf("the HTML page has no card: %v", err)
	}
}

// TestOthersReproduceSavedOutputs does the same for the outputs of the other notebooks.
func TestOthersReproduceSavedOutputs(t *testing.T) {
	names, err := fs.Glob(notebooks.Files, "*.ipynb")
	if err != nil || len(names) < 8 {
		t.Fatal(err, names)
	}
	dir := t.TempDir()
	for _, name := range names {
		if name == first {
			continue
		}
		saved, out := filepath.Join(installtest.Root(t), "notebooks", name), filepath.Join(dir, name)
		command(t, dir, installtest.Memwall(t), "run", saved, "--output", out)
		sameOutputs(t, saved, out)
	}
}

// sameOutputs compares the outputs of each code cell, and holds the saved notebook to its size.
func sameOutputs(t *testing.T, saved, out string) {
	t.Helper()
	want, got := outputs(t, saved), outputs(t, out)
	if len(want) != len(got) {
		t.Fatalf("%s: %d code cells with outputs, saved %d", saved, len(got), len(want))
	}
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("%s, code cell %d: outputs differ from the saved ones; run it in place and look at the difference\nsaved %s\nnow   %s",
				filepath.Base(saved), i+1, clip(want[i]), clip(got[i]))
		}
	}
	if info, err := os.Stat(saved); err != nil || info.Size() > 200<<10 {
		t.Errorf("%s has %d bytes, more than 200 KiB (%v)", saved, info.Size(), err)
	}
}

// specDir installs the kernelspec into a folder of its own and returns that folder.
func specDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	command(t, dir, installtest.Memwall(t), "install", "--prefix", dir)
	return dir
}

func clientEnv(dir string) []string {
	return append(os.Environ(), "JUPYTER_PATH="+filepath.Join(dir, "share", "jupyter"), "JUPYTER_RUNTIME_DIR="+filepath.Join(dir, "runtime"),
		"JUPYTER_CONFIG_DIR="+filepath.Join(dir, "config"), "IPYTHONDIR="+filepath.Join(dir, "ipython"), "JUPYTER_PLATFORM_DIRS=0", "MEMWALL_CUDA=off")
}

func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, clientEnv(dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return string(out)
}

type notebookFile struct {
	Cells []struct {
		Type    string            `json:"cell_type"`
		Outputs []json.RawMessage `json:"outputs"`
	} `json:"cells"`
}

func readNotebook(t *testing.T, path string) notebookFile {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var nb notebookFile
	if err := json.Unmarshal(data, &nb); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return nb
}

// checkCards wants a card with its twin: prefill, decode and a comparison at least.
func checkCards(t *testing.T, path string) {
	t.Helper()
	cards := 0
	for _, cell := range readNotebook(t, path).Cells {
		for _, raw := range cell.Outputs {
			var o struct {
				Type string                     `json:"output_type"`
				Data map[string]json.RawMessage `json:"data"`
			}
			if err := json.Unmarshal(raw, &o); err != nil {
				t.Fatal(err)
			}
			if o.Type == "error" {
				t.Errorf("%s: an error output: %s", filepath.Base(path), clip(string(raw)))
			}
			if strings.Contains(string(o.Data["text/html"]), "MODELLED") {
				cards++
				if len(o.Data["text/plain"]) == 0 {
					t.Error("a card without its text twin")
				}
			}
		}
	}
	if cards < 3 {
		t.Errorf("%s: %d cards, want at least 3", filepath.Base(path), cards)
	}
}

// outputs are the outputs of each code cell, without execution counts.
func outputs(t *testing.T, path string) []string {
	t.Helper()
	var all []string
	for _, cell := range readNotebook(t, path).Cells {
		if cell.Type != "code" {
			continue
		}
		text := ""
		for _, raw := range cell.Outputs {
			var o map[string]any
			if err := json.Unmarshal(raw, &o); err != nil {
				t.Fatal(err)
			}
			delete(o, "execution_count")
			canonical, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			text += string(canonical) + "\n"
		}
		all = append(all, text)
	}
	return all
}

func clip(s string) string {
	if len(s) > 600 {
		return s[:600] + "…"
	}
	return s
}
