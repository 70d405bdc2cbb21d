package main

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
)

type Num interface{ ~int | ~int64 | ~float64 }
type Vec[T Num] []T

func (v Vec[T]) Dot(w Vec[T]) (s T) {
	for i := range v {
		s += v[i] * w[i]
	}
	return
}
func Map[T, U any](xs []T, f func(T) U) []U {
	r := make([]U, 0, len(xs))
	for _, x := range xs {
		r = append(r, f(x))
	}
	return r
}

type Pair[K comparable, V any] struct {
	K K
	V V
}

func (p Pair[K, V]) String() string { return fmt.Sprintf("<%v=%v>", p.K, p.V) }

type Tree[T cmp.Ordered] struct {
	l, r *Tree[T]
	v    T
}

func (t *Tree[T]) Insert(v T) *Tree[T] {
	if t == nil {
		return &Tree[T]{v: v}
	}
	if v < t.v {
		t.l = t.l.Insert(v)
	} else {
		t.r = t.r.Insert(v)
	}
	return t
}
func (t *Tree[T]) All() iter.Seq[T]         { return func(y func(T) bool) { t.push(y) } }
func (t *Tree[T]) push(y func(T) bool) bool { return t == nil || t.l.push(y) && y(t.v) && t.r.push(y) }

type MyInt int

func main() {
	fmt.Println(Vec[float64]{1, 2}.Dot(Vec[float64]{3, 4}), Vec[MyInt]{2}.Dot(Vec[MyInt]{5}))
	fmt.Println(Map([]int{1, 2}, func(i int) Pair[int, string] { return Pair[int, string]{i, strings.Repeat("x", i)} }))
	var t *Tree[string]
	for _, s := range strings.Fields("the quick brown fox jumps") {
		t = t.Insert(s)
	}
	for s := range t.All() {
		if s > "q" {
			break
		}
		fmt.Print(s, " ")
	}
	fmt.Println(slices.Collect(t.All()))
	fmt.Printf("%T %T %v\n", Pair[string, []MyInt]{}, t, Pair[MyInt, *int]{})
}
