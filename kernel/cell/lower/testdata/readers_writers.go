package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
)

type cw struct {
	bytes.Buffer
	n int
}

func (c *cw) Write(p []byte) (int, error) { c.n += len(p); return c.Buffer.Write(p) }

type cr struct {
	*strings.Reader
	n int
}

func (c *cr) Read(p []byte) (int, error) { c.n++; return c.Reader.Read(p) }

type plain struct{ n int }

func (p *plain) Write(b []byte) (int, error) { p.n += len(b); return len(b), nil }

type rc struct {
	io.Reader
	closed bool
}

func (r *rc) Close() error { r.closed = true; return nil }

type sw struct {
	plain
	s int
}

func (s *sw) WriteString(x string) (int, error) { s.s++; return len(x), nil }
func main() {
	var c cw
	n, err := io.Copy(&c, strings.NewReader("hello"))
	fmt.Println(n, err, c.n, c.String())
	io.WriteString(&c, "abc")
	fmt.Println(c.n, c.Len())
	r := &cr{Reader: strings.NewReader("data")}
	var p plain
	n, err = io.Copy(&p, r)
	fmt.Println(n, err, p.n, r.n)
	io.Copy(&p, io.LimitReader(&cr{Reader: strings.NewReader("abcdef")}, 3))
	fmt.Println(p.n)
	x := &rc{Reader: strings.NewReader("q")}
	req, err := http.NewRequest("POST", "http://x", x)
	fmt.Println(err, req.Body.Close(), x.closed)
	s := &sw{}
	io.WriteString(s, "xx")
	fmt.Fprint(s, "y")
	fmt.Println(s.s, s.plain.n)
	var w io.Writer = s
	_, ok := w.(io.StringWriter)
	_, ok2 := w.(*sw)
	fmt.Println(ok, ok2, w == io.Writer(s))
	mw := io.MultiWriter(s, &p)
	io.WriteString(mw, "zz")
	fmt.Println(s.s, p.n)
	tr := io.TeeReader(strings.NewReader("t"), s)
	io.ReadAll(tr)
	bw := bufio.NewWriter(s)
	bw.WriteString("k")
	bw.Flush()
	fmt.Println(s.plain.n)
}
