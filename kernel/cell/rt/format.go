package rt

import (
	"fmt"
	"go/types"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unsafe"
)

// Format prints a box as fmt would print the value: fmt calls it for boxes inside other values.
func (b Box) Format(f fmt.State, verb rune) { b.format(f, verb, 1) }

// format prints a box depth levels below an argument of fmt.
func (b Box) format(f fmt.State, verb rune, depth int) {
	p := printer{f, verb, b.T.registry, false}
	v := reflect.ValueOf(b.V)
	if p.callMethod(b, true) {
		return
	}
	p.value(b.T.Type(), v, depth, true, false)
}

// A printer does what fmt's printValue does, with types from go/types beside the interpreter's values.
type printer struct {
	fmt.State
	verb     rune
	registry *Registry
	// complaining: the value is printed inside the complaint about another verb, without methods, and + and # mean what they
	// mean to that verb.
	complaining bool
}

func (p printer) text(s string) { io.WriteString(p.State, s) }

// sharp reports the verb %#v.
func (p printer) sharp() bool { return p.verb == 'v' && p.Flag('#') && !p.complaining }

// leaf prints a value whose type the compiled fmt knows; v may come from an unexported field.
func (p printer) leaf(x any) {
	if p.complaining {
		p.verb = plainVerb(reflect.TypeOf(x).Kind())
	}
	fmt.Fprintf(p.State, fmt.FormatString(p.State, p.verb), x)
}

// plainVerb prints a value of a basic kind as %v does, but leaves + and # their meaning for numbers.
func plainVerb(k reflect.Kind) rune {
	switch k {
	case reflect.Bool:
		return 't'
	case reflect.String:
		return 's'
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return 'g'
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return 'd'
	}
	return 'v'
}

// callMethod calls Format, GoString, Error or String of a box, and reports whether there was one for the verb.
func (p printer) callMethod(b Box, open bool) (called bool) {
	if !open || p.complaining {
		return false
	}
	method := p.method(b)
	if method == "" {
		return false
	}
	defer p.catch(b, method)
	called = true
	switch method {
	case "Format":
		b.invoke(method, p.State, p.verb)
	case "GoString":
		p.text(pad(p.State, b.invoke(method)[0].(string)))
	default:
		p.leaf(b.invoke(method)[0].(string))
	}
	return called
}

// method is the name of the method that fmt calls for the verb, or "".
func (p printer) method(b Box) string {
	if b.has("Format", "(fmt.State, int32)") {
		return "Format"
	}
	if p.sharp() {
		if b.has("GoString", "() string") {
			return "GoString"
		}
		return ""
	}
	switch p.verb {
	case 'v', 's', 'x', 'X', 'q':
		for _, m := range []string{"Error", "String"} {
			if b.has(m, "() string") {
				return m
			}
		}
	}
	return ""
}

// pad is s in the width that the directive asks for, as fmt's %s.
func pad(f fmt.State, s string) string {
	w, ok := f.Width()
	if !ok {
		return s
	}
	switch {
	case f.Flag('-'):
		return fmt.Sprintf("%-*s", w, s)
	case f.Flag('0'):
		return fmt.Sprintf("%0*s", w, s)
	}
	return fmt.Sprintf("%*s", w, s)
}

// catch prints a panic of a method as fmt does.
func (p printer) catch(b Box, method string) {
	r := recover()
	if r == nil {
		return
	}
	if v := reflect.ValueOf(b.V); v.Kind() == reflect.Pointer && v.IsNil() {
		p.text(pad(p.State, "<nil>"))
		return
	}
	r = translate(r)
	if final(r) {
		panic(r)
	}
	p.text("%!" + string(p.verb) + "(PANIC=" + method + " method: " + panicValue(r) + ")")
}

// panicValue prints what a method that prints a value has panicked with. When that is a value whose own method panics, Go
// ends the program; printing it again and again would overflow the stack.
func panicValue(r any) (text string) {
	b, ok := In(r).(Box)
	if !ok || !printsByMethod(b) {
		return Sprint(r)
	}
	defer func() {
		if inner := recover(); inner != nil {
			if final(translate(inner)) {
				panic(inner)
			}
			text = "(" + Name(b.T.Type()) + ") whose method that gives its text panics"
		}
	}()
	switch {
	case b.has("Format", "(fmt.State, int32)"):
		return "(" + Name(b.T.Type()) + ")"
	case b.has("Error", "() string"):
		return b.invoke("Error")[0].(string)
	}
	return b.invoke("String")[0].(string)
}

// value prints v, whose true type is t. open: compiled code may call methods (the value is not in an unexported field).
func (p printer) value(t types.Type, v reflect.Value, depth int, open, methods bool) {
	d := p.registry.Find(t)
	if !types.IsInterface(t) && v.IsValid() && v.Kind() == reflect.Interface { // a recursive field
		v = p.closed(t, d, v)
	}
	if v.IsValid() && v.Type() == cycleType {
		p.text(cycleText)
		return
	}
	if methods && depth > 0 && open && d != nil && !d.Native && v.IsValid() && p.callMethod(Box{d, readable(v).Interface()}, open) {
		return
	}
	if v.IsValid() && !types.IsInterface(t) && p.registry.Native(t) && !hidesBox(v, open) {
		p.native(v, depth, open)
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		p.basic(t, u, v)
	case *types.Struct:
		p.structure(t, u, v, depth, open)
	case *types.Map:
		p.mapping(t, u, v, depth, open)
	case *types.Slice:
		p.list(t, u.Elem(), v, depth, open)
	case *types.Array:
		p.list(t, u.Elem(), v, depth, open)
	case *types.Pointer:
		if depth == 0 && v.IsValid() && !v.IsNil() {
			switch u.Elem().Underlying().(type) {
			case *types.Struct, *types.Array, *types.Slice, *types.Map:
				p.text("&")
				p.value(u.Elem(), v.Elem(), depth+1, open, true)
				return
			}
		}
		p.pointer(t, v)
	case *types.Interface:
		p.inner(t, v, depth, open)
	default:
		p.pointer(t, v)
	}
}

// closed is the content of a field that the interpreter keeps in an interface{} because its type is recursive.
func (p printer) closed(t types.Type, d *Type, v reflect.Value) reflect.Value {
	if !v.IsNil() {
		return v.Elem()
	}
	if d != nil && d.ready() && d.R().Kind() != reflect.Interface {
		return reflect.Zero(d.R())
	}
	switch t.Underlying().(type) {
	case *types.Slice:
		return reflect.ValueOf([]int(nil))
	case *types.Map:
		return reflect.ValueOf(map[int]int(nil))
	}
	return reflect.ValueOf((*int)(nil))
}

// native prints a value of a compiled type as fmt itself does.
func (p printer) native(v reflect.Value, depth int, open bool) {
	if v.Type() == cycleType {
		p.text(cycleText)
		return
	}
	if isSign(p.verb) {
		p.text("%!" + string(p.verb) + "(" + v.Type().String() + "=")
		p.verb, p.complaining = 'v', true
		p.native(v, depth, open)
		p.text(")")
		return
	}
	if open && !p.complaining && (depth == 0 || v.Kind() != reflect.Pointer || v.IsNil()) {
		p.leaf(readable(v).Interface())
		return
	}
	p.leaf(field{readable(v), open && !p.complaining})
}

// A field prints a value as fmt prints a struct's field: pointers as addresses, and without methods unless it is exported.
type field struct {
	v        reflect.Value
	exported bool
}

// Format prints a struct with the field and drops what belongs to the struct.
func (x field) Format(f fmt.State, verb rune) {
	sf := reflect.StructField{Name: "F", Type: x.v.Type()}
	if !x.exported {
		sf.Name, sf.PkgPath = "f", "main"
	}
	s := reflect.New(reflect.StructOf([]reflect.StructField{sf})).Elem()
	writable(s.Field(0)).Set(x.v)
	text := fmt.Sprintf(fmt.FormatString(f, verb), s.Interface())
	if verb == 'v' && f.Flag('#') {
		text = text[strings.Index(text, "}{")+2+len("F:"):]
	} else if verb == 'v' && f.Flag('+') {
		text = text[len("{F:"):]
	} else {
		text = text[len("{"):]
	}
	io.WriteString(f, text[:len(text)-len("}")])
}

func (p printer) basic(t types.Type, b *types.Basic, v reflect.Value) {
	if !verbFits(p.verb, b) {
		p.bad(t, v)
		return
	}
	p.leaf(plain(v))
}

// plain is a value of a basic kind under the kind's own type.
func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Uintptr:
		return uintptr(v.Uint())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return v.Uint()
	case reflect.Float32:
		return float32(v.Float())
	case reflect.Float64:
		return v.Float()
	case reflect.Complex64:
		return complex64(v.Complex())
	case reflect.Complex128:
		return v.Complex()
	case reflect.String:
		return v.String()
	}
	return readable(v).Interface()
}

// verbFits reports whether fmt prints the kind with the verb.
func verbFits(verb rune, b *types.Basic) bool {
	set := "v"
	switch info := b.Info(); {
	case info&types.IsBoolean != 0:
		set += "t"
	case info&types.IsInteger != 0:
		set += "dbcoOxXqU"
	case info&(types.IsFloat|types.IsComplex) != 0:
		set += "beEfFgGxX"
	case info&types.IsString != 0:
		set += "sqxX"
	}
	return strings.ContainsRune(set, verb)
}

// bad prints what fmt prints for a verb that does not fit.
func (p printer) bad(t types.Type, v reflect.Value) {
	p.text("%!" + string(p.verb) + "(" + Name(t) + "=")
	printer{p.State, 'v', p.registry, true}.value(t, v, 0, true, false)
	p.text(")")
}

func (p printer) structure(t types.Type, u *types.Struct, v reflect.Value, depth int, open bool) {
	if p.sharp() {
		p.text(Name(t))
	}
	p.text("{")
	for i := range u.NumFields() {
		f := u.Field(i)
		if i > 0 {
			p.text(p.separator())
		}
		if p.verb == 'v' && (p.Flag('+') || p.Flag('#')) && !p.complaining {
			p.text(f.Name() + ":")
		}
		p.value(f.Type(), v.Field(i), depth+1, open && f.Exported(), true)
	}
	p.text("}")
}

func (p printer) separator() string {
	if p.sharp() {
		return ", "
	}
	return " "
}

func (p printer) mapping(t types.Type, u *types.Map, v reflect.Value, depth int, open bool) {
	end := "]"
	switch {
	case p.sharp() && v.IsNil():
		p.text(Name(t) + "(nil)")
		return
	case p.sharp():
		p.text(Name(t) + "{")
		end = "}"
	default:
		p.text("map[")
	}
	for i, e := range sortedEntries(v) {
		if i > 0 {
			p.text(p.separator())
		}
		p.value(u.Key(), e.key, depth+1, open, true)
		p.text(":")
		p.value(u.Elem(), e.value, depth+1, open, true)
	}
	p.text(end)
}

func (p printer) list(t, elem types.Type, v reflect.Value, depth int, open bool) {
	if b, ok := elem.Underlying().(*types.Basic); ok && b.Kind() == types.Byte {
		switch p.verb {
		case 's', 'q', 'x', 'X':
			p.leaf(byteSlice(v))
			return
		}
	}
	if p.sharp() {
		if v.Kind() == reflect.Slice && v.IsNil() {
			p.text(Name(t) + "(nil)")
			return
		}
		p.text(Name(t) + "{")
	} else {
		p.text("[")
	}
	for i := range v.Len() {
		if i > 0 {
			p.text(p.separator())
		}
		p.value(elem, v.Index(i), depth+1, open, true)
	}
	if p.sharp() {
		p.text("}")
	} else {
		p.text("]")
	}
}

func byteSlice(v reflect.Value) []byte {
	b := make([]byte, v.Len())
	for i := range b {
		b[i] = byte(v.Index(i).Uint())
	}
	return b
}

func (p printer) inner(t types.Type, v reflect.Value, depth int, open bool) {
	if !v.IsValid() || v.IsNil() {
		if p.sharp() {
			p.text(Name(t) + "(nil)")
		} else {
			p.text("<nil>")
		}
		return
	}
	x := In(readable(v).Interface())
	b, ok := x.(Box)
	if !ok {
		r := reflect.ValueOf(x)
		if container, ok := containerType(r.Type()); ok && hidesBox(r, open) {
			p.value(container, r, depth+1, open, true)
			return
		}
		p.native(r, depth+1, open)
		return
	}
	if p.callMethod(b, open) {
		return
	}
	p.value(b.T.Type(), reflect.ValueOf(b.V), depth+1, open, false)
}

func (p printer) pointer(t types.Type, v reflect.Value) {
	var u unsafe.Pointer
	if v.IsValid() && v.Kind() != reflect.Interface {
		u = v.UnsafePointer()
	}
	switch {
	case p.sharp() && u == nil:
		p.text("(" + Name(t) + ")(nil)")
	case p.sharp():
		p.text("(" + Name(t) + ")(0x" + strconv.FormatUint(uint64(uintptr(u)), 16) + ")")
	case strings.ContainsRune("vpbodxX", p.verb):
		p.leaf(u)
	default:
		p.bad(t, v)
	}
}
