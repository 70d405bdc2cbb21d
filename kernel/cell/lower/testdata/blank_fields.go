package main

import (
	"fmt"
)

type U struct {
	_ int
	v int
	_ string
}
type V struct {
	_ [2]int
	U
	_ struct{ a int }
}

func side(s string) int { fmt.Println(s); return 1 }
func main() {
	a, b := U{1, 2, "x"}, U{v: 2}
	fmt.Println(a == b, any(a) == any(b), a, fmt.Sprintf("%+v", a))
	m := map[U]int{a: 1}
	fmt.Println(m[b], [2]U{a, b} == [2]U{b, a})
	x := V{[2]int{1, 2}, a, struct{ a int }{4}}
	y := V{U: b}
	fmt.Println(x == y, any(x) == any(y), x)
	mm := map[any]int{x: 5}
	fmt.Println(mm[y])
	type W struct {
		_ int
		v int
		_ string
	}
	fmt.Println(W(a) == W(b), W(a))
	q := 3
	p := &U{6 * 2, side("two"), "w"}
	_ = q
	fmt.Println(*p == U{v: 1})
	switch any(a) {
	case any(b):
		fmt.Println("same")
	}
	ch := make(chan U, 1)
	ch <- a
	fmt.Println(<-ch == b)
	s := []U{{1, 2, "z"}, {3, 4, "q"}}
	fmt.Println(s[0] == b, s)
	type E struct{ _, _ int }
	fmt.Println(E{1, 2} == E{3, 4}, map[E]int{E{1, 1}: 1, E{2, 2}: 2}[E{}])
}
