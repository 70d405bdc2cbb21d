package simulate

import (
	"reflect"
	"testing"
)

// Spread by hand: one CTA to each SM in turn, then to the slot that is free first.
func TestDispatched(t *testing.T) {
	for _, x := range []struct {
		name          string
		work          []float64
		sms, resident int
		want          Dispatch
	}{
		{"fewer than SMs: the longest has its SM to itself", []float64{1, 2, 3, 4}, 8, 2, Dispatch{[]int{3}, 4, 4}},
		{"all alike, a whole wave and a part", []float64{1, 1, 1, 1, 1}, 2, 2, Dispatch{[]int{0, 2, 4}, 3, 2}},
		{"the third goes to the SM whose first ends first", []float64{5, 1, 1, 1, 1}, 2, 1, Dispatch{[]int{0}, 5, 5}},
		{"a long one at the end is not balanced", []float64{1, 1, 1, 1, 9}, 2, 1, Dispatch{[]int{0, 2, 4}, 11, 11}},
		{"triangle, two slots an SM", []float64{1, 2, 3, 4, 5, 6}, 2, 2, Dispatch{[]int{1, 3, 5}, 12, 8}},
		{"no CTA", nil, 4, 1, Dispatch{}},
		{"no SM is known", []float64{2, 3}, 0, 0, Dispatch{[]int{0, 1}, 5, 5}},
	} {
		if got := Dispatched(x.work, x.sms, x.resident); !reflect.DeepEqual(got, x.want) {
			t.Errorf("%s: %+v, want %+v", x.name, got, x.want)
		}
	}
}
