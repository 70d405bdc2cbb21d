// Package installtest gives tests what they share: the memwall binary, the Python environment, a browser.
package installtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"memwall/install"
)

// Root is the top folder of the module.
func Root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			tb.Fatal("no go.mod above the test's folder")
		}
		dir = parent
	}
}

// Sources makes the test's result depend on every source of the module, for what a child process compiles: go test repeats a
// result from its cache until a file or folder that the test itself has opened changes.
func Sources(tb testing.TB) {
	tb.Helper()
	err := filepath.WalkDir(Root(tb), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// built is the binary of this test process; other test processes build their own, which the go command's cache makes quick.
var built struct {
	sync.Once
	path string
	err  error
}

// Memwall builds the command and returns its path. The file stays for the next test process: go build links again only
// what has changed.
func Memwall(tb testing.TB) string {
	tb.Helper()
	Sources(tb)
	root := Root(tb)
	built.Do(func() { built.path, built.err = build(root) })
	if built.err != nil {
		tb.Fatal(built.err)
	}
	return built.path
}

func build(root string) (string, error) {
	cache, err := install.Cache()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "test", "memwall")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	unlock, err := install.Lock(path + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New("go build: " + err.Error() + "\n" + string(out))
	}
	return path, nil
}

// Python returns the interpreter of the pinned environment. Where this machine has no python3 it says so in one line and
// answers "".
func Python(tb testing.TB) string {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	python, err := install.Python(ctx, func(line string) { tb.Log(line) })
	var missing *install.MissingPython
	if errors.As(err, &missing) {
		tb.Log("not run: " + missing.What)
		return ""
	}
	if err != nil {
		tb.Fatal(err)
	}
	return python
}

// Fetch makes the pinned Python environment, with NVRTC in it, before the tests of a package run: their TestMain calls it.
// Where that fails it says why in one line, and the tests that need the compiler say that they did not run.
func Fetch() {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	if _, err := install.Python(ctx, func(string) {}); err != nil {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		fmt.Fprintln(os.Stderr, "no NVRTC for these tests: "+reason)
	}
}

// Browser returns a Chromium. Where there is none it says so in one line and answers "".
func Browser(tb testing.TB) string {
	tb.Helper()
	path, ok := install.FindBrowser()
	if !ok {
		tb.Log("not run: no chromium on PATH and MEMWALL_BROWSER is not set")
		return ""
	}
	return path
}

// Pictures is the folder for screenshots, in the project's cache.
func Pictures(tb testing.TB) string {
	tb.Helper()
	cache, err := install.Cache()
	if err != nil {
		tb.Fatal(err)
	}
	dir := filepath.Join(cache, "pictures")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	return dir
}
