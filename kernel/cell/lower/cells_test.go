package lower_test

import (
	"bytes"
	"context"
	"errors"
	"go/types"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/traefik/yaegi/interp"
	"golang.org/x/tools/go/ssa"

	"memwall/kernel/cell/rt"
)

// collected is what cells print in a test.
type collected struct {
	mu   sync.Mutex
	text map[int]*bytes.Buffer
}

func (c *collected) write(cell int, _ bool, p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.text[cell] == nil {
		c.text[cell] = new(bytes.Buffer)
	}
	return c.text[cell].Write(p)
}

func (c *collected) of(cell int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.text[cell]; b != nil {
		return b.String()
	}
	return ""
}

// collect has what cells print collected until the test ends.
func collect(t testing.TB) *collected {
	c := &collected{text: map[int]*bytes.Buffer{}}
	rt.Write = c.write
	t.Cleanup(func() { rt.Write = nil })
	return c
}

// cell runs one cell of a test's session: its function Cell, if it has one.
func (s *session) cell(t testing.TB, src string) (string, error) {
	t.Helper()
	c := collect(t)
	cells++
	rt.BeginCell(cells)
	defer rt.EndCell()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := s.eval(ctx, "cell.go", "package main\n"+src, "Cell")
	return c.of(cells), err
}

// expect runs a cell that must print want.
func (s *session) expect(t testing.TB, want, src string) {
	t.Helper()
	got, err := s.cell(t, src)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.text)
	}
	if got != want {
		t.Errorf("got %q, want %q\n%s", got, want, s.text)
	}
}

func started(t testing.TB) *session {
	s := newSession(t)
	s.start(t)
	return s
}

func TestCellsShareDeclarations(t *testing.T) {
	s := started(t)
	s.expect(t, "", `
import "fmt"
type Point struct { X, Y int }
func (p Point) String() string { return fmt.Sprintf("<%d %d>", p.X, p.Y) }
type Shape interface { Area() int }
var total int
func add(n int) { total += n }
func Map[T, U any](xs []T, f func(T) U) (r []U) { for _, x := range xs { r = append(r, f(x)) }; return r }
`)
	s.expect(t, "<1 2> 5 [2 4]\n", `
import "fmt"
func Cell() { add(5); fmt.Println(Point{1, 2}, total, Map([]int{1, 2}, func(i int) int { return 2 * i })) }
`)
	// a later cell adds a type that implements an earlier cell's interface, and calls through it
	s.expect(t, "12 main.Square\n", `
import "fmt"
type Square struct { Side int }
func (q Square) Area() int { return q.Side * q.Side }
func sum(ss ...Shape) (n int) { for _, x := range ss { n += x.Area() }; return n }
func Cell() { fmt.Printf("%v %T\n", sum(Square{2}, Square{2}, Square{2}), Square{}) }
`)
	// and the earlier cell's function sees yet later types
	s.expect(t, "13 true [<1 2>] map[<3 4>:1]\n", `
import "fmt"
type Line int
func (l Line) Area() int { return int(l) }
func Cell() {
	var x any = Point{1, 2}
	_, ok := x.(fmt.Stringer)
	fmt.Println(sum(Square{3}, Line(4)), ok, Map([]any{x}, func(a any) any { return a }), map[Point]int{{3, 4}: 1})
}
`)
}

func TestFailedUnitChangesNothing(t *testing.T) {
	s := started(t)
	s.expect(t, "", "var x = 1\nfunc f() int { return x }")
	for range 2 {
		if _, err := s.lower("bad.go", "package main\nimport \"unsafe\"\ntype T struct { a *T }\nvar p unsafe.Pointer\nvar y = T{}\nfunc g() {}"); err == nil {
			t.Fatal("unsafe was not refused")
		} else if !strings.Contains(err.Error(), "unsafe.Pointer cannot be used in a cell: ") {
			t.Fatal(err)
		}
	}
	// lowered, not committed
	if _, err := s.lower("dropped.go", "package main\nfunc h() int { return f() + 1 }\nvar z = h()"); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"h", "z"} {
		delete(s.earlier, n)
	}
	s.expect(t, "1 {<nil>} 2\n", "import \"fmt\"\ntype T struct { a *T }\nfunc h() int { return f() + 1 }\nfunc Cell() { fmt.Println(f(), T{}, h()) }")
}

// TestContinue declares a type again with one more method: values made before answer it, also inside other types.
func TestContinue(t *testing.T) {
	s := started(t)
	s.expect(t, "{1}\n", `
import "fmt"
type T struct { A int }
func (t T) Get() int { return t.A }
type Getter interface { Get() int }
var x any = T{1}
var g Getter = T{2}
var ptr any = &T{3}
var list any = []T{{4}}
func get(g Getter) int { return g.Get() }
func Cell() { fmt.Println(x) }
`)
	old := s.earlier["T"].Type().(*types.Named)
	s.before = func(p *ssa.Package) {
		s.lowerer.Continue(old, p.Pkg.Scope().Lookup("T").Type().(*types.Named))
	}
	s.expect(t, "T1! T2! &T3! [T4!] 1002 main.T true true\n", `
import "fmt"
type T struct { A int }
func (t T) Get() int { return 1000 + t.A }
func (t T) String() string { return fmt.Sprintf("T%d!", t.A) }
func Cell() {
	_, ok := x.(T)
	fmt.Println(x, g, "&" + ptr.(fmt.Stringer).String(), list, get(g), fmt.Sprintf("%T", x), ok, x == any(T{1}))
}
`)
	s.before = nil
	s.expect(t, "1004 T4!\n", `
import "fmt"
func Cell() { l := list.([]T); fmt.Println(get(l[0]), l[0]) }
`)
}

// TestBind declares a variable again, without losing its value.
func TestBind(t *testing.T) {
	s := started(t)
	s.expect(t, "", "var n = 41\nfunc inc() { n++ }")
	old := s.last.Var("n")
	s.before = func(p *ssa.Package) { s.lowerer.Bind(p.Var("n"), old) }
	s.expect(t, "42\n", "import \"fmt\"\nvar n int\nfunc Cell() { inc(); fmt.Println(n) }")
	s.before = nil
	s.expect(t, "43\n", "import \"fmt\"\nfunc Cell() { inc(); fmt.Println(n) }")
}

// TestRedefinition: functions that were lowered keep what they called; new ones get the new function.
func TestRedefinition(t *testing.T) {
	s := started(t)
	s.expect(t, "", "func f() int { return 1 }\nfunc g() int { return f() }")
	s.expect(t, "2 1\n", "import \"fmt\"\nfunc f() int { return 2 }\nfunc Cell() { fmt.Println(f(), g()) }")
}

func TestGoroutineOutputBelongsToItsCell(t *testing.T) {
	s := started(t)
	out := collect(t)
	run := func(n int, src string) {
		rt.BeginCell(n)
		defer rt.EndCell()
		if err := s.eval(context.Background(), "cell.go", "package main\n"+src, "Cell"); err != nil {
			t.Fatal(err)
		}
	}
	run(1001, `
import "fmt"
var gate, end = make(chan bool), make(chan bool)
func Cell() { go func() { <-gate; go func() { fmt.Println("late"); end <- true }() }(); fmt.Println("first") }`)
	run(1002, "import \"fmt\"\nfunc Cell() { fmt.Println(\"second\"); gate <- true; <-end; fmt.Println(\"third\") }")
	if a, b := out.of(1001), out.of(1002); a != "first\nlate\n" || b != "second\nthird\n" {
		t.Errorf("cell 1001 has %q, cell 1002 has %q", a, b)
	}
	if n := rt.Goroutines(1001); n > 1 {
		t.Errorf("%d goroutines of cell 1001 live", n)
	}
}

func TestGoroutinePanicIsReported(t *testing.T) {
	s := started(t)
	got := make(chan string, 1)
	rt.Panic = func(cell int, _ any, f rt.Failure) { got <- f.Text }
	defer func() { rt.Panic = nil }()
	s.expect(t, "", "type E struct{ N int }\nfunc (e E) Error() string { return \"lost\" }\nfunc Cell() { go func() { panic(E{3}) }() }")
	select {
	case text := <-got:
		if text != "lost" {
			t.Errorf("panic text %q", text)
		}
	case <-time.After(10 * time.Second):
		t.Error("no report")
	}
}

// TestInterrupt: what blocks in the run time ends when its cell is interrupted.
func TestInterrupt(t *testing.T) {
	for name, body := range map[string]string{
		"receive": "<-make(chan int)", "send": "make(chan int) <- 1", "nil channel": "var c chan int; <-c", "range": "for range make(chan int) {}",
		"select": "select { case <-make(chan int): case <-make(chan bool): }", "empty select": "select {}",
		"sleep": "time.Sleep(time.Hour)", "wait": "var w sync.WaitGroup; w.Add(1); w.Wait()", "lock": "var m sync.Mutex; m.Lock(); m.Lock()",
		"read lock": "var m sync.RWMutex; m.Lock(); m.RLock()", "write lock": "var m sync.RWMutex; m.RLock(); m.Lock()",
	} {
		t.Run(name, func(t *testing.T) {
			s := started(t)
			cells++
			n := cells
			time.AfterFunc(50*time.Millisecond, func() { rt.Interrupt(n) })
			rt.BeginCell(n)
			defer rt.EndCell()
			err := s.eval(context.Background(), "c.go", "package main\nimport (\"sync\"; \"time\")\nvar _ sync.Mutex\nvar _ = time.Second\nfunc Cell() { "+body+" }", "Cell")
			var p interp.Panic
			if !errors.As(err, &p) || p.Value != any(rt.Interrupted{}) {
				t.Errorf("%v\n%s", err, s.text)
			}
		})
	}
}

// TestPanicPositions: a panic that a cell does not recover has Go's text and the place in the cell.
func TestPanicPositions(t *testing.T) {
	for _, c := range []struct{ body, text, place string }{
		{"a := []int{1}; i := 5; _ = a[i]", "runtime error: index out of range [5] with length 1", "a[i]"},
		{"a := []int{1}; i := -1; _ = a[i]", "runtime error: index out of range [-1]", "a[i]"},
		{"a := [3]int{}; i := 3; a[i] = 1", "runtime error: index out of range [3] with length 3", "a[i]"},
		{"s := \"ab\"; i := uint8(9); _ = s[i]", "runtime error: index out of range [9] with length 2", "s[i]"},
		{"a := make([]int, 2); n := 4; _ = a[1:n]", "runtime error: slice bounds out of range [:4] with capacity 2", "a[1:n]"},
		{"s := \"abc\"; n := 4; _ = s[n:]", "runtime error: slice bounds out of range [4:3]", "s[n:]"},
		{"var m map[string]int; m[\"a\"] = 1", "assignment to entry in nil map", "m[\"a\"]"},
		{"var p *struct{ x int }; p.x = 1", "runtime error: invalid memory address or nil pointer dereference", "p.x"},
		{"var f func(); f()", "runtime error: invalid memory address or nil pointer dereference", "f()"},
		{"var e error; _ = e.Error()", "runtime error: invalid memory address or nil pointer dereference", "e.Error()"},
		{"d := 0; _ = 1 / d", "runtime error: integer divide by zero", "/ d"},
		{"n := -1; _ = 1 << n", "runtime error: negative shift amount", "<< n"},
		{"n := -1; _ = make([]int, n)", "runtime error: makeslice: len out of range", "make"},
		{"var x any = \"s\"; _ = x.(int)", "interface conversion: interface {} is string, not int", "(int)"},
		{"panic(\"boom\")", "boom", "panic"},
		{"panic(fmt.Errorf(\"e%d\", 1))", "e1", "panic"},
		{"panic(T{7})", "(main.T) {7}", "panic"},
		{"panic(3.5)", "float64(3.5)", "panic"},
		{"fmt.Print(\"\"); strings.Repeat(\"x\", -1); fmt.Print(\"\")", "strings: negative Repeat count", "Repeat("},
		{"call(func() { strings.Repeat(\"x\", -1) })", "strings: negative Repeat count", "call("},
		{"x, y := any([]int{1}), any([]int{1}); _ = x == y", "runtime error: comparing uncomparable type []int", "x == y"},
		{"m := map[any]int{}; var k any = []int{1}; m[k] = 1", "runtime error: hash of unhashable type []int", "m[k]"},
	} {
		s := started(t)
		src := "package main\nimport (\"fmt\"; \"strings\")\nvar _, _ = fmt.Sprint, strings.Repeat\nfunc call(f func()) { f() }; type T struct{ a int }\nfunc Cell() {\n\t" + c.body + "\n}\n"
		cells++
		rt.BeginCell(cells)
		err := s.eval(context.Background(), "c.go", src, "Cell")
		var p interp.Panic
		if !errors.As(err, &p) {
			t.Errorf("%s: %v\n%s", c.body, err, s.text)
			rt.EndCell()
			continue
		}
		f := rt.Explain(p.Value)
		rt.EndCell()
		if f.Text != c.text {
			t.Errorf("%s: %q, want %q", c.body, f.Text, c.text)
		}
		if at := s.fset.Position(tokenPos(f.Pos)); at.Line != 6 {
			t.Errorf("%s: at %v, want line 6", c.body, at)
		} else if around := src[at.Offset-8 : min(at.Offset+12, len(src))]; !strings.Contains(around, c.place) {
			t.Errorf("%s: at %q, want near %q", c.body, around, c.place)
		}
	}
}

// TestTextsOfEarlierUnits: constants and types that an earlier unit made are usable in a later one.
func TestTextsOfEarlierUnits(t *testing.T) {
	s := started(t)
	s.expect(t, "", "import \"strings\"\ntype A int\ntype B int\nvar m = map[any]string{}\nvar sb strings.Builder")
	s.expect(t, "", "func Cell() { m[A(1)] = \"a\" }")
	s.expect(t, "2 a\n", "import \"fmt\"\nfunc Cell() { m[B(1)] = \"b\"; fmt.Println(len(m), m[A(1)]) }")
	s.expect(t, "", "func Cell() { w := sb.WriteString; w(\"x\") }")
	s.expect(t, "x\n", "import \"fmt\"\nfunc Cell() { p := &sb; fmt.Println(p.String()) }")
}
