package rt

import (
	"go/types"
	"reflect"
	"strconv"
)

var anyType = reflect.TypeFor[any]()

// A viewer copies a cell's values into types that compiled code reads as it would read the true types: structs get their
// field names and tags back, values with methods for encoding get those.
type viewer struct {
	registry *Registry
	methods  bool // values that encode themselves do so
	depth    int
}

const deepest = 1000 // levels of a value; deeper ones are taken to be cycles

// View is x for compiled code that only shows values: a plain value under its true field names.
func View(x any) any {
	x = acyclicView(In(x))
	if b, ok := x.(Box); ok {
		return viewer{registry: b.T.registry}.box(b)
	}
	return viewer{}.any(x)
}

// encodes reports whether a value of type t encodes itself to JSON or text.
func (w viewer) encodes(t types.Type) bool {
	if !w.methods || types.IsInterface(t) || w.registry == nil {
		return false
	}
	d := w.registry.Find(t)
	return d != nil && !d.Native && (d.has("MarshalJSON", marshalSignature) || d.has("MarshalText", marshalSignature))
}

// cellDefined reports whether t is a type that needs a view: one that a cell defines, or one made of such types.
func (w viewer) cellDefined(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.Named)
	return !ok || !w.registry.Native(t)
}

// typeOf is the view's type for t, whose values the interpreter keeps in erased.
func (w viewer) typeOf(t types.Type, erased reflect.Type) reflect.Type {
	if types.IsInterface(t) || w.encodes(t) {
		return anyType
	}
	if _, ok := types.Unalias(t).(*types.Named); ok && !w.cellDefined(t) {
		return erased
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return anyType
	case *types.Slice:
		if erased.Kind() != reflect.Slice {
			return anyType
		}
		return reflect.SliceOf(w.typeOf(u.Elem(), erased.Elem()))
	case *types.Array:
		return reflect.ArrayOf(int(u.Len()), w.typeOf(u.Elem(), erased.Elem()))
	case *types.Map:
		if erased.Kind() != reflect.Map {
			return anyType
		}
		if w.textKey(u.Key()) {
			return reflect.MapOf(reflect.TypeFor[string](), w.typeOf(u.Elem(), erased.Elem()))
		}
		return reflect.MapOf(w.typeOf(u.Key(), erased.Key()), w.typeOf(u.Elem(), erased.Elem()))
	case *types.Struct:
		if erased.Kind() != reflect.Struct || erased.NumField() != u.NumFields() {
			return erased
		}
		return w.structType(u, erased)
	}
	return erased
}

func (w viewer) structType(u *types.Struct, erased reflect.Type) reflect.Type {
	var fs []reflect.StructField
	for i := range u.NumFields() {
		f := u.Field(i)
		if !w.sees(f) {
			continue
		}
		sf := reflect.StructField{Name: f.Name(), Type: w.typeOf(f.Type(), erased.Field(i).Type), Tag: reflect.StructTag(u.Tag(i))}
		if f.Embedded() && isStruct(f.Type()) && sf.Type.Kind() == reflect.Struct {
			if sf.Type.NumMethod() > 0 {
				refuse("a struct that embeds "+Name(f.Type())+" as an argument of an encoder", "embedded compiled types with methods cannot be shown to it",
					"give the field a name")
			}
			// under another name when unexported, because StructOf makes exported fields only
			if !f.Exported() {
				sf.Name = "E" + strconv.Itoa(i) + f.Name()
			}
			sf.Anonymous = true
		}
		fs = append(fs, sf)
	}
	return reflect.StructOf(fs)
}

// sees reports whether encoders look at a field.
func (w viewer) sees(f *types.Var) bool {
	return f.Exported() || f.Embedded() && isStruct(f.Type())
}

func isStruct(t types.Type) bool { _, ok := t.Underlying().(*types.Struct); return ok }

// textKey reports whether an encoder writes a map's key by its MarshalText.
func (w viewer) textKey(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return !(ok && b.Info()&types.IsString != 0) && w.encodes(t) && w.registry.Find(t).has("MarshalText", marshalSignature)
}

func (w viewer) box(b Box) any {
	if b.V == nil {
		return nil
	}
	w.registry = b.T.registry
	r := w.value(b.T.Type(), reflect.ValueOf(b.V))
	return r.Interface()
}

// any is the view of an interface's content.
func (w viewer) any(x any) any {
	x = In(x)
	if b, ok := x.(Box); ok {
		return w.box(b)
	}
	v := reflect.ValueOf(x)
	if !containsBox(v, 0) {
		return x
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		r := make([]any, v.Len())
		for i := range r {
			r[i] = w.any(v.Index(i).Interface())
		}
		return r
	case reflect.Map:
		r := reflect.MakeMap(reflect.MapOf(v.Type().Key(), anyType))
		for it := v.MapRange(); it.Next(); {
			k := it.Key()
			if k.Kind() == reflect.Interface {
				k = reflect.ValueOf(w.any(k.Interface()))
			}
			r.SetMapIndex(k, interfaceValue(w.any(it.Value().Interface())))
		}
		return r.Interface()
	case reflect.Pointer:
		p := reflect.New(anyType)
		p.Elem().Set(interfaceValue(w.any(v.Elem().Interface())))
		return p.Interface()
	}
	return x
}

// interfaceValue is x in a settable value of type any.
func interfaceValue(x any) reflect.Value {
	e := reflect.New(anyType).Elem()
	if x != nil {
		e.Set(reflect.ValueOf(x))
	}
	return e
}

// value makes the view of v, whose true type is t.
func (w viewer) value(t types.Type, v reflect.Value) reflect.Value {
	if w.depth++; w.depth > deepest {
		refuse("this "+Name(t)+" as an argument of an encoder", "it contains itself", "leave out the field that leads back")
	}
	to := w.typeOf(t, v.Type())
	r := reflect.New(to).Elem()
	if !types.IsInterface(t) && v.Kind() == reflect.Interface { // a recursive field
		if v.IsNil() {
			return r
		}
		v = v.Elem()
	}
	if v.Type() == cycleType {
		if r.Kind() == reflect.Interface {
			r.Set(v)
		}
		return r
	}
	if w.encodes(t) {
		if v.Kind() != reflect.Pointer || !v.IsNil() {
			r.Set(reflect.ValueOf(marshaler{Box{w.registry.Find(t), v.Interface()}}))
		}
		return r
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		if x := w.any(v.Interface()); x != nil {
			r.Set(reflect.ValueOf(x))
		}
		return r
	case *types.Pointer:
		w.pointer(r, t, u, v)
		return r
	}
	if v.Type() == to && !containsBox(v, 0) {
		return v
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		if v.IsNil() {
			return r
		}
		if to == anyType {
			to = reflect.TypeFor[[]any]()
		}
		s := reflect.MakeSlice(to, v.Len(), v.Len())
		for i := range v.Len() {
			w.put(s.Index(i), u.Elem(), v.Index(i))
		}
		r.Set(s)
	case *types.Array:
		for i := range v.Len() {
			w.put(r.Index(i), u.Elem(), v.Index(i))
		}
	case *types.Map:
		w.mapping(r, u, v)
	case *types.Struct:
		k := 0
		for i := range u.NumFields() {
			if w.sees(u.Field(i)) {
				w.put(r.Field(k), u.Field(i).Type(), v.Field(i))
				k++
			}
		}
	default:
		if v.Type().AssignableTo(to) {
			r.Set(v)
		} else {
			r.Set(v.Convert(to))
		}
	}
	return r
}

func (w viewer) pointer(r reflect.Value, t types.Type, u *types.Pointer, v reflect.Value) {
	if v.IsNil() {
		return
	}
	if w.registry.Native(t) && !containsBox(v, 0) {
		r.Set(v)
		return
	}
	x := w.value(u.Elem(), v.Elem())
	p := reflect.New(x.Type())
	p.Elem().Set(x)
	r.Set(p)
}

func (w viewer) mapping(r reflect.Value, u *types.Map, v reflect.Value) {
	if v.IsNil() {
		return
	}
	to := r.Type()
	if to == anyType {
		to = reflect.MapOf(w.typeOf(u.Key(), v.Type().Key()), anyType)
	}
	m := reflect.MakeMap(to)
	for it := v.MapRange(); it.Next(); {
		k, e := reflect.New(to.Key()).Elem(), reflect.New(to.Elem()).Elem()
		if w.textKey(u.Key()) {
			text, err := (marshaler{Box{w.registry.Find(u.Key()), it.Key().Interface()}}).MarshalText()
			if err != nil {
				refuse("a map key whose MarshalText fails", err.Error(), "make the keys strings first")
			}
			k.SetString(string(text))
		} else {
			w.put(k, u.Key(), it.Key())
		}
		w.put(e, u.Elem(), it.Value())
		m.SetMapIndex(k, e)
	}
	r.Set(m)
}

// put stores the view of v.
func (w viewer) put(dst reflect.Value, t types.Type, v reflect.Value) {
	x := w.value(t, v)
	if !x.IsValid() {
		return
	}
	if x.Type().AssignableTo(dst.Type()) {
		dst.Set(x)
		return
	}
	dst.Set(x.Convert(dst.Type()))
}

var boxType = reflect.TypeFor[Box]()

// containsBox reports whether a value of a compiled type has boxes inside, as []any or map[string]any may have.
func containsBox(v reflect.Value, depth int) bool {
	if !v.IsValid() || depth > 6 {
		return false
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return false
		}
		if v.CanInterface() {
			if _, ok := In(v.Interface()).(Box); ok {
				return true
			}
		}
		return containsBox(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		if !mayHoldBox(v.Type().Elem()) {
			return false
		}
		for i := range v.Len() {
			if containsBox(v.Index(i), depth+1) {
				return true
			}
		}
	case reflect.Map:
		if !mayHoldBox(v.Type().Elem()) && !mayHoldBox(v.Type().Key()) {
			return false
		}
		for it := v.MapRange(); it.Next(); {
			if containsBox(it.Key(), depth+1) || containsBox(it.Value(), depth+1) {
				return true
			}
		}
	case reflect.Pointer:
		return !v.IsNil() && mayHoldBox(v.Type().Elem()) && v.Type().Elem().Kind() != reflect.Struct && containsBox(v.Elem(), depth+1)
	case reflect.Struct:
		return v.Type() == boxType
	}
	return false
}

// mayHoldBox is false for kinds that hold no interface.
func mayHoldBox(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Interface, reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer, reflect.Struct:
		return true
	}
	return false
}
