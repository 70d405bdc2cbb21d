package main

import "fmt"

type T struct {
	a [3]int
	m map[string][]int
	p *T
	f func(int) int
}

type Tree[K any] struct {
	l, r *Tree[K]
	v    K
}

func (t *Tree[K]) insert(v K, less func(a, b K) bool) *Tree[K] {
	if t == nil {
		return &Tree[K]{v: v}
	}
	if less(v, t.v) {
		t.l = t.l.insert(v, less)
	} else {
		t.r = t.r.insert(v, less)
	}
	return t
}

func (t *Tree[K]) all(yield func(K) bool) bool {
	return t == nil || t.l.all(yield) && yield(t.v) && t.r.all(yield)
}

func (t *Tree[K]) All() func(func(K) bool) {
	return func(y func(K) bool) { t.all(y) }
}

type Stack[T any] struct{ items []T }

func (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }
func (s *Stack[T]) Pop() (x T, ok bool) {
	if len(s.items) == 0 {
		return
	}
	x = s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return x, true
}

type Num interface {
	~int | ~int64 | ~float64
}

func Sum[T Num](xs ...T) (s T) {
	for _, x := range xs {
		s += x
	}
	return
}

type MyInt int

func (m MyInt) Double() MyInt { return m * 2 }

func kind[T any](x T) string {
	switch any(x).(type) {
	case int:
		return "int"
	case string:
		return "string"
	case []T:
		return "slice of T"
	case MyInt:
		return "MyInt"
	}
	return fmt.Sprintf("%T", x)
}

type Pair[A, B any] struct {
	First  A
	Second B
}

func MakePair[A, B any](a A, b B) Pair[A, B] { return Pair[A, B]{a, b} }

func (p Pair[A, B]) Swap() Pair[B, A] { return Pair[B, A]{p.Second, p.First} }

type Animal interface {
	Name() string
	Sound() string
}
type base struct{ name string }

func (b base) Name() string     { return b.name }
func (b *base) Rename(n string) { b.name = n }

type Dog struct {
	*base
	age int
}

func (d Dog) Sound() string { return "woof" }

type Puppy struct {
	Dog
	Animal
}

func (p Puppy) Name() string  { return "puppy " + p.Dog.Name() }
func (p Puppy) Sound() string { return "yip" }

func multi() (int, string, error) { return 1, "two", nil }

func named(n int) (res int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("caught %v", r)
			res = -1
		}
	}()
	defer func() { res += 100 }()
	if n == 0 {
		panic("zero")
	}
	if n == 1 {
		var m map[int]int
		m[1] = 2
	}
	res = 10 / (n - 2)
	return res + 1, nil
}

func nest() (s string) {
	defer func() {
		s += fmt.Sprint(" outer:", recover())
	}()
	defer func() {
		defer func() { s += fmt.Sprint(" inner:", recover()) }()
		panic("second")
	}()
	panic("first")
}

func loopDefer() {
	for i := 0; i < 3; i++ {
		defer func(n int) { fmt.Print("d", n, i, " ") }(i * 10)
	}
}

func rangeFunc(yield func(int, string) bool) {
	defer fmt.Print("[cleanup]")
	for i, s := range []string{"a", "b", "c", "d"} {
		if !yield(i, s) {
			return
		}
	}
}

func find(want string) int {
	for i, s := range rangeFunc {
		if s == want {
			return i
		}
	}
	return -1
}

func labels() {
outer:
	for i := range 4 {
		for j := range 4 {
			switch {
			case j == 2:
				continue outer
			case i == 2:
				break outer
			}
			fmt.Print(i, j, " ")
		}
	}
	i := 0
loop:
	if i < 3 {
		fmt.Print("g", i)
		i++
		goto loop
	}
	fmt.Println()
}

func main() {
	t := T{m: map[string][]int{"a": {1}}}
	u := t
	u.a[1] = 5
	u.m["a"][0] = 9
	u.p = &t
	t.f = func(n int) int { return n + t.a[1] }
	t.a[1] = 7
	fmt.Println(t.a, u.a, t.m, u.p.a, t.f(1), u.f == nil)
	arr := [2][2]int{{1, 2}, {3, 4}}
	brr := arr
	brr[0][0] = 99
	pa := &arr[1]
	pa[0] = 77
	for i, r := range arr {
		r[0] = 1000
		arr[i][1]++
	}
	fmt.Println(arr, brr, arr == brr)
	var tree *Tree[string]
	for _, s := range []string{"m", "c", "x", "a"} {
		tree = tree.insert(s, func(a, b string) bool { return a < b })
	}
	for v := range tree.All() {
		if v == "x" {
			break
		}
		fmt.Print(v, " ")
	}
	fmt.Println()
	var st Stack[Pair[int, string]]
	st.Push(MakePair(1, "a"))
	st.Push(MakePair(2, "b"))
	x, ok := st.Pop()
	fmt.Println(x, ok, x.Swap(), len(st.items))
	fmt.Printf("%T %v %+v\n", x.Swap(), x, x)
	fmt.Println(Sum(1, 2, 3), Sum(1.5, 2), Sum[MyInt](1, 2).Double(), kind(1), kind("s"), kind(MyInt(2)), kind(2.5), kind([]int{}))
	d := Dog{&base{"rex"}, 3}
	d.Rename("max")
	p := Puppy{Dog: d}
	var a Animal = p
	fmt.Println(a.Name(), a.Sound(), d.Name(), p.age)
	as := []Animal{d, p, &d}
	for _, a := range as {
		if dd, ok := a.(*Dog); ok {
			dd.age++
		}
		fmt.Printf("%T %s;", a, a.Sound())
	}
	fmt.Println(d.age)
	n, s, e := multi()
	fmt.Println(n, s, e)
	for i := range 5 {
		fmt.Println(named(i))
	}
	fmt.Println(nest())
	loopDefer()
	fmt.Println()
	fmt.Println(find("c"), find("z"))
	labels()
	f := d.Sound
	g := (*base).Rename
	h := base.Name
	g(d.base, "neo")
	fmt.Println(f(), h(*d.base), d.Name())
	var fs []func() int
	for i := 0; i < 3; i++ {
		fs = append(fs, func() int { i *= 2; return i })
	}
	for _, f := range fs {
		fmt.Print(f(), f(), " ")
	}
	fmt.Println()
	func() {
		defer func() { fmt.Println("re:", recover()) }()
		defer func() {
			r := recover()
			panic(fmt.Sprint("again ", r))
		}()
		var arr []int
		_ = arr[len(as)]
	}()
	m := map[[2]int]string{{1, 2}: "x"}
	m[[2]int{1, 2}] += "y"
	delete(m, [2]int{0, 0})
	fmt.Println(m, len(m))
	type key struct {
		a any
		b string
	}
	mk := map[key]int{{1, "a"}: 1, {"1", "a"}: 2, {MyInt(1), "a"}: 3}
	fmt.Println(mk[key{MyInt(1), "a"}], mk[key{1, "a"}], mk[key{int64(1), "a"}], len(mk))
	c := make(chan func() (int, error), 1)
	c <- func() (int, error) { return 3, nil }
	fmt.Println((<-c)())
	var i8 int8 = 127
	i8++
	var u8 uint8
	u8--
	var i32 int32 = -7
	fmt.Println(i8, u8, i32/2, i32%3, i32>>1, uint32(i32)>>28, -7/2, 7&^5, ^0, 1<<3|1)
	z := complex(1, 2)
	z *= z
	fmt.Println(z, real(z), imag(z), z == complex(-3, 4))
	for i, r := range "aé\xffz" {
		fmt.Print(i, ":", r, " ")
	}
	bs := []byte("héllo")
	bs[0] = 'H'
	fmt.Println(string(bs), len("héllo"), []rune("héllo")[1], string(rune(233)), "abc"[1], "abc" < "abd")
	sl := []int{1, 2, 3, 4, 5}
	s2 := sl[1:3:4]
	s2 = append(s2, 100)
	s3 := append(s2, 200)
	s3[0] = -1
	copy(sl[2:], sl)
	fmt.Println(sl, s2, s3, len(s2), cap(s2), min(3, 1, 2), max(2.5, 1))
	clear(mk)
	fmt.Println(len(mk))
	switch x := any(3.0).(type) {
	case int, string:
		fmt.Printf("%T\n", x)
	case float64:
		fmt.Println("float", x+1)
	}
	switch {
	case len(sl) > 100:
	case sl[0] == 1:
		fmt.Print("one ")
		fallthrough
	case false:
		fmt.Print("fell ")
	default:
		fmt.Print("default")
	}
	fmt.Println()
	var iface any = t.a
	arr3, ok := iface.([3]int)
	arr3[0] = 1
	fmt.Println(iface, arr3, ok)
	ptr := &struct{ n int }{4}
	q := ptr
	q.n++
	var e1, e2 any = ptr, q
	fmt.Println(e1 == e2, *ptr == *q, e1 != nil)
	const big = 1 << 40
	fmt.Println(big>>38, uint8(big>>36), float32(0.1), float64(float32(0.1)), 1e100)
}
