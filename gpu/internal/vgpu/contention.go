package vgpu

import "memwall/gpu/perf"

// A launch's atomics on global memory are counted by line of 128 bytes, because L2 updates a line one request after another;
// and compare-and-swaps by address, because each must see what the one before it left. What is wanted most bounds the time.
// The tables have fixed sizes: what falls on one entry is counted together, which stays below what all of L2 can do.

const (
	hotBits  = 12
	hotLines = 1 << hotBits
	casBits  = 16
)

// hotLine is what came to one line: requests of warps, and lanes.
type hotLine struct {
	packets, updates uint64
	request          uint64 // the last that came here
	cta              uint64 // ordinal + 1 of the CTA that came first
	several          bool   // CTAs
}

// contention is what a worker has counted.
type contention struct {
	lines    []hotLine
	compares []uint64 // by address
	requests uint64
}

func (h *contention) begin() {
	clear(h.lines)
	clear(h.compares)
	h.requests = 0
}

// slot mixes an address so that neighbours do not meet.
func slot(x uint64, bits uint) uint64 { return x * 0x9e3779b97f4a7c15 >> (64 - bits) }

// add counts a request of a warp's active lanes.
func (h *contention) add(w *warp, in *inst, a *[32]uint64) {
	if h.lines == nil {
		h.lines = make([]hotLine, hotLines)
	}
	h.requests++
	cta := w.cta.ordinal + 1
	for m := w.mask; m != 0; m &= m - 1 {
		e := &h.lines[slot(a[lowest(m)]>>7, hotBits)]
		if e.request != h.requests {
			e.request = h.requests
			e.packets++
			if e.cta == 0 {
				e.cta = cta
			}
			e.several = e.several || e.cta != cta
		}
		e.updates++
	}
	if in.ext.atomic.op != atomicCompare {
		return
	}
	if h.compares == nil {
		h.compares = make([]uint64, 1<<casBits)
	}
	for m := w.mask; m != 0; m &= m - 1 {
		h.compares[slot(a[lowest(m)], casBits)]++
	}
}

// worstContention adds up what the workers have counted and gives the worst of it. The sums do not depend on who counted what.
func worstContention(pool []*worker) (most perf.Hottest) {
	counted, compared := false, false
	for _, k := range pool {
		counted, compared = counted || k.contention.lines != nil, compared || k.contention.compares != nil
	}
	for i := 0; counted && i < hotLines; i++ {
		var line perf.Hottest
		first := uint64(0)
		for _, k := range pool {
			if k.contention.lines == nil {
				continue
			}
			e := &k.contention.lines[i]
			line.Packets += e.packets
			line.Updates += e.updates
			line.Shared = line.Shared || e.several || first != 0 && e.cta != 0 && e.cta != first
			first = max(first, e.cta)
		}
		if line.Packets+line.Updates > most.Packets+most.Updates {
			most = line
		}
	}
	for i := 0; compared && i < 1<<casBits; i++ {
		n := uint64(0)
		for _, k := range pool {
			if k.contention.compares != nil {
				n += k.contention.compares[i]
			}
		}
		most.Compares = max(most.Compares, n)
	}
	return most
}
