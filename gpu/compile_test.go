package gpu

import (
	"strings"
	"testing"

	"memwall/gpu/internal/driver/conformance"
)

const scaleSource = `extern "C" __global__ void scale(float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
`

func TestCompileCUDA(t *testing.T) {
	if err := CompilerAvailable(); err != nil {
		t.Log("the CUDA C++ compiler is not installed: compiling is not tested")
		return
	}
	for _, profile := range []string{"h200", "t4"} {
		d := fresh(t, profile)
		m, err := d.CompileCUDA(scaleSource)
		if err != nil {
			t.Fatal(err)
		}
		f, err := m.Function("scale")
		if err != nil {
			t.Fatal(err)
		}
		if f.Registers() < 4 || f.Estimated() {
			t.Errorf("%s: %d registers, estimated %v", profile, f.Registers(), f.Estimated())
		}
		x := d.Arange(F32, 1000)
		if err := f.Launch(Threads(1000, 256), x, float32(0.1), 1000); err != nil || x.At(999) != float64(float32(999)*float32(0.1)) {
			t.Errorf("%s: %v, %v", profile, err, x.At(999))
		}
		err = f.Launch(Threads(2048, 256), x, 2, 2048)
		if e := asError(err); e == nil || e.Fault == nil || e.Fault.File != "cuda" || e.Fault.SourceLine != 3 {
			t.Errorf("%s: an access past the end is not found on line 3: %v", profile, err)
		}
	}
	d := fresh(t, "h200")
	_, err := d.CompileNamed("cell 7", strings.Replace(scaleSource, "x[i] *= a", "y[i] *= a", 1))
	if err == nil || !strings.Contains(err.Error(), "cell 7:3:") || !strings.Contains(err.Error(), `identifier "y" is undefined`) {
		t.Errorf("an undefined name gives: %v", err)
	}
	c, err := Compile("scale.cu", scaleSource, "sm_90")
	if err != nil || len(c.Functions) != 1 || c.Functions[0].Registers < 4 || c.Functions[0].Occupancy != 100 || !strings.Contains(c.PTX, "scale") {
		t.Errorf("Compile: %v, %+v", err, c)
	} else if text := c.String(); !strings.Contains(text, "scale") || !strings.Contains(text, "100%") {
		t.Errorf("Compile shows\n%s", text)
	}
}

func TestCheckPTX(t *testing.T) {
	defer CloseAll()
	if err := CheckPTX("good.ptx", conformance.PTX); err != nil {
		t.Error(err)
	}
	err := CheckPTX("bad.ptx", strings.Replace(conformance.PTX, "mul.f32 %f3", "mull.f32 %f3", 1))
	if err == nil || !strings.Contains(err.Error(), "bad.ptx:") || !strings.Contains(err.Error(), "mull") {
		t.Errorf("an unknown instruction gives: %v", err)
	}
}

// What the device refuses of compiled PTX is told at the line of CUDA C++ that it comes from.
func TestRefusedAtSource(t *testing.T) {
	if err := CompilerAvailable(); err != nil {
		t.Log("the CUDA C++ compiler is not installed: compiling is not tested")
		return
	}
	_, err := fresh(t, "h200").CompileNamed("cell 7", "__device__ int fib(int n) {\n  return n < 2 ? n : fib(n - 1) + fib(n - 2);\n}\n__global__ void count(int *x, int n) { x[0] = fib(n); }\n")
	if e := asError(err); e == nil || e.What != "cell 7:2: call.uni: not supported by the virtual GPU: recursion count → fib → fib" ||
		!strings.HasPrefix(e.Where, "  return n < 2 ? n : fib(n - 1) + fib(n - 2);\nin its PTX, line ") || !strings.HasSuffix(e.Where, ": call.uni (retval0),") || e.How != "write it as a loop" {
		t.Errorf("%v", err)
	}
}
