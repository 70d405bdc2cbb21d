package rt

import (
	"go/types"
	"path"
	"reflect"
)

// containerType is the go/types form of an unnamed slice, array or map of compiled code, such as []any. Such a value may hold
// boxes at any depth, which fmt would print as what they are made of; with this type the printer walks it as it walks a cell's
// own values. It is false for every other type: those print as fmt prints them.
func containerType(t reflect.Type) (types.Type, bool) {
	if t.Name() != "" {
		return nil, false
	}
	switch t.Kind() {
	case reflect.Slice:
		return types.NewSlice(elementType(t.Elem())), true
	case reflect.Array:
		return types.NewArray(elementType(t.Elem()), int64(t.Len())), true
	case reflect.Map:
		return types.NewMap(elementType(t.Key()), elementType(t.Elem())), true
	}
	return nil, false
}

// elementType is the type of a container's elements. What is neither basic nor an interface nor a container stands behind a
// name, by which the printer leaves it to fmt.
func elementType(t reflect.Type) types.Type {
	if c, ok := containerType(t); ok {
		return c
	}
	if t.PkgPath() == "" {
		if o := types.Universe.Lookup(t.Name()); o != nil {
			return o.Type()
		}
	}
	empty := types.NewInterfaceType(nil, nil).Complete()
	if t.Kind() == reflect.Interface && t.Name() == "" {
		return empty
	}
	pkg := t.PkgPath()
	if pkg == "" {
		pkg = "unnamed"
	}
	name := types.NewTypeName(0, types.NewPackage(pkg, path.Base(pkg)), t.Name(), nil)
	if t.Kind() == reflect.Interface {
		return types.NewNamed(name, empty, nil)
	}
	return types.NewNamed(name, types.NewStruct(nil, nil), nil)
}
