// Package symbols holds what compiled packages offer to cells: a table of functions, variables and types for each package of
// the standard library, of memwall and of gonum, in the form that the yaegi interpreter wants, and export data of the
// packages that are not the standard library's. A table is made when a cell first imports its package.
//
// yaegi's own tables stop at Go 1.22 and are all made when a program starts.
package symbols

import (
	_ "embed"
	"reflect"
	"sort"
	"sync"

	"memwall/kernel/cell/exportdata"
	"memwall/kernel/worker/symbols/visible"
)

//go:generate go run ./gen

// Table maps exported names to values, and "_Name" to the type that implements the interface Name by functions.
type Table = map[string]reflect.Value

//go:embed packages.zip
var packages string

// Archive is the export data of the packages beside the standard library's.
var Archive = sync.OnceValues(func() (*exportdata.Archive, error) { return exportdata.Open(packages) })

var (
	mu   sync.Mutex
	made = map[string]Table{}
)

// Of returns the table of a package, nil when there is none.
func Of(path string) Table {
	mu.Lock()
	defer mu.Unlock()
	if t, ok := made[path]; ok {
		return t
	}
	f := tables[path]
	if f == nil {
		return nil
	}
	t := f()
	for n, v := range replaced[path] {
		t[n] = v
	}
	made[path] = t
	return t
}

// Paths lists the packages that have tables, sorted.
func Paths() []string {
	var ps []string
	for p := range tables {
		ps = append(ps, p)
	}
	sort.Strings(ps)
	return ps
}

// Refusal says why cells cannot import a package though its types are known, "" when they can.
func Refusal(path string) string {
	if why := visible.Refusal(path); why != "" {
		return why
	}
	if tables[path] == nil && !visible.FromSource(path) {
		return "package " + path + " is not in the Jupyter kernel"
	}
	return ""
}

// Wrapper finds the type that implements a compiled interface by functions.
func Wrapper(iface reflect.Type) (reflect.Type, bool) {
	t := Of(iface.PkgPath())
	w, ok := t["_"+iface.Name()]
	if !ok {
		return nil, false
	}
	return w.Type().Elem(), true
}

// Hidden reports the names that are there for the worker alone.
func Hidden(path, name string) bool { return visible.Hidden(path, name) }
