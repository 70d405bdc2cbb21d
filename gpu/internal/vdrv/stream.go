//go:build cuda && cgo && linux

package vdrv

// #include "helpers.h"
import "C"

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// stream runs what is put on it at once, unless it is captured, or waits for a value in memory.
type stream struct {
	flags, priority int
	id              uint64

	mu      sync.Mutex
	capture *graph
	waiting []func() (result, bool) // what was put on it since it waits: false: it still does
}

// perThread is the last of the streams that need no creation: null, legacy, per-thread.
const perThread = 2

// always are the streams that need no creation.
var always [perThread + 1]stream

// streamOf finds a stream.
func streamOf(s streamPtr) (*stream, bool) {
	if n := uintptr(unsafe.Pointer(s)); n <= perThread {
		return &always[n], true
	}
	return of[*stream](unsafe.Pointer(s))
}

// on runs f in the stream's order: now, later, or never, when it is captured.
func on(s streamPtr, f func() result) result {
	st, ok := streamOf(s)
	if !ok {
		return invalidHandle
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.capture != nil {
		st.capture.add(f)
		return success
	}
	if len(st.waiting) > 0 && !st.advance() {
		st.waiting = append(st.waiting, func() (result, bool) { return f(), true })
		return success
	}
	return f()
}

// advance runs what waits as far as it can, and says whether all has run; the caller holds mu.
func (st *stream) advance() bool {
	for len(st.waiting) > 0 {
		e, done := st.waiting[0]()
		if !done {
			return false
		}
		st.waiting = st.waiting[1:]
		if e != success {
			state.mu.Lock()
			if state.fault == success {
				state.fault = e
			}
			state.mu.Unlock()
		}
	}
	return true
}

// mostWait is how long a synchronization waits for a value that never comes.
const mostWait = 20 * time.Second

// finish waits until all has run.
func (st *stream) finish() result {
	for start := time.Now(); ; time.Sleep(20 * time.Microsecond) {
		st.mu.Lock()
		done := st.advance()
		st.mu.Unlock()
		if done {
			return sticky()
		}
		if time.Since(start) > mostWait {
			return C.CUDA_ERROR_LAUNCH_TIMEOUT
		}
	}
}

// streams are all there are.
func streams() []*stream {
	out := []*stream{&always[0], &always[1], &always[2]}
	state.mu.Lock()
	defer state.mu.Unlock()
	for _, x := range state.handles {
		if st, ok := x.(*stream); ok {
			out = append(out, st)
		}
	}
	return out
}

//export vdrv_cuStreamCreateWithPriority
func vdrv_cuStreamCreateWithPriority(out *streamPtr, flags C.uint, priority C.int) result {
	if e := sticky(); e != success {
		return e
	}
	if out == nil || flags > 1 {
		return invalidValue
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	st := &stream{flags: int(flags), priority: int(min(max(priority, highestPriority), 0))}
	*out = streamPtr(newHandle(st))
	st.id = uint64(state.last)
	return success
}

// highestPriority of a stream; the lowest is 0.
const highestPriority = -5

//export vdrv_cuStreamCreate
func vdrv_cuStreamCreate(out *streamPtr, flags C.uint) result {
	return vdrv_cuStreamCreateWithPriority(out, flags, 0)
}

//export vdrv_cuStreamDestroy_v2
func vdrv_cuStreamDestroy_v2(s streamPtr) result {
	if st, ok := of[*stream](unsafe.Pointer(s)); ok {
		st.mu.Lock()
		st.advance()
		st.mu.Unlock()
	}
	return drop[*stream](unsafe.Pointer(s))
}

//export vdrv_cuStreamSynchronize
func vdrv_cuStreamSynchronize(s streamPtr) result {
	st, ok := streamOf(s)
	if !ok {
		return invalidHandle
	}
	st.mu.Lock()
	captured := st.capture != nil
	st.mu.Unlock()
	if captured {
		return C.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
	}
	return st.finish()
}

//export vdrv_cuStreamQuery
func vdrv_cuStreamQuery(s streamPtr) result {
	st, ok := streamOf(s)
	if !ok {
		return invalidHandle
	}
	st.mu.Lock()
	done := st.advance()
	st.mu.Unlock()
	if !done {
		return C.CUDA_ERROR_NOT_READY
	}
	return sticky()
}

//export vdrv_cuCtxSynchronize
func vdrv_cuCtxSynchronize() result {
	for _, st := range streams() {
		if e := st.finish(); e != success {
			return e
		}
	}
	return sticky()
}

//export vdrv_cuStreamWaitEvent
func vdrv_cuStreamWaitEvent(s streamPtr, e C.CUevent, flags C.uint) result {
	ev, ok := of[*event](unsafe.Pointer(e))
	if !ok {
		return invalidHandle
	}
	st, ok := streamOf(s)
	if !ok {
		return invalidHandle
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.capture == nil && !ev.done() {
		st.waiting = append(st.waiting, func() (result, bool) { return success, ev.done() })
	}
	return success
}

// The conditions of cuStreamWaitValue32.
func holds(have, want uint32, flags C.uint) bool {
	switch flags & 3 {
	case C.CU_STREAM_WAIT_VALUE_EQ:
		return have == want
	case C.CU_STREAM_WAIT_VALUE_AND:
		return have&want != 0
	case C.CU_STREAM_WAIT_VALUE_GEQ:
		return int32(have-want) >= 0
	}
	return ^(have | want) != 0
}

//export vdrv_cuStreamWaitValue32
func vdrv_cuStreamWaitValue32(s streamPtr, p devicePtr, value C.cuuint32_t, flags C.uint) result {
	st, ok := streamOf(s)
	if !ok {
		return invalidHandle
	}
	if p%4 != 0 || !inside(p, 4) || p == 0 {
		return invalidValue
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.capture != nil {
		return C.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
	}
	word := (*uint32)(pointer(uintptr(p)))
	st.waiting = append(st.waiting, func() (result, bool) { return success, holds(atomic.LoadUint32(word), uint32(value), flags) })
	return success
}

//export vdrv_cuStreamWriteValue32
func vdrv_cuStreamWriteValue32(s streamPtr, p devicePtr, v C.cuuint32_t, flags C.uint) result {
	return fill(p, 0, uint32(v), 1, 1, 4, s)
}

//export vdrv_cuStreamGetFlags
func vdrv_cuStreamGetFlags(s streamPtr, flags *C.uint) result {
	st, ok := streamOf(s)
	if !ok || flags == nil {
		return invalidHandle
	}
	*flags = C.uint(st.flags)
	return success
}

//export vdrv_cuStreamGetPriority
func vdrv_cuStreamGetPriority(s streamPtr, priority *C.int) result {
	st, ok := streamOf(s)
	if !ok || priority == nil {
		return invalidHandle
	}
	*priority = C.int(st.priority)
	return success
}

//export vdrv_cuStreamGetId
func vdrv_cuStreamGetId(s streamPtr, id *C.ulonglong) result {
	st, ok := streamOf(s)
	if !ok || id == nil {
		return invalidHandle
	}
	*id = C.ulonglong(max(st.id, uint64(uintptr(unsafe.Pointer(s)))))
	return success
}

//export vdrv_cuStreamGetDevice
func vdrv_cuStreamGetDevice(s streamPtr, d *C.CUdevice) result {
	if _, ok := streamOf(s); !ok || d == nil {
		return invalidHandle
	}
	*d = 0
	return success
}

//export vdrv_cuStreamGetCtx
func vdrv_cuStreamGetCtx(s streamPtr, c *C.CUcontext) result {
	if _, ok := streamOf(s); !ok || c == nil {
		return invalidHandle
	}
	*(*uintptr)(unsafe.Pointer(c)) = primaryContext
	return success
}

//export vdrv_cuStreamGetCtx_v2
func vdrv_cuStreamGetCtx_v2(s streamPtr, c *C.CUcontext, green *unsafe.Pointer) result {
	if green != nil {
		*green = nil
	}
	return vdrv_cuStreamGetCtx(s, c)
}

// event is a mark in a stream.
type event struct {
	timed bool

	mu       sync.Mutex
	recorded bool
	queued   int // records that wait in a stream
	at       float64
}

func (ev *event) done() bool {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	return ev.queued == 0
}

//export vdrv_cuEventCreate
func vdrv_cuEventCreate(out *C.CUevent, flags C.uint) result {
	if e := sticky(); e != success {
		return e
	}
	if out == nil {
		return invalidValue
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	*out = C.CUevent(newHandle(&event{timed: flags&C.CU_EVENT_DISABLE_TIMING == 0}))
	return success
}

//export vdrv_cuEventDestroy_v2
func vdrv_cuEventDestroy_v2(e C.CUevent) result { return drop[*event](unsafe.Pointer(e)) }

//export vdrv_cuEventRecord
func vdrv_cuEventRecord(e C.CUevent, s streamPtr) result {
	ev, ok := of[*event](unsafe.Pointer(e))
	if !ok {
		return invalidHandle
	}
	if failed := sticky(); failed != success {
		return failed
	}
	ev.mu.Lock()
	ev.queued++
	ev.mu.Unlock()
	r := on(s, func() result {
		ev.mu.Lock()
		defer ev.mu.Unlock()
		ev.recorded, ev.at = true, state.clock.now()
		ev.queued = max(ev.queued-1, 0)
		return success
	})
	if st, ok := streamOf(s); ok && st.captured() {
		ev.mu.Lock()
		ev.queued--
		ev.mu.Unlock()
	}
	return r
}

func (st *stream) captured() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.capture != nil
}

//export vdrv_cuEventQuery
func vdrv_cuEventQuery(e C.CUevent) result {
	ev, ok := of[*event](unsafe.Pointer(e))
	if !ok {
		return invalidHandle
	}
	if !ev.done() {
		for _, st := range streams() {
			st.mu.Lock()
			st.advance()
			st.mu.Unlock()
		}
		if !ev.done() {
			return C.CUDA_ERROR_NOT_READY
		}
	}
	return sticky()
}

//export vdrv_cuEventSynchronize
func vdrv_cuEventSynchronize(e C.CUevent) result {
	for start := time.Now(); ; time.Sleep(20 * time.Microsecond) {
		r := vdrv_cuEventQuery(e)
		if r != C.CUDA_ERROR_NOT_READY {
			return r
		}
		if time.Since(start) > mostWait {
			return C.CUDA_ERROR_LAUNCH_TIMEOUT
		}
	}
}

//export vdrv_cuEventElapsedTime
func vdrv_cuEventElapsedTime(ms *C.float, from, to C.CUevent) result {
	a, ok1 := of[*event](unsafe.Pointer(from))
	b, ok2 := of[*event](unsafe.Pointer(to))
	if !ok1 || !ok2 || ms == nil || !a.timed || !b.timed || !a.recorded || !b.recorded {
		return invalidHandle
	}
	if !a.done() || !b.done() {
		return C.CUDA_ERROR_NOT_READY
	}
	elapsed := (b.at - a.at) / 1e6
	if math.IsNaN(elapsed) {
		return C.CUDA_ERROR_UNKNOWN
	}
	*ms = C.float(elapsed)
	return success
}
