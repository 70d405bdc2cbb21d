package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkTrivialCell is the shortest way through a session.
func BenchmarkTrivialCell(b *testing.B) {
	s := newSession(b)
	for i := 0; b.Loop(); i++ {
		if o := s.Run(context.Background(), i+1, "1 + 1"); o.Err != nil {
			b.Fatal(o.Err.Value)
		}
	}
}

// BenchmarkAssignment is a cell that is run again and again.
func BenchmarkAssignment(b *testing.B) {
	s := newSession(b)
	for i := 0; b.Loop(); i++ {
		if o := s.Run(context.Background(), i+1, "x := 1"); o.Err != nil {
			b.Fatal(o.Err.Value)
		}
	}
}

// cell40 is a cell of 40 lines: types, methods, functions and statements.
func cell40(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "type T%d struct {\n\tname string\n\txs []float64\n}\n", i)
	fmt.Fprintf(&b, "func (t *T%d) Mean() float64 {\n\tsum := 0.0\n\tfor _, x := range t.xs {\n\t\tsum += x\n\t}\n\treturn sum / float64(len(t.xs))\n}\n", i)
	fmt.Fprintf(&b, "func make%d(n int) *T%d {\n\tt := &T%d{name: strconv.Itoa(n)}\n\tfor i := 0; i < n; i++ {\n\t\tt.xs = append(t.xs, math.Sqrt(float64(i)))\n\t}\n\treturn t\n}\n", i, i, i)
	fmt.Fprintf(&b, "counts%d := map[string]int{}\nfor _, w := range strings.Fields(\"a b c a b\") {\n\tcounts%d[w]++\n}\n", i, i)
	fmt.Fprintf(&b, "t%d := make%d(5)\nif m := t%d.Mean(); m > 100 {\n\tfmt.Println(m)\n}\n", i, i, i)
	fmt.Fprintf(&b, "var total%d float64\nfor i := range 3 {\n\tswitch {\n\tcase i == 1:\n\t\ttotal%d += 2\n\tdefault:\n\t\ttotal%d -= 1\n\t}\n}\nlen(counts%d)\n", i, i, i, i)
	return b.String()
}

func Benchmark40Lines(b *testing.B) {
	s := newSession(b)
	for i := 0; b.Loop(); i++ {
		if o := s.Run(context.Background(), i+1, cell40(i)); o.Err != nil {
			b.Fatal(o.Err.Traceback)
		}
	}
}

// TestLateCells: cell 1,000 costs at most 1.5 times what cell 10 does, and compiling 40 lines at most 3 ms on an idle machine.
func TestLateCells(t *testing.T) {
	if testing.Short() {
		return
	}
	s := newSession(t)
	var early, late, compile time.Duration = time.Hour, time.Hour, time.Hour
	for i := 1; i <= 1000; i++ {
		code := fmt.Sprintf("v%d := %d\nfunc f%d(a int) int { return a + v%d }\nf%d(1)", i, i, i, i, i)
		if i%100 < 10 {
			code = cell40(i)
		}
		start := time.Now()
		if i%100 < 10 {
			if _, err := s.cells.Load().Compile(i, code); err != nil {
				t.Fatal(err)
			}
			compile = min(compile, time.Since(start))
			start = time.Now()
		}
		if o := s.Run(context.Background(), i, code); o.Err != nil {
			t.Fatal(o.Err.Traceback)
		}
		took := time.Since(start)
		switch {
		case i > 10 && i < 100:
			early = min(early, took)
		case i > 920 && i < 1000:
			late = min(late, took)
		}
	}
	t.Logf("cells 11 to 99: %v, cells 921 to 999: %v (%.2f times), compiling 40 lines: %v", early, late, float64(late)/float64(early), compile)
	if float64(late) > 1.5*float64(early)+float64(200*time.Microsecond) {
		t.Errorf("late cells take %v, early ones %v", late, early)
	}
	if compile > 10*time.Millisecond {
		t.Errorf("compiling 40 lines takes %v", compile)
	}
}

// TestStart: a session and its first result are there within a few tens of milliseconds.
func TestStart(t *testing.T) {
	start := time.Now()
	s := newSession(t)
	made := time.Since(start)
	if got := evaluate(t, s, 1, "fmt.Println(\"a\")\n1 + 1"); got != "a\n[int: 2]" {
		t.Fatal(got)
	}
	t.Logf("a session: %v, with its first result: %v", made, time.Since(start))
	if took := time.Since(start); took > 500*time.Millisecond {
		t.Errorf("the first result came after %v", took)
	}
}
