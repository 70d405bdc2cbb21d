package lower

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"

	"golang.org/x/tools/go/ssa"
)

// effects are what a function itself writes, and whom it calls. Memory is named by kinds: "G:" a package variable, "F:" a field
// of a struct type, "E:" elements of a type, "M:" entries of a map type, "A:" a variable that only closures share, "P:" anything
// of a type behind a pointer, "T:" any variable of a type.
type effects struct {
	writes map[string]bool
	calls  []*ssa.CallCommon
	key    string // of the signature
	method string // "." and the name, of methods
	// summary is nil until it is asked for
	summary *summary
}

// analyse finds a function's effects, and those of the functions that it mentions.
func (l *Lowerer) analyse(w *writer, f *ssa.Function) *effects {
	if e, ok := l.effects.get(f); ok {
		return e
	}
	e := &effects{writes: map[string]bool{}, key: signatureKey(w, f.Signature)}
	if f.Signature.Recv() != nil {
		e.method = "." + f.Name()
	}
	l.effects.put(f, e)
	if token.IsIdentifier(f.Name()) || f.Parent() != nil || len(f.TypeArgs()) > 0 { // others, a session's own, no cell can call
		l.callable.add(e.key, f)
	}
	if e.method != "" {
		l.callable.add(e.method, f)
	}
	if f.TypeParams().Len() > len(f.TypeArgs()) {
		return e
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			w.effectsOf(f, in, e)
			for _, op := range in.Operands(nil) {
				if g, ok := (*op).(*ssa.Function); ok && !external(g) {
					l.analyse(w, g)
				}
			}
			if m, ok := in.(*ssa.MakeInterface); ok {
				l.analyseMethods(w, m.X.Type())
			}
		}
	}
	for _, a := range f.AnonFuncs {
		l.analyse(w, a)
	}
	return e
}

// A summary is what a function writes with all that it calls directly, and what it calls through function values and
// interfaces: their signatures, and "." with the methods' names.
type summary struct{ writes, dynamic map[string]bool }

func newSummary() *summary { return &summary{map[string]bool{}, map[string]bool{}} }

func (s *summary) add(t *summary) {
	maps.Copy(s.writes, t.writes)
	maps.Copy(s.dynamic, t.dynamic)
}

// summary of a function never changes: what it calls directly is fixed.
func (l *Lowerer) summary(w *writer, f *ssa.Function) *summary {
	e := l.analyse(w, f)
	if e.summary != nil {
		return e.summary
	}
	s := newSummary()
	l.collect(w, f, s, map[*ssa.Function]bool{})
	e.summary = s
	return s
}

func (l *Lowerer) collect(w *writer, f *ssa.Function, s *summary, seen map[*ssa.Function]bool) {
	if seen[f] {
		return
	}
	seen[f] = true
	e := l.analyse(w, f)
	if e.summary != nil {
		s.add(e.summary)
		return
	}
	maps.Copy(s.writes, e.writes)
	for _, c := range e.calls {
		callee, keys := w.calls(c)
		if callee != nil {
			l.collect(w, callee, s, seen)
		}
		for _, k := range keys {
			s.dynamic[k] = true
		}
	}
}

// calls is what a call runs: a function, or the keys of what it may be.
func (w *writer) calls(c *ssa.CallCommon) (callee *ssa.Function, keys []string) {
	if c.IsInvoke() {
		return nil, []string{"." + c.Method.Name()}
	}
	if _, ok := c.Value.(*ssa.Builtin); ok {
		return nil, nil
	}
	f := c.StaticCallee()
	if f == nil {
		return nil, []string{signatureKey(w, c.Signature())}
	}
	if !external(f) {
		return f, nil
	}
	for _, a := range c.Args { // what a compiled function may call back
		switch t := a.Type().Underlying().(type) {
		case *types.Signature:
			keys = append(keys, signatureKey(w, t))
		case *types.Interface:
			for i := range t.NumMethods() {
				keys = append(keys, "."+t.Method(i).Name())
			}
		}
	}
	return nil, keys
}

// callable lists what a call through a function value or an interface may run, by key: of earlier units their summary, of the
// unit being made the functions.
type callable struct {
	kept  map[string]*summary
	fresh map[string][]*ssa.Function
	l     *Lowerer
}

func (c *callable) add(k string, f *ssa.Function) { c.fresh[k] = append(c.fresh[k], f) }

func (c *callable) keep() {
	for k, fs := range c.fresh {
		s := c.kept[k]
		if s == nil {
			s = newSummary()
			c.kept[k] = s
		}
		for _, f := range fs {
			s.add(c.l.summary(&writer{l: c.l}, f))
		}
	}
	c.fresh = map[string][]*ssa.Function{}
}

func (c *callable) drop() {
	if c.kept == nil {
		c.kept = map[string]*summary{}
	}
	c.fresh = map[string][]*ssa.Function{}
}

// analyseMethods analyses the methods of a type that reaches an interface.
func (l *Lowerer) analyseMethods(w *writer, t types.Type) {
	n, ok := types.Unalias(t).(*types.Named)
	if p, isPointer := types.Unalias(t).(*types.Pointer); isPointer {
		n, ok = types.Unalias(p.Elem()).(*types.Named)
	}
	if !ok || !w.fromSource(n.Obj().Pkg()) || isInterface(n) {
		return
	}
	k := "effects of " + l.registry.Key(t)
	if l.registered.has(k) {
		return
	}
	l.registered.put(k, true)
	ms := l.prog.MethodSets.MethodSet(t)
	for i := range ms.Len() {
		if o := ms.At(i).Obj(); !o.Exported() && !w.fromSource(o.Pkg()) {
			continue
		}
		if f := l.prog.MethodValue(ms.At(i)); f != nil && !external(f) {
			l.analyse(w, f)
		}
	}
}

func (w *writer) effectsOf(f *ssa.Function, in ssa.Instruction, e *effects) {
	key := w.l.registry.Key
	switch in := in.(type) {
	case *ssa.Store:
		if a, ok := variableOf(in.Addr).(*ssa.Alloc); ok && a.Parent() == f {
			return // a variable of this call: who called has not seen it
		}
		for _, k := range w.keys(in.Addr) {
			e.writes[k] = true
		}
		w.writesType(in.Val.Type(), e)
	case *ssa.MapUpdate:
		e.writes["M:"+key(in.Map.Type().Underlying())] = true
	case ssa.CallInstruction:
		c := in.Common()
		b, ok := c.Value.(*ssa.Builtin)
		if !ok {
			e.calls = append(e.calls, c)
			return
		}
		if len(c.Args) == 0 {
			return
		}
		switch t := c.Args[0].Type().Underlying().(type) {
		case *types.Map:
			if b.Name() == "delete" || b.Name() == "clear" {
				e.writes["M:"+key(t)] = true
			}
		case *types.Slice:
			if b.Name() == "copy" || b.Name() == "clear" || b.Name() == "append" {
				e.writes["E:"+key(t.Elem())] = true
			}
		}
	}
}

// writesType notes that a variable of type t was written, with all its parts: pointers may lead to it.
func (w *writer) writesType(t types.Type, e *effects) {
	k := "T:" + w.l.registry.Key(t)
	if e.writes[k] {
		return
	}
	e.writes[k] = true
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			w.writesType(u.Field(i).Type(), e)
		}
	case *types.Array:
		e.writes["E:"+w.l.registry.Key(u.Elem())] = true
		w.writesType(u.Elem(), e)
	}
}

// keys names the memory at an address, from the inside out.
func (w *writer) keys(a ssa.Value) []string {
	key := w.l.registry.Key
	switch a := a.(type) {
	case *ssa.FieldAddr:
		return append([]string{fmt.Sprintf("F:%s:%d", key(deref(a.X.Type()).Underlying()), a.Field)}, w.keys(a.X)...)
	case *ssa.IndexAddr:
		if s, ok := a.X.Type().Underlying().(*types.Slice); ok {
			return []string{"E:" + key(s.Elem())}
		}
		return append([]string{"E:" + key(deref(a.X.Type()).Underlying().(*types.Array).Elem())}, w.keys(a.X)...)
	case *ssa.Global:
		return []string{w.globalKey(a)}
	}
	r := original(a)
	if private(r) {
		return []string{fmt.Sprintf("A:%p", r)}
	}
	if g, ok := r.(*ssa.Global); ok {
		return []string{w.globalKey(g)}
	}
	return []string{"P:" + key(deref(a.Type()))}
}

// globalKey names a package variable.
func (w *writer) globalKey(g *ssa.Global) string { return fmt.Sprintf("G:%p", w.l.stored(g)) }

// variableOf is the variable or pointer that an address is inside of.
func variableOf(a ssa.Value) ssa.Value {
	for {
		switch x := a.(type) {
		case *ssa.FieldAddr:
			a = x.X
		case *ssa.IndexAddr:
			if _, ok := x.X.Type().Underlying().(*types.Slice); ok {
				return a
			}
			a = x.X
		default:
			return a
		}
	}
}

// captured reports whether a closure holds a variable.
func captured(v ssa.Value) bool {
	for _, r := range *v.Referrers() {
		if _, ok := r.(*ssa.MakeClosure); ok {
			return true
		}
	}
	return false
}

// leaks reports whether a new map is used for more than its own entries.
func leaks(m *ssa.MakeMap) bool {
	for _, r := range *m.Referrers() {
		switch r := r.(type) {
		case *ssa.MapUpdate:
			if r.Map != m {
				return true
			}
		case *ssa.Lookup, *ssa.DebugRef:
		default:
			return true
		}
	}
	return false
}

// original follows a captured variable to the variable itself.
func original(v ssa.Value) ssa.Value {
	for {
		fv, ok := v.(*ssa.FreeVar)
		if !ok || fv.Parent().Referrers() == nil {
			return v
		}
		i := -1
		for k, x := range fv.Parent().FreeVars {
			if x == fv {
				i = k
			}
		}
		var outer ssa.Value
		for _, r := range *fv.Parent().Referrers() {
			if mc, ok := r.(*ssa.MakeClosure); ok {
				outer = mc.Bindings[i]
			}
		}
		if outer == nil {
			return v
		}
		v = outer
	}
}

// private reports whether a variable's address goes nowhere but into closures.
func private(v ssa.Value) bool {
	if _, ok := v.(*ssa.Alloc); !ok {
		return false
	}
	for _, r := range *v.Referrers() {
		switch r := r.(type) {
		case *ssa.Store:
			if r.Val == v {
				return false
			}
		case *ssa.UnOp, *ssa.MakeClosure, *ssa.FieldAddr, *ssa.IndexAddr, *ssa.DebugRef:
		default:
			return false
		}
	}
	return true
}
