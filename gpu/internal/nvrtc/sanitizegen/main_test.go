package main

import (
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

const corpus = "../../../testdata/sanitize"

// TestCorpusIsCurrent compiles the corpus again and compares with what is checked in.
func TestCorpusIsCurrent(t *testing.T) {
	if err := nvrtc.Available(); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		t.Logf("not rebuilt, only hashed (package gpu): %s", first)
		return
	}
	files, err := generate(t.Context(), corpus)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(path)
		version := func(s string) string { s, _, _ = strings.Cut(s, " for "); return s }
		if err == nil && version(string(got)) != version(want) {
			t.Logf("not compared: this machine has another NVRTC than made the files")
			return
		}
		if err != nil || string(got) != want {
			t.Errorf("%s is stale (%v): run `go generate ./gpu`", path, err)
		}
	}
	present, err := filepath.Glob(filepath.Join(corpus, "*.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range present {
		if files[path] == "" {
			t.Errorf("%s has no source any more", path)
		}
	}
}
