// Package rt is the compiled half of a lowered cell: boxes that carry types which cells define through interfaces, and the
// parts of Go that the interpreter gets wrong: interface conversion, method dispatch, defer, recover, go, select, iteration
// over maps, formatting, JSON and the exact texts of run-time panics.
package rt

import (
	"go/types"
	"unsafe"
)

// labelSet is the address of a goroutine's profiler labels.
type labelSet = unsafe.Pointer

// raised is the last panic of a cell and where it was.
type raised struct{}

// Shown is a value as the last expression of a cell shows it.
type Shown struct {
	Text string     // as fmt's %v under the value's true type
	Type types.Type // its true type, nil for a nil interface and for values of compiled types
	Name string     // the type's name as %T prints it
}

// Show gives the view of x, a value in an interface as lowered text makes it.
func Show(x any) Shown { return Shown{} }

// View is x for compiled code that reads values by reflection: a plain value under its true field names.
func View(x any) any { return x }
