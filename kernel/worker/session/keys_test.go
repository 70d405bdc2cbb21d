package session

import "testing"

// TestLiteralKeys: a key of a struct literal is a field's name, also where the cell declares a variable of that name; a key of
// a map or array literal is a value, the one that the name had before.
func TestLiteralKeys(t *testing.T) {
	for _, n := range []notebook{
		{"a field with the variable's name", []string{
			"type S struct{ n int }\nn := S{n: 2}\nn.n", "[int: 2]",
			"n := &S{n: 3}\nn.n", "[int: 3]",
			"n := []S{{n: 4}, {n: 5}}\nn[1].n", "[int: 5]",
			"n := map[string]*S{\"a\": {n: 6}}\nn[\"a\"].n", "[int: 6]",
			"s := S{n: 7}\nn := 8\ns.n + n", "[int: 15]",
			"type G[T any] struct{ v T }\nv := G[int]{v: 9}\nv.v", "[int: 9]",
			"x := struct{ x int }{x: 10}\nx.x", "[int: 10]",
			"Host := url.URL{Host: \"h\"}\nHost.Host", "[string: h]",
		}},
		{"a key that is a value", []string{
			"k := \"old\"", "",
			"k := map[string]int{k: 1}\nk", "[map[string]int: map[old:1]]",
			"type M map[any]int\nm := 7", "",
			"m := M{m: 1}\nfmt.Println(m)", "map[7:1]\n",
			"type L map[any]int\nq := L{q: 1}", "<CompileError cell 5, 2:8: undefined: q\n    q := L{q: 1}\n           ^\nq is declared only later in this cell, at 2:1>",
			"const i = 1\na := []string{i: \"b\"}\nlen(a)", "[int: 2]",
		}},
	} {
		t.Run(n.name, n.test)
	}
}
