//go:build cuda && cgo && linux

package vdrv

import (
	"context"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"memwall/gpu/internal/driver"
)

// Session is what a caller of this process shares with the driver beside its calls, while it is bound to its OS thread: a real
// driver has no such door, and nothing that works through it is missed when it is not bound.
type Session struct {
	Context  context.Context     // stops the launches of the thread
	Load     *driver.LoadOptions // name, sources and facts of the module that is loaded next
	Like     *driver.Launch      // whose Warm, Simulate, Probe, Sample, SampleTime and LeastBytes the thread's launches have
	Launched []Launched          // what the thread's calls have executed
}

var sessions struct {
	byThread sync.Map
	bound    atomic.Int64
}

// Bind binds a session to this OS thread, which the caller has locked, until the function that it returns is called.
func Bind(s *Session) (unbind func()) {
	id := unix.Gettid()
	sessions.byThread.Store(id, s)
	sessions.bound.Add(1)
	return func() {
		sessions.byThread.Delete(id)
		sessions.bound.Add(-1)
	}
}

// bound is the session of this thread, or nil.
func bound() *Session {
	if sessions.bound.Load() == 0 {
		return nil
	}
	if s, ok := sessions.byThread.Load(unix.Gettid()); ok {
		return s.(*Session)
	}
	return nil
}

// apply gives a launch what the session knows of it.
func (s *Session) apply(l *driver.Launch) {
	if like := s.Like; like != nil {
		l.Warm, l.Simulate, l.Probe = like.Warm, like.Simulate, like.Probe
		l.Sample, l.SampleTime, l.LeastBytes = like.Sample, like.SampleTime, like.LeastBytes
	}
}

// FunctionOf is the function that a handle, a CUfunction, stands for, or nil.
func FunctionOf(handle unsafe.Pointer) driver.Function {
	if f, ok := of[*function](handle); ok {
		return f.f
	}
	return nil
}
