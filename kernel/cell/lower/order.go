package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// The language leaves open whether a variable is read before or after a call in the same statement. The Go compiler reads it
// after, SSA before. order finds the reads for which that matters: those of memory that the call may write.
type order struct {
	w     *writer
	spans []span
}

type span struct{ from, to token.Pos }

func newOrder(w *writer, files []*ast.File) *order {
	o := &order{w: w}
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
	prefix := ""
	if t != nil && isStruct(t) {
		prefix = "F:" + key(t.Underlying()) + ":"
	}
	return o.writes(c, func(s *summary) bool {
		for _, k := range ks {
			if s.writes[k] {
				return true
			}
		}
		for k := range s.writes {
			if prefix != "" && strings.HasPrefix(k, prefix) {
				return true
			}
		}
		return false
	})
}

// writes reports whether hit holds of the summary of something that a call may run.
func (o *order) writes(c *ssa.CallCommon, hit func(*summary) bool) bool {
	l := o.w.l
	f, keys := o.w.calls(c)
	seen := map[string]bool{}
	visit := func(s *summary) bool {
		for k := range s.dynamic {
			if !seen[k] {
				keys = append(keys, k)
			}
		}
		return hit(s)
	}
	if f != nil && visit(l.summary(o.w, f)) {
		return true
	}
	for len(keys) > 0 {
		k := keys[len(keys)-1]
		keys = keys[:len(keys)-1]
		if seen[k] {
			continue
		}
		seen[k] = true
		if s := l.callable.kept[k]; s != nil && visit(s) {
			return true
		}
		for _, f := range l.callable.fresh[k] {
			if visit(l.summary(o.w, f)) {
				return true
			}
		}
	}
	return false
}
