package install

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// requirements pins every Python package with the hashes of its files.
//
//go:embed requirements.txt
var requirements []byte

// oldestPython is the first version that the pinned packages support.
const oldestPython = "3.10"

// completeMark is written last: an environment without it was interrupted and is made anew.
const completeMark = "memwall-complete"

// environment is a Python environment in the cache, made from pinned packages.
type environment struct {
	requirements []byte
	fetches      string // what is fetched, and how much
}

var labEnvironment = environment{requirements, "JupyterLab and NVRTC are being fetched (about 350 MB, once)"}

// Python returns the interpreter of the project's Python environment, and makes the environment first where it is missing:
// about 40 s with a network. The progress function gets one line a step. Several processes may ask at once: one works, the
// others wait for it.
func Python(ctx context.Context, progress func(string)) (string, error) {
	return labEnvironment.python(ctx, progress)
}

func (e *environment) python(ctx context.Context, progress func(string)) (string, error) {
	dir, err := e.dir()
	if err != nil {
		return "", err
	}
	if python, ok := complete(dir); ok {
		return python, nil
	}
	unlock, err := Lock(dir + ".lock")
	if err != nil {
		return "", fmt.Errorf("Python environment: %w", err)
	}
	defer unlock()
	if python, ok := complete(dir); ok { // another process made it while this one waited
		return python, nil
	}
	return e.make(ctx, dir, progress)
}

// FindPython returns the interpreter of the environment where it is complete, without making it.
func FindPython() (string, bool) { return labEnvironment.find() }

func (e *environment) find() (string, bool) {
	dir, err := e.dir()
	if err != nil {
		return "", false
	}
	return complete(dir)
}

// dir is named after the pinned packages, so that a new memwall never works with an old environment.
// gpu/internal/nvrtc looks for NVRTC below the same folder.
func (e *environment) dir() (string, error) {
	cache, err := Cache()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(e.requirements)
	return filepath.Join(cache, "python", hex.EncodeToString(sum[:6])), nil
}

func complete(dir string) (python string, ok bool) {
	python = filepath.Join(dir, "bin", "python")
	if runtime.GOOS == "windows" {
		python = filepath.Join(dir, "Scripts", "python.exe")
	}
	if _, err := os.Stat(filepath.Join(dir, completeMark)); err != nil {
		return python, false
	}
	// The interpreter that the environment was made from may be gone.
	_, err := os.Stat(python)
	return python, err == nil
}

func (e *environment) make(ctx context.Context, dir string, progress func(string)) (string, error) {
	base, version, err := basePython(ctx)
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("Python environment: remove the incomplete %s: %w", dir, err)
	}
	progress("Python environment: made with Python " + version)
	if out, err := pythonCommand(ctx, base[0], append(base[1:], "-m", "venv", dir)...).CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return "", venvError(ctx, out, err)
	}
	python, _ := complete(dir)
	list := filepath.Join(dir, "requirements.txt")
	if err := writeFile(list, e.requirements, 0o644); err != nil {
		return "", fmt.Errorf("Python environment: %w", err)
	}
	progress("Python environment: " + e.fetches)
	out, err := pythonCommand(ctx, python, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check",
		"--require-hashes", "--no-deps", "-r", list).CombinedOutput()
	if err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("Python environment: interrupted; the next start begins it anew")
		}
		return "", fmt.Errorf("Python environment: pip could not install the pinned packages: %w\n%s\n"+
			"check the network (a proxy: set HTTPS_PROXY; a mirror: PIP_INDEX_URL) and start again; notebooks run without it: memwall run NOTEBOOK.ipynb",
			err, tail(out, 12))
	}
	if err := writeFile(filepath.Join(dir, completeMark), []byte("Python "+version+"\n"), 0o644); err != nil {
		return "", fmt.Errorf("Python environment: %w", err)
	}
	return python, nil
}

// basePython finds an interpreter that is new enough: $MEMWALL_PYTHON, else the usual names on PATH.
func basePython(ctx context.Context) (command []string, version string, err error) {
	candidates := [][]string{{"python3"}, {"python"}}
	if runtime.GOOS == "windows" {
		candidates = [][]string{{"py", "-3"}, {"python"}, {"python3"}}
	}
	if p := os.Getenv("MEMWALL_PYTHON"); p != "" {
		candidates = [][]string{{p}}
	}
	const ask = "import sys; print('%d.%d.%d' % sys.version_info[:3], int(sys.version_info >= (3, 10)))"
	tooOld := ""
	for _, c := range candidates {
		out, err := pythonCommand(ctx, c[0], append(c[1:], "-c", ask)...).Output()
		fields := strings.Fields(string(out))
		if err != nil || len(fields) != 2 {
			continue
		}
		if fields[1] == "1" {
			return c, fields[0], nil
		}
		tooOld = fields[0]
	}
	switch {
	case tooOld != "":
		return nil, "", &MissingPython{What: "Python " + tooOld + " is too old: JupyterLab needs " + oldestPython + " or newer"}
	case os.Getenv("MEMWALL_PYTHON") != "":
		return nil, "", &MissingPython{What: "MEMWALL_PYTHON=" + os.Getenv("MEMWALL_PYTHON") + " does not start"}
	}
	return nil, "", &MissingPython{What: "python3 is not on PATH"}
}

// MissingPython says that JupyterLab cannot be had because of what is missing on this machine, and what does work.
type MissingPython struct{ What string }

// Error names what to install, and the way that needs nothing but Go.
func (e *MissingPython) Error() string {
	return e.What + ": JupyterLab needs python3 (" + oldestPython + " or newer) with its venv module\n" +
		"install it (" + pythonHint() + ") and start again\n" +
		"or run the notebook without Jupyter: go run . run notebooks/01-the-memory-wall.ipynb"
}

func pythonHint() string {
	switch runtime.GOOS {
	case "darwin":
		return "macOS: brew install python3"
	case "windows":
		return "Windows: winget install Python.Python.3.12"
	}
	return "Debian, Ubuntu: sudo apt install python3 python3-venv; Fedora: sudo dnf install python3"
}

func venvError(ctx context.Context, out []byte, err error) error {
	text := string(out)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("Python environment: interrupted; the next start begins it anew")
	case strings.Contains(text, "No module named venv"), strings.Contains(text, "ensurepip"):
		return &MissingPython{What: "python3 has no venv module"}
	}
	return fmt.Errorf("Python environment: python3 -m venv: %w\n%s", err, tail(out, 12))
}

// pythonCommand runs Python apart from what the user set up for other projects.
func pythonCommand(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(withoutVariables(os.Environ(), "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "PIP_USER", "PIP_TARGET", "PIP_PREFIX"),
		"PYTHONNOUSERSITE=1", "PYTHONUTF8=1")
	return cmd
}

func withoutVariables(env []string, names ...string) []string {
	kept := make([]string, 0, len(env))
next:
	for _, e := range env {
		for _, n := range names {
			if strings.HasPrefix(e, n+"=") {
				continue next
			}
		}
		kept = append(kept, e)
	}
	return kept
}

// tail is the last n lines of a program's output, where its error usually stands.
func tail(out []byte, n int) string {
	lines := bytes.Split(bytes.TrimRight(out, "\n"), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-n):], []byte("\n")))
}
