package gpu

import (
	"math"
	"reflect"
	"runtime"
	"testing"

	"memwall/gpu/quant"
)

func TestMakeAndRead(t *testing.T) {
	d := fresh(t, "h200")
	for _, dtype := range []DType{F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8} {
		for _, shape := range [][]int{{}, {1}, {31}, {3, 5}, {2, 3, 7}, {0}, {4, 0}} {
			n := product(shape)
			x := d.Full(dtype, 3, shape...)
			if got := x.Float64s(); len(got) != n || n > 0 && (got[0] != 3 || got[n-1] != 3) {
				t.Errorf("Full(%s, 3, %v) = %v", dtype, shape, got)
			}
			if z := d.Zeros(dtype, shape...).Float32s(); len(z) != n || n > 0 && z[n-1] != 0 {
				t.Errorf("Zeros(%s, %v) = %v", dtype, shape, z)
			}
			if !reflect.DeepEqual(x.Shape(), append([]int(nil), shape...)) && len(shape) > 0 || x.DType() != dtype || x.Bytes() != int64(n*dtype.Bytes()) || x.Device() != d {
				t.Errorf("%s %v: shape %v, type %s, %d B", dtype, shape, x.Shape(), x.DType(), x.Bytes())
			}
		}
		if got := d.Arange(dtype, 100).Float64s(); got[0] != 0 || got[99] != 99 {
			t.Errorf("Arange(%s, 100) ends with %v", dtype, got[98:])
		}
	}
	if got := d.Arange(F16, 4096).Float32s()[4095]; got != 4096 { // f16 has 11 bits: 4095 is a tie, 4096 the even neighbour
		t.Errorf("4095 in f16 is %v", got)
	}
	if got := d.Full(F16, 0.1, 2).Float32s()[0]; got != quant.F16ToFloat32(0x2e66) {
		t.Errorf("0.1 in f16 is %v", got)
	}
	if got := d.Full(F32, math.Inf(1), 1).At(0); !math.IsInf(got, 1) {
		t.Errorf("infinity reads %v", got)
	}
}

func TestFrom(t *testing.T) {
	d := fresh(t, "h200")
	for _, c := range []struct {
		values any
		dtype  DType
	}{
		{[]float32{1, 2, 3}, F32}, {[]float64{1, 2, 3}, F64}, {[]int{1, 2, 3}, I32}, {[]int64{1, 2, 3}, I64}, {[]int32{1, 2, 3}, I32},
		{[]int16{1, 2, 3}, I16}, {[]int8{1, 2, 3}, I8}, {[]uint8{1, 2, 3}, U8}, {[]uint16{1, 2, 3}, U16}, {[]uint32{1, 2, 3}, U32},
		{[]uint64{1, 2, 3}, U64}, {[]uint{1, 2, 3}, U32}, {[3]float32{1, 2, 3}, F32},
	} {
		x := d.From(c.values)
		if got := x.Float64s(); x.DType() != c.dtype || !reflect.DeepEqual(got, []float64{1, 2, 3}) || !reflect.DeepEqual(x.Shape(), []int{3}) {
			t.Errorf("From(%T) is %s %v %v", c.values, x.DType(), x.Shape(), got)
		}
		if got := d.FromAs(BF16, c.values, 3, 1).Float32s(); !reflect.DeepEqual(got, []float32{1, 2, 3}) {
			t.Errorf("FromAs(bf16, %T) = %v", c.values, got)
		}
	}
	big := []uint64{math.MaxUint64, 1<<53 + 1}
	if got := d.From(big).Ints(); got[0] != -1 || got[1] != 1<<53+1 {
		t.Errorf("64-bit integers come back as %v", got)
	}
	x := d.From([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if x.At(1, 2) != 6 || x.At(0, 1) != 2 {
		t.Errorf("row-major order: %v", x.Float32s())
	}
	if err := x.CopyFrom([]int{6, 5, 4, 3, 2, 1}); err != nil || x.At(0, 0) != 6 {
		t.Errorf("CopyFrom: %v, %v", err, x.Float32s())
	}
}

func TestWindows(t *testing.T) {
	d := fresh(t, "h200")
	x := d.From([]float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 4, 3)
	rows := x.Slice(1, 3)
	if got := rows.Float32s(); !reflect.DeepEqual(got, []float32{3, 4, 5, 6, 7, 8}) || !reflect.DeepEqual(rows.Shape(), []int{2, 3}) {
		t.Errorf("Slice(1, 3) = %v %v", rows.Shape(), got)
	}
	if err := rows.Fill(-1); err != nil || x.At(0, 2) != 2 || x.At(1, 0) != -1 || x.At(3, 0) != 9 {
		t.Errorf("filling a slice: %v, %v", err, x.Float32s())
	}
	if got := x.Reshape(-1, 6).Shape(); !reflect.DeepEqual(got, []int{2, 6}) {
		t.Errorf("Reshape(-1, 6) is %v", got)
	}
	if got := d.From([]uint16{0x3c00, 0xc000}).View(F16).Float32s(); !reflect.DeepEqual(got, []float32{1, -2}) {
		t.Errorf("bits seen as f16: %v", got)
	}
	if got := d.From([]float32{1}).View(U8).Ints(); !reflect.DeepEqual(got, []int{0, 0, 0x80, 0x3f}) {
		t.Errorf("1.0 as bytes: %x", got)
	}
	b := d.Buffer(16)
	if err := b.CopyIn([]byte{1, 2, 3, 4}); err != nil || b.Tensor(U8, 4).At(3) != 4 || len(b.CopyOut()) != 16 {
		t.Errorf("buffer: %v", err)
	}
}

// TestRandn: moments of N(0, 1), the same values on each fresh device and for any number of goroutines, other values for the
// next tensor.
func TestRandn(t *testing.T) {
	d := fresh(t, "h200")
	const n = 1 << 20
	first, second := d.Randn(F32, n).Float32s(), d.Randn(F32, n).Float32s()
	var sum, squares, fourth, product float64
	for i, v := range first {
		x := float64(v)
		sum, squares, fourth, product = sum+x, squares+x*x, fourth+x*x*x*x, product+x*float64(second[i])
	}
	for name, c := range map[string]struct{ got, want, within float64 }{
		"mean": {sum / n, 0, 0.005}, "variance": {squares / n, 1, 0.01}, "fourth moment": {fourth / n, 3, 0.06}, "correlation": {product / n, 0, 0.005},
	} {
		if !(math.Abs(c.got-c.want) <= c.within) {
			t.Errorf("%s is %v, want %v ± %v", name, c.got, c.want, c.within)
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if again := fresh(t, "a100").Randn(F32, n).Float32s(); !reflect.DeepEqual(first, again) {
		t.Error("another device, one core: other values")
	}
	d.Seed(0)
	if again := d.Randn(F32, n).Float32s(); !reflect.DeepEqual(first, again) {
		t.Error("after Seed(0): other values")
	}
	d.Seed(1)
	if other := d.Randn(F32, n).Float32s(); reflect.DeepEqual(first, other) {
		t.Error("after Seed(1): the same values")
	}
	d.Seed(0)
	for i, v := range d.Randn(F16, n).Float32s() {
		if want := quant.F16ToFloat32(quant.F16FromFloat32(first[i])); v != want {
			t.Fatalf("f16 element %d is %v, want %v rounded: %v", i, v, first[i], want)
		}
	}
}

func TestTensorText(t *testing.T) {
	d := fresh(t, "h200")
	x := d.From([]float32{1, -2.5, float32(math.NaN()), 4, 0.123456, 6, 7, 8, 9}, 3, 3)
	for _, c := range []struct{ got, want string }{
		{x.String(), "f32 [3, 3] on virtual:h200, 36 B\nmin -2.5, max 9, 1 NaN\n[1, -2.5, NaN, 4, 0.1235, 6, 7, 8, …]"},
		{d.Full(F16, math.NaN(), 2).String(), "f16 [2] on virtual:h200, 4 B\nonly NaN, 2 NaN\n[NaN, NaN]"},
		{d.Full(F64, math.Inf(-1), 1).String(), "f64 [1] on virtual:h200, 8 B\nmin -Inf, max -Inf, 0 NaN, 1 infinite\n[-Inf]"},
		{d.Zeros(I8, 0, 4).String(), "i8 [0, 4] on virtual:h200, 0 B\nno elements"},
		{d.Zeros(U8, 33_554_432).String(), "u8 [33554432] on virtual:h200, 33.6 MB\nmin 0, max 0, 0 NaN\n[0, 0, 0, 0, 0, 0, 0, 0, …]"},
		{d.Buffer(4096).String(), "buffer of 4,096 B on virtual:h200"},
	} {
		if c.got != c.want {
			t.Errorf("got\n%s\nwant\n%s", c.got, c.want)
		}
	}
	x.Free()
	if got := x.String(); got != "f32 [3, 3], freed" {
		t.Errorf("freed tensor: %q", got)
	}
}

func TestTensorErrors(t *testing.T) {
	d := fresh(t, "h200")
	x := d.Zeros(F32, 2, 3)
	freed := d.Zeros(F32, 4)
	if err := freed.Free(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		do   func()
		want string
	}{
		{func() { d.Empty(0, 3) }, "Empty: DType(0) is no element type\nuse gpu.F16, gpu.F32 … as the first argument"},
		{func() { d.Zeros(F32, 3, -1) }, "Zeros: shape [3, -1] has the negative extent -1\ngive extents ≥ 0"},
		{func() { d.Zeros(F32, 16).Reshape(1<<62+4, 4) }, "reshape f32 [16]: shape [4611686018427387908, 4] has 1.84e+19 elements, more than any memory holds\nlook for a product of extents that was meant to be a sum"},
		{func() { d.Zeros(F32, 0).Reshape(1<<62, 4) }, "reshape f32 [0]: shape [4611686018427387904, 4] has 1.84e+19 elements, more than any memory holds\nlook for a product of extents that was meant to be a sum"},
		{func() { d.Zeros(F32, 16).Reshape(1<<62+4, -1, 4) }, "reshape f32 [16]: shape [4611686018427387908, -1, 4] has 1.84e+19 elements, more than any memory holds\nlook for a product of extents that was meant to be a sum"},
		{func() { d.Zeros(F32, 1<<40, 1<<40) }, "Zeros: shape [1099511627776, 1099511627776] has 1.21e+24 elements, more than any memory holds\nlook for a product of extents that was meant to be a sum"},
		{func() { d.Full(I8, 200, 2) }, "Full: 200 is no i8\ngive values that the type holds, or convert them in Go first"},
		{func() { d.Full(U32, 1.5, 2) }, "Full: 1.5 is no u32\ngive values that the type holds, or convert them in Go first"},
		{func() { d.Full(U8, math.NaN(), 2) }, "Full: NaN is no u8\ngive values that the type holds, or convert them in Go first"},
		{func() { d.Arange(I8, 300) }, "Arange: i8 cannot hold 299\nuse a wider type"},
		{func() { d.Arange(F32, -1) }, "Arange: shape [-1] has the negative extent -1\ngive extents ≥ 0"},
		{func() { d.Randn(I32, 3) }, "Randn: i32 holds no fractions\nuse gpu.F32, gpu.F16, gpu.BF16 or gpu.F64"},
		{func() { d.From([][]float32{{1}, {2}}) }, "From: [][]float32 is nested\nappend the rows to one flat slice and give the shape: dev.From(flat, rows, columns)"},
		{func() { d.From(3.5) }, "From: float64 is no slice\ngive a slice: dev.From([]float32{1, 2, 3})"},
		{func() { d.From(nil) }, "From: <nil> is no slice\ngive a slice: dev.From([]float32{1, 2, 3})"},
		{func() { d.From([]string{"a"}) }, "From: []string holds no numbers\nuse a slice of float32, float64, int or a sized integer"},
		{func() { d.From([]float32{1, 2, 3}, 2, 2) }, "From: 3 values do not fill the shape [2, 2] of 4 elements\ngive a shape of as many elements"},
		{func() { d.From([]int{1, 1 << 31}) }, "From: element 1: 2.147483648e+09 is no i32\ngive values that the type holds, or convert them in Go first"},
		{func() { d.FromAs(U8, []int{1, -1}) }, "FromAs: element 1: -1 is no u8\ngive values that the type holds, or convert them in Go first"},
		{func() { d.FromAs(I32, []float64{0.5}) }, "FromAs: element 0: 0.5 is no i32\ngive values that the type holds, or convert them in Go first"},
		{func() { x.Reshape(4, 2) }, "reshape f32 [2, 3] to [4, 2]: 6 elements are not 8\ngive extents whose product is the number of elements; -1 stands for one that follows"},
		{func() { x.Reshape(-1, 4) }, "reshape f32 [2, 3] to [-1, 4]: 6 elements are no multiple of 4\nthe extents that are given must divide the number of elements"},
		{func() { x.Reshape(-1, -1) }, "reshape f32 [2, 3] to [-1, -1]: bad extent -1\ngive extents ≥ 0, and -1 at most once"},
		{func() { x.Slice(1, 3) }, "slice f32 [2, 3]: rows 1 to 3 are not in it\ngive 0 ≤ from ≤ to ≤ 2"},
		{func() { x.Reshape(6).Slice(0, 1).Reshape().Slice(0, 1) }, "slice f32 []: it has no dimension\nreshape it first"},
		{func() { x.View(F64) }, "view f32 [2, 3] as f64: rows of 12 B are no multiple of 8 B\nview it as a type whose size, or block of values, divides a row"},
		{func() { x.At(2, 0) }, "At: index 2 is outside dimension 0 of f32 [2, 3]\nindices begin at 0"},
		{func() { x.At(1) }, "At: 1 indices for f32 [2, 3] of 2 dimensions\ngive one index a dimension"},
		{func() { x.Ints() }, "Ints: f32 [2, 3] holds fractions\nuse Float32s or Float64s"},
		{func() { freed.Float32s() }, "Float32s: tensor f32 [4] was freed\nmake it again, or call Free later"},
		{func() { d.Buffer(-1) }, "Buffer: the size -1 is negative\ngive a size ≥ 0"},
		{func() { d.Buffer(8).Tensor(F32, 3) }, "Tensor: f32 [3] has 12 B, the buffer 8 B\ngive a smaller shape, or make a larger buffer: dev.Buffer(bytes)"},
	} {
		wantError(t, panicOf(t, c.do), c.want)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{freed.Free(), "free tensor f32 [4]: it was freed before\ncall Free once"},
		{freed.Fill(1), "Fill: tensor f32 [4] was freed\nmake it again, or call Free later"},
		{freed.CopyFrom([]float32{1, 2, 3, 4}), "CopyFrom: tensor f32 [4] was freed\nmake it again, or call Free later"},
		{x.CopyFrom([]float32{1}), "CopyFrom: 1 values do not fill f32 [2, 3] of 6 elements\ngive as many values as there are elements, or copy into a part: t.Slice(from, to)"},
		{d.Buffer(2).CopyIn(make([]byte, 3)), "CopyIn: 3 B do not fit a buffer of 2 B\ngive at most as many bytes as the buffer has"},
	} {
		wantError(t, c.err, c.want)
	}
}

// TestUnreachableTensorsAreFreed: a cell that makes a tensor again and again does not fill the memory.
func TestUnreachableTensorsAreFreed(t *testing.T) {
	d := fresh(t, "h200")
	before := d.MemoryFree()
	for range 8 {
		d.Zeros(U8, 1<<20)
	}
	for range 100 {
		runtime.GC()
		if d.MemoryFree() == before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d B free at first, %d after the tensors became unreachable", before, d.MemoryFree())
}
