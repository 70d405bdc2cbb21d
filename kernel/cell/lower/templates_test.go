package lower_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"
)

// A templateCase is one template: the SSA instruction, a cell whose function F has it, what F becomes, and what F prints.
type templateCase struct {
	instr string // the instruction's Go type
	decl  string // declarations beside F
	fn    string // F's parameters and body
	call  string // F's arguments
	text  string // lines of F's lowered text, in this order; positions are printed as @
	want  string
}

var templateCases = []templateCase{
	{"Alloc", "", "() { x := 1; p := &x; *p = 2; fmt.Print(x) }", "", "t0 = new(int)|*t0 = 1|*t0 = 2|rt.Native((*t0))", "2"},
	{"BinOp", "", "(a, b int) { fmt.Print(a*b+a, a/b, a<<b, a == b, a &^ b) }", "7, 2",
		"if p1 == 0 { rt.PanicDivide(@) }|t2 = p0 / p1|if p1 < 0 { rt.PanicShift(@) }|t3 = p0 << uint64(p1)|x1, x2 := rt.Print(rt.Native(((p0 * p1) + p0)), rt.Native(t2), rt.Native(t3), rt.Native((p0 == p1)), rt.Native((p0 &^ p1)))", "21 3 28 false 5"},
	{"UnOp", "", "(a int, b bool, p *int) { fmt.Print(-a, !b, ^a, *p) }", "3, true, new(int)", "if p2 == nil { rt.PanicNil(@) }|rt.Native((-p0))", "-3 false -4 0"},
	{"ChangeType", "type C int", "(a int) { c := C(a); fmt.Print(c) }", "4", "rt.MakeBox(", "4"},
	{"Convert", "", "(a int, f float64) { fmt.Print(float64(a)/2, int8(a), int(f), string(rune(a)), []byte(\"é\"), string([]rune{'x'})) }", "321, 2.9",
		"t1 = float64(p0) / float64(2.0)|rt.RuneString(int64(rune(p0)))|rt.StringBytes(string(\"é\"))|rt.RunesString(|rt.Native(int8(p0)), rt.Native(int(p1))", "160.5 65 2Ł[195 169]x"},
	{"MakeInterface", "type T struct{ a int }", "(t T) { var x any = t; _, ok := x.(T); fmt.Print(x, ok) }", "T{1}", "var t0 interface{} = rt.MakeBox(|, p0)", "{1} true"},
	{"ChangeInterface", "type A interface{ M() }; type B interface{ M(); N() }; type T int; func (T) M() { fmt.Print(\"M\") }; func (T) N() {}", "(b B) { var a A = b; a.M() }", "T(1)", "var t0 interface{} = p0|(t0)", "M"},
	{"MakeClosure", "", "(a int) { f := func() int { a++; return a }; f(); fmt.Print(f(), a) }", "1", "t0 = new(int)|var t1 func() int = f", "3 3"},
	{"MakeMap", "", "() { m := map[string]int{\"a\": 1}; m[\"b\"]++; fmt.Print(m, len(m)) }", "", "t0 = make(map[string]int)|t0[\"a\"] = 1|t1 = t0[\"b\"]", "map[a:1 b:1] 2"},
	{"MakeChan", "", "() { c := make(chan int, 1); c <- 4; v, ok := <-c; fmt.Print(v, ok, len(c), cap(c)) }", "", "x1 := make(chan int, 1)|rt.Send(t0, |rt.Recv(t0)", "4 true 0 1"},
	{"MakeSlice", "", "(n int) { s := make([]int, n, 2*n); fmt.Print(s, cap(s)) }", "2", "rt.CheckMake(p0, |make([]int, p0, ", "[0 0] 4"},
	{"Slice", "", "(s []int, n int) { fmt.Print(s[1:n], s[:0:1], cap(s[:0:1])) }", "[]int{1, 2, 3}, 2", "rt.CheckSlice(|rt.CheckSlice3(0, |p0[", "[2] [] 1"},
	{"FieldAddr", "type T struct{ a, b int }", "(t *T) { t.b = t.a + 1; fmt.Print(t.b) }", "&T{4, 0}", "if p0 == nil { rt.PanicNil(@) }|p0.F1 = p0.F0 + 1", "5"},
	{"IndexAddr", "", "(s []int, i int) { s[i] = s[i] + 1; fmt.Print(s) }", "[]int{1, 2}, 1", "x1 := len(p0)|if p1 < 0 || p1 >= x1 { rt.PanicIndex(p1, x1, @) }|p0[p1] += 1", "[1 3]"},
	{"Field", "type T struct{ a, b int }; func mk() T { return T{1, 2} }", "() { fmt.Print(mk().b) }", "", ".F1", "2"},
	{"Index", "func mk() [3]int { return [3]int{4, 5, 6} }", "(i int) { fmt.Print(mk()[i]) }", "2", "|[p0]", "6"},
	{"Lookup", "", "(m map[string]int, s string, i int) { v, ok := m[\"x\"]; fmt.Print(v, ok, m[\"a\"], s[i]) }", "map[string]int{\"a\": 3}, \"é\", 1",
		"t0_0, t0_1 = p0[\"x\"]|p0[\"a\"]|p1[p2]", "0 false 3 169"},
	{"Range", "", "(s string) { for i, r := range s { fmt.Print(i, r, \";\") } }", "\"aé\"", "var t0 *rt.Iter = rt.RangeString(string(p0))", "0 97;1 233;"},
	{"Next", "", "(m map[int]string) { for k, v := range m { fmt.Print(k, v) } }", "map[int]string{1: \"a\"}", "rt.RangeMap(p0)|t1_0 = t0.Next()|t0.Key()|t0.Value()", "1a"},
	{"TypeAssert", "", "(x any) { s, ok := x.(string); fmt.Print(s, ok, x.(int)) }", "5", "rt.As(p0, |rt.Must(p0, ", "false 5"},
	{"Extract", "func two() (int, string) { return 1, \"b\" }", "() { n, s := two(); fmt.Print(n, s) }", "", "x1, x2 := f|t0_0 = x1|t0_1 = x2", "1b"},
	{"Phi", "", "(n int) { s := 0; for i := range n { s += i }; fmt.Print(s) }", "5", "if 0 < p0 {|t1 = 0|t2 = 0|goto b1 }|t1 += t2|t2 += 1|if t2 < p0 {|goto b1 }", "10"},
	{"Jump", "", "(n int) { for n > 2 { n-- }; fmt.Print(n) }", "5", "goto b1", "2"},
	{"If", "", "(n int) { if n > 2 { fmt.Print(\"big\") } else { fmt.Print(\"small\") } }", "5", "if p0 <= 2 { goto b", "big"},
	{"Return", "func g(n int) (int, error) { return n + 1, nil }", "() { fmt.Print(g(1)) }", "", "return p0 + 1, z", "2 <nil>"},
	{"Store", "var v int", "() { v = 3; v += 4; v *= 2; fmt.Print(v) }", "", "= 3| += 4| *= 2", "14"},
	{"MapUpdate", "", "(m map[string][]int) { m[\"a\"] = append(m[\"a\"], 1, 2); fmt.Print(m) }", "map[string][]int{}", "append(t0, 1, 2)|if p0 == nil { rt.PanicNilMap(@) }|p0[\"a\"] = t", "map[a:[1 2]]"},
	{"Call", "type A interface{ M(int) int }; type T int; func (t T) M(n int) int { return int(t) + n }", "(a A, f func(int) int) { fmt.Print(a.M(2), f(3), T(5).M(1)) }", "T(4), func(n int) int { return n * n }",
		"if p0 == nil { rt.PanicNil(@) }|(p0, 2)|if p1 == nil { rt.PanicNil(@) }|p1(3)|(5, 1)", "6 9 6"},
	{"Defer", "", "() { for i := range 3 { defer fmt.Print(i) } }", "", "var d *rt.Defers = rt.NewDefers()|rt.Run(d, |d.Push(h", "210"},
	{"RunDefers", "", "() (n int) { defer func() { n *= 2; fmt.Print(n) }(); n = 4; return n + 1 }", "", "r0 := new(int)|rt.Run(d, |*r0 = |d.RunAll()", "10"},
	{"Panic", "", "() { defer func() { fmt.Print(recover()) }(); panic(\"p\") }", "", "rt.Panic(t", "p"},
	{"Go", "", "() { c := make(chan int); go func(n int) { c <- n + 1 }(4); fmt.Print(<-c) }", "", "rt.Go(h", "5"},
	{"Send", "", "(c chan string) { c <- \"s\"; fmt.Print(<-c) }", "make(chan string, 1)", "rt.Send(p0, \"s\")", "s"},
	{"Select", "", "(c chan int) { select { case c <- 1: fmt.Print(\"sent\"); default: fmt.Print(\"full\") }; select { case v := <-c: fmt.Print(v) } }", "make(chan int, 1)",
		"rt.NewSelect(false)|.Send(p0, 1)|.Do()", "sent1"},
	{"SliceToArrayPointer", "", "(s []int) { p := (*[2]int)(s); a := [2]int(s); s[0] = 9; fmt.Print(*p, a) }", "[]int{1, 2}", "rt.SliceToArray(p0, ", "[9 2] [1 2]"},
}

// TestTemplates: each template's text, and the interpreter's result.
func TestTemplates(t *testing.T) {
	for _, c := range templateCases {
		t.Run(c.instr, func(t *testing.T) {
			s := started(t)
			src := "import \"fmt\"\n" + c.decl + "\nfunc F" + c.fn + "\nfunc Cell() { F(" + c.call + ") }\nvar _ = fmt.Sprint\n"
			got, err := s.cell(t, src)
			if err != nil {
				t.Fatalf("%v\n%s", err, s.text)
			}
			if got != c.want {
				t.Errorf("printed %q, want %q\n%s", got, c.want, s.text)
			}
			if !hasInstruction(s.last, c.instr) {
				t.Errorf("the snippet has no %s", c.instr)
			}
			rest := withoutPositions(s.text)
			for _, part := range strings.Split(c.text, "|") {
				i := strings.Index(rest, part)
				if i < 0 {
					t.Errorf("no %q (in this order) in\n%s", part, withoutPositions(s.text))
					break
				}
				rest = rest[i+len(part):]
			}
		})
	}
}

// TestTemplatesAreAll: the table has every kind of instruction that SSA makes.
func TestTemplatesAreAll(t *testing.T) {
	have := map[string]bool{"DebugRef": true, "MultiConvert": true} // built only in debug mode, and from type parameters
	for _, c := range templateCases {
		have[c.instr] = true
	}
	for _, in := range []ssa.Instruction{&ssa.Alloc{}, &ssa.BinOp{}, &ssa.Call{}, &ssa.ChangeInterface{}, &ssa.ChangeType{}, &ssa.Convert{}, &ssa.DebugRef{},
		&ssa.Defer{}, &ssa.Extract{}, &ssa.Field{}, &ssa.FieldAddr{}, &ssa.Go{}, &ssa.If{}, &ssa.Index{}, &ssa.IndexAddr{}, &ssa.Jump{}, &ssa.Lookup{},
		&ssa.MakeChan{}, &ssa.MakeClosure{}, &ssa.MakeInterface{}, &ssa.MakeMap{}, &ssa.MakeSlice{}, &ssa.MapUpdate{}, &ssa.MultiConvert{}, &ssa.Next{},
		&ssa.Panic{}, &ssa.Phi{}, &ssa.Range{}, &ssa.Return{}, &ssa.RunDefers{}, &ssa.Select{}, &ssa.Send{}, &ssa.Slice{}, &ssa.SliceToArrayPointer{},
		&ssa.Store{}, &ssa.TypeAssert{}, &ssa.UnOp{}} {
		if n := instructionName(in); !have[n] {
			t.Errorf("no template test for %s", n)
		}
	}
}

func instructionName(in ssa.Instruction) string {
	return strings.TrimPrefix(fmt.Sprint(reflect.TypeOf(in)), "*ssa.")
}

func hasInstruction(p *ssa.Package, name string) bool {
	var in func(f *ssa.Function) bool
	in = func(f *ssa.Function) bool {
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				if instructionName(i) == name {
					return true
				}
			}
		}
		for _, a := range f.AnonFuncs {
			if in(a) {
				return true
			}
		}
		return false
	}
	for _, m := range p.Members {
		if f, ok := m.(*ssa.Function); ok && in(f) {
			return true
		}
	}
	return false
}

// withoutPositions replaces the positions that checks carry.
func withoutPositions(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		for _, check := range []string{"rt.PanicNil(", "rt.PanicNilMap(", "rt.PanicIndex(", "rt.PanicDivide(", "rt.PanicShift("} {
			at := strings.Index(l, check)
			if at < 0 {
				continue
			}
			end := at + strings.Index(l[at:], ")")
			from := at + len(check)
			if k := strings.LastIndex(l[from:end], ", "); k >= 0 {
				from += k + 2
			}
			l = l[:from] + "@" + l[end:]
		}
		lines[i] = l
	}
	return strings.Join(lines, "\n")
}
