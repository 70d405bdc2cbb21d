package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"sort"
	"strings"
)

func lineColumn(p Place) string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

var (
	initNumber    = regexp.MustCompile(initMark + `\d+`)
	mainQualifier = regexp.MustCompile(`"main"\.|\bmain\.`)
	manyValues    = regexp.MustCompile(`^multiple-value (.+) \(value of type \([^,()]+, (?:err )?error\)\) in single-value context$`)
	noFieldMethod = regexp.MustCompile(`^(.+)\.(\w+) undefined \((type .+ has no field or method \w+)(?:, but does have (unexported )?(?:field|method) (\w+))?\)$`)
)

// cleanMessage takes the compiler's own marks out of a message.
func cleanMessage(msg string) string {
	msg = strings.ReplaceAll(msg, oldMark, "")
	msg = strings.ReplaceAll(msg, " in argument to "+showFunc, "")
	msg = initNumber.ReplaceAllString(msg, "")
	return mainQualifier.ReplaceAllString(msg, "")
}

// diagnostic turns a type error into the form that cells show: undefined names first, and what the name may have meant.
func (c *compilation) diagnostic(e types.Error, part fragment, offset int) Diagnostic {
	line, column := part.src.place(offset)
	d := Diagnostic{
		Place: Place{part.src.cell, line, column, part.src.line(line)}, offset: offset, Message: cleanMessage(e.Msg),
	}
	if m := noFieldMethod.FindStringSubmatch(d.Message); m != nil {
		d.Message = "undefined: " + m[1] + "." + m[2]
		d.Hint = m[3]
		if near := c.nearSelector(e.Pos, m[2]); near != "" {
			d.Hint = "did you mean " + near + "?"
		} else if m[4] == "" && m[5] != "" {
			d.Hint = "did you mean " + m[5] + "?"
		}
		if why := c.lostMethod(e.Pos, m[2]); why != "" {
			d.Hint = why
		}
		return d
	}
	if name, ok := strings.CutPrefix(d.Message, "undefined: "); ok {
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			if near := c.nearSelector(e.Pos, name[i+1:]); near != "" {
				d.Hint = "did you mean " + near + "?"
			}
		} else if why := c.s.refusedName(name); why != "" && c.selector(e.Pos) != nil {
			d.Hint = why
		} else if near := c.nearName(e.Pos, name); near != "" {
			d.Hint = "did you mean " + near + "?"
		}
		return d
	}
	if m := manyValues.FindStringSubmatch(d.Message); m != nil {
		d.Hint = "it also returns an error: give its first value a name, v := " + m[1] + ", and use that"
	}
	if strings.Contains(d.Message, " as gpu.Config value in argument to ") {
		d.Hint = "a launch begins with its shape: gpu.Threads(n, 256), or gpu.Config{Grid: gpu.Dim(64), CTA: gpu.Dim(256)}"
	}
	if strings.HasPrefix(d.Message, "declared and not used: ") {
		d.Hint = "inside functions and statements Go wants every variable used; assign it to _"
	}
	return d
}

// refusedName says why the package of a name is not imported on first use, "" when there is none.
func (s *Session) refusedName(name string) string {
	for _, p := range append(s.importer.Paths(), "unsafe") { // which has no export data
		if packageName(p) == name {
			if why := s.refuse(p); why != "" {
				return why
			}
		}
	}
	return ""
}

// lostMethod explains a method that is missing because it does not compile any more.
func (c *compilation) lostMethod(pos token.Pos, name string) string {
	t := c.selectorBase(pos)
	if t == nil {
		return ""
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return c.lostMethodOf(t, name, 0)
}

func (c *compilation) lostMethodOf(t types.Type, name string, depth int) string {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || depth > 8 {
		return ""
	}
	if it := c.s.methods[n.Obj().Name()][name]; it != nil {
		why := c.d.broken[it]
		if why == nil {
			why = it.broken
		}
		if why != nil {
			return why.of("method " + n.Obj().Name() + "." + name)
		}
	}
	st, ok := n.Underlying().(*types.Struct)
	for i := 0; ok && i < st.NumFields(); i++ {
		f := st.Field(i)
		ft := f.Type()
		if p, isPointer := ft.(*types.Pointer); isPointer {
			ft = p.Elem()
		}
		if why := c.lostMethodOf(ft, name, depth+1); f.Embedded() && why != "" {
			return why
		}
	}
	return ""
}

// selector finds the x.y whose y is at pos.
func (c *compilation) selector(pos token.Pos) *ast.SelectorExpr {
	var found *ast.SelectorExpr
	for _, f := range c.files {
		if f.FileStart > pos || f.FileEnd < pos {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Pos() == pos || s.Pos() == pos && found == nil) {
				found = s
			}
			return true
		})
	}
	return found
}

func (c *compilation) selectorBase(pos token.Pos) types.Type {
	if s := c.selector(pos); s != nil {
		if tv, ok := c.info.Types[s.X]; ok {
			return tv.Type
		}
	}
	return nil
}

// nearSelector is the member of a package, or the field or method, whose name is nearest to what was written.
func (c *compilation) nearSelector(pos token.Pos, name string) string {
	s := c.selector(pos)
	if s == nil {
		return ""
	}
	if id, ok := s.X.(*ast.Ident); ok {
		if p, ok := c.info.Uses[id].(*types.PkgName); ok {
			var names []string
			for _, n := range p.Imported().Scope().Names() {
				if token.IsExported(n) && !c.s.hides(p.Imported().Path(), n) {
					names = append(names, n)
				}
			}
			return nearest(name, names)
		}
	}
	if tv, ok := c.info.Types[s.X]; ok && tv.Type != nil {
		var names []string
		for _, m := range membersOf(tv.Type, c.pkg) {
			names = append(names, m.Name())
		}
		return nearest(name, names)
	}
	return ""
}

// nearName is the name that can be seen at pos, or the package, nearest to what was written.
func (c *compilation) nearName(pos token.Pos, name string) string {
	var names []string
	for s := c.innermost(pos); s != nil; s = s.Parent() {
		for _, n := range s.Names() {
			if !strings.Contains(n, "·") {
				names = append(names, n)
			}
		}
	}
	for n := range c.s.names {
		names = append(names, n)
	}
	if near := nearest(name, names); near != "" {
		return near
	}
	for n := range c.s.imports {
		names = append(names, n)
	}
	for n := range c.s.predeclared {
		names = append(names, n)
	}
	for n := range c.s.auto {
		names = append(names, n)
	}
	return nearest(name, names)
}

func (c *compilation) innermost(pos token.Pos) *types.Scope {
	for _, f := range c.files {
		if f.FileStart <= pos && pos <= f.FileEnd {
			s := c.info.Scopes[f]
			if s == nil {
				return c.pkg.Scope()
			}
			if in := s.Innermost(pos); in != nil {
				return in
			}
			return s
		}
	}
	return c.pkg.Scope()
}

// membersOf lists the fields and methods that x.y may name for x of type t, those of embedded fields included, sorted.
func membersOf(t types.Type, from *types.Package) []types.Object {
	found := map[string]types.Object{}
	visible := func(o types.Object) bool {
		return o.Exported() || o.Pkg() != nil && from != nil && o.Pkg().Path() == from.Path()
	}
	base := t
	if p, ok := types.Unalias(t).Underlying().(*types.Pointer); ok {
		base = p.Elem()
	}
	recv := t
	if _, isPointer := types.Unalias(t).Underlying().(*types.Pointer); !isPointer && !types.IsInterface(t) {
		recv = types.NewPointer(t)
	}
	ms := types.NewMethodSet(recv)
	for i := 0; i < ms.Len(); i++ {
		if o := ms.At(i).Obj(); visible(o) {
			found[o.Name()] = o
		}
	}
	seen := map[types.Type]bool{}
	var fields func(t types.Type, depth int)
	fields = func(t types.Type, depth int) {
		if p, ok := types.Unalias(t).Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		st, ok := t.Underlying().(*types.Struct)
		if !ok || seen[t] || depth > 8 {
			return
		}
		seen[t] = true
		for i := 0; i < st.NumFields(); i++ {
			f := st.Field(i)
			if found[f.Name()] == nil && visible(f) {
				found[f.Name()] = f
			}
			if f.Embedded() {
				fields(f.Type(), depth+1)
			}
		}
	}
	fields(base, 0)
	var os []types.Object
	for _, o := range found {
		os = append(os, o)
	}
	sort.Slice(os, func(i, j int) bool { return os[i].Name() < os[j].Name() })
	return os
}

// nearest is the name with the fewest changes to what was written, "" when none is near.
func nearest(name string, names []string) string {
	if len(name) > 64 {
		return ""
	}
	limit := 1 + (len(name)-1)/4
	best, bestAt := "", limit+1
	longer := "" // the shortest name that begins with what was written
	for _, n := range names {
		if len(name) >= 3 && len(n) > len(name) && strings.EqualFold(n[:len(name)], name) && (longer == "" || len(n) < len(longer) || len(n) == len(longer) && n < longer) {
			longer = n
		}
		if len(name) <= 2 && n != "" && !strings.EqualFold(n[:1], name[:1]) { // nearly every name of two letters is near to another
			continue
		}
		if n == name || n == "_" || len(n) > len(name)+limit || len(n)+limit < len(name) {
			continue
		}
		d := distance(strings.ToLower(name), strings.ToLower(n))
		if d < bestAt || d == bestAt && n < best {
			best, bestAt = n, d
		}
	}
	if best == "" || bestAt >= len(name) {
		return longer
	}
	return best
}

// distance counts the letters to insert, delete, change or swap with the next one.
func distance(a, b string) int {
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
