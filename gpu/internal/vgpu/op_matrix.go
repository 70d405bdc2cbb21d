package vgpu

import (
	"math"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// matrixRows are the matrix instructions of a warp. What each shape of mma is stands in mma_shape.go.
var matrixRows = []row{
	{patterns: []string{"mma"}, class: perf.ClassTensor, section: "9.7.14.5.14", decode: decodeMatrix},
}

// decodeMatrix decodes mma.sync.aligned and mma.sp: D, A, B and C as vectors of registers, of a sparse one then the
// metadata and the selector.
func decodeMatrix(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{flags: flagSelf, pattern: -1}
	s, err := d.findShape(in)
	if err != nil {
		return x, err
	}
	want := 4
	if s.sparse() {
		want = 6
	}
	if err := d.operands(in, want, want); err != nil {
		return x, err
	}
	x.ext = &extra{second: -1, mma: s}
	na, nb, nc, nd := s.regs()
	for i, n := range []int{nd, na, nb, nc} {
		t := [4]string{s.d, s.a.name, s.b.name, s.c}[i]
		at, err := d.fragment(in, i, n, t)
		if err != nil {
			return x, err
		}
		if i == 0 {
			x.ext.regs = at
		} else {
			x.ext.sources = append(x.ext.sources, at...)
		}
	}
	if s.sparse() {
		at, err := d.source(&in.Operands[4], "b32")
		if err != nil {
			return x, err
		}
		x.ext.sources = append(x.ext.sources, at)
		most := uint64(4/s.metadataThreads() - 1)
		if f := &in.Operands[5]; f.Kind != ptx.OperandImmediate || f.Bits > most {
			return x, decodeError(d.m, in, "the selector of the sparse metadata must be a constant from 0 to %d", most)
		}
		x.imm = in.Operands[5].Bits
	}
	d.inf.flop, d.inf.flops, d.inf.warp = perf.FLOPTensor, 2*s.macs(), true
	x.fn = s.execute()
	return x, nil
}

// execute gives what executes a shape.
func (s *mmaShape) execute() opFunc {
	switch {
	case s.quadPairs():
		return opMatrixQuadPairs
	case s.a.bits == 1:
		return opMatrixBits
	case s.d == "f64":
		return opMatrixDouble
	case s.d == "s32":
		return opMatrixInteger
	case !s.sparse() && s.m == 16 && s.a.name == "f16" && s.k == 16 && s.d == "f32" && s.c == "f32":
		return opMatrixHalf16
	case !s.sparse() && s.m == 16 && s.a.name == "bf16" && s.k == 16:
		return opMatrixBfloat16
	}
	return opMatrixFloat
}

// fragment gives the slots of the n registers of operand i, whose elements are of type t; operand 0 is written.
func (d *decoder) fragment(in *ptx.Instruction, i, n int, t string) ([]uint32, error) {
	o := &in.Operands[i]
	list := o.Elements
	if o.Kind == ptx.OperandRegister {
		list = []ptx.Operand{*o}
	}
	if len(list) != n {
		return nil, decodeError(d.m, in, "operand %d has %d registers, expected %d", i+1, len(list), n)
	}
	if t != "f64" {
		t = "b32"
	}
	slots := make([]uint32, n)
	for j := range list {
		var err error
		switch {
		case i == 0:
			slots[j], err = d.destination(&list[j], t)
		case list[j].Kind == ptx.OperandImmediate && t == "b32" && list[j].Float != ptx.NotFloat:
			slots[j], err = d.source(&list[j], "f32")
		default:
			slots[j], err = d.source(&list[j], t)
		}
		if err != nil {
			return nil, err
		}
	}
	return slots, nil
}

// whole checks that all lanes take part: mma.sync.aligned and ldmatrix demand it.
func (w *warp) whole(in *inst) {
	if w.mask != allLanes {
		w.fault(in, int(lowest(^w.mask)), &driver.Fault{Kind: driver.Illegal, Detail: "an .aligned instruction that not all lanes of the warp execute", Mend: "let all 32 lanes reach it: move it out of the branch, and let idle lanes go along with zeros"})
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
	if farFromOne(&a, &b) {
		w.multiplyFused(in, &a, &b)
		return
	}
	w.multiply16(in, &a, &b)
}

// farFromOne reports whether a product of two factors may not be exact in f32, as those of bf16 near the ends of its range.
func farFromOne(a *[16][16]float32, b *[16][8]float32) bool {
	far := func(v float32) bool { v = abs32(v); return v != 0 && v < 0x1p-50 || v > 0x1p60 }
	for i := range a {
		for _, v := range a[i] {
			if far(v) {
				return true
			}
		}
		for _, v := range b[i] {
			if far(v) {
				return true
			}
		}
	}
	return false
}

// multiplyFused is multiply16 with products that are not rounded before they are added.
func (w *warp) multiplyFused(in *inst, a *[16][16]float32, b *[16][8]float32) {
	var result [4][32]float32
	for k := range result {
		for l, sum := range w.f32(in.ext.sources[6+k]) {
			row, column := &a[(l>>2+8*(k>>1))&15], (2*(l&3)+k&1)&7
			for i, x := range row {
				sum = fma32(x, b[i][column], sum)
			}
			result[k][l] = quiet(sum)
		}
	}
	for k := range result {
		*w.f32(in.ext.regs[k]) = result[k]
	}
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
