package vgpu

import (
	"sort"

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
	// Registers that depend on a load: spread over definitions to the fixed point, with sets of loads.
	users := make([][]int, len(p.f.Registers)) // instructions that read a register
	for i := range p.f.Body {
		registersOf(&p.f.Body[i], func(r int32) { users[r] = append(users[r], i) }, func(int32) {})
	}
	reach := map[int]bitset{}
	next := make([][]int, len(loads)) // loads whose address needs the load's value
	for k, at := range loads {
		seen := map[int]bool{}
		var work []int32
		define := func(i int) { registersOf(&p.f.Body[i], func(int32) {}, func(r int32) { work = append(work, r) }) }
		define(at)
		done := map[int32]bool{}
		for len(work) > 0 {
			r := work[len(work)-1]
			work = work[:len(work)-1]
			if done[r] {
				continue
			}
			done[r] = true
			for _, u := range users[r] {
				in := &p.f.Body[u]
				if target, ok := index[u]; ok {
					if !seen[target] && addressUses(in, r) && p.follows(at, u, reach) {
						seen[target] = true
						next[k] = append(next[k], target)
					}
					continue // what it loads is another load's value
				}
				if in.Opcode != "ld" && in.Opcode != "st" {
					define(u)
				}
			}
		}
	}
	p.rankChains(loads, next)
}

// follows reports whether instruction v can be executed after u; reach keeps what blocks lead to.
func (p *program) follows(u, v int, reach map[int]bitset) bool {
	from, to := p.blockOf(u), p.blockOf(v)
	if from == to && v > u {
		return true
	}
	seen, ok := reach[from]
	if !ok {
		seen = newBitset(len(p.blocks) + 1)
		work := []int{from}
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			for _, n := range p.successors(b) {
				if n < len(p.blocks) && !seen.has(n) {
					seen.set(n)
					work = append(work, n)
				}
			}
		}
		reach[from] = seen
	}
	return seen.has(to)
}

func (p *program) blockOf(instruction int) int {
	return sort.Search(len(p.blocks), func(k int) bool { return int(p.blocks[k].to) > instruction })
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

// rankChains takes the loads in cycles out and measures the longest path through the others.
func (p *program) rankChains(loads []int, next [][]int) {
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
	for k, at := range loads {
		if before[k] > 0 && reaches(next, k) {
			for b := range p.blocks {
				if blk := &p.blocks[b]; int32(at) >= blk.from && int32(at) < blk.to {
					blk.chase++
				}
			}
		}
	}
}

// reaches reports whether a load's address can depend on its own value.
func reaches(next [][]int, start int) bool {
	seen := map[int]bool{}
	work := append([]int(nil), next[start]...)
	for len(work) > 0 {
		k := work[len(work)-1]
		work = work[:len(work)-1]
		if k == start {
			return true
		}
		if !seen[k] {
			seen[k] = true
			work = append(work, next[k]...)
		}
	}
	return false
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
