package vgpu

// A fence, release or acquire of the scope of a CTA orders what the CTA's own threads see, and no more (PTX ISA 8.5). So what
// strong writes tell is kept twice: for everybody, and for the threads of the writer's CTA, which learn more. Where a lane's
// last fence was a narrow one, everybody is told what it had fenced before that.

// nearFence is what lanes had fenced for everybody when they executed their first narrow fence since.
type nearFence struct {
	lanes  uint32
	before [32]*clock // what their strong writes tell others
}

// nearFences notes that lanes are about to execute a fence, narrow or not.
func (k *warpCheck) nearFences(warps int, warp, lanes uint32, near bool) {
	if k.near == nil {
		if !near {
			return
		}
		k.near = &nearFence{}
	}
	if !near {
		k.near.lanes &^= lanes
		return
	}
	for m := lanes &^ k.near.lanes; m != 0; m &= m - 1 {
		k.near.before[lowest(m)] = k.told(warps, warp, lowest(m), false)
	}
	k.near.lanes |= lanes
}

// tells gives what a strong write of a lane tells those of its CTA, and everybody.
func (x *touchOf) tells(f *syncFact) (own, all *clock) {
	warps, warp := len(x.k.warps), uint32(x.w.id)
	own = x.clock.told(warps, warp, x.lane, f.release)
	switch n := x.k.warps[warp].near; {
	case f.near:
		return own, nil
	case n != nil && n.lanes>>x.lane&1 != 0 && !f.release:
		return own, n.before[x.lane]
	}
	return own, own
}

// strong lets a lane learn from strong writes before it and tell those who read after it.
func (c *sanitizer) strong(x *touchOf, address uint64, read, write bool, f *syncFact) {
	near, all := x.k.syncs, c.syncs // by device addresses and by offsets, which never are the same
	if x.space == spaceShared {
		near, all = x.at.syncs, nil
	}
	warp := uint32(x.w.id)
	for word := address &^ 3; word < address+x.size; word += 4 {
		if read {
			x.hear(near[word], 0)
			if !f.near {
				x.hear(all[word], 1)
			}
		}
		if !write || !f.release && x.k.warps[warp].repeats(word, x.lane, &x.view) {
			continue
		}
		own, others := x.tells(f)
		if own == nil {
			continue
		}
		near[word] = joinFar(near[word], own.far.with(x.k.number, own.row))
		if all != nil && others != nil {
			all[word] = joinFar(all[word], others.far.with(x.k.number, others.row))
		}
		if f.release {
			x.clock.dirty = true
			x.clock.tick()
		}
	}
}

// hear lets the lane learn what was told, once; where is which of the two places it stands in.
func (x *touchOf) hear(told *farNode, where int) {
	k := &x.k.warps[x.w.id]
	if told == nil || told == k.heard[where][x.lane] {
		return
	}
	k.heard[where][x.lane] = told
	if v := x.view.learn(x.k.number, told); v != x.view {
		x.clock.setView(x.lane, v)
		x.view = v
	}
}
