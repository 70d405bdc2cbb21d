package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

type G5 interface{ Get() int }
type P5 struct{ n int }

func (p *P5) Get() int { return p.n }
func try5(f func())    { defer func() { fmt.Println(recover()) }(); f() }
func main5() {
	var g G5
	try5(func() { h := g.Get; fmt.Println(h()) })
	try5(func() { f := g.(G5); fmt.Println(f) })
	try5(func() { _ = g.(G5) })
	var p *P5
	try5(func() { h := p.Get; fmt.Println(h()) })
	g = p
	try5(func() { h := g.Get; fmt.Println(h == nil); h() })
	var e error
	try5(func() { h := e.Error; fmt.Println(h()) })
	try5(func() { go e.Error() })
	try5(func() { defer g.Get() })
	var s fmt.Stringer
	try5(func() { fs := []func() string{s.String}; fmt.Println(len(fs)) })
}

type Temp7 interface {
	error
	Temporary() bool
}
type tmp7 struct{ s string }

func (t tmp7) Error() string   { return t.s }
func (t tmp7) Temporary() bool { return true }

type ptmp7 struct{ n int }

func (t *ptmp7) Error() string { return "p" }
func main7() {
	var t Temp7
	fmt.Println(errors.As(fmt.Errorf("w %w", tmp7{"t"}), &t))
	fmt.Println(t.Temporary(), t)
	var q *ptmp7
	fmt.Println(errors.As(errors.Join(tmp7{"a"}, &ptmp7{3}), &q), q.n)
	var u interface{ Temporary() bool }
	fmt.Println(errors.As(fmt.Errorf("a: %w", fmt.Errorf("b: %w", tmp7{"c"})), &u), u.Temporary())
	_, err := os.Open("/nope")
	var pe *fs.PathError
	fmt.Println(errors.As(err, &pe), pe.Op)
	var to interface{ Timeout() bool }
	fmt.Println(errors.As(err, &to), to.Timeout())
	var none interface{ Nope() }
	fmt.Println(errors.As(err, &none), none == nil)
	var te tmp7
	fmt.Println(errors.As(fmt.Errorf("x %w", tmp7{"val"}), &te), te.s)
	var ee error
	fmt.Println(errors.As(tmp7{"z"}, &ee), ee)
}

func main() {
	main5()
	main7()
}
