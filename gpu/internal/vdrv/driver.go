//go:build cuda && cgo && linux

package vdrv

/*
#cgo CFLAGS: -O2
#include "helpers.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu"
	"memwall/gpu/perf"
)

type (
	result    = C.CUresult
	devicePtr = C.CUdeviceptr
	size      = C.size_t
	streamPtr = C.CUstream
)

const (
	success        result = C.CUDA_SUCCESS
	invalidValue   result = C.CUDA_ERROR_INVALID_VALUE
	outOfMemory    result = C.CUDA_ERROR_OUT_OF_MEMORY
	invalidDevice  result = C.CUDA_ERROR_INVALID_DEVICE
	invalidHandle  result = C.CUDA_ERROR_INVALID_HANDLE
	notFound       result = C.CUDA_ERROR_NOT_FOUND
	notSupported   result = C.CUDA_ERROR_NOT_SUPPORTED
	notInitialized result = C.CUDA_ERROR_NOT_INITIALIZED
)

// Launched is a launch that the driver has executed, or that a fault stopped.
type Launched struct {
	Function driver.Function
	Launch   *driver.Launch
	Result   *driver.Result
	Err      error
}

// Options are how the virtual driver works; they are set before its first call.
type Options struct {
	Profile *perf.Profile
	// Count keeps counters of each launch. With them a launch takes modelled time on the clock that events read; without them
	// events read the host's clock.
	Count bool
	// Simulate models that time by simulating an SM, instead of by bounds alone.
	Simulate bool
	// Launched, where it is set, gets each launch, before the call returns.
	Launched func(Launched)
	// Report, where it is set, gets a line for each refusal and each fault.
	Report func(line string)
	// Sanitize watches every launch; what it finds is reported.
	Sanitize bool
	// Interrupts makes SIGINT stop a launch that takes long.
	Interrupts bool
}

// state is the driver of this process.
var state struct {
	mu      sync.Mutex
	options Options
	gpu     *vgpu.Device
	devices int
	kinds   map[driver.Address]memoryKind // of allocations that are not plain device memory
	pinned  map[uintptr]uint64            // host memory that the program registered: bytes by address
	handles map[uintptr]any
	last    uintptr // handle
	fault   result  // sticky
	limits  map[C.CUlimit]size
	pool    map[C.int]uint64 // attributes of the memory pool, which mean nothing
	clock   clock
	log     string // why the last image was refused
}

// Configure sets how the driver works, before its first call.
func Configure(o Options) {
	state.mu.Lock()
	defer state.mu.Unlock()
	state.options = o
}

// Lookup is the C function that finds the driver's functions by name.
func Lookup() unsafe.Pointer { return C.memwall_vdrv_lookup }

// GPU is the device that answers, nil before cuInit. A test compares with it.
func GPU() *vgpu.Device {
	state.mu.Lock()
	defer state.mu.Unlock()
	return state.gpu
}

//export vdrv_cuInit
func vdrv_cuInit(flags C.uint) result {
	state.mu.Lock()
	defer state.mu.Unlock()
	if flags != 0 {
		return invalidValue
	}
	if state.gpu != nil {
		return success
	}
	o := &state.options
	if o.Profile == nil {
		p, err := perf.ProfileByName(strings.TrimPrefix(environment("MEMWALL_DEVICE", perf.DefaultProfile), "virtual:"))
		if err != nil {
			report("$MEMWALL_DEVICE: %v", err)
			return C.CUDA_ERROR_NO_DEVICE
		}
		o.Profile = p
	}
	gpu, err := vgpu.OpenHostAddressed(o.Profile)
	if err != nil {
		report("%v", err)
		return outOfMemory
	}
	state.gpu, state.devices = gpu, 1
	if n, err := strconv.Atoi(os.Getenv("MEMWALL_DEVICES")); err == nil && n > 0 && n < 16 {
		state.devices = n
	}
	state.handles, state.last = map[uintptr]any{}, firstHandle
	state.kinds, state.pinned = map[driver.Address]memoryKind{}, map[uintptr]uint64{}
	state.limits = map[C.CUlimit]size{C.CU_LIMIT_STACK_SIZE: 1024, C.CU_LIMIT_PRINTF_FIFO_SIZE: 1 << 20, C.CU_LIMIT_MALLOC_HEAP_SIZE: 8 << 20}
	state.pool = map[C.int]uint64{}
	debug.SetGCPercent(max(400, debug.SetGCPercent(400)))
	if o.Interrupts {
		go watchInterrupts()
	}
	return success
}

func environment(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// report tells a refusal or a fault; the caller may hold mu or not.
func report(format string, args ...any) {
	if f := state.options.Report; f != nil {
		f(fmt.Sprintf(format, args...))
	}
}

const (
	primaryContext = 0x6d770000 // virtual.c, PRIMARY
	defaultPool    = 0x6d790000
	firstHandle    = 0x6d800000
)

// newHandle makes an opaque handle; the caller holds mu.
func newHandle(x any) unsafe.Pointer {
	state.last += 16
	state.handles[state.last] = x
	return pointer(state.last)
}

// pointer is a number as C's pointer; it points to nothing of Go's.
func pointer(n uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&n)) }

// of finds what a handle stands for.
func of[T any](handle unsafe.Pointer) (T, bool) {
	state.mu.Lock()
	defer state.mu.Unlock()
	x, ok := state.handles[uintptr(handle)].(T)
	return x, ok
}

// answer writes what a query says of the object behind a handle.
func answer[T, V any](out *V, handle unsafe.Pointer, query func(T) V) result {
	x, ok := of[T](handle)
	switch {
	case !ok:
		return invalidHandle
	case out == nil:
		return invalidValue
	}
	*out = query(x)
	return success
}

// drop forgets a handle.
func drop[T any](handle unsafe.Pointer) result {
	state.mu.Lock()
	defer state.mu.Unlock()
	if _, ok := state.handles[uintptr(handle)].(T); !ok {
		return invalidHandle
	}
	delete(state.handles, uintptr(handle))
	return success
}

// sticky is the fault that the context holds.
func sticky() result {
	state.mu.Lock()
	defer state.mu.Unlock()
	if state.gpu == nil {
		return notInitialized
	}
	return state.fault
}

// put writes text to a buffer of the caller's, cut and ended by NUL.
func put(text string, buffer *C.char, n C.int) result {
	if buffer == nil || n < 1 {
		return invalidValue
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(buffer)), n)
	b[copy(b[:n-1], text)] = 0
	return success
}

func number(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
