package lower

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"

	"memwall/kernel/cell/rt"
)

// Every cell-defined type is erased: what the interpreter sees of it is its underlying type, a struct's fields are F0, F1 …,
// and an interface is interface{}. A struct's field whose type leads back to the struct is an interface{} as well (opaque),
// because the interpreter cannot make recursive types.

// A shape is the interpreter's form of a struct type.
type shape struct {
	name   string
	opaque []bool // fields that are kept as interface{}
}

func (w *writer) fromSource(p *types.Package) bool { return w.l.fromSource(p) }

// compiled returns the named type when its definition is in a compiled package.
func (w *writer) compiled(t types.Type) *types.Named {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || w.fromSource(n.Obj().Pkg()) {
		return nil
	}
	return n
}

// internalType is the name of a type that only SSA has: "deferStack", "rangeIter".
func internalType(t types.Type) string {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Exported() || n.Obj().Pkg() != nil && n.Obj().Pkg().Scope().Lookup(n.Obj().Name()) != nil {
		return ""
	}
	if b, ok := n.Underlying().(*types.Basic); !ok || b.Kind() != types.UnsafePointer {
		return ""
	}
	return n.Obj().Name()
}

// erased is the text of a type in lowered code.
func (w *writer) erased(t types.Type) string {
	t = types.Unalias(t)
	if b, ok := t.(*types.Basic); ok {
		return w.basicType(b)
	}
	if s, ok := w.l.texts.get(t); ok {
		return s
	}
	s := w.erase(t)
	w.l.texts.put(t, s)
	return s
}

func (w *writer) basicType(b *types.Basic) string {
	switch b.Kind() {
	case types.UnsafePointer:
		w.refuse("unsafe.Pointer", "the interpreter cannot follow it", "use encoding/binary or math.Float64bits to look at bits")
	case types.UntypedNil, types.Invalid:
		return "interface{}"
	}
	return types.Default(b).String()
}

func (w *writer) erase(t types.Type) string {
	switch t := t.(type) {
	case *types.Named:
		return w.eraseNamed(t)
	case *types.Pointer:
		if w.hidden(t) {
			return "interface{}"
		}
		return "*" + w.erased(t.Elem())
	case *types.Slice:
		return "[]" + w.erased(t.Elem())
	case *types.Array:
		return "[" + strconv.FormatInt(t.Len(), 10) + "]" + w.erased(t.Elem())
	case *types.Map:
		if n := w.compiled(t.Key()); n != nil && types.IsInterface(n) && n.Obj().Pkg() != nil {
			w.refuse("a map with keys of the compiled interface "+n.String(), "equal keys would not be found", "use keys of type any")
		}
		return "map[" + w.erased(t.Key()) + "]" + w.erased(t.Elem())
	case *types.Chan:
		e := w.erased(t.Elem())
		if strings.HasPrefix(e, "<-") {
			e = "(" + e + ")"
		}
		switch t.Dir() {
		case types.SendOnly:
			return "chan<- " + e
		case types.RecvOnly:
			return "<-chan " + e
		}
		return "chan " + e
	case *types.Signature:
		return "func" + w.signature(t, nil)
	case *types.Struct:
		if t.NumFields() == 0 {
			return "struct{}"
		}
		return w.shapeOf(t).name
	case *types.Interface:
		return "interface{}"
	case *types.TypeParam:
		w.refuse("the type parameter "+t.String(), "it has no type arguments here", "call the generic function with its types written out")
	}
	w.refuse("a value of type "+t.String(), "it has no form that the interpreter can evaluate", "use another type")
	return ""
}

func (w *writer) eraseNamed(t *types.Named) string {
	switch internalType(t) {
	case "deferStack":
		return "*rt.Defers"
	case "rangeIter":
		return "*rt.Iter"
	}
	o := t.Obj()
	if o.Pkg() == nil { // error, comparable
		w.l.interfaces[o.Name()] = true
		return o.Name()
	}
	if w.fromSource(o.Pkg()) {
		w.nameLocal(t)
		if w.recursive(t) {
			return "interface{}"
		}
		return w.erased(t.Underlying())
	}
	if t.TypeArgs().Len() > 0 {
		w.refuse("the generic type "+t.String(), "the interpreter has no generic types of compiled packages", "use a type without type parameters")
	}
	if !o.Exported() {
		return "interface{}" // see hidden
	}
	w.checkSymbols(o.Pkg())
	text := w.importName(o.Pkg()) + "." + o.Name()
	if types.IsInterface(t) {
		w.l.interfaces[text] = true
	}
	return text
}

// hidden reports an unexported type of a compiled package, or a pointer to one. Text cannot name it: its values, such as
// binary.LittleEndian, are kept as interface{}, and their methods are called through the run time.
func (w *writer) hidden(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n := w.compiled(t)
	return n != nil && n.Obj().Pkg() != nil && !n.Obj().Exported() && internalType(n) == ""
}

// checkSymbols refuses the types of packages that the interpreter has no symbols of.
func (w *writer) checkSymbols(p *types.Package) {
	if path := p.Path(); path == "syscall" || strings.HasPrefix(path, "internal/") || strings.Contains(path, "/internal/") {
		w.refuse("a type of package "+path, "the kernel has no compiled form of the package", "use package os, os/exec or os/signal")
	}
}

// nameLocal notes the type arguments of the function that a type is declared in.
func (w *writer) nameLocal(t *types.Named) {
	if w.fn == nil || t.Obj().Pkg().Scope().Lookup(t.Obj().Name()) == t.Obj() {
		return
	}
	f := w.fn.f
	for f.Parent() != nil {
		f = f.Parent()
	}
	if s, p := f.Syntax(), t.Obj().Pos(); s != nil && s.Pos() <= p && p < s.End() && len(f.TypeArgs()) > 0 {
		rt.DeclaredIn(t, f.TypeArgs())
	}
}

// signature is the text of a function's parameters and results; names are those of the parameters, or nil.
func (w *writer) signature(s *types.Signature, names []string) string {
	var b strings.Builder
	b.WriteString("(")
	for i := range s.Params().Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		if names != nil {
			b.WriteString(names[i] + " ")
		}
		t := s.Params().At(i).Type()
		if s.Variadic() && i == s.Params().Len()-1 {
			b.WriteString(w.variadic(t))
		} else {
			b.WriteString(w.erased(t))
		}
	}
	b.WriteString(")")
	if r := w.results(s); r != "" {
		b.WriteString(" " + r)
	}
	return b.String()
}

// variadic is the text of a variadic parameter's type.
func (w *writer) variadic(t types.Type) string {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		w.refuse("a variadic parameter of type "+t.String(), "only slices of arguments can be passed on", "convert the string to []byte")
	}
	return "..." + w.erased(s.Elem())
}

// results is the text of a function's results, in parentheses when there are several.
func (w *writer) results(s *types.Signature) string {
	var rs []string
	for i := range s.Results().Len() {
		rs = append(rs, w.erased(s.Results().At(i).Type()))
	}
	if len(rs) > 1 {
		return "(" + strings.Join(rs, ", ") + ")"
	}
	return strings.Join(rs, "")
}

// reaches reports whether the erased form of t would contain the type with the key goal.
func (w *writer) reaches(t types.Type, goal string, throughStructs bool) bool {
	seen := map[string]bool{}
	var walk func(t types.Type) bool
	tuple := func(t *types.Tuple) bool {
		for i := range t.Len() {
			if walk(t.At(i).Type()) {
				return true
			}
		}
		return false
	}
	walk = func(t types.Type) bool {
		t = types.Unalias(t)
		if _, ok := t.(*types.Basic); ok {
			return false
		}
		k := w.l.registry.Key(t)
		if seen[k] {
			return false
		}
		seen[k] = true
		if k == goal {
			return true
		}
		switch t := t.(type) {
		case *types.Named:
			return w.fromSource(t.Obj().Pkg()) && !types.IsInterface(t) && walk(t.Underlying())
		case *types.Pointer:
			return walk(t.Elem())
		case *types.Slice:
			return walk(t.Elem())
		case *types.Array:
			return walk(t.Elem())
		case *types.Chan:
			return walk(t.Elem())
		case *types.Map:
			return walk(t.Key()) || walk(t.Elem())
		case *types.Struct:
			for i := 0; throughStructs && i < t.NumFields(); i++ {
				if walk(t.Field(i).Type()) {
					return true
				}
			}
		case *types.Signature:
			return tuple(t.Params()) || tuple(t.Results())
		}
		return false
	}
	return walk(t)
}

// recursive reports whether a named type contains itself without a struct between.
func (w *writer) recursive(n *types.Named) bool {
	switch n.Underlying().(type) {
	case *types.Struct, *types.Interface, *types.Basic:
		return false
	}
	k := w.l.registry.Key(n)
	if r, ok := w.l.recursives.get(k); ok {
		return r
	}
	r := w.reaches(n.Underlying(), k, false)
	w.l.recursives.put(k, r)
	return r
}

// isRecursive reports whether t is a recursive named type, whose values are kept as interface{}.
func (w *writer) isRecursive(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && w.fromSource(n.Obj().Pkg()) && w.recursive(n)
}

// underlying is the erased text of a type's underlying type.
func (w *writer) underlying(t types.Type) string {
	if n, ok := types.Unalias(t).(*types.Named); ok && w.compiled(n) == nil {
		return w.erased(n.Underlying())
	}
	return w.erased(t)
}

func (w *writer) shapeOf(t *types.Struct) *shape {
	k := w.l.registry.Key(t)
	if s, ok := w.l.shapes.get(k); ok {
		return s
	}
	s := &shape{name: w.name("S"), opaque: make([]bool, t.NumFields())}
	w.l.shapes.put(k, s)
	var fs []string
	for i := range t.NumFields() {
		elem, dims := t.Field(i).Type(), ""
		for {
			a, ok := elem.Underlying().(*types.Array)
			if !ok || w.compiled(elem) != nil {
				break
			}
			dims += "[" + strconv.FormatInt(a.Len(), 10) + "]"
			elem = a.Elem()
		}
		if !isStruct(elem) && w.reaches(elem, k, true) {
			s.opaque[i] = true
			fs = append(fs, fmt.Sprintf("F%d %sinterface{}", i, dims))
			continue
		}
		fs = append(fs, fmt.Sprintf("F%d %s", i, w.erased(t.Field(i).Type())))
	}
	w.types = append(w.types, "type "+s.name+" struct { "+strings.Join(fs, "; ")+" }")
	return s
}

// opaqueField reports whether a field is kept as interface{}.
func (w *writer) opaqueField(t types.Type, i int) bool {
	if w.compiled(t) != nil {
		return false
	}
	return w.shapeOf(t.Underlying().(*types.Struct)).opaque[i]
}

// fieldName is the name of a struct's field: its own in a compiled type, its number in an erased one.
func (w *writer) fieldName(t types.Type, i int) string {
	if n := w.compiled(t); n != nil {
		return n.Underlying().(*types.Struct).Field(i).Name()
	}
	return "F" + strconv.Itoa(i)
}

// native reports whether the erased type is the true type, so that a value may be in an interface as it is.
func (w *writer) native(t types.Type) bool { return w.l.registry.Native(t) }
