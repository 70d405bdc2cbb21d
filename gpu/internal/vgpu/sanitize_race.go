package vgpu

import (
	"bytes"
	"unsafe"

	"memwall/gpu/internal/driver"
)

// touchOf is one lane's access to memory that is shared with others.
type touchOf struct {
	c      *sanitizer
	w      *warp
	k      *ctaCheck // the lane's
	at     *ctaCheck // whose shared memory it is
	clock  *warpClock
	memory *shadow
	view   view
	id     int32
	lane   uint
	space  space
	size   uint64
	kind   markKind
	others uint32 // lanes that do the same
	in     *inst
	all    *[32]uint64 // addresses of the lanes
}

// alike gives the other lanes of m that read the same place and can be taken together with the lane: what it holds is
// written, and its last write is none of theirs, or known to all.
func (x *touchOf) alike(a *[32]uint64, m uint32) (others uint32) {
	address := a[x.lane]
	x.view = x.clock.base
	if p := x.memory.page(address, x.size); p != nil {
		for at := address; at < address+x.size; at += 1 << p.shift {
			c := &p.cells[at%shadowPage>>p.shift]
			if c.strong || c.write.lanes == 0 && x.space == spaceShared {
				return 0
			}
			if c.write.lanes != 0 && (!x.ordered(&c.write) || c.write.cta == x.k.number && int(c.write.warp) == x.w.id && c.write.time > x.clock.met) {
				return 0
			}
		}
	}
	if x.space == spaceGlobal {
		if l := x.c.last; l == nil || address < l.low || address >= l.high || !l.validity.whole.Load() {
			return 0
		}
	}
	for m &= m - 1; m != 0; m &= m - 1 {
		if i := lowest(m); a[i] == address {
			others |= 1 << i
		}
	}
	return others
}

// touch compares an access with those before it, granule by granule, and notes it.
func (x *touchOf) touch(address uint64, read, write bool) {
	p := x.memory.page(address, x.size)
	if p == nil {
		return
	}
	me := mark{cta: x.k.number, time: x.clock.time, id: x.id, lanes: 1<<x.lane | x.others, warp: uint16(x.w.id), kind: x.kind}
	if x.kind&markAsync != 0 {
		me.time = pendingTime
	}
	step := uint64(1) << p.shift
	for at := address; at < address+x.size; at += step {
		c := &p.cells[at%shadowPage>>p.shift]
		if c.write.lanes != 0 {
			switch {
			case c.write.time == pendingTime && !(c.write.id == x.id && c.write.warp == me.warp && c.write.lanes == me.lanes && x.kind&markAsync != 0):
				x.notArrived(&c.write, at, at == address)
			case !x.ordered(&c.write) && !x.both(&c.write) && !(write && x.equal(&c.write, address, at, step)):
				x.race(&c.write, at, step, read && !write, true)
			}
		}
		if c.read.lanes != 0 && (write || c.strong) {
			x.after(&c.read, at, step, write, read)
			list := x.memory.readers(c)
			for i := range list {
				x.after(&list[i], at, step, write, read)
			}
		}
		switch {
		case !write:
			x.memory.addReader(c, me, x.ordered)
		case x.kind&(markAtomic|markVolatile) != 0:
			me.kind |= markWrote
			x.memory.addReader(c, me, x.ordered)
			c.strong = true
		default:
			x.memory.forget(c)
			c.write = me
		}
	}
}

// after checks an access against one of those that stand among the readers.
func (x *touchOf) after(r *mark, at, step uint64, write, read bool) {
	if wrote := r.kind&markWrote != 0; (write || wrote) && !x.ordered(r) && !x.both(r) {
		x.race(r, at, step, read && !write, wrote)
	}
}

// equal reports whether a store writes what the same instruction wrote there for another lane at the same time, or to
// shared memory for another thread: compilers let all threads store what all of them hold, and who is last does not
// matter. The hazard is noted apart, as information, as racecheck does. Two instructions, or two CTAs, that happen to write the same are a race.
func (x *touchOf) equal(m *mark, address, at, step uint64) bool {
	now := int(m.warp) == x.w.id && m.time == x.clock.time // the same execution of the instruction
	if x.in == nil || x.space != spaceShared && !now || m.id != x.id || m.cta != x.k.number || x.c.p.f.Body[x.id].Opcode != "st" {
		return false
	}
	var value [32]byte
	var one [1]uint32
	for k, r := range x.in.vectorRegs(&one) {
		v := uint64(0)
		if x.in.flags&flagWide != 0 {
			v = x.w.u64(r)[x.lane]
		} else {
			v = uint64(x.w.u32(r)[x.lane])
		}
		if (k+1)*int(x.in.size) > len(value) {
			return false
		}
		store(unsafe.Pointer(&value[k*int(x.in.size)]), x.in.size, v)
	}
	// Lanes before this one in the same instruction have not stored yet: their registers tell what they will.
	if now {
		other := lowest(m.lanes)
		if x.all[other] != address {
			return false
		}
		for _, r := range x.in.vectorRegs(&one) {
			if x.in.flags&flagWide != 0 && x.w.u64(r)[x.lane] != x.w.u64(r)[other] || x.in.flags&flagWide == 0 && x.w.u32(r)[x.lane] != x.w.u32(r)[other] {
				return false
			}
		}
	} else if !bytes.Equal(x.w.cta.shared[at:at+step], value[at-address:at-address+step]) {
		return false
	}
	if x.c.equals += step; x.c.equalAt == "" {
		party := x.c.partyOf(x.id)
		x.c.equalAt = lineOf(party)
	}
	return true
}

// both reports whether two accesses may meet without an order: both are strong. Volatile accesses of one warp to shared
// memory are not exempt: that is how code looks that trusts a warp's lanes to run in step.
func (x *touchOf) both(m *mark) bool {
	const strong = markAtomic | markVolatile
	if x.kind&markGuess != 0 && m.kind&markAtomic != 0 || m.kind&markGuess != 0 && x.kind&markAtomic != 0 {
		return true
	}
	if x.kind&strong == 0 || m.kind&strong == 0 || (x.kind|m.kind)&markNear != 0 && m.cta != x.k.number {
		return false
	}
	return x.space != spaceShared || m.cta != x.k.number || int(m.warp) != x.w.id || (x.kind|m.kind)&markAtomic != 0
}

// ordered reports whether a mark comes before whatever the lane does now.
func (x *touchOf) ordered(m *mark) bool {
	if m.time == pendingTime {
		return false
	}
	var known warpKnow
	others := m.lanes
	if m.cta == x.k.number {
		if int(m.warp) == x.w.id {
			if others &^= 1 << x.lane; others == 0 || m.time <= x.clock.met {
				return true
			}
		}
		known = x.view.known.of(uint32(m.warp))
	} else if x.view.known != nil {
		if row := x.view.known.far.get(m.cta); int(m.warp) < len(row) {
			known = row[m.warp]
		}
	}
	if m.time <= known.all {
		return true
	}
	if known.lanes == nil {
		return false
	}
	for ; others != 0; others &= others - 1 {
		if m.time > known.lanes[lowest(others)] {
			return false
		}
	}
	return true
}

// race reports two accesses without an order.
func (x *touchOf) race(m *mark, at, step uint64, reads, wrote bool) {
	f := &driver.Finding{Kind: driver.FoundRace, Space: "global", Address: at, Bytes: int(x.size), Where: x.c.where(x.w, x.id, x.space, at)}
	f.First.What = whatOf(reads || x.kind&markAtomic != 0, !reads, x.kind)
	second := x.party(m, wrote)
	f.Second = &second
	near := m.cta == x.k.number && int(m.warp) == x.w.id
	switch {
	case m.time == pendingTime:
		f.Advice = "wait for it (wgmma.wait_group, cp.async.bulk.wait_group.read) before its operands are overwritten"
	case (x.kind|m.kind)&markNear != 0 && m.cta != x.k.number:
		f.Advice = "one of the two has the scope of its CTA (atomicAdd_block, .cta): use the one for the device"
	case x.space == spaceShared && near:
		f.Advice = "put __syncwarp() between the two: lanes of a warp do not run in step"
	case x.space == spaceShared && m.cta != x.k.number:
		f.Advice = "put a barrier of the cluster between the two: barrier.cluster, or cluster.sync()"
	case x.space == spaceShared:
		f.Advice = "put __syncthreads() between the two"
	case near:
		f.Advice = "put __syncwarp() between the two, or use an atomic"
	case m.cta == x.k.number:
		f.Advice = "put __syncthreads() between the two, or use an atomic"
	default:
		f.Advice = "CTAs run in any order: use an atomic, a second launch, or __threadfence() and a flag"
	}
	if x.space == spaceShared {
		f.Space = "shared"
	}
	x.c.report(x.w, x.id, x.lane, f, step)
	if wrote {
		return
	}
	if x.space == spaceShared {
		x.at.doubts.explain(at, step)
	} else {
		x.c.doubts.explain(at, step)
	}
}

// notArrived reports an access to what an asynchronous copy is still writing.
func (x *touchOf) notArrived(m *mark, at uint64, first bool) {
	second := x.party(m, true)
	f := &driver.Finding{Kind: driver.FoundNotArrived, Space: "shared", Address: at, Bytes: int(x.size), Where: x.c.where(x.w, x.id, x.space, at), Second: &second,
		Advice: "wait for the copy (cp.async.wait_group, or its mbarrier) before the barrier that the readers pass"}
	if x.space == spaceGlobal {
		f.Space = "global"
	}
	f.First.What = "read"
	if x.kind&markAsync != 0 {
		f.First.What = "copy"
	} else if in := x.c.p.infos[x.id].kind; in == sharedStore || in == globalStore {
		f.First.What = "write"
	}
	n := uint64(0)
	if first {
		n = 1
	}
	x.c.report(x.w, x.id, x.lane, f, n)
}
