package main

import (
	"fmt"
	"math"
	"time"
)

type K struct {
	a int8
	s string
}
type I interface{ M() }
type A int

func (A) M() {}

type B struct{ x any }

func (B) M() {}
func main() {
	m := map[any]string{1: "int", int8(1): "int8", "1": "str", 1.0: "f", K{1, "k"}: "K", [2]int{1, 2}: "arr", A(1): "A", nil: "nil", true: "b", 'x': "r"}
	fmt.Println(len(m), m[1], m[int8(1)], m[1.0], m[K{1, "k"}], m[[2]int{1, 2}], m[A(1)], m[nil], m[int32('x')])
	mi := map[I]int{A(1): 1, B{2}: 2}
	fmt.Println(mi[A(1)], mi[B{2}], mi[B{3}])
	func() { defer func() { fmt.Println(recover()) }(); m[[]int{1}] = "x" }()
	func() { defer func() { fmt.Println(recover()) }(); mi[B{[]int{}}]++ }()
	mf := map[float64]int{math.NaN(): 1, 0: 2}
	mf[math.NaN()]++
	fmt.Println(len(mf), mf[math.Copysign(0, -1)])
	mp := map[*int]int{}
	x, y := 1, 1
	mp[&x]++
	mp[&y]++
	mp[&x]++
	fmt.Println(len(mp), mp[&x])
	mc := map[[2]string]map[K][]int{}
	mc[[2]string{"a", "b"}] = map[K][]int{{1, "z"}: {1, 2}}
	fmt.Println(mc)
	delete(m, K{1, "k"})
	fmt.Println(len(m))
	clear(mf)
	fmt.Println(len(mf))
	type S struct{ f float64 }
	ms := map[S]int{{math.NaN()}: 1}
	ms[S{math.NaN()}]++
	fmt.Println(len(ms))
	mcx := map[complex128]int{1 + 2i: 3}
	fmt.Println(mcx[complex(1, 2)])
	mt := map[time.Duration]string{time.Second: "s"}
	fmt.Println(mt[1000*time.Millisecond], mt)
	mch := map[chan int]bool{}
	c := make(chan int)
	mch[c] = true
	fmt.Println(mch[c], len(mch))
}
