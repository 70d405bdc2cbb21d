package vgpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// image is an operand of wgmma as it lies in shared memory, with its descriptor but for the address.
type image struct {
	bytes           []byte
	leading, stride uint64
	swizzle         uint64 // code in the descriptor
	from            int    // bytes from the image's start to the matrix
}

func (m *image) descriptor(at int) uint64 {
	return uint64(at+m.from)>>4 | m.leading>>4<<16 | m.stride>>4<<32 | m.swizzle<<62
}

// swizzleChunk gives the 16-byte chunk of a line that holds chunk c, of lines of 128, 64 or 32 bytes: the figures of PTX
// ISA 5.5.5.
func swizzleChunk(width, line, c int) int {
	switch width {
	case 128:
		return c ^ line%8
	case 64:
		return c ^ line/2%4
	case 32:
		return c ^ line/4%2
	}
	return c
}

var swizzleCodes = map[int]uint64{0: 0, 128: 1, 64: 2, 32: 3}

// alongK lays rows of 32 or 64 bytes of K out in lines of `width` bytes, from byte `from` of a line on; width 0: core
// matrices of 8 × 16 bytes one after another.
func layAlongK(rows [][]byte, width, from int) *image {
	m := &image{swizzle: swizzleCodes[width], from: from}
	if width == 0 {
		units := len(rows[0]) / 16
		m.leading, m.stride = 128, uint64(128*units)
		m.bytes = make([]byte, len(rows)*len(rows[0]))
		for r, row := range rows {
			for b, v := range row {
				m.bytes[(r/8*units+b/16)*128+r%8*16+b%16] = v
			}
		}
		return m
	}
	m.leading, m.stride = 16, uint64(8*width)
	m.bytes = make([]byte, len(rows)*width)
	for r, row := range rows {
		for b, v := range row {
			chunk := swizzleChunk(width, r, (from+b)/16)
			m.bytes[r*width+chunk*16+(from+b)%16] = v
		}
	}
	return m
}

// layAcross lays 16-bit rows out by lines of K: line k holds a run of width/2 rows' elements k.
func layAcross(rows [][]byte, width int) *image {
	k := len(rows[0]) / 2
	m := &image{swizzle: swizzleCodes[width]}
	if width == 0 {
		m.leading, m.stride = 128, uint64(128*k/8)
		m.bytes = make([]byte, len(rows)*2*k)
		for r, row := range rows {
			for e := range k {
				copy(m.bytes[(r/8*k/8+e/8)*128+e%8*16+r%8*2:], row[2*e:2*e+2])
			}
		}
		return m
	}
	run := width / 2
	m.leading, m.stride = uint64(k*width), uint64(8*width)
	m.bytes = make([]byte, (len(rows)+run-1)/run*k*width)
	for r, row := range rows {
		for e := range k {
			chunk := swizzleChunk(width, e, r%run/8)
			copy(m.bytes[r/run*k*width+e*width+chunk*16+r%8*2:], row[2*e:2*e+2])
		}
	}
	return m
}

// rowBytes packs the elements of one row, the lowest bits first.
func rowBytes(t string, row []float64) []byte {
	return packMatrix(t, [][]float64{row}, false, len(row))[:len(row)*elementBits(t)/8]
}

type wgmmaCase struct {
	d, a, b        string
	n              int
	widthA, widthB int
	fromA, fromB   int
	transA, transB bool
	registers      bool // A
	negA, negB     bool
	overwrite      bool // scale-d false
	suffix         string
	sat            bool
}

func (c *wgmmaCase) String() string { return fmt.Sprintf("%+v", *c) }

func (c *wgmmaCase) depth() int { return 256 / elementBits(c.a) }

// spelling of the instruction.
func (c *wgmmaCase) spelling(sparse string, k int) string {
	sat := ""
	if c.sat {
		sat = ".satfinite"
	}
	return fmt.Sprintf("wgmma.mma_async%s.sync.aligned.m64n%dk%d%s.%s.%s.%s%s", sparse, c.n, k, sat, c.d, c.a, c.b, c.suffix)
}

func (c *wgmmaCase) tail() string {
	scaleD := "%one"
	if c.overwrite {
		scaleD = "%zero"
	}
	sign := map[bool]string{false: "1", true: "-1"}
	one := map[bool]string{false: "0", true: "1"}
	s := ", " + scaleD
	if c.d != "s32" {
		s += ", " + sign[c.negA] + ", " + sign[c.negB]
	}
	if c.a == "f16" || c.a == "bf16" {
		if !c.registers {
			s += ", " + one[c.transA]
		}
		s += ", " + one[c.transB]
	}
	return s
}

// sumRegisters is how many registers D takes.
func (c *wgmmaCase) sumRegisters() int {
	if c.d == "f16" {
		return c.n / 4
	}
	return c.n / 2
}

const wgmmaAt = 16384 // where B lies in shared memory; A lies at 0

// kernel copies 48 KiB to shared memory, loads D (and A's registers), and executes body, in which {d} stands for D's registers,
// {a} and {b} for the operands and {tail} for the rest.
func (c *wgmmaCase) kernel(d *Device, body string, a, b *image, extra string) string {
	var s strings.Builder
	n := c.sumRegisters()
	fmt.Fprintf(&s, "%s.visible .entry k(.param .u64 image, .param .u64 a, .param .u64 d, .param .u64 e) {\n.reg .b32 %%t, %%o, %%v, %%x<8>, %%meta; .reg .b32 %%a<4>; .reg .b32 %%d<%d>, %%e<%d>; .reg .b64 %%p, %%q, %%da, %%db, %%r; .reg .pred %%one, %%zero, %%loop;\n"+
		".shared .align 1024 .b8 s[49152];\nmov.u32 %%t, %%tid.x; ld.param.u64 %%p, [image]; mul.wide.u32 %%q, %%t, 4; add.s64 %%p, %%p, %%q; mov.u32 %%o, s; mad.lo.u32 %%o, %%t, 4, %%o; mov.u32 %%v, 0;\n"+
		"COPY: ld.global.u32 %%x0, [%%p]; st.shared.u32 [%%o], %%x0; add.s64 %%p, %%p, 512; add.u32 %%o, %%o, 512; add.u32 %%v, %%v, 512; setp.lt.u32 %%loop, %%v, 49152; @%%loop bra COPY;\nbar.sync 0;\n"+
		"setp.eq.u32 %%one, %%t, %%t; setp.ne.u32 %%zero, %%t, %%t;\n", mmaHeader(d, "wgmma"), n, n)
	fmt.Fprintf(&s, "ld.param.u64 %%r, [d]; mul.wide.u32 %%q, %%t, %d; add.s64 %%r, %%r, %%q;\n", 4*n)
	for i := range n {
		fmt.Fprintf(&s, "ld.global.b32 %%d%d, [%%r+%d];\n", i, 4*i)
	}
	s.WriteString("ld.param.u64 %p, [a]; mul.wide.u32 %q, %t, 16; add.s64 %p, %p, %q; ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%p];\n")
	s.WriteString("ld.param.u64 %p, [e]; mul.wide.u32 %q, %t, 4; add.s64 %p, %p, %q; ld.global.b32 %meta, [%p];\n")
	fmt.Fprintf(&s, "mov.u64 %%da, %d; mov.u64 %%db, %d;\n", a.descriptor(0), b.descriptor(wgmmaAt))
	operandA := "%da"
	if c.registers {
		operandA = "{%a0, %a1, %a2, %a3}"
	}
	s.WriteString(strings.NewReplacer("{d}", registerList("%d", n), "{e}", registerList("%e", n), "{a}", operandA, "{b}", "%db", "{tail}", extra+c.tail()).Replace(body))
	for i := range n {
		fmt.Fprintf(&s, "st.global.b32 [%%r+%d], %%d%d;\n", 4*i, i)
	}
	s.WriteString("ret;\n}\n")
	return s.String()
}

// run executes a kernel on matrices and gives D.
func (c *wgmmaCase) run(t *testing.T, d *Device, body, extra string, stored, b, sums [][]float64, meta []uint32) ([][]float64, *driver.Result, error) {
	t.Helper()
	columns := make([][]byte, c.n)
	for j := range columns {
		column := make([]float64, len(b))
		for k := range b {
			column[k] = b[k][j]
		}
		columns[j] = rowBytes(c.b, column)
	}
	rows := make([][]byte, 64)
	for i := range rows {
		rows[i] = rowBytes(c.a, stored[i])
	}
	imageA, imageB := layAlongK(rows, c.widthA, c.fromA), layAlongK(columns, c.widthB, c.fromB)
	if c.transA {
		imageA = layAcross(rows, c.widthA)
	}
	if c.transB {
		imageB = layAcross(columns, c.widthB)
	}
	memory := make([]byte, 49152)
	copy(memory, imageA.bytes)
	copy(memory[wgmmaAt:], imageB.bytes)
	// Fragments: row 16·warp + g (+8), columns 2t, 2t+1 of every eighth (9.7.15.5.1.1); A as mma.m16n8k with 32 bytes of K.
	n := c.sumRegisters()
	words, fragment := make([]uint32, 128*n), make([]uint32, 128*4)
	place := func(thread, i int) (int, int) {
		g, q := thread%32/4, thread%4
		return 16*(thread/32) + g + 8*(i/2%2), 8*(i/4) + 2*q + i%2
	}
	for thread := range 128 {
		for i := range c.n / 2 {
			row, column := place(thread, i)
			if code := encodeElement(c.d, sums[row][column]); c.d == "f16" {
				words[thread*n+i/2] |= uint32(code) << (16 * (i % 2))
			} else {
				words[thread*n+i] = uint32(code)
			}
		}
		for reg := range 4 {
			row, at := 16*(thread/32)+thread%32/4+8*(reg%2), 4*(thread%4)+16*(reg/2)
			for i := range 4 {
				fragment[4*thread+reg] |= uint32(rows[row][at+i]) << (8 * i)
			}
		}
	}
	if meta == nil {
		meta = make([]uint32, 128)
	}
	out := upload(t, d, words)
	f := fn(t, loadModule(t, d, c.kernel(d, body, imageA, imageB, extra)), "k")
	r, err := d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(1), CTA: dim(128), Args: pack(t, f, upload(t, d, memory), upload(t, d, fragment), out, upload(t, d, meta)), Wait: true, Count: true})
	if err != nil {
		return nil, nil, err
	}
	got := make([][]float64, 64)
	for i := range got {
		got[i] = make([]float64, c.n)
	}
	words = download[uint32](t, d, out, len(words))
	for thread := range 128 {
		for i := range c.n / 2 {
			row, column := place(thread, i)
			if c.d == "f16" {
				got[row][column] = decodeElement("f16", uint64(uint16(words[thread*n+i/2]>>(16*(i%2)))))
			} else {
				got[row][column] = decodeElement(c.d, uint64(words[thread*n+i]))
			}
		}
	}
	return got, r, nil
}

const wgmmaOnce = "wgmma.fence.sync.aligned;\n%s {d}, {a}, {b}{tail};\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"

func wgmmaCases() []wgmmaCase {
	var list []wgmmaCase
	add := func(c wgmmaCase) { list = append(list, c) }
	for i, types := range [][3]string{{"f32", "f16", "f16"}, {"f16", "f16", "f16"}, {"f32", "bf16", "bf16"}, {"f32", "tf32", "tf32"}, {"f32", "e4m3", "e5m2"}, {"f16", "e5m2", "e4m3"},
		{"f32", "e4m3", "e4m3"}, {"f32", "e5m2", "e5m2"}, {"s32", "s8", "s8"}, {"s32", "u8", "s8"}, {"s32", "s8", "u8"}, {"s32", "u8", "u8"}, {"s32", "b1", "b1"}} {
		suffix := ""
		if types[1] == "b1" {
			suffix = ".and.popc"
		}
		for j, width := range []int{0, 32, 64, 128} {
			from := 0
			if width > 32 {
				from = 32 * (i % (width / 32))
			}
			n := []int{8, 24, 64, 256}[(i+j)%4]
			add(wgmmaCase{d: types[0], a: types[1], b: types[2], n: n, widthA: width, widthB: []int{128, 64, 0, 32}[j], fromA: from, suffix: suffix, overwrite: (i+j)%3 == 0})
			add(wgmmaCase{d: types[0], a: types[1], b: types[2], n: []int{16, 32, 128, 8}[(i+j)%4], widthB: width, fromB: from, suffix: suffix, registers: true, negA: types[0] != "s32" && j%2 == 0, negB: types[0] != "s32" && j > 1})
		}
	}
	for i, width := range []int{0, 32, 64, 128} {
		for j, other := range []int{0, 32, 64, 128} {
			t := []string{"f16", "bf16"}[(i+j)%2]
			n := []int{8, 40, 128, 200}[(i+j)%4]
			add(wgmmaCase{d: "f32", a: t, b: t, n: n, widthA: width, widthB: other, transA: true, transB: true})
			add(wgmmaCase{d: "f32", a: t, b: t, n: n, widthA: width, widthB: other, transB: true, registers: i%2 == 0})
			add(wgmmaCase{d: "f32", a: t, b: t, n: n, widthA: width, widthB: other, transA: true})
		}
	}
	for n := 8; n <= 256; n += 8 {
		add(wgmmaCase{d: "f32", a: "bf16", b: "bf16", n: n, widthA: 128, widthB: 128})
	}
	add(wgmmaCase{d: "s32", a: "u8", b: "u8", n: 48, widthA: 128, widthB: 128, sat: true})
	return list
}

// product gives A·B + D in float64, by and for b1.
func (c *wgmmaCase) product(a, b [][]float64, sum float64, row, column int) float64 {
	if c.overwrite {
		sum = 0
	}
	for k := range b {
		x := a[row][k] * b[k][column]
		if c.negA != c.negB {
			x = -x
		}
		sum += x
	}
	if c.sat {
		sum = math.Min(sum, math.MaxInt32)
	}
	return decodeElement(c.d, encodeElement(c.d, sum))
}

func (c *wgmmaCase) compare(t *testing.T, got, a, b, sums [][]float64) {
	t.Helper()
	for row := range 64 {
		for column := range c.n {
			if want := c.product(a, b, sums[row][column], row, column); !(got[row][column] == want) {
				t.Fatalf("%v: (%d, %d) is %v, want %v", c, row, column, got[row][column], want)
			}
		}
	}
}

// Every type and n of wgmma, A from registers and from shared memory, every swizzle, along and across K, against float64.
func TestWarpgroupMatrix(t *testing.T) {
	d := openTest(t, testProfile())
	random := rand.New(rand.NewPCG(31, 32))
	for _, c := range wgmmaCases() {
		k := c.depth()
		x := newMatrices(random, 64, c.n, k, []string{c.d, c.a, c.b, c.d})
		if c.sat {
			x.c[3][5] = math.MaxInt32 - 1
		}
		got, r, err := c.run(t, d, fmt.Sprintf(wgmmaOnce, c.spelling("", k)), "", x.a, x.b, x.c, nil)
		if err != nil {
			t.Fatalf("%v: %v", &c, err)
		}
		c.compare(t, got, x.a, x.b, x.c)
		if flops := r.Counts.FLOPs[perf.FLOPTensor]; flops != uint64(2*64*c.n*k) {
			t.Errorf("%v: %d tensor FLOPs", &c, flops)
		}
		// Every core matrix is a phase of shared memory without conflicts: its eight lines lie in different banks.
		bytes := uint64(32 * c.n)
		if !c.registers {
			bytes += 64 * 32
		}
		if s := r.Counts.SharedLoad; s.Bytes != bytes || s.Wavefronts != bytes/128 || s.IdealWavefronts != bytes/128 {
			t.Errorf("%v: %+v, want %d bytes", &c, s, bytes)
		}
	}
}

// Sparse wgmma: A thinned as for mma.sp, metadata in the same places of each warp.
func TestSparseWarpgroupMatrix(t *testing.T) {
	d := openTest(t, testProfile())
	random := rand.New(rand.NewPCG(33, 34))
	for i, s := range sparseTable {
		types := strings.Split(s.types, ".")
		_, k := shapeSizes(s.shape)
		c := wgmmaCase{d: types[0], a: types[1], b: types[2], n: 32, widthA: []int{0, 32, 64, 128}[i%4], widthB: []int{128, 0, 64}[i%3], registers: i%2 == 0}
		if c.a == "s4" || c.a == "u4" || k != 2*c.depth() {
			continue
		}
		for selector := range 4 / s.threads {
			x := newMatrices(random, 64, c.n, k, []string{c.d, c.a, c.b, c.d})
			stored, meta := make([][]float64, 64), make([]uint32, 128)
			for row := range 64 {
				for chunk := range k / s.chunk {
					code := s.thin(random, x.a[row][chunk*s.chunk:(chunk+1)*s.chunk], &stored[row], true)
					thread, bit := s.place(row%8, row%16 >= 8, chunk)
					meta[32*(row/16)+4*(row%8)+selector*s.threads+thread] |= uint32(code) << bit
				}
			}
			got, _, err := c.run(t, d, fmt.Sprintf(wgmmaOnce, c.spelling(".sp", k)), fmt.Sprintf(", %%meta, %d", selector), stored, x.b, x.c, meta)
			if err != nil {
				t.Fatalf("%v: %v", &c, err)
			}
			c.compare(t, got, x.a, x.b, x.c)
		}
	}
}

// moves copies registers %from to %to.
func moves(to, from string, n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "mov.b32 %%%s%d, %%%s%d;\n", to, i, from, i)
	}
	return s.String()
}

// Results arrive at the wait: chains keep their order, moves of accumulators in flight move the claim, and everything else
// that touches one before its wait stops the launch.
func TestWarpgroupWaits(t *testing.T) {
	d := openTest(t, testProfile())
	random := rand.New(rand.NewPCG(35, 36))
	c := wgmmaCase{d: "f32", a: "f16", b: "f16", n: 16, widthA: 128, widthB: 128}
	x := newMatrices(random, 64, c.n, 16, []string{"f32", "f16", "f16", "f32"})
	op := c.spelling("", 16)
	n := c.sumRegisters()
	issue := op + " {d}, {a}, {b}{tail};\nwgmma.commit_group.sync.aligned;\n"
	fault := "virtual GPU: test.ptx:%d: %s illegal instruction\nCTA (0,0,0) warp 0 lane 0\na result of wgmma.mma_async is used before wgmma.wait_group has waited for it"
	for _, w := range []struct {
		name, body string
		times      int // how often A·B is added
		fault      string
	}{
		{"two in one group", op + " {d}, {a}, {b}{tail};\n" + issue + "wgmma.wait_group.sync.aligned 0;\n", 2, ""},
		{"a pipeline of two", issue + issue + "wgmma.wait_group.sync.aligned 1;\nwgmma.wait_group.sync.aligned 0;\n", 2, ""},
		{"moved in flight", issue + moves("e", "d", n) + "wgmma.wait_group.sync.aligned 0;\n" + moves("d", "e", n), 1, ""},
		{"moved round a loop", "mov.u32 %v, 0;\n" + moves("e", "d", n) + "LOOP:\n" + moves("d", "e", n) + issue + moves("e", "d", n) +
			"wgmma.wait_group.sync.aligned 1;\nadd.u32 %v, %v, 1; setp.lt.u32 %loop, %v, 5; @%loop bra LOOP;\nwgmma.wait_group.sync.aligned 0;\n" + moves("d", "e", n), 5, ""},
		{"chained under another name", issue + moves("e", "d", n) + strings.ReplaceAll(issue, "{d}", "{e}") + "wgmma.wait_group.sync.aligned 0;\n" + moves("d", "e", n), 2, ""},
		{"an accumulator of parts in flight", issue + "mov.b32 %e0, %d1; mov.b32 %e1, %d0;\n" + "mov.b32 %d0, %e1; mov.b32 %d1, %e0; mov.b32 %d0, %e0; mov.b32 %d1, %e1;\n" + issue + "wgmma.wait_group.sync.aligned 0;\n", -1, ""},
		{"never waited for", issue, 0, "st.global.b32"},
		{"one group too few", issue + "wgmma.wait_group.sync.aligned 1;\n", 0, "st.global.b32"},
		{"not committed", op + " {d}, {a}, {b}{tail};\nwgmma.wait_group.sync.aligned 0;\n", 0, "st.global.b32"},
		{"used in flight", issue + "add.f32 %x0, %d3, %d3;\nwgmma.wait_group.sync.aligned 0;\n", 0, "add.f32"},
	} {
		got, _, err := c.run(t, d, "wgmma.fence.sync.aligned;\n"+w.body, "", x.a, x.b, x.c, nil)
		if w.fault != "" {
			line := 0
			if f, ok := err.(*driver.Fault); ok {
				line = f.PTXLine
			}
			if want := fmt.Sprintf(fault, line, w.fault); fmt.Sprint(err) != want {
				t.Errorf("%s: %v\nwant\n%s", w.name, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", w.name, err)
			continue
		}
		for row := range 64 {
			for column := range c.n {
				product := c.product(x.a, x.b, 0, row, column)
				times, from := w.times, column
				if times < 0 { // registers 0 and 1, which hold columns 2t and 2t+1 of rows g, changed places between two products
					times = 2
					if column < 8 && row%16 < 8 {
						from = column ^ 1
					}
				}
				want := x.c[row][column] + float64(times)*product
				if from != column {
					want = x.c[row][from] + c.product(x.a, x.b, 0, row, from) + product
				}
				if !(got[row][column] == want) {
					t.Fatalf("%s: (%d, %d) is %v, want %v", w.name, row, column, got[row][column], want)
				}
			}
		}
	}
}

// What is wrong with a wgmma is said at load.
func TestWarpgroupRefusals(t *testing.T) {
	for _, c := range []struct {
		sm           int
		target, text string
		want         string
	}{
		{80, "sm_80", "wgmma.fence.sync.aligned", "needs sm_90a, and the device is sm_80\n    wgmma.fence.sync.aligned;\n    ^\nopen a device of sm_90 or newer"},
		{90, "sm_90", "wgmma.fence.sync.aligned", "needs .target sm_90a, and the PTX is for sm_90\n    wgmma.fence.sync.aligned;\n    ^\ncompile it for sm_90a, or use mma.sync"},
		{100, "sm_100a", "wgmma.fence.sync.aligned", "needs .target sm_90a, and the PTX is for sm_100a\n    wgmma.fence.sync.aligned;\n    ^\ncompile it for sm_90a, or use mma.sync"},
		{90, "sm_90a", "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%r0}, %d, %d, 1, 1, 1, 0, 0",
			"not supported by the virtual GPU\n    wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%r0}, %d, %d, 1, 1, 1, 0, 0;\n    ^\nshapes of .f16 are m64nNk16 with N = 8, 16, … 256"},
		{90, "sm_90a", "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r0,%r1,%r2,%r3}, %d, %d, 1, 2, 1", "imm-scale-a must be the constant 1 or -1\n    wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r0,%r1,%r2,%r3}, %d, %d, 1, 2, 1;\n    ^"},
		{90, "sm_90a", "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r0,%r1,%r2,%r3}, %d, %d, 1, 1, 1, 0, 0", "8 operands, expected 6\n    wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r0,%r1,%r2,%r3}, %d, %d, 1, 1, 1, 0, 0;\n    ^"},
	} {
		d := openSM(t, c.sm)
		opcode, _, _ := strings.Cut(c.text, " ")
		want := "m.ptx:7:1: " + opcode + ": " + c.want
		_, err := d.LoadPTX(fmt.Sprintf(".version 8.8\n.target %s\n.address_size 64\n.visible .entry k() {\n.reg .b32 %%r<9>;\n.reg .b64 %%d;\n%s;\nret;\n}\n", c.target, c.text), driver.LoadOptions{Name: "m.ptx"})
		if got := fmt.Sprint(err); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
