//go:build cuda && cgo && linux

package vdrv

// #include "helpers.h"
import "C"

import "unsafe"

// userObject is something of the caller's that graphs keep alive: its destructor runs when the last reference is released (CUDA
// driver API, "Graph Management", cuUserObjectCreate).
type userObject struct {
	destroy C.CUhostFn
	data    unsafe.Pointer
	count   int
	self    unsafe.Pointer
}

// references are those that a graph holds.
type references map[*userObject]int

// Flags: the destructor is not waited for, which a caller has to say; references move from the caller to the graph.
const (
	noDestructorSync = 1
	moveReferences   = 1
)

// change adds references, or takes some away; the last one ends the object. It answers false where there are not so many.
func (u *userObject) change(n int) bool {
	state.mu.Lock()
	if u.count+n < 0 || u.count == 0 {
		state.mu.Unlock()
		return false
	}
	u.count += n
	last := u.count == 0
	if last {
		delete(state.handles, uintptr(u.self))
	}
	state.mu.Unlock()
	if last {
		C.memwall_call_host(u.destroy, u.data)
	}
	return true
}

// retained are the same references once more.
func (r references) retained() references {
	out := references{}
	for u, n := range r {
		if u.change(n) {
			out[u] = n
		}
	}
	return out
}

func (r references) release() {
	for u, n := range r {
		u.change(-n)
	}
}

//export vdrv_cuUserObjectCreate
func vdrv_cuUserObjectCreate(out *C.CUuserObject, data unsafe.Pointer, destroy C.CUhostFn, count, flags C.uint) result {
	if out == nil || destroy == nil || count == 0 || count > 1<<31-1 || flags != noDestructorSync {
		return invalidValue
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	u := &userObject{destroy: destroy, data: data, count: int(count)}
	u.self = newHandle(u)
	*out = C.CUuserObject(u.self)
	return success
}

//export vdrv_cuUserObjectRetain
func vdrv_cuUserObjectRetain(h C.CUuserObject, n C.uint) result { return changeUser(h, int(n)) }

//export vdrv_cuUserObjectRelease
func vdrv_cuUserObjectRelease(h C.CUuserObject, n C.uint) result { return changeUser(h, -int(n)) }

func changeUser(h C.CUuserObject, n int) result {
	u, ok := of[*userObject](unsafe.Pointer(h))
	if !ok || n == 0 || !u.change(n) {
		return invalidValue
	}
	return success
}

//export vdrv_cuGraphRetainUserObject
func vdrv_cuGraphRetainUserObject(g C.CUgraph, h C.CUuserObject, n, flags C.uint) result {
	gr, ok := of[*graph](unsafe.Pointer(g))
	u, is := of[*userObject](unsafe.Pointer(h))
	if !ok || !is || n == 0 || flags&^moveReferences != 0 {
		return invalidValue
	}
	if flags&moveReferences == 0 && !u.change(int(n)) {
		return invalidValue
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	if gr.users == nil {
		gr.users = references{}
	}
	gr.users[u] += int(n)
	return success
}

//export vdrv_cuGraphReleaseUserObject
func vdrv_cuGraphReleaseUserObject(g C.CUgraph, h C.CUuserObject, n C.uint) result {
	gr, ok := of[*graph](unsafe.Pointer(g))
	u, is := of[*userObject](unsafe.Pointer(h))
	if !ok || !is || n == 0 {
		return invalidValue
	}
	state.mu.Lock()
	if gr.users[u] < int(n) {
		state.mu.Unlock()
		return invalidValue
	}
	if gr.users[u] -= int(n); gr.users[u] == 0 {
		delete(gr.users, u)
	}
	state.mu.Unlock()
	u.change(-int(n))
	return success
}
