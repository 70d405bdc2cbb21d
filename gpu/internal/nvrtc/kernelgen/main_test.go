package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memwall/gpu/internal/nvrtc"
	"memwall/install/installtest"
)

func TestMain(m *testing.M) {
	nvrtc.ChildMain()
	installtest.Fetch()
	os.Exit(m.Run())
}

const (
	kernels = "../../../../kernels"
	bench   = "../../vgpu/bench/cuda"
	// published holds the CUDA kernels whose times were published.
	published = "../../vgpu/testdata/published"
)

// TestShippedFilesAreCurrent compiles every source again and compares with what is checked in.
func TestShippedFilesAreCurrent(t *testing.T) {
	if err := nvrtc.Available(); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		t.Logf("not rebuilt, only hashed (package kernels): %s", first)
		return
	}
	files, err := generate(t.Context(), kernels, true)
	if err != nil {
		t.Fatal(err)
	}
	benchmark, err := generate(t.Context(), bench, false)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(files, benchmark)
	timed, err := generate(t.Context(), published, true)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(files, timed)
	tested, err := generate(t.Context(), filepath.Join(kernels, "testdata"), false)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(files, tested)
	checkedIn, err := os.ReadFile(filepath.Join(kernels, "gemv", "1_naive.sm_80.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	made := files[filepath.Join(kernels, "gemv", "1_naive.sm_80.ptx")]
	if compiler(made) != compiler(string(checkedIn)) {
		t.Logf("not compared: this machine has %q, the files were made by %q", compiler(made), compiler(string(checkedIn)))
		return
	}
	for path, want := range files {
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s is stale (%v): run `go generate ./kernels ./gpu/internal/vgpu/bench`", path, err)
		}
	}
	present, err := filepath.Glob(filepath.Join(kernels, "*", "*.ptx"))
	more, err2 := filepath.Glob(filepath.Join(bench, "*", "*.ptx"))
	if err != nil || err2 != nil || len(more) == 0 {
		t.Fatal(err, err2, more)
	}
	old, err := filepath.Glob(filepath.Join(published, "*", "*.ptx"))
	if err != nil || len(old) == 0 {
		t.Fatal(err, old)
	}
	more = append(more, old...)
	for _, path := range append(present, more...) {
		if files[path] == "" {
			t.Errorf("%s has no source any more", path)
		}
	}
}

// compiler is "NVRTC 12.9.86" from a generated file's first line.
func compiler(text string) string {
	_, rest, _ := strings.Cut(text, " with ")
	name, _, _ := strings.Cut(rest, " for ")
	return name
}

func TestGenerateReportsErrors(t *testing.T) {
	root := t.TempDir()
	if err := run(root, true); err == nil || err.Error() != root+" holds no <family>/<n>_<idea>.cu" {
		t.Errorf("empty folder: %v", err)
	}
	if nvrtc.Available() != nil {
		return
	}
	source := filepath.Join(root, "gemv", "1_bad.cu")
	if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, []byte("extern \"C\" __global__ void f(int *x) { x[0] = y; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := source + " for sm_75: 1_bad.cu:1:47: error: identifier \"y\" is undefined\nextern \"C\" __global__ void f(int *x) { x[0] = y; }\n                                              ^"
	if err := run(root, true); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if left, _ := filepath.Glob(filepath.Join(root, "gemv", "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestRunRestores starts from a folder whose PTX is missing or stale.
func TestRunRestores(t *testing.T) {
	if err := nvrtc.Available(); err != nil {
		t.Log("not run: there is no NVRTC")
		return
	}
	root := t.TempDir()
	paths := []string{"include/tensor.cuh", "include/element.cuh", "gemv/1_naive.cu", "gemv/2_warp.cu"}
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(kernels, path))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, path), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stale := filepath.Join(root, "gemv", "1_naive.sm_80.ptx")
	if err := os.WriteFile(stale, []byte("// stale\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"1_naive.sm_75.ptx", "1_naive.sm_80.ptx", "2_warp.sm_75.ptx", "2_warp.sm_80.ptx"} {
		made, err := os.ReadFile(filepath.Join(root, "gemv", name))
		if err != nil {
			t.Fatal(err)
		}
		shipped, err := os.ReadFile(filepath.Join(kernels, "gemv", name))
		if err != nil {
			t.Fatal(err)
		}
		if compiler(string(made)) == compiler(string(shipped)) && string(made) != string(shipped) {
			t.Errorf("%s is not what is shipped", name)
		}
	}
	before, err := os.Stat(stale)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(stale); err != nil || !os.SameFile(before, after) {
		t.Errorf("a current file was written again (%v)", err)
	}
	left, err := filepath.Glob(filepath.Join(root, "gemv", ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestArchOf(t *testing.T) {
	for _, c := range []struct {
		capability string
		own        []string
		want       string
	}{{"75", []string{"80"}, ""}, {"86", []string{"75", "80"}, "86"}, {"90", []string{"80", "90a"}, "90a"}, {"90", []string{"90a"}, "90a"},
		{"100", []string{"90a"}, ""}, {"100", []string{"80", "90a"}, "100"}, {"80", targetsOf("// targets: sm_90a\n"), ""}} {
		if got := archOf(c.capability, c.own); got != c.want {
			t.Errorf("%s of %v: %q, want %q", c.capability, c.own, got, c.want)
		}
	}
}
