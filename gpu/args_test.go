package gpu

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"memwall/gpu/internal/driver"
)

// entry is a function that exists only as its parameters.
type entry struct {
	driver.Function
	params []driver.Param
}

func (e entry) Name() string           { return "scale" }
func (e entry) Params() []driver.Param { return e.params }

// param places a parameter of a PTX type behind those before it.
func params(types ...string) []driver.Param {
	var out []driver.Param
	offset := 0
	for i, t := range types {
		q := driver.Param{Name: "scale_param_" + string(rune('0'+i)), Type: t, Size: typeBytes(t)}
		switch t {
		case "ptr":
			q.Type, q.Size, q.Pointer = "u64", 8, true
		case "struct":
			q.Type, q.Size = "b8", 12
		case "half":
			q.Type, q.Size = "b8", 2
		}
		q.Align = q.Size
		if t == "struct" {
			q.Align = 4
		}
		offset = (offset + q.Align - 1) / q.Align * q.Align
		q.Offset = offset
		offset += q.Size
		out = append(out, q)
	}
	return out
}

func packOne(types []string, args ...any) ([]byte, error) {
	d := &Device{name: "virtual:h200", live: map[driver.Address]*memoryState{}}
	f := &Function{module: &Module{dev: d}, f: entry{params: params(types...)}}
	p, err := f.pack("launch scale", args)
	if err != nil {
		return nil, err
	}
	return p.buffer, nil
}

func TestPackNumbers(t *testing.T) {
	for _, c := range []struct {
		ptx  string
		arg  any
		want uint64 // the parameter's bits
	}{
		{"u32", 7, 7}, {"u32", -1, 0xffffffff}, {"u32", 1<<32 - 1, 0xffffffff}, {"u32", 8.0, 8}, {"u32", int32(-2), 0xfffffffe},
		{"u32", uint32(5), 5}, {"s32", -5, 0xfffffffb}, {"u64", -1, math.MaxUint64}, {"u64", uint(math.MaxUint64), math.MaxUint64},
		{"u64", int64(-3), math.MaxUint64 - 2}, {"u64", 1e15, 1e15}, {"u16", 65535, 65535}, {"u16", -32768, 32768}, {"u8", 255, 255},
		{"u8", true, 1}, {"s8", -128, 128}, {"b32", 7, 7}, {"b32", float32(1), 0x3f800000}, {"b32", uint32(9), 9},
		{"f32", 2, 0x40000000}, {"f32", 0.5, 0x3f000000}, {"f32", float32(0.1), uint64(math.Float32bits(0.1))}, {"f32", 1 << 24, 0x4b800000},
		{"f32", math.Inf(-1), 0xff800000}, {"f64", 0.1, math.Float64bits(0.1)}, {"f64", 3, math.Float64bits(3)}, {"f64", 1 << 53, math.Float64bits(1 << 53)},
		{"f16", 1.5, 0x3e00}, {"f16", -2, 0xc000}, {"bf16", 1.5, 0x3fc0}, {"half", uint16(0x3c00), 0x3c00}, {"ptr", nil, 0}, {"ptr", uint64(4096), 4096},
	} {
		got, err := packOne([]string{c.ptx}, c.arg)
		if err != nil {
			t.Errorf("%T %v as .%s: %v", c.arg, c.arg, c.ptx, err)
			continue
		}
		wide := make([]byte, 8)
		copy(wide, got)
		if bits := binary.LittleEndian.Uint64(wide); bits != c.want {
			t.Errorf("%T %v as .%s packs to %#x, want %#x", c.arg, c.arg, c.ptx, bits, c.want)
		}
	}
	if got, err := packOne([]string{"f32"}, math.NaN()); err != nil || !math.IsNaN(float64(math.Float32frombits(binary.LittleEndian.Uint32(got)))) {
		t.Errorf("NaN as .f32: % x, %v", got, err)
	}
}

func TestPackLayout(t *testing.T) {
	got, err := packOne([]string{"u8", "u64", "half", "struct", "f32"}, 1, 2, uint16(3), []byte("twelve bytes"), 1)
	if err != nil {
		t.Fatal(err)
	}
	want := "\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00twelve bytes\x00\x00\x80\x3f"
	if string(got) != want {
		t.Errorf("packed %q\nwant   %q", got, want)
	}
}

func TestPackErrors(t *testing.T) {
	type named float32
	for _, c := range []struct {
		types []string
		args  []any
		want  string
	}{
		{[]string{"ptr", "f32", "u32"}, []any{nil, 1}, "launch scale: 2 arguments given, the function takes 3\n" +
			"its parameters: .u64, .f32, .u32\ngive a value for argument 3 (.u32)"},
		{[]string{"u32"}, []any{1, 2}, "launch scale: 2 arguments given, the function takes 1\nits parameters: .u32\nleave out the last 1"},
		{nil, []any{1}, "launch scale: 1 argument given, the function takes 0\nleave out the last 1"},
		{[]string{"u32"}, []any{1 << 32}, "launch scale: argument 1 (.u32): 4294967296 does not fit 32 bits\nthe range is -2147483648 to 4294967295"},
		{[]string{"u8"}, []any{-129}, "launch scale: argument 1 (.u8): -129 does not fit 8 bits\nthe range is -128 to 255"},
		{[]string{"u32"}, []any{1.5}, "launch scale: argument 1 (.u32): 1.5 is no integer\ngive an integer"},
		{[]string{"u32"}, []any{math.NaN()}, "launch scale: argument 1 (.u32): NaN is no integer\ngive an integer"},
		{[]string{"u64"}, []any{1e19}, "launch scale: argument 1 (.u64): 1e+19 is no integer\ngive an integer"},
		{[]string{"f32"}, []any{0.1}, "launch scale: argument 1 (.f32): 0.1 is not exact in f32, which holds 0.100000001\nround it: float32(0.1)"},
		{[]string{"f32"}, []any{1<<24 + 1}, "launch scale: argument 1 (.f32): 16777217 is not exact in f32, which holds 16777216\nround it: float32(16777217)"},
		{[]string{"f32"}, []any{1e300}, "launch scale: argument 1 (.f32): 1e+300 is not exact in f32, which holds +Inf\nround it: float32(1e+300)"},
		{[]string{"f64"}, []any{math.MaxInt64}, "launch scale: argument 1 (.f64): 9223372036854775807 is not exact in f64, which holds 9.22337204e+18\nround it yourself to a value that the type holds"},
		{[]string{"f16"}, []any{0.1}, "launch scale: argument 1 (.f16): 0.1 is not exact in f16, which holds 0.0999755859\nround it yourself to a value that the type holds"},
		{[]string{"u32"}, []any{int64(1)}, "launch scale: argument 1 (.u32): int64 has 8 B, the parameter 4 B\nconvert it, or give a plain int"},
		{[]string{"u32"}, []any{float32(1)}, "launch scale: argument 1 (.u32): float32 is no integer\nconvert it: uint32(…)"},
		{[]string{"s32"}, []any{named(1)}, "launch scale: argument 1 (.s32): gpu.named is no integer\nconvert it: int32(…)"},
		{[]string{"f32"}, []any{int32(1)}, "launch scale: argument 1 (.f32): int32 is no floating-point number\nconvert it: float32(…)"},
		{[]string{"b32"}, []any{1.5}, "launch scale: argument 1 (.b32): PTX does not say what kind of number it is, so the float64 1.5 has no encoding\ngive a float32, an int32 or another sized type"},
		{[]string{"ptr"}, []any{4096}, "launch scale: argument 1 (.u64): it is an address, 4096 is a number\ngive a Tensor or a Buffer; nil is the null pointer"},
		{[]string{"ptr"}, []any{int64(4096)}, "launch scale: argument 1 (.u64): it is an address, 4096 is a number\ngive a Tensor or a Buffer; nil is the null pointer"},
		{[]string{"ptr"}, []any{(*Tensor)(nil)}, "launch scale: argument 1 (.u64): the tensor is nil\nmake the tensor first, or give nil for a null pointer"},
		{[]string{"u32"}, []any{nil}, "launch scale: argument 1 (.u32): nil is a pointer, the parameter has 4 B\ngive a number"},
		{[]string{"struct"}, []any{1}, "launch scale: argument 1 (.b8[12]): it is a structure or an array, int is a number\ngive its bytes: a []byte of length 12"},
		{[]string{"struct"}, []any{[]byte{1}}, "launch scale: argument 1 (.b8[12]): 1 B given, the parameter has 12 B\nlay the structure out as C does"},
		{[]string{"u32"}, []any{"seven"}, "launch scale: argument 1 (.u32): string cannot be an argument\ngive a Tensor, a Buffer or a number"},
		{[]string{"u32"}, []any{[]float32{1}}, "launch scale: argument 1 (.u32): []float32 cannot be an argument\nmake a tensor of it: x := dev.From(…), and give x"},
	} {
		_, err := packOne(c.types, c.args...)
		var e *Error
		if !errors.As(err, &e) || err.Error() != c.want {
			t.Errorf("%v to %v:\n got %v\nwant %s", c.args, c.types, err, c.want)
		}
	}
}

// FuzzPack: no argument makes pack panic, and what it accepts fills exactly the parameters.
func FuzzPack(f *testing.F) {
	f.Add("u32", int64(-1), 0.5, "x")
	f.Add("f16", int64(1)<<62, math.Inf(1), "")
	f.Fuzz(func(t *testing.T, ptx string, i int64, v float64, s string) {
		if typeBytes(ptx) == 0 || typeBytes(ptx) > 8 {
			return
		}
		for _, arg := range []any{int(i), v, s, i, float32(v), uint16(i), []byte(s), nil, i > 0} {
			if got, err := packOne([]string{ptx}, arg); err == nil && len(got) != typeBytes(ptx) {
				t.Errorf("%T as .%s: %d B", arg, ptx, len(got))
			}
		}
	})
}
