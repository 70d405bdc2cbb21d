package rt

import (
	"go/types"
	"io"
	"reflect"
	"strings"
	"sync"
)

// wrappers maps a compiled interface type to the interpreter's struct type that implements it with function fields.
var (
	wrappers  sync.Map // reflect.Type of the interface → reflect.Type of the struct
	isWrapper sync.Map // reflect.Type of the struct → true
)

// Use learns the interpreter's wrapper types from a table of symbols: "_Name" wraps the interface "Name".
func Use(tables map[string]map[string]reflect.Value) {
	for _, symbols := range tables {
		for n, v := range symbols {
			if !strings.HasPrefix(n, "_") || v.Kind() != reflect.Pointer || v.Type().Elem().Kind() != reflect.Struct {
				continue
			}
			if it, ok := symbols[n[1:]]; ok {
				wrappers.Store(it.Type().Elem(), v.Type().Elem())
				isWrapper.Store(v.Type().Elem(), true)
			}
		}
	}
}

// WrapperOf finds the interpreter's wrapper of a compiled interface that Use has not seen; the session sets it.
var WrapperOf func(it reflect.Type) (wrapper reflect.Type, ok bool)

func wrapperOf(it reflect.Type) (reflect.Type, bool) {
	if w, ok := wrappers.Load(it); ok {
		return w.(reflect.Type), true
	}
	if WrapperOf == nil {
		return nil, false
	}
	w, ok := WrapperOf(it)
	if ok {
		wrappers.Store(it, w)
		isWrapper.Store(w, true)
	}
	return w, ok
}

// Native makes an interface of a value whose type needs no box.
func Native(v any) any { return v }

// MakeBox makes an interface of a value of a cell-defined type.
func MakeBox(id int, v any) any {
	d := typeOf(id)
	if v == nil {
		v = reflect.Zero(d.R()).Interface()
	}
	return Box{d, v}
}

// Value is the value in a box, or what is not boxed itself.
func Value(x any) any {
	x = In(x)
	if b, ok := x.(Box); ok {
		return b.V
	}
	return x
}

// Unbox gives the tag of a box's type and its value, -1 for what is not boxed.
func Unbox(x any) (int, any) {
	if b, ok := x.(Box); ok {
		return b.T.Tag(), b.V
	}
	if b, ok := In(x).(Box); ok {
		return b.T.Tag(), b.V
	}
	return -1, nil
}

// Opaque stores a value of a recursive type in an interface{}: nil is nil.
func Opaque(v any) any {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		if r.IsNil() {
			return nil
		}
	}
	return v
}

// In brings an interface back from the compiled world: it unwraps what To wrapped.
func In(x any) any {
	switch y := x.(type) {
	case nil, Box, bool, int, string, float64:
		return x
	case errBox:
		return y.Box
	case errsBox:
		return y.Box
	}
	t := reflect.TypeOf(x)
	if t.Kind() != reflect.Struct {
		return x
	}
	if _, ok := isWrapper.Load(t); ok {
		return In(reflect.ValueOf(x).Field(0).Interface())
	}
	return x
}

// Equal compares two interfaces or two structs.
func Equal(a, b any, pos int) bool {
	a, b = In(a), In(b)
	x, ok := a.(Box)
	if y, both := b.(Box); ok && both {
		if x.T != y.T {
			return false
		}
		if !types.Comparable(x.T.Type()) {
			raise(runtimeError("comparing uncomparable type "+Name(x.T.Type())), pos)
		}
	}
	eq, failed := compare(a, b)
	if failed != nil {
		if t := uncomparable(reflect.ValueOf(a), reflect.ValueOf(b)); t != nil {
			failed = runtimeError("comparing uncomparable type " + Name(t))
		}
		raise(failed, pos)
	}
	return eq
}

func compare(a, b any) (eq bool, failed any) {
	defer func() { failed = recover() }()
	return a == b, nil
}

// uncomparable finds the type of the boxes inside two values whose comparison panics, nil when no box is to blame.
func uncomparable(a, b reflect.Value) types.Type {
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return nil
	}
	if a.CanInterface() {
		if x, ok := a.Interface().(Box); ok {
			y := b.Interface().(Box)
			if x.T != y.T {
				return nil
			}
			if !types.Comparable(x.T.Type()) {
				return x.T.Type()
			}
			return uncomparable(reflect.ValueOf(x.V), reflect.ValueOf(y.V))
		}
	}
	switch a.Kind() {
	case reflect.Interface:
		return uncomparable(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if t := uncomparable(a.Field(i), b.Field(i)); t != nil {
				return t
			}
		}
	case reflect.Array:
		for i := range a.Len() {
			if t := uncomparable(a.Index(i), b.Index(i)); t != nil {
				return t
			}
		}
	}
	return nil
}

// CheckKey panics when x, the key of a map, cannot be hashed; the panic names its true type.
func CheckKey(x any, pos int) {
	if t := unhashable(reflect.ValueOf(In(x))); t != "" {
		raise(runtimeError("hash of unhashable type "+t), pos)
	}
}

func unhashable(v reflect.Value) string {
	if !v.IsValid() || v.Comparable() && v.Type() != reflect.TypeFor[Box]() {
		return ""
	}
	switch v.Kind() {
	case reflect.Interface:
		return unhashable(v.Elem())
	case reflect.Struct:
		if b, ok := v.Interface().(Box); ok {
			if !types.Comparable(b.T.Type()) {
				return Name(b.T.Type())
			}
			return unhashable(reflect.ValueOf(b.V))
		}
		for i := range v.NumField() {
			if t := unhashable(v.Field(i)); t != "" {
				return t
			}
		}
		return ""
	case reflect.Array:
		for i := range v.Len() {
			if t := unhashable(v.Index(i)); t != "" {
				return t
			}
		}
		return ""
	}
	return v.Type().String()
}

// holds reports whether an interface's dynamic type is d, or implements d.
func (d *Type) holds(x any) bool {
	if x == nil {
		return false
	}
	b, boxed := x.(Box)
	if d.iface == nil {
		if d.Native {
			return !boxed && reflect.TypeOf(x) == d.R()
		}
		return boxed && b.T == d
	}
	if d.iface.NumMethods() == 0 {
		return true
	}
	if boxed {
		if r, ok := d.answers.Load(b.T); ok {
			return r.(bool)
		}
		r := d.missing(x) == ""
		d.answers.Store(b.T, r)
		return r
	}
	t := reflect.TypeOf(x)
	if r, ok := d.answers.Load(t); ok {
		return r.(bool)
	}
	r := d.nativeImplements(t)
	d.answers.Store(t, r)
	return r
}

func (d *Type) nativeImplements(t reflect.Type) bool {
	if d.R().Kind() == reflect.Interface && d.R().NumMethod() > 0 {
		return t.Implements(d.R())
	}
	for i := range d.iface.NumMethods() {
		m := d.iface.Method(i)
		rm, ok := t.MethodByName(m.Name())
		if !ok || !sameSignature(m.Type().(*types.Signature), rm.Type) {
			return false
		}
	}
	return true
}

// sameSignature compares by names: a compiled method cannot mention a cell's types.
func sameSignature(s *types.Signature, f reflect.Type) bool {
	if s.Params().Len() != f.NumIn()-1 || s.Results().Len() != f.NumOut() || s.Variadic() != f.IsVariadic() {
		return false
	}
	for i := range s.Params().Len() {
		if Name(s.Params().At(i).Type()) != f.In(i+1).String() {
			return false
		}
	}
	for i := range s.Results().Len() {
		if Name(s.Results().At(i).Type()) != f.Out(i).String() {
			return false
		}
	}
	return true
}

// missing is the first method of d's interface that x does not have, "" when it has them all.
func (d *Type) missing(x any) string {
	for i := range d.iface.NumMethods() {
		m := d.iface.Method(i)
		b, ok := x.(Box)
		if !ok {
			rm, ok := reflect.TypeOf(x).MethodByName(m.Name())
			if !ok || !sameSignature(m.Type().(*types.Signature), rm.Type) {
				return m.Name()
			}
			continue
		}
		o, _, _ := types.LookupFieldOrMethod(b.T.Type(), false, m.Pkg(), m.Name())
		f, ok := o.(*types.Func)
		if !ok || d.registry.Key(f.Type()) != d.registry.Key(m.Type()) {
			return m.Name()
		}
	}
	return ""
}

// As tests an interface's dynamic type; the value comes back in the interpreter's form.
func As(x any, id int) (any, bool) {
	d := typeOf(id)
	y := In(x)
	if !d.holds(y) {
		return nil, false
	}
	return d.out(y), true
}

// out is a value that d holds in the interpreter's form.
func (d *Type) out(y any) any {
	if d.iface != nil {
		if d.R().NumMethod() > 0 {
			return wrap(y, d.R())
		}
		return y
	}
	if b, ok := y.(Box); ok {
		return b.V
	}
	return y
}

// Must is a type assertion that panics; from names the interface type, pos is the assertion's place.
func Must(x any, id int, from string, pos int) any {
	d := typeOf(id)
	y := In(x)
	if d.holds(y) {
		return d.out(y)
	}
	to := Name(d.Type())
	switch {
	case y == nil && d.iface != nil:
		raise(assertionError("interface conversion: interface is nil, not "+to), pos)
	case y == nil:
		raise(assertionError("interface conversion: "+from+" is nil, not "+to), pos)
	case d.iface != nil:
		raise(assertionError("interface conversion: "+dynamicName(y)+" is not "+to+": missing method "+d.missing(y)), pos)
	}
	has := dynamicName(y)
	if has == to {
		raise(assertionError("interface conversion: "+from+" is "+has+", not "+to+" (types from different scopes)"), pos)
	}
	raise(assertionError("interface conversion: "+from+" is "+has+", not "+to), pos)
	return nil
}

func dynamicName(x any) string {
	x = In(x)
	if b, ok := x.(Box); ok {
		return Name(b.T.Type())
	}
	if x == nil {
		return "<nil>"
	}
	return reflect.TypeOf(x).String()
}

// Method finds the function that carries out an interface's method on x: the receiver is its first parameter. sig is the
// number of its signature.
func Method(x any, name string, sig int) any {
	x = In(x)
	switch b := x.(type) {
	case nil:
		panic(nilDereference())
	case Box:
		if m := b.T.method(name); m != nil {
			return m.f
		}
		refuse("method "+name+" of "+Name(b.T.Type()), "the cell that declares it was not run to its end", "run that cell again")
	}
	m := reflect.ValueOf(x).MethodByName(name)
	if !m.IsValid() {
		refuse("method "+name+" of "+reflect.TypeOf(x).String(), "it is not exported by its compiled package", "call an exported method")
	}
	t, _ := sigs.Load(sig)
	ft := t.(reflect.Type)
	return reflect.MakeFunc(ft, func(in []reflect.Value) []reflect.Value {
		return callFitted(m, nil, in[1:], ft)
	}).Interface()
}

// callFitted calls m with arguments converted to its parameters and converts the results to those of ft.
func callFitted(m reflect.Value, args, rest []reflect.Value, ft reflect.Type) []reflect.Value {
	mt := m.Type()
	for _, a := range rest {
		args = append(args, fit(a, mt.In(len(args))))
	}
	var out []reflect.Value
	if mt.IsVariadic() {
		out = m.CallSlice(args)
	} else {
		out = m.Call(args)
	}
	for i := range out {
		out[i] = fit(out[i], ft.Out(i))
	}
	return out
}

// fit converts a value between the interpreter's and the compiled form of an interface.
func fit(v reflect.Value, to reflect.Type) reflect.Value {
	if v.Type() == to {
		return v
	}
	if to.Kind() != reflect.Interface {
		return v.Convert(to)
	}
	x := v.Interface()
	if to.NumMethod() == 0 {
		x = In(x)
	} else {
		x = wrap(In(x), to)
	}
	if x == nil {
		return reflect.Zero(to)
	}
	r := reflect.New(to).Elem()
	r.Set(reflect.ValueOf(x))
	return r
}

// To converts to the interface type id: a box that goes to a compiled interface gets that interface's methods.
func To(x any, id int) any {
	x = In(x)
	if x == nil {
		return nil
	}
	if r := typeOf(id).R(); r.NumMethod() > 0 {
		return wrap(x, r)
	}
	return x
}

var errorType = reflect.TypeFor[error]()

// wrap gives a box the methods of a compiled interface.
func wrap(x any, to reflect.Type) any {
	b, ok := x.(Box)
	if !ok {
		return x
	}
	if to == errorType {
		return asError(b)
	}
	wt, ok := wrapperOf(to)
	if !ok {
		refuse("a "+Name(b.T.Type())+" as "+to.String(), "the interpreter has no wrapper for this compiled interface",
			"pass a value of a compiled type, or a function")
	}
	v := reflect.New(wt).Elem()
	v.Field(0).Set(reflect.ValueOf(x))
	for i := 1; i < wt.NumField(); i++ {
		ft := wt.Field(i).Type
		name := wt.Field(i).Name[1:]
		m := b.T.method(name)
		if m == nil {
			refuse("method "+name+" of "+Name(b.T.Type()), "the cell that declares it was not run to its end", "run that cell again")
		}
		v.Field(i).Set(reflect.MakeFunc(ft, func(in []reflect.Value) []reflect.Value {
			return callFitted(m.v, []reflect.Value{reflect.ValueOf(b)}, in, ft)
		}))
	}
	if to == reflect.TypeFor[io.Writer]() || to == reflect.TypeFor[io.Reader]() {
		return upgrade(b, v.Interface())
	}
	return v.Interface()
}

// invoke calls a method of a box by name.
func (b Box) invoke(name string, args ...any) []any {
	m := b.T.method(name).v
	in := []reflect.Value{reflect.ValueOf(b)}
	for i, a := range args {
		v := reflect.New(m.Type().In(i + 1)).Elem()
		if a != nil {
			v.Set(reflect.ValueOf(a))
		}
		in = append(in, v)
	}
	var out []any
	for _, o := range m.Call(in) {
		out = append(out, o.Interface())
	}
	return out
}

// has reports whether the box's type has the method with exactly these parameters and results.
func (b Box) has(name, sig string) bool { return b.T.has(name, sig) }

func (d *Type) has(name, sig string) bool {
	return d.method(name) != nil && hasMethod(d.Type(), name, sig)
}

// hasMethod reports whether t's method set has the method; sig is written as reflection writes it, without "func".
func hasMethod(t types.Type, name, sig string) bool {
	o, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
	f, ok := o.(*types.Func)
	return ok && signatureName(f.Signature(), false) == sig
}
