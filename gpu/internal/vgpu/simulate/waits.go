package simulate

import "memwall/gpu/perf"

// idle notes that a quarter cannot issue from time t on, because of the warp that can go on first; first is nil where all of
// its warps wait at barriers, or it has none.
func (s *sm) idle(q *quarter, first *warp, t float64) {
	s.settle(q, t)
	q.idles, q.since = true, t
	switch {
	case first != nil:
		q.why = s.why(q, first)
	case len(q.warps) > 0:
		q.why = perf.WaitBarrier
		for _, w := range q.warps {
			if !w.waits && !w.done { // for the phase of an mbarrier of which something is missing
				q.why = perf.WaitCopies
			}
		}
	default: // it never had a warp, or its CTA has ended and the next has not begun
		q.idles = q.began
		q.why = perf.WaitStart
	}
}

// settle adds the time since a quarter was last looked at to what it waits for.
func (s *sm) settle(q *quarter, t float64) {
	if q.idles && t > q.since {
		s.waits[q.why] += t - q.since
	}
	q.idles = false
}

// why is what a warp waits for.
func (s *sm) why(q *quarter, w *warp) perf.Wait {
	if w.r == nil {
		return w.after
	}
	it := &w.r.items[w.position]
	t, wait := 0.0, w.after
	for _, n := range it.needs {
		if n >= 0 && w.ready[n] > t {
			t, wait = w.ready[n], waitOf(w.r.classes[n])
		} else if n < 0 && w.registers[^n] > t {
			t, wait = w.registers[^n], waitOf(w.causes[^n])
		}
	}
	if it.code.wait >= 0 || it.code.polls {
		if s.depends(w) > t {
			t = s.depends(w)
			if wait = perf.WaitCopies; it.code.wgmma {
				wait = perf.WaitTensor
			}
		}
	}
	switch {
	case s.pipe(q, w) > max(t, w.next):
		return perf.WaitPipe
	case w.next > t:
		return w.after
	}
	return wait
}

// waitOf is what one waits for who waits for the result of an instruction of a class.
func waitOf(c class) perf.Wait {
	switch c {
	case loadGlobal:
		return perf.WaitMemory
	case loadShared, shuffle, loadConstant:
		return perf.WaitShared
	case tensor, asyncTensor:
		return perf.WaitTensor
	case atomicGlobal, atomicShared:
		return perf.WaitAtomics
	case copyAsync, bulkCopy, mbarrier:
		return perf.WaitCopies
	}
	return perf.WaitArithmetic
}

// waited is the share of its cycles in which the SM's schedulers waited, by what for.
func (s *sm) waited() (shares [perf.NumWaits]float64) {
	all := s.stats.Issued
	for _, t := range s.waits {
		all += t
	}
	for i, t := range s.waits {
		if all > 0 {
			shares[i] = t / all
		}
	}
	return shares
}
