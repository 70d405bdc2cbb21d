package session

import "testing"

// TestCycles: values that contain themselves are printed and shown up to where they do.
func TestCycles(t *testing.T) {
	notebook{"cycles", []string{
		"mm := map[string]any{}\nmm[\"a\"] = mm\nmm", "[map[string]any: map[a:…]]",
		"fmt.Println(mm)\nfmt.Printf(\"%v %+v\\n\", mm, []any{mm, 1})\nfmt.Print(mm, \"\\n\")", "map[a:…]\nmap[a:…] [map[a:…] 1]\nmap[a:…]\n",
		"s := []any{1, nil}\ns[1] = s\ns", "[[]any: [1 …]]",
		"fmt.Sprint(s, &s)", "[string: [1 …] &[1 …]]",
		"type L []L\nl := make(L, 2)\nl[0], l[1] = l, l\nfmt.Println(l)\nl", "[… …]\n[L: [… …]]",
		"type M map[string]M\nm := M{}\nm[\"x\"] = M{\"y\": m}\nfmt.Println(m)\nm", "map[x:map[y:…]]\n[M: map[x:map[y:…]]]",
		"type R struct {\n\tN int\n\tm map[string]any\n}\nr := R{1, map[string]any{}}\nr.m[\"self\"] = r\nfmt.Printf(\"%+v %v\\n\", r, &r)\nr", "{N:1 m:map[self:{N:1 m:map[…:…]}]} &{1 map[self:{1 map[…:…]}]}\n[R: {1 map[self:{1 map[…:…]}]}]",
		"a := [1]any{}\na[0] = &a\nb := []any{a[0] == &a}\nb", "[[]any: [true]]",
		"d := []any{mm}\nd = append(d, d)\nfmt.Println(d...)", "map[a:…] [map[a:…]]\n",
		"fmt.Println(errors.New(\"plain\"), fmt.Errorf(\"of %v\", s))", "plain of [1 …]\n",
		"panic(mm)", "<Panic cell 11, 1:1: panic: (map[string]interface {}) map[a:…]\n    panic(mm)\n    ^>",
		"len(mm)", "[int: 1]",
	}}.test(t)
}

// TestHiddenFields: what fields that are not exported hold is printed under its true type.
func TestHiddenFields(t *testing.T) {
	notebook{"hidden fields", []string{
		"type P struct{ X, y int }\ntype RR struct {\n\tnext *RR\n\tm map[string]any\n\ts []any\n\te any\n}\nr := RR{m: map[string]any{\"p\": P{1, 2}}, s: []any{P{3, 4}, 5, nil}, e: P{6, 7}}\nfmt.Printf(\"%v %+v\\n\", r, r)",
		"{<nil> map[p:{1 2}] [{3 4} 5 <nil>] {6 7}} {next:<nil> m:map[p:{X:1 y:2}] s:[{X:3 y:4} 5 <nil>] e:{X:6 y:7}}\n",
		"fmt.Printf(\"%#v\\n\", r)", "main.RR{next:(*main.RR)(nil), m:map[string]interface {}{\"p\":main.P{X:1, y:2}}, s:[]interface {}{main.P{X:3, y:4}, 5, interface {}(nil)}, e:main.P{X:6, y:7}}\n",
		"type Q struct{ m map[string]any }\nq := Q{map[string]any{\"a\": 1, \"t\": time.Second, \"f\": 2.5, \"b\": []byte(\"hi\"), \"p\": P{8, 9}}}\nfmt.Printf(\"%v %d\\n\", q, q)",
		"{map[a:1 b:[104 105] f:2.5 p:{8 9} t:1000000000]} {map[%!d(string=a):1 %!d(string=b):[104 105] %!d(string=f):%!d(float64=2.5) %!d(string=p):{8 9} %!d(string=t):1000000000]}\n",
		"type N struct {\n\tm map[string]any\n\ts []any\n}\nn := N{m: map[string]any{\"p\": P{1, 2}}, s: []any{P{2, 3}}}\nfmt.Println(n)\nfmt.Printf(\"%+v %v\\n\", &n, []N{n})", "{map[p:{1 2}] [{2 3}]}\n&{m:map[p:{X:1 y:2}] s:[{X:2 y:3}]} [{map[p:{1 2}] [{2 3}]}]\n",
		"m := map[any]any{P{1, 2}: P{3, 4}}\nfmt.Println(struct{ h map[any]any }{m})", "{map[{1 2}:{3 4}]}\n",
		"w := struct{ e error }{fmt.Errorf(\"x: %w\", io.EOF)}\nfmt.Printf(\"%+v\\n\", w.e)", "x: EOF\n",
	}}.test(t)
}

// TestMethodsThatPanic: a panic's or error's text is given by a method that panics itself.
func TestMethodsThatPanic(t *testing.T) {
	notebook{"methods that panic", []string{
		"type E struct{ p *int }\nfunc (e E) Error() string { return fmt.Sprint(*e.p) }\ntype S struct{ p *int }\nfunc (s S) String() string { panic(s) }\nfunc fail() error { return E{} }", "",
		"panic(E{})", "<Panic cell 2, 1:1: panic: (main.E) whose method that gives its text panics: runtime error: invalid memory address or nil pointer dereference\n    panic(E{})\n    ^>",
		"fail()", "<Error cell 3, 1:1: (main.E) whose method that gives its text panics: runtime error: invalid memory address or nil pointer dereference\n    fail()\n    ^>",
		"panic(S{})", "<Panic cell 4, 1:1: panic: (main.S) whose method that gives its text panics: (main.S) whose method that gives its text panics: (main.S) whose method that gives its text panics: (main.S) whose method that gives its text panics\n    panic(S{})\n    ^>",
		"S{}", "[S: %!v(PANIC=String method: (main.S) whose method that gives its text panics)]",
		"1 + 1", "[int: 2]",
	}}.test(t)
}
