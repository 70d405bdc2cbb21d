package lower

import (
	"fmt"
	"go/token"
	"go/types"
	"math"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// instruction prints one SSA instruction. next is the block that is printed after this one.
func (fn *function) instruction(in ssa.Instruction, next *ssa.BasicBlock) {
	if fn.plan.skipped[in] {
		return
	}
	switch in := in.(type) {
	case *ssa.DebugRef:
	case *ssa.Phi:
		fn.expr[in] = in.Name()
		if len(*in.Referrers()) > 0 {
			fn.variable(in.Name(), fn.w.erased(in.Type()))
		}
	case *ssa.Alloc:
		if !fn.results[in] {
			t := fn.w.erased(deref(in.Type()))
			fn.set(in, "new("+t+")")
		}
	case *ssa.BinOp:
		fn.binary(in)
	case *ssa.UnOp:
		fn.unary(in)
	case *ssa.ChangeType:
		fn.changeType(in)
	case *ssa.Convert:
		fn.set(in, fn.convert(in.X, in.Type()))
	case *ssa.MultiConvert:
		fn.w.refuse("this conversion", "its type parameters have several kinds of types", "convert in each function by itself")
	case *ssa.ChangeInterface:
		fn.toInterface(in, fn.value(in.X), fn.w.erased(in.X.Type()) != "interface{}", in.Type())
	case *ssa.MakeInterface:
		fn.makeInterface(in)
	case *ssa.MakeClosure:
		fn.closure(in)
	case *ssa.MakeMap:
		t := fn.w.underlying(in.Type())
		fn.set(in, fn.opaque(in.Type(), "make("+t+")"))
	case *ssa.MakeChan:
		fn.makeChan(in)
	case *ssa.MakeSlice:
		n, c := fn.int(in.Len), fn.int(in.Cap)
		t := fn.w.underlying(in.Type())
		if !constantLength(in.Len) || !constantLength(in.Cap) {
			fn.line("rt.CheckMake(%s, %s, %d)", n, c, fn.at())
		}
		fn.set(in, fn.opaque(in.Type(), "make("+t+", "+n+", "+c+")"))
	case *ssa.Slice:
		fn.slice(in)
	case *ssa.FieldAddr:
		fn.fieldAddr(in)
	case *ssa.IndexAddr:
		fn.indexAddr(in)
	case *ssa.Field:
		if fn.w.hidden(in.X.Type()) {
			fn.checkHidden(in.X.Type(), in.Type())
			fn.set(in, fn.value(in.X)) // its methods are those of the whole as well
			return
		}
		e := fn.value(in.X) + "." + fn.w.fieldName(in.X.Type(), in.Field)
		if fn.w.opaqueField(in.X.Type(), in.Field) {
			fn.declareFromAny(in, e)
			return
		}
		fn.set(in, e)
	case *ssa.Index:
		fn.checkIndex(in.X, in.Index, in.Block())
		fn.set(in, fn.stringOrArray(in.X)+"["+fn.index(in.X, in.Index)+"]")
	case *ssa.Lookup:
		fn.lookup(in)
	case *ssa.Range:
		fn.expr[in] = in.Name()
		if isString(in.X.Type()) {
			fn.line("var %s *rt.Iter = rt.RangeString(string(%s))", in.Name(), fn.value(in.X))
		} else {
			fn.line("var %s *rt.Iter = rt.RangeMap(%s)", in.Name(), fn.recursiveValue(in.X))
		}
	case *ssa.Extract:
		fn.expr[in] = in.Tuple.Name() + "_" + strconv.Itoa(in.Index)
	case *ssa.TypeAssert:
		fn.typeAssert(in)
	case *ssa.Store:
		fn.store(in)
	case *ssa.MapUpdate:
		fn.mapUpdate(in)
	case *ssa.Call:
		fn.call(in)
	case *ssa.SliceToArrayPointer:
		t := fn.w.erased(in.Type())
		q := fn.local()
		fn.line("var %s interface{} = rt.SliceToArray(%s, %s, %d)", q, fn.recursiveValue(in.X), fn.w.zero(t), fn.at())
		fn.declareFromAny(in, q)
	default:
		fn.control(in, next)
	}
}

// constantLength reports lengths that make takes without a test.
func constantLength(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && inRange(c, 1<<40)
}

// closure makes a function literal's value: the factory gets the captured variables.
func (fn *function) closure(in *ssa.MakeClosure) {
	var bs []string
	for _, b := range in.Bindings {
		bs = append(bs, strip(fn.value(b)))
	}
	f := in.Fn.(*ssa.Function)
	if external(f) {
		fn.w.refuse("the method "+f.Name()+" as a value", "it belongs to a compiled type", "wrap the call in a function literal")
	}
	if isWrapper(f) && len(in.Bindings) == 1 {
		fn.checkBound(in.Bindings[0], in.Block())
	}
	fn.set(in, fn.w.functionName(f)+"("+strings.Join(bs, ", ")+")")
}

// checkBound panics when a method value is taken of a nil interface.
func (fn *function) checkBound(recv ssa.Value, b *ssa.BasicBlock) {
	if isInterface(recv.Type()) {
		fn.checkNil(recv, b)
	}
}

func (fn *function) makeChan(in *ssa.MakeChan) {
	e := fn.w.erased(in.Type().Underlying().(*types.Chan).Elem())
	x := fn.local()
	fn.line("%s := make(chan %s, %s)", x, e, fn.int(in.Size))
	fn.set(in, fn.opaque(in.Type(), x))
}

func (fn *function) fieldAddr(in *ssa.FieldAddr) {
	fn.checkAddress(in)
	if fn.plan.places[in] {
		return
	}
	if fn.insideCompiled(in) {
		fn.w.refuse("the address of a part of "+fn.w.compiledOwner(in), "its type has no name that a cell could give it", "take the address of the whole value, or read and set the part's fields")
	}
	if fn.opaquePlace(in) {
		f := deref(in.X.Type()).Underlying().(*types.Struct).Field(in.Field)
		fn.w.refuse("the address of the field "+f.Name(), "its type leads back to the struct, and the interpreter cannot point to such a field",
			"write the function with the pointer that holds the field, or keep the field's value in a variable")
	}
	fn.set(in, "&"+fn.placeOf(in))
}

// checkHidden refuses the fields of a value whose type a cell cannot name, but for what it embeds.
func (fn *function) checkHidden(owner, field types.Type) {
	if !fn.w.hidden(field) {
		fn.w.refuse("a field of the unexported type "+owner.String(), "a cell cannot name it", "call its methods")
	}
}

func (fn *function) indexAddr(in *ssa.IndexAddr) {
	fn.checkAddress(in)
	if fn.plan.places[in] {
		return
	}
	if fn.opaquePlace(in) {
		fn.w.refuse("the address of an element", "its type leads back to the struct that holds the array", "use a slice instead of the array")
	}
	b := fn.base(in.X)
	if _, ok := in.X.Type().Underlying().(*types.Pointer); ok {
		s := fn.local()
		fn.line("%s := %s[:]", s, b)
		b = s
	} else {
		b = fn.recursiveValue(in.X)
	}
	fn.set(in, "&"+b+"["+fn.index(in.X, in.Index)+"]")
}

// stringOrArray is what an index is applied to: constants need a variable.
func (fn *function) stringOrArray(x ssa.Value) string {
	if c, ok := x.(*ssa.Const); ok && c.Value != nil {
		v := fn.local()
		fn.line("var %s string = %s", v, fn.value(x))
		return v
	}
	return fn.value(x)
}

func (fn *function) lookup(in *ssa.Lookup) {
	if isString(in.X.Type()) {
		fn.checkIndex(in.X, in.Index, in.Block())
		fn.set(in, fn.stringOrArray(in.X)+"["+fn.index(in.X, in.Index)+"]")
		return
	}
	m, k := fn.recursiveValue(in.X), fn.value(in.Index)
	fn.checkKey(in.Index, k)
	if !in.CommaOk {
		fn.set(in, m+"["+strip(k)+"]")
		return
	}
	t := fn.w.erased(in.Type().(*types.Tuple).At(0).Type())
	v, ok := fn.variable(in.Name()+"_0", t), fn.variable(in.Name()+"_1", "bool")
	fn.line("%s = %s", v, fn.w.zero(t))
	fn.line("%s, %s = %s[%s]", v, ok, m, strip(k))
}

// checkKey panics when a map's key, which may be of any type, cannot be hashed.
func (fn *function) checkKey(v ssa.Value, key string) {
	if mayPanicWhenCompared(v.Type()) {
		if _, ok := v.(*ssa.MakeInterface); ok && strictlyComparable(v.(*ssa.MakeInterface).X.Type()) {
			return
		}
		fn.line("rt.CheckKey(%s, %d)", key, fn.at())
	}
}

// mayPanicWhenCompared reports types that hold interfaces.
func mayPanicWhenCompared(t types.Type) bool { return !strictlyComparable(t) }

func strictlyComparable(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface, *types.Slice, *types.Map, *types.Signature:
		return false
	case *types.Struct:
		for i := range u.NumFields() {
			if !strictlyComparable(u.Field(i).Type()) {
				return false
			}
		}
	case *types.Array:
		return strictlyComparable(u.Elem())
	}
	return true
}

func (fn *function) mapUpdate(in *ssa.MapUpdate) {
	m, k, x := fn.recursiveValue(in.Map), fn.value(in.Key), fn.value(in.Value)
	if _, ok := in.Map.(*ssa.MakeMap); !ok {
		fn.line("if %s == nil { rt.PanicNilMap(%d) }", m, fn.at())
	}
	fn.checkKey(in.Key, k)
	fn.line("%s[%s] = %s", m, strip(k), strip(x))
}

func (fn *function) unary(in *ssa.UnOp) {
	switch in.Op {
	case token.MUL:
		fn.load(in)
	case token.ARROW:
		fn.receive(in)
	default:
		fn.set(in, in.Op.String()+fn.value(in.X))
	}
}

func (fn *function) load(in *ssa.UnOp) {
	if !fn.plan.places[in.X] {
		fn.checkNil(in.X, in.Block())
	}
	p := fn.place(in.X)
	if isComposite(in.Type()) && fn.insideCompiled(in.X) {
		fn.w.refuse("a copy of a part of "+fn.w.compiledOwner(in.X), "its type has no name that a cell could give it", "copy the part's fields one by one")
	}
	if fn.w.hidden(in.Type()) && !fn.w.hidden(in.X.Type()) {
		p = "rt.Native(" + p + ")"
	}
	if fn.opaquePlace(in.X) {
		if _, ok := in.Type().Underlying().(*types.Array); ok {
			fn.w.refuse("a copy of an array whose elements lead back to the struct that holds it", "the interpreter keeps them in another form",
				"use a slice instead of the array")
		}
		if fn.plan.places[in.X] {
			fn.declareFromAny(in, p)
			return
		}
	}
	fn.set(in, p)
}

func (fn *function) receive(in *ssa.UnOp) {
	ch := fn.recursiveValue(in.X)
	q, ok := fn.local(), fn.local()
	if !in.CommaOk {
		if len(*in.Referrers()) == 0 {
			fn.line("rt.Recv(%s)", ch)
			return
		}
		fn.line("%s, %s := rt.Recv(%s)", q, ok, ch)
		fn.declareFromAny(in, q)
		return
	}
	t := fn.w.erased(in.Type().(*types.Tuple).At(0).Type())
	fn.line("%s, %s := rt.Recv(%s)", q, ok, ch)
	if extracted(in, 0) {
		fn.fromAny(fn.variable(in.Name()+"_0", t), t, q)
	}
	fn.line("%s = %s", fn.variable(in.Name()+"_1", "bool"), ok)
}

func (fn *function) store(in *ssa.Store) {
	if fn.insideBlank(in.Addr) {
		return // Go's compiler leaves blank fields zero
	}
	if !fn.plan.places[in.Addr] {
		fn.checkNil(in.Addr, in.Block())
	}
	p := fn.place(in.Addr)
	x := strip(fn.value(in.Val))
	if fn.opaquePlace(in.Addr) && fn.plan.places[in.Addr] {
		if _, ok := in.Val.Type().Underlying().(*types.Array); ok {
			fn.w.refuse("a copy of an array whose elements lead back to the struct that holds it", "the interpreter keeps them in another form",
				"use a slice instead of the array")
		}
		if c, ok := in.Val.(*ssa.Const); ok && c.IsNil() {
			x = fn.w.zero("interface{}")
		} else {
			x = "rt.Opaque(" + x + ")"
		}
	}
	if fn.compiledField(in.Addr) && emptyInterface(in.Val.Type()) {
		x = "rt.Out(" + strconv.Quote("a field of "+deref(in.Addr.(*ssa.FieldAddr).X.Type()).String()) + ", " + x + ")"
	}
	if isNumeric(in.Val.Type()) {
		for _, op := range []string{"+", "-", "*"} {
			r, ok := strings.CutPrefix(x, p+" "+op+" ")
			if !ok {
				r, ok = strings.CutPrefix(x, "("+p+") "+op+" ")
			}
			if ok && closed(r) {
				fn.line("%s %s= %s", p, op, r)
				return
			}
		}
	}
	fn.line("%s = %s", p, x)
}

// insideBlank reports the address of a blank field, or of a part of one: only a composite literal has it.
func (fn *function) insideBlank(a ssa.Value) bool {
	switch a := a.(type) {
	case *ssa.FieldAddr:
		return deref(a.X.Type()).Underlying().(*types.Struct).Field(a.Field).Name() == "_" || fn.insideBlank(a.X)
	case *ssa.IndexAddr:
		return fn.insideBlank(a.X)
	}
	return false
}

// compiledField reports the address of a field of a compiled struct that does not merely carry what it is given.
func (fn *function) compiledField(a ssa.Value) bool {
	f, ok := a.(*ssa.FieldAddr)
	if !ok {
		return false
	}
	n := fn.w.compiled(deref(f.X.Type()))
	return n != nil && n.Obj().Pkg() != nil && !fn.w.l.carries[n.Obj().Pkg().Path()]
}

func (fn *function) slice(in *ssa.Slice) {
	b := ""
	_, isPointer := in.X.Type().Underlying().(*types.Pointer)
	if isPointer {
		fn.checkNil(in.X, in.Block())
		b = fn.base(in.X)
	} else {
		b = fn.recursiveValue(in.X)
	}
	if c, ok := in.X.(*ssa.Const); ok && c.Value != nil {
		b = fn.stringOrArray(in.X)
	}
	part := func(v ssa.Value) string {
		switch c, ok := v.(*ssa.Const); {
		case v == nil:
			return ""
		case ok && inRange(c, 1):
			return "0"
		case ok && inRange(c, math.MaxInt64):
			return fn.constantVariable(c)
		}
		if hasInfo(v.Type(), types.IsUnsigned) && !typeFits(v.Type(), math.MaxInt64) {
			fn.line("rt.CheckBound(uint64(%s))", fn.value(v))
		}
		return fn.int(v)
	}
	lo, hi, mx := part(in.Low), part(in.High), part(in.Max)
	fn.checkSlice(in, b, lo, hi, mx)
	e := b + "[" + lo + ":" + hi
	if mx != "" {
		e += ":" + mx
	}
	fn.set(in, fn.opaque(in.Type(), e+"]"))
}

// checkSlice panics when the bounds of a slice expression are out of range.
func (fn *function) checkSlice(in *ssa.Slice, b, lo, hi, mx string) {
	if (lo == "" || lo == "0") && hi == "" && mx == "" {
		return
	}
	if lo == "" {
		lo = "0"
	}
	byLength := isString(in.X.Type())
	limit := "cap(" + b + ")"
	if byLength {
		limit = "len(" + b + ")"
	}
	if n, ok := arrayLen(in.X.Type()); ok {
		byLength, limit = true, itoa(n)
		if hi == "" {
			hi = limit
		}
		if constantBounds(in, n) {
			return
		}
	}
	if hi == "" {
		hi = "len(" + b + ")"
	}
	h, c := fn.local(), fn.local()
	fn.line("%s := %s", h, hi)
	fn.line("%s := %s", c, limit)
	check := "rt.CheckSlice("
	if byLength {
		check = "rt.CheckString("
	}
	switch {
	case mx != "":
		fn.line("rt.CheckSlice3(%s, %s, %s, %s, %d)", lo, h, mx, c, fn.at())
	case lo == "0":
		fn.line("if %s < 0 || %s > %s { %s0, %s, %s, %d) }", h, h, c, check, h, c, fn.at())
	default:
		fn.line("if %s < 0 || %s > %s || %s > %s { %s%s, %s, %s, %d) }", lo, lo, h, h, c, check, lo, h, c, fn.at())
	}
}

// constantBounds reports a slice of an array of n elements whose bounds are constants; the type checker has compared them.
func constantBounds(in *ssa.Slice, n int64) bool {
	for _, v := range []ssa.Value{in.Low, in.High, in.Max} {
		if c, ok := v.(*ssa.Const); v != nil && (!ok || !inRange(c, n+1)) {
			return false
		}
	}
	return true
}

func (fn *function) changeType(in *ssa.ChangeType) {
	x := fn.value(in.X)
	from, to := fn.w.erased(in.X.Type()), fn.w.erased(in.Type())
	switch {
	case from == to:
		fn.set(in, x)
	case fn.w.isRecursive(in.Type()):
		fn.set(in, "rt.Opaque("+x+")")
	case fn.w.isRecursive(in.X.Type()):
		fn.declareFromAny(in, x)
	default:
		for _, p := range []string{"*", "func", "<-", "chan"} {
			if strings.HasPrefix(to, p) {
				to = "(" + to + ")"
				break
			}
		}
		fn.set(in, to+"("+x+")")
	}
}

// makeInterface puts a value in an interface: in a box when a cell defines its type.
func (fn *function) makeInterface(in *ssa.MakeInterface) {
	t := in.X.Type()
	if fn.w.hidden(t) {
		fn.toInterface(in, fn.value(in.X), false, in.Type())
		return
	}
	d := fn.w.descriptor(t)
	box := "rt.Native("
	if !fn.w.native(t) {
		box = fmt.Sprintf("rt.MakeBox(%d, ", d.ID)
	}
	e := ""
	if c, ok := in.X.(*ssa.Const); ok {
		e = box + fn.typedConstant(c) + ")"
		if c.Value != nil {
			e = fn.w.constantBox(e)
		}
	} else {
		e = box + fn.value(in.X) + ")"
	}
	if fn.w.erased(in.Type()) == "interface{}" {
		fn.set(in, e)
		return
	}
	fn.toInterface(in, e, false, in.Type())
}

// toInterface converts an interface{} or a compiled interface (wrapped) to another interface type.
func (fn *function) toInterface(v ssa.Value, x string, wrapped bool, to types.Type) {
	if fn.w.erased(to) == "interface{}" {
		if wrapped {
			x = "rt.In(" + x + ")"
		}
		fn.set(v, x)
		return
	}
	q := fn.local()
	fn.line("var %s interface{} = rt.To(%s, %d)", q, x, fn.w.descriptor(to).ID)
	fn.declareFromAny(v, q)
}
