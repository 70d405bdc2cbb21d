package main

import (
	"container/heap"
	"container/list"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"text/tabwriter"
	"time"
)

type IntHeap []int

func (h IntHeap) Len() int           { return len(h) }
func (h IntHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h IntHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *IntHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *IntHeap) Pop() any {
	old := *h
	n := len(old)
	x := old[n-1]
	*h = old[:n-1]
	return x
}

type upper struct{ r io.Reader }

func (u upper) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	for i := range p[:n] {
		if p[i] >= 'a' && p[i] <= 'z' {
			p[i] -= 32
		}
	}
	return n, err
}

type count struct{ n int }

func (c *count) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

type byLen []string

func (b byLen) Len() int           { return len(b) }
func (b byLen) Less(i, j int) bool { return len(b[i]) < len(b[j]) }
func (b byLen) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

type notFound struct{ name string }

func (n *notFound) Error() string        { return n.name + " not found" }
func (n *notFound) Is(target error) bool { return target == io.EOF }

type temp float64

func (t temp) String() string { return fmt.Sprintf("%.1f°", float64(t)) }

type fmtr struct{ a, b int }

func (f fmtr) Format(s fmt.State, verb rune) {
	w, ok := s.Width()
	fmt.Fprintf(s, "<%c %d %v %v %d>", verb, w, ok, s.Flag('+'), f.a+f.b)
}

type gs struct{ x int }

func (g gs) GoString() string { return "gs!" }

type inner struct {
	A int
	b string
}
type outer struct {
	inner
	P  *inner
	M  map[string]inner
	S  []inner
	E  error
	F  func()
	I  any
	t  temp
	T2 temp
	d  time.Duration
	D  time.Duration
	ch chan int
	ar [2]bool
}

func main() {
	h := &IntHeap{5, 2, 8}
	heap.Init(h)
	heap.Push(h, 1)
	for h.Len() > 0 {
		fmt.Print(heap.Pop(h), " ")
	}
	fmt.Println()
	l := list.New()
	l.PushBack(temp(3))
	l.PushFront("x")
	l.PushBack(inner{1, "q"})
	for e := l.Front(); e != nil; e = e.Next() {
		switch v := e.Value.(type) {
		case temp:
			fmt.Println("temp", v)
		case inner:
			fmt.Println("inner", v.b)
		default:
			fmt.Printf("%T %v\n", v, v)
		}
	}
	b, err := io.ReadAll(upper{strings.NewReader("hello world")})
	fmt.Println(string(b), err)
	var c count
	fmt.Fprintf(&c, "abc %d", 12)
	n, err := io.Copy(&c, strings.NewReader("12345"))
	fmt.Println(c.n, n, err, c)
	w := byLen{"ccc", "a", "bb"}
	sort.Sort(sort.Reverse(w))
	fmt.Println(w, sort.IsSorted(w))
	e := fmt.Errorf("wrap: %w", &notFound{"z"})
	var nf *notFound
	fmt.Println(errors.As(e, &nf), nf.name, errors.Is(e, io.EOF), errors.Is(e, io.ErrUnexpectedEOF), e)
	j := errors.Join(e, io.EOF, nil)
	fmt.Println(j, errors.Is(j, io.EOF))
	fmt.Printf("%v %s %d %6.2f|%8v|%-8v|%q\n", temp(2), temp(2), temp(2), temp(2), temp(2), temp(3), temp(4))
	fmt.Printf("%v %+v %5d %s\n", fmtr{1, 2}, fmtr{1, 2}, fmtr{3, 4}, []fmtr{{1, 1}})
	fmt.Printf("%v %#v %#v %#v\n", gs{1}, gs{1}, []gs{{2}}, &gs{3})
	o := outer{inner: inner{1, "z"}, M: map[string]inner{"k": {2, "m"}}, S: []inner{{3, "s"}}, E: &notFound{"e"}, I: temp(1), t: 4, T2: 5, d: time.Second, D: time.Minute}
	fmt.Printf("%v\n%+v\n%#v\n", o, o, o)
	fmt.Printf("%T %T %T %T\n", o, &o, o.S, o.M)
	fmt.Printf("%v %+v\n", &o.inner, &o.S)
	fmt.Printf("%d %x %q %v\n", o.S, []byte("hi"), []string{"a", "b"}, [3]byte{1, 2, 3})
	fmt.Printf("%5t|%-5d|%05d|%+d|%x|%X|%o|%b|%e|%g|%8.3f|%c|%U|%q\n", true, 42, 42, 42, 255, 255, 8, 5, 1234.5678, 1e21, 3.14159, 'x', 0x1F600, 'y')
	fmt.Printf("%*d|%-*d|%.*f|%[2]*[1]d\n", 5, 42, 5, 42, 2, 3.14159)
	fmt.Printf("%[2]d %[1]d %d\n", 1, 2)
	fmt.Printf("%s %v %d\n", nil, nil, []any{1, "a", nil})
	fmt.Printf("%t %s\n", 1, 2.5)
	fmt.Printf("%d%%\n", 50)
	fmt.Printf("%!\n")
	fmt.Printf("%d %d\n", 1)
	fmt.Printf("%d\n", 1, 2, temp(3), inner{1, "a"})
	fmt.Printf("%v %v\n", struct{}{}, struct {
		X int
		y string
	}{1, "b"})
	fmt.Printf("%v %v %v\n", [2][]int{{1}, nil}, map[temp]int{3: 1, 1: 2}, []error{io.EOF, nil})
	fmt.Printf("%x %X % x %#x\n", "hello", []byte{1, 171}, "abc", "abc")
	fmt.Printf("%6s|%-6s|%.2s|%q\n", "ab", "ab", "abcdef", "a\"b\n")
	fmt.Println(temp(1), []temp{1, 2}, map[string]temp{"a": 1}, [1]temp{9}, struct{ T temp }{3}, struct{ t temp }{3}, &struct{ T temp }{3})
	var np *temp
	var ns fmt.Stringer
	fmt.Println(np, ns, nil == ns)
	var nerr *notFound
	var err2 error = nerr
	fmt.Println(err2 == nil, nerr == nil)
	tw := tabwriter.NewWriter(os.Stdout, 0, 8, 1, ' ', 0)
	fmt.Fprintln(tw, "a\tb\tc")
	fmt.Fprintln(tw, "aaa\tbbbb\tc")
	tw.Flush()
	fmt.Println(fmt.Sprint("a", 1, 2, "b", temp(3), temp(4), "c"), fmt.Sprintln("x", temp(1)))
	type named string
	fmt.Print(named("a"), named("b"), 1, 2, named("c"), "\n")
	fmt.Println(fmt.Append([]byte("x"), 1, temp(2)), string(fmt.Appendf(nil, "%v-%T", temp(2), temp(2))))
}
