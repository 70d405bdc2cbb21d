package main

import (
	"fmt"
)

type T struct {
	n    int
	in   struct{ v int }
	a    [3]int
	head *T
}

var gp = &T{n: 1}

func h(k int) int           { gp = &T{n: 100}; return k }
func (t *T) push(v int) int { t.head = &T{n: v}; return v * 2 }
func (t T) Val(k int) int   { return t.n*1000 + k }
func (t *T) Inc(k int) int  { t.n += k; return t.n }
func main() {
	old := gp
	gp.n = h(7)
	fmt.Println(old.n, gp.n)
	old = gp
	gp.in.v = h(3)
	gp.a[1] = h(4)
	gp.a[h(1)] += h(5)
	fmt.Println(*old, *gp)
	l := &T{head: &T{}}
	l.head.n = l.push(2)
	fmt.Println(l.head.n)
	p := &T{n: 4}
	fmt.Println(p.Val(p.Inc(6)), p.n)
	s := []T{{n: 1}}
	fmt.Println(s[0].Val(s[0].Inc(5)))
	gt := T{n: 3}
	f := func(k int) int { gt.n += k; return k }
	r := gt.Val(f(8))
	fmt.Println(r, gt.Val(f(1)), *p, p.Inc(1))
	m := map[string]T{"a": {n: 1}}
	fm := func(k int) int { m["a"] = T{n: 9}; return k }
	fmt.Println(m["a"].Val(fm(2)), m["a"].n+fm(1))
}
