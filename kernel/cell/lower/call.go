package lower

import (
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// listed marks an argument that is a list of variadic elements already.
const listed = " /*…*/"

// arguments are the operands of a call.
func (fn *function) arguments(c *ssa.CallCommon) []string {
	var as []string
	for _, a := range c.Args {
		es, ok := fn.plan.elements[a]
		if !ok {
			as = append(as, strip(fn.value(a)))
			continue
		}
		var l []string
		for _, e := range es {
			l = append(l, strip(fn.value(e)))
		}
		as = append(as, strings.Join(l, ", ")+listed)
	}
	return as
}

// spread writes the last argument of a variadic call: as it is listed, or as a slice.
func spread(sig *types.Signature, as []string) []string {
	as = append([]string{}, as...)
	if sig.Variadic() && len(as) > 0 {
		last := &as[len(as)-1]
		if l, ok := strings.CutSuffix(*last, listed); ok {
			*last = l
		} else {
			*last += "..."
		}
	}
	return as
}

func joined(sig *types.Signature, as []string) string { return strings.Join(spread(sig, as), ", ") }

// callText is the text of a call whose function and operands are given as text; receiver is the function value or the receiver
// of an interface's method.
func (w *writer) callText(c *ssa.CallCommon, receiver string, as []string) string {
	sig := c.Signature()
	if c.IsInvoke() {
		if w.erased(c.Value.Type()) != "interface{}" {
			as = w.crossBorder(c.Method, sig, as)
			return receiver + "." + c.Method.Name() + "(" + joined(sig, as) + ")"
		}
		return w.dispatcher(c.Method) + "(" + strings.Join(append([]string{receiver}, spread(sig, as)...), ", ") + ")"
	}
	f, ok := c.Value.(*ssa.Function)
	if !ok {
		return receiver + "(" + joined(sig, as) + ")"
	}
	if isFunctionOf(f, "slices", "overlaps") {
		return "rt.Overlaps(" + joined(f.Signature, as) + ")"
	}
	if external(f) {
		return w.externalCall(f, as)
	}
	return w.functionName(f) + "(" + joined(f.Signature, as) + ")"
}

// isFunctionOf reports an instance of a generic function of a package.
func isFunctionOf(f *ssa.Function, pkg, name string) bool {
	o := f.Origin()
	return o != nil && o.Object() != nil && o.Object().Pkg() != nil && o.Object().Pkg().Path() == pkg && o.Object().Name() == name
}

// call prints a call.
func (fn *function) call(in *ssa.Call) {
	c := &in.Call
	if f, ok := c.Value.(*ssa.Function); ok && f.Synthetic == "package initializer" {
		return
	}
	if b, ok := c.Value.(*ssa.Builtin); ok {
		e := fn.builtin(b, c, fn.arguments(c), in)
		if t, ok := in.Type().(*types.Tuple); ok && t.Len() == 0 || in.Type() == nil {
			if e != "" {
				fn.line("%s", e)
			}
			return
		}
		fn.set(in, e)
		return
	}
	receiver := ""
	if _, ok := c.Value.(*ssa.Function); !ok {
		receiver = fn.recursiveValue(c.Value)
		fn.checkCallee(c, in.Block())
	}
	e := fn.w.callText(c, receiver, fn.arguments(c))
	if fn.noted != "" {
		fn.line("*%s = %d", fn.noted, fn.at())
	}
	fn.assignResults(in, e)
}

// checkCallee panics when a nil function or a method of a nil interface is called.
func (fn *function) checkCallee(c *ssa.CallCommon, b *ssa.BasicBlock) {
	switch v := c.Value.(type) {
	case *ssa.MakeClosure, *ssa.MakeInterface:
	case *ssa.FreeVar:
		if isInterface(v.Type()) {
			fn.checkNil(c.Value, b)
		}
	default:
		fn.checkNil(c.Value, b)
	}
}

// assignResults gives the results of a call their registers.
func (fn *function) assignResults(in *ssa.Call, e string) {
	res := in.Call.Signature().Results()
	switch res.Len() {
	case 0:
		fn.line("%s", e)
		return
	case 1:
		fn.set(in, e)
		return
	}
	names := make([]string, res.Len())
	for i := range names {
		if extracted(in, i) {
			names[i] = fn.variable(in.Name()+"_"+strconv.Itoa(i), fn.w.erased(res.At(i).Type()))
		}
	}
	// into fresh variables: the interpreter's callee writes its results straight into the caller's
	var fresh []string
	for range names {
		fresh = append(fresh, fn.local())
	}
	fn.line("%s := %s", strings.Join(fresh, ", "), e)
	for i, n := range names {
		if n != "" {
			fn.line("%s = %s", n, fresh[i])
		}
	}
}

// thunk is a function of no arguments that makes a call with the operands as they are now, for go and defer.
func (fn *function) thunk(c *ssa.CallCommon, b *ssa.BasicBlock) string {
	w := fn.w
	name := w.name("h")
	var params, pass, as []string
	receiver := ""
	bi, isBuiltin := c.Value.(*ssa.Builtin)
	if _, ok := c.Value.(*ssa.Function); !ok && !isBuiltin {
		receiver = "r"
		t := w.erased(c.Value.Type())
		if w.isRecursive(c.Value.Type()) {
			t = w.underlying(c.Value.Type())
		}
		params, pass = append(params, "r "+t), append(pass, fn.recursiveValue(c.Value))
		if c.IsInvoke() {
			fn.checkCallee(c, b)
		}
	}
	for i, a := range c.Args {
		n := "a" + strconv.Itoa(i)
		v := fn.value(a)
		params, pass, as = append(params, n+" "+w.erased(a.Type())), append(pass, v), append(as, n)
	}
	before := len(fn.out)
	e := ""
	if isBuiltin {
		e = fn.builtinThunk(bi, c, as)
	} else {
		if receiver == "r" && !c.IsInvoke() {
			fn.line("if r == nil { rt.PanicNil(%d) }", fn.at())
		}
		e = w.callText(c, receiver, as)
	}
	// statements that the call needs run inside the thunk
	inside := fn.out[before:]
	fn.out = fn.out[:before:before]
	text := ""
	for _, l := range inside {
		text += l.text + "; "
	}
	w.body = append(w.body, line{"func " + name + "(" + strings.Join(params, ", ") + ") func() { return func() { " + text + e + " } }", fn.pos})
	return name + "(" + strings.Join(pass, ", ") + ")"
}

// builtinThunk is the call of a builtin inside a thunk.
func (fn *function) builtinThunk(b *ssa.Builtin, c *ssa.CallCommon, as []string) string {
	switch b.Name() {
	case "print", "println":
		var bs []string
		for i, a := range as {
			bs = append(bs, builtinOperand(c.Args[i], a))
		}
		return printBuiltin(b) + "(" + strings.Join(bs, ", ") + ")"
	case "delete":
		return "delete(" + as[0] + ", " + as[1] + ")"
	case "close", "panic", "clear", "copy":
		return fn.builtin(b, c, as, nil)
	case "recover":
		fn.w.refuse("recover called by defer itself", "whether it recovers depends on how the function ends", "call it in a deferred function literal: defer func() { recover() }()")
	}
	fn.w.refuse("the builtin "+b.Name()+" called by defer or go itself", "its operands would be evaluated too late", "wrap it in a function literal")
	return ""
}
