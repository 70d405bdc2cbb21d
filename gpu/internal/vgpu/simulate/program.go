package simulate

import "memwall/gpu/internal/ptx"

// Block is a basic block of the executed program: PTX instructions [From, To) and the blocks that may follow, the target of
// a branch first. A successor of len(blocks) is the exit.
type Block struct {
	From, To int
	Next     []int
}

// Program is an entry function prepared for simulation. It is read only, apart from machine code that it keeps.
type Program struct {
	code      []instruction
	blocks    []block
	registers int
	memory    [][]int32 // by block: its instructions that leave an access, in order
}

// block is a basic block with what unrolling needs to know.
type block struct {
	from, to int32
	ends     ending
	back     bool  // ends with a branch to itself or to a block before it
	target   int32 // of its branch
	header   bool  // a back edge leads here
	inner    bool  // of a header: no other header lies in the loop
	known    bool  // of a header: the number of iterations is a constant
	noUnroll bool  // of a header: a pragma forbids unrolling
	short    bool  // of a branch: it skips so few instructions that they are predicated instead
}

type ending uint8

const (
	falls ending = iota
	branches
	leaves
	waits
)

// shortBranch is how many instructions ptxas predicates rather than branch over.
const shortBranch = 16

// NewProgram analyses a function; blocks are those whose numbers traces name.
func NewProgram(f *ptx.Function, blocks []Block) *Program {
	p := &Program{registers: len(f.Registers), code: make([]instruction, len(f.Body)), blocks: make([]block, len(blocks)), memory: make([][]int32, len(blocks))}
	for i := range f.Body {
		p.code[i] = analyse(&f.Body[i])
		p.code[i].index = i
	}
	for i, b := range blocks {
		p.blocks[i] = block{from: int32(b.From), to: int32(b.To), target: -1}
		x := &p.blocks[i]
		for at := b.From; at < b.To; at++ {
			if p.code[at].memory {
				p.memory[i] = append(p.memory[i], int32(at))
			}
		}
		if b.To > b.From {
			p.ending(x, i, b, blocks)
		}
	}
	p.loops(f)
	return p
}

func (p *Program) ending(x *block, number int, b Block, blocks []Block) {
	last := &p.code[b.To-1]
	switch {
	case last.class == barrier:
		x.ends = waits
	case last.class == branch && (last.opcode == "ret" || last.opcode == "exit" || last.opcode == "trap"):
		x.ends = leaves
	case last.class == branch:
		x.ends = branches
		if len(b.Next) > 0 {
			x.target = int32(b.Next[0])
			x.back = b.Next[0] <= number
			x.short = !x.back && (b.Next[0] < len(blocks) && blocks[b.Next[0]].From-b.To <= shortBranch || b.Next[0] == len(blocks))
		}
	}
}

// loops marks headers, and those whose loops hold no other.
func (p *Program) loops(f *ptx.Function) {
	latch := make([]int, len(p.blocks))
	for i := range p.blocks {
		if t := p.blocks[i].target; p.blocks[i].back && int(t) < len(p.blocks) {
			p.blocks[t].header = true
			latch[t] = max(latch[t], i)
		}
	}
	for h := range p.blocks {
		x := &p.blocks[h]
		if !x.header {
			continue
		}
		x.inner = true
		for i := h + 1; i <= latch[h]; i++ {
			x.inner = x.inner && !p.blocks[i].header
		}
		x.known = p.constantTrips(f, h, latch[h])
		for i := x.from; i < x.to; i++ {
			x.noUnroll = x.noUnroll || f.Body[i].NoUnroll
		}
	}
}

// constantTrips tells whether a loop counts from a constant to a constant: its branch compares a register with a constant,
// and that register is added to by a constant in the loop and set to one before it.
func (p *Program) constantTrips(f *ptx.Function, header, latch int) bool {
	b := &p.blocks[latch]
	if b.to-b.from < 2 {
		return false
	}
	guard := p.code[b.to-1].guard
	var counter int32 = -1
	for i := b.to - 2; i >= b.from; i-- {
		x := &p.code[i]
		if f.Body[i].Opcode == "setp" && len(x.dst) > 0 && x.dst[0] == guard && len(x.args) == 2 && x.args[1].register < 0 && x.args[1].symbol == 0 {
			counter = x.args[0].register
			break
		}
	}
	if counter < 0 {
		return false
	}
	from, to := int(p.blocks[header].from), int(b.to)
	steps, starts := 0, 0
	for i := range p.code {
		x := &p.code[i]
		if len(x.dst) != 1 || x.dst[0] != counter {
			continue
		}
		constant := func(k int) bool { return len(x.args) > k && x.args[k].register < 0 && x.args[k].symbol == 0 }
		switch {
		case i >= from && i < to && f.Body[i].Opcode == "add" && constant(1):
			steps++
		case (i < from || i >= to) && f.Body[i].Opcode == "mov" && constant(0):
			starts++
		default:
			return false
		}
	}
	return steps == 1 && starts >= 1
}

// Memory lists the instructions of a basic block that leave an access in a trace, in order.
func (p *Program) Memory(basicBlock int32) []int32 { return p.memory[basicBlock] }

// OnMbarrier tells whether a PTX instruction works on an mbarrier.
func (p *Program) OnMbarrier(id int32) bool { return p.code[id].class == mbarrier }

// Instructions is how many PTX instructions a basic block has.
func (p *Program) Instructions(basicBlock int32) int {
	b := &p.blocks[basicBlock]
	return int(b.to - b.from)
}
