package lower

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"memwall/kernel/cell/rt"
)

// An implementation is a type's method as a dispatcher calls it.
type implementation struct {
	id       int // of the type's descriptor
	tag      int
	receiver string // erased type
	function string
}

// descriptor returns the run-time descriptor of a type, which the set-up function makes known to the run time.
func (w *writer) descriptor(t types.Type) *rt.Type {
	d := w.quietDescriptor(t)
	if !types.IsInterface(t) {
		w.know(t)
	}
	return d
}

// quietDescriptor is descriptor without the methods of the type and its parts.
func (w *writer) quietDescriptor(t types.Type) *rt.Type {
	t = types.Unalias(t)
	k := w.l.registry.Key(t)
	if d, ok := w.l.descriptors.get(k); ok {
		return d
	}
	e := w.erased(t)
	d := w.l.registry.NewType(t, w.native(t))
	w.l.descriptors.put(k, d)
	w.setup = append(w.setup, fmt.Sprintf("rt.SetType(%d, new(%s))", d.ID, e))
	return d
}

// know registers the methods of a type that reaches an interface, and of the types it is made of: formatting and encoding look
// inside.
func (w *writer) know(t types.Type) {
	k := w.l.registry.Key(t)
	if w.l.registered.has("parts of " + k) {
		return
	}
	w.l.registered.put("parts of "+k, true)
	seen := map[types.Type]bool{}
	var walk func(t types.Type)
	walk = func(t types.Type) {
		t = types.Unalias(t)
		if seen[t] {
			return
		}
		seen[t] = true
		switch u := t.(type) {
		case *types.Named:
			if !w.fromSource(u.Obj().Pkg()) {
				return
			}
			if !types.IsInterface(u) {
				w.wantMethods(u)
				w.wantMethods(types.NewPointer(u))
			}
			walk(u.Underlying())
		case *types.Pointer:
			if _, ok := types.Unalias(u.Elem()).(*types.Struct); ok {
				w.wantMethods(u)
			}
			if isInterface(u.Elem()) && !w.native(u.Elem()) {
				w.quietDescriptor(u.Elem()) // errors.As looks for what the pointer is to hold
			}
			walk(u.Elem())
		case *types.Slice:
			walk(u.Elem())
		case *types.Array:
			walk(u.Elem())
		case *types.Map:
			walk(u.Key())
			walk(u.Elem())
		case *types.Struct:
			w.wantMethods(u)
			for i := range u.NumFields() {
				walk(u.Field(i).Type())
			}
		}
	}
	walk(t)
}

// wantMethods gives t a descriptor and has its methods registered, once.
func (w *writer) wantMethods(t types.Type) {
	w.quietDescriptor(t)
	k := w.l.registry.Key(t)
	if !w.l.registered.has(k) {
		w.l.registered.put(k, true)
		w.known = append(w.known, t)
	}
}

// methodKey tells an interface's method apart: a type implements it when it has a method with the same key.
func (w *writer) methodKey(m *types.Func, sig *types.Signature) string {
	k := m.Name() + w.l.registry.Key(types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic()))
	if !m.Exported() {
		k = m.Pkg().Path() + "." + k
	}
	return k
}

// registerMethods writes a function with the receiver's box first for each method of a type that can be in an interface.
func (w *writer) registerMethods(t types.Type) {
	ms := w.l.prog.MethodSets.MethodSet(t)
	d := w.quietDescriptor(t)
	receiver := w.erased(t)
	for i := range ms.Len() {
		sel := ms.At(i)
		f := w.l.prog.MethodValue(sel)
		if f == nil || !w.canName(f.Signature) {
			continue
		}
		m := sel.Obj().(*types.Func)
		if !m.Exported() && !w.fromSource(m.Pkg()) {
			continue // a promoted method of a compiled type that no cell can call
		}
		sig := sel.Type().(*types.Signature)
		var ps []string
		for k := range sig.Params().Len() {
			ps = append(ps, "a"+strconv.Itoa(k))
		}
		w.fn = &function{w: w, f: f, pos: f.Pos()}
		var call string
		if external(f) {
			call = w.externalCall(f, append([]string{"x"}, ps...))
		} else {
			name := w.functionName(f)
			call = name + "(" + strings.Join(append([]string{"x"}, spread(sig, ps)...), ", ") + ")"
			k := w.methodKey(m, sig)
			w.implement(k, implementation{d.ID, w.l.tag(d), receiver, name})
		}
		before := w.fn.out
		w.fn = nil
		if sig.Results().Len() > 0 {
			call = "return " + call
		}
		n := w.name("m")
		text := w.signature(sig, ps)
		w.add(f, "func "+n+withReceiver(text, true)+" {")
		if wrapsRecover(f) {
			w.add(f, "rt.PassDefer(1)")
		}
		if receiver == "interface{}" {
			w.add(f, "x := rt.Value(r)")
			w.add(f, "_ = x")
		} else {
			w.add(f, "var q interface{} = rt.Value(r)")
			w.add(f, "x, _ := q.("+receiver+")")
		}
		w.body = append(w.body, before...)
		w.add(f, call)
		w.add(f, "}")
		w.setup = append(w.setup, fmt.Sprintf("rt.SetMethod(%d, %q, %s)", d.ID, m.Name(), n))
	}
}

// canName reports whether text can name all types of a signature: of promoted methods some cannot be had.
func (w *writer) canName(sig *types.Signature) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, refused := r.(*Refusal); !refused {
				panic(r)
			}
			ok = false
		}
	}()
	for _, t := range []*types.Tuple{sig.Params(), sig.Results()} {
		for i := range t.Len() {
			w.erased(t.At(i).Type())
		}
	}
	return true
}

// implement adds what an interface's method does for a type; it replaces what an earlier unit said.
func (w *writer) implement(k string, im implementation) {
	known, _ := w.l.methods.get(k)
	list := make([]implementation, 0, len(known)+1)
	for _, x := range known {
		if x.id != im.id {
			list = append(list, x)
		}
	}
	list = append(list, im)
	w.l.methods.put(k, list[max(0, len(list)-mostInline):])
}

// tag is what dispatchers compare for a type.
func (l *Lowerer) tag(d *rt.Type) int {
	if t, ok := l.tags.get(d.ID); ok {
		return t
	}
	return d.Tag()
}

// add writes a line outside of function bodies.
func (w *writer) add(f *ssa.Function, text string) {
	l := line{text: text}
	if f != nil {
		l.pos = f.Pos()
	}
	w.body = append(w.body, l)
}

// withReceiver puts a receiver of type interface{} first in a signature's text.
func withReceiver(sig string, named bool) string {
	r := "(interface{}"
	if named {
		r = "(r interface{}"
	}
	if strings.HasPrefix(sig, "()") {
		return r + sig[1:]
	}
	return r + ", " + sig[1:]
}

// A dispatcher is the function that calls an interface's method on a box: it tries the types that are known when it is
// written, then asks the run time, so that later cells may add types.
type dispatcher struct {
	name   string
	method *types.Func
	newest string // the last implementation that it tries
}

// dispatcher names the function that calls an interface's method.
func (w *writer) dispatcher(m *types.Func) string {
	k := w.methodKey(m, m.Signature())
	impls, _ := w.l.methods.get(k)
	if d, ok := w.l.dispatchers.get(k); ok {
		if _, fresh := w.l.dispatchers.fresh[k]; fresh || len(impls) == 0 || d.newest == impls[len(impls)-1].function {
			return d.name
		}
	}
	d := dispatcher{name: w.name("d"), method: m}
	w.l.dispatchers.put(k, d)
	w.needed = append(w.needed, k)
	return d.name
}

const mostInline = 24 // implementations that a dispatcher tries in turn

func (w *writer) writeDispatcher(k string) {
	d, _ := w.l.dispatchers.get(k)
	sig := d.method.Signature()
	plain := w.signature(sig, nil)
	number, ok := w.l.signatures.get(plain)
	if !ok {
		w.l.counter++
		number = w.l.counter
		w.l.signatures.put(plain, number)
		w.setup = append(w.setup, fmt.Sprintf("rt.SetSignature(%d, new(func%s))", number, withReceiver(plain, false)))
	}
	var ps []string
	for i := range sig.Params().Len() {
		ps = append(ps, "a"+strconv.Itoa(i))
	}
	as := spread(sig, ps)
	ret, end := "return ", ""
	if sig.Results().Len() == 0 {
		ret, end = "", "; return"
	}
	w.add(nil, "func "+d.name+withReceiver(w.signature(sig, ps), true)+" {")
	impls, _ := w.l.methods.get(k)
	if len(impls) > 0 {
		d.newest = impls[len(impls)-1].function
	}
	w.l.dispatchers.put(k, d)
	if len(impls) > 0 {
		for _, s := range []string{"goto b0", "var id int", "var q interface{}", "b0:", "id, q = rt.Unbox(r)"} {
			w.add(nil, s)
		}
	}
	for _, im := range impls {
		receiver, get := "x", fmt.Sprintf("x, _ := q.(%s); ", im.receiver)
		if im.receiver == "interface{}" {
			receiver, get = "q", ""
		}
		call := im.function + "(" + strings.Join(append([]string{receiver}, as...), ", ") + ")"
		w.add(nil, fmt.Sprintf("if id == %d { %s%s%s%s }", im.tag, get, ret, call, end))
	}
	w.add(nil, fmt.Sprintf("var m interface{} = rt.Method(r, %q, %d)", d.method.Name(), number))
	w.add(nil, "f, _ := m.(func"+withReceiver(plain, false)+")")
	w.add(nil, ret+"f("+strings.Join(append([]string{"r"}, as...), ", ")+")")
	w.add(nil, "}")
}
