//go:build cuda && cgo && linux

package shim

/*
#cgo CFLAGS: -O2
#cgo LDFLAGS: -ldl
#include "shim.h"
*/
import "C"

import "unsafe"

// Stage is where opening a driver ended.
type Stage int

// The stages of opening a driver.
const (
	Opened     Stage = C.MEMWALL_OPENED
	NotLoaded  Stage = C.MEMWALL_NOT_LOADED
	NoSymbol   Stage = C.MEMWALL_NO_SYMBOL
	InitFailed Stage = C.MEMWALL_INIT_FAILED
)

// Outcome says what opening the driver came to.
type Outcome struct {
	Stage  Stage
	Code   int    // what cuInit answered
	Path   string // of the library
	Detail string // the loader's words, or the symbol that is missing
}

// Use makes the functions that lookup, a C function, finds by name answer instead of an NVIDIA driver. It must come before the
// first driver call but cuInit.
func Use(lookup unsafe.Pointer) { C.memwall_use((*[0]byte)(lookup)) }

// Open opens the driver, once; each later call gives the same outcome.
func Open() Outcome {
	o := C.memwall_open()
	return Outcome{Stage: Stage(o.stage), Code: int(o.code), Path: C.GoString(&o.path[0]), Detail: C.GoString(&o.detail[0])}
}

// Calls is how often each function of the driver was called.
func Calls() map[string]uint64 {
	n := int(C.memwall_n)
	functions := unsafe.Slice((*C.memwall_function)(unsafe.Pointer(&C.memwall_functions)), n)
	counts := unsafe.Slice((*C.ulong)(unsafe.Pointer(&C.memwall_calls)), n)
	calls := map[string]uint64{}
	for i, f := range functions {
		if counts[i] > 0 {
			calls[C.GoString(f.name)] = uint64(counts[i])
		}
	}
	return calls
}

// Inject makes the next call of a function answer a result and do nothing; false where there is no function of the name.
func Inject(name string, code int) bool {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	return C.memwall_inject(text, C.int(code)) != 0
}

// Injected says whether an answer of Inject still waits for its call.
func Injected() bool { return C.memwall_injected() != 0 }
