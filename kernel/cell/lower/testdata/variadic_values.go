package main

import "fmt"

type S struct {
	f func(...int) int
	g func(string, ...any)
}

func sum(xs ...int) (n int) {
	for _, x := range xs {
		n += x
	}
	return
}
func main() {
	s := S{f: sum}
	s.g = func(f string, a ...any) { fmt.Printf(f, a...) }
	s.g("%v %v\n", 1, s.f(1, 2, 3))
	fs := []func(...int) int{sum, nil}
	fmt.Println(fs[0](4, 5), fs[1] == nil)
	t := s
	t.f = func(xs ...int) int { return len(xs) }
	fmt.Println(s.f(7), t.f(7, 7))
}
