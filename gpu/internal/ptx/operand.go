package ptx

import (
	"math"
	"strconv"
	"strings"
)

// operand reads one operand of the instruction that will stand at index instruction, with its second destination.
func (p *parser) operand(instruction, index int) Operand {
	o := p.simple(instruction, index, -1)
	if p.accept("|") {
		second := p.simple(instruction, index, -1)
		o.Pair = &second
	}
	return o
}

func (p *parser) simple(instruction, index, element int) Operand {
	t := p.tok
	o := Operand{Line: t.line, Col: t.col, Name: t.text, Register: -1}
	switch {
	case t.text == "(" && t.kind == tokenPunct && p.code != "call":
		o = p.immediate(t)
	case t.kind == tokenPunct && (t.text == "{" || t.text == "("):
		if element >= 0 {
			p.fail(t, "a vector cannot stand inside a vector")
		}
		p.advance()
		o.Kind, o.Elements = OperandVector, p.elements(t, instruction, index)
		if t.text == "(" {
			o.Kind = OperandList
		}
		o.Name = ""
	case t.kind == tokenPunct && t.text == "[":
		p.advance()
		p.address(&o, instruction, index)
	case t.kind == tokenPunct && t.text == "!":
		if n, _ := p.behindSigns(); n.kind == tokenNumber || n.text == "(" {
			o = p.immediate(t)
			break
		}
		p.advance()
		if p.tok.kind != tokenName {
			p.failHint(t, "write !p, with p a predicate or a number", "! stands only before a predicate")
		}
		o = p.simple(instruction, index, element)
		o.Not = true
		if o.Kind != OperandRegister && o.Kind != OperandSpecial {
			p.fail(t, "! stands only before a predicate")
		}
	case t.kind == tokenPunct && (t.text == "-" || t.text == "+" || t.text == "~") || t.kind == tokenNumber || t.text == "WARP_SZ":
		if t.text == "-" && p.code == "vmad" {
			p.advance()
			if p.tok.kind == tokenPunct {
				p.fail(p.tok, "expected a number or a register, found %s", p.tok.shown())
			}
			if o = p.simple(instruction, index, element); o.Kind != OperandRegister {
				p.fail(t, "- stands only before a number or a factor of vmad")
			}
			o.Negative = true
			break
		}
		o = p.immediate(t)
	case t.kind == tokenName && t.text[0] != '.':
		p.advance()
		p.named(&o, t, instruction, index, element)
	default:
		p.fail(t, "expected an operand, found %s", t.shown())
	}
	return o
}

func (p *parser) elements(open token, instruction, index int) []Operand {
	closing := "}"
	if open.text == "(" {
		closing = ")"
	}
	var list []Operand
	for !p.accept(closing) {
		if len(list) >= maxVector {
			p.fail(p.tok, "more than %d elements in a vector", maxVector)
		}
		list = append(list, p.simple(instruction, index, len(list)))
		if !p.accept(",") {
			p.expect(closing, "after the elements")
			break
		}
	}
	return list
}

// named settles a name: register, special register, variable, sink, or one to be resolved at the function's end.
func (p *parser) named(o *Operand, t token, instruction, index, element int) {
	if t.text == "_" {
		o.Kind = OperandSink
		return
	}
	if r, ok := p.register(t.text); ok {
		o.Kind, o.Register = OperandRegister, r
		return
	}
	if list := p.vector(t); list != nil {
		if element >= 0 {
			p.fail(t, "a vector cannot stand inside a vector")
		}
		o.Kind, o.Elements = OperandVector, list
		return
	}
	if name, part, ok := strings.Cut(t.text, "."); ok && isSelection(part) {
		if r, ok := p.register(name); ok {
			o.Kind, o.Register, o.Select = OperandRegister, r, part
			return
		}
	}
	if s, ok := specials[t.text]; ok {
		o.Kind, o.Special = OperandSpecial, s
		return
	}
	if n, ok := strings.CutPrefix(t.text, "%envreg"); ok && allDigits(n) {
		o.Kind, o.Special = OperandSpecial, EnvReg
		if n == "1" {
			o.Special = EnvReg1
		} else if n == "2" {
			o.Special = EnvReg2
		}
		return
	}
	if v := p.variableNamed(t.text); v != nil {
		o.Kind, o.Variable = OperandSymbol, v
		if p.is("[") {
			p.subscript(o)
			return
		}
		o.Offset = p.offset()
		return
	}
	o.Kind = OperandLabel
	p.pending = append(p.pending, pendingName{instruction: instruction, operand: index, element: element, scope: p.scope, at: t})
}

// subscript reads [n] after the name of an array: the address of its element, which a load or store may have without further
// brackets (PTX ISA 6.4.2).
func (p *parser) subscript(o *Operand) {
	t := p.advance()
	n := p.immediate(p.tok)
	if n.Float != NotFloat {
		p.fail(t, "the number of an element must be an integer")
	}
	p.expect("]", "after the number of an element")
	o.Offset = int64(n.Bits) * int64(max(TypeSize(o.Variable.Type), 1))
	if p.code == "ld" || p.code == "st" || p.code == "ldu" || p.code == "atom" || p.code == "red" {
		o.Kind = OperandAddress
	}
}

// isSelection reports whether a name's part selects bytes or halves of a register: b or h and one to four digits.
func isSelection(part string) bool {
	if len(part) < 2 || len(part) > 5 || part[0] != 'b' && part[0] != 'h' {
		return false
	}
	return allDigits(part[1:])
}

// offset reads any number of `+ 4`, `+-4`, `- 4` or `+ 4*2`.
func (p *parser) offset() int64 {
	var sum int64
	for p.is("+") || p.is("-") {
		negative := p.advance().text == "-"
		if p.tok.kind == tokenNumber && isFloatLiteral(p.tok.text) {
			p.fail(p.tok, "an offset must be an integer")
		}
		n := int64(p.constant(precedenceTerm, 0).bits)
		if negative {
			n = -n
		}
		sum += n
	}
	return sum
}

// address reads what follows [ up to ]. Coordinates after a comma (tensor copies) go into Elements.
func (p *parser) address(o *Operand, instruction, index int) {
	o.Kind, o.Name = OperandAddress, ""
	t := p.tok
	switch {
	case t.kind == tokenNumber && isFloatLiteral(t.text):
		p.fail(t, "an address must be an integer")
	case t.kind == tokenNumber || t.kind == tokenPunct && (t.text == "-" || t.text == "("):
		o.Offset = int64(p.constant(precedenceAny, 0).bits)
	case t.kind == tokenName && t.text[0] != '.':
		p.advance()
		o.Name = t.text
		if r, ok := p.register(t.text); ok {
			o.Register = r
		} else if v := p.variableNamed(t.text); v != nil {
			o.Variable = v
		} else {
			what := "name"
			if strings.HasPrefix(t.text, "%") {
				what = "register"
			}
			p.failHint(t, "declare it first", "unknown %s %s in an address", what, t.text)
		}
	default:
		p.fail(t, "expected a register, a variable or a number in an address, found %s", t.shown())
	}
	o.Offset += p.offset()
	for p.accept(",") {
		if len(o.Elements) >= maxElements {
			p.fail(p.tok, "more than %d coordinates in an address", maxElements)
		}
		e := p.simple(instruction, index, -1) // a vector of coordinates is one
		if e.Kind == OperandLabel {
			p.fail(p.last, "unknown name %s in an address", p.last.text)
		}
		o.Elements = append(o.Elements, e)
	}
	p.expect("]", "after an address")
}

// immediate reads a floating-point number with its signs, or an integer expression, t being its first token.
func (p *parser) immediate(t token) Operand {
	o := Operand{Kind: OperandImmediate, Line: t.line, Col: t.col, Register: -1}
	n, signs := p.behindSigns()
	if n.kind != tokenNumber || !isFloatLiteral(n.text) {
		o.Bits = p.constant(precedenceAny, 0).bits
		o.Name = strings.TrimSpace(p.m.Text[t.at:p.tok.at])
		return o
	}
	negative := false
	for range signs {
		negative = negative != (p.advance().text == "-")
	}
	p.advance()
	o.Name = n.text
	s := n.text
	var err error
	switch s[min(1, len(s)-1)] | 0x20 {
	case 'f':
		o.Float = Float32
		if len(s) != 10 {
			p.failHint(n, "write eight hexadecimal digits after 0f", "bad number %s", n.shown())
		}
		o.Bits, err = strconv.ParseUint(s[2:], 16, 32)
		if negative {
			o.Bits ^= 1 << 31
		}
	case 'd':
		o.Float = Float64
		if len(s) != 18 {
			p.failHint(n, "write sixteen hexadecimal digits after 0d", "bad number %s", n.shown())
		}
		o.Bits, err = strconv.ParseUint(s[2:], 16, 64)
		if negative {
			o.Bits ^= 1 << 63
		}
	default:
		var f float64
		f, err = strconv.ParseFloat(s, 64)
		if negative {
			f = -f
		}
		o.Float, o.Bits = Float64, math.Float64bits(f)
	}
	if err != nil {
		p.failHint(n, "write it as 0f or 0d and hexadecimal digits, or in decimal within the range of f64", "bad number %s", n.shown())
	}
	if op := p.operator(); op != "" && op != "|" {
		p.failHint(p.tok, "write its value", "the floating-point number %s cannot stand in an expression", n.text)
	}
	return o
}

// behindSigns looks past + and − at the token that follows them.
func (p *parser) behindSigns() (token, int) {
	look, t, n := p.x, p.tok, 0
	for t.kind == tokenPunct && (t.text == "-" || t.text == "+" || t.text == "!" && n == 0) {
		n++
		t, _ = look.next()
	}
	return t, n
}
