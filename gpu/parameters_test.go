package gpu

import (
	"slices"
	"strings"
	"testing"
)

// What the source calls a parameter: through comments, attributes, templates, several declarations of one name.
func TestDeclarations(t *testing.T) {
	const text = `
// __global__ void scale(int not, int this);
extern "C" __global__ void __launch_bounds__(256, 2) scale(float *__restrict__ x, const float a, int n = 3) { other(x, a); }
__global__ void nothing(void) {}
template <typename T, int N> __global__ void fill(T (&tile)[N], std::array<float, 4> v, /* count */ unsigned long long n) {}
__global__ void pair(int a);
__global__ void pair(float b, int c) {}
__global__ void mapped(const __grid_constant__ CUtensorMap map) {}
template <typename T> __global__ void twice(T *y, int) {}
template __global__ void twice<float>(float *, int);
`
	for name, want := range map[string][][]string{
		"scale":   {{"float *x", "const float a", "int n"}},
		"nothing": {nil},
		"fill":    {{"T (&tile)[N]", "std::array<float, 4> v", "unsigned long long n"}},
		"pair":    {{"int a"}, {"float b", "int c"}},
		"mapped":  {{"const CUtensorMap map"}},
		"twice":   {{"T *y", "int"}},
		"other":   nil,
	} {
		got := declarations(text, name)
		if !slices.EqualFunc(got, want, func(a, b []string) bool { return slices.Equal(a, b) }) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// An argument that is wrong is named as CUDA C++ declares it.
func TestArgumentsByName(t *testing.T) {
	if err := CompilerAvailable(); err != nil {
		t.Log("no NVRTC here")
		return
	}
	d := fresh(t, "h200")
	m, err := d.CompileCUDA(`__global__ void scale(float *x, float a, int n) { if (threadIdx.x < n) x[threadIdx.x] *= a; }
template <typename T> __global__ void fill(T *to, const T value, int) { to[threadIdx.x] = value; }
template __global__ void fill<double>(double *, double, int);`)
	if err != nil {
		t.Fatal(err)
	}
	scale, err := m.Function("scale")
	if err != nil {
		t.Fatal(err)
	}
	x := d.Zeros(F32, 4)
	wantError(t, scale.Launch(Threads(4, 4), x, int32(2), 4), "launch scale: argument 2 (float a): int32 is no floating-point number\nconvert it: float32(…)")
	wantError(t, scale.Launch(Threads(4, 4), x), "launch scale: 1 argument given, the function takes 3\nits parameters: float *x, float a, int n\ngive a value for argument 2 (float a)")
	fill, err := m.Function("fill")
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, fill.Launch(Threads(4, 4), d.Zeros(F64, 4)), "launch fill<double>: 1 argument given, the function takes 3\nits parameters: double *to, double value, int\ngive a value for argument 2 (double value)")
	if got, want := fill.String(), "fill<double>(double *to, double value, int): "; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s…", got, want)
	}
	_, err = m.Function("scael")
	wantError(t, err, "module cuda.ptx has no function \"scael\"\nit has fill<double>(double*, double, int), scale(float*, float, int)")
	if again, err := m.Function("fill<double>(double*, double, int)"); err != nil || again.Name() != fill.Name() {
		t.Errorf("by the name that the error gives: %v, %v", again, err)
	}
}
