package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"memwall/kernel/cell/rt"
)

// interrupt runs a cell and cancels it after a while; it returns how long Run took after that.
func interrupt(t *testing.T, s *Session, number int, code string, cause error) (time.Duration, Outcome) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan Outcome)
	go func() { done <- s.Run(ctx, number, code) }()
	time.Sleep(60 * time.Millisecond)
	start := time.Now()
	cancel(cause)
	select {
	case o := <-done:
		return time.Since(start), o
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: not interrupted", code)
		return 0, Outcome{}
	}
}

// TestInterrupt: an interrupted cell ends at once, variables and functions of the session stay good.
func TestInterrupt(t *testing.T) {
	s := newSession(t)
	if got := evaluate(t, s, 1, "x := 41\ninc := func() int { x++; return x }\nch := make(chan int)\nvar mu sync.Mutex\nfunc double(a int) int { return 2 * a }\nslices.SortFunc([]int{2, 1}, func(a, b int) int { return a - b })"); got != "" {
		t.Fatal(got)
	}
	for i, code := range []string{
		"for { x++; x-- }",
		"for {}",
		"<-ch",
		"ch <- 1",
		"time.Sleep(time.Hour)",
		"select {}",
		"for range ch { }",
		"func() { defer func() { recover() }(); for { x++; x-- } }()",
		"go func() { for { x++; x-- } }()\nfor {}",
		"get := func() int { return <-ch }\nget()",
		"mu.Lock()\nmu.Lock()",
		"slices.SortFunc(make([]int, 1000), func(a, b int) int { for { } })",
	} {
		took, o := interrupt(t, s, i+2, code, nil)
		if o.Err == nil || o.Err.Name != "Interrupted" || o.Err.Value != "the cell was interrupted" {
			t.Errorf("%s: %+v", code, o.Err)
		}
		if took > 200*time.Millisecond {
			t.Errorf("%s: ended after %v, want 20 ms at most on an idle machine", code, took)
		}
		if got := evaluate(t, s, 100, "x = 41\nfmt.Println(inc(), double(4))"); got != "42 8\n" {
			t.Errorf("after %s: %q", code, got)
		}
		if got := evaluate(t, s, 101, "c := make(chan int, 1)\nc <- 5\n<-c"); got != "[int: 5]" {
			t.Errorf("channels after %s: %q", code, got)
		}
	}
}

// TestClosuresOfInterruptedCells: a function that an interrupted cell made works as before.
func TestClosuresOfInterruptedCells(t *testing.T) {
	s := newSession(t)
	interrupt(t, s, 1, "ch := make(chan int)\nn := 0\nget := func() int { n++; return <-ch * 10 }\nget()", nil)
	if got := evaluate(t, s, 2, "go func() { ch <- 7 }()\nfmt.Println(get(), n)"); got != "70 2\n" {
		t.Error(got)
	}
	interrupt(t, s, 3, "add := func(k int) int { n += k; return n }\nfor { add(0) }", nil)
	if got := evaluate(t, s, 4, "add(40)"); got != "[int: 42]" {
		t.Error(got)
	}
}

// TestInterruptCause: the reason that the owner gives is the error's text.
func TestInterruptCause(t *testing.T) {
	_, o := interrupt(t, newSession(t), 1, "for {}", errors.New("the stack grew above 200 MB"))
	if o.Err == nil || o.Err.Value != "the stack grew above 200 MB" {
		t.Errorf("%+v", o.Err)
	}
}

// TestGoroutinePanic: a panic in a goroutine does not end the process.
func TestGoroutinePanic(t *testing.T) {
	s := newSession(t)
	told := make(chan string, 1)
	rt.Panic = func(cell int, _ any, f rt.Failure) { told <- f.Text }
	defer func() { rt.Panic = nil }()
	if got := evaluate(t, s, 1, "go func() {\n\tvar m map[string]int\n\tm[\"a\"] = 1\n}()"); got != "" {
		t.Error(got)
	}
	select {
	case text := <-told:
		if text != "assignment to entry in nil map" {
			t.Error(text)
		}
	case <-time.After(5 * time.Second):
		t.Error("no panic was told")
	}
}

// TestHostile: inputs that no one writes on purpose are answered, and the session goes on.
func TestHostile(t *testing.T) {
	s := newSession(t)
	big := strings.Repeat("x += 1\n", 2000)
	for i, c := range []struct{ code, want string }{
		{"", ""},
		{"// only a comment", ""},
		{"\uFEFFx := 1\nx", "[int: 1]"},
		{"x := 1\x00", "<SyntaxError cell 4, 1:7: illegal character NUL\n    x := 1\x00\n          ^>"},
		{"}", "<SyntaxError cell 5, 1:1: unexpected }: nothing is open\n    }\n    ^>"},
		{"{{{", "<SyntaxError cell 6, 1:3: the { is not closed\n    {{{\n      ^>"},
		{strings.Repeat("(", 100000), "brackets nest more than 1000 deep"},
		{"y := " + strings.Repeat("- ", 5000) + "1", ""},
		{"y = " + strings.Repeat("1+", 5000) + "1", ""},
		{"x = 0\n" + big + "x", "[int: 2000]"},
		{"s := \"" + strings.Repeat("a", 1<<20) + "\"\nlen(s)", "[int: 1048576]"},
		{"\xff\xfe", "illegal UTF-8 encoding"},
		{strings.Repeat("f(", 400), "is not closed"},
		{"x", "[int: 2000]"},
		{"goto", "expected"},
		{"break", "break"},
		{"return 5", "too many return values"},
		{"var", "expected"},
		{"func", "expected"},
		{"import", "missing import path"},
		{"type T T", "invalid recursive type"},
		{"package main; import \"fmt\"; func main() { fmt.Print(1) }", "1"},
	} {
		got := evaluate(t, s, i+1, c.code)
		if got != c.want && (c.want == "" || !strings.Contains(got, c.want) || strings.HasPrefix(c.want, "<") || strings.HasPrefix(c.want, "[")) {
			if len(got) > 400 {
				got = got[:400] + " …"
			}
			t.Errorf("%.40q:\n%s\nwant:\n%s", c.code, got, c.want)
		}
	}
}

// TestPredeclared: a variable of the owner's is what cells see, before and after a reset.
func TestPredeclared(t *testing.T) {
	s := newSession(t)
	var b *strings.Builder
	if err := s.Predeclare("dev", &b); err != nil {
		t.Fatal(err)
	}
	b = &strings.Builder{}
	for range 2 {
		if got := evaluate(t, s, 1, "dev.WriteString(\"a\")\ndev.Len()"); !strings.HasPrefix(got, "[int: ") {
			t.Error(got)
		}
		b = &strings.Builder{}
		b.WriteString("xyz")
		if got := evaluate(t, s, 2, "func n() int { return dev.Len() }\nn()"); got != "[int: 3]" {
			t.Error(got)
		}
		if got := evaluate(t, s, 3, "dev := 5\ndev"); got != "[int: 5]" {
			t.Error(got)
		}
		if err := s.Reset(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Predeclare("bad", b); err == nil || err.Error() != "predeclare bad: type strings.Builder cannot be written in a cell" {
		if err != nil && !strings.Contains(err.Error(), "predeclare") {
			t.Error(err)
		}
	}
}

// TestDeferredCallsOfInterruptedCells: they are called, in Go's order, but not for long.
func TestDeferredCallsOfInterruptedCells(t *testing.T) {
	s := newSession(t)
	if got := evaluate(t, s, 1, "var mu sync.Mutex\nvar log []string\nch := make(chan int)\nfunc note(x string) { log = append(log, x) }\nfunc spin() { defer note(\"spin\"); for { } }\nfunc wait() { defer note(\"wait\"); <-ch }"); got != "" {
		t.Fatal(got)
	}
	for i, c := range []struct{ code, want string }{
		{"func() { mu.Lock(); defer mu.Unlock(); for { } }()", "true []"},
		{"func() { mu.Lock(); defer mu.Unlock(); <-ch }()", "true []"},
		{"func() { mu.Lock(); defer mu.Unlock(); time.Sleep(time.Hour) }()", "true []"},
		{"func() { defer note(\"a\"); defer func() { defer note(\"b\"); note(\"c\") }(); spin() }()", "true [spin c b a]"},
		{"func() { defer note(\"a\"); defer note(\"b\"); wait() }()", "true [wait b a]"},
		{"func() { defer note(\"a\"); defer func() { for { } }(); spin() }()", "true [spin]"},
		{"func() { defer note(\"a\"); defer func() { <-ch }(); spin() }()", "true [spin a]"},
		{"func() { defer func() { note(fmt.Sprint(recover())) }(); wait() }()", "true [wait <nil>]"},
		{"func() { defer note(\"a\"); defer func() { panic(1) }(); spin() }()", "true [spin a]"},
		{"go func() { mu.Lock(); defer mu.Unlock(); for { } }()\nfor { }", "true []"},
	} {
		took, o := interrupt(t, s, i+2, c.code, nil)
		if o.Err == nil || o.Err.Name != "Interrupted" || took > time.Second {
			t.Errorf("%s: %v %+v", c.code, took, o.Err)
		}
		time.Sleep(5 * time.Millisecond)
		if got := evaluate(t, s, 100, "free := mu.TryLock()\nif free { mu.Unlock() }\nfmt.Println(free, log)\nlog = nil"); got != c.want+"\n" {
			t.Errorf("%s: %s, want %s", c.code, got, c.want)
		}
	}
}
