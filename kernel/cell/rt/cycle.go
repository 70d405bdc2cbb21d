package rt

import (
	"fmt"
	"io"
	"reflect"
	"sync"
	"unsafe"
)

// Go's fmt follows a map or slice that contains itself until the stack overflows, which ends the process and with it the
// whole session. What prints values here cuts them first: where a value comes back to itself stands "…".

// A cycle stands for a value that contains the place where it stands.
type cycle struct{}

const cycleText = "…"

var cycleType = reflect.TypeFor[cycle]()

// Format implements fmt.Formatter.
func (cycle) Format(f fmt.State, _ rune) { io.WriteString(f, cycleText) }

// Error lets a cycle stand where an error stood, String where a fmt.Stringer stood.
func (cycle) Error() string { return cycleText }

func (cycle) String() string { return cycleText }

// deepestPrint is how many levels of a value are printed.
const deepestPrint = 10000

// A cutter copies as much of a value as is needed to cut its cycles.
type cutter struct {
	pointers bool // pointers of cells are followed, and methods that print are not called
	path     []visit
}

// A visit is a map, slice or pointer that the walk is inside of.
type visit struct {
	at  unsafe.Pointer
	len int
	t   reflect.Type
}

// acyclic is x, or where it contains itself a copy that does not, for fmt: it follows pointers at the top only.
func acyclic(x any) any {
	v := reflect.ValueOf(x)
	if b, ok := x.(Box); ok {
		v = reflect.ValueOf(b.V)
	}
	if !v.IsValid() || v.Kind() != reflect.Pointer && !mayContainItself(v.Type(), false) {
		return x
	}
	return cutAt(x, &cutter{})
}

// acyclicView is acyclic for what follows pointers too.
func acyclicView(x any) any { return cutAt(x, &cutter{pointers: true}) }

func cutAt(x any, c *cutter) any {
	v := reflect.ValueOf(x)
	b, boxed := x.(Box)
	if boxed {
		v = reflect.ValueOf(b.V)
	}
	if !c.pointers {
		switch x.(type) {
		case fmt.Formatter, error, fmt.Stringer:
			if !boxed || printsByMethod(b) {
				return x
			}
		}
	}
	if v.IsValid() && v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem().Name() == "" {
		e, changed := c.inside(v, 0, v.Elem())
		if !changed {
			return x
		}
		p := reflect.New(v.Type().Elem())
		place(p.Elem(), e)
		v = p
	} else {
		r, changed := c.cut(v)
		if !changed {
			return x
		}
		v = r
	}
	if boxed {
		return Box{b.T, v.Interface()}
	}
	return v.Interface()
}

// printsByMethod says whether fmt leaves the printing of a box to a method.
func printsByMethod(b Box) bool {
	return b.has("Format", "(fmt.State, int32)") || b.has("Error", "() string") || b.has("String", "() string")
}

// cut is v, or a copy without cycles; changed says which.
func (c *cutter) cut(v reflect.Value) (r reflect.Value, changed bool) {
	if !v.IsValid() || !mayContainItself(v.Type(), c.pointers) {
		return v, false
	}
	if len(c.path) > deepestPrint {
		return reflect.ValueOf(cycle{}), true
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v, false
		}
		e, changed := c.content(v)
		if !changed {
			return v, false
		}
		r = reflect.New(v.Type()).Elem()
		place(r, e)
		return r, true
	case reflect.Pointer:
		if !c.pointers || v.IsNil() || v.Type().Elem().Name() != "" {
			return v, false
		}
		e, changed := c.inside(v, 0, v.Elem())
		if !changed || e.Type() == cycleType {
			return e, changed
		}
		p := reflect.New(v.Type().Elem())
		place(p.Elem(), e)
		return p, true
	case reflect.Map, reflect.Slice:
		if v.Len() == 0 {
			return v, false
		}
		return c.inside(v, v.Len(), v)
	case reflect.Array, reflect.Struct:
		return c.parts(v)
	}
	return v, false
}

// content cuts what an interface holds.
func (c *cutter) content(v reflect.Value) (reflect.Value, bool) {
	x := readable(v).Interface()
	y := In(x)
	if b, ok := y.(Box); ok {
		if !c.pointers && printsByMethod(b) {
			return v, false
		}
		e, changed := c.cut(reflect.ValueOf(b.V))
		if !changed {
			return v, false
		}
		if e.Type() == cycleType {
			return e, true
		}
		return reflect.ValueOf(Box{b.T, e.Interface()}), true
	}
	switch y.(type) {
	case fmt.Formatter, error, fmt.Stringer:
		return v, false // compiled code prints itself
	}
	return c.cut(reflect.ValueOf(y))
}

// inside cuts a value that lies behind a reference, whose own place is on the path meanwhile.
func (c *cutter) inside(ref reflect.Value, n int, v reflect.Value) (reflect.Value, bool) {
	at := visit{ref.UnsafePointer(), n, ref.Type()}
	for _, p := range c.path {
		if p == at {
			return reflect.ValueOf(cycle{}), true
		}
	}
	c.path = append(c.path, at)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	if ref.Kind() == reflect.Pointer {
		return c.cut(v)
	}
	return c.parts(v)
}

// parts cuts the elements or fields of a value.
func (c *cutter) parts(v reflect.Value) (r reflect.Value, changed bool) {
	r = v
	set := func(to func() reflect.Value, e reflect.Value) {
		if !changed {
			r, changed = shallow(v), true
		}
		place(to(), e)
	}
	switch v.Kind() {
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if e, cut := c.cut(it.Value()); cut {
				slot := reflect.New(v.Type().Elem()).Elem()
				set(func() reflect.Value { return slot }, e)
				r.SetMapIndex(readable(it.Key()), slot)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if e, cut := c.cut(v.Index(i)); cut {
				set(func() reflect.Value { return r.Index(i) }, e)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if e, cut := c.cut(v.Field(i)); cut {
				set(func() reflect.Value { return writable(r.Field(i)) }, e)
			}
		}
	}
	return r, changed
}

// shallow is a copy of a map, slice, array or struct whose elements can be set.
func shallow(v reflect.Value) reflect.Value {
	v = readable(v)
	switch v.Kind() {
	case reflect.Map:
		m := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			m.SetMapIndex(it.Key(), it.Value())
		}
		return m
	case reflect.Slice:
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(s, v)
		return s
	}
	r := reflect.New(v.Type()).Elem()
	r.Set(v)
	return r
}

// place puts a value into a slot. A cycle that does not fit goes into a map or slice of one element; where neither fits the
// slot stays empty.
func place(slot, v reflect.Value) {
	v = readable(v)
	t := slot.Type()
	slot.SetZero()
	switch {
	case v.Type().AssignableTo(t):
		slot.Set(v)
	case t.Kind() == reflect.Slice && v.Type().AssignableTo(t.Elem()):
		slot.Set(reflect.MakeSlice(t, 1, 1))
		slot.Index(0).Set(v)
	case t.Kind() == reflect.Map && v.Type().AssignableTo(t.Elem()) && t.Key().Kind() == reflect.String:
		slot.Set(reflect.MakeMap(t))
		slot.SetMapIndex(reflect.ValueOf(cycleText).Convert(t.Key()), v)
	}
}

// containers remembers the answers of mayContainItself, for each way of walking.
var containers [2]sync.Map

// mayContainItself says whether a value of type t can lead back to itself.
func mayContainItself(t reflect.Type, pointers bool) bool {
	known := &containers[0]
	if pointers {
		known = &containers[1]
	}
	if yes, ok := known.Load(t); ok {
		return yes.(bool)
	}
	yes := leadsBack(t, pointers, map[reflect.Type]bool{})
	known.Store(t, yes)
	return yes
}

func leadsBack(t reflect.Type, pointers bool, above map[reflect.Type]bool) bool {
	if above[t] {
		return true
	}
	above[t] = true
	defer delete(above, t)
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer:
		return pointers && leadsBack(t.Elem(), pointers, above)
	case reflect.Map, reflect.Slice, reflect.Array:
		return leadsBack(t.Elem(), pointers, above)
	case reflect.Struct:
		for i := range t.NumField() {
			if leadsBack(t.Field(i).Type, pointers, above) {
				return true
			}
		}
	}
	return false
}

// hidesBox says whether a value of a compiled type holds a box, or a cut, where fmt does not call its methods. open: fmt calls methods
// here.
func hidesBox(v reflect.Value, open bool) bool {
	if !v.IsValid() || !mayContainItself(v.Type(), false) {
		return false
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return false
		}
		x := In(readable(v).Interface())
		switch x.(type) {
		case Box, cycle:
			return !open
		}
		return hidesBox(reflect.ValueOf(x), open)
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if hidesBox(it.Value(), open) || hidesBox(it.Key(), open) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if hidesBox(v.Index(i), open) {
				return true
			}
		}
	case reflect.Struct:
		if open {
			switch readable(v).Interface().(type) {
			case fmt.Formatter, error, fmt.Stringer:
				return false
			}
		}
		for i := range v.NumField() {
			if hidesBox(v.Field(i), open && v.Type().Field(i).IsExported()) {
				return true
			}
		}
	}
	return false
}
