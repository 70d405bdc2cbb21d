package quant

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readCases gives the lines of a file of ../shared/cases/quant, made by other implementations (GGML, ml_dtypes, auto-gptq,
// autoawq). Where the folder is not there it says so and gives none.
func readCases[T any](t *testing.T, name string) []T {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "cases", "quant", name)
	file, err := os.Open(path)
	if err != nil {
		t.Logf("not compared with other implementations: %v", err)
		return nil
	}
	defer file.Close()
	var list []T
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	if err := lines.Err(); err != nil || len(list) == 0 {
		t.Fatalf("%s: %d cases, %v", name, len(list), err)
	}
	return list
}

func fromHex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func floatsFromHex(t *testing.T, s string) []float32 {
	t.Helper()
	b := fromHex(t, s)
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

type blockCase struct {
	Case   string
	Input  string `json:"input_f32_hex"`
	Packed string `json:"packed_hex"`
	Second string `json:"second_packed_hex"`
	Values string `json:"dequant_f32_hex"`
}

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
			for _, c := range readCases[blockCase](t, strings.ToLower(f.Name)+".jsonl") {
				x, packed, want := floatsFromHex(t, c.Input), fromHex(t, c.Packed), floatsFromHex(t, c.Values)
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
				if bytes.Equal(mine, packed) || c.Second != "" && bytes.Equal(mine, fromHex(t, c.Second)) {
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
	for _, c := range readCases[dotCase](t, "dot.jsonl") {
		if !strings.HasPrefix(c.Activation, "Q8_") || c.Activation == "Q8_K" {
			continue
		}
		got, err := mustGet(t, c.Activation).Encode(floatsFromHex(t, c.Input))
		if want := fromHex(t, c.Packed); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s:\n%x, %v\nwant\n%x", c.Activation, got, err, want)
		}
		compared++
	}
	t.Logf("%d activations have the same bytes", compared)
}

type smallCase struct {
	Format, Kind string
	Input        string `json:"input_f32_hex"`
	Packed       string `json:"packed_hex"`
	Saturated    string `json:"packed_satfinite_hex"`
	Values       string `json:"dequant_f32_hex"`
	Zlib         string `json:"zlib_base64"`
}

// Small floats against ml_dtypes: every code decoded, every f16 and many f32 encoded.
func TestSmallFloats(t *testing.T) {
	for _, c := range readCases[smallCase](t, "float.jsonl") {
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
			for code, want := range floatsFromHex(t, c.Values) {
				if got := s.Decode(byte(code)); !sameBits(got, want) {
					t.Errorf("%s: code %#x is %g, want %g", c.Format, code, got, want)
				}
			}
		case "encode_all_f16", "encode_all_f16_satfinite":
			packed, err := base64.StdEncoding.DecodeString(c.Zlib)
			if err != nil {
				t.Fatal(err)
			}
			z, err := zlib.NewReader(bytes.NewReader(packed))
			if err != nil {
				t.Fatal(err)
			}
			all, err := io.ReadAll(z)
			if err != nil || len(all) != 1<<16 {
				t.Fatalf("%d bytes, %v", len(all), err)
			}
			for h := range all {
				v := F16ToFloat32(uint16(h))
				got := s.Encode(v)
				if c.Kind != "encode_all_f16" {
					got = s.EncodeSaturating(v)
				}
				compare(c.Kind, h, v, got, all[h])
			}
		case "encode_f32":
			packed := fromHex(t, c.Packed)
			for i, v := range floatsFromHex(t, c.Input) {
				compare(c.Kind, i, v, s.Encode(v), packed[i])
				if c.Saturated != "" {
					compare("satfinite", i, v, s.EncodeSaturating(v), fromHex(t, c.Saturated)[i])
				}
			}
		}
	}
}
