package supervisor

import (
	"bytes"
	"strings"
	"testing"

	"memwall/kernel/pipe"
)

// Whatever is printed comes out again, in order and whole, when the process does not die.
func FuzzTraceFilter(f *testing.F) {
	f.Add([]byte("a\npanic: b\n\ngoroutine 1 [running]:\n"), 3)
	f.Add([]byte("fatal error: x"), 1)
	f.Add([]byte("runtime: goroutine stack exceeds\nSIGSEGV: y"), 40)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		var got bytes.Buffer
		filter := newTraceFilter(func(b []byte) { got.Write(b) })
		cut = int(uint(cut) % uint(len(text)+1))
		filter.write(text[:cut])
		filter.write(text[cut:])
		filter.release()
		if !bytes.Equal(got.Bytes(), text) {
			t.Errorf("%q became %q", text, got.Bytes())
		}
		filter.write([]byte("\npanic: dead"))
		if trace := filter.take(); trace != "panic: dead" {
			t.Errorf("trace %q", trace)
		}
	})
}

func TestCauses(t *testing.T) {
	for _, c := range []struct{ trace, summary string }{
		{"runtime: goroutine stack exceeds 1000000000-byte limit\nruntime: sp=0x1\nfatal error: stack overflow\n\nruntime stack:\n", "stack overflow"},
		{"fatal error: concurrent map writes\n\ngoroutine 7 [running]:\n", "concurrent map writes: two goroutines wrote to one map"},
		{"fatal error: concurrent map read and map write\n", "concurrent map read and map write: a goroutine read a map that another wrote"},
		{"fatal error: sync: unlock of unlocked mutex\n", "a mutex was unlocked that was not locked"},
		{"runtime: out of memory: cannot allocate 1099511627776-byte block\nfatal error: out of memory\n", "out of memory"},
		{"fatal error: all goroutines are asleep - deadlock!\n", "deadlock: all goroutines are asleep"},
		{"SIGSEGV: segmentation violation\nPC=0x0\n", "a segmentation fault in compiled code"},
		{"unexpected fault address 0x0\nfatal error: fault\n", "a memory fault in compiled code"},
		{"fatal error: something new\n", "fatal error: something new"},
		// A panic's text may speak of anything.
		{"panic: out of memory, says the user\n\ngoroutine 1 [running]:\n", "panic in a goroutine that nobody watches: out of memory, says the user"},
	} {
		if got, _ := cause(c.trace); got != c.summary {
			t.Errorf("%q: %q, want %q", c.trace, got, c.summary)
		}
	}
}

func TestLost(t *testing.T) {
	var many []pipe.Name
	for i := range 14 {
		many = append(many, pipe.Name{Name: "v" + string(rune('a'+i)), Kind: "variable", Cell: []int{1, 2, 3, 5, 7, 8}[i%6]})
	}
	for _, c := range []struct {
		names []pipe.Name
		want  string
	}{
		{nil, "no variables were lost"},
		{[]pipe.Name{{Name: "x", Kind: "variable", Cell: 3}}, "lost: variable x; run cell 3 again"},
		{[]pipe.Name{{Name: "dev", Kind: "variable"}}, "lost: variable dev"},
		{[]pipe.Name{{Name: "T", Kind: "type", Cell: 1}, {Name: "g", Kind: "function", Cell: 2}, {Name: "f", Kind: "function", Cell: 2}, {Name: "x", Kind: "variable", Cell: 1}, {Name: "c", Kind: "constant", Cell: 1}},
			"lost: variable x; functions f, g; type T; constant c; run cells 1, 2 again"},
		{many, "lost: variables " + strings.Join(strings.Split("va vb vc vd ve vf vg vh vi vj vk vl", " "), ", ") + " and 2 others; run cells 1–3, 5, 7, 8 again"},
	} {
		if got := lost(c.names); got != c.want {
			t.Errorf("%q\nwant %q", got, c.want)
		}
	}
}
