package exportdata

import (
	"bytes"
	"go/token"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"memwall/kernel/cell/exportdata/pack"
)

func newImporter(t testing.TB) *Importer {
	t.Helper()
	m, err := NewImporter(token.NewFileSet())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestEveryPackage decodes every package of the archive in one importer, and finds in each what its documentation names.
func TestEveryPackage(t *testing.T) {
	m := newImporter(t)
	paths := m.Paths()
	if len(paths) < 150 {
		t.Fatalf("%d packages, want the whole standard library", len(paths))
	}
	for _, path := range paths {
		p, err := m.Import(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if !p.Complete() || p.Path() != path {
			t.Errorf("%s: imported as %s, complete %v", path, p.Path(), p.Complete())
		}
	}
	for path, names := range map[string]string{
		"fmt": "Println Sprintf Stringer", "slices": "Sort Collect", "iter": "Seq Pull", "net/http": "Get Client", "sync": "WaitGroup OnceValue",
		"os": "Exit Args", "strings": "SplitSeq Builder", "math/rand/v2": "N IntN", "maps": "Keys", "cmp": "Compare",
	} {
		p, _ := m.Import(path)
		for _, n := range strings.Fields(names) {
			if p.Scope().Lookup(n) == nil {
				t.Errorf("%s.%s is missing", path, n)
			}
		}
	}
	if seq, _ := m.Import("strings"); !strings.Contains(seq.Scope().Lookup("SplitSeq").String(), "iter.Seq[string]") {
		t.Errorf("strings.SplitSeq: %s", seq.Scope().Lookup("SplitSeq"))
	}
}

func TestOneTypeHasOneIdentity(t *testing.T) {
	m := newImporter(t)
	bufio, err := m.Import("bufio")
	if err != nil {
		t.Fatal(err)
	}
	io, err := m.Import("io")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range bufio.Imports() {
		if p.Path() == "io" && p != io {
			t.Error("bufio's io is not the package io")
		}
	}
}

func TestUnknown(t *testing.T) {
	m := newImporter(t)
	for path, want := range map[string]string{
		"github.com/a/b": `package "github.com/a/b" is not in the Jupyter kernel: cells are not compiled by a Go toolchain, so only the standard library, memwall's packages and gonum's can be imported`,
		"nothing":        `there is no package "nothing" in the standard library or among memwall's packages`,
	} {
		if _, err := m.Import(path); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

func TestDoc(t *testing.T) {
	m := newImporter(t)
	if got := m.Doc("strings", "Builder.Len"); !strings.Contains(got, "number of accumulated bytes") {
		t.Errorf("strings.Builder.Len: %q", got)
	}
	if got := m.Doc("fmt", "Nothing"); got != "" {
		t.Errorf("a name that is not there: %q", got)
	}
}

func TestOpenBad(t *testing.T) {
	if _, err := Open("not a zip"); err == nil || err.Error() != "export data: zip: not a valid zip file" {
		t.Errorf("%v", err)
	}
}

// TestCurrent makes the archive of this operating system again and compares.
func TestCurrent(t *testing.T) {
	s, err := Std()
	if err != nil {
		t.Fatal(err)
	}
	if s.Version() != runtime.Version() {
		t.Logf("the archive is of %s, this is %s: not compared", s.Version(), runtime.Version())
		return
	}
	all, err := pack.List(runtime.GOOS, "std")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for p := range all {
		if pack.Visible(p) {
			paths = append(paths, p)
		}
	}
	for _, p := range paths {
		if !s.Has(p) {
			t.Errorf("package %s is missing: run go generate ./kernel/cell/exportdata", p)
		}
	}
	if runtime.GOARCH != "amd64" {
		return
	}
	pkgs, err := pack.Load(all, s.Paths())
	if err != nil {
		t.Fatal(err)
	}
	files, err := pack.Types(pkgs)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, _, err := s.read(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, f.Data) {
			t.Errorf("%s is not current: run go generate ./kernel/cell/exportdata", f.Name)
		}
	}
}

// TestLazy: an importer and the packages of a small cell cost little at the start of the worker.
func TestLazy(t *testing.T) {
	best := time.Hour
	for range 5 {
		start := time.Now()
		m := newImporter(t)
		if _, err := m.Import("fmt"); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	t.Logf("importer and fmt: %v", best)
	if best > 50*time.Millisecond {
		t.Errorf("importer and fmt took %v, want a few milliseconds", best)
	}
}

func FuzzOpen(f *testing.F) {
	b, err := os.ReadFile("docs.zip")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b[:200]))
	f.Add("PK\x05\x06")
	f.Fuzz(func(t *testing.T, data string) {
		if a, err := Open(data); err == nil {
			for _, p := range a.Paths() {
				a.doc(p, "")
			}
		}
	})
}
