package lower_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/traefik/yaegi/interp"
	"github.com/traefik/yaegi/stdlib"
	"golang.org/x/tools/go/ssa"

	"memwall/kernel/cell/exportdata"
	"memwall/kernel/cell/lower"
	"memwall/kernel/cell/rt"
)

// session evaluates packages one after the other, as the kernel's sessions do, without their comfort.
type session struct {
	fset     *token.FileSet
	importer *exportdata.Importer
	prog     *ssa.Program
	lowerer  *lower.Lowerer
	interp   *interp.Interpreter
	earlier  map[string]types.Object
	created  map[*types.Package]bool
	text     string // of the last unit
	last     *ssa.Package
	tree     *ast.File
	before   func(*ssa.Package) // called before a package is lowered
	unit     *lower.Unit
	// bothStreams has standard error collected with standard output.
	bothStreams bool
}

func newSession(t testing.TB) *session {
	t.Helper()
	s := &session{fset: token.NewFileSet(), earlier: map[string]types.Object{}, created: map[*types.Package]bool{}}
	var err error
	if s.importer, err = exportdata.NewImporter(s.fset); err != nil {
		t.Fatal(err)
	}
	s.prog = ssa.NewProgram(s.fset, ssa.InstantiateGenerics)
	s.lowerer = lower.New(s.prog, lower.Options{Source: s.importer.FromSource, Entry: "Cell"})
	return s
}

var useWrappers = sync.OnceFunc(func() { rt.Use(stdlib.Symbols) })

// start makes the interpreter; lowering alone needs none.
func (s *session) start(t testing.TB) {
	t.Helper()
	useWrappers()
	s.interp = interp.New(interp.Options{GoPath: "/nonexistent", Env: os.Environ(), Stderr: new(bytes.Buffer)})
	if err := s.interp.Use(stdlib.Symbols); err != nil {
		t.Fatal(err)
	}
	if err := s.interp.Use(interp.Exports{lower.RuntimePath + "/rt": rt.Symbols()}); err != nil {
		t.Fatal(err)
	}
}

// lower checks one cell's source, a package of its own, and lowers it.
func (s *session) lower(name, src string) (*lower.Unit, error) {
	f, err := parser.ParseFile(s.fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	overlay(f)
	pkg := types.NewPackage("main", "main")
	declared := map[string]bool{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				declared[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, sp := range d.Specs {
				switch sp := sp.(type) {
				case *ast.TypeSpec:
					declared[sp.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range sp.Names {
						declared[n.Name] = true
					}
				}
			}
		}
	}
	for n, o := range s.earlier {
		if !declared[n] {
			pkg.Scope().Insert(o)
		}
	}
	info := exportdata.NewInfo()
	conf := types.Config{Importer: s.importer, GoVersion: "go1.26"}
	if err := types.NewChecker(&conf, s.fset, pkg, info).Files([]*ast.File{f}); err != nil {
		return nil, err
	}
	s.create(pkg)
	s.last = s.prog.CreatePackage(pkg, []*ast.File{f}, info, false)
	s.last.SetDebugMode(true)
	s.last.Build()
	if s.before != nil {
		s.before(s.last)
	}
	u, err := s.lowerer.Package(s.last, f)
	if err != nil {
		return nil, err
	}
	s.text, s.unit, s.tree = u.Text, u, f
	for n := range declared {
		if o := pkg.Scope().Lookup(n); o != nil && n != "main" && n != "init" {
			s.earlier[n] = o
		}
	}
	return u, nil
}

// create makes the SSA packages of all that pkg imports.
func (s *session) create(pkg *types.Package) {
	var add func(p *types.Package)
	add = func(p *types.Package) {
		if s.created[p] {
			return
		}
		s.created[p] = true
		for _, q := range p.Imports() {
			add(q)
		}
		var files []*ast.File
		var info *types.Info
		if src := s.importer.Source(p); src != nil {
			files, info = src.Files, src.Info
		}
		s.prog.CreatePackage(p, files, info, true).Build()
	}
	for _, q := range pkg.Imports() {
		add(q)
	}
	for _, p := range []string{"iter", "cmp", "slices", "maps"} {
		if q := s.importer.Loaded(p); q != nil {
			add(q)
		}
	}
}

// eval evaluates one cell and calls its functions of the given names.
func (s *session) eval(ctx context.Context, name, src string, calls ...string) (err error) {
	u, err := s.lower(name, src)
	if err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaegi: %v", r)
		}
	}()
	if _, err := s.interp.Eval(u.Text); err != nil {
		return fmt.Errorf("yaegi: %w", err)
	}
	u.Commit()
	run := u.Setup + "(); " + u.Init + "()"
	for _, c := range calls {
		if f := s.last.Func(c); f != nil {
			run += "; " + u.Function(f) + "()"
		}
	}
	_, err = s.interp.EvalWithContext(ctx, run)
	return err
}

// overlay redirects uses of generic names of compiled packages, as the kernel does.
func overlay(f *ast.File) {
	for _, im := range f.Imports {
		path := strings.Trim(im.Path.Value, `"`)
		name := path[strings.LastIndex(path, "/")+1:]
		used := ""
		other := false
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok || x.Name != name {
				return true
			}
			if o := exportdata.Overlaid[path+"."+sel.Sel.Name]; o != "" {
				used = o
				x.Name = "overlay_" + filepath.Base(o)
			} else {
				other = true
			}
			return true
		})
		if used == "" {
			continue
		}
		spec := &ast.ImportSpec{Name: ast.NewIdent("overlay_" + filepath.Base(used)), Path: &ast.BasicLit{Kind: token.STRING, Value: `"` + used + `"`}}
		if !other {
			im.Name = ast.NewIdent("_")
		}
		f.Imports = append(f.Imports, spec)
		f.Decls = append([]ast.Decl{&ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{spec}}}, f.Decls...)
	}
}

// outcome is how a program ended.
type outcome struct {
	stdout  string
	exit    int
	refused string // the refusal's text, or the interpreter's complaint
	panic   string
}

// runProgram runs a whole program in a session of its own.
func runProgram(t testing.TB, name, src string, limit time.Duration) outcome {
	t.Helper()
	s := newSession(t)
	return s.run(t, name, src, limit)
}

var cells int

// run evaluates a program, with the process's standard output in a file.
func (s *session) run(t testing.TB, name, src string, limit time.Duration) (o outcome) {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "stdout")
	if err != nil {
		t.Fatal(err)
	}
	saved, savedErr := os.Stdout, os.Stderr
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout, os.Stderr = file, null
	if s.bothStreams {
		os.Stderr = file
	}
	defer func() {
		os.Stdout, os.Stderr = saved, savedErr
		null.Close()
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(file)
		if err != nil {
			t.Fatal(err)
		}
		file.Close()
		o.stdout = string(b)
	}()
	if s.interp == nil {
		s.start(t) // the interpreter keeps the standard output that it finds
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cells++
	rt.BeginCell(cells)
	defer rt.EndCell()
	err = s.eval(ctx, name, src, "main")
	var p interp.Panic
	switch {
	case err == nil:
	case errors.As(err, &p):
		f := rt.Explain(p.Value)
		var exited rt.Exited
		if e, ok := p.Value.(error); ok && errors.As(e, &exited) {
			o.exit = exited.Code
			break
		}
		if f.Refused != nil {
			o.refused = f.Refused.Error()
			break
		}
		o.exit, o.panic = 2, f.Text
	default:
		o.refused = err.Error()
	}
	return o
}

func tokenPos(p int) token.Pos { return token.Pos(p) }
