package main

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

var _ = strings.Repeat
var _ = strconv.Itoa
var _ sync.Mutex

// printAll prints what is behind pointers.
func printAll(xs ...any) {
	for _, x := range xs {
		fmt.Print(plain(x), " ")
	}
	fmt.Println()
}

func plain(x any) any {
	switch y := x.(type) {
	case N:
		return fmt.Sprint(y.n, y.k, y.s)
	case *N:
		return y.n
	case func(int) int:
		return y(1)
	}
	return x
}

type N struct {
	n int
	q *N
	k [2]int
	s string
}

func (v N) get(i int) int   { return v.n*10 + i }
func (v *N) pget(i int) int { return v.n*10 + i }
func (v *N) inc(d int) int  { old := v.n; f(); v.n += d; return old*100 + d }

type G interface{ get(int) int }

var (
	g    int
	gs   N
	p    *N
	s    []int
	a    [2]int
	m    map[string]int
	mi   map[int]int
	str  string
	ip   *int
	ss   []N
	ga   [2]int
	i0   int
	any0 any
	ms   map[N]int
	fl   float64
	fv   func(int) int
	bs   []byte
	gi   G
	pa   *[2]int
	mp   map[string]*N
	aa   [2][2]int
	sp   []*N
	ch   chan int
)

func reset() {
	g = 1
	gs = N{n: 2, q: &N{n: 3}, k: [2]int{4, 5}, s: "s"}
	p = &N{n: 6, q: &N{n: 7}, k: [2]int{8, 9}, s: "p"}
	s = []int{0, 1, 2}
	a = [2]int{1, 0}
	m = map[string]int{"k": 3}
	mi = map[int]int{0: 4, 1: 5}
	str = "t"
	ip = &g
	ss = []N{{n: 8}, {n: 9}}
	ga = [2]int{1, 2}
	i0 = 0
	any0 = 5
	ms = map[N]int{{}: 6}
	fl = 1.5
	fv = func(i int) int { return i }
	bs = []byte("ab")
	gi = gs
	pa = &[2]int{1, 1}
	mp = map[string]*N{"k": {n: 2}}
	aa = [2][2]int{{1, 0}, {0, 1}}
	sp = []*N{{n: 1}}
	ch = make(chan int, 9)
}
func f() int {
	g++
	gs.n++
	gs.q.n++
	gs.k[0]++
	gs.s += "!"
	p.n++
	p.q.n++
	p.k[0]++
	p.s += "?"
	s[0]++
	s[1]++
	a[0]++
	a[1]++
	m["k"]++
	mi[0]++
	mi[1]++
	str += "!"
	ss[0].n++
	ga[0]++
	any0 = 6
	ms[N{}]++
	fl++
	bs[0]++
	pa[0]++
	mp["k"].n++
	aa[0][0]++
	sp[0].n++
	return 1
}
func fr() int { // replaces the containers
	f()
	gs = N{n: 50, q: &N{n: 51}, k: [2]int{1, 1}}
	p = &N{n: 52, q: &N{n: 53}}
	s = []int{1, 0, 0, 1}
	a = [2]int{0, 1}
	m = map[string]int{"k": 9}
	mi = map[int]int{0: 1, 1: 1}
	ip = new(int)
	ss = []N{{n: 20}}
	i0 = 1
	fv = func(i int) int { return -i }
	bs = []byte("zz")
	gi = N{n: 70}
	pa = &[2]int{0, 0}
	mp = map[string]*N{"k": {n: 12}}
	sp = []*N{{n: 31}}
	return 1
}
func h(x, y int) int { return x*100 + y }
func hn(x, y int) int {
	fmt.Print("<", x, y, ">")
	for i := range 3 {
		x += i
		if x > 1000 {
			fmt.Print("!")
		}
	}
	return x*100 + y
}
func hv(xs ...int) int {
	r := 0
	for _, x := range xs {
		r = r*100 + x
	}
	f()
	return r
}
func mod(x, y int) int       { f(); return x*100 + y }
func modr(x, y int) int      { fr(); return x*100 + y }
func id[T any](x T) T        { return x }
func addr(x *int) int        { *x += 7; return f() }
func ha(x any, y int) string { return fmt.Sprint(x, y) }
func two() (int, int)        { return f(), 2 }
func t0()                    { fmt.Println([]int{sp[0].n, f()}) }
func t1()                    { fmt.Println([]int{p.pget(0), fr()}) }
func t2() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	x := struct{ a, b int }{KM["a"], FL()}
	fmt.Println(x)
}
func t3() { x := struct{ a, b int }{pa[0], f()}; fmt.Println(x) }
func t4() { x := struct{ a, b int }{g / 1, fr()}; fmt.Println(x) }
func t5() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	fmt.Println(fmt.Sprint(L) + fmt.Sprint(FL()) + fmt.Sprint(L))
}
func t6() { fmt.Println(fmt.Sprint(int(bs[0])) + fmt.Sprint(f()) + fmt.Sprint(int(bs[0]))) }
func t7() { fmt.Println(fmt.Sprint(aa[0][0]) + fmt.Sprint(fr()) + fmt.Sprint(aa[0][0])) }
func t8() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	fmt.Println(L + FL() + L + FL())
}
func t9()  { fmt.Println(ms[N{n: 0}] + f() + ms[N{n: 0}] + f()) }
func t10() { fmt.Println(g/1 + fr() + g/1 + fr()) }
func t11() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	K[0], g = g, K[0]
	fmt.Println(K[0], g)
}
func t12() { ss[0].n, g = g, ss[0].n; fmt.Println(ss[0].n, g) }
func t13() { mp["k"].n, g = g, mp["k"].n; fmt.Println(mp["k"].n, g) }
func t14() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	switch KS[0] {
	case FL() + 1:
		fmt.Println(1)
	case FL() + 2:
		fmt.Println(2)
	default:
		fmt.Println(3)
	}
}
func t15() {
	switch sp[0].n {
	case f() + 1:
		fmt.Println(1)
	case f() + 2:
		fmt.Println(2)
	default:
		fmt.Println(3)
	}
}
func t16() {
	switch gs.n {
	case fr() + 1:
		fmt.Println(1)
	case fr() + 2:
		fmt.Println(2)
	default:
		fmt.Println(3)
	}
}
func t17() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	x, y, z := K[0], FL(), K[0]
	fmt.Println(x, y, z)
}
func t18() { x, y, z := a[i0], f(), a[i0]; fmt.Println(x, y, z) }
func t19() { x, y, z := cap(s), fr(), cap(s); fmt.Println(x, y, z) }
func t20() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	x := Q.n
	y, z := two()
	fmt.Println(x, y, z, Q.n)
}
func t21() { x := g + p.n; y, z := two(); fmt.Println(x, y, z, g+p.n) }
func t22() { x := gs.get(1); y, z := two(); fmt.Println(x, y, z, gs.get(1)) }
func t23() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	var x, y any = Q, FL()
	printAll(x, y)
}
func t24() { var x, y any = any(g), f(); printAll(x, y) }
func t25() { var x, y any = mp["k"], fr(); printAll(x, y) }
func t26() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	var x, y = K[0], FL()
	fmt.Println(x, y)
}
func t27() { var x, y = aa[0][0], f(); fmt.Println(x, y) }
func t28() { var x, y = p.k[i0], fr(); fmt.Println(x, y) }
func t29() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	printAll(id(Q), FL())
}
func t30() { printAll(id(fl), f()) }
func t31() { printAll(id(m), fr()) }
func t32() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	x := id(K)
	printAll(x, FL())
}
func t33() { x := id(any0); printAll(x, f()) }
func t34() { x := id(gs.k); printAll(x, fr()) }
func t35() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	hx := func(x any, y int) { f(); printAll(x, y) }
	hx(Q, 1)
	hx(Q, FL())
}
func t36() { hx := func(x any, y int) { f(); printAll(x, y) }; hx(any(gs), 1); hx(any(gs), f()) }
func t37() {
	hx := func(x any, y int) { f(); printAll(x, y) }
	hx(string(bs), 1)
	hx(string(bs), fr())
}
func t38() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	fmt.Println(fmt.Sprint(plain(K)), FL(), plain(K))
}
func t39() { fmt.Println(fmt.Sprint(plain(fv)), f(), plain(fv)) }
func t40() { fmt.Println(fmt.Sprint(plain(any0)), fr(), plain(any0)) }
func t41() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	hx := func(y int, x ...any) { f(); printAll(x[0], y) }
	hx(1, K)
	hx(FL(), K, 5)
}
func t42() { hx := func(y int, x ...any) { f(); printAll(x[0], y) }; hx(1, s[1:]); hx(f(), s[1:], 5) }
func t43() { hx := func(y int, x ...any) { f(); printAll(x[0], y) }; hx(1, gs.s); hx(fr(), gs.s, 5) }
func t44() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	x, y := Q, FL()
	printAll(x, y)
}
func t45() { x, y := any(g), f(); printAll(x, y) }
func t46() { x, y := s[1:], fr(); printAll(x, y) }
func t47() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	printAll(FL(), Q)
}
func t48() { printAll(f(), p.k) }
func t49() { printAll(fr(), s) }
func t50() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	printAll(Q, FL())
}
func t51() { printAll([]byte(str), f()) }
func t52() { printAll(ss[i0], fr()) }
func t53() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	x, y := func() (any, int) { return Q, FL() }()
	printAll(x, y)
}
func t54() { x, y := func() (any, int) { return p.s, f() }(); printAll(x, y) }
func t55() { x, y := func() (any, int) { return str, fr() }(); printAll(x, y) }
func t56() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	x := []any{Q, FL()}
	printAll(x[0], x[1])
}
func t57() { x := []any{fv, f()}; printAll(x[0], x[1]) }
func t58() { x := []any{ss[i0], fr()}; printAll(x[0], x[1]) }
func t59() {
	L := 3
	K := []int{1, 2}
	Q := N{n: 4}
	KS := [2]int{5, 6}
	KM := map[string]int{"a": 7}
	FL := func() int {
		L++
		K[0]++
		Q.n++
		KS[0]++
		KM["a"]++
		return f()
	}
	_, _, _, _, _, _ = L, K, Q, KS, KM, FL
	x := struct {
		a any
		b int
	}{Q, FL()}
	printAll(x.a, x.b)
}
func t60() {
	x := struct {
		a any
		b int
	}{any(gs), f()}
	printAll(x.a, x.b)
}
func t61() {
	x := struct {
		a any
		b int
	}{gs, fr()}
	printAll(x.a, x.b)
}

func run(i int, f func()) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Println("panic:", r)
		}
	}()
	fmt.Print(i, ": ")
	reset()
	f()
}

func main() {
	for i, f := range []func(){t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16, t17, t18, t19, t20, t21, t22, t23, t24, t25, t26, t27, t28, t29, t30, t31, t32, t33, t34, t35, t36, t37, t38, t39, t40, t41, t42, t43, t44, t45, t46, t47, t48, t49, t50, t51, t52, t53, t54, t55, t56, t57, t58, t59, t60, t61} {
		run(i, f)
	}
}
