package quant

import (
	"fmt"
	"math"
	"testing"
)

// The largest of those that share a scale has the format's largest code; others err by at most half a step of theirs: 2⁻⁴ (e4m3), 2⁻³
// (e5m2) of the value, or half the smallest step.
func TestFP8(t *testing.T) {
	const rows, columns = 7, 96
	x := weights(5, rows*columns)
	for _, c := range []struct {
		format    string
		largest   byte
		relative  float64
		least     float64 // half the smallest step, in units of the scale
		group     int
		perTensor bool
		scales    int
	}{{"e4m3", 0x7e, 0x1p-4, 0x1p-10, 0, true, 1}, {"e4m3", 0x7e, 0x1p-4, 0x1p-10, 0, false, rows}, {"e5m2", 0x7b, 0x1p-3, 0x1p-17, 32, false, 3 * rows}} {
		format, err := Small(c.format)
		if err != nil {
			t.Fatal(err)
		}
		q, err := EncodeFP8(format, x, rows, columns, c.group, c.perTensor)
		if err != nil || len(q.Scales) != c.scales || q.Bytes() != rows*columns+4*c.scales {
			t.Fatalf("%s: %v, %d scales", c.format, err, len(q.Scales))
		}
		back, span := q.Decode(), rows*columns/c.scales
		for from := 0; from < len(x); from += span {
			most := 0
			for i := range span {
				if math.Abs(float64(x[from+i])) > math.Abs(float64(x[from+most])) {
					most = i
				}
			}
			if q.Codes[from+most]&0x7f != c.largest {
				t.Errorf("%s: the largest has the code %#x", c.format, q.Codes[from+most])
			}
		}
		for i := range x {
			allowed := math.Max(math.Abs(float64(x[i]))*c.relative, c.least*float64(q.Scales[i/span])) * 1.0001
			if d := math.Abs(float64(back[i] - x[i])); !(d <= allowed) {
				t.Errorf("%s, value %d: error %g, %g allowed", c.format, i, d, allowed)
			}
		}
	}
	e4m3, err := Small("e4m3")
	if err != nil {
		t.Fatal(err)
	}
	zero, err := EncodeFP8(e4m3, []float32{0, float32(math.Copysign(0, -1)), 1e-45, 0}, 1, 4, 0, false)
	if err != nil || fmt.Sprint(zero.Codes, zero.Scales) != "[0 128 0 0] [0]" {
		t.Error(zero, err)
	}
	for want, err := range map[string]error{
		"quant: value [0, 1] is +Inf: with a scale, e4m3 has no code for it": failed(EncodeFP8(e4m3, []float32{0, float32(math.Inf(1))}, 1, 2, 0, false)),
		"quant: e4m3 with groups of 3: they do not divide 4 columns":         failed(EncodeFP8(e4m3, make([]float32, 4), 1, 4, 3, false)),
		"quant: e4m3 of [2, 4]: 4 values":                                    failed(EncodeFP8(e4m3, make([]float32, 4), 2, 4, 0, false)),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func failed(_ *FP8, err error) error { return err }
