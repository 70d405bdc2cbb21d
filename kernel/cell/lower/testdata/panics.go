package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
)

type S struct {
	A, B int
	_    int
	C    string
}
type S2 struct {
	A, B int
	_    int
	C    string
}
type Matrix [3][3]float64

func (m *Matrix) T() (r Matrix) {
	for i := range m {
		for j := range m[i] {
			r[j][i] = m[i][j]
		}
	}
	return
}

type A struct {
	b *B
	n int
}
type B struct {
	a    *A
	list []A
	m    map[string]*A
}

type Expr interface {
	Eval(env map[string]float64) (float64, error)
}
type Num float64
type Var string
type Bin struct {
	Op   byte
	L, R Expr
}

func (n Num) Eval(map[string]float64) (float64, error) { return float64(n), nil }
func (v Var) Eval(env map[string]float64) (float64, error) {
	if x, ok := env[string(v)]; ok {
		return x, nil
	}
	return 0, fmt.Errorf("undefined %q", string(v))
}
func (b *Bin) Eval(env map[string]float64) (float64, error) {
	l, err := b.L.Eval(env)
	if err != nil {
		return 0, err
	}
	r, err := b.R.Eval(env)
	if err != nil {
		return 0, err
	}
	switch b.Op {
	case '+':
		return l + r, nil
	case '/':
		if r == 0 {
			return 0, errDiv
		}
		return l / r, nil
	}
	return 0, errors.New("bad op " + string(b.Op))
}

var errDiv = errors.New("division by zero")

func order(s string, v int) int { fmt.Print(s, " "); return v }

func two() (int, int)          { return 3, 4 }
func add(a, b int) int         { return a + b }
func vari(p string, xs ...int) { fmt.Print(p, len(xs), xs == nil, xs, " ") }

type counter struct{ n int }

func (c *counter) inc() *counter { c.n++; return c }
func (c counter) get() int       { return c.n }

type Op func(float64, float64) float64

func (o Op) Apply(a, b float64) float64 { return o(a, b) }

type Shape interface {
	Area() float64
	Perimeter() float64
}
type Rect struct{ W, H float64 }
type Circle struct{ R float64 }

func (r Rect) Area() float64        { return r.W * r.H }
func (r Rect) Perimeter() float64   { return 2 * (r.W + r.H) }
func (c Circle) Area() float64      { return math.Pi * c.R * c.R }
func (c Circle) Perimeter() float64 { return 2 * math.Pi * c.R }

type Logger struct {
	strings.Builder
	prefix string
}

func (l *Logger) Log(s string) { l.WriteString(l.prefix + s + "\n") }

type safe struct {
	sync.RWMutex
	m map[string]int
}

func localTypes[T any](x T) any {
	type wrap struct{ v T }
	return wrap{x}
}

type set[T comparable] map[T]struct{}

func (s set[T]) add(xs ...T) set[T] {
	for _, x := range xs {
		s[x] = struct{}{}
	}
	return s
}
func (s set[T]) sorted(less func(a, b T) bool) []T {
	var r []T
	for x := range s {
		r = append(r, x)
	}
	sort.Slice(r, func(i, j int) bool { return less(r[i], r[j]) })
	return r
}

type Stringish interface{ ~string }

func join[S Stringish](xs []S, sep S) S {
	var r S
	for i, x := range xs {
		if i > 0 {
			r += sep
		}
		r += x
	}
	return r
}

type List[T any] struct {
	head *node[T]
	n    int
}
type node[T any] struct {
	v    T
	next *node[T]
}

func (l *List[T]) Push(v T) { l.head = &node[T]{v, l.head}; l.n++ }
func (l *List[T]) Each(f func(int, T)) {
	i := 0
	for n := l.head; n != nil; n = n.next {
		f(i, n.v)
		i++
	}
}
func Fold[T, R any](l *List[T], z R, f func(R, T) R) R {
	l.Each(func(_ int, v T) { z = f(z, v) })
	return z
}

func safely(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			err = fmt.Errorf("runtime: %w", r)
		case error:
			err = r
		default:
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	f()
	return nil
}

type E1 struct{ msg string }

func (e E1) Error() string { return e.msg }

func main() {
	a, b := S{1, 2, 3, "x"}, S{1, 2, 9, "x"}
	_ = a
	fmt.Println(S(S2{A: 1}) == S{A: 1}, b.C, S2(b).A)
	m := Matrix{{1, 2, 3}, {4, 5, 6}}
	mt := m.T()
	fmt.Println(mt, mt == m, mt[0][1] == m[1][0])
	x := &A{n: 1}
	x.b = &B{a: x, list: []A{{n: 2}, {n: 3}}, m: map[string]*A{"k": {n: 4}}}
	x.b.list[0].b = x.b
	x.b.m["k"].n++
	fmt.Println(x.b.a.n, x.b.list[0].b.list[1].n, x.b.m["k"].n, len(x.b.m))
	e := &Bin{'/', &Bin{'+', Num(1), Var("x")}, Var("y")}
	for _, env := range []map[string]float64{{"x": 3, "y": 2}, {"x": 1}, {"x": 1, "y": 0}, nil} {
		v, err := e.Eval(env)
		fmt.Println(v, err, errors.Is(err, errDiv))
	}
	arr := []int{order("a", 0), order("b", 1), order("c", 2)}
	arr[order("i", 1)], arr[order("j", 0)] = order("x", 10), order("y", 20)
	fmt.Println(arr, add(two()), order("p", 1)+order("q", 2)*order("r", 3))
	i := 0
	i, arr[i] = 2, 99
	arr[0], arr[1] = arr[1], arr[0]
	fmt.Println(i, arr)
	vari("a")
	vari("b", nil...)
	vari("c", []int{}...)
	vari("d", 1, 2)
	vari("e", arr[:1]...)
	fmt.Println()
	c := counter{}
	f := c.get
	g := c.inc
	c.inc().inc()
	g()
	fmt.Println(f(), c.n, counter.get(c), (*counter).inc(&c).n)
	defer fmt.Println("deferred", c.n, c.get())
	c.n = 100
	fmt.Println(Op(math.Pow).Apply(2, 10), Op(func(a, b float64) float64 { return a - b }).Apply(1, 2))
	shapes := []Shape{Rect{2, 3}, Circle{1}, &Rect{1, 1}}
	sort.Slice(shapes, func(i, j int) bool { return shapes[i].Area() < shapes[j].Area() })
	for _, s := range shapes {
		switch v := s.(type) {
		case Rect:
			v.W = 100
			fmt.Print("rect ", v.W)
		case *Rect:
			v.W = 100
			fmt.Print("*rect ", s.Area())
		case Circle:
			fmt.Printf("circle %.3f", v.Area())
		}
		fmt.Printf(" %.2f;", s.Perimeter())
	}
	fmt.Println()
	var l Logger
	l.prefix = "> "
	l.Log("one")
	l.Log("two")
	fmt.Print(l.String(), l.Len(), "\n")
	sf := safe{m: map[string]int{}}
	sf.Lock()
	sf.m["a"]++
	sf.Unlock()
	sf.RLock()
	fmt.Println(sf.m)
	sf.RUnlock()
	fmt.Printf("%T %v %T\n", localTypes(1), localTypes("s"), localTypes(E1{"x"}))
	fmt.Println(localTypes(1) == localTypes(1), localTypes(1) == localTypes(2), localTypes("1") == localTypes(1))
	fmt.Println(set[string]{}.add("b", "a", "b").sorted(func(a, b string) bool { return a < b }), len(set[[2]int]{}.add([2]int{1, 2}, [2]int{1, 2})))
	type id string
	fmt.Println(join([]id{"a", "b"}, "-"), join([]string{"x"}, ","))
	var li List[string]
	li.Push("a")
	li.Push("bb")
	fmt.Println(Fold(&li, 0, func(n int, s string) int { return n + len(s) }), Fold(&li, "", func(z, s string) string { return z + s }))
	for _, f := range []func(){
		func() {},
		func() { panic("str") },
		func() { panic(E1{"e1"}) },
		func() { panic(fmt.Errorf("w: %w", E1{"in"})) },
		func() { var p *S; p.A = 1 },
		func() { var m map[string]S; m["a"] = S{} },
		func() { a := []int{1}; _ = a[len(arr)] },
		func() { a := []int{1}; n := 5; _ = a[:n] },
		func() { a := []int{1}; n := -1; _ = a[n+0:] },
		func() { a := make([]int, 2, 10); n, k := 3, 11; _ = a[n:k] },
		func() { s := "abc"; n := 2; _ = s[n:1] },
		func() { z := 0; _ = 5 % z },
		func() { var x any = "s"; _ = x.(fmt.Stringer) },
		func() { var x Shape = Rect{}; _ = x.(Circle) },
		func() { var x Shape; _ = x.(Rect) },
		func() { var x any; _ = x.(int) },
		func() { var x any = Rect{}; _ = x.(interface{ Foo() }) },
		func() { var s Shape; s.Area() },
		func() { var f func(int) int; f(1) },
		func() { close((chan int)(nil)) },
		func() { c := make(chan int); close(c); close(c) },
		func() { c := make(chan int, 1); close(c); c <- 1 },
		func() { n := -5; _ = make([]int, n) },
		func() { n := -5; _ = make(chan int, n) },
		func() { a := []int{1, 2}; _ = [3]int(a) },
		func() { var a, b any = []int{1}, []int{1}; fmt.Print(a == b) },
		func() { var a, b any = S{}, S{}; fmt.Print(a == b, " ") },
		func() { type T struct{ f any }; var a, b any = T{[]int{}}, T{[]int{}}; fmt.Print(a == b) },
		func() { type L []int; var a, b any = L{1}, L{1}; fmt.Print(a == b) },
		func() { type L []int; m := map[any]int{}; m[L{1}] = 1 },
		func() { m := map[any]int{}; m[func() {}] = 1 },
		func() { var p *counter; p.get() },
		func() { var p **int; **p = 1 },
		func() { var arr *[3]int; _ = arr[1] },
		func() {
			var arr *[3]int
			for i := range arr {
				fmt.Print(i)
			}
			for range arr {
				fmt.Print("r")
			}
		},
		func() { _ = strings.Repeat("x", -1) },
		func() { var e error; _ = e.Error() },
		func() { panic(nil) },
		func() { x := []int{1, 2, 3}; i := uint64(1 << 63); _ = x[i] },
		func() { x := []int{1, 2, 3}; var i8 int8 = -3; _ = x[i8] },
	} {
		err := safely(f)
		var re runtime.Error
		var e1 E1
		fmt.Println(err, errors.As(err, &re), errors.As(err, &e1))
	}
	mm := map[float64]int{}
	mm[math.NaN()] = 1
	mm[math.NaN()] = 2
	mm[0] = 3
	fmt.Println(len(mm), mm[math.Copysign(0, -1)])
	big := map[int]map[string][]int{}
	for i := range 3 {
		if big[i] == nil {
			big[i] = map[string][]int{}
		}
		big[i]["k"] = append(big[i]["k"], i, i*i)
	}
	fmt.Println(big)
	sm := map[string]struct{ n [2]int }{"a": {[2]int{1, 2}}}
	v := sm["a"]
	v.n[0] = 50
	sm["b"] = v
	fmt.Println(sm["a"].n[1], sm, sm["zz"].n)
	var nilm map[string]int
	nv, ok := nilm["q"]
	delete(nilm, "q")
	for range nilm {
	}
	fmt.Println(nv, ok, len(nilm), nilm == nil)
	func() {
		defer func() {
			fmt.Println(recover())
			fmt.Println(recover())
		}()
		defer panic("two")
		panic("one")
	}()
	var wg sync.WaitGroup
	errs := make([]error, 3)
	for i := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				if r := recover(); r != nil {
					errs[i] = fmt.Errorf("g%d: %v", i, r)
				}
			}()
			if i == 1 {
				panic(i)
			}
		}()
	}
	wg.Wait()
	fmt.Println(errs)
	done := make(chan bool)
	go func() {
		defer close(done)
		defer fmt.Println("goexit deferred")
		runtime.Goexit()
		fmt.Println("never")
	}()
	<-done
	sort.Slice(arr, func(i, j int) bool { return arr[i] > arr[j] })
	fmt.Println(arr)
	err := safely(func() { sort.Slice(arr, func(i, j int) bool { panic("in less") }) })
	fmt.Println(err)
	fmt.Fprintln(os.Stdout, float32(16777216.0)+1, 0.1+0.2, 1/3.0, float32(1)/3, 1e6, 1e-7, 100000000.0, 123456789.0)
	var u uint8 = 200
	var s8 int8 = -128
	fmt.Println(u+100, u<<1, ^u, -s8, s8/-1, int8(u), uint16(s8), int(math.Float32bits(1.5)), uint64(1<<63)>>3)
	if true {
		os.Exit(3)
	}
}
