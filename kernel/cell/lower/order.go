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
	w      *writer
	spans  []span
	found  map[token.Pos]span            // what statement answered
	places map[ssa.Value]token.Pos       // where expressions stand in the cell
	after  map[ssa.Instruction]token.Pos // where the expression before an instruction stands
}

type span struct{ from, to token.Pos }

func (s span) holds(p token.Pos) bool { return s.from <= p && p < s.to }

func newOrder(w *writer, files []*ast.File) *order {
	o := &order{w: w, found: map[token.Pos]span{}, places: map[ssa.Value]token.Pos{}, after: map[ssa.Instruction]token.Pos{}}
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
		case *ast.AssignStmt:
			if !setsLiterals(n) {
				add(n)
			}
		case *ast.ExprStmt, *ast.ReturnStmt, *ast.SendStmt, *ast.IncDecStmt, *ast.GoStmt, *ast.DeferStmt, *ast.ValueSpec:
			add(n)
		case *ast.CaseClause:
			for _, e := range n.List {
				add(e)
			}
		case *ast.IfStmt:
			if !isGenerated(n.Cond) {
				add(n.Cond)
			}
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
		}
		return true
	})
}

// setsLiterals reports assignments of literals to variables. A session adds such at the places of a cell's own statements.
func setsLiterals(n *ast.AssignStmt) bool {
	for _, e := range n.Lhs {
		if _, ok := e.(*ast.Ident); !ok {
			return false
		}
	}
	for _, e := range n.Rhs {
		if _, ok := e.(*ast.BasicLit); !ok {
			return false
		}
	}
	return true
}

// isGenerated reports expressions with names that no cell can write: a session made them.
func isGenerated(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !token.IsIdentifier(id.Name) {
			found = true
		}
		return !found
	})
	return found
}

// statement is the smallest statement around a position.
func (o *order) statement(p token.Pos) (best span) {
	if s, ok := o.found[p]; ok {
		return s
	}
	defer func() { o.found[p] = best }()
	for _, s := range o.spans {
		if s.holds(p) && (best.from == 0 || s.to-s.from < best.to-best.from) {
			best = s
		}
	}
	return best
}

// crosses reports whether v, or what the block computes from it, is used in another block behind a call of the same statement
// that may write what v reads.
func (o *order) crosses(v ssa.Value, b *ssa.BasicBlock) bool {
	if !leavesBlock(v, b, 0) {
		return false
	}
	st := o.statement(o.place(v, 0))
	if st.from == 0 {
		return false
	}
	for _, other := range b.Parent().Blocks {
		if other == b || !b.Dominates(other) {
			continue
		}
		for _, in := range other.Instrs {
			c, ok := in.(*ssa.Call)
			if !ok || !st.holds(c.Pos()) {
				continue
			}
			if _, builtin := c.Call.Value.(*ssa.Builtin); !builtin && o.touched(v, &c.Call) {
				return true
			}
		}
	}
	return false
}

// leavesBlock reports whether a value, or something computed from it that waits, is used in another block.
func leavesBlock(v ssa.Value, b *ssa.BasicBlock, depth int) bool {
	if depth > 20 || v.Referrers() == nil {
		return true
	}
	for _, r := range *v.Referrers() {
		if r.Block() != b || buildsLiteral(r) {
			return true
		}
		if u, ok := r.(ssa.Value); ok && waits(r) && leavesBlock(u, b, depth+1) {
			return true
		}
	}
	return false
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
		for a, ok := v.X.(*ssa.FieldAddr); ok; a, ok = a.X.(*ssa.FieldAddr) {
			ks = append(ks, "P:"+key(deref(a.X.Type())), "T:"+key(deref(a.X.Type())))
		}
		switch ks[0][0] {
		case 'A':
			ks = ks[:1]
		case 'P':
			ks = append(ks, "T:"+key(t)) // it may point to any variable
		}
	case *ssa.Convert:
		ks = []string{"E:" + key(v.X.Type().Underlying().(*types.Slice).Elem())}
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
