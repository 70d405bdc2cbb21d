package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// rebuildEverything, an environment variable, makes TestShippedFilesAreCurrent compile every source for every capability.
const rebuildEverything = "MEMWALL_TEST_REBUILD"

// one is one of a source's own targets, by its hash: all targets of all sources take nine minutes, and each target of many
// sources is compiled all the same.
func one(own []string, hash string) []string {
	return []string{strings.TrimSuffix(own[int(hash[0])%len(own)], "a")}
}

// TestShippedFilesAreCurrent compiles every source again and compares with what is checked in. Package kernels holds the hash of
// each file against its source.
func TestShippedFilesAreCurrent(t *testing.T) {
	if err := nvrtc.Available(); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		t.Logf("not rebuilt, only hashed (package kernels): %s", first)
		return
	}
	chosen := one
	if os.Getenv(rebuildEverything) == "" {
		t.Logf("each source is compiled for one of its targets; with %s=all for each", rebuildEverything)
	} else {
		chosen = every
	}
	files := map[string]string{}
	for _, root := range []struct {
		path  string
		facts bool
	}{{kernels, true}, {bench, false}, {published, true}, {filepath.Join(kernels, "testdata"), false}} {
		made, err := generate(t.Context(), root.path, root.facts, chosen)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(files, made)
	}
	for path, made := range files {
		text, err := os.ReadFile(path)
		got := string(text)
		if err == nil && compiler(made) != compiler(got) {
			t.Logf("not compared: this machine has %q, %s was made by %q", compiler(made), path, compiler(got))
			return
		}
		same := got == made
		if filepath.Base(path) == "facts.tsv" { // rows of the chosen targets, among those of all
			same = holdsLines(got, made)
		}
		if err != nil || !same {
			t.Errorf("%s is stale (%v): run `go generate ./kernels ./gpu/internal/vgpu/bench`", path, err)
		}
	}
}

// holdsLines says whether each line of part is one of whole's.
func holdsLines(whole, part string) bool {
	lines := map[string]bool{}
	for line := range strings.Lines(whole) {
		lines[line] = true
	}
	for line := range strings.Lines(part) {
		if !lines[line] {
			return false
		}
	}
	return true
}

// TestEveryFileHasItsSource finds generated files of sources, or of targets, that are no more.
func TestEveryFileHasItsSource(t *testing.T) {
	for _, root := range []string{kernels, bench, published} {
		present, err := filepath.Glob(filepath.Join(root, "*", "*.ptx"))
		if err != nil || len(present) == 0 {
			t.Fatal(err, root, len(present))
		}
		for _, path := range present {
			base, target, ok := strings.Cut(strings.TrimSuffix(path, ".ptx"), ".sm_")
			text, err := os.ReadFile(base + ".cu")
			if err != nil || !ok || !slices.Contains(targetsOf(string(text)), target) {
				t.Errorf("%s has no source any more, or it is no target of it (%v)", path, err)
			}
		}
	}
}

// compiler is "NVRTC 12.9.86" from a generated file's first line.
func compiler(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	_, rest, _ := strings.Cut(line, " with ")
	name, _, _ := strings.Cut(rest, " for ")
	name, _, _ = strings.Cut(name, ";")
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
