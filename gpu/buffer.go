package gpu

import "fmt"

// Buffer is a window of device memory without a shape or an element type.
type Buffer struct {
	mem    *memory
	offset int64
	bytes  int64
}

// Buffer reserves bytes of device memory, with undefined contents. It panics with an *Error when there is not so much.
func (d *Device) Buffer(bytes int64) *Buffer {
	if bytes < 0 {
		panic(fail("give a size ≥ 0", "Buffer: the size %d is negative", bytes))
	}
	m, err := d.allocate(bytes)
	if err != nil {
		panic(err)
	}
	return &Buffer{mem: m, bytes: bytes}
}

// Buffer is the tensor's memory without its shape and type.
func (t *Tensor) Buffer() *Buffer { return &Buffer{mem: t.mem, offset: t.offset, bytes: t.Bytes()} }

// Bytes is the size.
func (b *Buffer) Bytes() int64 { return b.bytes }

// Device is where the buffer lives.
func (b *Buffer) Device() *Device { return b.mem.dev }

// Address is the device address of the first byte.
func (b *Buffer) Address() uint64 { return uint64(b.mem.base) + uint64(b.offset) }

// Free gives the memory back, also that of all windows. A second call is an error.
func (b *Buffer) Free() error { return b.mem.free("buffer of " + countBytes(b.bytes)) }

// Tensor is the start of the buffer seen as elements of a type in a shape.
func (b *Buffer) Tensor(dtype DType, shape ...int) *Tensor {
	if err := checkShape("Tensor", dtype, shape); err != nil {
		panic(err)
	}
	t := &Tensor{mem: b.mem, offset: b.offset, shape: append([]int(nil), shape...), dtype: dtype}
	if t.Bytes() > b.bytes {
		panic(fail("give a smaller shape, or make a larger buffer: dev.Buffer(bytes)", "Tensor: %s has %s, the buffer %s", t.describe(), countBytes(t.Bytes()), countBytes(b.bytes)))
	}
	return t
}

// CopyIn replaces the first bytes.
func (b *Buffer) CopyIn(src []byte) error {
	what := "buffer of " + countBytes(b.bytes)
	if err := b.mem.writable("CopyIn", what); err != nil {
		return err
	}
	if int64(len(src)) > b.bytes {
		return fail("give at most as many bytes as the buffer has", "CopyIn: %s do not fit a %s", countBytes(int64(len(src))), what)
	}
	if len(src) == 0 {
		return nil
	}
	if err := b.mem.dev.d.CopyIn(b.mem.base+addressOf(int(b.offset)), src, nil); err != nil {
		return wrap("copy to "+what, err)
	}
	if int64(len(src)) == b.mem.bytes {
		b.mem.state.mark("")
	}
	return nil
}

// CopyOut copies all bytes to the host. It panics with an *Error when the buffer was freed or a sampled launch left it
// incomplete.
func (b *Buffer) CopyOut() []byte {
	what := "buffer of " + countBytes(b.bytes)
	if err := b.mem.alive("CopyOut", what); err != nil {
		panic(err)
	}
	if err := b.mem.whole(what); err != nil {
		panic(err)
	}
	if err := b.mem.dev.room("CopyOut "+what, b.bytes); err != nil {
		panic(err)
	}
	out := make([]byte, b.bytes)
	if len(out) > 0 {
		if err := b.mem.dev.d.CopyOut(out, b.mem.base+addressOf(int(b.offset)), nil); err != nil {
			panic(wrap("copy from "+what, err))
		}
	}
	return out
}

// String is "buffer of 4,096 B on virtual:h200".
func (b *Buffer) String() string {
	return fmt.Sprintf("buffer of %s on %s", countBytes(b.bytes), b.mem.dev.name)
}
