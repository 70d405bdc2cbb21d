package vgpu

import "memwall/gpu/internal/ptx"

// placed is a variable in the CTA's shared memory or in a lane's frame.
type placed struct {
	v        *ptx.Variable
	at, size uint64
}

// origins tell from which parameter or shared variable the value of each register comes, as far as additions and moves
// show it: a pointer that was computed from a tensor's address must stay in that tensor. A register with several origins,
// or with one that is not known, has none.
type origins struct {
	p         *program
	of        []int32 // by register
	variables map[*ptx.Variable]int32
	params    map[*ptx.Variable]int32
}

const (
	originNone     int32 = -1 // no pointer, or nothing is known
	originUnset    int32 = -2
	originMany     int32 = -3
	originVariable int32 = 1 << 20 // and above: variables
)

func (p *program) origins() *origins {
	o := &origins{p: p, of: make([]int32, len(p.f.Registers)), variables: map[*ptx.Variable]int32{}, params: map[*ptx.Variable]int32{}}
	for i := range o.of {
		o.of[i] = originUnset
	}
	for i, v := range p.placed {
		o.variables[v.v] = originVariable + int32(i)
	}
	for i, v := range p.f.Params {
		o.params[v] = int32(i)
	}
	for changed := true; changed; {
		changed = false
		for i := range p.f.Body {
			in := &p.f.Body[i]
			if !hasDestination(in) || len(in.Operands) < 2 || in.Operands[0].Kind != ptx.OperandRegister {
				if hasDestination(in) && len(in.Operands) > 0 {
					for k := range in.Operands[0].Elements {
						changed = o.join(&in.Operands[0].Elements[k], originNone) || changed
					}
				}
				continue
			}
			changed = o.join(&in.Operands[0], o.result(in)) || changed
		}
	}
	return o
}

// join adds an origin to those of a register.
func (o *origins) join(dst *ptx.Operand, from int32) bool {
	if dst.Kind != ptx.OperandRegister || from == originUnset {
		return false
	}
	now := &o.of[dst.Register]
	switch {
	case *now == from || *now == originMany:
		return false
	case *now == originUnset:
		*now = from
	default:
		*now = originMany
	}
	return true
}

// result is the origin of what an instruction computes.
func (o *origins) result(in *ptx.Instruction) int32 {
	switch in.Opcode {
	case "ld":
		if a := &in.Operands[1]; in.Has("param") && a.Variable != nil && a.Offset == 0 && a.Variable.Size == 8 {
			if k, ok := o.params[a.Variable]; ok {
				return k
			}
		}
	case "mov", "cvta", "cvt":
		return o.operand(&in.Operands[1])
	case "add", "sub":
		return o.sum(in.Operands[1:])
	case "mad":
		return o.sum(in.Operands[3:])
	case "selp":
		a, b := o.operand(&in.Operands[1]), o.operand(&in.Operands[2])
		switch {
		case a == b || b == originUnset:
			return a
		case a == originUnset:
			return b
		}
		return originMany
	}
	return originNone
}

// sum is the origin of a sum: that of its one pointer.
func (o *origins) sum(list []ptx.Operand) int32 {
	from := originNone
	for i := range list {
		switch x := o.operand(&list[i]); {
		case x == originUnset:
			if from == originNone {
				from = originUnset
			}
		case x == originNone:
		case from == originNone || from == originUnset:
			from = x
		default:
			return originMany
		}
	}
	return from
}

func (o *origins) operand(a *ptx.Operand) int32 {
	switch {
	case a.Kind == ptx.OperandRegister && a.Register >= 0:
		return o.of[a.Register]
	case a.Variable != nil:
		if k, ok := o.variables[a.Variable]; ok {
			return k
		}
		return originMany
	}
	return originNone
}

// ofAddress is the origin of the address that an instruction accesses, originNone where there is none or several.
func (o *origins) ofAddress(in *ptx.Instruction) int32 {
	for i := range in.Operands {
		a := &in.Operands[i]
		if a.Kind != ptx.OperandAddress {
			continue
		}
		from := originNone
		if a.Register >= 0 {
			from = o.of[a.Register]
		} else if a.Variable != nil {
			from = o.operand(a)
		}
		if in.Opcode == "cp" || from < 0 || in.Has("param") { // cp has two addresses
			return originNone
		}
		return from
	}
	return originNone
}
