package rt

import (
	"encoding/json"
	"go/types"
	"reflect"
	"strings"
)

const (
	marshalSignature       = "() ([]uint8, error)"
	unmarshalSignature     = "([]uint8) error"
	wayDecode              = "decode into a plain struct or map[string]any and convert"
	reasonRecursive        = "the type is recursive"
	reasonPointerReceivers = "whether its method is called depends on where the value is kept"
)

// marshaler is a box whose methods encoding/json calls.
type marshaler struct{ Box }

// MarshalJSON implements json.Marshaler.
func (m marshaler) MarshalJSON() ([]byte, error) {
	if m.has("MarshalJSON", marshalSignature) {
		out := m.invoke("MarshalJSON")
		err, _ := out[1].(error)
		return out[0].([]byte), err
	}
	text, err := m.MarshalText()
	if err != nil {
		return nil, err
	}
	return json.Marshal(string(text))
}

// MarshalText implements encoding.TextMarshaler.
func (m marshaler) MarshalText() ([]byte, error) {
	if !m.has("MarshalText", marshalSignature) {
		refuse("a JSON map key of type "+Name(m.T.Type()), "it has no MarshalText", "make the keys strings first")
	}
	out := m.invoke("MarshalText")
	err, _ := out[1].(error)
	return out[0].([]byte), err
}

// encodable is the view of x that encoders read.
func encodable(x any) any {
	x = In(x)
	if b, ok := x.(Box); ok {
		b.T.registry.checkEncoding(b.T.Type(), map[types.Type]bool{})
		return viewer{registry: b.T.registry, methods: true}.box(b)
	}
	return viewer{methods: true}.any(x)
}

// cellType is the named type that t is when a cell defines it.
func (g *Registry) cellType(t types.Type) *types.Named {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return nil
	}
	if g.Native(t) {
		return nil
	}
	return n
}

// checkEncoding refuses types whose encoding depends on whether their values are addressable.
func (g *Registry) checkEncoding(t types.Type, seen map[types.Type]bool) {
	t = types.Unalias(t)
	if seen[t] {
		return
	}
	seen[t] = true
	if n, ok := t.(*types.Named); ok {
		if g.cellType(t) == nil {
			return
		}
		for _, m := range []string{"MarshalJSON", "MarshalText"} {
			if pointerOnly(n, m) {
				refuse("the encoding of "+Name(n)+", whose method "+m+" has a pointer receiver", reasonPointerReceivers,
					"give the method a value receiver, or use pointers")
			}
		}
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		if n, ok := types.Unalias(p.Elem()).(*types.Named); ok && (pointerOnly(n, "MarshalJSON") || pointerOnly(n, "MarshalText")) {
			return // called through the pointer
		}
	}
	g.eachPart(t, func(e types.Type) { g.checkEncoding(e, seen) })
}

// pointerOnly reports whether only a pointer to n has the encoding method m.
func pointerOnly(n *types.Named, m string) bool {
	return hasMethod(types.NewPointer(n), m, marshalSignature) && types.NewMethodSet(n).Lookup(nil, m) == nil
}

// eachPart calls f with the types of a composite type's parts that an encoder looks at.
func (g *Registry) eachPart(t types.Type, f func(types.Type)) {
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		f(u.Elem())
	case *types.Slice:
		f(u.Elem())
	case *types.Array:
		f(u.Elem())
	case *types.Map:
		f(u.Elem())
	case *types.Struct:
		for i := range u.NumFields() {
			f(u.Field(i).Type())
		}
	}
}

// JSONMarshal is json.Marshal.
func JSONMarshal(x any) ([]byte, error) { return json.Marshal(encodable(x)) }

// JSONMarshalIndent is json.MarshalIndent.
func JSONMarshalIndent(x any, prefix, indent string) ([]byte, error) {
	return json.MarshalIndent(encodable(x), prefix, indent)
}

// JSONUnmarshal is json.Unmarshal.
func JSONUnmarshal(b []byte, x any) error {
	return decodeInto(x, func(p any) error { return json.Unmarshal(b, p) })
}

// JSONDecode is (*json.Decoder).Decode.
func JSONDecode(d *json.Decoder, x any) error { return decodeInto(x, d.Decode) }

// decodeInto decodes into a value of the decoder's form and moves it into the cell's value.
func decodeInto(x any, decode func(any) error) error {
	x = In(x)
	b, ok := x.(Box)
	if !ok {
		return decode(x)
	}
	p, ok := types.Unalias(b.T.Type()).Underlying().(*types.Pointer)
	if !ok || reflect.ValueOf(b.V).IsNil() {
		err := decode(b.V)
		if e, ok := err.(*json.InvalidUnmarshalError); ok {
			e.Type = reflect.TypeOf(b.V)
			refuse("the text of this error", "it would name the type "+Name(b.T.Type())+" otherwise", "pass a pointer that is not nil")
		}
		return err
	}
	g := b.T.registry
	g.checkDecoding(p.Elem(), map[types.Type]bool{})
	dst := reflect.ValueOf(b.V).Elem()
	tmp := reflect.New(g.decodeType(p.Elem(), dst.Type()))
	mover{g, true}.move(tmp.Elem(), dst, p.Elem())
	err := decode(tmp.Interface())
	if failed := (mover{g, false}).run(dst, tmp.Elem(), p.Elem()); err == nil {
		err = failed
	}
	if e, ok := err.(*json.UnmarshalTypeError); ok {
		n, isNamed := types.Unalias(p.Elem()).(*types.Named)
		if !isNamed || strings.Contains(e.Field, ".") || e.Field == "" || e.Type.Kind() == reflect.Struct {
			refuse("the text of a JSON error about a type defined in a cell", err.Error(), wayDecode)
		}
		e.Struct = n.Obj().Name()
	}
	return err
}

func (g *Registry) checkDecoding(t types.Type, seen map[types.Type]bool) {
	t = types.Unalias(t)
	if seen[t] {
		return
	}
	seen[t] = true
	if n, ok := t.(*types.Named); ok {
		if g.cellType(t) == nil || g.decodes(n) {
			return
		}
		if hasMethod(types.NewPointer(n), "UnmarshalText", unmarshalSignature) {
			refuse("decoding into "+Name(n)+", which has the method UnmarshalText", "the decoder could not call it", "give it UnmarshalJSON")
		}
	}
	if u, ok := t.Underlying().(*types.Interface); ok && u.NumMethods() > 0 {
		refuse("decoding into the interface "+Name(t), "no decoder can", wayDecode)
	}
	g.eachPart(t, func(e types.Type) { g.checkDecoding(e, seen) })
}

// decodes reports whether a type decodes itself.
func (g *Registry) decodes(t types.Type) bool {
	n := g.cellType(t)
	return n != nil && hasMethod(types.NewPointer(n), "UnmarshalJSON", unmarshalSignature)
}

// decodeType is the type that a decoder fills in place of a cell's type.
func (g *Registry) decodeType(t types.Type, erased reflect.Type) reflect.Type {
	if _, ok := types.Unalias(t).(*types.Named); ok && g.cellType(t) == nil {
		return erased
	}
	if g.decodes(t) {
		return reflect.TypeFor[json.RawMessage]()
	}
	need := func(k reflect.Kind) {
		if erased.Kind() != k {
			refuse("decoding into "+Name(t), reasonRecursive, wayDecode)
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		need(reflect.Pointer)
		return reflect.PointerTo(g.decodeType(u.Elem(), erased.Elem()))
	case *types.Slice:
		need(reflect.Slice)
		return reflect.SliceOf(g.decodeType(u.Elem(), erased.Elem()))
	case *types.Array:
		return reflect.ArrayOf(int(u.Len()), g.decodeType(u.Elem(), erased.Elem()))
	case *types.Map:
		need(reflect.Map)
		return reflect.MapOf(g.decodeType(u.Key(), erased.Key()), g.decodeType(u.Elem(), erased.Elem()))
	case *types.Struct:
		return g.decodeStruct(u, erased)
	}
	return erased
}

func (g *Registry) decodeStruct(u *types.Struct, erased reflect.Type) reflect.Type {
	var fs []reflect.StructField
	for i := range u.NumFields() {
		f := u.Field(i)
		if !f.Exported() {
			if f.Embedded() {
				refuse("decoding into a struct with the unexported embedded field "+f.Name(), "the decoder could not set it", "export the embedded type")
			}
			continue
		}
		sf := reflect.StructField{Name: f.Name(), Type: g.decodeType(f.Type(), erased.Field(i).Type), Tag: reflect.StructTag(u.Tag(i))}
		sf.Anonymous = f.Embedded() && sf.Type.Kind() == reflect.Struct && sf.Type.NumMethod() == 0
		fs = append(fs, sf)
	}
	return reflect.StructOf(fs)
}

// A mover copies between a cell's value and its decoding form: in, to the form, or back.
type mover struct {
	registry *Registry
	in       bool
}

type decodeError struct{ error }

// run moves and returns the error of a method UnmarshalJSON.
func (m mover) run(dst, src reflect.Value, t types.Type) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case decodeError:
			err = r.error
		default:
			panic(r)
		}
	}()
	m.move(dst, src, t)
	return nil
}

func (m mover) move(dst, src reflect.Value, t types.Type) {
	if m.registry.decodes(t) {
		if !m.in && src.Len() > 0 {
			m.decode(dst, src, t)
		}
		return
	}
	if dst.Type() == src.Type() {
		dst.Set(src)
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if src.IsNil() {
			dst.SetZero()
			return
		}
		if dst.IsNil() || m.in {
			dst.Set(reflect.New(dst.Type().Elem()))
		}
		m.move(dst.Elem(), src.Elem(), u.Elem())
	case *types.Slice:
		if src.IsNil() {
			dst.SetZero()
			return
		}
		dst.Set(reflect.MakeSlice(dst.Type(), src.Len(), src.Len()))
		for i := range src.Len() {
			m.move(dst.Index(i), src.Index(i), u.Elem())
		}
	case *types.Array:
		for i := range src.Len() {
			m.move(dst.Index(i), src.Index(i), u.Elem())
		}
	case *types.Map:
		if src.IsNil() {
			dst.SetZero()
			return
		}
		dst.Set(reflect.MakeMap(dst.Type()))
		for it := src.MapRange(); it.Next(); {
			k, e := reflect.New(dst.Type().Key()).Elem(), reflect.New(dst.Type().Elem()).Elem()
			m.move(k, it.Key(), u.Key())
			m.move(e, it.Value(), u.Elem())
			dst.SetMapIndex(k, e)
		}
	case *types.Struct:
		k := 0
		for i := range u.NumFields() {
			if !u.Field(i).Exported() {
				continue
			}
			if m.in {
				m.move(dst.Field(k), src.Field(i), u.Field(i).Type())
			} else {
				m.move(dst.Field(i), src.Field(k), u.Field(i).Type())
			}
			k++
		}
	default:
		dst.Set(src.Convert(dst.Type()))
	}
}

// decode calls the method UnmarshalJSON of a part of a cell's value.
func (m mover) decode(dst, src reflect.Value, t types.Type) {
	d := m.registry.Find(types.NewPointer(t))
	if d == nil || d.method("UnmarshalJSON") == nil {
		refuse("decoding into "+Name(t), "its method UnmarshalJSON is not known yet", "run the cell that declares it again")
	}
	out := (Box{d, dst.Addr().Interface()}).invoke("UnmarshalJSON", []byte(src.Bytes()))
	if err, _ := out[0].(error); err != nil {
		panic(decodeError{err})
	}
}
