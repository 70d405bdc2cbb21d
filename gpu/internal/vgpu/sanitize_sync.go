package vgpu

import "memwall/gpu/internal/driver"

// phaseClock is what those tell who arrive at a barrier of several phases, until its phase ends and others learn it.
type phaseClock struct{ coming, done *farNode }

func (p *phaseClock) next() { p.done, p.coming = joinFar(p.done, p.coming), nil }

// objectCheck is what the sanitizer keeps of an mbarrier.
type objectCheck struct {
	phaseClock
	copies []copyMark // that arrive with the phase
}

// object gives the mbarrier at an offset of a CTA's shared memory.
func (s *ctaCheck) object(offset uint64) *objectCheck {
	o := s.objects[offset]
	if o == nil {
		if s.objects == nil {
			s.objects = map[uint64]*objectCheck{}
		}
		o = &objectCheck{}
		s.objects[offset] = o
	}
	return o
}

// mbarrier is called after an operation on an mbarrier: those that arrive tell, those that have waited learn.
func (c *sanitizer) mbarrier(w *warp, in *inst, lane int, op mbarrierOp, k *cta, offset uint64) {
	o := k.checked.object(offset)
	over := c.over == o
	c.over = nil
	home := w.home
	clock := &home.warps[w.id]
	switch op {
	case mbarrierInit, mbarrierInval:
		*o = objectCheck{}
	case mbarrierArrive, mbarrierDrop:
		if c.p.f.Body[in.id].Has("relaxed") {
			return
		}
		told := clock.told(len(home.warps), uint32(w.id), uint(lane), true)
		into := &o.coming
		if over { // the phase ended with this arrival
			into = &o.done
		}
		*into = joinFar(*into, told.far.with(home.number, told.row))
		clock.dirty = true
		clock.tick()
	case mbarrierAsync:
		for _, list := range append(clock.groups, clock.open) {
			for _, m := range list {
				if m.lane == 1<<lane {
					m.by, m.of = w, home
					o.copies = append(o.copies, m)
				}
			}
		}
	case mbarrierTest, mbarrierTry:
		if !c.p.f.Body[in.id].Has("relaxed") {
			c.learnLanes(w, 1<<lane, o.done)
		}
	}
}

// phaseDone is called when a phase of an mbarrier ends: the copies that it counts have arrived.
func (c *sanitizer) phaseDone(k *cta, offset uint64) {
	o := k.checked.object(offset)
	for _, m := range o.copies {
		clock := &m.of.warps[m.by.id]
		k.checked.shared.arrived(m, m.of.number, uint16(m.by.id), clock.time)
		clock.dirty = true
		told := clock.told(len(m.of.warps), uint32(m.by.id), lowest(m.lane), true)
		o.coming = joinFar(o.coming, told.far.with(m.of.number, told.row))
	}
	for _, m := range o.copies {
		m.of.warps[m.by.id].tick()
	}
	o.copies = nil
	o.next()
	c.over = o
}

// asyncWrite is called when a lane issues a bulk copy of bytes to an offset of a CTA's shared memory, which arrives with
// the phase of the mbarrier at another offset of that CTA.
func (c *sanitizer) asyncWrite(w *warp, lane int, id int32, k *cta, offset, bytes, object uint64) {
	if c == nil || offset+bytes > uint64(len(k.shared)) {
		return
	}
	c.bulk(w, lane, id, k, offset, bytes, false, markAsync)
	k.checked.written.setAll(offset, bytes)
	o := k.checked.object(object)
	o.copies = append(o.copies, copyMark{id: id, lane: 1 << lane, at: offset, size: bytes, by: w, of: w.home})
}

// asyncRead is called when a lane issues a bulk copy from an offset of its CTA's shared memory: what it reads must have
// been written by then.
func (c *sanitizer) asyncRead(w *warp, lane int, id int32, offset, bytes uint64) {
	if c != nil && offset+bytes <= uint64(len(w.cta.shared)) {
		c.bulk(w, lane, id, w.cta, offset, bytes, true, 0)
	}
}

// bulk checks and notes an access of one lane to any number of bytes of shared memory.
func (c *sanitizer) bulk(w *warp, lane int, id int32, k *cta, offset, bytes uint64, read bool, kind markKind) {
	s := k.checked
	x := touchOf{c: c, w: w, k: w.home, at: s, clock: &w.home.warps[w.id].warpClock, id: id, lane: uint(lane), space: spaceShared, kind: kind, memory: s.shared}
	x.view = x.clock.view(x.lane)
	for at := offset; at < offset+bytes; at += x.size {
		if x.size = min(4-at&3, offset+bytes-at); x.size == 3 {
			x.size = 1
		}
		x.touch(at, read, !read)
	}
	if read {
		x.asyncSees(offset, bytes)
	}
	x.clock.dirty = true
}

// copyGroups are accesses under way, in groups that are waited for.
type copyGroups struct {
	open   []copyMark
	groups [][]copyMark
	ended  int // groups that are over
}

// operand is called when wgmma reads eight lines of 16 bytes of an operand, as it does until its group is waited for.
func (c *sanitizer) operand(w *warp, in *inst, a *[32]uint64) {
	if c == nil {
		return
	}
	s := w.cta.checked
	x := touchOf{c: c, w: w, k: w.home, at: s, clock: &w.home.warps[w.id].warpClock, id: in.id, space: spaceShared, kind: markAsync, memory: s.shared, size: 16}
	g := &w.home.warps[w.id].reading
	for l := range 8 {
		x.lane = uint(l)
		x.view = x.clock.view(x.lane)
		if at, bad := s.written.missing(a[l], 16); bad {
			f := &driver.Finding{Kind: driver.FoundUninitialised, Space: "shared", Address: at, Bytes: 16, Where: c.where(w, in.id, spaceShared, at),
				First: driver.Party{What: "read"}, Advice: "write it before it is read, in every thread that reads it"}
			c.suspect(w, in.id, x.lane, f)
		}
		x.touch(a[l], true, false)
		x.asyncSees(a[l], 16)
		g.open = append(g.open, copyMark{id: in.id, lane: 1 << l, at: a[l], size: 16, reads: true})
	}
	x.clock.dirty = true
}

// operandsRead follows the groups of wgmma.
func (c *sanitizer) operandsRead(w *warp, f *syncFact) {
	g := &w.home.warps[w.id].reading
	c.follow(w, g, f.commits, -1)
	if f.waits < 0 {
		return
	}
	// The four warps of a warpgroup execute wgmma together: what one has waited for is over for all of them, and no access of
	// a lane.
	over := g.ended + len(g.groups) - f.waits
	for v := w.id &^ 3; v <= w.id|3 && v < len(w.home.warps); v++ {
		for o := &w.home.warps[v].reading; o.ended < over && len(o.groups) > 0; o.ended++ {
			for _, m := range o.groups[0] {
				w.cta.checked.shared.arrived(m, w.home.number, uint16(v), 0)
			}
			o.groups = o.groups[1:]
		}
	}
}

// follow closes a group of accesses under way, or ends all but the latest of them; wait is -1 where none ends.
func (c *sanitizer) follow(w *warp, g *copyGroups, commit bool, wait int) {
	k := &w.home.warps[w.id]
	if commit {
		g.groups = append(g.groups, append([]copyMark(nil), g.open...))
		g.open = g.open[:0]
	}
	for wait >= 0 && len(g.groups) > wait {
		for _, m := range g.groups[0] {
			w.cta.checked.shared.arrived(m, w.home.number, uint16(w.id), k.time)
		}
		k.dirty = true
		g.groups = g.groups[1:]
		g.ended++
	}
}

// bulkStore is called when a lane issues a copy from shared to device memory, which reads until its group is waited for.
func (c *sanitizer) bulkStore(w *warp, id int32, copied *bulkCopy) {
	if c == nil || copied.shared+copied.bytes > uint64(len(w.cta.shared)) {
		return
	}
	c.bulk(w, copied.lane, id, w.cta, copied.shared, copied.bytes, true, markAsync)
	g := &w.home.warps[w.id].storing
	g.open = append(g.open, copyMark{id: id, lane: 1 << copied.lane, at: copied.shared, size: copied.bytes, reads: true})
	kind := markKind(0)
	if c.p.infos[id].kind == bulkReduce {
		kind = markAtomic
	}
	c.bulkGlobal(w, id, copied, kind != 0, true, kind)
}

// bulkLoad is called when a lane issues a copy from device to shared memory.
func (c *sanitizer) bulkLoad(w *warp, id int32, copied *bulkCopy) {
	if c != nil {
		c.bulkGlobal(w, id, copied, true, false, 0)
	}
}

// bulkGlobal checks and notes what a bulk copy does to device memory, as if it did so at once: what is only true of it once it
// was waited for is checked in shared memory.
func (c *sanitizer) bulkGlobal(w *warp, id int32, copied *bulkCopy, read, write bool, kind markKind) {
	x := touchOf{c: c, w: w, k: w.home, at: w.cta.checked, clock: &w.home.warps[w.id].warpClock, id: id, lane: uint(copied.lane), space: spaceGlobal, kind: kind, memory: c.global}
	x.view = x.clock.view(x.lane)
	for _, r := range copied.runs {
		a := findIn(w.w.allocations, r.address)
		if !r.inside || r.bytes == 0 || a == nil {
			continue
		}
		for at := r.address; at < r.address+r.bytes; at += x.size {
			if x.size = min(4-at&3, r.address+r.bytes-at); x.size == 3 {
				x.size = 1
			}
			x.touch(at, read, write)
		}
		if write {
			a.markWritten(r.address, r.address+r.bytes)
		}
	}
	x.clock.dirty = true
}

// setAll is set for any number of bytes.
func (v writtenBits) setAll(at, n uint64) {
	for ; n > 0; at, n = at+1, n-1 {
		v[at>>6] |= 1 << (at & 63)
	}
}

// clusterArrived is called when lanes arrive at the barrier of their cluster.
func (c *sanitizer) clusterArrived(w *warp, id int32, lanes uint32) {
	if c == nil || c.p.f.Body[id].Has("relaxed") {
		return
	}
	s := w.home
	clock := &s.warps[w.id]
	v := clock.gather(len(s.warps), uint32(w.id), lanes, w.live)
	told := &w.cta.gang.told
	told.coming = joinFar(told.coming, v.known.far.with(s.number, v.known.row))
	clock.dirty = true
	clock.tick()
}

// clusterPassed is called when lanes go on behind the barrier of their cluster.
func (c *sanitizer) clusterPassed(w *warp, lanes uint32) {
	if c != nil {
		c.learnLanes(w, lanes, w.cta.gang.told.done)
	}
}

// learnLanes adds what was told to what lanes know.
func (c *sanitizer) learnLanes(w *warp, lanes uint32, told *farNode) {
	if told == nil {
		return
	}
	s := w.home
	clock := &s.warps[w.id].warpClock
	if lanes&w.live == w.live && clock.private == nil {
		clock.base = clock.base.learn(s.number, told)
		return
	}
	for m := lanes; m != 0; m &= m - 1 {
		i := lowest(m)
		old := clock.view(i)
		if v := old.learn(s.number, told); v != old {
			clock.setView(i, v)
		}
	}
}

// learn is the view with what was told to CTA number.
func (v view) learn(number uint32, told *farNode) view {
	row := told.get(number)
	add := func(c *clock) *clock {
		if c == nil {
			c = &clock{}
		}
		n := clock{row: joinRows(c.row, row), far: joinFar(c.far, told)}
		if n.far == c.far && sameRow(n.row, c.row) {
			return c
		}
		return &n
	}
	return view{add(v.known), add(v.fenced)}
}

// warpgroupRead is called when a warp goes on behind wgmma.wait_group: the operands of the first `need` groups of all four
// warps, first to last, were read, so that what follows it comes behind their reads too.
func (c *sanitizer) warpgroupRead(w *warp, first, last, need int) {
	if c == nil {
		return
	}
	s := w.home
	var v view
	for i := first; i <= last; i++ {
		p, k := &w.cta.warps[i], &s.warps[i]
		if i != w.id {
			settled := need - (p.groups.committed - len(k.reading.groups))
			for j := range min(len(k.reading.groups), max(settled, 0)) {
				for _, m := range k.reading.groups[j] {
					w.cta.checked.shared.arrived(m, s.number, uint16(i), k.time)
				}
			}
		}
		v = joinViews(v, k.gather(len(s.warps), uint32(i), p.live, p.live))
		if i != w.id {
			k.dirty = true
			k.tick()
		}
	}
	s.warps[w.id].give(v, w.live, w.live)
}
