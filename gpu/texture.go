package gpu

import (
	"fmt"

	"memwall/gpu/internal/driver"
)

// Texture lets a CUDA kernel fetch a tensor's elements by index with tex1Dfetch: a launch takes it where the kernel has a
// cudaTextureObject_t. An index outside of the tensor reads as zeros.
type Texture struct {
	t      *Tensor
	number uint64
	freed  bool
}

// Texture makes a texture object of the tensor's memory, each element of the texture having 1, 2 or 4 channels. The elements are
// F32, F16 or integers of up to 32 bits, which a kernel reads as f32 or as integers; the memory stays the tensor's.
func (t *Tensor) Texture(channels int) (*Texture, error) {
	d, ok := t.Device().d.(driver.Texturer)
	if !ok {
		return nil, fail("use a tensor and plain loads, or gpu.Open(\"virtual\")", "Texture: device %q has no texture objects here", t.Device().name)
	}
	if err := t.mem.alive("Texture", "tensor "+t.describe()); err != nil {
		return nil, err
	}
	format := t.dtype.String()
	if format[0] == 'i' {
		format = "s" + format[1:]
	}
	number, err := d.NewTexture(driver.Texture{Base: t.mem.base + driver.Address(t.offset), Bytes: t.Bytes(), Format: format, Channels: channels})
	if err != nil {
		return nil, &Error{What: fmt.Sprintf("Texture of %s: %v", t.describe(), err), Cause: err}
	}
	return &Texture{t: t, number: number}, nil
}

// String says what the texture shows.
func (x *Texture) String() string {
	switch {
	case x == nil:
		return "no texture"
	case x.freed:
		return "texture, freed"
	}
	return "texture of tensor " + x.t.describe()
}

// Free forgets the texture object. A second call is an error.
func (x *Texture) Free() error {
	if x == nil {
		return fail("make the texture first: t.Texture(1)", "Free: the texture is nil")
	}
	if x.freed {
		return fail("call Free once", "Free: the texture was freed before")
	}
	x.freed = true
	return x.t.Device().d.(driver.Texturer).FreeTexture(x.number)
}

// putTexture writes a texture's number and notes the memory behind it.
func (p *packer) putTexture(i int, x *Texture) error {
	if x.freed {
		return p.fail(i, "make it again, or call Free later", "the texture was freed")
	}
	if err := p.putMemory(i, x.t.mem, x.t.offset, x.t.Bytes(), "texture of "+x.t.describe()); err != nil {
		return err
	}
	putInteger(p.at(i), 8, x.number)
	return nil
}
