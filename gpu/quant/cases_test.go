package quant

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"memwall/gpu/quant/quanttest"
)

// sameBits compares floats bit for bit, but for the payload of a NaN.
func sameBits(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

func squaredError(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	return sum
}

// Every format against GGML's bytes: decoded bit for bit; encoded to the same bytes, or, for K-quants, to bytes with no
// larger error.
func TestBlockFormats(t *testing.T) {
	for i := range formats {
		f := &formats[i]
		t.Run(f.Name, func(t *testing.T) {
			equal, searched := 0, 0
			for _, c := range quanttest.Cases[quanttest.Block](t, strings.ToLower(f.Name)+".jsonl") {
				x, packed, want := quanttest.Floats(t, c.Input), quanttest.Hex(t, c.Packed), quanttest.Floats(t, c.Values)
				got, err := f.Decode(packed)
				if err != nil || len(got) != len(want) {
					t.Fatalf("%s: %d values, %v; want %d", c.Case, len(got), err, len(want))
				}
				for k := range want {
					if !sameBits(got[k], want[k]) {
						t.Fatalf("%s: value %d decodes to %g, want %g", c.Case, k, got[k], want[k])
					}
				}
				if f.encode == nil {
					continue
				}
				mine, err := f.Encode(x)
				if err != nil {
					t.Fatalf("%s: %v", c.Case, err)
				}
				if bytes.Equal(mine, packed) || c.Second != "" && bytes.Equal(mine, quanttest.Hex(t, c.Second)) {
					equal++
					continue
				}
				back, err := f.Decode(mine)
				if err != nil {
					t.Fatal(err)
				}
				if e, most := squaredError(back, x), squaredError(want, x); f.Block != 256 || !(e <= most) {
					t.Errorf("%s: other bytes, squared error %g against %g", c.Case, e, most)
				}
				searched++
			}
			t.Logf("%d cases with the same bytes, %d with others and no larger error", equal, searched)
		})
	}
}

type dotCase struct {
	Activation string
	Input      string `json:"x_f32_hex"`
	Packed     string `json:"x_packed_hex"`
}

// Q8_1 against GGML's activations: the same bytes.
func TestActivations(t *testing.T) {
	compared := 0
	for _, c := range quanttest.Cases[dotCase](t, "dot.jsonl") {
		if !strings.HasPrefix(c.Activation, "Q8_") || c.Activation == "Q8_K" {
			continue
		}
		got, err := mustGet(t, c.Activation).Encode(quanttest.Floats(t, c.Input))
		if want := quanttest.Hex(t, c.Packed); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s:\n%x, %v\nwant\n%x", c.Activation, got, err, want)
		}
		compared++
	}
	t.Logf("%d activations have the same bytes", compared)
}

// Small floats against ml_dtypes: every code decoded, every f16 and many f32 encoded.
func TestSmallFloats(t *testing.T) {
	for _, c := range quanttest.Cases[quanttest.Small](t, "float.jsonl") {
		s, err := Small(c.Format)
		if err != nil {
			if c.Format != "e8m0" && c.Format != "bf16" {
				t.Error(err)
			}
			continue
		}
		compare := func(what string, i int, v float32, got, want byte) {
			nan := s.NaN >= 0 && s.Decode(got) != s.Decode(got) && s.Decode(want) != s.Decode(want)
			if got != want && !nan && !(v != v && s.NaN < 0) {
				t.Errorf("%s %s: %d: %g becomes %#x, want %#x", c.Format, what, i, v, got, want)
			}
		}
		switch c.Kind {
		case "decode":
			for code, want := range quanttest.Floats(t, c.Values) {
				if got := s.Decode(byte(code)); !sameBits(got, want) {
					t.Errorf("%s: code %#x is %g, want %g", c.Format, code, got, want)
				}
			}
		case "encode_all_f16", "encode_all_f16_satfinite":
			all := quanttest.AllHalves(t, c.Zlib)
			for h := range all {
				v := F16ToFloat32(uint16(h))
				got := s.Encode(v)
				if c.Kind != "encode_all_f16" {
					got = s.EncodeSaturating(v)
				}
				compare(c.Kind, h, v, got, all[h])
			}
		case "encode_f32":
			packed := quanttest.Hex(t, c.Packed)
			for i, v := range quanttest.Floats(t, c.Input) {
				compare(c.Kind, i, v, s.Encode(v), packed[i])
				if c.Saturated != "" {
					compare("satfinite", i, v, s.EncodeSaturating(v), quanttest.Hex(t, c.Saturated)[i])
				}
			}
		}
	}
}
