package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type Level int

const (
	Low Level = iota
	Mid
	High
)

func (l Level) String() string               { return [...]string{"low", "mid", "high"}[l] }
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

type Money struct{ cents int64 }

func (m Money) MarshalJSON() ([]byte, error) {
	return []byte(fmt.Sprintf(`"%d.%02d"`, m.cents/100, m.cents%100)), nil
}
func (m *Money) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("money %q: %w", s, err)
	}
	m.cents = int64(math.Round(f * 100))
	return nil
}

type Item struct {
	Name  string         `json:"name"`
	Price Money          `json:"price"`
	Tags  []string       `json:"tags,omitempty"`
	Level Level          `json:"level"`
	Sub   *Item          `json:"sub,omitempty"`
	Extra map[string]any `json:"extra"`
	skip  int
	Attr  map[Level]string `json:"attr,omitempty"`
}

type Simple struct {
	A int
	B []float64
	C map[string]Point
	D *Point
	E any
	Point
}
type Point struct{ X, Y int }

type state struct {
	mu sync.Mutex
	m  map[string]int
}

func (s *state) inc(k string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[k]++
}

type Seq[T any] func(yield func(T) bool)

func (s Seq[T]) Filter(f func(T) bool) Seq[T] {
	return func(yield func(T) bool) {
		for x := range s {
			if f(x) && !yield(x) {
				return
			}
		}
	}
}

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

type ctxKey struct{}

type Node struct {
	Val      int
	Children []*Node
	Parent   *Node
}

func (n *Node) Add(v int) *Node {
	c := &Node{Val: v, Parent: n}
	n.Children = append(n.Children, c)
	return c
}
func (n *Node) Sum() int {
	s := n.Val
	for _, c := range n.Children {
		s += c.Sum()
	}
	return s
}

type Visitor interface{ Visit(n *Node) Visitor }
type depth int

func (d depth) Visit(n *Node) Visitor {
	fmt.Print(strings.Repeat(" ", int(d)), n.Val, ";")
	return d + 1
}
func walk(v Visitor, n *Node) {
	v = v.Visit(n)
	for _, c := range n.Children {
		walk(v, c)
	}
}

func main() {
	it := Item{Name: "x", Price: Money{1234}, Level: High, Sub: &Item{Name: "y", Tags: []string{"a"}}, Extra: map[string]any{"z": 1, "p": Point{1, 2}}, Attr: map[Level]string{Mid: "m"}}
	b, err := json.Marshal(it)
	fmt.Println(string(b), err)
	var back struct {
		Name  string
		Price Money
		Tags  []string
		Sub   struct{ Name string }
		Extra map[string]any
	}
	fmt.Println(json.Unmarshal(b, &back), back)
	s := Simple{A: 1, B: []float64{1.5}, C: map[string]Point{"k": {1, 2}}, D: &Point{3, 4}, E: Point{5, 6}, Point: Point{7, 8}}
	b, err = json.MarshalIndent(s, "", " ")
	fmt.Println(string(b), err)
	var s2 Simple
	err = json.Unmarshal(b, &s2)
	fmt.Printf("%v %+v %v\n", err, s2.D, s2)
	err = json.Unmarshal([]byte(`{"A": "x"}`), &s2)
	fmt.Println(err)
	var any1 any
	json.Unmarshal([]byte(`{"a":[1,2,{"b":null}]}`), &any1)
	fmt.Println(any1)
	dec := json.NewDecoder(strings.NewReader(`{"X":1,"Y":2} {"X":3}`))
	for {
		var p Point
		if err := dec.Decode(&p); err != nil {
			fmt.Println(err)
			break
		}
		fmt.Print(p, " ")
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.Encode([]Point{{1, 2}})
	fmt.Print(out.String())
	st := &state{m: map[string]int{}}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			st.inc(fmt.Sprint("k", i%3))
		}()
	}
	wg.Wait()
	fmt.Println(st.m)
	xs := []Point{{3, 1}, {1, 2}, {2, 0}}
	slices.SortFunc(xs, func(a, b Point) int { return a.X - b.X })
	i, ok := slices.BinarySearchFunc(xs, 2, func(p Point, x int) int { return p.X - x })
	fmt.Println(xs, i, ok, slices.Contains(xs, Point{1, 2}), slices.IndexFunc(xs, func(p Point) bool { return p.Y == 0 }), slices.MaxFunc(xs, func(a, b Point) int { return a.Y - b.Y }))
	m := map[string]int{"b": 2, "a": 1, "c": 3}
	fmt.Println(slices.Sorted(maps.Keys(m)), slices.Collect(maps.Values(map[int]int{1: 2})), len(slices.Repeat([]int{1}, 3)))
	ev := Seq[int](count(10)).Filter(func(n int) bool { return n%2 == 0 })
	for x := range ev {
		if x > 5 {
			break
		}
		fmt.Print(x, " ")
	}
	next, stop := iter.Pull(count(3))
	for {
		v, ok := next()
		if !ok {
			break
		}
		fmt.Print("p", v)
	}
	stop()
	fmt.Println(slices.Collect(count(4)), slices.Compact([]int{1, 1, 2}), slices.Chunk([]int{1, 2, 3}, 2) != nil)
	for c := range slices.Chunk([]int{1, 2, 3}, 2) {
		fmt.Print(c)
	}
	fmt.Println()
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), ctxKey{}, Point{1, 1}), 20*time.Millisecond)
	defer cancel()
	fmt.Println(ctx.Value(ctxKey{}), ctx.Value("k"))
	select {
	case <-ctx.Done():
		fmt.Println(ctx.Err(), errors.Is(ctx.Err(), context.DeadlineExceeded))
	case <-time.After(5 * time.Second):
		fmt.Println("late")
	}
	root := &Node{Val: 1}
	root.Add(2).Add(3)
	root.Add(4)
	fmt.Println(root.Sum(), root.Children[0].Parent == root)
	walk(depth(0), root)
	fmt.Println()
	sc := bufio.NewScanner(strings.NewReader("one two\nthree"))
	sc.Split(bufio.ScanWords)
	for sc.Scan() {
		fmt.Print(sc.Text(), ",")
	}
	re := regexp.MustCompile(`(\w)(\d+)`)
	fmt.Println(re.ReplaceAllStringFunc("a1 b22", func(s string) string { return strings.ToUpper(s) + "!" }), re.FindAllStringSubmatch("a1 b22", -1))
	var ai atomic.Int64
	var ap atomic.Pointer[Point]
	ap.Store(&Point{9, 9})
	ai.Add(5)
	fmt.Println(ai.Load(), ap.Load().X, ap.CompareAndSwap(nil, nil))
	once := sync.OnceValue(func() int { fmt.Print("[once]"); return 7 })
	fmt.Println(once(), once())
	var pool = sync.Pool{New: func() any { return new(Point) }}
	pt := pool.Get().(*Point)
	pt.X = 3
	fmt.Println(*pt)
	var sm sync.Map
	sm.Store(Point{1, 2}, "v")
	v, ok := sm.Load(Point{1, 2})
	fmt.Println(v, ok)
	res := make(chan int)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for v := range res {
			fmt.Print(v, " ")
		}
	}()
	for i := range 3 {
		res <- i * i
	}
	close(res)
	<-done
	tick := time.NewTicker(time.Millisecond)
	n := 0
	for range tick.C {
		if n++; n == 3 {
			tick.Stop()
			break
		}
	}
	fmt.Println(n)
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	fmt.Fprintf(w, "%v %s\n", Low, []Level{Mid, High})
	x, err := strconv.Atoi("12x")
	var ne *strconv.NumError
	fmt.Fprintln(w, x, err, errors.As(err, &ne), ne.Func)
	fmt.Fprintln(w, strings.Map(func(r rune) rune { return r + 1 }, "abc"), strings.FieldsFunc("a,b;c", func(r rune) bool { return r == ',' || r == ';' }))
	fmt.Fprintln(w, math.Inf(1), math.NaN(), -0.0, math.MaxInt64, math.Sqrt(2), math.MaxUint32, 5.0/3)
}
