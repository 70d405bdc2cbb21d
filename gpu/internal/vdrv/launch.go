//go:build cuda && cgo && linux

package vdrv

// #include "helpers.h"
import "C"

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"memwall/gpu/internal/driver"
)

// pack lays a launch's arguments out as the entry declares them: by a pointer each, or from a buffer.
func (f *function) pack(params, extra *unsafe.Pointer) ([]byte, result) {
	out := make([]byte, f.bytes)
	if extra != nil {
		var from unsafe.Pointer
		var n uint64
		for p := extra; *p != nil; p = (*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(p), 16)) { // pairs, ended by CU_LAUNCH_PARAM_END
			value := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(p), 8))
			switch uintptr(*p) {
			case 1: // CU_LAUNCH_PARAM_BUFFER_POINTER
				from = value
			case 2: // CU_LAUNCH_PARAM_BUFFER_SIZE
				n = *(*uint64)(value)
			default:
				return nil, invalidValue
			}
		}
		if n < uint64(len(out)) || from == nil && len(out) > 0 {
			return nil, invalidValue
		}
		copy(out, unsafe.Slice((*byte)(from), len(out)))
		return out, success
	}
	if len(f.params) == 0 {
		return out, success
	}
	if params == nil {
		return nil, invalidValue
	}
	pointers := unsafe.Slice(params, len(f.params))
	for i := range f.params {
		p := &f.params[i]
		if pointers[i] == nil {
			return nil, invalidValue
		}
		copy(out[p.Offset:p.Offset+p.Size], unsafe.Slice((*byte)(pointers[i]), p.Size))
	}
	return out, success
}

// prepare checks what can be checked before the launch's turn comes.
func (f *function) prepare(l *driver.Launch, params, extra *unsafe.Pointer) result {
	p, a := state.gpu.Properties(), f.f.Attributes()
	if l.Grid.Count() == 0 || l.CTA.Count() == 0 || l.Grid.X > p.MaxGridDim.X || l.Grid.Y > p.MaxGridDim.Y || l.Grid.Z > p.MaxGridDim.Z ||
		l.CTA.X > p.MaxCTADim.X || l.CTA.Y > p.MaxCTADim.Y || l.CTA.Z > p.MaxCTADim.Z || l.CTA.Count() > uint64(a.MaxThreadsPerCTA) {
		return invalidValue
	}
	f.mu.Lock()
	most := f.maxDynamic
	f.mu.Unlock()
	if l.Shared > most {
		return invalidValue
	}
	var e result
	if l.Args, e = f.pack(params, extra); e != success {
		return e
	}
	l.Function, l.Wait = f.f, true
	l.Count, l.Simulate = state.options.Count, state.options.Count && state.options.Simulate
	l.Sanitize = state.options.Sanitize
	return success
}

func launch(handle C.CUfunction, l *driver.Launch, s streamPtr, params, extra *unsafe.Pointer) result {
	if e := sticky(); e != success {
		return e
	}
	f, ok := of[*function](unsafe.Pointer(handle))
	if !ok {
		return invalidHandle
	}
	if e := f.prepare(l, params, extra); e != success {
		return e
	}
	return on(s, func() result { return f.run(l) })
}

// run executes a launch. A fault comes from the next call, as a GPU's does.
func (f *function) run(l *driver.Launch) result {
	if e := sticky(); e != success {
		return e
	}
	session := bound()
	ctx := running.begin()
	if session != nil {
		session.apply(l)
		if session.Context != nil {
			ctx = session.Context
		}
	}
	r, err := state.gpu.Launch(ctx, l)
	running.end()
	if r != nil && r.Printed != "" {
		os.Stdout.WriteString(r.Printed)
	}
	if r != nil && err == nil && l.Count {
		state.clock.launched(l, r)
	}
	done := Launched{Function: f.f, Launch: l, Result: r, Err: err}
	if session != nil {
		session.Launched = append(session.Launched, done)
	}
	if seen := state.options.Launched; seen != nil {
		seen(done)
	}
	if r != nil {
		for i := range r.Findings {
			report("%s", &r.Findings[i])
		}
	}
	if err == nil {
		return success
	}
	report("%v", err)
	var fault *driver.Fault
	if !errors.As(err, &fault) {
		return refusalOf(l)
	}
	if fault.Printed != "" {
		os.Stdout.WriteString(fault.Printed)
	}
	state.mu.Lock()
	state.fault = faultResult(fault.Kind)
	state.mu.Unlock()
	return success
}

// refusalOf is the result of a launch that the device does not begin.
func refusalOf(l *driver.Launch) result {
	switch {
	case l.Cooperative:
		return C.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
	case l.Cluster != driver.Dim3{}:
		return C.CUDA_ERROR_INVALID_CLUSTER_SIZE
	}
	return C.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
}

func faultResult(k driver.FaultKind) result {
	switch k {
	case driver.OutOfBounds, driver.ReadOnly, driver.Uninitialised:
		return C.CUDA_ERROR_ILLEGAL_ADDRESS
	case driver.Misaligned:
		return C.CUDA_ERROR_MISALIGNED_ADDRESS
	case driver.Assert:
		return C.CUDA_ERROR_ASSERT
	case driver.Illegal:
		return C.CUDA_ERROR_ILLEGAL_INSTRUCTION
	case driver.Interrupted, driver.Timeout, driver.Deadlock:
		return C.CUDA_ERROR_LAUNCH_TIMEOUT
	case driver.OutOfMemory:
		return outOfMemory
	}
	return C.CUDA_ERROR_LAUNCH_FAILED
}

func extent(x, y, z C.uint) driver.Dim3 {
	return driver.Dim3{X: uint32(x), Y: uint32(y), Z: uint32(z)}
}

//export vdrv_cuLaunchKernel
func vdrv_cuLaunchKernel(f C.CUfunction, gx, gy, gz, x, y, z, shared C.uint, s streamPtr, params, extra *unsafe.Pointer) result {
	return launch(f, &driver.Launch{Grid: extent(gx, gy, gz), CTA: extent(x, y, z), Shared: int(shared)}, s, params, extra)
}

//export vdrv_cuLaunchCooperativeKernel
func vdrv_cuLaunchCooperativeKernel(f C.CUfunction, gx, gy, gz, x, y, z, shared C.uint, s streamPtr, params *unsafe.Pointer) result {
	return launch(f, &driver.Launch{Grid: extent(gx, gy, gz), CTA: extent(x, y, z), Shared: int(shared), Cooperative: true}, s, params, nil)
}

// launchAttributes are those of cuLaunchKernelEx that mean something here.
func launchAttributes(c *C.CUlaunchConfig) (cluster driver.Dim3, cooperative bool) {
	if c.attrs == nil {
		return cluster, false
	}
	for _, a := range unsafe.Slice(c.attrs, c.numAttrs) {
		switch a.id {
		case C.CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
			cooperative = *(*C.int)(unsafe.Pointer(&a.value)) != 0
		case C.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
			d := (*[3]uint32)(unsafe.Pointer(&a.value))
			cluster = driver.Dim3{X: d[0], Y: d[1], Z: d[2]}
		}
	}
	return cluster, cooperative
}

//export vdrv_cuLaunchKernelEx
func vdrv_cuLaunchKernelEx(c *C.CUlaunchConfig, f C.CUfunction, params, extra *unsafe.Pointer) result {
	if c == nil {
		return invalidValue
	}
	l := &driver.Launch{Grid: extent(c.gridDimX, c.gridDimY, c.gridDimZ), CTA: extent(c.blockDimX, c.blockDimY, c.blockDimZ), Shared: int(c.sharedMemBytes)}
	l.Cluster, l.Cooperative = launchAttributes(c)
	if l.Cluster.Count() == 1 && state.gpu.Capability(driver.Clusters) != "" {
		l.Cluster = driver.Dim3{} // a cluster of one is none
	}
	return launch(f, l, c.hStream, params, extra)
}

//export vdrv_cuLaunchHostFunc
func vdrv_cuLaunchHostFunc(s streamPtr, f C.CUhostFn, data unsafe.Pointer) result {
	if f == nil {
		return invalidValue
	}
	return on(s, func() result { C.memwall_call_host(f, data); return success })
}

//export vdrv_cuStreamAddCallback
func vdrv_cuStreamAddCallback(s streamPtr, f C.CUstreamCallback, data unsafe.Pointer, flags C.uint) result {
	if f == nil {
		return invalidValue
	}
	return on(s, func() result { C.memwall_call_stream(f, s, data); return success })
}

// running is the launch in progress, for watchInterrupts.
var running runningLaunch

type runningLaunch struct {
	since atomic.Int64 // host time in ns at its start, 0: none

	mu     sync.Mutex
	ctx    context.Context
	cancel context.CancelFunc
}

// begin gives the context of a launch: one for all until it is cancelled.
func (r *runningLaunch) begin() context.Context {
	if !state.options.Interrupts {
		return context.Background()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx == nil || r.ctx.Err() != nil {
		r.ctx, r.cancel = context.WithCancel(context.Background())
	}
	r.since.Store(time.Now().UnixNano())
	return r.ctx
}

func (r *runningLaunch) end() { r.since.Store(0) }

// watchInterrupts stops a launch that takes longer than patience when SIGINT comes.
func watchInterrupts() {
	const patience, period = 100 * time.Millisecond, 50 * time.Millisecond
	watching := false
	for range time.Tick(period) {
		since := running.since.Load()
		switch {
		case since == 0:
			if watching {
				C.memwall_unwatch()
				watching = false
			}
		case time.Now().UnixNano()-since < int64(patience):
		case !watching:
			C.memwall_watch()
			watching = true
		case C.memwall_interrupted() != 0:
			running.mu.Lock()
			running.cancel()
			running.mu.Unlock()
		}
	}
}
