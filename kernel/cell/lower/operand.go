package lower

import (
	"go/constant"
	"go/types"
	"math"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// value is the expression of an operand.
func (fn *function) value(v ssa.Value) string {
	switch v := v.(type) {
	case *ssa.Const:
		return fn.constant(v)
	case *ssa.Global:
		return fn.w.globalPointer(v)
	case *ssa.Function:
		x := fn.local()
		fn.line("var %s %s = %s", x, fn.w.erased(v.Type()), fn.w.functionValue(v))
		return x
	case *ssa.Builtin:
		fn.w.refuse("the builtin "+v.Name()+" as a value", "it can only be called", "wrap it in a function literal")
	}
	if e, ok := fn.expr[v]; ok {
		return e
	}
	panic("lower: no register for " + v.Name() + " = " + v.String() + " in " + fn.f.String())
}

// functionValue names a function that is used as a value.
func (w *writer) functionValue(f *ssa.Function) string {
	if !external(f) {
		return w.functionName(f)
	}
	o, ok := f.Object().(*types.Func)
	if f.Signature.Recv() != nil || !ok || o.Pkg() == nil {
		w.refuse("the method "+f.String()+" as a value", "it belongs to a compiled type", "wrap the call in a function literal")
	}
	if len(f.TypeArgs()) > 0 {
		w.refuseGeneric(o)
	}
	if w.crossesBorder(o) {
		return w.borderFunction(f)
	}
	return w.importName(o.Pkg()) + "." + o.Name()
}

// constant is the expression of a constant.
func (fn *function) constant(c *ssa.Const) string {
	w := fn.w
	t := w.erased(c.Type())
	if c.Value == nil {
		return w.zero(t)
	}
	b, ok := c.Type().Underlying().(*types.Basic)
	if !ok {
		w.refuse("a constant of type "+c.Type().String(), "it has no form that the interpreter can evaluate", "use a variable")
	}
	v := c.Value
	var e string
	switch info := b.Info(); {
	case info&types.IsBoolean != 0:
		e = strconv.FormatBool(constant.BoolVal(v))
		if t == "bool" {
			return e
		}
	case info&types.IsString != 0:
		e = strconv.Quote(constant.StringVal(v))
		if t == "string" {
			return e
		}
	case info&types.IsInteger != 0:
		e = constant.ToInt(v).ExactString()
		switch {
		case t == "int" && e == "-9223372036854775808":
			return w.constantVariable(t, "-9223372036854775807 - 1")
		case t == "int" && e[0] == '-':
			return "(" + e + ")"
		case t == "int":
			return e
		case w.compiled(c.Type()) == nil:
			return t + "(" + e + ")"
		}
	case info&types.IsFloat != 0:
		return fn.floatConstant(t, b, v)
	case info&types.IsComplex != 0:
		re, _ := constant.Float64Val(constant.Real(v))
		im, _ := constant.Float64Val(constant.Imag(v))
		return w.constantVariable(t, t+"(complex("+strconv.FormatFloat(re, 'e', -1, 64)+", "+strconv.FormatFloat(im, 'e', -1, 64)+"))")
	default:
		w.refuse("a constant of type "+c.Type().String(), "it has no form that the interpreter can evaluate", "use a variable")
	}
	return w.constantVariable(t, t+"("+e+")")
}

// floatConstant is a float constant, rounded to its type.
func (fn *function) floatConstant(t string, b *types.Basic, v constant.Value) string {
	f, _ := constant.Float64Val(v)
	if b.Kind() == types.Float32 {
		f32, _ := constant.Float32Val(v)
		f = float64(f32)
	}
	if math.IsInf(f, 0) || math.Abs(f) < 2.3e-308 && f != 0 {
		return fn.w.constantVariable(t, t+"(rt.Float("+strconv.FormatUint(math.Float64bits(f), 10)+"))")
	}
	e := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(e, ".e") {
		e += ".0"
	}
	return t + "(" + e + ")"
}

// constantVariable holds an int constant in a variable: the interpreter rejects constants that are out of an array's range.
func (fn *function) constantVariable(c *ssa.Const) string {
	return fn.w.constantVariable("int", itoa(c.Int64()))
}

// typedConstant is a constant that has its type also where the context gives none.
func (fn *function) typedConstant(c *ssa.Const) string {
	e := fn.constant(c)
	if c.Value == nil || !isNumeric(c.Type()) {
		return e
	}
	return fn.w.constantVariable(fn.w.erased(c.Type()), e)
}

// int is an operand as an int.
func (fn *function) int(v ssa.Value) string {
	if isInt(v.Type()) {
		return fn.value(v)
	}
	return "int(" + fn.value(v) + ")"
}

// recursiveValue is the value of a recursive named type under its underlying type; other values are as they are.
func (fn *function) recursiveValue(v ssa.Value) string {
	if !fn.w.isRecursive(v.Type()) {
		return fn.base(v)
	}
	x, t := fn.local(), fn.w.underlying(v.Type())
	fn.line("var %s %s", x, t)
	fn.fromAny(x, t, fn.value(v))
	return x
}

// opaque keeps an expression of the recursive type t as interface{}; expressions of other types are as they are.
func (fn *function) opaque(t types.Type, e string) string {
	if fn.w.isRecursive(t) {
		return "rt.Opaque(" + e + ")"
	}
	return e
}

// place is the assignable expression that an address stands for.
func (fn *function) place(a ssa.Value) string {
	if fn.plan.places[a] {
		return fn.placeOf(a)
	}
	if g, ok := a.(*ssa.Global); ok && !fn.w.fromSource(g.Pkg.Pkg) {
		return fn.w.importName(g.Pkg.Pkg) + "." + g.Name()
	}
	return "*" + fn.value(a)
}

// base is the expression that a selector or an index is applied to.
func (fn *function) base(x ssa.Value) string {
	if fn.w.isRecursive(x.Type()) {
		return fn.recursiveValue(x)
	}
	if fn.plan.places[x] {
		return fn.placeOf(x)
	}
	if g, ok := x.(*ssa.Global); ok && !fn.w.fromSource(g.Pkg.Pkg) {
		return fn.w.importName(g.Pkg.Pkg) + "." + g.Name()
	}
	return fn.value(x)
}

func (fn *function) placeOf(a ssa.Value) string {
	switch a := a.(type) {
	case *ssa.FieldAddr:
		if t := deref(a.X.Type()); fn.w.hidden(t) {
			fn.checkHidden(t, deref(a.Type()))
			return fn.base(a.X)
		}
		if fn.insideCompiled(a.X) {
			return fn.base(a.X) + "." + deref(a.X.Type()).Underlying().(*types.Struct).Field(a.Field).Name()
		}
		return fn.base(a.X) + "." + fn.w.fieldName(deref(a.X.Type()), a.Field)
	case *ssa.IndexAddr:
		return fn.base(a.X) + "[" + fn.index(a.X, a.Index) + "]"
	}
	panic("lower: no place for " + a.String())
}

// insideCompiled reports the address of a struct without a name inside a compiled struct: it is not erased.
func (fn *function) insideCompiled(a ssa.Value) bool {
	f, ok := a.(*ssa.FieldAddr)
	if !ok {
		return false
	}
	_, anonymous := types.Unalias(deref(f.Type())).(*types.Struct)
	return anonymous && (fn.w.compiled(deref(f.X.Type())) != nil || fn.insideCompiled(f.X))
}

// compiledOwner names the compiled type around an address.
func (w *writer) compiledOwner(a ssa.Value) string {
	f, ok := a.(*ssa.FieldAddr)
	if !ok {
		return "a compiled value"
	}
	if n := w.compiled(deref(f.X.Type())); n != nil {
		return n.String()
	}
	return w.compiledOwner(f.X)
}

// index is the text of an index.
func (fn *function) index(x, i ssa.Value) string {
	c, ok := i.(*ssa.Const)
	if !ok {
		return strip(fn.value(i))
	}
	if n, isArray := arrayLen(x.Type()); isArray && !inRange(c, n) || !inRange(c, math.MaxInt64) {
		return fn.constantVariable(c)
	}
	return itoa(c.Int64())
}

// opaquePlace reports whether an address is that of a value kept as interface{} because its type is recursive.
func (fn *function) opaquePlace(a ssa.Value) bool {
	switch a := a.(type) {
	case *ssa.FieldAddr:
		return !fn.insideCompiled(a.X) && fn.w.opaqueField(deref(a.X.Type()), a.Field)
	case *ssa.IndexAddr:
		if _, isArray := arrayLen(a.X.Type()); !isArray {
			return false
		}
		switch a.X.(type) {
		case *ssa.FieldAddr, *ssa.IndexAddr:
			return fn.opaquePlace(a.X)
		}
	}
	return false
}
