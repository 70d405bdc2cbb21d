package cell

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func newTestSession(t testing.TB) *Session {
	t.Helper()
	s, err := NewSession(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run compiles and commits a cell; the text of an error, or of what the last expression's types are.
func run(s *Session, n int, text string) string {
	p, err := s.Compile(n, text)
	if err != nil {
		return err.Error()
	}
	p.Commit()
	var ts []string
	for _, r := range p.Results {
		ts = append(ts, r.Type)
	}
	return strings.Join(ts, ", ")
}

// session is a list of cells and what each must answer.
type sessionCase struct {
	name  string
	cells []string // text, answer, text, answer …
}

func (c sessionCase) test(t *testing.T) {
	s := newTestSession(t)
	for i := 0; i+1 < len(c.cells); i += 2 {
		got := run(s, i/2+1, c.cells[i])
		if want := c.cells[i+1]; got != want {
			t.Errorf("%s, cell %d:\n%s\ngot:\n%s\nwant:\n%s", c.name, i/2+1, c.cells[i], got, want)
		}
	}
}

func TestTypesOfLastExpressions(t *testing.T) {
	for _, c := range []sessionCase{
		{"values", []string{
			"x := 1", "",
			"x + 1", "int",
			"x := \"a\"\nx", "string",
			"y := x + \"b\"\nlen(y)", "int",
			"x := len(x)", "",
			"x", "int",
			"x;", "",
			"strings.Cut(y, \"a\")", "string, string, bool",
			"x, y", "int, string",
			"x, // a comment, with a comma\n\ty + \",\", strings.Cut(y, \"a\"),\n\tfunc(a, b int) int { return a }(1, 2)", "int, string, string, string, bool, int",
			"x, y;", "",
			"os.Open(\"x\"), strconv.Atoi(\"1\"), nil, 'a'", "*os.File, int, untyped nil, rune",
			"é, w := 1, 2\n[]int{é, w}, map[string]int{\"é\": é}", "[]int, map[string]int",
			"type P struct{ a, b int }", "",
			"P{1, 2}, &P{3, 4}", "P, *P",
			"fmt.Println(x), x", "int",
			"fmt.Println(x)", "",
			"os.Open(\"x\")", "*os.File",
			"f := os.Open(\"x\")\nf", "*os.File",
			"nil", "untyped nil",
			"func(a int) int { return a }(3)", "int",
			"func f() {}\nf()", "",
			"type T struct{ A int }\nT{1}", "T",
			"[]T{{2}}", "[]T",
			"var a, b = 1, 2.5\na, b = 3, 4", "",
			"b", "float64",
			"float64(x)", "float64",
			"1 << 3", "int",
		}},
		{"nothing", []string{"", "", "// only this", "", "\uFEFFx := 1\nx", "int", ";;", ""}},
		{"imports", []string{
			"import \"math/rand/v2\"\nrand.IntN(3)", "int",
			"rand.IntN(4)", "int",
			"rand := rand.IntN(3)\nrand", "int",
			"rand + 1", "int",
			"import m \"math\"", "",
			"m.Pi", "float64",
			"import . \"strings\"", "",
			"ToUpper(\"a\")", "string",
			"import \"slices\"\nslices.Max([]int{1, 2})", "int",
			"maps.Keys(map[string]int{})", "iter.Seq[string]",
		}},
		{"statements", []string{
			"n := 0\nfor i := range 3 { n += i }\nif n > 2 { n++ }", "",
			"for {\n\tn++\n\tif n > 10 { break }\n}\nn", "int",
			"a, err := strconv.Atoi(\"1\")\nb, err := strconv.Atoi(\"2\")\na + b", "int",
			"err", "error",
			"defer fmt.Println()\nswitch n { case 1: n = 2 }", "",
			"goto L\nL:\nn++", "",
			"x, y := 1, 2\nx, y = y, x\nx, z := 5, \"s\"\nz", "string",
		}},
		{"program", []string{
			"package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nvar a = b + 1\nvar b = f()\n\nfunc f() int { return 2 }\n\nfunc init() { fmt.Println(a) }\n\nfunc main() { fmt.Println(a, b) }\n", "",
			"a + b", "int",
		}},
	} {
		t.Run(c.name, c.test)
	}
}

func TestErrorTexts(t *testing.T) {
	for _, c := range []sessionCase{
		{"undefined", []string{
			"strings.ToUper(\"a\")", "cell 1, 1:9: undefined: strings.ToUper\n    strings.ToUper(\"a\")\n            ^\ndid you mean ToUpper?",
			"b := bytes.NewBufer(nil)\n\tc := b.Lenn()", "cell 2, 1:12: undefined: bytes.NewBufer\n    b := bytes.NewBufer(nil)\n               ^\ndid you mean NewBuffer?",
			"count := 1\ncuont", "cell 3, 2:1: undefined: cuont\n    cuont\n    ^\ndid you mean count?",
			"fmtt.Println()", "cell 4, 1:1: undefined: fmtt\n    fmtt.Println()\n    ^\ndid you mean fmt?",
			"fmt.Println(xs)", "cell 5, 1:13: undefined: xs\n    fmt.Println(xs)\n                ^",
			"strings.Build(1)", "cell 6, 1:9: undefined: strings.Build\n    strings.Build(1)\n            ^\ndid you mean Builder?",
			"os.Open(\"x\").Close()", "cell 7, 1:1: multiple-value os.Open(\"x\") (value of type (*os.File, error)) in single-value context\n    os.Open(\"x\").Close()\n    ^\nit also returns an error: give its first value a name, v := os.Open(\"x\"), and use that",
			"x, y := 1, 2\nx, y\nx", "cell 8, 2:1: expected 1 expression\n    x, y\n    ^\nonly the last line of a cell shows several values: print these, fmt.Println(a, b)",
			"b := &bytes.Buffer{}\n\tb.Lenn()", "cell 9, 2:4: undefined: b.Lenn\n    \tb.Lenn()\n    \t  ^\ndid you mean Len?",
		}},
		{"several", []string{
			"var a int = \"x\"\nvar b string = 2", "cell 1, 1:13: cannot use \"x\" (untyped string constant) as int value in variable declaration\n    var a int = \"x\"\n                ^\ncell 1, 2:16: cannot use 2 (untyped int constant) as string value in variable declaration\n    var b string = 2\n                   ^",
		}},
		{"outline", []string{
			"if true {", "cell 1, 1:9: the { is not closed\n    if true {\n            ^",
			"x := (1]", "cell 2, 1:8: unexpected ], want )\n    x := (1]\n           ^\nto close the ( of line 1",
			"}", "cell 3, 1:1: unexpected }: nothing is open\n    }\n    ^",
			"s := \"abc", "cell 4, 1:6: string literal not terminated\n    s := \"abc\n         ^",
			"x := 1 +", "cell 5, 1:9: expected operand, found the end of the cell\n    x := 1 +\n            ^",
			"package foo", "cell 6, 1:1: a cell belongs to package main, not foo: leave the package clause out\n    package foo\n    ^",
		}},
		{"imports", []string{
			"import \"github.com/a/b\"", "cell 1, 1:8: package \"github.com/a/b\" is not in the Jupyter kernel: cells are not compiled by a Go toolchain, so only the standard library, memwall's packages and gonum's can be imported\n    import \"github.com/a/b\"\n           ^",
			"import \"C\"", "cell 2, 1:8: import \"C\" needs a C compiler beside Go's: cells cannot use cgo\n    import \"C\"\n           ^",
		}},
		{"order", []string{
			"fmt.Println(late)\nlate := 1", "cell 1, 1:13: undefined: late\n    fmt.Println(late)\n                ^\nlate is declared only later in this cell, at 2:1",
			"func f() int { return late2 }\nfmt.Println(f())\nlate2 := 3", "cell 2, 2:13: f uses late2, which has no value here\n    fmt.Println(f())\n                ^\nlate2 is declared only later in this cell, at 3:1",
			"fib := func(n int) int { return fib(n - 1) }", "cell 3, 1:33: undefined: fib\n    fib := func(n int) int { return fib(n - 1) }\n                                    ^\nfib is declared only later in this cell, at 1:1",
		}},
		{"lists", []string{
			"x := 1\nx,", "cell 1, 2:1: expected 1 expression\n    x,\n    ^\nonly the last line of a cell shows several values: print these, fmt.Println(a, b)",
			"x := 1\nx, yy", "cell 2, 2:4: undefined: yy\n    x, yy\n       ^",
			"func f() {}\n1, f()", "cell 3, 2:4: f() (no value) used as value\n    1, f()\n       ^",
			"late, 2\nlate := 1", "cell 4, 1:1: expected 1 expression\n    late, 2\n    ^\nonly the last line of a cell shows several values: print these, fmt.Println(a, b)",
			"return 1, 2", "cell 5, 1:8: too many return values\n\thave (number, number)\n\twant ()\n    return 1, 2\n           ^",
		}},
		{"mismatch", []string{
			"a, b := strings.ToUpper(\"x\")", "cell 1, 1:9: assignment mismatch: 2 variables but strings.ToUpper returns 1 value\n    a, b := strings.ToUpper(\"x\")\n            ^",
			"x := 1\nx := \"s\"", "cell 2, 2:6: cannot use \"s\" (untyped string constant) as int value in assignment\n    x := \"s\"\n         ^",
			"func g() { z := 1 }", "cell 3, 1:12: declared and not used: z\n    func g() { z := 1 }\n               ^\ninside functions and statements Go wants every variable used; assign it to _",
		}},
		{"magics", []string{
			"%%cuda\n__global__ void f() {}", "cell 1, 1:1: memwall: %%cuda cells are not built yet; use dev.CompileCUDA(src)\n    %%cuda\n    ^",
		}},
	} {
		t.Run(c.name, c.test)
	}
}

func TestFailureChangesNothing(t *testing.T) {
	s := newTestSession(t)
	run(s, 1, "x := 1\nfunc f() int { return x }\ntype T struct{ A int }")
	before := fmt.Sprint(s.Names())
	for _, bad := range []string{"x := \"s\"\nundefinedName", "func f() string { return 1 }", "type T struct{ B undefinedType }", "import \"nothing\"", "y := 1\n}"} {
		_, err := s.Compile(2, bad)
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("%q: %v", bad, err)
		}
	}
	if after := fmt.Sprint(s.Names()); after != before {
		t.Errorf("names changed: %s, were %s", after, before)
	}
}
