package quant

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// Format is one block format: how many values share a block, its bytes, and how they are made and read.
type Format struct {
	Name  string
	Block int    // values a block
	Bytes int    // bytes a block
	About string // one line: what a block holds
	Scale int    // where the block's scale lies: the offset of an f16, or of the e8m0 of MXFP4

	// bound gives the largest error that a value of a block can have, from the block's values and its decoded scale; see
	// ErrorBound.
	bound  func(x []float32) float64
	encode func(dst []byte, x []float32) // nil: the format can only be read
	decode func(dst []float32, b []byte)
}

// formats is the table: one row a format. The element types of gpu are numbered by it, so new rows come last.
var formats = []Format{
	{"Q8_0", 32, 34, "f16 scale, 32 × 8 bits", 0, boundQ8_0, encodeQ8_0, decodeQ8_0},
	{"Q4_0", 32, 18, "f16 scale, 32 × 4 bits around zero", 0, boundSymmetric(8), encodeQ4_0, decodeQ4_0},
	{"Q4_1", 32, 20, "f16 scale and minimum, 32 × 4 bits", 0, boundRange(15), encodeQ4_1, decodeQ4_1},
	{"Q5_0", 32, 22, "f16 scale, 32 × 5 bits around zero", 0, boundSymmetric(16), encodeQ5_0, decodeQ5_0},
	{"Q5_1", 32, 24, "f16 scale and minimum, 32 × 5 bits", 0, boundRange(31), encodeQ5_1, decodeQ5_1},
	{"Q2_K", 256, 84, "f16 scale and minimum, 16 × 4-bit scale and minimum, 256 × 2 bits", 80, nil, nil, decodeQ2_K},
	{"Q3_K", 256, 110, "f16 scale, 16 × 6-bit scale, 256 × 3 bits", 108, nil, nil, decodeQ3_K},
	{"Q4_K", 256, 144, "f16 scale and minimum, 8 × 6-bit scale and minimum, 256 × 4 bits", 0, boundK(15), encodeQ4_K, decodeQ4_K},
	{"Q5_K", 256, 176, "f16 scale and minimum, 8 × 6-bit scale and minimum, 256 × 5 bits", 0, boundK(31), encodeQ5_K, decodeQ5_K},
	{"Q6_K", 256, 210, "f16 scale, 16 × 8-bit scale, 256 × 6 bits", 208, boundQ6_K, encodeQ6_K, decodeQ6_K},
	{"MXFP4", 32, 17, "e8m0 scale, 32 × e2m1", 0, boundMXFP4, encodeMXFP4, decodeMXFP4},
	{"Q8_1", 32, 36, "f16 scale, f16 scale · sum of the codes, 32 × 8 bits: activations", 0, boundQ8_0, encodeQ8_1, decodeQ8_1},
}

// Formats lists the block formats, those with the most bits first.
func Formats() []*Format {
	list := make([]*Format, 0, len(formats))
	for i := range formats {
		f := &formats[i]
		at := len(list)
		for at > 0 && list[at-1].Bits() < f.Bits() {
			at--
		}
		list = append(list[:at], append([]*Format{f}, list[at:]...)...)
	}
	return list
}

// At gives the i-th row of the table, nil beyond its end.
func At(i int) *Format {
	if i < 0 || i >= len(formats) {
		return nil
	}
	return &formats[i]
}

// Get gives a format by its name; case does not matter.
func Get(name string) (*Format, error) {
	var names []string
	for i := range formats {
		if strings.EqualFold(formats[i].Name, name) {
			return &formats[i], nil
		}
		names = append(names, formats[i].Name)
	}
	return nil, fmt.Errorf("quant: there is no format %q; there are %s", name, strings.Join(names, ", "))
}

// Bits is how many bits a value takes, scales included.
func (f *Format) Bits() float64 { return 8 * float64(f.Bytes) / float64(f.Block) }

// Size is how many bytes n values take; n is a multiple of the block.
func (f *Format) Size(n int) (int, error) {
	if n < 0 || n%f.Block != 0 {
		return 0, fmt.Errorf("quant: %d values do not divide into blocks of %d, which %s has", n, f.Block, f.Name)
	}
	return n / f.Block * f.Bytes, nil
}

// Encode packs values, a row of a matrix or a whole one whose rows are multiples of the block. NaN and Inf have no code in
// these formats: they are an error that names the first.
func (f *Format) Encode(x []float32) ([]byte, error) {
	if f.encode == nil {
		return nil, fmt.Errorf("quant: %s can be read, not made; Q4_K and Q6_K can be made", f.Name)
	}
	n, err := f.Size(len(x))
	if err != nil {
		return nil, err
	}
	for i, v := range x {
		if v-v != 0 { // NaN or Inf
			return nil, fmt.Errorf("quant: value %d is %v: %s has no code for it", i, v, f.Name)
		}
	}
	out := make([]byte, n)
	for b := 0; b*f.Block < len(x); b++ {
		f.encode(out[b*f.Bytes:(b+1)*f.Bytes], x[b*f.Block:(b+1)*f.Block])
	}
	return out, nil
}

// EncodeAny is Encode as the CUDA kernels do it, which cannot refuse: a block that holds NaN or Inf has NaN for its scale and
// zeros for its codes, so that all of its values decode to NaN.
func (f *Format) EncodeAny(x []float32) ([]byte, error) {
	if f.encode == nil {
		return f.Encode(x) // says why
	}
	n, err := f.Size(len(x))
	if err != nil {
		return nil, err
	}
	out := make([]byte, n)
	for b := 0; b*f.Block < len(x); b++ {
		dst, values := out[b*f.Bytes:(b+1)*f.Bytes], x[b*f.Block:(b+1)*f.Block]
		var sum float32 // of zeros, or NaN
		for _, v := range values {
			sum += v - v
		}
		switch {
		case sum == 0:
			f.encode(dst, values)
		case f.Name == "MXFP4":
			dst[f.Scale] = 255
		default:
			binary.LittleEndian.PutUint16(dst[f.Scale:], 0x7fff)
		}
	}
	return out, nil
}

// Decode unpacks blocks.
func (f *Format) Decode(packed []byte) ([]float32, error) {
	if len(packed)%f.Bytes != 0 {
		return nil, fmt.Errorf("quant: %d bytes are no whole number of blocks of %d, which %s has", len(packed), f.Bytes, f.Name)
	}
	out := make([]float32, len(packed)/f.Bytes*f.Block)
	for b := 0; b*f.Bytes < len(packed); b++ {
		f.decode(out[b*f.Block:(b+1)*f.Block], packed[b*f.Bytes:(b+1)*f.Bytes])
	}
	return out, nil
}

// ErrorBound is the largest absolute error that encoding x can make, for finite values whose scales fit a normal f16: half
// a step of the coarsest block, plus the rounding of the scales. NaN where the format can only be read.
func (f *Format) ErrorBound(x []float32) (float64, error) {
	if _, err := f.Size(len(x)); err != nil {
		return math.NaN(), err
	}
	if f.bound == nil {
		return math.NaN(), nil
	}
	worst := 0.0
	for ; len(x) > 0; x = x[f.Block:] {
		worst = math.Max(worst, f.bound(x[:f.Block]))
	}
	return worst, nil
}

// String names the format with its size: "Q4_K: 4.5 bits a weight (256 values in 144 B)".
func (f *Format) String() string {
	return fmt.Sprintf("%s: %g bits a weight (%d values in %d B)", f.Name, f.Bits(), f.Block, f.Bytes)
}
