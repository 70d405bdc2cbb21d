// Package rt is the compiled half of a lowered cell: boxes that carry types which cells define through interfaces, and the
// parts of Go that the interpreter gets wrong: interface conversion, method dispatch, defer, recover, go, select, iteration
// over maps, formatting, JSON and the exact texts of run-time panics.
package rt

import (
	"fmt"
	"go/types"
	"reflect"
	"sync"
	"sync/atomic"
)

// A Type describes a type of a session at run time.
type Type struct {
	ID     int
	Native bool // see Registry.Native
	// T is the type as go/types sees it; Continue replaces it when a later cell declares the type again.
	registry *Registry
	t        atomic.Pointer[types.Type]
	r        atomic.Pointer[reflect.Type] // the type that the interpreter uses, set when the cell's set-up runs
	iface    *types.Interface             // the interface's methods, nil for other types
	tag      atomic.Int64                 // what dispatchers compare; changes when methods are declared again
	methods  sync.Map                     // name → *method
	answers  sync.Map                     // *Type or reflect.Type → whether it implements iface
}

type method struct {
	f any           // the interpreter's function: receiver box first
	v reflect.Value // of f
}

// A Box is a value of a cell-defined type in an interface. Boxes are comparable as the values themselves are.
type Box struct {
	T *Type
	V any
}

// A Registry holds the types of one session, found by identity.
type Registry struct {
	mu      sync.RWMutex
	byKey   map[string]*Type
	keys    keyer
	lowered func(*types.Package) bool
}

// NewRegistry returns an empty registry. lowered reports the packages whose types are erased: those of cells, and generic ones.
func NewRegistry(lowered func(*types.Package) bool) *Registry {
	return &Registry{lowered: lowered, byKey: map[string]*Type{}, keys: keyer{cache: map[types.Type]string{}, names: map[*types.Named]int{}}}
}

var (
	allMu sync.Mutex
	all   atomic.Pointer[[]*Type] // every Type of the process by ID
	sigs  sync.Map                // number of a signature → reflect.Type of the functions that implement a method with it
	tags  atomic.Int64
)

// Native reports whether the interpreter's values of a type have this very type, so that they need no box.
func (g *Registry) Native(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return true
	case *types.Named:
		return t.Obj().Pkg() == nil || !g.lowered(t.Obj().Pkg()) && t.TypeArgs().Len() == 0
	case *types.Pointer:
		return g.Native(t.Elem())
	case *types.Slice:
		return g.Native(t.Elem())
	case *types.Array:
		return g.Native(t.Elem())
	case *types.Chan:
		return g.Native(t.Elem())
	case *types.Map:
		return g.Native(t.Key()) && g.Native(t.Elem())
	case *types.Struct:
		return t.NumFields() == 0
	case *types.Interface:
		return t.NumMethods() == 0
	case *types.Signature:
		return g.nativeTuple(t.Params()) && g.nativeTuple(t.Results())
	}
	return false
}

func (g *Registry) nativeTuple(t *types.Tuple) bool {
	for i := range t.Len() {
		if !g.Native(t.At(i).Type()) {
			return false
		}
	}
	return true
}

// NewType makes a descriptor. It is found by its type only after Add.
func (g *Registry) NewType(t types.Type, native bool) *Type {
	d := &Type{Native: native, registry: g}
	d.t.Store(&t)
	d.tag.Store(tags.Add(1))
	if it, ok := t.Underlying().(*types.Interface); ok {
		d.iface = it
	}
	allMu.Lock()
	defer allMu.Unlock()
	var list []*Type
	if p := all.Load(); p != nil {
		list = *p
	}
	d.ID = len(list)
	list = append(list, d)
	all.Store(&list)
	return d
}

// Add makes a descriptor known by its type.
func (g *Registry) Add(d *Type) {
	k := g.Key(d.Type())
	g.mu.Lock()
	g.byKey[k] = d
	g.mu.Unlock()
}

// Find returns the descriptor of t, nil when the session has none.
func (g *Registry) Find(t types.Type) *Type {
	k := g.Key(t)
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.byKey[k]
}

// Alias gives now the run-time identity of old; Continue must follow when the cell that declares now is accepted.
func (g *Registry) Alias(old, now *types.Named) { g.keys.alias(old, now) }

// Continue makes descriptors of old describe now, with its methods.
func (g *Registry) Continue(old, now *types.Named) {
	for _, t := range []types.Type{now, types.NewPointer(now)} {
		if d := g.Find(t); d != nil {
			d.t.Store(&t)
		}
	}
	for _, d := range *all.Load() {
		if d.registry == g {
			d.answers.Clear()
		}
	}
}

// Type is the described type.
func (d *Type) Type() types.Type { return *d.t.Load() }

// Tag is what dispatchers compare to find the type's methods.
func (d *Type) Tag() int { return int(d.tag.Load()) }

// NewTag reserves a tag for Retag.
func NewTag() int { return int(tags.Add(1)) }

// R is the type that the interpreter uses for d.
func (d *Type) R() reflect.Type {
	if p := d.r.Load(); p != nil {
		return *p
	}
	refuse("a value of type "+Name(d.Type()), "the cell that declares it was not run to its end", "run that cell again")
	return nil
}

func (d *Type) ready() bool { return d.r.Load() != nil }

func typeOf(id int) *Type { return (*all.Load())[id] }

// SetType records the interpreter's type of descriptor id; p is a pointer to it.
func SetType(id int, p any) {
	t := reflect.TypeOf(p).Elem()
	typeOf(id).r.Store(&t)
}

// Retag gives a type another tag, so that dispatchers that know its earlier methods look in its table.
func Retag(id, tag int) { typeOf(id).tag.Store(int64(tag)) }

// SetSignature records the type of the functions that implement an interface method; p is a pointer to it.
func SetSignature(n int, p any) { sigs.Store(n, reflect.TypeOf(p).Elem()) }

// SetMethod records a method of a type.
func SetMethod(id int, name string, f any) {
	typeOf(id).methods.Store(name, &method{f, reflect.ValueOf(f)})
}

func (d *Type) method(name string) *method {
	if m, ok := d.methods.Load(name); ok {
		return m.(*method)
	}
	return nil
}

// Refused is the panic of a construct that is found out only when it runs.
type Refused struct {
	Construct, Reason, Way string
}

func (r Refused) Error() string {
	return fmt.Sprintf("%s cannot be used in a cell: %s (%s)", r.Construct, r.Reason, r.Way)
}

func refuse(construct, reason, way string) {
	panic(Refused{construct, reason, way})
}
