// Package session runs cells: it joins the cell compiler (kernel/cell), its run time (kernel/cell/rt), the yaegi interpreter
// and the symbol tables of the compiled packages into one object that keeps a notebook's variables.
//
// A Session belongs to one goroutine at a time for Run, Eval, Predeclare and Reset; Complete, Inspect, IsComplete and Names
// may be called while a cell runs.
package session

import (
	"fmt"
	"go/build"
	"io"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/traefik/yaegi/interp"

	"memwall/kernel/cell"
	"memwall/kernel/cell/exportdata"
	"memwall/kernel/cell/lower"
	"memwall/kernel/cell/rt"
	"memwall/kernel/worker/symbols"
)

// Name is something that a session has declared.
type Name = cell.Name

// Session is a notebook's state.
type Session struct {
	cells       atomic.Pointer[cell.Session]
	interp      *interp.Interpreter
	used        map[string]bool // packages whose tables the interpreter has
	predeclared map[string]any  // name → pointer to the worker's variable
	pointers    map[string]reflect.Value
	finished    chan result // how the cell's goroutine ended
	unfinished  chan result // that of an interrupted cell which still runs
	stopped     uint64      // the run number of the cell that was interrupted last
}

// runnerPath is how lowered text calls back into the session.
const runnerPath = "memwall/kernel/worker/session"

// New returns an empty session.
func New() (*Session, error) {
	s := &Session{predeclared: map[string]any{}}
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, nil
}

// shows lists packages that read values only to show them.
var shows = []string{"memwall/kernel/display"}

func (s *Session) start() error {
	a, err := symbols.Archive()
	if err != nil {
		return err
	}
	rt.WrapperOf = symbols.Wrapper
	cells, err := cell.NewSession(cell.Options{
		Hidden:   symbols.Hidden,
		Archives: []*exportdata.Archive{a},
		Refuse:   symbols.Refusal,
		Lower:    lower.Options{Shows: shows},
	})
	if err != nil {
		return err
	}
	s.interp = interp.New(interp.Options{GoPath: "/nonexistent", Stderr: io.Discard, Unrestricted: true, BuildTags: build.Default.BuildTags})
	s.used, s.pointers = map[string]bool{}, map[string]reflect.Value{}
	s.finished, s.unfinished = nil, nil
	err = s.interp.Use(interp.Exports{
		lower.RuntimePath + "/rt": rt.Symbols(),
		runnerPath + "/session":   {"Run": reflect.ValueOf(s.enter)},
	})
	if err != nil {
		return err
	}
	if _, err := s.evaluate("import runner \"" + runnerPath + "\""); err != nil {
		return fmt.Errorf("the interpreter does not start: %w", err)
	}
	for name, p := range s.predeclared {
		if err := s.tell(cells, name, p); err != nil {
			return err
		}
	}
	s.cells.Store(cells)
	return nil
}

// Predeclare makes a variable of the worker visible to cells: pointer is its address. The variable's type must be a named type
// of a package that cells can import, a basic type, or made of such by pointers, slices and maps.
func (s *Session) Predeclare(name string, pointer any) error {
	if err := s.tell(s.cells.Load(), name, pointer); err != nil {
		return err
	}
	s.predeclared[name] = pointer
	return nil
}

func (s *Session) tell(cells *cell.Session, name string, pointer any) error {
	t := reflect.TypeOf(pointer)
	if t == nil || t.Kind() != reflect.Pointer {
		return fmt.Errorf("predeclare %s: %T is not the address of a variable", name, pointer)
	}
	imports := map[string]string{}
	text, err := goType(t.Elem(), imports)
	if err != nil {
		return fmt.Errorf("predeclare %s: %w", name, err)
	}
	cells.Predeclare(cell.Predeclared{Name: name, Type: text, Imports: imports})
	return nil
}

// goType writes a compiled type as Go source.
func goType(t reflect.Type, imports map[string]string) (string, error) {
	if t.Name() != "" {
		if t.PkgPath() == "" {
			return t.Name(), nil
		}
		if symbols.Of(t.PkgPath()) == nil {
			return "", fmt.Errorf("type %s is of a package that cells cannot import", t)
		}
		pkg := strings.NewReplacer("/", "_", ".", "_").Replace(t.PkgPath())
		imports[pkg] = t.PkgPath()
		return pkg + "." + t.Name(), nil
	}
	var key string
	if t.Kind() == reflect.Map {
		k, err := goType(t.Key(), imports)
		if err != nil {
			return "", err
		}
		key = k
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		e, err := goType(t.Elem(), imports)
		if err != nil {
			return "", err
		}
		return map[reflect.Kind]string{reflect.Pointer: "*", reflect.Slice: "[]", reflect.Map: "map[" + key + "]"}[t.Kind()] + e, nil
	}
	return "", fmt.Errorf("type %s cannot be written in a cell", t)
}

// use gives the interpreter the tables of the packages that a unit imports.
func (s *Session) use(paths []string) error {
	for _, p := range paths {
		if s.used[p] || p == lower.RuntimePath {
			continue
		}
		t := symbols.Of(p)
		if t == nil {
			return fmt.Errorf("package %s has no compiled symbols", p)
		}
		s.used[p] = true
		name := p[strings.LastIndexByte(p, '/')+1:]
		// The doubled slash keeps the interpreter from putting functions of its own into package fmt.
		if err := s.interp.Use(interp.Exports{p + "//" + name: t}); err != nil {
			return err
		}
		rt.Use(map[string]map[string]reflect.Value{p: t})
	}
	return nil
}

// pointer is the address of a lowered variable.
func (s *Session) pointer(global string) (reflect.Value, error) {
	if v, ok := s.pointers[global]; ok {
		return v, nil
	}
	v, err := s.evaluate(global)
	if err != nil {
		return reflect.Value{}, err
	}
	s.pointers[global] = v
	return v, nil
}

// Names lists what the session has declared.
func (s *Session) Names() []Name { return s.cells.Load().Names() }

// Reset forgets everything that cells declared; predeclared variables stay.
func (s *Session) Reset() error { return s.start() }
