package gpu

import (
	"encoding/binary"
	"math"

	"memwall/gpu/internal/driver"
	"memwall/gpu/quant"
)

func addressOf(bytes int) driver.Address { return driver.Address(bytes) }

// Float32s copies the elements to the host, row by row; f64 and wide integers round to nearest. It panics with an *Error
// when the tensor was freed or a sampled launch left it incomplete.
func (t *Tensor) Float32s() []float32 {
	if err := t.readable("Float32s"); err != nil {
		panic(err)
	}
	t.room("Float32s", 4)
	out := make([]float32, t.Len())
	t.mustDownload("Float32s", func(first int, src []byte) {
		switch t.dtype {
		case F32:
			for i := range len(src) / 4 {
				out[first+i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
			}
		case F16:
			for i := range len(src) / 2 {
				out[first+i] = quant.F16ToFloat32(binary.LittleEndian.Uint16(src[2*i:]))
			}
		default:
			t.dtype.read(src, func(i int, v float64) { out[first+i] = float32(v) })
		}
	})
	return out
}

// Float64s copies the elements to the host as float64; integers beyond 2⁵³ round. Panics as Float32s does.
func (t *Tensor) Float64s() []float64 {
	if err := t.readable("Float64s"); err != nil {
		panic(err)
	}
	return t.float64s("Float64s")
}

// Incomplete is Float64s for a tensor that a sampled launch has written: the elements of CTAs that did not run are what they
// were before. It panics with an *Error when the tensor was freed.
func (t *Tensor) Incomplete() []float64 {
	if t == nil {
		panic(t.readable("Incomplete"))
	}
	if err := t.mem.alive("Incomplete", "tensor "+t.describe()); err != nil {
		panic(err)
	}
	return t.float64s("Incomplete")
}

func (t *Tensor) float64s(operation string) []float64 {
	t.room(operation, 8)
	out := make([]float64, t.Len())
	err := t.download(func(first int, src []byte) {
		t.dtype.read(src, func(i int, v float64) { out[first+i] = v })
	})
	if err != nil {
		panic(err)
	}
	return out
}

// Ints copies the elements of an integer tensor to the host. It panics with an *Error for a float tensor, and as Float32s
// does.
func (t *Tensor) Ints() []int {
	if err := t.readable("Ints"); err != nil {
		panic(err)
	}
	if t.dtype.Float() {
		panic(fail("use Float32s or Float64s", "Ints: %s holds fractions", t.describe()))
	}
	t.room("Ints", 8)
	out := make([]int, t.Len())
	size := t.dtype.Bytes()
	t.mustDownload("Ints", func(first int, src []byte) {
		for i := range len(src) / size {
			out[first+i] = int(t.dtype.integer(src[i*size:]))
		}
	})
	return out
}

// room panics with an *Error where the host has no memory for the elements in so many bytes each.
func (t *Tensor) room(operation string, bytes int64) {
	if err := t.mem.dev.room(operation+" "+t.describe(), int64(t.Len())*bytes); err != nil {
		panic(err)
	}
}

// room says why the host cannot hold so many bytes, or nil.
func (d *Device) room(what string, bytes int64) error {
	host, ok := d.d.(driver.HostMemory)
	if !ok {
		return nil
	}
	if err := host.HostMemory(bytes); err != nil {
		return &Error{What: what + ": out of memory: " + err.Error(), How: "read a part of it: t.Slice(from, to), or b.Tensor(dtype, shape…)", Cause: err}
	}
	return nil
}

// At reads one element; it takes as many indices as there are dimensions.
func (t *Tensor) At(indices ...int) float64 {
	if len(indices) != len(t.shape) {
		panic(fail("give one index a dimension", "At: %d indices for %s of %d dimensions", len(indices), t.describe(), len(t.shape)))
	}
	at := 0
	for d, i := range indices {
		if i < 0 || i >= t.shape[d] {
			panic(fail("indices begin at 0", "At: index %d is outside dimension %d of %s", i, d, t.describe()))
		}
		at = at*t.shape[d] + i
	}
	if err := t.readable("At"); err != nil {
		panic(err)
	}
	block := t.dtype.Block()
	element := &Tensor{mem: t.mem, offset: t.offset + t.dtype.Size(at/block*block), shape: []int{block}, dtype: t.dtype}
	return element.Float64s()[at%block]
}

// readable says why the elements cannot be read, or nil.
func (t *Tensor) readable(operation string) error {
	if t == nil {
		return fail("make one: dev.Zeros(gpu.F32, 16)", "%s: the tensor is nil", operation)
	}
	if err := t.mem.alive(operation, "tensor "+t.describe()); err != nil {
		return err
	}
	return t.mem.whole("tensor " + t.describe())
}

func (t *Tensor) mustDownload(operation string, take func(first int, src []byte)) {
	if err := t.readable(operation); err != nil {
		panic(err)
	}
	if err := t.download(take); err != nil {
		panic(err)
	}
}

// download copies the elements out chunk by chunk, on all cores.
func (t *Tensor) download(take func(first int, src []byte)) error {
	return forChunks(t.Len(), func(first, count int) error {
		src := make([]byte, t.dtype.Size(count))
		if err := t.mem.dev.d.CopyOut(src, t.address()+addressOf(int(t.dtype.Size(first))), nil); err != nil {
			return wrap("copy from "+t.describe(), err)
		}
		take(first, src)
		return nil
	})
}
