package driver

import (
	"fmt"
	"strings"
	"testing"
)

func plainMap() TensorMap {
	return TensorMap{Type: TensorF16, Rank: 2, Address: 0x7f0000001000, Dims: [5]uint64{128, 64, 1, 1, 1}, Strides: [4]uint64{256}, Box: [5]uint32{64, 32},
		ElementStrides: [5]uint32{1, 1, 1, 1, 1}, Swizzle: Swizzle128}
}

// What is encoded is decoded, every field.
func TestTensorMapRoundTrip(t *testing.T) {
	m := plainMap()
	m.Im2col, m.Rank = true, 5
	m.Dims = [5]uint64{1 << 32, 2, 3, 4, 5}
	m.Strides = [4]uint64{16, 32, 1<<40 - 16, 64}
	m.ElementStrides = [5]uint32{1, 2, 3, 4, 8}
	m.LowerCorner, m.UpperCorner = [3]int16{-1, -2, -3}, [3]int16{4, -5, 6}
	m.Channels, m.Pixels = 64, 1024
	m.FillNaN, m.L2Promotion = true, 3
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got := *DecodeTensorMap(b[:]); got != m {
		t.Errorf("%+v\nwant %+v", got, m)
	}
	if b := (&TensorMap{Rank: 1, Dims: [5]uint64{1, 1, 1, 1, 1}}).Bytes(); b != [TensorMapBytes]byte{} {
		t.Errorf("the empty map is %v, want zeros", b)
	}
}

// The rules of cuTensorMapEncodeTiled.
func TestTensorMapRules(t *testing.T) {
	for _, c := range []struct {
		change func(*TensorMap)
		want   string
	}{
		{func(m *TensorMap) {}, ""},
		{func(m *TensorMap) { m.Type = 77 }, "there is no type 77 of elements"},
		{func(m *TensorMap) { m.Rank = 6 }, "6 dimensions: a tiled one has 1 to 5, an im2col one 3 to 5"},
		{func(m *TensorMap) { m.Im2col = true }, "2 dimensions: a tiled one has 1 to 5, an im2col one 3 to 5"},
		{func(m *TensorMap) { m.Address += 8 }, "address 0x7f0000001008 is not a multiple of 16"},
		{func(m *TensorMap) { m.Dims[1] = 0 }, "dimension 1 has 0 elements: 1 to 2^32"},
		{func(m *TensorMap) { m.Strides[0] = 264 }, "stride of dimension 1 is 264 bytes: a multiple of 16 below 2^40"},
		{func(m *TensorMap) { m.Box[1] = 257 }, "the box has 257 elements in dimension 1: 1 to 256"},
		{func(m *TensorMap) { m.Box[0] = 128 }, "a row of the box has 256 bytes: at most 128 with a swizzle of 128"},
		{func(m *TensorMap) { m.Box[0] = 4 }, "a row of the box has 8 bytes: a multiple of 16"},
		{func(m *TensorMap) { m.ElementStrides[1] = 9 }, "element stride 9 of dimension 1: 1 to 8"},
		{func(m *TensorMap) { m.Type, m.FillNaN = TensorU16, true }, "elements outside of an integer tensor cannot be NaN"},
		{func(m *TensorMap) { m.Swizzle = 4 }, "there is no swizzle 4"},
		{func(m *TensorMap) { m.Interleave = 1 }, "interleaved layouts are not executed by the virtual GPU: use CU_TENSOR_MAP_INTERLEAVE_NONE"},
	} {
		m := plainMap()
		c.change(&m)
		want := "<nil>"
		if c.want != "" {
			want = "tensor map: " + c.want
		}
		if got := fmt.Sprint(m.Check()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	m := plainMap()
	if s := m.String(); !strings.HasSuffix(s, "128×64 f16, box 64×32, swizzle 128 B") {
		t.Error(s)
	}
}
