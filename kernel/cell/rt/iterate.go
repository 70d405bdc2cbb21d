package rt

import (
	"reflect"
	"unicode/utf8"
)

// Iter iterates over a map or a string, as range does.
type Iter struct {
	m    *reflect.MapIter
	s    string
	i, n int
	r    rune
	live bool
}

// RangeMap iterates over a map.
func RangeMap(m any) *Iter {
	v := reflect.ValueOf(m)
	if !v.IsValid() || v.IsNil() {
		return &Iter{}
	}
	return &Iter{m: v.MapRange()}
}

// RangeString iterates over the runes of a string.
func RangeString(s string) *Iter { return &Iter{s: s} }

// Next moves on and reports whether there is an element.
func (it *Iter) Next() bool {
	if it.m != nil {
		it.live = it.m.Next()
		return it.live
	}
	it.i += it.n
	if it.i >= len(it.s) {
		return false
	}
	it.r, it.n = utf8.DecodeRuneInString(it.s[it.i:])
	return true
}

// Key is a map's key, nil after the end.
func (it *Iter) Key() any {
	if !it.live {
		return nil
	}
	return it.m.Key().Interface()
}

// Value is a map's element, nil after the end.
func (it *Iter) Value() any {
	if !it.live {
		return nil
	}
	return it.m.Value().Interface()
}

// Offset is where a string's rune starts.
func (it *Iter) Offset() int { return it.i }

// Rune is a string's rune.
func (it *Iter) Rune() int32 { return it.r }
