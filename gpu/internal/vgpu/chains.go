package vgpu

import (
	"slices"

	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// findChains finds loads whose address depends on the value of another load, through any registers: such loads cannot
// be in flight together. It works on the dependencies between loads without regard to the order of instructions (a
// register's definitions reach all of its uses): loads in a cycle chase pointers, and each execution counts; the others
// form a graph without cycles, whose longest path is the chain.
func (p *program) findChains() {
	var loads []int
	index := map[int]int{}
	for i := range p.f.Body {
		if p.infos[i].global && p.f.Body[i].Opcode != "cp" {
			index[i] = len(loads)
			loads = append(loads, i)
		}
	}
	if len(loads) == 0 {
		for i := range p.infos {
			if p.infos[i].global {
				p.chain = 1
			}
		}
		return
	}
	p.chain = 1
	g := p.newChains(loads, index)
	for k := range loads {
		if !g.spread(k) { // hostile text: what is known so far has to do
			break
		}
	}
	g.rank()
}

// maxChainWork bounds the search for chains: registers looked at, over all loads.
const maxChainWork = 2 << 20

// chains is the dependency of loads on each other while it is found.
type chains struct {
	p       *program
	loads   []int
	index   []int32   // of a load among loads, by instruction; −1 for others
	users   [][]int32 // instructions that read a register
	leads   []bool    // registers from which the address of a load follows
	done    []int32   // registers seen from the load 1 + done
	seen    []int32   // the same of loads
	next    [][]int   // loads whose address needs the load's value
	reach   []bitset  // of the blocks asked about: the blocks that can be executed after them
	blockOf []int32   // of an instruction
	work    []int32
	left    int
}

func (p *program) newChains(loads []int, index map[int]int) *chains {
	n := len(p.f.Registers)
	g := &chains{p: p, loads: loads, index: make([]int32, len(p.f.Body)), users: make([][]int32, n), leads: make([]bool, n), done: make([]int32, n),
		seen: make([]int32, len(loads)), next: make([][]int, len(loads)), reach: make([]bitset, len(p.blocks)),
		blockOf: make([]int32, len(p.f.Body)), left: maxChainWork}
	for b := range p.blocks {
		for i := p.blocks[b].from; i < p.blocks[b].to; i++ {
			g.blockOf[i] = int32(b)
		}
	}
	makers := make([][]int32, n) // instructions that write a register
	for i := range p.f.Body {
		g.index[i] = -1
		in := &p.f.Body[i]
		registersOf(in, func(r int32) { g.users[r] = append(g.users[r], int32(i)) }, func(r int32) { makers[r] = append(makers[r], int32(i)) })
	}
	// Backwards from the addresses: the value of most loads never becomes one.
	lead := func(r int32) {
		if !g.leads[r] {
			g.leads[r] = true
			g.work = append(g.work, r)
		}
	}
	for k, at := range loads {
		g.index[at] = int32(k)
		for i := range p.f.Body[at].Operands {
			if o := &p.f.Body[at].Operands[i]; o.Kind == ptx.OperandAddress && o.Register >= 0 {
				lead(o.Register)
			}
		}
	}
	for len(g.work) > 0 {
		r := g.work[len(g.work)-1]
		g.work = g.work[:len(g.work)-1]
		for _, i := range makers[r] {
			if in := &p.f.Body[i]; g.index[i] < 0 && in.Opcode != "ld" && in.Opcode != "st" {
				registersOf(in, lead, func(int32) {})
			}
		}
	}
	return g
}

// spread follows the value of a load through registers to the addresses of loads; false where the work is used up.
func (g *chains) spread(k int) bool {
	stamp := int32(k + 1)
	define := func(i int) {
		registersOf(&g.p.f.Body[i], func(int32) {}, func(r int32) {
			if g.leads[r] && g.done[r] != stamp {
				g.done[r] = stamp
				g.work = append(g.work, r)
			}
		})
	}
	define(g.loads[k])
	for len(g.work) > 0 {
		r := g.work[len(g.work)-1]
		g.work = g.work[:len(g.work)-1]
		for _, u := range g.users[r] {
			if g.left--; g.left < 0 {
				return false
			}
			in := &g.p.f.Body[u]
			if target := g.index[u]; target >= 0 {
				if g.seen[target] != stamp && addressUses(in, r) && g.follows(g.loads[k], int(u)) {
					g.seen[target] = stamp
					g.next[k] = append(g.next[k], int(target))
				}
				continue // what it loads is another load's value
			}
			if in.Opcode != "ld" && in.Opcode != "st" {
				define(int(u))
			}
		}
	}
	return true
}

// follows reports whether instruction v can be executed after u; reach keeps what blocks lead to.
func (g *chains) follows(u, v int) bool {
	from, to := g.blockOf[u], int(g.blockOf[v])
	if int(from) == to && v > u {
		return true
	}
	if g.reach[from] == nil {
		seen := newBitset(len(g.p.blocks) + 1)
		work := []int{int(from)}
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			for _, n := range g.p.successors(b) {
				if n < len(g.p.blocks) && !seen.has(n) {
					seen.set(n)
					work = append(work, n)
				}
			}
			g.left--
		}
		g.reach[from] = seen
	}
	return g.reach[from].has(to)
}

// successors of a block; what lies behind an unconditional branch or exit is none.
func (p *program) successors(b int) []int {
	e := &p.blocks[b].end
	switch {
	case e.kind == endBranch && e.guard < 0:
		return []int{int(e.target)}
	case e.kind == endBranch:
		return []int{int(e.target), int(e.next)}
	case (e.kind == endExit || e.kind == endTrap) && e.guard < 0:
		return nil
	}
	return []int{int(e.next)}
}

// addressUses reports whether the instruction's address is in the register.
func addressUses(in *ptx.Instruction, r int32) bool {
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Kind == ptx.OperandAddress && o.Register == r {
			return true
		}
	}
	return false
}

// rank takes the loads in cycles out and measures the longest path through the others.
func (g *chains) rank() {
	p, loads, next := g.p, g.loads, g.next
	before := make([]int, len(loads))
	for _, list := range next {
		for _, t := range list {
			before[t]++
		}
	}
	depth := make([]uint64, len(loads))
	var ready []int
	for k := range loads {
		depth[k] = 1
		if before[k] == 0 {
			ready = append(ready, k)
		}
	}
	for len(ready) > 0 {
		k := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		p.chain = max(p.chain, depth[k])
		for _, t := range next[k] {
			depth[t] = max(depth[t], depth[k]+1)
			if before[t]--; before[t] == 0 {
				ready = append(ready, t)
			}
		}
	}
	// What is left lies on a cycle or behind one; only what reaches itself chases.
	for _, k := range cyclic(g.next) {
		p.blocks[g.blockOf[g.loads[k]]].chase++
	}
}

// cyclic lists the nodes of a graph that reach themselves: those of strongly connected components of more than one node
// or with an edge to itself (Tarjan, "Depth-first search and linear graph algorithms", 1972), without recursion.
func cyclic(next [][]int) []int {
	n := len(next)
	number, low, on := make([]int, n), make([]int, n), make([]bool, n)
	type frame struct{ node, edge int }
	var walk []frame
	var stack, found []int
	count := 0
	enter := func(v int) {
		count++
		number[v], low[v], on[v] = count, count, true
		stack = append(stack, v)
		walk = append(walk, frame{v, 0})
	}
	for root := range n {
		if number[root] != 0 {
			continue
		}
		enter(root)
		for len(walk) > 0 {
			f := &walk[len(walk)-1]
			v := f.node
			if f.edge < len(next[v]) {
				u := next[v][f.edge]
				f.edge++
				if number[u] == 0 {
					enter(u)
				} else if on[u] {
					low[v] = min(low[v], number[u])
				}
				continue
			}
			walk = walk[:len(walk)-1]
			if len(walk) > 0 {
				parent := walk[len(walk)-1].node
				low[parent] = min(low[parent], low[v])
			}
			if low[v] != number[v] {
				continue
			}
			from := len(stack) - 1
			for stack[from] != v {
				from--
			}
			members := stack[from:]
			if len(members) > 1 || slices.Contains(next[v], v) {
				found = append(found, members...)
			}
			for _, u := range members {
				on[u] = false
			}
			stack = stack[:from]
		}
	}
	slices.Sort(found)
	return found
}

// loadRounds is the longest chain of loads that had to wait for each other, over all warps.
func (p *program) loadRounds(c *perf.Counts, pool []*worker) uint64 {
	if c.GlobalLoad.Requests+c.GlobalAtomic.Requests == 0 {
		return 0
	}
	var chased uint64
	for _, k := range pool {
		chased = max(chased, k.rounds)
	}
	return max(p.chain, p.chain-1+chased)
}
