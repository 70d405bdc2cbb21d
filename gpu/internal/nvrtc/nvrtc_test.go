package nvrtc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"memwall/install/installtest"
)

func TestMain(m *testing.M) {
	ChildMain()
	installtest.Fetch()
	os.Exit(m.Run())
}

// present reports whether the compiler is there, and says in one line where not; it gives the test a cache of its own.
func present(t *testing.T) bool {
	t.Helper()
	install, err := find()
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		t.Logf("not checked: %s", first)
		return false
	}
	t.Setenv("MEMWALL_NVRTC", install.library)
	t.Setenv("MEMWALL_CACHE", t.TempDir())
	return true
}

const scaleSource = `#include <cuda_fp16.h>
static __device__ __forceinline__ float twice(float v) {
  return v * 2 + 1;
}
extern "C" __global__ void scale(float *x, float a, __half *h, int n) {
  __shared__ float s[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x % 128] = a;
  __syncthreads();
  if (i < n) x[i] = twice(x[i]) * s[(i + 1) % 128] + __half2float(h[i]);
}
`

func TestCompile(t *testing.T) {
	if !present(t) {
		return
	}
	r, err := Compile(t.Context(), Source{Name: "scale.cu", Text: scaleSource, Arch: "sm_80"})
	if err != nil {
		t.Fatal(err)
	}
	f := r.Functions["scale"]
	if f.SharedBytes != 512 || f.Registers < 6 || f.Registers > 40 || f.SpillBytes != 0 || f.LocalBytes != 0 {
		t.Errorf("facts %+v", f)
	}
	if want := "cubin sm_80, NVRTC " + r.Version; f.Source != want || !strings.HasPrefix(r.Version, "12.") {
		t.Errorf("source %q, want %q", f.Source, want)
	}
	if !strings.Contains(r.PTX, ".target sm_80") || !strings.Contains(r.PTX, "\t.file\t1 \"scale.cu\"") {
		t.Errorf("PTX lacks its target or the base name of its file:\n%s", r.PTX)
	}
	if strings.Contains(r.PTX, "inlined_at") || strings.Contains(r.PTX, ".debug_str") || !strings.Contains(r.PTX, ".loc\t1 3 ") {
		t.Errorf("line information is not the source's own:\n%s", r.PTX)
	}
	again, err := Compile(t.Context(), Source{Name: "scale.cu", Text: scaleSource, Arch: "sm_80"})
	if err != nil || !again.Cached || again.PTX != r.PTX || again.Functions["scale"] != f {
		t.Errorf("the second time is not the first from the cache: %v", err)
	}
}

// TestSharedBytes holds the cubin's static shared memory against the source's own sum, on architectures that reserve some of
// it and on those that don't.
func TestSharedBytes(t *testing.T) {
	if !present(t) {
		return
	}
	source := `extern "C" __global__ void fixed(float *x) {
  __shared__ float s[1056];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[1055 - threadIdx.x];
}
extern "C" __global__ void dynamic(float *x) {
  extern __shared__ float s[];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[31 - threadIdx.x];
}
`
	for _, arch := range []string{"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"} {
		r, err := Compile(t.Context(), Source{Text: source, Arch: arch})
		if err != nil {
			t.Fatal(err)
		}
		if f := r.Functions["fixed"].SharedBytes; f != 4224 {
			t.Errorf("%s: fixed has %d B, want 4224", arch, f)
		}
		if f := r.Functions["dynamic"].SharedBytes; f != 0 {
			t.Errorf("%s: dynamic has %d B, want 0", arch, f)
		}
	}
}

func TestSpills(t *testing.T) {
	if !present(t) {
		return
	}
	source := `extern "C" __global__ void __launch_bounds__(1024, 2) spill(float *x, int n) {
  float v[64];
  for (int i = 0; i < 64; i++) v[i] = x[i * 1024 + threadIdx.x];
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 64; i++) v[i] = v[i] * v[(i + 7) % 64];
  for (int i = 0; i < 64; i++) x[i * 1024 + threadIdx.x] = v[i];
}
extern "C" __global__ void plain(float *x) { x[threadIdx.x] = 1; }
`
	r, err := Compile(t.Context(), Source{Text: source, Arch: "sm_90"})
	if err != nil {
		t.Fatal(err)
	}
	// 64 live values in 32 registers: at least 32 must go to the stack and come back.
	if f := r.Functions["spill"]; f.Registers != 32 || f.SpillBytes < 2*32*4 || f.LocalBytes < 32*4 {
		t.Errorf("spill %+v", f)
	}
	if f := r.Functions["plain"]; f.SpillBytes != 0 || f.LocalBytes != 0 || f.Registers == 0 {
		t.Errorf("plain %+v", f)
	}
}

func TestCompileErrors(t *testing.T) {
	if !present(t) {
		return
	}
	for _, c := range []struct{ name, text, want string }{
		{"unknown name", "extern \"C\" __global__ void scale(float *x, int n) {\n\tx[0] = foo * 2;\n\tint unused;\n}\n",
			"cell 7:2:9: error: identifier \"foo\" is undefined\n\tx[0] = foo * 2;\n\t       ^"},
		{"missing semicolon", "__global__ void f(int *x) {\n  x[0] = 1\n}\n", "cell 7:3:1: error: expected a \";\"\n}\n^"},
		{"template", "template <class T> __device__ T twice(T v) { return v.q; }\n__global__ void f(float *x) { x[0] = twice(x[0]); }\n",
			"cell 7:1:53: error: expression must have class type but it has type \"float\"\ndetected during instantiation of \"T twice(T) [with T=float]\" at line 2\n" +
				"template <class T> __device__ T twice(T v) { return v.q; }\n                                                    ^"},
		{"no such header", "#include <nothing.h>\n", "cell 7:1:21: error: cannot open source file \"nothing.h\"\n#include <nothing.h>\n                    ^\ngive the folder of nothing.h with -I, as an option behind %%cuda or of CompileCUDA"},
		{"inline assembly", "__global__ void f(int *x) {\n  int y = x[0];\n  asm volatile(\"bogus.s32 %0, 1;\" : \"=r\"(y));\n  x[1] = y;\n}\n",
			"cell 7:3: error: assembler: Not a name of any known instruction: 'bogus'\n  asm volatile(\"bogus.s32 %0, 1;\" : \"=r\"(y));"},
		{"unknown type", "extern \"C\" __global__ void k(half *x, int n) { x[0] = n; }\n",
			"cell 7:1:30: error: identifier \"half\" is undefined\nextern \"C\" __global__ void k(half *x, int n) { x[0] = n; }\n                             ^\n#include <cuda_fp16.h>"},
		{"unknown type further down", "__global__ void l(int *x,\n                  uint8_t *y) { x[0] = y[0]; }\n",
			"cell 7:2:19: error: identifier \"uint8_t\" is undefined\n                  uint8_t *y) { x[0] = y[0]; }\n                  ^\n" +
				"#include <cuda/std/cstdint> and write cuda::std::uint8_t, or use char, short, int and long long"},
		{"unknown constant", "__global__ void m(int *x) { x[0] = FLT_MAX; }\n",
			"cell 7:1:36: error: identifier \"FLT_MAX\" is undefined\n__global__ void m(int *x) { x[0] = FLT_MAX; }\n                                   ^\n" +
				"write 3.402823466e38f, or cuda::std::numeric_limits<float>::max() with #include <cuda/std/limits>"},
		{"container", "__global__ void k(std::vector<float> x) { cudaMalloc(0, 4); }\n",
			"cell 7:1:24: error: namespace \"std\" has no member \"vector\"\n__global__ void k(std::vector<float> x) { cudaMalloc(0, 4); }\n                       ^\n" +
				"the standard library is for host code; much of it is in cuda::std, by #include <cuda/std/…>; containers that grow are not"},
		{"host call", "__global__ void k(float *x) { cudaMalloc(&x, 4); }\n",
			"cell 7:1:31: error: identifier \"cudaMalloc\" is undefined\n__global__ void k(float *x) { cudaMalloc(&x, 4); }\n                              ^\n" +
				"that is host code, which is written in Go: dev.Zeros, dev.From and dev.Randn make tensors, x.Float32s() reads them, f.Launch launches and waits"},
		{"host variable", "int counter;\n__global__ void k() { counter = 1; }\n",
			"cell 7:1:5: error: A namespace scope variable without memory space annotations (__device__/__constant__/__shared__/__managed__) is one for the host, and a cell's CUDA C++ runs on the device\n" +
				"int counter;\n    ^\nmark it __device__ or __constant__: it becomes a Go variable"},
		{"host function", "float half(float x) { return x / 2; }\n__global__ void f(float *x) { *x = half(*x); }\n",
			"cell 7:1:7: error: A function without execution space annotations (__host__/__device__/__global__) is a function for the host, and a cell's CUDA C++ runs on the device\n" +
				"float half(float x) { return x / 2; }\n      ^\n" +
				"mark it __device__, or __global__ to launch it; what the host does is written in Go: f.Launch(gpu.Threads(n, 256), x, n)"},
		{"large tile", "__global__ void one(int *x) { *x = 1; }\n__global__ void tile(float *x) {\n  __shared__ float s[15000];\n  s[threadIdx.x] = x[threadIdx.x];\n  __syncthreads();\n  *x = s[threadIdx.x ^ 1];\n}\n",
			"cell 7:2: error: 60,000 B of static shared memory, a CTA has 49,152 B\n__global__ void tile(float *x) {\n" +
				"declare it extern __shared__ float s[], and give the bytes of a launch as gpu.Config{Shared: …}: that may take all that an SM lets a CTA have"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(t.Context(), Source{Name: "cell 7", Text: c.text, Arch: "sm_80"})
			var compileError *CompileError
			if !errors.As(err, &compileError) {
				t.Fatalf("error %v", err)
			}
			if err.Error() != c.want {
				t.Errorf("got\n%s\nwant\n%s\nlog\n%s", err, c.want, compileError.Log)
			}
		})
	}
}

// The architectures that there are come from the library.
func TestUnknownArch(t *testing.T) {
	if !present(t) {
		return
	}
	_, err := Compile(t.Context(), Source{Name: "k.cu", Text: "__global__ void f() {}", Arch: "sm_99"})
	if err == nil || !strings.HasPrefix(err.Error(), "nvrtc: k.cu: NVRTC 12.9 does not compile for sm_99\nit does for sm_50, ") ||
		!strings.HasSuffix(err.Error(), "sm_120, sm_121; an a behind 90 or more adds what only that one has") {
		t.Errorf("%v", err)
	}
	if _, err := Compile(t.Context(), Source{Name: "k.cu", Text: "__global__ void f() {}", Arch: "sm_90", Options: []string{"-std=c++99"}}); err == nil || strings.Contains(err.Error(), "sm_50") {
		t.Errorf("another option: %v", err)
	}
}

func TestWarnings(t *testing.T) {
	if !present(t) {
		return
	}
	text := "extern \"C\" __global__ void f(float *x) {\n  int unused;\n  x[0] = 1;\n}\n"
	for range 2 { // the second time from the cache
		r, err := Compile(t.Context(), Source{Name: "w.cu", Text: text, Arch: "sm_80"})
		if err != nil {
			t.Fatal(err)
		}
		want := "w.cu:2:7: warning: variable \"unused\" was declared but never referenced [#177-D]\n  int unused;\n      ^"
		if len(r.Log) != 1 || r.Log[0].String() != want {
			t.Errorf("got %v, want %s", r.Log, want)
		}
	}
	if r, err := Compile(t.Context(), Source{Name: "w.cu", Text: text, Arch: "sm_80", Options: []string{"-w"}}); err != nil || len(r.Log) != 0 {
		t.Errorf("with -w: %v, %v", r, err)
	}
}

// endless has instances that double with each level: it would compile for hours.
const endless = `template <int A, int B> __device__ int f(int x) { if constexpr (A == 0) return x + B; else return f<A - 1, B * 2>(x) + f<A - 1, B * 2 + 1>(x * 3); }
__global__ void g(int *x) { x[0] = f<22, 1>(x[1]); }
`

func TestLimits(t *testing.T) {
	if !present(t) {
		return
	}
	start := time.Now()
	_, err := Compile(t.Context(), Source{Name: "endless.cu", Text: endless, Arch: "sm_80", Timeout: time.Second, Memory: 8 << 30})
	want := "nvrtc: endless.cu: compiling took more than 1s and was stopped\nmake the source smaller (fewer template instances, less unrolling)"
	if err == nil || err.Error() != want || time.Since(start) > 4*time.Second {
		t.Errorf("time limit after %v: %v", time.Since(start), err)
	}
	_, err = Compile(t.Context(), Source{Name: "greedy.cu", Text: endless, Arch: "sm_80", Memory: 256 << 20})
	want = "nvrtc: greedy.cu: the compiler needed more than its 256 MiB of memory and was stopped\nmake the source smaller (fewer template instances, less unrolling)"
	if err == nil || err.Error() != want {
		t.Errorf("memory limit: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start = time.Now()
	_, err = Compile(ctx, Source{Name: "endless.cu", Text: endless, Arch: "sm_80"})
	if err == nil || err.Error() != "nvrtc: endless.cu: interrupted" || time.Since(start) > 3*time.Second {
		t.Errorf("interrupt after %v: %v", time.Since(start), err)
	}
}

func TestHeadersOfTheUser(t *testing.T) {
	if !present(t) {
		return
	}
	folder := t.TempDir()
	t.Chdir(folder)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := "#include \"value.h\"\nextern \"C\" __global__ void f(int *x) { x[0] = VALUE; }\n"
	for _, value := range []string{"12345", "54321"} { // a changed header must not give the cached result
		write("value.h", "#define VALUE "+value+"\n")
		r, err := Compile(t.Context(), Source{Text: text, Arch: "compute_80"})
		if err != nil || !strings.Contains(r.PTX, value) || r.Cubin != nil || r.Functions != nil {
			t.Fatalf("value %s: %v", value, err)
		}
	}
	if err := os.Mkdir("sub", 0o755); err != nil {
		t.Fatal(err)
	}
	write("sub/other.h", "#define VALUE 777\n")
	r, err := Compile(t.Context(), Source{Text: strings.ReplaceAll(text, "value.h", "other.h"), Arch: "compute_80", Options: []string{"-I", "sub"}})
	if err != nil || !strings.Contains(r.PTX, "777") {
		t.Fatal(err)
	}
}

// TestHeadersOfTheWheels compiles what cells include most.
func TestHeadersOfTheWheels(t *testing.T) {
	if !present(t) {
		return
	}
	for header, body := range map[string]string{
		"cuda_fp16.h": "x[0] = __half2float(__float2half(x[1]));", "cuda_bf16.h": "x[0] = __bfloat162float(__float2bfloat16(x[1]));",
		"mma.h":                "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f; nvcuda::wmma::fill_fragment(f, 1.0f); nvcuda::wmma::store_matrix_sync(x, f, 16, nvcuda::wmma::mem_row_major);",
		"cooperative_groups.h": "auto b = cooperative_groups::this_thread_block(); b.sync(); x[b.thread_rank()] = 1;",
		"cuda/std/limits":      "x[0] = cuda::std::numeric_limits<float>::max();",
	} {
		if install, err := find(); header == "mma.h" && (err != nil || !withinHeaders(install.headers, "crt/mma.h")) {
			t.Log("mma.h is not compiled: its crt/mma.h comes with nvidia-cuda-nvcc-cu12, which is not installed")
			continue
		}
		text := "#include <" + header + ">\nextern \"C\" __global__ void f(float *x) { " + body + " }\n"
		r, err := Compile(t.Context(), Source{Name: "cell 7", Text: text, Arch: "sm_80"})
		if err != nil {
			t.Errorf("%s: %v", header, err)
			continue
		}
		if strings.Contains(r.PTX, "site-packages") || !strings.Contains(r.PTX, "\"cell 7\"") || r.Functions["f"].Registers == 0 {
			t.Errorf("%s: the PTX names a machine's folders, or lacks the source's name", header)
		}
	}
}

// cooperative_groups.h without the parts of libcu++ that it includes gives the same code. What uses them has them.
func TestLightGroups(t *testing.T) {
	if !present(t) {
		return
	}
	const source = `#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void sums(float *x, int n) {
  __shared__ float tile[256];
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto quad = cg::tiled_partition<4>(warp);
  cg::memcpy_async(block, tile, x, sizeof(float) * 256);
  cg::wait(block);
  float v = tile[block.thread_rank()];
  v = cg::reduce(warp, v, cg::plus<float>()) + quad.shfl_xor(v, 1) + cg::inclusive_scan(warp, v);
  if (v > 0) { auto some = cg::coalesced_threads(); v += some.size() + cg::reduce(some, (int)v, cg::greater<int>()); }
  auto parts = cg::labeled_partition(warp, (int)v & 3);
  v += parts.num_threads() + cg::binary_partition(warp, v > 2).size();
  grid.sync();
  cg::this_cluster().sync();
  x[grid.thread_rank()] = v + cg::this_cluster().block_rank();
}
`
	var code []string
	for _, text := range []string{source, source + "// cuda::atomic\n"} {
		r, err := Compile(t.Context(), Source{Name: "cell 7", Text: text, Arch: "sm_90"})
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.SplitSeq(r.PTX, "\n") {
			if !strings.Contains(line, ".loc") && !strings.Contains(line, ".file") && !strings.HasPrefix(line, "$") {
				lines = append(lines, line)
			}
		}
		at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, ".entry sums(") })
		end := slices.Index(lines[at:], "}")
		code = append(code, strings.Join(lines[at:at+end], "\n"))
	}
	if code[0] != code[1] || !strings.Contains(code[0], "cp.async") {
		t.Errorf("light:\n%s\nwhole:\n%s", code[0], code[1])
	}
	for text, want := range map[string]bool{
		"#include <cooperative_groups.h>": true, "#include <mma.h>": false, "#include <cooperative_groups.h>\n#include <cuda/atomic>": false,
		"#include <cooperative_groups.h>\ncuda::std::array<int, 4> a;": false, "#include <cooperative_groups.h>\n#include \"mine.h\"": false,
		"#include <cooperative_groups.h>\n#include \"given.h\"": true,
	} {
		if got := lightGroups(Source{Text: text, Headers: map[string]string{"given.h": "int x;"}}); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestOptionsReachTheCompiler checks what options do by their effect on the PTX.
func TestOptionsReachTheCompiler(t *testing.T) {
	if !present(t) {
		return
	}
	text := "extern \"C\" __global__ void f(float *x) { x[0] = sinf(x[1]) / x[2] + N; }\n"
	for options, want := range map[string]string{
		"-DN=4 -use_fast_math": "sin.approx.ftz.f32", "-D N=4": "div.rn.f32", "-DN=4 --ftz=true --prec-div=false": "div.full.ftz.f32",
		"-DN=4 -maxrregcount=32": ".entry f", "-DN=4 -lineinfo": ".loc", "-DN=4 -G": ".debug_info", "-DN=4 -std=c++20": ".entry f",
	} {
		r, err := Compile(t.Context(), Source{Text: text, Arch: "sm_80", Options: strings.Fields(options)})
		if err != nil {
			t.Errorf("%s: %v", options, err)
		} else if !strings.Contains(r.PTX, want) {
			t.Errorf("%s: no %q in the PTX", options, want)
		}
	}
}

// TestHostileIncludes reads files that never end.
func TestHostileIncludes(t *testing.T) {
	if !present(t) || runtime.GOOS != "linux" {
		return
	}
	for _, file := range []string{"/dev/zero", "/dev/stdin", "/proc/self/mem"} {
		start := time.Now()
		r, err := Compile(t.Context(), Source{Name: "k.cu", Text: "#include \"" + file + "\"\n", Arch: "sm_80", Timeout: 2 * time.Second, Memory: 256 << 20})
		// A file that cannot be read is an error or an empty one.
		if err == nil && (file == "/dev/zero" || len(r.Functions) > 0) || time.Since(start) > 6*time.Second {
			t.Errorf("%s after %v: %v", file, time.Since(start), err)
		}
	}
}

// TestOrphan ends the parent's side of the pipe while the child compiles something endless: the child must go, too.
func TestOrphan(t *testing.T) {
	if !present(t) {
		return
	}
	install, err := find()
	if err != nil {
		t.Fatal(err)
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(executable)
	cmd.Env = append(os.Environ(), childVariable+"="+install.library)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(in).Encode(request{Name: "k.cu", Text: endless, Options: []string{"--gpu-architecture=sm_80"}}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	start := time.Now()
	in.Close()
	err = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 3 || time.Since(start) > 3*time.Second {
		t.Errorf("exit %d after %v: %v", code, time.Since(start), err)
	}
}

// TestTogether compiles several sources at once.
func TestTogether(t *testing.T) {
	if !present(t) {
		return
	}
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			r, err := Compile(t.Context(), Source{Text: fmt.Sprintf("extern \"C\" __global__ void f%d(int *x) { x[0] = %d; }\n", i, 1000+i), Arch: "sm_80"})
			if err != nil || r.Functions[fmt.Sprintf("f%d", i)].Registers == 0 || !strings.Contains(r.PTX, fmt.Sprint(1000+i)) {
				t.Errorf("source %d: %v", i, err)
			}
		})
	}
	group.Wait()
}

// BenchmarkCompile is a cell's CUDA kernel from text to PTX, cubin and facts, without and with the cache.
func BenchmarkCompile(b *testing.B) {
	install, err := find()
	if err != nil {
		b.Logf("not measured: %v", err)
		return
	}
	b.Setenv("MEMWALL_NVRTC", install.library)
	b.Setenv("MEMWALL_CACHE", b.TempDir())
	n := 0
	for _, arch := range []string{"sm_80", "compute_80"} {
		b.Run(arch, func(b *testing.B) {
			for b.Loop() {
				n++
				if _, err := Compile(b.Context(), Source{Text: fmt.Sprintf("%s// %d\n", scaleSource, n), Arch: arch}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("cached", func(b *testing.B) {
		for b.Loop() {
			if _, err := Compile(b.Context(), Source{Text: scaleSource, Arch: "sm_80"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
