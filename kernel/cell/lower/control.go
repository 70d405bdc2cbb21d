package lower

import (
	"go/constant"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"memwall/kernel/cell/rt"
)

// control prints the instructions that move between blocks, functions and goroutines.
func (fn *function) control(in ssa.Instruction, next *ssa.BasicBlock) {
	switch in := in.(type) {
	case *ssa.Next:
		fn.next(in)
	case *ssa.Jump:
		fn.jump(in.Block(), in.Block().Succs[0], next)
	case *ssa.If:
		fn.branch(in, next)
	case *ssa.Return:
		if fn.isBody {
			fn.line("return")
			return
		}
		var rs []string
		for _, r := range in.Results {
			rs = append(rs, strip(fn.value(r)))
		}
		fn.line("return %s", strings.Join(rs, ", "))
	case *ssa.RunDefers:
		fn.line("d.RunAll()")
	case *ssa.Panic:
		if state := fn.rangeState(in); state != "" {
			fn.line("rt.PanicRange(%s, %d)", state, fn.at())
			return
		}
		fn.line("rt.Panic(%s, %d)", fn.value(in.X), fn.at())
	case *ssa.Go:
		fn.line("rt.Go(%s)", fn.thunk(&in.Call, in.Block()))
	case *ssa.Defer:
		d := "d"
		if in.DeferStack != nil {
			d = fn.value(in.DeferStack)
		}
		fn.line("%s.Push(%s, %d)", d, fn.thunk(&in.Call, in.Block()), framesToRecover(&in.Call))
	case *ssa.Send:
		x := fn.value(in.X)
		if c, ok := in.X.(*ssa.Const); ok {
			x = fn.typedConstant(c)
		}
		fn.line("rt.Send(%s, %s)", fn.recursiveValue(in.Chan), strip(x))
	case *ssa.Select:
		fn.selectStatement(in)
	default:
		fn.w.refuse("this statement", "the compiler's instruction "+in.String()+" has no form that the interpreter can evaluate", "write it in another way")
	}
}

// framesToRecover is the number of interpreted frames from a deferred thunk to the function that it calls, 0 when that is known
// not to recover.
func framesToRecover(c *ssa.CallCommon) int {
	if c.IsInvoke() {
		return 3 // the thunk, the dispatcher, the method; a function between them adds itself
	}
	f := c.StaticCallee()
	if f == nil {
		return 2
	}
	if external(f) || !wrapsRecover(f) {
		return 0
	}
	return 2
}

// The panics that SSA puts into range statements over functions; Go's have other texts.
const (
	ssaYieldPanic    = "yield function called after range loop exit"
	ssaIteratorPanic = "iterator call did not preserve panic"
)

// rangeState is the state of a range statement over a function whose misuse a panic reports, "" for all other panics: -1 while
// its body runs or panicked, -2 when it is over, a positive number when its body was left.
func (fn *function) rangeState(in *ssa.Panic) string {
	m, ok := in.X.(*ssa.MakeInterface)
	if !ok {
		return ""
	}
	c, ok := m.X.(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.String {
		return ""
	}
	text := constant.StringVal(c.Value)
	if text == ssaIteratorPanic && !in.Pos().IsValid() {
		return "-3"
	}
	if text != ssaYieldPanic || fn.f.Synthetic != "range-over-func yield" || len(in.Block().Preds) != 1 {
		return ""
	}
	up := in.Block().Preds[0]
	test, ok := up.Instrs[len(up.Instrs)-1].(*ssa.If)
	if !ok {
		return ""
	}
	cmp, ok := test.Cond.(*ssa.BinOp)
	if !ok {
		return ""
	}
	return fn.value(cmp.X)
}

// phiCopies are the assignments to the phis of a block when it is reached from another.
func (fn *function) phiCopies(from, to *ssa.BasicBlock) []string {
	edge := -1
	for i, p := range to.Preds {
		if p == from {
			edge = i
		}
	}
	type move struct{ to, value string }
	var moves []move
	for _, in := range to.Instrs {
		p, ok := in.(*ssa.Phi)
		if !ok {
			break
		}
		if len(*p.Referrers()) == 0 {
			continue
		}
		if e := strip(fn.value(p.Edges[edge])); e != p.Name() {
			moves = append(moves, move{p.Name(), e})
		}
	}
	var early, late []string
	for i, m := range moves {
		clash := false
		for _, other := range moves[i+1:] {
			clash = clash || mentions(other.value, m.to)
		}
		if !clash {
			early = append(early, m.to+" = "+m.value)
			continue
		}
		// a later copy reads what this one overwrites
		x := fn.local()
		early = append(early, x+" := "+m.value)
		late = append(late, m.to+" = "+x)
	}
	return append(early, late...)
}

func (fn *function) lines(ls []string) {
	for _, l := range ls {
		fn.line("%s", l)
	}
}

func (fn *function) jump(from, to, next *ssa.BasicBlock) {
	fn.lines(fn.phiCopies(from, to))
	if to != next {
		fn.line("goto b%d", to.Index)
	}
}

func (fn *function) branch(in *ssa.If, next *ssa.BasicBlock) {
	b := in.Block()
	yes, no := b.Succs[0], b.Succs[1]
	c := fn.value(in.Cond)
	if _, ok := in.Cond.(*ssa.Const); ok {
		x := fn.local()
		fn.line("var %s bool = %s", x, c)
		c = x
	}
	if yes == no {
		fn.jump(b, yes, next)
		return
	}
	yesCopies, noCopies := fn.phiCopies(b, yes), fn.phiCopies(b, no)
	if yes == next && len(noCopies) == 0 {
		not := "!" + c
		if n := fn.negated[in.Cond]; n != "" && fn.plan.folded[in.Cond] {
			not = n
		} else if strings.HasPrefix(c, "(!") {
			not = strings.TrimPrefix(strip(c), "!")
		}
		fn.line("if %s { goto b%d }", not, no.Index)
		fn.lines(yesCopies)
		return
	}
	fn.line("if %s {", strip(c))
	fn.lines(yesCopies)
	fn.line("goto b%d }", yes.Index)
	fn.lines(noCopies)
	if no != next {
		fn.line("goto b%d", no.Index)
	}
}

// next moves an iterator on.
func (fn *function) next(in *ssa.Next) {
	it := fn.expr[in.Iter]
	n := in.Name()
	fn.variable(n+"_0", "bool")
	fn.line("%s_0 = %s.Next()", n, it)
	tup := in.Type().(*types.Tuple)
	for k := 1; k <= 2; k++ {
		if !extracted(in, k) {
			continue
		}
		t := fn.w.erased(tup.At(k).Type())
		v := fn.variable(n+"_"+strconv.Itoa(k), t)
		if in.IsString {
			method := "Offset"
			if k == 2 {
				method = "Rune"
			}
			fn.line("if %s_0 { %s = %s.%s() }", n, v, it, method)
			continue
		}
		method := "Key"
		if k == 2 {
			method = "Value"
		}
		q := fn.local()
		fn.line("var %s interface{} = %s.%s()", q, it, method)
		fn.fromAny(v, t, q)
	}
}

func (fn *function) typeAssert(in *ssa.TypeAssert) {
	if testsBound(in) {
		fn.checkNil(in.X, in.Block())
		return
	}
	x := fn.value(in.X)
	d := fn.w.descriptor(in.AssertedType)
	t := fn.w.erased(in.AssertedType)
	n := in.Name()
	q := fn.local()
	if in.CommaOk {
		v, ok := fn.variable(n+"_0", t), fn.variable(n+"_1", "bool")
		fn.variable(q, "interface{}")
		fn.line("%s, %s = rt.As(%s, %d)", q, ok, x, d.ID)
		fn.fromAny(v, t, q)
		return
	}
	fn.line("var %s interface{} = rt.Must(%s, %d, %q, %d)", q, x, d.ID, rt.Name(in.X.Type()), fn.at())
	fn.declareFromAny(in, q)
}

// testsBound reports the assertion that SSA puts before a method value of an interface, which must not be nil.
func testsBound(in *ssa.TypeAssert) bool {
	if in.CommaOk || len(*in.Referrers()) > 0 || !types.Identical(in.AssertedType, in.X.Type()) {
		return false
	}
	for _, other := range in.Block().Instrs {
		if m, ok := other.(*ssa.MakeClosure); ok && isWrapper(m.Fn.(*ssa.Function)) && len(m.Bindings) == 1 && m.Pos() == in.Pos() {
			return true
		}
	}
	return false
}

func (fn *function) selectStatement(in *ssa.Select) {
	n := in.Name()
	s := fn.local()
	fn.line("var %s *rt.Select = rt.NewSelect(%v)", s, in.Blocking)
	for _, st := range in.States {
		if st.Dir == types.SendOnly {
			fn.line("%s.Send(%s, %s)", s, fn.recursiveValue(st.Chan), fn.value(st.Send))
		} else {
			fn.line("%s.Recv(%s)", s, fn.recursiveValue(st.Chan))
		}
	}
	fn.variable(n+"_0", "int")
	fn.variable(n+"_1", "bool")
	fn.line("%s_0 = %s.Do()", n, s)
	fn.line("%s_1 = %s.OK()", n, s)
	k := 2
	tup := in.Type().(*types.Tuple)
	for i, st := range in.States {
		if st.Dir == types.SendOnly {
			continue
		}
		if extracted(in, k) {
			t := fn.w.erased(tup.At(k).Type())
			v := fn.variable(n+"_"+strconv.Itoa(k), t)
			q := fn.local()
			fn.line("var %s interface{} = %s.Received(%d)", q, s, i)
			fn.fromAny(v, t, q)
		}
		k++
	}
}
