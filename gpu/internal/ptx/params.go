package ptx

// ParamOffsets gives the place of each parameter in the packed arguments: one behind the other, aligned as it is declared.
func (f *Function) ParamOffsets() []int {
	at, out := 0, make([]int, len(f.Params))
	for i, v := range f.Params {
		align := max(v.Align, 1)
		at = (at + align - 1) / align * align
		out[i] = at
		at += int(v.Size)
	}
	return out
}

// PointerParams marks the 64-bit parameters whose value goes through cvta or is the base of an address.
func (f *Function) PointerParams() []bool {
	pointers := make([]bool, len(f.Params))
	from := map[int32]int{}
	for i := range f.Body {
		in := &f.Body[i]
		if in.Opcode == "ld" && in.Has("param") && len(in.Operands) == 2 && in.Operands[0].Kind == OperandRegister && in.Operands[1].Offset == 0 {
			for k, v := range f.Params {
				if v == in.Operands[1].Variable && v.Size == 8 && TypeSize(f.Registers[in.Operands[0].Register].Type) == 8 {
					from[in.Operands[0].Register] = k
				}
			}
			continue
		}
		for k := range in.Operands {
			o := &in.Operands[k]
			if o.Kind == OperandAddress || in.Opcode == "cvta" && k == 1 {
				if param, ok := from[o.Register]; ok && o.Register >= 0 {
					pointers[param] = true
				}
			}
		}
	}
	return pointers
}
