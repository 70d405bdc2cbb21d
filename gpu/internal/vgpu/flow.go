package vgpu

import (
	"slices"

	"memwall/gpu/internal/ptx"
)

// flow is the control-flow graph of a function: basic blocks, their successors, immediate post-dominators and the
// registers alive at their borders.
type flow struct {
	blocks []flowBlock
	ipdom  []int   // len(blocks) is the virtual exit
	across []int32 // registers that may be alive between basic blocks, by their bit in liveIn and liveOut
}

type flowBlock struct {
	from, to int // instructions
	next     []int
	liveIn   bitset
	liveOut  bitset
}

// endsBlock reports whether control can leave or stop after the instruction.
func endsBlock(in *ptx.Instruction) bool {
	switch in.Opcode {
	case "bra", "ret", "exit", "trap", "brx":
		return true
	case "wgmma":
		return in.Has("wait_group")
	case "bar", "barrier":
		return !in.Has("warp")
	case "call":
		return len(in.Modifiers) == 1 && (in.Modifiers[0] == callEnter || in.Modifiers[0] == callReturn || in.Modifiers[0] == callEnd)
	}
	return false
}

// leaves reports whether the instruction ends its lanes.
func leaves(in *ptx.Instruction) bool {
	return in.Opcode == "ret" || in.Opcode == "exit" || in.Opcode == "trap" || in.Opcode == "call" && (in.Has(callReturn) || in.Has(callEnd))
}

// newFlow cuts a body into blocks; block 0 begins with instruction 0.
func newFlow(f *ptx.Function) *flow {
	n := len(f.Body)
	start := make([]bool, n+1)
	start[0], start[n] = true, true
	for _, l := range f.Labels {
		start[l.At] = true
	}
	for i := range f.Body {
		if endsBlock(&f.Body[i]) {
			start[i+1] = true
		}
	}
	blockAt := make([]int, n+1)
	g := &flow{}
	for i := 0; i < n; {
		j := i + 1
		for !start[j] {
			j++
		}
		blockAt[i] = len(g.blocks)
		g.blocks = append(g.blocks, flowBlock{from: i, to: j})
		i = j
	}
	blockAt[n] = len(g.blocks)
	for k := range g.blocks {
		b := &g.blocks[k]
		last := &f.Body[b.to-1]
		falls := true
		if last.Opcode == "bra" && len(last.Operands) > 0 {
			b.next = append(b.next, blockAt[last.Operands[0].Target])
			falls = last.Guard >= 0
		} else if last.Opcode == "brx" {
			for _, o := range last.Operands {
				if o.Kind == ptx.OperandTable {
					for _, at := range f.Tables[o.Target].Targets {
						if !slices.Contains(b.next, blockAt[at]) {
							b.next = append(b.next, blockAt[at])
						}
					}
				}
			}
			falls = last.Guard >= 0
		} else if leaves(last) {
			b.next = append(b.next, len(g.blocks))
			falls = last.Guard >= 0
		}
		if falls && !slices.Contains(b.next, blockAt[b.to]) {
			b.next = append(b.next, blockAt[b.to])
		}
	}
	g.postDominators()
	return g
}

// postDominators fills ipdom (Cooper, Harvey and Kennedy on the reversed graph). Blocks that never reach the exit get
// the exit.
func (g *flow) postDominators() {
	n := len(g.blocks)
	before := make([][]int, n+1)
	for i := range g.blocks {
		for _, s := range g.blocks[i].next {
			before[s] = append(before[s], i)
		}
	}
	order, number := reverseOrder(before, n)
	idom := make([]int, n+1)
	for i := range idom {
		idom[i] = -1
	}
	idom[n] = n
	for changed := true; changed; {
		changed = false
		for k := len(order) - 1; k >= 0; k-- {
			u := order[k]
			if u == n {
				continue
			}
			found := -1
			for _, s := range g.blocks[u].next {
				if idom[s] < 0 {
					continue
				}
				if found < 0 {
					found = s
					continue
				}
				for a, b := found, s; ; {
					if a == b {
						found = a
						break
					}
					for number[a] < number[b] {
						a = idom[a]
					}
					for number[b] < number[a] {
						b = idom[b]
					}
				}
			}
			if found >= 0 && idom[u] != found {
				idom[u], changed = found, true
			}
		}
	}
	for i := range idom {
		if idom[i] < 0 {
			idom[i] = n
		}
	}
	g.ipdom = idom
}

// reverseOrder is a post-order walk from the exit over reversed edges, without recursion.
func reverseOrder(before [][]int, exit int) (order, number []int) {
	number = make([]int, len(before))
	seen := make([]bool, len(before))
	type frame struct{ node, next int }
	walk := []frame{{exit, 0}}
	seen[exit] = true
	for len(walk) > 0 {
		f := &walk[len(walk)-1]
		if f.next < len(before[f.node]) {
			v := before[f.node][f.next]
			f.next++
			if !seen[v] {
				seen[v] = true
				walk = append(walk, frame{v, 0})
			}
			continue
		}
		number[f.node] = len(order)
		order = append(order, f.node)
		walk = walk[:len(walk)-1]
	}
	return order, number
}

// hasDestination reports whether the first operand is written.
func hasDestination(in *ptx.Instruction) bool {
	switch in.Opcode {
	case "st", "red", "bra", "brx", "bar", "barrier", "ret", "exit", "trap", "membar", "fence", "prefetch", "prefetchu", "stmatrix", "nanosleep",
		"griddepcontrol", "discard", "applypriority", "setmaxnreg", "brkpt", "pmevent", "cp", "call", "tensormap":
		return (in.Opcode == "bar" || in.Opcode == "barrier") && in.Has("red") || in.Opcode == "call" && in.Has(callArgument)
	}
	return true
}

// registersOf calls use and define for each register that the instruction reads and writes.
func registersOf(in *ptx.Instruction, use, define func(int32)) {
	if in.Guard >= 0 {
		use(in.Guard)
	}
	writes := hasDestination(in)
	for i := range in.Operands {
		f := use
		if i == 0 && writes {
			f = define
			if in.Opcode == "wgmma" { // D is read too
				operandRegisters(&in.Operands[0], use, use)
			}
		}
		operandRegisters(&in.Operands[i], use, f)
	}
}

func operandRegisters(o *ptx.Operand, use, f func(int32)) {
	switch o.Kind {
	case ptx.OperandRegister:
		f(o.Register)
	case ptx.OperandAddress:
		if o.Register >= 0 {
			use(o.Register)
		}
		f = use
	}
	for i := range o.Elements {
		operandRegisters(&o.Elements[i], use, f)
	}
	if o.Pair != nil {
		operandRegisters(o.Pair, use, f)
	}
}
