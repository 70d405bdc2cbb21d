package ptx

import "strings"

// function reads a header and, where there is one, the body.
func (p *parser) function(entry bool) {
	f := &Function{Entry: entry, Line: p.tok.line}
	p.f, p.scope, p.location = f, newScope(nil), Location{}
	for p.is(".attribute") {
		p.attribute(p.advance())
	}
	if p.is("(") {
		f.Results = p.params("result")
	}
	name := p.name("the name of a function")
	f.Name = name.text
	if p.is("(") {
		f.Params = p.params("parameter")
	}
	p.names[f.Name] = true
	for {
		t := p.advance()
		switch t.text {
		case ".maxntid":
			f.MaxCTA = p.extent()
		case ".reqntid":
			f.RequiredCTA = p.extent()
		case ".minnctapersm":
			f.MinCTAsPerSM = int(p.integer("a number of CTAs", 1<<16))
		case ".maxnctapersm":
			p.integer("a number of CTAs", 1<<16)
		case ".maxnreg":
			f.MaxRegisters = int(p.integer("a number of registers", 1<<16))
		case ".reqnctapercluster":
			f.ClusterCTAs = p.extent()
		case ".maxclusterrank":
			f.MaxCluster = int(p.integer("a number of CTAs", 1<<16))
		case ".explicitcluster":
			f.Clustered = true
		case ".noreturn", ".blocksareclusters", ".unified":
		case ".attribute":
			p.attribute(t)
		case ".abi_preserve", ".abi_preserve_control":
			p.integer("a number of registers", 1<<16)
		case ".pragma":
			p.skipStatement(t)
		case ";":
			p.m.Functions = append(p.m.Functions, f)
			return
		case "{":
			if old := p.bodies[f.Name]; old != nil {
				p.failHint(name, "give them different names, or keep one of them", "function %s is defined twice, first on line %d", f.Name, old.Line)
			}
			f.HasBody = true
			p.bodies[f.Name] = f
			p.body(t)
			p.resolve()
			p.m.Functions = append(p.m.Functions, f)
			return
		default:
			p.failHint(t, "a body follows in { }, or a ; ends a declaration", "unexpected %s after the header of %s", t.shown(), f.Name)
		}
	}
}

// extent reads up to three numbers; those left out are 1.
func (p *parser) extent() [3]int {
	e := [3]int{1, 1, 1}
	for i := range e {
		e[i] = int(p.integer("an extent", 1<<31-1))
		if !p.accept(",") {
			break
		}
	}
	return e
}

// params reads `( .param .u64 a, … )`; each is a name of the function's outermost scope.
func (p *parser) params(what string) []*Variable {
	open := p.expect("(", "before the parameters")
	var list []*Variable
	var bytes int64
	for !p.accept(")") {
		t := p.advance()
		if t.text != ".param" && t.text != ".reg" {
			p.fail(t, "expected .param, found %s", t.shown())
		}
		v := p.variable("param", false, nil)
		if t.text == ".reg" {
			p.registerParam(t, what, v)
		}
		if p.scope.variables[v.Name] != nil && v.Name != "_" {
			p.failHint(p.last, "give it another name", "%s %s is declared twice", what, v.Name)
		}
		if v.Space == "param" {
			p.scope.variables[v.Name] = v
		}
		bytes += v.Size + int64(v.Align)
		if bytes > maxParamBytes+1024 {
			p.fail(open, "more than %d bytes of parameters", maxParamBytes)
		}
		list = append(list, v)
		if !p.accept(",") {
			p.expect(")", "after the parameters")
			break
		}
	}
	return list
}

// body reads statements up to the closing brace, t being the opening one.
func (p *parser) body(open token) {
	p.depth++
	if p.depth > maxScopes {
		p.fail(open, "more than %d scopes inside each other", maxScopes)
	}
	p.scope = newScope(p.scope)
	for {
		t := p.advance()
		switch {
		case t.kind == tokenEnd:
			p.failHint(open, "the text may have been cut off", "function %s is never closed: } is missing", p.f.Name)
		case t.text == "}" && t.kind == tokenPunct:
			p.scope = p.scope.parent
			p.depth--
			return
		case t.text == ";" && t.kind == tokenPunct:
		case t.text == "{" && t.kind == tokenPunct:
			p.body(t)
		case t.text == "@" && t.kind == tokenPunct:
			p.instruction(t)
		case t.kind == tokenName && t.text[0] == '.':
			p.directive(t)
		case t.kind == tokenName && p.is(":"):
			p.advance()
			p.label(t)
		case t.kind == tokenName:
			p.instruction(t)
		default:
			p.fail(t, "expected an instruction, found %s", t.shown())
		}
	}
}

func (p *parser) label(t token) {
	switch p.tok.text {
	case ".branchtargets", ".calltargets":
		p.table(t, p.advance())
		return
	case ".callprototype":
		p.advance()
		p.prototype(t)
		return
	}
	if i, ok := p.scope.labels[t.text]; ok {
		p.failHint(t, "give one of them another name", "label %s stands twice in this scope, first on line %d", t.text, p.f.Labels[i].Line)
	}
	p.unused(t, "label")
	p.scope.labels[t.text] = len(p.f.Labels)
	p.f.Labels = append(p.f.Labels, Label{Name: t.text, At: len(p.f.Body), Line: t.line})
}

// table reads `.branchtargets L1, L2;` or `.calltargets f, g;`, name being its label.
func (p *parser) table(name, kind token) {
	p.unused(name, "label")
	if _, ok := p.scope.tables[name.text]; ok {
		p.failHint(name, "give one of them another name", "%s stands twice in this scope", name.text)
	}
	table := Table{Name: name.text, Kind: kind.text[1:], Line: name.line}
	var names []token
	for {
		n := p.name("a label")
		names, table.Names = append(names, n), append(table.Names, n.text)
		if !p.accept(",") {
			break
		}
	}
	p.expect(";", "after "+kind.text)
	p.scope.tables[name.text] = len(p.f.Tables)
	p.tables = append(p.tables, pendingTable{len(p.f.Tables), p.scope, names})
	p.f.Tables = append(p.f.Tables, table)
}

// prototype reads `.callprototype (.param .b32 _) _ (.param .b64 _);`, name being its label.
func (p *parser) prototype(name token) {
	f := &Function{Name: name.text, Line: name.line}
	outer := p.scope
	p.scope = newScope(nil)
	if p.is("(") {
		f.Results = p.params("result")
	}
	p.name("_ or the name of a function")
	if p.is("(") {
		f.Params = p.params("parameter")
	}
	p.scope = outer
	p.skipStatement(name)
	if p.f.Prototypes == nil {
		p.f.Prototypes = map[string]*Function{}
	}
	p.f.Prototypes[name.text] = f
}

// registerParam makes a parameter that is declared with .reg a register of the function.
func (p *parser) registerParam(t token, what string, v *Variable) {
	v.Space = "reg"
	if v.Name == "_" {
		return
	}
	if p.f == nil || p.f.Entry || v.Dynamic {
		p.failHint(t, "declare it with .param", "only a %s of a .func can be a register", what)
	}
	if p.scope.registers[v.Name] != nil {
		p.failHint(p.last, "give it another name", "%s %s is declared twice", what, v.Name)
	}
	d := &declared{typ: v.Type, count: 1, parts: 1, used: map[int]int32{}}
	p.scope.registers[v.Name] = d
	v.Register = p.use(d, 0, v.Name)
}

// attribute skips `(.managed, .unified(19, 95))`, t being .attribute.
func (p *parser) attribute(t token) {
	p.expect("(", "after .attribute")
	for depth := 1; depth > 0; {
		switch a := p.advance(); {
		case a.kind == tokenEnd:
			p.fail(t, ".attribute is never closed: ) is missing")
		case a.text == "(":
			depth++
		case a.text == ")":
			depth--
		}
	}
}

// unused refuses a name that stands for something else in the scope.
func (p *parser) unused(t token, what string) {
	if other := p.scope.taken(t.text); other != "" {
		p.failHint(t, "give it another name", "%s %s: %s of this scope has the same name", what, t.text, other)
	}
}

func (p *parser) directive(t token) {
	extern := t.text == ".extern"
	if extern {
		if t = p.advance(); t.text != ".shared" {
			p.fail(t, "expected .shared after .extern in a function, found %s", t.shown())
		}
	}
	switch t.text {
	case ".reg":
		p.registers()
	case ".shared", ".local", ".global", ".const", ".param":
		var v *Variable
		for {
			v = p.variable(t.text[1:], extern, v)
			if old := p.scope.variables[v.Name]; old != nil {
				p.failHint(v.at, "give one of them another name", "variable %s is declared twice, first on line %d", v.Name, old.Line)
			}
			p.unused(v.at, "variable")
			p.scope.variables[v.Name] = v
			p.f.Variables = append(p.f.Variables, v)
			if !p.accept(",") {
				break
			}
		}
		p.expect(";", "after a variable")
	case ".loc":
		p.loc()
	case ".file":
		p.file()
	case ".section":
		p.section()
	case ".pragma":
		from := t.at
		p.skipStatement(t)
		p.noUnroll = p.noUnroll || strings.Contains(p.m.Text[from:p.last.at], `"nounroll"`)
	default:
		p.failHint(t, "in a function stand .reg, .param, .local, .shared, .const, .global, .loc, .pragma and instructions", "unknown directive %s", t.text)
	}
}

// registers reads `.reg .b32 %r<5>, %x;` or `.reg .v4 .f32 %v;`.
func (p *parser) registers() {
	typ, parts := "", 1
	for p.tok.kind == tokenName && p.tok.text[0] == '.' {
		t := p.advance()
		switch {
		case t.text == ".v2":
			parts = 2
		case t.text == ".v4":
			parts = 4
		case TypeSize(t.text[1:]) == 0:
			p.failHint(t, nearType(t.text[1:]), "unknown type %s", t.text)
		default:
			typ = t.text[1:]
		}
	}
	if typ == "" {
		p.failHint(p.tok, "write .reg .b32 or another type", ".reg has no type")
	}
	for {
		t := p.name("the name of a register")
		d := &declared{typ: typ, count: 1, parts: parts, used: map[int]int32{}}
		into := p.scope.registers
		if p.accept("<") {
			d.count = int(p.integer("a number of registers", 1<<31-1))
			p.expect(">", "after the number of registers")
			into = p.scope.ranges
		} else if p.scope.registers[t.text] == nil {
			p.unused(t, "register")
		}
		if into[t.text] != nil {
			p.failHint(t, "declare it once", "register %s is declared twice in this scope", t.text)
		}
		into[t.text] = d
		if !p.accept(",") {
			break
		}
	}
	p.expect(";", "after registers")
}

// types are what registers and variables can be declared with.
var types = []string{"pred", "b8", "u8", "s8", "b16", "u16", "s16", "f16", "bf16", "b32", "u32", "s32", "f32", "f16x2", "bf16x2", "b64", "u64", "s64", "f64", "b128"}

// nearType is the advice for a word that is no type.
func nearType(word string) string {
	for _, t := range types {
		if len(word) == len(t) && len(t) > 1 && (word[1:] == t[1:] || word[:len(word)-1] == t[:len(t)-1]) {
			return "use ." + t
		}
	}
	return "the types are ." + strings.Join(types, ", .")
}

// instruction reads one instruction; t is its first token, @ or the opcode.
func (p *parser) instruction(t token) {
	in := Instruction{Line: t.line, Col: t.col, Source: p.location, Guard: -1, NoUnroll: p.noUnroll}
	p.noUnroll = false
	start := t.at
	if t.text == "@" {
		in.GuardNot = p.accept("!")
		g := p.name("a predicate after @")
		r, ok := p.register(g.text)
		if !ok {
			p.failHint(g, "declare it: .reg .pred "+g.text+";", "unknown predicate %s", g.text)
		}
		if p.f.Registers[r].Type != "pred" {
			p.failHint(g, "compare it first: setp.ne."+p.f.Registers[r].Type+" p, "+g.text+", 0", "guard %s is of type .%s, not .pred", g.text, p.f.Registers[r].Type)
		}
		in.Guard = r
		t = p.name("an instruction after the guard")
		in.Line, in.Col = t.line, t.col
	}
	in.Spelling = t.text
	for p.tok.kind == tokenName && p.tok.text[0] == '.' { // modifiers that stand apart
		in.Spelling += p.advance().text
	}
	parts := strings.Split(in.Spelling, ".")
	in.Opcode, in.Modifiers = parts[0], parts[1:]
	p.code, p.reading = in.Opcode, in
	if len(p.f.Body) >= maxInstructions {
		p.fail(t, "function %s has more than %d instructions", p.f.Name, maxInstructions)
	}
	for !p.is(";") {
		if p.tok.kind == tokenEnd || p.is("}") {
			p.failHint(t, "put a ; behind it", "instruction %s is never ended: ; is missing", t.text)
		}
		if len(in.Operands) >= maxElements {
			p.fail(p.tok, "instruction %s has more than %d operands", t.text, maxElements)
		}
		in.Operands = append(in.Operands, p.operand(len(p.f.Body), len(in.Operands)))
		if !p.accept(",") && !p.is(";") {
			p.failHint(p.tok, "end the instruction before it with ;", "expected , or ; after an operand of %s, found %s", t.text, p.tok.shown())
		}
	}
	end := p.advance()
	in.Text = p.m.Text[start:end.at]
	p.f.Body, p.reading = append(p.f.Body, in), Instruction{}
}
