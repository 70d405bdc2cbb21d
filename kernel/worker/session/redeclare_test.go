package session

import "testing"

// TestRedeclare: what is declared again is used from then on, and what depends on it is compiled again.
func TestRedeclare(t *testing.T) {
	for _, n := range []notebook{
		{"variable, same type", []string{
			"x := 1\nfunc f() int { return x }", "",
			"g := func() int { return x * 10 }", "",
			"x := 2", "",
			"f(), g()", "[int: 2][int: 20]",
			"fmt.Println(f(), g())", "2 20\n",
			"count := 0\nnext := func() int { count++; return count }\nnext(), \"a\", next() * 10", "[int: 1][string: a][int: 20]",
			"next(), strconv.Atoi(\"x\"), next()", "<Error cell 7, 1:9: strconv.Atoi: parsing \"x\": invalid syntax\n    next(), strconv.Atoi(\"x\"), next()\n            ^>",
			"count, []float64{1.5}, stat.Mean([]float64{1, 2, 6}, nil)", "[int: 3][[]float64: [1.5]][float64: 3]",
			"next();", "",
			"x := x + 5\nx", "[int: 7]",
			"fmt.Println(f(), g())", "7 70\n",
		}},
		{"variable, other type", []string{
			"x := 1\nfunc f() string { return fmt.Sprint(x) + \"!\" }\nfunc h() string { return f() + \"?\" }", "",
			"h()", "[string: 1!?]",
			"x := \"a\"", "",
			"h()", "[string: a!?]",
			"x := len(x) + 40\nx", "[int: 41]",
			"h()", "[string: 41!?]",
			"x := strings.Repeat(\"ab\", 2)\nh()", "[string: abab!?]",
		}},
		{"variable whose new type its users do not accept", []string{
			"x := 1\nfunc f() int { return x + 1 }\nfunc g() int { return f() }", "",
			"x := \"a\"", "",
			"g()", "<CompileError cell 3, 1:1: g does not compile since cell 2, because f does not: cell 1, 2:23: invalid operation: x + 1 (mismatched types string and untyped int): mend it and run cell 1 again\n    g()\n    ^>",
		}},
		{"function", []string{
			"func f() int { return 1 }\nfunc g() int { return f() * 10 }", "",
			"g()", "[int: 10]",
			"func f() int { return 2 }", "",
			"g()", "[int: 20]",
			"func f(a int) int { return a }", "",
			"f(7)", "[int: 7]",
			"g()", "<CompileError cell 7, 1:1: g does not compile since cell 5: cell 1, 2:25: not enough arguments in call to f\n\thave ()\n\twant (int): mend it and run cell 1 again\n    g()\n    ^>",
			"func f() int { return 3 }", "",
			"g()", "[int: 30]",
			"func f() int { return g() }\nfunc g() int { return 4 }", "",
			"f()", "[int: 4]",
		}},
		{"type, unchanged", []string{
			"type T struct{ A int }\nfunc (t T) Get() int { return t.A }\nv := T{1}", "",
			"type T struct{ A int }\nfunc (t T) Get() int { return t.A }", "",
			"v.Get()", "[int: 1]",
			"var i any = v\n_, ok := i.(T)\nok", "[bool: true]",
		}},
		{"type with another shape", []string{
			"type T struct{ A int }\nfunc (t T) Get() int { return t.A }", "",
			"v := T{1}\nw := []T{{2}}\nn := 5", "",
			"type T struct{ A, B int }", "",
			"v", "<CompileError cell 4, 1:1: v is stale: cell 3 declared T again, after v was made: run cell 2 again to make it anew\n    v\n    ^>",
			"w[0]", "<CompileError cell 5, 1:1: w is stale: cell 3 declared T again, after w was made: run cell 2 again to make it anew\n    w[0]\n    ^>",
			"n", "[int: 5]",
			"v := T{1, 2}\nv.B", "[int: 2]",
		}},
		{"method added, changed and removed", []string{
			"type T struct{ A int }\nfunc (t T) Get() int { return t.A }", "",
			"v := T{3}\nvar i any = v\nm := map[string]T{\"k\": {4}}", "",
			"func (t T) String() string { return fmt.Sprint(\"T\", t.A) }", "",
			"v", "[T: T3]",
			"fmt.Println(v, i, m, v.Get())", "T3 T3 map[k:T4] 3\n",
			"func (t T) Get() int { return t.A * 100 }", "",
			"v.Get()", "[int: 300]",
			"i.(T).Get()", "[int: 300]",
			"i.(fmt.Stringer).String()", "[string: T3]",
			"func (t *T) Set(a int) { t.A = a }", "",
			"v.Set(9)\nfmt.Println(v)", "T9\n",
		}},
		{"type that others are made of", []string{
			"type P struct{ X int }\ntype Q struct{ P; N []P }\nfunc (p P) Double() int { return 2 * p.X }", "",
			"q := Q{P{1}, []P{{2}}}", "",
			"func (p P) Triple() int { return 3 * p.X }", "",
			"q.Triple() + q.N[0].Double()", "[int: 7]",
			"type P struct{ X float64 }", "",
			"q", "<CompileError cell 6, 1:1: q is stale: cell 5 declared P, Q again, after q was made: run cell 2 again to make it anew\n    q\n    ^>",
			"q := Q{P{1.5}, nil}\nq.Triple", "<CompileError cell 7, 2:3: undefined: q.Triple\n    q.Triple\n      ^\nmethod P.Triple does not compile since cell 5: cell 3, 1:34: cannot use 3 * p.X (value of type float64) as int value in return statement: mend it and run cell 3 again>",
		}},
	} {
		t.Run(n.name, n.test)
	}
}

// TestRedeclareMore: interfaces, generic types, constants, and names that become something else.
func TestRedeclareMore(t *testing.T) {
	for _, n := range []notebook{
		{"interface and generic", []string{
			"type S interface{ Area() float64 }\ntype C struct{ r float64 }\nfunc (c C) Area() float64 { return c.r }\nfunc Map[T, U any](xs []T, f func(T) U) []U {\n\tvar r []U\n\tfor _, x := range xs {\n\t\tr = append(r, f(x))\n\t}\n\treturn r\n}", "",
			"var s S = C{2}\ns.Area()", "[float64: 2]",
			"Map([]int{1, 2}, func(i int) string { return strconv.Itoa(i * 2) })", "[[]string: [2 4]]",
			"type L[T any] struct{ xs []T }\nfunc (l *L[T]) Add(x T) { l.xs = append(l.xs, x) }", "",
			"l := &L[S]{}\nl.Add(C{3})\nl.Add(s)\nlen(l.xs)", "[int: 2]",
			"func (l *L[T]) Len() int { return len(l.xs) }", "",
			"l.Len()", "[int: 2]",
			"Map(l.xs, func(s S) float64 { return s.Area() })", "[[]float64: [3 2]]",
		}},
		{"variable that something points to", []string{
			"type P struct{ N int }\nfunc (p *P) Add() { p.N++ }\nvar all []*P", "",
			"p := P{1}\nall = append(all, &p)", "",
			"p := P{2}\nall = append(all, &p)", "",
			"fmt.Println(all[0].N, all[1].N, len(all))", "1 2 2\n",
			"p.Add()\nfmt.Println(p.N, all[1].N)", "3 3\n",
			"func get() int { return p.N }\nvar arr [3]int\ns := arr[:]", "",
			"p := P{7}\nvar arr [3]int\narr[0] = 5\nfmt.Println(get(), s[0], all[1].N)", "7 0 3\n",
		}},
		{"names of Go's own", []string{
			"new := 5\nlen := func(s string) int { return 42 }\nlen(\"a\") + new", "[int: 47]",
			"var x int\nvar y [2]string\nx + new", "[int: 5]",
			"true := false\nnil := 3\ntrue, _ := strconv.ParseBool(\"0\")\nfmt.Println(true, nil)", "false 3\n",
		}},
		{"names of packages", []string{
			"fmt.Println(strings.ToUpper(\"a\"))", "A\n",
			"strings := []string{\"x\"}\nstrings[0]", "[string: x]",
			"fmt.Println(strings.ToUpper(\"a\"))", "<CompileError cell 3, 1:21: undefined: strings.ToUpper\n    fmt.Println(strings.ToUpper(\"a\"))\n                        ^\ntype []string has no field or method ToUpper>",
			"import \"strings\"\nfmt.Println(strings.ToUpper(\"a\"))", "A\n",
			"import (\n\t\"crypto/rand\"\n\tm \"math/rand\"\n)\nlen(rand.Text()) + m.Intn(1)", "[int: 26]",
			"func sum() int { return len(rand.Text()) }\nsum()", "[int: 26]",
			"import \"math/rand\"\nrand.Intn(1)", "[int: 0]",
			"sum()", "[int: 26]",
		}},
		{"constant", []string{
			"const n = 3\nconst (\n\ta = iota + n\n\tb\n)\nvar arr [n]int\nfunc f() int { return n * 10 }", "",
			"fmt.Println(f(), a, b, len(arr))", "30 3 4 3\n",
			"const n = 4", "",
			"fmt.Println(f(), a, b)", "40 4 5\n",
			"const a = 100", "",
			"fmt.Println(a, b)", "100 5\n",
		}},
		{"kinds change", []string{
			"x := 1\nfunc f() any { return x }", "",
			"func x() int { return 5 }", "",
			"x()", "[int: 5]",
			"f().(func() int)() + 1", "[int: 6]",
		}},
	} {
		t.Run(n.name, n.test)
	}
}

// TestReturnedErrors: a call at the top level whose last result is an error ends the cell with it.
func TestReturnedErrors(t *testing.T) {
	for _, n := range []notebook{
		{"errors", []string{
			"n := strconv.Atoi(\"12\")\nn", "[int: 12]",
			"m := strconv.Atoi(\"x\")\nfmt.Println(m)", "<Error cell 2, 1:6: strconv.Atoi: parsing \"x\": invalid syntax\n    m := strconv.Atoi(\"x\")\n         ^>",
			"m", "<CompileError cell 3, 1:1: m has no value: cell 2 failed before it gave it one\n    m\n    ^>",
			"func fail() error { return errors.New(\"no\") }\nfmt.Println(1)\nfail()\nfmt.Println(2)", "1\n<Error cell 4, 3:1: no\n    fail()\n    ^>",
			"err := fail()\nerr", "[error: no]",
			"_ = fail()", "",
			"n = strconv.Atoi(\"y\")", "<Error cell 7, 1:5: strconv.Atoi: parsing \"y\": invalid syntax\n    n = strconv.Atoi(\"y\")\n        ^>",
			"n", "[int: 0]",
			"func two() (int, string, error) { return 1, \"a\", nil }\ntwo()", "[int: 1][string: a]",
			"a, b := two()\nb", "[string: a]",
			"var c, d = two()\nd", "[string: a]",
			"var (\n\tg1 = 10\n\tg2, g3 = two()\n\tg4 int = strconv.Atoi(\"4\")\n)\nfmt.Println(g1, g2, g3, g4)", "10 1 a 4\n",
			"func h() { strconv.Atoi(\"z\") }\nh()", "",
			"if true { n := strconv.Atoi(\"1\"); _ = n }", "<CompileError cell 14, 1:16: assignment mismatch: 1 variable but strconv.Atoi returns 2 values\n    if true { n := strconv.Atoi(\"1\"); _ = n }\n                   ^>",
		}},
	} {
		t.Run(n.name, n.test)
	}
}

// TestPanics: a panic is shown where it was raised, and the session goes on.
func TestPanics(t *testing.T) {
	for _, n := range []notebook{
		{"panics", []string{
			"xs := []int{1}\ni := 3", "",
			"y := 1\nz := xs[i]", "<Panic cell 2, 2:8: panic: runtime error: index out of range [3] with length 1\n    z := xs[i]\n           ^>",
			"y", "[int: 1]",
			"z", "<CompileError cell 4, 1:1: z has no value: cell 2 failed before it gave it one\n    z\n    ^>",
			"func f() int {\n\tvar m map[string]int\n\tm[\"a\"] = 1\n\treturn 0\n}", "",
			"f()", "<Panic cell 5, 3:3: panic: assignment to entry in nil map\n    \tm[\"a\"] = 1\n    \t ^\ncell 6, 1:1: called here\n    f()\n    ^>",
			"panic(fmt.Sprint(\"a\", 1))", "<Panic cell 7, 1:1: panic: a1\n    panic(fmt.Sprint(\"a\", 1))\n    ^>",
			"x := 1\nos.Exit(3)", "<Exit Exit: os.Exit(3)>",
			"x", "[int: 1]",
			"x = 2\ny = len(strings.Repeat(\"a\", -x))", "<Panic cell 10, 2:9: panic: strings: negative Repeat count\n    y = len(strings.Repeat(\"a\", -x))\n            ^>",
			"var p *struct{ A int }\np.A", "<Panic cell 11, 2:3: panic: runtime error: invalid memory address or nil pointer dereference\n    p.A\n      ^>",
		}},
	} {
		t.Run(n.name, n.test)
	}
}
