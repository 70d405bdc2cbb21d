package ptx

import "strings"

// function reads a header and, where there is one, the body.
func (p *parser) function(entry bool) {
	f := &Function{Entry: entry, Line: p.tok.line}
	p.f, p.scope, p.location = f, newScope(nil), Location{}
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
			p.expect("(", "after .attribute")
			for !p.accept(")") {
				if p.tok.kind == tokenEnd {
					p.fail(t, ".attribute is never closed: ) is missing")
				}
				p.advance()
			}
		case ".pragma":
			p.skipStatement(t)
		case ";":
			p.m.Functions = append(p.m.Functions, f)
			return
		case "{":
			if old := p.m.Function(f.Name); old != nil {
				p.fail(name, "function %s is defined twice, first on line %d", f.Name, old.Line)
			}
			f.HasBody = true
			p.body(t)
			p.resolve()
			p.m.Functions = append(p.m.Functions, f)
			return
		default:
			p.fail(t, "unexpected %s after the header of %s", t.shown(), f.Name)
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
		v := p.variable("param", false)
		if p.scope.variables[v.Name] != nil {
			p.fail(p.last, "%s %s is declared twice", what, v.Name)
		}
		p.scope.variables[v.Name] = v
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
			p.fail(open, "function %s is never closed: } is missing", p.f.Name)
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
	case ".branchtargets", ".calltargets", ".callprototype":
		p.skipStatement(p.tok)
		return
	}
	if i, ok := p.scope.labels[t.text]; ok {
		p.fail(t, "label %s stands twice in this scope, first on line %d", t.text, p.f.Labels[i].Line)
	}
	p.scope.labels[t.text] = len(p.f.Labels)
	p.f.Labels = append(p.f.Labels, Label{Name: t.text, At: len(p.f.Body), Line: t.line})
}

func (p *parser) directive(t token) {
	switch t.text {
	case ".reg":
		p.registers()
	case ".shared", ".local", ".global", ".const", ".param":
		for {
			v := p.variable(t.text[1:], false)
			if old := p.scope.variables[v.Name]; old != nil {
				p.fail(p.last, "variable %s is declared twice, first on line %d", v.Name, old.Line)
			}
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
		p.fail(t, "unknown directive %s", t.text)
	}
}

// registers reads `.reg .b32 %r<5>, %x;`.
func (p *parser) registers() {
	typ := ""
	for p.tok.kind == tokenName && p.tok.text[0] == '.' {
		t := p.advance()
		if TypeSize(t.text[1:]) == 0 {
			p.fail(t, "unknown type %s", t.text)
		}
		typ = t.text[1:]
	}
	if typ == "" {
		p.fail(p.tok, ".reg has no type")
	}
	for {
		t := p.name("the name of a register")
		d := &declared{typ: typ, count: 1, used: map[int]int32{}}
		into := p.scope.registers
		if p.accept("<") {
			d.count = int(p.integer("a number of registers", 1<<31-1))
			p.expect(">", "after the number of registers")
			into = p.scope.ranges
		}
		if into[t.text] != nil {
			p.fail(t, "register %s is declared twice in this scope", t.text)
		}
		into[t.text] = d
		if !p.accept(",") {
			break
		}
	}
	p.expect(";", "after registers")
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
			p.failHint(g, "declare it with .reg .pred", "unknown predicate %s", g.text)
		}
		if p.f.Registers[r].Type != "pred" {
			p.fail(g, "guard %s is of type .%s, not .pred", g.text, p.f.Registers[r].Type)
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
	p.code = in.Opcode
	if len(p.f.Body) >= maxInstructions {
		p.fail(t, "function %s has more than %d instructions", p.f.Name, maxInstructions)
	}
	for !p.is(";") {
		if p.tok.kind == tokenEnd || p.is("}") {
			p.fail(t, "instruction %s is never ended: ; is missing", t.text)
		}
		if len(in.Operands) >= maxElements {
			p.fail(p.tok, "instruction %s has more than %d operands", t.text, maxElements)
		}
		in.Operands = append(in.Operands, p.operand(len(p.f.Body), len(in.Operands)))
		if !p.accept(",") && !p.is(";") {
			p.fail(p.tok, "expected , or ; after an operand of %s, found %s", t.text, p.tok.shown())
		}
	}
	end := p.advance()
	in.Text = p.m.Text[start:end.at]
	p.f.Body = append(p.f.Body, in)
}
