package vgpu

import (
	"fmt"
	"strings"

	"memwall/gpu/internal/driver"
)

// admit checks an access lane by lane before it happens, takes lanes out of the mask that must not make it, and notes the
// rest; it reports whether any are left. Addresses are device addresses, or offsets in shared or local memory.
func (c *sanitizer) admit(w *warp, in *inst, s space, a *[32]uint64, size uint64) bool {
	read, write, kind := c.direction(in, s)
	old := w.mask
	for m := old; m != 0; m &= m - 1 {
		i := lowest(m)
		if !c.within(w, in, s, i, a[i], size) {
			w.mask &^= 1 << i
		}
	}
	if w.mask != old {
		c.zero(w, in, old&^w.mask)
	}
	if s == spaceLocal {
		c.local(w, in, a, size, read, write)
		return w.mask != 0
	}
	if c.facts[in.id].later {
		return w.mask != 0
	}
	if op := mbarrierOp(in.n); s == spaceShared && c.p.f.Body[in.id].Opcode == "mbarrier" && (op == mbarrierTest || op == mbarrierTry) {
		return w.mask != 0 // it only looks, as often as it takes
	}
	k := w.home
	x := touchOf{c: c, w: w, k: k, at: w.cta.checked, clock: &k.warps[w.id].warpClock, id: in.id, space: s, size: size, kind: kind, memory: c.global, in: in, all: a}
	if s == spaceShared {
		x.memory = x.at.shared
	}
	f := &c.facts[in.id]
	if f.near && f.strong && s == spaceGlobal {
		x.kind |= markNear
	}
	together := !write && !f.strong && kind&^markGuess == 0 && x.clock.private == nil
	for m := w.mask; m != 0; m &= m - 1 {
		x.lane = lowest(m)
		if x.others = 0; together && m&(m-1) != 0 && a[lowest(m&(m-1))] == a[x.lane] {
			x.others = x.alike(a, m)
			m &^= x.others
		}
		x.view = x.clock.view(x.lane)
		if s == spaceShared {
			c.sharedWritten(w, in, x.lane, a[x.lane], size, read, write)
		} else {
			c.globalWritten(w, in, x.lane, a[x.lane], size, read, write)
		}
		x.touch(a[x.lane], read, write)
		if f.strong && kind&markAsync == 0 {
			c.strong(&x, a[x.lane], read, write, f)
		}
		if kind&markAsync != 0 && s == spaceShared {
			s := &k.warps[w.id]
			s.open = append(s.open, copyMark{id: in.id, lane: 1 << x.lane, at: a[x.lane], size: size})
		}
	}
	x.clock.dirty = true
	return w.mask != 0
}

// direction tells what an instruction does to a space.
func (c *sanitizer) direction(in *inst, s space) (read, write bool, kind markKind) {
	kind = c.facts[in.id].kind
	if c.p.f.Body[in.id].Opcode == "mbarrier" {
		if op := mbarrierOp(in.n); op == mbarrierInit || op == mbarrierInval {
			return false, true, 0
		}
		return true, true, markAtomic
	}
	switch c.p.infos[in.id].kind {
	case globalStore, sharedStore, localStore:
		return false, true, kind
	case globalAtomic, sharedAtomic:
		return true, true, kind | markAtomic
	case asyncCopy:
		if s == spaceShared {
			return false, true, kind | markAsync
		}
	}
	if in.flags&flagAtomic != 0 {
		return true, true, kind | markAtomic
	}
	return in.flags&flagStore == 0, in.flags&flagStore != 0, kind
}

// within checks alignment and bounds of one lane's access.
func (c *sanitizer) within(w *warp, in *inst, s space, lane uint, address, size uint64) bool {
	if address&(size-1) != 0 {
		c.report(w, in.id, lane, c.at(w, in, &driver.Finding{Kind: driver.FoundMisaligned, Advice: fmt.Sprintf("an access of %d B needs an address that is a multiple of %d: check offset and pitch", size, size)}, s, address, size), 1)
		return false
	}
	switch s {
	case spaceShared, spaceLocal:
		n := uint64(len(w.cta.shared))
		what, advice := "CTA has ", "check the index against the array's size"
		if s == spaceLocal {
			n, what = uint64(w.w.p.local), "a thread has "
		}
		if address > n || address+size > n {
			f := c.at(w, in, &driver.Finding{Kind: driver.FoundOutOfBounds, Advice: advice}, s, address, size)
			f.Where = what + byteCount(n)
			c.report(w, in.id, lane, f, 1)
			return false
		}
		return c.variable(w, in, s, lane, address, size)
	}
	a := c.last
	if a == nil || address < a.low || address >= a.high {
		if a = findIn(w.w.allocations, address); a != nil {
			c.last = a
		}
	}
	if a == nil || address+size > a.high {
		f := c.at(w, in, &driver.Finding{Kind: driver.FoundOutOfBounds, Advice: "compare the index with the number of elements before the access"}, s, address, size)
		f.Where = w.w.run.memory.describeAccess(address, size)
		if strings.HasPrefix(f.Where, "inside the freed") {
			f.Kind, f.Advice = driver.FoundAfterFree, "free it after the last launch that uses it"
		} else if f.Where == "a null pointer" {
			f.Advice = "give the parameter a tensor"
		} else if t := c.tensorOf(c.facts[in.id].origin); t != nil {
			f.Where = beyond(t, address, size)
		}
		c.report(w, in.id, lane, f, 1)
		return false
	}
	if t := c.tensorOf(c.facts[in.id].origin); t != nil && (address < uint64(t.Base) || address+size > uint64(t.Base)+uint64(t.Bytes)) {
		f := c.at(w, in, &driver.Finding{Kind: driver.FoundOutsideTensor, Advice: "compare the index with the number of elements before the access"}, s, address, size)
		f.Where = beyond(t, address, size)
		c.report(w, in.id, lane, f, 1)
	}
	return true
}

// beyond says where an address lies that is not in a tensor.
func beyond(t *driver.Extent, address, size uint64) string {
	low, high := uint64(t.Base), uint64(t.Base)+uint64(t.Bytes)
	what := fmt.Sprintf("%s of parameter %d", t.Name, t.Param+1)
	if address < low {
		return byteCount(low-address) + " before " + what
	}
	return past(address, high, size) + what
}

// at fills in where an access goes.
func (c *sanitizer) at(w *warp, in *inst, f *driver.Finding, s space, address, size uint64) *driver.Finding {
	f.Space, f.Address, f.Bytes = [3]string{"global", "shared", "local"}[s], address, int(size)
	f.Where = c.where(w, in.id, s, address)
	if f.First.What == "" {
		read, write, kind := c.direction(in, s)
		f.First.What = whatOf(read, write, kind)
	}
	return f
}

func whatOf(read, write bool, kind markKind) string {
	switch {
	case kind&markAsync != 0 && write:
		return "copy"
	case read && write:
		return "atomic"
	case write:
		return "write"
	}
	return "read"
}

// zero makes what dropped lanes of a load receive zero.
func (c *sanitizer) zero(w *warp, in *inst, lanes uint32) {
	if c.p.f.Body[in.id].Opcode != "ld" || in.flags&flagStore != 0 {
		return
	}
	var one [1]uint32
	for _, at := range in.vectorRegs(&one) {
		for m := lanes; m != 0; m &= m - 1 {
			if in.flags&flagWide != 0 {
				w.u64(at)[lowest(m)] = 0
			} else {
				w.u32(at)[lowest(m)] = 0
			}
		}
	}
}

// sharedWritten looks for elements that nothing has written, and notes what is written.
func (c *sanitizer) sharedWritten(w *warp, in *inst, lane uint, address, size uint64, read, write bool) {
	v := w.cta.checked.written
	if read {
		if at, bad := c.absentFrom(v, in, address, size); bad {
			c.uninitialised(w, in, spaceShared, lane, at, min(uint64(max(in.size, 1)), size))
		}
	}
	if write {
		v.set(address, size)
	}
}

// globalWritten does the same for device memory, byte by byte.
func (c *sanitizer) globalWritten(w *warp, in *inst, lane uint, address, size uint64, read, write bool) {
	a := c.last
	if a == nil || address < a.low || address >= a.high {
		if a = findIn(w.w.allocations, address); a == nil {
			return
		}
		c.last = a
	}
	if read {
		if _, bad := a.firstUnwritten(address, address+size); bad {
			missing := func(at, n uint64) (uint64, bool) { return a.firstUnwritten(at, at+n) }
			if at, bad := c.absent(in, address, size, false, missing); bad {
				c.uninitialised(w, in, spaceGlobal, lane, at, size)
			}
		}
	}
	if write {
		c.saved.keep(c.run.memory, a, address, address+size)
		a.markWritten(address, address+size)
	}
}

// local checks what lanes read of their own memory.
func (c *sanitizer) local(w *warp, in *inst, a *[32]uint64, size uint64, read, write bool) {
	k := &w.home.warps[w.id]
	n := uint64(w.w.p.local)
	if k.written == nil {
		k.written = newWrittenBits(int(n) * warpSize)
	}
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		at := a[i] + uint64(i)*n
		if read && !c.facts[in.id].argument {
			if bad, is := c.absentFrom(k.written, in, at, size); is {
				c.uninitialised(w, in, spaceLocal, i, bad-uint64(i)*n, min(uint64(max(in.size, 1)), size))
			}
		}
		k.written.set(at, size)
	}
}

func (c *sanitizer) uninitialised(w *warp, in *inst, s space, lane uint, address, size uint64) {
	f := &driver.Finding{Kind: driver.FoundUninitialised, First: driver.Party{What: "read"}, Advice: "write it before it is read, in every thread that reads it"}
	c.suspect(w, in.id, lane, c.at(w, in, f, s, address, size))
}

// said is what a lane's last strong write told, and where.
type said struct {
	word     uint64
	fenced   *clock
	at, both uint32
}

// repeats reports whether a strong write of a lane would tell what its last one told there: a lane that spins on a lock
// need not say it each time.
func (k *warpCheck) repeats(word uint64, lane uint, v *view) bool {
	now := said{word, v.fenced, k.fencedAt[lane], k.metFence}
	if k.said[lane] == now {
		return true
	}
	k.said[lane] = now
	return false
}
