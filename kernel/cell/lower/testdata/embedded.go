package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/big"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type buf8 struct {
	bytes.Buffer
	n int
}

func (b *buf8) Write(p []byte) (int, error) { b.n += len(p); return b.Buffer.Write(p) }

type L8 struct {
	sync.RWMutex
	m map[string]int
}

func (l *L8) get(k string) int    { l.RLock(); defer l.RUnlock(); return l.m[k] }
func (l *L8) set(k string, v int) { l.Lock(); defer l.Unlock(); l.m[k] = v }

type store8 interface {
	get(string) int
	set(string, int)
}
type T8 struct {
	time.Time
	tag string
}
type D8 struct{ time.Duration }
type F8 struct{ *os.File }
type N8 struct{ *big.Int }
type B8 struct{ strings.Builder }
type Rd8 struct {
	*strings.Reader
	closed bool
}

func (r *Rd8) Close() error { r.closed = true; return nil }
func main8() {
	var b buf8
	var w io.Writer = &b
	fmt.Fprintf(w, "x%d", 5)
	fmt.Println(b.String(), b.n, b.Len())
	var st store8 = &L8{m: map[string]int{}}
	st.set("a", 4)
	fmt.Println(st.get("a"))
	t := T8{time.Unix(0, 0).UTC(), "z"}
	fmt.Println(t.Year(), t, t.Before(time.Unix(5, 0)))
	var s fmt.Stringer = t
	fmt.Println(s)
	fmt.Println(D8{time.Second * 90}, D8{5}.Seconds())
	n := N8{big.NewInt(6)}
	n.Mul(n.Int, n.Int)
	fmt.Println(n, n.String(), n.Cmp(big.NewInt(36)))
	var x any = n
	if st, ok := x.(fmt.Stringer); ok {
		fmt.Println(st.String())
	}
	var bb B8
	bb.WriteString("abc")
	var sw io.StringWriter = &bb
	io.WriteString(&bb, "d")
	sw.WriteString("e")
	fmt.Println(bb.String(), bb.Len())
	rd := &Rd8{Reader: strings.NewReader("hello")}
	var rc io.ReadCloser = rd
	d, err := io.ReadAll(rc)
	rc.Close()
	fmt.Println(string(d), err, rd.closed, rd.Len())
	f := F8{os.Stdout}
	fmt.Fprintln(f, "to file")
	_ = f
}

type P9 struct {
	sync.WaitGroup
	sync.Once
	err error
	c   sync.Cond
}
type S9 struct {
	sync.Map
	atomic.Int64
}
type C9 struct {
	context.Context
	n int
}

func main9() {
	var p P9
	for range 3 {
		p.Add(1)
		go func() { defer p.Done(); p.Do(func() { p.err = io.EOF }) }()
	}
	p.Wait()
	fmt.Println(p.err)
	var x any = &p
	_, ok := x.(interface{ Wait() })
	fmt.Println(ok)
	var s S9
	s.Map.Store("a", 1)
	v, _ := s.Map.Load("a")
	s.Int64.Add(4)
	fmt.Println(v, s.Int64.Load())
	ctx, cancel := context.WithCancel(context.Background())
	c := C9{ctx, 1}
	var cc context.Context = c
	d, cancel2 := context.WithTimeout(cc, time.Hour)
	cancel()
	<-d.Done()
	fmt.Println(d.Err(), c.Err())
	cancel2()
	var pool struct {
		sync.Mutex
		free []int
	}
	pool.Lock()
	pool.free = append(pool.free, 1)
	pool.Unlock()
	fmt.Println(len(pool.free))
	var lk sync.Locker = &pool
	lk.Lock()
	lk.Unlock()
}

func main() {
	main8()
	main9()
}
