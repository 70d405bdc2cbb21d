package exportdata

import (
	"bytes"
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"sort"
	"strings"

	"golang.org/x/tools/go/gcexportdata"
)

// overlays are packages that stand in for generic code which is tied to the Go runtime.
//
//go:embed overlay/*.txt
var overlays embed.FS

// fromSource says where the source of a package comes from: an entry of docs.zip, or an overlay.
var fromSource = map[string]string{
	"cmp": "", "maps": "", "slices": "",
	"iter":           "overlay/iter.txt",
	"overlay/sync":   "overlay/sync.txt",
	"overlay/atomic": "overlay/atomic.txt",
}

// Overlaid maps generic names of compiled packages to the package from source that defines them for cells.
var Overlaid = map[string]string{
	"sync.OnceValue":      "overlay/sync",
	"sync.OnceValues":     "overlay/sync",
	"sync/atomic.Pointer": "overlay/atomic",
}

// Source is a package that was checked from its source.
type Source struct {
	Pkg   *types.Package
	Files []*ast.File
	Info  *types.Info
}

// Importer imports packages for the type checker; it implements types.Importer. It is not safe for several goroutines.
type Importer struct {
	fset     *token.FileSet
	archives []*Archive
	pkgs     map[string]*types.Package
	sources  map[*types.Package]*Source
	closed   map[string]bool // packages that are being checked from source
}

// NewImporter returns an importer of the packages of the archives, which the standard library's precedes.
func NewImporter(fset *token.FileSet, more ...*Archive) (*Importer, error) {
	s, err := Std()
	if err != nil {
		return nil, err
	}
	m := &Importer{
		fset: fset, archives: append([]*Archive{s}, more...), pkgs: map[string]*types.Package{"unsafe": types.Unsafe},
		sources: map[*types.Package]*Source{}, closed: map[string]bool{},
	}
	// Export data of other packages names types of these two; they must be there before such data is read.
	for _, p := range []string{"cmp", "iter"} {
		if _, err := m.Import(p); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// UnknownError is the error of an import that is not in the kernel.
type UnknownError struct{ Path string }

func (e *UnknownError) Error() string {
	first, _, _ := strings.Cut(e.Path, "/")
	if strings.Contains(first, ".") {
		return fmt.Sprintf("package %q is not in the Jupyter kernel: cells are not compiled by a Go toolchain, so only the standard library, memwall's packages and gonum's can be imported", e.Path)
	}
	return fmt.Sprintf("there is no package %q in the standard library or among memwall's packages", e.Path)
}

// Has reports whether a package can be imported.
func (m *Importer) Has(path string) bool {
	if src, ok := fromSource[path]; ok {
		return !strings.HasPrefix(src, "overlay/") || path == "iter"
	}
	for _, a := range m.archives {
		if a.Has(path) {
			return true
		}
	}
	return path == "unsafe"
}

// Import returns a package, or an *UnknownError.
func (m *Importer) Import(path string) (*types.Package, error) {
	if p := m.pkgs[path]; p != nil && p.Complete() {
		return p, nil
	}
	if file, ok := fromSource[path]; ok {
		return m.importSource(path, file)
	}
	for _, a := range m.archives {
		if !a.Has(path) {
			continue
		}
		b, _, err := a.read(path)
		if err != nil {
			return nil, err
		}
		return gcexportdata.Read(bytes.NewReader(b), m.fset, m.pkgs, path)
	}
	return nil, &UnknownError{path}
}

// Source returns the syntax of a package that was checked from source, or nil.
func (m *Importer) Source(p *types.Package) *Source { return m.sources[p] }

// FromSource reports whether a package's functions are lowered instead of compiled.
func (m *Importer) FromSource(p *types.Package) bool { return m.sources[p] != nil }

// Loaded returns an imported package, nil when nothing has asked for it.
func (m *Importer) Loaded(path string) *types.Package {
	if p := m.pkgs[path]; p != nil && p.Complete() {
		return p
	}
	return nil
}

// Paths lists everything that can be imported, sorted.
func (m *Importer) Paths() []string {
	var ps []string
	for _, a := range m.archives {
		ps = append(ps, a.Paths()...)
	}
	sort.Strings(ps)
	return ps
}

// Doc returns the first paragraph of the documentation of a package's name ("Builder", "Builder.Len"; "" is the package),
// or "".
func (m *Importer) Doc(path, name string) string {
	for _, a := range m.archives[1:] {
		if a.Has(path) {
			return a.doc(path, name)
		}
	}
	d, err := docs()
	if err != nil {
		return ""
	}
	return d.doc(path, name)
}

func (m *Importer) importSource(name, overlay string) (*types.Package, error) {
	if m.closed[name] {
		return nil, fmt.Errorf("import cycle through %s", name)
	}
	m.closed[name] = true
	defer delete(m.closed, name)
	texts, err := sourceText(name, overlay)
	if err != nil {
		return nil, err
	}
	s := &Source{Info: NewInfo()}
	for _, t := range texts {
		f, err := parser.ParseFile(m.fset, t.name, t.text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		s.Files = append(s.Files, f)
	}
	conf := types.Config{Importer: m}
	p, err := conf.Check(name, m.fset, s.Files, s.Info)
	if err != nil {
		return nil, fmt.Errorf("package %s from source: %w", name, err)
	}
	s.Pkg = p
	m.pkgs[name], m.sources[p] = p, s
	return p, nil
}

type text struct {
	name string
	text []byte
}

func sourceText(name, overlay string) ([]text, error) {
	if overlay != "" {
		b, err := overlays.ReadFile(overlay)
		return []text{{name + "/" + path.Base(name) + ".go", b}}, err
	}
	d, err := docs()
	if err != nil {
		return nil, err
	}
	var ts []text
	for file := range d.files {
		if strings.HasSuffix(file, ".go") && path.Dir(file) == name {
			b, _, err := d.read(file)
			if err != nil {
				return nil, err
			}
			ts = append(ts, text{file, b})
		}
	}
	if len(ts) == 0 {
		return nil, fmt.Errorf("package %s from source: no files", name)
	}
	sort.Slice(ts, func(i, j int) bool { return ts[i].name < ts[j].name })
	return ts, nil
}

// NewInfo returns the tables of the type checker that SSA needs.
func NewInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
	}
}
