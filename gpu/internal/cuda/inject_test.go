//go:build cuda && cgo && linux

package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"memwall/gpu/internal/cuda/shim"
	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/driver/conformance"
)

// injectBench is a device with something of everything on it.
type injectBench struct {
	*work
	keep   driver.Address // its contents must stay, unless the context goes
	stream driver.Stream
	event  driver.Event
	late   driver.Event
	graph  driver.Graph
}

func newInjectBench(t *testing.T, d *Device) *injectBench {
	t.Helper()
	b := &injectBench{work: newWork(t, d)}
	b.keep = b.floats(16)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	b.stream, err = d.NewStream()
	must(err)
	b.event, err = d.NewEvent()
	must(err)
	b.late, err = d.NewEvent()
	must(err)
	must(b.stream.Record(b.event))
	must(b.stream.Record(b.late))
	must(d.BeginCapture(b.stream))
	_, err = d.Launch(t.Context(), b.queued(b.stream))
	must(err)
	b.graph, err = d.EndCapture(b.stream)
	must(err)
	return b
}

// good is a launch that changes nothing.
func (b *injectBench) good() *driver.Launch {
	return b.launch("scale", 1, 32, uint64(b.keep), float32(1), uint32(16))
}

func (b *injectBench) queued(s driver.Stream) *driver.Launch {
	l := b.good()
	l.Stream, l.Wait = s, false
	return l
}

// injections are the calls that can fail, each with an operation of ours that makes it.
var injections = []struct {
	call string
	do   func(*injectBench) error
}{
	{"cuCtxSetCurrent", func(b *injectBench) error { _, err := b.d.Alloc(64); return err }},
	{"cuMemAlloc_v2", func(b *injectBench) error { _, err := b.d.Alloc(64); return err }},
	{"cuMemFree_v2", func(b *injectBench) error { return b.d.Free(b.floats(4)) }},
	{"cuMemcpyHtoD_v2", func(b *injectBench) error { return b.d.CopyIn(b.keep, []byte{0, 0, 128, 63}, nil) }},
	{"cuMemcpyHtoDAsync_v2", func(b *injectBench) error { return b.d.CopyIn(b.keep, []byte{0, 0, 128, 63}, b.stream) }},
	{"cuMemcpyDtoH_v2", func(b *injectBench) error { return b.d.CopyOut(make([]byte, 4), b.keep, nil) }},
	{"cuMemcpyDtoHAsync_v2", func(b *injectBench) error { return b.d.CopyOut(make([]byte, 4), b.keep, b.stream) }},
	{"cuMemcpyDtoD_v2", func(b *injectBench) error { return b.d.Copy(b.keep, b.keep+4, 4, nil) }},
	{"cuMemcpyDtoDAsync_v2", func(b *injectBench) error { return b.d.Copy(b.keep, b.keep+4, 4, b.stream) }},
	{"cuMemsetD8Async", func(b *injectBench) error { return b.d.Fill(b.floats(4), []byte{1}, 3, nil) }},
	{"cuMemsetD16Async", func(b *injectBench) error { return b.d.Fill(b.floats(4), []byte{1, 2}, 3, nil) }},
	{"cuMemsetD32Async", func(b *injectBench) error { return b.d.Fill(b.keep, []byte{0, 0, 128, 63}, 3, nil) }},
	{"cuMemsetD2D32Async", func(b *injectBench) error { return b.d.Fill(b.keep, []byte{0, 0, 128, 63, 0, 0, 128, 63}, 2, nil) }},
	{"cuModuleLoadDataEx", func(b *injectBench) error { _, err := b.d.LoadPTX(conformance.PTX, driver.LoadOptions{}); return err }},
	{"cuModuleGetFunction", func(b *injectBench) error { _, err := b.d.LoadPTX(conformance.PTX, driver.LoadOptions{}); return err }},
	{"cuFuncGetAttribute", func(b *injectBench) error { _, err := b.d.LoadPTX(conformance.PTX, driver.LoadOptions{}); return err }},
	{"cuModuleGetGlobal_v2", func(b *injectBench) error { _, _, err := b.m.Global("counter"); return err }},
	{"cuFuncSetAttribute", func(b *injectBench) error { return b.good().Function.SetMaxDynamicShared(60000) }},
	{"cuLaunchKernel", func(b *injectBench) error { _, err := b.d.Launch(b.t.Context(), b.good()); return err }},
	{"cuLaunchKernelEx", func(b *injectBench) error {
		l := b.good()
		l.Cluster = driver.Dim3{X: 1, Y: 1, Z: 1}
		_, err := b.d.Launch(b.t.Context(), l)
		return err
	}},
	{"cuEventRecord", func(b *injectBench) error { _, err := b.d.Launch(b.t.Context(), b.good()); return err }},
	{"cuEventQuery", func(b *injectBench) error { _, err := b.d.Launch(b.t.Context(), b.good()); return err }},
	{"cuEventElapsedTime", func(b *injectBench) error { _, err := b.late.Since(b.event); return err }},
	{"cuEventCreate", func(b *injectBench) error { _, err := b.d.NewEvent(); return err }},
	{"cuStreamCreate", func(b *injectBench) error { _, err := b.d.NewStream(); return err }},
	{"cuStreamSynchronize", func(b *injectBench) error { return b.stream.Synchronize(b.t.Context()) }},
	{"cuStreamWaitEvent", func(b *injectBench) error { return b.stream.Wait(b.event) }},
	{"cuCtxSynchronize", func(b *injectBench) error { return b.d.Synchronize(b.t.Context()) }},
	{"cuStreamBeginCapture_v2", func(b *injectBench) error {
		err := b.d.BeginCapture(b.stream)
		if err == nil {
			_, err = b.d.EndCapture(b.stream)
		}
		return err
	}},
	{"cuGraphLaunch", func(b *injectBench) error { return b.d.LaunchGraph(b.t.Context(), b.graph, b.stream) }},
	{"cuStreamDestroy_v2", func(b *injectBench) error { s := b.stream; b.stream = nil; return s.Destroy() }},
	{"cuEventDestroy_v2", func(b *injectBench) error { return b.event.Destroy() }},
	{"cuGraphExecDestroy", func(b *injectBench) error { return b.graph.Destroy() }},
	{"cuModuleUnload", func(b *injectBench) error { return b.m.Unload() }},
}

// quick are tried with every call; the others with the first calls alone, as they take the same way.
var quick = map[Result]bool{invalidValue: true, outOfMemory: true, noDevice: true, 400: true, notReady: true, illegalAddress: true, launchTimeout: true,
	launchFailed: true, notSupported: true, unknownError: true, deviceAssert: true, eccUncorrectable: true}

// Each result that a call can give, at each call, leads to an error that names the device, what was done and the driver's words, with
// the hint that there is; it loses nothing, or, where it ruins the context, says what went. The device goes on working.
func TestInjectedResults(t *testing.T) {
	codes := slices.Sorted(maps.Keys(results))
	d := open(t)
	for i, c := range injections {
		for _, code := range codes {
			if code == success || i > 2 && !quick[code] {
				continue
			}
			if err := tryInjection(t, d, c.call, code, c.do); err != nil {
				t.Errorf("%s answers %d: %v", c.call, code, err)
			}
		}
	}
}

func tryInjection(t *testing.T, d *Device, call string, code Result, do func(*injectBench) error) error {
	b := newInjectBench(t, d)
	before := d.generation
	if !shim.Inject(call, int(code)) {
		return errors.New("the shim has no such function")
	}
	err := do(b)
	if shim.Injected() {
		return errors.New("the operation did not make the call")
	}
	kind, ruins := fatal[code]
	waits := code == notReady && (call == "cuEventQuery" || call == "cuEventElapsedTime")
	var fault *driver.Fault
	var failed *Error
	switch {
	case waits && call == "cuEventQuery":
		if err != nil {
			return fmt.Errorf("waiting on gave %v", err)
		}
	case ruins:
		if !errors.As(err, &fault) || fault.Kind != kind || fault.Device != "cuda:0" || !strings.Contains(err.Error(), code.String()) || !strings.Contains(err.Error(), "the context was replaced: ") {
			return fmt.Errorf("error %v", err)
		}
		if strings.HasPrefix(call, "cuLaunch") && fault.Function != "scale" {
			return fmt.Errorf("the fault names the launch %q: %v", fault.Function, err)
		}
		if d.generation != before+1 {
			return errors.New("the context was not replaced")
		}
	default:
		if !errors.As(err, &failed) || failed.Result != code || !strings.HasPrefix(err.Error(), "cuda:0: ") || !strings.Contains(err.Error(), code.String()) || !strings.HasSuffix(err.Error(), hints[code]) {
			if !(code == unsupportedPTX || code == noBinary) || err == nil {
				return fmt.Errorf("error %v", err)
			}
		}
		if d.generation != before {
			return errors.New("the context was replaced")
		}
	}
	got := make([]byte, 64)
	err = d.CopyOut(got, b.keep, nil)
	switch {
	case ruins && (err == nil || !strings.Contains(err.Error(), "the buffer is gone")):
		return fmt.Errorf("a buffer of the old context: %v", err)
	case !ruins && (err != nil || !bytes.Equal(got, bytes.Repeat([]byte{0, 0, 128, 63}, 16))):
		return fmt.Errorf("a buffer afterwards: % x, %v", got, err)
	}
	after := newWork(t, d)
	x := after.floats(16)
	if _, err := d.Launch(t.Context(), after.launch("scale", 1, 32, uint64(x), float32(1), uint32(16))); err != nil {
		return fmt.Errorf("a launch afterwards: %v", err)
	}
	for _, a := range []driver.Address{b.keep, x} {
		if err := d.Free(a); err != nil {
			return fmt.Errorf("free afterwards: %v", err)
		}
	}
	return nil
}

// What fails while a device is opened is an error too.
func TestInjectedOpen(t *testing.T) {
	for _, call := range []string{"cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain"} {
		shim.Inject(call, int(unavailable))
		d, err := Open(0)
		if err == nil || !strings.HasPrefix(err.Error(), "cuda:0: ") || !strings.Contains(err.Error(), unavailable.String()) {
			t.Errorf("%s: %v, %v", call, d, err)
		}
	}
}

// A GPU that gives no new context after a fault is lost: every call says so, and nothing hangs.
func TestInjectedLoss(t *testing.T) {
	d := open(t)
	w := newWork(t, d)
	shim.Inject("cuDevicePrimaryCtxReset_v2", int(unknownError))
	_, err := d.Launch(t.Context(), w.launch("poke", 3, 32, uint64(0), uint64(0)))
	if err == nil || !strings.HasSuffix(err.Error(), "the GPU gives no new context: restart the session") {
		t.Errorf("the fault: %v", err)
	}
	const want = "cuda:0 is lost since poke (out of bounds): cuda:0: reset its context: unknown error (999)\nrestart the session; nvidia-smi shows whether the GPU still answers"
	if _, err := d.Alloc(64); err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if d.gpu.ResetPrimaryCtx() != nil { // for the tests after this one
		t.Error("the reset is still injected")
	}
}
