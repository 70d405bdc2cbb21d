package lower

import (
	"go/types"
)

func isInterface(t types.Type) bool { return types.IsInterface(t) }

func isStruct(t types.Type) bool { _, ok := t.Underlying().(*types.Struct); return ok }

// isComposite reports the types that == compares part by part.
func isComposite(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

func hasInfo(t types.Type, info types.BasicInfo) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&info != 0
}

func isNumeric(t types.Type) bool { return hasInfo(t, types.IsNumeric) }
func isInteger(t types.Type) bool { return hasInfo(t, types.IsInteger) }
func isFloat(t types.Type) bool   { return hasInfo(t, types.IsFloat) }
func isString(t types.Type) bool  { return hasInfo(t, types.IsString) }

// deref is what a pointer points to.
func deref(t types.Type) types.Type { return t.Underlying().(*types.Pointer).Elem() }

// arrayLen is the length of an array or of what a pointer to an array points to.
func arrayLen(t types.Type) (n int64, ok bool) {
	if p, isPointer := t.Underlying().(*types.Pointer); isPointer {
		t = p.Elem()
	}
	if a, isArray := t.Underlying().(*types.Array); isArray {
		return a.Len(), true
	}
	return 0, false
}

// elemKind is the basic kind of a slice's elements.
func elemKind(t types.Type) types.BasicKind {
	if s, ok := t.Underlying().(*types.Slice); ok {
		if b, ok := s.Elem().Underlying().(*types.Basic); ok {
			return b.Kind()
		}
	}
	return types.Invalid
}

// emptyInterface reports interface{} under any name.
func emptyInterface(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.NumMethods() == 0
}

// inPlace reports whether a register of type t may be assigned again and again: the interpreter then computes straight into it.
func inPlace(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Basic, *types.Pointer, *types.Slice, *types.Map, *types.Chan:
		return true
	}
	return false
}
