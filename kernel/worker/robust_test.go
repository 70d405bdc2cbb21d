package worker

import (
	"strings"
	"testing"
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
	if err == nil || err.Name != "StackOverflow" && err.Name != "WorkerDied" || !strings.Contains(strings.Join(err.Traceback, "\n"), "lost: variable keep; run cell 1 again") {
		t.Errorf("%+v", err)
	}
	t.Logf("%+v", err)
	r.want("1 + 1", "value: 2", "")
}
