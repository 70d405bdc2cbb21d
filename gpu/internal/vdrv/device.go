//go:build cuda && cgo && linux

package vdrv

// #include "helpers.h"
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"memwall/gpu/internal/driver"
)

// attributeOf gives a device attribute: the profile's where it has one, else what current GPUs answer, else 0.
func attributeOf(attribute C.CUdevice_attribute) int {
	p, profile := state.gpu.Properties(), state.gpu.Profile()
	able := func(c driver.Capability) int { return int(number(state.gpu.Capability(c) == "")) }
	switch attribute {
	case C.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		return p.MaxThreadsPerCTA
	case C.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
		return int(p.MaxCTADim.X)
	case C.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
		return int(p.MaxCTADim.Y)
	case C.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
		return int(p.MaxCTADim.Z)
	case C.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
		return int(p.MaxGridDim.X)
	case C.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
		return int(p.MaxGridDim.Y)
	case C.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
		return int(p.MaxGridDim.Z)
	case C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
		return p.SharedPerCTA
	case C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
		return p.SharedPerCTAOptin
	case C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
		return p.SharedPerSM
	case C.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, C.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
		return p.RegistersPerSM
	case C.CU_DEVICE_ATTRIBUTE_WARP_SIZE:
		return p.WarpSize
	case C.CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
		return int(p.ClockHz / 1e3)
	case C.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		return p.SMs
	case C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		return p.ComputeMajor
	case C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		return p.ComputeMinor
	case C.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
		return p.L2Bytes
	case C.CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
		return busWidth
	case C.CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: // so that 2 · clock · width is the profile's bandwidth
		return int(profile.DRAMBytesPerSecond*8/busWidth/2/1e3 + .5)
	case C.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
		return able(driver.Cooperative)
	case C.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
		return able(driver.Clusters)
	}
	if l := profile.Limits(); l != nil {
		switch attribute {
		case C.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
			return l.WarpsPerSM * p.WarpSize
		case C.CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
			return l.CTAsPerSM
		case C.CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
			return l.SharedReserved
		}
	}
	return sameEverywhere[attribute]
}

// busWidth is of no profile; with the clock it gives the bandwidth.
const busWidth = 5120

// sameEverywhere are attributes that current GPUs share; textures' limits are those of compute capability 9.0.
var sameEverywhere = map[C.CUdevice_attribute]int{
	C.CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: 65536, C.CU_DEVICE_ATTRIBUTE_MAX_PITCH: 1<<31 - 1,
	C.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT: 512, C.CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT: 32, C.CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT: 512,
	C.CU_DEVICE_ATTRIBUTE_GPU_OVERLAP: 1, C.CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY: 1, C.CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS: 1,
	C.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: 1, C.CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: 3, C.CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: 1,
	C.CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED: 1, C.CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED: 1, C.CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED: 1,
	C.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY: 1, C.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS: 1, C.CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED: 1,
	C.CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: 2, C.CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: 1,
	C.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: 1, C.CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS: 1,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH: 131072, C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH: 131072, C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT: 65536,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH: 16384, C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT: 16384, C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH: 16384,
}

// numAttributes is behind the highest number of an attribute that a driver of CUDA 12.9 knows.
const numAttributes = 160

func known(d C.CUdevice) bool { return d >= 0 && int(d) < state.devices }

//export vdrv_cuDeviceGet
func vdrv_cuDeviceGet(d *C.CUdevice, ordinal C.int) result {
	switch {
	case d == nil:
		return invalidValue
	case !known(C.CUdevice(ordinal)):
		return invalidDevice
	}
	*d = C.CUdevice(ordinal)
	return success
}

//export vdrv_cuDeviceGetCount
func vdrv_cuDeviceGetCount(n *C.int) result {
	if n == nil {
		return invalidValue
	}
	*n = C.int(state.devices)
	return success
}

//export vdrv_cuDeviceGetName
func vdrv_cuDeviceGetName(name *C.char, n C.int, d C.CUdevice) result {
	if !known(d) {
		return invalidDevice
	}
	return put("memwall virtual "+state.gpu.Properties().Model, name, n)
}

//export vdrv_cuDeviceGetUuid
func vdrv_cuDeviceGetUuid(id *C.CUuuid, d C.CUdevice) result {
	switch {
	case id == nil:
		return invalidValue
	case !known(d):
		return invalidDevice
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(id)), 16), fmt.Sprintf("memwall-virtual%c", '0'+d))
	return success
}

//export vdrv_cuDeviceTotalMem_v2
func vdrv_cuDeviceTotalMem_v2(bytes *size, d C.CUdevice) result {
	switch {
	case bytes == nil:
		return invalidValue
	case !known(d):
		return invalidDevice
	}
	_, total := state.gpu.MemoryInfo()
	*bytes = size(total)
	return success
}

//export vdrv_cuDeviceGetAttribute
func vdrv_cuDeviceGetAttribute(value *C.int, attribute C.CUdevice_attribute, d C.CUdevice) result {
	switch {
	case value == nil || attribute < 1 || attribute >= numAttributes:
		return invalidValue
	case !known(d):
		return invalidDevice
	}
	*value = C.int(attributeOf(attribute))
	if attribute == C.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID {
		*value += C.int(d)
	}
	return success
}

//export vdrv_cuDeviceGetPCIBusId
func vdrv_cuDeviceGetPCIBusId(id *C.char, n C.int, d C.CUdevice) result {
	if !known(d) {
		return invalidDevice
	}
	return put(fmt.Sprintf("0000:%02x:00.0", d+1), id, n)
}

//export vdrv_cuDeviceGetByPCIBusId
func vdrv_cuDeviceGetByPCIBusId(d *C.CUdevice, id *C.char) result {
	if d == nil || id == nil {
		return invalidValue
	}
	for i := range C.CUdevice(state.devices) {
		if strings.EqualFold(C.GoString(id), fmt.Sprintf("0000:%02x:00.0", i+1)) {
			*d = i
			return success
		}
	}
	return invalidDevice
}

//export vdrv_cuDeviceComputeCapability
func vdrv_cuDeviceComputeCapability(major, minor *C.int, d C.CUdevice) result {
	switch {
	case major == nil || minor == nil:
		return invalidValue
	case !known(d):
		return invalidDevice
	}
	p := state.gpu.Properties()
	*major, *minor = C.int(p.ComputeMajor), C.int(p.ComputeMinor)
	return success
}

//export vdrv_cuDeviceCanAccessPeer
func vdrv_cuDeviceCanAccessPeer(can *C.int, a, b C.CUdevice) result {
	switch {
	case can == nil:
		return invalidValue
	case !known(a) || !known(b):
		return invalidDevice
	}
	*can = number(a != b)
	return success
}

//export vdrv_cuDeviceGetP2PAttribute
func vdrv_cuDeviceGetP2PAttribute(value *C.int, attribute C.CUdevice_P2PAttribute, a, b C.CUdevice) result {
	return vdrv_cuDeviceCanAccessPeer(value, a, b)
}

//export vdrv_cuDevicePrimaryCtxReset_v2
func vdrv_cuDevicePrimaryCtxReset_v2(d C.CUdevice) result {
	if !known(d) {
		return invalidDevice
	}
	return resetContext()
}

// resetContext forgets the fault and everything that the context held: a new device stands behind it.
func resetContext() result {
	state.mu.Lock()
	defer state.mu.Unlock()
	for h, x := range state.handles {
		switch x := x.(type) {
		case *module:
			x.m.Unload()
			delete(state.handles, h)
		case *function, *stream, *event, *graph, *node, *execution, *linker:
			delete(state.handles, h)
		}
	}
	clear(state.kinds)
	for _, a := range state.gpu.Allocations() {
		state.gpu.Free(a)
	}
	for i := range always {
		always[i].mu.Lock()
		always[i].waiting = nil
		always[i].mu.Unlock()
	}
	state.fault = success
	return success
}

//export vdrv_cuDevicePrimaryCtxGetState
func vdrv_cuDevicePrimaryCtxGetState(d C.CUdevice, flags *C.uint, active *C.int) result {
	switch {
	case flags == nil || active == nil:
		return invalidValue
	case !known(d):
		return invalidDevice
	}
	*flags, *active = 0, 1
	return success
}

//export vdrv_cuCtxGetFlags
func vdrv_cuCtxGetFlags(flags *C.uint) result {
	if flags == nil {
		return invalidValue
	}
	*flags = 0
	return success
}

//export vdrv_cuCtxSetLimit
func vdrv_cuCtxSetLimit(l C.CUlimit, value size) result {
	state.mu.Lock()
	defer state.mu.Unlock()
	state.limits[l] = value
	return success
}

//export vdrv_cuCtxGetLimit
func vdrv_cuCtxGetLimit(value *size, l C.CUlimit) result {
	if value == nil {
		return invalidValue
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	*value = state.limits[l]
	return success
}

//export vdrv_cuCtxGetCacheConfig
func vdrv_cuCtxGetCacheConfig(c *C.CUfunc_cache) result {
	if c == nil {
		return invalidValue
	}
	*c = C.CU_FUNC_CACHE_PREFER_NONE
	return success
}

//export vdrv_cuCtxGetSharedMemConfig
func vdrv_cuCtxGetSharedMemConfig(c *C.CUsharedconfig) result {
	if c == nil {
		return invalidValue
	}
	*c = C.CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE
	return success
}

//export vdrv_cuCtxGetStreamPriorityRange
func vdrv_cuCtxGetStreamPriorityRange(least, greatest *C.int) result {
	if least != nil {
		*least = 0
	}
	if greatest != nil {
		*greatest = highestPriority
	}
	return success
}

//export vdrv_cuCtxGetApiVersion
func vdrv_cuCtxGetApiVersion(c C.CUcontext, version *C.uint) result {
	if version == nil {
		return invalidValue
	}
	*version = 3020
	return success
}
