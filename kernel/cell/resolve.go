package cell

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"sort"
	"strconv"
	"strings"

	"memwall/kernel/cell/exportdata"
)

// assemble decides what the cell's package declares, and moves the variables of the statements to package level.
func (c *compilation) assemble() {
	for _, t := range append(append([]*tree{}, c.trees...), c.body) {
		c.nameFields(t.file)
	}
	c.hoist()
	c.showLast()
	for _, t := range c.trees {
		if c.own[t.item] {
			for _, n := range t.item.names {
				c.declared[n] = true
			}
		}
	}
	for n := range c.bodyVars {
		c.declared[n] = true
	}
	for _, t := range c.trees {
		if !c.own[t.item] {
			c.declareRest(t)
		}
	}
	for n := range c.changed {
		e := c.s.names[n]
		if e != nil && e.item == nil && !c.declared[n] && e.stale == "" && c.d.stale[n] == "" {
			c.kept = append(c.kept, n)
		}
	}
	sort.Strings(c.kept)
	for _, n := range c.kept {
		c.declared[n] = true
	}
}

// declareRest declares the names of a group from an earlier cell that nothing else has taken; the others become blank.
func (c *compilation) declareRest(t *tree) {
	rename := func(id *ast.Ident) {
		e := c.s.names[id.Name]
		if id.Name == "_" {
			return
		}
		if c.declared[id.Name] || e == nil || e.item != t.item {
			id.Name = "_"
			return
		}
		c.declared[id.Name] = true
	}
	for _, d := range t.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				rename(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						rename(n)
					}
				case *ast.TypeSpec:
					rename(s.Name)
				}
			}
		}
	}
}

// showLast wraps the cell's last expression, or each of several.
func (c *compilation) showLast() {
	list := c.body.body.Body.List
	if c.runsMain {
		for _, n := range append(append([]string{}, c.inits...), "main") {
			call := &ast.CallExpr{Fun: ident(n, token.NoPos)}
			list = append(list, &ast.ExprStmt{X: call})
		}
		c.body.body.Body.List = list
		return
	}
	for _, n := range c.inits {
		list = append(list, &ast.ExprStmt{X: &ast.CallExpr{Fun: ident(n, token.NoPos)}})
	}
	c.body.body.Body.List = list
	if len(c.inits) > 0 || len(c.sp.chunks) == 0 || len(list) == 0 {
		return
	}
	last := c.sp.chunks[len(c.sp.chunks)-1]
	c.quiet = last.semicolon >= 0
	for i := max(0, len(list)-c.body.last); i < len(list) && last.kind == token.ILLEGAL; i++ {
		es, ok := list[i].(*ast.ExprStmt)
		if !ok {
			return
		}
		if _, isCall := unparen(es.X).(*ast.CallExpr); c.quiet && isCall {
			continue // a statement
		}
		show := &ast.CallExpr{Fun: ident(showFunc, es.Pos()), Lparen: es.Pos(), Args: []ast.Expr{es.X}, Rparen: es.End()}
		c.shows = append(c.shows, show)
		list[i] = &ast.ExprStmt{X: show}
	}
}

// nameFields writes the names of fields into composite literals whose type is of an earlier cell: the type checker takes that
// cell's package for another one, whose private fields it lets nobody set without a name.
func (c *compilation) nameFields(file *ast.File) {
	if len(c.d.keyed) == 0 {
		return
	}
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		names := c.d.keyed[c.literal(lit)]
		if len(names) != len(lit.Elts) {
			return true
		}
		keyed := lit.Elts[:0:0]
		for i, e := range lit.Elts {
			if names[i] != "_" || !isPlain(e) { // Go's compiler leaves blank fields zero
				keyed = append(keyed, &ast.KeyValueExpr{Key: ident(names[i], e.Pos()), Colon: e.Pos(), Value: e})
			}
		}
		lit.Elts = keyed
		return true
	})
}

// isPlain reports literals: leaving them out changes nothing.
func isPlain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return e.Name == "true" || e.Name == "false" || e.Name == "nil"
	case *ast.ParenExpr:
		return isPlain(e.X)
	case *ast.UnaryExpr:
		return e.Op != token.ARROW && isPlain(e.X)
	case *ast.BinaryExpr:
		return isPlain(e.X) && isPlain(e.Y)
	case *ast.KeyValueExpr:
		return isPlain(e.Value)
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			if !isPlain(x) {
				return false
			}
		}
		return true
	}
	return false
}

func (c *compilation) literal(lit *ast.CompositeLit) literal {
	part, offset, _ := c.s.files.at(lit.Lbrace)
	return literal{part.src, offset}
}

// A binding is what the free names of a file mean.
type binding struct {
	imports map[string]string // name in the file → path
	dots    map[string]bool
	at      map[string]token.Pos
}

// resolve finds what every free name means: it puts objects of earlier cells into the scope of the new package and imports
// packages on first use.
func (c *compilation) resolve() (again bool) {
	c.pkg = types.NewPackage(mainPath, mainPath)
	inserted := map[string]bool{}
	if again = c.keptVariables(inserted); again {
		return true
	}
	for _, t := range append(append([]*tree{}, c.trees...), c.body) {
		b := &binding{map[string]string{}, map[string]bool{}, map[string]token.Pos{}}
		for _, f := range t.free {
			if why := c.bind(t, f, b, inserted); why != nil {
				if t.item == nil || c.own[t.item] {
					c.userErrs = append(c.userErrs, *why)
					continue
				}
				if e := c.s.names[f.id.Name]; e != nil && c.breakageOf(e) != nil {
					root := *c.breakageOf(e)
					root.via = f.id.Name
					root.since = c.src.cell
					c.d.broken[t.item] = &root
				} else {
					c.breaks(t.item, *why)
					c.d.broken[t.item].text = why.Message
				}
				again = true
				break
			}
		}
		t.imports = b.imports
		addImports(t.file, b)
		c.files = append(c.files, t.file)
	}
	c.predeclare()
	var vars []ast.Decl
	for _, st := range c.stmts {
		if st.decl != nil {
			vars = append(vars, st.decl)
		}
	}
	n := len(c.body.file.Decls) - 1
	c.body.file.Decls = append(append(append([]ast.Decl{}, c.body.file.Decls[:n]...), vars...), c.body.body)
	c.body.body.Name.Name = cellFunc
	return again
}

// bind gives one free name its meaning; the diagnostic says why it has none.
func (c *compilation) bind(t *tree, f freeName, b *binding, inserted map[string]bool) *Diagnostic {
	name := f.id.Name
	old := t.item == nil && c.bodyVars[name] != nil && c.before(f) // a use in front of the name's declaration
	if old && f.key && c.hasFields(f.of) {
		return nil // a field's name: go/types finds it in the struct
	}
	local := name
	if old {
		local = name + oldMark
	}
	use := func(path string) {
		if o := exportdata.Overlaid[path+"."+f.member]; o != "" {
			path, local = o, strings.ReplaceAll(o, "/", "·")
		}
		f.id.Name, b.imports[local], b.at[local] = local, path, f.id.Pos()
	}
	if t.item != nil && !c.own[t.item] && t.item.imports[name] != "" {
		use(t.item.imports[name])
		return nil
	}
	if c.declared[name] && !old {
		return nil
	}
	if p := c.imports[name]; p != "" {
		use(p)
		return nil
	}
	if e := c.s.names[name]; e != nil && !c.gone(name, e) {
		if why := c.unusable(name, e); why != "" {
			_, offset, _ := c.s.files.at(f.id.Pos())
			d := Diagnostic{Place: c.s.files.place(f.id.Pos()), offset: offset, Message: why}
			return &d
		}
		f.id.Name = local
		if !inserted[local] {
			inserted[local] = true
			o := e.obj
			if old {
				o = c.standin(e.obj, local)
			}
			c.pkg.Scope().Insert(o)
		}
		return nil
	}
	return c.bindOutside(f, old, use, b)
}

// before reports whether a free name of the statements, which they declare, means something earlier. In a whole program
// declarations may stand in any order; declarations alone may too where the name is new.
func (c *compilation) before(f freeName) bool {
	if c.clause {
		return false
	}
	n := c.bodyVars[f.id.Name].stmt.node
	own := n.Pos() <= f.id.Pos() && f.id.Pos() < n.End()
	return !c.program_ || c.s.names[f.id.Name] != nil || own && f.selector && c.s.auto[f.id.Name] != ""
}

// hasFields reports whether the keys of a literal of this type are names of fields: it is a struct, or of a type that is not
// written and not known, which mostly is one.
func (c *compilation) hasFields(of ast.Expr) bool {
	switch t := pointee(of).(type) {
	case *ast.MapType, *ast.ArrayType:
		return false
	case *ast.IndexExpr:
		return c.hasFields(t.X)
	case *ast.IndexListExpr:
		return c.hasFields(t.X)
	case *ast.SelectorExpr:
		if pkg, ok := t.X.(*ast.Ident); ok {
			return c.structOf(pkg.Name, t.Sel.Name)
		}
	case *ast.Ident:
		for _, tree := range c.trees {
			if spec := typeSpec(tree.file, t.Name); spec != nil {
				if _, named := spec.Type.(*ast.Ident); named { // perhaps a circle, which go/types will report
					return true
				}
				return c.hasFields(spec.Type)
			}
		}
		if e := c.s.names[t.Name]; e != nil && e.obj.Type() != nil {
			return isStruct(e.obj.Type())
		}
	}
	return true
}

// structOf reports whether a type of a compiled package is a struct.
func (c *compilation) structOf(pkg, name string) bool {
	path := c.imports[pkg]
	if path == "" {
		path = c.s.imports[pkg]
	}
	if path == "" {
		path = c.s.auto[pkg]
	}
	if p, err := c.s.importer.Import(path); err == nil {
		if o := p.Scope().Lookup(name); o != nil {
			return isStruct(o.Type())
		}
	}
	return true
}

func isStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// typeSpec finds the declaration of a type anywhere in a file.
func typeSpec(file *ast.File, name string) (found *ast.TypeSpec) {
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == name {
			found = spec
		}
		return found == nil
	})
	return found
}

// gone reports whether an earlier meaning of a name is hidden by this cell (an import of the name).
func (c *compilation) gone(name string, e *entity) bool { return c.imports[name] != "" }

// breakageOf is why the declaration behind a name does not compile, nil when it does.
func (c *compilation) breakageOf(e *entity) *breakage {
	if e.item == nil {
		return nil
	}
	if b := c.d.broken[e.item]; b != nil {
		return b
	}
	return e.item.broken
}

// unusable says why the object of a name cannot be used, "" when it can.
func (c *compilation) unusable(name string, e *entity) string {
	if why := c.d.stale[name]; why != "" {
		return why
	}
	if b := c.breakageOf(e); b != nil {
		return b.of(name)
	}
	return e.stale
}

// breaks notes that a declaration of an earlier cell does not compile.
func (c *compilation) breaks(it *item, why Diagnostic) {
	text := why.Message
	if why.Place.valid() {
		text = fmt.Sprintf("cell %d, %s: %s", why.Place.Cell, lineColumn(why.Place), text)
	}
	c.d.broken[it] = &breakage{since: c.src.cell, text: text, mend: it.src.cell}
}

// bindOutside binds a name that no cell has declared: explicit imports, dot imports, Go's own names, predeclared variables,
// and packages that are imported on first use.
func (c *compilation) bindOutside(f freeName, old bool, use func(string), b *binding) *Diagnostic {
	name := f.id.Name
	if p := c.s.imports[name]; p != "" {
		use(p)
		return nil
	}
	for _, d := range append(append([]string{}, c.dots...), c.s.dots...) {
		if p, err := c.s.importer.Import(d); err == nil && token.IsExported(name) && p.Scope().Lookup(name) != nil {
			b.dots[d] = true
			return nil
		}
	}
	offset := func() int { _, o, _ := c.s.files.at(f.id.Pos()); return o }
	if types.Universe.Lookup(name) != nil {
		if old {
			d := c.diagnose(offset(), "%s is used as Go's own %s in front of its declaration in the same cell: give the variable another name", name, name)
			return &d
		}
		return nil
	}
	if p, ok := c.s.predeclared[name]; ok && !old {
		c.predeclared = append(c.predeclared, p)
		c.declared[name] = true
		return nil
	}
	if f.selector && c.s.auto[name] != "" {
		use(c.s.auto[name])
		return nil
	}
	if old {
		d := c.diagnose(offset(), "undefined: %s", name)
		v := c.bodyVars[name]
		_, at, _ := c.s.files.at(v.id.Pos())
		line, column := c.src.place(at)
		d.Hint = fmt.Sprintf("%s is declared only later in this cell, at %d:%d", name, line, column)
		return &d
	}
	return nil
}

// standin is an object with another name for an object of an earlier cell; after the check it is replaced by that object.
func (c *compilation) standin(o types.Object, name string) types.Object {
	var n types.Object
	switch o := o.(type) {
	case *types.Var:
		n = types.NewVar(o.Pos(), c.pkg, name, o.Type())
	case *types.Func:
		n = types.NewFunc(o.Pos(), c.pkg, name, o.Type().(*types.Signature))
	case *types.Const:
		n = types.NewConst(o.Pos(), c.pkg, name, o.Type(), o.Val())
	default:
		return types.NewTypeName(o.Pos(), c.pkg, name, o.Type())
	}
	c.standins[n] = o
	return n
}

func addImports(file *ast.File, b *binding) {
	if len(b.imports) == 0 && len(b.dots) == 0 {
		return
	}
	g := &ast.GenDecl{Tok: token.IMPORT, TokPos: file.Name.Pos(), Lparen: file.Name.Pos()}
	var names []string
	for n := range b.imports {
		names = append(names, n)
	}
	sort.Strings(names)
	spec := func(name, path string, at token.Pos) {
		g.Specs = append(g.Specs, &ast.ImportSpec{Name: ident(name, at), Path: &ast.BasicLit{Kind: token.STRING, ValuePos: at, Value: strconv.Quote(path)}})
	}
	for _, n := range names {
		spec(n, b.imports[n], b.at[n])
	}
	for p := range b.dots {
		spec(".", p, file.Name.Pos())
	}
	file.Decls = append([]ast.Decl{g}, file.Decls...)
}

// keptVariables declares the variables again whose type goes on as a new one.
func (c *compilation) keptVariables(inserted map[string]bool) (again bool) {
	if len(c.kept) == 0 {
		return false
	}
	imports := map[string]string{}
	paths := map[string]string{}
	qualify := func(p *types.Package) string {
		if p.Path() == mainPath {
			return ""
		}
		if n, ok := paths[p.Path()]; ok {
			return n
		}
		n := fmt.Sprintf("pkg_%d", len(paths))
		paths[p.Path()], imports[n] = n, p.Path()
		return n
	}
	var b strings.Builder
	for _, n := range c.kept {
		t := c.s.names[n].obj.Type()
		names, local := typeNames(t)
		if local {
			c.d.stale[n] = c.staleText(n)
			again = true
		}
		for name := range names {
			if e := c.s.names[name]; e != nil && !c.declared[name] && !inserted[name] && c.unusable(name, e) == "" {
				inserted[name] = true
				c.pkg.Scope().Insert(e.obj)
			}
		}
		fmt.Fprintf(&b, "var %s %s\n", n, types.TypeString(t, qualify))
	}
	if again {
		return true
	}
	c.keptFile = c.generated(b.String(), imports)
	return false
}

func (c *compilation) staleText(name string) string {
	e := c.s.names[name]
	names, _ := typeNames(e.obj.Type())
	var gone []string
	for n := range names {
		if c.changed[n] {
			gone = append(gone, n)
		}
	}
	what := "a type of its own"
	if len(gone) > 0 {
		what = quoted(gone)
	}
	return fmt.Sprintf("%s is stale: cell %d declared %s again, after %s was made: run cell %d again to make it anew", name, c.src.cell, what, name, e.cell)
}

// generated parses text that no cell contains and adds it to the package.
func (c *compilation) generated(decls string, imports map[string]string) *ast.File {
	var b strings.Builder
	b.WriteString("package main\n")
	var names []string
	for n := range imports {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		fmt.Fprintf(&b, "import %s %q\n", n, imports[n])
	}
	b.WriteString(decls)
	file, err := parser.ParseFile(c.s.files.fset, "generated", b.String(), parser.SkipObjectResolution)
	if err != nil {
		panic(fmt.Sprintf("generated declarations: %v\n%s", err, b.String()))
	}
	c.files = append(c.files, file)
	return file
}

func (c *compilation) predeclare() {
	done := map[string]bool{}
	for _, p := range c.predeclared {
		if !done[p.Name] {
			done[p.Name] = true
			c.generated("var "+p.Name+" "+p.Type+"\n", p.Imports)
		}
	}
}
