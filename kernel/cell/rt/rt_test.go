package rt

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// celsius, pair and shape are compiled here under the names that boxes of the tests carry: fmt's own output of them is what a
// box must print.
type (
	celsius float64
	pair    struct {
		A int
		b string
	}
	shape struct {
		pair
		P    *pair
		List []pair
		Map  map[string]celsius
		Any  any
	}
)

// testTypes declares the same types for go/types, in a package of the same name.
const testTypes = `package rt
type celsius float64
type pair struct { A int; b string }
type shape struct { pair; P *pair; List []pair; Map map[string]celsius; Any any }
`

type erasedPair struct {
	F0 int
	F1 string
}

type erasedShape struct {
	F0 erasedPair
	F1 *erasedPair
	F2 []erasedPair
	F3 map[string]float64
	F4 any
}

// boxer makes boxes of the test's types.
type boxer struct {
	registry *Registry
	scope    *types.Scope
	pkg      *types.Package
}

func newBoxer(t testing.TB) *boxer {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "types.go", testTypes, 0)
	if err != nil {
		t.Fatal(err)
	}
	var conf types.Config
	pkg, err := conf.Check("main", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &boxer{NewRegistry(func(p *types.Package) bool { return p == pkg }), pkg.Scope(), pkg}
}

func (b *boxer) box(t types.Type, v any) any {
	d := b.registry.Find(t)
	if d == nil {
		d = b.registry.NewType(t, false)
		b.registry.Add(d)
		SetType(d.ID, reflect.New(reflect.TypeOf(v)).Interface())
	}
	return MakeBox(d.ID, v)
}

func (b *boxer) named(name string) types.Type { return b.scope.Lookup(name).Type() }

// values are the same values, compiled and in boxes.
func (b *boxer) values() (compiled, boxed []any) {
	p, s := &pair{3, "p"}, shape{pair: pair{1, "x"}, List: []pair{{2, "y"}}, Map: map[string]celsius{"k": 2.5}, Any: celsius(7)}
	c := b.box(b.named("celsius"), 7.0)
	compiled = []any{celsius(36.6), pair{1, "x"}, p, s, []celsius{1, 2}, map[celsius]pair{2: {1, "a"}, 1: {0, ""}}, [2]pair{{1, "q"}}, (*pair)(nil)}
	boxed = []any{
		b.box(b.named("celsius"), 36.6), b.box(b.named("pair"), erasedPair{1, "x"}),
		b.box(types.NewPointer(b.named("pair")), &erasedPair{3, "p"}),
		b.box(b.named("shape"), erasedShape{F0: erasedPair{1, "x"}, F2: []erasedPair{{2, "y"}}, F3: map[string]float64{"k": 2.5}, F4: c}),
		b.box(types.NewSlice(b.named("celsius")), []float64{1, 2}),
		b.box(types.NewMap(b.named("celsius"), b.named("pair")), map[float64]erasedPair{2: {1, "a"}, 1: {0, ""}}),
		b.box(types.NewArray(b.named("pair"), 2), [2]erasedPair{{1, "q"}}),
		b.box(types.NewPointer(b.named("pair")), (*erasedPair)(nil)),
	}
	return compiled, boxed
}

func TestFormatAsFmt(t *testing.T) {
	b := newBoxer(t)
	compiled, boxed := b.values()
	for i := range compiled {
		for _, f := range []string{"%v", "%+v", "%#v", "%T", "%d", "%s", "%x", "%q", "%6.2f", "%-9v|", "%t", "%e", "%08v", "%v %v", "%[1]T %[1]v", "%!", "%d %s %v", "x"} {
			want, got := fmt.Sprintf(f, compiled[i]), Sprintf(f, boxed[i])
			if got != want {
				t.Errorf("%s of %T: got %s, want %s", f, compiled[i], got, want)
			}
		}
		if got, want := Sprint("a", boxed[i], boxed[i], "b", 1, boxed[i]), fmt.Sprint("a", compiled[i], compiled[i], "b", 1, compiled[i]); got != want {
			t.Errorf("Sprint: got %s, want %s", got, want)
		}
		if got, want := Sprintln(boxed[i], []any{boxed[i]}), fmt.Sprintln(compiled[i], []any{compiled[i]}); got != want && compiled[i] != any((*pair)(nil)) && i != 2 {
			t.Errorf("Sprintln: got %s, want %s", got, want)
		}
	}
}

// FuzzFormat compares any format, with boxes and with the same compiled values.
func FuzzFormat(f *testing.F) {
	for _, s := range []string{"%d", "%*d", "%[2]v %[1]T", "%.*[2]f", "%[3]*.[2]*[1]f", "%+-#08.3v%", "%z%%", "%[x]d", "%[9]d", "%.[2]d", "%-*v|%T|%p"} {
		f.Add(s)
	}
	b := newBoxer(f)
	num := types.Typ[types.Int]
	named := types.NewNamed(types.NewTypeName(0, b.pkg, "count", nil), num, nil)
	f.Fuzz(func(t *testing.T, format string) {
		if strings.Contains(format, "p") { // addresses
			return
		}
		want := fmt.Sprintf(format, count(5), pair{1, "x"}, celsius(2.5), "s")
		got := Sprintf(format, b.box(named, 5), b.box(b.named("pair"), erasedPair{1, "x"}), b.box(b.named("celsius"), 2.5), "s")
		if got != want && !signVerb.MatchString(want) { // flags before a sign as a verb are lost
			t.Errorf("%q: got %q, want %q", format, got, want)
		}
	})
}

type count int

var signVerb = regexp.MustCompile(`%![0-9+\-# .*\[]\(`)

func TestNames(t *testing.T) {
	b := newBoxer(t)
	str := types.Typ[types.String]
	for _, c := range []struct {
		t    types.Type
		want any
	}{
		{b.named("shape"), shape{}},
		{types.NewPointer(b.named("pair")), &pair{}},
		{types.NewMap(str, types.NewSlice(b.named("celsius"))), map[string][]celsius{}},
		{types.NewChan(types.SendRecv, types.NewChan(types.RecvOnly, str)), make(chan (<-chan string))},
		{types.NewChan(types.SendOnly, types.NewArray(str, 2)), make(chan<- [2]string)},
		{types.NewSignatureType(nil, nil, nil, types.NewTuple(types.NewVar(0, nil, "", str), types.NewVar(0, nil, "", types.NewSlice(str))), types.NewTuple(types.NewVar(0, nil, "", types.Universe.Lookup("error").Type())), true), func(string, ...string) error { return nil }},
		{types.NewStruct([]*types.Var{types.NewField(0, b.pkg, "A", str, false)}, []string{`json:"a"`}), struct {
			A string `json:"a"`
		}{}},
		{types.NewSlice(types.NewInterfaceType(nil, nil)), []any{}},
	} {
		if got, want := Name(c.t), reflect.TypeOf(c.want).String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestKeysTellTypesApart(t *testing.T) {
	b := newBoxer(t)
	r := b.registry
	fieldsOf := func(name, tag string) types.Type {
		return types.NewStruct([]*types.Var{types.NewField(0, b.pkg, name, types.Typ[types.Int], false)}, []string{tag})
	}
	ts := []types.Type{types.Typ[types.Int], types.Typ[types.Int64], types.NewPointer(types.Typ[types.Int]), types.NewSlice(types.Typ[types.Int]),
		types.NewArray(types.Typ[types.Int], 3), types.NewArray(types.Typ[types.Int], 4), b.named("celsius"), b.named("pair"), b.named("pair").Underlying(),
		fieldsOf("A", ""), fieldsOf("a", ""), fieldsOf("A", "t"), types.NewChan(types.SendOnly, types.Typ[types.Int]), types.NewChan(types.RecvOnly, types.Typ[types.Int])}
	for i, x := range ts {
		for j, y := range ts {
			if (r.Key(x) == r.Key(y)) != types.Identical(x, y) || types.Identical(x, y) != (i == j) {
				t.Errorf("%s and %s: keys %s and %s", x, y, r.Key(x), r.Key(y))
			}
		}
	}
	if r.Key(types.Typ[types.Byte]) != r.Key(types.Universe.Lookup("byte").Type()) {
		t.Error("byte is not uint8")
	}
}

// TestSymbols: every function that lowered text may name exists in the table, under its name.
func TestSymbols(t *testing.T) {
	names, err := filepath.Glob("../lower/*.go")
	if err != nil || len(names) == 0 {
		t.Fatal("no sources of package lower", err)
	}
	used := map[string]bool{}
	for _, n := range names {
		if strings.HasSuffix(n, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), n, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				for _, part := range strings.Split(strings.ReplaceAll(l.Value, "sort.", ""), "rt.")[1:] {
					i := strings.IndexFunc(part, func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') })
					if i > 0 {
						used[part[:i]] = true
					}
				}
			}
			return true
		})
	}
	for n := range used {
		if _, ok := symbols[n]; !ok && n != "Defers" {
			t.Errorf("lowered text names rt.%s, which is not in the table", n)
		}
	}
	if len(used) < 50 {
		t.Errorf("only %d names found", len(used))
	}
}

func TestAttribution(t *testing.T) {
	var mu sync.Mutex
	out := map[int]*bytes.Buffer{}
	Write = func(cell int, stderr bool, p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		if out[cell] == nil {
			out[cell] = new(bytes.Buffer)
		}
		if stderr {
			out[cell].WriteString("!")
		}
		return out[cell].Write(p)
	}
	defer func() { Write = nil }()
	start, end := make(chan bool), make(chan bool)
	BeginCell(7001)
	Go(func() {
		<-start
		Println("from 7001")
		go func() { Fprintln(os.Stderr, "also"); end <- true }()
	})
	EndCell()
	BeginCell(7002)
	Print("from 7002")
	start <- true
	<-end
	EndCell()
	if a, b := out[7001].String(), out[7002].String(); a != "from 7001\n!also\n" || b != "from 7002" {
		t.Errorf("%q, %q", a, b)
	}
}

// BenchmarkPrintln is a line of output, without what its writer costs.
func BenchmarkPrintln(b *testing.B) {
	Write = func(_ int, _ bool, p []byte) (int, error) { return len(p), nil }
	defer func() { Write = nil }()
	BeginCell(8001)
	defer EndCell()
	for b.Loop() {
		Println("line", 12345)
	}
}
