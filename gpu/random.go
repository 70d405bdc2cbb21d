package gpu

import (
	"encoding/binary"
	"math"
	"strings"
	"sync"

	"memwall/gpu/internal/driver"
)

// Random tensors can be made from any element on: the value of element i is a function of seed, call and i alone. So a
// tensor does not depend on how many goroutines make it, and a procedural one is made page by page.

// randomBits are 64 random bits, the w-th of a stream (splitmix64; Steele, Lea and Flood, "Fast splittable pseudorandom
// number generators", 2014).
func randomBits(stream, w uint64) uint64 {
	z := stream + (w+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// streamOf is the stream of the call-th random tensor after Seed(seed).
func streamOf(seed, call uint64) uint64 { return randomBits(randomBits(seed, 0)^call, call) }

// quantile is that of N(0, 1).
func quantile(p float64) float32 { return float32(math.Sqrt2 * math.Erfinv(2*p-1)) }

// normals is the quantile function of N(0, 1) at (i+½)/65536, and the steps between its values.
var normals = sync.OnceValue(func() *[1 << 16][2]float32 {
	t := new([1 << 16][2]float32)
	for i := range t {
		t[i][0] = quantile((float64(i) + 0.5) / (1 << 16))
	}
	for i := range t[1:] {
		t[i][1] = t[i+1][0] - t[i][0]
	}
	return t
})

// pair is two numbers of N(0, 1), each from 32 random bits: 16 of them choose a quantile, 16 lie between it and the next.
// The conversion keeps machines with fused multiply-add from rounding differently.
func pair(table *[1 << 16][2]float32, bits uint64) (x, y float32) {
	low, high := uint32(bits), uint32(bits>>32)
	q, r := &table[low>>16], &table[high>>16]
	x = q[0] + float32(q[1]*(float32(int32(low&0xffff))*0x1p-16))
	y = r[0] + float32(r[1]*(float32(int32(high&0xffff))*0x1p-16))
	if low >= 0xffff0000 {
		x = tail(low & 0xffff)
	}
	if high >= 0xffff0000 {
		y = tail(high & 0xffff)
	}
	return x, y
}

// tail is a number beyond the first or the last quantile of the table, each of them with half of the chance.
func tail(bits uint32) float32 {
	p := (float64(bits&0x7fff) + 0.5) / (1 << 32)
	if bits < 1<<15 {
		return -quantile(p)
	}
	return quantile(p)
}

// halfOf is quant.F16FromFloat32 for numbers below 65,504, short enough to be compiled into its callers.
func halfOf(x float32) uint32 {
	bits := math.Float32bits(x)
	m := bits & 0x7fffffff
	h := (m+0xfff+m>>13&1)>>13 - 112<<10
	if m < 0x38800000 { // below 2⁻¹⁴: adding ½ aligns the last bit kept with float32's own rounding
		h = math.Float32bits(math.Float32frombits(m)+0.5) - 0x3f000000
	}
	return bits>>16&0x8000 | h
}

// fillNormal writes elements of N(0, 1), from the element first on, an even number, rounded to a float element type.
func fillNormal(dtype DType, stream uint64, first int64, dst []byte) {
	table := normals()
	w := uint64(first) / 2
	switch dtype {
	case F16:
		for ; len(dst) >= 4; dst, w = dst[4:], w+1 {
			x, y := pair(table, randomBits(stream, w))
			binary.LittleEndian.PutUint32(dst, halfOf(x)|halfOf(y)<<16)
		}
	case BF16:
		for ; len(dst) >= 4; dst, w = dst[4:], w+1 {
			x, y := pair(table, randomBits(stream, w))
			a, b := math.Float32bits(x), math.Float32bits(y)
			a, b = a+0x7fff+a>>16&1, b+0x7fff+b>>16&1
			binary.LittleEndian.PutUint32(dst, a>>16|b&0xffff0000)
		}
	case F32:
		for ; len(dst) >= 8; dst, w = dst[8:], w+1 {
			x, y := pair(table, randomBits(stream, w))
			binary.LittleEndian.PutUint32(dst, math.Float32bits(x))
			binary.LittleEndian.PutUint32(dst[4:], math.Float32bits(y))
		}
	}
	if !dtype.plain() {
		fillBlocks(dtype, stream, first, dst)
		return
	}
	size := dtype.Bytes()
	for i := 0; i < len(dst); i += 2 * size {
		x, y := pair(table, randomBits(stream, w))
		w++
		dtype.put(dst[i:], float64(x))
		if i+size < len(dst) {
			dtype.put(dst[i+size:], float64(y))
		}
	}
}

// fillBlocks is fillNormal for a block format, whole blocks.
func fillBlocks(dtype DType, stream uint64, first int64, dst []byte) {
	f := dtype.format()
	x := make([]byte, 4*f.Block)
	values := make([]float32, f.Block)
	for ; len(dst) >= f.Bytes; dst, first = dst[f.Bytes:], first+int64(f.Block) {
		fillNormal(F32, stream, first, x)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(x[4*i:]))
		}
		if packed, err := f.Encode(values); err == nil { // finite values, and the format can be made: checkRandom
			copy(dst, packed)
		}
	}
}

// proceduralBlocks writes the bytes from an offset on, which may begin and end within blocks.
func proceduralBlocks(dtype DType, stream uint64, offset int64, dst []byte) {
	f := dtype.format()
	bytes := int64(f.Bytes)
	first, over := offset/bytes, offset%bytes
	whole := make([]byte, (over+int64(len(dst))+bytes-1)/bytes*bytes)
	fillBlocks(dtype, stream, first*int64(f.Block), whole)
	copy(dst, whole[over:])
}

// checkRandom refuses formats that can only be read.
func checkRandom(operation string, dtype DType) error {
	if f := dtype.format(); f != nil {
		if _, err := f.Encode(make([]float32, f.Block)); err != nil {
			return fail("", "%s: %s", operation, strings.TrimPrefix(err.Error(), "quant: "))
		}
	}
	return nil
}

// fillBits writes random bits, from the byte offset on, a multiple of 8: integers of uniform distribution.
func fillBits(stream uint64, offset int64, dst []byte) {
	w := uint64(offset) / 8
	for ; len(dst) >= 8; dst, w = dst[8:], w+1 {
		binary.LittleEndian.PutUint64(dst, randomBits(stream, w))
	}
	if len(dst) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], randomBits(stream, w))
		copy(dst, last[:])
	}
}

// Procedural is a read-only tensor whose contents are made from a seed when a launch or the host first looks at them, page by
// page; pages may be dropped and made again. So a model larger than the computer's memory can be read on a virtual device: its
// 140 GB of weights take no more of the host than the pages that are in use. Float types hold N(0, 1), the very values
// that d.Seed(seed) followed by d.Randn(dtype, shape…) gives; integer types hold uniform random bits. Writing to it is an
// error, in a launch a fault. On a real GPU it is ordinary memory, filled at once.
func (d *Device) Procedural(dtype DType, seed uint64, shape ...int) *Tensor {
	if err := checkShape("Procedural", dtype, shape); err != nil {
		panic(err)
	}
	if err := checkRandom("Procedural", dtype); err != nil {
		panic(err)
	}
	stream := streamOf(seed, 0)
	fill := func(offset int64, dst []byte) {
		switch {
		case !dtype.plain():
			proceduralBlocks(dtype, stream, offset, dst)
		case dtype.Float():
			fillNormal(dtype, stream, offset/int64(dtype.Bytes()), dst)
		default:
			fillBits(stream, offset, dst)
		}
	}
	if d != nil {
		if lazy, ok := d.d.(driver.Proceduraler); ok {
			t := &Tensor{shape: append([]int(nil), shape...), dtype: dtype}
			if t.Len() > 0 {
				mem, err := d.allocateWith(t.Bytes(), func() (driver.Address, error) { return lazy.AllocProcedural(t.Bytes(), fill) })
				if err != nil {
					panic(err)
				}
				mem.readOnly = true
				t.mem = mem
				return t
			}
		}
	}
	t := must(d.empty("Procedural", dtype, shape))
	must(t, t.upload(func(first int, dst []byte) error {
		fill(dtype.Size(first), dst)
		return nil
	}))
	t.mem.readOnly = true
	return t
}
