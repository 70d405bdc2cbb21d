package vgpu

import (
	"fmt"
	"strings"

	"memwall/gpu/internal/driver"
)

const maxBarriers = 16

// barrierState is one named barrier of a CTA.
type barrierState struct {
	arrived uint32 // threads that arrived without waiting
	popc    uint32
	all     bool
	any     bool
	begun   bool
}

// arrive handles a barrier at the end of a block.
func (w *warp) arrive(b *block, c *blockCounts, top *split) {
	e := &b.end
	m := w.guardOf(e, top.mask)
	if e.guard >= 0 {
		c.takenLanes += uint64(popcount(m))
	}
	top.block = e.next
	if m == 0 {
		return
	}
	c.barriers++
	if m != top.mask {
		w.w.stop(w, e.id, int(lowest(top.mask&^m)), &driver.Fault{Kind: driver.Deadlock, Detail: "the barrier's guard differs between the lanes of a warp", Mend: "let all lanes of the warp reach it, or none: move the barrier out of the branch"})
	}
	number, threads := e.barrier, e.threads
	lane := lowest(m)
	if e.barReg >= 0 {
		number = w.u32(uint32(e.barReg))[lane]
	}
	if e.countReg >= 0 {
		threads = w.u32(uint32(e.countReg))[lane]
	}
	if number >= maxBarriers {
		w.w.stop(w, e.id, int(lane), &driver.Fault{Kind: driver.Illegal, Detail: "there is no such barrier: they are 0 to 15", Mend: "use a number from 0 to 15"})
	}
	if e.reduce.op != 0 {
		w.cta.contribute(w, e, number, m)
	}
	if w.cta.watch != nil {
		w.cta.watch.arrive(w, e, number, m)
	}
	if e.arrive {
		w.cta.barriers[number].arrived += warpSize
		return
	}
	top.wait, top.number, top.threads, top.end = waitBarrier, uint8(number), threads, e
}

// atBarriers counts what waits at each barrier of a CTA.
type atBarriers struct {
	whole   [maxBarriers]int    // warps all of whose lanes wait there
	threads [maxBarriers]uint32 // a whole warp counts 32, whatever lanes it has (PTX ISA 9.7.13.1)
	want    [maxBarriers]uint32
	any     uint32 // barriers at which anything waits
	alive   int    // warps
}

func (k *cta) countWaiting(at *atBarriers) {
	for i := range k.warps {
		w := &k.warps[i]
		if w.state == finished {
			continue
		}
		at.alive++
		var seen uint32
		for j := range w.stack {
			s := &w.stack[j]
			if s.wait != waitBarrier || seen>>s.number&1 != 0 {
				continue
			}
			seen |= 1 << s.number
			m := w.waitingAt(s.number)
			if at.any |= 1 << s.number; m == w.live {
				at.whole[s.number]++
				at.threads[s.number] += warpSize
			} else {
				at.threads[s.number] += uint32(popcount(m))
			}
			at.want[s.number] = max(at.want[s.number], s.threads)
		}
	}
}

// waitingAt are the lanes that wait at a barrier.
func (w *warp) waitingAt(number uint8) uint32 {
	var m uint32
	for j := range w.stack {
		if s := &w.stack[j]; s.wait == waitBarrier && s.number == number {
			m |= s.mask
		}
	}
	return m
}

// releaseBarriers lets the warps go whose barrier is complete; it reports whether there were any.
func (k *cta) releaseBarriers() bool {
	var at atBarriers
	k.countWaiting(&at)
	released := k.p.flight > 0 && k.releaseWarpgroups()
	for left := at.any; left != 0; left &= left - 1 {
		number := uint8(lowest(left))
		s := &k.barriers[number]
		if want := at.want[number]; want == 0 && at.whole[number] < at.alive || want > 0 && at.threads[number]+s.arrived < want {
			continue
		}
		released = true
		if k.watch != nil {
			k.watch.released(k, uint32(number))
		}
		var latest uint64
		for i := range k.warps {
			if w := &k.warps[i]; w.state != finished && w.waitingAt(number) != 0 {
				latest = max(latest, w.spent)
			}
		}
		for i := range k.warps {
			if w := &k.warps[i]; w.state != finished {
				w.pass(number, s, latest)
			}
		}
		*s = barrierState{}
	}
	return released
}

// pass lets the splits of a warp go that wait at a barrier.
func (w *warp) pass(number uint8, state *barrierState, latest uint64) {
	passed := false
	for j := range w.stack {
		if s := &w.stack[j]; s.wait == waitBarrier && s.number == number {
			w.reduced(s, state)
			s.wait, s.end, passed = waitNone, nil, true
		}
	}
	if passed {
		w.state, w.spent = running, latest
		if len(w.stack) > 1 {
			w.merge()
		}
	}
}

// contribute adds the lanes' predicates to a bar.red.
func (k *cta) contribute(w *warp, e *ending, number, m uint32) {
	s := &k.barriers[number]
	if !s.begun {
		s.begun, s.all = true, true
	}
	yes := (w.pred[e.reduce.p] ^ e.reduce.not) & m
	s.popc += uint32(popcount(yes))
	s.all = s.all && yes == m
	s.any = s.any || yes != 0
}

// reduced writes the result of a bar.red.
func (w *warp) reduced(s *split, state *barrierState) {
	r := &s.end.reduce
	var all uint32
	switch r.op {
	case 0:
		return
	case 3:
		d := w.u32(r.d)
		for m := s.mask; m != 0; m &= m - 1 {
			d[lowest(m)] = state.popc
		}
		return
	case 1:
		all = uint32(-b2i(state.all))
	case 2:
		all = uint32(-b2i(state.any))
	}
	w.pred[r.d] = w.pred[r.d]&^s.mask | all&s.mask
}

// deadlock stops a launch whose warps wait for each other.
func (k *cta) deadlock() {
	var first *warp
	var at int32
	var parts []string
	done, n := 0, 0
	for i := range k.warps {
		w := &k.warps[i]
		if w.state == finished {
			done++
			continue
		}
		for j := range w.stack {
			s := &w.stack[j]
			text, id := w.waitText(s)
			if text == "" {
				continue
			}
			if first == nil {
				first, at = w, id
			}
			if n++; n <= 4 {
				parts = append(parts, fmt.Sprintf("warp %d %s, line %d", w.id, text, k.p.f.Body[id].Line))
			} else if n == 5 {
				parts = append(parts, "…")
			}
			break
		}
	}
	detail := "every warp waits: " + strings.Join(parts, "; ")
	if done > 0 {
		detail += fmt.Sprintf("; %d finished", done)
	}
	first.w.stop(first, at, int(lowest(first.live)), &driver.Fault{Kind: driver.Deadlock, Detail: detail})
}

// waitText says where a split waits, and at which instruction; nothing where it does not.
func (w *warp) waitText(s *split) (string, int32) {
	switch s.wait {
	case waitBarrier:
		return fmt.Sprintf("at barrier %d", s.number), s.end.id
	case waitLanes:
		p := w.syncOf(s)
		m := p.lanesAt(w, s.mask)
		return fmt.Sprintf("for lane %d at %s", lowest(p.needs(w, m)&^m), w.w.p.f.Body[p.id].Spelling), p.id
	case waitCluster:
		return "at the cluster's barrier", s.end.id
	case waitGroups:
		return "for the other warps of its warpgroup to commit as many groups of wgmma", s.end.id
	}
	return "", -1
}
