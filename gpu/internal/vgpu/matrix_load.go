package vgpu

import (
	"unsafe"

	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// matrixMoveRows move 8×8 matrices of 16-bit elements between shared memory and fragments (PTX ISA 9.7.14.5.15 to 17).
// Lane 8q+r gives the address of row r of matrix q; in a register of a fragment lane l holds elements 2·(l%4) and
// 2·(l%4)+1 of row l/4, with .trans of column l/4.
var matrixMoveRows = []row{
	{patterns: []string{"ldmatrix"}, class: perf.ClassShared, section: "9.7.14.5.15", decode: decodeLoadMatrix},
	{patterns: []string{"stmatrix"}, class: perf.ClassShared, section: "9.7.14.5.16", decode: decodeStoreMatrix},
	{patterns: []string{"movmatrix"}, class: perf.ClassWarp, section: "9.7.14.5.17", decode: decodeMoveMatrix},
}

// decodeLoadMatrix decodes ldmatrix.sync.aligned of m8n8 and b16.
func decodeLoadMatrix(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	if d.sm < 75 {
		return inst{}, d.tooOld(in, 75, "")
	}
	return d.matrixMove(in, inst{fn: opLoadMatrix}, 0, 1)
}

// decodeStoreMatrix decodes stmatrix.sync.aligned of m8n8 and b16.
func decodeStoreMatrix(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	if d.sm < 90 {
		return inst{}, d.tooOld(in, 90, "")
	}
	return d.matrixMove(in, inst{fn: opStoreMatrix, flags: flagStore}, 1, 0)
}

// matrixMove decodes what ldmatrix and stmatrix have in common: modifiers in any order, the registers in operand data and
// the address in operand place.
func (d *decoder) matrixMove(in *ptx.Instruction, x inst, data, place int) (inst, error) {
	x.flags |= flagSelf
	x.size, x.pattern = 16, -1
	if in.Has("m16n16") || in.Has("m8n16") || in.Has("m16n8") || in.Has("b8") {
		return x, d.m.ErrorAt(in, "not supported by the virtual GPU", "forms of sm_100a are not executed; nearest that works: "+in.Opcode+".sync.aligned.m8n8.x4.shared.b16")
	}
	picks, err := d.anyOrder(in, "sync", "aligned", "m8n8", "x1 x2 x4", "- trans", "- shared shared::cta", "b16")
	if err != nil {
		return x, err
	}
	if err := d.operands(in, 2, 2); err != nil {
		return x, err
	}
	n := map[string]int{"x1": 1, "x2": 2, "x4": 4}[picks[3]]
	slots, err := d.fragment(in, data, n, "b32")
	if err != nil {
		return x, err
	}
	x.n, x.ext = uint8(n), &extra{second: -1, regs: slots}
	if picks[4] != "" {
		x.flags |= flagTrans
	}
	d.inf.kind = sharedLoad
	if x.flags&flagStore != 0 {
		d.inf.kind = sharedStore
	}
	if picks[5] == "" {
		x.flags |= flagGeneric
		return x, d.address(&x, &in.Operands[place], "", true)
	}
	return x, d.address(&x, &in.Operands[place], "shared", true)
}

// matrixRowsOf checks and counts the access to the rows whose addresses the lanes give, and points to them; to a row of
// its own where the sanitizer took a lane out.
func (w *warp) matrixRowsOf(in *inst) (rows [32]*[4]uint32) {
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
	lanes := w.mask
	w.mask = allLanes
	shared := unsafe.Pointer(unsafe.SliceData(w.cta.shared))
	for i := range 8 * n {
		if lanes>>i&1 != 0 {
			rows[i] = (*[4]uint32)(unsafe.Add(shared, a[i]))
		} else {
			rows[i] = new([4]uint32)
		}
	}
	return rows
}

// opLoadMatrix is ldmatrix.
func opLoadMatrix(w *warp, in *inst) {
	rows := w.matrixRowsOf(in)
	for q := range int(in.n) {
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

// opStoreMatrix is stmatrix.
func opStoreMatrix(w *warp, in *inst) {
	rows := w.matrixRowsOf(in)
	for q := range int(in.n) {
		d := w.u32(in.ext.regs[q])
		m := rows[8*q : 8*q+8]
		if in.flags&flagTrans == 0 {
			for r, row := range m {
				copy(row[:], d[4*r:4*r+4])
			}
			continue
		}
		for t := range 4 {
			upper, lower := (*[8]uint16)(unsafe.Pointer(m[2*t])), (*[8]uint16)(unsafe.Pointer(m[2*t+1]))
			for g := range 8 {
				upper[g], lower[g] = uint16(d[4*g+t]), uint16(d[4*g+t]>>16)
			}
		}
	}
}

// decodeMoveMatrix decodes movmatrix.sync.aligned.m8n8.trans.b16.
func decodeMoveMatrix(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opMoveMatrix, flags: flagSelf, pattern: -1}
	if d.sm < 75 {
		return x, d.tooOld(in, 75, "")
	}
	if _, err := d.grammar(in, "sync", "aligned", "m8n8", "trans", "b16"); err != nil {
		return x, err
	}
	if err := d.operands(in, 2, 2); err != nil {
		return x, err
	}
	var err error
	if x.d, err = d.destination(&in.Operands[0], "b32"); err != nil {
		return x, err
	}
	x.a, err = d.source(&in.Operands[1], "b32")
	return x, err
}

// opMoveMatrix is movmatrix: the fragment of the transposed matrix.
func opMoveMatrix(w *warp, in *inst) {
	w.whole(in)
	var m [8][8]uint16
	for l, v := range w.u32(in.a) {
		m[l>>2][2*(l&3)], m[l>>2][2*(l&3)+1] = uint16(v), uint16(v>>16)
	}
	d := w.u32(in.d)
	for l := range d {
		d[l] = uint32(m[2*(l&3)][l>>2]) | uint32(m[2*(l&3)+1][l>>2])<<16
	}
}
