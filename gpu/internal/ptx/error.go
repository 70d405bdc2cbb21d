package ptx

import (
	"fmt"
	"strings"
)

// Error is what is wrong with PTX text, and where. Its text shows the source line and a caret:
//
//	scale.ptx:12:2: add.f33: unknown type .f33
//	    add.f33 %f1, %f2, %f3;
//	    ^
//	use .f32
type Error struct {
	Name        string // file or cell shown; "PTX" where there is none
	Line, Col   int    // from 1; columns count bytes
	Instruction string // its spelling, where the error lies in one
	Message     string
	Hint        string // how to mend it
	Source      string // the source line

	// Before are the instructions of the function that was being read, the one at fault included: a device may not know one
	// of those that stand before the error.
	Before []Instruction
}

// Error is the whole text of the error, several lines.
func (e *Error) Error() string {
	var b strings.Builder
	name := e.Name
	if name == "" {
		name = "PTX"
	}
	fmt.Fprintf(&b, "%s:%d:%d: ", name, e.Line, e.Col)
	if e.Instruction != "" {
		b.WriteString(e.Instruction + ": ")
	}
	b.WriteString(e.Message)
	if e.Source != "" {
		line, caret := excerpt(e.Source, e.Col)
		b.WriteString("\n    " + line + "\n    " + caret)
	}
	if e.Hint != "" {
		b.WriteString("\n" + e.Hint)
	}
	return b.String()
}

// excerpt cuts a long line around col, drops its indentation and gives the line with a caret that stands under col.
func excerpt(line string, col int) (string, string) {
	at := min(max(col-1, 0), len(line))
	trimmed := strings.TrimLeft(line, " \t")
	at = max(at-(len(line)-len(trimmed)), 0)
	line = strings.TrimRight(trimmed, " \t\r")
	const width = 100
	if len(line) > width {
		from := max(min(at-width/2, len(line)-width), 0)
		line, at = line[from:from+width], at-from
	}
	at = min(at, len(line))
	clean := func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return ' '
		}
		return r
	}
	pad := len([]rune(strings.ToValidUTF8(line[:at], " ")))
	return strings.Map(clean, strings.ToValidUTF8(line, " ")), strings.Repeat(" ", pad) + "^"
}

// ErrorAt makes an error at an instruction of this module, with its source line.
func (m *Module) ErrorAt(in *Instruction, message, hint string) *Error {
	return &Error{Name: m.Name, Line: in.Line, Col: in.Col, Instruction: in.Spelling, Message: message, Hint: hint, Source: m.SourceLine(in.Line)}
}

// SourceLine is one line of the module's text, from 1; "" where there is none.
func (m *Module) SourceLine(line int) string {
	text := m.Text
	for ; line > 1; line-- {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return ""
		}
		text = text[i+1:]
	}
	text, _, _ = strings.Cut(text, "\n")
	return text
}
