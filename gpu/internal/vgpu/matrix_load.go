package vgpu

import (
	"unsafe"

	"memwall/gpu/internal/ptx"
)

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
