package vgpu

import (
	"strings"

	"memwall/gpu/internal/ptx"
)

// maxInlined bounds what calls may grow a function to.
const maxInlined = 1 << 19

// inlineCalls gives an entry without calls: each direct call becomes the body of the function, with registers of its own,
// its .param variables standing for those of the call, and ret for a branch behind the call. Recursion, calls through a
// pointer and functions without a body are refused by name.
func inlineCalls(m *ptx.Module, f *ptx.Function) (*ptx.Function, error) {
	calls := false
	for i := range f.Body {
		calls = calls || f.Body[i].Opcode == "call"
	}
	if !calls {
		return f, nil
	}
	out := *f
	out.Body, out.Registers, out.Variables = nil, nil, nil
	x := &inliner{m: m, out: &out, placed: map[*ptx.Variable]bool{}}
	if err := x.expand(f, nil, []string{f.Name}); err != nil {
		return nil, err
	}
	out.Labels = nil
	seen := map[int]bool{}
	for i := range out.Body {
		for k := range out.Body[i].Operands {
			if o := &out.Body[i].Operands[k]; o.Kind == ptx.OperandLabel && !seen[o.Target] {
				seen[o.Target] = true
				out.Labels = append(out.Labels, ptx.Label{Name: o.Name, At: o.Target})
			}
		}
	}
	return &out, nil
}

type inliner struct {
	m      *ptx.Module
	out    *ptx.Function
	placed map[*ptx.Variable]bool
}

// expand appends the body of g; names is the chain of calls that leads to it.
func (x *inliner) expand(g *ptx.Function, params map[*ptx.Variable]*ptx.Variable, names []string) error {
	base := int32(len(x.out.Registers))
	x.out.Registers = append(x.out.Registers, g.Registers...)
	for _, v := range g.Variables {
		if !x.placed[v] {
			x.placed[v] = true
			x.out.Variables = append(x.out.Variables, v)
		}
	}
	at := make([]int, len(g.Body)+1)
	var own, returns []int
	for i := range g.Body {
		in := &g.Body[i]
		at[i] = len(x.out.Body)
		if len(x.out.Body) > maxInlined {
			return decodeError(x.m, in, "function %s grows beyond %d instructions by its calls", names[0], maxInlined)
		}
		copied := *in
		if in.Guard >= 0 {
			copied.Guard += base
		}
		copied.Operands = moveOperands(in.Operands, base, params)
		switch {
		case in.Opcode == "call":
			if err := x.call(in, copied, params, names); err != nil {
				return err
			}
			continue
		case in.Opcode == "ret" && len(names) > 1:
			returns = append(returns, len(x.out.Body))
			copied = branch(copied)
		default:
			own = append(own, len(x.out.Body))
		}
		x.out.Body = append(x.out.Body, copied)
	}
	at[len(g.Body)] = len(x.out.Body)
	for _, i := range own {
		for k := range x.out.Body[i].Operands {
			if o := &x.out.Body[i].Operands[k]; o.Kind == ptx.OperandLabel {
				o.Target = at[o.Target]
			}
		}
	}
	for _, i := range returns {
		x.out.Body[i].Operands[0].Target = len(x.out.Body)
	}
	return nil
}

// branch makes an instruction a branch that keeps its place, guard and text; its target is set later.
func branch(in ptx.Instruction) ptx.Instruction {
	in.Opcode, in.Modifiers, in.Spelling = "bra", nil, "bra"
	in.Operands = []ptx.Operand{{Kind: ptx.OperandLabel, Register: -1}}
	return in
}

// systemCall says what a function without a body is, and what to do instead.
func systemCall(name string) (what, instead string) {
	switch name {
	case "vprintf":
		return "printf in device code", "write the values to a tensor and read that: y.Float32s()"
	case "__assertfail":
		return "assert in device code", "write what was wrong to a tensor and read that, or compile with -DNDEBUG"
	case "malloc", "free":
		return name + " in device code", "pass a tensor of the size that all threads need together"
	}
	return "function " + name + " has no body here", "put its body into the same source: modules are not linked"
}

// call expands one call. The call itself stays as a branch to the next instruction, guarded the other way round as one
// over the body.
func (x *inliner) call(in *ptx.Instruction, copied ptx.Instruction, params map[*ptx.Variable]*ptx.Variable, names []string) error {
	var lists [2][]ptx.Operand // before and behind the name
	var name string
	side := 0
	for _, o := range copied.Operands {
		switch {
		case o.Kind == ptx.OperandList:
			lists[side] = append(lists[side], o.Elements...)
		case o.Kind == ptx.OperandFunction && name == "":
			name, side = o.Name, 1
		}
	}
	if name == "" {
		return x.m.ErrorAt(in, "not supported by the virtual GPU", "not yet: calls through a pointer; direct calls work")
	}
	g := x.m.Function(name)
	if g == nil {
		what, instead := systemCall(name)
		return x.m.ErrorAt(in, "not supported by the virtual GPU: "+what, instead)
	}
	for _, n := range names {
		if n == name {
			return x.m.ErrorAt(in, "not supported by the virtual GPU: recursion "+strings.Join(append(names, name), " → "), "write it as a loop")
		}
	}
	inner := map[*ptx.Variable]*ptx.Variable{}
	for k, formal := range [][]*ptx.Variable{g.Results, g.Params} {
		if len(lists[k]) != len(formal) {
			return decodeError(x.m, in, "%d arguments for the %d parameters of %s", len(lists[k]), len(formal), name)
		}
		for i, v := range formal {
			o := &lists[k][i]
			if o.Kind != ptx.OperandSymbol || o.Variable.Space != "param" || o.Variable.Size < v.Size {
				return decodeError(x.m, in, "argument %s does not fit parameter %s of %s", o.Name, v.Name, name)
			}
			inner[v] = o.Variable
		}
	}
	jump := branch(copied)
	jump.GuardNot = !jump.GuardNot
	here := len(x.out.Body)
	x.out.Body = append(x.out.Body, jump)
	if err := x.expand(g, inner, append(names[:len(names):len(names)], name)); err != nil {
		return err
	}
	target := here + 1
	if jump.Guard >= 0 {
		target = len(x.out.Body)
	}
	x.out.Body[here].Operands[0].Target = target
	return nil
}

// moveOperands copies operands with their registers moved and parameters replaced.
func moveOperands(list []ptx.Operand, base int32, params map[*ptx.Variable]*ptx.Variable) []ptx.Operand {
	if list == nil {
		return nil
	}
	moved := make([]ptx.Operand, len(list))
	for i, o := range list {
		if o.Register >= 0 && (o.Kind == ptx.OperandRegister || o.Kind == ptx.OperandAddress) {
			o.Register += base
		}
		if v := params[o.Variable]; v != nil {
			o.Variable = v
		}
		o.Elements = moveOperands(o.Elements, base, params)
		if o.Pair != nil {
			o.Pair = &moveOperands([]ptx.Operand{*o.Pair}, base, params)[0]
		}
		moved[i] = o
	}
	return moved
}
