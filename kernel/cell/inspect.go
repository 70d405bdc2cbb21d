package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Description is what is known about a name.
type Description struct {
	Title string // its declaration, in Go
	Where string // the cell or the package that declares it
	Doc   string

	Variable string   // its name when it is a variable of the session
	Value    string   // of that, on one line; the session's owner knows it
	Methods  []string // of that, by name
}

// maxMethods is how many methods of a variable are named; the rest is counted.
const maxMethods = 20

// parts are what there is to say beside the title and the place.
func (d Description) parts() (parts []string) {
	if d.Value != "" {
		parts = append(parts, "value: "+d.Value)
	}
	if n := len(d.Methods); n > maxMethods {
		parts = append(parts, fmt.Sprintf("methods: %s … %d more", strings.Join(d.Methods[:maxMethods], ", "), n-maxMethods))
	} else if n > 0 {
		parts = append(parts, "methods: "+strings.Join(d.Methods, ", "))
	}
	if d.Doc != "" {
		parts = append(parts, d.Doc)
	}
	return parts
}

// Text is the description as plain text.
func (d Description) Text() string {
	parts := []string{d.Title}
	if d.Where != "" {
		parts = append(parts, d.Where)
	}
	return strings.Join(append(parts, d.parts()...), "\n\n")
}

// Markdown is the description as Markdown.
func (d Description) Markdown() string {
	parts := []string{"```go\n" + d.Title + "\n```"}
	if d.Where != "" {
		parts = append(parts, "*"+d.Where+"*")
	}
	for _, p := range d.parts() {
		if name, text, ok := strings.Cut(p, "value: "); ok && name == "" {
			p = "value: " + codeSpan(text)
		}
		parts = append(parts, p)
	}
	return strings.Join(parts, "\n\n")
}

// codeSpan is a line as code in Markdown, whatever back quotes are in it.
func codeSpan(text string) string {
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// Inspect describes the name at the cursor, a code point from the start of the text; between the parentheses of a call, where
// no name is, it describes what is called.
func (s *Session) Inspect(text string, cursor int) (d Description, found bool) {
	defer func() {
		if recover() != nil {
			d, found = Description{}, false
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	text = strings.TrimPrefix(text, byteOrderMark)
	at := byteOffset(text, cursor)
	start, end := nameAround(text, at)
	if start == end {
		if start, end = calledName(text, at); start == end {
			return Description{}, false
		}
	}
	if where, _ := literalAt(text, start+1); where != token.ILLEGAL {
		return Description{}, false
	}
	name := text[start:end]
	if d, ok := keywordDescription(name); ok {
		return d, true
	}
	c := s.lenient(text[:end], text[end:])
	if c == nil {
		return Description{}, false
	}
	o := c.objectAt(start)
	if o == nil {
		return s.packageDescription(name)
	}
	return c.describe(o), true
}

// calledName finds the name in front of the parenthesis that an offset is inside of.
func calledName(text string, at int) (start, end int) {
	toks, _ := lex(text[:at], func(int, string) {})
	depth := 0
	for i := len(toks) - 1; i > 0; i-- {
		switch toks[i].tok {
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth++
		case token.LBRACK, token.LBRACE:
			depth--
		case token.LPAREN:
			if depth--; depth < 0 && toks[i-1].tok == token.IDENT {
				return toks[i-1].offset, toks[i-1].end
			}
		}
		if depth < 0 {
			break
		}
	}
	return at, at
}

func keywordDescription(name string) (Description, bool) {
	if !token.IsKeyword(name) {
		return Description{}, false
	}
	return Description{Title: name, Doc: "a keyword of Go"}, true
}

// objectAt finds what the identifier at an offset of the cell means.
func (c *compilation) objectAt(offset int) (o types.Object) {
	for _, f := range c.files {
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			part, at, ok := c.s.files.at(id.Pos())
			if !ok || part.src != c.src || at != offset {
				return true
			}
			if u := c.info.Uses[id]; u != nil && !strings.Contains(u.Name(), "·") {
				o = u
			} else if d := c.info.Defs[id]; d != nil && o == nil {
				o = d
			} else if s := c.standins[u]; s != nil {
				o = s
			}
			return true
		})
	}
	return o
}

// packageDescription describes a package by the name that imports it on first use.
func (s *Session) packageDescription(name string) (Description, bool) {
	path := s.imports[name]
	if path == "" {
		path = s.auto[name]
	}
	if path == "" {
		return Description{}, false
	}
	return Description{Title: "package " + packageName(path) + " // import \"" + path + "\"", Doc: s.importer.Doc(path, "")}, true
}

func (c *compilation) describe(o types.Object) Description {
	if p, ok := o.(*types.PkgName); ok {
		d, _ := c.s.packageDescription(p.Name())
		path := p.Imported().Path()
		d.Title, d.Doc = "package "+p.Imported().Name()+" // import \""+path+"\"", c.s.importer.Doc(path, "")
		return d
	}
	d := Description{Title: signature(o)}
	if t, ok := o.(*types.TypeName); ok {
		d.Title = typeDeclaration(t)
	}
	switch {
	case o.Pkg() == nil:
		d.Where = "predeclared in Go"
	case o.Pkg().Path() != mainPath:
		d.Where = "package " + o.Pkg().Path()
		d.Doc = c.s.importer.Doc(o.Pkg().Path(), docName(o))
	default:
		d.Where, d.Doc = c.s.cellOf(o)
		c.describeVariable(&d, o)
	}
	return d
}

// describeVariable says more of an object when it is a variable of the session.
func (c *compilation) describeVariable(d *Description, o types.Object) {
	v, ok := o.(*types.Var)
	if !ok || v.IsField() {
		return
	}
	e := c.s.names[o.Name()]
	_, predeclared := c.s.predeclared[o.Name()]
	switch own := o.Parent() == c.pkg.Scope(); {
	case e != nil && e.predeclared && (own || e.obj == o), e == nil && predeclared && own && c.bodyVars[o.Name()] == nil:
		d.Where = "predeclared"
	case e == nil || e.item != nil || e.stale != "":
		return
	case e.obj == o:
	case own && types.Identical(e.obj.Type(), o.Type()): // the cell at hand declares it again
		d.Where = cells(e.cell)
	default:
		return
	}
	d.Variable = o.Name()
	for _, m := range membersOf(o.Type(), c.pkg) {
		if f, ok := m.(*types.Func); ok {
			d.Methods = append(d.Methods, f.Name())
		}
	}
}

// docName is the name of an object in its package's documentation.
func docName(o types.Object) string {
	f, ok := o.(*types.Func)
	if !ok {
		return o.Name()
	}
	sig := f.Type().(*types.Signature)
	if sig.Recv() == nil {
		return o.Name()
	}
	t := sig.Recv().Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Obj().Name() + "." + o.Name()
	}
	return o.Name()
}

// cellOf says which cell declared an object, and what the comment above it says.
func (s *Session) cellOf(o types.Object) (where, doc string) {
	if f, ok := o.(*types.Func); ok && f.Type().(*types.Signature).Recv() != nil {
		recv, method, _ := strings.Cut(docName(f), ".")
		if it := s.methods[recv][method]; it != nil {
			return cells(it.src.cell), it.doc
		}
		return "", ""
	}
	e := s.names[o.Name()]
	if e == nil || e.obj != o {
		return "", ""
	}
	where = cells(e.cell)
	if e.stale != "" {
		where += ": " + e.stale
	}
	if e.item != nil {
		doc = e.item.doc
	}
	return where, doc
}

// typeDeclaration is a type with its fields and methods.
func typeDeclaration(o *types.TypeName) string {
	var b strings.Builder
	switch u := o.Type().Underlying().(type) {
	case *types.Struct:
		fmt.Fprintf(&b, "type %s struct {\n", o.Name())
		for i := 0; i < u.NumFields(); i++ {
			f := u.Field(i)
			if f.Exported() || f.Pkg() != nil && f.Pkg().Path() == mainPath {
				fmt.Fprintf(&b, "\t%s %s\n", f.Name(), typeText(f.Type()))
			}
		}
		b.WriteString("}")
	case *types.Interface:
		fmt.Fprintf(&b, "type %s interface {\n", o.Name())
		for i := 0; i < u.NumMethods(); i++ {
			m := u.Method(i)
			fmt.Fprintf(&b, "\t%s%s\n", m.Name(), strings.TrimPrefix(typeText(m.Type()), "func"))
		}
		b.WriteString("}")
		return b.String()
	default:
		b.WriteString(signature(o))
	}
	for _, m := range membersOf(o.Type(), nil) {
		if f, ok := m.(*types.Func); ok {
			b.WriteString("\n" + signature(f))
		}
	}
	return b.String()
}
