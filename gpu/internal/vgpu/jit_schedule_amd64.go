package vgpu

import "slices"

// Scheduling. Results are made in groups that fit the registers, those together that share operands: so a register tile's
// products are summed up over all steps of a run before the next few are. All of it takes time about linear in the run.

const (
	groupResults = 8  // results that are made together
	tiesTried    = 12 // results that are compared for what they would complete
)

// jitOrder is the order of operations, and which values are stored behind each.
type jitOrder struct {
	ops    []int32
	stores [][]jitOut // by place in ops
}

// scheduler orders a run.
type scheduler struct {
	run     *jitRun
	owner   []int32   // of an operation: the result that alone needs it, by place in roots; −1: several do
	roots   []jitOut  // results that operations make
	own     [][]int32 // operations of a root, last first
	leaves  [][]int32 // values that a root needs and others make
	readers map[int32][]int32
	missing []int // leaves of a root that are not at hand
	atHand  map[int32]bool
	done    []bool
	order   jitOrder
}

const (
	ownerNone    = -2
	ownerSeveral = -1
)

func (r *jitRun) schedule() *jitOrder {
	s := &scheduler{run: r, owner: make([]int32, len(r.ops)), readers: map[int32][]int32{}, atHand: map[int32]bool{}, done: make([]bool, len(r.ops))}
	var loads []jitOut // results that are words of shared memory
	for _, o := range r.out {
		if r.values[o.value].kind == valueOp {
			s.roots = append(s.roots, o)
		} else {
			loads = append(loads, o)
		}
	}
	s.findOwners()
	s.findLeaves()
	left := make([]int32, len(s.roots))
	for i := range left {
		left[i] = int32(i)
	}
	for len(left) > 0 {
		var group []int32
		for len(group) < groupResults && len(left) > 0 {
			k := s.pick(left)
			group = append(group, left[k])
			s.take(left[k])
			left = slices.Delete(left, k, k+1)
		}
		s.emit(group)
		clear(s.atHand)
		for i := range s.missing {
			s.missing[i] = len(s.leaves[i])
		}
	}
	s.holdBack()
	if len(loads) > 0 {
		s.order.ops = append(s.order.ops, -1)
		s.order.stores = append(s.order.stores, loads)
	}
	return &s.order
}

// findOwners goes through the operations backwards.
func (s *scheduler) findOwners() {
	r := s.run
	for i := range s.owner {
		s.owner[i] = ownerNone
	}
	claim := func(v, owner int32) {
		if x := &r.values[v]; x.kind == valueOp {
			switch s.owner[x.op] {
			case ownerNone:
				s.owner[x.op] = owner
			case owner:
			default:
				s.owner[x.op] = ownerSeveral
			}
		}
	}
	for i, o := range s.roots {
		claim(o.value, int32(i))
	}
	s.own = make([][]int32, len(s.roots))
	for i := len(r.ops) - 1; i >= 0; i-- {
		owner := s.owner[i]
		if owner == ownerNone { // nobody needs it
			continue
		}
		if owner >= 0 {
			s.own[owner] = append(s.own[owner], int32(i))
		}
		for _, u := range r.ops[i].use {
			claim(u, owner)
		}
	}
}

// findLeaves lists for each root what others make: words of shared memory and results of shared operations.
func (s *scheduler) findLeaves() {
	r := s.run
	s.leaves, s.missing = make([][]int32, len(s.roots)), make([]int, len(s.roots))
	last := map[int32]int32{} // the root that has a leaf already
	for i := range s.roots {
		for _, op := range s.own[i] {
			for _, u := range r.ops[op].use {
				x := &r.values[u]
				if x.kind == valueSlot || x.kind == valueOp && s.owner[x.op] == int32(i) {
					continue
				}
				if at, ok := last[u]; ok && at == int32(i) {
					continue
				}
				last[u] = int32(i)
				s.leaves[i] = append(s.leaves[i], u)
				s.readers[u] = append(s.readers[u], int32(i))
			}
		}
		s.missing[i] = len(s.leaves[i])
	}
}

// pick gives the place in left of the root that needs the fewest values more; of equals the one after which most others need
// none: that finds tiles.
func (s *scheduler) pick(left []int32) int {
	fewest := 1 << 30
	for _, i := range left {
		fewest = min(fewest, s.missing[i])
	}
	best, most, tried := -1, -1, 0
	for k, i := range left {
		if s.missing[i] != fewest {
			continue
		}
		if best >= 0 && tried >= tiesTried {
			break
		}
		tried++
		if complete := s.completes(i); complete > most {
			best, most = k, complete
		}
	}
	return best
}

// completes counts the roots that would need nothing more if root i's values were at hand.
func (s *scheduler) completes(i int32) int {
	less := func(by int) (complete int) {
		for _, leaf := range s.leaves[i] {
			if s.atHand[leaf] {
				continue
			}
			for _, other := range s.readers[leaf] {
				if s.missing[other] -= by; s.missing[other] == 0 {
					complete++
				}
			}
		}
		return complete
	}
	complete := less(1)
	less(-1)
	return complete
}

// take puts a root's values at hand.
func (s *scheduler) take(i int32) {
	for _, leaf := range s.leaves[i] {
		if s.atHand[leaf] {
			continue
		}
		s.atHand[leaf] = true
		for _, other := range s.readers[leaf] {
			s.missing[other]--
		}
	}
}

// emit orders the operations of a group as the program has them, each behind what it needs.
func (s *scheduler) emit(group []int32) {
	var ops []int32
	for _, i := range group {
		for _, op := range s.own[i] {
			ops = s.need(ops, op)
		}
		ops = s.need(ops, s.run.values[s.roots[i].value].op)
	}
	slices.Sort(ops)
	s.order.ops = append(s.order.ops, ops...)
	for len(s.order.stores) < len(s.order.ops) {
		s.order.stores = append(s.order.stores, nil)
	}
	if len(s.order.ops) == 0 {
		return
	}
	last := len(s.order.ops) - 1
	for _, i := range group {
		s.order.stores[last] = append(s.order.stores[last], s.roots[i])
	}
}

// need adds an operation and those that it needs, unless they have been done.
func (s *scheduler) need(ops []int32, op int32) []int32 {
	stack := []int32{op}
	for len(stack) > 0 {
		o := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if s.done[o] {
			continue
		}
		s.done[o] = true
		ops = append(ops, o)
		for _, u := range s.run.ops[o].use {
			if x := &s.run.values[u]; x.kind == valueOp && !s.done[x.op] {
				stack = append(stack, x.op)
			}
		}
	}
	return ops
}

// holdBack moves stores to the end whose register is still read as it was at the beginning.
func (s *scheduler) holdBack() {
	r := s.run
	lastRead := map[uint32]int{}
	for place, op := range s.order.ops {
		for _, u := range r.ops[op].use {
			if x := &r.values[u]; x.kind == valueSlot {
				lastRead[x.slot] = place
			}
		}
	}
	var late []jitOut
	for place := range s.order.stores {
		keep := s.order.stores[place][:0]
		for _, o := range s.order.stores[place] {
			if at, ok := lastRead[o.slot]; ok && at > place {
				late = append(late, o)
			} else {
				keep = append(keep, o)
			}
		}
		s.order.stores[place] = keep
	}
	if len(late) > 0 {
		last := len(s.order.ops) - 1
		s.order.stores[last] = append(s.order.stores[last], late...)
	}
}
