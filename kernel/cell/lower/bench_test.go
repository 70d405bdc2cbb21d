package lower_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// fortyLines is a cell of 40 lines as a notebook has them: a type with methods, functions, a loop, printing.
func fortyLines(n int) string {
	return strings.ReplaceAll(`package main

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

type Point§ struct {
	X, Y float64
	Name string
}

func (p Point§) Norm() float64 { return math.Hypot(p.X, p.Y) }

func (p *Point§) Scale(k float64) {
	p.X *= k
	p.Y *= k
}

func (p Point§) String() string { return fmt.Sprintf("%s(%g, %g)", p.Name, p.X, p.Y) }

func sum§(ps []Point§) (s float64) {
	for _, p := range ps {
		s += p.Norm()
	}
	return s
}

func Run§() {
	ps := []Point§{{3, 4, "a"}, {6, 8, "b"}, {5, 12, "c"}}
	for i := range ps {
		ps[i].Scale(2)
	}
	sort.Slice(ps, func(i, j int) bool { return ps[i].Norm() > ps[j].Norm() })
	names := map[string]int{}
	for i, p := range ps {
		names[strings.ToUpper(p.Name)] = i
	}
	_ = sum§(ps)
	_ = fmt.Sprint(ps[0], names)
}
`, "§", fmt.Sprint(n))
}

// BenchmarkLower is the lowering alone of a cell of 40 lines; its type-checking and SSA are not in it.
func BenchmarkLower(b *testing.B) {
	s := newSession(b)
	for i := range b.N {
		b.StopTimer()
		if _, err := s.lower("c.go", fortyLines(i)); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		u, err := s.lowerer.Package(s.last, s.tree)
		if err != nil {
			b.Fatal(err)
		}
		u.Commit()
	}
}

// BenchmarkCell10 and BenchmarkCell1000 are a whole cell of 40 lines, checked, lowered, evaluated and run, in a session that
// had so many before.
func BenchmarkCell10(b *testing.B)   { benchmarkCell(b, 10) }
func BenchmarkCell1000(b *testing.B) { benchmarkCell(b, 1000) }

func benchmarkCell(b *testing.B, before int) {
	s := newSession(b)
	s.start(b)
	n := 0
	cell := func() {
		n++
		if err := s.eval(context.Background(), "c.go", fortyLines(n), fmt.Sprintf("Run%d", n)); err != nil {
			b.Fatal(err)
		}
	}
	for range before {
		cell()
	}
	for b.Loop() {
		cell()
	}
}

// benchmarkLoop runs a function of a cell that does something count times, and reports the time of one.
func benchmarkLoop(b *testing.B, count int, src string) {
	s := newSession(b)
	s.start(b)
	if err := s.eval(context.Background(), "c.go", src); err != nil {
		b.Fatal(err)
	}
	f, err := s.interp.Eval(s.unit.Function(s.last.Func("Run")))
	if err != nil {
		b.Fatal(err)
	}
	run := f.Interface().(func())
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count), "ns/iteration")
}

const million = 1_000_000

func BenchmarkFloatLoop(b *testing.B) {
	benchmarkLoop(b, million, "package main\nvar sink float64\nfunc Run() { s := 0.0; for i := 0; i < 1000000; i++ { s += 0.5 }; sink = s }")
}

func BenchmarkSliceLoop(b *testing.B) {
	benchmarkLoop(b, million, "package main\nvar a = make([]float64, 1000)\nvar sink float64\nfunc sum(a []float64) (s float64) { for i := 0; i < 1000; i++ { s += a[i] }; return s }\nfunc Run() { for k := 0; k < 1000; k++ { sink = sum(a) } }")
}

func BenchmarkRangeLoop(b *testing.B) {
	benchmarkLoop(b, million, "package main\nvar a = make([]float64, 1000)\nvar sink float64\nfunc sum(a []float64) (s float64) { for _, x := range a { s += x }; return s }\nfunc Run() { for k := 0; k < 1000; k++ { sink = sum(a) } }")
}

func BenchmarkPointerMethod(b *testing.B) {
	benchmarkLoop(b, million, "package main\ntype C struct { n int }\nfunc (c *C) Add(k int) { c.n += k }\nfunc Run() { c := &C{}; for i := 0; i < 1000000; i++ { c.Add(i) } }")
}

func BenchmarkInterfaceCall(b *testing.B) {
	benchmarkLoop(b, million, "package main\ntype A interface { Add(int) }\ntype C struct { n int }\nfunc (c *C) Add(k int) { c.n += k }\nvar a A = &C{}\nfunc Run() { x := a; for i := 0; i < 1000000; i++ { x.Add(i) } }")
}

func BenchmarkCall(b *testing.B) {
	benchmarkLoop(b, million, "package main\nfunc f(a, b int) int { return a + b }\nvar sink int\nfunc Run() { s := 0; for i := 0; i < 1000000; i++ { s = f(s, i) }; sink = s }")
}

func BenchmarkMatrix(b *testing.B) {
	benchmarkLoop(b, million, `package main
func Run() {
	n := 100
	a, c, d := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			s := 0.0
			for k := 0; k < n; k++ {
				s += a[i*n+k] * c[k*n+j]
			}
			d[i*n+j] = s
		}
	}
}`)
}
