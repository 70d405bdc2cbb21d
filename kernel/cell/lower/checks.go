package lower

import (
	"go/constant"
	"go/token"
	"go/types"
	"math"

	"golang.org/x/tools/go/ssa"
)

// The interpreter's own panics have other texts than Go's and no usable position. So what may panic is tested in front of it,
// in interpreted code where that is fast, unless it is known to hold.

// checks remembers what was tested on the way to a block.
type checks struct {
	notNil  map[ssa.Value][]*ssa.BasicBlock
	indexed map[[2]ssa.Value][]*ssa.BasicBlock
	lengths map[ssa.Value]string // variables that hold the length of a slice or string, set where that is defined
	wanted  map[ssa.Value]bool   // values whose length is to be taken at their definition
}

func newChecks() checks {
	return checks{notNil: map[ssa.Value][]*ssa.BasicBlock{}, indexed: map[[2]ssa.Value][]*ssa.BasicBlock{}, lengths: map[ssa.Value]string{}, wanted: map[ssa.Value]bool{}}
}

func dominated(b *ssa.BasicBlock, by []*ssa.BasicBlock) bool {
	for _, d := range by {
		if d.Dominates(b) {
			return true
		}
	}
	return false
}

// blockOf is the block of the instruction that is being lowered.
func (fn *function) blockOf(v ssa.Value) *ssa.BasicBlock {
	if in, ok := v.(ssa.Instruction); ok {
		return in.Block()
	}
	return fn.f.Blocks[0]
}

// checkAddress makes the tests of a FieldAddr or an IndexAddr.
func (fn *function) checkAddress(a ssa.Value) {
	switch a := a.(type) {
	case *ssa.FieldAddr:
		fn.checkNil(a.X, a.Block())
	case *ssa.IndexAddr:
		if _, ok := a.X.Type().Underlying().(*types.Pointer); ok {
			fn.checkNil(a.X, a.Block())
		}
		fn.checkIndex(a.X, a.Index, a.Block())
	}
}

// checkNil panics when the pointer p is nil, in block b.
func (fn *function) checkNil(p ssa.Value, b *ssa.BasicBlock) {
	switch p.(type) {
	case *ssa.Alloc, *ssa.Global, *ssa.FieldAddr, *ssa.IndexAddr:
		return
	case *ssa.FreeVar:
		if fn.f.Synthetic == "" || fn.f.Syntax() != nil {
			return // the address of a variable
		}
	case *ssa.Const:
		fn.line("rt.PanicNil(%d)", fn.at())
		return
	}
	if dominated(b, fn.checks.notNil[p]) {
		return
	}
	fn.checks.notNil[p] = append(fn.checks.notNil[p], b)
	x := fn.value(p)
	if fn.w.isRecursive(p.Type()) {
		x = fn.recursiveValue(p)
	}
	fn.line("if %s == nil { rt.PanicNil(%d) }", x, fn.at())
}

// checkIndex panics when i is not an index of x: a slice, a string, an array or a pointer to one.
func (fn *function) checkIndex(x, i ssa.Value, b *ssa.BasicBlock) {
	n, isArray := arrayLen(x.Type())
	c, isConst := i.(*ssa.Const)
	switch {
	case isArray && isConst && inRange(c, n), isArray && !isConst && typeFits(i.Type(), n):
		return
	case isConst && !inRange(c, math.MaxInt64):
		length := itoa(n)
		if !isArray {
			length = fn.length(x)
		}
		if constant.Sign(c.Value) < 0 {
			fn.line("rt.PanicIndex(%s, %s, %d)", fn.constantVariable(c), length, fn.at())
		} else {
			fn.line("rt.PanicIndex64(%s, %s, %d)", fn.w.constantVariable("uint64", c.Value.ExactString()), length, fn.at())
		}
		return
	case isArray && isConst:
		fn.line("rt.CheckIndex(%s, %d, %d)", fn.constantVariable(c), n, fn.at())
		return
	}
	key := [2]ssa.Value{x, i}
	if !isConst {
		if dominated(b, fn.checks.indexed[key]) || fn.guarded(x, i, b) {
			return
		}
		fn.checks.indexed[key] = append(fn.checks.indexed[key], b)
	}
	length := ""
	if isArray {
		length = itoa(n)
	} else {
		length = fn.length(x)
	}
	if isConst {
		fn.line("if %s <= %s { rt.PanicIndex(%s, %s, %d) }", length, itoa(c.Int64()), itoa(c.Int64()), length, fn.at())
		return
	}
	k := fn.value(i)
	if !isInt(i.Type()) {
		k = fn.local()
		fn.line("%s := int(%s)", k, fn.value(i))
	}
	panics := "rt.PanicIndex(" + k
	if hasInfo(i.Type(), types.IsUnsigned) && !typeFits(i.Type(), math.MaxInt64) {
		panics = "rt.PanicIndex64(uint64(" + fn.value(i) + ")"
	}
	below := ""
	if !nonNegative(i, nil) {
		below = k + " < 0 || "
	}
	fn.line("if %s%s >= %s { %s, %s, %d) }", below, k, length, panics, length, fn.at())
}

// isInt reports the type int under its own name or a cell's.
func isInt(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Kind() != types.Int && b.Kind() != types.UntypedInt {
		return false
	}
	n, ok := types.Unalias(t).(*types.Named)
	return !ok || n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "main"
}

// inRange reports whether an integer constant is at least 0 and less than n.
func inRange(c *ssa.Const, n int64) bool {
	k, exact := constant.Int64Val(constant.ToInt(c.Value))
	return exact && k >= 0 && k < n
}

// typeFits reports whether all values of an unsigned type are indexes of n elements.
func typeFits(t types.Type, n int64) bool {
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return false
	}
	switch b.Kind() {
	case types.Uint8:
		return n > math.MaxUint8
	case types.Uint16:
		return n > math.MaxUint16
	case types.Uint32:
		return n > math.MaxUint32
	}
	return false
}

// nonNegative reports whether an integer is known not to be negative. A counter that starts at zero or more and goes up is taken
// to be so: were it to overflow, the interpreter itself would refuse the index.
func nonNegative(v ssa.Value, seen map[ssa.Value]bool) bool {
	if hasInfo(v.Type(), types.IsUnsigned) {
		return typeFits(v.Type(), math.MaxInt64)
	}
	if seen[v] {
		return true
	}
	if seen == nil {
		seen = map[ssa.Value]bool{}
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Const:
		return v.Value != nil && inRange(v, math.MaxInt64)
	case *ssa.Phi:
		for _, e := range v.Edges {
			if !nonNegative(e, seen) {
				return false
			}
		}
		return true
	case *ssa.BinOp:
		switch v.Op {
		case token.ADD:
			if countsUp(v.X, v.Y) {
				return true
			}
			return nonNegative(v.X, seen) && nonNegative(v.Y, seen)
		case token.MUL, token.QUO:
			return nonNegative(v.X, seen) && nonNegative(v.Y, seen)
		case token.REM, token.SHR:
			return nonNegative(v.X, seen)
		case token.AND:
			return nonNegative(v.X, seen) || nonNegative(v.Y, seen)
		}
	case *ssa.Call:
		b, ok := v.Call.Value.(*ssa.Builtin)
		return ok && (b.Name() == "len" || b.Name() == "cap" || b.Name() == "copy")
	case *ssa.Convert:
		return hasInfo(v.X.Type(), types.IsInteger) && isInt(v.Type()) && nonNegative(v.X, seen)
	case *ssa.ChangeType:
		return nonNegative(v.X, seen)
	}
	return false
}

// countsUp recognises the counter of a range statement: it starts at -1 and is incremented before it is used.
func countsUp(x, one ssa.Value) bool {
	p, ok := x.(*ssa.Phi)
	c, isConst := one.(*ssa.Const)
	if !ok || !isConst || c.Value == nil || c.Int64() < 1 {
		return false
	}
	for _, e := range p.Edges {
		k, isConst := e.(*ssa.Const)
		b, isSum := e.(*ssa.BinOp)
		switch {
		case isConst && k.Value != nil && k.Int64() >= -1:
		case isSum && b.Op == token.ADD && b.X == p && b.Y == one || isSum && sameIncrement(b, p, c):
		default:
			return false
		}
	}
	return true
}

func sameIncrement(b *ssa.BinOp, p *ssa.Phi, c *ssa.Const) bool {
	k, ok := b.Y.(*ssa.Const)
	return b.Op == token.ADD && b.X == p && ok && k.Value != nil && k.Int64() == c.Int64()
}

// guarded reports whether block b is reached only when i < len(x), and i is not negative.
func (fn *function) guarded(x, i ssa.Value, b *ssa.BasicBlock) bool {
	if !nonNegative(i, nil) {
		return false
	}
	n, isArray := arrayLen(x.Type())
	for d := b; d != nil; d = d.Idom() {
		up := d.Idom()
		if up == nil || len(d.Preds) != 1 || d.Preds[0] != up {
			continue
		}
		in, ok := up.Instrs[len(up.Instrs)-1].(*ssa.If)
		if !ok || up.Succs[0] != d || up.Succs[1] == d {
			continue
		}
		c, ok := in.Cond.(*ssa.BinOp)
		if !ok || c.Op != token.LSS || c.X != i {
			continue
		}
		if k, ok := c.Y.(*ssa.Const); ok && isArray && k.Int64() <= n {
			return true
		}
		if l, ok := c.Y.(*ssa.Call); ok {
			if bi, ok := l.Call.Value.(*ssa.Builtin); ok && bi.Name() == "len" && l.Call.Args[0] == x {
				return true
			}
		}
	}
	return false
}

// planLengths finds the slices and strings that are indexed in another block than their own, perhaps a loop: their length is
// taken once, where they are defined.
func (fn *function) planLengths(order []*ssa.BasicBlock) {
	for _, b := range order {
		for _, in := range b.Instrs {
			var x ssa.Value
			switch in := in.(type) {
			case *ssa.IndexAddr:
				x = in.X
			case *ssa.Index:
				x = in.X
			case *ssa.Lookup:
				x = in.X
			default:
				continue
			}
			if fn.takesLength(x) && fn.blockOf(x) != b {
				fn.checks.wanted[x] = true
			}
		}
	}
}

// takesLength reports values in registers whose length is a variable.
func (fn *function) takesLength(x ssa.Value) bool {
	switch x.(type) {
	case *ssa.Const, *ssa.Global, *ssa.Function:
		return false
	}
	switch x.Type().Underlying().(type) {
	case *types.Slice:
		return !fn.w.isRecursive(x.Type())
	case *types.Basic:
		return isString(x.Type())
	}
	return false
}

// lengthAtDefinition takes the length of a value that was just defined, when it is wanted.
func (fn *function) lengthAtDefinition(v ssa.Value) {
	if !fn.checks.wanted[v] || fn.plan.folded[v] {
		return
	}
	e, ok := fn.expr[v]
	if !ok {
		return
	}
	n := fn.variable(fn.local(), "int")
	fn.line("%s = len(%s)", n, e)
	fn.checks.lengths[v] = n
}

// length is the length of a slice or a string.
func (fn *function) length(x ssa.Value) string {
	if n, ok := fn.checks.lengths[x]; ok {
		return n
	}
	e := fn.recursiveValue(x)
	if c, ok := x.(*ssa.Const); ok && c.Value != nil {
		e = fn.local()
		fn.line("var %s string = %s", e, fn.value(x))
	}
	n := fn.local()
	fn.line("%s := len(%s)", n, e)
	return n
}
