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
	fmt.Println(modr(L, L+1))
}
func t1() { fmt.Println(modr(s[i0], s[i0]+1)) }
func t2() { fmt.Println(modr(mi[1], mi[1]+1)) }
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
	g = mod(Q.n, 2) + g
	fmt.Println(g)
}
func t4() { g = mod(p.k[i0], 2) + g; fmt.Println(g) }
func t5() { g = mod(g, 2) + g; fmt.Println(g) }
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
	mod(KS[0], 5)
	hv(KS[0], 5)
	hv(KS[0]+1, KS[0]*2)
	fmt.Println(KS[0])
}
func t7() { mod(g/1, 5); hv(g/1, 5); hv(g/1+1, g/1*2); fmt.Println(g / 1) }
func t8() {
	mod(s[1:][i0], 5)
	hv(s[1:][i0], 5)
	hv(s[1:][i0]+1, s[1:][i0]*2)
	fmt.Println(s[1:][i0])
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
	fmt.Println(FL() * KS[0] * FL())
}
func t10() { fmt.Println(f() * gs.k[0] * f()) }
func t11() { fmt.Println(fr() * *ip * fr()) }
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
	fmt.Println(hn(hn(K[0], 1), FL()))
}
func t13() { fmt.Println(hn(hn(*ip, 1), f())) }
func t14() { fmt.Println(hn(hn(int(bs[0]), 1), fr())) }
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
	Q.n += FL()
	fmt.Println(Q.n)
}
func t16() { sp[0].n += f(); fmt.Println(sp[0].n) }
func t17() { pa[i0] += fr(); fmt.Println(pa[i0]) }
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
	L += mod(L, 3)
	fmt.Println(L)
}
func t19() { aa[0][0] += mod(aa[0][0], 3); fmt.Println(aa[0][0]) }
func t20() { *ip += mod(*ip, 3); fmt.Println(*ip) }
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
	L = modr(L, L)
	fmt.Println(L)
}
func t22() { gs.n = modr(gs.n, gs.n); fmt.Println(gs.n) }
func t23() { s[0] = modr(s[0], s[0]); fmt.Println(s[0]) }
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
	L = mod(L, 1)
	fmt.Println(L)
}
func t25() { p.q.n = mod(p.q.n, 1); fmt.Println(p.q.n) }
func t26() { gs.n = mod(gs.n, 1); fmt.Println(gs.n) }
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
	L /= FL()
	L <<= FL()
	L %= FL() + 6
	fmt.Println(L)
}
func t28() { aa[0][0] /= f(); aa[0][0] <<= f(); aa[0][0] %= f() + 6; fmt.Println(aa[0][0]) }
func t29() { gs.n /= fr(); gs.n <<= fr(); gs.n %= fr() + 6; fmt.Println(gs.n) }
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
	Q.n -= FL() * 2
	fmt.Println(Q.n)
}
func t31() { p.n -= f() * 2; fmt.Println(p.n) }
func t32() { sp[0].n -= fr() * 2; fmt.Println(sp[0].n) }
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
	x, y := KM["a"], FL()
	fmt.Println(x, y)
}
func t34() { x, y := a[a[1]], f(); fmt.Println(x, y) }
func t35() { x, y := len(s), fr(); fmt.Println(x, y) }
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
	fmt.Println(FL(), K[0])
}
func t37() { fmt.Println(f(), len(s)) }
func t38() { fmt.Println(fr(), gs.k[i0]) }
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
	fmt.Println(Q.n, FL(), Q.n)
}
func t40() { fmt.Println(pa[0], f(), pa[0]) }
func t41() { fmt.Println(s[0]%7, fr(), s[0]%7) }
func t42() {
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
	fmt.Println(KS[0], FL())
}
func t43() { fmt.Println(gs.get(1), f()) }
func t44() { fmt.Println(ss[i0].n, fr()) }
func t45() {
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
	x := &N{n: Q.n, k: [2]int{FL(), 1}}
	fmt.Println(x.n, x.k)
}
func t46() { x := &N{n: mi[i0], k: [2]int{f(), 1}}; fmt.Println(x.n, x.k) }
func t47() { x := &N{n: a[0], k: [2]int{fr(), 1}}; fmt.Println(x.n, x.k) }
func t48() {
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
	fmt.Println(func() int { return Q.n + FL() }())
}
func t49() { fmt.Println(func() int { return aa[0][0] + f() }()) }
func t50() { fmt.Println(func() int { return p.k[0] + fr() }()) }
func t51() {
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
	x, y := func() (int, int) { return K[0], FL() }()
	fmt.Println(x, y)
}
func t52() { x, y := func() (int, int) { return s[:2][0], f() }(); fmt.Println(x, y) }
func t53() { x, y := func() (int, int) { return g, fr() }(); fmt.Println(x, y) }
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
	Q.n = Q.n + FL()
	fmt.Println(Q.n)
}
func t55() { ss[i0].n = ss[i0].n + f(); fmt.Println(ss[i0].n) }
func t56() { p.n = p.n + fr(); fmt.Println(p.n) }
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
	ch <- KM["a"] + FL()
	fmt.Println(<-ch)
}
func t58() { ch <- s[g] + f(); fmt.Println(<-ch) }
func t59() { ch <- gs.q.n + fr(); fmt.Println(<-ch) }
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
	fmt.Println([]int{Q.n, FL()})
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
	for i, f := range []func(){t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16, t17, t18, t19, t20, t21, t22, t23, t24, t25, t26, t27, t28, t29, t30, t31, t32, t33, t34, t35, t36, t37, t38, t39, t40, t41, t42, t43, t44, t45, t46, t47, t48, t49, t50, t51, t52, t53, t54, t55, t56, t57, t58, t59, t60} {
		run(i, f)
	}
}
