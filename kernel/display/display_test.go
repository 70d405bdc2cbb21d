package display

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"
	"time"
)

// recorder is a publisher that writes down what comes.
type recorder struct {
	cell   int
	events []string
	last   map[string]any
}

func (r *recorder) note(kind string, b map[string]any) {
	r.events = append(r.events, kind+": "+plain(b))
	r.last = b
}
func (r *recorder) Display(b map[string]any, id string) { r.note("display", b) }
func (r *recorder) Update(b map[string]any, id string)  { r.note("update", b) }
func (r *recorder) Clear(wait bool)                     { r.events = append(r.events, fmt.Sprint("clear ", wait)) }
func (r *recorder) Cell() int                           { return r.cell }
func (r *recorder) Render(v any) map[string]any         { return terminal{}.Render(v) }

func record(t *testing.T) *recorder {
	r := &recorder{cell: 1}
	SetPublisher(r)
	t.Cleanup(func() { SetPublisher(nil) })
	return r
}

func TestShownOnce(t *testing.T) {
	r := record(t)
	o := HTML("<b>bold</b> &amp; plain")
	if got := fmt.Sprint(r.events); got != "[display: bold & plain]" {
		t.Error(got)
	}
	if !o.ShownIn(1) || o.ShownIn(2) {
		t.Error("it was shown in cell 1 only")
	}
	if b := o.MIMEBundle(); b["text/html"] != "<b>bold</b> &amp; plain" || b["text/plain"] != "bold & plain" {
		t.Errorf("%v", b)
	}
	o.Replace(Markdown("*new*"))
	if o.String() != "*new*" || o.MIMEBundle()["text/markdown"] != "*new*" {
		t.Error(o)
	}
	Show(1, o, "x")
	Clear(true)
	want := "[display: bold & plain display: *new* update: *new* display: 1 display: *new* display: x clear true]"
	if got := fmt.Sprint(r.events); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if b := Math(`\frac{1}{2}`).MIMEBundle(); b["text/latex"] != `$$\frac{1}{2}$$` || b["text/plain"] != `\frac{1}{2}` {
		t.Errorf("%v", b)
	}
	if Text("t").String() != "t" {
		t.Error("text")
	}
}

func TestTextOfHTML(t *testing.T) {
	for _, c := range []struct{ html, want string }{
		{"", ""},
		{"plain", "plain"},
		{"<p>a</p><p>b<br>c</p>", "a\nb\nc"},
		{"<table><tr><th>x</th><td>1</td></tr><tr><td>2 &lt; 3</td></tr></table>", "x 1\n2 < 3"},
		{"a < b and c > d", "a < b and c > d"},
		{`<img src="data:x" alt="a plot"> under`, "a plot under"},
		{"<style>b{color:red}</style><script>alert('<p>')</script>x", "x"},
		{"<script>never closed", ""},
		{"<", "<"}, {"<b", "<b"}, {"</>", ""}, {"< >x", "< >x"},
	} {
		if got := textOf(c.html); got != c.want {
			t.Errorf("%q: %q, want %q", c.html, got, c.want)
		}
	}
}

func FuzzTextOfHTML(f *testing.F) {
	f.Add("<p>a</p>")
	f.Add("</ ><//><script></script")
	f.Add("<img alt=\"x>")
	f.Fuzz(func(t *testing.T, s string) { textOf(s) })
}

func TestSVG(t *testing.T) {
	record(t)
	for _, c := range []struct{ svg, attributes, text string }{
		{`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"/>`, `width="40" height="30" alt="drawing"`, "[drawing, 40 × 30]"},
		{`<?xml version="1.0"?><svg viewBox="0 0 200 100"><title>a "<b>" c</title></svg>`, `width="200" height="100" alt="a &#34;`, `[a "`},
		{`<svg width="6in" height="3in"><title>big</title></svg>`, `width="576" height="288" style="width:100%;max-width:576px;height:auto" alt="big"`, "[big, 576 × 288]"},
		{`<svg width="100" viewBox="0,0,10,20"/>`, `width="100" height="200" alt="drawing"`, "[drawing, 100 × 200]"},
		{`<svg width="100%" height="50%"/>`, `width="300" height="150" alt="drawing"`, "[drawing, 300 × 150]"},
		{`<svg width="NaN" height="-4" viewBox="0 0 x y"/>`, `width="300" height="150" alt="drawing"`, "[drawing, 300 × 150]"},
	} {
		b := SVG(c.svg).MIMEBundle()
		h, _ := b["text/html"].(string)
		data := base64.StdEncoding.EncodeToString([]byte(c.svg))
		if !strings.HasPrefix(h, `<img src="data:image/svg+xml;base64,`+data+`" `+c.attributes) {
			t.Errorf("%s\ngave %s\nwant %s", c.svg, h, c.attributes)
		}
		if !strings.HasPrefix(plain(b), c.text) {
			t.Errorf("%s: text %q, want %q", c.svg, plain(b), c.text)
		}
		if _, bare := b["image/svg+xml"]; bare || b["image/png"] != nil {
			t.Error("a bare SVG or PNG breaks other clients")
		}
	}
	for _, c := range []struct{ svg, want string }{
		{"", "display.SVG: this is no SVG: it must have an <svg> element"},
		{"<html><svg/></html>", "display.SVG: this is no SVG: its first element is <html>, not <svg>"},
		{"\x00<", "display.SVG: this is no SVG: it must have an <svg> element"},
	} {
		if got := SVG(c.svg).String(); got != c.want {
			t.Errorf("%q: %s", c.svg, got)
		}
	}
}

func FuzzSVG(f *testing.F) {
	f.Add(`<svg width="1e400px" viewBox="a b c d"><title>x`)
	f.Fuzz(func(t *testing.T, s string) {
		if b, err := SVGBundle(s, ""); err == nil && plain(b) == "" {
			t.Error("no text")
		}
	})
}

func TestPictures(t *testing.T) {
	record(t)
	m := image.NewRGBA(image.Rect(0, 0, 3, 2))
	m.Set(1, 1, color.White)
	var b bytes.Buffer
	png.Encode(&b, m)
	want := base64.StdEncoding.EncodeToString(b.Bytes())
	for _, o := range []*Object{PNG(b.Bytes()), Image(m)} {
		if got := o.MIMEBundle(); got["image/png"] != want || o.String() != "[picture, 3 × 2]" {
			t.Errorf("%v", got)
		}
	}
	for got, want := range map[string]string{
		PNG([]byte("GIF89a")).String():                   "display.PNG: these 6 bytes are no PNG picture: unexpected EOF",
		Image(nil).String():                              "display.Image: there is no picture: it is nil",
		Image(image.NewRGBA(image.Rectangle{})).String(): "display.Image: a picture of 0 × 0 cannot be shown: it must have 1 to 67108864 pixels",
		Image(image.NewUniform(color.White)).String():    "display.Image: a picture of 2000000000 × 2000000000 cannot be shown: it must have 1 to 67108864 pixels",
	} {
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

type level int

func (l level) String() string { return [...]string{"low", "high"}[l] }

func TestTable(t *testing.T) {
	record(t)
	type run struct {
		Name  string
		Batch int
		Time  float64
		level level
	}
	runs := []run{{"a<b>", 1, 0.5, 0}, {"longer", 1024, 1.0 / 3, 1}}
	for _, c := range []struct {
		name string
		got  *Object
		want string
	}{
		{"structs", Table(runs), "Name    Batch      Time  level\n------  -----  --------  -----\na<b>        1       0.5  0\nlonger   1024  0.333333  1"},
		{"columns", Table(runs, "Time", "Name"), "    Time  Name\n--------  ------\n     0.5  a<b>\n0.333333  longer"},
		{"pointers", Table([]*run{&runs[0], nil}, "Name"), "Name\n----\na<b>\n"},
		{"one struct", Table(runs[0], "Batch"), "Batch\n-----\n    1"},
		{"maps", Table([]map[string]any{{"x": 1, "y": "u"}, {"x": nil, "z": []int{1, 2}}}), "x  y  z\n-  -  -----\n1  u\n      [1 2]"},
		{"lists", Table([][]string{{"a", "b"}, {"c"}}), "a  b\nc"},
		{"heads", Table([][]int{{1, 20}, {300}}, "n"), "  n\n---  --\n  1  20\n300"},
		{"values", Table([]float64{1, math.NaN(), math.Inf(1)}), "   1\n NaN\n+Inf"},
		{"a map", Table(map[string]int{"b": 2, "a": 10}), "key  value\n---  -----\na       10\nb        2"},
		{"a map of numbers", Table(map[int]string{10: "x", 9: "y"}, "id", "text"), "id  text\n--  ----\n 9  y\n10  x"},
		{"stringers", Table([]time.Duration{time.Second}), "1s"},
		{"exported stringer", Table([]struct{ L level }{{1}}), "L\n----\nhigh"},
		{"lines", Table([]string{"a\nb\tc", strings.Repeat("é", 100)}), "a b c\n" + strings.Repeat("é", 79) + "…"},
		{"none", Table([]int{}), "no rows"},
		{"nil", Table(nil), "display.Table: there are no rows: they are nil"},
		{"a number", Table(3), "display.Table: rows must be a slice of structs, maps or slices, or a map; this is int"},
		{"wrong field", Table(runs, "Nmae"), `display.Table: there is no field "Nmae"; the rows have Name, Batch, Time, level`},
		{"wrong key", Table([]map[string]int{{"x": 1}}, "y"), `display.Table: there is no key "y"; the rows have x`},
	} {
		if got := c.got.String(); strings.TrimRight(got, "\n") != strings.TrimRight(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	html := Table(runs, "Name", "Batch").MIMEBundle()["text/html"]
	want := `<table cellpadding="3" style="table-layout:auto;font-size:12px"><tr align="right"><th style="text-align:left">Name</th><th>Batch</th></tr>` +
		`<tr align="right"><td style="text-align:left">a&lt;b&gt;</td><td>1</td></tr><tr align="right"><td style="text-align:left">longer</td><td>1024</td></tr></table>`
	if html != want {
		t.Errorf("%s\nwant\n%s", html, want)
	}
}

func TestLongTables(t *testing.T) {
	record(t)
	got := Table(make([]int, 1000)).String()
	if lines := strings.Split(got, "\n"); len(lines) != 61 || lines[60] != "… and 940 rows more" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	wide := make([][]int, 1)
	wide[0] = make([]int, 30)
	if got := Table(wide).String(); !strings.HasSuffix(got, "\n… and 6 columns more") {
		t.Error(got)
	}
}

func TestProgress(t *testing.T) {
	r := record(t)
	b := Progress(10)
	now := b.start
	b.now = func() time.Time { return now }
	for range 5 {
		now = now.Add(30 * time.Millisecond)
		b.Add(1)
	}
	// Ten updates a second at most: 150 ms have room for one.
	if n := len(r.events); n != 2 {
		t.Errorf("%d updates in 150 ms: %v", n, r.events)
	}
	now = now.Add(850 * time.Millisecond)
	b.Label("reading")
	b.Done()
	want := "update: reading [##############################] 100% 10 of 10, 1.0 s"
	if got := r.events[len(r.events)-1]; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := r.events[len(r.events)-2]; got != "update: reading [###############...............] 50% 5 of 10, 1.0 s, about 1.0 s left" {
		t.Error(got)
	}
	now = now.Add(time.Hour)
	if got := b.String(); got != want[8:] {
		t.Errorf("time goes on after the end: %s", got)
	}
	if h, _ := r.last["text/html"].(string); !strings.Contains(h, `width:100.0%;height:8px;background:#27c`) || strings.Contains(h, "<progress") {
		t.Error(h)
	}
	if got := Progress(-1).String(); got != "[##############################] 100% 0 of 0, 0.0 s" {
		t.Error(got)
	}
	b.Set(-5)
	b.Set(1 << 60)
}
