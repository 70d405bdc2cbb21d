//go:build cuda && cgo && linux

package vdrv

// #include "helpers.h"
import "C"

import (
	"sync"
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// function is an entry of a module.
type function struct {
	module *module
	f      driver.Function
	params []driver.Param
	bytes  int // of the arguments
	name   *C.char
	self   unsafe.Pointer

	mu         sync.Mutex
	maxDynamic int
	attributes map[C.CUfunction_attribute]C.int
}

func newFunction(m *module, found driver.Function) *function {
	f := &function{module: m, f: found, params: found.Params(), name: C.CString(found.Name()), attributes: map[C.CUfunction_attribute]C.int{}}
	for _, p := range f.params {
		f.bytes = max(f.bytes, p.Offset+p.Size)
	}
	f.maxDynamic = max(state.gpu.Properties().SharedPerCTA-found.Attributes().SharedBytes, 0)
	return f
}

//export vdrv_cuKernelGetFunction
func vdrv_cuKernelGetFunction(out *C.CUfunction, kernel C.CUkernel) result {
	if out == nil {
		return invalidValue
	}
	*out = C.CUfunction(unsafe.Pointer(kernel))
	return success
}

//export vdrv_cuKernelSetAttribute
func vdrv_cuKernelSetAttribute(attribute C.CUfunction_attribute, value C.int, kernel C.CUkernel, d C.CUdevice) result {
	return vdrv_cuFuncSetAttribute(C.CUfunction(unsafe.Pointer(kernel)), attribute, value)
}

//export vdrv_cuFuncGetModule
func vdrv_cuFuncGetModule(out *C.CUmodule, handle C.CUfunction) result {
	return answer(out, unsafe.Pointer(handle), func(f *function) C.CUmodule { return C.CUmodule(f.module.self) })
}

//export vdrv_cuFuncGetName
func vdrv_cuFuncGetName(out **C.char, handle C.CUfunction) result {
	return answer(out, unsafe.Pointer(handle), func(f *function) *C.char { return f.name })
}

//export vdrv_cuFuncGetParamInfo
func vdrv_cuFuncGetParamInfo(handle C.CUfunction, i size, offset, bytes *size) result {
	f, ok := of[*function](unsafe.Pointer(handle))
	switch {
	case !ok:
		return invalidHandle
	case offset == nil || i >= size(len(f.params)):
		return invalidValue
	}
	*offset = size(f.params[i].Offset)
	if bytes != nil {
		*bytes = size(f.params[i].Size)
	}
	return success
}

//export vdrv_cuFuncIsLoaded
func vdrv_cuFuncIsLoaded(out *C.int, handle C.CUfunction) result {
	if out == nil {
		return invalidValue
	}
	*out = 1
	return success
}

//export vdrv_cuFuncGetAttribute
func vdrv_cuFuncGetAttribute(value *C.int, attribute C.CUfunction_attribute, handle C.CUfunction) result {
	f, ok := of[*function](unsafe.Pointer(handle))
	switch {
	case !ok:
		return invalidHandle
	case value == nil:
		return invalidValue
	}
	a, p := f.f.Attributes(), state.gpu.Properties()
	f.mu.Lock()
	defer f.mu.Unlock()
	switch attribute {
	case C.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value = C.int(a.MaxThreadsPerCTA)
	case C.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*value = C.int(a.SharedBytes)
	case C.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
		*value = C.int(f.module.constants())
	case C.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		*value = C.int(a.LocalBytes)
	case C.CU_FUNC_ATTRIBUTE_NUM_REGS:
		*value = C.int(a.Registers)
		if limit := f.module.registers; limit > 0 {
			*value = min(*value, C.int(limit))
		}
	case C.CU_FUNC_ATTRIBUTE_PTX_VERSION, C.CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*value = C.int(10*p.ComputeMajor + p.ComputeMinor)
	case C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*value = C.int(f.maxDynamic)
	default:
		*value = f.attributes[attribute]
	}
	return success
}

//export vdrv_cuFuncSetAttribute
func vdrv_cuFuncSetAttribute(handle C.CUfunction, attribute C.CUfunction_attribute, value C.int) result {
	f, ok := of[*function](unsafe.Pointer(handle))
	if !ok {
		return invalidHandle
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case attribute == C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		if f.f.SetMaxDynamicShared(int(value)) != nil {
			return invalidValue
		}
		f.maxDynamic = int(value)
	case attribute > C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && attribute <= C.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		f.attributes[attribute] = value
	default:
		return invalidValue
	}
	return success
}

// Occupancy, by the rules of package perf.

func (f *function) resident(threads, dynamic int) int {
	p, a := state.gpu.Profile(), f.f.Attributes()
	limits := p.Limits()
	if limits == nil || threads < 1 {
		return 0
	}
	r, err := limits.Residency(threads, a.Registers, a.SharedBytes, dynamic)
	if err != nil {
		return 0
	}
	return r.CTAs
}

//export vdrv_cuOccupancyMaxActiveBlocksPerMultiprocessor
func vdrv_cuOccupancyMaxActiveBlocksPerMultiprocessor(out *C.int, handle C.CUfunction, threads C.int, dynamic size) result {
	f, ok := of[*function](unsafe.Pointer(handle))
	switch {
	case !ok:
		return invalidHandle
	case out == nil || threads < 1 || dynamic > 1<<30:
		return invalidValue
	}
	*out = C.int(f.resident(int(threads), int(dynamic)))
	return success
}

//export vdrv_cuOccupancyMaxPotentialBlockSizeWithFlags
func vdrv_cuOccupancyMaxPotentialBlockSizeWithFlags(grid, cta *C.int, handle C.CUfunction, shared C.CUoccupancyB2DSize, dynamic size, limit C.int, flags C.uint) result {
	f, ok := of[*function](unsafe.Pointer(handle))
	switch {
	case !ok:
		return invalidHandle
	case grid == nil || cta == nil || limit < 0 || dynamic > 1<<30:
		return invalidValue
	}
	most := f.f.Attributes().MaxThreadsPerCTA
	if limit > 0 {
		most = min(most, int(limit))
	}
	best := 0
	for threads := most; threads > 0; threads = (threads - 1) / perf.WarpSize * perf.WarpSize {
		bytes := int(dynamic)
		if shared != nil {
			bytes = int(C.memwall_call_size(shared, C.int(threads)))
		}
		if r := f.resident(threads, bytes); r*threads > best {
			best = r * threads
			*cta, *grid = C.int(threads), C.int(r*state.gpu.Properties().SMs)
		}
	}
	return success
}

//export vdrv_cuOccupancyMaxPotentialBlockSize
func vdrv_cuOccupancyMaxPotentialBlockSize(grid, cta *C.int, handle C.CUfunction, shared C.CUoccupancyB2DSize, dynamic size, limit C.int) result {
	return vdrv_cuOccupancyMaxPotentialBlockSizeWithFlags(grid, cta, handle, shared, dynamic, limit, 0)
}

//export vdrv_cuOccupancyAvailableDynamicSMemPerBlock
func vdrv_cuOccupancyAvailableDynamicSMemPerBlock(out *size, handle C.CUfunction, ctas, threads C.int) result {
	f, ok := of[*function](unsafe.Pointer(handle))
	switch {
	case !ok:
		return invalidHandle
	case out == nil || ctas < 1 || threads < 1:
		return invalidValue
	}
	limits := state.gpu.Profile().Limits()
	if limits == nil {
		return notSupported
	}
	each := limits.SharedPerSM/int(ctas) - limits.SharedReserved
	*out = size(max(min(each, limits.SharedPerCTAOptin)-f.f.Attributes().SharedBytes, 0))
	return success
}

// mostCluster is the portable limit of a cluster's CTAs; twice as many need an opt-in (CUDA C++ Programming Guide, "Thread Block
// Clusters").
const mostCluster = 8

//export vdrv_cuOccupancyMaxPotentialClusterSize
func vdrv_cuOccupancyMaxPotentialClusterSize(out *C.int, handle C.CUfunction, config *C.CUlaunchConfig) result {
	f, ok := of[*function](unsafe.Pointer(handle))
	switch {
	case !ok:
		return invalidHandle
	case out == nil || config == nil || state.gpu.Capability(driver.Clusters) != "":
		return invalidValue
	}
	*out = mostCluster
	if f.attributes[C.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] != 0 {
		*out = 2 * mostCluster
	}
	return success
}

//export vdrv_cuOccupancyMaxActiveClusters
func vdrv_cuOccupancyMaxActiveClusters(out *C.int, handle C.CUfunction, config *C.CUlaunchConfig) result {
	f, ok := of[*function](unsafe.Pointer(handle))
	switch {
	case !ok:
		return invalidHandle
	case out == nil || config == nil || state.gpu.Capability(driver.Clusters) != "":
		return invalidValue
	}
	cluster, _ := launchAttributes(config)
	r := f.resident(int(config.blockDimX*config.blockDimY*config.blockDimZ), int(config.sharedMemBytes))
	*out = C.int(uint64(r*state.gpu.Properties().SMs) / max(cluster.Count(), 1))
	return success
}
