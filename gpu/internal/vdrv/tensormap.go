//go:build cuda && cgo && linux

package vdrv

// #include "helpers.h"
import "C"

import (
	"unsafe"

	"memwall/gpu/internal/driver"
)

// encode writes the bytes of a tensor map.
func encode(out unsafe.Pointer, m *driver.TensorMap) result {
	b, err := m.Encode()
	if err != nil {
		report("%v", err)
		return invalidValue
	}
	copy(unsafe.Slice((*byte)(out), len(b)), b[:])
	return success
}

// tensorMap fills in what the two kinds of maps share.
func tensorMap(kind C.int, rank C.cuuint32_t, address unsafe.Pointer, dims, strides *C.cuuint64_t, steps *C.cuuint32_t, interleave, swizzle, l2, fill C.int) (*driver.TensorMap, bool) {
	if rank < 1 || rank > 5 || dims == nil || steps == nil || rank > 1 && strides == nil || kind < 0 || kind > 255 || swizzle < 0 || swizzle > 255 {
		return nil, false
	}
	m := &driver.TensorMap{Type: driver.TensorMapType(kind), Rank: int(rank), Address: driver.Address(uintptr(address)), Interleave: uint8(interleave),
		Swizzle: driver.TensorMapSwizzle(swizzle), L2Promotion: uint8(l2), FillNaN: fill == 1}
	for i := range m.Dims {
		m.Dims[i], m.Box[i], m.ElementStrides[i] = 1, 1, 1
	}
	for i, n := range unsafe.Slice(dims, rank) {
		m.Dims[i] = uint64(n)
	}
	for i, n := range unsafe.Slice(steps, rank) {
		m.ElementStrides[i] = uint32(n)
	}
	if rank > 1 {
		for i, n := range unsafe.Slice(strides, rank-1) {
			m.Strides[i] = uint64(n)
		}
	}
	return m, true
}

//export vdrv_cuTensorMapEncodeTiled
func vdrv_cuTensorMapEncodeTiled(out unsafe.Pointer, kind C.int, rank C.cuuint32_t, address unsafe.Pointer, dims, strides *C.cuuint64_t, box, steps *C.cuuint32_t, interleave, swizzle, l2, fill C.int) result {
	m, ok := tensorMap(kind, rank, address, dims, strides, steps, interleave, swizzle, l2, fill)
	if !ok || out == nil || box == nil {
		return invalidValue
	}
	for i, n := range unsafe.Slice(box, rank) {
		m.Box[i] = uint32(n)
	}
	return encode(out, m)
}

//export vdrv_cuTensorMapEncodeIm2col
func vdrv_cuTensorMapEncodeIm2col(out unsafe.Pointer, kind C.int, rank C.cuuint32_t, address unsafe.Pointer, dims, strides *C.cuuint64_t, lower, upper *C.int, channels, pixels C.cuuint32_t, steps *C.cuuint32_t, interleave, swizzle, l2, fill C.int) result {
	m, ok := tensorMap(kind, rank, address, dims, strides, steps, interleave, swizzle, l2, fill)
	if !ok || out == nil || lower == nil || upper == nil || rank < 3 || channels > 1<<15 || pixels > 1<<15 {
		return invalidValue
	}
	m.Im2col, m.Channels, m.Pixels = true, uint16(channels), uint16(pixels)
	for i := range int(rank) - 2 {
		m.LowerCorner[i] = int16(unsafe.Slice(lower, rank-2)[i])
		m.UpperCorner[i] = int16(unsafe.Slice(upper, rank-2)[i])
	}
	return encode(out, m)
}
