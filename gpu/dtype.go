package gpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"memwall/gpu/quant"
)

// DType is the type of a tensor's elements.
type DType uint8

// The element types, named as PTX names them.
const (
	F64 DType = iota + 1
	F32
	F16
	BF16
	I64
	I32
	I16
	I8
	U64
	U32
	U16
	U8
	E4M3 // fp8 of OCP: 4 bits of exponent, 3 of mantissa, NaN but no infinity
	E5M2 // fp8 of OCP: 5 bits of exponent, 2 of mantissa
)

// dtypes has one row a type: its name, bytes, and whether it is a float or has a sign.
var dtypes = [...]struct {
	name          string
	bytes         int
	float, signed bool
}{
	F64: {"f64", 8, true, true}, F32: {"f32", 4, true, true}, F16: {"f16", 2, true, true}, BF16: {"bf16", 2, true, true},
	I64: {"i64", 8, false, true}, I32: {"i32", 4, false, true}, I16: {"i16", 2, false, true}, I8: {"i8", 1, false, true},
	U64: {"u64", 8, false, false}, U32: {"u32", 4, false, false}, U16: {"u16", 2, false, false}, U8: {"u8", 1, false, false},
	E4M3: {"e4m3", 1, true, true}, E5M2: {"e5m2", 1, true, true},
}

func (t DType) valid() bool { return t.plain() || t.format() != nil }

// plain says that each element has bytes of its own.
func (t DType) plain() bool { return t >= F64 && int(t) < len(dtypes) }

// String is the name: "f16".
func (t DType) String() string {
	if f := t.format(); f != nil {
		return strings.ToLower(f.Name)
	}
	if !t.plain() {
		return fmt.Sprintf("DType(%d)", uint8(t))
	}
	return dtypes[t].name
}

// Bytes is the size of one element; 0 for a block format, see Size.
func (t DType) Bytes() int {
	if !t.plain() {
		return 0
	}
	return dtypes[t].bytes
}

// Float says whether the elements are floating-point numbers.
func (t DType) Float() bool { return t.format() != nil || t.plain() && dtypes[t].float }

// limits are the smallest and largest integer of an integer type, as float64 bounds that comparisons may use: the upper one
// is exclusive.
func (t DType) limits() (low, over float64) {
	bits := float64(8 * t.Bytes())
	if dtypes[t].signed {
		return -math.Exp2(bits - 1), math.Exp2(bits - 1)
	}
	return 0, math.Exp2(bits)
}

const whatTypesHold = "give values that the type holds, or convert them in Go first"

// put writes v, rounded to nearest even for float types; for integer types v must be an integer in range.
func (t DType) put(dst []byte, v float64) error {
	if !t.Float() {
		low, over := t.limits()
		if v != math.Trunc(v) || v < low || v >= over || math.IsNaN(v) {
			return fail(whatTypesHold, "%v is no %s", v, t)
		}
	}
	switch t {
	case F64:
		binary.LittleEndian.PutUint64(dst, math.Float64bits(v))
	case F32:
		binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(v)))
	case F16:
		binary.LittleEndian.PutUint16(dst, f16FromFloat64(v))
	case BF16:
		binary.LittleEndian.PutUint16(dst, bf16FromFloat64(v))
	case U64:
		binary.LittleEndian.PutUint64(dst, uint64(v))
	case E4M3, E5M2:
		dst[0] = smallFromFloat64(smallFloats[t], v)
	default:
		putInteger(dst, t.Bytes(), uint64(int64(v)))
	}
	return nil
}

// putInteger writes the low bytes of a two's-complement number.
func putInteger(dst []byte, bytes int, v uint64) {
	switch bytes {
	case 1:
		dst[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(dst, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(dst, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(dst, v)
	}
}

// roundToOdd narrows to float32 so that a second rounding gives what rounding once would: when the result is inexact its
// last bit is set (Boldo and Melquiond, "When double rounding is odd", 2005).
func roundToOdd(v float64) float32 {
	f := float32(v)
	if float64(f) == v || f != f || math.IsInf(float64(f), 0) {
		return f
	}
	bits := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(v) { // step toward zero: truncation
		bits--
	}
	return math.Float32frombits(bits | 1)
}

func f16FromFloat64(v float64) uint16  { return quant.F16FromFloat32(roundToOdd(v)) }
func bf16FromFloat64(v float64) uint16 { return quant.BF16FromFloat32(roundToOdd(v)) }

// get reads one element as a float64; 64-bit integers beyond 2⁵³ round.
func (t DType) get(src []byte) float64 {
	switch t {
	case F64:
		return math.Float64frombits(binary.LittleEndian.Uint64(src))
	case F32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(src)))
	case F16:
		return float64(quant.F16ToFloat32(binary.LittleEndian.Uint16(src)))
	case BF16:
		return float64(quant.BF16ToFloat32(binary.LittleEndian.Uint16(src)))
	case U64:
		return float64(binary.LittleEndian.Uint64(src))
	case E4M3, E5M2:
		return float64(smallFloats[t].Decode(src[0]))
	}
	v := t.integer(src)
	return float64(v)
}

// integer reads one element of an integer type.
func (t DType) integer(src []byte) int64 {
	switch t {
	case I64, U64:
		return int64(binary.LittleEndian.Uint64(src))
	case I32:
		return int64(int32(binary.LittleEndian.Uint32(src)))
	case U32:
		return int64(binary.LittleEndian.Uint32(src))
	case I16:
		return int64(int16(binary.LittleEndian.Uint16(src)))
	case U16:
		return int64(binary.LittleEndian.Uint16(src))
	case I8:
		return int64(int8(src[0]))
	}
	return int64(src[0])
}
