package vgpu

import (
	"math"
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// matrixRows are mma.sync by shape and types (PTX ISA 9.7.14.5).
var matrixRows = []row{
	{patterns: []string{"mma"}, class: perf.ClassTensor, section: "9.7.14.5", decode: decodeMatrix},
}

// mmaShape is one mma.sync m16n8kK: D = A·B + C. A is 16×K, B is K×8, C and D are 16×8; a fragment's element e of lane
// l belongs to row l/4 (+8 for every second group) and columns of the quad's lane l%4.
type mmaShape struct {
	k       int
	element string // of A and B: f16, bf16, tf32, s8, u8, f64
	b       string // of B where it differs (s8, u8)
	sum     string // of C and D: f32, f16, s32, f64
	m       int
	sat     bool
	sm      int
}

// mmaShapes lists the supported spellings: shape, then D, A, B, C types.
func mmaShapes() map[string]*mmaShape {
	all := map[string]*mmaShape{}
	put := func(name string, s mmaShape) {
		if s.b == "" {
			s.b = s.element
		}
		if s.m == 0 {
			s.m = 16
		}
		all[name] = &s
	}
	put("m16n8k8.f32.f16.f16.f32", mmaShape{k: 8, element: "f16", sum: "f32", sm: 75})
	put("m16n8k8.f16.f16.f16.f16", mmaShape{k: 8, element: "f16", sum: "f16", sm: 75})
	put("m16n8k16.f32.f16.f16.f32", mmaShape{k: 16, element: "f16", sum: "f32", sm: 80})
	put("m16n8k16.f16.f16.f16.f16", mmaShape{k: 16, element: "f16", sum: "f16", sm: 80})
	put("m16n8k8.f32.bf16.bf16.f32", mmaShape{k: 8, element: "bf16", sum: "f32", sm: 80})
	put("m16n8k16.f32.bf16.bf16.f32", mmaShape{k: 16, element: "bf16", sum: "f32", sm: 80})
	put("m16n8k4.f32.tf32.tf32.f32", mmaShape{k: 4, element: "tf32", sum: "f32", sm: 80})
	put("m16n8k8.f32.tf32.tf32.f32", mmaShape{k: 8, element: "tf32", sum: "f32", sm: 80})
	put("m8n8k4.f64.f64.f64.f64", mmaShape{k: 4, element: "f64", sum: "f64", m: 8, sm: 80})
	for _, a := range []string{"s8", "u8"} {
		for _, b := range []string{"s8", "u8"} {
			put("m8n8k16.s32."+a+"."+b+".s32", mmaShape{k: 16, element: a, b: b, sum: "s32", m: 8, sm: 75})
			put("m16n8k16.s32."+a+"."+b+".s32", mmaShape{k: 16, element: a, b: b, sum: "s32", sm: 80})
			put("m16n8k32.s32."+a+"."+b+".s32", mmaShape{k: 32, element: a, b: b, sum: "s32", sm: 80})
		}
	}
	return all
}

var shapes = mmaShapes()

// bits of an element of A or B.
func (s *mmaShape) bits() int { return 8 * ptx.TypeSize(s.element) }

// regs gives the numbers of registers of A, B and C.
func (s *mmaShape) regs() (a, b, c int) {
	switch s.element {
	case "f64":
		return 1, 1, 2
	}
	perReg := 32 / s.bits()
	a, b, c = s.m*s.k/32/perReg, 8*s.k/32/perReg, s.m*8/32
	if s.sum == "f16" {
		c /= 2
	}
	return a, b, c
}

// decodeMatrix decodes mma.sync.aligned.
func decodeMatrix(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{flags: flagSelf, pattern: -1}
	picks, err := d.grammar(in, "sync", "aligned", "m16n8k4 m16n8k8 m16n8k16 m16n8k32 m8n8k4 m8n8k16", "row", "col", "- satfinite", "f32 f16 s32 f64",
		"f16 bf16 tf32 s8 u8 f64", "f16 bf16 tf32 s8 u8 f64", "f32 f16 s32 f64")
	if err != nil {
		if in.Has("sp") || in.Has("sp::ordered_metadata") {
			return x, d.m.ErrorAt(in, "not supported by the virtual GPU", "not yet: sparse mma; the dense form works")
		}
		return x, err
	}
	s := shapes[picks[2]+"."+picks[6]+"."+picks[7]+"."+picks[8]+"."+picks[9]]
	if s == nil {
		return x, d.m.ErrorAt(in, "not supported by the virtual GPU", "nearest that works: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
	}
	if d.sm < s.sm {
		return x, d.m.ErrorAt(in, "this mma needs a newer GPU than the device", "sm_75 has m16n8k8 for f16 and m8n8k16 for s8")
	}
	if picks[5] != "" {
		copied := *s
		copied.sat = true
		s = &copied
	}
	if err := d.operands(in, 4, 4); err != nil {
		return x, err
	}
	na, nb, nc := s.regs()
	x.ext = &extra{second: -1, mma: s}
	fragmentType := func(o *ptx.Operand, t string) string {
		if t == "f64" {
			return "f64"
		}
		return "b32"
	}
	for i, n := range []int{nc, na, nb, nc} {
		o := &in.Operands[i]
		list := o.Elements
		if o.Kind == ptx.OperandRegister {
			list = []ptx.Operand{*o}
		}
		if len(list) != n {
			return x, decodeError(d.m, in, "operand %d has %d registers, expected %d", i+1, len(list), n)
		}
		for j := range list {
			t := fragmentType(o, s.element)
			var at uint32
			if i == 0 {
				at, err = d.destination(&list[j], t)
				x.ext.regs = append(x.ext.regs, at)
			} else {
				at, err = d.source(&list[j], t)
				x.ext.sources = append(x.ext.sources, at)
			}
			if err != nil {
				return x, err
			}
		}
	}
	d.inf.flop, d.inf.flops, d.inf.warp = perf.FLOPTensor, 2*s.m*8*s.k, true
	switch {
	case s.sum == "f64":
		x.fn = opMatrixDouble
	case s.sum == "s32":
		x.fn = opMatrixInteger
	case s.element == "f16" && s.sum == "f32" && s.k == 16:
		x.fn = opMatrixHalf16
	case s.element == "bf16" && s.k == 16:
		x.fn = opMatrixBfloat16
	default:
		x.fn = opMatrixFloat
	}
	return x, nil
}

// whole checks that all lanes take part: mma.sync.aligned and ldmatrix demand it.
func (w *warp) whole(in *inst) {
	if w.mask != allLanes {
		w.fault(in, int(lowest(^w.mask)), &driver.Fault{Kind: driver.Illegal, Detail: "an .aligned instruction that not all lanes of the warp execute"})
	}
}

// opMatrixHalf16 is mma.sync.m16n8k16 f32 += f16·f16. The products are exact in f32; they are added in the order of k,
// where tensor cores take another order.
func opMatrixHalf16(w *warp, in *inst) {
	w.whole(in)
	var a [16][16]float32
	var b [16][8]float32
	r := in.ext.sources
	for k := range 4 {
		row, column := 8*(k&1), 8*(k>>1)
		for l, v := range w.u32(r[k]) {
			at := &a[(l>>2+row)&15]
			c := (2*(l&3) + column) & 15
			at[c], at[(c+1)&15] = halfToFloat(uint16(v)), halfToFloat(uint16(v>>16))
		}
	}
	for k := range 2 {
		for l, v := range w.u32(r[4+k]) {
			at := (2*(l&3) + 8*k) & 15
			b[at][l>>2&7], b[(at+1)&15][l>>2&7] = halfToFloat(uint16(v)), halfToFloat(uint16(v>>16))
		}
	}
	w.multiply16(in, &a, &b)
}

// opMatrixBfloat16 is mma.sync.m16n8k16 f32 += bf16·bf16.
func opMatrixBfloat16(w *warp, in *inst) {
	w.whole(in)
	var a [16][16]float32
	var b [16][8]float32
	r := in.ext.sources
	for k := range 4 {
		row, column := 8*(k&1), 8*(k>>1)
		for l, v := range w.u32(r[k]) {
			at := &a[(l>>2+row)&15]
			c := (2*(l&3) + column) & 15
			at[c], at[(c+1)&15] = math.Float32frombits(v<<16), math.Float32frombits(v&0xffff0000)
		}
	}
	for k := range 2 {
		for l, v := range w.u32(r[4+k]) {
			at := (2*(l&3) + 8*k) & 15
			b[at][l>>2&7], b[(at+1)&15][l>>2&7] = math.Float32frombits(v<<16), math.Float32frombits(v&0xffff0000)
		}
	}
	w.multiply16(in, &a, &b)
}

// multiply16 adds a·b to C, whose register k holds rows l/4 + 8·(k/2) and columns 2·(l%4) + k%2.
func (w *warp) multiply16(in *inst, a *[16][16]float32, b *[16][8]float32) {
	var c [16][8]float32
	r := in.ext.sources[6:10]
	for k := range 4 {
		for l, v := range w.f32(r[k]) {
			c[(l>>2+8*(k>>1))&15][(2*(l&3)+k&1)&7] = v
		}
	}
	for i := range a {
		row, sum := &a[i], &c[i]
		c0, c1, c2, c3, c4, c5, c6, c7 := sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7]
		for k, x := range row {
			y := &b[k]
			c0 += float32(x * y[0])
			c1 += float32(x * y[1])
			c2 += float32(x * y[2])
			c3 += float32(x * y[3])
			c4 += float32(x * y[4])
			c5 += float32(x * y[5])
			c6 += float32(x * y[6])
			c7 += float32(x * y[7])
		}
		*sum = [8]float32{c0, c1, c2, c3, c4, c5, c6, c7}
	}
	for k := range 4 {
		d := w.f32(in.ext.regs[k])
		for l := range d {
			d[l] = quiet(c[(l>>2+8*(k>>1))&15][(2*(l&3)+k&1)&7])
		}
	}
}

// fragmentA gives row and column of element e of lane l in A: per registers of 32 bits hold n elements each.
func (s *mmaShape) fragmentA(l, reg, e, n int) (row, column int) {
	row = l >> 2
	if s.m == 16 {
		row += 8 * (reg & 1)
		reg >>= 1
	}
	return row, (l&3)*n + e + 4*n*reg
}

// fragmentB gives row (k) and column (n) of element e of lane l in B.
func (s *mmaShape) fragmentB(l, reg, e, n int) (k, column int) {
	return (l&3)*n + e + 4*n*reg, l >> 2
}

// opMatrixFloat is mma.sync of the other floating-point shapes.
func opMatrixFloat(w *warp, in *inst) {
	w.whole(in)
	s := in.ext.mma
	na, nb, nc := s.regs()
	n := 32 / s.bits()
	var a [16][16]float32
	var b [16][8]float32
	var c [16][8]float32
	element := func(v uint32, e int) float32 {
		switch s.element {
		case "f16":
			return halfToFloat(uint16(v >> (16 * e)))
		case "bf16":
			return bfloatToFloat(uint16(v >> (16 * e)))
		}
		return math.Float32frombits(v &^ 0x1fff) // tf32: the lower 13 bits do not count
	}
	for reg := range na {
		for l, v := range w.u32(in.ext.sources[reg]) {
			for e := range n {
				row, column := s.fragmentA(l, reg, e, n)
				a[row][column] = element(v, e)
			}
		}
	}
	for reg := range nb {
		for l, v := range w.u32(in.ext.sources[na+reg]) {
			for e := range n {
				k, column := s.fragmentB(l, reg, e, n)
				b[k][column] = element(v, e)
			}
		}
	}
	for reg := range nc {
		for l, v := range w.u32(in.ext.sources[na+nb+reg]) {
			if s.sum == "f16" {
				row, column := l>>2+8*reg, 2*(l&3)
				c[row][column], c[row][column+1] = halfToFloat(uint16(v)), halfToFloat(uint16(v>>16))
			} else {
				c[l>>2+8*(reg>>1)][2*(l&3)+reg&1] = math.Float32frombits(v)
			}
		}
	}
	for i := range 16 {
		for k := range s.k {
			x := a[i][k]
			for j := range 8 {
				c[i][j] += float32(x * b[k][j])
			}
		}
	}
	for reg := range nc {
		d := w.u32(in.ext.regs[reg])
		for l := range d {
			if s.sum == "f16" {
				row, column := l>>2+8*reg, 2*(l&3)
				d[l] = uint32(floatToHalf(c[row][column])) | uint32(floatToHalf(c[row][column+1]))<<16
			} else {
				d[l] = math.Float32bits(quiet(c[l>>2+8*(reg>>1)][2*(l&3)+reg&1]))
			}
		}
	}
}

// opMatrixInteger is mma.sync of s8 and u8 with s32 sums, which wrap or with .satfinite stay at the limits.
func opMatrixInteger(w *warp, in *inst) {
	w.whole(in)
	s := in.ext.mma
	na, nb, nc := s.regs()
	var a [16][32]int32
	var b [32][8]int32
	for reg := range na {
		for l, v := range w.u32(in.ext.sources[reg]) {
			for e := range 4 {
				row, column := s.fragmentA(l, reg, e, 4)
				a[row][column] = byteOf(v, e, s.element == "s8")
			}
		}
	}
	for reg := range nb {
		for l, v := range w.u32(in.ext.sources[na+reg]) {
			for e := range 4 {
				k, column := s.fragmentB(l, reg, e, 4)
				b[k][column] = byteOf(v, e, s.b == "s8")
			}
		}
	}
	for reg := range nc {
		c := *w.s32(in.ext.sources[na+nb+reg])
		d := w.s32(in.ext.regs[reg])
		for l := range d {
			row, column := l>>2+8*(reg>>1), 2*(l&3)+reg&1
			sum := int64(0)
			for k := range s.k {
				sum += int64(a[row][k] * b[k][column])
			}
			if s.sat {
				d[l] = saturate32(sum + int64(c[l]))
			} else {
				d[l] = int32(sum) + c[l]
			}
		}
	}
}

// opMatrixDouble is mma.sync.m8n8k4 on f64: each product is fused into the sum.
func opMatrixDouble(w *warp, in *inst) {
	w.whole(in)
	r := in.ext.sources
	a, b := *w.f64(r[0]), *w.f64(r[1])
	var result [2][32]float64
	for reg := range 2 {
		for l, v := range w.f64(r[2+reg]) {
			row, column := l>>2, 2*(l&3)+reg
			for k := range 4 {
				v = math.FMA(a[4*row+k], b[4*column+k], v)
			}
			result[reg][l] = v
		}
	}
	*w.f64(in.ext.regs[0]), *w.f64(in.ext.regs[1]) = result[0], result[1]
}

// decodeLoadMatrix decodes ldmatrix.sync.aligned.m8n8 of b16, .num and .shape in either order.
func decodeLoadMatrix(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opLoadMatrix, flags: flagSelf, size: 16, pattern: -1}
	if d.sm < 75 {
		return x, d.m.ErrorAt(in, "ldmatrix needs sm_75", "")
	}
	places := []string{"sync", "aligned", "m8n8", "x1 x2 x4", "- trans", "- shared shared::cta", "b16"}
	if len(in.Modifiers) > 3 && in.Modifiers[3] == "m8n8" {
		places[2], places[3] = places[3], places[2]
	}
	picks, err := d.grammar(in, places...)
	if err != nil {
		return x, err
	}
	if err := d.operands(in, 2, 2); err != nil {
		return x, err
	}
	list := in.Operands[0].Elements
	if in.Operands[0].Kind == ptx.OperandRegister {
		list = in.Operands[:1]
	}
	want := 1
	if in.Has("x2") {
		want = 2
	} else if in.Has("x4") {
		want = 4
	}
	if len(list) != want {
		return x, decodeError(d.m, in, "%d registers, expected %d", len(list), want)
	}
	x.n = uint8(want)
	x.ext = &extra{second: -1}
	for i := range list {
		at, err := d.destination(&list[i], "b32")
		if err != nil {
			return x, err
		}
		x.ext.regs = append(x.ext.regs, at)
	}
	if picks[4] != "" {
		x.flags |= flagTrans
	}
	d.inf.kind = sharedLoad
	if picks[5] == "" {
		x.flags |= flagGeneric
		return x, d.address(&x, &in.Operands[1], "", true)
	}
	return x, d.address(&x, &in.Operands[1], "shared", true)
}

// opLoadMatrix is ldmatrix: lane 8q+r gives the address of row r of matrix q, eight b16; lane l receives elements 2·(l%4)
// and 2·(l%4)+1 of row l/4, with .trans of column l/4.
func opLoadMatrix(w *warp, in *inst) {
	w.whole(in)
	a := w.addresses(in)
	if in.flags&flagGeneric != 0 {
		moved := &w.w.address
		for i := range moved {
			moved[i] = a[i] - sharedWindow
		}
		a = moved
	}
	n := int(in.n)
	w.mask = uint32(uint64(1)<<(8*n) - 1)
	w.touchShared(in, w.site(in), a, 16)
	w.mask = allLanes
	shared := unsafe.Pointer(unsafe.SliceData(w.cta.shared))
	var rows [32]*[4]uint32
	for i := range 8 * n {
		rows[i] = (*[4]uint32)(unsafe.Add(shared, a[i]))
	}
	for q := range n {
		d := w.u32(in.ext.regs[q])
		m := rows[8*q : 8*q+8]
		if in.flags&flagTrans == 0 {
			for r, row := range m {
				copy(d[4*r:4*r+4], row[:])
			}
			continue
		}
		for t := range 4 {
			upper, lower := (*[8]uint16)(unsafe.Pointer(m[2*t])), (*[8]uint16)(unsafe.Pointer(m[2*t+1]))
			for g := range 8 {
				d[4*g+t] = uint32(upper[g]) | uint32(lower[g])<<16
			}
		}
	}
}
