package main

import "fmt"

type T struct {
	n    int
	next *T
	vals []int
	arr  [2]int
}

var g = 1
var arr = []int{1, 2, 3}
var m = map[string]int{"a": 1}
var st = T{n: 1}

func bump() int       { g *= 10; return g }
func setArr() int     { arr[0] = 100; arr = append(arr, 4); return 1 }
func setM() int       { m["a"] = 50; return 1 }
func (t *T) inc() int { t.n++; return t.n }
func (t T) val() int  { return t.n }
func swapSt() int     { st = T{n: 77, arr: [2]int{5, 6}}; return 1 }

func fib(n int, memo map[int]int) int {
	if n < 2 {
		return n
	}
	if v, ok := memo[n]; ok {
		return v
	}
	memo[n] = fib(n-1, memo) + fib(n-2, memo)
	return memo[n]
}

func fibs(n int, memo []int) int {
	if n < 2 {
		return n
	}
	if memo[n] != 0 {
		return memo[n]
	}
	memo[n] = fibs(n-1, memo) + fibs(n-2, memo)
	return memo[n]
}

func main() {
	x := g + bump()
	y := bump() + g
	z := g*2 + bump() + g
	fmt.Println(x, y, z)
	fmt.Println(g, bump(), g)
	a := 0
	_ = a
	fmt.Println(a, arr)
	b := m["a"] + setM()
	fmt.Println(b, m)
	t := &T{n: 5}
	_ = t

	s := 0
	_ = s

	c := st.n + swapSt() + st.arr[1]
	fmt.Println(c)
	i := 0
	next := func() int { i++; return i }
	r := 0
	_ = r
	fmt.Println(i+next(), next()-i)
	p := &i
	*p, i = 7, next()+*p
	fmt.Println(i)
	if g < bump() && g > 100 {
		fmt.Println("if", g)
	}
	switch g + bump() {
	case 0:
	default:
		fmt.Println("sw", g)
	}
	mm := map[int]int{}
	fmt.Println(len(mm))
	ret := func() (int, int) { return i, next() }
	fmt.Println(ret())
	fmt.Println(fib(20, map[int]int{}), fibs(20, make([]int, 21)))
	type pair struct{ a, b int }

	str := "a"
	add := func(s string) string { str += s; return str }
	fmt.Println(str + add("b") + str)
	var iface any = i
	fmt.Println(iface, next(), iface == any(i))
	arr2 := [3]int{1, 2, 3}
	mod := func() int { arr2[1] = 9; return 0 }
	fmt.Println(arr2, mod(), arr2)
	fmt.Println(arr2[1]+mod(), len(arr2))
	ch := make(chan int, 3)
	ch <- 1
	ch <- 2
	fmt.Println(<-ch-<-ch, len(ch))
	for j := 0; j < 3; j, i = j+1, i+next() {
	}
	fmt.Println(i)
}
