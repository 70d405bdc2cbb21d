package gpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// What a declaration says of a type, as C++ reads it.
func TestParseType(t *testing.T) {
	aliases := map[string]string{"real": "float", "reals": "real *", "loop": "loop", "either": "…", "word": "unsigned"}
	for text, want := range map[string]cType{
		"const float *x":            {"float *", true, "float"},
		"float const* __restrict__": {"float *", true, "float"},
		"float x[]":                 {"float *", true, "float"},
		"float":                     {"float", false, "float"},
		"unsigned long long n":      {"unsigned long long", false, "unsigned long long"},
		"long unsigned int":         {"long unsigned int", false, "unsigned long"},
		"unsigned n":                {"unsigned", false, "unsigned int"},
		"signed char *":             {"signed char *", true, "signed char"},
		"const half *w":             {"half *", true, "__half"},
		"std::uint16_t *p":          {"uint16_t *", true, "unsigned short"},
		"volatile void *p":          {"void *", true, "void"},
		"real *x":                   {"real *", true, "float"},
		"reals x":                   {"reals", true, "float"},
		"word w":                    {"word", false, "unsigned int"},
		"struct Node *p":            {"Node *", true, "Node"},
		"reals *x":                  {},
		"float **rows":              {},
		"float (&tile)[4]":          {},
		"std::array<float, 4> v":    {},
		"either *p":                 {"either *", true, "…"},
		"loop *p":                   {"loop *", true, "loop"},
	} {
		got := parseType(text, aliases)
		if _, ok := got.known(); got != want && (ok || want.name != "…") {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

// The Itanium ABI's encoding of parameter types (§5.1.5), with c++filt's text.
func TestMangledTypes(t *testing.T) {
	for name, want := range map[string][]string{
		"_Z5scalePffi":               {"float*", "float", "int"},
		"_Z5scalePK6__halfPS_m":      {"__half const*", "__half*", "unsigned long"},
		"_Z5scaleIfLi4EEvPT_i":       {"float*", "int"},
		"_ZN2ns5scaleIfdEEvPKT_PT0_": {"float const*", "double*"},
		"_Z4nonev":                   nil,
		"scale":                      nil,
	} {
		if got := mangledTypes(name); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Names that a source gives to types count where they hold for the whole of it.
func TestAliases(t *testing.T) {
	for source, want := range map[string]string{
		"typedef float real;\nusing word = unsigned int;\n#define T __half\n":                                                                               "T=__half real=float word=unsigned int",
		"extern \"C\" { typedef const half * row; }\nnamespace n { using real = double; }\nvoid f() { typedef int inner; }\nstruct S { using own = int; };": "S=… real=double row=const half *",
		"typedef float real; namespace n { typedef double real; }":                                                                                          "real=…",
		"#if X\ntypedef float real;\n#else\ntypedef double real;\n#endif":                                                                                   "real=…",
		"struct half { float low, high; };\nenum class kind : int { a };\nstruct S *p;":                                                                     "half=… kind=…",
		"// typedef float real;\n#define SQUARE(x) ((x) * (x))\n":                                                                                           "",
	} {
		m := &Module{sources: map[string]string{"cell": source}}
		var got []string
		for name, text := range m.aliases() {
			got = append(got, name+"="+text)
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s:\n%s\nwant %s", source, text, want)
		}
	}
}

// declaredFunction is a function that exists only as a declaration and PTX types.
func declaredFunction(d *Device, source string, types ...string) *Function {
	return &Function{module: &Module{dev: d, sources: map[string]string{"cell": source}}, f: entry{params: params(types...)}}
}

// Each element type against each C++ pointer: who may read whose bytes.
func TestElementTypes(t *testing.T) {
	d := fresh(t, "h200")
	floats, ints := "f64 f32 f16 bf16 e4m3 e5m2", "i64 i32 i16 i8 u64 u32 u16 u8"
	all := floats + " " + ints + " q4_0 q8_1"
	for pointer, takes := range map[string]string{
		"void": all, "char": all, "unsigned char": all, "uint8_t": all, "uint4": all, "int2": all, "float2": all, "float4": all, "Node": all, "T": all,
		"unsigned __int128": all, "long double": all, "cuda::std::uint32_t": all, "struct Row": all,
		"float": "f32", "const float": "f32", "float3": "f32", "double": "f64",
		"half": "f16 u16", "__half": "f16 u16", "__half2": "f16 u16", "half2": "f16 u16", "__nv_bfloat16": "bf16 u16", "nv_bfloat162": "bf16 u16",
		"__nv_fp8_e4m3": "e4m3 u8", "__nv_fp8x4_e5m2": "e5m2 u8",
		"int": "i32 u32 i8 u8 e4m3 e5m2 q4_0 q8_1", "unsigned": "f32 f16 bf16 e4m3 e5m2 i32 u32 i16 u16 i8 u8 q4_0 q8_1", "short": "i16 u16",
		"unsigned short": "f16 bf16 e4m3 e5m2 i16 u16 i8 u8 q4_0 q8_1", "signed char": "e4m3 e5m2 i8 u8 q4_0 q8_1", "bool": "i8 u8",
		"long long": "i64 u64", "size_t": "i64 u64", "unsigned long long": all,
	} {
		f := declaredFunction(d, "extern \"C\" __global__ void scale("+pointer+" *x) {}", "ptr")
		for name := range strings.FieldsSeq(all) {
			dtype, err := TypeNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.pack("launch scale", []any{d.Zeros(dtype, 32)})
			if want := slices.Contains(strings.Fields(takes), name); (err == nil) != want {
				t.Errorf("%s * takes %s: %v, want %v", pointer, name, err, want)
			}
			if _, err = f.pack("launch scale", []any{d.Zeros(dtype, 32).Buffer()}); err != nil {
				t.Errorf("%s * and a buffer: %v", pointer, err)
			}
		}
	}
}

func TestElementTypeErrors(t *testing.T) {
	d := fresh(t, "h200")
	const prefix = "launch scale: argument 1 "
	for _, c := range []struct {
		declared, ptx string
		dtype         DType
		want          string
	}{
		{"const float *__restrict__ x", "ptr", F16, prefix + "(const float *x): tensor f16 [32] has elements of f16, float * points to f32\n" +
			"make a tensor of f32 of it, dev.FromAs(gpu.F32, t.Float64s(), …), or declare the parameter __half *; t.View(gpu.F32) gives the same bytes as f32"},
		{"const int *x", "ptr", I64, prefix + "(const int *x): tensor i64 [32] has elements of i64, int * points to i32\n" +
			"make a tensor of i32 of it, dev.FromAs(gpu.I32, t.Float64s(), …), or declare the parameter long long *; t.View(gpu.I32) gives the same bytes as i32"},
		{"half *x", "ptr", Q4_0, prefix + "(half *x): tensor q4_0 [32] has elements of q4_0, half * points to f16\n" +
			"make a tensor of f16 of it, dev.FromAs(gpu.F16, t.Float64s(), …), or declare the parameter const unsigned char *; t.View(gpu.F16) gives the same bytes as f16"},
		{"long long n", "u64", F32, prefix + "(long long n): a tensor f32 [32] is an address, long long is a number\ngive a number, or declare the parameter float *"},
		{"size_t n", "u64", F32, prefix + "(size_t n): a tensor f32 [32] is an address, size_t is a number\ngive a number, or declare the parameter float *"},
		{"unsigned long long address", "u64", F32, ""},
	} {
		f := declaredFunction(d, "extern \"C\" __global__ void scale("+c.declared+") {}", c.ptx)
		_, err := f.pack("launch scale", []any{d.Zeros(c.dtype, 32)})
		if c.want == "" && err == nil {
			continue
		}
		wantError(t, err, c.want)
	}
}

// Numbers convert as C++ converts them, where that keeps the value.
func TestPackDeclaredNumbers(t *testing.T) {
	d := &Device{name: "virtual:h200", live: map[driver.Address]*memoryState{}}
	const a = "launch scale: argument 1 "
	for _, c := range []struct {
		declared, ptx string
		arg           any
		want          uint64
		err           string
	}{
		{"float eps", "f32", 1e-5, uint64(math.Float32bits(1e-5)), ""},
		{"const float eps", "f32", 1<<24 + 1, 0x4b800000, ""}, // ties to even
		{"float x", "f32", math.Inf(1), 0x7f800000, ""},
		{"double x", "f64", 0.1, math.Float64bits(0.1), ""},
		{"__half x", "half", 0.1, 0x2e66, ""}, // numpy.float16(0.1)
		{"half x", "half", 1, 0x3c00, ""},
		{"half x", "half", uint16(0x3c00), 0x3c00, ""},
		{"__nv_bfloat16 x", "half", 0.1, 0x3dcd, ""},
		{"int n", "u32", -5, 0xfffffffb, ""}, {"int n", "u32", 4.0, 4, ""}, {"unsigned n", "u32", 1<<32 - 1, 0xffffffff, ""},
		{"size_t n", "u64", 1 << 40, 1 << 40, ""}, {"size_t n", "u64", uint(math.MaxUint64), math.MaxUint64, ""}, {"uint64_t n", "u64", 1e19, 1e19, ""},
		{"long long n", "u64", math.MinInt64, 1 << 63, ""}, {"unsigned n", "u32", int32(-1), 0xffffffff, ""}, {"bool b", "u8", true, 1, ""},
		{"float x", "f32", 1e300, 0, a + "(float x): 1e+300 does not fit float, it would become +Inf\ngive a value that float holds, or declare the parameter double"},
		{"float x", "f32", -1e-60, 0, a + "(float x): -1e-60 does not fit float, it would become -0\ngive a value that float holds, or declare the parameter double"},
		{"half x", "half", 1e6, 0, a + "(half x): 1e+06 does not fit half, it would become +Inf\ngive a value that half holds, or declare the parameter double"},
		{"int n", "u32", 3000000000, 0, a + "(int n): 3000000000 does not fit int\nthe range is -2147483648 to 2147483647"},
		{"int n", "u32", uint(3000000000), 0, a + "(int n): 3000000000 does not fit int\nthe range is -2147483648 to 2147483647"},
		{"int n", "u32", 3e9, 0, a + "(int n): 3e+09 does not fit int\nthe range is -2147483648 to 2147483647"},
		{"int n", "u32", 1.5, 0, a + "(int n): 1.5 is no integer\ngive an integer"},
		{"unsigned int n", "u32", -1, 0, a + "(unsigned int n): -1 does not fit unsigned int\nthe range is 0 to 4294967295"},
		{"size_t n", "u64", -1, 0, a + "(size_t n): -1 does not fit size_t\nthe range is 0 to 18446744073709551615"},
		{"long long n", "u64", uint(math.MaxUint64), 0, a + "(long long n): 18446744073709551615 does not fit long long\nthe range is -9223372036854775808 to 9223372036854775807"},
		{"unsigned char n", "u8", 256, 0, a + "(unsigned char n): 256 does not fit unsigned char\nthe range is 0 to 255"},
		{"short n", "u16", 40000, 0, a + "(short n): 40000 does not fit short\nthe range is -32768 to 32767"},
		{"float *x", "u64", 7, 0, a + "(float *x): it is an address, 7 is a number\ngive a Tensor or a Buffer; nil is the null pointer"},
	} {
		p, err := declaredFunction(d, "__global__ void scale("+c.declared+") {}", c.ptx).pack("launch scale", []any{c.arg})
		if c.err != "" || err != nil {
			wantError(t, err, c.err)
			continue
		}
		wide := make([]byte, 8)
		copy(wide, p.buffer)
		if got := binary.LittleEndian.Uint64(wide); got != c.want {
			t.Errorf("%s = %v packs to %#x, want %#x", c.declared, c.arg, got, c.want)
		}
	}
}

// Compiled sources: extern "C", overloads, templates, typedefs, and the texts that a launch refuses with.
func TestLaunchChecksElements(t *testing.T) {
	if err := CompilerAvailable(); err != nil {
		t.Log("no NVRTC here")
		return
	}
	d := fresh(t, "h200")
	m, err := d.CompileCUDA(`#include <cuda_fp16.h>
typedef const __half *row;
extern "C" __global__ void scale(float *y, row x, float a, size_t n) { if (threadIdx.x < n) y[threadIdx.x] = a * __half2float(x[threadIdx.x]); }
__global__ void fill(float *y, float v) { y[threadIdx.x] = v; }
__global__ void fill(double *y, float v) { y[threadIdx.x] = v; }
template <typename T> __global__ void twice(T *y) { y[threadIdx.x] += y[threadIdx.x]; }
template __global__ void twice<int>(int *);
template __global__ void twice<__half>(__half *);
`)
	if err != nil {
		t.Fatal(err)
	}
	e := m.Entries()
	y, x, c := d.Zeros(F32, 4), d.FromAs(F16, []float64{1, 2, 3, 4}), Threads(4, 4)
	if err := e["scale"].Launch(c, y, x, 0.1, 4); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(y.Float32s()), fmt.Sprint([]float32{0.1, 0.2, 0.3, 0.4}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	const mend = "make a tensor of f32 of it, dev.FromAs(gpu.F32, t.Float64s(), …), or declare the parameter __half *; t.View(gpu.F32) gives the same bytes as f32"
	wantError(t, e["scale"].Launch(c, x, x, 0.1, 4), "launch scale: argument 1 (float *y): tensor f16 [4] has elements of f16, float * points to f32\n"+mend)
	wantError(t, e["fill_float_float"].Launch(c, x, 1.0), "launch fill: argument 1 (float*): tensor f16 [4] has elements of f16, float * points to f32\n"+mend)
	if err := e["fill_double_float"].Launch(c, d.Zeros(F64, 4), 1e-5); err != nil {
		t.Error(err)
	}
	if err := e["twice___half"].Launch(c, x); err != nil {
		t.Error(err)
	}
	wantError(t, e["twice_int"].Launch(c, x), "launch twice<int>: argument 1 (int *y): tensor f16 [4] has elements of f16, int * points to i32\n"+
		"make a tensor of i32 of it, dev.FromAs(gpu.I32, t.Float64s(), …), or declare the parameter __half *; t.View(gpu.I32) gives the same bytes as i32")
}
