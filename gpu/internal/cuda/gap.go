//go:build cuda && cgo && linux

package cuda

/*
#include "shim/include/cuda.h"

static CUresult memwall_launch(CUfunction f, const unsigned *d, CUstream s, void *args, size_t n) {
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, args, CU_LAUNCH_PARAM_BUFFER_SIZE, &n, CU_LAUNCH_PARAM_END};
  return cuLaunchKernel(f, d[0], d[1], d[2], d[3], d[4], d[5], d[6], s, 0, n ? extra : 0);
}

static CUresult memwall_launch_ex(CUfunction f, const unsigned *d, const unsigned *cluster, int cooperative, CUstream s, void *args, size_t n) {
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, args, CU_LAUNCH_PARAM_BUFFER_SIZE, &n, CU_LAUNCH_PARAM_END};
  CUlaunchAttribute attributes[2] = {{0}};
  CUlaunchConfig c = {d[0], d[1], d[2], d[3], d[4], d[5], d[6], s, attributes, 0};
  if (cluster[0]) {
    attributes[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[c.numAttrs].value.clusterDim.x = cluster[0];
    attributes[c.numAttrs].value.clusterDim.y = cluster[1];
    attributes[c.numAttrs++].value.clusterDim.z = cluster[2];
  }
  if (cooperative) {
    attributes[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[c.numAttrs++].value.cooperative = 1;
  }
  return cuLaunchKernelEx(&c, f, 0, n ? extra : 0);
}

static CUresult memwall_instantiate(CUgraphExec *out, CUgraph g) { return cuGraphInstantiateWithFlags(out, g, 0); }
static CUresult memwall_set_shared(CUfunction f, int bytes) { return cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes); }
static CUresult memwall_graph_nodes(CUgraph g, size_t *n) { return cuGraphGetNodes(g, 0, n); }
*/
import "C"

import (
	"reflect"
	"unsafe"

	"gorgonia.org/cu"

	"memwall/gpu/internal/driver"
)

// What gorgonia.org/cu v0.9.6 lacks (launches with arguments of any size, clusters, cooperation, more than 48 KiB of shared memory,
// capture, graph launches, pinned memory, tensor maps) or breaks (Launch reads 8 bytes an argument, ModuleGlobal).

// resultOf is the number in an error of cu, whose type it does not export.
func resultOf(err error) Result {
	if err == nil {
		return success
	}
	if v := reflect.ValueOf(err); v.Kind() == reflect.Int {
		return Result(v.Int())
	}
	return unknownError
}

// The handles in cu's structures, which hold nothing else.
func functionHandle(f *cu.Function) C.CUfunction { return *(*C.CUfunction)(unsafe.Pointer(f)) }
func streamHandle(s *cu.Stream) C.CUstream       { return *(*C.CUstream)(unsafe.Pointer(s)) }

// launchKernel queues a launch; args are packed as the entry declares them, of any size.
func launchKernel(f *cu.Function, l *driver.Launch, s cu.Stream) Result {
	dims := [7]C.uint{C.uint(l.Grid.X), C.uint(l.Grid.Y), C.uint(l.Grid.Z), C.uint(l.CTA.X), C.uint(l.CTA.Y), C.uint(l.CTA.Z), C.uint(l.Shared)}
	args := unsafe.Pointer(unsafe.SliceData(l.Args))
	if l.Cluster == (driver.Dim3{}) && !l.Cooperative {
		return Result(C.memwall_launch(functionHandle(f), &dims[0], streamHandle(&s), args, C.size_t(len(l.Args))))
	}
	cluster := [3]C.uint{C.uint(l.Cluster.X), C.uint(l.Cluster.Y), C.uint(l.Cluster.Z)}
	var cooperative C.int
	if l.Cooperative {
		cooperative = 1
	}
	return Result(C.memwall_launch_ex(functionHandle(f), &dims[0], &cluster[0], cooperative, streamHandle(&s), args, C.size_t(len(l.Args))))
}

func setMaxDynamicShared(f *cu.Function, bytes int) Result {
	return Result(C.memwall_set_shared(functionHandle(f), C.int(bytes)))
}

// allocPinned gives memory of the host that the device reads and writes too, at the same address.
func allocPinned(bytes int) (unsafe.Pointer, Result) {
	var p unsafe.Pointer
	r := Result(C.cuMemHostAlloc(&p, C.size_t(bytes), 0))
	return p, r
}

func freePinned(p unsafe.Pointer) Result { return Result(C.cuMemFreeHost(p)) }

// waitFor keeps a stream from going on until the word at p is at least value.
func waitFor(s cu.Stream, p unsafe.Pointer, value uint32) Result {
	return Result(C.cuStreamWaitValue32(streamHandle(&s), C.CUdeviceptr(uintptr(p)), C.cuuint32_t(value), C.CU_STREAM_WAIT_VALUE_GEQ))
}

func beginCapture(s cu.Stream) Result {
	const relaxed = 2 // other threads may go on with calls that do not belong to the capture
	return Result(C.cuStreamBeginCapture_v2(streamHandle(&s), relaxed))
}

// endCapture gives the graph instantiated, with the number of its nodes.
func endCapture(s cu.Stream) (exec unsafe.Pointer, nodes int, r Result) {
	var g C.CUgraph
	if r = Result(C.cuStreamEndCapture(streamHandle(&s), &g)); r != success {
		return nil, 0, r
	}
	defer C.cuGraphDestroy(g)
	var n C.size_t
	if r = Result(C.memwall_graph_nodes(g, &n)); r != success {
		return nil, 0, r
	}
	var x C.CUgraphExec
	r = Result(C.memwall_instantiate(&x, g))
	return unsafe.Pointer(x), int(n), r
}

// updateGraph gives an instantiated graph the parameters of what was captured since; the operations must be the same.
func updateGraph(exec unsafe.Pointer, s cu.Stream) Result {
	var g C.CUgraph
	if r := Result(C.cuStreamEndCapture(streamHandle(&s), &g)); r != success {
		return r
	}
	defer C.cuGraphDestroy(g)
	var info [4]uint64 // CUgraphExecUpdateResultInfo
	return Result(C.cuGraphExecUpdate_v2(C.CUgraphExec(exec), g, unsafe.Pointer(&info)))
}

func launchGraph(exec unsafe.Pointer, s cu.Stream) Result {
	return Result(C.cuGraphLaunch(C.CUgraphExec(exec), streamHandle(&s)))
}

func destroyGraph(exec unsafe.Pointer) Result {
	return Result(C.cuGraphExecDestroy(C.CUgraphExec(exec)))
}

// encodeTensorMap asks the driver for the bytes of a tensor map.
func encodeTensorMap(m *driver.TensorMap) ([driver.TensorMapBytes]byte, Result) {
	var out struct {
		_     [64 - 8]byte
		bytes [2 * driver.TensorMapBytes]byte
	}
	at := unsafe.Pointer(&out.bytes)
	at = unsafe.Add(at, -uintptr(at)&63) // 64-byte aligned
	nan := C.int(0)
	if m.FillNaN {
		nan = 1
	}
	dims, strides := (*C.cuuint64_t)(&m.Dims[0]), (*C.cuuint64_t)(&m.Strides[0])
	steps := (*C.cuuint32_t)(&m.ElementStrides[0])
	address := *(*unsafe.Pointer)(unsafe.Pointer(&m.Address))
	var r Result
	if m.Im2col {
		var lower, upper [3]C.int
		for i := range lower {
			lower[i], upper[i] = C.int(m.LowerCorner[i]), C.int(m.UpperCorner[i])
		}
		r = Result(C.cuTensorMapEncodeIm2col(at, C.int(m.Type), C.cuuint32_t(m.Rank), address, dims, strides, &lower[0], &upper[0], C.cuuint32_t(m.Channels), C.cuuint32_t(m.Pixels), steps,
			C.int(m.Interleave), C.int(m.Swizzle), C.int(m.L2Promotion), nan))
	} else {
		r = Result(C.cuTensorMapEncodeTiled(at, C.int(m.Type), C.cuuint32_t(m.Rank), address, dims, strides, (*C.cuuint32_t)(&m.Box[0]), steps, C.int(m.Interleave), C.int(m.Swizzle), C.int(m.L2Promotion), nan))
	}
	return *(*[driver.TensorMapBytes]byte)(at), r
}
