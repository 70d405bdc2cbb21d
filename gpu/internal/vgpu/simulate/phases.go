package simulate

import "math"

// object is an mbarrier of a CTA: what completes each of its phases, and when it came. Traces say which phase an arrival or a copy
// belongs to.
type object struct {
	phases []phaseOf
	open   bool // waits no longer: the trace lacks what they wait for
}

// phaseOf is one phase: the arrivals and copies that the traces hold, those that came, and the time of the last.
type phaseOf struct {
	due, came int
	last      float64
}

// mostPhases bounds what a trace may name.
const mostPhases = 1 << 20

// at gives a phase, which may be the first that is heard of it.
func (o *object) at(phase uint32) *phaseOf {
	if phase >= mostPhases {
		return nil
	}
	for len(o.phases) <= int(phase) {
		o.phases = append(o.phases, phaseOf{})
	}
	return &o.phases[phase]
}

// findObjects counts what completes the phases of each mbarrier of a CTA.
func (p *Program) findObjects(c *CTA) map[uint32]*object {
	objects := map[uint32]*object{}
	for i := range c.Warps {
		w := &c.Warps[i]
		at := 0
		for _, k := range w.Blocks {
			for _, site := range p.memory[k] {
				if at >= len(w.Accesses) {
					break
				}
				a := &w.Accesses[at]
				at++
				if a.Object == 0 || a.Lanes == 0 || p.code[site].polls {
					continue
				}
				o := objects[a.Object]
				if o == nil {
					o = &object{}
					objects[a.Object] = o
				}
				if x := o.at(a.Phase); x != nil {
					x.due++
				}
			}
		}
	}
	return objects
}

// phase is when the phase of an mbarrier completes for which a warp waits; never while something of it is missing.
func (s *sm) phase(w *warp, a *Access) float64 {
	o := s.ctas[w.cta].objects[a.Object]
	if a.Object == 0 || a.Lanes == 0 || a.Phase == NoPhase || o == nil || o.open {
		return 0
	}
	t := 0.0
	for i := range o.phases[:min(len(o.phases), int(min(a.Phase, mostPhases))+1)] {
		x := &o.phases[i]
		if x.came < x.due {
			return never
		}
		t = max(t, x.last)
	}
	return t
}

// complete notes that what a phase waits for comes at a time.
func (s *sm) complete(w *warp, a *Access, at, now float64) {
	if o := s.ctas[w.cta].objects[a.Object]; o != nil {
		if x := o.at(a.Phase); x != nil {
			x.came++
			x.last = max(x.last, at)
			s.wake(w.cta, now)
		}
	}
}

// signal carries out an arrival at an mbarrier.
func (s *sm) signal(w *warp, it *item, a *Access, t float64) {
	if a == nil || a.Object == 0 || a.Lanes == 0 || it.code.polls {
		return
	}
	at := t + 10
	if it.code.opcode == "cp" { // arrives when the warp's copies have
		at = max(at, w.copies.open)
		for _, g := range w.copies.groups {
			at = max(at, g)
		}
	}
	s.complete(w, a, at, t)
}

// wake lets warps of a CTA that poll look again.
func (s *sm) wake(cta int32, t float64) {
	for q := range s.quarters {
		for _, w := range s.quarters[q].warps {
			if w.cta == cta && !w.done && !w.waits && w.r != nil && w.position < len(w.r.items) && w.r.items[w.position].code.polls {
				w.next = max(t+1, s.depends(w))
				s.quarters[q].try = min(s.quarters[q].try, w.next)
			}
		}
	}
}

// bulk is a cp.async.bulk: its bytes move as whole sectors, past L1 and the load/store unit, and complete an mbarrier or a group.
func (s *sm) bulk(w *warp, it *item, a *Access, t float64) {
	if a == nil || a.Lanes == 0 {
		return
	}
	s.lsu = max(t, s.lsu) + s.m.lsu
	s.stats.LSU += s.m.lsu
	n := float64(a.Bytes) / 32
	done := t
	switch {
	case n == 0: // between CTAs of a cluster
	case it.code.stores:
		s.stats.L2Sectors += n
		s.stats.StoredSectors += n
		s.share.l2 = max(t-s.m.burst, s.share.l2) + n*32/s.m.l2Bytes
		d := n * s.in.WriteBack
		s.stats.DRAMSectors += d
		s.share.dram = max(t-s.m.burst, s.share.dram) + d*32/s.m.dramBytes
		done = max(t, s.share.l2)
	default:
		site := it.code.index
		s.share.owed[site] += n * s.in.dram(site)
		due := math.Floor(s.share.owed[site])
		s.share.owed[site] -= min(due, n)
		done = s.fetch(n, due, t)
	}
	done += bulkDelay
	if a.Object == 0 {
		w.copies.open = max(w.copies.open, done)
		return
	}
	s.complete(w, a, done, t)
}

// bulkDelay is what a tile takes longer through the copy engine than a load does.
const bulkDelay = 200
