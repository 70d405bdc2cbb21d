//go:build cuda && cgo && linux

package vdrv

// #include "helpers.h"
import "C"

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
)

// module is a loaded module or library: a library is a module here, and a kernel of it a function.
type module struct {
	m         driver.Module
	functions map[string]*function
	names     []string
	registers int // most a thread, as the linker was told; 0: no limit
	constants func() int
	self      unsafe.Pointer
}

// imageBytes is how long an image of unknown length may be.
const imageBytes = 1 << 30

// textOf gives the PTX of an image, or why it is none.
func textOf(image unsafe.Pointer) (string, result, string) {
	if image == nil {
		return "", invalidValue, "no image"
	}
	head := (*[4]byte)(image)
	switch {
	case string(head[:]) == "\x7fELF":
		return "", C.CUDA_ERROR_NO_BINARY_FOR_GPU, "the image is machine code of a GPU (a cubin); the virtual GPU executes PTX: build it with PTX in it"
	case *head == [4]byte{0x50, 0xed, 0x55, 0xba}:
		return "", C.CUDA_ERROR_NO_BINARY_FOR_GPU, "the image is a fat binary; the virtual GPU executes PTX text"
	case head[0] < '\t' || head[0] > '~':
		return "", C.CUDA_ERROR_INVALID_IMAGE, "the image is no PTX text"
	}
	return C.GoString((*C.char)(image)), success, ""
}

// load makes a module of PTX text and writes its handle to out.
func load(out unsafe.Pointer, text string, e result, why string) result {
	if s := sticky(); s != 0 {
		return s
	}
	if out == nil {
		return invalidValue
	}
	var m *module
	if e == success {
		m, e, why = loadText(text)
	}
	if e != success {
		refuse(why)
		return e
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	m.self = newHandle(m)
	*(*unsafe.Pointer)(out) = m.self
	return success
}

// refuse keeps the reason for the caller's log, and tells it.
func refuse(why string) {
	state.mu.Lock()
	state.log = why
	state.mu.Unlock()
	report("%s", why)
}

func loadText(text string) (*module, result, string) {
	options := driver.LoadOptions{Name: "PTX"}
	if s := bound(); s != nil && s.Load != nil {
		options = *s.Load
	}
	text, registers := registerLimit(text)
	text = modern(mergeLinked(text))
	loaded, err := state.gpu.LoadPTX(text, options)
	if err != nil {
		var bad *ptx.Error
		if errors.As(err, &bad) {
			return nil, C.CUDA_ERROR_INVALID_PTX, err.Error()
		}
		return nil, outOfMemory, err.Error()
	}
	m := &module{m: loaded, registers: registers, constants: sync.OnceValue(func() int { return constantBytes(text) }), functions: map[string]*function{}, names: loaded.Functions()}
	return m, success, ""
}

// constantBytes is the size of the constant variables of a text.
func constantBytes(text string) int {
	m, err := ptx.Parse("PTX", text)
	if err != nil {
		return 0
	}
	total := 0
	for _, v := range m.Variables {
		if v.Space == "const" {
			total += int(v.Size)
		}
	}
	return total
}

//export vdrv_cuModuleLoadData
func vdrv_cuModuleLoadData(m *C.CUmodule, image unsafe.Pointer) result {
	text, e, why := textOf(image)
	return load(unsafe.Pointer(m), text, e, why)
}

//export vdrv_cuModuleLoadDataEx
func vdrv_cuModuleLoadDataEx(m *C.CUmodule, image unsafe.Pointer, n C.uint, options *C.CUjit_option, values *unsafe.Pointer) result {
	e := vdrv_cuModuleLoadData(m, image)
	writeLog(e, jitOptions(n, options, values))
	return e
}

// jitOption is one option of the PTX compiler.
type jitOption struct {
	option C.CUjit_option
	value  unsafe.Pointer
}

func jitOptions(n C.uint, options *C.CUjit_option, values *unsafe.Pointer) []jitOption {
	if options == nil || values == nil {
		return nil
	}
	var out []jitOption
	for i, o := range unsafe.Slice(options, n) {
		out = append(out, jitOption{o, unsafe.Slice(values, n)[i]})
	}
	return out
}

// writeLog puts the reason of a refusal into the caller's error log; where all is well both logs are empty.
func writeLog(e result, options []jitOption) {
	for _, kind := range []struct{ buffer, bytes C.CUjit_option }{
		{C.CU_JIT_ERROR_LOG_BUFFER, C.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES},
		{C.CU_JIT_INFO_LOG_BUFFER, C.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES},
	} {
		var buffer *C.char
		var bytes C.int
		for _, o := range options {
			switch o.option {
			case kind.buffer:
				buffer = (*C.char)(o.value)
			case kind.bytes:
				bytes = C.int(uint32(uintptr(o.value)))
			}
		}
		if buffer == nil || bytes <= 0 {
			continue
		}
		text := ""
		if e != success && kind.buffer == C.CU_JIT_ERROR_LOG_BUFFER {
			state.mu.Lock()
			text = state.log
			state.mu.Unlock()
		}
		put(text, buffer, bytes)
	}
}

//export vdrv_cuModuleLoad
func vdrv_cuModuleLoad(m *C.CUmodule, name *C.char) result {
	image, e := fileImage(name)
	if e != success {
		return e
	}
	return vdrv_cuModuleLoadData(m, unsafe.Pointer(&image[0]))
}

// fileImage reads a file, ended by NUL and never shorter than what textOf looks at.
func fileImage(name *C.char) ([]byte, result) {
	if name == nil {
		return nil, invalidValue
	}
	text, err := os.ReadFile(C.GoString(name))
	if err != nil {
		return nil, C.CUDA_ERROR_FILE_NOT_FOUND
	}
	return append(text, 0, 0, 0, 0), success
}

//export vdrv_cuModuleUnload
func vdrv_cuModuleUnload(handle C.CUmodule) result {
	m, ok := of[*module](unsafe.Pointer(handle))
	if !ok {
		return invalidHandle
	}
	if m.m.Unload() != nil {
		return invalidHandle
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	for _, f := range m.functions {
		delete(state.handles, uintptr(f.self))
	}
	delete(state.handles, uintptr(unsafe.Pointer(handle)))
	return success
}

//export vdrv_cuModuleGetLoadingMode
func vdrv_cuModuleGetLoadingMode(mode *C.int) result {
	if mode == nil {
		return invalidValue
	}
	*mode = 1 // eager
	return success
}

// functionOf gives the function of a name, which has one handle.
func (m *module) functionOf(name string) (*function, result) {
	state.mu.Lock()
	defer state.mu.Unlock()
	if f := m.functions[name]; f != nil {
		return f, success
	}
	found, err := m.m.Function(name)
	if err != nil {
		return nil, notFound
	}
	f := newFunction(m, found)
	f.self = newHandle(f)
	m.functions[name] = f
	return f, success
}

//export vdrv_cuModuleGetFunction
func vdrv_cuModuleGetFunction(out *C.CUfunction, handle C.CUmodule, name *C.char) result {
	m, ok := of[*module](unsafe.Pointer(handle))
	switch {
	case !ok:
		return invalidHandle
	case out == nil || name == nil:
		return invalidValue
	}
	f, e := m.functionOf(C.GoString(name))
	if e == success {
		*out = C.CUfunction(f.self)
	}
	return e
}

//export vdrv_cuLibraryGetKernel
func vdrv_cuLibraryGetKernel(out *C.CUkernel, handle C.CUlibrary, name *C.char) result {
	return vdrv_cuModuleGetFunction((*C.CUfunction)(unsafe.Pointer(out)), C.CUmodule(unsafe.Pointer(handle)), name)
}

//export vdrv_cuModuleGetGlobal_v2
func vdrv_cuModuleGetGlobal_v2(p *devicePtr, bytes *size, handle C.CUmodule, name *C.char) result {
	m, ok := of[*module](unsafe.Pointer(handle))
	switch {
	case !ok:
		return invalidHandle
	case name == nil:
		return invalidValue
	}
	a, n, err := m.m.Global(C.GoString(name))
	if err != nil {
		return notFound
	}
	if p != nil {
		*p = devicePtr(a)
	}
	if bytes != nil {
		*bytes = size(n)
	}
	return success
}

//export vdrv_cuModuleGetFunctionCount
func vdrv_cuModuleGetFunctionCount(n *C.uint, handle C.CUmodule) result {
	return answer(n, unsafe.Pointer(handle), func(m *module) C.uint { return C.uint(len(m.names)) })
}

//export vdrv_cuModuleEnumerateFunctions
func vdrv_cuModuleEnumerateFunctions(out *C.CUfunction, n C.uint, handle C.CUmodule) result {
	m, ok := of[*module](unsafe.Pointer(handle))
	switch {
	case !ok:
		return invalidHandle
	case out == nil:
		return invalidValue
	}
	list := unsafe.Slice(out, n)
	for i := range min(len(list), len(m.names)) {
		f, e := m.functionOf(m.names[i])
		if e != success {
			return e
		}
		list[i] = C.CUfunction(f.self)
	}
	return success
}

//export vdrv_cuLibraryLoadData
func vdrv_cuLibraryLoadData(l *C.CUlibrary, image unsafe.Pointer, jit *C.CUjit_option, jitValues *unsafe.Pointer, jits C.uint, options *C.int, values *unsafe.Pointer, n C.uint) result {
	e := vdrv_cuModuleLoadData((*C.CUmodule)(unsafe.Pointer(l)), image)
	writeLog(e, jitOptions(jits, jit, jitValues))
	return e
}

//export vdrv_cuLibraryLoadFromFile
func vdrv_cuLibraryLoadFromFile(l *C.CUlibrary, name *C.char, jit *C.CUjit_option, jitValues *unsafe.Pointer, jits C.uint, options *C.int, values *unsafe.Pointer, n C.uint) result {
	e := vdrv_cuModuleLoad((*C.CUmodule)(unsafe.Pointer(l)), name)
	writeLog(e, jitOptions(jits, jit, jitValues))
	return e
}

//export vdrv_cuLibraryGetModule
func vdrv_cuLibraryGetModule(m *C.CUmodule, l C.CUlibrary) result {
	if m == nil {
		return invalidValue
	}
	*m = C.CUmodule(unsafe.Pointer(l))
	return success
}

// linker collects PTX texts; what it gives is text too, which load merges.
type linker struct {
	parts   []string
	options []jitOption
	out     *C.char
}

//export vdrv_cuLinkCreate_v2
func vdrv_cuLinkCreate_v2(n C.uint, options *C.CUjit_option, values *unsafe.Pointer, out *C.CUlinkState) result {
	if e := sticky(); e != 0 {
		return e
	}
	if out == nil {
		return invalidValue
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	*out = C.CUlinkState(newHandle(&linker{options: jitOptions(n, options, values)}))
	return success
}

// add takes an image, checked as text now so that the error names it.
func (l *linker) add(text string, e result, why string) result {
	if strings.HasPrefix(text, "!<arch>") { // the library of dynamic parallelism: what is used of it is missed at the load
		return success
	}
	if e == success {
		text, _ = registerLimit(text)
		for _, part := range strings.Split(strings.TrimPrefix(text, linkedMark), nextMark) {
			if _, err := ptx.Parse("PTX", modern(part)); err != nil {
				e, why = C.CUDA_ERROR_INVALID_PTX, err.Error()
				break
			}
			l.parts = append(l.parts, part)
		}
	}
	if e != success {
		refuse(why)
		writeLog(e, l.options)
	}
	return e
}

//export vdrv_cuLinkAddData_v2
func vdrv_cuLinkAddData_v2(handle C.CUlinkState, kind C.CUjitInputType, data unsafe.Pointer, bytes size, name *C.char, n C.uint, options *C.CUjit_option, values *unsafe.Pointer) result {
	l, ok := of[*linker](unsafe.Pointer(handle))
	switch {
	case !ok:
		return invalidHandle
	case data == nil || bytes == 0 || bytes > imageBytes:
		return invalidValue
	}
	image := slices.Concat(unsafe.Slice((*byte)(data), bytes), make([]byte, 4))
	return l.add(textOf(unsafe.Pointer(&image[0])))
}

//export vdrv_cuLinkAddFile_v2
func vdrv_cuLinkAddFile_v2(handle C.CUlinkState, kind C.CUjitInputType, path *C.char, n C.uint, options *C.CUjit_option, values *unsafe.Pointer) result {
	l, ok := of[*linker](unsafe.Pointer(handle))
	if !ok {
		return invalidHandle
	}
	image, e := fileImage(path)
	if e != success {
		return e
	}
	return l.add(textOf(unsafe.Pointer(&image[0])))
}

//export vdrv_cuLinkComplete
func vdrv_cuLinkComplete(handle C.CUlinkState, out *unsafe.Pointer, bytes *size) result {
	l, ok := of[*linker](unsafe.Pointer(handle))
	switch {
	case !ok:
		return invalidHandle
	case out == nil:
		return invalidValue
	}
	text := linkedMark
	for _, o := range l.options {
		if n := uint32(uintptr(o.value)); o.option == C.CU_JIT_MAX_REGISTERS && n > 0 {
			text += registersMark + strconv.Itoa(int(n)) + "\n"
		}
	}
	text += strings.Join(l.parts, nextMark)
	l.out = C.CString(text)
	*out = unsafe.Pointer(l.out)
	if bytes != nil {
		*bytes = size(len(text) + 1)
	}
	writeLog(success, l.options)
	return success
}

//export vdrv_cuLinkDestroy
func vdrv_cuLinkDestroy(handle C.CUlinkState) result {
	l, ok := of[*linker](unsafe.Pointer(handle))
	if !ok {
		return invalidHandle
	}
	if l.out != nil {
		C.free(unsafe.Pointer(l.out))
		l.out = nil
	}
	return drop[*linker](unsafe.Pointer(handle))
}
