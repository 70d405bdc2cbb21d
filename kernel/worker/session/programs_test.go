package session

import (
	"bytes"
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"memwall/kernel/cell"
)

type program struct {
	Name   string `json:"name"`
	Src    string `json:"src"`
	Stdout string `json:"stdout"`
	Exit   int    `json:"exit"`
}

// cases reads the programs whose output `go run` gave; nil when they are not on this machine.
func cases(t testing.TB) []program {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
	b, err := os.ReadFile(filepath.Join(dir, "..", "shared", "cases", "go", "programs.jsonl"))
	if err != nil {
		t.Log("../shared/cases/go/programs.jsonl is not here: nothing compared")
		return nil
	}
	var ps []program
	for _, l := range bytes.Split(bytes.TrimSpace(b), []byte("\n")) {
		var p program
		if err := json.Unmarshal(l, &p); err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
	return ps
}

// output collects what a session prints to its standard output. Programs print through package os too, so the file itself is
// a pipe while a test runs.
type output struct {
	mu sync.Mutex
	b  strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// runCells runs cells one after the other until one fails: the output, and how the last one ended as a program's exit code;
// 3 when a cell was refused.
func runCells(t testing.TB, s *Session, cells []string) (stdout string, exit int, why string) {
	t.Helper()
	var out output
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	saved := os.Stdout
	os.Stdout = w
	copied := make(chan bool)
	go func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := r.Read(buf)
			if _, werr := out.Write(buf[:n]); err != nil || werr != nil {
				close(copied)
				return
			}
		}
	}()
	defer func() {
		os.Stdout = saved
		w.Close()
		<-copied
		r.Close()
		stdout = out.b.String()
	}()
	for i, text := range cells {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		o := s.Run(ctx, i+1, text)
		cancel()
		if o.Err == nil {
			continue
		}
		why = strings.Join(o.Err.Traceback, "\n")
		switch o.Err.Name {
		case cell.Refused:
			return "", 3, why
		case "Exit":
			exit = 1
			if n := strings.TrimSuffix(strings.TrimPrefix(o.Err.Value, "os.Exit("), ")"); n != "1" {
				exit = int(n[0] - '0')
			}
			return "", exit, why
		case "Panic":
			return "", 2, why
		}
		return "", 4, why
	}
	return "", 0, ""
}

// TestWholePrograms pastes each program into a cell.
func TestWholePrograms(t *testing.T) {
	compare(t, func(src string) []string { return []string{src} })
}

// TestSplitPrograms gives each program as a notebook would have it: a cell for each group of declarations that need each
// other, types with their methods, in the order in which they need each other, and main's call last.
func TestSplitPrograms(t *testing.T) {
	compare(t, func(src string) []string { return splitProgram(t, src) })
}

// TestStatements gives each program's declarations as cells, and the statements of main as one cell, or as a cell each.
func TestStatements(t *testing.T) {
	t.Run("one cell", func(t *testing.T) {
		compare(t, func(src string) []string { return statements(t, src, false) })
	})
	t.Run("a cell each", func(t *testing.T) {
		compare(t, func(src string) []string { return statements(t, src, true) })
	})
}

// statements is a program as cells whose main is not a function. A program whose main cannot be taken apart (it defers,
// returns, jumps, or declares types or a name twice) is given split.
func statements(t testing.TB, src string, each bool) []string {
	t.Helper()
	cells := splitProgram(t, src)
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var body *ast.BlockStmt
	others := map[string]bool{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "main" {
				body = d.Body
			} else {
				others[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						others[n.Name] = true
					}
				case *ast.TypeSpec:
					others[s.Name.Name] = true
				}
			}
		}
	}
	declared := map[string]bool{}
	whole := func(n *ast.Ident) bool { // a name that means something else outside of main, or twice in it
		twice := others[n.Name] || declared[n.Name]
		declared[n.Name] = n.Name != "_"
		return twice && n.Name != "_"
	}
	apart := true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt, *ast.ReturnStmt, *ast.LabeledStmt:
			apart = false
		case *ast.BranchStmt:
			apart = apart && n.Label == nil
		}
		return true
	})
	var parts []string
	for _, st := range body.List {
		switch st := st.(type) {
		case *ast.AssignStmt:
			if st.Tok == token.DEFINE {
				for _, l := range st.Lhs {
					apart = apart && !whole(l.(*ast.Ident))
				}
			}
		case *ast.DeclStmt:
			for _, s := range st.Decl.(*ast.GenDecl).Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						apart = apart && !whole(n)
					}
				case *ast.TypeSpec:
					apart = apart && !whole(s.Name)
				}
			}
		}
		parts = append(parts, src[fset.Position(st.Pos()).Offset:fset.Position(st.End()).Offset]+";")
	}
	if !apart || strings.Contains(src, "runtime.NumGoroutine") {
		return cells
	}
	text := "func main()"
	for i, c := range cells {
		if strings.HasPrefix(c, text) {
			cells = append(cells[:i], cells[i+1:]...)
			break
		}
	}
	cells = cells[:len(cells)-1]
	if each {
		return append(cells, parts...)
	}
	return append(cells, strings.Join(parts, "\n"))
}

func compare(t *testing.T, split func(string) []string) {
	ps := cases(t)
	if ps == nil {
		return
	}
	right, refused, wrong := 0, 0, 0
	for _, p := range ps {
		stdout, exit, why := runCells(t, newSession(t), split(p.Src))
		// Programs with timers a few milliseconds apart race with the machine: a busy one is given more chances.
		for try := 0; try < 3 && stdout != p.Stdout && exit != 3 && strings.Contains(p.Src, "time."); try++ {
			t.Logf("%s again: exit %d %q, want %d %q", p.Name, exit, stdout, p.Exit, p.Stdout)
			stdout, exit, why = runCells(t, newSession(t), split(p.Src))
		}
		switch {
		case stdout == p.Stdout && exit == p.Exit:
			right++
		case exit == 3:
			refused++
			t.Logf("%s refused: %s", p.Name, why)
		default:
			wrong++
			t.Errorf("%s: exit %d %q, want %d %q\n%s", p.Name, exit, stdout, p.Exit, p.Stdout, why)
		}
	}
	t.Logf("%d right, %d refused, %d wrong of %d", right, refused, wrong, len(ps))
	if right*100 < len(ps)*97 || wrong > 0 {
		t.Errorf("want at least 97 %% right and none wrong")
	}
}

// splitProgram is a program as cells.
func splitProgram(t testing.TB, src string) []string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	text := func(n ast.Node) string { return src[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset] }
	g := &groups{of: map[string]int{}}
	var cells []string
	imports := ""
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				imports += text(d) + "\n"
				continue
			}
			g.declare(d, text(d))
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				refs := references(d)
				delete(refs, "init")
				g.add(text(d), refs)
				continue
			}
			g.declareFunc(d, text(d))
		}
	}
	if imports != "" {
		cells = append(cells, imports)
	}
	return append(append(cells, g.cells()...), "main()")
}

// groups finds the declarations that need each other.
type groups struct {
	nodes []*node
	of    map[string]int // name → node
}

type node struct {
	text  string
	refs  map[string]bool
	index int
	low   int
	state int
}

func (g *groups) add(text string, refs map[string]bool, names ...string) {
	for _, n := range names {
		g.of[n] = len(g.nodes)
	}
	g.nodes = append(g.nodes, &node{text: text, refs: refs})
}

func references(n ast.Node) map[string]bool {
	refs := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			refs[id.Name] = true
		}
		return true
	})
	return refs
}

func (g *groups) declare(d *ast.GenDecl, text string) {
	var names []string
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			names = append(names, s.Name.Name)
		case *ast.ValueSpec:
			for _, n := range s.Names {
				names = append(names, n.Name)
			}
		}
	}
	g.add(text, references(d), names...)
}

func (g *groups) declareFunc(d *ast.FuncDecl, text string) {
	if d.Recv == nil {
		g.add(text, references(d), d.Name.Name)
		return
	}
	base := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && base == "" {
			base = id.Name
		}
		return true
	})
	refs := references(d)
	g.add(text, refs, "method "+base+"."+d.Name.Name)
	if i, ok := g.of[base]; ok { // a type and its methods belong together
		g.nodes[i].refs["method "+base+"."+d.Name.Name] = true
	} else {
		refs["late "+base] = true
	}
}

// cells are Tarjan's strongly connected components, in dependency order.
func (g *groups) cells() []string {
	for n, i := range g.of {
		if strings.HasPrefix(n, "method ") {
			base, _, _ := strings.Cut(strings.TrimPrefix(n, "method "), ".")
			if k, ok := g.of[base]; ok {
				g.nodes[k].refs[n] = true
				g.nodes[i].refs[base] = true
			}
		}
	}
	var stack []int
	var cells []string
	count := 0
	var visit func(i int)
	visit = func(i int) {
		n := g.nodes[i]
		count++
		n.index, n.low, n.state = count, count, 1
		stack = append(stack, i)
		var deps []int
		for r := range n.refs {
			if k, ok := g.of[r]; ok {
				deps = append(deps, k)
			}
		}
		sort.Ints(deps)
		for _, k := range deps {
			m := g.nodes[k]
			if m.state == 0 {
				visit(k)
				n.low = min(n.low, m.low)
			} else if m.state == 1 {
				n.low = min(n.low, m.index)
			}
		}
		if n.low != n.index {
			return
		}
		var group []int
		for {
			k := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			g.nodes[k].state = 2
			group = append(group, k)
			if k == i {
				break
			}
		}
		sort.Ints(group)
		var parts []string
		for _, k := range group {
			parts = append(parts, g.nodes[k].text)
		}
		cells = append(cells, strings.Join(parts, "\n\n"))
	}
	for i := range g.nodes {
		if g.nodes[i].state == 0 {
			visit(i)
		}
	}
	return cells
}
