package lower

import (
	"go/constant"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/ssa"
)

// binary prints a BinOp.
func (fn *function) binary(in *ssa.BinOp) {
	x, y := fn.value(in.X), fn.value(in.Y)
	op := in.Op.String()
	switch in.Op {
	case token.EQL, token.NEQ:
		if fn.equality(in, x, y) {
			return
		}
	case token.SHL, token.SHR:
		y = fn.shiftCount(in.Y, y)
	case token.QUO, token.REM:
		fn.checkDivisor(in.Y, y)
	}
	cx, isConstX := in.X.(*ssa.Const)
	cy, isConstY := in.Y.(*ssa.Const)
	if isConstX && (isConstY || in.Op == token.SHL || in.Op == token.SHR) {
		x = fn.constantIn(cx, x)
	}
	if isConstY && (in.Op == token.QUO || in.Op == token.REM) && (isConstX || isInteger(cy.Type()) && constant.Sign(cy.Value) == 0) {
		y = fn.constantIn(cy, y)
	}
	if n := opposite(in.Op); n != "" && (!isFloat(in.X.Type()) || in.Op == token.EQL || in.Op == token.NEQ) {
		fn.negated[in] = x + " " + n + " " + y
	}
	fn.set(in, x+" "+op+" "+y)
}

// constantIn keeps a constant in a variable, so that the interpreter does not fold it.
func (fn *function) constantIn(c *ssa.Const, e string) string {
	x, t := fn.local(), fn.w.erased(c.Type())
	fn.line("var %s %s = %s", x, t, e)
	return x
}

// equality prints comparisons with nil and of what the run time compares; it reports false for all others.
func (fn *function) equality(in *ssa.BinOp, x, y string) bool {
	op := in.Op.String()
	cx, okx := in.X.(*ssa.Const)
	cy, oky := in.Y.(*ssa.Const)
	nilX, nilY := okx && cx.IsNil(), oky && cy.IsNil()
	switch {
	case nilX && nilY:
		fn.set(in, strconv.FormatBool(in.Op == token.EQL))
	case nilX || nilY:
		if nilX {
			x = y
		}
		fn.negated[in] = x + " " + opposite(in.Op) + " nil"
		fn.set(in, x+" "+op+" nil")
	case isInterface(in.X.Type()) || isComposite(in.X.Type()) || isInterface(in.Y.Type()):
		e := fn.local()
		fn.line("var %s bool = rt.Equal(%s, %s, %d)", e, strip(x), strip(y), fn.at())
		if in.Op == token.NEQ {
			e = "!" + e
		}
		fn.set(in, e)
	default:
		return false
	}
	return true
}

// shiftCount is a shift's count, unsigned; a negative one panics.
func (fn *function) shiftCount(v ssa.Value, y string) string {
	if c, ok := v.(*ssa.Const); ok {
		if constant.Sign(c.Value) < 0 {
			fn.line("rt.PanicShift(%d)", fn.at())
			return "0"
		}
		return y
	}
	if !hasInfo(v.Type(), types.IsUnsigned) && !nonNegative(v, nil) {
		fn.line("if %s < 0 { rt.PanicShift(%d) }", y, fn.at())
	}
	return "uint64(" + y + ")"
}

// checkDivisor panics when an integer is divided by zero.
func (fn *function) checkDivisor(v ssa.Value, y string) {
	if !isInteger(v.Type()) {
		return
	}
	if c, ok := v.(*ssa.Const); ok {
		if constant.Sign(c.Value) == 0 {
			fn.line("rt.PanicDivide(%d)", fn.at())
		}
		return
	}
	fn.line("if %s == 0 { rt.PanicDivide(%d) }", y, fn.at())
}

// opposite is the comparison that is true when op is false, "" for other operators.
func opposite(op token.Token) string {
	switch op {
	case token.EQL:
		return "!="
	case token.NEQ:
		return "=="
	case token.LSS:
		return ">="
	case token.LEQ:
		return ">"
	case token.GTR:
		return "<="
	case token.GEQ:
		return "<"
	}
	return ""
}

// convert is the conversion of v to a type with another underlying type.
func (fn *function) convert(v ssa.Value, to types.Type) string {
	w := fn.w
	x := fn.value(v)
	from := v.Type()
	t := w.erased(to)
	switch {
	case isString(to) && isInteger(from):
		if hasInfo(from, types.IsUnsigned) && !typeFits(from, 1<<62) {
			k := fn.local()
			fn.line("var %s uint64 = uint64(%s)", k, x)
			fn.line("if %s > 1114111 { %s = 1114112 }", k, k)
			x = k
		}
		return t + "(rt.RuneString(int64(" + x + ")))"
	case isString(to) && elemKind(from) == types.Byte:
		return t + "(rt.BytesString(" + fn.recursiveValue(v) + "))"
	case isString(to) && elemKind(from) == types.Rune:
		return t + "(rt.RunesString(" + fn.recursiveValue(v) + "))"
	case isString(from) && elemKind(to) == types.Byte:
		return "rt.StringBytes(string(" + x + "))"
	case isString(from) && elemKind(to) == types.Rune:
		return "rt.StringRunes(string(" + x + "))"
	case isNumeric(from) && isNumeric(to), isString(from) && isString(to):
		if c, ok := v.(*ssa.Const); ok {
			x = fn.constantIn(c, x)
		}
		return t + "(" + x + ")"
	}
	w.refuse("the conversion from "+from.String()+" to "+to.String(), "the interpreter cannot make it", "convert in steps, or use package encoding/binary or math")
	return ""
}
