package cell

import (
	"strings"
	"testing"
	"time"
)

// complete completes at the bar in the text.
func complete(s *Session, text string) (names []string, c Completion) {
	before, after, _ := strings.Cut(text, "|")
	c = s.Complete(before+after, len([]rune(before)))
	for _, m := range c.Candidates {
		names = append(names, m.Text)
	}
	return names, c
}

func TestComplete(t *testing.T) {
	s := newTestSession(t)
	run(s, 1, "type Point struct{ X, Y int }\n\n// Norm is the length.\nfunc (p Point) Norm() float64 { return 0 }\nfunc scale(p Point, by int) Point { return p }\npt := Point{1, 2}\nvar counter int\nb := os.Open(\"x\")")
	s.Predeclare(Predeclared{Name: "dev", Type: "*bytes_alias.Buffer", Imports: map[string]string{"bytes_alias": "bytes"}})
	for _, c := range []struct{ text, want, not string }{
		{"strings.ToU|", "ToUpper ToUpperSpecial", ""},
		{"pt.|", "Norm X Y", "Z"},
		{"pt.n|", "Norm", "X"},
		{"x := pt.No|\nfmt.Println(x)", "Norm", ""},
		{"if true {\n\tfor i := range 3 {\n\t\tpt.|", "Norm X Y", ""},
		{"fmt.Println(strings.Rep|", "Repeat Replace ReplaceAll", ""},
		{"cou|", "counter", ""},
		{"sca|", "scale", ""},
		{"scale(pt, 2).|", "Norm X", ""},
		{"local := pt\nloc|", "local", ""},
		{"f := func(inner int) { inn|", "inner", ""},
		{"q := &pt\nq.|", "Norm X", ""},
		{"str|", "strings strconv string struct", ""},
		{"Point{|", "X Y", ""},
		{"Point{X: 1, |", "Y", ""},
		{"dev.Wri|", "Write WriteString", ""},
		{"de|", "dev defer default delete", ""},
		{"f := os.Create(\"x\")\nf.Wr|", "Write WriteString", ""},
		{"b.Rea|", "Read ReadAt", ""},
		{"import \"math/|\"", "math/big math/rand", "fmt"},
		{"import (\n\t\"enc|", "encoding/json", ""},
		{"ret|", "return", ""},
		{"héé := 1\nhé|", "héé", ""},
		{"pt.Norm().|", "", "X"},
		{"\"strings.|\"", "", "ToUpper"},
		{"// strings.|", "", "ToUpper"},
		{"12|", "", "counter"},
		{"undefinedThing.|", "", "X"},
		{"for i := ra|", "range", "Point"},
		{"for i, v := ra|ng pt {\n}", "range", ""},
		{"if true {\n\tfor _, counter = r|", "range recover", ""},
		{"for r|", "range", ""},
		{"for i := |", "range counter pt", ""},
		{"for i := range cou|", "counter", ""},
		{"func g() {\n\tfor i := range scale(pt, 1).|", "X Norm", ""},
		{"func g() {\n\tif strings.Contains(strings.ToU|", "ToUpper", ""},
		{"if pt.|", "Norm X", ""},
		{"switch pt.N|\nx := 1", "Norm", ""},
		{"x := ra|", "", "Point"},
		{"x, pt.|", "Norm X", ""},
		{"|", "counter pt Point scale fmt for", ""},
	} {
		names, _ := complete(s, c.text)
		all := " " + strings.Join(names, " ") + " "
		for _, w := range strings.Fields(c.want) {
			if !strings.Contains(all, " "+w+" ") {
				t.Errorf("%q: %v lacks %s", c.text, names, w)
			}
		}
		if c.not != "" && strings.Contains(all, " "+c.not+" ") {
			t.Errorf("%q: %v has %s", c.text, names, c.not)
		}
	}
	_, c := complete(s, "é := pt.No|rm")
	if c.Start != 8 || c.End != 12 {
		t.Errorf("bounds %d, %d, want 8, 12", c.Start, c.End)
	}
	if c.Candidates[0].Kind != "function" || c.Candidates[0].Signature != "func (Point) Norm() float64" {
		t.Errorf("%+v", c.Candidates[0])
	}
}

func TestInspect(t *testing.T) {
	s := newTestSession(t)
	run(s, 1, "type Point struct{ X, Y int }\n\n// Norm is the length.\nfunc (p Point) Norm() float64 { return 0 }\n\n// scale makes it larger.\nfunc scale(p Point, by int) Point { return p }\npt := Point{1, 2}")
	s.Predeclare(Predeclared{Name: "dev", Type: "*bytes_alias.Buffer", Imports: map[string]string{"bytes_alias": "bytes"}})
	for _, c := range []struct{ text, want string }{
		{"strings.To|Upper(\"a\")", "func ToUpper(s string) string\n\npackage strings\n\nToUpper returns s with all Unicode letters mapped to their upper case."},
		{"scale(pt, |", "func scale(p Point, by int) Point\n\ncell 1\n\nscale makes it larger."},
		{"pt.No|rm()", "func (Point) Norm() float64\n\ncell 1\n\nNorm is the length."},
		{"p|t", "var pt Point\n\ncell 1\n\nmethods: Norm"},
		{"pt := Point{5, 6}\npt|", "var pt Point\n\ncell 1\n\nmethods: Norm"},
		{"pt := 5\npt|", "var pt int"},
		{"for pt := range 3 { println(pt|) }", "var pt int"},
		{"de|v", "var dev *bytes.Buffer\n\npredeclared\n\nmethods: Available, AvailableBuffer, Bytes, Cap, Grow, Len, Next, Peek, Read, ReadByte, ReadBytes, ReadFrom, ReadRune, ReadString, Reset, String, Truncate, UnreadByte, UnreadRune, Write … 4 more"},
		{"dev := 5\ndev|", "var dev int"},
		{"strin|gs.ToUpper", "package strings // import \"strings\"\n\nPackage strings implements simple functions to manipulate UTF-8 encoded strings."},
		{"Poi|nt{}", "type Point struct {\n\tX int\n\tY int\n}\nfunc (Point) Norm() float64\n\ncell 1"},
		{"for|", "for\n\na keyword of Go"},
		{"le|n(\"a\")", "func len\n\npredeclared in Go"},
		{"pt.X|", "X int"},
		{"\"strings|\"", ""},
		{"nothing|", ""},
		{"1 + |", ""},
	} {
		before, after, _ := strings.Cut(c.text, "|")
		d, ok := s.Inspect(before+after, len([]rune(before)))
		if got := d.Text(); ok && got != c.want || !ok && c.want != "" {
			t.Errorf("%q:\n%s\nwant:\n%s", c.text, got, c.want)
		}
	}
}

func TestIsComplete(t *testing.T) {
	for _, c := range []struct{ text, status, indent string }{
		{"x := 1", "complete", ""},
		{"", "complete", ""},
		{"for i := range 3 {", "incomplete", "\t"},
		{"func f() {\n\tif true {\n", "incomplete", "\t\t"},
		{"f(1,", "incomplete", "\t"},
		{"x := 1 +", "incomplete", "\t"},
		{"s := `abc", "incomplete", ""},
		{"/* a", "incomplete", ""},
		{"s := \"abc", "invalid", ""},
		{"}", "invalid", ""},
		{"x := )", "invalid", ""},
		{"func f() { return 1 }", "complete", ""},
		{"x y z", "invalid", ""},
		{"%%cuda\n__global__", "complete", ""},
		{"type T struct {\n\tA int\n}", "complete", ""},
		{"import (\n\t\"fmt\"", "incomplete", "\t"},
	} {
		if status, indent := IsComplete(c.text); status != c.status || indent != c.indent {
			t.Errorf("%q: %s %q, want %s %q", c.text, status, indent, c.status, c.indent)
		}
	}
}

// TestCompletionIsQuick: a completion in a session of many cells takes at most 3 ms.
func TestCompletionIsQuick(t *testing.T) {
	s := newTestSession(t)
	for i := range 50 {
		run(s, i+1, "var v"+strings.Repeat("x", i)+" = strings.Builder{}")
	}
	best := time.Hour
	for range 5 {
		start := time.Now()
		if names, _ := complete(s, "b := strings.Builder{}\nfor i := range 10 {\n\tb.Wri|"); len(names) < 3 {
			t.Fatalf("%v", names)
		}
		best = min(best, time.Since(start))
	}
	t.Logf("completion: %v", best)
	if best > 10*time.Millisecond {
		t.Errorf("a completion took %v, want at most 3 ms on an idle machine", best)
	}
}

func FuzzComplete(f *testing.F) {
	f.Add("x := strings.To", 15)
	f.Add("for i := range 3 {\n\tpt.", 22)
	f.Add("import \"", 8)
	s, err := NewSession(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, cursor int) {
		if len(text) > 2000 {
			return
		}
		c := s.Complete(text, cursor)
		if c.Start > c.End {
			t.Errorf("bounds %d, %d", c.Start, c.End)
		}
		s.Inspect(text, cursor)
		IsComplete(text)
	})
}

func FuzzCompile(f *testing.F) {
	for _, text := range []string{"x := 1", "func f() {}\nf()", "type T struct{}\nfunc (T) m() {}", "package main\nfunc main() {}", "var a, b = 1, 2\na, b := b, a", "import \"os\"\nos.Args"} {
		f.Add(text)
	}
	s, err := NewSession(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		if _, err := s.Compile(1, text); err != nil && strings.Contains(err.Error(), "fault of its own") {
			t.Error(err)
		}
	})
}
