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
		p.advance()
		o = p.simple(instruction, index, element)
		o.Not = !o.Not
		if o.Kind != OperandRegister {
			p.fail(t, "! stands only before a predicate")
		}
	case t.kind == tokenPunct && (t.text == "-" || t.text == "+") || t.kind == tokenNumber:
		if t.text == "-" && p.code == "vmad" {
			p.advance()
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
	if t.text == "WARP_SZ" {
		o.Kind, o.Bits = OperandImmediate, 32
		return
	}
	if v := p.variableNamed(t.text); v != nil {
		o.Kind, o.Variable = OperandSymbol, v
		o.Offset = p.offset()
		return
	}
	o.Kind = OperandLabel
	p.pending = append(p.pending, pendingName{instruction: instruction, operand: index, element: element, scope: p.scope, at: t})
}

// isSelection reports whether a name's part selects bytes or halves of a register: b or h and one to four digits.
func isSelection(part string) bool {
	if len(part) < 2 || len(part) > 5 || part[0] != 'b' && part[0] != 'h' {
		return false
	}
	return allDigits(part[1:])
}

// offset reads any number of `+ 4`, `+-4` or `- 4`.
func (p *parser) offset() int64 {
	var sum int64
	for p.is("+") || p.is("-") {
		negative := p.advance().text == "-"
		o := p.immediate(p.tok)
		if o.Float != NotFloat {
			p.fail(p.last, "an offset must be an integer")
		}
		if negative {
			sum -= int64(o.Bits)
		} else {
			sum += int64(o.Bits)
		}
	}
	return sum
}

// address reads what follows [ up to ]. Coordinates after a comma (tensor copies) go into Elements.
func (p *parser) address(o *Operand, instruction, index int) {
	o.Kind, o.Name = OperandAddress, ""
	t := p.tok
	switch {
	case t.kind == tokenNumber || t.kind == tokenPunct && t.text == "-":
		base := p.immediate(t)
		if base.Float != NotFloat {
			p.fail(t, "an address must be an integer")
		}
		o.Offset = int64(base.Bits)
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

// immediate reads an integer or a floating-point number with its signs, t being its first token.
func (p *parser) immediate(t token) Operand {
	o := Operand{Kind: OperandImmediate, Line: t.line, Col: t.col, Register: -1}
	negative := false
	for p.is("-") || p.is("+") {
		negative = negative != (p.advance().text == "-")
	}
	n := p.tok
	if n.kind != tokenNumber {
		p.fail(n, "expected a number, found %s", n.shown())
	}
	p.advance()
	o.Name = n.text
	s := n.text
	var err error
	switch {
	case len(s) > 2 && (s[1] == 'f' || s[1] == 'F'):
		o.Float = Float32
		o.Bits, err = strconv.ParseUint(s[2:], 16, 32)
		if len(s) != 10 {
			p.failHint(n, "write eight hexadecimal digits after 0f", "bad number %s", n.shown())
		}
		if negative {
			o.Bits ^= 1 << 31
		}
	case len(s) > 2 && (s[1] == 'd' || s[1] == 'D'):
		o.Float = Float64
		o.Bits, err = strconv.ParseUint(s[2:], 16, 64)
		if len(s) != 18 {
			p.failHint(n, "write sixteen hexadecimal digits after 0d", "bad number %s", n.shown())
		}
		if negative {
			o.Bits ^= 1 << 63
		}
	case strings.ContainsAny(s, ".eE") && !strings.HasPrefix(s, "0x") && !strings.HasPrefix(s, "0X"):
		var f float64
		f, err = strconv.ParseFloat(s, 64)
		if negative {
			f = -f
		}
		o.Float, o.Bits = Float64, math.Float64bits(f)
	default:
		o.Bits, err = strconv.ParseUint(integerText(s), 0, 64)
		if negative {
			o.Bits = -o.Bits
		}
	}
	if err != nil {
		p.fail(n, "bad number %s", n.shown())
	}
	return o
}
