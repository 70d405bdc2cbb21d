package main

import (
	"fmt"
)

type V struct{ a int }
type N struct {
	s   []any
	m   map[string]any
	e   []error
	k   map[any]any
	p   *[]any
	arr [2]any
	st  []fmt.Stringer
	f   func()
}

func (v V) String() string { return fmt.Sprint("V", v.a) }
func (v V) Error() string  { return "E" }

type P struct{ a int }
type M struct {
	s   []any
	m   map[string]any
	k   map[any]any
	arr [2]any
	n   struct{ x []any }
}

func main() {
	fmt.Println(N{s: []any{V{2}}, m: map[string]any{"a": V{1}}, e: []error{V{2}}, k: map[any]any{V{1}: V{2}}, arr: [2]any{V{1}, 2}, st: []fmt.Stringer{V{3}}})
	fmt.Printf("%+v\n", M{s: []any{P{2}}, m: map[string]any{"a": P{1}}, k: map[any]any{P{1}: P{2}}, arr: [2]any{P{1}, 2}})
}
