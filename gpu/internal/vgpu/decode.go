package vgpu

import (
	"fmt"
	"math"
	"strings"

	"memwall/gpu/internal/ptx"
)

func isWideType(t string) bool { return ptx.TypeSize(t) == 8 }

func isFloatType(t string) bool {
	return t == "tf32" || strings.HasPrefix(t, "f") || strings.HasPrefix(t, "bf")
}

// typeBytes is the size of an operand type of the table, whose h16 stands for the bits of an f16 or bf16.
func typeBytes(t string) int {
	switch t {
	case "h16":
		return 2
	case "h16x2", "u16x2", "s16x2":
		return 4
	}
	return ptx.TypeSize(t)
}

// checkRegister compares a register's type with what an operand must be: the same size (conversions, loads and stores
// take wider ones) and no integer where a floating-point value belongs, or the other way round.
func (d *decoder) checkRegister(o *ptx.Operand, t string) error {
	r := &d.f.Registers[o.Register]
	if r.Type == "pred" {
		return d.m.ErrorAt(d.in, fmt.Sprintf("operand %s is a predicate, expected .%s", r.Name, t), "make a number of it: selp.b32 r, 1, 0, "+r.Name)
	}
	if (o.Select != "" || o.Negative) && d.in.Opcode[0] != 'v' {
		return decodeError(d.m, d.in, "operand %s: parts of a register stand only in video instructions", o.Name)
	}
	have, want := ptx.TypeSize(r.Type), typeBytes(t)
	wider := d.in.Opcode == "cvt" || d.in.Opcode == "ld" || d.in.Opcode == "st" || d.in.Opcode == "ldu"
	if isWideType(r.Type) != (want == 8) || (have == 16) != (want == 16) || have != want && !wider {
		return d.wrongType(r, t)
	}
	if d.in.Opcode == "ld" || d.in.Opcode == "st" || d.in.Opcode == "mov" || d.in.Opcode == "cvt" {
		return nil
	}
	kind := func(t string) byte {
		switch {
		case isFloatType(t):
			return 'f'
		case t[0] == 'u' || t[0] == 's':
			return 'i'
		}
		return 'b'
	}
	if last := lastType(d.in); kind(r.Type) == 'f' && kind(last) == 'i' && kind(t) == 'i' || kind(r.Type) == 'i' && kind(t) == 'f' {
		return d.wrongType(r, t)
	}
	return nil
}

// wrongType is the error of a register of another type than an operand's.
func (d *decoder) wrongType(r *ptx.Register, t string) error {
	have, want := ptx.TypeSize(r.Type), typeBytes(t)
	whole := func(bytes int) string { return fmt.Sprintf("u%d", 8*bytes) }
	var hint string
	switch {
	case have == want:
		hint = fmt.Sprintf("declare it .b%d, or move its bits: mov.b%d x, %s", 8*have, 8*have, r.Name)
	case have <= 8 && want <= 8 && !isFloatType(r.Type) && !isFloatType(t):
		hint = fmt.Sprintf("convert it: cvt.%s.%s x, %s", whole(want), whole(have), r.Name)
	case have <= 8 && want <= 8:
		hint = "convert it first, with cvt, or declare it ." + strings.TrimPrefix(t, "h")
	default:
		hint = "use a register of the operand's size"
	}
	return d.m.ErrorAt(d.in, fmt.Sprintf("operand %s is of type .%s, expected .%s", r.Name, r.Type, t), hint)
}

// lastType is the last modifier that is a type.
func lastType(in *ptx.Instruction) string {
	for i := len(in.Modifiers) - 1; i >= 0; i-- {
		if ptx.TypeSize(in.Modifiers[i]) > 0 {
			return in.Modifiers[i]
		}
	}
	return "b32"
}

// destination gives the slot that an instruction writes.
func (d *decoder) destination(o *ptx.Operand, t string) (uint32, error) {
	if o.Kind == ptx.OperandSink {
		return scratch, nil
	}
	if o.Kind != ptx.OperandRegister {
		return 0, d.m.ErrorAt(d.in, fmt.Sprintf("destination %s is no register", o.Name), "the first operand receives the result: give a register, or _ to drop it")
	}
	if o.Pair != nil {
		return 0, decodeError(d.m, d.in, "a second destination is not allowed here")
	}
	return d.s.at[o.Register], d.checkRegister(o, t)
}

// source gives the slot that holds a source operand: a register's, a constant's or a special register's.
func (d *decoder) source(o *ptx.Operand, t string) (uint32, error) {
	wide := typeBytes(t) == 8
	switch o.Kind {
	case ptx.OperandRegister:
		if o.Not {
			return 0, decodeError(d.m, d.in, "! stands only before a predicate")
		}
		return d.s.at[o.Register], d.checkRegister(o, t)
	case ptx.OperandImmediate:
		bits, err := d.immediate(o, t)
		return d.constant(bits, wide), err
	case ptx.OperandSymbol:
		address, err := d.symbol(o)
		return d.constant(address, wide), err
	case ptx.OperandSpecial:
		if !strings.Contains(o.Name, ".") && o.Special.Vector() && d.in.Modifiers[0] != "v4" {
			return 0, d.m.ErrorAt(d.in, "special register "+o.Name+" is a vector", "read one component: "+o.Name+".x")
		}
		return d.specialSlot(o.Special, wide)
	}
	return 0, d.m.ErrorAt(d.in, fmt.Sprintf("operand %s is neither a register nor a number", o.Name), "move it into a register first")
}

// immediate gives the bits of a number as an operand of type t.
func (d *decoder) immediate(o *ptx.Operand, t string) (uint64, error) {
	bits := o.Bits
	float := isFloatType(t) || t == "h16"
	if last := lastType(d.in); o.Float != ptx.NotFloat && !float {
		// mov.f32 and selp.f32 move bits: their rows say u32. Bit types take numbers of either kind.
		float = isFloatType(last) || last[0] == 'b'
	}
	switch {
	case o.Float != ptx.NotFloat && !float:
		return 0, decodeError(d.m, d.in, "number %s is no integer, expected .%s", o.Name, t)
	case o.Float == ptx.NotFloat && isFloatType(t):
		return 0, d.m.ErrorAt(d.in, "number "+o.Name+" is an integer, expected ."+t, "write it as 0f and its eight hexadecimal digits, or with a decimal point")
	case o.Float == ptx.Float64 && typeBytes(t) == 4:
		bits = uint64(math.Float32bits(float32(math.Float64frombits(bits))))
	case o.Float == ptx.Float32 && typeBytes(t) == 8:
		bits = math.Float64bits(float64(math.Float32frombits(uint32(bits))))
	}
	switch typeBytes(t) {
	case 1, 2:
		bits &= 0xffff
	case 4:
		bits &= 0xffffffff
	}
	return bits, nil
}

// symbol gives the address of a variable in its space.
func (d *decoder) symbol(o *ptx.Operand) (uint64, error) {
	address, ok := d.symbols[o.Variable]
	if !ok {
		if o.Variable.Extern {
			return 0, decodeError(d.m, d.in, "variable %s is .extern and nothing defines it", o.Variable.Name)
		}
		return 0, decodeError(d.m, d.in, "the address of .%s variable %s is not supported here", o.Variable.Space, o.Variable.Name)
	}
	return address + uint64(o.Offset), nil
}

// constant gives the slot that holds the same bits in every lane.
func (d *decoder) constant(bits uint64, wide bool) uint32 {
	key := constantKey{bits, wide}
	if at, ok := d.consts[key]; ok {
		return at
	}
	at := d.next
	d.next += unit << b2i(wide)
	d.consts[key] = at
	d.p.constants = append(d.p.constants, constant{at, bits, wide})
	return at
}

// specialSlot gives the slot of a special register; a 32-bit one widened where 64 bits are asked for.
func (d *decoder) specialSlot(s ptx.Special, wide bool) (uint32, error) {
	if s.Wide() != wide {
		return 0, decodeError(d.m, d.in, "special register of the wrong size")
	}
	switch s {
	case ptx.Clock, ptx.ClockHi, ptx.Clock64, ptx.GlobalTimer, ptx.GlobalTimerLo, ptx.GlobalTimerHi:
		return 0, decodeError(d.m, d.in, "clocks can only be read by mov")
	}
	if at, ok := d.special[s]; ok {
		return at, nil
	}
	at := d.next
	d.next += unit << b2i(wide)
	d.special[s] = at
	slot := specialSlot{s, at}
	switch s {
	case ptx.CtaidX, ptx.CtaidY, ptx.CtaidZ, ptx.SMID, ptx.ClusterIDX, ptx.ClusterIDY, ptx.ClusterIDZ, ptx.ClusterCtaidX, ptx.ClusterCtaidY, ptx.ClusterCtaidZ,
		ptx.ClusterCtarank, ptx.EnvReg1, ptx.EnvReg2, ptx.NSMID, ptx.NwarpID, ptx.GridID:
		d.p.perCTA = append(d.p.perCTA, slot)
	default:
		d.p.specials = append(d.p.specials, slot)
	}
	return at, nil
}

// predicate gives the index of a predicate operand and the mask that negates it.
func (d *decoder) predicate(o *ptx.Operand) (uint32, uint32, error) {
	if o.Kind != ptx.OperandRegister || !isPredicate(&d.f.Registers[o.Register]) {
		return 0, 0, d.m.ErrorAt(d.in, fmt.Sprintf("operand %s is no predicate", o.Name), "compare it first, with setp, and give the predicate")
	}
	var not uint32
	if o.Not {
		not = allLanes
	}
	return d.s.at[o.Register], not, nil
}

// predicateDestination is predicate for a destination, where _ swallows the result.
func (d *decoder) predicateDestination(o *ptx.Operand) (uint32, error) {
	if o.Kind == ptx.OperandSink {
		return predSink, nil
	}
	if o.Not {
		return 0, decodeError(d.m, d.in, "! cannot stand before a destination")
	}
	at, _, err := d.predicate(o)
	return at, err
}

// operands checks their number.
func (d *decoder) operands(in *ptx.Instruction, least, most int) error {
	if n := len(in.Operands); n < least || n > most {
		if least == most {
			return decodeError(d.m, in, "%d operands, expected %d", n, least)
		}
		return decodeError(d.m, in, "%d operands, expected %d to %d", n, least, most)
	}
	return nil
}

// comparison decodes setp and testp.
func (d *decoder) comparison(in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: r.lane, flags: flagSelf, pattern: -1}
	n := 1 + len(r.src)
	combine := int8(0)
	if in.Opcode == "setp" {
		switch in.Modifiers[1] {
		case "and":
			combine = 1
		case "or":
			combine = 2
		case "xor":
			combine = 3
		}
	}
	if combine != 0 {
		n++
	}
	if err := d.operands(in, n, n); err != nil {
		return x, err
	}
	var err error
	o := in.Operands[0]
	if x.d, err = d.predicateDestination(&o); err != nil {
		return x, err
	}
	if x.a, err = d.source(&in.Operands[1], r.src[0]); err != nil {
		return x, err
	}
	if len(r.src) > 1 {
		if x.b, err = d.source(&in.Operands[2], r.src[1]); err != nil {
			return x, err
		}
	}
	if combine == 0 && o.Pair == nil {
		return x, nil
	}
	x.ext = &extra{second: -1, combine: combine}
	if o.Pair != nil {
		second, err := d.predicateDestination(o.Pair)
		if err != nil {
			return x, err
		}
		x.ext.second = int32(second)
	}
	if combine != 0 {
		if x.ext.third, x.ext.notC, err = d.predicate(&in.Operands[n-1]); err != nil {
			return x, err
		}
	}
	return x, nil
}

// grammar reads an instruction's modifiers in order: each place lists what may stand there, first "" where it may be
// left out. It gives what stands in each place.
func (d *decoder) grammar(in *ptx.Instruction, places ...string) ([]string, error) {
	picks := make([]string, len(places))
	at := 0
	for k, place := range places {
		optional := false
		for _, option := range strings.Split(place, " ") {
			if option == "-" {
				optional = true
			} else if at < len(in.Modifiers) && in.Modifiers[at] == option {
				picks[k] = option
				at++
				break
			}
		}
		if picks[k] == "" && !optional {
			found := "the end"
			if at < len(in.Modifiers) {
				found = "." + in.Modifiers[at]
			}
			return nil, d.m.ErrorAt(in, "not supported by the virtual GPU", "expected ."+strings.Join(strings.Fields(place), " or .")+" in place of "+found)
		}
	}
	if at < len(in.Modifiers) {
		return nil, d.m.ErrorAt(in, "not supported by the virtual GPU", unknownModifier(in.Modifiers[at]))
	}
	return picks, nil
}

// anyOrder reads modifiers of which each must belong to one of the groups, at most one of each; compilers write those of
// memory instructions in several orders. A group that begins with "-" may be left out.
func (d *decoder) anyOrder(in *ptx.Instruction, groups ...string) ([]string, error) {
	picks := make([]string, len(groups))
	for _, m := range in.Modifiers {
		found := false
		for k, g := range groups {
			for _, option := range strings.Fields(g) {
				if option == m && option != "-" && picks[k] == "" && !found {
					picks[k], found = m, true
				}
			}
		}
		if !found {
			return nil, d.m.ErrorAt(in, "not supported by the virtual GPU", unknownModifier(m))
		}
	}
	for k, g := range groups {
		if picks[k] == "" && !strings.HasPrefix(g, "-") {
			return nil, d.m.ErrorAt(in, "not supported by the virtual GPU", "expected one of ."+strings.Join(strings.Fields(g), " ."))
		}
	}
	return picks, nil
}

// unknownModifier says that a modifier is none of an instruction's, and what works instead where that is known.
func unknownModifier(m string) string {
	if m == "rs" {
		return "stochastic rounding (.rs) is not executed; nearest that works: .rn"
	}
	return "modifier ." + m + " is unknown here"
}
