package vgpu

import "memwall/gpu/internal/driver"

// split is a part of a warp whose lanes run together: where it is, where it joins the lanes below it on the stack, and
// which lanes. The stack reconverges at immediate post-dominators, but only its order of children above parents is
// binding: a split whose lanes are in none above it can run (bring), and lanes that wait for others where their paths join
// can be let go ahead (freeJoined). So every lane makes progress, and lanes that run together cost one look at the top.
type split struct {
	block   int32
	join    int32 // block at which it ends, -1: never
	mask    uint32
	passed  int32 // synchronising instructions of the block that it has behind it, where it stopped at one
	wait    waitKind
	number  uint8  // barrier that it waits at
	threads uint32 // that the barrier waits for; 0: all of the CTA
	end     *ending
}

// waitKind is what a split waits for.
type waitKind uint8

const (
	waitNone    waitKind = iota
	waitBarrier          // a barrier of the CTA
	waitLanes            // a .sync instruction: lanes that come on other paths
	waitCluster          // barrier.cluster.wait
	waitGroups           // wgmma.wait_group: the other warps of its warpgroup
)

// syncPoint is an instruction of a block at which the lanes of its member mask meet.
type syncPoint struct {
	at      int32  // position in the block's code
	id      int32  // PTX instruction
	members uint32 // slot of the member mask
	in      *inst  // what is executed once they have met; nil for bar.warp.sync
	guard   int32  // predicate, -1 where there is none
	not     uint32
}

// lanesAt are the lanes of m that take part.
func (s *syncPoint) lanesAt(w *warp, m uint32) uint32 {
	if s.guard < 0 {
		return m
	}
	return m & (w.pred[s.guard] ^ s.not)
}

// needs are the live lanes that lanes of m wait for.
func (s *syncPoint) needs(w *warp, m uint32) uint32 {
	members := w.u32(s.members)
	var all uint32
	for m &= w.live; m != 0; m &= m - 1 {
		all |= members[lowest(m)]
	}
	return all & w.live
}

// stepwise executes a block for lanes that are not all of the warp's live ones: it stops where they must wait for others.
// It reports whether the block's code is done; else the stack may have changed.
func (w *warp) stepwise(b *block, top *split) bool {
	from := int32(0)
	if top.passed > 0 {
		s := &b.syncs[top.passed-1]
		if from = s.at; s.in != nil {
			from++
		}
	}
	for int(top.passed) < len(b.syncs) {
		s := &b.syncs[top.passed]
		w.runRange(b, from, s.at)
		from = s.at
		if m := s.lanesAt(w, top.mask); s.needs(w, m)&^m != 0 {
			top.wait = waitLanes
			w.meet()
			return false
		}
		if s.in != nil {
			w.runRange(b, from, from+1)
			from++
		}
		top.passed++
	}
	w.runRange(b, from, int32(len(b.code)))
	top.passed = 0
	return true
}

// syncOf is where a split that waits for lanes stands.
func (w *warp) syncOf(s *split) *syncPoint { return &w.w.p.blocks[s.block].syncs[s.passed] }

// meet lets splits go on that wait for lanes of each other, once all have come. An instruction that exchanges values is
// executed for all of them at once.
func (w *warp) meet() {
	for first := range w.stack {
		if w.stack[first].wait != waitLanes {
			continue
		}
		kind := w.syncOf(&w.stack[first]).kind()
		var group [warpSize]int
		n := 0
		for i := range w.stack {
			if s := &w.stack[i]; s.wait == waitLanes && w.syncOf(s).kind() == kind {
				group[n] = i
				n++
			}
		}
		lanes, set := w.closed(group[:n])
		if len(set) == 0 {
			continue
		}
		w.exchange(set, lanes)
		for _, i := range set {
			s := &w.stack[i]
			s.wait = waitNone
			s.passed++
		}
		w.merge()
		w.meet() // others may have waited for these lanes at another place
		return
	}
}

// kind tells synchronising instructions apart that do not meet each other; 0 is bar.warp.sync.
func (s *syncPoint) kind() uintptr {
	if s.in == nil {
		return 0
	}
	return s.in.syncKind()
}

// closed gives the largest set of splits that wait only for lanes of each other, and their lanes.
func (w *warp) closed(group []int) (lanes uint32, set []int) {
	for {
		lanes = 0
		for _, i := range group {
			lanes |= w.syncOf(&w.stack[i]).lanesAt(w, w.stack[i].mask)
		}
		kept := group[:0]
		for _, i := range group {
			s := w.syncOf(&w.stack[i])
			if s.needs(w, s.lanesAt(w, w.stack[i].mask))&^lanes == 0 {
				kept = append(kept, i)
			}
		}
		if len(kept) == len(group) {
			return lanes, kept
		}
		group = kept
	}
}

// exchange executes the instruction at which splits have met. Those that stand at different instructions of the same kind
// execute the first one's, with the operands of each brought together.
func (w *warp) exchange(set []int, lanes uint32) {
	first := w.syncOf(&w.stack[set[0]])
	w.w.metLanes(w, first.id, lanes)
	if first.in == nil {
		return
	}
	same := true
	for _, i := range set {
		s := w.syncOf(&w.stack[i])
		same = same && s.in == first.in
		if s.guard >= 0 {
			g := &w.w.guarded[s.id]
			g.warps++
			g.active++
			g.lanes += uint64(popcount(s.lanesAt(w, w.stack[i].mask)))
		}
	}
	old := w.mask
	if w.mask = lanes; same {
		first.in.fn(w, first.in)
	} else {
		w.exchangeApart(set, lanes)
	}
	w.mask = old
}

// metLanes tells the sanitizer that lanes of a warp have met at an instruction, coming on different paths.
func (k *worker) metLanes(w *warp, id int32, lanes uint32) { w.cta.check.warpSync(w, id, lanes) }

// merge joins splits that stand at the same place and would end at the same place.
func (w *warp) merge() {
	for j := len(w.stack) - 1; j > 0; j-- {
		for i := 0; i < j; i++ {
			a, b := &w.stack[i], &w.stack[j]
			if a.block == b.block && a.join == b.join && a.passed == b.passed && a.wait == waitNone && b.wait == waitNone && !w.hasChildren(i) && !w.hasChildren(j) {
				b.mask |= a.mask
				w.stack = append(w.stack[:i], w.stack[i+1:]...)
				j--
				i--
			}
		}
	}
}

// hasChildren reports whether lanes of a split have others above them.
func (w *warp) hasChildren(i int) bool {
	for _, s := range w.stack[i+1:] {
		if s.mask&w.stack[i].mask != 0 {
			return true
		}
	}
	return false
}

// bring is called when the split on top waits: it puts the next one that can run on top. Where there is none it lets
// lanes go ahead that wait where paths join, if what the others wait for may come from them; else the warp is blocked.
func (w *warp) bring() bool {
	for {
		var above, waiting uint32
		for i := len(w.stack) - 1; i >= 0; i-- {
			s := &w.stack[i]
			if s.wait == waitNone && s.mask&above == 0 {
				w.lift(i)
				return true
			}
			if s.wait != waitNone {
				waiting |= s.mask
			}
			above |= s.mask
		}
		if waiting != w.live {
			w.refuseAligned(waiting)
			if w.freeJoined() {
				continue
			}
		}
		w.state = blocked
		return false
	}
}

// lift moves a split to the top.
func (w *warp) lift(i int) {
	s := w.stack[i]
	copy(w.stack[i:], w.stack[i+1:])
	w.stack[len(w.stack)-1] = s
}

// refuseAligned stops a launch in which lanes wait at an .aligned barrier for lanes of their warp that wait for them where
// the paths join: the PTX ISA (9.7.13.1) leaves undefined what happens then.
func (w *warp) refuseAligned(waiting uint32) {
	if w.eager {
		return
	}
	var end *ending
	for i := range w.stack {
		switch s := &w.stack[i]; {
		case s.wait == waitLanes || s.wait == waitCluster || s.wait == waitGroups || s.wait == waitBarrier && !s.end.aligned:
			return
		case s.wait == waitBarrier:
			end = s.end
		}
	}
	if end != nil {
		w.w.stop(w, end.id, int(lowest(w.live&^waiting)), &driver.Fault{Kind: driver.Deadlock,
			Detail: "lanes of this warp wait at the barrier for lanes that wait for them where the paths join", Mend: "let all lanes of the warp reach it, or none: move the barrier out of the branch"})
	}
}

// freeJoined lets lanes go ahead that wait where paths join, the innermost ones; it reports whether there were any. The
// others will come behind them, and meet them where the next paths join.
func (w *warp) freeJoined() bool {
	var above uint32
	for i := len(w.stack) - 1; i >= 0; i-- {
		s := &w.stack[i]
		if free := s.mask &^ above; s.wait == waitNone && s.mask&above != 0 && free != 0 {
			s.mask &^= free
			ahead := *s
			ahead.mask = free
			w.stack = append(w.stack, ahead)
			return true
		}
		above |= s.mask
	}
	return false
}

// rotate gives the split that has waited longest its turn, where several can run.
func (w *warp) rotate() {
	if len(w.stack) == 1 {
		return
	}
	for i := range w.stack {
		if w.stack[i].wait == waitNone && !w.hasChildren(i) {
			w.lift(i)
			return
		}
	}
}
