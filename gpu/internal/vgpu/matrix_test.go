package vgpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// fragments says where the elements of a shape's operands lie, as the figures of PTX ISA 9.7.14.5 do: g is the lane's
// group (lane/4), t its place in it, i the element in the lane.
type fragments struct {
	shape, types string
	a, b, c      func(g, t, i int) (row, column int)
	na, nb, nc   int // elements a lane
}

// The formulas of 9.7.14.5.1 to 9.7.14.5.13, one by one as written there.
func pairs(g, t, i int) (int, int) { return g + 8*(i/2%2), 2*t + i%2 + 8*(i/4) }
func small(g, t, i int) (int, int) { return g, 2*t + i }
func pairsB(g, t, i int) (int, int) {
	return 2*t + i%2 + 8*(i/2), g
}
func bytesA(g, t, i int) (int, int) {
	row := g + 8
	if i < 4 || i >= 8 && i < 12 {
		row = g
	}
	return row, 4*t + i&3 + 16*b2i(i >= 8)
}
func bytesB(g, t, i int) (int, int) { return 4*t + i&3 + 16*(i/4), g }
func nibblesA(g, t, i int) (int, int) {
	row := g + 8
	if i < 8 || i >= 16 && i < 24 {
		row = g
	}
	return row, 8*t + i&7 + 32*b2i(i >= 16)
}
func nibblesB(g, t, i int) (int, int) { return 8*t + i&7 + 32*(i/8), g }
func bitsA(g, t, i int) (int, int) {
	row := g + 8
	if i < 32 || i >= 64 && i < 96 {
		row = g
	}
	return row, 32*t + i&31 + 128*b2i(i >= 64)
}
func bitsB(g, t, i int) (int, int)    { return 32*t + i&31 + 128*(i/32), g }
func doublesA(g, t, i int) (int, int) { return g + 8*(i%2), t + 4*(i/2) }
func doublesB(g, t, i int) (int, int) { return t + 4*i, g }

var fragmentTable = []fragments{
	{"m16n8k8", "f32.f16.f16.f32", pairs, pairsB, pairs, 4, 2, 4},
	{"m16n8k8", "f16.f16.f16.f16", pairs, pairsB, pairs, 4, 2, 4},
	{"m16n8k16", "f32.f16.f16.f32", pairs, pairsB, pairs, 8, 4, 4},
	{"m16n8k16", "f16.f16.f16.f16", pairs, pairsB, pairs, 8, 4, 4},
	{"m16n8k8", "f32.bf16.bf16.f32", pairs, pairsB, pairs, 4, 2, 4},
	{"m16n8k16", "f32.bf16.bf16.f32", pairs, pairsB, pairs, 8, 4, 4},
	{"m16n8k4", "f32.tf32.tf32.f32", doublesA, doublesB, pairs, 2, 1, 4},
	{"m16n8k8", "f32.tf32.tf32.f32", doublesA, doublesB, pairs, 4, 2, 4},
	{"m16n8k16", "f32.e4m3.e5m2.f32", bytesA, bytesB, pairs, 8, 4, 4},
	{"m16n8k32", "f32.e4m3.e4m3.f32", bytesA, bytesB, pairs, 16, 8, 4},
	{"m16n8k32", "f32.e5m2.e4m3.f32", bytesA, bytesB, pairs, 16, 8, 4},
	{"m16n8k32", "f16.e5m2.e5m2.f16", bytesA, bytesB, pairs, 16, 8, 4},
	{"m16n8k16", "f16.e4m3.e4m3.f16", bytesA, bytesB, pairs, 8, 4, 4},
	{"m8n8k4", "f64.f64.f64.f64", doublesA, doublesB, small, 1, 1, 2},
	{"m16n8k4", "f64.f64.f64.f64", doublesA, doublesB, pairs, 2, 1, 4},
	{"m16n8k8", "f64.f64.f64.f64", doublesA, doublesB, pairs, 4, 2, 4},
	{"m16n8k16", "f64.f64.f64.f64", doublesA, doublesB, pairs, 8, 4, 4},
	{"m8n8k16", "s32.s8.u8.s32", bytesA, bytesB, small, 4, 4, 2},
	{"m16n8k16", "s32.u8.s8.s32", bytesA, bytesB, pairs, 8, 4, 4},
	{"m16n8k32", "s32.s8.s8.s32", bytesA, bytesB, pairs, 16, 8, 4},
	{"m8n8k32", "s32.s4.u4.s32", nibblesA, nibblesB, small, 8, 8, 2},
	{"m16n8k32", "s32.u4.s4.s32", nibblesA, nibblesB, pairs, 16, 8, 4},
	{"m16n8k64", "s32.s4.s4.s32", nibblesA, nibblesB, pairs, 32, 16, 4},
	{"m8n8k128", "s32.b1.b1.s32.xor.popc", bitsA, bitsB, small, 32, 32, 2},
	{"m8n8k128", "s32.b1.b1.s32.and.popc", bitsA, bitsB, small, 32, 32, 2},
	{"m16n8k128", "s32.b1.b1.s32.and.popc", bitsA, bitsB, pairs, 64, 32, 4},
	{"m16n8k256", "s32.b1.b1.s32.xor.popc", bitsA, bitsB, pairs, 128, 64, 4},
}

// elementBits is what an element of A or B takes in a register.
func elementBits(t string) int {
	switch t {
	case "b1":
		return 1
	case "s4", "u4":
		return 4
	case "e4m3", "e5m2", "e3m2", "e2m3", "e2m1":
		return 8
	}
	return 8 * typeBytes(t)
}

// smallEncodings lists by value the codes of a floating-point type of 8 bits, from its definition: sign, exponent, fraction.
func smallEncodings(exponent, fraction int) map[float64]uint64 {
	codes := map[float64]uint64{}
	for sign := range 2 {
		for e := range 1 << exponent {
			for f := range 1 << fraction {
				bias := 1<<(exponent-1) - 1
				x := float64(f) / float64(int(1)<<fraction) * math.Pow(2, float64(1-bias))
				if e > 0 {
					x = (1 + float64(f)/float64(int(1)<<fraction)) * math.Pow(2, float64(e-bias))
				}
				if e == 1<<exponent-1 && exponent == 5 || e == 1<<exponent-1 && exponent == 4 && f == 1<<fraction-1 {
					continue
				}
				if sign == 1 {
					x = -x
				}
				code := uint64(sign<<(exponent+fraction) | e<<fraction | f)
				if exponent+fraction == 3 {
					code <<= 2 // e2m1 stands in the middle of its byte
				}
				codes[x] = code
			}
		}
	}
	return codes
}

var smallTypes = map[string]map[float64]uint64{"e4m3": smallEncodings(4, 3), "e5m2": smallEncodings(5, 2),
	"e3m2": smallEncodings(3, 2), "e2m3": smallEncodings(2, 3), "e2m1": smallEncodings(2, 1)}

// encodeElement and decodeElement convert values of a type in 64-bit containers.
func encodeElement(t string, x float64) uint64 {
	if codes := smallTypes[t]; codes != nil {
		code, ok := codes[x]
		if !ok {
			panic(fmt.Sprintf("%v is no %s", x, t))
		}
		return code
	}
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
	return uint64(int64(x)) & (1<<elementBits(t) - 1)
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

// drawElement gives a random value that its type holds exactly, and of which sums of products are exact in any order.
func drawElement(r *rand.Rand, t string) float64 {
	switch t {
	case "b1":
		return float64(r.IntN(2))
	case "s4":
		return float64(r.IntN(16) - 8)
	case "u4":
		return float64(r.IntN(16))
	case "s8":
		return float64(r.IntN(256) - 128)
	case "u8":
		return float64(r.IntN(256))
	case "s32":
		return float64(r.IntN(1<<20) - 1<<19)
	case "e5m2", "e3m2", "e2m1":
		return []float64{0, 1, 1.5, 2, 3, 4, -1, -1.5, -2, -3, -4, .5, -.5}[r.IntN(13)]
	case "e4m3", "e2m3":
		return float64(r.IntN(30)-15) / 4 // up to 3.75 in steps of 0.25
	}
	return float64(r.IntN(33)-16) / 8
}

// openSM opens a virtual GPU of a compute capability.
func openSM(t testing.TB, sm int) *Device {
	p := testProfile()
	p.Major, p.Minor = sm/10, sm%10
	return openTest(t, p)
}

// matrices are the operands of an mma, [row][column].
type matrices struct{ a, b, c [][]float64 }

func newMatrices(r *rand.Rand, m, n, k int, types []string) *matrices {
	fill := func(rows, columns int, t string) [][]float64 {
		list := make([][]float64, rows)
		for i := range list {
			list[i] = make([]float64, columns)
			for j := range list[i] {
				list[i][j] = drawElement(r, t)
			}
		}
		return list
	}
	return &matrices{fill(m, k, types[1]), fill(k, n, types[2]), fill(m, n, types[3])}
}

// product gives an element of C + A·B, of b1 by xor or and.
func (x *matrices) product(row, column int, types []string) float64 {
	sum := x.c[row][column]
	for k := range x.b {
		switch a, b := x.a[row][k], x.b[k][column]; {
		case types[1] != "b1":
			sum += a * b
		case types[4] == "and":
			sum += a * b
		case a != b:
			sum++
		}
	}
	return sum
}

// Every shape of mma.sync against the matrix product in float64.
func TestMatrixMultiply(t *testing.T) {
	d := openTest(t, testProfile())
	random := rand.New(rand.NewPCG(5, 6))
	for _, f := range fragmentTable {
		types := strings.Split(f.types, ".")
		m, k := shapeSizes(f.shape)
		x := newMatrices(random, m, 8, k, types)
		got := runMatrix(t, d, &f, types, "mma.sync.aligned."+f.shape+".row.col."+f.types, x, nil, "")
		for lane := range 32 {
			for i := range f.nc {
				row, column := f.c(lane/4, lane%4, i)
				want := decodeElement(types[0], encodeElement(types[0], x.product(row, column, types)))
				if got := got[lane][i]; !(got == want) {
					t.Errorf("%s.%s: (%d, %d) is %v, want %v", f.shape, f.types, row, column, got, want)
					return
				}
			}
		}
	}
}

func shapeSizes(shape string) (m, k int) {
	var n int
	fmt.Sscanf(shape, "m%dn%dk%d", &m, &n, &k)
	return m, k
}

// matrixOperand packs n elements a lane into registers and gives the register buffer, [register][lane].
func matrixOperand(t string, n int, at func(g, q, i int) float64) (words []uint64, registers, width int) {
	size := elementBits(t)
	width = max(size, 32)
	perRegister := width / size
	registers = n / perRegister
	words = make([]uint64, registers*32)
	for i := range n {
		for lane := range 32 {
			words[i/perRegister*32+lane] |= encodeElement(t, at(lane/4, lane%4, i)) << (size * (i % perRegister))
		}
	}
	return words, registers, width / 8
}

// runMatrix executes one mma, with the metadata and the further operands of a sparse one, and gives each lane's elements of D.
func runMatrix(t *testing.T, d *Device, f *fragments, types []string, spelling string, x *matrices, metadata []uint64, more string) (result [32][]float64) {
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
	words, n, width := matrixOperand(types[1], f.na, func(g, q, i int) float64 { r, k := f.a(g, q, i); return x.a[r][k] })
	load("a", words, n, width)
	words, n, width = matrixOperand(types[2], f.nb, func(g, q, i int) float64 { k, j := f.b(g, q, i); return x.b[k][j] })
	load("b", words, n, width)
	words, n, width = matrixOperand(types[3], f.nc, func(g, q, i int) float64 { r, j := f.c(g, q, i); return x.c[r][j] })
	load("c", words, n, width)
	size := typeBytes(types[0])
	n = f.nc * size / max(size, 4)
	width = max(size, 4)
	out := upload(t, d, make([]uint64, n*32))
	args = append(args, out)
	if metadata == nil {
		metadata = make([]uint64, 32)
	}
	args = append(args, upload(t, d, metadata))
	var names []string
	stores := ""
	for r := range n {
		fmt.Fprintf(&text, ".reg .b%d %%d%d;\n", 8*width, r)
		names = append(names, fmt.Sprintf("%%d%d", r))
		stores += fmt.Sprintf("st.global.b%d [%%pd+%d], %%d%d;\n", 8*width, r*256, r)
	}
	operands[0] = "{" + strings.Join(names, ", ") + "}"
	program := mmaHeader(d, spelling) + ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 e) {\n" +
		".reg .b32 %l, %meta; .reg .b64 %o, %pa, %pb, %pc, %pd, %pe;\nmov.u32 %l, %laneid; mul.wide.u32 %o, %l, 8;\n"
	for _, p := range []string{"a", "b", "c", "d", "e"} {
		program += fmt.Sprintf("ld.param.u64 %%p%s, [%s]; add.s64 %%p%s, %%p%s, %%o;\n", p, p, p, p)
	}
	program += "ld.global.u32 %meta, [%pe];\n" + text.String() + spelling + " " + strings.Join(operands, ", ") + more + ";\n" + stores + "ret;\n}\n"
	r := launch(t, d, fn(t, loadModule(t, d, program), "k"), dim(1), dim(32), args...)
	m, depth := shapeSizes(f.shape)
	want := uint64(2 * m * 8 * depth)
	if f.shape == "m8n8k4" && types[1] == "f16" {
		want *= 4
	}
	if flops := r.Counts.FLOPs[3]; flops != want {
		t.Errorf("%s: %d tensor FLOPs, want %d", spelling, flops, want)
	}
	read := download[uint64](t, d, out, n*32)
	for lane := range 32 {
		for i := range f.nc {
			per := width / size
			result[lane] = append(result[lane], decodeElement(types[0], read[i/per*32+lane]>>(8*size*(i%per))))
		}
	}
	return result
}

// mmaHeader is the head of a module for the device that may use what its architecture alone has.
func mmaHeader(d *Device, spelling string) string {
	target := 10*d.profile.Major + d.profile.Minor
	suffix := ""
	if strings.Contains(spelling, "kind::") || strings.Contains(spelling, "wgmma") {
		suffix = "a"
	}
	return fmt.Sprintf(".version 8.8\n.target sm_%d%s\n.address_size 64\n", target, suffix)
}

// The 8-bit containers of sm_120a's f8f6f4, every pair of types.
func TestMatrixSmallFloats(t *testing.T) {
	d := openSM(t, 120)
	random := rand.New(rand.NewPCG(7, 8))
	for _, a := range []string{"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"} {
		for _, b := range []string{"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"} {
			f := fragments{"m16n8k32", "f32." + a + "." + b + ".f32", bytesA, bytesB, pairs, 16, 8, 4}
			types := strings.Split(f.types, ".")
			x := newMatrices(random, 16, 8, 32, types)
			got := runMatrix(t, d, &f, types, "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4."+f.types, x, nil, "")
			for lane := range 32 {
				for i := range f.nc {
					row, column := f.c(lane/4, lane%4, i)
					if want := x.product(row, column, types); !(got[lane][i] == want) {
						t.Fatalf("%s: (%d, %d) is %v, want %v", f.types, row, column, got[lane][i], want)
					}
				}
			}
		}
	}
}

// m8n8k4 of f16: four products, in every layout and every type of the sums (9.7.14.5.1).
func TestMatrixQuadPairs(t *testing.T) {
	d := openTest(t, testProfile())
	random := rand.New(rand.NewPCG(9, 10))
	for _, layouts := range []string{"row.row", "row.col", "col.row", "col.col"} {
		for _, sums := range [][2]string{{"f16", "f16"}, {"f32", "f16"}, {"f32", "f32"}} {
			types := []string{sums[0], "f16", "f16", sums[1]}
			var all [4]*matrices
			for q := range all {
				all[q] = newMatrices(random, 8, 8, 4, types)
			}
			// As for the other shapes g is lane/4 and t lane%4: product g%4, in its upper half where g is at least 4.
			half := func(g, t, i int) int { return i + 4*(g/4) }
			place := func(g, t, i int) int { return t + 4*(g/4) }
			sumAt := func(typ string, g, t, i int) (int, int) {
				if typ == "f16" {
					return place(g, t, i), i
				}
				return t&1 + i&2 + 4*(g/4), i&4 + t&2 + i&1
			}
			f := fragments{shape: "m8n8k4", na: 4, nb: 4, nc: 8}
			f.a = func(g, t, i int) (int, int) { // rows of all four products below each other
				if layouts[:3] == "row" {
					return 8*(g%4) + place(g, t, i), i
				}
				return 8*(g%4) + half(g, t, i), t
			}
			f.b = func(g, t, i int) (int, int) {
				if layouts[4:] == "row" {
					return 4*(g%4) + t, half(g, t, i)
				}
				return 4*(g%4) + i, place(g, t, i)
			}
			f.c = func(g, t, i int) (int, int) {
				row, column := sumAt(sums[1], g, t, i)
				return 8*(g%4) + row, column
			}
			x := &matrices{}
			for _, m := range all {
				x.a, x.b, x.c = append(x.a, m.a...), append(x.b, m.b...), append(x.c, m.c...)
			}
			spelling := "mma.sync.aligned.m8n8k4." + layouts + "." + strings.Join(types, ".")
			got := runMatrix(t, d, &f, types, spelling, x, nil, "")
			for lane := range 32 {
				for i := range 8 {
					row, column := sumAt(sums[0], lane/4, lane%4, i)
					want := all[lane/4%4].product(row, column, types)
					if !(got[lane][i] == want) {
						t.Fatalf("%s: lane %d element %d is %v, want %v", spelling, lane, i, got[lane][i], want)
					}
				}
			}
		}
	}
}

// .satfinite keeps a sum at the limits of s32; without it the sum wraps.
func TestMatrixSaturation(t *testing.T) {
	d := openTest(t, testProfile())
	f := fragments{"m16n8k32", "s32.u8.u8.s32", bytesA, bytesB, pairs, 16, 8, 4}
	types := strings.Split(f.types, ".")
	x := newMatrices(rand.New(rand.NewPCG(1, 2)), 16, 8, 32, types)
	for i := range x.c {
		for j := range x.c[i] {
			x.c[i][j] = math.MaxInt32 - 3
		}
	}
	x.a[0] = make([]float64, 32) // its row of sums stays below the limit
	saturated := runMatrix(t, d, &f, types, "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32", x, nil, "")
	wrapped := runMatrix(t, d, &f, types, "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32", x, nil, "")
	for lane := range 32 {
		for i := range 4 {
			row, column := pairs(lane/4, lane%4, i)
			sum := x.product(row, column, types)
			if want := math.Min(sum, math.MaxInt32); !(saturated[lane][i] == want) {
				t.Fatalf("satfinite: (%d, %d) is %v, want %v", row, column, saturated[lane][i], want)
			}
			if want := float64(int32(int64(sum))); !(wrapped[lane][i] == want) {
				t.Fatalf("(%d, %d) is %v, want %v", row, column, wrapped[lane][i], want)
			}
		}
	}
}

// Special values: infinities and NaN go through, and a NaN of f32 is the canonical one.
func TestMatrixSpecialValues(t *testing.T) {
	d := openTest(t, testProfile())
	f := &fragmentTable[2]
	types := strings.Split(f.types, ".")
	x := newMatrices(rand.New(rand.NewPCG(3, 4)), 16, 8, 16, types)
	for i := range x.a {
		for k := range x.a[i] {
			x.a[i][k] = 1
		}
	}
	for k := range x.b {
		for j := range x.b[k] {
			x.b[k][j] = 1
		}
	}
	x.b[3][0] = math.Inf(1)
	x.b[3][1], x.b[4][1] = math.Inf(1), math.Inf(-1)
	x.a[5][7] = math.NaN()
	got := runMatrix(t, d, f, types, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", x, nil, "")
	for lane := range 32 {
		for i := range 4 {
			row, column := pairs(lane/4, lane%4, i)
			want := x.product(row, column, types)
			switch g := got[lane][i]; {
			case math.IsNaN(want):
				if math.Float32bits(float32(g)) != 0x7fffffff {
					t.Errorf("(%d, %d) is %#x, want the canonical NaN", row, column, math.Float32bits(float32(g)))
				}
			case !(g == want):
				t.Errorf("(%d, %d) is %v, want %v", row, column, g, want)
			}
		}
	}
}

// What an architecture does not have is refused at load, with what works on it.
func TestMatrixRefusals(t *testing.T) {
	for _, c := range []struct {
		sm                   int
		text, message, means string
	}{
		{80, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%f0,%f1,%f2,%f3}", "needs sm_89, and the device is sm_80",
			"open a device of sm_89 or newer; nearest that works: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"},
		{90, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r0,%r1}", "not supported by the virtual GPU",
			"nearest that works: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"},
		{90, "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%f0,%f1,%f2,%f3}", "not supported by the virtual GPU",
			"only m8n8k4 of f16 takes other layouts than .row.col"},
		{90, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2}, {%r0,%r1}, {%f0,%f1,%f2,%f3}", "operand 2 has 3 registers, expected 4", ""},
		{90, "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%f0,%f1,%f2,%f3}", "not supported by the virtual GPU",
			".satfinite stands only with s8, u8, s4 and u4"},
		{120, "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%f0,%f1,%f2,%f3}", "needs .target sm_120a, and the PTX is for sm_120", "compile it for sm_120a"},
		{90, "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%f0,%f1,%f2,%f3}, %r0, 0x2", "the selector of the sparse metadata must be a constant from 0 to 1", ""},
	} {
		d := openSM(t, c.sm)
		opcode, _, _ := strings.Cut(c.text, " ")
		want := fmt.Sprintf("m.ptx:7:1: %s: %s\n    %s;\n    ^", opcode, c.message, c.text)
		if line := want[strings.Index(want, "\n    ")+5 : strings.LastIndex(want, "\n")]; len(line) > 100 {
			want = want[:strings.Index(want, "\n    ")+5] + line[:100] + "\n    ^"
		}
		if c.means != "" {
			want += "\n" + c.means
		}
		_, err := d.LoadPTX(fmt.Sprintf(".version 8.8\n.target sm_%d\n.address_size 64\n.visible .entry k() {\n.reg .b32 %%r<9>;\n.reg .f32 %%f<9>;\n%s;\nret;\n}\n", c.sm, c.text), driver.LoadOptions{Name: "m.ptx"})
		if got := fmt.Sprint(err); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
