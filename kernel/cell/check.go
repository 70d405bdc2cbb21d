package cell

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"memwall/kernel/cell/exportdata"
)

var (
	anyType   = types.Universe.Lookup("any").Type()
	errorType = types.Universe.Lookup("error").Type()
)

// check type-checks the package.
func (c *compilation) check() {
	scope := c.pkg.Scope()
	params := types.NewTuple(types.NewVar(token.NoPos, c.pkg, "", types.NewSlice(anyType)))
	scope.Insert(types.NewFunc(token.NoPos, c.pkg, showFunc, types.NewSignatureType(nil, nil, nil, params, nil, true)))
	scope.Insert(c.hiddenVar(errVar, errorType))
	c.info = exportdata.NewInfo()
	conf := types.Config{
		GoVersion: goVersion, Importer: c.s.importer, Sizes: sizes,
		Error: func(err error) {
			var e types.Error
			if errors.As(err, &e) {
				c.typeErrs = append(c.typeErrs, e)
			}
		},
	}
	for _, f := range c.files {
		c.hideEarlierTypes(f)
	}
	files := append(append([]*ast.File{}, c.files...), nil)[:len(c.files)]
	_ = types.NewChecker(&conf, c.s.files.fset, c.pkg, c.info).Files(files) // every error went to conf.Error
}

// hideEarlierTypes puts parentheses around the name of a type of an earlier cell that a type is declared as. The type checker
// looks for cycles through plain names, and has no declarations of earlier cells.
func (c *compilation) hideEarlierTypes(f *ast.File) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, s := range g.Specs {
			ts := s.(*ast.TypeSpec)
			if id, ok := ts.Type.(*ast.Ident); ok && !c.declared[id.Name] {
				ts.Type = &ast.ParenExpr{Lparen: id.Pos(), X: id, Rparen: id.End()}
			}
		}
	}
}

// judge looks at what the type checker said: it finds errors of the user's, declarations of earlier cells that do not compile
// any more, and what else must be decided.
func (c *compilation) judge() (again bool, err error) {
	var user []Diagnostic
	for _, e := range c.typeErrs {
		if c.harmless(e) {
			continue
		}
		if strings.HasPrefix(e.Msg, "implicit assignment to unexported field") {
			if named := c.wantsNames(e.Pos); named {
				again = true
				continue
			}
		}
		part, offset, ok := c.s.files.at(e.Pos)
		if !ok {
			again = c.keptError(e) || again
			if !again {
				user = append(user, Diagnostic{Message: cleanMessage(e.Msg)})
			}
			continue
		}
		d := c.diagnostic(e, part, offset)
		if part.item != nil && !c.own[part.item] {
			if c.d.broken[part.item] == nil {
				c.breaks(part.item, d)
				again = true
			}
			continue
		}
		user = append(user, d)
	}
	if len(user) > 0 {
		if c.findErrors() || again {
			return true, nil
		}
		return false, newError(Compile, user)
	}
	if again {
		return true, nil
	}
	if c.typesChanged() || c.shapesChanged() {
		return true, nil
	}
	if ds := append(c.orderErrors(), c.largeArrays()...); len(ds) > 0 {
		return false, newError(Compile, ds)
	}
	return false, nil
}

// wantsNames finds the composite literal of a cell's type that holds pos, and notes the names of its fields.
func (c *compilation) wantsNames(pos token.Pos) (found bool) {
	for _, f := range c.files {
		if pos < f.FileStart || pos > f.FileEnd {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || pos < lit.Lbrace || pos > lit.Rbrace || c.info.Types[lit].Type == nil {
				return true
			}
			t := c.info.Types[lit].Type
			if p, ok := t.Underlying().(*types.Pointer); ok { // {1} for &T{1} in a slice or map
				t = p.Elem()
			}
			st, ok := t.Underlying().(*types.Struct)
			if !ok || st.NumFields() != len(lit.Elts) || isKeyed(lit) || c.d.keyed[c.literal(lit)] != nil {
				return true
			}
			var names []string
			for i := 0; i < st.NumFields(); i++ {
				if p := st.Field(i).Pkg(); p == nil || p.Path() != mainPath {
					return true
				}
				names = append(names, st.Field(i).Name())
			}
			c.d.keyed[c.literal(lit)] = names
			found = true
			return true
		})
	}
	return found
}

func isKeyed(lit *ast.CompositeLit) bool {
	if len(lit.Elts) == 0 {
		return false
	}
	_, ok := lit.Elts[0].(*ast.KeyValueExpr)
	return ok
}

// harmless reports whether a complaint of the type checker does not matter at the top level of a cell.
func (c *compilation) harmless(e types.Error) bool {
	if strings.HasSuffix(e.Msg, "imported and not used") || strings.Contains(e.Msg, "imported as") && strings.HasSuffix(e.Msg, "and not used") {
		return true
	}
	if len(c.shows) == 1 && strings.Contains(e.Msg, "(no value) used as value") {
		x := c.shows[0].Args[0]
		return e.Pos >= x.Pos() && e.Pos <= x.End() && c.noValue(x)
	}
	return false
}

// noValue reports whether an expression is a call that gives nothing.
func (c *compilation) noValue(x ast.Expr) bool {
	call, ok := unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	tv, ok := c.info.Types[call]
	return ok && tv.IsVoid()
}

// keptError makes a variable stale whose type does not exist any more.
func (c *compilation) keptError(e types.Error) bool {
	if c.keptFile == nil {
		return false
	}
	for _, d := range c.keptFile.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR || e.Pos < g.Pos() || e.Pos > g.End() {
			continue
		}
		n := g.Specs[0].(*ast.ValueSpec).Names[0].Name
		if c.d.stale[n] == "" {
			c.d.stale[n] = c.staleText(n)
			return true
		}
	}
	return false
}

// findErrors finds top-level statements that name one value less than their call gives, the last being an error.
func (c *compilation) findErrors() (found bool) {
	for _, st := range c.stmts {
		for _, call := range st.calls {
			tuple, ok := c.info.Types[call.expr].Type.(*types.Tuple)
			if n := call.names; ok && tuple.Len() == n+1 && isError(tuple.At(n).Type()) && !c.d.takeErr[call.call] {
				c.d.takeErr[call.call] = true
				found = true
			}
		}
	}
	return found
}

func isError(t types.Type) bool { return types.Identical(t, errorType) }

// typesChanged finds variables that the statements give another type than they had, so that what mentions them must be
// compiled again.
func (c *compilation) typesChanged() (again bool) {
	for n, v := range c.bodyVars {
		e := c.s.names[n]
		if c.changed[n] || e == nil || e.item != nil {
			continue
		}
		if o := c.info.Defs[v.id]; o == nil || !types.Identical(o.Type(), e.obj.Type()) {
			c.d.changed[n] = true
			again = again || c.hasUsers(n)
		}
	}
	return again
}

func (c *compilation) hasUsers(n string) bool { return len(c.s.users[n]) > 0 }

// shapesChanged finds variables that cannot go on because the new type of their name has another shape.
func (c *compilation) shapesChanged() (again bool) {
	for _, n := range c.kept {
		now := c.pkg.Scope().Lookup(n)
		if now == nil || !sameShape(c.s.names[n].obj.Type(), now.Type()) {
			c.d.stale[n] = c.staleText(n)
			again = true
		}
	}
	return again
}

// orderErrors finds uses of variables in front of the statement that declares them, directly or through functions of the cell:
// they would be zero there.
func (c *compilation) orderErrors() (ds []Diagnostic) {
	if c.program_ || len(c.bodyVars) == 0 {
		return nil
	}
	at := map[types.Object]*bodyVar{}
	for n, v := range c.bodyVars {
		if o := c.info.Defs[v.id]; o != nil && !c.reuses(n) {
			at[o] = v
		}
	}
	if len(at) == 0 {
		return nil
	}
	reach := c.reach(at)
	for i, st := range c.stmts {
		ast.Inspect(st.node, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			o := c.info.Uses[id]
			_, offset, _ := c.s.files.at(id.Pos())
			if v := at[o]; v != nil && v.stmt.index > i {
				d := c.diagnose(offset, "undefined: %s", v.name)
				d.Hint = c.laterText(v)
				ds = append(ds, d)
			}
			for v := range reach[o] {
				if v.stmt.index >= i {
					d := c.diagnose(offset, "%s uses %s, which has no value here", id.Name, v.name)
					d.Hint = c.laterText(v)
					ds = append(ds, d)
				}
			}
			return true
		})
	}
	return ds
}

func (c *compilation) laterText(v *bodyVar) string {
	p := c.s.files.place(v.id.Pos())
	return v.name + " is declared only later in this cell, at " + lineColumn(p)
}

// reach finds the variables that each function of the cell uses, directly or through others.
func (c *compilation) reach(vars map[types.Object]*bodyVar) map[types.Object]map[*bodyVar]bool {
	reach := map[types.Object]map[*bodyVar]bool{}
	uses := map[types.Object][]types.Object{}
	for _, t := range c.trees {
		f, ok := t.file.Decls[len(t.file.Decls)-1].(*ast.FuncDecl)
		if !ok {
			continue
		}
		fn := c.info.Defs[f.Name]
		reach[fn] = map[*bodyVar]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if o := c.info.Uses[id]; o != nil {
					if v := vars[o]; v != nil {
						reach[fn][v] = true
					} else if _, ok := o.(*types.Func); ok && o.Pkg() == c.pkg {
						uses[fn] = append(uses[fn], o)
					}
				}
			}
			return true
		})
	}
	for more := true; more; {
		more = false
		for f, callees := range uses {
			for _, g := range callees {
				for v := range reach[g] {
					if !reach[f][v] {
						reach[f][v] = true
						more = true
					}
				}
			}
		}
	}
	return reach
}

// reuses reports whether a variable of the statements goes on as the one of an earlier cell.
func (c *compilation) reuses(n string) bool {
	e := c.s.names[n]
	if e == nil || e.item != nil || c.changed[n] || c.d.changed[n] || e.stale != "" || c.d.stale[n] != "" {
		return false
	}
	o := c.info.Defs[c.bodyVars[n].id]
	return o != nil && types.Identical(o.Type(), e.obj.Type())
}

// sameShape reports whether two types are the same but for types of cells that were declared again without a change.
func sameShape(old, now types.Type) bool {
	assumed := map[[2]*types.Named]bool{}
	var same func(a, b types.Type) bool
	tuples := func(a, b *types.Tuple) bool {
		if a.Len() != b.Len() {
			return false
		}
		for i := 0; i < a.Len(); i++ {
			if !same(a.At(i).Type(), b.At(i).Type()) {
				return false
			}
		}
		return true
	}
	named := func(a, b *types.Named) bool {
		if a == b || types.Identical(a, b) {
			return true
		}
		an, atop := sessionNamed(a)
		bn, btop := sessionNamed(b)
		if an == "" || an != bn || !atop || !btop || a.TypeArgs().Len() != b.TypeArgs().Len() || a.TypeParams().Len() != b.TypeParams().Len() {
			return false
		}
		for i := 0; i < a.TypeArgs().Len(); i++ {
			if !same(a.TypeArgs().At(i), b.TypeArgs().At(i)) {
				return false
			}
		}
		k := [2]*types.Named{a, b}
		if assumed[k] {
			return true
		}
		assumed[k] = true
		return same(a.Underlying(), b.Underlying())
	}
	same = func(a, b types.Type) bool {
		a, b = types.Unalias(a), types.Unalias(b)
		switch a := a.(type) {
		case *types.Named:
			b, ok := b.(*types.Named)
			return ok && named(a, b)
		case *types.Pointer:
			b, ok := b.(*types.Pointer)
			return ok && same(a.Elem(), b.Elem())
		case *types.Slice:
			b, ok := b.(*types.Slice)
			return ok && same(a.Elem(), b.Elem())
		case *types.Array:
			b, ok := b.(*types.Array)
			return ok && a.Len() == b.Len() && same(a.Elem(), b.Elem())
		case *types.Chan:
			b, ok := b.(*types.Chan)
			return ok && a.Dir() == b.Dir() && same(a.Elem(), b.Elem())
		case *types.Map:
			b, ok := b.(*types.Map)
			return ok && same(a.Key(), b.Key()) && same(a.Elem(), b.Elem())
		case *types.Struct:
			b, ok := b.(*types.Struct)
			if !ok || a.NumFields() != b.NumFields() {
				return false
			}
			for i := 0; i < a.NumFields(); i++ {
				f, g := a.Field(i), b.Field(i)
				if f.Name() != g.Name() || f.Embedded() != g.Embedded() || a.Tag(i) != b.Tag(i) || !same(f.Type(), g.Type()) {
					return false
				}
			}
			return true
		case *types.Signature:
			b, ok := b.(*types.Signature)
			return ok && a.Variadic() == b.Variadic() && tuples(a.Params(), b.Params()) && tuples(a.Results(), b.Results())
		case *types.Interface:
			b, ok := b.(*types.Interface)
			if !ok || a.NumMethods() != b.NumMethods() || a.IsComparable() != b.IsComparable() || a.IsMethodSet() != b.IsMethodSet() {
				return false
			}
			for i := 0; i < a.NumMethods(); i++ {
				if a.Method(i).Name() != b.Method(i).Name() || !same(a.Method(i).Type(), b.Method(i).Type()) {
					return false
				}
			}
			return a.IsMethodSet() || types.Identical(a, b)
		case *types.TypeParam:
			b, ok := b.(*types.TypeParam)
			return ok && a.Index() == b.Index() && a.Obj().Name() == b.Obj().Name()
		}
		return types.Identical(a, b)
	}
	return same(old, now)
}
