package worker

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"memwall/kernel"
)

func TestInspectVariables(t *testing.T) {
	r := newRig(t)
	for _, code := range []string{
		"type P struct{ X, Y int }\nfunc (p P) Norm() float64 { return 5 }\nfunc (p *P) Scale(by int) {}\np := P{3, 4}",
		"n := 41\ns := \"two\\n  lines `x`\"\nbig := make([]int, 5000)\nlong := strings.Repeat(\"é\", 300)\nf := math.Sqrt\nvar e error",
		"type Slow int\nfunc (s Slow) String() string { for {} }\nslow := Slow(1)\ntype Bad int\nfunc (b Bad) String() string { panic(\"no\") }\nbad := Bad(1)",
		"n := 42",
	} {
		r.want(code, "", "")
	}
	for code, want := range map[string]string{
		"p":         "var p P\n\ncell 1\n\nvalue: {X:3 Y:4}\n\nmethods: Norm, Scale",
		"n":         "var n int\n\ncell 4\n\nvalue: 42",
		"n := 7\nn": "var n int\n\ncell 4\n\nvalue: 42",
		"s":         "var s string\n\ncell 2\n\nvalue: two lines `x`",
		"big":       "var big []int\n\ncell 2\n\nvalue: [" + strings.Repeat("0 ", 99) + "0…",
		"long":      "var long string\n\ncell 2\n\nvalue: " + strings.Repeat("é", 200) + "…",
		"f":         "var f func(x float64) float64\n\ncell 2\n\nvalue: func(x float64) float64",
		"e":         "var e error\n\ncell 2\n\nvalue: <nil>\n\nmethods: Error",
		"slow":      "var slow Slow\n\ncell 3\n\nmethods: String",
		"bad":       "var bad Bad\n\ncell 3\n\nvalue: %!v(PANIC=String method: no)\n\nmethods: String",
		"n + 1":     "",
		"p.X":       "X int",
		"nothing":   "",
	} {
		b, _ := r.Inspect(context.Background(), code, len([]rune(code)), 0)
		if got, _ := b["text/plain"].(string); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
	b, _ := r.Inspect(context.Background(), "s", 1, 0)
	if got, want := b["text/markdown"], "```go\nvar s string\n```\n\n*cell 2*\n\nvalue: `` two lines `x` ``"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b, _ = r.Inspect(context.Background(), "dev", 3, 0)
	if got, _ := b["text/plain"].(string); !strings.HasPrefix(got, "var dev *gpu.Device\n\npredeclared\n\nvalue: virtual:h200") || !strings.Contains(got, "\n\nmethods: ") {
		t.Errorf("%q", got)
	}
	r.want("type Loud int\nfunc (Loud) String() string { fmt.Println(\"loud\"); return \"l\" }\nloud := Loud(1)", "", "")
	b, _ = r.Inspect(context.Background(), "loud", 4, 0)
	if got, want := b["text/plain"], "var loud Loud\n\ncell 5\n\nvalue: l\n\nmethods: String"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := r.last.text(); got != "" {
		t.Errorf("a method that only helps to describe prints %q", got)
	}
	r.want("n + 1", "value: 43", "") // what was asked between changed nothing
}

// While a cell runs, nothing waits for it.
func TestInspectWhileACellRuns(t *testing.T) {
	r := newRig(t)
	r.want("n := 1", "", "")
	done := make(chan bool)
	go func() {
		r.run("for i := range 1000000000 { n = i; if n%1000 == 0 { time.Sleep(time.Millisecond) } }")
		close(done)
	}()
	time.Sleep(100 * time.Millisecond)
	start := time.Now()
	b, _ := r.Inspect(context.Background(), "n", 1, 0)
	if got, want := b["text/plain"], "var n int\n\ncell 1"; got != want || time.Since(start) > 2*time.Second {
		t.Errorf("%q after %v, want %q", got, time.Since(start), want)
	}
	r.Interrupt()
	<-done
	r.want("n = 5", "", "")
	res := r.Execute(context.Background(), kernel.Request{Code: "n?", Count: 9}, new(recorder))
	want := `{"text/markdown":"` + "```go\\nvar n int\\n```\\n\\n*cell 1*\\n\\nvalue: `5`" + `","text/plain":"var n int\n\ncell 1\n\nvalue: 5"}`
	if got := fmt.Sprintf("%s", res.Payload[0]["data"]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
