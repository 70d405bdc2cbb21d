package worker

import (
	"strings"
	"testing"
	"time"
)

// A cell that sets the standard files to nil, or to files that it closes, does not break the cells after it.
func TestOddOutput(t *testing.T) {
	r := newRig(t)
	for _, odd := range []string{
		"os.Stdout, os.Stderr, os.Stdin = nil, nil, nil",
		"log.SetOutput(nil)",
		"r, w, e := os.Pipe()\nos.Stdout = w\nos.Stderr = w\nlog.SetOutput(w)\nw.Close()\nr.Close()",
		"os.Stdin.Close()",
	} {
		r.want(odd, "", "")
		r.want("fmt.Println(\"a\")\nfmt.Fprintln(os.Stderr, \"b\")\nlog.SetFlags(0)\nlog.Print(\"c\")\nprintln(\"d\")", "stdout: a\n|stderr: b\nc\nd\n", "")
	}
	r.want("var s string\nfmt.Scanln(&s)\ns", "input|value: Ada", "", "Ada")
}

// Values that contain themselves are cut wherever they are shown.
func TestCyclesShown(t *testing.T) {
	r := newRig(t)
	r.want("m := map[string]any{}\nm[\"a\"] = m\nm", "value: map[a:…]", "")
	r.want("s := make([]any, 2)\nfor i := range s {\n\ts[i] = s\n}\ns", "value: [… …]", "")
	r.want("type Node struct {\n\tName string\n\tNext *Node\n\tAny any\n}\nn := &Node{Name: \"n\"}\nn.Next, n.Any = n, n\ndisplay.Table([]*Node{n, n})", "display: Name  Next  Any\n----  ----  ---\nn     …     …\nn     …     …", "")
	r.want("display.Show(m, s[:1])", "display: map[a:…]|display: [[… …]]", "")
	r.want("len(m)", "value: 1", "")
}

// A function of compiled code that calls itself without end cannot be stopped: the cell that started it is told, and not the
// next one.
func TestOverflowInCompiledCode(t *testing.T) {
	r := newRig(t)
	r.want("keep := 1", "", "")
	_, err := r.run("m := map[string]any{}\nm[\"a\"] = m\nt := template.Must(template.New(\"t\").Parse(\"{{.}}\"))\nt.Execute(os.Stderr, m)")
	if err == nil || err.Name != "StackOverflow" || !strings.Contains(strings.Join(err.Traceback, "\n"), "\nlost: variables keep, m, t; run cells 1, 2 again\n") {
		t.Errorf("%+v", err)
	}
	t.Logf("%+v", err)
	r.want("1 + 1", "value: 2", "")
}

// A panic of a goroutine has its place, while its cell runs and afterwards.
func TestPanicsOfGoroutines(t *testing.T) {
	r := newRig(t)
	r.want("go func() {\n\tvar m map[string]int\n\tm[\"a\"]++\n}()\nselect {}", "", "cell 1, 3:3: panic in a goroutine: assignment to entry in nil map\n    \tm[\"a\"]++\n    \t ^")
	r.want("keep := 1\ngo func() {\n\ttime.Sleep(50 * time.Millisecond)\n\tvar p *int\n\t*p = 1\n}()", "", "")
	first := r.last
	waitFor(t, "stderr: [cell 2 has ended; its goroutines print:]\ncell 2, 5:2: panic in a goroutine: runtime error: invalid memory address or nil pointer dereference\n    \t*p = 1\n    \t^\n", first.text)
	r.want("go os.Exit(3)\nselect {}", "", "Exit: os.Exit(3)")
	r.want("x := dev.Zeros(gpu.F32, 4)\nx.Free()\ngo func() {\n\tfmt.Println(x.Float32s())\n}()\nselect {}", "", "in a goroutine: Float32s: tensor f32 [4] was freed\nmake it again, or call Free later")
	r.want("keep", "value: 1", "")
}

// An error whose methods panic or lead in a circle does not become a fault of the worker.
func TestOddErrors(t *testing.T) {
	r := newRig(t)
	r.want("type E struct{ p *int }\nfunc (e E) Error() string { return \"odd\" }\nfunc (e E) Unwrap() error { return fmt.Errorf(\"%d\", *e.p) }\ntype C struct{}\nfunc (c C) Error() string { return \"circle\" }\nfunc (c C) Unwrap() error { return c }\nfunc fail(e error) error { return e }", "", "")
	r.want("fail(E{})", "", "cell 2, 1:1: odd\n    fail(E{})\n    ^")
	r.want("fail(C{})", "", "cell 3, 1:1: circle\n    fail(C{})\n    ^")
	r.want("panic(E{})", "", "cell 4, 1:1: panic: odd\n    panic(E{})\n    ^")
}

// A panic tells which statement of the top level led to it, an overlong one is cut, and a matrix is shown as one.
func TestWhatCellsShow(t *testing.T) {
	r := newRig(t)
	r.want("func inner(a []int, i int) int { return a[i] }\nfunc outer(i int) int { return inner([]int{1}, i) + 1 }", "", "")
	r.want("x := 1\nx += outer(5)", "", "cell 1, 1:42: panic: runtime error: index out of range [5] with length 1\n    func inner(a []int, i int) int { return a[i] }\n                                             ^\ncell 2, 2:6: called here\n    x += outer(5)\n         ^")
	_, err := r.run("panic(strings.Repeat(\"é\", 50e6))")
	if want := strings.Repeat("é", 20000) + "… 49,980,000 characters more, 50,000,000 in all"; err == nil || err.Value != want {
		t.Errorf("an overlong panic: %.200v", err)
	}
	r.want("m := mat.NewDense(2, 2, []float64{1, 2, 3, 4})\nm", "value: ⎡1  2⎤\n⎣3  4⎦", "")
	r.want("var e mat.Dense\ne", "value: 0 × 0 matrix", "")
	r.want("mat.NewVecDense(2, []float64{1.0 / 3, -2})", "value: ⎡0.33333⎤\n⎣     -2⎦", "")
	_, err = r.run("fmt.Println(dev.Name())\nos.Getpid()\np := os.FindProcess(os.Getpid())\np.Kill()\nselect {}")
	if want := "lost: variables e, m, x; functions inner, outer; run cells 1, 2, 4, 5 again"; err == nil || len(err.Traceback) < 2 || err.Traceback[1] != want {
		t.Errorf("%+v", err)
	}
}

// A method that shows a value and does not end is interrupted as the cell's statements are.
func TestInterruptOfShowing(t *testing.T) {
	r := newRig(t)
	r.want("keep := 1\ntype L struct{}\nfunc (L) String() string {\n\tfor {\n\t}\n}", "", "")
	time.AfterFunc(200*time.Millisecond, r.Interrupt)
	r.want("L{}", "", "Interrupted: the cell was interrupted while its value was shown")
	r.want("keep", "value: 1", "")
}
