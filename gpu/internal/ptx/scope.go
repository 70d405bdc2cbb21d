package ptx

import "strings"

// scope holds the names of one { } of a function.
type scope struct {
	parent    *scope
	registers map[string]*declared // exact names
	ranges    map[string]*declared // %r<5>: prefix %r
	variables map[string]*Variable
	labels    map[string]int // index into Function.Labels
}

// declared is a .reg declaration: one name, or a range of count names with a common prefix.
type declared struct {
	typ   string
	count int
	used  map[int]int32 // number in the range → index in Function.Registers
}

func newScope(parent *scope) *scope {
	return &scope{parent: parent, registers: map[string]*declared{}, ranges: map[string]*declared{}, variables: map[string]*Variable{}, labels: map[string]int{}}
}

// register finds a register by name, innermost scope first, and gives its index in f.Registers.
func (p *parser) register(name string) (int32, bool) {
	prefix := strings.TrimRight(name, "0123456789")
	number, ok := -1, false
	if digits := name[len(prefix):]; digits != "" && len(digits) < 9 && (digits == "0" || digits[0] != '0') {
		number, ok = 0, true
		for i := 0; i < len(digits); i++ {
			number = number*10 + int(digits[i]-'0')
		}
	}
	for s := p.scope; s != nil; s = s.parent {
		if d := s.registers[name]; d != nil {
			return p.use(d, 0, name), true
		}
		if d := s.ranges[prefix]; ok && d != nil && number < d.count {
			return p.use(d, number, name), true
		}
		// A range may end in digits itself: .reg .b32 %r1_<3> or %x2<4>.
		for cut := len(prefix) + 1; cut < len(name); cut++ {
			d := s.ranges[name[:cut]]
			if d == nil {
				continue
			}
			n, digits := 0, name[cut:]
			if len(digits) > 8 || digits != "0" && digits[0] == '0' {
				continue
			}
			for i := 0; i < len(digits); i++ {
				n = n*10 + int(digits[i]-'0')
			}
			if n < d.count {
				return p.use(d, n, name), true
			}
		}
	}
	return 0, false
}

func (p *parser) use(d *declared, number int, name string) int32 {
	if r, ok := d.used[number]; ok {
		return r
	}
	if len(p.f.Registers) >= maxRegisters {
		p.fail(p.tok, "function %s uses more than %d registers", p.f.Name, maxRegisters)
	}
	r := int32(len(p.f.Registers))
	p.f.Registers = append(p.f.Registers, Register{Name: name, Type: d.typ})
	d.used[number] = r
	return r
}

// variableNamed finds a variable, innermost scope first, then parameters, then the module.
func (p *parser) variableNamed(name string) *Variable {
	for s := p.scope; s != nil; s = s.parent {
		if v := s.variables[name]; v != nil {
			return v
		}
	}
	return p.module0.variables[name]
}

func (s *scope) label(name string) (int, bool) {
	for ; s != nil; s = s.parent {
		if i, ok := s.labels[name]; ok {
			return i, true
		}
	}
	return 0, false
}

// pendingName is a name that was not known when it was read: a label further on, or a function.
type pendingName struct {
	instruction int
	operand     int
	element     int // in a list, -1 where the operand itself is meant
	scope       *scope
	at          token
}

// resolve settles the names left over at the end of a function.
func (p *parser) resolve() {
	for _, w := range p.pending {
		in := &p.f.Body[w.instruction]
		o := &in.Operands[w.operand]
		if w.element >= 0 {
			o = &o.Elements[w.element]
		}
		if i, ok := w.scope.label(w.at.text); ok {
			o.Kind, o.Target = OperandLabel, p.f.Labels[i].At
			continue
		}
		if in.Opcode == "call" || in.Opcode == "mov" && p.names[w.at.text] {
			o.Kind = OperandFunction
			continue
		}
		what, hint := "name", ""
		switch {
		case in.Opcode == "bra":
			what = "label"
		case strings.HasPrefix(w.at.text, "%"):
			what, hint = "register", "declare it with .reg"
		}
		e := p.m.ErrorAt(in, "unknown "+what+" "+w.at.text, hint)
		e.Line, e.Col, e.Source = w.at.line, w.at.col, p.m.SourceLine(w.at.line)
		panic(e)
	}
	p.pending = p.pending[:0]
}
