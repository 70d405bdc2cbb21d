package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"math/rand"
	"net/url"
	"os"
	"regexp"
	"strings"
	"text/tabwriter"
	"text/template"
	"time"
)

type W struct {
	tabwriter.Writer
	rows int
}
type Buf struct {
	*bytes.Buffer
	io.Closer
}
type closer func() error

func (c closer) Close() error { return c() }

type Multi struct {
	io.Writer
	strings.Builder
	n int
}

func (m *Multi) Write(p []byte) (int, error) { m.n++; return m.Builder.Write(p) }

type T struct {
	*template.Template
	data any
}
type U struct {
	url.URL
	q url.Values
}
type Rx struct{ *regexp.Regexp }
type Dec struct {
	*json.Decoder
	n int
}
type Rt struct {
	big.Rat
	f big.Float
}
type Csv struct{ *csv.Reader }
type Rng struct{ *rand.Rand }
type Tm struct {
	*time.Timer
	time.Month
	time.Weekday
}

func main() {
	w := &W{}
	var out strings.Builder
	w.Init(&out, 0, 8, 1, ' ', 0)
	fmt.Fprintln(w, "a\tb")
	fmt.Fprintln(w, "ccc\td")
	w.Flush()
	fmt.Print(out.String())
	b := Buf{bytes.NewBufferString("hello"), closer(func() error { return io.EOF })}
	var rc io.ReadWriteCloser = b
	p := make([]byte, 3)
	n, _ := rc.Read(p)
	fmt.Println(n, string(p), rc.Close(), b.Len(), b.String())
	m := &Multi{}
	fmt.Fprintf(m, "x%d", 1)
	io.WriteString(m, "y")
	fmt.Println(m.n, m.String())
	t := T{Template: template.Must(template.New("t").Parse("{{.}}-{{len .}}\n"))}
	fmt.Println(t.Execute(os.Stdout, []int{1, 2}), t.Name())
	u, _ := url.Parse("http://h/p?a=1&a=2")
	v := U{URL: *u, q: u.Query()}
	fmt.Println(v.q["a"], v.Hostname(), v.URL.String())
	fmt.Println(Rx{regexp.MustCompile(`a+`)}.FindAllString("aab a", -1))
	d := Dec{Decoder: json.NewDecoder(strings.NewReader("[1,2]"))}
	tok, err := d.Token()
	fmt.Println(tok, err, d.More())
	var r Rt
	r.SetFrac64(1, 3)
	r.f.SetFloat64(0.5)
	fmt.Println(r.Rat.String(), r.f.String())
	recs, err := Csv{csv.NewReader(strings.NewReader("a,b\nc,d"))}.ReadAll()
	fmt.Println(recs, err)
	g := Rng{rand.New(rand.NewSource(3))}
	fmt.Println(g.Intn(10) < 10, len(g.Perm(3)))
	tm := Tm{Month: time.May, Weekday: time.Monday}
	fmt.Println(tm.Month, tm.Weekday)
}
