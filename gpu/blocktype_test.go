package gpu

import (
	"math"
	"strings"
	"testing"

	"memwall/gpu/quant"
)

// Each row of gpu/quant's table is an element type: its constant has the row's name, and sizes are the row's.
func TestBlockTypes(t *testing.T) {
	named := []DType{Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, MXFP4, Q8_1}
	names := strings.Fields("Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q2_K Q3_K Q4_K Q5_K Q6_K MXFP4 Q8_1")
	for i, dtype := range named {
		f, err := quant.Get(names[i])
		if err != nil {
			t.Fatal(err)
		}
		if dtype.String() != strings.ToLower(names[i]) || dtype.Block() != f.Block || dtype.Size(512) != int64(512/f.Block*f.Bytes) || dtype.Bits() != f.Bits() ||
			dtype.Bytes() != 0 || !dtype.Float() {
			t.Errorf("%s: %s, blocks of %d, %d B for 512", names[i], dtype, dtype.Block(), dtype.Size(512))
		}
		if got, err := TypeNamed(names[i]); got != dtype || err != nil {
			t.Errorf("%s is %s, %v", names[i], got, err)
		}
	}
	if quant.At(len(named)) != nil {
		t.Error("gpu/quant has a format without a constant here")
	}
	if got, err := TypeNamed("F16"); got != F16 || err != nil {
		t.Errorf("F16 is %s, %v", got, err)
	}
	if got := DType(63).String(); got != "DType(63)" {
		t.Errorf("no type is %s", got)
	}
}

// A tensor of a block format: made from values, from bytes and at random, read, sliced, seen as bytes, and what it shows.
func TestBlockTensor(t *testing.T) {
	d := fresh(t, "h200")
	values := make([]float32, 3*64)
	for i := range values {
		values[i] = float32(i%16 - 8)
	}
	w := d.FromAs(Q4_0, values, 3, 64) // −8…7 with scale 1: exact
	if w.Bytes() != 3*2*18 || w.Len() != 3*64 || w.At(2, 63) != 7 || w.At(1, 32) != -8 {
		t.Errorf("%d B, %g, %g", w.Bytes(), w.At(2, 63), w.At(1, 32))
	}
	for i, v := range w.Slice(1, 3).Float32s() {
		if v != values[64+i] {
			t.Fatalf("value %d of the slice is %g, want %g", i, v, values[64+i])
		}
	}
	want := "q4_0 [3, 64] on virtual:h200, 108 B, 4.5 bits a value\nmin -8, max 7, 0 NaN\n[-8, -7, -6, -5, -4, -3, -2, -1, …]"
	if got := w.String(); got != want {
		t.Errorf("shows\n%s\nwant\n%s", got, want)
	}
	for i := DType(0); (blockTypes + i).valid(); i++ {
		zeros := d.Zeros(blockTypes+i, 256)
		for k, v := range zeros.Float32s() {
			if math.Float32bits(v) != 0 {
				t.Errorf("zero %d of %s is %g", k, blockTypes+i, v)
				break
			}
		}
	}
	raw := w.View(U8)
	if got := shapeText(raw.Shape()); got != "[3, 36]" {
		t.Errorf("bytes are %s", got)
	}
	bytes := raw.Buffer().CopyOut()
	back := d.From(bytes, 3, 36).View(Q4_0)
	if got := back.Float32s(); shapeText(back.Shape()) != "[3, 64]" || got[5] != -3 {
		t.Errorf("from bytes: %s, %g", back.describe(), got[5])
	}
	if got := d.Full(Q8_0, 3, 2, 32).Float32s(); got[0] != got[63] || math.Abs(float64(got[0])-3) > 0.003 {
		t.Errorf("Full(3) is %g … %g", got[0], got[63])
	}
	if got := d.Zeros(Q4_K, 2, 512).Float32s(); got[0] != 0 || got[1023] != 0 {
		t.Errorf("Zeros is %g", got[0])
	}
	r, p := fresh(t, "h200").Randn(F32, 64, 256), fresh(t, "h200").Randn(Q8_0, 64, 256)
	e, err := quant.RelativeError(p.Float32s(), r.Float32s())
	if err != nil || !(e > 0.001 && e < 0.01) {
		t.Errorf("Randn as q8_0 differs by %g from f32, %v", e, err)
	}
	lazy := fresh(t, "h200").Procedural(Q8_0, 0, 64, 256)
	for i, v := range lazy.Float32s() {
		if v != p.Float32s()[i] {
			t.Fatalf("Procedural: value %d is %g, Randn's %g", i, v, p.At(i/256, i%256))
		}
	}
	if big := d.Procedural(Q6_K, 7, 70000, 8192); big.Slice(69999, 70000).Float32s()[8191] == 0 {
		t.Error("the last value of a procedural tensor is 0")
	}
}

// fp8 rounds to nearest even and saturates, as PTX's cvt.satfinite.
func TestSmallFloats(t *testing.T) {
	d := fresh(t, "h200")
	in := []float64{0, 1, -1.0625, 1.1875, 448, 465, 1e30, math.Inf(-1), math.NaN(), 0x1p-9, 0x1p-10, 0x1.8p-9}
	want := []float64{0, 1, -1, 1.25, 448, 448, 448, -448, math.NaN(), 0x1p-9, 0, 0x1p-8}
	for i, got := range d.FromAs(E4M3, in).Float64s() {
		if got != want[i] && !(got != got && want[i] != want[i]) {
			t.Errorf("%g in e4m3 is %g, want %g", in[i], got, want[i])
		}
	}
	if got := d.FromAs(E5M2, []float64{57344, 1e6, 1.125}).Float64s(); got[0] != 57344 || got[1] != 57344 || got[2] != 1 {
		t.Errorf("e5m2: %v", got)
	}
	if got := d.Randn(E4M3, 3, 5); got.Bytes() != 15 || got.Float32s()[0] == 0 && got.Float32s()[1] == 0 {
		t.Error(got)
	}
}

func TestBlockErrors(t *testing.T) {
	d := fresh(t, "h200")
	w := d.Zeros(Q4_0, 2, 64)
	nan := make([]float32, 64)
	nan[40] = float32(math.NaN())
	for _, c := range []struct {
		call func()
		want string
	}{
		{func() { d.Zeros(Q4_K, 4, 100) }, "Zeros: rows of 100 values, shape [4, 100], do not divide into blocks of 256, which q4_k has\nmake the last extent a multiple of 256"},
		{func() { d.Empty(Q8_0) }, "Empty: a single number is no block of 32 values, which q8_0 has\nmake the last extent a multiple of 32"},
		{func() { d.FromAs(Q4_0, nan, 2, 32) }, "FromAs: element 40: q4_0 has no code for NaN\ngive values that the type holds, or convert them in Go first"},
		{func() { d.FromAs(Q2_K, make([]float32, 256)) }, "FromAs: Q2_K can be read, not made; Q4_K and Q6_K can be made"},
		{func() { d.Randn(Q3_K, 256) }, "Randn: Q3_K can be read, not made; Q4_K and Q6_K can be made"},
		{func() { d.Full(Q8_0, math.Inf(1), 32) }, "Full: q8_0 has no code for +Inf\ngive values that the type holds, or convert them in Go first"},
		{func() { w.Reshape(8, 16) }, "reshape q4_0 [2, 64]: rows of 16 values, shape [8, 16], do not divide into blocks of 32, which q4_0 has\nmake the last extent a multiple of 32"},
		{func() { w.Reshape(128).Slice(0, 16) }, "slice q4_0 [128]: values 0 to 16 are no whole blocks\ngive multiples of 32"},
		{func() { w.View(Q8_0) }, "view q4_0 [2, 64] as q8_0: rows of 36 B are no multiple of 34 B\nview it as a type whose size, or block of values, divides a row"},
		{func() { w.Ints() }, "Ints: q4_0 [2, 64] holds fractions\nuse Float32s or Float64s"},
	} {
		got := func() (text string) {
			defer func() {
				if e, ok := recover().(*Error); ok {
					text = e.Error()
				}
			}()
			c.call()
			return "no error"
		}()
		if got != c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
	}
	if _, err := TypeNamed("q9"); err == nil || !strings.HasPrefix(err.Error(), "no element type \"q9\"\nthere are f64, f32, f16, bf16, i64, ") || !strings.HasSuffix(err.Error(), ", mxfp4, q8_1") {
		t.Errorf("an unknown name: %v", err)
	}
	if _, err := d.TensorMap(w, 2, 32); err == nil || !strings.HasSuffix(err.Error(), "q4_0 has blocks, a tensor map elements\nmap its bytes: t.View(gpu.U8)") {
		t.Errorf("a tensor map: %v", err)
	}
}
