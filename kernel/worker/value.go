package worker

import (
	"fmt"
	"image"
	"reflect"
	"sort"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"

	"memwall/kernel/cell/rt"
	"memwall/kernel/display"
)

// What a value shows at most; the rest is counted.
const (
	maxElements = 100   // of a slice, array or map
	maxText     = 20000 // characters
	lineWidth   = 80    // longer collections of collections get a line an element
)

// bundle is what values show as a cell's last expression; nil when there is nothing to show. cell is the cell that shows
// them: what it has displayed already is not shown again.
func (w *worker) bundle(cell int, values []any, types []string) map[string]any {
	var texts []string
	for i, v := range values {
		if s, ok := v.(interface{ ShownIn(cell int) bool }); ok && s.ShownIn(cell) {
			continue
		}
		static := ""
		if i < len(types) {
			static = types[i]
		}
		b := ownBundle(v)
		switch {
		case b == nil:
			texts = append(texts, text(v, static))
		case len(values) == 1:
			return b
		default:
			plain, _ := b["text/plain"].(string)
			texts = append(texts, plain)
		}
	}
	if texts == nil {
		return nil
	}
	return map[string]any{"text/plain": strings.Join(texts, "\n")}
}

// ownBundle is the bundle of a value that shows itself or is a picture; nil for others.
func ownBundle(v any) map[string]any {
	if v == nil {
		return nil
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() {
		return nil
	}
	if b := display.Bundle(v); b != nil {
		return b
	}
	if b := rt.Bundle(v); b != nil { // a cell's type
		return b
	}
	switch x := v.(type) {
	case *plot.Plot:
		b, err := plotBundle(x)
		if err != nil {
			return map[string]any{"text/plain": "plot: " + err.Error()}
		}
		return b
	case image.Image:
		b, err := display.ImageBundle(x)
		if err != nil {
			return map[string]any{"text/plain": "image: " + err.Error()}
		}
		return b
	case mat.Matrix:
		return map[string]any{"text/plain": matrix(x)}
	case mat.Dense:
		return map[string]any{"text/plain": matrix(&x)}
	case mat.VecDense:
		return map[string]any{"text/plain": matrix(&x)}
	case mat.SymDense:
		return map[string]any{"text/plain": matrix(&x)}
	}
	return nil
}

// matrix prints a matrix of gonum: large ones by their size and corners.
func matrix(m mat.Matrix) string {
	rows, columns := m.Dims()
	if rows == 0 || columns == 0 {
		return fmt.Sprintf("%d × %d matrix", rows, columns)
	}
	var o []mat.FormatOption
	if rows > 20 || columns > 12 {
		o = append(o, mat.Excerpt(5))
	}
	return fmt.Sprintf("%.5v", mat.Formatted(m, o...))
}

// text prints a value as fmt's %+v does, long ones cut with a count; a function or channel by its type.
func text(v any, static string) string {
	v = rt.In(v)
	plain := v
	if b, ok := v.(rt.Box); ok {
		plain = b.V
	}
	if plain == nil {
		return "<nil>"
	}
	r := reflect.ValueOf(plain)
	if (r.Kind() == reflect.Func || r.Kind() == reflect.Chan) && static != "" {
		return static
	}
	if printsItself(v) {
		return cutText(rt.Sprint(v))
	}
	switch r.Kind() {
	case reflect.String:
		if r.Len() > 4*maxText && !hasMethods(v) { // a gigabyte is not copied to be cut
			return cutText(r.String())
		}
	case reflect.Slice, reflect.Array, reflect.Map:
		return collection(v, r)
	case reflect.Struct, reflect.Pointer:
		return cutText(rt.Sprintf("%+v", v))
	}
	return cutText(rt.Sprint(v))
}

// printsItself says whether a value has a method that prints it.
func printsItself(v any) bool {
	switch v.(type) {
	case error, fmt.Stringer, fmt.Formatter:
		_, box := v.(rt.Box) // a box formats every value
		return !box
	}
	return false
}

// hasMethods says whether a value may have methods: it is a box, or of a named type.
func hasMethods(v any) bool {
	_, box := v.(rt.Box)
	return box || reflect.TypeOf(v).NumMethod() > 0
}

// collection prints a slice, array or map: its first elements, and how many there are.
func collection(v any, r reflect.Value) string {
	n := r.Len()
	head := v
	if n > maxElements {
		head = rebox(v, first(r, maxElements))
	}
	line := rt.Sprintf("%+v", head)
	more := ""
	if n > maxElements {
		more = fmt.Sprintf("… %s more, %s in all", thousands(n-maxElements), thousands(n))
	}
	if utf8.RuneCountInString(line) > lineWidth && nested(r.Type()) {
		if lines := elements(rt.View(head)); lines != nil {
			if more != "" {
				lines = append(lines, more)
			}
			opening, _, _ := strings.Cut(line, "[")
			return cutText(opening + "[\n  " + strings.Join(lines, "\n  ") + "\n]")
		}
	}
	if more != "" && strings.HasSuffix(line, "]") {
		line = strings.TrimSuffix(line, "]") + " " + more + "]"
	} else if more != "" {
		line += " " + more
	}
	return cutText(line)
}

// nested says whether a collection's elements are themselves of several parts.
func nested(t reflect.Type) bool {
	e := t.Elem()
	for e.Kind() == reflect.Pointer {
		e = e.Elem()
	}
	switch e.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
		return true
	}
	return false
}

// elements prints each element of a view.
func elements(view any) []string {
	v := reflect.ValueOf(view)
	var lines []string
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			lines = append(lines, rt.Sprintf("%+v", v.Index(i).Interface()))
		}
	case reflect.Map:
		for _, k := range sortedKeys(v) {
			lines = append(lines, rt.Sprint(k.Interface())+": "+rt.Sprintf("%+v", v.MapIndex(k).Interface()))
		}
	}
	return lines
}

// first is a collection of the first n elements of r, by key for a map.
func first(r reflect.Value, n int) reflect.Value {
	switch r.Kind() {
	case reflect.Slice:
		return r.Slice(0, n)
	case reflect.Array:
		s := reflect.MakeSlice(reflect.SliceOf(r.Type().Elem()), n, n)
		reflect.Copy(s, r)
		return s
	}
	m := reflect.MakeMapWithSize(r.Type(), n)
	for _, k := range sortedKeys(r)[:n] {
		m.SetMapIndex(k, r.MapIndex(k))
	}
	return m
}

// rebox puts the type of v on part of its value. A part of an array is a slice, which is no longer of v's type.
func rebox(v any, part reflect.Value) any {
	if b, ok := v.(rt.Box); ok && part.Type() == reflect.TypeOf(b.V) {
		b.V = part.Interface()
		return b
	}
	return part.Interface()
}

func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	sort.SliceStable(keys, func(i, j int) bool {
		a, b := keys[i], keys[j]
		if a.Kind() == reflect.Interface {
			a, b = a.Elem(), b.Elem()
		}
		switch {
		case a.CanInt() && b.CanInt():
			return a.Int() < b.Int()
		case a.CanUint() && b.CanUint():
			return a.Uint() < b.Uint()
		case a.CanFloat() && b.CanFloat():
			return a.Float() < b.Float()
		case a.Kind() == reflect.String && b.Kind() == reflect.String:
			return a.String() < b.String()
		}
		return false
	})
	return keys
}

// cutText cuts a text of more than maxText characters and says how many there were.
func cutText(s string) string { return cutTo(maxText, s) }

func cutTo(most int, s string) string {
	if len(s) <= most {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= most {
		return s
	}
	at := 0
	for range most {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at] + fmt.Sprintf("… %s characters more, %s in all", thousands(n-most), thousands(n))
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
