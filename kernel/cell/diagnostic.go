package cell

import (
	"fmt"
	"sort"
	"strings"
)

// A Diagnostic is one thing that is wrong with a cell.
type Diagnostic struct {
	Place   Place
	Message string
	Hint    string // what to do about it, may be empty
	offset  int
	refused bool // it is right Go
}

// String is the message with its place, the source line with a caret, and the hint.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.Place.valid() {
		fmt.Fprintf(&b, "cell %d, %d:%d: ", d.Place.Cell, d.Place.Line, d.Place.Column)
	}
	b.WriteString(d.Message)
	if d.Place.valid() {
		b.WriteString("\n" + Caret(d.Place))
	}
	if d.Hint != "" {
		b.WriteString("\n" + d.Hint)
	}
	return b.String()
}

// longLine is the longest source line that is shown whole, in characters.
const longLine = 160

// Caret is a place's source line, indented, with a caret under the column; of a long line only the part around it is shown.
func Caret(p Place) string {
	line, column := []rune(p.Source), p.Column
	head := ""
	if len(line) > longLine {
		from := max(0, column-1-longLine/2)
		to := min(len(line), from+longLine)
		if from > 0 {
			head = "… "
		}
		tail := ""
		if to < len(line) {
			tail = " …"
		}
		line, column = append(append([]rune{}, line[from:to]...), []rune(tail)...), column-from
	}
	var under strings.Builder
	for i := 0; i < column-1; i++ {
		if i < len(line) && line[i] == '\t' {
			under.WriteByte('\t')
		} else {
			under.WriteByte(' ')
		}
	}
	return "    " + head + string(line) + "\n    " + strings.Repeat(" ", len([]rune(head))) + under.String() + "^"
}

// Kinds of errors.
const (
	Syntax  = "SyntaxError"
	Compile = "CompileError"
	Refused = "Refused" // right Go, but not for cells
)

// An Error says why a cell was not run; nothing of the session has changed.
type Error struct {
	Kind        string
	Diagnostics []Diagnostic // at least one, in the order of the text
	More        int          // errors beyond those
}

// maxDiagnostics is how many errors of a cell are shown.
const maxDiagnostics = 10

// Error is the whole text that a notebook shows.
func (e *Error) Error() string {
	var parts []string
	for _, d := range e.Diagnostics {
		parts = append(parts, d.String())
	}
	if e.More > 0 {
		parts = append(parts, fmt.Sprintf("and %d more errors", e.More))
	}
	return strings.Join(parts, "\n")
}

// Summary is the first message on one line.
func (e *Error) Summary() string {
	d := e.Diagnostics[0]
	if !d.Place.valid() {
		return d.Message
	}
	return fmt.Sprintf("cell %d, %d:%d: %s", d.Place.Cell, d.Place.Line, d.Place.Column, d.Message)
}

// newError orders diagnostics, drops repetitions and all but the first of them.
func newError(kind string, ds []Diagnostic) *Error {
	sort.SliceStable(ds, func(i, j int) bool {
		if ds[i].Place.Cell != ds[j].Place.Cell {
			return ds[i].Place.Cell > ds[j].Place.Cell
		}
		return ds[i].offset < ds[j].offset
	})
	var kept []Diagnostic
	seen := map[string]bool{}
	for _, d := range ds {
		k := fmt.Sprint(d.Place.Cell, d.Place.Line, d.Message)
		if kind == Syntax { // the scanner and the parser both complain
			k = fmt.Sprint(d.Place.Cell, d.offset)
		}
		if !seen[k] {
			seen[k] = true
			kept = append(kept, d)
		}
	}
	all := len(kept) > 0
	for _, d := range kept {
		all = all && d.refused
	}
	if all {
		kind = Refused
	}
	e := &Error{Kind: kind, Diagnostics: kept}
	if len(kept) > maxDiagnostics {
		e.Diagnostics, e.More = kept[:maxDiagnostics], len(kept)-maxDiagnostics
	}
	return e
}
