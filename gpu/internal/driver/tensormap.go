package driver

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// TensorMapBytes is the size of a tensor map, CUDA's CUtensorMap.
const TensorMapBytes = 128

// TensorMap describes a tensor in global memory and the box of it that a bulk tensor copy moves: what
// cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col take. Dimension 0 is the innermost. CUDA leaves the 128 bytes open;
// the virtual GPU's are those of Encode, little-endian:
//
//	0      mode: 0 tiled, 1 im2col
//	1      type of the elements, CUtensorMapDataType
//	2      dimensions − 1
//	3      interleave, 4 swizzle, 5 L2 promotion, 6 fill
//	8      address, 64 bits
//	16     elements of each dimension − 1, five times 32 bits
//	40     bytes from one element to the next of dimensions 1 to 4, four times 64 bits
//	72     elements of the box, five times 16 bits
//	82     element strides, five times 16 bits
//	92     im2col: lower corner of the box of pixels, three times 16 bits, signed; 98 its upper corner
//	104    im2col: channels a pixel; 106 pixels a column; 16 bits each
//
// Bytes that are all zero are a map that tensormap.replace can fill in, as device code does.
type TensorMap struct {
	Im2col         bool
	Type           TensorMapType
	Rank           int
	Address        Address
	Dims           [5]uint64 // elements
	Strides        [4]uint64 // bytes, of dimensions 1 … 4
	Box            [5]uint32 // elements; tiled
	ElementStrides [5]uint32
	Interleave     uint8 // 0 none
	Swizzle        TensorMapSwizzle
	L2Promotion    uint8
	FillNaN        bool // elements outside the tensor are NaN instead of zero

	LowerCorner, UpperCorner [3]int16 // im2col: W, H, D
	Channels, Pixels         uint16   // im2col
}

// TensorMapType is the type of a tensor map's elements, numbered as CUtensorMapDataType.
type TensorMapType uint8

// The types of elements.
const (
	TensorU8 TensorMapType = iota
	TensorU16
	TensorU32
	TensorS32
	TensorU64
	TensorS64
	TensorF16
	TensorF32
	TensorF64
	TensorBF16
	TensorF32FTZ
	TensorTF32
	TensorTF32FTZ
	numTensorTypes
)

// Bytes is the size of an element, 0 for a type that there is not.
func (t TensorMapType) Bytes() int {
	switch t {
	case TensorU8:
		return 1
	case TensorU16, TensorF16, TensorBF16:
		return 2
	case TensorU64, TensorS64, TensorF64:
		return 8
	}
	if t < numTensorTypes {
		return 4
	}
	return 0
}

// Float reports whether it is a floating-point type.
func (t TensorMapType) Float() bool { return t >= TensorF16 && t < numTensorTypes }

// TensorMapSwizzle is how 16-byte chunks of the box change places in shared memory, numbered as CUtensorMapSwizzle.
type TensorMapSwizzle uint8

// The swizzles: chunks trade places within 32, 64 or 128 bytes.
const (
	SwizzleNone TensorMapSwizzle = iota
	Swizzle32
	Swizzle64
	Swizzle128
)

// Span is the number of bytes within which chunks trade places, 16 for none.
func (s TensorMapSwizzle) Span() int { return 16 << s }

// Check tells what is wrong with a tensor map by the rules of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col; nil
// where nothing is.
func (m *TensorMap) Check() error {
	fail := func(format string, args ...any) error { return fmt.Errorf("tensor map: "+format, args...) }
	size := uint64(m.Type.Bytes())
	switch {
	case size == 0:
		return fail("there is no type %d of elements", m.Type)
	case m.Rank < 1 || m.Rank > 5 || m.Im2col && m.Rank < 3:
		return fail("%d dimensions: a tiled one has 1 to 5, an im2col one 3 to 5", m.Rank)
	case m.Interleave != 0:
		return fail("interleaved layouts are not executed by the virtual GPU: use CU_TENSOR_MAP_INTERLEAVE_NONE")
	case m.Swizzle > Swizzle128:
		return fail("there is no swizzle %d", m.Swizzle)
	case m.Address%16 != 0:
		return fail("address %#x is not a multiple of 16", uint64(m.Address))
	case m.FillNaN && !m.Type.Float():
		return fail("elements outside of an integer tensor cannot be NaN")
	}
	for i := range m.Rank {
		if m.Dims[i] < 1 || m.Dims[i] > 1<<32 {
			return fail("dimension %d has %d elements: 1 to 2^32", i, m.Dims[i])
		}
		if m.ElementStrides[i] < 1 || m.ElementStrides[i] > 8 {
			return fail("element stride %d of dimension %d: 1 to 8", m.ElementStrides[i], i)
		}
		if i > 0 && (m.Strides[i-1]%16 != 0 || m.Strides[i-1] >= 1<<40) {
			return fail("stride of dimension %d is %d bytes: a multiple of 16 below 2^40", i, m.Strides[i-1])
		}
	}
	inner := size * uint64(m.Channels)
	if !m.Im2col {
		for i := range m.Rank {
			if m.Box[i] < 1 || m.Box[i] > 256 {
				return fail("the box has %d elements in dimension %d: 1 to 256", m.Box[i], i)
			}
		}
		inner = size * uint64(m.Box[0])
	} else if m.Channels < 1 || m.Channels > 256 || m.Pixels < 1 || m.Pixels > 1024 {
		return fail("%d channels a pixel and %d pixels a column: 1 to 256, and 1 to 1024", m.Channels, m.Pixels)
	}
	switch {
	case inner%16 != 0:
		return fail("a row of the box has %d bytes: a multiple of 16", inner)
	case m.Swizzle != SwizzleNone && inner > uint64(m.Swizzle.Span()):
		return fail("a row of the box has %d bytes: at most %d with a swizzle of %d", inner, m.Swizzle.Span(), m.Swizzle.Span())
	}
	return nil
}

// Encode checks a tensor map and gives its bytes.
func (m *TensorMap) Encode() ([TensorMapBytes]byte, error) {
	if err := m.Check(); err != nil {
		return [TensorMapBytes]byte{}, err
	}
	return m.Bytes(), nil
}

// Bytes gives a tensor map's bytes unchecked, as device code that replaces one field after another needs.
func (m *TensorMap) Bytes() (b [TensorMapBytes]byte) {
	if m.Im2col {
		b[0] = 1
	}
	b[1], b[2], b[3], b[4], b[5] = byte(m.Type), byte(m.Rank-1), m.Interleave, byte(m.Swizzle), m.L2Promotion
	if m.FillNaN {
		b[6] = 1
	}
	order := binary.LittleEndian
	order.PutUint64(b[8:], uint64(m.Address))
	for i := range 5 {
		order.PutUint32(b[16+4*i:], uint32(m.Dims[i]-1))
		order.PutUint16(b[72+2*i:], uint16(m.Box[i]))
		order.PutUint16(b[82+2*i:], uint16(m.ElementStrides[i]))
	}
	for i, s := range m.Strides {
		order.PutUint64(b[40+8*i:], s)
	}
	for i := range 3 {
		order.PutUint16(b[92+2*i:], uint16(m.LowerCorner[i]))
		order.PutUint16(b[98+2*i:], uint16(m.UpperCorner[i]))
	}
	order.PutUint16(b[104:], m.Channels)
	order.PutUint16(b[106:], m.Pixels)
	return b
}

// DecodeTensorMap reads the bytes of a tensor map, unchecked.
func DecodeTensorMap(b []byte) *TensorMap {
	order := binary.LittleEndian
	m := &TensorMap{Im2col: b[0] == 1, Type: TensorMapType(b[1]), Rank: int(b[2]) + 1, Interleave: b[3], Swizzle: TensorMapSwizzle(b[4]), L2Promotion: b[5], FillNaN: b[6] == 1}
	m.Address = Address(order.Uint64(b[8:]))
	for i := range 5 {
		m.Dims[i] = uint64(order.Uint32(b[16+4*i:])) + 1
		m.Box[i] = uint32(order.Uint16(b[72+2*i:]))
		m.ElementStrides[i] = uint32(order.Uint16(b[82+2*i:]))
	}
	for i := range m.Strides {
		m.Strides[i] = order.Uint64(b[40+8*i:])
	}
	for i := range 3 {
		m.LowerCorner[i] = int16(order.Uint16(b[92+2*i:]))
		m.UpperCorner[i] = int16(order.Uint16(b[98+2*i:]))
	}
	m.Channels, m.Pixels = order.Uint16(b[104:]), order.Uint16(b[106:])
	return m
}

// String shows a tensor map in a line: "tensor map 0x…, 64×128 f16, box 64×64, swizzle 128 B".
func (m *TensorMap) String() string {
	shape := func(n []string) string { return strings.Join(n, "×") }
	var dims, box []string
	for i := range min(m.Rank, 5) {
		dims = append(dims, fmt.Sprint(m.Dims[i]))
		box = append(box, fmt.Sprint(m.Box[i]))
	}
	names := [...]string{"u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz"}
	name := "?"
	if m.Type < numTensorTypes {
		name = names[m.Type]
	}
	s := fmt.Sprintf("tensor map %#x, %s %s", uint64(m.Address), shape(dims), name)
	if m.Im2col {
		s += fmt.Sprintf(", im2col %d pixels of %d channels", m.Pixels, m.Channels)
	} else {
		s += ", box " + shape(box)
	}
	if m.Swizzle != SwizzleNone {
		s += fmt.Sprintf(", swizzle %d B", m.Swizzle.Span())
	}
	return s
}
