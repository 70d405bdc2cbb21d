package simulate

// load picks the warp's next path of basic blocks and its machine code; false at the end of the trace. A path ends at a
// barrier, before a loop's header, and behind a branch that is not predicated. Innermost loops go on it several times.
func (s *sm) load(w *warp, t float64) bool {
	trace := w.trace.Blocks
	if w.at >= len(trace) {
		return false
	}
	s.path = s.path[:0]
	q, ptx, iterations, known := w.at, 0, 1, false
	first := trace[q]
	for {
		k := trace[q]
		b := &s.p.blocks[k]
		s.path = append(s.path, k)
		ptx += int(b.to - b.from)
		q++
		if q >= len(trace) || b.ends == waits || b.ends == leaves || ptx > longestPath && !known || ptx > wholeSize+1000 {
			break
		}
		n := trace[q]
		next := &s.p.blocks[n]
		if b.back && n == b.target {
			body := ptx / iterations
			if n != first || next.noUnroll || !next.inner {
				break
			}
			if next.known && iterations <= wholeTrips && body*(iterations+1) <= wholeSize {
				iterations++
				known = true
				continue
			}
			if iterations >= unrolled || body*(iterations+1) > regionSize {
				break
			}
			iterations++
			continue
		}
		if next.header || b.ends == branches && !b.short || b.back {
			break
		}
	}
	q = w.at + s.trim(iterations, known, ptx)
	hash := uint64(fnvOffset)
	used := 0
	for _, k := range s.path {
		hash = (hash ^ uint64(k+1)) * fnvPrime
		used += int(s.p.blocks[k].to - s.p.blocks[k].from)
	}
	r, ok := s.regions[hash]
	if !ok {
		r = s.p.compile(s.m, s.path, w.trace.Accesses[min(w.access, len(w.trace.Accesses)):])
		s.regions[hash] = r
	}
	w.r, w.at, w.position = r, q, 0
	if w.access+r.accesses > len(w.trace.Accesses) { // the trace was cut inside a block
		return false
	}
	s.used += float64(used)
	for i := range s.marks {
		if s.marks[i].at < 0 && s.used >= markShares[i]*s.total {
			s.marks[i] = mark{t, s.used}
		}
	}
	if cap(w.ready) < len(r.items) {
		w.ready = make([]float64, 2*len(r.items))
	}
	w.ready = w.ready[:len(r.items)]
	return true
}

// trim cuts a path of several iterations to what machine code would have: a loop of more trips than are unrolled whole goes
// four at a time, the rest of a loop one at a time. It gives the length of the path.
func (s *sm) trim(iterations int, known bool, ptx int) int {
	keep := iterations
	switch {
	case known && iterations > wholeTrips:
		if keep = unrolled; ptx/iterations*unrolled > regionSize {
			keep = 1
		}
	case !known && iterations > 1 && iterations < unrolled:
		keep = 1
	}
	s.path = s.path[:len(s.path)/iterations*keep]
	return len(s.path)
}
