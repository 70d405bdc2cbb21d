package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits on hostile input; compilers stay far below them.
const (
	maxText         = 64 << 20
	maxScopes       = 64
	maxInstructions = 1 << 20
	maxRegisters    = 100_000
	maxParamBytes   = 32764
	maxElements     = 16
	maxVector       = 128 // registers of the largest operand, D of wgmma
	maxVariable     = int64(1) << 40
)

// Parse reads a module; name is shown in errors. The error is an *Error.
func Parse(name, text string) (m *Module, err error) {
	m = &Module{Name: name, Text: text, Files: map[int]string{}}
	if len(text) > maxText {
		return nil, &Error{Name: name, Line: 1, Col: 1, Message: fmt.Sprintf("%d bytes of PTX: the limit is %d", len(text), maxText)}
	}
	p := &parser{m: m, x: lexer{text: text, line: 1}, names: map[string]bool{}}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			m, err = nil, e
		}
	}()
	p.advance()
	p.header()
	p.module()
	return m, nil
}

// parser is a recursive-descent parser with one token of look-ahead; it leaves by panic(*Error), which Parse recovers.
type parser struct {
	m     *Module
	x     lexer
	tok   token // the next token
	last  token // the one before
	names map[string]bool

	// While a function is parsed.
	f        *Function
	scope    *scope
	depth    int
	location Location
	pending  []pendingName
	module0  *scope // module-level variables
	noUnroll bool   // a .pragma "nounroll" awaits its instruction
	code     string // opcode of the instruction being read
}

func (p *parser) fail(t token, format string, args ...any) {
	p.failHint(t, "", format, args...)
}

func (p *parser) failHint(t token, hint, format string, args ...any) {
	panic(&Error{Name: p.m.Name, Line: t.line, Col: t.col, Message: fmt.Sprintf(format, args...), Hint: hint, Source: p.m.SourceLine(t.line)})
}

func (p *parser) advance() token {
	p.last = p.tok
	t, wrong := p.x.next()
	if wrong != "" {
		p.fail(t, "%s", wrong)
	}
	p.tok = t
	return p.last
}

func (t token) shown() string {
	if t.kind == tokenEnd {
		return "the end of the text"
	}
	s := t.text
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}

func (p *parser) is(text string) bool { return p.tok.text == text && p.tok.kind != tokenString }

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(text, where string) token {
	if !p.is(text) {
		p.fail(p.tok, "expected %q %s, found %s", text, where, p.tok.shown())
	}
	return p.advance()
}

func (p *parser) name(what string) token {
	if p.tok.kind != tokenName || p.tok.text[0] == '.' {
		p.fail(p.tok, "expected %s, found %s", what, p.tok.shown())
	}
	return p.advance()
}

// integer reads a non-negative integer literal up to limit.
func (p *parser) integer(what string, limit int64) int64 {
	t := p.tok
	if t.kind != tokenNumber {
		p.fail(t, "expected %s, found %s", what, t.shown())
	}
	p.advance()
	n, err := strconv.ParseUint(integerText(t.text), 0, 64)
	if err != nil {
		p.fail(t, "%s is no integer", t.shown())
	}
	if n > uint64(limit) {
		p.fail(t, "%s is too large for %s: the limit is %d", t.text, what, limit)
	}
	return int64(n)
}

// integerText makes a PTX integer literal one that strconv reads: no U, and octal as Go writes it.
func integerText(s string) string { return strings.TrimSuffix(s, "U") }

// header checks that the text begins as PTX does, so that a cubin, CUDA C++ or an empty file is called by its name.
func (p *parser) header() {
	if p.is(".version") {
		return
	}
	hint := "PTX begins with .version, .target and .address_size"
	switch {
	case p.tok.kind == tokenEnd:
		p.failHint(p.tok, hint, "no PTX: the text is empty")
	case strings.Contains(p.m.Text, "__global__"):
		p.failHint(p.tok, "compile it to PTX first", "this is CUDA C++, not PTX")
	default:
		p.failHint(p.tok, hint, "expected .version, found %s", p.tok.shown())
	}
}

func (p *parser) module() {
	p.module0 = newScope(nil)
	for p.tok.kind != tokenEnd {
		t := p.advance()
		switch t.text {
		case ".version":
			p.version()
		case ".target":
			p.target()
		case ".address_size":
			if at := p.tok; p.integer("an address size", 64) != 64 {
				p.failHint(at, "compile for 64-bit addresses", "only 64-bit addresses are supported")
			}
		case ".file":
			p.file()
		case ".loc":
			p.loc()
		case ".visible", ".weak", ".extern", ".common", ".entry", ".func", ".global", ".const", ".shared":
			p.declaration(t)
		case ".section":
			p.section()
		case ".pragma", ".alias":
			p.skipStatement(t)
		case ";":
		default:
			p.fail(t, "unexpected %s outside a function", t.shown())
		}
	}
}

func (p *parser) version() {
	t := p.advance()
	major, minor, ok := strings.Cut(t.text, ".")
	if t.kind != tokenNumber || !ok || !allDigits(major) || !allDigits(minor) {
		p.fail(t, "expected a version such as 8.0 after .version, found %s", t.shown())
	}
	p.m.Version = t.text
}

func (p *parser) target() {
	for first := true; ; first = false {
		t := p.name("a target such as sm_80")
		if first {
			p.m.Target = t.text
			number, ok := strings.CutPrefix(t.text, "sm_")
			if !ok || !allDigits(strings.TrimRight(number, "af")) {
				p.fail(t, "expected a target such as sm_80, found %s", t.shown())
			}
		}
		if !p.accept(",") {
			return
		}
	}
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// file reads `.file 1 "a.cu"`, with a time and a size or without.
func (p *parser) file() {
	n := p.integer("a file number", 1<<30)
	if p.tok.kind != tokenString {
		p.fail(p.tok, "expected a file name in quotes, found %s", p.tok.shown())
	}
	p.m.Files[int(n)] = unquote(p.advance().text)
	for p.accept(",") {
		p.integer("a time or size", 1<<62)
	}
}

func unquote(s string) string {
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return strings.Trim(s, `"`)
}

// loc reads `.loc file line column [, function_name label] [, inlined_at file line column]`.
func (p *parser) loc() {
	file := p.integer("a file number", 1<<30)
	line := p.integer("a line", 1<<30)
	p.integer("a column", 1<<30)
	p.location = Location{File: int(file), Line: int(line)}
	for p.accept(",") {
		switch t := p.name("function_name or inlined_at"); t.text {
		case "function_name":
			p.advance()
			if p.accept("+") {
				p.integer("an offset", 1<<30)
			}
		case "inlined_at":
			p.integer("a file number", 1<<30)
			p.integer("a line", 1<<30)
			p.integer("a column", 1<<30)
		default:
			p.fail(t, "unexpected %s in .loc", t.shown())
		}
	}
}

// section skips `.section name { … }`: DWARF, which a virtual GPU has no use for.
func (p *parser) section() {
	p.advance()
	open := p.expect("{", "after .section")
	for depth := 1; depth > 0; {
		switch t := p.advance(); {
		case t.kind == tokenEnd:
			p.fail(open, "section is never closed: } is missing")
		case t.text == "{" && t.kind == tokenPunct:
			depth++
		case t.text == "}" && t.kind == tokenPunct:
			depth--
		}
	}
}

// skipStatement skips up to a semicolon.
func (p *parser) skipStatement(start token) {
	for !p.accept(";") {
		if p.tok.kind == tokenEnd {
			p.fail(start, "%s is never ended: ; is missing", start.text)
		}
		p.advance()
	}
}

// declaration reads a variable or a function, t being its first word.
func (p *parser) declaration(t token) {
	extern := false
	for t.text == ".visible" || t.text == ".weak" || t.text == ".extern" || t.text == ".common" {
		extern = extern || t.text == ".extern"
		t = p.advance()
	}
	switch t.text {
	case ".entry", ".func":
		p.function(t.text == ".entry")
	case ".global", ".const", ".shared":
		for {
			v := p.variable(t.text[1:], extern)
			if old := p.module0.variables[v.Name]; old != nil {
				if !old.Extern && !v.Extern {
					p.fail(p.last, "variable %s is declared twice, first on line %d", v.Name, old.Line)
				}
				if old.Extern && !v.Extern {
					*old = *v
				}
			} else {
				p.module0.variables[v.Name] = v
				p.m.Variables = append(p.m.Variables, v)
			}
			if !p.accept(",") {
				break
			}
		}
		p.expect(";", "after a variable")
	default:
		p.fail(t, "expected .entry, .func, .global, .const or .shared, found %s", t.shown())
	}
}
