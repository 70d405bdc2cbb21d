package session

import "testing"

// features are cells as notebooks have them, with what `go run` prints of the same statements.
var features = []string{
	"type IntHeap []int\nfunc (h IntHeap) Len() int { return len(h) }\nfunc (h IntHeap) Less(i, j int) bool { return h[i] < h[j] }\nfunc (h IntHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }\n" +
		"func (h *IntHeap) Push(x any) { *h = append(*h, x.(int)) }\nfunc (h *IntHeap) Pop() any {\n\told := *h\n\tx := old[len(old)-1]\n\t*h = old[:len(old)-1]\n\treturn x\n}", "",
	"h := &IntHeap{5, 2, 8}\nheap.Init(h)\nheap.Push(h, 3)\nfor h.Len() > 0 {\n\tfmt.Print(heap.Pop(h), \" \")\n}", "2 3 5 8 ",
	"type upper struct{ r io.Reader }\nfunc (u upper) Read(p []byte) (int, error) {\n\tn, err := u.r.Read(p)\n\tcopy(p, bytes.ToUpper(p[:n]))\n\treturn n, err\n}\n" +
		"b := io.ReadAll(upper{strings.NewReader(\"hello\")})\nstring(b)", "[string: HELLO]",
	"m := mat.NewDense(2, 2, []float64{1, 2, 3, 4})\nvar inv mat.Dense\ninv.Inverse(m)\nfmt.Printf(\"%.2v\\n\", mat.Formatted(&inv))", "⎡  -2     1⎤\n⎣ 1.5  -0.5⎦\n",
	"xs := []float64{1, 2, 3, 4}\nmean, std := stat.MeanStdDev(xs, nil)\nfmt.Printf(\"%.3f %.3f\\n\", mean, std)\nfloats.Sum(xs)", "2.500 1.291\n[float64: 10]",
	"type Shape interface { Area() float64 }\ntype Sq struct{ s float64 }\nfunc (s Sq) Area() float64 { return s.s * s.s }\nshapes := map[string]Shape{\"a\": Sq{2}, \"b\": Sq{3}}\n" +
		"for _, k := range slices.Sorted(maps.Keys(shapes)) { fmt.Println(k, shapes[k].Area()) }", "a 4\nb 9\n",
	"type MyErr struct{ Code int }\nfunc (e *MyErr) Error() string { return fmt.Sprintf(\"code %d\", e.Code) }\nfunc try(n int) error { if n > 1 { return fmt.Errorf(\"wrapped: %w\", &MyErr{n}) }; return nil }", "",
	"err := try(5)\nvar me *MyErr\nfmt.Println(errors.As(err, &me), me.Code, errors.Unwrap(err) == error(me))", "true 5 true\n",
	"type Item struct { Name string `json:\"name\"`; Qty int `json:\"qty,omitempty\"`; tags []string }\njs := json.Marshal([]Item{{\"a\", 1, nil}, {\"b\", 0, nil}})\nstring(js)", "[string: [{\"name\":\"a\",\"qty\":1},{\"name\":\"b\"}]]",
	"var back []Item\njson.Unmarshal(js, &back)\nback", "[[]Item: [{a 1 []} {b 0 []}]]",
	"sort.Slice(back, func(i, j int) bool { return back[i].Name > back[j].Name })\nback[0].Name", "[string: b]",
	"results := make(chan int)\nvar wg sync.WaitGroup\nfor i := range 3 {\n\twg.Add(1)\n\tgo func() { defer wg.Done(); results <- i * i }()\n}\ngo func() { wg.Wait(); close(results) }()\n" +
		"sum := 0\nfor r := range results { sum += r }\nsum", "[int: 5]",
	"ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)\ndefer cancel()\nselect {\ncase <-ctx.Done(): fmt.Println(ctx.Err())\ncase <-time.After(time.Minute): fmt.Println(\"late\")\n}", "context deadline exceeded\n",
	"func safe(f func()) (msg string) {\n\tdefer func() { if r := recover(); r != nil { msg = fmt.Sprint(\"recovered: \", r) } }()\n\tf()\n\treturn \"fine\"\n}\n" +
		"fmt.Println(safe(func() { var a []int; _ = a[3] }), safe(func() {}))", "recovered: runtime error: index out of range [3] with length 0 fine\n",
	"type Number interface{ ~int | ~float64 }\nfunc Sum[T Number](xs ...T) (s T) { for _, x := range xs { s += x }; return }\ntype MyInt int\nfmt.Println(Sum(1, 2, 3), Sum(1.5, 2), Sum(MyInt(4), 5))", "6 3.5 9\n",
	"type Stack[T any] struct{ items []T }\nfunc (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }\nfunc (s *Stack[T]) Pop() (T, bool) {\n\tvar zero T\n\tif len(s.items) == 0 { return zero, false }\n" +
		"\tx := s.items[len(s.items)-1]\n\ts.items = s.items[:len(s.items)-1]\n\treturn x, true\n}\nst := &Stack[string]{}\nst.Push(\"a\"); st.Push(\"b\")\nx, ok := st.Pop()\nfmt.Println(x, ok, len(st.items))", "b true 1\n",
	"st.Pop()", "[string: a][bool: true]",
	"re := regexp.MustCompile(\"(\\\\w+)@(\\\\w+)\")\nre.FindAllStringSubmatch(\"a@b c@d\", -1)", "[[][]string: [[a@b a b] [c@d c d]]]",
	"time.Duration(1500) * time.Millisecond", "[time.Duration: 1.5s]",
	"big.NewInt(0).Exp(big.NewInt(2), big.NewInt(100), nil)", "[*big.Int: 1267650600228229401496703205376]",
	"func seq(n int) iter.Seq[int] { return func(yield func(int) bool) { for i := range n { if !yield(i) { return } } } }\nfor v := range seq(3) { fmt.Print(v, \" \") }\nslices.Collect(seq(4))", "0 1 2 [[]int: [0 1 2 3]]",
	"type Tree struct { L, R *Tree; V int }\nfunc (t *Tree) Insert(v int) *Tree { if t == nil { return &Tree{V: v} }; if v < t.V { t.L = t.L.Insert(v) } else { t.R = t.R.Insert(v) }; return t }\n" +
		"var root *Tree\nfor _, v := range []int{3, 1, 2} { root = root.Insert(v) }\nroot.L.R.V", "[int: 2]",
	"rec := httptest.NewRecorder()\nhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }).ServeHTTP(rec, httptest.NewRequest(\"GET\", \"/p\", nil))\nrec.Body.String()", "[string: /p]",
	"once := sync.OnceValue(func() int { fmt.Println(\"once\"); return 4 })\nonce() + once()", "once\n[int: 8]",
	"counts := map[rune]int{}\nfor _, r := range \"hello, wörld\" { counts[r]++ }\nfmt.Println(counts['l'], counts['ö'], len(counts))", "3 1 10\n",
	"struct{ X, Y int }{1, 2}", "[struct{X int; Y int}: {1 2}]",
	"map[string][]int{\"b\": {2}, \"a\": {1}}", "[map[string][]int: map[a:[1] b:[2]]]",
	"'x'", "[rune: 120]",
	"p := plot.New()\np.Title.Text = \"T\"\nfmt.Println(p.Title.Text)", "T\n",
}

// TestFeatures runs the cells, and then all of them again, as a notebook is run again from the top.
func TestFeatures(t *testing.T) {
	s := newSession(t)
	number := 0
	for round := range 3 {
		for i := 0; i+1 < len(features); i += 2 {
			number++
			if got := evaluate(t, s, number, features[i]); got != features[i+1] {
				t.Errorf("round %d:\n%s\ngot:\n%s\nwant:\n%s", round+1, features[i], got, features[i+1])
			}
		}
	}
}
