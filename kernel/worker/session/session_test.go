package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"memwall/kernel/cell/rt"
)

// evaluate runs a cell; the text is what it prints, then its values and its error.
func evaluate(t testing.TB, s *Session, number int, code string) string {
	t.Helper()
	var b strings.Builder
	rt.Write = func(_ int, _ bool, p []byte) (int, error) { return b.Write(p) }
	defer func() { rt.Write = nil }()
	out := s.Run(context.Background(), number, code)
	for i, v := range out.Values {
		fmt.Fprintf(&b, "[%s: %s]", out.Types[i], rt.Show(v).Text)
	}
	if out.Err != nil {
		b.WriteString("<" + out.Err.Name + " " + strings.Join(out.Err.Traceback, "\n") + ">")
	}
	return b.String()
}

func newSession(t testing.TB) *Session {
	t.Helper()
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// notebook is cells and what each must print or answer.
type notebook struct {
	name  string
	cells []string
}

func (n notebook) test(t *testing.T) {
	s := newSession(t)
	for i := 0; i+1 < len(n.cells); i += 2 {
		got := evaluate(t, s, i/2+1, n.cells[i])
		if got != n.cells[i+1] {
			t.Errorf("cell %d:\n%s\ngot:\n%s\nwant:\n%s", i/2+1, n.cells[i], got, n.cells[i+1])
		}
	}
}

func TestFirst(t *testing.T) {
	notebook{"first", []string{
		"x := 1", "",
		"fmt.Println(x)", "1\n",
		"x + 1", "[int: 2]",
		"x = 5\nx", "[int: 5]",
		"func f(a int) int { return a * x }\nf(3)", "[int: 15]",
		"type P struct{ A, B int }\nfunc (p P) Sum() int { return p.A + p.B }\np := P{1, 2}\np.Sum()", "[int: 3]",
		"p", "[P: {1 2}]",
	}}.test(t)
}
