package vgpu

import (
	"math"

	"memwall/gpu/internal/ptx"
)

// countUses counts how often each register is read and written.
func (d *decoder) countUses() {
	d.uses, d.defs = make([]uint32, len(d.f.Registers)), make([]uint32, len(d.f.Registers))
	for i := range d.f.Body {
		registersOf(&d.f.Body[i], func(r int32) { d.uses[r]++ }, func(r int32) { d.defs[r]++ })
	}
}

// fuse joins mov.b32 {low, high}, r and the cvt.f32.f16 of one half behind it, where nothing else reads the halves: half
// to float conversions come so from NVRTC. Counters know nothing of it: they count PTX instructions.
func (d *decoder) fuse(x inst, in, next *ptx.Instruction) (inst, bool) {
	if in.Opcode != "mov" || next.Spelling != "cvt.f32.f16" || in.Guard >= 0 || next.Guard >= 0 || in.Operands[0].Kind != ptx.OperandVector ||
		len(in.Operands[0].Elements) != 2 || lastType(in) != "b32" || len(next.Operands) != 2 {
		return x, false
	}
	o, dst := &next.Operands[1], &next.Operands[0]
	if o.Kind != ptx.OperandRegister || dst.Kind != ptx.OperandRegister || ptx.TypeSize(d.f.Registers[dst.Register].Type) != 4 {
		return x, false
	}
	var fn opFunc
	half := 0
	for k, e := range in.Operands[0].Elements {
		if e.Kind != ptx.OperandRegister {
			continue
		}
		uses := uint32(0)
		if e.Register == o.Register {
			uses, fn, half = 1, []opFunc{laneCvtF32F16, laneCvtF32F16High}[k], k
		}
		if d.uses[e.Register] != uses || d.defs[e.Register] != 1 {
			return x, false
		}
	}
	return inst{fn: fn, d: d.s.at[dst.Register], a: x.a, pattern: -1, flags: []uint16{flagLow, flagHigh}[half]}, fn != nil
}

// laneCvtF32F16High is cvt.f32.f16 of the upper half of a register: d = float32(a>>16).
func laneCvtF32F16High(w *warp, in *inst) {
	d, a := w.f32(in.d), w.u32(in.a)
	var r [32]float32
	var carries uint32
	for i := range r {
		h := uint32(int32(a[i])>>3) & 0x8fffe000
		carries |= h + 1<<23
		r[i] = math.Float32frombits(h) * 0x1p112
	}
	if carries&(1<<28) != 0 {
		for i := range r {
			r[i] = quiet(halfToFloat(uint16(a[i] >> 16)))
		}
	}
	*d = r
}

// opHalves is both conversions of a register: d = float32(a & 0xffff), e = float32(a>>16).
func opHalves(w *warp, in *inst) {
	a := w.u32(in.a)
	var low, high [32]float32
	var carries uint32
	for i := range low {
		l, h := uint32(int32(a[i]<<16)>>3)&0x8fffe000, uint32(int32(a[i])>>3)&0x8fffe000
		carries |= (l + 1<<23) | (h + 1<<23)
		low[i], high[i] = math.Float32frombits(l)*0x1p112, math.Float32frombits(h)*0x1p112
	}
	if carries&(1<<28) != 0 {
		for i := range low {
			low[i], high[i] = quiet(halfToFloat(uint16(a[i]))), quiet(halfToFloat(uint16(a[i]>>16)))
		}
	}
	d, e := w.f32(in.d), w.f32(in.e)
	if w.mask == allLanes {
		*d, *e = low, high
		return
	}
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i], e[i] = low[i], high[i]
	}
}

// pair joins the conversion of a register's upper half with that of its lower half just before it.
func (d *decoder) pair(b *block, high inst) bool {
	n := len(b.code) - 1
	if n < 0 || high.flags&flagHigh == 0 {
		return false
	}
	low := b.code[n]
	if low.flags&flagLow == 0 || low.a != high.a || low.d == low.a || low.d == high.d {
		return false
	}
	x := inst{fn: opHalves, d: low.d, e: high.d, a: low.a, pattern: -1, id: low.id, flags: flagSelf}
	b.code[n], b.twins[n] = x, x
	return true
}

// findHalves marks the registers whose only value is a half converted to a float: the product of two such is exact in f32.
func (d *decoder) findHalves() {
	d.half = make([]bool, len(d.f.Registers))
	for i := range d.f.Body {
		in := &d.f.Body[i]
		if in.Spelling == "cvt.f32.f16" && len(in.Operands) == 2 && in.Operands[0].Kind == ptx.OperandRegister && d.defs[in.Operands[0].Register] == 1 {
			d.half[in.Operands[0].Register] = true
		}
	}
}

// exactProduct reports whether an fma multiplies two converted halves: 11 bits times 11 bits, exponents from -48 to 32.
func (d *decoder) exactProduct(in *ptx.Instruction) bool {
	if in.Spelling != "fma.rn.f32" || len(in.Operands) != 4 {
		return false
	}
	for _, o := range in.Operands[1:3] {
		if o.Kind != ptx.OperandRegister || o.Register < 0 || !d.half[o.Register] {
			return false
		}
	}
	return true
}

// laneFmaHalves is fma.rn.f32 of an exact product: d = a*b + c rounds once. NaN takes the exact way, to become canonical.
func laneFmaHalves(w *warp, in *inst) {
	d, a, b, c := w.f32(in.d), w.f32(in.a), w.f32(in.b), w.f32(in.c)
	var r [32]float32
	odd := false
	for i := range r {
		v := float32(a[i]*b[i]) + c[i]
		if v != v {
			odd = true
		}
		r[i] = v
	}
	if odd {
		for i := range r {
			r[i] = fma32(a[i], b[i], c[i])
		}
	}
	*d = r
}
