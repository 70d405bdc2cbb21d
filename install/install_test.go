package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestWorkingCopyNeverOverwrites(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nb")
	v1 := fstest.MapFS{"01-a.ipynb": {Data: []byte("one")}, "embed.go": {Data: []byte("package x")}}
	v2 := fstest.MapFS{"01-a.ipynb": {Data: []byte("two")}}
	step := func(originals fstest.MapFS, want string) {
		t.Helper()
		lines, err := WorkingCopy(originals, dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(strings.Join(lines, "|"), dir+string(filepath.Separator), ""); got != want {
			t.Errorf("lines %q, want %q", got, want)
		}
	}
	content := func(name, want string) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(data) != want {
			t.Errorf("%s: %q, %v, want %q", name, data, err, want)
		}
	}
	step(v1, "new: 01-a.ipynb")
	step(v1, "")
	if err := os.WriteFile(filepath.Join(dir, "01-a.ipynb"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	step(v1, "")
	step(v2, "kept yours: 01-a.ipynb; the newer original stands beside it: 01-a.new.ipynb")
	step(v2, "")
	content("01-a.ipynb", "mine")
	content("01-a.new.ipynb", "two")
	if _, err := os.Stat(filepath.Join(dir, "embed.go")); err == nil {
		t.Error("a file that is no notebook was copied")
	}
	if err := os.WriteFile(filepath.Join(dir, originalsFile), []byte("{broken"), 0o644); err != nil {
		t.Fatal(err)
	}
	step(v2, "kept yours: 01-a.ipynb; the newer original stands beside it: 01-a.new.ipynb")
	content("01-a.ipynb", "mine")
}

func TestKernelSpec(t *testing.T) {
	prefix := t.TempDir()
	t.Setenv("MEMWALL_CACHE", "")
	dir, err := KernelSpec(context.Background(), Place{Prefix: prefix}, "/cache/bin/x/memwall")
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(prefix, "share", "jupyter", "kernels", "memwall"); dir != want {
		t.Errorf("folder %s, want %s", dir, want)
	}
	data, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s spec
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Argv, " "); got != "/cache/bin/x/memwall kernel -f {connection_file}" {
		t.Errorf("argv %q", got)
	}
	if s.InterruptMode != "message" || s.Language != "go" {
		t.Errorf("interrupt_mode %q, language %q", s.InterruptMode, s.Language)
	}
	for name, size := range map[string]int{"logo-32x32.png": 32, "logo-64x64.png": 64} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil || img.Bounds().Dx() != size {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = KernelSpec(context.Background(), Place{Prefix: prefix, SysPrefix: true}, "x")
	if want := "install: --sys-prefix and --prefix exclude each other: give one"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestBinaryIsCopiedOnce(t *testing.T) {
	dir := t.TempDir()
	self := filepath.Join(dir, "self")
	if err := os.WriteFile(self, []byte("#!program"), 0o755); err != nil {
		t.Fatal(err)
	}
	first, err := copyBinary(self, filepath.Join(dir, "bin"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v", info.Mode())
	}
	again, err := copyBinary(self, filepath.Join(dir, "bin"))
	if err != nil || again != first {
		t.Errorf("second copy %s, %v, want %s", again, err, first)
	}
	if err := os.WriteFile(self, []byte("#!changed"), 0o755); err != nil {
		t.Fatal(err)
	}
	if changed, err := copyBinary(self, filepath.Join(dir, "bin")); err != nil || changed == first {
		t.Errorf("a changed binary got the same file %s, %v", changed, err)
	}
}

func TestOutputsForgetsOldFiles(t *testing.T) {
	t.Setenv("MEMWALL_CACHE", t.TempDir())
	dir, err := Outputs()
	if err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"old": 8 * 24 * time.Hour, "young": time.Hour} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Outputs(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "young")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "old")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file of last week is still there (%v)", err)
	}
}

func TestMissingPython(t *testing.T) {
	t.Setenv("MEMWALL_CACHE", t.TempDir())
	t.Setenv("PATH", "")
	t.Setenv("MEMWALL_PYTHON", "")
	_, err := Python(context.Background(), func(string) {})
	want := "python3 is not on PATH: JupyterLab needs python3 (3.10 or newer) with its venv module\n" +
		"install it (" + pythonHint() + ") and start again\n" +
		"or run the notebook without Jupyter: go run . run notebooks/01-the-memory-wall.ipynb"
	if err == nil || err.Error() != want {
		t.Errorf("error\n%v\nwant\n%s", err, want)
	}
}

func TestPythonWithoutVenv(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("not run on Windows: the fake interpreter is a shell script")
		return
	}
	dir := t.TempDir()
	fake := filepath.Join(dir, "python3")
	script := "#!/bin/sh\ncase \"$*\" in *venv*) echo 'ensurepip is not available' >&2; exit 1;; esac\necho 3.12.1 1\n"
	if err := os.WriteFile(fake, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MEMWALL_CACHE", filepath.Join(dir, "cache"))
	t.Setenv("MEMWALL_PYTHON", fake)
	_, err := Python(context.Background(), func(string) {})
	var missing *MissingPython
	if !errors.As(err, &missing) || missing.What != "python3 has no venv module" {
		t.Errorf("error %v", err)
	}
	old := filepath.Join(dir, "old")
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho 3.8.1 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MEMWALL_PYTHON", old)
	_, err = Python(context.Background(), func(string) {})
	if !errors.As(err, &missing) || missing.What != "Python 3.8.1 is too old: JupyterLab needs 3.10 or newer" {
		t.Errorf("error %v", err)
	}
}

func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_, err = freePort(l.Addr().(*net.TCPAddr).Port)
	if want := "port " + port + " is taken: give another one with --port, or none"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestPortOutOfRange(t *testing.T) {
	for _, port := range []int{-1, 65536} {
		_, err := freePort(port)
		if want := fmt.Sprintf("port %d: a port is a number from 1 to 65535", port); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestLab starts the real server twice on one working copy and ends it by cancelling.
func TestLab(t *testing.T) {
	if testing.Short() {
		t.Log("not run: -short, and JupyterLab is 300 MB")
		return
	}
	python, err := Python(context.Background(), func(s string) { t.Log(s) })
	var missing *MissingPython
	if errors.As(err, &missing) {
		t.Log("not run: ", missing.What)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Log("environment:", python)
	t.Setenv(environmentCUDA, "off") // its build is tested by what it builds, in gpu/internal/cuda
	dir := t.TempDir()
	originals := fstest.MapFS{"01-a.ipynb": {Data: []byte(`{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}`)}}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Lab(ctx, LabOptions{Notebooks: originals, Dir: filepath.Join(dir, "nb"), State: filepath.Join(dir, "state"), Open: "01-a.ipynb",
			Progress: func(s string) { t.Log(s) }, Ready: func(u string) { ready <- u }, Log: io.Discard})
	}()
	select {
	case url := <-ready:
		host, rest, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
		_, token, _ := strings.Cut(rest, "token=")
		for path, want := range map[string]string{"/api/kernelspecs": "Go + GPU (memwall)", "/api/contents/01-a.ipynb": "nbformat"} {
			req, _ := http.NewRequest(http.MethodGet, "http://"+host+path, nil)
			req.Header.Set("Authorization", "token "+token)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if !strings.Contains(string(body), want) {
				t.Errorf("%s: %s lacks %q", path, body, want)
			}
		}
	case err := <-ended:
		t.Fatal("ended before it was ready: ", err)
	case <-time.After(90 * time.Second):
		t.Fatal("not ready after 90 s")
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(15 * time.Second):
		t.Error("the server outlived its context")
	}
}

// What keeps the driver for NVIDIA GPUs from being built is said in one line; flags with blanks arrive whole.
func TestFindCUDABuild(t *testing.T) {
	t.Setenv(environmentCUDA, "off")
	if b, why := FindCUDABuild(); b != nil || why != "without the driver for NVIDIA GPUs: MEMWALL_CUDA=off" {
		t.Errorf("%v, %q", b, why)
	}
	t.Setenv(environmentCUDA, "")
	t.Setenv("PATH", t.TempDir())
	want := "without the driver for NVIDIA GPUs: no go command on PATH"
	if runtime.GOOS != "linux" {
		want = "without the driver for NVIDIA GPUs: that needs Linux or WSL"
	}
	if b, why := FindCUDABuild(); b != nil || why != want {
		t.Errorf("%v, %q", b, why)
	}
	if got := quoted("-I/a b"); got != "'-I/a b'" {
		t.Error(got)
	}
	if got := firstError("# memwall/gpu\ngpu/x.go:1: bad\n", errors.New("exit status 1")); got != "gpu/x.go:1: bad" {
		t.Error(got)
	}
}
