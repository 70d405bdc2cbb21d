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
func t0() {
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
	t := FL() + K[0]
	fmt.Println(t)
}
func t1() { t := f() + gs.get(1); fmt.Println(t) }
func t2() { t := fr() + cap(s); fmt.Println(t) }
func t3() {
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
	t := K[0] + FL()
	fmt.Println(t)
}
func t4() { t := ms[N{n: 0}] + f(); fmt.Println(t) }
func t5() { t := p.pget(0) + fr(); fmt.Println(t) }
func t6() {
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
	x := K[0] + addr(&L)
	fmt.Println(x, L)
}
func t7() {
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
	x := s[s[0]] + addr(&L)
	fmt.Println(x, L)
}
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
	x := p.n + addr(&L)
	fmt.Println(x, L)
}
func t9() {
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
	fmt.Println(KM["a"] > 0 && FL() > 0 && KM["a"] > 2, KM["a"] == FL() || KM["a"] > 5)
}
func t10() { fmt.Println(g > 0 && f() > 0 && g > 2, g == f() || g > 5) }
func t11() { fmt.Println(s[s[0]] > 0 && fr() > 0 && s[s[0]] > 2, s[s[0]] == fr() || s[s[0]] > 5) }
func t12() {
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
	fmt.Println(any(Q.n) == any(FL()))
}
func t13() { fmt.Println(any(s[:2][0]) == any(f())) }
func t14() { fmt.Println(any(m["k"]) == any(fr())) }
func t15() {
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
	b := []int{}
	b = append(b, K[0], FL())
	fmt.Println(b)
}
func t16() { b := []int{}; b = append(b, (*p).n, f()); fmt.Println(b) }
func t17() { b := []int{}; b = append(b, s[s[0]], fr()); fmt.Println(b) }
func t18() {
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
	x := [2]int{KM["a"], FL()}
	fmt.Println(x)
}
func t19() { x := [2]int{s[:2][0], f()}; fmt.Println(x) }
func t20() { x := [2]int{s[s[0]], fr()}; fmt.Println(x) }
func t21() {
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
	Q.n, L = FL(), Q.n
	fmt.Println(Q.n, L)
}
func t22() {
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
	s[0], L = f(), s[0]
	fmt.Println(s[0], L)
}
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
	a[i0], L = fr(), a[i0]
	fmt.Println(a[i0], L)
}
func t24() {
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
	K[0], L = K[0], FL()
	fmt.Println(K[0], L)
}
func t25() {
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
	sp[0].n, L = sp[0].n, f()
	fmt.Println(sp[0].n, L)
}
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
	ss[i0].n, L = ss[i0].n, fr()
	fmt.Println(ss[i0].n, L)
}
func t27() {
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
	Q.n = FL()
	fmt.Println(Q.n)
}
func t28() { g = f(); fmt.Println(g) }
func t29() { p.n = fr(); fmt.Println(p.n) }
func t30() {
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
	x := 1
	x += K[0] + FL()
	fmt.Println(x)
}
func t31() { x := 1; x += gs.get(1) + f(); fmt.Println(x) }
func t32() { x := 1; x += gs.q.n + fr(); fmt.Println(x) }
func t33() {
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
	c := func() int { return Q.n }
	fmt.Println(c()+FL(), c())
}
func t34() { c := func() int { return gs.n }; fmt.Println(c()+f(), c()) }
func t35() { c := func() int { return *ip }; fmt.Println(c()+fr(), c()) }
func t36() {
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
	fmt.Println(string(rune(65+KS[0])) + strings.Repeat("x", FL()))
}
func t37() { fmt.Println(string(rune(65+p.pget(0))) + strings.Repeat("x", f())) }
func t38() { fmt.Println(string(rune(65+min(g, 9))) + strings.Repeat("x", fr())) }
func t39() {
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
	func() { defer hn(KS[0], FL()) }()
}
func t40() { func() { defer hn((*p).n, f()) }() }
func t41() { func() { defer hn(aa[0][0], fr()) }() }
func t42() { x := append(s[:1], s[0], f()); fmt.Println(x) }
func t43() { x := append(s[:1], s[0], fr()); fmt.Println(x) }
func t44() { s = append(s, s[0], len(s), f(), s[1]); fmt.Println(s) }
func t45() { s = append(s, s[0], len(s), fr(), s[1]); fmt.Println(s) }
func t46() { s = append(s, f()); fmt.Println(s) }
func t47() { s = append(s, fr()); fmt.Println(s) }
func t48() { a[i0] = f(); fmt.Println(a) }
func t49() { a[i0] = fr(); fmt.Println(a) }
func t50() { p, p.n = p.q, f(); fmt.Println(p.n) }
func t51() { p, p.n = p.q, fr(); fmt.Println(p.n) }
func t52() { s, s[0] = s[1:], f(); fmt.Println(s) }
func t53() { s, s[0] = s[1:], fr(); fmt.Println(s) }
func t54() { i0, s[i0] = 1, f(); fmt.Println(s, i0) }
func t55() { i0, s[i0] = 1, fr(); fmt.Println(s, i0) }
func t56() { s[i0], i0 = f(), g; fmt.Println(s, i0) }
func t57() { s[i0], i0 = fr(), g; fmt.Println(s, i0) }
func t58() { p.n, p = f(), p.q; fmt.Println(p.n) }
func t59() { p.n, p = fr(), p.q; fmt.Println(p.n) }
func t60() { fmt.Println(any0.(int) + f()) }
func t61() { fmt.Println(any0.(int) + fr()) }
func t62() { fmt.Println(string(bs) + fmt.Sprint(f())) }
func t63() { fmt.Println(string(bs) + fmt.Sprint(fr())) }
func t64() { fmt.Println(p.inc(p.n*2+p.k[0]), p.n) }
func t65() { fmt.Println(p.inc(p.n*2+p.k[0]), p.n) }
func t66() { gs.inc(gs.n); gs.inc(gs.n * 2); fmt.Println(gs.n) }
func t67() { gs.inc(gs.n); gs.inc(gs.n * 2); fmt.Println(gs.n) }
func t68() {
	N1 := N{n: 1}
	c := func() int { N1.n++; return N1.n }
	fmt.Println(N1.n, c(), N1.n+c(), N1, c())
	fmt.Println(N1.get(c()), N1.pget(c()))
}
func t69() {
	N1 := N{n: 1}
	c := func() int { N1.n++; return N1.n }
	fmt.Println(N1.n, c(), N1.n+c(), N1, c())
	fmt.Println(N1.get(c()), N1.pget(c()))
}
func t70() {
	v := []int{1, 2}
	c := func(x int) int { v[0] += x; return v[0] }
	fmt.Println(v[0]+c(1), c(v[0]), c(v[0]*2), v[0])
	v = append(v, c(v[1]), v[0])
	fmt.Println(v, c(v[0]+v[1]))
}
func t71() {
	v := []int{1, 2}
	c := func(x int) int { v[0] += x; return v[0] }
	fmt.Println(v[0]+c(1), c(v[0]), c(v[0]*2), v[0])
	v = append(v, c(v[1]), v[0])
	fmt.Println(v, c(v[0]+v[1]))
}
func t72() {
	v := [2]int{1, 2}
	c := func(x int) int { v[0] += x; return v[0] }
	fmt.Println(v[0]+c(1), c(v[0]), c(v[0]*2), v[0], v, c(1))
}
func t73() {
	v := [2]int{1, 2}
	c := func(x int) int { v[0] += x; return v[0] }
	fmt.Println(v[0]+c(1), c(v[0]), c(v[0]*2), v[0], v, c(1))
}
func t74() {
	a, b := 1, 2
	sw := func() int { a, b = b, a; return 1 }
	fmt.Println(a-b, sw(), a-b)
	x := a*10 + b + sw()
	fmt.Println(x)
}
func t75() {
	a, b := 1, 2
	sw := func() int { a, b = b, a; return 1 }
	fmt.Println(a-b, sw(), a-b)
	x := a*10 + b + sw()
	fmt.Println(x)
}
func t76() {
	acc := ""
	ad := func(t string) string { acc += t; return acc }
	fmt.Println(acc+ad("a")+acc, len(acc), ad("b"))
	acc = acc + ad(acc)
	fmt.Println(acc)
}
func t77() {
	acc := ""
	ad := func(t string) string { acc += t; return acc }
	fmt.Println(acc+ad("a")+acc, len(acc), ad("b"))
	acc = acc + ad(acc)
	fmt.Println(acc)
}
func t78() {
	cnt := 0
	next := func() int { cnt++; return cnt }
	arr := []int{next(), next(), cnt, next()}
	fmt.Println(arr, cnt)
	mm := map[int]int{next(): cnt, next(): cnt}
	fmt.Println(mm)
}
func t79() {
	cnt := 0
	next := func() int { cnt++; return cnt }
	arr := []int{next(), next(), cnt, next()}
	fmt.Println(arr, cnt)
	mm := map[int]int{next(): cnt, next(): cnt}
	fmt.Println(mm)
}
func t80() {
	fmt.Println(gs == id(func() N { f(); return gs }()), ga == func() [2]int { f(); return ga }())
}
func t81() {
	fmt.Println(gs == id(func() N { f(); return gs }()), ga == func() [2]int { f(); return ga }())
}
func t82()  { fmt.Println((g == 1) == (f() == 1)) }
func t83()  { fmt.Println((g == 1) == (fr() == 1)) }
func t84()  { fmt.Println(float64(g)/2 + float64(f())) }
func t85()  { fmt.Println(float64(g)/2 + float64(fr())) }
func t86()  { copy(s[f():], []int{s[0], 9}); fmt.Println(s) }
func t87()  { copy(s[fr():], []int{s[0], 9}); fmt.Println(s) }
func t88()  { fmt.Println(complex(float64(g), float64(f())), real(complex(fl, 2))+float64(f())) }
func t89()  { fmt.Println(complex(float64(g), float64(fr())), real(complex(fl, 2))+float64(fr())) }
func t90()  { func() { defer func(x, y int) { fmt.Println(x, y) }(g, f()) }() }
func t91()  { func() { defer func(x, y int) { fmt.Println(x, y) }(g, fr()) }() }
func t92()  { func() { defer fmt.Println(g, f()) }() }
func t93()  { func() { defer fmt.Println(g, fr()) }() }
func t94()  { fmt.Println(g/f(), 100%(g+f())) }
func t95()  { fmt.Println(g/fr(), 100%(g+fr())) }
func t96()  { fmt.Println(gs == N{n: f()}, ga == [2]int{f(), 2}, ga == a) }
func t97()  { fmt.Println(gs == N{n: fr()}, ga == [2]int{fr(), 2}, ga == a) }
func t98()  { x, err := strconv.Atoi(fmt.Sprint(g, f())); fmt.Println(x, err) }
func t99()  { x, err := strconv.Atoi(fmt.Sprint(g, fr())); fmt.Println(x, err) }
func t100() { fmt.Println(fv(f())) }
func t101() { fmt.Println(fv(fr())) }
func t102() { fmt.Println(gi.get(f())) }
func t103() { fmt.Println(gi.get(fr())) }
func t104() {
	var wg sync.WaitGroup
	wg.Add(1)
	go func(x, y int) { defer wg.Done(); fmt.Println(x, y) }(g, f())
	wg.Wait()
}
func t105() {
	var wg sync.WaitGroup
	wg.Add(1)
	go func(x, y int) { defer wg.Done(); fmt.Println(x, y) }(g, fr())
	wg.Wait()
}
func t106() { s[g], s[0] = f(), s[1]; fmt.Println(s) }
func t107() { s[g], s[0] = fr(), s[1]; fmt.Println(s) }
func t108() { s[i0] = f(); fmt.Println(s) }
func t109() { s[i0] = fr(); fmt.Println(s) }
func t110() { fmt.Println(s[g]+f(), a[g-1]+f(), p.k[g-1]+f()) }
func t111() { fmt.Println(s[g]+fr(), a[g-1]+fr(), p.k[g-1]+fr()) }
func t112() { fmt.Println(s[f()]+s[0], a[f()]+a[0]) }
func t113() { fmt.Println(s[fr()]+s[0], a[fr()]+a[0]) }
func t114() { fmt.Println(s[f()], a[f()], s[g+f()-2]) }
func t115() { fmt.Println(s[fr()], a[fr()], s[g+fr()-2]) }
func t116() { fmt.Println(len(s)+f(), cap(s)-f(), len(str)+f(), len(m)+f()) }
func t117() { fmt.Println(len(s)+fr(), cap(s)-fr(), len(str)+fr(), len(m)+fr()) }
func t118() { x := N{n: f(), k: ga}; fmt.Println(x.n, x.k) }
func t119() { x := N{n: fr(), k: ga}; fmt.Println(x.n, x.k) }
func t120() { x := N{k: ga, n: f()}; fmt.Println(x.n, x.k) }
func t121() { x := N{k: ga, n: fr()}; fmt.Println(x.n, x.k) }
func t122() { gs = N{n: gs.n, k: [2]int{f(), gs.k[0]}}; fmt.Println(gs.n, gs.k) }
func t123() { gs = N{n: gs.n, k: [2]int{fr(), gs.k[0]}}; fmt.Println(gs.n, gs.k) }
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
	for i, f := range []func(){t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16, t17, t18, t19, t20, t21, t22, t23, t24, t25, t26, t27, t28, t29, t30, t31, t32, t33, t34, t35, t36, t37, t38, t39, t40, t41, t42, t43, t44, t45, t46, t47, t48, t49, t50, t51, t52, t53, t54, t55, t56, t57, t58, t59, t60, t61, t62, t63, t64, t65, t66, t67, t68, t69, t70, t71, t72, t73, t74, t75, t76, t77, t78, t79, t80, t81, t82, t83, t84, t85, t86, t87, t88, t89, t90, t91, t92, t93, t94, t95, t96, t97, t98, t99, t100, t101, t102, t103, t104, t105, t106, t107, t108, t109, t110, t111, t112, t113, t114, t115, t116, t117, t118, t119, t120, t121, t122, t123} {
		run(i, f)
	}
}
