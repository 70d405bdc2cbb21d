package vgpu

import (
	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
)

// Bulk copies and wgmma read memory through the async proxy. What ordinary instructions, the generic proxy, have written they
// are only sure to see when a fence.proxy.async lies between the two, beside what orders them: in a thread that has written, or
// in one that knows of the writes, the reader say (PTX ISA 8.6.4). Who has fenced what is kept per warp: the time up to which
// each of its lanes has fenced its own accesses, and all that the last lane knew which fenced.

// proxyFence is what a warp has fenced.
type proxyFence struct {
	own   [32]uint32 // time of each lane's last fence, 0: none
	known *clock     // what was known at the last
}

// isProxyFence tells whether an instruction makes writes of the generic proxy visible to the async one.
func isProxyFence(in *ptx.Instruction) bool {
	return in.Opcode == "fence" && in.Has("proxy") && in.Has("async")
}

// proxy is called when lanes of a warp execute such a fence.
func (c *sanitizer) proxy(w *warp, lanes uint32) {
	s := w.home
	k := &s.warps[w.id]
	if k.proxied == nil {
		k.proxied = &proxyFence{}
	}
	v := k.gather(len(s.warps), uint32(w.id), lanes, w.live)
	k.proxied.known = joinClocks(k.proxied.known, v.known)
	for m := lanes; m != 0; m &= m - 1 {
		k.proxied.own[lowest(m)] = k.time
	}
	k.dirty = true
	k.tick()
}

// throughProxy tells whether a write that comes before an async read has passed a proxy fence.
func (x *touchOf) throughProxy(m *mark) bool {
	if m.cta != x.k.number { // of another CTA: it is not kept what that one has fenced
		return true
	}
	if p := x.k.warps[m.warp].proxied; p != nil {
		fenced := true
		for lanes := m.lanes; lanes != 0; lanes &= lanes - 1 {
			fenced = fenced && p.own[lowest(lanes)] >= m.time
		}
		if fenced {
			return true
		}
	}
	for i := range x.k.warps {
		p := x.k.warps[i].proxied
		if p == nil || p.known == nil {
			continue
		}
		know := p.known.of(uint32(m.warp))
		covers := true
		for lanes := m.lanes; lanes != 0 && covers; lanes &= lanes - 1 {
			covers = know.covers(lowest(lanes), m.time)
		}
		if covers {
			return true
		}
	}
	return false
}

// asyncSees checks that what the async proxy reads in [address, address+size) of shared memory was written through it, or has
// passed a fence.
func (x *touchOf) asyncSees(address, size uint64) {
	for at := address; at < address+size; {
		p := x.memory.page(at, 4)
		if p == nil {
			return
		}
		step := uint64(1) << p.shift
		m := &p.cells[at%shadowPage>>p.shift].write
		if m.lanes != 0 && m.kind&(markAsync|markAtomic|markVolatile) == 0 && m.time != pendingTime && x.ordered(m) && !x.throughProxy(m) && !x.c.copied(m.id) {
			second := x.party(m, true)
			f := &driver.Finding{Kind: driver.FoundProxy, Space: "shared", Address: at, Bytes: int(step), Where: x.c.where(x.w, x.id, x.space, at), Second: &second,
				Advice: "let the threads that wrote execute fence.proxy.async (asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\")) before the barrier that comes before the copy or wgmma"}
			f.First.What = "asynchronous read"
			x.c.report(x.w, x.id, x.lane, f, step)
		}
		at += step
	}
}

// copied tells whether a write was made by cp.async, of which PTX does not say which proxy it belongs to once it has arrived.
func (c *sanitizer) copied(id int32) bool { return c.p.f.Body[id].Opcode == "cp" }
