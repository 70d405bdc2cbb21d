package rt

import (
	"go/types"
	"reflect"
)

// errBox is a box as an error. It is comparable as the value itself is.
type errBox struct{ Box }

// errsBox is an error that wraps several.
type errsBox struct{ Box }

func asError(b Box) error {
	if b.has("Unwrap", "() []error") {
		return errsBox{b}
	}
	return errBox{b}
}

func (e errBox) Error() string  { return e.invoke("Error")[0].(string) }
func (e errsBox) Error() string { return e.invoke("Error")[0].(string) }

func (e errBox) Unwrap() error {
	if !e.has("Unwrap", "() error") {
		return nil
	}
	r, _ := e.invoke("Unwrap")[0].(error)
	return r
}

func (e errsBox) Unwrap() []error { return e.invoke("Unwrap")[0].([]error) }
func (e errBox) Is(t error) bool  { return isTarget(e.Box, t) }
func (e errsBox) Is(t error) bool { return isTarget(e.Box, t) }

func isTarget(b Box, t error) bool {
	return b.has("Is", "(error) bool") && b.invoke("Is", t)[0].(bool)
}

// ErrorsAs is errors.As, also for targets whose type a cell defines.
func ErrorsAs(err error, target any) bool {
	var d *Type
	var dst reflect.Value
	switch t := In(target).(type) {
	case nil:
		panic("errors: target cannot be nil")
	case Box:
		p, ok := t.T.Type().Underlying().(*types.Pointer)
		if !ok || reflect.ValueOf(t.V).IsNil() {
			panic("errors: target must be a non-nil pointer")
		}
		if d = t.T.registry.Find(p.Elem()); d == nil {
			refuse("errors.As with a "+Name(t.T.Type()), "nothing of this type was ever an error", "declare a variable of the type in the same cell")
		}
		dst = reflect.ValueOf(t.V).Elem()
	default:
		v := reflect.ValueOf(t)
		if v.Kind() != reflect.Pointer || v.IsNil() {
			panic("errors: target must be a non-nil pointer")
		}
		dst = v.Elem()
	}
	return errorsAs(err, d, dst, target)
}

func errorsAs(err error, d *Type, dst reflect.Value, target any) bool {
	for err != nil {
		y := In(err)
		if holdsTarget(y, d, dst) {
			v := y
			if d != nil {
				v = d.out(y)
			} else if dst.Kind() == reflect.Interface {
				v = wrap(y, dst.Type())
			}
			dst.Set(reflect.ValueOf(v))
			return true
		}
		if b, boxed := y.(Box); boxed {
			if b.has("As", "(interface {}) bool") && b.invoke("As", target)[0].(bool) {
				return true
			}
		} else if x, isAs := err.(interface{ As(any) bool }); isAs && x.As(target) {
			return true
		}
		switch x := err.(type) {
		case interface{ Unwrap() error }:
			err = x.Unwrap()
		case interface{ Unwrap() []error }:
			for _, e := range x.Unwrap() {
				if errorsAs(e, d, dst, target) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}

// holdsTarget reports whether an error's value may be assigned to the target.
func holdsTarget(y any, d *Type, dst reflect.Value) bool {
	if d != nil {
		return d.holds(y)
	}
	b, boxed := y.(Box)
	if !boxed {
		return reflect.TypeOf(y).AssignableTo(dst.Type())
	}
	if dst.Kind() != reflect.Interface || dst.NumMethod() == 0 {
		return false
	}
	if dst.Type() == errorType {
		return true
	}
	for i := range dst.NumMethod() {
		m := dst.Type().Method(i)
		if !b.has(m.Name, m.Type.String()[len("func"):]) {
			return false
		}
	}
	return true
}
