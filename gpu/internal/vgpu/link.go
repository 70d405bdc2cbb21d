package vgpu

import (
	"strings"

	"memwall/gpu/internal/ptx"
)

const (
	// maxInlined is how many instructions calls may make of an entry by putting bodies in their places; beyond, and where a
	// function is called through a pointer, its body stands once and is entered and left.
	maxInlined = 1 << 14
	maxBody    = 1 << 20
)

// Instructions that link puts into a body; the parser makes none with these modifiers.
const (
	callArgument = "argument" // call.argument to, from: between what a call names and where the function finds it
	callEnter    = "enter"    // call.enter function: ends its block
	callReturn   = "return"   // where lanes meet that have come back: never executed
	callEnd      = "end"      // behind an entry's last instruction
)

// linked is an entry with everything that it calls in one body.
type linked struct {
	f        *ptx.Function
	inlined  bool      // instructions of it stand for several places of the text, or for none
	parts    []portion // the functions that are entered
	pointers bool      // functions are called through pointers
}

// portion is a function that is entered: instructions [from, to) of the body, the last of them call.return.
type portion struct {
	name     string
	from, to int
	address  uint64 // that pointers to it hold
}

// link puts the bodies of called functions behind an entry or in the places of its calls. Arguments and results go through
// variables of their own, one for each position. Recursion is refused by name: registers have one place each.
func link(m *ptx.Module, entry *ptx.Function) (*linked, error) {
	calls := false
	for i := range entry.Body {
		calls = calls || entry.Body[i].Opcode == "call"
	}
	if !calls {
		return &linked{f: entry}, nil
	}
	out := *entry
	out.Body, out.Registers, out.Variables, out.Tables = nil, nil, nil, nil
	x := &linker{m: m, out: &out, placed: map[*ptx.Variable]bool{}, sizes: map[*ptx.Function]int{}, partOf: map[*ptx.Function]int{}, result: &linked{inlined: true}}
	if err := x.acyclic(entry, []string{entry.Name}, map[*ptx.Function]bool{}); err != nil {
		return nil, err
	}
	x.inline = x.size(entry) <= maxInlined
	if err := x.expand(entry, nil, nil, -1); err != nil {
		return nil, err
	}
	x.pseudo(callEnd, &entry.Body[len(entry.Body)-1])
	for k := 0; k < len(x.queue); k++ { // grows
		if err := x.addPart(k); err != nil {
			return nil, err
		}
	}
	x.settle()
	x.result.f = &out
	return x.result, nil
}

type linker struct {
	m      *ptx.Module
	out    *ptx.Function
	placed map[*ptx.Variable]bool
	sizes  map[*ptx.Function]int
	inline bool
	queue  []*ptx.Function // functions that are entered
	partOf map[*ptx.Function]int
	enters []entered // calls whose target is settled at the end
	passed [2][]*ptx.Variable
	taken  []*ptx.Function // whose address is taken; nil until asked for
	result *linked
}

type entered struct{ instruction, part int }

// functionBase is where the addresses of functions begin; nothing else lies there.
const functionBase = uint64(0x7c0000000000)

// functionAddress gives what a pointer to a function holds; false: there is none of that name with a body.
func functionAddress(m *ptx.Module, name string) (uint64, bool) {
	for i, f := range m.Functions {
		if f.Name == name && f.HasBody && !f.Entry {
			return functionBase + 16*uint64(i+1), true
		}
	}
	return 0, false
}

// callee is what a call names: a function of this module, one of the system, or a register that holds a pointer.
type callee struct {
	name    string
	pointer *ptx.Operand
	lists   [2][]ptx.Operand // results and arguments
}

func calleeOf(in *ptx.Instruction) callee {
	var c callee
	side := 0
	for i := range in.Operands {
		switch o := &in.Operands[i]; {
		case o.Kind == ptx.OperandList:
			c.lists[side] = append(c.lists[side], o.Elements...)
		case side == 0 && o.Kind == ptx.OperandFunction:
			c.name, side = o.Name, 1
		case side == 0 && o.Kind == ptx.OperandRegister:
			c.pointer, side = o, 1
		}
	}
	return c
}

// acyclic refuses functions that call themselves, over others too.
func (x *linker) acyclic(f *ptx.Function, names []string, done map[*ptx.Function]bool) error {
	if done[f] {
		return nil
	}
	for i := range f.Body {
		in := &f.Body[i]
		if in.Opcode != "call" {
			continue
		}
		name := calleeOf(in).name
		g := x.function(name)
		if g == nil {
			continue
		}
		for _, n := range names {
			if n == name {
				return x.m.ErrorAt(in, "not supported by the virtual GPU: recursion "+strings.Join(append(names, name), " → "), "write it as a loop")
			}
		}
		if err := x.acyclic(g, append(names[:len(names):len(names)], name), done); err != nil {
			return err
		}
	}
	done[f] = true
	return nil
}

// size is how many instructions a function has with all that it calls in the places of the calls, up to a bound.
func (x *linker) size(f *ptx.Function) int {
	if n, ok := x.sizes[f]; ok {
		return n
	}
	n := len(f.Body)
	for i := range f.Body {
		if f.Body[i].Opcode == "call" {
			if g := x.function(calleeOf(&f.Body[i]).name); g != nil {
				n = min(n+x.size(g), 2*maxBody)
			}
		}
	}
	x.sizes[f] = n
	return n
}

// expand appends the body of g, whose parameters are in params or, for registers, in values; ret goes to the instruction
// behind it. part is that of g's own, -1 where it stands in the place of a call or is the entry.
func (x *linker) expand(g *ptx.Function, params map[*ptx.Variable]*ptx.Variable, at0 *ptx.Instruction, part int) error {
	base := int32(len(x.out.Registers))
	x.out.Registers = append(x.out.Registers, g.Registers...)
	for _, v := range g.Variables {
		if !x.placed[v] {
			x.placed[v] = true
			x.out.Variables = append(x.out.Variables, v)
		}
	}
	tables := len(x.out.Tables)
	x.out.Tables = append(x.out.Tables, g.Tables...)
	inner := at0 != nil || part >= 0
	if at0 != nil {
		if err := x.passIn(g, calleeOf(at0), at0, params, base); err != nil {
			return err
		}
	} else if part >= 0 {
		x.enterPart(g, base)
	}
	at := make([]int, len(g.Body)+1)
	var own, returns []int
	for i := range g.Body {
		in := &g.Body[i]
		at[i] = len(x.out.Body)
		if len(x.out.Body) > maxBody {
			return decodeError(x.m, in, "function %s grows beyond %d instructions by its calls", x.out.Name, maxBody)
		}
		copied := *in
		x.placedLike(g, &copied, at0)
		if in.Guard >= 0 {
			copied.Guard += base
		}
		copied.Operands = moveOperands(in.Operands, base, tables, params)
		switch {
		case in.Opcode == "call":
			if err := x.call(&copied); err != nil {
				return err
			}
			continue
		case in.Opcode == "ret" && inner:
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
	for k := tables; k < tables+len(g.Tables); k++ {
		t := &x.out.Tables[k]
		t.Targets = append([]int(nil), t.Targets...)
		for i := range t.Targets {
			t.Targets[i] = at[t.Targets[i]]
		}
	}
	for _, i := range returns {
		x.out.Body[i].Operands[0].Target = len(x.out.Body)
	}
	if at0 != nil {
		return x.passOut(g, calleeOf(at0), at0, params, base)
	}
	return nil
}

// branch makes an instruction a branch that keeps its place, guard and text; its target is set later.
func branch(in ptx.Instruction) ptx.Instruction {
	in.Opcode, in.Modifiers, in.Spelling = "bra", nil, "bra"
	in.Operands = []ptx.Operand{{Kind: ptx.OperandLabel, Register: -1}}
	return in
}

// pseudo appends an instruction that no text has; it keeps the place of one that has.
func (x *linker) pseudo(what string, like *ptx.Instruction, operands ...ptx.Operand) {
	x.out.Body = append(x.out.Body, ptx.Instruction{Line: like.Line, Col: like.Col, Source: like.Source, Guard: -1, Opcode: "call", Modifiers: []string{what},
		Spelling: "call." + what, Operands: operands, Text: like.Text})
}

// call expands one call, whose operands are those of the body that it goes into. In place of a body it stays as a branch to
// the next instruction, guarded the other way round as one over the body.
func (x *linker) call(in *ptx.Instruction) error {
	c := calleeOf(in)
	g := x.function(c.name)
	switch {
	case c.pointer != nil:
		return x.callPointer(in, c)
	case g == nil:
		if systemCalls[c.name] != nil {
			x.out.Body = append(x.out.Body, *in)
			return nil
		}
		what, instead := missingFunction(c.name)
		return x.m.ErrorAt(in, "not supported by the virtual GPU: "+what, instead)
	}
	if err := x.fits(in, c, g); err != nil {
		return err
	}
	if !x.inline {
		return x.enter(in, c, g.Results, func() { x.enters = append(x.enters, entered{len(x.out.Body), x.need(g)}) })
	}
	inner := map[*ptx.Variable]*ptx.Variable{}
	for k, formal := range [][]*ptx.Variable{g.Results, g.Params} {
		for i, v := range formal {
			if o := &c.lists[k][i]; v.Space == "param" && o.Kind == ptx.OperandSymbol {
				inner[v] = o.Variable
			}
		}
	}
	jump := branch(*in)
	jump.GuardNot = !jump.GuardNot
	here := len(x.out.Body)
	x.out.Body = append(x.out.Body, jump)
	if err := x.expand(g, inner, in, -1); err != nil {
		return err
	}
	target := here + 1
	if jump.Guard >= 0 {
		target = len(x.out.Body)
	}
	x.out.Body[here].Operands[0].Target = target
	return nil
}

// fits checks a call's results and arguments against the function's.
func (x *linker) fits(in *ptx.Instruction, c callee, g *ptx.Function) error {
	for k, formal := range [][]*ptx.Variable{g.Results, g.Params} {
		if len(c.lists[k]) != len(formal) {
			return decodeError(x.m, in, "%d arguments for the %d parameters of %s", len(c.lists[k]), len(formal), g.Name)
		}
		for i, v := range formal {
			if o := &c.lists[k][i]; !x.fitting(o, v, k == 0) {
				return decodeError(x.m, in, "argument %s does not fit parameter %s of %s", o.Name, v.Name, g.Name)
			}
		}
	}
	return nil
}

func (x *linker) fitting(o *ptx.Operand, v *ptx.Variable, result bool) bool {
	switch o.Kind {
	case ptx.OperandSymbol:
		return o.Variable.Space == "param" && o.Variable.Size >= v.Size
	case ptx.OperandRegister:
		r := &x.out.Registers[o.Register]
		return r.Type != "pred" && v.Size == int64(ptx.TypeSize(v.Type)) && ptx.TypeSize(r.Type) >= ptx.TypeSize(v.Type)
	case ptx.OperandImmediate:
		return !result && v.Size <= 8
	case ptx.OperandSink:
		return result
	}
	return false
}

// moveOperands copies operands with their registers and tables moved and parameters replaced.
func moveOperands(list []ptx.Operand, base int32, tables int, params map[*ptx.Variable]*ptx.Variable) []ptx.Operand {
	if list == nil {
		return nil
	}
	moved := make([]ptx.Operand, len(list))
	for i, o := range list {
		if o.Register >= 0 && (o.Kind == ptx.OperandRegister || o.Kind == ptx.OperandAddress) {
			o.Register += base
		}
		if o.Kind == ptx.OperandTable {
			o.Target += tables
		}
		if v := params[o.Variable]; v != nil {
			o.Variable = v
		}
		o.Elements = moveOperands(o.Elements, base, tables, params)
		if o.Pair != nil {
			o.Pair = &moveOperands([]ptx.Operand{*o.Pair}, base, tables, params)[0]
		}
		moved[i] = o
	}
	return moved
}
