//go:build cuda && cgo && linux

package vdrv

// #include "helpers.h"
import "C"

import (
	"sync/atomic"
	"unsafe"

	"memwall/gpu/internal/driver"
)

// graph is a list of nodes in the order in which they were added, which is one that their dependencies allow: what a node
// depends on must exist already.
type graph struct {
	nodes []*node
	id    uint64
	users references
}

// node is one operation of a graph.
type node struct {
	self  unsafe.Pointer
	run   func() result
	child C.CUgraph // that the node runs; 0 for other nodes
	from  *node     // of which this one is a clone, or nil
}

// execution is an instantiated graph: its nodes may get other parameters.
type execution struct {
	nodes []*node
	users references
}

var graphs atomic.Uint64 // ids

func (g *graph) add(run func() result) *node {
	state.mu.Lock()
	defer state.mu.Unlock()
	n := &node{run: run}
	n.self = newHandle(n)
	g.nodes = append(g.nodes, n)
	return n
}

//export vdrv_cuStreamIsCapturing
func vdrv_cuStreamIsCapturing(s streamPtr, status *C.int) result {
	st, ok := streamOf(s)
	if !ok || status == nil {
		return invalidHandle
	}
	*status = number(st.captured())
	return success
}

//export vdrv_cuStreamGetCaptureInfo_v2
func vdrv_cuStreamGetCaptureInfo_v2(s streamPtr, status *C.int, id *C.cuuint64_t, g *C.CUgraph, deps **C.CUgraphNode, n *size) result {
	st, ok := streamOf(s)
	if !ok || status == nil {
		return invalidHandle
	}
	st.mu.Lock()
	if st.capture != nil && id != nil {
		*id = C.cuuint64_t(st.capture.id)
	}
	st.mu.Unlock()
	return vdrv_cuStreamIsCapturing(s, status)
}

//export vdrv_cuStreamBeginCapture_v2
func vdrv_cuStreamBeginCapture_v2(s streamPtr, mode C.int) result {
	st, ok := streamOf(s)
	if !ok {
		return invalidHandle
	}
	if e := sticky(); e != success {
		return e
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if n := uintptr(unsafe.Pointer(s)); n <= 1 || st.capture != nil {
		return C.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
	}
	st.capture = &graph{id: graphs.Add(1)}
	return success
}

//export vdrv_cuStreamEndCapture
func vdrv_cuStreamEndCapture(s streamPtr, out *C.CUgraph) result {
	st, ok := streamOf(s)
	if !ok || out == nil {
		return invalidHandle
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.capture == nil {
		return C.CUDA_ERROR_ILLEGAL_STATE
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	*out = C.CUgraph(newHandle(st.capture))
	st.capture = nil
	return success
}

//export vdrv_cuThreadExchangeStreamCaptureMode
func vdrv_cuThreadExchangeStreamCaptureMode(mode *C.int) result {
	if mode == nil {
		return invalidValue
	}
	*mode = 0
	return success
}

//export vdrv_cuGraphCreate
func vdrv_cuGraphCreate(out *C.CUgraph, flags C.uint) result {
	if out == nil {
		return invalidValue
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	*out = C.CUgraph(newHandle(&graph{id: graphs.Add(1)}))
	return success
}

//export vdrv_cuGraphDestroy
func vdrv_cuGraphDestroy(g C.CUgraph) result {
	gr, ok := of[*graph](unsafe.Pointer(g))
	if !ok {
		return invalidHandle
	}
	state.mu.Lock()
	nodes := gr.nodes
	for _, n := range nodes {
		delete(state.handles, uintptr(n.self))
	}
	state.mu.Unlock()
	for _, n := range nodes {
		if n.child != nil {
			vdrv_cuGraphDestroy(n.child)
		}
	}
	r := drop[*graph](unsafe.Pointer(g))
	gr.users.release()
	return r
}

//export vdrv_cuGraphClone
func vdrv_cuGraphClone(out *C.CUgraph, g C.CUgraph) result {
	return answer(out, unsafe.Pointer(g), (*graph).clone)
}

// clone copies a graph: the nodes that run a graph run a copy of it.
func (g *graph) clone() C.CUgraph {
	c := &graph{id: graphs.Add(1), users: g.users.retained()}
	for _, n := range g.nodes {
		if child, ok := of[*graph](unsafe.Pointer(n.child)); ok {
			c.addChild(child).from = n
			continue
		}
		c.add(n.run).from = n
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	return C.CUgraph(newHandle(c))
}

// addChild adds a node that runs a copy of a graph.
func (g *graph) addChild(child *graph) *node {
	handle := child.clone()
	own, _ := of[*graph](unsafe.Pointer(handle))
	n := g.add(func() result { return runAll(own.nodes) })
	n.child = handle
	return n
}

//export vdrv_cuGraphNodeFindInClone
func vdrv_cuGraphNodeFindInClone(out *C.CUgraphNode, original C.CUgraphNode, g C.CUgraph) result {
	gr, ok := of[*graph](unsafe.Pointer(g))
	n, is := of[*node](unsafe.Pointer(original))
	switch {
	case !ok || !is:
		return invalidHandle
	case out == nil:
		return invalidValue
	}
	for _, c := range gr.nodes {
		if c.from == n {
			*out = C.CUgraphNode(c.self)
			return success
		}
	}
	return invalidValue
}

//export vdrv_cuGraphChildGraphNodeGetGraph
func vdrv_cuGraphChildGraphNodeGetGraph(n C.CUgraphNode, out *C.CUgraph) result {
	nd, ok := of[*node](unsafe.Pointer(n))
	switch {
	case !ok:
		return invalidHandle
	case out == nil || nd.child == nil:
		return invalidValue
	}
	*out = nd.child
	return success
}

func addNode(out *C.CUgraphNode, g C.CUgraph, run func() result) result {
	return answer(out, unsafe.Pointer(g), func(gr *graph) C.CUgraphNode { return C.CUgraphNode(gr.add(run).self) })
}

// kernelNode makes a launch of a node's parameters, copied now.
func kernelNode(p *C.CUDA_KERNEL_NODE_PARAMS) (func() result, result) {
	if p == nil {
		return nil, invalidValue
	}
	f, ok := of[*function](unsafe.Pointer(p._func))
	if !ok {
		return nil, invalidHandle
	}
	l := &driver.Launch{Grid: extent(p.gridDimX, p.gridDimY, p.gridDimZ), CTA: extent(p.blockDimX, p.blockDimY, p.blockDimZ), Shared: int(p.sharedMemBytes)}
	if e := f.prepare(l, p.kernelParams, p.extra); e != success {
		return nil, e
	}
	return func() result { return f.run(l) }, success
}

//export vdrv_cuGraphAddKernelNode
func vdrv_cuGraphAddKernelNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n size, p *C.CUDA_KERNEL_NODE_PARAMS) result {
	run, e := kernelNode(p)
	if e != success {
		return e
	}
	return addNode(out, g, run)
}

//export vdrv_cuGraphAddMemcpyNode
func vdrv_cuGraphAddMemcpyNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n size, p *C.CUDA_MEMCPY3D, c C.CUcontext) result {
	if p == nil {
		return invalidValue
	}
	box := *(*C.CUDA_MEMCPY3D_PEER)(unsafe.Pointer(p))
	return addNode(out, g, func() result { return copyBox(box, nil) })
}

//export vdrv_cuGraphAddMemsetNode
func vdrv_cuGraphAddMemsetNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n size, p *C.CUDA_MEMSET_NODE_PARAMS, c C.CUcontext) result {
	if p == nil || p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4 {
		return invalidValue
	}
	q := *p
	return addNode(out, g, func() result {
		return fill(q.dst, q.pitch, uint32(q.value), q.width, q.height, size(q.elementSize), nil)
	})
}

//export vdrv_cuGraphAddHostNode
func vdrv_cuGraphAddHostNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n size, p *C.CUDA_HOST_NODE_PARAMS) result {
	if p == nil || p.fn == nil {
		return invalidValue
	}
	q := *p
	return addNode(out, g, func() result { C.memwall_call_host(q.fn, q.userData); return success })
}

//export vdrv_cuGraphAddChildGraphNode
func vdrv_cuGraphAddChildGraphNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n size, child C.CUgraph) result {
	c, ok := of[*graph](unsafe.Pointer(child))
	if !ok {
		return invalidHandle
	}
	return answer(out, unsafe.Pointer(g), func(gr *graph) C.CUgraphNode { return C.CUgraphNode(gr.addChild(c).self) })
}

//export vdrv_cuGraphAddEmptyNode
func vdrv_cuGraphAddEmptyNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n size) result {
	return addNode(out, g, func() result { return success })
}

//export vdrv_cuGraphGetNodes
func vdrv_cuGraphGetNodes(g C.CUgraph, out *C.CUgraphNode, n *size) result {
	gr, ok := of[*graph](unsafe.Pointer(g))
	switch {
	case !ok:
		return invalidHandle
	case n == nil:
		return invalidValue
	}
	if out != nil {
		list := unsafe.Slice(out, *n)
		for i := range min(len(list), len(gr.nodes)) {
			list[i] = C.CUgraphNode(gr.nodes[i].self)
		}
	}
	*n = size(len(gr.nodes))
	return success
}

//export vdrv_cuGraphDestroyNode
func vdrv_cuGraphDestroyNode(n C.CUgraphNode) result {
	nd, ok := of[*node](unsafe.Pointer(n))
	if !ok {
		return invalidHandle
	}
	nd.run = func() result { return success }
	return drop[*node](unsafe.Pointer(n))
}

//export vdrv_cuGraphInstantiateWithFlags
func vdrv_cuGraphInstantiateWithFlags(out *C.CUgraphExec, g C.CUgraph, flags C.ulonglong) result {
	gr, ok := of[*graph](unsafe.Pointer(g))
	switch {
	case !ok:
		return invalidHandle
	case out == nil:
		return invalidValue
	}
	x := &execution{users: gr.users.retained()}
	for _, n := range gr.nodes {
		c := *n
		x.nodes = append(x.nodes, &c)
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	*out = C.CUgraphExec(newHandle(x))
	return success
}

//export vdrv_cuGraphInstantiateWithParams
func vdrv_cuGraphInstantiateWithParams(out *C.CUgraphExec, g C.CUgraph, p unsafe.Pointer) result {
	if p == nil {
		return invalidValue
	}
	// CUDA_GRAPH_INSTANTIATE_PARAMS: flags, stream, the node that failed at 16, the result at 24.
	*(*unsafe.Pointer)(unsafe.Add(p, 16)) = nil
	*(*uint32)(unsafe.Add(p, 24)) = 0
	return vdrv_cuGraphInstantiateWithFlags(out, g, 0)
}

// set changes what a node of an instantiated graph does.
func (x *execution) set(n C.CUgraphNode, run func() result) result {
	for _, have := range x.nodes {
		if have.self == unsafe.Pointer(n) {
			have.run = run
			return success
		}
	}
	return invalidValue
}

//export vdrv_cuGraphExecKernelNodeSetParams
func vdrv_cuGraphExecKernelNodeSetParams(h C.CUgraphExec, n C.CUgraphNode, p *C.CUDA_KERNEL_NODE_PARAMS) result {
	x, ok := of[*execution](unsafe.Pointer(h))
	if !ok {
		return invalidHandle
	}
	run, e := kernelNode(p)
	if e != success {
		return e
	}
	return x.set(n, run)
}

//export vdrv_cuGraphExecMemcpyNodeSetParams
func vdrv_cuGraphExecMemcpyNodeSetParams(h C.CUgraphExec, n C.CUgraphNode, p *C.CUDA_MEMCPY3D, c C.CUcontext) result {
	x, ok := of[*execution](unsafe.Pointer(h))
	switch {
	case !ok:
		return invalidHandle
	case p == nil:
		return invalidValue
	}
	box := *(*C.CUDA_MEMCPY3D_PEER)(unsafe.Pointer(p))
	return x.set(n, func() result { return copyBox(box, nil) })
}

//export vdrv_cuGraphExecUpdate_v2
func vdrv_cuGraphExecUpdate_v2(h C.CUgraphExec, g C.CUgraph, info unsafe.Pointer) result {
	x, ok1 := of[*execution](unsafe.Pointer(h))
	gr, ok2 := of[*graph](unsafe.Pointer(g))
	if !ok1 || !ok2 {
		return invalidHandle
	}
	if info != nil { // CUgraphExecUpdateResultInfo: the result comes first; 1 is "error", for any reason
		*(*uint32)(info) = uint32(number(len(x.nodes) != len(gr.nodes)))
	}
	if len(x.nodes) != len(gr.nodes) {
		return C.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
	}
	for i, n := range gr.nodes {
		x.nodes[i].run = n.run
	}
	return success
}

func runAll(nodes []*node) result {
	for _, n := range nodes {
		if e := n.run(); e != success {
			return e
		}
	}
	return success
}

//export vdrv_cuGraphLaunch
func vdrv_cuGraphLaunch(h C.CUgraphExec, s streamPtr) result {
	x, ok := of[*execution](unsafe.Pointer(h))
	if !ok {
		return invalidHandle
	}
	if e := sticky(); e != success {
		return e
	}
	return on(s, func() result { return runAll(x.nodes) })
}

//export vdrv_cuGraphExecDestroy
func vdrv_cuGraphExecDestroy(h C.CUgraphExec) result {
	x, _ := of[*execution](unsafe.Pointer(h))
	r := drop[*execution](unsafe.Pointer(h))
	if r == success {
		x.users.release()
	}
	return r
}
