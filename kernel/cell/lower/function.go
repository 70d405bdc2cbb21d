package lower

import (
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A function is one SSA function being lowered.
type function struct {
	w    *writer
	f    *ssa.Function
	pos  token.Pos
	n    int // fresh local names
	out  []line
	decl []string // variables declared at the top

	expr    map[ssa.Value]string   // operands: a name, or an expression that was folded into its one use
	negated map[ssa.Value]string   // the opposite of a comparison
	shared  map[ssa.Value]*ssa.Phi // values computed in the register of a loop's variable
	results map[ssa.Value]bool     // result variables of a function that recovers
	noted   string                 // the variable that notes places, in the function of a cell's statements
	isBody  bool                   // the part of a function with defer that rt.Run runs
	plan    plan
	checks  checks
}

func newFunction(w *writer, f *ssa.Function) *function {
	return &function{w: w, f: f, pos: f.Pos(), expr: map[ssa.Value]string{}, negated: map[ssa.Value]string{}, results: map[ssa.Value]bool{}, shared: map[ssa.Value]*ssa.Phi{},
		plan: newPlan(), checks: newChecks()}
}

// line writes a line of the function.
func (fn *function) line(format string, a ...any) {
	text := format
	if len(a) > 0 {
		text = fmt.Sprintf(format, a...)
	}
	fn.out = append(fn.out, line{text, fn.pos})
}

// local makes a name that the function does not have yet.
func (fn *function) local() string {
	fn.n++
	return "x" + strconv.Itoa(fn.n)
}

// at is the position of what is being lowered, as the run time's checks carry it.
func (fn *function) at() int { return int(fn.pos) }

func external(f *ssa.Function) bool { return f.Blocks == nil }

// callsRecover reports whether a function calls the builtin itself.
func callsRecover(f *ssa.Function) bool {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if c, ok := in.(*ssa.Call); ok {
				if bi, ok := c.Call.Value.(*ssa.Builtin); ok && bi.Name() == "recover" {
					return true
				}
			}
		}
	}
	return false
}

// isWrapper reports functions that SSA makes to call a method: bound methods, promoted methods, method expressions.
func isWrapper(f *ssa.Function) bool {
	return f.Synthetic != "" && f.Syntax() == nil && len(f.Blocks) > 0
}

// wrapsRecover reports whether a function is a method that recovers or a wrapper of one.
func wrapsRecover(f *ssa.Function) bool {
	if callsRecover(f) {
		return true
	}
	if !isWrapper(f) {
		return false
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if c, ok := in.(*ssa.Call); ok {
				if callee := c.Call.StaticCallee(); callee != nil && callee != f && wrapsRecover(callee) || c.Call.IsInvoke() {
					return true
				}
			}
		}
	}
	return false
}

// framesPassed is the number of interpreted frames that a wrapper puts between a deferred call and the method that may recover:
// itself, and a dispatcher when it calls through an interface; 0 when the method does not recover.
func framesPassed(f *ssa.Function) int {
	if callsRecover(f) || !wrapsRecover(f) {
		return 0
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if c, ok := in.(*ssa.Call); ok && c.Call.IsInvoke() {
				return 2
			}
		}
	}
	return 1
}

// function lowers f: as a function, as a factory of closures when it has free variables, and in two parts when it defers.
func (w *writer) function(f *ssa.Function) {
	fn := newFunction(w, f)
	w.fn = fn
	defer func() { w.fn = nil }()
	w.order.forgetSource(f)
	name, _ := w.l.names.get(f)
	var params, pdecl []string
	for i, p := range f.Params {
		n := "p" + strconv.Itoa(i)
		params = append(params, n)
		fn.expr[p] = n
		t := ""
		if f.Signature.Variadic() && i == len(f.Params)-1 {
			t = w.variadic(p.Type())
		} else {
			t = w.erased(p.Type())
		}
		pdecl = append(pdecl, n+" "+t)
	}
	var vdecl, vars []string
	for i, v := range f.FreeVars {
		n := "v" + strconv.Itoa(i)
		fn.expr[v] = n
		vars = append(vars, n)
		vdecl = append(vdecl, n+" "+w.erased(v.Type()))
	}
	res := w.results(f.Signature)
	open, end := fmt.Sprintf("func %s(%s) %s {", name, strings.Join(pdecl, ", "), res), "}"
	if len(f.FreeVars) > 0 {
		// The factory's frame is fresh for each closure: the interpreter's closures share the frame of the function around them.
		open = fmt.Sprintf("func %s(%s) func(%s) %s { return func(%s) %s {", name, strings.Join(vdecl, ", "), withoutNames(pdecl), res, strings.Join(pdecl, ", "), res)
		end = "}}"
	}
	fn.line("%s", open)
	if e := w.l.options.Entry; e != "" && f.Name() == e && f.Parent() == nil && f.Pkg == w.pkg {
		fn.noted = w.name("w")
		w.vars = append(w.vars, "var "+fn.noted+" *int = new(int)")
		fn.line("rt.Place(%s)", fn.noted)
	}
	if f.Recover == nil {
		if callsRecover(f) {
			fn.line("var rk *rt.Defers = rt.Enter()")
		} else if n := framesPassed(f); n > 0 {
			fn.line("rt.PassDefer(%d)", n)
		}
		fn.blocks()
		fn.line("%s", end)
		fn.flush()
		return
	}
	fn.deferring(params, pdecl, vars, vdecl, end)
}

// deferring lowers a function that defers: it makes the result variables and has the run time run its body.
func (fn *function) deferring(params, pdecl, vars, vdecl []string, end string) {
	w, f := fn.w, fn.f
	fn.line("var d *rt.Defers = rt.NewDefers()")
	bdecl, bargs := []string{"d *rt.Defers"}, []string{"d"}
	if callsRecover(f) {
		fn.line("var rk *rt.Defers = rt.Enter()")
		bdecl, bargs = append(bdecl, "rk *rt.Defers"), append(bargs, "rk")
	}
	var rets []string
	for _, in := range f.Recover.Instrs {
		u, ok := in.(*ssa.UnOp)
		if !ok {
			continue
		}
		a, ok := u.X.(*ssa.Alloc)
		if !ok {
			w.refuse("the results of this function", "its deferred functions may change them in a way that cannot be followed", "give the results names")
		}
		n := "r" + strconv.Itoa(len(rets))
		el := w.erased(deref(a.Type()))
		fn.line("%s := new(%s)", n, el)
		bdecl, bargs = append(bdecl, n+" *"+el), append(bargs, n)
		rets = append(rets, n)
		fn.expr[a] = n
		fn.results[a] = true
	}
	for _, p := range pdecl {
		name, t, _ := strings.Cut(p, " ")
		if elem, variadic := strings.CutPrefix(t, "..."); variadic {
			t = "[]" + elem
		}
		bdecl = append(bdecl, name+" "+t)
	}
	bdecl, bargs = append(bdecl, vdecl...), append(append(bargs, params...), vars...)
	body := w.name("y")
	fn.line("rt.Run(d, %s(%s))", body, strings.Join(bargs, ", "))
	if len(rets) > 0 {
		for i, r := range rets {
			fn.line("var x%d %s = *%s", i, w.erased(f.Signature.Results().At(i).Type()), r)
			rets[i] = "x" + strconv.Itoa(i)
		}
		fn.line("return %s", strings.Join(rets, ", "))
	}
	fn.line("%s", end)
	fn.flush()
	fn.isBody = true
	fn.line("func %s(%s) func() { return func() {", body, strings.Join(bdecl, ", "))
	fn.blocks()
	fn.line("}}")
	fn.flush()
}

func withoutNames(ps []string) string {
	var r []string
	for _, p := range ps {
		_, t, _ := strings.Cut(p, " ")
		r = append(r, t)
	}
	return strings.Join(r, ", ")
}

// flush moves the function's lines to the unit.
func (fn *function) flush() {
	fn.w.body = append(fn.w.body, fn.out...)
	fn.out = nil
}

// idle matches statements whose first node has no action: the interpreter loops for ever on a label before one.
var idle = regexp.MustCompile(`^(return|goto|if !?\(?\w+\)? \{)`)

// afterLabel puts a statement with an action before a line that follows a label.
func (fn *function) afterLabel(i int) {
	if l := fn.out[i]; idle.MatchString(l.text) {
		fn.out[i].text = "{ }; " + l.text
	}
}

// blocks lowers the basic blocks, dominators first.
func (fn *function) blocks() {
	var order []*ssa.BasicBlock
	for _, b := range fn.f.DomPreorder() {
		if b != fn.f.Recover {
			order = append(order, b)
		}
	}
	for _, b := range order {
		fn.w.order.settle(b)
	}
	for _, b := range order {
		fn.planVariadics(b)
		fn.planBlock(b)
	}
	fn.shareRegisters(order)
	fn.planLengths(order)
	at := len(fn.out)
	for _, p := range fn.f.Params {
		fn.lengthAtDefinition(p)
	}
	for _, p := range fn.f.FreeVars {
		fn.lengthAtDefinition(p)
	}
	for i, b := range order {
		if i > 0 {
			fn.line("b%d:", b.Index)
		}
		first := len(fn.out)
		var next *ssa.BasicBlock
		if i+1 < len(order) {
			next = order[i+1]
		}
		fn.block(b, next)
		if len(fn.out) == first && next != nil && len(b.Succs) == 1 {
			fn.line("goto b%d", next.Index)
		}
		if i > 0 && len(fn.out) > first {
			fn.afterLabel(first)
		}
	}
	if len(fn.decl) > 0 {
		// The frame's variables are zero when the function starts, so their declarations need not run.
		fn.afterLabel(at)
		head := append(append([]string{"goto b0"}, fn.decl...), "b0:")
		out := append([]line{}, fn.out[:at]...)
		for _, d := range head {
			out = append(out, line{d, fn.f.Pos()})
		}
		fn.out = append(out, fn.out[at:]...)
	}
	fn.decl = nil
}

func (fn *function) block(b, next *ssa.BasicBlock) {
	for i, in := range b.Instrs {
		if p := in.Pos(); p.IsValid() {
			fn.pos = p
		}
		fn.instruction(in, next)
		if v, ok := in.(ssa.Value); ok {
			if _, phi := in.(*ssa.Phi); !phi {
				fn.lengthAtDefinition(v)
				continue
			}
			if _, more := b.Instrs[i+1].(*ssa.Phi); !more {
				for _, p := range b.Instrs[:i+1] {
					fn.lengthAtDefinition(p.(*ssa.Phi))
				}
			}
		}
	}
}

// variable declares a variable at the top of the function: it is assigned in more than one place.
func (fn *function) variable(n, t string) string {
	fn.decl = append(fn.decl, "var "+n+" "+t)
	return n
}

// set gives a value its register, or folds it into its use.
func (fn *function) set(v ssa.Value, e string) {
	t := fn.w.erased(v.Type())
	if v.Referrers() != nil && len(*v.Referrers()) == 0 {
		// evaluated for its effect only
		fn.line("var %s %s = %s", fn.local(), t, e)
		return
	}
	if fn.plan.folded[v] {
		if !closed(e) {
			e = "(" + e + ")"
		}
		fn.expr[v] = e
		return
	}
	n := v.Name()
	if p := fn.shared[v]; p != nil {
		fn.expr[v] = p.Name()
		fn.assign(p.Name(), strip(e), v)
		return
	}
	fn.expr[v] = n
	if inPlace(v.Type()) {
		fn.variable(n, t)
		fn.line("%s = %s", n, strip(e))
		return
	}
	fn.line("var %s %s = %s", n, t, strip(e))
}

// assign computes a value into a variable that may be its own operand.
func (fn *function) assign(n, e string, v ssa.Value) {
	if isNumeric(v.Type()) {
		for _, op := range []string{"+", "-", "*"} {
			if r, ok := strings.CutPrefix(e, n+" "+op+" "); ok && closed(r) {
				fn.line("%s %s= %s", n, op, r)
				return
			}
		}
	}
	fn.line("%s = %s", n, e)
}

// fromAny assigns an interface{} expression to a variable of an erased type.
func (fn *function) fromAny(n, t, e string) {
	if t == "interface{}" {
		fn.line("%s = %s", n, e)
		return
	}
	fn.line("%s = %s", n, fn.w.zero(t))
	if fn.w.l.interfaces[t] {
		fn.line("if %s != nil { %s, _ = %s.(%s) }", e, n, e, t)
		return
	}
	fn.line("%s, _ = %s.(%s)", n, e, t)
}

// declareFromAny is fromAny for a value's register.
func (fn *function) declareFromAny(v ssa.Value, e string) {
	t := fn.w.erased(v.Type())
	n := v.Name()
	fn.expr[v] = n
	fn.variable(n, t)
	fn.fromAny(n, t, e)
}

// strip drops the parentheses around a whole expression: the interpreter assigns through them in two steps.
func strip(e string) string {
	for len(e) > 1 && e[0] == '(' && e[len(e)-1] == ')' {
		depth := 0
		for i := 0; i < len(e)-1; i++ {
			switch e[i] {
			case '(':
				depth++
			case ')':
				depth--
			case '"', '\'', '`':
				return e
			}
			if depth == 0 {
				return e
			}
		}
		e = e[1 : len(e)-1]
	}
	return e
}

// closed reports whether an expression can be an operand without parentheses.
func closed(e string) bool {
	if !isWord(e[0]) {
		return false
	}
	depth := 0
	for i := 0; i < len(e); i++ {
		switch e[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '"':
			return false
		case ' ':
			if depth == 0 {
				return false
			}
		}
	}
	return true
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// mentions reports whether a name occurs in an expression.
func mentions(e, name string) bool {
	for i := 0; i+len(name) <= len(e); i++ {
		if e[i:i+len(name)] == name && (i == 0 || !isWord(e[i-1])) && (i+len(name) == len(e) || !isWord(e[i+len(name)])) {
			return true
		}
	}
	return false
}

// extracted reports whether component k of a tuple is used.
func extracted(v ssa.Value, k int) bool {
	for _, r := range *v.Referrers() {
		if e, ok := r.(*ssa.Extract); ok && e.Index == k {
			return true
		}
	}
	return false
}

// signatureKey is a function type without its receiver and parameter names.
func signatureKey(w *writer, s *types.Signature) string {
	return w.l.registry.Key(types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic()))
}
