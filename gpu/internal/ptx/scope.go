package ptx

import (
	"fmt"
	"strings"
)

// scope holds the names of one { } of a function.
type scope struct {
	parent    *scope
	registers map[string]*declared // exact names
	ranges    map[string]*declared // %r<5>: prefix %r
	variables map[string]*Variable
	labels    map[string]int // index into Function.Labels
	tables    map[string]int // of .branchtargets and .calltargets: index into Function.Tables
}

// declared is a .reg declaration: one name, or a range of count names with a common prefix. A vector register has parts.
type declared struct {
	typ   string
	count int
	parts int           // 1, or 2 or 4 of a vector register
	used  map[int]int32 // number in the range, times parts, plus the part → index in Function.Registers
}

func newScope(parent *scope) *scope {
	return &scope{parent: parent, registers: map[string]*declared{}, ranges: map[string]*declared{}, variables: map[string]*Variable{}, labels: map[string]int{}, tables: map[string]int{}}
}

// register finds a register by name, innermost scope first, and gives its index in f.Registers. Parts of a vector register
// are v.x, v.y, v.z and v.w, or v.r, v.g, v.b and v.a (PTX ISA 6.4.3).
func (p *parser) register(name string) (int32, bool) {
	if d, number := p.declared(name); d != nil && d.parts == 1 {
		return p.use(d, number, name), true
	}
	if n := len(name) - 2; n > 0 && name[n] == '.' {
		if part := strings.IndexByte("xyzwrgba", name[n+1]) & 3; strings.IndexByte("xyzwrgba", name[n+1]) >= 0 {
			if d, number := p.declared(name[:n]); d != nil && part < d.parts && d.parts > 1 {
				return p.use(d, number*d.parts+part, name[:n]+"."+"xyzw"[part:part+1]), true
			}
		}
	}
	return 0, false
}

// vector gives the parts of a vector register as operands, nil where the name is none.
func (p *parser) vector(t token) []Operand {
	d, number := p.declared(t.text)
	if d == nil || d.parts == 1 {
		return nil
	}
	list := make([]Operand, d.parts)
	for i := range list {
		name := t.text + "." + "xyzw"[i:i+1]
		list[i] = Operand{Kind: OperandRegister, Register: p.use(d, number*d.parts+i, name), Name: name, Line: t.line, Col: t.col}
	}
	return list
}

// declared finds the declaration of a name and its number in the range, innermost scope first.
func (p *parser) declared(name string) (*declared, int) {
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
			return d, 0
		}
		if d := s.ranges[prefix]; ok && d != nil && number < d.count {
			return d, number
		}
		// A range may end in digits itself: .reg .b32 %r1_<3> or %x2<4>.
		for cut := max(len(prefix)+1, len(name)-8); cut < len(name); cut++ {
			d := s.ranges[name[:cut]]
			if d == nil {
				continue
			}
			n, digits := 0, name[cut:]
			if digits != "0" && digits[0] == '0' {
				continue
			}
			for i := 0; i < len(digits); i++ {
				n = n*10 + int(digits[i]-'0')
			}
			if n < d.count {
				return d, n
			}
		}
	}
	return nil, 0
}

func (p *parser) use(d *declared, number int, name string) int32 {
	if r, ok := d.used[number]; ok {
		return r
	}
	if len(p.f.Registers) >= maxRegisters {
		p.failHint(p.last, "split the function, or keep arrays in .local or .shared memory", "function %s uses more than %d registers", p.f.Name, maxRegisters)
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

// taken says what a name of the scope stands for already, or is empty: a name has one meaning in a scope.
func (s *scope) taken(name string) string {
	switch {
	case s.registers[name] != nil:
		return "a register"
	case s.variables[name] != nil:
		return fmt.Sprintf("a variable, on line %d", s.variables[name].Line)
	}
	if _, ok := s.labels[name]; ok {
		return "a label"
	}
	return ""
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
		if i, ok := w.scope.table(w.at.text); ok {
			o.Kind, o.Target = OperandTable, i
			continue
		}
		if in.Opcode == "call" || in.Opcode == "mov" && p.names[w.at.text] {
			o.Kind = OperandFunction
			continue
		}
		what, hint := "name", "declare it: a register with .reg, a variable with .shared, .local, .global or .const"
		switch {
		case in.Opcode == "bra":
			what, hint = "label", p.nearLabel(w)
		case strings.HasPrefix(w.at.text, "%"):
			what, hint = "register", "declare it with .reg"
		}
		e := p.m.ErrorAt(in, "unknown "+what+" "+w.at.text, hint)
		e.Line, e.Col, e.Source = w.at.line, w.at.col, p.m.SourceLine(w.at.line)
		panic(e)
	}
	p.pending = p.pending[:0]
	for _, t := range p.tables {
		p.resolveTable(t)
	}
	p.tables = p.tables[:0]
}

// nearLabel is the advice for a label that cannot be found from where it is named.
func (p *parser) nearLabel(w pendingName) string {
	for _, l := range p.f.Labels {
		if l.Name == w.at.text {
			return fmt.Sprintf("the label on line %d stands in an inner scope: move it out of its { }", l.Line)
		}
	}
	return "write " + w.at.text + ": before the instruction to jump to"
}

// pendingTable is a list of labels whose places are not known yet.
type pendingTable struct {
	index int // in Function.Tables
	scope *scope
	names []token
}

func (p *parser) resolveTable(t pendingTable) {
	table := &p.f.Tables[t.index]
	for _, n := range t.names {
		if table.Kind == "calltargets" {
			continue
		}
		i, ok := t.scope.label(n.text)
		if !ok {
			p.failHint(n, "write "+n.text+": before the instruction to jump to", "unknown label %s in .branchtargets", n.text)
		}
		table.Targets = append(table.Targets, p.f.Labels[i].At)
	}
}

func (s *scope) table(name string) (int, bool) {
	for ; s != nil; s = s.parent {
		if i, ok := s.tables[name]; ok {
			return i, true
		}
	}
	return 0, false
}
