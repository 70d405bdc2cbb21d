// Package cell compiles the cells of a notebook: it splits a cell's text into declarations, statements and a last expression,
// type-checks them together with what earlier cells declared, and lowers them to what the interpreter evaluates right.
//
// A cell is right or refused. Each cell becomes a Go package of its own, all with the path "main", whose scope holds the
// objects of earlier cells that it mentions. Variables of the top level are package variables; its statements are the body of
// one function. When a cell declares something again, everything that depends on it is compiled again from its source, in the
// new cell's package; a type of the same shape goes on as the same type, so that values made before stay good.
//
// A cell that does not compile changes nothing: Compile returns a Program, and only Program.Commit makes it part of the session.
package cell

import (
	"fmt"
	"go/token"
	"go/types"
	"runtime"
	"sort"
	"strings"
	"sync"

	"golang.org/x/tools/go/ssa"

	"memwall/kernel/cell/exportdata"
	"memwall/kernel/cell/lower"
)

// goVersion is the version of the language that cells are written in.
const goVersion = "go1.26"

// Options are what the owner of a session may set.
type Options struct {
	// Archives hold export data of packages beside the standard library's.
	Archives []*exportdata.Archive
	// Refuse returns why a package cannot be imported though its types are known, "" when it can.
	Refuse func(path string) string
	// Hidden reports the names of packages that are not for cells: they are not offered.
	Hidden func(path, name string) bool
	Lower  lower.Options
}

// A Predeclared variable is one that the session's owner holds.
type Predeclared struct {
	Name    string
	Type    string            // in Go, for example *gpu.Device
	Imports map[string]string // names of packages in Type → paths
}

// An entity is a name that cells see.
type entity struct {
	obj   types.Object
	item  *item // nil: a variable
	cell  int   // that declared it last
	stale string
	text  string // of its type, made when it is asked for

	predeclared bool // the worker has it before any cell
	addressed   bool // a variable that something may point to
}

// Session is what the cells of a notebook have declared. Its methods may be called by several goroutines.
type Session struct {
	mu       sync.Mutex
	files    files
	importer *exportdata.Importer
	refuse   func(string) string
	hides    func(path, name string) bool
	prog     *ssa.Program
	lower    *lower.Lowerer
	auto     map[string]string // names that are imported on first use

	names       map[string]*entity
	methods     map[string]map[string]*item // receiver → method
	imports     map[string]string           // explicit imports
	dots        []string                    // paths that were imported with a dot
	hidden      map[string]*hiddenVar       // variables that the compiler adds
	predeclared map[string]Predeclared
	users       map[string]map[*item]bool  // name → declarations that mention it
	typed       map[string]map[string]bool // type → variables whose type mentions it
}

// NewSession returns an empty session.
func NewSession(o Options) (*Session, error) {
	fset := token.NewFileSet()
	m, err := exportdata.NewImporter(fset, o.Archives...)
	if err != nil {
		return nil, err
	}
	s := &Session{
		files: files{fset: fset, parts: map[*token.File]fragment{}}, importer: m, refuse: o.Refuse,
		names: map[string]*entity{}, methods: map[string]map[string]*item{}, imports: map[string]string{},
		hidden: map[string]*hiddenVar{}, predeclared: map[string]Predeclared{}, users: map[string]map[*item]bool{}, typed: map[string]map[string]bool{},
	}
	if s.hides = o.Hidden; s.hides == nil {
		s.hides = func(string, string) bool { return false }
	}
	if s.refuse == nil {
		s.refuse = func(string) string { return "" }
	}
	s.prog = ssa.NewProgram(fset, ssa.InstantiateGenerics|ssa.BareInits)
	o.Lower.Source = m.FromSource
	s.lower = lower.New(s.prog, o.Lower)
	var usable []string
	for _, p := range m.Paths() {
		if s.refuse(p) == "" {
			usable = append(usable, p)
		}
	}
	for _, p := range []string{"slices", "maps", "cmp", "iter"} {
		usable = append(usable, p)
	}
	s.auto = autoImports(usable)
	return s, nil
}

// Predeclare makes a variable known that the session's owner holds; cells may declare its name again.
func (s *Session) Predeclare(p Predeclared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.predeclared[p.Name] = p
}

// Name is something that a cell has declared.
type Name struct {
	Name string
	Kind string // "variable", "function", "type", "constant"
	Type string
	Cell int
}

// Names lists what cells have declared, sorted.
func (s *Session) Names() []Name {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ns []Name
	for n, e := range s.names {
		if e.text == "" {
			e.text = typeText(e.obj.Type())
		}
		from := e.cell
		if e.predeclared {
			from = 0
		}
		ns = append(ns, Name{n, kindOf(e.obj), e.text, from})
	}
	sort.Slice(ns, func(i, j int) bool { return ns[i].Name < ns[j].Name })
	return ns
}

func kindOf(o types.Object) string {
	switch o.(type) {
	case *types.Var:
		return "variable"
	case *types.Func, *types.Builtin:
		return "function"
	case *types.TypeName:
		return "type"
	case *types.Const, *types.Nil:
		return "constant"
	case *types.PkgName:
		return "module"
	}
	return "name"
}

// qualifier names packages as cells do.
func qualifier(p *types.Package) string {
	if p.Path() == mainPath {
		return ""
	}
	return p.Name()
}

func typeText(t types.Type) string { return types.TypeString(t, qualifier) }

const mainPath = "main"

// sizes are those of the machine that cells run on.
var sizes = types.SizesFor("gc", runtime.GOARCH)

// check explains why a path cannot be imported, or returns "".
func (s *Session) checkImport(path string) string {
	switch path {
	case "C":
		return `import "C" needs a C compiler beside Go's: cells cannot use cgo`
	case "unsafe":
		return "package unsafe is not for cells: the values of cells are not laid out in memory as the Go compiler lays them out"
	}
	if !s.importer.Has(path) {
		return (&exportdata.UnknownError{Path: path}).Error()
	}
	return s.refuse(path)
}

// sessionNamed reports whether a named type was declared by a cell, at its top level.
func sessionNamed(n *types.Named) (name string, top bool) {
	o := n.Origin().Obj()
	if o.Pkg() == nil || o.Pkg().Path() != mainPath {
		return "", false
	}
	return o.Name(), o.Parent() == o.Pkg().Scope()
}

// typeNames collects the types of cells that a type mentions; local is true when it mentions one that a function declares.
func typeNames(t types.Type) (names map[string]bool, local bool) {
	names = map[string]bool{}
	seen := map[types.Type]bool{}
	var walk func(t types.Type)
	tuple := func(t *types.Tuple) {
		for i := 0; i < t.Len(); i++ {
			walk(t.At(i).Type())
		}
	}
	walk = func(t types.Type) {
		t = types.Unalias(t)
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Named:
			if n, top := sessionNamed(t); n != "" {
				names[n] = true
				local = local || !top
			}
			for i := 0; i < t.TypeArgs().Len(); i++ {
				walk(t.TypeArgs().At(i))
			}
			if n, _ := sessionNamed(t); n != "" {
				walk(t.Underlying())
			}
		case *types.Pointer:
			walk(t.Elem())
		case *types.Slice:
			walk(t.Elem())
		case *types.Array:
			walk(t.Elem())
		case *types.Chan:
			walk(t.Elem())
		case *types.Map:
			walk(t.Key())
			walk(t.Elem())
		case *types.Struct:
			for i := 0; i < t.NumFields(); i++ {
				walk(t.Field(i).Type())
			}
		case *types.Signature:
			tuple(t.Params())
			tuple(t.Results())
		case *types.Interface:
			for i := 0; i < t.NumMethods(); i++ {
				walk(t.Method(i).Type())
			}
		}
	}
	walk(t)
	return names, local
}

// index makes an item known under the names that it mentions.
func (s *Session) index(it *item) {
	for n := range it.free {
		if s.users[n] == nil {
			s.users[n] = map[*item]bool{}
		}
		s.users[n][it] = true
	}
}

func (s *Session) unindex(it *item) {
	for n := range it.free {
		delete(s.users[n], it)
	}
}

// current reports whether an item is still what the session has under its names.
func (s *Session) current(it *item) bool {
	if it.recv != "" {
		return s.methods[it.recv][it.method] == it
	}
	for _, n := range it.names {
		if e := s.names[n]; e != nil && e.item == it {
			return true
		}
	}
	return false
}

func (s *Session) setVariable(name string, e *entity) {
	s.forgetVariable(name)
	s.names[name] = e
	types, _ := typeNames(e.obj.Type())
	for t := range types {
		if s.typed[t] == nil {
			s.typed[t] = map[string]bool{}
		}
		s.typed[t][name] = true
	}
}

func (s *Session) forgetVariable(name string) {
	if e := s.names[name]; e != nil && e.item == nil {
		types, _ := typeNames(e.obj.Type())
		for t := range types {
			delete(s.typed[t], name)
		}
	}
}

// Place gives the cell, line and column of a position in lowered or checked code.
func (s *Session) Place(pos token.Pos) Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files.place(pos)
}

func quoted(names []string) string {
	sort.Strings(names)
	return strings.Join(names, ", ")
}

func cells(n int) string { return fmt.Sprintf("cell %d", n) }
