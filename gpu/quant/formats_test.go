package quant

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// weights are normal with one outlier in a thousand.
func weights(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
		if r.IntN(1000) == 0 {
			x[i] *= 10
		}
	}
	return x
}

// Bits a weight as formats.md and GGUF's documentation give them.
func TestBits(t *testing.T) {
	want := map[string]float64{"Q8_0": 8.5, "Q4_0": 4.5, "Q4_1": 5, "Q5_0": 5.5, "Q5_1": 6, "Q2_K": 2.625, "Q3_K": 3.4375, "Q4_K": 4.5, "Q5_K": 5.5,
		"Q6_K": 6.5625, "MXFP4": 4.25, "Q8_1": 9}
	for _, f := range Formats() {
		if f.Bits() != want[f.Name] {
			t.Errorf("%s: %g bits a weight, want %g", f.Name, f.Bits(), want[f.Name])
		}
	}
	if got, want := Formats()[1].String(), "Q8_0: 8.5 bits a weight (32 values in 34 B)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The error of every value stays within the format's bound, and more bits never lose more.
func TestErrorBounds(t *testing.T) {
	previous := -1.0
	for _, f := range Formats() {
		if f.encode == nil {
			continue
		}
		worst := 0.0
		for seed := range uint64(40) {
			x := weights(seed, 1024)
			packed, err := f.Encode(x)
			if err != nil {
				t.Fatal(err)
			}
			back, err := f.Decode(packed)
			if err != nil {
				t.Fatal(err)
			}
			for from := 0; from < len(x); from += f.Block {
				bound, err := f.ErrorBound(x[from : from+f.Block])
				if err != nil {
					t.Fatal(err)
				}
				for i := from; i < from+f.Block; i++ {
					if d := math.Abs(float64(back[i]) - float64(x[i])); !(d <= bound) {
						t.Fatalf("%s: %g decodes to %g: error %g, bound %g", f.Name, x[i], back[i], d, bound)
					}
				}
			}
			e, err := RelativeError(back, x)
			if err != nil {
				t.Fatal(err)
			}
			worst = math.Max(worst, e)
		}
		if f.Name == "Q8_0" || f.Name == "Q6_K" || f.Name == "Q4_K" || f.Name == "MXFP4" {
			if !(worst > previous) {
				t.Errorf("%s loses %g, a format with more bits %g", f.Name, worst, previous)
			}
			previous = worst
		}
	}
}

func TestFormatErrors(t *testing.T) {
	q4, q2 := mustGet(t, "q4_0"), mustGet(t, "Q2_K")
	nan := make([]float32, 64)
	nan[33] = float32(math.NaN())
	inf := make([]float32, 32)
	inf[0] = float32(math.Inf(-1))
	for _, c := range []struct {
		name string
		call func() error
		want string
	}{
		{"name", func() error { _, err := Get("Q9"); return err }, `quant: there is no format "Q9"; there are Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, MXFP4, Q8_1`},
		{"block", func() error { _, err := q4.Encode(make([]float32, 33)); return err }, "quant: 33 values do not divide into blocks of 32, which Q4_0 has"},
		{"reading", func() error { _, err := q2.Encode(make([]float32, 256)); return err }, "quant: Q2_K can be read, not made; Q4_K and Q6_K can be made"},
		{"bytes", func() error { _, err := q2.Decode(make([]byte, 85)); return err }, "quant: 85 bytes are no whole number of blocks of 84, which Q2_K has"},
		{"NaN", func() error { _, err := q4.Encode(nan); return err }, "quant: value 33 is NaN: Q4_0 has no code for it"},
		{"Inf", func() error { _, err := q4.Encode(inf); return err }, "quant: value 0 is -Inf: Q4_0 has no code for it"},
		{"small", func() error { _, err := Small("e9m9"); return err }, `quant: there is no small float "e9m9"; there are e4m3, e5m2, e2m3, e3m2, e2m1`},
		{"int8", func() error { _, err := EncodeInt8(nan, 2, 32, 0, false); return err }, "quant: value [1, 1] is NaN: with a scale, int8 has no code for it"},
		{"int8 group", func() error { _, err := EncodeInt8(inf, 1, 32, 5, false); return err }, "quant: int8 with groups of 5: they do not divide 32 columns"},
		{"int8 tensor", func() error { _, err := EncodeInt8(inf, 1, 32, 8, true); return err }, "quant: int8 with one scale for the tensor has no groups, and 8 were asked for"},
		{"int8 size", func() error { _, err := EncodeInt8(inf, 2, 32, 0, false); return err }, "quant: int8 of [2, 32]: 32 values"},
		{"measure", func() error { _, err := NMSE(nan, inf); return err }, "quant: 64 values to compare with 32"},
		{"KL", func() error { _, err := KL(nil, nil); return err }, "quant: 0 logits to compare with 0"},
		{"GPTQ bits", func() error { _, err := (&Packed{K: 32, N: 32, Bits: 5}).DecodeGPTQ(); return err }, "quant: GPTQ with 5 bits: only 2, 3, 4 and 8 are defined"},
		{"AWQ bits", func() error { _, err := (&Packed{K: 32, N: 32, Bits: 8}).DecodeAWQ(); return err }, "quant: AWQ with 8 bits: only 4 are defined"},
		{"GPTQ shape", func() error { _, err := (&Packed{K: 33, N: 32, Bits: 4}).DecodeGPTQ(); return err }, "quant: GPTQ of [33, 32]: K and N are multiples of 32"},
		{"GPTQ group", func() error { _, err := (&Packed{K: 64, N: 32, Bits: 4, Group: 48}).DecodeGPTQ(); return err }, "quant: GPTQ with groups of 48: they do not divide K = 64"},
		{"GPTQ words", func() error { _, err := (&Packed{K: 64, N: 32, Bits: 4, Group: 64}).DecodeGPTQ(); return err }, "quant: GPTQ of [64, 32], 4 bits, groups of 64: Words has 0 elements, expected 256"},
		{"GPTQ index", func() error {
			p := Packed{K: 32, N: 32, Bits: 4, Group: 32, Words: make([]uint32, 128), Zeros: make([]uint32, 4), Scales: make([]uint16, 32), Groups: make([]int32, 32)}
			p.Groups[7] = 1
			_, err := p.DecodeGPTQ()
			return err
		}, "quant: GPTQ: Groups (g_idx) sends row 7 to group 1 of 1"},
		{"words", func() error { _, err := Words(make([]byte, 7)); return err }, "quant: 7 bytes are no whole number of 32-bit words"},
	} {
		if err := c.call(); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n%v\nwant\n%s", c.name, err, c.want)
		}
	}
}

// EncodeAny gives Encode's bytes for finite blocks, and blocks of NaN for others.
func TestEncodeAny(t *testing.T) {
	for i := range formats {
		f := &formats[i]
		if f.encode == nil {
			if _, err := f.EncodeAny(make([]float32, f.Block)); err == nil || err.Error() != "quant: "+f.Name+" can be read, not made; Q4_K and Q6_K can be made" {
				t.Errorf("%s: %v", f.Name, err)
			}
			continue
		}
		x := weights(5, 3*f.Block)
		plain, err := f.Encode(x)
		if err != nil {
			t.Fatal(err)
		}
		x[f.Block+7], x[f.Block+9] = float32(math.Inf(1)), float32(math.NaN())
		got, err := f.EncodeAny(x)
		if err != nil || !bytes.Equal(got[:f.Bytes], plain[:f.Bytes]) || !bytes.Equal(got[2*f.Bytes:], plain[2*f.Bytes:]) {
			t.Errorf("%s: the blocks beside differ, %v", f.Name, err)
		}
		back, err := f.Decode(got)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range back {
			if inside := k >= f.Block && k < 2*f.Block; (v != v) != inside {
				t.Fatalf("%s: value %d is %g", f.Name, k, v)
			}
		}
	}
}

func mustGet(t testing.TB, name string) *Format {
	t.Helper()
	f, err := Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// int8's error is at most half a step of its scale; finer scales never lose more.
func TestInt8(t *testing.T) {
	const rows, columns = 7, 96
	x := weights(3, rows*columns)
	previous := math.Inf(1)
	for _, c := range []struct {
		group     int
		perTensor bool
		scales    int
	}{{0, true, 1}, {0, false, rows}, {32, false, 3 * rows}} {
		q, err := EncodeInt8(x, rows, columns, c.group, c.perTensor)
		if err != nil {
			t.Fatal(err)
		}
		if len(q.Scales) != c.scales || q.Bytes() != rows*columns+4*c.scales {
			t.Errorf("%d scales, %d B", len(q.Scales), q.Bytes())
		}
		back, span := q.Decode(), rows*columns/c.scales
		for i := range x {
			if d := math.Abs(float64(back[i] - x[i])); !(d <= float64(q.Scales[i/span])*0.5001) {
				t.Errorf("value %d: error %g with scale %g", i, d, q.Scales[i/span])
			}
		}
		e, err := RelativeError(back, x)
		if err != nil || !(e < previous) {
			t.Errorf("relative error %g after %g, %v", e, previous, err)
		}
		previous = e
	}
	zero, err := EncodeInt8(make([]float32, 4), 1, 4, 0, false)
	if err != nil || fmt.Sprint(zero.Decode()) != "[0 0 0 0]" {
		t.Error(zero, err)
	}
}

// Measures against values worked out by hand.
func TestMeasures(t *testing.T) {
	near := func(name string, got float64, err error, want float64) {
		t.Helper()
		if err != nil || !(math.Abs(got-want) <= 1e-7) {
			t.Errorf("%s: %g, %v, want %g", name, got, err, want)
		}
	}
	got, want := []float32{3, 4, 1}, []float32{3, 4, 0}
	e, err := RelativeError(got, want)
	near("relative error", e, err, 1.0/5)
	e, err = NMSE(got, want)
	near("NMSE", e, err, 1.0/25)
	// want has probabilities ½ and ½, got ¼ and ¾: ½·ln 2 + ½·ln ⅔.
	e, err = KL([]float32{0, float32(math.Log(3))}, []float32{0, 0})
	near("KL", e, err, 0.5*math.Log(2)+0.5*math.Log(2.0/3))
	e, err = KL(got, got)
	near("KL of equals", e, err, 0)
	if e, err = KL([]float32{0, float32(math.NaN())}, []float32{0, 0}); err != nil || e == e {
		t.Errorf("KL with NaN is %g, %v", e, err)
	}
	if e, err = NMSE([]float32{float32(math.NaN())}, []float32{1}); err != nil || e == e {
		t.Errorf("NMSE with NaN is %g, %v", e, err)
	}
}

// Decoding any bytes gives values, and encoding what was decoded keeps formats with one scale as they are.
func FuzzDecode(f *testing.F) {
	f.Add(bytes.Repeat([]byte{0x12, 0x34, 0x56}, 400))
	f.Add([]byte{0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		for i := range formats {
			format := &formats[i]
			whole := data[:len(data)/format.Bytes*format.Bytes]
			x, err := format.Decode(whole)
			if err != nil || len(x) != len(whole)/format.Bytes*format.Block {
				t.Fatalf("%s: %d values, %v", format.Name, len(x), err)
			}
			if format.encode == nil {
				continue
			}
			packed, err := format.Encode(x)
			finite := true
			for _, v := range x {
				finite = finite && v-v == 0
			}
			if (err == nil) != finite || err != nil && !strings.HasSuffix(err.Error(), format.Name+" has no code for it") {
				t.Fatalf("%s: %v for finite %v", format.Name, err, finite)
			}
			if err == nil && len(packed) != len(whole) {
				t.Fatalf("%s: %d bytes from %d", format.Name, len(packed), len(whole))
			}
		}
	})
}

func BenchmarkFormats(b *testing.B) {
	x := weights(1, 1<<14)
	for i := range formats {
		f := &formats[i]
		if f.encode == nil {
			continue
		}
		packed, err := f.Encode(x)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("encode/"+f.Name, func(b *testing.B) {
			b.SetBytes(4 << 14)
			for b.Loop() {
				if _, err := f.Encode(x); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("decode/"+f.Name, func(b *testing.B) {
			b.SetBytes(4 << 14)
			for b.Loop() {
				if _, err := f.Decode(packed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
