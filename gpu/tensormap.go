package gpu

import (
	"fmt"

	"memwall/gpu/internal/driver"
)

// TensorMap describes a tensor and the box of it that a bulk tensor copy (TMA) moves. It is the argument of a parameter
// `const __grid_constant__ CUtensorMap map`, 128 bytes by value.
type TensorMap struct {
	tensor *Tensor
	m      driver.TensorMap
}

// TensorMapConfig is what a tensor map says besides its tensor. Lists are outermost first, as a tensor's shape.
type TensorMapConfig struct {
	Box     []int // elements of the box that one copy moves; each 1 to 256
	Every   []int // element strides: 2 takes every second element of a dimension; nil: every one
	Swizzle int   // bytes within which 16-byte chunks change places in shared memory: 0 (none), 32, 64 or 128
	NaN     bool  // elements outside of the tensor are NaN instead of zero; floating-point types

	// Im2col makes it a map of pixels (images, then D, H and W, then channels): a copy moves Pixels pixels of Channels
	// channels, from one position to the next of the box between the corners Lower and Upper, which are counted from the
	// tensor's first and last pixel. Box is not used.
	Im2col           bool
	Lower, Upper     []int
	Channels, Pixels int
}

// mapTypes are the types of elements of CUtensorMap.
var mapTypes = map[DType]driver.TensorMapType{U8: driver.TensorU8, I8: driver.TensorU8, U16: driver.TensorU16, I16: driver.TensorU16, U32: driver.TensorU32, I32: driver.TensorS32,
	U64: driver.TensorU64, I64: driver.TensorS64, F16: driver.TensorF16, F32: driver.TensorF32, F64: driver.TensorF64, BF16: driver.TensorBF16,
	E4M3: driver.TensorU8, E5M2: driver.TensorU8}

// tensorMapper is a device that has tensor copies.
type tensorMapper interface {
	TakesTensorMaps() error
	// EncodeTensorMap gives the 128 bytes that the device reads, which are its own.
	EncodeTensorMap(*driver.TensorMap) ([driver.TensorMapBytes]byte, error)
}

// TensorMap makes a tensor map of a tensor of 1 to 5 dimensions, whose copies move a box: dev.TensorMap(a, 128, 64).
func (d *Device) TensorMap(t *Tensor, box ...int) (*TensorMap, error) {
	return d.TensorMapOf(t, TensorMapConfig{Box: box})
}

// TensorMapOf makes a tensor map with everything that it can say.
func (d *Device) TensorMapOf(t *Tensor, c TensorMapConfig) (*TensorMap, error) {
	if t == nil {
		return nil, fail("make the tensor first", "TensorMap: the tensor is nil")
	}
	what := "TensorMap of " + t.describe()
	if t.mem.dev != d {
		return nil, fail("make the map with the tensor's device", "%s: the tensor is on %s, not on %s", what, t.mem.dev.name, d.name)
	}
	if err := t.mem.alive("TensorMap", "tensor "+t.describe()); err != nil {
		return nil, err
	}
	taker, ok := d.d.(tensorMapper)
	if !ok {
		return nil, fail("open a virtual GPU of sm_90: gpu.Open(\"virtual:h100\")", "%s: %s does not take maps from this package", what, d.name)
	}
	if err := taker.TakesTensorMaps(); err != nil {
		return nil, fail("open a GPU of sm_90 or newer: gpu.Open(\"virtual:h100\")", "%s: %v", what, err)
	}
	rank := len(t.shape)
	if rank < 1 || rank > 5 {
		return nil, fail("reshape it", "%s: a tensor map has 1 to 5 dimensions", what)
	}
	if !t.dtype.plain() {
		return nil, fail("map its bytes: t.View(gpu.U8)", "%s: %s has blocks, a tensor map elements", what, t.dtype)
	}
	m := &TensorMap{tensor: t, m: driver.TensorMap{Type: mapTypes[t.dtype], Rank: rank, Address: t.address(), FillNaN: c.NaN, Im2col: c.Im2col,
		ElementStrides: [5]uint32{1, 1, 1, 1, 1}, Dims: [5]uint64{1, 1, 1, 1, 1}}}
	stride := uint64(t.dtype.Bytes())
	for i := range rank {
		m.m.Dims[i] = uint64(t.shape[rank-1-i])
		if stride *= m.m.Dims[i]; i < 4 && i+1 < rank {
			m.m.Strides[i] = stride
		}
	}
	if err := m.configure(&c); err != nil {
		return nil, fail("change TensorMapConfig: rank 1 to 5, boxes of at most 256, rows of a multiple of 16 B", "%s: %v", what, err)
	}
	if err := m.m.Check(); err != nil {
		return nil, fail("change TensorMapConfig: rank 1 to 5, boxes of at most 256, rows of a multiple of 16 B", "%s: %v", what, err)
	}
	return m, nil
}

// configure writes what the configuration says into the map.
func (m *TensorMap) configure(c *TensorMapConfig) error {
	rank := m.m.Rank
	if err := m.swizzle(c.Swizzle); err != nil {
		return err
	}
	if c.Every != nil && len(c.Every) != rank {
		return fmt.Errorf("%d element strides for %d dimensions", len(c.Every), rank)
	}
	for i, n := range c.Every {
		if n < 1 || n > 8 {
			return fmt.Errorf("element stride %d: 1 to 8", n)
		}
		m.m.ElementStrides[rank-1-i] = uint32(n)
	}
	if c.Im2col {
		if len(c.Lower) != rank-2 || len(c.Upper) != rank-2 {
			return fmt.Errorf("corners of %d and %d extents: an image of a tensor of %d dimensions has %d", len(c.Lower), len(c.Upper), rank, rank-2)
		}
		most := [...]int{0, 1 << 15, 1 << 7, 1 << 4}[max(min(rank-2, 3), 0)]
		for i := range c.Lower {
			if low, high := c.Lower[i], c.Upper[i]; low < -most || low >= most || high < -most || high >= most {
				return fmt.Errorf("corners at %d and %d: from %d to %d", low, high, -most, most-1)
			}
			m.m.LowerCorner[rank-3-i], m.m.UpperCorner[rank-3-i] = int16(c.Lower[i]), int16(c.Upper[i])
		}
		if c.Channels < 1 || c.Channels > 256 || c.Pixels < 1 || c.Pixels > 1024 {
			return fmt.Errorf("%d channels and %d pixels: 1 to 256, and 1 to 1024", c.Channels, c.Pixels)
		}
		m.m.Channels, m.m.Pixels = uint16(c.Channels), uint16(c.Pixels)
		return nil
	}
	if len(c.Box) != rank {
		return fmt.Errorf("a box of %d dimensions for a tensor of %d", len(c.Box), rank)
	}
	for i, n := range c.Box {
		if n < 1 || n > 256 {
			return fmt.Errorf("the box has %d elements in a dimension: 1 to 256", n)
		}
		m.m.Box[rank-1-i] = uint32(n)
	}
	return nil
}

// Swizzled is the same map with a swizzle of 32, 64 or 128 bytes, or 0 for none.
func (m *TensorMap) Swizzled(bytes int) (*TensorMap, error) {
	c := *m
	err := c.swizzle(bytes)
	if err == nil {
		err = c.m.Check()
	}
	if err != nil {
		return nil, fail("change TensorMapConfig: rank 1 to 5, boxes of at most 256, rows of a multiple of 16 B", "TensorMap of %s: %v", m.tensor.describe(), err)
	}
	return &c, nil
}

func (m *TensorMap) swizzle(bytes int) error {
	s, ok := map[int]driver.TensorMapSwizzle{0: driver.SwizzleNone, 32: driver.Swizzle32, 64: driver.Swizzle64, 128: driver.Swizzle128}[bytes]
	if !ok {
		return fmt.Errorf("a swizzle of %d bytes: it is 0, 32, 64 or 128", bytes)
	}
	m.m.Swizzle = s
	return nil
}

// BoxBytes is what one copy moves into shared memory: what mbarrier.arrive.expect_tx must expect.
func (m *TensorMap) BoxBytes() int {
	if m.m.Im2col {
		return m.m.Type.Bytes() * int(m.m.Channels) * int(m.m.Pixels)
	}
	n := m.m.Type.Bytes() * int(m.m.Box[0])
	for i := 1; i < m.m.Rank; i++ {
		n *= int((m.m.Box[i] + m.m.ElementStrides[i] - 1) / m.m.ElementStrides[i])
	}
	return n
}

// Tensor is the tensor that the map describes.
func (m *TensorMap) Tensor() *Tensor { return m.tensor }

// String shows the map in a line.
func (m *TensorMap) String() string { return m.m.String() }

// putTensorMap writes a tensor map into a parameter of 128 bytes.
func (p *packer) putTensorMap(i int, m *TensorMap) error {
	q := p.params[i]
	if m == nil {
		return p.fail(i, "make it with dev.TensorMap", "the tensor map is nil")
	}
	if q.Size != driver.TensorMapBytes || q.Pointer {
		return p.fail(i, "declare it const __grid_constant__ CUtensorMap", "a tensor map has %d B by value, the parameter has %d B", driver.TensorMapBytes, q.Size)
	}
	if q.Align%64 != 0 {
		return p.fail(i, "declare it const __grid_constant__ CUtensorMap, whose alignment is 64", "a tensor map is aligned to 64 bytes, the parameter to %d", q.Align)
	}
	mem := m.tensor.mem
	what := "tensor " + m.tensor.describe()
	if mem.dev != p.dev {
		return p.fail(i, "make the map with the device of the launch", "the map's %s is on %s, the launch on %s", what, mem.dev.name, p.dev.name)
	}
	if err := mem.alive("", what); err != nil {
		return p.fail(i, "make tensor and map again, or call Free later", "the map's %s was freed", what)
	}
	b, err := p.dev.d.(tensorMapper).EncodeTensorMap(&m.m)
	if err != nil {
		return p.fail(i, "", "%v", err)
	}
	copy(p.at(i), b[:])
	p.memory = append(p.memory, mem)
	p.extents = append(p.extents, driver.Extent{Param: i, Base: m.m.Address, Bytes: m.tensor.Bytes(), Name: what})
	return nil
}
