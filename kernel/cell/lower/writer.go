package lower

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"memwall/kernel/cell/rt"
)

// A writer makes one unit.
type writer struct {
	l      *Lowerer
	pkg    *ssa.Package
	types  []string        // type declarations
	vars   []string        // variables of the text
	setup  []string        // statements of the set-up function
	body   []line          // functions
	queue  []*ssa.Function // to be lowered
	known  []types.Type    // types whose methods are to be registered
	needed []string        // dispatchers to be written, in order
	order  *order
	fn     *function // being lowered
}

// A line of lowered text and the position in the cell that it comes from.
type line struct {
	text string
	pos  token.Pos
}

// refuse ends the unit at the place that is being lowered.
func (w *writer) refuse(construct, reason, way string) {
	pos := token.NoPos
	if w.fn != nil {
		pos = w.fn.pos
	}
	w.refuseAt(pos, construct, reason, way)
}

func (w *writer) refuseAt(pos token.Pos, construct, reason, way string) {
	panic(&Refusal{Pos: pos, Construct: construct, Reason: reason, Way: way})
}

// name makes a name that no unit of the session has.
func (w *writer) name(prefix string) string {
	w.l.counter++
	return prefix + strconv.Itoa(w.l.counter)
}

// importName is the local name of a compiled package.
func (w *writer) importName(p *types.Package) string {
	path := p.Path()
	n, ok := w.l.imports.get(path)
	if !ok {
		n = w.name("q") + "_" + p.Name()
		w.l.imports.put(path, n)
		w.l.packages.put(n, path)
	}
	return n
}

// importNames matches the local names of compiled packages in lowered text.
var importNames = regexp.MustCompile(`\bq[0-9]+_[\pL\pN_]+\.`)

// imported lists the paths of the compiled packages that the unit's text mentions, and their local names. Types that an earlier
// unit made are mentioned without importName having been called for them.
func (w *writer) imported() (paths []string, names map[string]string) {
	names = map[string]string{}
	find := func(text string) {
		for _, n := range importNames.FindAllString(text, -1) {
			n = n[:len(n)-1]
			if p, ok := w.l.packages.get(n); ok {
				names[p] = n
			}
		}
	}
	for _, ls := range [][]string{w.types, w.vars, w.setup} {
		for _, l := range ls {
			find(l)
		}
	}
	for _, l := range w.body {
		find(l.text)
	}
	return slices.Sorted(maps.Keys(names)), names
}

// unit lowers the package and all that it needs.
func (w *writer) unit(continued []continuation) *Unit {
	fs := packageFunctions(w.pkg)
	for _, f := range fs {
		w.functionName(f)
	}
	w.declareGlobals()
	init := ""
	if f := w.pkg.Func("init"); f != nil {
		init = w.functionName(f)
	}
	for _, c := range continued {
		w.continueType(c)
	}
	for len(w.queue) > 0 || len(w.known) > 0 {
		if len(w.queue) > 0 {
			f := w.queue[0]
			w.queue = w.queue[1:]
			w.function(f)
			continue
		}
		t := w.known[0]
		w.known = w.known[1:]
		w.registerMethods(t)
	}
	for _, k := range w.needed {
		w.writeDispatcher(k)
	}
	return w.assemble(init)
}

// declareGlobals gives the package's variables their names, so that later cells find them.
func (w *writer) declareGlobals() {
	var names []string
	for n, m := range w.pkg.Members {
		if _, ok := m.(*ssa.Global); ok && n != "init$guard" {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	for _, n := range names {
		w.globalPointer(w.pkg.Members[n].(*ssa.Global))
	}
}

// continueType registers the methods of a type that was declared again for the values that exist.
func (w *writer) continueType(c continuation) {
	if c.now.TypeParams().Len() > 0 {
		return
	}
	for _, t := range []types.Type{c.now, types.NewPointer(c.now)} {
		d, ok := w.l.descriptors.get(w.l.registry.Key(t))
		if !ok || types.IsInterface(t) {
			continue
		}
		tag := rt.NewTag()
		w.l.tags.put(d.ID, tag)
		w.setup = append(w.setup, fmt.Sprintf("rt.Retag(%d, %d)", d.ID, tag))
		w.l.registered.put(w.l.registry.Key(t), true)
		w.known = append(w.known, t)
	}
}

// assemble puts the unit's text together.
func (w *writer) assemble(init string) *Unit {
	u := &Unit{Init: init, Setup: w.name("u")}
	n := len(w.l.units) + 1
	var b strings.Builder
	write := func(text string, pos token.Pos) {
		b.WriteString(text)
		b.WriteByte('\n')
		u.Lines = append(u.Lines, pos)
	}
	fmt.Fprintf(&b, "//line u%d:1\n", n)
	write("package main", token.NoPos)
	write("import "+strconv.Quote(RuntimePath), token.NoPos)
	var names map[string]string
	u.Imports, names = w.imported()
	for _, p := range u.Imports {
		write("import "+names[p]+" "+strconv.Quote(p), token.NoPos)
	}
	for _, l := range slices.Concat(w.types, w.vars) {
		write(l, token.NoPos)
	}
	for _, l := range w.body {
		write(l.text, l.pos)
	}
	write("func "+u.Setup+"() {", token.NoPos)
	for _, l := range w.setup {
		write(l, token.NoPos)
	}
	write("}", token.NoPos)
	u.Text = b.String()
	w.l.units = append(w.l.units, u)
	return u
}

// functionName names a function; one that no unit holds yet is lowered in this one.
func (w *writer) functionName(f *ssa.Function) string {
	if n, ok := w.l.names.get(f); ok {
		return n
	}
	n := w.name("f")
	w.l.names.put(f, n)
	w.queue = append(w.queue, f)
	return n
}

// zero names a variable that holds the zero value of an erased type.
func (w *writer) zero(text string) string {
	if z, ok := w.l.zeros.get(text); ok {
		return z
	}
	z := w.name("z")
	w.l.zeros.put(text, z)
	w.vars = append(w.vars, "var "+z+" "+text)
	return z
}

// constantVariable holds a constant in a variable of the text.
func (w *writer) constantVariable(t, e string) string {
	k := t + " " + e
	if n, ok := w.l.constants.get(k); ok {
		return n
	}
	n := w.name("k")
	w.l.constants.put(k, n)
	w.vars = append(w.vars, "var "+n+" "+t+" = "+e)
	return n
}

// constantBox holds a constant in an interface in a variable. The set-up function makes it: the interpreter takes a variable that
// mentions one of an earlier unit for a loop of definitions.
func (w *writer) constantBox(e string) string {
	if n, ok := w.l.constants.get(e); ok {
		return n
	}
	n := w.name("k")
	w.l.constants.put(e, n)
	w.vars = append(w.vars, "var "+n+" interface{}")
	w.setup = append(w.setup, n+" = "+e)
	return n
}

// globalPointer is an expression for the address of a package variable.
func (w *writer) globalPointer(v *ssa.Global) string {
	if !w.fromSource(v.Pkg.Pkg) {
		return "&" + w.importName(v.Pkg.Pkg) + "." + v.Name()
	}
	if n, ok := w.l.globals.get(v); ok {
		return n
	}
	n := w.name("g")
	w.l.globals.put(v, n)
	e := w.erased(deref(v.Type()))
	w.vars = append(w.vars, fmt.Sprintf("var %s *%s = new(%s)", n, e, e))
	return n
}

// packageFunctions lists a package's functions, methods and the functions inside them that can be lowered as they are: generic
// ones are lowered when they are instantiated.
func packageFunctions(p *ssa.Package) []*ssa.Function {
	var fs []*ssa.Function
	seen := map[*ssa.Function]bool{}
	add := func(f *ssa.Function) {
		if f == nil || seen[f] || f.Blocks == nil || f.TypeParams().Len() > len(f.TypeArgs()) {
			return
		}
		seen[f] = true
		fs = append(fs, f)
	}
	var names []string
	for n := range p.Members {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		switch m := p.Members[n].(type) {
		case *ssa.Function:
			if n != "init" {
				add(m)
			}
		case *ssa.Type:
			named, ok := types.Unalias(m.Type()).(*types.Named)
			if !ok || named.TypeParams().Len() > 0 || named.Obj().Pkg() != p.Pkg {
				continue
			}
			for i := range named.NumMethods() {
				add(p.Prog.FuncValue(named.Method(i)))
			}
		}
	}
	return fs
}
