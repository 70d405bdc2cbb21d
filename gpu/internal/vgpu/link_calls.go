package vgpu

import (
	"fmt"

	"memwall/gpu/internal/ptx"
)

// passIn moves a call's arguments to where a body that stands in its place finds them, as far as the two do not share a
// variable.
func (x *linker) passIn(g *ptx.Function, c callee, in *ptx.Instruction, params map[*ptx.Variable]*ptx.Variable, base int32) error {
	for i, v := range g.Params {
		if params[v] == nil {
			x.pseudo(callArgument, in, x.formal(v, base), c.lists[1][i])
		}
	}
	for _, v := range g.Results {
		if params[v] == nil {
			x.formal(v, base)
		}
	}
	return nil
}

// passOut moves the results back.
func (x *linker) passOut(g *ptx.Function, c callee, in *ptx.Instruction, params map[*ptx.Variable]*ptx.Variable, base int32) error {
	for i, v := range g.Results {
		if o := c.lists[0][i]; params[v] == nil && o.Kind != ptx.OperandSink {
			x.pseudo(callArgument, in, o, x.formal(v, base))
		}
	}
	return nil
}

// formal is the operand that stands for a parameter inside its function.
func (x *linker) formal(v *ptx.Variable, base int32) ptx.Operand {
	if v.Space == "reg" {
		return ptx.Operand{Kind: ptx.OperandRegister, Register: base + v.Register, Name: v.Name}
	}
	x.place(v)
	return ptx.Operand{Kind: ptx.OperandSymbol, Variable: v, Name: v.Name, Register: -1}
}

func (x *linker) place(v *ptx.Variable) {
	if !x.placed[v] {
		x.placed[v] = true
		x.out.Variables = append(x.out.Variables, v)
	}
}

// between is the variable through which the i-th result (kind 0) or argument (1) goes of functions that are entered.
func (x *linker) between(kind, i int, size int64) ptx.Operand {
	for len(x.passed[kind]) <= i {
		v := &ptx.Variable{Space: "param", Name: fmt.Sprintf("%s %d", [2]string{"result", "argument"}[kind], len(x.passed[kind])), Type: "b8", Align: 16}
		x.passed[kind] = append(x.passed[kind], v)
		x.place(v)
	}
	v := x.passed[kind][i]
	v.Size = max(v.Size, size)
	return ptx.Operand{Kind: ptx.OperandSymbol, Variable: v, Name: v.Name, Register: -1}
}

// sizeOf is how many bytes an operand of a call passes.
func (x *linker) sizeOf(o *ptx.Operand) int64 {
	switch o.Kind {
	case ptx.OperandSymbol:
		return o.Variable.Size
	case ptx.OperandRegister:
		return int64(ptx.TypeSize(x.out.Registers[o.Register].Type))
	}
	return 8
}

// enter writes a call of a function that is entered: arguments out, the call, results back. results are the formal ones, nil
// where they are not known.
func (x *linker) enter(in *ptx.Instruction, c callee, results []*ptx.Variable, note func()) error {
	for i := range c.lists[1] {
		o := c.lists[1][i]
		x.pseudo(callArgument, in, x.between(1, i, x.sizeOf(&o)), o)
		x.guardLike(in)
	}
	note()
	copied := *in
	copied.Modifiers, copied.Spelling = []string{callEnter}, "call."+callEnter
	copied.Operands = nil
	if c.pointer != nil {
		copied.Operands = []ptx.Operand{*c.pointer}
	}
	x.out.Body = append(x.out.Body, copied)
	for i := range c.lists[0] {
		if o := c.lists[0][i]; o.Kind != ptx.OperandSink {
			x.pseudo(callArgument, in, o, x.between(0, i, x.sizeOf(&o)))
			x.guardLike(in)
		}
	}
	return nil
}

func (x *linker) guardLike(in *ptx.Instruction) {
	last := &x.out.Body[len(x.out.Body)-1]
	last.Guard, last.GuardNot = in.Guard, in.GuardNot
}

// callPointer writes a call through a pointer; every function whose address is taken and whose parameters fit may be meant.
func (x *linker) callPointer(in *ptx.Instruction, c callee) error {
	x.result.pointers = true
	if x.taken == nil {
		x.taken = takenFunctions(x.m)
	}
	for _, g := range x.taken {
		if x.fits(in, c, g) == nil {
			x.need(g)
		}
	}
	return x.enter(in, c, nil, func() {})
}

// takenFunctions are those whose address stands in an instruction or in a variable.
func takenFunctions(m *ptx.Module) []*ptx.Function {
	list := []*ptx.Function{}
	seen := map[string]bool{}
	add := func(name string) {
		if g := m.Function(name); g != nil && !g.Entry && !seen[name] {
			seen[name] = true
			list = append(list, g)
		}
	}
	for _, f := range m.Functions {
		for i := range f.Body {
			if in := &f.Body[i]; in.Opcode != "call" {
				for k := range in.Operands {
					if in.Operands[k].Kind == ptx.OperandFunction {
						add(in.Operands[k].Name)
					}
				}
			}
		}
		for _, v := range f.Variables {
			for _, r := range v.InitRefs {
				add(r.Name)
			}
		}
		for _, t := range f.Tables {
			for _, n := range t.Names {
				add(n)
			}
		}
	}
	for _, v := range m.Variables {
		for _, r := range v.InitRefs {
			add(r.Name)
		}
	}
	return list
}

// need gives the number of the part of a function that is entered.
func (x *linker) need(g *ptx.Function) int {
	if k, ok := x.partOf[g]; ok {
		return k
	}
	k := len(x.queue)
	x.partOf[g] = k
	x.queue = append(x.queue, g)
	return k
}

// enterPart takes the arguments over at a function's start.
func (x *linker) enterPart(g *ptx.Function, base int32) {
	like := &ptx.Instruction{Line: g.Line}
	for i, v := range g.Params {
		x.pseudo(callArgument, like, x.formal(v, base), x.between(1, i, v.Size))
	}
}

// addPart appends a function that is entered: arguments taken over, body, results handed on, and the place where its lanes
// meet.
func (x *linker) addPart(k int) error {
	g := x.queue[k]
	if x.result.pointers {
		if err := x.acyclic(g, []string{g.Name}, map[*ptx.Function]bool{}); err != nil {
			return err
		}
	}
	p := portion{name: g.Name, from: len(x.out.Body)}
	p.address, _ = functionAddress(x.m, g.Name)
	base := int32(len(x.out.Registers))
	if err := x.expand(g, nil, nil, k); err != nil {
		return err
	}
	like := &ptx.Instruction{Line: g.Line}
	for i, v := range g.Results {
		x.pseudo(callArgument, like, x.between(0, i, v.Size), x.formal(v, base))
	}
	x.pseudo(callReturn, like)
	p.to = len(x.out.Body)
	x.result.parts = append(x.result.parts, p)
	return nil
}

// settle writes the targets of calls, and lists the labels.
func (x *linker) settle() {
	out := x.out
	for _, e := range x.enters {
		out.Body[e.instruction].Operands = []ptx.Operand{{Kind: ptx.OperandLabel, Register: -1, Target: x.result.parts[e.part].from, Name: x.result.parts[e.part].name}}
	}
	out.Labels = nil
	seen := map[int]bool{}
	label := func(name string, at int) {
		if !seen[at] {
			seen[at] = true
			out.Labels = append(out.Labels, ptx.Label{Name: name, At: at})
		}
	}
	for i := range out.Body {
		for k := range out.Body[i].Operands {
			if o := &out.Body[i].Operands[k]; o.Kind == ptx.OperandLabel {
				label(o.Name, o.Target)
			}
		}
	}
	for _, t := range out.Tables {
		for _, at := range t.Targets {
			label(t.Name, at)
		}
	}
	for _, p := range x.result.parts {
		label(p.name, p.from)
		label(p.name, p.to-1)
	}
}

// missingFunction says what a function without a body is, and what to do instead.
func missingFunction(name string) (what, instead string) {
	switch name {
	case "cudaDeviceSynchronize", "cudaLaunchDeviceV2", "cudaGetParameterBufferV2", "cudaLaunchDevice", "cudaGetParameterBuffer":
		return name + ": launches from device code", "launch from the host"
	}
	return "function " + name + " has no body here", "put its body into the same source: modules are not linked"
}
