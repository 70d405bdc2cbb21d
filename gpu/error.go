package gpu

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"memwall/gpu/card"
	"memwall/gpu/internal/driver"
)

// Error is what this package returns or panics with. It says what went wrong, where, and how to mend it; an empty part is
// left out of the text.
type Error struct {
	What  string // "launch scale: 2 arguments, the function takes 3"
	Where string // "x *f32, a f32, n u32"
	How   string // "give a value for parameter 3 (n, .u32)"
	Fault *Fault // why the device stopped a launch; nil for other errors
	Cause error  // the error below, or nil
}

// Error joins the three parts by line breaks.
func (e *Error) Error() string {
	var parts []string
	for _, p := range []string{e.What, e.Where, e.How} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "\n")
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Fault is why and where a launch was stopped: the kind, the PTX instruction, the line of CUDA C++ it comes from, the
// thread and the address.
type Fault struct {
	Device      string // "virtual:h200"
	Kernel      string // as the launch's card names it
	Kind        string // "out of bounds", "misaligned address", "interrupted" …
	Module      string // "gemm/3_smem_tile.ptx"
	Function    string
	PTXLine     int
	Instruction string // "ld.shared.f32"
	File        string // CUDA C++ source, "" where unknown
	SourceLine  int
	SourceText  string
	CTA         [3]uint32
	Warp, Lane  int
	Address     uint64
	Space       string // "global", "shared" …
	Bytes       int    // width of the access
	Allocation  string // what lies nearest
	Detail      string
	CTAs        uint64 // of the grid
	Warps       int    // of a CTA
	lines       []card.SourceLine
}

// wrap turns an error of a device into an *Error; what names the operation ("allocate 64 B on virtual:h200").
func wrap(what string, err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var f *driver.Fault
	if errors.As(err, &f) {
		return faultError(f, err)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{What: what + ": interrupted", Cause: err}
	}
	text := err.Error()
	if what != "" {
		text = what + ": " + text
	}
	return &Error{What: text, Cause: err}
}

func faultError(f *driver.Fault, cause error) *Error {
	where := f.Who()
	if f.Detail != "" {
		where = join("\n", where, f.Detail)
	}
	if from := f.From(); from != "" {
		where = join("\n", where, "from "+from)
	}
	return &Error{What: f.Headline(), Where: where, How: adviceFor(f), Cause: cause, Fault: &Fault{
		Device: f.Device, Kind: string(f.Kind), Module: f.Module, Function: f.Function, PTXLine: f.PTXLine,
		Instruction: f.Instruction, File: f.File, SourceLine: f.SourceLine, SourceText: f.SourceText, CTA: f.CTA,
		Warp: f.Warp, Lane: f.Lane, Address: f.Address, Space: f.Space, Bytes: f.Bytes, Allocation: f.Allocation,
		Detail: f.Detail,
	}}
}

// nullPage is the range of addresses in which only a null pointer with an offset lies.
const nullPage = 0x10000

// adviceFor says how to mend each kind of fault.
func adviceFor(f *driver.Fault) string {
	if f.Mend != "" {
		return f.Mend
	}
	switch f.Kind {
	case driver.OutOfBounds:
		switch {
		case f.Space == "shared":
			return "declare more shared memory, or ask for it: gpu.Config{Shared: bytes}"
		case strings.Contains(f.Allocation, "freed"):
			return "free a tensor after the last launch that uses it"
		case f.Address < nullPage:
			return "the pointer is null: give a Tensor or a Buffer for it"
		case f.Allocation == driver.OtherDevice:
			return "tensors stay on the device that made them: make all of them on one"
		}
		return "compare the thread's index with the length before the access: the last CTA is rarely full"
	case driver.Misaligned:
		return fmt.Sprintf("an access of %d B needs an address that is a multiple of %d: round the offset or use a narrower load", f.Bytes, f.Bytes)
	case driver.ReadOnly:
		return "write to a tensor of its own: dev.Empty, dev.Zeros or dev.Randn"
	case driver.OutOfMemory:
		return "run fewer CTAs: gpu.Sample(k, …), hold weights in dev.Procedural, or use a computer with more memory"
	case driver.Deadlock:
		return "let every thread of the CTA reach the barrier, also those whose index is past the end"
	case driver.Timeout:
		return "look for a loop that never ends, or run fewer CTAs: gpu.Sample(k, …)"
	}
	return ""
}

// join leaves out what is empty.
func join(separator string, parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, separator)
}

// during puts an operation before an error's text and keeps its mend.
func during(operation string, err error) *Error {
	if e := asError(err); e != nil {
		return &Error{What: operation + ": " + e.What, Where: e.Where, How: e.How, Cause: err}
	}
	return &Error{What: operation + ": " + err.Error(), Cause: err}
}

// fail makes an error whose first line is formatted.
func fail(how, format string, args ...any) *Error {
	return &Error{What: fmt.Sprintf(format, args...), How: how}
}

// asError finds the *Error in err, or nil.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

const interrupted = string(driver.Interrupted)

// isInterrupt says whether the error comes from an interrupt of the cell.
func (e *Error) isInterrupt() bool {
	return e.Fault != nil && e.Fault.Kind == interrupted || errors.Is(e.Cause, context.Canceled)
}

// MIMEBundle shows the error: a fault as its card, anything else as text.
func (e *Error) MIMEBundle() map[string]any {
	if e.Fault == nil {
		return map[string]any{"text/plain": e.Error()}
	}
	return e.card().MIMEBundle()
}
