package cell

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// An item is a declaration that can be compiled again when something that it mentions is declared anew: a function, a method,
// or a whole group of constants or types.
type item struct {
	src        *source
	start, end int
	kind       token.Token // CONST, TYPE or FUNC
	names      []string    // what it declares; nil for methods and func init
	recv       string      // a method's receiver type
	method     string
	doc        string
	free       map[string]bool   // names that it mentions and does not declare
	imports    map[string]string // how names of packages in it were bound when it was compiled first
	broken     *breakage         // why it does not compile any more
}

// A breakage is why a declaration of an earlier cell does not compile any more.
type breakage struct {
	since int    // the cell that broke it
	via   string // a name that it uses and that broke, "" when the fault is its own
	text  string // the error
	mend  int    // the cell to mend and run again
}

// of says it of a name.
func (b *breakage) of(name string) string {
	via := ""
	if b.via != "" {
		via = ", because " + b.via + " does not"
	}
	return fmt.Sprintf("%s does not compile since cell %d%s: %s: mend it and run cell %d again", name, b.since, via, b.text, b.mend)
}

// text is the declaration's source.
func (it *item) text() string { return it.src.text[it.start:it.end] }

// key names the item within a session.
func (it *item) key() string {
	if it.recv != "" {
		return it.recv + "." + it.method
	}
	return strings.Join(it.names, ",")
}

// A tree is a parsed item, or a cell's statements.
type tree struct {
	item *item // nil for the statements
	file *ast.File
	free []freeName
	body *ast.FuncDecl // the statements' function
	last int           // how many of the statements are the values of a last line x, y

	imports map[string]string // how the names of packages in it are bound
}

// A freeName is an identifier that its fragment does not declare.
type freeName struct {
	id       *ast.Ident
	selector bool     // the x of x.y
	member   string   // that y
	key      bool     // a key of a composite literal: a field's name where the literal is a struct
	of       ast.Expr // the type of that literal, nil where it is not written
}

const (
	itemPrefix = "package main;"
	bodyPrefix = "package main;func _(){"
)

// parseItem parses a declaration.
func (f *files) parseItem(it *item) (*tree, []Diagnostic) {
	file, errs := f.parse(it.src, itemPrefix+it.text(), it.start-len(itemPrefix), it)
	if len(errs) > 0 {
		return nil, errs
	}
	return &tree{item: it, file: file, free: freeNames(file)}, nil
}

// newItem makes an item of a chunk and parses it.
func (f *files) newItem(src *source, c chunk) (*tree, []Diagnostic) {
	it := &item{src: src, start: c.start, end: c.end, kind: c.kind, free: map[string]bool{}, imports: map[string]string{}}
	it.doc = commentText(src.text[c.doc:c.start])
	t, errs := f.parseItem(it)
	if len(errs) > 0 {
		return nil, errs
	}
	for _, d := range t.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && len(d.Recv.List) > 0 {
				it.recv, it.method = receiverName(d.Recv.List[0].Type), d.Name.Name
			} else {
				it.names = []string{d.Name.Name}
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						it.names = append(it.names, n.Name)
					}
				case *ast.TypeSpec:
					it.names = append(it.names, s.Name.Name)
				}
			}
		}
	}
	for _, n := range t.free {
		it.free[n.id.Name] = true
	}
	return t, nil
}

// receiverName is the name of a receiver's type.
func receiverName(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "?"
		}
	}
}

// commentText is the text of a comment without its marks.
func commentText(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	if t, ok := strings.CutPrefix(s, "/*"); ok {
		return strings.TrimSpace(strings.TrimSuffix(t, "*/"))
	}
	var lines []string
	for _, l := range strings.Split(s, "\n") {
		l = strings.TrimPrefix(strings.TrimSpace(l), "//")
		lines = append(lines, strings.TrimPrefix(l, " "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// parseBody parses the statements of a cell: its text with everything else blanked out.
func (f *files) parseBody(src *source, chunks []chunk) (*tree, []Diagnostic) {
	text := []byte(src.text)
	if i := strings.IndexByte(src.text, 0); i >= 0 {
		text[i] = ' '
	}
	for _, c := range chunks {
		if c.kind != token.ILLEGAL && c.kind != token.VAR {
			blank(text, c.start, c.end)
		}
	}
	commas := listCommas(src.text, chunks)
	for _, i := range commas {
		text[i] = ';' // a statement for each value
	}
	file, errs := f.parse(src, bodyPrefix+string(text)+"\n}", -len(bodyPrefix), nil)
	if len(errs) > 0 {
		return nil, errs
	}
	t := &tree{file: file, free: freeNames(file), last: len(commas) + 1}
	t.body, _ = file.Decls[0].(*ast.FuncDecl)
	if t.body == nil || len(file.Decls) != 1 {
		return nil, []Diagnostic{{Message: "these are not statements"}}
	}
	return t, nil
}

// listCommas are the offsets of the commas between the values of a cell's last line x, y; nil when it is no such list.
func listCommas(text string, chunks []chunk) (commas []int) {
	if len(chunks) == 0 || chunks[len(chunks)-1].kind != token.ILLEGAL {
		return nil
	}
	c := chunks[len(chunks)-1]
	toks, _ := lex(text[c.start:c.end], func(int, string) {})
	depth := 0
	for _, t := range toks {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.COMMA:
			if depth == 0 {
				commas = append(commas, c.start+t.offset)
			}
		}
	}
	if len(commas) == 0 {
		return nil
	}
	from := c.start
	for _, to := range append(commas[:len(commas):len(commas)], c.end) {
		if _, err := parser.ParseExpr(text[from:to]); err != nil {
			return nil
		}
		from = to + 1
	}
	return commas
}

func blank(text []byte, from, to int) {
	for i := from; i < to; i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
}

// parse parses a fragment; errors are placed in the cell.
func (f *files) parse(src *source, text string, base int, it *item) (*ast.File, []Diagnostic) {
	file, err := parser.ParseFile(f.fset, "cell", text, 0)
	if file != nil {
		if tf := f.fset.File(file.FileStart); tf != nil {
			f.parts[tf] = fragment{src, base, it}
		}
	}
	if err == nil {
		return file, nil
	}
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return nil, []Diagnostic{{Message: err.Error()}}
	}
	var ds []Diagnostic
	end := len(strings.TrimRight(src.text, " \t\r\n"))
	for i, e := range list {
		offset := min(max(0, e.Pos.Offset+base), len(src.text))
		if offset >= end {
			if i > 0 {
				break // what follows from the first
			}
			offset = end
			if what, _, ok := strings.Cut(e.Msg, ", found "); ok {
				e.Msg = what + ", found the end of the cell"
			}
		}
		line, column := src.place(offset)
		ds = append(ds, Diagnostic{
			Place: Place{src.cell, line, column, src.line(line)}, Message: e.Msg, offset: offset,
		})
		if e.Msg == "expected 1 expression" {
			ds[len(ds)-1].Hint = "only the last line of a cell shows several values: print these, fmt.Println(a, b)"
		}
		if len(ds) > maxDiagnostics {
			break
		}
	}
	return file, ds
}

// freeNames lists the identifiers of a file that it does not declare. The parser leaves keys of composite literals open,
// because they may be fields: they are listed too.
func freeNames(file *ast.File) []freeName {
	open := make(map[*ast.Ident]bool, len(file.Unresolved))
	for _, id := range file.Unresolved {
		open[id] = true
	}
	var names []freeName
	keys := literalKeys(file)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && open[id] {
				names = append(names, freeName{id: id, selector: true, member: n.Sel.Name})
				delete(open, id)
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				kv, ok := e.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				if id, ok := kv.Key.(*ast.Ident); ok && id.Obj == nil && !open[id] {
					names = append(names, freeName{id: id, key: true, of: keys[id]})
				}
			}
		case *ast.Ident:
			if open[n] {
				of, key := keys[n]
				names = append(names, freeName{id: n, key: key, of: of})
			}
		}
		return true
	})
	return names
}

// literalKeys gives each identifier that is a key of a composite literal the type of that literal, as far as it is written: the
// type of an inner literal may be left out.
func literalKeys(file *ast.File) map[*ast.Ident]ast.Expr {
	keys := map[*ast.Ident]ast.Expr{}
	known := map[*ast.CompositeLit]ast.Expr{}
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		of := lit.Type
		if of == nil {
			of = known[lit]
		}
		var key, elem ast.Expr
		switch t := pointee(of).(type) {
		case *ast.MapType:
			key, elem = t.Key, t.Value
		case *ast.ArrayType:
			elem = t.Elt
		}
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if id, ok := kv.Key.(*ast.Ident); ok {
					keys[id] = of
				}
				if inner, ok := kv.Key.(*ast.CompositeLit); ok {
					known[inner] = key
				}
				e = kv.Value
			}
			if inner, ok := e.(*ast.CompositeLit); ok {
				known[inner] = elem
			}
		}
		return true
	})
	return keys
}

// pointee takes parentheses and a pointer off a type: an inner literal of []*T is a T.
func pointee(t ast.Expr) ast.Expr {
	t = ast.Unparen(t)
	if p, ok := t.(*ast.StarExpr); ok {
		return ast.Unparen(p.X)
	}
	return t
}
