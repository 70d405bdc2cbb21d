package main

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

type Setter[T any] interface {
	*T
	Set(string)
}
type Conf struct{ v string }

func (c *Conf) Set(s string) { c.v = s + "!" }
func Parse[T any, P Setter[T]](ss ...string) []T {
	out := make([]T, len(ss))
	for i, s := range ss {
		P(&out[i]).Set(s)
	}
	return out
}

type Ordered interface{ ~int | ~string | ~float64 }

func MaxOf[T Ordered](a T, rest ...T) T {
	for _, r := range rest {
		if r > a {
			a = r
		}
	}
	return a
}

type Matrix[T ~int | ~float64] [][]T

func (m Matrix[T]) Mul(o Matrix[T]) Matrix[T] {
	r := make(Matrix[T], len(m))
	for i := range m {
		r[i] = make([]T, len(o[0]))
		for j := range o[0] {
			for k := range o {
				r[i][j] += m[i][k] * o[k][j]
			}
		}
	}
	return r
}

type Base[T any] struct {
	val T
	log []string
}

func (b *Base[T]) Put(v T) { b.val = v; b.log = append(b.log, fmt.Sprint("put ", v)) }
func (b Base[T]) Get() T   { return b.val }

type Derived struct {
	Base[string]
	extra int
}

type Handler func(args ...any) (int, error)
type Registry map[string]Handler

func (r Registry) Call(n string, args ...any) (res int, err error) {
	h, ok := r[n]
	if !ok {
		return 0, fmt.Errorf("no handler %q", n)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("handler %s: %v", n, p)
		}
	}()
	return h(args...)
}

type Weekday uint8

const (
	Mon Weekday = iota + 1
	Tue
	_
	Thu
)
const (
	KB = 1 << (10 * (iota + 1))
	MB
)

func (d Weekday) String() string {
	switch d {
	case Mon:
		return "Mon"
	case Tue:
		return "Tue"
	}
	return fmt.Sprintf("Day(%d)", uint8(d))
}

type Tree struct {
	Left, Right *Tree
	Key         int
}

func (t *Tree) Walk() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		var rec func(*Tree, int) bool
		rec = func(t *Tree, d int) bool {
			return t == nil || rec(t.Left, d+1) && yield(d, t.Key) && rec(t.Right, d+1)
		}
		rec(t, 0)
	}
}

func (t *Tree) Insert(k int) *Tree {
	if t == nil {
		return &Tree{Key: k}
	}
	switch {
	case k < t.Key:
		t.Left = t.Left.Insert(k)
	case k > t.Key:
		t.Right = t.Right.Insert(k)
	}
	return t
}

func nestedRange(limit int) (found string) {
	letters := func(y func(string) bool) {
		defer func() { fmt.Print("{L}") }()
		for _, s := range []string{"a", "b", "c"} {
			if !y(s) {
				return
			}
		}
	}
	nums := func(y func(int) bool) {
		defer func() { fmt.Print("{N}") }()
		for i := range 10 {
			if !y(i) {
				return
			}
		}
	}
outer:
	for s := range letters {
		for n := range nums {
			defer fmt.Print("[d", s, n, "]")
			if n == 1 && s == "a" {
				continue outer
			}
			if n == 2 && s == "b" {
				break outer
			}
			if n == limit {
				return fmt.Sprint(s, n)
			}
		}
	}
	return "none"
}

type Queue[T any] struct {
	mu    sync.Mutex
	cond  *sync.Cond
	items []T
}

func NewQueue[T any]() *Queue[T] { q := &Queue[T]{}; q.cond = sync.NewCond(&q.mu); return q }
func (q *Queue[T]) Push(x T) {
	q.mu.Lock()
	q.items = append(q.items, x)
	q.mu.Unlock()
	q.cond.Signal()
}
func (q *Queue[T]) Pop() T {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 {
		q.cond.Wait()
	}
	x := q.items[0]
	q.items = q.items[1:]
	return x
}

type State interface{ Next(r rune) State }
type (
	start struct{}
	word  struct{ n int }
	end   struct{ words *int }
)

func (start) Next(r rune) State {
	if r == ' ' {
		return start{}
	}
	return word{1}
}
func (w word) Next(r rune) State {
	if r == ' ' {
		return start{}
	}
	return word{w.n + 1}
}

type Graph map[string][]string

func (g Graph) Topo() (order []string, err error) {
	const (
		white = iota
		grey
		black
	)
	color := map[string]int{}
	var visit func(string) error
	visit = func(n string) error {
		switch color[n] {
		case grey:
			return fmt.Errorf("cycle at %s", n)
		case black:
			return nil
		}
		color[n] = grey
		for _, m := range g[n] {
			if err := visit(m); err != nil {
				return fmt.Errorf("%s -> %w", n, err)
			}
		}
		color[n] = black
		order = append(order, n)
		return nil
	}
	for _, n := range slices.Sorted(maps.Keys(g)) {
		if err := visit(n); err != nil {
			return nil, err
		}
	}
	return order, nil
}

type Rec func(int) Rec
type Dir map[string]Dir
type Nest []Nest

func (n Nest) Depth() int {
	d := 0
	for _, c := range n {
		d = max(d, c.Depth())
	}
	return d + 1
}

var initOrder = func() string { return "init:" + dep }()
var dep = strings.Repeat("x", 3)

func init() { dep += "1" }
func init() { dep += "2" }

type Celsius float64
type Temp interface{ ~float64 }

func Avg[T Temp](ts ...T) T {
	var s T
	for _, t := range ts {
		s += t
	}
	return s / T(len(ts))
}

type Opt func(*options)
type options struct {
	name string
	tags map[string]struct{}
	deep struct {
		x, y int
		fn   func() string
	}
}

func WithName(n string) Opt { return func(o *options) { o.name = n } }
func WithTag(t string) Opt {
	return func(o *options) {
		if o.tags == nil {
			o.tags = make(map[string]struct{})
		}
		o.tags[t] = struct{}{}
	}
}
func build(opts ...Opt) (o options) {
	for _, f := range opts {
		f(&o)
	}
	o.deep.x++
	o.deep.fn = func() string { return o.name }
	return
}

func main() {
	fmt.Println(Parse[Conf]("a", "b"), MaxOf(3, 9, 2), MaxOf("a", "c", "b"), MaxOf(1.5))
	m := Matrix[int]{{1, 2}, {3, 4}}
	fmt.Println(m.Mul(m), fmt.Sprintf("%T", m))
	var d Derived
	d.Put("hi")
	d.Put("there")
	fmt.Println(d.Get(), len(d.log), d)
	reg := Registry{
		"sum": func(args ...any) (n int, err error) {
			for _, a := range args {
				switch v := a.(type) {
				case int:
					n += v
				case string:
					n += len(v)
				case fmt.Stringer:
					n += utf8.RuneCountInString(v.String())
				default:
					return n, fmt.Errorf("bad %T", a)
				}
			}
			return
		},
		"boom": func(args ...any) (int, error) { return args[0].(int), nil },
	}
	for _, c := range []struct {
		n string
		a []any
	}{{"sum", []any{1, "abc", Tue}}, {"sum", []any{2.5}}, {"boom", nil}, {"boom", []any{"x"}}, {"nope", nil}, {"sum", nil}} {
		n, err := reg.Call(c.n, c.a...)
		fmt.Println(n, err)
	}
	fmt.Println(Mon, Tue, Thu, []Weekday{1, 4}, map[Weekday]int{Tue: 2}, KB, MB, fmt.Sprintf("%d %v %s %x", Thu, Thu, Thu, Thu))
	var t *Tree
	for _, k := range []int{5, 2, 8, 1, 9, 5} {
		t = t.Insert(k)
	}
	for depth, k := range t.Walk() {
		if k > 8 {
			break
		}
		fmt.Print(depth, ":", k, " ")
	}
	fmt.Println()
	fmt.Println(nestedRange(5))
	fmt.Println(nestedRange(0))
	q := NewQueue[func() string]()
	go func() {
		time.Sleep(time.Millisecond)
		for i := range 3 {
			q.Push(func() string { return fmt.Sprint("job", i) })
		}
	}()
	for range 3 {
		fmt.Print(q.Pop()(), " ")
	}
	fmt.Println()
	var s State = start{}
	for _, r := range "ab  cde" {
		s = s.Next(r)
		fmt.Printf("%T%v ", s, s)
	}
	fmt.Println(s == State(word{3}), s == State(start{}))
	fmt.Println(Graph{"a": {"b", "c"}, "b": {"c"}, "c": nil}.Topo())
	fmt.Println(Graph{"a": {"b"}, "b": {"a"}}.Topo())
	cnt := 0
	var f Rec
	f = func(n int) Rec { cnt += n; return f }
	f(1)(2)(3)
	dir := Dir{"usr": {"bin": {}, "lib": {"go": nil}}}
	fmt.Println(cnt, len(dir["usr"]), dir["usr"]["lib"]["go"] == nil, Nest{{}, {{}, {{}}}}.Depth(), dir)
	fmt.Println(initOrder, dep, Avg(Celsius(1), 2, 6), Avg(1.0, 2))
	o := build(WithName("n"), WithTag("t1"), WithTag("t2"))
	fmt.Println(o.name, len(o.tags), o.deep.x, o.deep.fn())
	a := [3]int{1, 2, 3}
	for i, v := range a {
		a[2] = 10
		if i == 2 {
			fmt.Println("range copy", v, a)
		}
	}
	for i, v := range &a {
		a[2] = 20
		if i == 2 {
			fmt.Println("range ptr", v)
		}
	}
	sl := []int{1, 2, 3}
	for i, v := range sl {
		sl = append(sl, v*10)
		sl[i]++
	}
	fmt.Println(sl)
	mm := map[int]bool{1: true, 2: true, 3: true}
	for k := range mm {
		delete(mm, k)
	}
	fmt.Println(len(mm))
	pts := []*struct{ x, y int }{{1, 2}, {3, 4}}
	mp := map[string]*[2]int{"a": {1, 2}}
	mp["a"][1]++
	pts[0].x, pts[1].y = pts[1].y, pts[0].x
	fmt.Println(*pts[0], *pts[1], *mp["a"])
	grid := [3][4]rune{}
	for y := range grid {
		for x := range grid[y] {
			grid[y][x] = '.'
		}
	}
	grid[1][2] = '#'
	for _, row := range grid {
		fmt.Print(string(row[:]), "/")
	}
	fmt.Println()
	x, y := 1, 2
	x, y = y, x+y
	x, sl[x-1] = 7, 100
	fmt.Println(x, y, sl[1])
	func() {
		x := x * 2
		x++
		y = x
	}()
	if x := y; x > 10 {
		x--
		fmt.Println("in", x)
	} else if z := x; z > 5 {
		fmt.Println(z)
	}
	c1, c2, quit := make(chan int), make(chan string), make(chan struct{})
	go func() {
		for i := range 3 {
			c1 <- i
			c2 <- fmt.Sprint("s", i)
		}
		close(quit)
	}()
	var sum int
	var strs []string
loop:
	for {
		select {
		case v := <-c1:
			sum += v
		case s, ok := <-c2:
			if !ok {
				continue loop
			}
			strs = append(strs, s)
		case <-quit:
			break loop
		}
	}
	fmt.Println(sum, strs)
	type P struct {
		Name string
		Age  int
	}
	ps := []P{{"A", 30}, {"B", 25}, {"C", 30}, {"D", 25}}
	sort.SliceStable(ps, func(i, j int) bool { return ps[i].Age < ps[j].Age })
	slices.SortStableFunc(ps, func(a, b P) int { return cmp.Or(-cmp.Compare(a.Age, b.Age), strings.Compare(b.Name, a.Name)) })
	groups := map[int][]P{}
	for _, p := range ps {
		groups[p.Age] = append(groups[p.Age], p)
	}
	fmt.Println(ps, groups)
	e := errors.Join(errors.New("a"), fmt.Errorf("b: %w", os.ErrNotExist))
	fmt.Println(errors.Is(e, os.ErrNotExist), strings.ReplaceAll(e.Error(), "\n", "|"))
	sieve := make([]bool, 50)
	var primes []int
	for i := 2; i < len(sieve); i++ {
		if sieve[i] {
			continue
		}
		primes = append(primes, i)
		for j := i * i; j < len(sieve); j += i {
			sieve[j] = true
		}
	}
	fmt.Println(primes, slices.Max(primes), slices.Index(primes, 13))
	var sb strings.Builder
	for i := 3; i > 0; i-- {
		fmt.Fprintf(&sb, "%d...", i)
	}
	fmt.Println(sb.String(), len(sb.String()))
	u := uint32(0xdeadbeef)
	fmt.Printf("%x %x %d %08b %o\n", u>>16|u<<16, u&^0xff, int32(u), uint8(u)&0x0f, 64)
	var c64 complex64 = complex(float32(1.5), 2)
	fmt.Println(c64*c64, real(c64), string([]byte{104, 105}), []byte("é"), []rune("é"), "é"[0], strings.ToUpper("é"))
	var nilf func()
	var nile error
	var nilp *P
	var nils []int
	var nili any
	fmt.Println(nilf == nil, nile == nil, nilp == nil, nils == nil, nili == nil, len(nils), nils[:0] == nil, append(nils, nils...) == nil)
	lbl := 0
again:
	lbl++
	if lbl < 3 {
		goto again
	}
	fmt.Println(lbl, time.Duration(1500)*time.Millisecond, time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC).AddDate(1, 0, 0).Format("2006-01-02 Mon"))
	var arrOfArr [2][2][]string
	arrOfArr[1][0] = append(arrOfArr[1][0], "deep")
	cp := arrOfArr
	cp[1][0][0] = "shared"
	cp[0][0] = []string{"own"}
	fmt.Println(arrOfArr, cp)
	func(xs ...any) { fmt.Println(len(xs), xs) }(nil, nils, nilp, 1, "a", P{"z", 1}, []P{{"r", 3}}, map[string]P{"k": {"v", 4}}, [1]any{2.5})
	bf := func(n int) (r []string) {
		for i := 1; i <= n; i++ {
			switch {
			case i%15 == 0:
				r = append(r, "FB")
			case i%3 == 0:
				r = append(r, "F")
			case i%5 == 0:
				r = append(r, "B")
			default:
				r = append(r, fmt.Sprint(i))
			}
		}
		return
	}
	fmt.Println(strings.Join(bf(15), ","))
}
