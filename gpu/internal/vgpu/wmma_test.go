package vgpu

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// wmmaCase is a shape of wmma with its types of A, B, C and D and the numbers of registers that PTX ISA 9.7.14.4.1 gives.
type wmmaCase struct {
	shape            string
	a, b, c, d       string
	na, nb, nc, nd   int
	product          string // of b1: the operation
	layoutsAreFixed  bool
	m, n, k          int
	rounding, suffix string
}

func wmmaCases() []wmmaCase {
	var list []wmmaCase
	for _, s := range []struct {
		name           string
		m, n, k        int
		half, bf, byte [2]int // registers of A and B
	}{
		{"m16n16k16", 16, 16, 16, [2]int{8, 8}, [2]int{4, 4}, [2]int{2, 2}},
		{"m8n32k16", 8, 32, 16, [2]int{8, 8}, [2]int{2, 8}, [2]int{1, 4}},
		{"m32n8k16", 32, 8, 16, [2]int{8, 8}, [2]int{8, 2}, [2]int{4, 1}},
	} {
		sums := map[string]int{"f16": 4, "f32": 8}
		for _, t := range [][2]string{{"f16", "f16"}, {"f16", "f32"}, {"f32", "f16"}, {"f32", "f32"}} {
			list = append(list, wmmaCase{shape: s.name, a: "f16", b: "f16", c: t[0], d: t[1], na: s.half[0], nb: s.half[1], nc: sums[t[0]], nd: sums[t[1]], m: s.m, n: s.n, k: s.k})
		}
		list = append(list, wmmaCase{shape: s.name, a: "bf16", b: "bf16", c: "f32", d: "f32", na: s.bf[0], nb: s.bf[1], nc: 8, nd: 8, m: s.m, n: s.n, k: s.k},
			wmmaCase{shape: s.name, a: "s8", b: "s8", c: "s32", d: "s32", na: s.byte[0], nb: s.byte[1], nc: 8, nd: 8, m: s.m, n: s.n, k: s.k},
			wmmaCase{shape: s.name, a: "u8", b: "u8", c: "s32", d: "s32", na: s.byte[0], nb: s.byte[1], nc: 8, nd: 8, m: s.m, n: s.n, k: s.k, suffix: ".satfinite"})
	}
	return append(list,
		wmmaCase{shape: "m16n16k8", a: "tf32", b: "tf32", c: "f32", d: "f32", na: 4, nb: 4, nc: 8, nd: 8, m: 16, n: 16, k: 8},
		wmmaCase{shape: "m8n8k4", a: "f64", b: "f64", c: "f64", d: "f64", na: 1, nb: 1, nc: 2, nd: 2, m: 8, n: 8, k: 4, rounding: ".rn"},
		wmmaCase{shape: "m8n8k32", a: "s4", b: "s4", c: "s32", d: "s32", na: 1, nb: 1, nc: 2, nd: 2, m: 8, n: 8, k: 32, layoutsAreFixed: true},
		wmmaCase{shape: "m8n8k32", a: "u4", b: "u4", c: "s32", d: "s32", na: 1, nb: 1, nc: 2, nd: 2, m: 8, n: 8, k: 32, layoutsAreFixed: true},
		wmmaCase{shape: "m8n8k128", a: "b1", b: "b1", c: "s32", d: "s32", na: 1, nb: 1, nc: 2, nd: 2, m: 8, n: 8, k: 128, product: "xor", layoutsAreFixed: true},
		wmmaCase{shape: "m8n8k128", a: "b1", b: "b1", c: "s32", d: "s32", na: 1, nb: 1, nc: 2, nd: 2, m: 8, n: 8, k: 128, product: "and", layoutsAreFixed: true})
}

// packMatrix lays a matrix out in memory, by rows or columns, with a stride in elements.
func packMatrix(t string, x [][]float64, columns bool, stride int) []byte {
	bits := elementBits(t)
	lines := len(x)
	if columns {
		lines = len(x[0])
	}
	buffer := make([]byte, (lines*stride*bits+7)/8+64)
	for i := range x {
		for j, v := range x[i] {
			at := i*stride + j
			if columns {
				at = j*stride + i
			}
			code := encodeElement(t, v)
			for b := range bits {
				if code>>b&1 != 0 {
					buffer[(at*bits+b)/8] |= 1 << ((at*bits + b) % 8)
				}
			}
		}
	}
	return buffer
}

func unpackMatrix(t string, buffer []byte, rows, n int, columns bool, stride int) [][]float64 {
	x := make([][]float64, rows)
	size := typeBytes(t)
	for i := range x {
		for j := range n {
			at := i*stride + j
			if columns {
				at = j*stride + i
			}
			var code uint64
			for b := range size {
				code |= uint64(buffer[at*size+b]) << (8 * b)
			}
			x[i] = append(x[i], decodeElement(t, code))
		}
	}
	return x
}

func registerList(prefix string, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// wmmaKernel loads A, B and C, multiplies and stores D; with shared the matrices go through shared memory, without a
// space in the spelling they are generic.
func (c *wmmaCase) kernel(d *Device, layoutA, layoutB, layoutC, space string, strides [4]int) string {
	var b strings.Builder
	b.WriteString(mmaHeader(d, "") + ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {\n.reg .b32 %l, %v; .reg .b64 %p<4>, %q<4>, %o; .reg .pred %t;\n.shared .align 128 .b8 buffer[32768];\n")
	for i, x := range []struct {
		name, t string
		n       int
	}{{"a", c.a, c.na}, {"b", c.b, c.nb}, {"c", c.c, c.nc}, {"d", c.d, c.nd}} {
		kind := "b32"
		if x.t == "f64" {
			kind = "f64"
		}
		fmt.Fprintf(&b, ".reg .%s %%%s<%d>;\nld.param.u64 %%p%d, [%s];\n", kind, x.name, x.n, i, x.name)
	}
	from := []string{"%p0", "%p1", "%p2", "%p3"}
	dot := "." + space
	if space == "" {
		dot = ""
	}
	copies := ""
	if space != "global" { // each matrix has 8 KiB in shared memory
		for i := range 4 {
			from[i] = fmt.Sprintf("%%q%d", i)
			fmt.Fprintf(&b, "mov.u64 %%q%d, buffer; add.s64 %%q%d, %%q%d, %d;\n", i, i, i, 8192*i)
			body := "ld.global.u32 %%v, [%%p%[1]d]; st.shared.u32 [%%q%[1]d], %%v;"
			loop := "mov.u32 %%l, 0; L%[1]d:\n" + body + " add.s64 %%p%[1]d, %%p%[1]d, 4; add.s64 %%q%[1]d, %%q%[1]d, 4; add.u32 %%l, %%l, 4; setp.lt.u32 %%t, %%l, 8192; @%%t bra L%[1]d; sub.s64 %%q%[1]d, %%q%[1]d, 8192;\n"
			if i < 3 {
				fmt.Fprintf(&b, loop, i)
			} else {
				back := strings.Replace(loop, body, "ld.shared.u32 %%v, [%%q%[1]d]; st.global.u32 [%%p%[1]d], %%v;", 1)
				copies = fmt.Sprintf(back, i)
			}
			if space == "" && i < 3 {
				fmt.Fprintf(&b, "cvta.shared.u64 %%q%d, %%q%d;\n", i, i)
			}
		}
		if space == "" {
			b.WriteString("cvta.shared.u64 %q3, %q3;\n")
			copies = "cvta.to.shared.u64 %q3, %q3;\n" + copies
		}
	}
	for i, x := range []struct {
		name, t, layout string
		n               int
	}{{"a", c.a, layoutA, c.na}, {"b", c.b, layoutB, c.nb}, {"c", c.c, layoutC, c.nc}} {
		stride := ""
		if strides[i] > 0 {
			stride = fmt.Sprintf(", %d", strides[i])
		}
		fmt.Fprintf(&b, "wmma.load.%s.sync.aligned.%s.%s%s.%s %s, [%s]%s;\n", x.name, x.layout, c.shape, dot, x.t, registerList("%"+x.name, x.n), from[i], stride)
	}
	types := c.d + "." + c.a + "." + c.b + "." + c.c
	if c.a == "f16" {
		types = c.d + "." + c.c
	}
	op := ""
	if c.product != "" {
		op = "." + c.product + ".popc"
	}
	fmt.Fprintf(&b, "wmma.mma%s.sync.aligned.%s.%s.%s%s.%s%s %s, %s, %s, %s;\n", op, layoutA, layoutB, c.shape, c.rounding, types, c.suffix,
		registerList("%d", c.nd), registerList("%a", c.na), registerList("%b", c.nb), registerList("%c", c.nc))
	stride := ""
	if strides[3] > 0 {
		stride = fmt.Sprintf(", %d", strides[3])
	}
	fmt.Fprintf(&b, "wmma.store.d.sync.aligned.%s.%s%s.%s [%s], %s%s;\n%sret;\n}\n", layoutC, c.shape, dot, c.d, from[3], registerList("%d", c.nd), stride, copies)
	return b.String()
}

// Every shape and type of wmma, by rows and columns, with and without strides, in every space, against float64.
func TestWMMA(t *testing.T) {
	d := openTest(t, testProfile())
	random := rand.New(rand.NewPCG(21, 22))
	for _, c := range wmmaCases() {
		types := []string{c.d, c.a, c.b, c.c, c.product}
		for i, space := range []string{"global", "shared", ""} {
			for j, layouts := range [][3]string{{"row", "col", "row"}, {"col", "row", "col"}, {"row", "row", "row"}, {"col", "col", "col"}} {
				if c.layoutsAreFixed && (layouts[0] != "row" || layouts[1] != "col") {
					layouts[0], layouts[1] = "row", "col"
				}
				x := newMatrices(random, c.m, c.n, c.k, types)
				strides := [4]int{c.k, c.n, c.n, c.n}
				for q, layout := range []string{layouts[0], layouts[1], layouts[2], layouts[2]} {
					if layout == "col" {
						strides[q] = []int{c.m, c.k, c.m, c.m}[q]
					}
					if (i+j)%2 == 1 { // else none: the matrices are packed
						strides[q] += 128 / elementBits(types[[]int{1, 2, 3, 0}[q]])
					}
				}
				given := strides
				if (i+j)%2 == 0 {
					given = [4]int{}
				}
				buffers := [][]byte{packMatrix(c.a, x.a, layouts[0] == "col", strides[0]), packMatrix(c.b, x.b, layouts[1] == "col", strides[1]),
					packMatrix(c.c, x.c, layouts[2] == "col", strides[2]), make([]byte, 0)}
				var args []any
				for _, b := range buffers {
					args = append(args, upload(t, d, append(b, make([]byte, 8192-len(b))...)))
				}
				r := launch(t, d, fn(t, loadModule(t, d, c.kernel(d, layouts[0], layouts[1], layouts[2], space, given)), "k"), dim(1), dim(32), args...)
				if got := r.Counts.FLOPs[perf.FLOPTensor]; got != uint64(2*c.m*c.n*c.k) {
					t.Errorf("%s %s: %d tensor FLOPs", c.shape, c.a, got)
				}
				got := unpackMatrix(c.d, download[byte](t, d, args[3].(driver.Address), 8192), c.m, c.n, layouts[2] == "col", strides[3])
				for row := range c.m {
					for column := range c.n {
						want := decodeElement(c.d, encodeElement(c.d, x.product(row, column, types)))
						if !(got[row][column] == want) {
							t.Fatalf("%s %s %v %q: (%d, %d) is %v, want %v", c.shape, types, layouts, space, row, column, got[row][column], want)
						}
					}
				}
			}
		}
	}
}

// What wmma.load accesses: A of f16 by rows, 16×16 packed, is 16 lines of 32 bytes, read twice 4 bytes a lane in each half.
func TestWMMACounts(t *testing.T) {
	d := openTest(t, testProfile())
	text := mmaHeader(d, "") + ".visible .entry k(.param .u64 a) {\n.reg .b32 %a<8>; .reg .b64 %p;\nld.param.u64 %p, [a];\n" +
		"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, [%p], 16;\nret;\n}\n"
	r := launch(t, d, fn(t, loadModule(t, d, text), "k"), dim(1), dim(32), upload(t, d, make([]byte, 512)))
	// Four registers a lane, each 4 bytes of 32 lanes: eight rows' quarter sectors of 16 bytes, so 8 sectors each.
	if g := r.Counts.GlobalLoad; g.Requests != 4 || g.Bytes != 512 || g.Sectors != 32 || g.IdealSectors != 16 {
		t.Errorf("%+v", g)
	}
	if n := r.Counts.Instructions[perf.ClassGlobal]; n != 1 {
		t.Errorf("%d global instructions", n)
	}
}

// Lanes that do not agree on the address stop the launch.
func TestWMMAAddress(t *testing.T) {
	d := openTest(t, testProfile())
	text := mmaHeader(d, "") + ".visible .entry k() {\n.reg .b32 %a<8>, %l; .shared .align 128 .b8 s[4096];\nmov.u32 %l, %laneid; shl.b32 %l, %l, 4;\n" +
		"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, [%l];\nret;\n}\n"
	err := launchError(t, d, text)
	if want := "virtual GPU: test.ptx:7: wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 illegal instruction\nCTA (0,0,0) warp 0 lane 1\naddress and stride of a wmma must be the same in all lanes"; fmt.Sprint(err) != want {
		t.Errorf("%v", err)
	}
}
