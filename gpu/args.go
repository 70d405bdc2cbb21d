package gpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"memwall/gpu/internal/driver"
)

// packer lays a launch's arguments out as the entry's parameters lie, and checks each against its PTX type.
type packer struct {
	launch  string // "launch gemv/1_naive"
	dev     *Device
	params  []driver.Param
	types   []cType         // of the parameters; nil where they are not known
	names   func() []string // of the parameters, for errors
	buffer  []byte
	memory  []*memory       // of the tensors and buffers among the arguments
	extents []driver.Extent // of them
}

// pack checks count, size, kind, device and life of the arguments.
func (f *Function) pack(launch string, args []any) (*packer, error) {
	p := &packer{launch: launch, dev: f.module.dev, params: f.f.Params(), names: f.Parameters}
	p.types = f.module.types(f.f.Name(), len(p.params))
	if len(args) != len(p.params) {
		return nil, p.countError(len(args))
	}
	end := 0
	for _, q := range p.params {
		end = max(end, q.Offset+q.Size)
	}
	p.buffer = make([]byte, end)
	for i, a := range args {
		if err := p.put(i, a); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *packer) countError(given int) error {
	e := &Error{What: fmt.Sprintf("%s: %s given, the function takes %d", p.launch, plural(given, "argument", "arguments"), len(p.params))}
	if names := p.names(); len(names) > 0 {
		e.Where = "its parameters: " + strings.Join(names, ", ")
	}
	switch missing := len(p.params) - given; {
	case missing > 0:
		e.How = "give a value for " + p.name(given)
	default:
		e.How = fmt.Sprintf("leave out the last %d", -missing)
	}
	return e
}

// name is "argument 2 (float a)", counting from 1; of PTX "argument 2 (a .f32)".
func (p *packer) name(i int) string {
	return fmt.Sprintf("argument %d (%s)", i+1, p.names()[i])
}

func (p *packer) fail(i int, how, format string, args ...any) error {
	return fail(how, "%s: %s: %s", p.launch, p.name(i), fmt.Sprintf(format, args...))
}

// put checks one argument and writes it.
func (p *packer) put(i int, a any) error {
	switch v := a.(type) {
	case *Tensor:
		if v == nil {
			return p.fail(i, "make the tensor first, or give nil for a null pointer", "the tensor is nil")
		}
		if err := p.checkElements(i, v); err != nil {
			return err
		}
		return p.putMemory(i, v.mem, v.offset, v.Bytes(), "tensor "+v.describe())
	case *Buffer:
		if v == nil {
			return p.fail(i, "make the buffer first, or give nil for a null pointer", "the buffer is nil")
		}
		return p.putMemory(i, v.mem, v.offset, v.bytes, "buffer of "+countBytes(v.bytes))
	case *TensorMap:
		return p.putTensorMap(i, v)
	case *Texture:
		if v == nil {
			return p.fail(i, "make the texture first: t.Texture(1)", "the texture is nil")
		}
		return p.putTexture(i, v)
	case nil:
		if p.params[i].Size != 8 {
			return p.fail(i, "give a number", "nil is a pointer, the parameter has %d B", p.params[i].Size)
		}
		return nil // a null pointer: the buffer is zero
	case []byte:
		if len(v) != p.params[i].Size {
			return p.fail(i, "lay the structure out as C does", "%d B given, the parameter has %d B", len(v), p.params[i].Size)
		}
		copy(p.at(i), v)
		return nil
	}
	return p.putNumber(i, reflect.ValueOf(a))
}

func (p *packer) at(i int) []byte {
	q := p.params[i]
	return p.buffer[q.Offset : q.Offset+q.Size]
}

func (p *packer) putMemory(i int, m *memory, offset, bytes int64, what string) error {
	q := p.params[i]
	if q.Size != 8 || kindOf(q.Type) == 'f' {
		return p.fail(i, "give a number, or change the parameter to a pointer", "a %s is an address of 8 B, the parameter is a number of %d B", what, q.Size)
	}
	if m.dev != p.dev {
		return p.fail(i, fmt.Sprintf("copy it: d.From(t.Float32s(), …) with d of %s", p.dev.name), "the %s is on %s, the launch on %s", what, m.dev.name, p.dev.name)
	}
	if err := m.alive("", what); err != nil {
		return p.fail(i, "make it again, or call Free later", "the %s was freed", what)
	}
	putInteger(p.at(i), 8, uint64(m.base)+uint64(offset))
	p.memory = append(p.memory, m)
	p.extents = append(p.extents, driver.Extent{Param: i, Base: m.base + driver.Address(offset), Bytes: bytes, Name: what})
	return nil
}

// kindOf is 'f' for floats, 'i' for integers, 'b' for untyped bits, by PTX type.
func kindOf(ptx string) byte {
	switch {
	case ptx == "":
		return 'b'
	case ptx[0] == 'f' || ptx == "bf16":
		return 'f'
	case ptx[0] == 'u' || ptx[0] == 's':
		return 'i'
	}
	return 'b'
}

// typeBytes is the size of a scalar PTX type, 0 where the name has none.
func typeBytes(ptx string) int {
	bits, err := strconv.Atoi(strings.TrimLeft(ptx, "bfsux"))
	if err != nil || bits < 8 {
		return 0
	}
	return bits / 8
}

func (p *packer) putNumber(i int, v reflect.Value) error {
	q := p.params[i]
	if c := p.cType(i); c.pointer && v.Kind() != reflect.Uint64 && v.Kind() != reflect.Uintptr && canBeNumber(v) {
		return p.pointerError(i, v)
	} else if e, ok := c.known(); ok && !c.pointer && e.number != 0 && e.number.Bytes() == q.Size {
		switch v.Kind() {
		case reflect.Int, reflect.Uint, reflect.Float64:
			return p.putAs(i, c, e.number, v)
		}
	}
	if typeBytes(q.Type) != q.Size && !sizedAs(v, q.Size) { // a __half is declared .b8[2]
		return p.fail(i, fmt.Sprintf("give its bytes: a []byte of length %d", q.Size), "it is a structure or an array, %s is a number", v.Type())
	}
	switch v.Kind() {
	case reflect.Int:
		return p.putExactInt(i, v.Int())
	case reflect.Uint:
		if v.Uint() > math.MaxInt64 {
			return p.putSized(i, v, 8, 'i', v.Uint())
		}
		return p.putExactInt(i, int64(v.Uint()))
	case reflect.Float64:
		return p.putExactFloat(i, v.Float())
	case reflect.Bool:
		bit := uint64(0)
		if v.Bool() {
			bit = 1
		}
		return p.putSized(i, v, 1, 'i', bit)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return p.putSized(i, v, int(v.Type().Size()), 'i', uint64(v.Int()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return p.putSized(i, v, int(v.Type().Size()), 'i', v.Uint())
	case reflect.Float32:
		return p.putSized(i, v, 4, 'f', uint64(math.Float32bits(float32(v.Float()))))
	}
	how := "give a Tensor, a Buffer or a number"
	if k := v.Kind(); (k == reflect.Slice || k == reflect.Array) && canBeNumber(reflect.Zero(v.Type().Elem())) {
		how = "make a tensor of it: x := dev.From(…), and give x"
	}
	return p.fail(i, how, "%s cannot be an argument", v.Type())
}

// sizedAs says whether v's Go type has a size, and that one.
func sizedAs(v reflect.Value, bytes int) bool {
	switch v.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32:
		return int(v.Type().Size()) == bytes
	}
	return false
}

// putSized writes a number whose Go type has a size: it must be the parameter's size and, where PTX types it, kind.
func (p *packer) putSized(i int, v reflect.Value, size int, kind byte, bits uint64) error {
	q := p.params[i]
	if size != q.Size {
		return p.fail(i, "convert it, or give a plain int", "%s has %d B, the parameter %d B", v.Type(), size, q.Size)
	}
	if k := kindOf(q.Type); k != 'b' && k != kind {
		return p.fail(i, "convert it: "+goTypes(q)+"(…)", "%s is no %s", v.Type(), map[byte]string{'f': "floating-point number", 'i': "integer"}[k])
	}
	if q.Pointer && v.Kind() != reflect.Uint64 && v.Kind() != reflect.Uintptr {
		return p.pointerError(i, v)
	}
	putInteger(p.at(i), size, bits)
	return nil
}

func (p *packer) pointerError(i int, v reflect.Value) error {
	return p.fail(i, "give a Tensor or a Buffer; nil is the null pointer", "it is an address, %v is a number", v)
}

// putExactInt writes an int when the parameter's type holds exactly this value. CUDA C++ compiles signed and unsigned
// integers to .u32 and .u64 alike, so both ranges are accepted.
func (p *packer) putExactInt(i int, v int64) error {
	q := p.params[i]
	if q.Pointer {
		return p.pointerError(i, reflect.ValueOf(v))
	}
	if kindOf(q.Type) == 'f' {
		return p.putFloat(i, float64(v), strconv.FormatInt(v, 10), float64(v) < 1<<63 && int64(float64(v)) == v)
	}
	bits := 8 * q.Size
	if bits < 64 && (v < -1<<(bits-1) || v >= 1<<bits) {
		return p.fail(i, fmt.Sprintf("the range is %d to %d", int64(-1)<<(bits-1), int64(1)<<bits-1), "%d does not fit %d bits", v, bits)
	}
	putInteger(p.at(i), q.Size, uint64(v))
	return nil
}

func (p *packer) putExactFloat(i int, v float64) error {
	q := p.params[i]
	text := strconv.FormatFloat(v, 'g', -1, 64)
	switch kindOf(q.Type) {
	case 'f':
		return p.putFloat(i, v, text, true)
	case 'b':
		return p.fail(i, "give a float32, an int32 or another sized type", "PTX does not say what kind of number it is, so the float64 %s has no encoding", text)
	}
	if v != math.Trunc(v) || math.Abs(v) >= 1<<63 || math.IsNaN(v) {
		return p.fail(i, "give an integer", "%s is no integer", text)
	}
	return p.putExactInt(i, int64(v))
}

// putFloat writes a float when the parameter's type holds exactly this value; infinities and NaN are exact in all.
func (p *packer) putFloat(i int, v float64, text string, exact bool) error {
	q := p.params[i]
	dst, back := p.at(i), v
	switch q.Type {
	case "f64":
		binary.LittleEndian.PutUint64(dst, math.Float64bits(v))
	case "f32":
		binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(v)))
		back = float64(float32(v))
	case "f16":
		F16.put(dst, v)
		back = F16.get(dst)
	case "bf16":
		BF16.put(dst, v)
		back = BF16.get(dst)
	default:
		return p.fail(i, "give its bytes as []byte", "a number has no encoding as .%s", q.Type)
	}
	if !exact || back != v && !math.IsNaN(v) {
		how := "round it yourself to a value that the type holds"
		if q.Type == "f32" {
			how = "round it: float32(" + text + ")"
		}
		return p.fail(i, how, "%s is not exact in %s, which holds %s", text, q.Type, strconv.FormatFloat(back, 'g', 9, 64))
	}
	return nil
}

// goTypes names the Go type of a parameter.
func goTypes(q driver.Param) string {
	switch {
	case q.Type == "f32":
		return "float32"
	case q.Type == "f64":
		return "float64"
	case kindOf(q.Type) == 'f':
		return "float64"
	case q.Type[0] == 's':
		return fmt.Sprintf("int%d", 8*q.Size)
	}
	return fmt.Sprintf("uint%d", 8*q.Size)
}
