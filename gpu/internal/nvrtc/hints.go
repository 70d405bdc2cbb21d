package nvrtc

import (
	"slices"
	"strings"
)

// Messages that say no more than that the compiler lost its way in the declaration of a __global__ function, whose own fault
// is a name that it does not know.
const (
	lostDeclaration = `attribute "__global__" does not apply here`
	mostApart       = 8 // lines between it and the name
)

var (
	unknownName   = lazy(`^identifier "([^"]+)" is undefined`)
	unknownMember = lazy(`^(?:namespace|qualified name) "?(\w+)"? has no member "([^"]+)"`)
)

// rootCauses leaves out what follows from an unknown name in the declaration of a __global__ function.
func rootCauses(all []Diagnostic) []Diagnostic {
	var kept []Diagnostic
	for i := 0; i < len(all); i++ {
		d := all[i]
		kept = append(kept, d)
		if d.Message != lostDeclaration {
			continue
		}
		cause := slices.IndexFunc(all[i:], func(e Diagnostic) bool {
			return e.File == d.File && e.Line <= d.Line+mostApart && (unknownName().MatchString(e.Message) || unknownMember().MatchString(e.Message))
		})
		if cause < 0 || slices.ContainsFunc(all[i+1:i+cause], func(e Diagnostic) bool { return e.Message == lostDeclaration }) {
			continue
		}
		kept[len(kept)-1] = all[i+cause]
		last := all[i+cause].Line
		for i++; i < len(all) && all[i].File == d.File && all[i].Line >= d.Line && all[i].Line <= last && all[i].Message != lostDeclaration; i++ {
		}
		i--
	}
	return kept
}

// nameHints say where names come from that a source uses without their header, and what stands for those of the host.
var nameHints = []struct{ names, hint string }{
	{"half half2 __half __half2 __float2half __half2float __floats2half2_rn __hadd __hmul __hfma __hfma2 __hadd2", "#include <cuda_fp16.h>"},
	{"nv_bfloat16 nv_bfloat162 __nv_bfloat16 __nv_bfloat162 __float2bfloat16 __bfloat162float", "#include <cuda_bf16.h>"},
	{"__nv_fp8_e4m3 __nv_fp8_e5m2 __nv_fp8x4_e4m3 __nv_fp8x4_e5m2 __nv_fp8_storage_t", "#include <cuda_fp8.h>"},
	{"cooperative_groups cg", "#include <cooperative_groups.h>, and namespace cg = cooperative_groups;"},
	{"nvcuda wmma", "#include <mma.h>, and using namespace nvcuda;"},
	{"int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t", "#include <cuda/std/cstdint> and write cuda::std::NAME, or use char, short, int and long long"},
	{"INFINITY", "write __int_as_float(0x7f800000)"}, {"NAN", "write __int_as_float(0x7fffffff)"},
	{"FLT_MAX", "write 3.402823466e38f, or cuda::std::numeric_limits<float>::max() with #include <cuda/std/limits>"},
	{"FLT_MIN FLT_EPSILON DBL_MAX INT_MAX INT_MIN UINT_MAX", "write its value, or cuda::std::numeric_limits with #include <cuda/std/limits>"},
	{"M_PI", "write 3.14159265358979"},
}

// hintForName says what to do about a name that the compiler does not know, "" where that is the user's own.
func hintForName(message string) string {
	if m := unknownMember().FindStringSubmatch(message); m != nil && m[1] == "std" {
		return "the standard library is for host code; much of it is in cuda::std, by #include <cuda/std/…>; containers that grow are not"
	}
	m := unknownName().FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	for _, h := range nameHints {
		if slices.Contains(strings.Fields(h.names), m[1]) {
			return strings.ReplaceAll(h.hint, "NAME", m[1])
		}
	}
	if rest, ok := strings.CutPrefix(m[1], "cuda"); ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
		return "that is host code, which is written in Go: dev.Zeros, dev.From and dev.Randn make tensors, x.Float32s() reads them, f.Launch launches and waits"
	}
	return ""
}
