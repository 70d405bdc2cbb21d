package main

import (
	"fmt"
)

type Pipe chan int
type Rec chan Rec

func main() {
	c := make(chan int)
	close(c)
	_, ok := <-c
	fmt.Println(ok)
	p := make(Pipe, 1)
	p <- 4
	close(p)
	for v := range p {
		fmt.Println(v)
	}
	r := make(Rec)
	close(r)
	x, ok := <-r
	fmt.Println(x == nil, ok)
	try := func(f func()) { defer func() { e, ok := recover().(error); fmt.Println(e, ok) }(); f() }
	try(func() { close(c) })
	try(func() { var n chan string; close(n) })
	try(func() { defer close(c) })
	try(func() { c <- 1 })
	var so chan<- int = make(chan int)
	close(so)
	d := make(chan struct{})
	go func() { defer close(d) }()
	<-d
	try(func() { var n Pipe; close(n) })
	go close(make(chan bool))
}
