package simulate

import "math"

// object is an mbarrier: how many arrivals and bulk copies complete one of its phases, and when phases completed.
type object struct {
	arrivals, copies float64 // of one phase
	arrived, copied  int     // so far
	landed           []float64
	signals          []float64
	phases           int
	open             bool // waits no longer: the trace lacks what they wait for
}

// findObjects counts what completes the phases of each mbarrier of a CTA. Traces do not say how many arrivals an mbarrier was
// made for: all arrivals over the waits of the warp that waits most often are those of one phase.
func (p *Program) findObjects(c *CTA) map[uint32]*object {
	objects := map[uint32]*object{}
	get := func(at uint32) *object {
		o := objects[at]
		if o == nil {
			o = &object{}
			objects[at] = o
		}
		return o
	}
	for i := range c.Warps {
		w := &c.Warps[i]
		waits := map[uint32]int{}
		polled := uint32(0)
		at := 0
		for _, k := range w.Blocks {
			for _, site := range p.memory[k] {
				if at >= len(w.Accesses) {
					break
				}
				a := &w.Accesses[at]
				at++
				if a.Lanes == 0 {
					continue
				}
				x := &p.code[site]
				switch {
				case a.Object == 0:
				case x.polls:
					if polled != a.Object {
						waits[a.Object]++
						o := get(a.Object)
						o.phases = max(o.phases, waits[a.Object])
					}
					polled = a.Object
					continue
				case x.class == bulkCopy:
					get(a.Object).copies++
				default:
					get(a.Object).arrivals += float64(a.Lanes)
				}
				polled = 0
			}
		}
	}
	for _, o := range objects {
		n := float64(max(o.phases, 1))
		o.arrivals, o.copies = math.Floor(o.arrivals/n), math.Floor(o.copies/n)
	}
	return objects
}

// phase is when the phase of an mbarrier completes for which a warp polls; never while that is open.
func (s *sm) phase(w *warp, a *Access) float64 {
	o := s.ctas[w.cta].objects[a.Object]
	if a.Object == 0 || a.Lanes == 0 || o == nil || o.open {
		return 0
	}
	k := w.phases[a.Object]
	if w.polled == a.Object {
		k-- // polls again for the same phase
	}
	return o.complete(k)
}

// complete is when phase k has had all of its arrivals and copies.
func (o *object) complete(k int) float64 {
	arrivals, copies := int(float64(k+1)*o.arrivals), int(float64(k+1)*o.copies)
	if len(o.signals) < arrivals || len(o.landed) < copies {
		return never
	}
	t := 0.0
	for _, x := range o.signals[:arrivals] {
		t = max(t, x)
	}
	for _, x := range o.landed[:copies] {
		t = max(t, x)
	}
	return t
}

// signal carries out an arrival at an mbarrier, or notes that a warp has waited.
func (s *sm) signal(w *warp, it *item, a *Access, t float64) {
	if a == nil || a.Object == 0 || a.Lanes == 0 {
		return
	}
	o := s.ctas[w.cta].objects[a.Object]
	if o == nil {
		return
	}
	if it.code.polls {
		if w.phases == nil {
			w.phases = map[uint32]int{}
		}
		if w.polled != a.Object {
			w.phases[a.Object]++
		}
		w.polled = a.Object
		return
	}
	w.polled = 0
	for range a.Lanes {
		o.signals = append(o.signals, t+10)
	}
	s.wake(w.cta, t)
}

// wake lets warps of a CTA that poll look again.
func (s *sm) wake(cta int32, t float64) {
	for q := range s.quarters {
		for _, w := range s.quarters[q].warps {
			if w.cta == cta && !w.done && !w.waits && w.r != nil && w.r.items[w.position].code.polls {
				w.next = max(t+1, s.depends(w))
				s.quarters[q].try = min(s.quarters[q].try, w.next)
			}
		}
	}
}

// bulk is a cp.async.bulk: its bytes come as whole sectors, past L1 and the load/store unit, and complete an mbarrier or a group.
func (s *sm) bulk(w *warp, it *item, a *Access, t float64) {
	if a == nil || a.Lanes == 0 {
		return
	}
	s.lsu = max(t, s.lsu) + s.m.lsu
	s.stats.LSU += s.m.lsu
	n := float64(a.Bytes) / 32
	site := it.code.index
	s.share.owed[site] += n * s.in.dram(site)
	due := math.Floor(s.share.owed[site])
	s.share.owed[site] -= min(due, n)
	done := s.fetch(n, due, t) + bulkDelay
	o := s.ctas[w.cta].objects[a.Object]
	if a.Object == 0 || o == nil {
		w.copies.open = max(w.copies.open, done)
		return
	}
	o.landed = append(o.landed, done)
	s.wake(w.cta, t)
}

// bulkDelay is what a tile takes longer through the copy engine than a load does.
const bulkDelay = 200
