package main

import "fmt"

type V struct{ a int }
type N struct{ s []any }
type B struct{ v any }
type M struct {
	m map[string]any
	n *N
}
type E struct{ S []any }

func (v V) String() string { return fmt.Sprint("V#", v.a) }

type W struct{ b int }

func main() {
	fmt.Println(N{[]any{[]any{V{2}}}}, B{[]any{V{3}}}, B{map[string]any{"d": []any{V{4}}}})
	fmt.Printf("%+v %+v\n", B{[]any{W{3}}}, N{[]any{map[string]any{"k": W{5}}, &[]any{W{1}} != nil}})
	fmt.Println(M{map[string]any{"x": [2]any{W{1}, V{2}}}, nil}, E{[]any{[]any{V{7}, W{8}}}})
	fmt.Printf("%+v\n", B{[]fmt.Stringer{V{1}}})
	fmt.Printf("%#v\n", B{[]any{W{3}, 1, "s"}})
	fmt.Println(B{struct{ x any }{W{1}}}, B{[]any{[]any{[]any{W{9}}}}})
}

type S2[T any] struct{ xs []T }

func init() {
	var s S2[map[string]any]
	s.xs = append(s.xs, map[string]any{"q": W{1}, "r": []int{1}})
	fmt.Printf("%v %+v\n", s, s)
	fmt.Printf("%v %d %s %q\n", B{[]any{1, "a", []string{"b"}}}, B{[]any{W{1}, 5}}, B{[]any{"x", W{2}}}, B{map[any]any{W{1}: []any{"k"}}})
	fmt.Printf("%#v\n", B{map[string][]any{"z": {W{3}, nil, &W{4} == nil}}})
	var e error
	fmt.Println(B{[]error{e}}, B{[]any{nil, []any(nil), map[string]any(nil)}})
}
