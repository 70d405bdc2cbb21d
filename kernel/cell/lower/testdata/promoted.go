package main

import (
	"fmt"
)

type A struct {
	B
	c int
}
type B struct {
	*C
	D
}
type C struct{ x int }
type D struct{ y int }

func (c *C) Inc()        { c.x++ }
func (c C) Get() int     { return c.x }
func (d *D) Set(y int)   { d.y = y }
func (D) Static() string { return "static" }

type Incer interface {
	Inc()
	Get() int
}

func main() {
	a := A{B{&C{1}, D{2}}, 3}
	a.Inc()
	a.Set(7)
	fmt.Println(a.x, a.y, a.Get(), a.Static(), a.B.D.y)
	var i Incer = a
	i.Inc()
	fmt.Println(a.x, i.Get())
	var s interface{ Set(int) } = &a
	s.Set(9)
	fmt.Println(a.y)
	f := a.Set
	f(1)
	g := (*A).Set
	g(&a, 2)
	fmt.Println(a.y)
	h := A.Get
	fmt.Println(h(a))
	k := Incer.Inc
	k(i)
	fmt.Println(a.C.x)
	var z A
	func() { defer func() { fmt.Println(recover()) }(); z.Inc() }()
	m := map[string]A{"k": a}
	fmt.Println(m["k"].Get(), m["k"].B.D.y)
	as := []A{a}
	as[0].Set(77)
	fmt.Println(as[0].y, a.y)
	anon := struct {
		*A
		n int
	}{&a, 1}
	anon.Inc()
	fmt.Println(anon.Get(), anon.y)
}
