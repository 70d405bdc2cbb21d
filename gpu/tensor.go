package gpu

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"memwall/gpu/internal/driver"
)

// Tensor is a row-major array in device memory: a window of an allocation with a shape and an element type. Views share
// the memory of the tensor that they were made from.
type Tensor struct {
	mem    *memory
	offset int64 // bytes from the start of the allocation
	shape  []int
	dtype  DType
}

// Shape is the extent of each dimension, outermost first; empty for a single number.
func (t *Tensor) Shape() []int { return append([]int(nil), t.shape...) }

// DType is the element type.
func (t *Tensor) DType() DType { return t.dtype }

// Device is where the tensor lives.
func (t *Tensor) Device() *Device { return t.mem.dev }

// Len is the number of elements.
func (t *Tensor) Len() int { return product(t.shape) }

// Bytes is the size of the elements in bytes.
func (t *Tensor) Bytes() int64 { return t.dtype.Size(t.Len()) }

// Address is the device address of the first element, for pointers inside structures.
func (t *Tensor) Address() uint64 { return uint64(t.address()) }

func (t *Tensor) address() driver.Address { return t.mem.base + driver.Address(t.offset) }

// Free gives the memory back, also that of all views. A second call is an error.
func (t *Tensor) Free() error { return t.mem.free("tensor " + t.describe()) }

// describe is "f16 [4096, 4096]".
func (t *Tensor) describe() string { return t.dtype.String() + " " + shapeText(t.shape) }

// Reshape is the same memory under another shape of as many elements; one extent may be -1 and follows from the others.
func (t *Tensor) Reshape(shape ...int) *Tensor {
	full, unknown, known := append([]int(nil), shape...), -1, 1
	if err := checkSize("reshape "+t.describe(), t.dtype, full); err != nil { // products beyond 2⁶³ would wrap round
		panic(err)
	}
	for i, n := range full {
		switch {
		case n == -1 && unknown < 0:
			unknown = i
		case n < 0:
			panic(fail("give extents ≥ 0, and -1 at most once", "reshape %s to %s: bad extent %d", t.describe(), shapeText(shape), n))
		default:
			known *= n
		}
	}
	if unknown >= 0 && known > 0 && t.Len()%known == 0 {
		full[unknown] = t.Len() / known
	} else if unknown >= 0 {
		panic(fail("the extents that are given must divide the number of elements", "reshape %s to %s: %d elements are no multiple of %d", t.describe(), shapeText(shape), t.Len(), known))
	}
	if product(full) != t.Len() {
		panic(fail("give extents whose product is the number of elements; -1 stands for one that follows", "reshape %s to %s: %d elements are not %d", t.describe(), shapeText(shape), t.Len(), product(full)))
	}
	if err := t.dtype.checkBlocks("reshape "+t.describe(), full); err != nil {
		panic(err)
	}
	return &Tensor{mem: t.mem, offset: t.offset, shape: full, dtype: t.dtype}
}

// Slice is the rows from, from+1 … to−1 of the outermost dimension: the same memory, not a copy.
func (t *Tensor) Slice(from, to int) *Tensor {
	if len(t.shape) == 0 {
		panic(fail("reshape it first", "slice %s: it has no dimension", t.describe()))
	}
	if from < 0 || to < from || to > t.shape[0] {
		panic(fail(fmt.Sprintf("give 0 ≤ from ≤ to ≤ %d", t.shape[0]), "slice %s: rows %d to %d are not in it", t.describe(), from, to))
	}
	shape := t.Shape()
	shape[0] = to - from
	row := product(t.shape[1:])
	if block := t.dtype.Block(); from*row%block != 0 || (to-from)*row%block != 0 {
		panic(fail(fmt.Sprintf("give multiples of %d", block), "slice %s: values %d to %d are no whole blocks", t.describe(), from, to))
	}
	return &Tensor{mem: t.mem, offset: t.offset + t.dtype.Size(from*row), shape: shape, dtype: t.dtype}
}

// View is the same bytes as another element type; the innermost extent changes with the size of the elements. So bytes of a
// GGUF file become weights, dev.From(bytes, n, rowBytes).View(gpu.Q4_K), and weights bytes, w.View(gpu.U8).
func (t *Tensor) View(dtype DType) *Tensor {
	if !dtype.valid() {
		panic(fail("use gpu.F32, gpu.F16 …", "view %s: %s is no element type", t.describe(), dtype))
	}
	shape := t.Shape()
	if len(shape) == 0 {
		shape = []int{1}
	}
	last := &shape[len(shape)-1]
	bytes, unit := int(t.dtype.Size(*last)), int(dtype.Size(dtype.Block()))
	if bytes%unit != 0 {
		panic(fail("view it as a type whose size, or block of values, divides a row", "view %s as %s: rows of %d B are no multiple of %d B", t.describe(), dtype, bytes, unit))
	}
	*last = bytes / unit * dtype.Block()
	return &Tensor{mem: t.mem, offset: t.offset, shape: shape, dtype: dtype}
}

// product of the extents; 1 for none.
func product(shape []int) int {
	n := 1
	for _, extent := range shape {
		n *= extent
	}
	return n
}

// checkShape refuses negative extents and sizes that no memory holds.
func checkShape(operation string, dtype DType, shape []int) error {
	if !dtype.valid() {
		return fail("use gpu.F16, gpu.F32 … as the first argument", "%s: %s is no element type", operation, dtype)
	}
	for _, n := range shape {
		if n < 0 {
			return fail("give extents ≥ 0", "%s: shape %s has the negative extent %d", operation, shapeText(shape), n)
		}
	}
	if err := checkSize(operation, dtype, shape); err != nil {
		return err
	}
	return dtype.checkBlocks(operation, shape)
}

// checkSize refuses shapes of more elements than an int counts; the sign of an extent does not matter.
func checkSize(operation string, dtype DType, shape []int) error {
	elements := 1.0
	for _, n := range shape {
		elements *= math.Abs(float64(n))
	}
	if elements*dtype.Bits()/8 > math.MaxInt64/2 {
		return fail("look for a product of extents that was meant to be a sum", "%s: shape %s has %.3g elements, more than any memory holds", operation, shapeText(shape), elements)
	}
	return nil
}

// shapeText is "[4096, 4096]".
func shapeText(shape []int) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = strconv.Itoa(n)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
