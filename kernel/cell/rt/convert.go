package rt

import (
	"fmt"
	"math"
	"reflect"
	"sort"
)

// RuneString is string(i) of an integer that is in range when it fits in an int64.
func RuneString(i int64) string {
	if i < 0 || i > 0x10ffff {
		return "\uFFFD"
	}
	return string(rune(i))
}

// BytesString is string(b).
func BytesString(b []byte) string { return string(b) }

// RunesString is string(r).
func RunesString(r []rune) string { return string(r) }

// StringBytes is []byte(s).
func StringBytes(s string) []byte { return []byte(s) }

// StringRunes is []rune(s).
func StringRunes(s string) []rune { return []rune(s) }

// Float is the float64 with these bits: constants that have no literal.
func Float(bits uint64) float64 { return math.Float64frombits(bits) }

// MinFloat is the builtin min.
func MinFloat(a, b float64) float64 { return min(a, b) }

// MaxFloat is the builtin max.
func MaxFloat(a, b float64) float64 { return max(a, b) }

// Clear is the builtin.
func Clear(x any) {
	v := reflect.ValueOf(x)
	if v.IsValid() && !v.IsNil() {
		v.Clear()
	}
}

// SliceToArray converts a slice to the type of p, a pointer to an array.
func SliceToArray(s, p any, pos int) any {
	t := reflect.TypeOf(p)
	v := reflect.ValueOf(s)
	if n := v.Len(); n < t.Elem().Len() {
		raise(runtimeError(fmt.Sprintf("cannot convert slice with length %d to array or pointer to array with length %d", n, t.Elem().Len())), pos)
	}
	return v.Convert(t).Interface()
}

// MapClone is the body of maps.Clone, whose own is in the Go runtime.
func MapClone(x any) any {
	b, boxed := In(x).(Box)
	if boxed {
		x = b.V
	}
	m := reflect.ValueOf(x)
	r := reflect.MakeMapWithSize(m.Type(), m.Len())
	for it := m.MapRange(); it.Next(); {
		r.SetMapIndex(it.Key(), it.Value())
	}
	if boxed {
		return Box{b.T, r.Interface()}
	}
	return r.Interface()
}

// Overlaps reports whether two slices share memory: it is slices.overlaps, which needs package unsafe.
func Overlaps(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	size := x.Type().Elem().Size()
	if x.Len() == 0 || y.Len() == 0 || size == 0 {
		return false
	}
	p, q := x.Pointer(), y.Pointer()
	return p <= q+uintptr(y.Len())*size-1 && q <= p+uintptr(x.Len())*size-1
}

func unboxed(x any) any {
	if b, ok := In(x).(Box); ok {
		return b.V
	}
	return x
}

// SortSlice is sort.Slice.
func SortSlice(x any, less func(i, j int) bool) { sort.Slice(unboxed(x), less) }

// SortSliceStable is sort.SliceStable.
func SortSliceStable(x any, less func(i, j int) bool) { sort.SliceStable(unboxed(x), less) }

// SortSliceIsSorted is sort.SliceIsSorted.
func SortSliceIsSorted(x any, less func(i, j int) bool) bool {
	return sort.SliceIsSorted(unboxed(x), less)
}

// DeepEqual is reflect.DeepEqual: boxes are equal when their types are and what they hold is.
func DeepEqual(a, b any) bool { return reflect.DeepEqual(In(a), In(b)) }
