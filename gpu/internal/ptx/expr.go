package ptx

import (
	"math/bits"
	"strconv"
	"strings"
)

// number is the value of a constant expression: 64 bits, signed or not (PTX ISA 4.5.7).
type number struct {
	bits     uint64
	unsigned bool
}

// operators by precedence, loosest first (PTX ISA 4.5.5, table "Operator Precedence"); ?: is looser than all.
var operators = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7, "<<": 8, ">>": 8,
	"+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}

const (
	precedenceAny  = 0
	precedenceTerm = 10 // * / % and tighter: what stands between + and − of an offset
)

// operator gives the binary operator that begins at the next token, "" where there is none.
func (p *parser) operator() string {
	t := p.tok
	if t.kind != tokenPunct {
		return ""
	}
	if p.x.pos < len(p.x.text) {
		if two := t.text + p.x.text[p.x.pos:p.x.pos+1]; operators[two] > 0 {
			return two
		}
	}
	if operators[t.text] > 0 {
		return t.text
	}
	return ""
}

// constant reads an integer expression whose operators bind at least as tight as the precedence given.
func (p *parser) constant(least, depth int) number {
	if depth > maxScopes {
		p.fail(p.tok, "an expression is nested deeper than %d", maxScopes)
	}
	a := p.unary(depth)
	for {
		op := p.operator()
		if op == "" || operators[op] < max(least, 1) {
			break
		}
		at := p.tok
		for range op {
			p.advance()
		}
		a = p.combine(at, op, a, p.constant(operators[op]+1, depth+1))
	}
	if least == precedenceAny && p.is("?") {
		p.advance()
		yes := p.constant(precedenceAny, depth+1)
		p.expect(":", "between the values of ?")
		no := p.constant(precedenceAny, depth+1)
		if a.bits == 0 {
			yes.bits = no.bits
		}
		yes.unsigned = yes.unsigned || no.unsigned
		return yes
	}
	return a
}

func (p *parser) unary(depth int) number {
	if depth > maxScopes {
		p.fail(p.tok, "an expression is nested deeper than %d", maxScopes)
	}
	t := p.tok
	switch {
	case p.accept("-"):
		a := p.unary(depth + 1)
		a.bits = -a.bits
		return a
	case p.accept("+"):
		return p.unary(depth + 1)
	case p.accept("~"):
		a := p.unary(depth + 1)
		a.bits = ^a.bits
		return a
	case p.accept("!"):
		return number{bits: truth(p.unary(depth+1).bits == 0)}
	case p.accept("("):
		if p.is(".s64") || p.is(".u64") {
			unsigned := p.advance().text == ".u64"
			p.expect(")", "after a cast")
			a := p.unary(depth + 1)
			a.unsigned = unsigned
			return a
		}
		a := p.constant(precedenceAny, depth+1)
		p.expect(")", "after an expression")
		return a
	case p.accept("WARP_SZ"):
		return number{bits: 32}
	case t.kind != tokenNumber:
		p.fail(t, "expected a number, found %s", t.shown())
	}
	p.advance()
	if isFloatLiteral(t.text) {
		p.failHint(t, "write its value", "the floating-point number %s cannot stand in an expression", t.text)
	}
	return p.literal(t)
}

// literal is the value of an integer literal: decimal, 0x…, 0b…, or octal with a leading 0; a U makes it unsigned.
func (p *parser) literal(t token) number {
	text := integerText(t.text)
	n, err := strconv.ParseUint(text, 0, 64)
	if err == nil {
		return number{bits: n, unsigned: text != t.text || n>>63 != 0}
	}
	switch hint := "write it in decimal, with 0x in hexadecimal, 0b in binary or a leading 0 in octal"; {
	case strings.Contains(err.Error(), "range"):
		p.failHint(t, "an integer has 64 bits at most", "bad number %s: it is too large", t.shown())
	default:
		p.failHint(t, hint, "bad number %s", t.shown())
	}
	return number{}
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// combine is a op b; it is unsigned where one of them is (PTX ISA 4.5.6).
func (p *parser) combine(at token, op string, a, b number) number {
	u := a.unsigned || b.unsigned
	x, y := a.bits, b.bits
	less := int64(x) < int64(y)
	if u {
		less = x < y
	}
	n := number{unsigned: u}
	switch op {
	case "+":
		n.bits = x + y
	case "-":
		n.bits = x - y
	case "*":
		_, n.bits = bits.Mul64(x, y)
	case "/", "%":
		switch {
		case y == 0:
			p.fail(at, "division by zero in a constant expression")
		case u && op == "/":
			n.bits = x / y
		case u:
			n.bits = x % y
		case op == "/":
			n.bits = uint64(int64(x) / int64(y))
		default:
			n.bits = uint64(int64(x) % int64(y))
		}
	case "<<":
		n = number{bits: x << min(y, 64), unsigned: a.unsigned}
	case ">>":
		n = number{bits: uint64(int64(x) >> min(y, 64)), unsigned: a.unsigned}
		if a.unsigned {
			n.bits = x >> min(y, 64)
		}
	case "&":
		n.bits = x & y
	case "|":
		n.bits = x | y
	case "^":
		n.bits = x ^ y
	default:
		n.unsigned = false
		switch op {
		case "<":
			n.bits = truth(less)
		case ">":
			n.bits = truth(!less && x != y)
		case "<=":
			n.bits = truth(less || x == y)
		case ">=":
			n.bits = truth(!less)
		case "==":
			n.bits = truth(x == y)
		case "!=":
			n.bits = truth(x != y)
		case "&&":
			n.bits = truth(x != 0 && y != 0)
		case "||":
			n.bits = truth(x != 0 || y != 0)
		}
	}
	return n
}

// isFloatLiteral tells 0f3F800000, 0d…, 1.5 and 2e8 from integers.
func isFloatLiteral(s string) bool {
	if len(s) > 1 && s[0] == '0' {
		switch s[1] {
		case 'f', 'F', 'd', 'D':
			return true
		case 'x', 'X', 'b', 'B':
			return false
		}
	}
	return strings.ContainsAny(s, ".eE")
}
