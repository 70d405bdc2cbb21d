package session

import (
	"reflect"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// The interpreter keeps all variables of the top level in one slice, and copies it whenever a cell adds some: cell n would
// cost n copies, and goroutines of earlier cells would read the slice while it is replaced. execute makes room ahead, so that
// the copy is rare, and fills the new places itself. What it touches is private in yaegi v0.16.1, which go.mod pins; a test
// runs a thousand cells over it.

// evaluate compiles and executes a text of lowered code.
func (s *Session) evaluate(text string) (reflect.Value, error) {
	p, err := s.interp.Compile(text)
	if err != nil {
		return reflect.Value{}, err
	}
	growFrame(s.interp)
	return s.interp.Execute(p)
}

// private is the address of a field of an interpreter's structure.
func private[T any](v reflect.Value, field string) *T {
	return (*T)(unsafe.Pointer(v.FieldByName(field).UnsafeAddr()))
}

// growFrame gives the variables that were compiled last their places.
func growFrame(i *interp.Interpreter) {
	v := reflect.ValueOf(i).Elem()
	data := private[[]reflect.Value](v.FieldByName("frame").Elem(), "data")
	types := *private[[]reflect.Type](v.FieldByName("universe").Elem(), "types")
	if len(types) > len(*data) {
		larger := make([]reflect.Value, 2*len(types)+1024)
		copy(larger, *data)
		*data = larger
	}
	for k := len(types) - 1; k >= 0 && !(*data)[k].IsValid(); k-- {
		(*data)[k] = reflect.New(types[k]).Elem()
	}
}
