package vgpu

import (
	"slices"

	"memwall/gpu/internal/ptx"
)

// Bytes between the members of a structure are never written and travel with them: compilers copy structures by words and
// by vectors of words. A copy of them is no use of memory that nothing wrote.

// absentFrom is absent for shared and local memory, where an element counts as written when one of its bytes is.
func (c *sanitizer) absentFrom(v writtenBits, in *inst, at, size uint64) (uint64, bool) {
	if _, bad := v.missing(at, size); !bad {
		return 0, false
	}
	return c.absent(in, at, size, true, v.missing)
}

// absent gives the first place of a read that uses what nothing has written: an element of which nothing is written, or of
// which something is missing where partly is false; but not an element that is only passed on beside others that are written.
func (c *sanitizer) absent(in *inst, at, size uint64, partly bool, missing func(at, n uint64) (uint64, bool)) (uint64, bool) {
	element := uint64(in.size)
	if element == 0 || element > size {
		element = min(size, 4)
	}
	none := func(from, n uint64) bool {
		for i := from; i < from+n; i++ {
			if _, bad := missing(i, 1); !bad {
				return false
			}
		}
		return true
	}
	nothing := none(at, size)
	for k := uint64(0); k*element < size; k++ {
		from := at + k*element
		first, bad := missing(from, element)
		if !bad {
			continue
		}
		all := none(from, element)
		if partly && !all || all && !nothing && c.travels(in.id, int(k)) {
			continue
		}
		return first, true
	}
	return 0, false
}

// travels reports whether the k-th register that a load fills is only stored again.
func (c *sanitizer) travels(id int32, k int) bool {
	in := &c.p.f.Body[id]
	if in.Opcode != "ld" || len(in.Operands) == 0 || in.Operands[0].Kind != ptx.OperandVector || k >= len(in.Operands[0].Elements) {
		return false
	}
	key := [2]int32{id, int32(k)}
	travels, known := c.travelling[key]
	if !known {
		travels = c.onlyStored(in.Operands[0].Elements[k].Register, mostCopies)
		c.travelling[key] = travels
	}
	return travels
}

// mostCopies are followed from register to register.
const mostCopies = 4

// onlyStored reports whether nothing reads a register but stores of it, and copies of which that is true.
func (c *sanitizer) onlyStored(register int32, depth int) bool {
	if register < 0 || depth == 0 {
		return false
	}
	var holds func(o *ptx.Operand) bool
	holds = func(o *ptx.Operand) bool {
		return o.Register == register && (o.Kind == ptx.OperandRegister || o.Kind == ptx.OperandAddress) ||
			o.Pair != nil && holds(o.Pair) || slices.ContainsFunc(o.Elements, func(e ptx.Operand) bool { return holds(&e) })
	}
	for i := range c.p.f.Body {
		in := &c.p.f.Body[i]
		for j := range in.Operands {
			o := &in.Operands[j]
			switch {
			case !holds(o):
			case in.Opcode == "st" && j == 1: // it is the data
			case in.Opcode != "st" && j == 0 && o.Kind != ptx.OperandAddress: // it is filled
			case in.Opcode == "mov" && j == 1 && o.Kind == ptx.OperandRegister && in.Operands[0].Kind == ptx.OperandRegister &&
				c.onlyStored(in.Operands[0].Register, depth-1):
			default:
				return false
			}
		}
	}
	return true
}
