package main

import "fmt"

type T struct{ name string }

func (t T) Recover()   { fmt.Println(t.name, "value", recover()) }
func (t *T) PRecover() { fmt.Println(t.name, "ptr", recover()) }

type R interface{ Recover() }
type E struct{ T }
type EP struct{ *T }

func helper() any { return recover() }

func try(name string, f func()) {
	defer func() { fmt.Println(name, "outer", recover()) }()
	f()
}

func main() {
	t := T{"t"}
	try("method", func() { defer t.Recover(); panic(1) })
	try("pmethod", func() { defer t.PRecover(); panic(2) })
	try("iface", func() { var r R = t; defer r.Recover(); panic(3) })
	try("promoted", func() { e := E{t}; defer e.Recover(); panic(4) })
	try("promotedptr", func() { e := EP{&t}; defer e.PRecover(); panic(5) })
	try("promotediface", func() { var r R = E{t}; defer r.Recover(); panic(6) })
	try("methodvalue", func() { f := t.Recover; defer f(); panic(7) })
	try("ifacevalue", func() { var r R = &t; f := r.Recover; defer f(); panic(8) })
	try("methodexpr", func() { defer T.Recover(t); panic(9) })
	try("helper", func() { defer func() { fmt.Println("h", helper()) }(); panic(10) })
	try("helper2", func() { defer helper(); panic(11) })
	try("funcvalue", func() { f := func() { fmt.Println("fv", recover()) }; g := f; defer g(); panic(12) })
	try("funcvalue helper", func() { fs := []func(){func() { fmt.Println("fvh", helper()) }}; defer fs[0](); panic(13) })
	try("nested", func() { defer func() { func() { fmt.Println("n", recover()) }() }(); panic(14) })
	try("deep", func() { func() { func() { panic(15) }() }() })
	try("loop", func() {
		for i := range 3 {
			func() {
				defer func() { fmt.Print("l", i, recover(), " ") }()
				panic(i)
			}()
		}
		fmt.Println()
	})
	try("recursive", func() { fmt.Println(rec(50)) })
	try("repanic", func() {
		defer func() { r := recover(); panic(fmt.Sprint("re ", r)) }()
		panic("x")
	})
	try("generic", func() { defer catch[int]("g"); panic(16) })
	try("ptrwrap", func() { var p *T; defer p.Recover(); panic(17) })
	try("iter", func() {
		for x := range func(yield func(int) bool) { defer func() { fmt.Println("it", recover()) }(); yield(1) } {
			panic(x)
		}
	})
}

func catch[T any](s string) { fmt.Println(s, recover()) }

func rec(n int) (r int) {
	defer func() {
		if e := recover(); e != nil {
			r = e.(int) + 1
			if r < 50 {
				panic(r)
			}
		}
	}()
	if n == 0 {
		panic(0)
	}
	return rec(n-1) + 1000
}
