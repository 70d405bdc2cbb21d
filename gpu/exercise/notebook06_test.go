package exercise

import (
	"math"
	"testing"
)

// TestUpdate tries right updates and every likely mistake; the whole text of one verdict is checked.
func TestUpdate(t *testing.T) {
	right := func(m, l, x float64) (float64, float64) {
		top := math.Max(m, x)
		return top, l*math.Exp(m-top) + math.Exp(x-top)
	}
	if r := Check("06.3", right); !r.Right {
		t.Errorf("the right update: %v", r)
	}
	branches := func(m, l, x float64) (float64, float64) {
		if x <= m {
			return m, l + math.Exp(x-m)
		}
		return x, l*math.Exp(m-x) + 1
	}
	if r := Check("06.3", branches); !r.Right {
		t.Errorf("an update with branches: %v", r)
	}
	for hint, f := range map[string]func(m, l, x float64) (float64, float64){
		"The new maximum is the larger of m and x: math.Max(m, x).": func(m, l, x float64) (float64, float64) { return m, l + math.Exp(x-m) },
		"At the start m is −inf and l is 0. Subtract from the NEW maximum only: −inf − (−inf) is no number, exp(−inf − new) is 0.": func(m, l, x float64) (float64, float64) {
			return math.Max(m, x), l*math.Exp(m-m) + math.Exp(x-math.Max(m, x))
		},
		"exp of a large number overflows; that is why softmax subtracts the maximum: exp(x − new).": func(m, l, x float64) (float64, float64) {
			top := math.Max(m, x)
			return top, (l*math.Exp(m) + math.Exp(x)) / math.Exp(top)
		},
		"The new term is right; the old sum is still relative to the old maximum. Scale it by exp(old − new).": func(m, l, x float64) (float64, float64) {
			top := math.Max(m, x)
			return top, l + math.Exp(x-top)
		},
		"The factor is upside down: old terms shrink when the maximum rises. exp(old − new).": func(m, l, x float64) (float64, float64) {
			top := math.Max(m, x)
			if l == 0 {
				return top, 1
			}
			return top, l*math.Exp(top-m) + math.Exp(x-top)
		},
		"The new term is exp(x − new); it is 1 only where x is the new maximum.": func(m, l, x float64) (float64, float64) {
			top := math.Max(m, x)
			return top, l*math.Exp(m-top) + 1
		},
		"The new term is exp(x − new): relative to the maximum, like the rest of the sum.": func(m, l, x float64) (float64, float64) {
			top := math.Max(m, x)
			return top, l*math.Exp(m-top) + math.Exp(x)
		},
		"The new term is relative to the old maximum; the sum is now relative to the new one: exp(x − new).": func(m, l, x float64) (float64, float64) {
			top := math.Max(m, x)
			if l == 0 {
				return top, 1
			}
			return top, l*math.Exp(m-top) + math.Exp(x-m)
		},
		"The old sum is scaled rightly, but the new term exp(x − new) is missing.": func(m, l, x float64) (float64, float64) {
			top := math.Max(m, x)
			if l == 0 {
				return top, 1
			}
			return top, l * math.Exp(m-top)
		},
		"l = l·exp(old − new) + exp(x − new), with new = max(old, x).": func(m, l, x float64) (float64, float64) { return math.Max(m, x), 7 },
	} {
		if r := Check("06.3", f); r.Right || r.Why != hint {
			t.Errorf("got %v\nwant the hint %s", r, hint)
		}
	}
	forgets := func(m, l, x float64) (float64, float64) { return math.Max(m, x), l + math.Exp(x-math.Max(m, x)) }
	want := "06.3  Not yet: for 1, 3, 2, 5, 0, 4, after 2 of them, it gives m = 3, l = 2; two passes give m = 3, l = 1.135.\n" +
		"The new term is right; the old sum is still relative to the old maximum. Scale it by exp(old − new)."
	if got := Check("06.3", forgets).String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if r := Check("06.3", 3); r.Right || r.Headline != "No function yet: it takes a func(m, l, x float64) (float64, float64), this is a int." {
		t.Errorf("a number: %v", r)
	}
	var none func(m, l, x float64) (float64, float64)
	if r := Check("06.3", none); r.Right {
		t.Errorf("nil: %v", r)
	}
}
