package vgpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"memwall/gpu/internal/driver"
)

// A launch with a race is executed once more, its CTAs and the warps of each in the opposite order, and the two results are
// compared: a missing barrier then shows as what it does, not only as what it could do. Device memory ends as the first
// execution left it. A CUDA kernel with atomics on device memory is not compared: its results may depend on the order, and
// be right.

const savedPage = 4096

// saved are pages of device memory as they were before the launch wrote to them, by number.
type saved map[uint64][]byte

// keep saves the pages of a range that is about to be written.
func (s saved) keep(m *memory, a *allocation, low, high uint64) {
	for page := low / savedPage; page <= (high-1)/savedPage; page++ {
		if _, known := s[page]; !known && len(s) < mostSaved {
			s[page] = slices.Clone(pageOf(m, a, page))
		}
	}
}

const mostSaved = 64 << 20 / savedPage

// pageOf gives the part of a page that lies in an allocation.
func pageOf(m *memory, a *allocation, page uint64) []byte {
	low, high := max(page*savedPage, a.low), min((page+1)*savedPage, a.high)
	if a.contents != nil || low >= high {
		return nil
	}
	if _, _, err := m.reach(a, low, high); err != nil {
		return nil
	}
	return m.arena[low-m.base : high-m.base]
}

// put writes pages back, and gives what they held.
func (s saved) put(m *memory, table []*allocation) saved {
	old := saved{}
	for page, content := range s {
		if a := allocationOn(table, page); a != nil {
			now := pageOf(m, a, page)
			old[page] = slices.Clone(now)
			copy(now, content)
		}
	}
	return old
}

// allocationOn finds the allocation on a page: gaps between allocations are as large as a page, so that there is one.
func allocationOn(table []*allocation, page uint64) *allocation {
	for _, a := range table {
		if a.low < (page+1)*savedPage && a.high > page*savedPage {
			return a
		}
	}
	return nil
}

// comparable reports whether the results of a launch must be the same in any order.
func (c *sanitizer) comparable() bool {
	if len(c.saved) >= mostSaved || c.bulkStores {
		return false
	}
	for i := range c.p.f.Body {
		if in := &c.p.f.Body[i]; c.facts[i].kind&markAtomic != 0 && !in.Has("shared") && !in.Has("shared::cta") {
			return false
		}
	}
	return slices.ContainsFunc(c.list, func(f *driver.Finding) bool { return f.Kind == driver.FoundRace })
}

// compareOrders executes the launch again in the opposite order and reports where the result differs. A launch that took
// some time and does not end in the opposite order after twenty times as long is given up.
func (c *sanitizer) compareOrders(f *function, l *driver.Launch, took time.Duration) {
	r := c.run
	if !c.comparable() {
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, time.Second+20*took)
	defer cancel()
	after := c.saved.put(r.memory, r.allocations)
	again := &launchRun{workspace: r.workspace, device: r.device, memory: r.memory, allocations: r.allocations, args: r.args, number: r.number, step: r.step,
		sms: r.sms, sources: r.sources, ctx: ctx, grid: r.grid, dim: r.dim, span: r.span, dynamic: r.dynamic, procedural: r.procedural,
		executed: r.executed, most: r.most, exactWrites: true, reverse: true}
	again.check = newSanitizer(again, f.program, nil)
	err := again.execute([]*worker{newWorker(f.program, l.Grid, l.CTA, r.span, l.Shared)})
	for page, before := range again.check.saved {
		if _, both := after[page]; !both { // the first execution did not write there: before is what it left
			after[page] = before
		}
	}
	second := after.put(r.memory, r.allocations)
	if err != nil {
		return
	}
	pages := make([]uint64, 0, len(after))
	for page := range after {
		pages = append(pages, page)
	}
	slices.Sort(pages)
	words, first := 0, uint64(0)
	var one, other uint32
	for _, page := range pages {
		x, y := after[page], second[page]
		if bytes.Equal(x, y) {
			continue
		}
		base := max(page*savedPage, allocationOn(r.allocations, page).low)
		for i := 0; i+4 <= len(x) && i+4 <= len(y); i += 4 {
			if a, b := binary.LittleEndian.Uint32(x[i:]), binary.LittleEndian.Uint32(y[i:]); a != b {
				if words++; words == 1 {
					first, one, other = base+uint64(i), a, b
				}
			}
		}
	}
	if words > 0 {
		c.orderMatters(first, words, one, other)
	}
}

// orderMatters reports a result that differs.
func (c *sanitizer) orderMatters(address uint64, words int, one, other uint32) {
	f := &driver.Finding{Kind: driver.FoundOrder, Function: c.p.f.Name, Space: "global", Address: address, Bytes: 4, Count: uint64(words), Where: c.whereGlobal(address),
		Detail: fmt.Sprintf("with CTAs and warps in the grid's order it is 0x%08x, in the opposite order 0x%08x", one, other),
		Advice: "mend the races above: this is what they do"}
	if p := c.global.page(address, 4); p != nil {
		if m := &p.cells[address%shadowPage>>p.shift].write; m.lanes != 0 {
			g := c.run.grid
			f.First = c.partyAt("write", m.id, [3]uint32{m.cta % g.X, m.cta / g.X % g.Y, m.cta / g.X / g.Y}, int(m.warp), lowest(m.lanes), c.run.dim)
		}
	}
	c.list = append(c.list, f)
}
