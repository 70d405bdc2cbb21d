package nvrtc

import "testing"

func TestHeaderHints(t *testing.T) {
	for header, want := range map[string]string{
		"stdio.h":           "printf is built into device code: leave the line out",
		"cstdio":            "printf is built into device code: leave the line out",
		"math.h":            "sqrtf, expf and their kin are built into device code: leave the line out",
		"cmath":             "sqrtf, expf and their kin are built into device code: leave the line out",
		"cstdint":           "write #include <cuda/std/cstdint> and cuda::std::uint32_t, or unsigned int",
		"type_traits":       "write #include <cuda/std/type_traits> and cuda::std:: for std::",
		"vector":            "that is for host code, which a cell writes in Go: leave the line out, with what uses it",
		"cublas_v2.h":       "that is a library for host code: leave the line out, and launch from Go",
		"cutlass/gemm/x.h":  "CUTLASS is not brought along: give its folder with -I, as an option behind %%cuda",
		"mine/common.cuh":   "give the folder of common.cuh with -I, as an option behind %%cuda or of CompileCUDA",
		"curand_kernel.h":   "cuRAND is not brought along: hash the thread's index and a seed (Philox) for random numbers",
		"torch/extension.h": "that is a library for host code: leave the line out, and launch from Go",
	} {
		d := Diagnostic{Severity: "error", File: "k.cu", Line: 1, Message: `cannot open source file "` + header + `"`}
		if got := d.String(); got != `k.cu:1: error: cannot open source file "`+header+"\"\n"+want {
			t.Errorf("%s: %s", header, got)
		}
	}
	if got, want := hintFor("cuda.h", `cannot open source file "stdlib.h"`), "the driver API is for host code: leave #include <cuda.h> out; a tensor map is struct alignas(64) CUtensorMap { char bytes[128]; };"; got != want {
		t.Errorf("in cuda.h: %s", got)
	}
	if got := hintFor("k.cu", "identifier \"stdio\" is undefined"); got != "" {
		t.Errorf("a hint for another message: %s", got)
	}
}
