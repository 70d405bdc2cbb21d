package rt

import (
	"go/types"
	"reflect"
)

const (
	reasonReflects = "the compiled function may look into it by reflection, and would see another type"
	wayPlain       = "pass a value of a basic or compiled type: a string, a number, a slice or map of them"
)

// Out passes an interface to a compiled function that may look into it.
func Out(fn string, x any) any {
	x = In(x)
	if b, ok := x.(Box); ok {
		refuse("a value of type "+Name(b.T.Type())+" as argument of "+fn, reasonReflects, wayPlain)
	}
	if containsBox(reflect.ValueOf(x), 0) {
		refuse("a value with one of a type defined in a cell inside, as argument of "+fn, reasonReflects, wayPlain)
	}
	return x
}

// OutSlice is Out for variadic arguments.
func OutSlice(fn string, xs []any) []any {
	if xs == nil {
		return nil
	}
	r := make([]any, len(xs))
	for i, x := range xs {
		r[i] = Out(fn, x)
	}
	return r
}

// Data passes an interface to a compiled encoder, which only reads it.
func Data(fn string, x any) any { return encodable(x) }

// DataSlice is Data for variadic arguments.
func DataSlice(fn string, xs []any) []any { return each(xs, encodable) }

// Shown passes an interface to a compiled function that only shows it.
func Shown(fn string, x any) any { return View(x) }

// ShownSlice is Shown for variadic arguments.
func ShownSlice(fn string, xs []any) []any { return each(xs, View) }

// Carried passes an interface to a compiled function that looks at its compiled types only, and hands on others.
func Carried(fn string, x any) any { return In(x) }

// CarriedSlice is Carried for variadic arguments.
func CarriedSlice(fn string, xs []any) []any { return each(xs, In) }

func each(xs []any, f func(any) any) []any {
	if xs == nil {
		return nil
	}
	r := make([]any, len(xs))
	for i, x := range xs {
		r[i] = f(x)
	}
	return r
}

// TemplateData is Data for templates, which call methods.
func TemplateData(fn string, x any) any {
	x = In(x)
	b, ok := x.(Box)
	if !ok {
		return Out(fn, x)
	}
	b.T.registry.refuseMethods(fn, b.T.Type(), map[types.Type]bool{})
	return viewer{registry: b.T.registry}.box(b)
}

func (g *Registry) refuseMethods(fn string, t types.Type, seen map[types.Type]bool) {
	t = types.Unalias(t)
	if seen[t] {
		return
	}
	seen[t] = true
	if n, ok := t.(*types.Named); ok {
		if g.cellType(t) == nil {
			return
		}
		if types.NewMethodSet(types.NewPointer(n)).Len() > 0 {
			refuse("a value of type "+Name(t)+", which has methods, as argument of "+fn, "the template could not call them",
				"call the methods first and pass their results, in a map or a struct without methods")
		}
	}
	g.eachPart(t, func(e types.Type) { g.refuseMethods(fn, e, seen) })
}
