package vgpu

// What a lane knows of others, for the sanitizer. Every warp has a time of its own, which grows where its lanes tell or
// learn something; an access carries the time of its warp. A clock says up to which time its owner knows the accesses of
// every other warp: those are ordered before whatever the owner does next. Clocks are immutable and shared: a barrier makes
// one for all that pass it.

// warpKnow is how much of a warp is known: accesses of all its lanes up to a time, and of single lanes beyond it.
type warpKnow struct {
	all   uint32
	lanes *[32]uint32 // nil: nothing beyond all
}

func (k warpKnow) covers(lane uint, time uint32) bool {
	return time <= k.all || k.lanes != nil && time <= k.lanes[lane]
}

func (k warpKnow) join(o warpKnow) warpKnow {
	j := warpKnow{all: max(k.all, o.all), lanes: k.lanes}
	if o.lanes == nil || o.lanes == k.lanes {
		return j
	}
	if j.lanes == nil {
		j.lanes = o.lanes
		return j
	}
	more := false
	for i, t := range o.lanes {
		more = more || t > j.lanes[i] && t > j.all
	}
	if more {
		both := *j.lanes
		for i, t := range o.lanes {
			both[i] = max(both[i], t)
		}
		j.lanes = &both
	}
	return j
}

// clock is what is known of the warps of the own CTA and of other CTAs. nil knows nothing.
type clock struct {
	row []warpKnow
	far *farNode
}

// of gives what is known of a warp of the own CTA.
func (c *clock) of(warp uint32) warpKnow {
	if c == nil || int(warp) >= len(c.row) {
		return warpKnow{}
	}
	return c.row[warp]
}

func joinRows(a, b []warpKnow) []warpKnow {
	switch {
	case len(b) == 0 || len(a) > 0 && &a[0] == &b[0]:
		return a
	case len(a) == 0:
		return b
	}
	var out []warpKnow
	for i := range min(len(a), len(b)) {
		if j := a[i].join(b[i]); j != a[i] {
			if out == nil {
				out = append([]warpKnow(nil), a...)
			}
			out[i] = j
		}
	}
	if out == nil {
		return a
	}
	return out
}

func joinClocks(a, b *clock) *clock {
	switch {
	case a == b || b == nil:
		return a
	case a == nil:
		return b
	}
	row, far := joinRows(a.row, b.row), joinFar(a.far, b.far)
	if far == a.far && len(row) == len(a.row) && (len(row) == 0 || &row[0] == &a.row[0]) {
		return a
	}
	return &clock{row: row, far: far}
}

// with is the clock that knows k of one warp of the own CTA as well.
func (c *clock) with(warps int, warp uint32, k warpKnow) *clock {
	n := &clock{row: make([]warpKnow, warps)}
	if c != nil {
		copy(n.row, c.row)
		n.far = c.far
	}
	n.row[warp] = n.row[warp].join(k)
	return n
}

// farNode is a persistent radix tree from a CTA's number in the grid to what is known of its warps: copies share all that
// did not change, so that a counter that every CTA passes costs a path of nodes each, not a copy of everything.
type farNode struct {
	kids [farWidth]*farNode
	row  []warpKnow // of a leaf
}

const (
	farBits  = 4
	farWidth = 1 << farBits
	farTop   = 32 - farBits
)

func (n *farNode) get(cta uint32) []warpKnow {
	for shift := farTop; shift >= 0 && n != nil; shift -= farBits {
		n = n.kids[cta>>shift&(farWidth-1)]
	}
	if n == nil {
		return nil
	}
	return n.row
}

func (n *farNode) with(cta uint32, row []warpKnow) *farNode { return n.set(cta, row, farTop) }

func (n *farNode) set(cta uint32, row []warpKnow, shift int) *farNode {
	if shift < 0 {
		if n == nil {
			return &farNode{row: row}
		}
		joined := joinRows(n.row, row)
		if len(joined) == len(n.row) && (len(joined) == 0 || &joined[0] == &n.row[0]) {
			return n
		}
		return &farNode{row: joined}
	}
	c := &farNode{}
	if n != nil {
		*c = *n
	}
	at := cta >> shift & (farWidth - 1)
	kid := c.kids[at].set(cta, row, shift-farBits)
	if n != nil && kid == n.kids[at] {
		return n
	}
	c.kids[at] = kid
	return c
}

func joinFar(a, b *farNode) *farNode { return joinFarAt(a, b, farTop) }

func joinFarAt(a, b *farNode, shift int) *farNode {
	switch {
	case a == b || b == nil:
		return a
	case a == nil:
		return b
	}
	if shift < 0 {
		row := joinRows(a.row, b.row)
		switch {
		case sameRow(row, a.row):
			return a
		case sameRow(row, b.row):
			return b
		}
		return &farNode{row: row}
	}
	n := *a
	isA, isB := true, true
	for i := range n.kids {
		n.kids[i] = joinFarAt(a.kids[i], b.kids[i], shift-farBits)
		isA, isB = isA && n.kids[i] == a.kids[i], isB && n.kids[i] == b.kids[i]
	}
	switch {
	case isA:
		return a
	case isB:
		return b
	}
	return &n
}

func sameRow(a, b []warpKnow) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// view is what a lane knows, and what of it is fenced: only that much a relaxed write tells whoever reads it.
type view struct{ known, fenced *clock }

func joinViews(a, b view) view {
	return view{joinClocks(a.known, b.known), joinClocks(a.fenced, b.fenced)}
}

// warpClock is the sanitizer's state of one warp. All lanes share base but those that have learned or fenced something of
// their own, until all meet again.
type warpClock struct {
	time     uint32 // of accesses from now on
	dirty    bool   // there were accesses at this time
	met      uint32 // all lanes know each other's accesses up to here
	metFence uint32 // and that much of it all of them have fenced
	fences   bool   // fencedAt holds something that the others have not learned
	base     view
	private  *[32]*view
	fencedAt [32]uint32 // own accesses of each lane that it has fenced
}

func (c *warpClock) reset() { *c = warpClock{time: 1} }

func (c *warpClock) view(lane uint) view {
	if c.private != nil && c.private[lane] != nil {
		return *c.private[lane]
	}
	return c.base
}

func (c *warpClock) setView(lane uint, v view) {
	if c.private == nil {
		c.private = new([32]*view)
	}
	c.private[lane] = &v
}

// tick begins a new time, if there was anything in the old one.
func (c *warpClock) tick() {
	if c.dirty {
		c.time++
		c.dirty = false
	}
}

// gather is what the lanes of a set know together, their own accesses included.
func (c *warpClock) gather(warps int, warp uint32, lanes, live uint32) view {
	v := c.base
	if c.private != nil {
		for m := lanes; m != 0; m &= m - 1 {
			if p := c.private[lowest(m)]; p != nil {
				v = joinViews(v, *p)
			}
		}
	}
	own, fenced := warpKnow{all: c.met}, warpKnow{all: c.metFence}
	if lanes&live == live {
		own.all = c.time
	} else {
		own.lanes = new([32]uint32)
		for m := lanes; m != 0; m &= m - 1 {
			own.lanes[lowest(m)] = c.time
		}
	}
	if c.fences {
		at := new([32]uint32)
		for m := lanes | ^live; m != 0; m &= m - 1 {
			at[lowest(m)] = c.fencedAt[lowest(m)]
		}
		fenced.lanes = at
	}
	v.known = v.known.with(warps, warp, own)
	if v.fenced != nil || c.fences || c.metFence > 0 {
		v.fenced = v.fenced.with(warps, warp, fenced)
	}
	return v
}

// give lets the lanes of a set know v; when they are all that live, they share it.
func (c *warpClock) give(v view, lanes, live uint32) {
	if lanes&live == live {
		c.base, c.private = v, nil
		c.met = c.time
		c.fences = false
	} else {
		for m := lanes; m != 0; m &= m - 1 {
			c.setView(lowest(m), v)
		}
	}
	c.dirty = true
	c.tick()
}

// meet lets lanes of the warp learn from each other: bar.warp.sync and all that synchronises a warp's lanes.
func (c *warpClock) meet(warps int, warp uint32, lanes, live uint32) {
	if lanes&live == live && c.private == nil && !c.fences {
		if c.dirty || c.met+1 < c.time {
			c.met = c.time
			c.dirty = true
			c.tick()
		}
		return
	}
	c.give(c.gather(warps, warp, lanes, live), lanes, live)
}

// fence makes what the lanes know, and what they did, part of what their relaxed writes tell.
func (c *warpClock) fence(warps int, warp uint32, lanes, live uint32) {
	if lanes&live == live && c.private == nil {
		c.base.fenced, c.metFence = c.base.known, c.met
	} else {
		for m := lanes; m != 0; m &= m - 1 {
			v := c.view(lowest(m))
			v.fenced = v.known.with(warps, warp, warpKnow{all: c.met})
			c.setView(lowest(m), v)
		}
	}
	for m := lanes; m != 0; m &= m - 1 {
		c.fencedAt[lowest(m)] = c.time
	}
	c.fences = true
	c.dirty = true
	c.tick()
}

// told is what a strong write of a lane tells those who read it: with release all that the lane knows, else what it fenced.
func (c *warpClock) told(warps int, warp uint32, lane uint, release bool) *clock {
	v := c.view(lane)
	own := warpKnow{all: c.metFence}
	k := v.fenced
	at := c.fencedAt[lane]
	if release {
		k, own.all, at = v.known, c.met, c.time
	}
	if k == nil && at == 0 {
		return nil
	}
	own.lanes = new([32]uint32)
	own.lanes[lane] = at
	return k.with(warps, warp, own)
}
