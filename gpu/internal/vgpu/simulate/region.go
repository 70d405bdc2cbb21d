package simulate

import "sort"

// item is one machine instruction of a region.
type item struct {
	code    *instruction
	class   class
	number  int32   // in program order
	access  int32   // index among the region's accesses, −1
	merged  uint8   // 0: as wide as the PTX says, 1: twice, 2: four times
	bar     bool    // ends the region at a barrier of the CTA
	weight  float32 // issue slots
	latency float32
	needs   []int32 // items (≥ 0) and registers (^register) whose results it reads
}

// result is when a register is ready that a region leaves behind.
type result struct {
	register int32
	needs    []int32
}

// region is the machine code of a path of basic blocks.
type region struct {
	items    []item  // as scheduled
	classes  []class // of items, by number
	accesses int
	results  []result
	ptx      int // PTX instructions of the path
}

const (
	unrolled     = 4    // iterations of a loop whose trips are not known
	regionSize   = 300  // PTX instructions of such a loop, unrolled
	wholeTrips   = 16   // known trips up to which a loop is unrolled whole
	wholeSize    = 4000 // PTX instructions of such a loop
	longestPath  = 1200
	mostNeeds    = 24
	window       = 96 // instructions that the list scheduler looks over
	loadDistance = 30 // cycles that it assumes a load to take
)

// builder turns a path into a region.
type builder struct {
	p      *Program
	m      *machine
	path   []int32
	fold   map[int]int   // occurrence → an earlier one that computes the same
	lead   map[int]int   // occurrence of a shared load → the one that loads for it too
	merged map[int]uint8 // of a leader: how wide it becomes
	defs   map[int32][]int32
	program
}

// program is a region's items in program order with the memory order that scheduling keeps.
type program struct {
	items []item
	order [][]int32
}

// occurrence names instruction i of the c-th block of the path.
func occurrence(c int, i int32) int { return c<<20 | int(i) }

// compile makes the machine code of a path; accesses are those of the first warp that takes it.
func (p *Program) compile(m *machine, path []int32, accesses []Access) *region {
	b := &builder{p: p, m: m, path: path, fold: map[int]int{}, lead: map[int]int{}, merged: map[int]uint8{}, defs: map[int32][]int32{}}
	b.numberValues(accesses)
	r := b.translate()
	r.classes = make([]class, len(b.items))
	for i := range b.items {
		r.classes[i] = b.items[i].class
	}
	r.items = schedule(b.items, b.order)
	return r
}

// needsOf is what must be ready before a register can be read.
func (b *builder) needsOf(register int32) []int32 {
	if d, ok := b.defs[register]; ok {
		return d
	}
	return []int32{^register}
}

func join(into, more []int32) []int32 {
	for _, v := range more {
		known := false
		for _, x := range into {
			known = known || x == v
		}
		if !known && len(into) < mostNeeds {
			into = append(into, v)
		}
	}
	return into
}

// translate makes the items of the path.
func (b *builder) translate() *region {
	r := &region{}
	last := map[int32]int{} // of each block: its last copy on the path
	for c, k := range b.path {
		last[k] = c
	}
	made := map[int]int32{} // item of an occurrence
	memory := newMemoryOrder()
	halves := 0
	for c, k := range b.path {
		x := &b.p.blocks[k]
		r.ptx += int(x.to - x.from)
		for i := x.from; i < x.to; i++ {
			code := &b.p.code[i]
			access := int32(-1)
			if code.memory {
				access = int32(r.accesses)
				r.accesses++
			}
			at := occurrence(c, i)
			if from, ok := b.fold[at]; ok && len(b.path) > 1 {
				if id, ok := made[from]; ok {
					b.define(code, []int32{id})
					continue
				}
			}
			if from, ok := b.lead[at]; ok {
				if id, ok := made[from]; ok {
					b.define(code, []int32{id})
					continue
				}
			}
			kind := b.classOf(code, x, i, c, last[k] == c)
			if code.packed {
				if halves++; halves&1 == 1 {
					kind = free
				}
			}
			var needs []int32
			for _, s := range code.src {
				needs = join(needs, b.needsOf(s))
			}
			if code.guard >= 0 {
				for _, d := range code.dst {
					needs = join(needs, b.needsOf(d))
				}
			}
			if kind == free {
				b.define(code, needs)
				continue
			}
			id := int32(len(b.items))
			made[at] = id
			b.items = append(b.items, item{code: code, class: kind, number: id, access: access, merged: b.merged[at], bar: kind == barrier,
				weight: code.weight, latency: float32(b.m.latency(code, kind)), needs: needs})
			b.order = append(b.order, memory.add(id, kind))
			b.define(code, []int32{id})
		}
	}
	for register, needs := range b.defs {
		r.results = append(r.results, result{register, needs})
	}
	sort.Slice(r.results, func(i, j int) bool { return r.results[i].register < r.results[j].register })
	return r
}

func (b *builder) define(code *instruction, needs []int32) {
	for _, d := range code.dst {
		b.defs[d] = needs
	}
}

// classOf is an instruction's class on this path: a loop's counting vanishes from all copies but the last, and branches
// inside the path have become predicates.
func (b *builder) classOf(code *instruction, x *block, i int32, c int, last bool) class {
	if !last && len(b.path) > 1 {
		if x.back && (code.class == branch || i == x.to-2 && code.opcode == "setp") {
			return free
		}
		if code.kind == sum && len(code.dst) == 1 && len(code.args) == 2 && code.args[0].register == code.dst[0] && code.args[1].register < 0 {
			return free
		}
	}
	if code.class == branch && c < len(b.path)-1 && !x.back {
		return free
	}
	return code.class
}

// memoryOrder keeps loads behind the stores before them, and stores behind everything, in each of two spaces.
type memoryOrder struct {
	store [2]int32
	loads [2][]int32
}

func newMemoryOrder() *memoryOrder { return &memoryOrder{store: [2]int32{-1, -1}} }

// add gives the items that must come before.
func (o *memoryOrder) add(id int32, c class) (before []int32) {
	space, writes := -1, false
	switch c {
	case loadShared:
		space = 0
	case storeShared, atomicShared, copyAsync, bulkCopy:
		space, writes = 0, true
	case loadGlobal:
		space = 1
	case storeGlobal, atomicGlobal:
		space, writes = 1, true
	case misc, barrier, mbarrier, asyncTensor:
		for s := range 2 {
			before = append(before, o.loads[s]...)
			if o.store[s] >= 0 {
				before = append(before, o.store[s])
			}
			o.loads[s], o.store[s] = nil, id
		}
		return before
	}
	if space < 0 {
		return nil
	}
	if o.store[space] >= 0 {
		before = append(before, o.store[space])
	}
	if writes {
		before = append(before, o.loads[space]...)
		o.loads[space], o.store[space] = nil, id
	} else {
		o.loads[space] = append(o.loads[space], id)
	}
	return before
}

// schedule orders items by critical path, as ptxas does: it assumes loads to be short, and keeps a last branch or barrier last.
func schedule(items []item, order [][]int32) []item {
	n := len(items)
	next := make([][]int32, n)
	uses := make([][]int32, n) // of these, those that read the result
	left := make([]int32, n)
	for i := range items {
		for _, d := range items[i].needs {
			if d >= 0 {
				next[d] = append(next[d], int32(i))
				uses[d] = append(uses[d], int32(i))
				left[i]++
			}
		}
		for _, d := range order[i] {
			next[d] = append(next[d], int32(i))
			left[i]++
		}
	}
	priority := make([]float32, n)
	for i := n - 1; i >= 0; i-- {
		for _, s := range next[i] {
			priority[i] = max(priority[i], priority[s]+items[i].latency)
		}
	}
	done := make([]bool, n)
	ready := make([]float32, n)
	out := make([]item, 0, n)
	from, t := 0, float32(0)
	for len(out) < n {
		for from < n && done[from] {
			from++
		}
		best, soonest := -1, -1
		for i := from; i < n && i < from+window; i++ {
			last := i == n-1 && (items[i].class == branch || items[i].class == barrier)
			if done[i] || left[i] > 0 || last && len(out) < n-1 {
				continue
			}
			if ready[i] <= t {
				if best < 0 || priority[i] > priority[best] {
					best = i
				}
			} else if soonest < 0 || ready[i] < ready[soonest] {
				soonest = i
			}
		}
		if best < 0 {
			best = soonest
			t = ready[best]
		}
		done[best] = true
		out = append(out, items[best])
		t += max(items[best].weight, 1)
		for _, s := range next[best] {
			left[s]--
		}
		for _, s := range uses[best] {
			ready[s] = max(ready[s], t+min(items[best].latency, loadDistance))
		}
	}
	return out
}
