package rt

import (
	"go/types"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// A keyer gives identical types the same text. Unlike types.Identical it knows types that a later cell declares again.
type keyer struct {
	mu    sync.Mutex
	cache map[types.Type]string
	names map[*types.Named]int // generic types by their origin
	n     int
}

// Key is a text that two types share when they are identical at run time.
func (g *Registry) Key(t types.Type) string {
	k := &g.keys
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.of(t)
}

// alias gives now the number of old.
func (k *keyer) alias(old, now *types.Named) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, known := k.cache[now]
	k.names[now.Origin()] = k.number(old)
	if known {
		clear(k.cache)
	}
}

func (k *keyer) number(n *types.Named) int {
	n = n.Origin()
	i, ok := k.names[n]
	if !ok {
		k.n++
		i = k.n
		k.names[n] = i
	}
	return i
}

func (k *keyer) of(t types.Type) string {
	t = types.Unalias(t)
	if b, ok := t.(*types.Basic); ok {
		return types.Typ[types.Default(b).(*types.Basic).Kind()].Name()
	}
	if s, ok := k.cache[t]; ok {
		return s
	}
	s := k.text(t)
	k.cache[t] = s
	return s
}

func (k *keyer) text(t types.Type) string {
	switch t := t.(type) {
	case *types.Named:
		s := "#" + strconv.Itoa(k.number(t))
		if o := t.Obj(); o.Pkg() != nil && o.Pkg().Scope().Lookup(o.Name()) == o && o.Pkg().Path() != "main" && t.TypeArgs().Len() == 0 {
			s = strconv.Quote(o.Pkg().Path()) + "." + o.Name()
		}
		if t.TypeArgs().Len() > 0 {
			var as []string
			for a := range t.TypeArgs().Types() {
				as = append(as, k.of(a))
			}
			s += "[" + strings.Join(as, ",") + "]"
		}
		return s
	case *types.Pointer:
		return "*" + k.of(t.Elem())
	case *types.Slice:
		return "[]" + k.of(t.Elem())
	case *types.Array:
		return "[" + strconv.FormatInt(t.Len(), 10) + "]" + k.of(t.Elem())
	case *types.Map:
		return "map[" + k.of(t.Key()) + "]" + k.of(t.Elem())
	case *types.Chan:
		return "chan" + strconv.Itoa(int(t.Dir())) + "(" + k.of(t.Elem()) + ")"
	case *types.Signature:
		v := ""
		if t.Variadic() {
			v = "..."
		}
		return "func(" + k.tuple(t.Params()) + v + ")(" + k.tuple(t.Results()) + ")"
	case *types.Struct:
		var b strings.Builder
		b.WriteString("struct{")
		for i := range t.NumFields() {
			f := t.Field(i)
			if !f.Exported() {
				b.WriteString(strconv.Quote(f.Pkg().Path()) + ".")
			}
			b.WriteString(f.Name())
			if f.Embedded() {
				b.WriteString("!")
			}
			b.WriteString(" " + k.of(f.Type()) + " " + strconv.Quote(t.Tag(i)) + ";")
		}
		return b.String() + "}"
	case *types.Interface:
		var ms []string
		for i := range t.NumMethods() {
			m := t.Method(i)
			n := m.Name()
			if !m.Exported() {
				n = strconv.Quote(m.Pkg().Path()) + "." + n
			}
			ms = append(ms, n+k.of(m.Type()))
		}
		sort.Strings(ms)
		return "interface{" + strings.Join(ms, ";") + "}"
	case *types.TypeParam:
		return "param:" + t.String() + strconv.Itoa(t.Index())
	}
	return t.String()
}

func (k *keyer) tuple(t *types.Tuple) string {
	var s []string
	for i := range t.Len() {
		s = append(s, k.of(t.At(i).Type()))
	}
	return strings.Join(s, ",")
}
