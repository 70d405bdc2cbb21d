package rt

import (
	"go/types"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// Name is a type's name as reflection would print it.
func Name(t types.Type) string { return name(t, false) }

// name writes type arguments (argument) as the linker does: with import paths, also before unexported fields.
func name(t types.Type, argument bool) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			return "unsafe.Pointer"
		}
		return types.Typ[types.Default(t).(*types.Basic).Kind()].Name()
	case *types.Named:
		return namedName(t, argument)
	case *types.Pointer:
		return "*" + name(t.Elem(), argument)
	case *types.Slice:
		return "[]" + name(t.Elem(), argument)
	case *types.Array:
		return "[" + strconv.FormatInt(t.Len(), 10) + "]" + name(t.Elem(), argument)
	case *types.Map:
		return "map[" + name(t.Key(), argument) + "]" + name(t.Elem(), argument)
	case *types.Chan:
		e := name(t.Elem(), argument)
		switch t.Dir() {
		case types.SendOnly:
			return "chan<- " + e
		case types.RecvOnly:
			return "<-chan " + e
		}
		if strings.HasPrefix(e, "<-") {
			return "chan (" + e + ")"
		}
		return "chan " + e
	case *types.Struct:
		return structName(t, argument)
	case *types.Interface:
		if t.NumMethods() == 0 {
			return "interface {}"
		}
		var ms []string
		for i := range t.NumMethods() {
			m := t.Method(i)
			n := m.Name()
			if !m.Exported() {
				n = m.Pkg().Name() + "." + n
				if argument {
					n = m.Pkg().Path() + "." + m.Name()
				}
			}
			ms = append(ms, n+strings.TrimPrefix(name(m.Type(), argument), "func"))
		}
		sort.Strings(ms)
		return "interface { " + strings.Join(ms, "; ") + " }"
	case *types.Signature:
		return "func" + signatureName(t, argument)
	}
	return t.String()
}

// around holds the type arguments of the function that a local type is declared in: they are a part of its name.
var around sync.Map // *types.Named → []types.Type

// DeclaredIn says that a type is local to a generic function with these type arguments.
func DeclaredIn(t *types.Named, arguments []types.Type) { around.Store(t, arguments) }

func namedName(t *types.Named, argument bool) string {
	n := t.Obj().Name()
	if p := t.Obj().Pkg(); p != nil {
		if argument {
			n = p.Path() + "." + n
		} else {
			n = p.Name() + "." + n
		}
	}
	var as []string
	for a := range t.TypeArgs().Types() {
		as = append(as, name(a, true))
	}
	if around, ok := around.Load(t); ok {
		for _, a := range around.([]types.Type) {
			as = append(as, name(a, true))
		}
	}
	if len(as) == 0 {
		return n
	}
	return n + "[" + strings.Join(as, ",") + "]"
}

func structName(t *types.Struct, argument bool) string {
	var fs []string
	for i := range t.NumFields() {
		f := t.Field(i)
		s := name(f.Type(), argument)
		if !f.Embedded() {
			n := f.Name()
			if argument && !f.Exported() {
				n = f.Pkg().Path() + "." + n
			}
			s = n + " " + s
		}
		if tag := t.Tag(i); tag != "" {
			s += " " + strconv.Quote(tag)
		}
		fs = append(fs, s)
	}
	if len(fs) == 0 {
		return "struct {}"
	}
	return "struct { " + strings.Join(fs, "; ") + " }"
}

func signatureName(t *types.Signature, argument bool) string {
	part := func(tp *types.Tuple, variadic bool) string {
		var s []string
		for i := range tp.Len() {
			n := name(tp.At(i).Type(), argument)
			if variadic && i == tp.Len()-1 {
				n = "..." + strings.TrimPrefix(n, "[]")
			}
			s = append(s, n)
		}
		return strings.Join(s, ", ")
	}
	ps := "(" + part(t.Params(), t.Variadic()) + ")"
	switch t.Results().Len() {
	case 0:
		return ps
	case 1:
		return ps + " " + part(t.Results(), false)
	}
	return ps + " (" + part(t.Results(), false) + ")"
}
