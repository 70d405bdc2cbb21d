package cell

import (
	"go/ast"
	"go/token"
)

// A statement is one of the top level of a cell.
type statement struct {
	index  int
	node   ast.Stmt
	calls  []assignedCall  // those whose results are assigned
	names  []*ast.Ident    // what it declares or assigns
	define bool            // := or var: names are session variables
	decl   *ast.GenDecl    // the declaration of the variables on package level
	assign *ast.AssignStmt // checked as a statement of the body
	lates  []late
	guard  bool // a returned error ends the cell
}

// A call is the place of a call among the statements: the statement, and the specification of its declaration.
type call struct{ statement, spec int }

// An assignedCall is a call whose results a number of names take.
type assignedCall struct {
	call
	expr  *ast.CallExpr
	names int
}

func appendCall(list []assignedCall, at call, e ast.Expr, names int) []assignedCall {
	if x, ok := unparen(e).(*ast.CallExpr); ok {
		list = append(list, assignedCall{at, x, names})
	}
	return list
}

// A late assignment is put into its slot after the check: its values are those of the variables' declaration.
type late struct {
	slot   *ast.EmptyStmt
	assign *ast.AssignStmt
	spec   *ast.ValueSpec
	guard  bool
}

// A bodyVar is a variable that a statement declares.
type bodyVar struct {
	name string
	id   *ast.Ident
	stmt *statement
}

// scanVars finds the variables that the statements declare, before anything is known of types.
func (c *compilation) scanVars() []string {
	var names []string
	for i, n := range c.body.body.Body.List {
		st := &statement{index: i, node: n}
		c.stmts = append(c.stmts, st)
		var ids []*ast.Ident
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Rhs) == 1 {
				st.calls = appendCall(st.calls, call{st.index, 0}, n.Rhs[0], len(n.Lhs))
			}
			if n.Tok != token.DEFINE {
				continue
			}
			for _, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok {
					ids = append(ids, id)
				}
			}
			if len(ids) != len(n.Lhs) {
				continue // the type checker says what is wrong
			}
		case *ast.DeclStmt:
			g, ok := n.Decl.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				ids = append(ids, s.(*ast.ValueSpec).Names...)
			}
		case *ast.ExprStmt:
			continue
		default:
			continue
		}
		st.define, st.names = true, ids
		for _, id := range ids {
			if id.Name == "_" || c.bodyVars[id.Name] != nil {
				continue
			}
			c.bodyVars[id.Name] = &bodyVar{name: id.Name, id: id, stmt: st}
			names = append(names, id.Name)
		}
	}
	return names
}

func unparen(e ast.Expr) ast.Expr {
	for {
		p, ok := e.(*ast.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}

func ident(name string, pos token.Pos) *ast.Ident { return &ast.Ident{Name: name, NamePos: pos} }

// hoist moves the variables of the top level out of the statements' function: each becomes a variable of the package, declared
// with its value so that the type checker finds its type, and assigned where the statement stands.
func (c *compilation) hoist() {
	var list []ast.Stmt
	for _, st := range c.stmts {
		switch n := st.node.(type) {
		case *ast.AssignStmt:
			if st.define {
				list = append(list, c.hoistDefine(st, n)...)
				continue
			}
			if c.d.takeErr[call{st.index, 0}] {
				n.Lhs, st.guard = append(n.Lhs, ident(errVar, n.TokPos)), true
			}
			st.assign = n
		case *ast.DeclStmt:
			if st.define {
				list = append(list, c.hoistVar(st, n.Decl.(*ast.GenDecl))...)
				continue
			}
		}
		list = append(list, st.node)
	}
	c.body.body.Body.List = list
}

// slot is where statements that are made after the check go.
func slot(pos token.Pos) *ast.EmptyStmt { return &ast.EmptyStmt{Semicolon: pos, Implicit: true} }

func (c *compilation) hoistDefine(st *statement, n *ast.AssignStmt) []ast.Stmt {
	fresh, blanks := 0, 0
	var declNames []*ast.Ident
	for _, id := range st.names {
		v := c.bodyVars[id.Name]
		switch {
		case id.Name == "_":
			blanks++
			declNames = append(declNames, ident("_", id.NamePos))
		case v.stmt == st && v.id == id:
			fresh++
			declNames = append(declNames, id)
		default:
			declNames = append(declNames, ident("_", id.NamePos))
		}
	}
	take := c.d.takeErr[call{st.index, 0}]
	st.guard = take
	lhs := func() []ast.Expr {
		var l []ast.Expr
		for _, id := range st.names {
			l = append(l, ident(id.Name, id.NamePos))
		}
		if take {
			l = append(l, ident(errVar, n.TokPos))
		}
		return l
	}
	if fresh == 0 {
		if blanks == len(st.names) {
			st.define = false
			return []ast.Stmt{n} // the type checker says what is wrong
		}
		// declared by an earlier statement of this cell: the statement assigns
		st.assign = &ast.AssignStmt{Lhs: lhs(), TokPos: n.TokPos, Tok: token.ASSIGN, Rhs: n.Rhs}
		return []ast.Stmt{st.assign}
	}
	if take {
		declNames = append(declNames, ident("_", n.TokPos))
	}
	spec := &ast.ValueSpec{Names: declNames, Values: n.Rhs}
	st.decl = &ast.GenDecl{TokPos: n.Pos(), Tok: token.VAR, Specs: []ast.Spec{spec}}
	assign := &ast.AssignStmt{Lhs: lhs(), TokPos: n.TokPos, Tok: token.ASSIGN, Rhs: n.Rhs}
	if fresh+blanks < len(st.names) {
		st.assign = assign // the type checker looks at the value twice: once for the new names, once for the others
		return []ast.Stmt{assign}
	}
	st.lates = append(st.lates, late{slot(n.Pos()), assign, spec, take})
	return []ast.Stmt{st.lates[0].slot}
}

// hoistVar moves a var declaration. Its values, when the type is not written, are assigned after the check.
func (c *compilation) hoistVar(st *statement, g *ast.GenDecl) []ast.Stmt {
	st.decl = &ast.GenDecl{TokPos: g.TokPos, Tok: token.VAR}
	var list []ast.Stmt
	for i, s := range g.Specs {
		spec := s.(*ast.ValueSpec)
		var names []*ast.Ident
		var lhs []ast.Expr
		for _, id := range spec.Names {
			if v := c.bodyVars[id.Name]; v != nil && v.id != id {
				// declared twice in one cell: the type checker says so
				names = append(names, id)
				continue
			}
			names = append(names, id)
			lhs = append(lhs, ident(id.Name, id.NamePos))
		}
		if len(spec.Values) == 1 {
			st.calls = appendCall(st.calls, call{st.index, i}, spec.Values[0], len(spec.Names))
		}
		take := c.d.takeErr[call{st.index, i}]
		if take {
			lhs, st.guard = append(lhs, ident(errVar, spec.Pos())), true
		}
		switch {
		case len(spec.Values) == 0:
			st.decl.Specs = append(st.decl.Specs, spec)
			for _, l := range lhs {
				if l.(*ast.Ident).Name == "_" {
					continue
				}
				list = append(list, &ast.AssignStmt{Lhs: []ast.Expr{l}, TokPos: spec.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{c.zero(spec)}})
			}
		case spec.Type != nil && take:
			st.decl.Specs = append(st.decl.Specs, &ast.ValueSpec{Names: names, Type: spec.Type})
			st.assign = &ast.AssignStmt{Lhs: lhs, TokPos: spec.Pos(), Tok: token.ASSIGN, Rhs: spec.Values}
			list = append(list, st.assign)
		default:
			if take {
				names = append(names, ident("_", spec.Pos()))
			}
			decl := &ast.ValueSpec{Names: names, Type: spec.Type, Values: spec.Values}
			st.decl.Specs = append(st.decl.Specs, decl)
			if c.splits(spec) {
				for i, l := range lhs {
					one := &ast.AssignStmt{Lhs: []ast.Expr{l}, TokPos: spec.Pos(), Tok: token.ASSIGN, Rhs: spec.Values[i : i+1]}
					at := slot(spec.Pos())
					st.lates = append(st.lates, late{at, one, decl, false})
					list = append(list, at)
				}
				continue
			}
			assign := &ast.AssignStmt{Lhs: lhs, TokPos: spec.Pos(), Tok: token.ASSIGN, Rhs: spec.Values}
			at := slot(spec.Pos())
			st.lates = append(st.lates, late{at, assign, decl, take})
			list = append(list, at)
		}
	}
	return list
}

// zero is the zero value of a declaration's type as an expression: *new(T), or what needs no name of Go's where a cell has
// taken that one.
func (c *compilation) zero(spec *ast.ValueSpec) ast.Expr {
	pos := spec.Pos()
	taken := c.s.names["new"] != nil || c.bodyVars["new"] != nil
	for _, t := range c.trees {
		for _, n := range t.item.names {
			taken = taken || n == "new"
		}
	}
	if !taken {
		return &ast.StarExpr{Star: pos, X: &ast.CallExpr{Fun: ident("new", pos), Lparen: pos, Args: []ast.Expr{spec.Type}, Rparen: pos}}
	}
	result := &ast.FieldList{Opening: pos, Closing: pos, List: []*ast.Field{{Names: []*ast.Ident{ident("zero", pos)}, Type: spec.Type}}}
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos, Params: &ast.FieldList{Opening: pos, Closing: pos}, Results: result},
		Body: &ast.BlockStmt{Lbrace: pos, List: []ast.Stmt{&ast.ReturnStmt{Return: pos}}, Rbrace: pos},
	}
	return &ast.CallExpr{Fun: lit, Lparen: pos, Rparen: pos}
}

// splits reports whether the variables of a declaration get their values one by one, as Go initialises those of a package.
func (c *compilation) splits(spec *ast.ValueSpec) bool {
	if !c.program_ || len(spec.Names) < 2 || len(spec.Names) != len(spec.Values) {
		return false
	}
	for _, id := range spec.Names {
		if v := c.bodyVars[id.Name]; v != nil && v.id != id || !c.clause && c.s.names[id.Name] != nil {
			return false
		}
	}
	return true
}
