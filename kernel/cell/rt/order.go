package rt

import (
	"cmp"
	"reflect"
	"slices"
	"unsafe"
)

// An entry is a key and its element of a map that is printed.
type entry struct{ key, value reflect.Value }

// sortedEntries lists a map in the order in which fmt prints maps.
func sortedEntries(m reflect.Value) []entry {
	es := make([]entry, 0, m.Len())
	for it := m.MapRange(); it.Next(); {
		es = append(es, entry{it.Key(), it.Value()})
	}
	slices.SortStableFunc(es, func(a, b entry) int { return compareKeys(a.key, b.key) })
	return es
}

// compareKeys orders keys as internal/fmtsort does: numbers and strings by value, false before true, pointers by address,
// structs and arrays element by element, interfaces by type and then by value.
func compareKeys(a, b reflect.Value) int {
	if a.Type() != b.Type() {
		return -1
	}
	switch {
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	case a.CanComplex():
		return cmp.Or(cmp.Compare(real(a.Complex()), real(b.Complex())), cmp.Compare(imag(a.Complex()), imag(b.Complex())))
	}
	switch a.Kind() {
	case reflect.String:
		return cmp.Compare(a.String(), b.String())
	case reflect.Bool:
		return cmp.Compare(truth(a), truth(b))
	case reflect.Pointer, reflect.Chan, reflect.UnsafePointer:
		return cmp.Compare(a.Pointer(), b.Pointer())
	case reflect.Struct:
		for i := range a.NumField() {
			if c := compareKeys(a.Field(i), b.Field(i)); c != 0 {
				return c
			}
		}
	case reflect.Array:
		for i := range a.Len() {
			if c := compareKeys(a.Index(i), b.Index(i)); c != 0 {
				return c
			}
		}
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return cmp.Compare(truth(reflect.ValueOf(!a.IsNil())), truth(reflect.ValueOf(!b.IsNil())))
		}
		x, y := a.Elem(), b.Elem()
		if x.Type() != y.Type() {
			return cmp.Compare(reflect.ValueOf(x.Type()).Pointer(), reflect.ValueOf(y.Type()).Pointer())
		}
		return compareKeys(x, y)
	}
	return 0
}

func truth(v reflect.Value) int {
	if v.Bool() {
		return 1
	}
	return 0
}

// readable is v as a value that may be taken out, also when it is in an unexported field.
func readable(v reflect.Value) reflect.Value {
	if v.CanInterface() {
		return v
	}
	if v.CanAddr() {
		return writable(v)
	}
	// A copy of a value that was read through an unexported field: through reflection's own kinds.
	r := reflect.New(v.Type()).Elem()
	copyHidden(r, v)
	return r
}

// writable is an addressable value without the mark of an unexported field.
func writable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// copyHidden copies a value that is neither addressable nor exported.
func copyHidden(dst, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Bool:
		dst.SetBool(v.Bool())
	case v.CanInt():
		dst.SetInt(v.Int())
	case v.CanUint():
		dst.SetUint(v.Uint())
	case v.CanFloat():
		dst.SetFloat(v.Float())
	case v.CanComplex():
		dst.SetComplex(v.Complex())
	case v.Kind() == reflect.String:
		dst.SetString(v.String())
	case v.Kind() == reflect.Interface:
		if e := v.Elem(); e.IsValid() {
			dst.Set(readable(e))
		}
	case v.Kind() == reflect.Slice:
		if !v.IsNil() {
			dst.Set(reflect.SliceAt(v.Type().Elem(), v.UnsafePointer(), v.Len()).Convert(v.Type()))
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			copyHidden(writable(dst.Index(i)), v.Index(i))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			copyHidden(writable(dst.Field(i)), v.Field(i))
		}
	default: // a pointer, map, channel or function, which are one word
		*(*unsafe.Pointer)(dst.Addr().UnsafePointer()) = v.UnsafePointer()
	}
}
