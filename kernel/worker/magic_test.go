package worker

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"x := 1", "[] false \"x := 1\" \"\""},
		{"%device t4\nx", "[%device t4] false \"\\nx\" \"\""},
		{"// first\n  %%time\n%reset\n\nx % y", "[%reset] true \"// first\\n\\n\\n\\nx % y\" \"\""},
		{"x := `\n%device t4`", "[] false \"x := `\\n%device t4`\" \"\""}, // inside the code it is code
		{"fmt.Println?", "[] false \"\" \"fmt.Println\""},
		{"? x", "[] false \"\" \"x\""},
		{"a ? b", "[] false \"a ? b\" \"\""},
		{"%", "UnknownMagic % is no magic here; there are %%cuda, %%ptx, %%time, %%sanitize, %device NAME, %reset, %help; anything else is said in Go"},
		{"%cuda\nx", "UnknownMagic %cuda is written %%cuda, on the first line of the cell"},
		{"%%Device t4", "UnknownMagic %%Device is written %device, on a line before the code"},
		{"%%timeit x", "UnknownMagic %%timeit is no magic here; there are %%cuda, %%ptx, %%time, %%sanitize, %device NAME, %reset, %help; anything else is said in Go"},
		{"%%sanitize\nx", "[] false \"\\nx\" \"\""},
		{"%%sanitize x", "UnknownMagic %%sanitize stands alone on the first line of the cell whose launches it checks"},
		{"%%time x", "UnknownMagic %%time stands alone on its line; the code that it times follows below"},
	} {
		o := parse(c.code)
		got := fmt.Sprintf("%v %v %q %q", o.magics, o.timed, o.code, o.page)
		if o.failure != nil {
			got = o.failure.Name + " " + o.failure.Value
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.code, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"%device t4\nx", "%%time", "?a.b", "//\n%", "%\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		o := parse(code)
		if o.failure == nil && o.page == "" && strings.Count(o.code, "\n") != strings.Count(code, "\n") {
			t.Errorf("%q lost lines: %q", code, o.code)
		}
		if b := blanked(code); len([]rune(b)) != len([]rune(code)) {
			t.Errorf("%q changed its length: %q", code, b)
		}
	})
}

func TestDigits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1234567: "1.23ms", 999: "999ns", 0: "0s", 1000: "1.00µs", 10_049: "10.0µs", 999_949: "1.00ms", 999_449: "999µs", 707 * time.Millisecond: "707ms",
		time.Second: "1.00s", 999_700 * time.Microsecond: "1.00s", 61234 * time.Millisecond: "61.2s", 10 * time.Minute: "600s",
		999_960 * time.Millisecond: "16m40s", 3661 * time.Second: "1h1m0s",
	} {
		if got := digits(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
