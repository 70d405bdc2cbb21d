package vgpu

import (
	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
)

// A wgmma is one operation of four warps: it begins when all four have issued it, and a warp that has waited for its group
// knows that the operands of all four were read (which is why one thread's word to the producer of a tile is enough). So
// wgmma.wait_group stops a warp until the other three have committed as many groups, and computes those of all four.

// warpgroupWait decodes wgmma.wait_group, the end of a block.
func (d *decoder) warpgroupWait(e *ending, in *ptx.Instruction) error {
	if err := d.warpgroupTarget(in); err != nil {
		return err
	}
	if _, err := d.grammar(in, "wait_group", "sync", "aligned"); err != nil {
		return err
	}
	if err := d.operands(in, 1, 1); err != nil {
		return err
	}
	if o := &in.Operands[0]; o.Kind != ptx.OperandImmediate || o.Bits > 1<<20 {
		return decodeError(d.m, in, "the number of groups must be a constant")
	}
	e.kind, e.threads, e.aligned = endWarpgroup, uint32(in.Operands[0].Bits), true
	return nil
}

// arriveWarpgroup handles wgmma.wait_group at the end of a block.
func (w *warp) arriveWarpgroup(b *block, c *blockCounts, top *split) {
	e := &b.end
	m := w.guardOf(e, top.mask)
	if e.guard >= 0 {
		c.takenLanes += uint64(popcount(m))
		c.taken += uint64(b2i(m != 0))
	}
	top.block = e.next
	if m == 0 {
		return
	}
	if m != top.mask {
		w.w.stop(w, e.id, int(lowest(top.mask&^m)), &driver.Fault{Kind: driver.Illegal, Detail: "an .aligned instruction that not all lanes of the warp execute", Mend: "let all 32 lanes reach it: move it out of the branch, and let idle lanes go along with zeros"})
	}
	if w.cta.check != nil {
		w.cta.check.before(w, e.id, m)
	}
	top.wait, top.end = waitGroups, e
	w.passGroups()
}

// passGroups lets a warp go on that waits for groups of wgmma, if it can; it reports whether it did.
func (w *warp) passGroups() bool {
	var e *ending
	var lanes uint32
	for i := range w.stack {
		if s := &w.stack[i]; s.wait == waitGroups {
			e = s.end
			lanes |= s.mask
		}
	}
	if e == nil || lanes != w.live {
		return false
	}
	if w.live != allLanes {
		w.w.stop(w, e.id, int(lowest(^w.live)), &driver.Fault{Kind: driver.Illegal, Detail: "an .aligned instruction that not all lanes of the warp execute", Mend: "let all 32 lanes reach it: move it out of the branch, and let idle lanes go along with zeros"})
	}
	g := &w.groups
	most := int(e.threads) // groups that may stay open
	if need := g.committed - most; need > 0 && len(g.groups) > most {
		warps := w.cta.warps
		first, last := w.id&^3, min(w.id|3, len(warps)-1)
		for i := first; i <= last; i++ {
			if warps[i].groups.committed < need {
				return false
			}
		}
		w.computeTogether(warps[first:last+1], need)
		w.cta.check.warpgroupRead(w, first, last, need)
	}
	w.waitWarpgroup(most)
	for i := range w.stack {
		if s := &w.stack[i]; s.wait == waitGroups {
			s.wait, s.end = waitNone, nil
		}
	}
	if len(w.stack) > 1 {
		w.merge()
	}
	return true
}

// computeTogether computes the first n groups that the warps of a warpgroup have committed since the CTA began, wgmma after
// wgmma, each for all warps.
func (w *warp) computeTogether(warps []warp, n int) {
	tile := &w.cta.tileB
	tile.sharing = true
	for left := true; left; {
		left = false
		tile.valid = false
		for i := range warps {
			if job := warps[i].groups.nextJob(n); job != nil {
				warps[i].computeJob(job)
				left = true
			}
		}
	}
	*tile = sharedTile{}
}

// nextJob gives the first wgmma of the first n groups that is not computed.
func (g *warpgroupState) nextJob(n int) *warpgroupJob {
	for i := range min(len(g.groups), max(n-(g.committed-len(g.groups)), 0)) {
		for j := range g.groups[i] {
			if !g.groups[i][j].done {
				return &g.groups[i][j]
			}
		}
	}
	return nil
}

// waitWarpgroup hands out the results of all groups but the latest n.
func (w *warp) waitWarpgroup(n int) {
	g := &w.groups
	for len(g.groups) > n {
		for i := range g.groups[0] {
			w.finishJob(&g.groups[0][i])
		}
		g.groups = append(g.groups[:0], g.groups[1:]...)
	}
}

// releaseWarpgroups lets warps go whose warpgroup has caught up; it reports whether there were any.
func (k *cta) releaseWarpgroups() bool {
	released := false
	for i := range k.warps {
		if w := &k.warps[i]; w.state == blocked && w.passGroups() {
			w.state, released = running, true
		}
	}
	return released
}
