package perf

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{7e-6, "s", "7.00 µs"}, {9.996e-6, "s", "10.0 µs"}, {999.6e-6, "s", "1.00 ms"}, {0.75e-6, "s", "750 ns"},
		{338e-6, "s", "338 µs"}, {12.34, "s", "12.3 s"}, {0, "s", "0 s"}, {2.5e-13, "s", "0.250 ps"}, {7200, "s", "7,200 s"},
		{33554432, "B", "33.6 MB"}, {24, "B", "24 B"}, {999500, "B", "1.00 MB"}, {4.8e12, "B/s", "4.80 TB/s"},
		{989e12, "FLOP/s", "989 TFLOP/s"}, {33.6e6, "FLOP", "33.6 MFLOP"}, {1, "FLOP/B", "1.00 FLOP/B"},
		{62.5, "%", "62.5%"}, {100, "%", "100%"}, {100. / 3, "%", "33.3%"}, {24904, "", "24,904"}, {1840000, "", "1.84 M"},
		{99999, "", "99,999"}, {100000, "", "100 k"}, {12.5, "", "12.5"}, {0, "", "0"}, {1.755e9, "Hz", "1.75 GHz"},
		{math.NaN(), "s", "not a number"}, {math.Inf(1), "B", "not a number"}, {math.NaN(), "%", "not a number"},
		{math.NaN(), "", "not a number"}, {3, "pages", "3.00 pages"}, {-1.5e-6, "s", "-1.50 µs"},
	} {
		if got := Format(c.v, c.unit); got != c.want {
			t.Errorf("Format(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
	for _, c := range []struct{ got, want string }{
		{Range(9.1e-6, 11.4e-6, "s"), "9.10–11.4 µs"}, {Range(0.9e-3, 1.44e-3, "s"), "0.900–1.44 ms"},
		{Range(5e-6, 5e-6, "s"), "5.00 µs"}, {Range(25, 50, "%"), "25.0–50.0%"}, {Of(3.26e12, 4.8e12, "B/s"), "3.26 of 4.80 TB/s"},
		{Of(2e-6, 3.1e-6, "s"), "2.00 of 3.10 µs"}, {FormatCapacity(49152), "48 KiB"}, {FormatCapacity(2 << 20), "2 MiB"},
		{FormatCapacity(100), "100 B"}, {WholePercent(0.3), "under 1%"}, {WholePercent(99.7), "99%"}, {WholePercent(100), "100%"},
		{WholePercent(0), "0%"}, {Trimmed(16), "16"}, {Trimmed(1.333), "1.33"}, {Trimmed(100), "100"},
		{Figure{Value: 1, Unit: "B", Tag: Executed}.String(), "1 B (EXECUTED)"}, {Absent("B", "no counters").String(), "no counters"},
		{Figure{Value: 3, Low: 2, High: 4, Unit: "s", Tag: Modelled}.String(), "2.00–4.00 s (MODELLED)"}, {Figure{}.Number(), "unknown"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestFormatKeepsThreeDigits: what is printed is within half a unit of the third digit of the value.
func TestFormatKeepsThreeDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Pow(10, rapid.Float64Range(-12, 17).Draw(t, "exponent"))
		s := Format(v, "FLOP")
		number, prefix, ok := strings.Cut(strings.TrimSuffix(s, "FLOP"), " ")
		if !ok {
			t.Fatalf("%q has no space", s)
		}
		var got float64
		if _, err := fmt.Sscan(strings.ReplaceAll(number, ",", ""), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		got *= map[string]float64{"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}[prefix]
		if !(math.Abs(got/v-1) < 0.0051) {
			t.Fatalf("%v written as %q", v, s)
		}
		if digits := strings.Trim(strings.NewReplacer(".", "", ",", "").Replace(strings.SplitN(number, "e", 2)[0]), "0"); len(digits) > 3 {
			t.Fatalf("%v written as %q: more than three digits", v, s)
		}
	})
}
