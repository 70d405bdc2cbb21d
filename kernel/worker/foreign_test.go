package worker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"memwall/gpu"
)

const onePTX = "%%ptx\n.version 7.0\n.target sm_80\n.address_size 64\n.visible .entry one(.param .u64 p) {\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n" +
	"ld.param.u64 %rd1, [p];\nmov.u32 %r1, 1;\nst.global.u32 [%rd1], %r1;\nret;\n}"

// A %%ptx cell gives a Go variable an entry, and its errors name the cell's own lines.
func TestPTXCells(t *testing.T) {
	r := newRig(t)
	r.want(onePTX, "stdout: one: about 16 registers (16 to 16), no spills, 0 B shared (estimated by liveness); occupancy 100% at 256 threads a CTA, limited by warps (FORMULA)\n", "")
	if got, err := r.run("z := dev.Zeros(gpu.I32, 2)\none.Launch(gpu.Threads(1, 1), z)\nz.Ints()"); err != nil || !strings.HasSuffix(got, "|value: [1 0]") || !strings.Contains(got, "cell 1: one<<<1,1>>>") {
		t.Errorf("%q %+v", got, err)
	}
	r.want(strings.Replace(onePTX, "st.global.u32", "st.global.q32", 1), "", "gpu.Error: cell 3:10:1: st.global.q32: not supported by the virtual GPU\n    st.global.q32 [%rd1], %r1;\n    ^\nmodifier .q32 is unknown here")
	r.want("one.Name()", "value: one", "")
}

// A %%cuda cell: entries, instances of templates, overloads and variables become Go variables; warnings and errors name
// the cell's lines; a later launch that goes wrong does too.
func TestCUDACells(t *testing.T) {
	if err := gpu.CompilerAvailable(); err != nil {
		t.Log("the CUDA C++ compiler is not installed: cells of CUDA are not tested")
		return
	}
	r := newRig(t)
	got, err := r.run("%device t4\n%%cuda\n__constant__ float coeff[3] = {1, 2, 3};\n__device__ int counter;\n" +
		"extern \"C\" __global__ void scale(float *x, float a, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) x[i] = x[i] * a + coeff[i % 3];\n  atomicAdd(&counter, 1);\n}\n" +
		"template <typename T, int N> __global__ void add(T *x) { x[threadIdx.x] += N; }\ntemplate __global__ void add<float, 4>(float *);\ntemplate __global__ void add<double, 2>(double *);\n" +
		"__global__ void func(float *x) { int unused; x[threadIdx.x] *= 2; }\n")
	if err != nil || !strings.HasPrefix(got, "stdout: dev is virtual:t4 (T4 16 GB)\n|stderr: cell 1:13:38: warning: variable \"unused\" was declared but never referenced") ||
		!strings.Contains(got, "add_double_2 = add<double, 2>: ") || !strings.Contains(got, "func_ = func: ") || !strings.Contains(got, "\nscale: ") ||
		strings.Count(got, " registers, no spills, 0 B shared (cubin sm_75, NVRTC 12.9.") != 4 || !strings.Contains(got, "; occupancy 100% at 256 threads a CTA, limited by warps (FORMULA)\n") {
		t.Errorf("%s %+v", got, err)
	}
	r.want("scale.Name(), add_float_4.Name(), add_double_2.Name(), func_.Name()", "value: scale\n_Z3addIfLi4EEvPT_\n_Z3addIdLi2EEvPT_\n_Z4funcPf", "")
	got, err = r.run("x := dev.Arange(gpu.F32, 100)\ncoeff.CopyFrom([]float32{10, 20, 30})\nscale.Launch(gpu.Threads(100, 64), x, 2, 100)\nadd_float_4.Launch(gpu.Threads(32, 32), x)\n" +
		"func_.Launch(gpu.Threads(32, 32), x)\ncounter.Ints(), x.Float32s()[:3]")
	if err != nil || !strings.HasSuffix(got, "|value: [128]\n[28 52 76]") || !strings.Contains(got, "cell 1: add<float, 4>") {
		t.Errorf("%s %+v", got, err)
	}
	_, err = r.run("scale.Launch(gpu.Threads(1, 32), x, 2, 2000000)\nscale.Launch(gpu.Threads(200, 64), x, 2, 200)")
	if err == nil || !strings.Contains(strings.Join(err.Traceback, "\n"), "from cell 1:7: if (i < n) x[i] = x[i] * a + coeff[i % 3];") {
		t.Errorf("%+v", err)
	}
	r.want("scale.Launch(64, x, 2, 100)", "", "cell 5, 1:14: cannot use 64 (untyped int constant) as gpu.Config value in argument to scale.Launch\n    scale.Launch(64, x, 2, 100)\n                 ^\n"+
		"a launch begins with its shape: gpu.Threads(n, 256), or gpu.Config{Grid: gpu.Dim(64), CTA: gpu.Dim(256)}")
	r.want("coeff.Put(1)", "", "cell 6, 1:7: undefined: coeff.Put\n    coeff.Put(1)\n          ^\ntype *gpu.Tensor has no field or method Put")
	if got, err = r.run("%%cuda\n__device__ int type = 3;\n__global__ void copy() { atomicAdd(&type, 1); }"); err != nil ||
		!strings.HasPrefix(got, "stderr: copy is the cell's from here on, and hides Go's copy: give it another name there, or %reset\n|stdout: copy: ") {
		t.Errorf("%s %+v", got, err)
	}
	r.want("type_.Ints()", "value: [3]", "")
	r.want("%%cuda\n__global__ void bad(float *x) {\n  x[0] = y;\n}", "", "gpu.Error: cell 9:3:10: error: identifier \"y\" is undefined\n  x[0] = y;\n         ^")
	r.want("%%cuda -o x.cubin\n__global__ void bad() {}", "", "gpu.Error: nvrtc: cell 10: option \"-o\" is refused: it is not one of those that memwall passes on (-D, -U, -I, -include, -std, -use_fast_math, -ftz, -prec-div, -prec-sqrt, -fmad, -maxrregcount, -G, -w, -diag-suppress …)")
}

const racePTX = "%%ptx\n.version 7.0\n.target sm_80\n.address_size 64\n.visible .entry swap(.param .u64 p) {\n.reg .b64 %rd<4>;\n.reg .b32 %r<6>;\n.shared .b32 tile[64];\n" +
	"ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, tile;\nmad.lo.u32 %r3, %r1, 4, %r2;\nst.shared.u32 [%r3], %r1;\nBARRIER" +
	"xor.b32 %r4, %r1, 32;\nmad.lo.u32 %r4, %r4, 4, %r2;\nld.shared.u32 %r5, [%r4];\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r5;\nret;\n}"

// A %%sanitize cell shows what is wrong in its launches, in text and as a card, and says so where nothing is.
func TestSanitizeCells(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct{ barrier, want string }{
		{"", "sanitizer: 2 findings in 1 launch\ncell 1: swap, 1 CTA, all threads, EXECUTED\ncell 1: swap: race in shared memory between a write and a read, 256 hazards\n" +
			"write by CTA (0,0,0) warp 1 lane 0: st.shared.u32, PTX line 13\nread by CTA (0,0,0) warp 0 lane 0: ld.shared.u32, PTX line 16\n" +
			"address 0x80, tile + 128\n→ put __syncthreads() between the two\n" +
			"cell 1: swap: result depends on the order of warps in global memory: 63 words of\n  4 B\nwrite by CTA (0,0,0) warp 0 lane 0: st.global.u32, PTX line 19\n" +
			"address 0x7f0000001000, byte 0 of tensor i32 [64], parameter 1\nwith CTAs and warps in the grid's order it is 0x00000000, in the opposite order\n" +
			"    0x00000020\n→ mend the races above: this is what they do"},
		{"bar.sync 0;\n", "sanitizer: clean: 1 launch, nothing found\ncell 3: swap, 1 CTA, all threads, EXECUTED\nchecked: bounds, freed and uninitialised memory, alignment, races, barriers,\n  asynchronous copies"},
	} {
		if _, err := r.run(strings.Replace(racePTX, "BARRIER", c.barrier, 1)); err != nil {
			t.Fatal(err)
		}
		got, err := r.run("%%sanitize\ny := dev.Empty(gpu.I32, 64)\nswap.Launch(gpu.Threads(64, 64), y)\ny.Ints()[:2]")
		if err != nil || !strings.Contains(got, c.want) || c.barrier != "" && !strings.HasSuffix(got, "value: [32 33]") {
			t.Errorf("%q %+v\nwant %q", got, err, c.want)
		}
	}
}

// An interrupt ends the compiler too, and is told as one.
func TestInterruptedCompile(t *testing.T) {
	if err := gpu.CompilerAvailable(); err != nil {
		t.Log("the CUDA C++ compiler is not installed: no compilation is interrupted")
		return
	}
	r := newRig(t)
	r.want("0", "value: 0", "") // the worker is there
	var text strings.Builder
	fmt.Fprintf(&text, "%%%%cuda\n// not cached: %d\n", time.Now().UnixNano())
	for i := range 400 {
		fmt.Fprintf(&text, "extern \"C\" __global__ void k%d(float *x) {\n  float a[64];\n  for (int i = 0; i < 64; i++) a[i] = x[i];\n  for (int k = 0; k < 64; k++)\n"+
			"    for (int i = 0; i < 64; i++) a[i] = sinf(a[i]) * a[(i * 7 + k) & 63] + %d;\n  for (int i = 0; i < 64; i++) x[i] = a[i];\n}\n", i, i)
	}
	asked := make(chan time.Time, 1)
	time.AfterFunc(400*time.Millisecond, func() { asked <- time.Now(); r.Interrupt() })
	r.want(text.String(), "", "Interrupted: the cell was interrupted")
	if took := time.Since(<-asked); took > time.Second {
		t.Errorf("it took %v", took)
	}
	r.want("1", "value: 1", "")
}
