package main

import (
	"errors"
	"fmt"
	"os"
)

func div(a, b int) (q int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err, _ = r.(error)
		}
	}()
	return a / b, nil
}
func nested() (s []string) {
	defer func() { s = append(s, "outer:"+fmt.Sprint(recover())) }()
	func() {
		defer func() { s = append(s, "inner:"+fmt.Sprint(recover())); panic("again") }()
		panic("first")
	}()
	return
}

type res struct {
	name string
	log  *[]string
}

func open(n string, l *[]string) *res { *l = append(*l, "open "+n); return &res{n, l} }
func (r *res) Close() error           { *r.log = append(*r.log, "close "+r.name); return nil }
func use(l *[]string) (err error) {
	a := open("a", l)
	defer a.Close()
	for i := range 2 {
		b := open(fmt.Sprint("b", i), l)
		defer func() { err = errors.Join(err, b.Close()) }()
	}
	return errors.New("mid")
}
func loop() int {
	for i := 0; ; i++ {
		if r := func() (r int) {
			defer func() {
				if recover() != nil {
					r = i
				}
			}()
			if i == 3 {
				panic(1)
			}
			return -1
		}(); r >= 0 {
			return r
		}
	}
}
func named() (a, b int) { defer func(x int) { a += x; b = a * 2 }(a + 1); a = 10; return a + 1, 5 }
func gox() string       { defer func() { recover() }(); panic(fmt.Errorf("w: %w", os.ErrNotExist)) }
func main() {
	fmt.Println(div(1, 0))
	fmt.Println(div(7, 2))
	fmt.Println(nested())
	var l []string
	fmt.Println(use(&l), l)
	fmt.Println(loop())
	fmt.Println(named())
	fmt.Printf("%q\n", gox())
	defer fmt.Println("deferred 1")
	defer func() {
		if r := recover(); r != nil {
			fmt.Println("main", r)
			var e error
			if errors.As(r.(error), &e) {
				fmt.Println(e)
			}
		}
	}()
	var arr [3]int
	idx := 5
	func() { defer func() { fmt.Println(recover()) }(); arr[idx%len(arr)+1] = 1; s := arr[:]; _ = s[idx:] }()
	var s []int
	_ = s[:0:0]
	panic(fmt.Errorf("final %d", len(s)))
}
