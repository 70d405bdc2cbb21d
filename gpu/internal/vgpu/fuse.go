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
	for k, e := range in.Operands[0].Elements {
		if e.Kind != ptx.OperandRegister {
			continue
		}
		uses := uint32(0)
		if e.Register == o.Register {
			uses, fn = 1, []opFunc{laneCvtF32F16, laneCvtF32F16High}[k]
		}
		if d.uses[e.Register] != uses || d.defs[e.Register] != 1 {
			return x, false
		}
	}
	return inst{fn: fn, d: d.s.at[dst.Register], a: x.a, pattern: -1}, fn != nil
}

// laneCvtF32F16High is cvt.f32.f16 of the upper half of a register: d = float32(a>>16).
func laneCvtF32F16High(w *warp, in *inst) {
	d, a := w.f32(in.d), w.u32(in.a)
	var r [32]float32
	odd := false
	for i := range r {
		h := a[i] >> 16
		if h&0x7fff >= 0x7c00 {
			odd = true
		}
		r[i] = math.Float32frombits(math.Float32bits(math.Float32frombits(h&0x7fff<<13)*0x1p112) | h&0x8000<<16)
	}
	if odd {
		for i := range r {
			r[i] = quiet(halfToFloat(uint16(a[i] >> 16)))
		}
	}
	*d = r
}
