// Package session runs cells: it joins the cell compiler (kernel/cell), its run time (kernel/cell/rt), the yaegi interpreter
// and the symbol tables of the compiled packages into one object that keeps a notebook's variables.
//
// A Session belongs to one goroutine at a time for Run and Reset; Complete, Inspect, IsComplete and Names may be called while
// a cell runs.
package session

import "context"

// Outcome is how a cell ended.
type Outcome struct {
	HasValue bool
	Values   []any    // the last expression's values as an interface of a cell holds them: plain, or boxes of rt
	Types    []string // their static types
	Err      *Error   // nil: ok
}

// Error is a cell's error as a notebook shows it.
type Error struct {
	Name      string   // "CompileError", "Refused", "Panic", "Error" (a returned error), "Interrupted", "Exit"
	Value     string   // one line
	Traceback []string // the message with its place, the source line and a caret
	Cause     error    // the error value that the cell returned or panicked with, nil for others
}

// Name is something that a session has declared.
type Name struct {
	Name string
	Kind string // "variable", "function", "type", "constant"
	Type string
	Cell int
}

// Session is a notebook's state.
type Session struct{}

// New returns an empty session.
func New() (*Session, error) { return &Session{}, nil }

// Predeclare makes a variable of the worker visible to cells: pointer is its address. It may be called again after Reset.
func (s *Session) Predeclare(name string, pointer any) error { return nil }

// Run runs a cell. When ctx is cancelled it returns within about ten milliseconds with an error named "Interrupted" and keeps
// the session's variables.
func (s *Session) Run(ctx context.Context, cell int, code string) Outcome { return Outcome{} }

// Eval evaluates an expression for a client (user_expressions); it declares nothing.
func (s *Session) Eval(ctx context.Context, code string) Outcome { return Outcome{} }

// Complete lists what may stand at the cursor (in code points); start and end are what a match replaces.
func (s *Session) Complete(code string, cursor int) (matches, types, signatures []string, start, end int) {
	return nil, nil, nil, cursor, cursor
}

// Inspect describes the name at the cursor as a MIME bundle.
func (s *Session) Inspect(code string, cursor, detail int) (bundle map[string]any, found bool) {
	return nil, false
}

// IsComplete answers "complete", "incomplete" with the indentation of the next line, or "invalid".
func (s *Session) IsComplete(code string) (status, indent string) { return "unknown", "" }

// Names lists what the session has declared.
func (s *Session) Names() []Name { return nil }

// Reset forgets everything that cells declared.
func (s *Session) Reset() error { return nil }
