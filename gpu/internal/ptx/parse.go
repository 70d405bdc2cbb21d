package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits on hostile input; compilers stay far below them.
const (
	maxText         = 64 << 20
	maxScopes       = 200
	maxInstructions = 1 << 20
	maxRegisters    = 100_000
	maxParamBytes   = 32764
	maxElements     = 16
	maxVector       = 128 // registers of the largest operand, D of wgmma
	maxVariable     = int64(1) << 40
)

// Parse reads a module; name is shown in errors. The error is an *Error.
func Parse(name, text string) (m *Module, err error) {
	// A byte order mark, and the zero byte that ends a C string, belong to the text's container.
	text = strings.TrimRight(strings.TrimPrefix(text, "\ufeff"), "\x00")
	m = &Module{Name: name, Text: text, Files: map[int]string{}, Aliases: map[string]string{}}
	if len(text) > maxText {
		return nil, &Error{Name: name, Line: 1, Col: 1, Message: fmt.Sprintf("%d bytes of PTX: the limit is %d", len(text), maxText)}
	}
	p := &parser{m: m, x: lexer{text: text, line: 1}, names: map[string]bool{}, bodies: map[string]*Function{}}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			if p.f != nil {
				e.Before = p.f.Body
				if p.reading.Spelling != "" {
					e.Before = append(e.Before, p.reading)
				}
			}
			m, err = nil, e
		}
	}()
	p.foreign()
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

	bodies map[string]*Function // functions that have one
	tables []pendingTable

	// While a function is parsed.
	f        *Function
	scope    *scope
	depth    int
	location Location
	pending  []pendingName
	module0  *scope      // module-level variables
	noUnroll bool        // a .pragma "nounroll" awaits its instruction
	code     string      // opcode of the instruction being read
	reading  Instruction // with its spelling and place; the zero one between instructions
}

func (p *parser) fail(t token, format string, args ...any) {
	p.failHint(t, "", format, args...)
}

func (p *parser) failHint(t token, hint, format string, args ...any) {
	if hint == "" && t.kind == tokenEnd {
		hint = "the text may have been cut off"
	}
	panic(&Error{Name: p.m.Name, Line: t.line, Col: t.col, Message: fmt.Sprintf(format, args...), Hint: hint, Source: p.m.SourceLine(t.line)})
}

func (p *parser) advance() token {
	p.last = p.tok
	t, wrong := p.x.next()
	if wrong != "" {
		hint := ""
		if t.kind == tokenPunct {
			hint = "the text may be damaged, or the character be one that looks like ASCII: type it again"
		}
		p.failHint(t, hint, "%s", wrong)
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

// foreign calls files by their names that are given for PTX by mistake.
func (p *parser) foreign() {
	for _, f := range [...]struct{ start, what, hint string }{
		{"\x7fELF", "an ELF file (a cubin or an object)", "load the PTX that it was assembled from: nvcc -ptx, or cuobjdump -ptx"},
		{"\x50\xed\x55\xba", "a fatbinary", "take the PTX out of it: cuobjdump -ptx"},
		{"BC\xc0\xde", "LLVM bitcode", "compile it to PTX: llc -march=nvptx64"},
		{"; ModuleID", "LLVM IR", "compile it to PTX: llc -march=nvptx64"},
		{"\xff\xfe", "text in UTF-16", "save it as ASCII or UTF-8"},
		{"\xfe\xff", "text in UTF-16", "save it as ASCII or UTF-8"},
		{"\x1f\x8b", "a gzip file", "unpack it"},
		{"PK\x03\x04", "a zip file", "unpack it"},
	} {
		if strings.HasPrefix(p.m.Text, f.start) {
			panic(&Error{Name: p.m.Name, Line: 1, Col: 1, Message: "this is " + f.what + ", not PTX", Hint: f.hint})
		}
	}
}

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
		case ".pragma":
			p.skipStatement(t)
		case ".alias":
			name := p.name("the name of a function")
			p.expect(",", "after the alias")
			p.m.Aliases[name.text] = p.name("the name of a function").text
			p.names[name.text] = true
			p.expect(";", "after .alias")
		case ";":
		default:
			p.outside(t)
		}
	}
	if p.m.Target == "" {
		p.failHint(p.last, "add .target sm_80 after .version", "the PTX has no .target")
	}
}

// outside says what is wrong with something that stands outside a function.
func (p *parser) outside(t token) {
	hint := "here stand .entry, .func, .global, .const, .shared, .file, .section and .pragma"
	switch {
	case t.text == "}":
		hint = "there is a } too many before it"
	case t.text == "#":
		hint = "PTX is not preprocessed: take the lines that begin with # out"
	case t.kind == tokenName && t.text[0] != '.':
		hint = "instructions stand in the body of an .entry or a .func; there may be a } too many before it"
	}
	p.failHint(t, hint, "unexpected %s outside a function", t.shown())
}

// oldestVersion of the PTX ISA that is read. The newest one that all is known of is 8.8; what versions of 9 add are
// instructions, and each that the virtual GPU lacks is refused by its name.
const oldestVersion = "6.0"

func (p *parser) version() {
	t := p.advance()
	major, minor, ok := strings.Cut(t.text, ".")
	if t.kind != tokenNumber || !ok || !allDigits(major) || !allDigits(minor) {
		p.failHint(t, "write .version 8.0", "expected a version such as 8.0 after .version, found %s", t.shown())
	}
	number := func(s string) int {
		n, _ := strconv.Atoi(s[:min(len(s), 6)])
		return n
	}
	v := 100*number(major) + number(minor)
	switch {
	case p.m.Version != "":
		p.failHint(t, "one module has one .version: load the parts one by one", "the PTX has a second .version")
	case v < 600:
		p.failHint(t, "compile it again, with CUDA 9.0 or newer", "PTX ISA %s is older than %s, the oldest that is read", t.text, oldestVersion)
	case v >= 1000:
		p.failHint(t, "compile it for an older one: clang -Xclang -target-feature -Xclang +ptx88", "PTX ISA %s is newer than 9, the newest that is read", t.text)
	}
	p.m.Version = t.text
}

// targets are the GPUs that PTX can be made for, as the PTX ISA names them (11.1.2, .target).
var targets = map[string]bool{}

func init() {
	for _, t := range strings.Fields("10 11 12 13 20 21 30 32 35 37 50 52 53 60 61 62 70 72 75 80 86 87 88 89 90 90a 100 100a 100f 101 101a 101f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f") {
		targets["sm_"+t] = true
	}
}

// target reads `.target sm_90a, debug`.
func (p *parser) target() {
	for {
		t := p.name("a target such as sm_80")
		switch {
		case targets[t.text] && p.m.Target == "":
			p.m.Target, p.m.TargetAt = t.text, [2]int{t.line, t.col}
		case targets[t.text] && p.m.Target != t.text:
			p.failHint(t, "one module is for one target: load the parts one by one", "the PTX is for %s and for %s", p.m.Target, t.text)
		case targets[t.text], t.text == "texmode_unified", t.text == "texmode_independent", t.text == "debug", t.text == "map_f64_to_f32":
		case strings.HasPrefix(t.text, "sm_") || strings.HasPrefix(t.text, "compute_"):
			p.failHint(t, "the newest are sm_90, sm_90a, sm_100a, sm_103a, sm_120a and sm_121a", "there is no target %s", t.text)
		default:
			p.failHint(t, "write .target sm_80", "expected a target such as sm_80, found %s", t.shown())
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
	extern, common := false, false
	for t.text == ".visible" || t.text == ".weak" || t.text == ".extern" || t.text == ".common" {
		extern, common = extern || t.text == ".extern", common || t.text == ".common" || t.text == ".weak"
		t = p.advance()
	}
	switch t.text {
	case ".entry", ".func":
		p.function(t.text == ".entry")
	case ".global", ".const", ".shared":
		var v *Variable
		for {
			v = p.variable(t.text[1:], extern, v)
			v.common = common
			if old := p.module0.variables[v.Name]; old != nil {
				if !old.Extern && !v.Extern {
					if !common || !old.common {
						p.failHint(v.at, "give one of them another name, or keep one of them", "variable %s is declared twice, first on line %d", v.Name, old.Line)
					}
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
		p.failHint(t, "a module-level variable is .global, .const or .shared; .local and .reg stand in functions", "expected .entry, .func, .global, .const or .shared, found %s", t.shown())
	}
}
