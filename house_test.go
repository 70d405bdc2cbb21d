package main

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// imports is the table of design: which package may import what of this module and of others. Standard library and
// golang.org/x/sys are free. The longest matching prefix of a package's path decides; "…" stands for a subtree.
var imports = map[string][]string{
	".":                 {"kernel…", "gpu", "gpu/card", "gpu/perf", "gpu/libcuda", "gpu/llm", "kernels", "notebooks", "install", "github.com/spf13/cobra"},
	"kernel":            {"kernel/wire", "github.com/go-zeromq/zmq4"},
	"kernel/kerneltest": {"kernel/client", "kernel/wire"},
	"kernel/wire":       {"github.com/go-zeromq/zmq4"},
	"kernel/client":     {"github.com/go-zeromq/zmq4", "kernel/wire"},
	"kernel/cell":       {"kernel/cell…", "golang.org/x/tools"},
	"kernel/cell/rt":    {},
	"kernel/pipe":       {},
	"kernel/supervisor": {"kernel", "kernel/pipe"},
	"kernel/worker": {"kernel/pipe", "kernel/cell…", "kernel/display", "kernel/worker…", "gpu", "gpu/card", "gpu/perf", "gpu/quant",
		"gpu/llm…", "gpu/exercise", "kernels", "github.com/traefik/yaegi", "gonum.org/v1", "golang.org/x/tools"},
	"kernel/display":      {},
	"kernel/notebook":     {"kernel", "github.com/yuin/goldmark", "github.com/alecthomas/chroma"},
	"gpu":                 {"gpu/internal…", "gpu/perf", "gpu/card", "gpu/quant", "github.com/ianlancetaylor/demangle"},
	"gpu/perf":            {"gonum.org/v1/gonum"},
	"gpu/card":            {"gpu/perf", "gonum.org/v1/gonum", "gonum.org/v1/plot"},
	"gpu/quant":           {},
	"gpu/quant/quanttest": {},
	"gpu/llm":             {"gpu", "gpu/llm…", "gpu/perf", "gpu/quant", "gpu/card", "kernels"},
	"gpu/exercise":        {"gpu", "kernels", "gpu/perf"},
	"gpu/internal/driver": {"gpu/internal/driver", "gpu/perf"},
	"gpu/internal/ptx":    {},
	"gpu/internal/vgpu":   {"gpu/internal/vgpu…", "gpu/internal/driver", "gpu/internal/ptx", "gpu/perf"},
	"gpu/internal/nvrtc":  {"github.com/ebitengine/purego"},
	"gpu/internal/cuda": {"gpu/internal/cuda/shim", "gpu/internal/driver", "gpu/internal/ptx", "gpu/internal/vdrv", "gpu/perf", "gorgonia.org/cu",
		"github.com/NVIDIA/go-nvml"},
	"gpu/internal/cuda/shim":    {},
	"gpu/internal/cuda/shimgen": {},
	"gpu/libcuda":               {"gpu/libcuda/record", "gpu/card", "gpu/perf", "install"},
	"gpu/libcuda/record":        {"gpu/perf"},
	"gpu/internal/vdrv":         {"gpu/internal/driver", "gpu/internal/ptx", "gpu/internal/vgpu", "gpu/perf"},
	"kernels":                   {"gpu", "gpu/perf", "gpu/quant"},
	"notebooks":                 {},
	"install":                   {},
	"install/installtest":       {"install"},
}

const (
	maxFileLines     = 800
	maxFunctionLines = 100
)

// topLevel is fixed by the design.
var topLevel = []string{".ci", ".gitignore", "ARCHITECTURE.md", "LICENSE", "NOTICE", "README.md", "go.mod", "go.sum", "gpu", "install",
	"kernel", "kernels", "house_test.go", "main.go", "main_test.go", "notebooks"}

type source struct {
	path  string // from the top, with slashes
	file  *ast.File
	set   *token.FileSet
	lines int
}

func (s source) dir() string { return path.Dir(s.path) }

func TestHouse(t *testing.T) {
	sources := parseAll(t)
	t.Run("imports", func(t *testing.T) {
		for _, s := range sources {
			if !strings.HasSuffix(s.path, "_test.go") && s.file.Name.Name != "main" || s.path == "main.go" {
				checkImports(t, s)
			}
		}
	})
	t.Run("package docs", func(t *testing.T) {
		documented := map[string]bool{}
		for _, s := range sources {
			if !strings.HasSuffix(s.path, "_test.go") {
				documented[s.dir()] = documented[s.dir()] || s.file.Doc != nil
			}
		}
		for dir, ok := range documented {
			if !ok {
				t.Errorf("%s: no file has a package comment", dir)
			}
		}
	})
	t.Run("sizes", func(t *testing.T) {
		for _, s := range sources {
			checkSizes(t, s)
		}
	})
}

func parseAll(t *testing.T) []source {
	t.Helper()
	var sources []source
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && p != "." || d.Name() == "testdata" || d.Name() == "memwall-notebooks") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		sources = append(sources, source{filepath.ToSlash(p), f, set, set.File(f.Pos()).LineCount()})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) < 20 {
		t.Fatalf("only %d Go files found: the test must run in the top folder", len(sources))
	}
	return sources
}

func checkImports(t *testing.T, s source) {
	allowed, owner := rule(s.dir())
	if owner == "" {
		t.Errorf("%s: %s has no row in the import table", s.path, s.dir())
		return
	}
	for _, spec := range s.file.Imports {
		name := strings.Trim(spec.Path.Value, `"`)
		first, _, _ := strings.Cut(name, "/")
		local, ours := strings.CutPrefix(name, "memwall/")
		switch {
		case ours:
			name = local
		case !strings.Contains(first, ".") || strings.HasPrefix(name, "golang.org/x/sys/"):
			continue
		}
		if !slices.ContainsFunc(allowed, func(a string) bool { return matches(a, name, ours) }) {
			t.Errorf("%s imports %s, which the row of %q does not allow", s.path, name, owner)
		}
	}
}

func matches(allowed, name string, ours bool) bool {
	if subtree, ok := strings.CutSuffix(allowed, "…"); ok || !ours {
		return name == subtree || strings.HasPrefix(name, strings.TrimSuffix(subtree, "…")+"/")
	}
	return name == allowed
}

func rule(dir string) (allowed []string, owner string) {
	for d := dir; ; d = path.Dir(d) {
		if row, ok := imports[d]; ok && (d != "." || dir == ".") {
			return row, d
		}
		if d == "." {
			return nil, ""
		}
	}
}

func checkSizes(t *testing.T, s source) {
	if ast.IsGenerated(s.file) {
		return
	}
	if s.lines > maxFileLines {
		t.Errorf("%s has %d lines, more than %d: two subjects?", s.path, s.lines, maxFileLines)
	}
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			if n := s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: func %s has %d lines, more than %d", s.path, f.Name.Name, n, maxFunctionLines)
			}
		}
	}
}

var inBackticks = regexp.MustCompile("`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.*-]+)*/?)`")

// TestDocumentsNameWhatExists: a path in backticks in ARCHITECTURE.md or README.md exists. A word counts as a path when it
// has a slash, or the ending of one of our files.
func TestDocumentsNameWhatExists(t *testing.T) {
	ending := regexp.MustCompile(`\.(go|cu|md|ipynb|ptx|txt|json)$`)
	for _, doc := range []string{"ARCHITECTURE.md", "README.md"} {
		f, err := os.Open(doc)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		paths := 0
		lines := bufio.NewScanner(f)
		for n := 1; lines.Scan(); n++ {
			for _, m := range inBackticks.FindAllStringSubmatch(lines.Text(), -1) {
				p := strings.TrimSuffix(m[1], "/")
				first, _, _ := strings.Cut(p, "/")
				if !ending.MatchString(p) && !(strings.Contains(p, "/") && slices.Contains(topLevel, first)) {
					continue
				}
				paths++
				if found, err := filepath.Glob(p); err != nil || len(found) == 0 {
					t.Errorf("%s:%d: %s does not exist", doc, n, p)
				}
			}
		}
		if paths == 0 {
			t.Errorf("%s names no path: the pattern of this test no longer fits", doc)
		}
	}
}

var functionAndFile = regexp.MustCompile("\\(`([A-Za-z0-9]+)`,\\s+`([a-z0-9_/]+\\.go)`\\)")

// TestArchitectureNamesFunctions: each (`function`, `file`) of ARCHITECTURE.md is declared there.
func TestArchitectureNamesFunctions(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	found := functionAndFile.FindAllStringSubmatch(string(text), -1)
	if len(found) < 10 {
		t.Fatalf("only %d functions found: the pattern of this test no longer fits", len(found))
	}
	for _, m := range found {
		f, err := parser.ParseFile(token.NewFileSet(), m[2], nil, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		if !slices.ContainsFunc(f.Decls, func(d ast.Decl) bool { fn, ok := d.(*ast.FuncDecl); return ok && fn.Name.Name == m[1] }) {
			t.Errorf("ARCHITECTURE.md: %s has no function %s", m[2], m[1])
		}
	}
}

// TestNotice: each module of go.mod stands in NOTICE.
func TestNotice(t *testing.T) {
	mod, err1 := os.ReadFile("go.mod")
	notice, err2 := os.ReadFile("NOTICE")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	required := regexp.MustCompile(`(?m)^\t(\S+) v`).FindAllStringSubmatch(string(mod), -1)
	if len(required) == 0 {
		t.Fatal("go.mod requires nothing: the pattern of this test no longer fits")
	}
	for _, m := range required {
		if !strings.Contains(string(notice), m[1]+": ") {
			t.Errorf("NOTICE lacks %s: add it with its licence", m[1])
		}
	}
}

func TestTopLevelIsFixed(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".git" && e.Name() != "memwall-notebooks" && !slices.Contains(topLevel, e.Name()) {
			t.Errorf("%s: the top level is fixed (design: Layout)", e.Name())
		}
	}
}
