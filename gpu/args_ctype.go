package gpu

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// cType is the C++ type of a parameter; the zero value where it is not known.
func (p *packer) cType(i int) cType {
	if p.types == nil {
		return cType{}
	}
	return p.types[i]
}

// checkElements refuses a tensor whose elements are not those that the parameter's C++ type points to: PTX sees an address
// only, and the launch would read, say, two halves as one float.
func (p *packer) checkElements(i int, t *Tensor) error {
	c := p.cType(i)
	e, ok := c.known()
	if !ok {
		return nil
	}
	if !c.pointer {
		if e.address || p.params[i].Size != 8 { // a smaller one is refused by its size
			return nil
		}
		return p.fail(i, "give a number, or declare the parameter "+cPointerTo(t.dtype), "a tensor %s is an address, %s is a number", t.describe(), c.text)
	}
	if e.takes(t.dtype) {
		return nil
	}
	want := e.of[0]
	how := fmt.Sprintf("make a tensor of %s of it, dev.FromAs(gpu.%s, t.Float64s(), …), or declare the parameter %s; t.View(gpu.%s) gives the same bytes as %s",
		want, constantOf(want), cPointerTo(t.dtype), constantOf(want), want)
	return p.fail(i, how, "tensor %s has elements of %s, %s points to %s", t.describe(), t.dtype, c.text, want)
}

// constantOf is the Go name of an element type: "F32".
func constantOf(t DType) string { return strings.ToUpper(t.String()) }

// cPointers are how CUDA C++ declares a pointer to elements of a type.
var cPointers = map[DType]string{
	F64: "double *", F32: "float *", F16: "__half *", BF16: "__nv_bfloat16 *", E4M3: "__nv_fp8_e4m3 *", E5M2: "__nv_fp8_e5m2 *",
	I64: "long long *", I32: "int *", I16: "short *", I8: "signed char *", U64: "unsigned long long *", U32: "unsigned *", U16: "unsigned short *", U8: "unsigned char *",
}

func cPointerTo(t DType) string {
	if text, ok := cPointers[t]; ok {
		return text
	}
	return "const unsigned char *" // blocks
}

// canBeNumber says whether v is something that would be written as a number.
func canBeNumber(v reflect.Value) bool {
	return v.IsValid() && (v.CanInt() || v.CanUint() || v.CanFloat() || v.Kind() == reflect.Bool)
}

// putAs writes an int, a uint or a float64 as the parameter's C++ type, by C++'s own conversion where it keeps the value: a
// float rounds, an integer must be in range.
func (p *packer) putAs(i int, c cType, t DType, v reflect.Value) error {
	if t.Float() {
		return p.putRounded(i, c, t, floatOf(v))
	}
	how := rangeOf(t)
	switch {
	case v.CanFloat():
		f := v.Float()
		low, over := t.limits()
		if f != math.Trunc(f) || math.IsNaN(f) {
			return p.fail(i, "give an integer", "%v is no integer", f)
		}
		if f < low || f >= over {
			return p.fail(i, how, "%v does not fit %s", f, c.text)
		}
		if t == U64 && f >= 1<<63 {
			putInteger(p.at(i), 8, uint64(f))
			return nil
		}
		putInteger(p.at(i), t.Bytes(), uint64(int64(f)))
	case v.CanUint():
		if n := v.Uint(); n > uint64(math.MaxUint64)>>(64-8*t.Bytes())>>signBit(t) {
			return p.fail(i, how, "%d does not fit %s", n, c.text)
		}
		putInteger(p.at(i), t.Bytes(), v.Uint())
	default:
		n := v.Int()
		if bits := 8*t.Bytes() - signBit(t); signBit(t) == 0 && n < 0 || bits < 63 && (n >= 1<<bits || n < -1<<bits) {
			return p.fail(i, how, "%d does not fit %s", n, c.text)
		}
		putInteger(p.at(i), t.Bytes(), uint64(n))
	}
	return nil
}

// signBit is how many bits an integer type has for the sign.
func signBit(t DType) int {
	if dtypes[t].signed {
		return 1
	}
	return 0
}

func rangeOf(t DType) string {
	switch t {
	case I64:
		return "the range is -9223372036854775808 to 9223372036854775807"
	case U64:
		return "the range is 0 to 18446744073709551615"
	}
	low, over := t.limits()
	return fmt.Sprintf("the range is %.0f to %.0f", low, over-1)
}

// putRounded writes a float rounded to the type; a value becomes neither infinite nor zero by that.
func (p *packer) putRounded(i int, c cType, t DType, v float64) error {
	dst := p.at(i)
	if err := t.put(dst, v); err != nil {
		return p.fail(i, whatTypesHold, "%v", err)
	}
	if back := t.get(dst); math.IsInf(back, 0) && !math.IsInf(v, 0) || back == 0 && v != 0 {
		return p.fail(i, fmt.Sprintf("give a value that %s holds, or declare the parameter double", c.text), "%v does not fit %s, it would become %v", v, c.text, back)
	}
	return nil
}
