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
func t0()                    { p = &N{n: p.n + f(), q: p}; fmt.Println(p.n, p.q.n) }
func t1()                    { p = &N{n: p.n + fr(), q: p}; fmt.Println(p.n, p.q.n) }
func t2()                    { fmt.Println([]N{{n: g}, {n: f()}, {n: g}}) }
func t3()                    { fmt.Println([]N{{n: g}, {n: fr()}, {n: g}}) }
func t4()                    { mi[g] = f(); fmt.Println(mi) }
func t5()                    { mi[g] = fr(); fmt.Println(mi) }
func t6()                    { mi[f()] = mi[1]; fmt.Println(mi) }
func t7()                    { mi[fr()] = mi[1]; fmt.Println(mi) }
func t8()                    { mi[g], mi[f()] = g, mi[0]; fmt.Println(mi) }
func t9()                    { mi[g], mi[fr()] = g, mi[0]; fmt.Println(mi) }
func t10()                   { fmt.Println(ss[0].get(f()), ss[i0].get(f())) }
func t11()                   { fmt.Println(ss[0].get(fr()), ss[i0].get(fr())) }
func t12()                   { fmt.Println(p.get(f()), p.pget(f())) }
func t13()                   { fmt.Println(p.get(fr()), p.pget(fr())) }
func t14()                   { fmt.Println(gs.get(f())) }
func t15()                   { fmt.Println(gs.get(fr())) }
func t16()                   { fmt.Println(min(g, 5)+f(), max(g, f())) }
func t17()                   { fmt.Println(min(g, 5)+fr(), max(g, fr())) }
func t18()                   { x := map[int]int{g: f(), f(): g}; fmt.Println(len(x), x) }
func t19()                   { x := map[int]int{g: fr(), fr(): g}; fmt.Println(len(x), x) }
func t20()                   { fmt.Println(mp["k"].get(f()), mp["k"].pget(f())) }
func t21()                   { fmt.Println(mp["k"].get(fr()), mp["k"].pget(fr())) }
func t22()                   { b := g == 1 && !(f() == 2) && g == 2; fmt.Println(b) }
func t23()                   { b := g == 1 && !(fr() == 2) && g == 2; fmt.Println(b) }
func t24()                   { defer func() { fmt.Println(recover()) }(); panic(fmt.Sprint(g, f())) }
func t25()                   { defer func() { fmt.Println(recover()) }(); panic(fmt.Sprint(g, fr())) }
func t26()                   { p.n = f(); fmt.Println(p.n) }
func t27()                   { p.n = fr(); fmt.Println(p.n) }
func t28()                   { p.q.n = f(); fmt.Println(p.q.n) }
func t29()                   { p.q.n = fr(); fmt.Println(p.q.n) }
func t30() {
	for i, x := range s[:f()+1] {
		fmt.Println(i, x, s[0])
	}
}
func t31() {
	for i, x := range s[:fr()+1] {
		fmt.Println(i, x, s[0])
	}
}
func t32() {
	var fib func(int) int
	n := 0
	fib = func(k int) int {
		n++
		if k < 2 {
			return k
		}
		return fib(k-1) + fib(k-2) + 0*n
	}
	fmt.Println(fib(9), n)
	fmt.Println(n, fib(3))
}
func t33() {
	var fib func(int) int
	n := 0
	fib = func(k int) int {
		n++
		if k < 2 {
			return k
		}
		return fib(k-1) + fib(k-2) + 0*n
	}
	fmt.Println(fib(9), n)
	fmt.Println(n, fib(3))
}
func t34() { ch <- 5; fmt.Println(g + <-ch + f()) }
func t35() { ch <- 5; fmt.Println(g + <-ch + fr()) }
func t36() {
	for i := range g + f() {
		fmt.Print(i)
	}
	fmt.Println()
}
func t37() {
	for i := range g + fr() {
		fmt.Print(i)
	}
	fmt.Println()
}
func t38() {
	select {
	case ch <- g + f():
	}
	fmt.Println(<-ch)
}
func t39() {
	select {
	case ch <- g + fr():
	}
	fmt.Println(<-ch)
}
func t40() { fmt.Println(g<<f(), 64>>f()>>g) }
func t41() { fmt.Println(g<<fr(), 64>>fr()>>g) }
func t42() { x := s[f():g]; fmt.Println(x) }
func t43() { x := s[fr():g]; fmt.Println(x) }
func t44() { x := s[g : f()+2]; fmt.Println(x) }
func t45() { x := s[g : fr()+2]; fmt.Println(x) }
func t46() { str += fmt.Sprint(f(), str); fmt.Println(str) }
func t47() { str += fmt.Sprint(fr(), str); fmt.Println(str) }
func t48() { str = str + strings.Repeat(str, f()) + str; fmt.Println(str) }
func t49() { str = str + strings.Repeat(str, fr()) + str; fmt.Println(str) }
func t50() { fmt.Println(str + fmt.Sprint(f()) + str) }
func t51() { fmt.Println(str + fmt.Sprint(fr()) + str) }
func t52() { fmt.Println(str == "t"+strings.Repeat("!", f()), str < strings.Repeat("t", f())) }
func t53() { fmt.Println(str == "t"+strings.Repeat("!", fr()), str < strings.Repeat("t", fr())) }
func t54() {
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
	fmt.Println(KM["a"] == FL(), KM["a"] < FL(), FL() >= KM["a"])
}
func t55() { fmt.Println(p.k[i0] == f(), p.k[i0] < f(), f() >= p.k[i0]) }
func t56() { fmt.Println(mp["k"].n == fr(), mp["k"].n < fr(), fr() >= mp["k"].n) }
func t57() {
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
	t := Q.n*2 - FL()
	u := -Q.n + FL()
	w := float64(Q.n) / float64(FL())
	fmt.Println(t, u, w)
}
func t58() {
	t := int(fl)*2 - f()
	u := -int(fl) + f()
	w := float64(int(fl)) / float64(f())
	fmt.Println(t, u, w)
}
func t59() {
	t := *ip*2 - fr()
	u := -*ip + fr()
	w := float64(*ip) / float64(fr())
	fmt.Println(t, u, w)
}
func t60() {
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
	fmt.Println(id(KS[0])+FL(), id(KS[0]+FL()))
}
func t61() { fmt.Println(id(ms[N{}])+f(), id(ms[N{}]+f())) }
func t62() { fmt.Println(id(g/1)+fr(), id(g/1+fr())) }
func t63() {
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
	fmt.Println(h(KS[0], FL()))
}
func t64() { fmt.Println(h(ss[0].n, f())) }
func t65() { fmt.Println(h(mp["k"].n, fr())) }
func t66() {
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
	fmt.Println(ha(KM["a"], FL()))
}
func t67() { fmt.Println(ha(mp["k"].n, f())) }
func t68() { fmt.Println(ha(gs.q.n, fr())) }
func t69() {
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
	fmt.Println(hn(FL(), KS[0]))
}
func t70() { fmt.Println(hn(f(), s[0])) }
func t71() { fmt.Println(hn(fr(), a[0])) }
func t72() {
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
	fmt.Println(hn(L, FL()))
}
func t73() { fmt.Println(hn(s[s[0]], f())) }
func t74() { fmt.Println(hn(int(bs[0]), fr())) }
func t75() {
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
	fmt.Println(hv(KM["a"]))
}
func t76() { fmt.Println(hv(aa[0][0])) }
func t77() { fmt.Println(hv(s[:2][0])) }
func t78() {
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
	fmt.Println(hv(K[0], FL(), K[0]))
}
func t79() { fmt.Println(hv(gs.q.n, f(), gs.q.n)) }
func t80() { fmt.Println(hv(sp[0].n, fr(), sp[0].n)) }
func t81() {
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
	fmt.Println(hv(KM["a"], 5))
}
func t82() { fmt.Println(hv(ss[0].n, 5)) }
func t83() { fmt.Println(hv(cap(s), 5)) }
func t84() {
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
	b := make([]int, 200)
	b[Q.n] = FL()
	for i, x := range b {
		if x != 0 {
			fmt.Println(i, x)
		}
	}
}
func t85() {
	b := make([]int, 200)
	b[m["k"]] = f()
	for i, x := range b {
		if x != 0 {
			fmt.Println(i, x)
		}
	}
}
func t86() {
	b := make([]int, 200)
	b[gs.k[i0]] = fr()
	for i, x := range b {
		if x != 0 {
			fmt.Println(i, x)
		}
	}
}
func t87() {
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
	if KM["a"] < FL()+1 {
		fmt.Println("lt")
	} else {
		fmt.Println("ge")
	}
}
func t88() {
	if ss[0].n < f()+1 {
		fmt.Println("lt")
	} else {
		fmt.Println("ge")
	}
}
func t89() {
	if p.k[0] < fr()+1 {
		fmt.Println("lt")
	} else {
		fmt.Println("ge")
	}
}
func t90() {
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
	L++
	L = L*2 + FL()
	fmt.Println(L)
}
func t91() { gs.n++; gs.n = gs.n*2 + f(); fmt.Println(gs.n) }
func t92() { gs.n++; gs.n = gs.n*2 + fr(); fmt.Println(gs.n) }
func t93() {
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
	b := map[int]int{}
	b[KM["a"]] = FL()
	fmt.Println(b)
}
func t94() { b := map[int]int{}; b[a[0]] = f(); fmt.Println(b) }
func t95() { b := map[int]int{}; b[aa[0][0]] = fr(); fmt.Println(b) }
func t96() {
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
	b := map[int]int{}
	b[FL()] = KM["a"]
	fmt.Println(b)
}
func t97() { b := map[int]int{}; b[f()] = gs.k[0]; fmt.Println(b) }
func t98() { b := map[int]int{}; b[fr()] = g; fmt.Println(b) }
func t99() {
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
	fmt.Println(map[string]int{"a": KS[0], "b": FL()})
}
func t100() { fmt.Println(map[string]int{"a": p.k[0], "b": f()}) }
func t101() { fmt.Println(map[string]int{"a": s[i0], "b": fr()}) }
func t102() {
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
	x := &N{n: 3}
	fmt.Println(x.inc(KM["a"]), x.inc(KM["a"]*2), x.n)
}
func t103() { x := &N{n: 3}; fmt.Println(x.inc(ss[i0].n), x.inc(ss[i0].n*2), x.n) }
func t104() { x := &N{n: 3}; fmt.Println(x.inc(mi[1]), x.inc(mi[1]*2), x.n) }
func t105() {
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
	fmt.Println(mod(L*2, 5))
}
func t106() { fmt.Println(mod(int(fl)*2, 5)) }
func t107() { fmt.Println(mod(cap(s)*2, 5)) }
func t108() {
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
	fmt.Println(mod(KS[0]+KS[0], KS[0]))
}
func t109() { fmt.Println(mod(gs.k[0]+gs.k[0], gs.k[0])) }
func t110() { fmt.Println(mod(int(bs[0])+int(bs[0]), int(bs[0]))) }
func t111() {
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
	fmt.Println(mod(L, 5))
}
func t112() { fmt.Println(mod(len(str), 5)) }
func t113() { fmt.Println(mod(p.k[i0], 5)) }
func t114() {
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
	fmt.Println(mod(Q.n, mod(Q.n, 1)))
}
func t115() { fmt.Println(mod(cap(s), mod(cap(s), 1))) }
func t116() { fmt.Println(mod(s[s[0]], mod(s[s[0]], 1))) }
func t117() {
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
	fmt.Println(L + mod(L, 1))
}
func t118() { fmt.Println(ms[N{}] + mod(ms[N{}], 1)) }
func t119() { fmt.Println(m["k"] + mod(m["k"], 1)) }
func t120() {
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
	fmt.Println(mod(K[0], 1) + K[0])
}
func t121() { fmt.Println(mod(p.k[0], 1) + p.k[0]) }
func t122() { fmt.Println(mod(cap(s), 1) + cap(s)) }
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
	for i, f := range []func(){t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16, t17, t18, t19, t20, t21, t22, t23, t24, t25, t26, t27, t28, t29, t30, t31, t32, t33, t34, t35, t36, t37, t38, t39, t40, t41, t42, t43, t44, t45, t46, t47, t48, t49, t50, t51, t52, t53, t54, t55, t56, t57, t58, t59, t60, t61, t62, t63, t64, t65, t66, t67, t68, t69, t70, t71, t72, t73, t74, t75, t76, t77, t78, t79, t80, t81, t82, t83, t84, t85, t86, t87, t88, t89, t90, t91, t92, t93, t94, t95, t96, t97, t98, t99, t100, t101, t102, t103, t104, t105, t106, t107, t108, t109, t110, t111, t112, t113, t114, t115, t116, t117, t118, t119, t120, t121, t122} {
		run(i, f)
	}
}
