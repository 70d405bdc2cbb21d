package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"runtime/debug"
	"sort"
	"strings"
)

// Names of what the compiler adds to a cell; no Go program can write them.
const (
	cellFunc = "cell·" // the function of the statements
	showFunc = "show·" // what the last expression is an argument of while types are checked
	errVar   = "err·"  // the error that ends the cell
	atVar    = "at·"   // where the call is that runs
	stepVar  = "step·" // how far the statements got
	outVar   = "out·"  // the values of the last expression, with a number
	oldMark  = "·old"  // behind a name: what it meant before this cell declares it
	initMark = "·init" // behind init: each of a program's init functions
)

// A literal is the place of a composite literal.
type literal struct {
	src    *source
	offset int
}

// maxAttempts bounds how often a cell is checked again: each attempt settles at least one decision.
const maxAttempts = 200

// decisions are what an attempt to compile a cell finds out and the next one uses.
type decisions struct {
	takeErr map[call]bool        // statements whose call has one result more than they name, an error
	changed map[string]bool      // variables of the statements whose type is not what it was
	stale   map[string]string    // variables whose type is gone: why
	broken  map[*item]*breakage  // declarations of earlier cells that do not compile any more
	keyed   map[literal][]string // composite literals that need the names of their fields, and those names
}

func newDecisions() *decisions {
	return &decisions{
		takeErr: map[call]bool{}, changed: map[string]bool{}, stale: map[string]string{}, broken: map[*item]*breakage{}, keyed: map[literal][]string{},
	}
}

// Compile compiles a cell. Nothing of the session changes until the Program is committed. The error is an *Error.
func (s *Session) Compile(number int, text string) (p *Program, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, newError(Refused, []Diagnostic{{
				Message: fmt.Sprintf("memwall met a fault of its own while it compiled the cell: %v", r), Hint: "nothing of the session has changed; " + faultPlace(debug.Stack()),
			}})
		}
	}()
	src := newSource(number, text)
	sp, err := s.splitCell(src)
	if err != nil {
		return nil, err
	}
	d := newDecisions()
	for range maxAttempts {
		c := &compilation{s: s, src: src, sp: sp, d: d}
		again, err := c.attempt()
		if err != nil {
			return nil, err
		}
		if !again {
			return c.finish()
		}
	}
	return nil, newError(Compile, []Diagnostic{{Message: fmt.Sprintf("the cell was checked %d times without an end: split it into smaller ones", maxAttempts)}})
}

// faultPlace names the function that panicked, for a report of the fault.
func faultPlace(stack []byte) string {
	_, after, _ := strings.Cut(string(stack), "panic(")
	for _, l := range strings.Split(after, "\n") {
		if i := strings.LastIndex(l, "/"); strings.HasPrefix(l, "\t") && i >= 0 && !strings.Contains(l, "/runtime/") {
			where, _, _ := strings.Cut(l[i+1:], " ")
			return "please report " + where
		}
	}
	return "please report it with the cell"
}

// splitCell splits a cell and reports what is wrong with its outline.
func (s *Session) splitCell(src *source) (*splitting, error) {
	text := src.text
	sp := split(text)
	if strings.HasPrefix(strings.TrimSpace(text), "%%") || strings.HasPrefix(strings.TrimSpace(text), "%") {
		if ds := magic(text); ds != nil {
			sp.errs = ds
		}
	}
	if len(sp.errs) > 0 {
		for i := range sp.errs {
			e := &sp.errs[i]
			line, column := src.place(e.offset)
			e.Place = Place{src.cell, line, column, src.line(line)}
		}
		return nil, newError(Syntax, sp.errs)
	}
	return sp, nil
}

// magic answers cells that start with a per cent sign and reached the compiler.
func magic(text string) []Diagnostic {
	at := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	word := text[at:]
	if i := strings.IndexAny(word, " \t\r\n"); i >= 0 {
		word = word[:i]
	}
	switch word {
	case "%%cuda":
		return []Diagnostic{{offset: at, Message: "memwall: %%cuda cells are not built yet; use dev.CompileCUDA(src)"}}
	case "%%ptx":
		return []Diagnostic{{offset: at, Message: "memwall: %%ptx cells are not built yet; use dev.LoadPTX(text)"}}
	}
	return []Diagnostic{{offset: at, Message: "there is no magic " + word, Hint: "%help lists those that there are"}}
}

// A compilation is one attempt at a cell.
type compilation struct {
	s   *Session
	src *source
	sp  *splitting
	d   *decisions

	program_    bool // the cell is a whole program, or declarations only
	clause      bool // it has a package clause
	imports     map[string]string
	dots        []string
	trees       []*tree // declarations: the cell's new or changed ones, then those of earlier cells
	same        []*tree // the cell's declarations that the session has already
	own         map[*item]bool
	body        *tree
	stmts       []*statement
	bodyVars    map[string]*bodyVar
	rebuilt     map[*item]bool
	dropped     map[string]map[string]bool // methods that go with the cell that declared them: receiver → method
	changed     map[string]bool
	declared    map[string]bool // what the package declares
	kept        []string        // variables declared again because their type goes on as a new one
	predeclared []Predeclared
	inits       []string
	hidden      map[string]*hiddenVar
	usesErr     bool
	marked_     bool // statements note where their calls are
	runsMain    bool
	pkg         *types.Package
	info        *types.Info
	files       []*ast.File
	typeErrs    []types.Error
	keptFile    *ast.File
	standins    map[types.Object]types.Object // x·old → the earlier x
	shows       []*ast.CallExpr               // the calls of showFunc: one for each value of the last line
	quiet       bool                          // the last expression ends with a semicolon
	userErrs    []Diagnostic
	lenient     bool // for completion: errors do not matter
}

// attempt parses and checks the cell; again is true when a decision was made that asks for another attempt.
func (c *compilation) attempt() (again bool, err error) {
	if err := c.parse(); err != nil {
		return false, err
	}
	c.closure()
	c.assemble()
	if len(c.userErrs) > 0 && !c.lenient {
		return false, newError(Compile, c.userErrs)
	}
	if again = c.resolve(); again {
		return true, nil
	}
	if len(c.userErrs) > 0 && !c.lenient {
		return false, newError(Compile, c.userErrs)
	}
	c.check()
	if c.lenient {
		return false, nil
	}
	return c.judge()
}

// parse parses the cell's declarations and statements.
func (c *compilation) parse() error {
	c.own, c.bodyVars, c.rebuilt = map[*item]bool{}, map[string]*bodyVar{}, map[*item]bool{}
	c.dropped, c.changed, c.declared = map[string]map[string]bool{}, map[string]bool{}, map[string]bool{}
	c.imports, c.standins = map[string]string{}, map[types.Object]types.Object{}
	var errs []Diagnostic
	statements := false
	hasMain := false
	for i, k := range c.sp.chunks {
		switch k.kind {
		case token.ILLEGAL:
			statements = true
		case token.VAR:
		case token.PACKAGE:
			c.clause = true
			if d := c.packageClause(i, k); d != nil {
				errs = append(errs, *d)
			}
		case token.IMPORT:
			errs = append(errs, c.importChunk(k)...)
		default:
			t, ds := c.s.files.newItem(c.src, k)
			if len(ds) > 0 {
				errs = append(errs, ds...)
				continue
			}
			if k.kind == token.FUNC && t.item.recv == "" && t.item.names[0] == "init" {
				name := fmt.Sprintf("init%s%d", initMark, len(c.inits))
				t.item.names[0] = name
				t.file.Decls[0].(*ast.FuncDecl).Name.Name = name
				c.inits = append(c.inits, name)
			}
			hasMain = hasMain || k.kind == token.FUNC && t.item.recv == "" && t.item.names[0] == "main"
			c.own[t.item] = true
			c.trees = append(c.trees, t)
		}
	}
	body, ds := c.s.files.parseBody(c.src, c.sp.chunks)
	if len(ds) > 0 {
		errs = append(errs, ds...)
	}
	if len(errs) > 0 && !c.lenient {
		return newError(Syntax, errs)
	}
	if body == nil {
		return newError(Syntax, errs)
	}
	c.body = body
	c.program_ = !statements
	c.runsMain = hasMain && c.clause && c.program_
	return nil
}

func (c *compilation) diagnose(offset int, format string, args ...any) Diagnostic {
	line, column := c.src.place(offset)
	return Diagnostic{Place: Place{c.src.cell, line, column, c.src.line(line)}, offset: offset, Message: fmt.Sprintf(format, args...)}
}

func (c *compilation) packageClause(i int, k chunk) *Diagnostic {
	name := strings.TrimSpace(strings.TrimPrefix(c.src.text[k.start:k.end], "package"))
	if i != 0 {
		d := c.diagnose(k.start, "the package clause must come first")
		return &d
	}
	if name != mainPath {
		d := c.diagnose(k.start, "a cell belongs to package main, not %s: leave the package clause out", name)
		return &d
	}
	return nil
}

// importChunk reads an import declaration of the cell.
func (c *compilation) importChunk(k chunk) []Diagnostic {
	it := &item{src: c.src, start: k.start, end: k.end, kind: token.IMPORT}
	t, ds := c.s.files.parseItem(it)
	if len(ds) > 0 {
		return ds
	}
	for _, spec := range t.file.Imports {
		path := strings.Trim(spec.Path.Value, "\"`")
		if why := c.s.checkImport(path); why != "" {
			_, offset, _ := c.s.files.at(spec.Path.Pos())
			d := c.diagnose(offset, "%s", why)
			d.refused = true
			ds = append(ds, d)
			continue
		}
		name := packageName(path)
		if spec.Name != nil {
			name = spec.Name.Name
		} else if p, err := c.s.importer.Import(path); err == nil {
			name = p.Name()
		}
		switch name {
		case "_":
		case ".":
			c.dots = append(c.dots, path)
		default:
			c.imports[name] = path
		}
	}
	return ds
}

// sameAs returns what the session has under an item's names when its text is the same, else nil.
func (c *compilation) sameAs(it *item) *item {
	var old *item
	if it.recv != "" {
		old = c.s.methods[it.recv][it.method]
	} else {
		for i, n := range it.names {
			e := c.s.names[n]
			if e == nil || e.item == nil || e.stale != "" || i > 0 && e.item != old || n == "_" {
				return nil
			}
			old = e.item
		}
	}
	if old == nil || old.broken != nil || old.kind != it.kind || old.text() != it.text() {
		return nil
	}
	for n, path := range c.imports {
		if it.free[n] && old.imports[n] != path {
			return nil
		}
	}
	return old
}

// closure finds which declarations must be compiled: the cell's own that are new or changed, and everything in earlier cells
// that depends on them.
func (c *compilation) closure() {
	c.dropMethods()
	included := map[*item]bool{}
	var pending []*tree
	for _, t := range c.trees {
		if c.sameAs(t.item) == nil {
			included[t.item] = true
			c.touch(t.item)
		} else {
			pending = append(pending, t)
		}
	}
	for _, v := range c.scanVars() {
		e := c.s.names[v]
		if e == nil || e.item != nil || e.stale != "" || e.addressed || c.d.changed[v] {
			c.changed[v] = true
		}
	}
	for n := range c.d.stale {
		c.changed[n] = true
	}
	for more := true; more; {
		more = false
		var rest []*tree
		for _, t := range pending {
			if c.depends(t.item) {
				included[t.item] = true
				c.touch(t.item)
				more = true
			} else {
				rest = append(rest, t)
			}
		}
		pending = rest
		more = c.grow() || more
	}
	var trees []*tree
	for _, t := range c.trees {
		if included[t.item] {
			trees = append(trees, t)
		} else {
			c.same = append(c.same, t)
		}
	}
	c.trees = trees
	for _, it := range inOrder(c.rebuilt) {
		if c.d.broken[it] != nil {
			continue
		}
		t, ds := c.s.files.parseItem(it)
		if len(ds) > 0 {
			c.breaks(it, ds[0])
			continue
		}
		c.trees = append(c.trees, t)
	}
}

// inOrder sorts items as the notebook has them.
func inOrder(set map[*item]bool) []*item {
	var list []*item
	for it := range set {
		list = append(list, it)
	}
	sort.Slice(list, func(i, j int) bool {
		if a, b := list[i].src.cell, list[j].src.cell; a != b {
			return a < b
		}
		return list[i].start < list[j].start
	})
	return list
}

// dropMethods finds methods that a type loses: the cell declares the type again, without them, and the cell that had
// declared the type had declared them too.
func (c *compilation) dropMethods() {
	has := map[string]bool{}
	for _, t := range c.trees {
		has[t.item.key()] = true
	}
	for _, t := range c.trees {
		if t.item.kind != token.TYPE {
			continue
		}
		for _, n := range t.item.names {
			e := c.s.names[n]
			if e == nil || e.item == nil {
				continue
			}
			for m, it := range c.s.methods[n] {
				if it.src == e.item.src && !has[n+"."+m] {
					if c.dropped[n] == nil {
						c.dropped[n] = map[string]bool{}
					}
					c.dropped[n][m] = true
					c.changed[n] = true
				}
			}
		}
	}
}

func (c *compilation) touch(it *item) {
	if it.recv != "" {
		c.changed[it.recv] = true
	}
	for _, n := range it.names {
		c.changed[n] = true
	}
}

// depends reports whether an item mentions something that changed.
func (c *compilation) depends(it *item) bool {
	for n := range it.free {
		if c.changed[n] && it.imports[n] == "" {
			return true
		}
	}
	for _, n := range it.names { // a type that gained a method
		if c.changed[n] {
			return true
		}
	}
	return false
}

// overridden reports whether the cell declares what an item of an earlier cell declared.
func (c *compilation) overridden(it *item) bool {
	for _, list := range [][]*tree{c.trees, c.same} {
		for _, t := range list {
			if !c.own[t.item] {
				continue
			}
			if it.recv != "" {
				if t.item.recv == it.recv && t.item.method == it.method {
					return true
				}
				continue
			}
			if len(it.names) == 1 && t.item.recv == "" {
				for _, n := range t.item.names {
					if n == it.names[0] {
						return true
					}
				}
			}
		}
	}
	if it.recv != "" {
		return c.dropped[it.recv][it.method]
	}
	return len(it.names) == 1 && c.bodyVars[it.names[0]] != nil
}

// grow adds what depends on the changed names; it reports whether it added anything.
func (c *compilation) grow() bool {
	more := false
	add := func(it *item) {
		if it == nil || c.rebuilt[it] || c.overridden(it) || !c.s.current(it) {
			return
		}
		c.rebuilt[it] = true
		c.touch(it)
		more = true
	}
	for n := range c.changed {
		for it := range c.s.users[n] {
			if it.imports[n] == "" {
				add(it)
			}
		}
		if e := c.s.names[n]; e != nil && e.item != nil && e.item.kind == token.TYPE {
			add(e.item)
		}
		for _, it := range c.s.methods[n] {
			add(it)
		}
		for v := range c.s.typed[n] {
			if !c.changed[v] && c.bodyVars[v] == nil && c.s.names[v] != nil && c.s.names[v].stale == "" {
				c.changed[v] = true
				more = true
			}
		}
	}
	return more
}
