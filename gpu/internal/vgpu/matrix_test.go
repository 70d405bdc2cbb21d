package vgpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// fragments says where the elements of a shape's operands lie, as the figures of PTX ISA 9.7.14.5 do: g is the lane's
// group (lane/4), t its place in it, i the element in the lane.
type fragments struct {
	shape, types string
	a, b, c      func(g, t, i int) (row, column int)
	na, nb, nc   int // elements a lane
}

func pairs(g, t, i int) (int, int) { return g + 8*(i/2%2), 2*t + i%2 + 8*(i/4) }

var fragmentTable = []fragments{
	{"m16n8k8", "f32.f16.f16.f32", pairs, func(g, t, i int) (int, int) { return 2*t + i, g }, pairs, 4, 2, 4},
	{"m16n8k8", "f16.f16.f16.f16", pairs, func(g, t, i int) (int, int) { return 2*t + i, g }, pairs, 4, 2, 4},
	{"m16n8k16", "f32.f16.f16.f32", pairs, func(g, t, i int) (int, int) { return 2*t + i%2 + 8*(i/2), g }, pairs, 8, 4, 4},
	{"m16n8k16", "f16.f16.f16.f16", pairs, func(g, t, i int) (int, int) { return 2*t + i%2 + 8*(i/2), g }, pairs, 8, 4, 4},
	{"m16n8k8", "f32.bf16.bf16.f32", pairs, func(g, t, i int) (int, int) { return 2*t + i, g }, pairs, 4, 2, 4},
	{"m16n8k16", "f32.bf16.bf16.f32", pairs, func(g, t, i int) (int, int) { return 2*t + i%2 + 8*(i/2), g }, pairs, 8, 4, 4},
	{"m16n8k4", "f32.tf32.tf32.f32", func(g, t, i int) (int, int) { return g + 8*i, t }, func(g, t, i int) (int, int) { return t, g }, pairs, 2, 1, 4},
	{"m16n8k8", "f32.tf32.tf32.f32", func(g, t, i int) (int, int) { return g + 8*(i%2), t + 4*(i/2) }, func(g, t, i int) (int, int) { return t + 4*i, g }, pairs, 4, 2, 4},
	{"m8n8k4", "f64.f64.f64.f64", func(g, t, i int) (int, int) { return g, t }, func(g, t, i int) (int, int) { return t, g }, func(g, t, i int) (int, int) { return g, 2*t + i }, 1, 1, 2},
	{"m8n8k16", "s32.s8.u8.s32", func(g, t, i int) (int, int) { return g, 4*t + i }, func(g, t, i int) (int, int) { return 4*t + i, g }, func(g, t, i int) (int, int) { return g, 2*t + i }, 4, 4, 2},
	{"m16n8k16", "s32.u8.s8.s32", func(g, t, i int) (int, int) { return g + 8*(i/4), 4*t + i%4 }, func(g, t, i int) (int, int) { return 4*t + i, g }, pairs, 8, 4, 4},
	{"m16n8k32", "s32.s8.s8.s32", func(g, t, i int) (int, int) { return g + 8*(i/4%2), 4*t + i%4 + 16*(i/8) }, func(g, t, i int) (int, int) { return 4*t + i%4 + 16*(i/4), g }, pairs, 16, 8, 4},
}

// element encodes and decodes values of a type in 64-bit containers.
func encodeElement(t string, x float64) uint64 {
	switch t {
	case "f16":
		return uint64(floatToHalf(float32(x)))
	case "bf16":
		return uint64(floatToBfloat(float32(x)))
	case "f32", "tf32":
		return uint64(math.Float32bits(float32(x)))
	case "f64":
		return math.Float64bits(x)
	}
	return uint64(int64(x)) & (1<<(8*typeBytes(t)) - 1)
}

func decodeElement(t string, b uint64) float64 {
	switch t {
	case "f16":
		return float64(halfToFloat(uint16(b)))
	case "bf16":
		return float64(bfloatToFloat(uint16(b)))
	case "f32", "tf32":
		return float64(math.Float32frombits(uint32(b)))
	case "f64":
		return math.Float64frombits(b)
	case "u8":
		return float64(uint8(b))
	case "s8":
		return float64(int8(b))
	}
	return float64(int32(b))
}

// Every shape of mma.sync against the matrix product in float64.
func TestMatrixMultiply(t *testing.T) {
	d := openTest(t, testProfile())
	random := rand.New(rand.NewPCG(5, 6))
	for _, f := range fragmentTable {
		types := strings.Split(f.types, ".")
		value := func(t string) float64 {
			if isFloatType(t) {
				return math.Round(random.NormFloat64()*64) / 64 // exact in every type, sums too
			}
			return float64(random.IntN(100))
		}
		var a [16][32]float64
		var b [32][8]float64
		var c [16][8]float64
		for i := range a {
			for k := range a[i] {
				a[i][k] = value(types[1])
			}
		}
		for k := range b {
			for j := range b[k] {
				b[k][j] = value(types[2])
			}
		}
		for i := range c {
			for j := range c[i] {
				c[i][j] = value(types[3])
			}
		}
		got := runMatrix(t, d, &f, types, &a, &b, &c)
		var depth int
		fmt.Sscanf(f.shape[strings.IndexByte(f.shape, 'k')+1:], "%d", &depth)
		for lane := range 32 {
			for i := range f.nc {
				row, column := f.c(lane/4, lane%4, i)
				want := c[row][column]
				for k := range depth {
					want += a[row][k] * b[k][column]
				}
				want = decodeElement(types[0], encodeElement(types[0], want))
				if got := got[lane][i]; !(got == want) {
					t.Errorf("%s.%s: (%d, %d) is %v, want %v", f.shape, f.types, row, column, got, want)
					return
				}
			}
		}
	}
}

// matrixOperand packs n elements a lane into registers and gives the register buffer, [register][lane].
func matrixOperand(t string, n int, at func(g, q, i int) float64) (words []uint64, registers, width int) {
	size := typeBytes(t)
	width = max(size, 4)
	perRegister := width / size
	registers = n / perRegister
	words = make([]uint64, registers*32)
	for i := range n {
		for lane := range 32 {
			words[i/perRegister*32+lane] |= encodeElement(t, at(lane/4, lane%4, i)) << (8 * size * (i % perRegister))
		}
	}
	return words, registers, width
}

// runMatrix executes one mma and gives each lane's elements of D.
func runMatrix(t *testing.T, d *Device, f *fragments, types []string, a *[16][32]float64, b *[32][8]float64, c *[16][8]float64) (result [32][]float64) {
	t.Helper()
	var text strings.Builder
	operands := []string{"", "", "", ""}
	var args []any
	load := func(name string, words []uint64, registers, width int) {
		var names []string
		for r := range registers {
			fmt.Fprintf(&text, ".reg .b%d %%%s%d;\nld.global.b%d %%%s%d, [%%p%s+%d];\n", 8*width, name, r, 8*width, name, r, name, r*256)
			names = append(names, fmt.Sprintf("%%%s%d", name, r))
		}
		operands[1+strings.Index("abc", name)] = "{" + strings.Join(names, ", ") + "}"
		args = append(args, upload(t, d, words))
	}
	words, n, width := matrixOperand(types[1], f.na, func(g, q, i int) float64 { r, k := f.a(g, q, i); return a[r][k] })
	load("a", words, n, width)
	words, n, width = matrixOperand(types[2], f.nb, func(g, q, i int) float64 { k, j := f.b(g, q, i); return b[k][j] })
	load("b", words, n, width)
	words, n, width = matrixOperand(types[3], f.nc, func(g, q, i int) float64 { r, j := f.c(g, q, i); return c[r][j] })
	load("c", words, n, width)
	out := upload(t, d, make([]uint64, n*32))
	args = append(args, out)
	var names []string
	stores := ""
	for r := range n {
		fmt.Fprintf(&text, ".reg .b%d %%d%d;\n", 8*width, r)
		names = append(names, fmt.Sprintf("%%d%d", r))
		stores += fmt.Sprintf("st.global.b%d [%%pd+%d], %%d%d;\n", 8*width, r*256, r)
	}
	operands[0] = "{" + strings.Join(names, ", ") + "}"
	program := header + ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {\n.reg .b32 %l; .reg .b64 %o, %pa, %pb, %pc, %pd;\nmov.u32 %l, %laneid; mul.wide.u32 %o, %l, 8;\n"
	for _, p := range []string{"a", "b", "c", "d"} {
		program += fmt.Sprintf("ld.param.u64 %%p%s, [%s]; add.s64 %%p%s, %%p%s, %%o;\n", p, p, p, p)
	}
	program += text.String() + "mma.sync.aligned." + f.shape + ".row.col." + f.types + " " + strings.Join(operands, ", ") + ";\n" + stores + "ret;\n}\n"
	r := launch(t, d, fn(t, loadModule(t, d, program), "k"), dim(1), dim(32), args...)
	var rows, columns, depth int
	fmt.Sscanf(f.shape, "m%dn%dk%d", &rows, &columns, &depth)
	if flops := r.Counts.FLOPs[3]; flops != uint64(2*rows*columns*depth) {
		t.Errorf("%s: %d tensor FLOPs", f.shape, flops)
	}
	size := typeBytes(types[0])
	for lane := range 32 {
		for i := range f.nc {
			per := width / size
			word := download[uint64](t, d, out, n*32)[i/per*32+lane]
			result[lane] = append(result[lane], decodeElement(types[0], word>>(8*size*(i%per))))
		}
	}
	return result
}

// ldmatrix hands lane l the elements 2·(l%4) and the next of row l/4, with .trans of column l/4.
func TestLoadMatrix(t *testing.T) {
	d := openTest(t, testProfile())
	a, zero := make([]uint32, 32), make([]uint32, 32)
	for i := range a {
		a[i] = uint32(2*i) | uint32(2*i+1)<<16
	}
	// The warp's 32 words are one 8×8 matrix of u16, row after row; the rows are given in reverse.
	start := "mov.u32 %r5, buffer; mad.lo.u32 %r6, %r11, 4, %r5; st.shared.u32 [%r6], %r0; bar.sync 0; and.b32 %r7, %r11, 7; sub.u32 %r7, 7, %r7; mad.lo.u32 %r7, %r7, 16, %r5; "
	for _, c := range []struct {
		op   string
		want func(l int) (low, high int)
	}{
		{"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r7];", func(l int) (int, int) { return (7-l/4)*8 + 2*(l%4), (7-l/4)*8 + 2*(l%4) + 1 }},
		{"ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r2}, [%r7];", func(l int) (int, int) { return (7-2*(l%4))*8 + l/4, (7-2*(l%4)-1)*8 + l/4 }},
		{"ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%r3, %r2}, [%r7];", func(l int) (int, int) { return (7-l/4)*8 + 2*(l%4), (7-l/4)*8 + 2*(l%4) + 1 }},
		{"ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%r3, %r2, %r4, %r8}, [%r7];", func(l int) (int, int) { return (7-l/4)*8 + 2*(l%4), (7-l/4)*8 + 2*(l%4) + 1 }},
	} {
		for lane, got := range runLanes(t, d, start+c.op, a, zero, allLanes) {
			low, high := c.want(lane)
			if got != uint32(low)|uint32(high)<<16 {
				t.Errorf("%s lane %d: %#x, want %d and %d", c.op, lane, got, low, high)
			}
		}
	}
}
