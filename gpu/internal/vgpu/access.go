package vgpu

import (
	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu/cache"
)

// addresses gives each lane's address; those of inactive lanes mean nothing.
func (w *warp) addresses(in *inst) *[32]uint64 {
	switch {
	case in.flags&flagFixed != 0:
		a := &w.w.address
		for i := range a {
			a[i] = in.imm
		}
		return a
	case in.flags&flagWide64 != 0:
		r := w.u64(in.a)
		if in.imm == 0 {
			return r
		}
		a := &w.w.address
		for i := range a {
			a[i] = r[i] + in.imm
		}
		return a
	}
	r, a := w.u32(in.a), &w.w.address
	offset := uint32(in.imm)
	for i := range a {
		a[i] = uint64(r[i] + offset)
	}
	return a
}

// addressesKept is addresses for an instruction that may overwrite its address register before it has done with it.
func (w *warp) addressesKept(in *inst) *[32]uint64 {
	a := w.addresses(in)
	if a != &w.w.address {
		w.w.address = *a
	}
	return &w.w.address
}

// entryFlags are the bits of an instruction's entries beside line and sectors.
func entryFlags(in *inst) cache.Entry {
	site := cache.Entry(uint32(in.pattern+1)) & cache.MostSites << cache.SiteShift
	switch {
	case in.flags&flagAtomic != 0:
		return site | cache.Write | cache.Bypass | cache.Atomic
	case in.flags&flagStore != 0:
		return site | cache.Write | cache.Bypass
	case in.flags&flagBypass != 0:
		return site | cache.Bypass
	}
	return site
}

// touchRow checks and counts an access of all lanes to 32·size bytes in a row at address.
func (w *warp) touchRow(in *inst, s *site, address, size uint64) {
	if address&(size-1) != 0 {
		w.misaligned(in, 0, address, size, "global")
	}
	end := address + 32*size
	if address < s.low || end > s.high {
		w.enter(in, s, address, end, size)
	}
	if w.cta.watch != nil {
		w.showRow(in, spaceGlobal, address, size)
	}
	if !w.w.count {
		return
	}
	g := &s.global
	g.requests++
	g.lanes += 32
	g.bytes += 32 * size
	g.ideal += size
	g.sectors += (end-1)>>5 - address>>5 + 1
	first, last := address>>7, (end-1)>>7
	g.lines += last - first + 1
	if in.flags&flagStore != 0 {
		w.w.trace = cache.AppendStore(w.w.trace, entryFlags(in), address-w.w.base, end-w.w.base)
	} else {
		w.w.trace = cache.AppendRow(w.w.trace, entryFlags(in), address-w.w.base, end-w.w.base)
	}
}

// touch checks and counts an access of the active lanes at any addresses.
func (w *warp) touch(in *inst, s *site, a *[32]uint64, size uint64) {
	if w.cta.check != nil && !w.cta.check.admit(w, in, spaceGlobal, a, size) {
		return
	}
	m := w.mask
	lane := lowest(m)
	first := a[lane]
	p := &s.memo[first>>5&3]
	if !p.matches(a, first, m, size) {
		w.checkAligned(in, a, size, "global")
		p.learn(a, first, m, size, in.flags&(flagStore|flagAtomic) == flagStore)
	} else if first&(size-1) != 0 {
		w.misaligned(in, int(lane), first, size, "global")
	}
	low, high := first+p.low, first+p.high
	if low < s.low || high > s.high || low > high {
		w.enterLanes(in, s, a, size)
	}
	if w.cta.watch != nil {
		w.show(in, spaceGlobal, a, m, size)
	}
	if !w.w.count {
		return
	}
	g := &s.global
	lanes := uint64(popcount(m))
	g.requests++
	g.lanes += lanes
	g.bytes += lanes * size
	g.ideal += (lanes*size + 31) / 32
	g.sectors += p.sectors
	g.lines += p.lines
	base := entryFlags(in) + cache.Entry(low>>7-w.w.base>>7)<<cache.LineShift
	t := w.w.trace
	for _, e := range p.entries {
		t = append(t, base+e)
	}
	w.w.trace = t
}

// enter finds the allocation of [low, high) and makes it the site's window; where there is none it finds the lane.
func (w *warp) enter(in *inst, s *site, low, high, size uint64) {
	w.w.settleLoose()
	a := findIn(w.w.allocations, low)
	if a == nil || high > a.high {
		for i := 0; i < 32; i++ {
			if lane := low + uint64(i)*size; !w.inside(lane, size) {
				w.outOfBounds(in, i, lane, size)
			}
		}
		// The lanes lie in several allocations without a gap, which cannot be: guards stand between them.
		w.outOfBounds(in, 0, low, size)
	}
	w.settle(in, s, a, low, high, 0)
}

// touched marks an allocation as read or written by this launch.
func (w *warp) touched(in *inst, a *allocation) {
	number := w.w.run.number
	if in.flags&flagStore == 0 && a.read.Load() != number {
		a.read.Store(number)
	}
	if in.flags&(flagStore|flagAtomic) != 0 && a.written.Load() != number {
		a.written.Store(number)
	}
}

// enterLanes checks lane by lane: they may lie in different allocations.
func (w *warp) enterLanes(in *inst, s *site, a *[32]uint64, size uint64) {
	w.w.settleLoose()
	var only *allocation
	several, first := false, 0
	low, high := ^uint64(0), uint64(0)
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		found := only
		if found == nil || a[i] < found.low || a[i] >= found.high {
			found = findIn(w.w.allocations, a[i])
		}
		if found == nil || a[i]+size > found.high {
			w.outOfBounds(in, int(i), a[i], size)
		}
		if only == nil {
			first = int(i)
		}
		several = several || only != nil && found != only
		only = found
		low, high = min(low, a[i]), max(high, a[i]+size)
		w.visit(in, found, a[i], a[i]+size, int(i))
	}
	// Lanes that lie close together get a window; others are looked up each time.
	if !several && (only.contents == nil && only.absent.Load() == 0 || high-low <= mostWindow) {
		w.settle(in, s, only, low, high, first)
	}
}

func (w *warp) inside(address, size uint64) bool {
	a := findIn(w.w.allocations, address)
	return a != nil && address+size <= a.high
}

func (w *warp) checkAligned(in *inst, a *[32]uint64, size uint64, space string) {
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		if a[i]&(size-1) != 0 {
			w.misaligned(in, int(i), a[i], size, space)
		}
	}
}

// touchShared checks and counts an access to shared memory; addresses are offsets in the CTA's shared memory.
func (w *warp) touchShared(in *inst, s *site, a *[32]uint64, size uint64) {
	if w.cta.check != nil && !w.cta.check.admit(w, in, spaceShared, a, size) {
		return
	}
	m := w.mask
	lane := lowest(m)
	first := a[lane]
	p := &s.bank
	if !p.matches(a, first, m, size) {
		w.checkAligned(in, a, size, "shared")
		p.learn(a, first, m, size)
	} else if first&(size-1) != 0 {
		w.misaligned(in, int(lane), first, size, "shared")
	}
	n := uint64(len(w.cta.shared))
	if low, high := first+p.low, first+p.high; high > n || low > high {
		for ; m != 0; m &= m - 1 {
			if i := lowest(m); a[i] > n || a[i]+size > n {
				w.sharedOutOfBounds(in, int(i), a[i], size)
			}
		}
	}
	if w.cta.watch != nil {
		w.show(in, spaceShared, a, w.mask, size)
	}
	if w.w.count {
		lanes := uint64(popcount(w.mask))
		c := &s.shared
		c.requests++
		c.lanes += lanes
		c.bytes += lanes * size
		c.waves += p.waves
		c.ideal += p.phases
	}
}

// touchSharedRow is touchShared where all lanes access 32·size bytes in a row: no conflicts.
func (w *warp) touchSharedRow(in *inst, s *site, address, size uint64) {
	if address&(size-1) != 0 {
		w.misaligned(in, 0, address, size, "shared")
	}
	if n := uint64(len(w.cta.shared)); address > n || address+32*size > n {
		for i := range 32 {
			if lane := address + uint64(i)*size; lane > n || lane+size > n {
				w.sharedOutOfBounds(in, i, lane, size)
			}
		}
	}
	if w.cta.watch != nil {
		w.showRow(in, spaceShared, address, size)
	}
	if w.w.count {
		c := &s.shared
		c.requests++
		c.lanes += 32
		c.bytes += 32 * size
		c.waves += max(size/4, 1)
		c.ideal += max(size/4, 1)
	}
}

// touchLocal checks and counts an access to local memory. The hardware interleaves the lanes' words: lane i's word at
// offset o lies at 32·o + 4·i.
func (w *warp) touchLocal(in *inst, s *site, a *[32]uint64, size uint64) {
	if w.cta.check != nil && !w.cta.check.admit(w, in, spaceLocal, a, size) {
		return
	}
	n := uint64(w.w.p.local)
	spread := &w.w.address2
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		if a[i]&(size-1) != 0 {
			w.misaligned(in, int(i), a[i], size, "local")
		}
		if a[i] > n || a[i]+size > n {
			w.fault(in, int(i), &driver.Fault{Kind: driver.OutOfBounds, Space: "local", Address: a[i], Bytes: int(size), Allocation: "a thread has " + byteCount(n)})
		}
		spread[i] = a[i]&^3*32 + uint64(i)*4 + a[i]&3
	}
	if w.cta.watch != nil {
		w.show(in, spaceLocal, a, w.mask, size)
	}
	if !w.w.count {
		return
	}
	g := &s.local
	lanes := uint64(popcount(w.mask))
	g.requests++
	g.lanes += lanes
	g.bytes += lanes * size
	g.ideal += (lanes*size + 31) / 32
	words := max(size/4, 1)
	for k := range words {
		var seen pattern
		var row [32]uint64
		for i := range row {
			row[i] = spread[i] + 128*k
		}
		seen.learn(&row, row[lowest(w.mask)], w.mask, min(size, 4), false)
		g.sectors += seen.sectors
		g.lines += seen.lines
	}
}
