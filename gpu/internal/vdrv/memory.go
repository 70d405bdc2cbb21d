//go:build cuda && cgo && linux

package vdrv

// #include "helpers.h"
import "C"

import (
	"unsafe"

	"memwall/gpu/internal/driver"
)

// memoryKind tells allocations apart for cuPointerGetAttribute.
type memoryKind int

const (
	deviceMemory memoryKind = iota
	hostMemory
	managedMemory
)

func allocate(bytes size, kind memoryKind, out *devicePtr) result {
	if out == nil || bytes == 0 {
		return invalidValue
	}
	if e := sticky(); e != 0 {
		return e
	}
	alloc := state.gpu.Alloc
	if kind != deviceMemory {
		alloc = state.gpu.AllocMapped
	}
	if bytes > 1<<62 {
		return outOfMemory
	}
	a, err := alloc(int64(bytes))
	if err != nil {
		return outOfMemory
	}
	if kind != deviceMemory {
		state.mu.Lock()
		state.kinds[a] = kind
		state.mu.Unlock()
	}
	*out = devicePtr(a)
	return success
}

func release(p devicePtr) result {
	if e := sticky(); e != 0 {
		return e
	}
	if p == 0 {
		return success
	}
	if state.gpu.Free(driver.Address(p)) != nil {
		return invalidValue
	}
	state.mu.Lock()
	delete(state.kinds, driver.Address(p))
	state.mu.Unlock()
	return success
}

//export vdrv_cuMemAlloc_v2
func vdrv_cuMemAlloc_v2(p *devicePtr, bytes size) result { return allocate(bytes, deviceMemory, p) }

//export vdrv_cuMemAllocManaged
func vdrv_cuMemAllocManaged(p *devicePtr, bytes size, flags C.uint) result {
	return allocate(bytes, managedMemory, p)
}

//export vdrv_cuMemFree_v2
func vdrv_cuMemFree_v2(p devicePtr) result { return release(p) }

// pitchAlign is the alignment of rows, as cuMemAllocPitch gives them on current GPUs.
const pitchAlign = 512

//export vdrv_cuMemAllocPitch_v2
func vdrv_cuMemAllocPitch_v2(p *devicePtr, pitch *size, width, height size, element C.uint) result {
	if pitch == nil || width > 1<<40 || height > 1<<20 {
		return invalidValue
	}
	*pitch = (width + pitchAlign - 1) &^ (pitchAlign - 1)
	return allocate(*pitch*height, deviceMemory, p)
}

//export vdrv_cuMemHostAlloc
func vdrv_cuMemHostAlloc(p *unsafe.Pointer, bytes size, flags C.uint) result {
	return allocate(bytes, hostMemory, (*devicePtr)(unsafe.Pointer(p)))
}

//export vdrv_cuMemHostGetDevicePointer_v2
func vdrv_cuMemHostGetDevicePointer_v2(d *devicePtr, p unsafe.Pointer, flags C.uint) result {
	state.mu.Lock()
	_, registered := state.pinned[uintptr(p)]
	state.mu.Unlock()
	if _, _, ok := state.gpu.Allocation(driver.Address(uintptr(p))); !ok && !registered || d == nil {
		return invalidValue
	}
	*d = devicePtr(uintptr(p))
	return success
}

//export vdrv_cuMemHostGetFlags
func vdrv_cuMemHostGetFlags(flags *C.uint, p unsafe.Pointer) result {
	if flags == nil {
		return invalidValue
	}
	*flags = 0
	return success
}

//export vdrv_cuMemHostRegister_v2
func vdrv_cuMemHostRegister_v2(p unsafe.Pointer, bytes size, flags C.uint) result {
	state.mu.Lock()
	defer state.mu.Unlock()
	if p == nil || bytes == 0 {
		return invalidValue
	}
	if _, there := state.pinned[uintptr(p)]; there {
		return C.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
	}
	state.pinned[uintptr(p)] = uint64(bytes)
	return success
}

//export vdrv_cuMemHostUnregister
func vdrv_cuMemHostUnregister(p unsafe.Pointer) result {
	state.mu.Lock()
	defer state.mu.Unlock()
	if _, there := state.pinned[uintptr(p)]; !there {
		return C.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
	}
	delete(state.pinned, uintptr(p))
	return success
}

//export vdrv_cuMemGetInfo_v2
func vdrv_cuMemGetInfo_v2(free, total *size) result {
	if e := sticky(); e != 0 {
		return e
	}
	if free == nil || total == nil {
		return invalidValue
	}
	f, t := state.gpu.MemoryInfo()
	*free, *total = size(f), size(t)
	return success
}

//export vdrv_cuMemGetAddressRange_v2
func vdrv_cuMemGetAddressRange_v2(base *devicePtr, bytes *size, p devicePtr) result {
	a, n, ok := state.gpu.Allocation(driver.Address(p))
	if !ok {
		return notFound
	}
	if base != nil {
		*base = devicePtr(a)
	}
	if bytes != nil {
		*bytes = size(n)
	}
	return success
}

// The attributes of a pointer whose values have 8 bytes; the others have 4.
var wideAttributes = map[C.CUpointer_attribute]bool{1: true, 3: true, 4: true, 7: true, 11: true, 12: true}

//export vdrv_cuPointerGetAttribute
func vdrv_cuPointerGetAttribute(out unsafe.Pointer, attribute C.CUpointer_attribute, p devicePtr) result {
	if out == nil {
		return invalidValue
	}
	base, bytes, ok := state.gpu.Allocation(driver.Address(p))
	state.mu.Lock()
	kind := state.kinds[base]
	registered, isRegistered := state.pinned[uintptr(p)]
	state.mu.Unlock()
	switch {
	case ok:
	case isRegistered:
		kind, base, bytes = hostMemory, driver.Address(p), int64(registered)
	default:
		return invalidValue
	}
	word, long := (*uint32)(out), (*uint64)(out)
	switch int(attribute) {
	case 1: // context
		*long = primaryContext
	case 2: // memory type: 1 host, 2 device
		*word = 2
		if kind == hostMemory {
			*word = 1
		}
	case 3: // device pointer
		*long = uint64(p)
	case 4: // host pointer
		if kind == deviceMemory {
			return invalidValue
		}
		*long = uint64(p)
	case 6, 9: // synchronous operations; device
		*word = 0
	case 7: // id of the buffer
		*long = uint64(base) >> 8
	case 8: // managed
		*word = uint32(number(kind == managedMemory))
	case 11: // start of the range
		*long = uint64(base)
	case 12: // its size
		*long = uint64(bytes)
	case 13: // mapped
		*word = 1
	default:
		return notSupported
	}
	return success
}

//export vdrv_cuPointerGetAttributes
func vdrv_cuPointerGetAttributes(n C.uint, attributes *C.CUpointer_attribute, out *unsafe.Pointer, p devicePtr) result {
	if attributes == nil || out == nil {
		return invalidValue
	}
	for i, attribute := range unsafe.Slice(attributes, n) {
		o := unsafe.Slice(out, n)[i]
		if vdrv_cuPointerGetAttribute(o, attribute, p) != success && o != nil {
			width := 4
			if wideAttributes[attribute] {
				width = 8
			}
			clear(unsafe.Slice((*byte)(o), width))
		}
	}
	return success
}

// Memory pools: there is one, whose attributes are remembered and mean nothing.

//export vdrv_cuDeviceGetDefaultMemPool
func vdrv_cuDeviceGetDefaultMemPool(p *C.CUmemoryPool, d C.CUdevice) result {
	if p == nil {
		return invalidValue
	}
	*(*uintptr)(unsafe.Pointer(p)) = defaultPool
	return success
}

// The first attributes of a pool are ints, the others 64 bits wide; from 5 on they are what is used.
const wideFrom, usedFrom = 4, 5

//export vdrv_cuMemPoolSetAttribute
func vdrv_cuMemPoolSetAttribute(p C.CUmemoryPool, attribute C.int, value unsafe.Pointer) result {
	if value == nil {
		return invalidValue
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	if attribute < wideFrom {
		state.pool[attribute] = uint64(*(*uint32)(value))
	} else {
		state.pool[attribute] = *(*uint64)(value)
	}
	return success
}

//export vdrv_cuMemPoolGetAttribute
func vdrv_cuMemPoolGetAttribute(p C.CUmemoryPool, attribute C.int, value unsafe.Pointer) result {
	if value == nil {
		return invalidValue
	}
	free, total := state.gpu.MemoryInfo()
	state.mu.Lock()
	defer state.mu.Unlock()
	switch {
	case attribute < wideFrom:
		*(*uint32)(value) = uint32(state.pool[attribute])
	case attribute < usedFrom:
		*(*uint64)(value) = state.pool[attribute]
	default:
		*(*uint64)(value) = uint64(total - free)
	}
	return success
}

//export vdrv_cuMemPoolGetAccess
func vdrv_cuMemPoolGetAccess(flags *C.int, p C.CUmemoryPool, place unsafe.Pointer) result {
	if flags == nil {
		return invalidValue
	}
	*flags = 3 // read and write
	return success
}
