package cell

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"sort"

	"golang.org/x/tools/go/ssa"

	"memwall/kernel/cell/lower"
)

// A Program is a compiled cell. Evaluate Unit.Text, call Commit, then the functions Unit.Setup and Entry.
type Program struct {
	Cell    int
	Unit    *lower.Unit
	Entry   string   // the function that runs the statements
	Results []Result // of the last expression, or of several: x, y
	// Failure holds a pointer to the error that ended the cell, Step one to how far the statements got; "" when the cell
	// has no use for them.
	Failure, Step string
	At            string    // a pointer to the position of the statement whose error Failure is
	Predeclared   []Binding // variables of the session's owner that this cell is the first to use

	c         *compilation
	ssa       *ssa.Package
	hidden    []*hiddenVar
	addressed map[string]bool
	steps     [][]string // variables that get their first value at step i+1
}

// A Result is one value of a cell's last expression.
type Result struct {
	Global string // the variable, of type interface{}, is behind this pointer
	Type   string // the value's static type
}

// A Binding is a predeclared variable and the pointer that cells use for it.
type Binding struct{ Name, Global string }

// A hiddenVar is a variable that the compiler adds; the first cell that needs it declares it for all.
type hiddenVar struct {
	name   string
	obj    *types.Var
	global *ssa.Global
	fresh  bool
}

// hiddenVar returns a variable of the compiler's.
func (c *compilation) hiddenVar(name string, t types.Type) *types.Var {
	return c.hide(name, t).obj
}

func (c *compilation) hide(name string, t types.Type) *hiddenVar {
	if h := c.s.hidden[name]; h != nil {
		return h
	}
	if h := c.hidden[name]; h != nil {
		return h
	}
	h := &hiddenVar{name: name, obj: types.NewVar(token.NoPos, c.pkg, name, t), fresh: true}
	if c.hidden == nil {
		c.hidden = map[string]*hiddenVar{}
	}
	c.hidden[name] = h
	return h
}

// finish makes a Program of a checked cell.
func (c *compilation) finish() (*Program, error) {
	p := &Program{Cell: c.src.cell, c: c}
	c.substitute()
	p.addressed = c.addressed()
	c.rewrite(p)
	c.info.InitOrder = nil
	c.createImports(c.info)
	p.ssa = c.s.prog.CreatePackage(c.pkg, c.files, c.info, false)
	p.ssa.SetDebugMode(true) // so that lowering knows where each expression stands
	p.ssa.Build()
	for _, n := range c.kept {
		now, _ := p.ssa.Members[n].(*ssa.Global)
		old := c.s.globalOf(n)
		if now != nil && old != nil {
			c.s.lower.Bind(now, old)
		}
	}
	c.continueTypes()
	unit, err := c.s.lower.Package(p.ssa, c.files...)
	if err != nil {
		return nil, c.refusal(err)
	}
	p.Unit, p.Entry = unit, unit.Function(p.ssa.Func(cellFunc))
	for _, h := range c.hidden {
		if h.global, _ = p.ssa.Members[h.name].(*ssa.Global); h.global != nil {
			p.hidden = append(p.hidden, h)
		}
	}
	global := func(name string) string {
		if h := c.s.hidden[name]; h != nil {
			return unit.Global(h.global)
		}
		if h := c.hidden[name]; h != nil && h.global != nil {
			return unit.Global(h.global)
		}
		return ""
	}
	if c.usesErr {
		p.Failure = global(errVar)
	}
	if c.marked_ {
		p.At = global(atVar)
	}
	if len(p.steps) > 0 {
		p.Step = global(stepVar)
	}
	for i := range p.Results {
		p.Results[i].Global = global(fmt.Sprintf("%s%d", outVar, i))
	}
	for _, d := range c.predeclared {
		if g, ok := p.ssa.Members[d.Name].(*ssa.Global); ok {
			p.Predeclared = append(p.Predeclared, Binding{d.Name, unit.Global(g)})
		}
	}
	return p, nil
}

// refusal turns an error of the lowering into a cell's error.
func (c *compilation) refusal(err error) error {
	var r *lower.Refusal
	if !errors.As(err, &r) {
		return newError(Refused, []Diagnostic{{Message: err.Error()}})
	}
	d := Diagnostic{Place: c.s.files.place(r.Pos), Message: fmt.Sprintf("%s cannot be used in a cell: %s", r.Construct, r.Reason), Hint: r.Way}
	return newError(Refused, []Diagnostic{d})
}

// globalOf is the SSA variable behind a name of the session.
func (s *Session) globalOf(name string) *ssa.Global {
	e := s.names[name]
	if e == nil {
		return nil
	}
	p := s.prog.Package(e.obj.Pkg())
	if p == nil {
		return nil
	}
	g, _ := p.Members[name].(*ssa.Global)
	return g
}

// continueTypes tells the lowering which types are the same as before.
func (c *compilation) continueTypes() {
	for _, t := range c.trees {
		if t.item.kind != token.TYPE {
			continue
		}
		for _, n := range t.item.names {
			e := c.s.names[n]
			now, ok := c.pkg.Scope().Lookup(n).(*types.TypeName)
			if e == nil || !ok || now.IsAlias() {
				continue
			}
			old, ok := e.obj.(*types.TypeName)
			if !ok || old.IsAlias() || !sameShape(old.Type(), now.Type()) {
				continue
			}
			a, ok1 := old.Type().(*types.Named)
			b, ok2 := now.Type().(*types.Named)
			if ok1 && ok2 && a != b {
				c.s.lower.Continue(a, b)
			}
		}
	}
}

// createImports makes the SSA packages of the compiled and generic packages that the checked code uses.
func (c *compilation) createImports(info *types.Info) {
	for _, o := range info.Uses {
		p := o.Pkg()
		if p == nil || p.Path() == mainPath || c.s.prog.Package(p) != nil {
			continue
		}
		c.createPackage(p)
	}
}

func (c *compilation) createPackage(p *types.Package) {
	src := c.s.importer.Source(p)
	if src == nil {
		c.s.prog.CreatePackage(p, nil, nil, true)
		return
	}
	sp := c.s.prog.CreatePackage(p, src.Files, src.Info, true)
	c.createImports(src.Info)
	src.Info.InitOrder = nil
	sp.Build()
}

// substitute puts objects of earlier cells in the place of stand-ins and of variables that go on with the same type.
func (c *compilation) substitute() {
	for n := range c.bodyVars {
		if c.reuses(n) {
			c.standins[c.info.Defs[c.bodyVars[n].id]] = c.s.names[n].obj
		}
	}
	if len(c.standins) == 0 {
		return
	}
	for id, o := range c.info.Uses {
		for c.standins[o] != nil {
			o = c.standins[o]
			c.info.Uses[id] = o
		}
	}
}

// object is the variable that a name of the statements stands for.
func (c *compilation) object(name string) types.Object {
	if name == errVar {
		c.usesErr = true
		return c.hiddenVar(errVar, errorType)
	}
	o := c.info.Defs[c.bodyVars[name].id]
	if s := c.standins[o]; s != nil {
		return s
	}
	return o
}

// rewrite puts the assignments, the guards of errors and the last expression into the statements' function, and declares the
// variables without values: all values are assigned by the function.
func (c *compilation) rewrite(p *Program) {
	fill := map[ast.Stmt]late{}
	for _, l := range c.lateOrder() {
		fill[l.slot] = l
	}
	owner := map[ast.Stmt]*statement{}
	for _, st := range c.stmts {
		owner[st.node] = st
		if st.assign != nil {
			owner[st.assign] = st
		}
		for _, l := range st.lates {
			owner[l.slot] = st
		}
	}
	fresh := c.freshVars()
	var list []ast.Stmt
	for _, n := range c.body.body.Body.List {
		st := owner[n]
		var names []string
		l, isLate := fill[n]
		if isLate {
			list = c.markCall(list, l.assign)
		} else {
			list = c.markCall(list, n)
		}
		if isLate {
			c.useVars(l.assign)
			list = append(list, l.assign)
			if l.guard {
				list = append(list, c.guard(l.assign.TokPos))
			}
			names = freshNames(lhsNames(l.assign), fresh)
		} else if es, ok := n.(*ast.ExprStmt); ok {
			list = append(list, c.expression(p, es)...)
		} else {
			list = append(list, n)
			a, ok := n.(*ast.AssignStmt)
			if st != nil && st.guard && ok {
				c.usesErr = true
				list = append(list, c.guard(a.TokPos))
			}
			if ok {
				names = freshNames(lhsNames(a), fresh)
			}
		}
		if len(names) > 0 {
			p.steps = append(p.steps, names)
			list = append(list, c.setStep(n.Pos(), len(p.steps)))
		}
	}
	if len(p.Results) > 0 && returns(c.body.body.Body) {
		p.steps = append(p.steps, nil)
		list = append(list, c.setStep(c.body.body.End(), len(p.steps)))
	}
	if len(p.steps) > 0 {
		list = append([]ast.Stmt{c.setStep(c.body.body.Pos(), 0)}, list...)
	}
	c.body.body.Body.List = list
	c.declareVars(p)
}

// markCall notes, in front of a statement that calls something, where the call is: an error that it returns, or a panic of
// compiled code, is shown there.
func (c *compilation) markCall(list []ast.Stmt, n ast.Stmt) []ast.Stmt {
	var pos token.Pos
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if _, lit := n.(*ast.FuncLit); lit || pos.IsValid() {
			return false
		}
		if ok && c.showOf(call) == nil && call.Pos().IsValid() {
			if tv, known := c.info.Types[call.Fun]; !known || !tv.IsType() && !tv.IsBuiltin() {
				pos = call.Pos()
			}
		}
		return true
	})
	if !pos.IsValid() {
		return list
	}
	c.marked_ = true
	return append(list, c.setInt(atVar, pos, int(pos)))
}

func lhsNames(a *ast.AssignStmt) []string {
	var ns []string
	for _, l := range a.Lhs {
		if id, ok := l.(*ast.Ident); ok && id.Name != "_" && id.Name != errVar {
			ns = append(ns, id.Name)
		}
	}
	return ns
}

// useVars tells SSA what the names on the left of a late assignment are.
func (c *compilation) useVars(a *ast.AssignStmt) {
	for _, l := range a.Lhs {
		if id, ok := l.(*ast.Ident); ok && id.Name != "_" {
			c.info.Uses[id] = c.object(id.Name)
		}
	}
}

// lateOrder lists the late assignments; those of a whole program are put into the order that Go initialises variables in.
func (c *compilation) lateOrder() []late {
	var ls []late
	for _, st := range c.stmts {
		ls = append(ls, st.lates...)
	}
	if !c.program_ || len(ls) < 2 {
		return ls
	}
	at := map[string]int{}
	for i, in := range c.info.InitOrder {
		for _, v := range in.Lhs {
			at[v.Name()] = i
		}
	}
	slots := make([]*ast.EmptyStmt, len(ls))
	order := make([]int, len(ls))
	for i, l := range ls {
		slots[i] = l.slot
		order[i] = -1
		for _, n := range lhsNames(l.assign) {
			order[i] = max(order[i], at[n])
		}
		if order[i] < 0 {
			order[i] = i
		}
	}
	idx := make([]int, len(ls))
	for i := range idx {
		idx[i] = i
	}
	sort.SliceStable(idx, func(a, b int) bool { return order[idx[a]] < order[idx[b]] })
	sorted := make([]late, len(ls))
	for i, k := range idx {
		sorted[i] = ls[k]
		sorted[i].slot = slots[i]
	}
	return sorted
}

// freshVars are the variables that have no value before this cell.
func (c *compilation) freshVars() map[string]bool {
	m := map[string]bool{}
	for n := range c.bodyVars {
		if !c.reuses(n) {
			m[n] = true
		}
	}
	return m
}

// freshNames takes the names out of a set that get their first value.
func freshNames(names []string, fresh map[string]bool) (first []string) {
	for _, n := range names {
		if fresh[n] {
			delete(fresh, n)
			first = append(first, n)
		}
	}
	return first
}

// returns reports whether statements may return from the function that they are the body of.
func returns(b *ast.BlockStmt) (found bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		}
		return true
	})
	return found
}

// setStep notes, when the cell runs, how many of the steps are done.
func (c *compilation) setStep(pos token.Pos, n int) ast.Stmt { return c.setInt(stepVar, pos, n) }

// setInt assigns a number to a variable of the compiler's.
func (c *compilation) setInt(name string, pos token.Pos, n int) ast.Stmt {
	id := ident(name, pos)
	c.info.Uses[id] = c.hiddenVar(name, types.Typ[types.Int])
	lit := &ast.BasicLit{Kind: token.INT, Value: fmt.Sprint(n), ValuePos: pos}
	c.info.Types[lit] = types.TypeAndValue{Type: types.Typ[types.Int], Value: constant.MakeInt64(int64(n))}
	return &ast.AssignStmt{Lhs: []ast.Expr{id}, TokPos: pos, Tok: token.ASSIGN, Rhs: []ast.Expr{lit}}
}

// guard ends the cell when the error variable is not nil.
func (c *compilation) guard(pos token.Pos) ast.Stmt {
	x, y := ident(errVar, pos), ident("nil", pos)
	c.info.Uses[x], c.info.Types[x] = c.object(errVar), types.TypeAndValue{Type: errorType}
	c.info.Uses[y], c.info.Types[y] = types.Universe.Lookup("nil"), types.TypeAndValue{Type: errorType}
	cond := &ast.BinaryExpr{X: x, OpPos: pos, Op: token.NEQ, Y: y}
	c.info.Types[cond] = types.TypeAndValue{Type: types.Typ[types.Bool]}
	return &ast.IfStmt{If: pos, Cond: cond, Body: &ast.BlockStmt{Lbrace: pos, List: []ast.Stmt{&ast.ReturnStmt{Return: pos}}, Rbrace: pos}}
}

// showOf is the call that an expression is when it shows a value of the last line, else nil.
func (c *compilation) showOf(e ast.Expr) *ast.CallExpr {
	for _, s := range c.shows {
		if e == s {
			return s
		}
	}
	return nil
}

// expression rewrites an expression statement of the top level: a call whose last result is an error may end the cell, and
// the last expression is kept to be shown.
func (c *compilation) expression(p *Program, n *ast.ExprStmt) []ast.Stmt {
	e := n.X
	show := c.showOf(e)
	last := show != nil
	if last {
		e = show.Args[0]
	}
	tv := c.info.Types[unparen(e)]
	if tv.IsVoid() || tv.Type == nil {
		return []ast.Stmt{&ast.ExprStmt{X: e}}
	}
	results := []types.Type{tv.Type}
	if t, ok := tv.Type.(*types.Tuple); ok {
		results = nil
		for i := 0; i < t.Len(); i++ {
			results = append(results, t.At(i).Type())
		}
	}
	_, isCall := unparen(e).(*ast.CallExpr)
	takes := isCall && len(results) > 0 && isError(results[len(results)-1])
	if !last && !takes {
		return []ast.Stmt{n}
	}
	var lhs []ast.Expr
	shown := results
	if takes {
		shown = results[:len(results)-1]
	}
	for _, t := range shown {
		if !last || c.quiet || c.prints(e) {
			lhs = append(lhs, ident("_", e.Pos()))
			continue
		}
		name := fmt.Sprintf("%s%d", outVar, len(p.Results))
		id := ident(name, e.Pos())
		c.info.Uses[id] = c.hiddenVar(name, anyType)
		lhs = append(lhs, id)
		p.Results = append(p.Results, Result{Type: typeText(types.Default(t))})
	}
	if takes {
		id := ident(errVar, e.Pos())
		c.info.Uses[id] = c.object(errVar)
		lhs = append(lhs, id)
	}
	list := []ast.Stmt{&ast.AssignStmt{Lhs: lhs, TokPos: e.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{e}}}
	if takes {
		list = append(list, c.guard(e.Pos()))
	}
	return list
}

// prints reports whether a call is to one of fmt's printing functions: how many bytes they wrote is not worth showing.
func (c *compilation) prints(e ast.Expr) bool {
	call, ok := unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	var id *ast.Ident
	switch f := unparen(call.Fun).(type) {
	case *ast.SelectorExpr:
		id = f.Sel
	case *ast.Ident:
		id = f
	default:
		return false
	}
	f, ok := c.info.Uses[id].(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "fmt" {
		return false
	}
	switch f.Name() {
	case "Print", "Printf", "Println", "Fprint", "Fprintf", "Fprintln":
		return true
	}
	return false
}

// declareVars replaces the variables' declarations, whose values only served to find types.
func (c *compilation) declareVars(p *Program) {
	g := &ast.GenDecl{Tok: token.VAR, TokPos: c.body.file.Name.Pos()}
	add := func(id *ast.Ident) {
		g.Specs = append(g.Specs, &ast.ValueSpec{Names: []*ast.Ident{id}})
	}
	var names []string
	for n := range c.freshVars() {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		add(c.bodyVars[n].id)
	}
	var hidden []string
	for n, h := range c.hidden {
		if n != errVar || c.usesErr {
			hidden = append(hidden, n)
			_ = h
		}
	}
	sort.Strings(hidden)
	for _, n := range hidden {
		id := ident(n, c.body.file.Name.Pos())
		c.info.Defs[id] = c.hidden[n].obj
		add(id)
	}
	var decls []ast.Decl
	for _, d := range c.body.file.Decls {
		if v, ok := d.(*ast.GenDecl); ok && v.Tok == token.VAR {
			continue
		}
		decls = append(decls, d)
	}
	if len(g.Specs) > 0 {
		decls = append([]ast.Decl{g}, decls...)
	}
	c.body.file.Decls = decls
}
