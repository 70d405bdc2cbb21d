//go:build (linux && (amd64 || arm64)) || (windows && amd64)

package nvrtc

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
)

const (
	canOpen          = true
	cannotOpenReason = ""
)

// library holds NVRTC's C functions (NVRTC documentation, chapter 4). A C string argument is a pointer to its bytes.
type library struct {
	version        func(major, minor *int32) int32
	errorString    func(result int32) string
	createProgram  func(program *uintptr, source, name *byte, headers int32, headerTexts, headerNames **byte) int32
	destroyProgram func(program *uintptr) int32
	compileProgram func(program uintptr, count int32, options **byte) int32
	ptxSize        func(program uintptr, size *uintptr) int32
	ptx            func(program uintptr, buffer *byte) int32
	cubinSize      func(program uintptr, size *uintptr) int32
	cubin          func(program uintptr, buffer *byte) int32
	logSize        func(program uintptr, size *uintptr) int32
	log            func(program uintptr, buffer *byte) int32
	archCount      func(count *int32) int32
	archs          func(archs *int32) int32
}

// openLibrary loads NVRTC; a file that is no NVRTC gives an error, not a panic.
func openLibrary(path string) (l *library, err error) {
	handle, err := openHandle(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", path, err)
	}
	l = &library{}
	for name, function := range map[string]any{
		"nvrtcVersion": &l.version, "nvrtcGetErrorString": &l.errorString,
		"nvrtcCreateProgram": &l.createProgram, "nvrtcDestroyProgram": &l.destroyProgram, "nvrtcCompileProgram": &l.compileProgram,
		"nvrtcGetPTXSize": &l.ptxSize, "nvrtcGetPTX": &l.ptx, "nvrtcGetCUBINSize": &l.cubinSize, "nvrtcGetCUBIN": &l.cubin,
		"nvrtcGetProgramLogSize": &l.logSize, "nvrtcGetProgramLog": &l.log,
		"nvrtcGetNumSupportedArchs": &l.archCount, "nvrtcGetSupportedArchs": &l.archs,
	} {
		address, err := findSymbol(handle, name)
		if err != nil {
			return nil, fmt.Errorf("%s has no %s: it is no NVRTC of CUDA 11.2 or later", path, name)
		}
		purego.RegisterFunc(function, address)
	}
	return l, nil
}

// compile runs one request.
func (l *library) compile(r *request) *reply {
	var major, minor int32
	l.version(&major, &minor)
	answer := &reply{Version: fmt.Sprintf("%d.%d", major, minor)}
	fail := func(what string, status int32) *reply {
		answer.Status, answer.Problem = int(status), what+": "+l.errorString(status)
		return answer
	}
	var program uintptr
	source, name := cString(r.Text), cString(r.Name)
	headerTexts, headerNames := make([]*byte, len(r.Headers)+1), make([]*byte, len(r.Headers)+1) // never empty: &[0] must exist
	n := 0
	for name, text := range r.Headers {
		headerTexts[n], headerNames[n] = &cString(text)[0], &cString(name)[0]
		n++
	}
	status := l.createProgram(&program, &source[0], &name[0], int32(n), &headerTexts[0], &headerNames[0])
	runtime.KeepAlive(headerTexts)
	runtime.KeepAlive(headerNames)
	if status != 0 {
		return fail("nvrtcCreateProgram", status)
	}
	defer l.destroyProgram(&program)
	options := make([]*byte, len(r.Options))
	for i, o := range r.Options {
		options[i] = &cString(o)[0]
	}
	status = l.compileProgram(program, int32(len(options)), &options[0])
	runtime.KeepAlive(options)
	answer.Log = strings.ReplaceAll(string(output(program, l.logSize, l.log)), "\x00", "") // one stands also before an assembler's error
	if status == invalidOption {
		answer.Archs = l.supported()
	}
	if status != 0 {
		return fail("nvrtcCompileProgram", status)
	}
	answer.PTX = strings.TrimRight(string(output(program, l.ptxSize, l.ptx)), "\x00")
	if r.wantsCubin() {
		answer.Cubin = output(program, l.cubinSize, l.cubin)
	}
	return answer
}

// invalidOption is NVRTC_ERROR_INVALID_OPTION.
const invalidOption = 5

// supported are the architectures that this NVRTC compiles for, 75 for sm_75; none where it does not say.
func (l *library) supported() []int32 {
	var n int32
	if l.archCount(&n) != 0 || n <= 0 {
		return nil
	}
	archs := make([]int32, n)
	if l.archs(&archs[0]) != 0 {
		return nil
	}
	return archs
}

// output fetches one of a program's results; nil where there is none.
func output(program uintptr, size func(uintptr, *uintptr) int32, get func(uintptr, *byte) int32) []byte {
	var n uintptr
	if size(program, &n) != 0 || n == 0 {
		return nil
	}
	buffer := make([]byte, n)
	if get(program, &buffer[0]) != 0 {
		return nil
	}
	return buffer
}

func cString(s string) []byte { return append([]byte(s), 0) }
