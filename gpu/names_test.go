package gpu

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Names as c++filt gives them, and the Go names made of them.
func TestNames(t *testing.T) {
	for _, c := range []struct{ mangled, plain, signature, identifier string }{
		{"scale", "scale", "scale", "scale"},
		{"_Z5scalePffi", "scale", "scale(float*, float, int)", "scale"},
		{"_Z5scaleIfLi4EEvPT_i", "scale<float, 4>", "void scale<float, 4>(float*, int)", "scale_float_4"},
		{"_ZN2ns5scaleIffEEvPT_S2_", "ns::scale<float, float>", "void ns::scale<float, float>(float*, float*)", "ns_scale_float_float"},
		{"func", "func", "func", "func_"}, {"gpu", "gpu", "gpu", "gpu_"}, {"_Z", "_Z", "_Z", "_Z"}, {"$odd$name", "$odd$name", "$odd$name", "odd_name"},
	} {
		if got := [3]string{plainName(c.mangled), signature(c.mangled), identifier(plainName(c.mangled))}; got != [3]string{c.plain, c.signature, c.identifier} {
			t.Errorf("%s: %q", c.mangled, got)
		}
	}
}

// A module's entries by Go name: an instance alone also has the template's name, overloads have their parameters'.
func TestEntries(t *testing.T) {
	d := fresh(t, "h200")
	text := ".version 7.0\n.target sm_80\n.address_size 64\n"
	for _, name := range []string{"_Z3oneIfEvPT_", "_Z3twoIfEvPT_", "_Z3twoIdEvPT_", "_Z4overPf", "_Z4overPd", "plain"} {
		text += ".visible .entry " + name + "() { ret; }\n"
	}
	m, err := d.LoadPTX(text)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, name := range slices.Sorted(maps.Keys(m.Entries())) {
		got += name + "=" + m.Entry(name).Name() + " "
	}
	if want := "one=_Z3oneIfEvPT_ one_float=_Z3oneIfEvPT_ over_double=_Z4overPd over_float=_Z4overPf plain=plain two_double=_Z3twoIdEvPT_ two_float=_Z3twoIfEvPT_ "; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for name, want := range map[string]string{"one": "_Z3oneIfEvPT_", "two<double>": "_Z3twoIdEvPT_", "over(float*)": "_Z4overPf", "_Z4overPd": "_Z4overPd"} {
		if f, err := m.Function(name); err != nil || f.Name() != want {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	if _, err := m.Function("two"); err == nil || !strings.HasPrefix(err.Error(), "module ptx has no function \"two\"\nit has ") {
		t.Errorf("two: %v", err)
	}
	for what, call := range map[string]func(){
		"module ptx has no entry \"x\"\nit has _Z3oneIfEvPT_, _Z3twoIdEvPT_, _Z3twoIfEvPT_, _Z4overPd, _Z4overPf, plain": func() { m.Entry("x") },
		"cell 77 made no module\nits number stands left of it, in brackets: run it again where the worker is a new one":  func() { CellModule(77) },
		"module ptx has no variable \"x\" whose type and extents are known\nmod.Global(name) gives the bytes of any":     func() { m.Variable("x") },
	} {
		func() {
			defer func() {
				if e := recover(); fmt.Sprint(e) != what {
					t.Errorf("%v, want %s", e, what)
				}
			}()
			call()
		}()
	}
}

func TestDeviceVariables(t *testing.T) {
	got := deviceVariables(`__constant__ float coeff[3] = {1, 2, 3};
	__device__ unsigned long long total;
static __device__ const int table[4][ 8 ] = {};
__device__ struct S s;
__constant__ __half h[2];
extern __shared__ float no[];
__device__ float f(float x) { return x; }
`)
	want := map[string]variable{"coeff": {F32, []int{3}}, "total": {U64, []int{1}}, "table": {I32, []int{4, 8}}, "h": {F16, []int{2}}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
