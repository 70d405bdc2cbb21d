package session

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// An editable notebook has one declaration a cell; each mentions only earlier ones.
type editable struct {
	r     *rand.Rand
	cells []string
	kinds []int
}

// cell writes the declaration with number i, of a random body.
func (e *editable) cell(i int) string {
	pick := func() string { // an expression of type int that mentions something earlier
		if i == 0 {
			return "1"
		}
		k := e.r.Intn(i)
		switch e.kinds[k] {
		case 0:
			return fmt.Sprintf("f%d(%d)", k, e.r.Intn(3))
		case 1:
			return fmt.Sprintf("c%d", k)
		case 2:
			return fmt.Sprintf("(T%d{N: %d}).Get()", k, e.r.Intn(5))
		case 3:
			return fmt.Sprintf("I%d(I%dv{%d}).Value()", k, k, e.r.Intn(5))
		default:
			return fmt.Sprintf("len(g%d([]int{1, 2}))", k)
		}
	}
	n := e.r.Intn(10)
	switch e.kinds[i] {
	case 0:
		return fmt.Sprintf("func f%d(a int) int { return a*%d + %s - %s }", i, n, pick(), pick())
	case 1:
		return fmt.Sprintf("const c%d = %d", i, n)
	case 2:
		fields := []string{"N int", "N int; s string", "N int; m map[string]int"}[e.r.Intn(3)]
		lit := fmt.Sprintf("type T%d struct { %s }\nfunc (t T%d) Get() int { return t.N + %s }", i, fields, i, pick())
		return lit
	case 3:
		return fmt.Sprintf("type I%d interface { Value() int }\ntype I%dv struct { n int }\nfunc (v I%dv) Value() int { return v.n*%d + %s }", i, i, i, n, pick())
	}
	return fmt.Sprintf("func g%d[E any](xs []E) []E { for range %s %% 3 { xs = append(xs, xs[0]) }; return xs }", i, pick())
}

func (e *editable) probe() string {
	var b strings.Builder
	for i, k := range e.kinds {
		switch k {
		case 0:
			fmt.Fprintf(&b, "fmt.Print(f%d(2), \" \")\n", i)
		case 1:
			fmt.Fprintf(&b, "fmt.Print(c%d, \" \")\n", i)
		case 2:
			fmt.Fprintf(&b, "fmt.Print(T%d{N: 3}.Get(), \" \")\n", i)
		case 3:
			fmt.Fprintf(&b, "fmt.Print(I%d(I%dv{2}).Value(), \" \")\n", i, i)
		case 4:
			fmt.Fprintf(&b, "fmt.Print(len(g%d([]string{\"a\"})), \" \")\n", i)
		}
	}
	return b.String()
}

// TestEdits: after any declarations were declared again, in any order, a session without variables answers as a new session
// does that runs the last version of each cell from top to bottom.
func TestEdits(t *testing.T) {
	for seed := range 8 {
		r := rand.New(rand.NewSource(int64(seed)))
		e := &editable{r: r, kinds: make([]int, 8), cells: make([]string, 8)}
		for i := range e.kinds {
			e.kinds[i] = r.Intn(5)
		}
		for i := range e.cells {
			e.cells[i] = e.cell(i)
		}
		s := newSession(t)
		number := 0
		run := func(code string) string { number++; return evaluate(t, s, number, code) }
		for _, c := range e.cells {
			if got := run(c); got != "" {
				t.Fatalf("seed %d: %s\n%s", seed, c, got)
			}
		}
		for range 6 {
			i := r.Intn(len(e.cells))
			e.cells[i] = e.cell(i)
			if got := run(e.cells[i]); got != "" && !strings.Contains(got, "does not compile") {
				t.Fatalf("seed %d: %s\n%s", seed, e.cells[i], got)
			}
			fresh := newSession(t)
			valid := true
			for k, c := range e.cells {
				if got := evaluate(t, fresh, k+1, c); got != "" {
					valid = false // an edit that a later cell does not accept
				}
			}
			got := run(e.probe())
			want := evaluate(t, fresh, 50, e.probe())
			if !valid {
				if !strings.Contains(got, "does not compile") {
					t.Fatalf("seed %d: a broken notebook answers %s", seed, got)
				}
				break
			}
			if got != want {
				t.Fatalf("seed %d, after %s\n%s\ngot  %s\nwant %s", seed, e.cells[i], strings.Join(e.cells, "\n"), got, want)
			}
		}
	}
}
