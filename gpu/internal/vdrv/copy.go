//go:build cuda && cgo && linux

package vdrv

// #include "helpers.h"
import "C"

import (
	"unsafe"

	"memwall/gpu/internal/driver"
)

// bytesAt is host memory as a slice.
func bytesAt(p devicePtr, n size) []byte {
	return unsafe.Slice((*byte)(pointer(uintptr(p))), n)
}

// move copies between any two of host and device: addresses mean the same on both.
func move(dst, src devicePtr, n size) result {
	if n == 0 {
		return success
	}
	if dst == 0 || src == 0 {
		return invalidValue
	}
	_, _, to := state.gpu.Allocation(driver.Address(dst))
	_, _, from := state.gpu.Allocation(driver.Address(src))
	var err error
	switch {
	case to && from:
		err = state.gpu.Copy(driver.Address(dst), driver.Address(src), int64(n), nil)
	case to:
		err = state.gpu.CopyIn(driver.Address(dst), bytesAt(src, n), nil)
	case from:
		err = state.gpu.CopyOut(bytesAt(dst, n), driver.Address(src), nil)
	case state.gpu.Owns(driver.Address(dst)) || state.gpu.Owns(driver.Address(src)):
		return invalidValue // freed, or behind the end of an allocation
	default:
		copy(bytesAt(dst, n), bytesAt(src, n))
	}
	if err != nil {
		return invalidValue
	}
	state.clock.copied(uint64(n))
	return success
}

// inside says whether n bytes from p on lie in one allocation, or in memory that is the host's alone.
func inside(p devicePtr, n size) bool {
	if n == 0 {
		return true
	}
	base, bytes, ok := state.gpu.Allocation(driver.Address(p))
	if !ok {
		return p > 4096 && !state.gpu.Owns(driver.Address(p))
	}
	return uint64(n) <= uint64(bytes)-(uint64(p)-uint64(base))
}

func copyOn(dst, src devicePtr, n size, s streamPtr) result {
	if e := sticky(); e != 0 {
		return e
	}
	if !inside(dst, n) || !inside(src, n) {
		return invalidValue
	}
	return on(s, func() result { return move(dst, src, n) })
}

//export vdrv_cuMemcpy
func vdrv_cuMemcpy(dst, src devicePtr, n size) result { return copyOn(dst, src, n, nil) }

//export vdrv_cuMemcpyAsync
func vdrv_cuMemcpyAsync(dst, src devicePtr, n size, s streamPtr) result {
	return copyOn(dst, src, n, s)
}

//export vdrv_cuMemcpyPeer
func vdrv_cuMemcpyPeer(dst devicePtr, to C.CUcontext, src devicePtr, from C.CUcontext, n size) result {
	return copyOn(dst, src, n, nil)
}

//export vdrv_cuMemcpyPeerAsync
func vdrv_cuMemcpyPeerAsync(dst devicePtr, to C.CUcontext, src devicePtr, from C.CUcontext, n size, s streamPtr) result {
	return copyOn(dst, src, n, s)
}

// side is one end of a copy of boxes.
type side struct {
	start         devicePtr
	pitch, height size
	xBytes, y, z  size
}

// row is the address of a row of the box.
func (e *side) row(y, z size) devicePtr {
	return e.start + devicePtr(((e.z+z)*e.height+e.y+y)*e.pitch+e.xBytes)
}

func addressOf(kind C.CUmemorytype, host unsafe.Pointer, device devicePtr) (devicePtr, bool) {
	switch kind {
	case C.CU_MEMORYTYPE_HOST:
		return devicePtr(uintptr(host)), true
	case C.CU_MEMORYTYPE_DEVICE, C.CU_MEMORYTYPE_UNIFIED:
		return device, true
	}
	return 0, false // an array: there are none
}

func copyBox(c C.CUDA_MEMCPY3D_PEER, s streamPtr) result {
	if e := sticky(); e != 0 {
		return e
	}
	from, ok1 := addressOf(c.srcMemoryType, c.srcHost, c.srcDevice)
	to, ok2 := addressOf(c.dstMemoryType, c.dstHost, c.dstDevice)
	if !ok1 || !ok2 {
		return notSupported
	}
	if c.WidthInBytes == 0 || c.Height == 0 || c.Depth == 0 {
		return success
	}
	src := side{start: from, pitch: c.srcPitch, height: c.srcHeight, xBytes: c.srcXInBytes, y: c.srcY, z: c.srcZ}
	dst := side{start: to, pitch: c.dstPitch, height: c.dstHeight, xBytes: c.dstXInBytes, y: c.dstY, z: c.dstZ}
	for _, e := range []*side{&src, &dst} {
		if c.Height > 1 && e.pitch < c.WidthInBytes || !inside(e.row(0, 0), c.WidthInBytes) || !inside(e.row(c.Height-1, c.Depth-1), c.WidthInBytes) {
			return invalidValue
		}
	}
	return on(s, func() result {
		for z := range c.Depth {
			for y := range c.Height {
				if e := move(dst.row(y, z), src.row(y, z), c.WidthInBytes); e != 0 {
					return e
				}
			}
		}
		return success
	})
}

//export vdrv_cuMemcpy3DPeerAsync
func vdrv_cuMemcpy3DPeerAsync(c *C.CUDA_MEMCPY3D_PEER, s streamPtr) result {
	if c == nil {
		return invalidValue
	}
	return copyBox(*c, s)
}

//export vdrv_cuMemcpy3DPeer
func vdrv_cuMemcpy3DPeer(c *C.CUDA_MEMCPY3D_PEER) result { return vdrv_cuMemcpy3DPeerAsync(c, nil) }

//export vdrv_cuMemcpy3DAsync_v2
func vdrv_cuMemcpy3DAsync_v2(c *C.CUDA_MEMCPY3D, s streamPtr) result {
	return vdrv_cuMemcpy3DPeerAsync((*C.CUDA_MEMCPY3D_PEER)(unsafe.Pointer(c)), s) // the same but for the contexts
}

//export vdrv_cuMemcpy3D_v2
func vdrv_cuMemcpy3D_v2(c *C.CUDA_MEMCPY3D) result { return vdrv_cuMemcpy3DAsync_v2(c, nil) }

//export vdrv_cuMemcpy2DAsync_v2
func vdrv_cuMemcpy2DAsync_v2(c *C.CUDA_MEMCPY2D, s streamPtr) result {
	if c == nil {
		return invalidValue
	}
	return copyBox(C.CUDA_MEMCPY3D_PEER{
		srcXInBytes: c.srcXInBytes, srcY: c.srcY, srcMemoryType: c.srcMemoryType, srcHost: c.srcHost, srcDevice: c.srcDevice, srcPitch: c.srcPitch,
		dstXInBytes: c.dstXInBytes, dstY: c.dstY, dstMemoryType: c.dstMemoryType, dstHost: c.dstHost, dstDevice: c.dstDevice, dstPitch: c.dstPitch,
		WidthInBytes: c.WidthInBytes, Height: c.Height, Depth: 1,
	}, s)
}

//export vdrv_cuMemcpy2D_v2
func vdrv_cuMemcpy2D_v2(c *C.CUDA_MEMCPY2D) result { return vdrv_cuMemcpy2DAsync_v2(c, nil) }

//export vdrv_cuMemcpy2DUnaligned_v2
func vdrv_cuMemcpy2DUnaligned_v2(c *C.CUDA_MEMCPY2D) result { return vdrv_cuMemcpy2DAsync_v2(c, nil) }

// fill writes rows of width values of unit bytes.
func fill(dst devicePtr, pitch size, value uint32, width, height, unit size, s streamPtr) result {
	if e := sticky(); e != 0 {
		return e
	}
	if width == 0 || height == 0 {
		return success
	}
	last := dst + devicePtr(pitch*(height-1))
	if dst == 0 || size(dst)%unit != 0 || width > 1<<60 || !inside(dst, width*unit) || !inside(last, width*unit) {
		return invalidValue
	}
	pattern := []byte{byte(value), byte(value >> 8), byte(value >> 16), byte(value >> 24)}[:unit]
	return on(s, func() result {
		for y := range height {
			row := driver.Address(dst + devicePtr(y*pitch))
			if _, _, ours := state.gpu.Allocation(row); !ours {
				host := bytesAt(devicePtr(row), width*unit)
				for i := range host {
					host[i] = pattern[i%len(pattern)]
				}
			} else if state.gpu.Fill(row, pattern, int64(width), nil) != nil {
				return invalidValue
			}
		}
		state.clock.copied(uint64(width * unit * height))
		return success
	})
}

//export vdrv_cuMemsetD8_v2
func vdrv_cuMemsetD8_v2(d devicePtr, v C.uchar, n size) result {
	return fill(d, 0, uint32(v), n, 1, 1, nil)
}

//export vdrv_cuMemsetD16_v2
func vdrv_cuMemsetD16_v2(d devicePtr, v C.ushort, n size) result {
	return fill(d, 0, uint32(v), n, 1, 2, nil)
}

//export vdrv_cuMemsetD32_v2
func vdrv_cuMemsetD32_v2(d devicePtr, v C.uint, n size) result {
	return fill(d, 0, uint32(v), n, 1, 4, nil)
}

//export vdrv_cuMemsetD8Async
func vdrv_cuMemsetD8Async(d devicePtr, v C.uchar, n size, s streamPtr) result {
	return fill(d, 0, uint32(v), n, 1, 1, s)
}

//export vdrv_cuMemsetD16Async
func vdrv_cuMemsetD16Async(d devicePtr, v C.ushort, n size, s streamPtr) result {
	return fill(d, 0, uint32(v), n, 1, 2, s)
}

//export vdrv_cuMemsetD32Async
func vdrv_cuMemsetD32Async(d devicePtr, v C.uint, n size, s streamPtr) result {
	return fill(d, 0, uint32(v), n, 1, 4, s)
}

//export vdrv_cuMemsetD2D8_v2
func vdrv_cuMemsetD2D8_v2(d devicePtr, pitch size, v C.uchar, w, h size) result {
	return fill(d, pitch, uint32(v), w, h, 1, nil)
}

//export vdrv_cuMemsetD2D16_v2
func vdrv_cuMemsetD2D16_v2(d devicePtr, pitch size, v C.ushort, w, h size) result {
	return fill(d, pitch, uint32(v), w, h, 2, nil)
}

//export vdrv_cuMemsetD2D32_v2
func vdrv_cuMemsetD2D32_v2(d devicePtr, pitch size, v C.uint, w, h size) result {
	return fill(d, pitch, uint32(v), w, h, 4, nil)
}

//export vdrv_cuMemsetD2D8Async
func vdrv_cuMemsetD2D8Async(d devicePtr, pitch size, v C.uchar, w, h size, s streamPtr) result {
	return fill(d, pitch, uint32(v), w, h, 1, s)
}

//export vdrv_cuMemsetD2D16Async
func vdrv_cuMemsetD2D16Async(d devicePtr, pitch size, v C.ushort, w, h size, s streamPtr) result {
	return fill(d, pitch, uint32(v), w, h, 2, s)
}

//export vdrv_cuMemsetD2D32Async
func vdrv_cuMemsetD2D32Async(d devicePtr, pitch size, v C.uint, w, h size, s streamPtr) result {
	return fill(d, pitch, uint32(v), w, h, 4, s)
}
