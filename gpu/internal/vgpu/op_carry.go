package vgpu

import (
	"math/bits"

	"memwall/gpu/internal/ptx"
)

// carryKind says what an extended-precision instruction does (PTX ISA 9.7.2). The carry flag is predicate predCarry.
const (
	carryIn uint64 = 1 << iota
	carryOut
	carrySub
	carryHigh
	carrySigned
	carryWide
)

func carryFlags(in *ptx.Instruction) uint64 {
	var k uint64
	if in.Opcode == "addc" || in.Opcode == "subc" || in.Opcode == "madc" {
		k |= carryIn
	}
	if in.Has("cc") {
		k |= carryOut
	}
	if in.Opcode == "sub" || in.Opcode == "subc" {
		k |= carrySub
	}
	if in.Has("hi") {
		k |= carryHigh
	}
	t := lastType(in)
	if t[0] == 's' {
		k |= carrySigned
	}
	if isWideType(t) {
		k |= carryWide
	}
	return k
}

func decodeCarry(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	return d.carry(in, opCarry, 3)
}

func decodeCarryMad(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	return d.carry(in, opCarryMad, 4)
}

func (d *decoder) carry(in *ptx.Instruction, fn opFunc, n int) (inst, error) {
	x := inst{fn: fn, flags: flagSelf, imm: carryFlags(in), pattern: -1}
	if err := d.operands(in, n, n); err != nil {
		return x, err
	}
	t := lastType(in)
	var err error
	if x.d, err = d.destination(&in.Operands[0], t); err != nil {
		return x, err
	}
	for k, into := range []*uint32{&x.a, &x.b, &x.c}[:n-1] {
		if *into, err = d.source(&in.Operands[k+1], t); err != nil {
			return x, err
		}
	}
	return x, nil
}

// opCarry is add.cc, addc, sub.cc, subc: d = a + b + CC.CF, or d = a + ^b + CC.CF, with 1 in place of CC.CF where the
// instruction begins a chain, and with .cc the carry goes to CC.CF. After a subtraction CC.CF is therefore 0 where there was a
// borrow: the PTX ISA (9.7.2) leaves open what an addc sees behind a subc, and the compiler's 128-bit division relies on this.
func opCarry(w *warp, in *inst) {
	k, flag := in.imm, w.pred[predCarry]
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		var invert, carry uint64
		if k&carrySub != 0 {
			invert, carry = ^uint64(0), 1
		}
		if k&carryIn != 0 {
			carry = uint64(flag >> i & 1)
		}
		if k&carryWide != 0 {
			w.u64(in.d)[i], carry = bits.Add64(w.u64(in.a)[i], w.u64(in.b)[i]^invert, carry)
		} else {
			r, c := bits.Add32(w.u32(in.a)[i], w.u32(in.b)[i]^uint32(invert), uint32(carry))
			w.u32(in.d)[i], carry = r, uint64(c)
		}
		if k&carryOut != 0 {
			flag = flag&^(1<<i) | uint32(carry)<<i
		}
	}
	w.pred[predCarry] = flag
}

// opCarryMad is mad.cc and madc: d = the lower or upper half of a·b, plus c, plus CC.CF.
func opCarryMad(w *warp, in *inst) {
	k, flag := in.imm, w.pred[predCarry]
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		var carry uint64
		if k&carryIn != 0 {
			carry = uint64(flag >> i & 1)
		}
		if k&carryWide != 0 {
			a, b := w.u64(in.a)[i], w.u64(in.b)[i]
			p := a * b
			if k&carryHigh != 0 {
				p = mulHighUnsigned(a, b)
				if k&carrySigned != 0 {
					p = uint64(mulHighSigned(int64(a), int64(b)))
				}
			}
			w.u64(in.d)[i], carry = bits.Add64(p, w.u64(in.c)[i], carry)
		} else {
			a, b := w.u32(in.a)[i], w.u32(in.b)[i]
			p := uint64(a) * uint64(b)
			if k&carrySigned != 0 {
				p = uint64(int64(int32(a)) * int64(int32(b)))
			}
			if k&carryHigh != 0 {
				p >>= 32
			}
			r, c := bits.Add32(uint32(p), w.u32(in.c)[i], uint32(carry))
			w.u32(in.d)[i], carry = r, uint64(c)
		}
		if k&carryOut != 0 {
			flag = flag&^(1<<i) | uint32(carry)<<i
		}
	}
	w.pred[predCarry] = flag
}
