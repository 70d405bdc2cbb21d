package vgpu

import "memwall/gpu/internal/ptx"

// A 128-bit register takes four units: its lower 64 bits in every lane, then its upper 64.
const upperHalf = 2 * unit

func isQuad(r *ptx.Register) bool { return ptx.TypeSize(r.Type) == 16 }

// quadHalves gives the slots of the halves of a 128-bit operand: a register, or for mov a vector of two 64-bit ones.
func (d *decoder) quadHalves(o *ptx.Operand, load bool) ([]uint32, error) {
	list := []ptx.Operand{*o}
	t := "b128"
	if o.Kind == ptx.OperandVector {
		if list, t = o.Elements, "b64"; len(list) != 2 {
			return nil, decodeError(d.m, d.in, "a vector of %d cannot be packed into .b128", len(list))
		}
	}
	var halves []uint32
	for i := range list {
		at, err := uint32(0), error(nil)
		switch {
		case load:
			at, err = d.destination(&list[i], t)
		case t == "b128" && list[i].Kind != ptx.OperandRegister:
			err = decodeError(d.m, d.in, "operand %s is no 128-bit register", list[i].Name)
		default:
			at, err = d.source(&list[i], t)
		}
		if err != nil {
			return nil, err
		}
		halves = append(halves, at)
	}
	if t == "b128" {
		halves = append(halves, halves[0]+upperHalf)
	}
	return halves, nil
}

// decodeWideMove decodes mov.b128 between registers, and from and into two 64-bit registers (PTX ISA 9.7.9.4).
func decodeWideMove(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opWideMove, flags: flagSelf | flagWide, ext: &extra{second: -1}, pattern: -1}
	if err := d.operands(in, 2, 2); err != nil {
		return x, err
	}
	var err error
	if x.ext.regs, err = d.quadHalves(&in.Operands[0], true); err != nil {
		return x, err
	}
	x.ext.sources, err = d.quadHalves(&in.Operands[1], false)
	return x, err
}

// opWideMove copies both halves; the sources are read before a destination is written, since they may be the same.
func opWideMove(w *warp, in *inst) {
	low, high := *w.u64(in.ext.sources[0]), *w.u64(in.ext.sources[1])
	d, e := w.u64(in.ext.regs[0]), w.u64(in.ext.regs[1])
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i], e[i] = low[i], high[i]
	}
}

// decodeVectorMove decodes mov.v2 and mov.v4: from a vector, or from a special register of several components.
func decodeVectorMove(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opVectorMove, flags: flagSelf, ext: &extra{second: -1}, pattern: -1}
	if err := d.operands(in, 2, 2); err != nil {
		return x, err
	}
	t := lastType(in)
	n := int(in.Modifiers[0][1] - '0')
	to, from := in.Operands[0].Elements, in.Operands[1].Elements
	if in.Operands[1].Kind == ptx.OperandSpecial {
		from = nil
		for k := range n {
			o := in.Operands[1]
			if s := o.Special + ptx.Special(k); k < 3 {
				o.Special = s
			} else { // the fourth component of %tid and its like is 0
				o = ptx.Operand{Kind: ptx.OperandImmediate, Name: "0", Register: -1}
			}
			from = append(from, o)
		}
	}
	if len(to) != n || len(from) != n {
		return x, decodeError(d.m, in, "expected two vectors of %d", n)
	}
	if isWideType(t) {
		x.flags |= flagWide
	}
	for k := range n {
		at, err := d.destination(&to[k], t)
		if err != nil {
			return x, err
		}
		x.ext.regs = append(x.ext.regs, at)
		if at, err = d.source(&from[k], t); err != nil {
			return x, err
		}
		x.ext.sources = append(x.ext.sources, at)
	}
	return x, nil
}

// opVectorMove is d[k] = a[k] for each element, all read before any is written.
func opVectorMove(w *warp, in *inst) {
	var v [4]uint64
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		if in.flags&flagWide != 0 {
			for k, at := range in.ext.sources {
				v[k] = w.u64(at)[i]
			}
			for k, at := range in.ext.regs {
				w.u64(at)[i] = v[k]
			}
			continue
		}
		for k, at := range in.ext.sources {
			v[k] = uint64(w.u32(at)[i])
		}
		for k, at := range in.ext.regs {
			w.u32(at)[i] = uint32(v[k])
		}
	}
}
