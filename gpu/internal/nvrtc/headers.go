package nvrtc

import (
	"path"
	"slices"
	"strings"
)

// missingHeader is the compiler's message for a header that it does not find.
var missingHeader = lazy(`(?:cannot|could not) open source file "([^"]+)"`)

// headerHints say what to do about headers that NVRTC, which compiles device code alone, does not bring along.
var headerHints = []struct {
	names string // without .h, and with c in front
	hint  string
}{
	{"stdio", "printf is built into device code: leave the line out"},
	{"assert", "assert is built into device code: leave the line out"},
	{"math cmath tgmath", "sqrtf, expf and their kin are built into device code: leave the line out"},
	{"stdlib string memory malloc", "malloc, free, memcpy and memset are built into device code: leave the line out"},
	{"stdint inttypes", "write #include <cuda/std/cstdint> and cuda::std::uint32_t, or unsigned int"},
	{"limits float", "write #include <cuda/std/limits> and cuda::std::numeric_limits<float>::max()"},
	{"stddef", "size_t is built in: leave the line out; for the rest #include <cuda/std/cstddef>"},
	{"type_traits utility tuple array complex functional algorithm numeric atomic initializer_list chrono ratio cmath optional variant span bit concepts iterator",
		"write #include <cuda/std/NAME> and cuda::std:: for std::"},
	{"cuda", "the driver API is for host code: leave #include <cuda.h> out; a tensor map is struct alignas(64) CUtensorMap { char bytes[128]; };"},
	{"vector list map unordered_map set deque iostream fstream sstream iomanip thread mutex future random exception stdexcept filesystem time ctime unistd sys/time pthread omp",
		"that is for host code, which a cell writes in Go: leave the line out, with what uses it"},
	{"cublas cublas_v2 cublasLt cudnn cufft cusparse cusolverDn nccl nvrtc helper_cuda helper_functions torch/extension ATen/ATen",
		"that is a library for host code: leave the line out, and launch from Go"},
	{"curand curand_kernel", "cuRAND is not brought along: hash the thread's index and a seed (Philox) for random numbers"},
	{"cutlass/cutlass cute/tensor", "CUTLASS is not brought along: give its folder with -I, as an option behind %%cuda"},
}

// hintFor says what to do about a header that a file does not find, "" for messages about something else.
func hintFor(file, message string) string {
	m := missingHeader().FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	name := strings.TrimSuffix(m[1], ".h")
	if file == "cuda.h" {
		name = "cuda"
	}
	for _, h := range headerHints {
		for _, known := range strings.Fields(h.names) {
			if name == known || name == "c"+known && !strings.Contains(known, "/") {
				return strings.ReplaceAll(h.hint, "NAME", name)
			}
		}
	}
	if first, _, nested := strings.Cut(m[1], "/"); nested && slices.Contains([]string{"cutlass", "cute"}, first) {
		return "CUTLASS is not brought along: give its folder with -I, as an option behind %%cuda"
	}
	return "give the folder of " + path.Base(m[1]) + " with -I, as an option behind %%cuda or of CompileCUDA"
}
