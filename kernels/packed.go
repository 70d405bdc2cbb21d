package kernels

import (
	"encoding/binary"
	"math/rand/v2"

	"memwall/gpu"
	"memwall/gpu/quant"
)

// Test data of the element types that gpu/quant packs: block formats, whose values share scales, and fp8.

// isPacked says that results of the type are compared by their bytes where they must be exact.
func isPacked(t gpu.DType) bool { return t.Block() > 1 || t == gpu.E4M3 || t == gpu.E5M2 }

// formatOf is the block format of an element type, nil where it is none.
func formatOf(t gpu.DType) *quant.Format {
	if t.Block() == 1 {
		return nil
	}
	f, err := quant.Get(t.String())
	if err != nil {
		return nil // the element types with blocks are the rows of gpu/quant
	}
	return f
}

// rowBytes are the extents of a tensor's bytes.
func rowBytes(dtype gpu.DType, shape []int) []int {
	bytes := append([]int(nil), shape...)
	last := &bytes[len(bytes)-1]
	*last = int(dtype.Size(*last))
	return bytes
}

// spoilt is a tensor of garbage, which a kernel must overwrite.
func spoilt(dev *gpu.Device, dtype gpu.DType, r *rand.Rand, shape []int) *gpu.Tensor {
	if dtype.Block() > 1 {
		return dev.Full(gpu.U8, 0xff, rowBytes(dtype, shape)...).View(dtype)
	}
	return dev.Full(dtype, garbage(dtype, r), shape...)
}

// tensor makes test data of a kind. NaN and infinities become blocks of NaN, as the kernels make them; a format that can only be
// read gets any codes under moderate scales.
func (i inputs) tensor(dev *gpu.Device, dtype gpu.DType, r *rand.Rand, n, columns int, shape []int) *gpu.Tensor {
	f := formatOf(dtype)
	if f == nil {
		return dev.FromAs(dtype, i.fill(r, n, columns), shape...)
	}
	values := make([]float32, n)
	for j, v := range i.fill(r, n, columns) {
		values[j] = float32(v)
	}
	packed, err := f.EncodeAny(values)
	if err != nil {
		packed = anyCodes(f, r, n)
	}
	return dev.From(packed, rowBytes(dtype, shape)...).View(dtype)
}

// anyCodes are random blocks with small scales.
func anyCodes(f *quant.Format, r *rand.Rand, n int) []byte {
	packed := make([]byte, n/f.Block*f.Bytes)
	for at := range packed {
		packed[at] = byte(r.Uint32())
	}
	for b := 0; b < len(packed); b += f.Bytes {
		for at := f.Scale; at+2 <= f.Bytes && at <= f.Scale+2; at += 2 { // the scale, and where there is one the minimum
			binary.LittleEndian.PutUint16(packed[b+at:], quant.F16FromFloat32(float32(0.01*r.NormFloat64())))
		}
	}
	return packed
}

// resultsOf are the elements of an output, or its bytes where these must be exact.
func resultsOf(t *gpu.Tensor, o operand) []float64 {
	if o.exact && isPacked(o.dtype) {
		return t.View(gpu.U8).Float64s()
	}
	return t.Float64s()
}

// packedAs are the bytes of values in a packed type, as a reference gives them.
func packedAs(dtype gpu.DType, values []float64) []float64 {
	x := make([]float32, len(values))
	for i, v := range values {
		x[i] = float32(v)
	}
	var bytes []byte
	if f := formatOf(dtype); f != nil {
		var err error
		if bytes, err = f.EncodeAny(x); err != nil {
			return nil // compared with results, this has the wrong length
		}
	} else if s, err := quant.Small(dtype.String()); err == nil {
		for _, v := range x {
			bytes = append(bytes, s.EncodeSaturating(v))
		}
	}
	out := make([]float64, len(bytes))
	for i, b := range bytes {
		out[i] = float64(b)
	}
	return out
}
