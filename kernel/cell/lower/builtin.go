package lower

import (
	"strings"

	"golang.org/x/tools/go/ssa"
)

func printBuiltin(b *ssa.Builtin) string {
	if b.Name() == "println" {
		return "rt.PrintlnBuiltin"
	}
	return "rt.PrintBuiltin"
}

// builtinOperand is an operand of print or println: of an interface they print the words.
func builtinOperand(v ssa.Value, text string) string {
	if isInterface(v.Type()) {
		return "rt.Words(" + text + ")"
	}
	return "rt.Native(" + text + ")"
}

// builtin is the expression of a builtin's call; in is nil when a thunk makes the call.
func (fn *function) builtin(b *ssa.Builtin, c *ssa.CallCommon, as []string, in *ssa.Call) string {
	switch b.Name() {
	case "append":
		return fn.append(c, as)
	case "copy":
		src := as[1]
		if isString(c.Args[1].Type()) {
			src = "rt.StringBytes(string(" + src + "))"
		} else if fn.w.isRecursive(c.Args[1].Type()) {
			src = fn.recursiveValue(c.Args[1])
		}
		dst := as[0]
		if fn.w.isRecursive(c.Args[0].Type()) {
			dst = fn.recursiveValue(c.Args[0])
		}
		return "copy(" + dst + ", " + src + ")"
	case "len", "cap":
		return fn.lengthBuiltin(b, c, as)
	case "delete":
		fn.checkKey(c.Args[1], as[1])
		return "delete(" + fn.recursiveValue(c.Args[0]) + ", " + as[1] + ")"
	case "clear":
		return "rt.Clear(" + as[0] + ")"
	case "close":
		return "rt.Close(" + as[0] + ", " + itoa(int64(fn.at())) + ")"
	case "min", "max":
		return fn.extreme(b.Name(), as, in)
	case "complex":
		return fn.w.erased(in.Type()) + "(complex(" + as[0] + ", " + as[1] + "))"
	case "real", "imag":
		return fn.w.erased(in.Type()) + "(" + b.Name() + "(" + as[0] + "))"
	case "print", "println":
		var bs []string
		for i, a := range as {
			if k, ok := c.Args[i].(*ssa.Const); ok {
				a = fn.typedConstant(k)
			}
			bs = append(bs, builtinOperand(c.Args[i], a))
		}
		return printBuiltin(b) + "(" + strings.Join(bs, ", ") + ")"
	case "recover":
		return "rk.Recover()"
	case "panic":
		return "rt.Panic(" + as[0] + ", " + itoa(int64(fn.at())) + ")"
	case "ssa:wrapnilchk":
		fn.line("if %s == nil { rt.PanicWrap(%s, %s, %d) }", as[0], as[1], as[2], fn.at())
		return as[0]
	case "ssa:deferstack":
		return "d"
	}
	fn.w.refuse("the builtin "+b.Name(), "it needs package unsafe or is not known", "write it in another way")
	return ""
}

func (fn *function) append(c *ssa.CallCommon, as []string) string {
	if l, ok := strings.CutSuffix(as[1], listed); ok {
		return fn.opaque(c.Args[0].Type(), "append("+fn.recursiveValue(c.Args[0])+", "+l+")")
	}
	if isString(c.Args[1].Type()) {
		as[1] = "rt.StringBytes(string(" + as[1] + "))"
	}
	if fn.w.isRecursive(c.Args[0].Type()) || fn.w.isRecursive(c.Args[1].Type()) {
		as[0], as[1] = fn.recursiveValue(c.Args[0]), fn.recursiveValue(c.Args[1])
	}
	return fn.opaque(c.Args[0].Type(), "append("+as[0]+", "+as[1]+"...)")
}

func (fn *function) lengthBuiltin(b *ssa.Builtin, c *ssa.CallCommon, as []string) string {
	x := c.Args[0]
	if n, ok := arrayLen(x.Type()); ok {
		return itoa(n)
	}
	if k, ok := x.(*ssa.Const); ok && !k.IsNil() {
		v := fn.local()
		fn.line("var %s string = %s", v, as[0])
		return "len(" + v + ")"
	}
	if fn.w.isRecursive(x.Type()) {
		as[0] = fn.recursiveValue(x)
	}
	if n, ok := fn.checks.lengths[x]; ok && b.Name() == "len" {
		return n
	}
	return b.Name() + "(" + as[0] + ")"
}

// extreme is min or max, which the interpreter does not know.
func (fn *function) extreme(name string, as []string, in *ssa.Call) string {
	t := fn.w.erased(in.Type())
	acc := fn.local()
	fn.line("var %s %s = %s", acc, t, as[0])
	compiled, op := "rt.MinFloat", "<"
	if name == "max" {
		compiled, op = "rt.MaxFloat", ">"
	}
	for _, a := range as[1:] {
		x := fn.local()
		fn.line("var %s %s = %s", x, t, a)
		if isFloat(in.Type()) {
			fn.line("%s = %s(%s(float64(%s), float64(%s)))", acc, t, compiled, acc, x)
			continue
		}
		fn.line("if %s %s %s { %s = %s }", x, op, acc, acc, x)
	}
	return acc
}
