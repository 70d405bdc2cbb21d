package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// The language leaves open whether a variable is read before or after a call in the same statement. The Go compiler reads it
// after, SSA before. order finds the reads for which that matters: those of memory that the call may write.
type order struct {
	w     *writer
	spans []span
	reach map[*ssa.Function]map[string]bool // what a function may write, with all that it calls
}

type span struct{ from, to token.Pos }

func newOrder(w *writer, files []*ast.File) *order {
	o := &order{w: w, reach: map[*ssa.Function]map[string]bool{}}
	for _, f := range files {
		o.addSpans(f)
	}
	for _, f := range packageFunctions(w.pkg) {
		w.l.analyse(w, f)
	}
	if f := w.pkg.Func("init"); f != nil {
		w.l.analyse(w, f)
	}
	return o
}

// addSpans notes where the statements of a tree begin and end.
func (o *order) addSpans(f ast.Node) {
	add := func(n ast.Node) { o.spans = append(o.spans, span{n.Pos(), n.End()}) }
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ExprStmt, *ast.AssignStmt, *ast.ReturnStmt, *ast.SendStmt, *ast.IncDecStmt, *ast.GoStmt, *ast.DeferStmt, *ast.DeclStmt:
			add(n)
		case *ast.IfStmt:
			add(n.Cond)
		case *ast.ForStmt:
			if n.Cond != nil {
				add(n.Cond)
			}
		case *ast.SwitchStmt:
			if n.Tag != nil {
				add(n.Tag)
			}
		case *ast.RangeStmt:
			add(n.X)
		case *ast.GenDecl:
			if n.Tok == token.VAR {
				add(n)
			}
		}
		return true
	})
}

// statement is the smallest statement around a position.
func (o *order) statement(p token.Pos) (best span) {
	for _, s := range o.spans {
		if s.from <= p && p < s.to && (best.from == 0 || s.to-s.from < best.to-best.from) {
			best = s
		}
	}
	return best
}

// later returns the index of the last call of v's statement in its block that may write what v reads, -1 if there is none. i is
// the index of v.
func (o *order) later(v ssa.Value, b *ssa.BasicBlock, i int) int {
	r := -1
	var st span
	for k := i + 1; k < len(b.Instrs); k++ {
		c, ok := b.Instrs[k].(*ssa.Call)
		if !ok {
			continue
		}
		if _, ok := c.Call.Value.(*ssa.Builtin); ok {
			continue
		}
		if st.from == 0 {
			if st = o.statement(readPos(v)); st.from == 0 {
				return -1
			}
		}
		if c.Pos() < st.from || c.Pos() >= st.to {
			if c.Pos().IsValid() {
				break
			}
			continue
		}
		if o.touched(v, &c.Call) {
			r = k
		}
	}
	return r
}

// crosses reports whether v, or what the block computes from it, is used in another block behind a call of the same statement
// that may write what v reads.
func (o *order) crosses(v ssa.Value, b *ssa.BasicBlock) bool {
	if !leavesBlock(v, b, 0) {
		return false
	}
	st := o.statement(readPos(v))
	if st.from == 0 {
		return false
	}
	for _, other := range b.Parent().Blocks {
		if other == b || !b.Dominates(other) {
			continue
		}
		for _, in := range other.Instrs {
			c, ok := in.(*ssa.Call)
			if !ok || c.Pos() < st.from || c.Pos() >= st.to {
				continue
			}
			if _, builtin := c.Call.Value.(*ssa.Builtin); !builtin && o.touched(v, &c.Call) {
				return true
			}
		}
	}
	return false
}

// leavesBlock reports whether a value or something computed from it is used in another block.
func leavesBlock(v ssa.Value, b *ssa.BasicBlock, depth int) bool {
	if depth > 20 || v.Referrers() == nil {
		return true
	}
	for _, r := range *v.Referrers() {
		if r.Block() != b {
			return true
		}
		switch r := r.(type) {
		case *ssa.Phi:
			return true
		case *ssa.BinOp, *ssa.Convert, *ssa.ChangeType, *ssa.MakeInterface:
			if leavesBlock(r.(ssa.Value), b, depth+1) {
				return true
			}
		case *ssa.UnOp:
			if r.Op != token.MUL && leavesBlock(r, b, depth+1) {
				return true
			}
		case *ssa.Store:
			if _, ok := variableOf(r.Addr).(*ssa.Alloc); ok && r.Val == v {
				return true // a part of a composite literal
			}
		}
	}
	return false
}

// readPos is where a read stands in the cell.
func readPos(v ssa.Value) token.Pos {
	for range 4 {
		if v.Pos().IsValid() {
			return v.Pos()
		}
		switch x := v.(type) {
		case *ssa.UnOp:
			v = x.X
		case *ssa.FieldAddr:
			v = x.X
		case *ssa.IndexAddr:
			v = x.X
		default:
			return token.NoPos
		}
	}
	return token.NoPos
}

// touched reports whether a call may write what v reads.
func (o *order) touched(v ssa.Value, c *ssa.CallCommon) bool {
	var ks []string
	var t types.Type
	key := o.w.l.registry.Key
	switch v := v.(type) {
	case *ssa.UnOp:
		if r := variableOf(v.X); private(r) && !captured(r) {
			return false
		}
		ks = o.w.keys(v.X)
		t = v.Type()
		ks = append(ks, "P:"+key(t))
		if f, ok := v.X.(*ssa.FieldAddr); ok {
			ks = append(ks, "P:"+key(deref(f.X.Type())))
		}
		if ks[0][0] == 'A' {
			ks = ks[:1]
		}
	case *ssa.Lookup:
		if m, ok := v.X.(*ssa.MakeMap); ok && !leaks(m) {
			return false
		}
		ks = []string{"M:" + key(v.X.Type().Underlying())}
	}
	for _, f := range o.callees(c) {
		writes := o.writes(f)
		for _, k := range ks {
			if writes[k] {
				return true
			}
		}
		if t == nil || !isStruct(t) {
			continue
		}
		prefix := "F:" + key(t.Underlying()) + ":"
		for k := range writes {
			if len(k) > len(prefix) && k[:len(prefix)] == prefix {
				return true
			}
		}
	}
	return false
}

// writes is what a function may write, with all that it calls.
func (o *order) writes(f *ssa.Function) map[string]bool {
	if w, ok := o.reach[f]; ok {
		return w
	}
	all := map[string]bool{}
	seen := map[*ssa.Function]bool{}
	var walk func(f *ssa.Function)
	walk = func(f *ssa.Function) {
		if seen[f] {
			return
		}
		seen[f] = true
		e := o.w.l.analyse(o.w, f)
		for k := range e.writes {
			all[k] = true
		}
		for _, c := range e.calls {
			for _, g := range o.callees(c) {
				walk(g)
			}
		}
	}
	walk(f)
	o.reach[f] = all
	return all
}

// callees are the functions that a call may run.
func (o *order) callees(c *ssa.CallCommon) []*ssa.Function {
	if c.IsInvoke() {
		return o.byKey("." + c.Method.Name())
	}
	if f := c.StaticCallee(); f != nil {
		if !external(f) {
			return []*ssa.Function{f}
		}
		var r []*ssa.Function // callbacks of a compiled function
		for _, a := range c.Args {
			if s, ok := a.Type().Underlying().(*types.Signature); ok {
				r = append(r, o.byKey(signatureKey(o.w, s))...)
			}
			if isInterface(a.Type()) || hasMethods(a.Type()) {
				r = append(r, o.methodsOf(a.Type())...)
			}
		}
		return r
	}
	if _, ok := c.Value.(*ssa.Builtin); ok {
		return nil
	}
	return o.byKey(signatureKey(o.w, c.Signature()))
}

func hasMethods(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.Named)
	return ok
}

// methodsOf are the functions that carry out the methods of an interface which a compiled function may call.
func (o *order) methodsOf(t types.Type) []*ssa.Function {
	it, ok := t.Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	var r []*ssa.Function
	for i := range it.NumMethods() {
		r = append(r, o.byKey("."+it.Method(i).Name())...)
	}
	return r
}

// byKey lists the analysed functions with a signature or a method's name.
func (o *order) byKey(k string) []*ssa.Function {
	fs, _ := o.w.l.byKey.get(k)
	return fs
}
