package rt

import (
	"fmt"
	"go/types"
	"reflect"
)

// A Sight is a value as the last expression of a cell shows it.
type Sight struct {
	Text  string     // as fmt's %v prints it under its true type
	Name  string     // the type's name as %T prints it, "<nil>" for nil
	Type  types.Type // its type when a cell defines it or it is made of such, else nil
	Value any        // the compiled value when Type is nil, else the view of it that compiled code can read
}

// Show looks at x, a value in an interface as lowered text makes it.
func Show(x any) Sight {
	x = In(x)
	s := Sight{Text: Sprint(x), Name: dynamicName(x), Value: x}
	if b, ok := x.(Box); ok {
		s.Type = b.T.Type()
		s.Value = b.V
	}
	return s
}

// GoSyntax is x as fmt's %#v prints it.
func GoSyntax(x any) string { return Sprintf("%#v", x) }

// Interpreted is the type that the interpreter uses for the value of x.
func Interpreted(x any) reflect.Type { return reflect.TypeOf(Value(x)) }

var _ fmt.Formatter = Box{}
