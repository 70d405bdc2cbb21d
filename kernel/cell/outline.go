package cell

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// IsComplete says of a cell's text whether Enter should run it: "complete", "incomplete" with the indentation of the next line
// where something is still open, or "invalid".
func IsComplete(text string) (status, indent string) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || strings.HasPrefix(trimmed, "%") {
		return "complete", ""
	}
	src := newSource(0, text)
	sp := split(src.text)
	deeper := lastIndent(text)
	switch {
	case sp.unend && (strings.Count(text, "`")%2 == 1 || strings.Contains(text, "/*")):
		return "incomplete", ""
	case len(sp.open) > 0 && onlyOpen(sp):
		return "incomplete", strings.Repeat("\t", len(sp.open))
	case len(sp.errs) > 0:
		return "invalid", ""
	}
	f := &files{fset: token.NewFileSet(), parts: map[*token.File]fragment{}}
	var ds []Diagnostic
	for _, k := range sp.chunks {
		switch k.kind {
		case token.ILLEGAL, token.VAR, token.PACKAGE:
		case token.IMPORT:
			_, errs := f.parseItem(&item{src: src, start: k.start, end: k.end})
			ds = append(ds, errs...)
		default:
			_, errs := f.newItem(src, k)
			ds = append(ds, errs...)
		}
	}
	_, errs := f.parseBody(src, sp.chunks)
	ds = append(ds, errs...)
	end := len(strings.TrimRight(src.text, " \t\r\n"))
	for _, d := range ds {
		if d.offset >= end {
			return "incomplete", deeper + "\t"
		}
	}
	if len(ds) > 0 {
		return "invalid", ""
	}
	return "complete", ""
}

// onlyOpen reports whether open brackets are all that is wrong.
func onlyOpen(sp *splitting) bool {
	return len(sp.errs) == 1 && strings.HasSuffix(sp.errs[0].Message, "is not closed")
}

func lastIndent(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// IsExpression returns an *Error when a text is not one expression.
func IsExpression(text string) error {
	src := newSource(0, text)
	e, err := parser.ParseExpr(src.text)
	if err == nil {
		if _, bad := e.(*ast.BadExpr); !bad {
			return nil
		}
	}
	return newError(Syntax, []Diagnostic{{Message: "this is not an expression: " + strings.TrimSpace(text)}})
}
