// Package lower prints Go packages in SSA form as the small part of Go that the yaegi interpreter evaluates right.
//
// Each SSA instruction has one template. Control flow is labels and gotos, registers are variables, types are erased: a named
// type becomes its underlying type, a method a function, an interface interface{}, a struct one with fields F0, F1 … Values of
// types that a cell defines travel through interfaces in boxes of the compiled run time (package rt), which also carries
// defer, recover, go, select, map iteration and formatting. What cannot be printed so is refused with a reason and a way
// round: a cell is right or refused, never silently wrong.
//
// A session has one Lowerer. Each cell is a package of one ssa.Program; what it needs of earlier cells it finds by the names
// that their units gave it.
package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"memwall/kernel/cell/rt"
)

// RuntimePath is the import path of the compiled run time in lowered text.
const RuntimePath = "memwall/kernel/cell/rt"

// Options are what a session may set.
type Options struct {
	// Source reports the packages, beside those of cells (path "main"), whose functions are lowered from their syntax.
	Source func(*types.Package) bool
	// Entry is the name of the function that holds a cell's statements, if there is one. It notes the place of each call, so that
	// a panic inside compiled code is known to come from that statement.
	Entry string
	// Carries lists import paths of compiled packages that pass on the interface values they are given, or look only at their
	// compiled types; beside the standard library's containers, sync and context.
	Carries []string
	// Shows lists import paths of compiled packages that read interface values by reflection, only to show them: they get a
	// plain view of the value under its true field names.
	Shows []string
}

// A Refusal says what a cell may not use, where, why, and what to write instead.
type Refusal struct {
	Pos       token.Pos
	Construct string
	Reason    string
	Way       string
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%s cannot be used in a cell: %s (%s)", r.Construct, r.Reason, r.Way)
}

// A Unit is one cell's lowered text. Names in it are unique in the session.
type Unit struct {
	Text    string
	Lines   []token.Pos // Lines[i] is the position in the cell of line i+1 of Text
	Imports []string    // compiled packages that Text imports
	Setup   string      // the function to call once after Text was evaluated, before anything else of it
	Init    string      // the function that initialises the cell's package variables
	l       *Lowerer
	names   map[*ssa.Function]string
	globals map[*ssa.Global]string
}

// Function is the lowered name of a function, "" when neither the unit nor an earlier one holds it.
func (u *Unit) Function(f *ssa.Function) string {
	if n, ok := u.names[f]; ok {
		return n
	}
	return u.l.names.kept[f]
}

// Global is the lowered name of a package variable: it holds a pointer to the variable.
func (u *Unit) Global(g *ssa.Global) string {
	if n, ok := u.globals[g]; ok {
		return n
	}
	return u.l.globals.kept[g]
}

// Commit makes what the unit defines known to later units. Until then the Lowerer is as it was before. Only the last unit
// that Package returned can be committed.
func (u *Unit) Commit() {
	if u.l.pending == u {
		u.l.commit()
	}
}

// A Lowerer is the state of one session.
type Lowerer struct {
	prog     *ssa.Program
	options  Options
	carries  map[string]bool
	shows    map[string]bool
	registry *rt.Registry
	pending  *Unit // the last unit, until it is committed or another is made

	counter     int // of names; never goes back, also not for units that were not committed
	units       []*Unit
	names       table[*ssa.Function, string]
	globals     table[*ssa.Global, string]
	texts       table[types.Type, string] // erased types
	shapes      table[string, *shape]     // structs by key
	recursives  table[string, bool]       // by key of a named type
	descriptors table[string, *rt.Type]   // by key
	registered  table[string, bool]       // types whose methods are registered, by key
	zeros       table[string, string]     // variables that hold zero values, by erased type
	constants   table[string, string]     // variables that hold constants, by type and text
	dispatchers table[string, dispatcher] // by method and signature
	signatures  table[string, int]
	tags        table[int, int]                 // what dispatchers compare, by descriptor, where a type was continued
	methods     table[string, []implementation] // what implements an interface's method, by method and signature
	imports     table[string, string]           // local names of compiled packages
	packages    table[string, string]           // import paths by local name
	effects     table[*ssa.Function, *effects]
	callable    callable
	storage     table[*ssa.Global, *ssa.Global] // variables that were declared again → the first declaration
	continued   []continuation
	bound       []binding
	interfaces  map[string]bool // erased types that are compiled interfaces
}

type (
	continuation struct{ old, now *types.Named }
	binding      struct{ now, old *ssa.Global }
)

// New returns the Lowerer of a session whose packages all belong to prog (built with ssa.InstantiateGenerics).
func New(prog *ssa.Program, o Options) *Lowerer {
	l := &Lowerer{prog: prog, options: o, carries: map[string]bool{}, shows: map[string]bool{}, interfaces: map[string]bool{}}
	l.registry = rt.NewRegistry(l.fromSource)
	l.callable.l = l
	for _, p := range carrying {
		l.carries[p] = true
	}
	for _, p := range o.Carries {
		l.carries[p] = true
	}
	for _, p := range o.Shows {
		l.shows[p] = true
	}
	for _, t := range l.tables() {
		t.drop()
	}
	return l
}

// fromSource says whether a package's code is lowered: a cell's own, and the generic packages.
func (l *Lowerer) fromSource(p *types.Package) bool {
	return p != nil && (p.Path() == "main" || l.options.Source != nil && l.options.Source(p))
}

func (l *Lowerer) tables() []transaction {
	return []transaction{&l.names, &l.globals, &l.texts, &l.shapes, &l.recursives, &l.descriptors, &l.registered, &l.zeros, &l.constants,
		&l.dispatchers, &l.signatures, &l.methods, &l.imports, &l.packages, &l.effects, &l.tags, &l.callable, &l.storage}
}

// Package lowers the functions, variables and types of a cell's built package, and the instances of generic functions that it
// needs and no earlier cell did. files are the cell's syntax trees. The error is a *Refusal.
func (l *Lowerer) Package(pkg *ssa.Package, files ...*ast.File) (u *Unit, err error) {
	for _, t := range l.tables() {
		t.drop()
	}
	l.pending = nil
	for _, b := range l.bound {
		l.storage.put(b.now, l.stored(b.old))
		if n, ok := l.globals.get(b.old); ok && b.now.Pkg == pkg {
			l.globals.put(b.now, n)
		}
	}
	continued := l.continued
	l.bound = nil
	w := &writer{l: l, pkg: pkg}
	defer func() {
		if r := recover(); r != nil {
			refusal, ok := r.(*Refusal)
			if !ok {
				panic(r)
			}
			for _, t := range l.tables() {
				t.drop()
			}
			l.continued = nil
			u, err = nil, refusal
		}
	}()
	w.order = newOrder(w, files)
	u = w.unit(continued)
	u.l = l
	u.names, u.globals = l.names.fresh, l.globals.fresh
	l.pending = u
	return u, nil
}

func (l *Lowerer) commit() {
	for _, d := range l.descriptors.fresh {
		l.registry.Add(d)
	}
	for _, t := range l.tables() {
		t.keep()
	}
	for _, c := range l.continued {
		l.registry.Continue(c.old, c.now)
	}
	l.continued, l.pending = nil, nil
}

// Continue says that a type declared again is the same type at run time: values made as old answer the methods of now. It is
// called before the unit that declares now is made, and takes effect with that unit.
func (l *Lowerer) Continue(old, now *types.Named) {
	l.registry.Alias(old, now)
	l.continued = append(l.continued, continuation{old, now})
}

// Bind says that a package variable declared again keeps the storage, and so the value, of an earlier one. It is called before
// the unit of now's package is made, and is forgotten when that unit is not committed.
func (l *Lowerer) Bind(now, old *ssa.Global) {
	l.bound = append(l.bound, binding{now, old})
}

// stored is the variable whose storage g has.
func (l *Lowerer) stored(g *ssa.Global) *ssa.Global {
	if old, ok := l.storage.get(g); ok {
		return old
	}
	return g
}

// Position finds the place in a cell of a line of lowered text, by the file name that the text's line directive gave it
// ("u7"), as the interpreter reports it.
func (l *Lowerer) Position(file string, line int) token.Pos {
	n, err := strconv.Atoi(strings.TrimPrefix(file, "u"))
	if err != nil || n < 1 || n > len(l.units) {
		return token.NoPos
	}
	if u := l.units[n-1]; line >= 1 && line <= len(u.Lines) {
		return u.Lines[line-1]
	}
	return token.NoPos
}
