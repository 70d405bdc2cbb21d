package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Completion is what may stand at a cursor; Start and End are the code points that a candidate replaces.
type Completion struct {
	Candidates []Candidate
	Start, End int
}

// A Candidate is one completion.
type Candidate struct {
	Text      string
	Kind      string // "function", "type", "variable", "constant", "module", "keyword" or "field"
	Signature string // the declaration, "" for keywords
	rank      int
}

// marker stands for the name at the cursor while types are checked.
const marker = "cursor_mark_"

// byteOffset is the offset of a code point.
func byteOffset(text string, cursor int) int {
	at := 0
	for ; cursor > 0 && at < len(text); cursor-- {
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
	return at
}

func isNameRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// nameAround gives the bounds of the name that holds or touches an offset.
func nameAround(text string, at int) (start, end int) {
	start, end = at, at
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:start])
		if !isNameRune(r) {
			break
		}
		start -= n
	}
	for end < len(text) {
		r, n := utf8.DecodeRuneInString(text[end:])
		if !isNameRune(r) {
			break
		}
		end += n
	}
	return start, end
}

// Complete lists what may stand at the cursor, a code point from the start of the text.
func (s *Session) Complete(text string, cursor int) (c Completion) {
	defer func() {
		if recover() != nil { // the type checker meets half-written programs
			c = Completion{Start: cursor, End: cursor}
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	at := byteOffset(text, cursor)
	start, end := nameAround(text, at)
	prefix := text[start:at]
	c = Completion{Start: utf8.RuneCountInString(text[:start]), End: utf8.RuneCountInString(text[:end])}
	if where, lit := literalAt(text, at); where != token.ILLEGAL {
		if where == token.STRING && importing(text[:lit]) {
			c.Start = utf8.RuneCountInString(text[:lit+1])
			c.End = utf8.RuneCountInString(text[:at])
			c.Candidates = s.importPaths(text[lit+1 : at])
		} else {
			c.Start, c.End = cursor, cursor
		}
		return c
	}
	if prefix != "" && unicode.IsDigit(rune(prefix[0])) {
		return Completion{Start: cursor, End: cursor}
	}
	k, more := s.lenient(text[:start]+marker, text[end:]), []Candidate(nil)
	if ranges(text[:start]) {
		more = []Candidate{{Text: token.RANGE.String(), Kind: "keyword"}}
		if k == nil {
			k = s.lenient(text[:start]+"range "+marker, text[end:])
		}
	}
	if k != nil {
		for _, x := range k.candidates() {
			if len(more) == 0 || x.Text != more[0].Text {
				more = append(more, x)
			}
		}
	}
	c.Candidates = match(more, prefix)
	return c
}

// ranges reports whether the word range may follow a text: behind for, or behind the variables of a for and their := or =.
func ranges(before string) bool {
	toks, _ := lex(before, func(int, string) {})
	i := len(toks) - 1
	if i >= 0 && (toks[i].tok == token.DEFINE || toks[i].tok == token.ASSIGN) {
		for i--; i > 0 && (toks[i].tok == token.IDENT || toks[i].tok == token.COMMA); i-- {
		}
	}
	return i >= 0 && toks[i].tok == token.FOR
}

// literalAt reports the string or comment that an offset is inside of, and where it starts.
func literalAt(text string, at int) (kind token.Token, start int) {
	toks, comments := lex(text, func(int, string) {})
	for _, t := range append(toks, comments...) {
		inside := t.offset < at && at < t.end
		if t.tok == token.COMMENT && t.offset < at && at == t.end && strings.HasPrefix(text[t.offset:], "//") {
			inside = true
		}
		if t.tok == token.STRING && t.offset < at && at == t.end && (t.end-t.offset < 2 || text[t.end-1] != text[t.offset]) {
			inside = true // not closed yet
		}
		if inside && (t.tok == token.STRING || t.tok == token.CHAR || t.tok == token.COMMENT) {
			return t.tok, t.offset
		}
	}
	return token.ILLEGAL, 0
}

// importing reports whether a string literal behind this text is an import path.
func importing(before string) bool {
	sp := split(before + "\"\"")
	for _, k := range sp.chunks {
		if k.kind == token.IMPORT && k.end >= len(before) {
			return true
		}
	}
	return false
}

func (s *Session) importPaths(prefix string) (cs []Candidate) {
	for _, p := range append(s.importer.Paths(), "cmp", "iter", "maps", "slices") {
		if strings.HasPrefix(p, prefix) && s.refuse(p) == "" {
			cs = append(cs, Candidate{Text: p, Kind: "module", Signature: s.importer.Doc(p, "")})
		}
	}
	sort.Slice(cs, func(i, j int) bool { return cs[i].Text < cs[j].Text })
	return cs
}

// lenient checks a text for what can be said about a place in it: first whole, then only up to the end of before, with
// everything closed that is open there, and with a body for a for, if or switch that has none yet.
func (s *Session) lenient(before, after string) *compilation {
	closed := closers(before)
	head, tail := closed, ""
	if i := strings.Index(closed, "\n}"); i >= 0 {
		head, tail = closed[:i], closed[i:]
	}
	for _, text := range []string{before + after, before + closed, before + strings.ReplaceAll(closed, "\n", ""), before + head + " {\n}" + tail} {
		src := newSource(0, text)
		sp := split(src.text)
		if len(sp.errs) > 0 {
			continue
		}
		d := newDecisions()
		for range 20 {
			c := &compilation{s: s, src: src, sp: sp, d: d, lenient: true}
			again, err := c.attempt()
			if err != nil {
				break
			}
			if !again && !c.findErrors() {
				if _, id, _ := c.marked(); id == nil && strings.HasSuffix(before, marker) {
					break // it is in a declaration that does not parse like this
				}
				return c
			}
		}
	}
	return nil
}

// closers is what closes the brackets that a text leaves open.
func closers(text string) string {
	var b strings.Builder
	open := split(text).open
	for i := len(open) - 1; i >= 0; i-- {
		if open[i].tok == token.LBRACE {
			b.WriteString("\n}")
		} else {
			b.WriteString(closer[open[i].tok].String())
		}
	}
	return b.String()
}

// marked finds the marker in the checked files: as y of x.y, or alone.
func (c *compilation) marked() (sel *ast.SelectorExpr, id *ast.Ident, lit *ast.CompositeLit) {
	for _, f := range c.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if n.Sel.Name == marker {
					sel, id = n, n.Sel
				}
			case *ast.CompositeLit:
				for _, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok {
						e = kv.Key
					}
					if x, ok := e.(*ast.Ident); ok && strings.HasPrefix(x.Name, marker) {
						lit = n
					}
				}
			case *ast.Ident:
				if id == nil && strings.HasPrefix(n.Name, marker) {
					id = n
				}
			}
			return true
		})
	}
	return sel, id, lit
}

// candidates lists what may stand in the marker's place.
func (c *compilation) candidates() (cs []Candidate) {
	sel, id, lit := c.marked()
	if sel != nil {
		return c.members(sel.X)
	}
	if id == nil {
		return nil
	}
	seen := map[string]bool{}
	add := func(rank int, name, kind, signature string) {
		if name != "_" && name != "init" && !seen[name] && !strings.Contains(name, "·") && !strings.HasPrefix(name, marker) {
			seen[name] = true
			cs = append(cs, Candidate{name, kind, signature, rank})
		}
	}
	if lit != nil {
		c.fields(lit, func(f *types.Var) { add(0, f.Name(), "field", f.Name()+" "+typeText(f.Type())) })
	}
	for s := c.innermost(id.Pos()); s != nil; s = s.Parent() {
		for _, n := range s.Names() {
			o := s.Lookup(n)
			rank := 1
			if s == types.Universe {
				rank = 4
			}
			add(rank, n, kindOf(o), signature(o))
		}
	}
	for n, e := range c.s.names {
		add(1, n, kindOf(e.obj), signature(e.obj))
	}
	for n, p := range c.s.predeclared {
		add(1, n, "variable", "var "+n+" "+strings.TrimSpace(plainType(p)))
	}
	for n, p := range c.s.imports {
		add(2, n, "module", "package "+p)
	}
	for n, p := range c.s.auto {
		add(3, n, "module", "package "+p)
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		if t.IsKeyword() {
			add(4, t.String(), "keyword", "")
		}
	}
	return cs
}

// plainType writes a predeclared variable's type with the packages' own names.
func plainType(p Predeclared) string {
	t := p.Type
	for alias, path := range p.Imports {
		t = strings.ReplaceAll(t, alias+".", packageName(path)+".")
	}
	return t
}

// fields calls f for the fields of a composite literal's type that it does not set yet.
func (c *compilation) fields(lit *ast.CompositeLit, f func(*types.Var)) {
	t := c.info.Types[lit].Type
	if t == nil {
		return
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	set := map[string]bool{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				set[id.Name] = true
			}
		}
	}
	for i := 0; i < st.NumFields(); i++ {
		v := st.Field(i)
		if !set[v.Name()] && (v.Exported() || v.Pkg() != nil && v.Pkg().Path() == mainPath) {
			f(v)
		}
	}
}

// members lists what may follow the dot behind an expression.
func (c *compilation) members(x ast.Expr) (cs []Candidate) {
	if id, ok := x.(*ast.Ident); ok {
		if p, ok := c.info.Uses[id].(*types.PkgName); ok {
			scope := p.Imported().Scope()
			for _, n := range scope.Names() {
				if o := scope.Lookup(n); o.Exported() && !c.s.hides(p.Imported().Path(), n) {
					cs = append(cs, Candidate{n, kindOf(o), signature(o), 1})
				}
			}
			return cs
		}
	}
	tv, ok := c.info.Types[x]
	if !ok || tv.Type == nil {
		return nil
	}
	t := tv.Type
	if tuple, ok := t.(*types.Tuple); ok { // the error of f().x is taken off by nobody, but its first result is what is meant
		if tuple.Len() == 0 {
			return nil
		}
		t = tuple.At(0).Type()
	}
	for _, o := range membersOf(t, c.pkg) {
		kind := "field"
		if _, ok := o.(*types.Func); ok {
			kind = "function"
		}
		cs = append(cs, Candidate{o.Name(), kind, signature(o), 1})
	}
	return cs
}

// match keeps the candidates that start with a prefix, without regard to case when none has it exactly, best first.
func match(cs []Candidate, prefix string) []Candidate {
	var kept []Candidate
	for _, c := range cs {
		if strings.HasPrefix(c.Text, prefix) {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 {
		lower := strings.ToLower(prefix)
		for _, c := range cs {
			if strings.HasPrefix(strings.ToLower(c.Text), lower) {
				kept = append(kept, c)
			}
		}
	}
	sort.Slice(kept, func(i, j int) bool {
		if kept[i].rank != kept[j].rank {
			return kept[i].rank < kept[j].rank
		}
		return kept[i].Text < kept[j].Text
	})
	return kept
}

// signature is the declaration of an object on one line.
func signature(o types.Object) string {
	switch o := o.(type) {
	case *types.Func:
		sig, ok := o.Type().(*types.Signature)
		if !ok {
			return "func " + o.Name()
		}
		recv := ""
		if sig.Recv() != nil && !types.IsInterface(sig.Recv().Type()) {
			recv = "(" + typeText(sig.Recv().Type()) + ") "
		}
		return "func " + recv + o.Name() + strings.TrimPrefix(typeText(sig), "func")
	case *types.Var:
		if o.IsField() {
			return o.Name() + " " + typeText(o.Type())
		}
		return "var " + o.Name() + " " + typeText(o.Type())
	case *types.Const:
		return "const " + o.Name() + " = " + o.Val().String()
	case *types.TypeName:
		return "type " + o.Name() + " " + shortType(o)
	case *types.PkgName:
		return "package " + o.Imported().Path()
	case *types.Builtin:
		return "func " + o.Name()
	}
	return ""
}

// shortType is what a type is made of; of a large struct or interface only the kind.
func shortType(o *types.TypeName) string {
	t := typeText(o.Type().Underlying())
	if len(t) <= 60 {
		return t
	}
	switch o.Type().Underlying().(type) {
	case *types.Struct:
		return "struct{ … }"
	case *types.Interface:
		return "interface{ … }"
	}
	return t
}
