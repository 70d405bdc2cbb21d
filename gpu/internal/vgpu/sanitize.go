package vgpu

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
)

// sanitizer watches one launch: it checks every access before it happens and keeps, for each granule of memory, who touched
// it, and for each warp, what it knows of others (sanitize_clock.go). Two accesses that touch the same granule, one of
// which writes, and of which neither is ordered before the other, are a race, whether the values came out right or not.
// A sanitized launch runs on one worker, so that all of this is in order and the findings are the same each time.
//
// What orders accesses: the program within a lane; bar.warp.sync among the lanes that execute it together, and no other
// *.sync: shuffles, votes and ldmatrix bring lanes together and order no memory (CUDA C++ Programming Guide, "Warp Shuffle");
// barriers of a CTA, with their numbers and counts; barriers of a cluster; mbarrier phases; and strong accesses (atomic,
// volatile, relaxed …): one that reads learns what those before it told: a release all that its lane knew, any other what
// its lane had fenced.
type sanitizer struct {
	run        *launchRun
	p          *program
	facts      []syncFact // by PTX instruction
	tensors    []driver.Extent
	global     *shadow
	syncs      map[uint64]*farNode // what strong writes to a word told
	found      map[findingKey]*driver.Finding
	list       []*driver.Finding
	apart      map[*driver.Finding]int // of races: the farthest parties
	running    []*ctaCheck             // CTAs that have begun and not ended
	bulkStores bool                    // some instruction writes device memory in bulk, past admit
	over       *objectCheck            // mbarrier whose phase the operation at hand has completed
	steps      uint64                  // watched instructions
	equals     uint64                  // bytes of equal values written without an order
	equalAt    string                  // where first
	most       string                  // why something was not watched
	last       *allocation
	doubts     doubts // of reads of device memory
	saved      saved
	names      []placed          // variables in shared and local memory
	travelling map[[2]int32]bool // by instruction and element of a vector load: whether it is only stored again
}

// ctaCheck is the sanitizer's state of one CTA.
type ctaCheck struct {
	cta      *cta
	number   uint32
	shared   *shadow
	written  writtenBits // of shared memory
	syncs    map[uint64]*farNode
	warps    []warpCheck
	barriers [maxBarriers][]comer
	doubts   doubts
	objects  map[uint64]*objectCheck // mbarriers, by offset
}

// warpCheck is the sanitizer's state of one warp.
type warpCheck struct {
	warpClock
	written writtenBits // of its lanes' local memory
	open    []copyMark
	groups  [][]copyMark
	reading copyGroups      // of operands by wgmma
	storing copyGroups      // of shared memory by bulk stores
	heard   [2][32]*farNode // what each lane learned last, of its CTA and of all
	said    [32]said        // and told last
	proxied *proxyFence     // nil: no lane has executed a proxy fence
	near    *nearFence      // nil: no lane's last fence was one of the scope of its CTA
}

// comer is a part of a warp that has come to a barrier.
type comer struct {
	w     *warp
	lanes uint32
	id    int32
	stays bool
}

// copyMark is a lane's copy to shared memory that has not arrived.
type copyMark struct {
	id       int32
	lane     uint32 // a bit
	at, size uint64
	reads    bool
	by       *warp     // of copies that an mbarrier waits for: who issued it,
	of       *ctaCheck // and its CTA
}

// syncFact is what an instruction's spelling says about order.
type syncFact struct {
	meets    bool // lanes that execute it together know each other's accesses
	fences   bool
	proxy    bool // fence.proxy.async
	near     bool // of the scope of a CTA: what it tells and learns stays among the CTA's threads
	kind     markKind
	release  bool
	strong   bool // reads learn, writes tell
	argument bool // of a call
	waitAll  bool
	later    bool  // st.async, red.async: it is noted where it is sent
	commits  bool  // wgmma.commit_group
	waits    int   // wgmma.wait_group: how many groups it leaves; -1 elsewhere
	origin   int32 // parameter that its address comes from, -1 where that is not known
}

func newSanitizer(r *launchRun, p *program, tensors []driver.Extent) *sanitizer {
	c := &sanitizer{run: r, p: p, tensors: tensors, global: newShadow(shadowCap, maxReaders), syncs: map[uint64]*farNode{}, saved: saved{}, found: map[findingKey]*driver.Finding{}, apart: map[*driver.Finding]int{},
		facts: make([]syncFact, len(p.f.Body)), names: p.placed, travelling: map[[2]int32]bool{}}
	c.bulkStores = p.storesInBulk()
	origins := p.origins()
	for i := range p.f.Body {
		c.facts[i] = factOf(&p.f.Body[i])
		c.facts[i].origin = origins.ofAddress(&p.f.Body[i])
	}
	c.findGuesses()
	return c
}

// findGuesses marks plain loads from an address that a compare-and-swap also takes: the loop around it begins with a guess,
// and the swap finds out whether it was right.
func (c *sanitizer) findGuesses() {
	type place struct {
		register int32
		variable *ptx.Variable
		offset   int64
	}
	at := func(o *ptx.Operand) place { return place{o.Register, o.Variable, o.Offset} }
	swapped := map[place]bool{}
	for i := range c.p.f.Body {
		if in := &c.p.f.Body[i]; in.Opcode == "atom" && in.Has("cas") && len(in.Operands) > 1 {
			swapped[at(&in.Operands[1])] = true
		}
	}
	for i := range c.p.f.Body {
		if in := &c.p.f.Body[i]; in.Opcode == "ld" && len(in.Operands) > 1 && c.facts[i].kind == 0 && swapped[at(&in.Operands[1])] {
			c.facts[i].kind = markGuess
		}
	}
}

func factOf(in *ptx.Instruction) syncFact {
	f := syncFact{waits: -1, near: in.Has("cta")}
	switch in.Opcode {
	case "wgmma":
		f.commits = in.Has("commit_group")
		if in.Has("wait_group") && len(in.Operands) == 1 {
			f.waits = int(in.Operands[0].Bits)
		}
		f.meets = f.commits || f.waits >= 0 || in.Has("fence")
	case "bar", "barrier":
		f.meets = in.Has("warp")
	case "membar":
		f.fences = true
	case "fence":
		f.proxy = isProxyFence(in)
		f.fences = !f.proxy && !in.Has("proxy") && !in.Has("mbarrier_init")
	case "ld", "st":
		f.later = in.Has("async")
		f.strong = in.Has("volatile") || in.Has("relaxed") || in.Has("acquire") || in.Has("release") || in.Has("cv")
		f.release = in.Has("release")
		if f.strong {
			f.kind = markVolatile
		}
		for i := range in.Operands {
			f.argument = f.argument || in.Has("param") && in.Operands[i].Kind == ptx.OperandAddress
		}
	case "atom", "red":
		if f.later = in.Has("async"); f.later {
			break
		}
		f.strong, f.kind, f.release = true, markAtomic, in.Has("release") || in.Has("acq_rel")
	case "cp":
		f.waitAll = in.Has("wait_all")
	}
	return f
}

// startCTA prepares for a CTA that begins.
func (c *sanitizer) startCTA(k *cta) {
	if c == nil {
		return
	}
	s := k.checked
	if s == nil {
		s = &ctaCheck{cta: k, shared: newShadow(0, maxNear), warps: make([]warpCheck, len(k.warps))}
		k.checked = s
	}
	s.number = k.index[0] + k.grid.X*(k.index[1]+k.grid.Y*k.index[2])
	s.shared.clear()
	s.written = newWrittenBits(len(k.shared))
	s.syncs = map[uint64]*farNode{}
	s.barriers, s.doubts, s.objects = [maxBarriers][]comer{}, doubts{}, nil
	c.running = append(c.running, s)
	for i := range s.warps {
		k.warps[i].home = s
		s.warps[i] = warpCheck{}
		s.warps[i].reset()
	}
}

// before is called before an instruction is executed by some lanes, those included that decode to nothing.
func (c *sanitizer) before(w *warp, id int32, lanes uint32) {
	f := &c.facts[id]
	if f.commits || f.waits >= 0 {
		c.operandsRead(w, f)
	}
	if f.meets || f.fences || f.proxy {
		if in := &c.p.f.Body[id]; in.Guard >= 0 {
			yes := w.pred[c.p.slots.at[in.Guard]]
			if in.GuardNot {
				yes = ^yes
			}
			lanes &= yes
		}
		if lanes == 0 {
			return
		}
		s := w.home
		if f.proxy {
			c.proxy(w, lanes)
			return
		}
		if f.meets {
			s.warps[w.id].meet(len(s.warps), uint32(w.id), lanes, w.live)
		} else {
			s.warps[w.id].nearFences(len(s.warps), uint32(w.id), lanes, f.near)
			s.warps[w.id].fence(len(s.warps), uint32(w.id), lanes, w.live)
		}
	}
}

// warpSync is called when lanes of a warp that came one after another to the same synchronisation go on together.
func (c *sanitizer) warpSync(w *warp, id int32, lanes uint32) {
	if c != nil && lanes != 0 && c.facts[id].meets {
		s := w.home
		s.warps[w.id].meet(len(s.warps), uint32(w.id), lanes, w.live)
	}
}

// The methods of observer.

func (c *sanitizer) enter(w *warp, basicBlock int32, lanes uint32) {}
func (c *sanitizer) access(w *warp, in *inst, a access)            {}

func (c *sanitizer) endCTA(k *cta) {
	k.checked.doubts.settle(c)
	c.running = slices.DeleteFunc(c.running, func(s *ctaCheck) bool { return s == k.checked })
}

// arrive is called when lanes reach a barrier of the CTA.
func (c *sanitizer) arrive(w *warp, e *ending, number uint32, lanes uint32) {
	s := w.home
	s.barriers[number] = append(s.barriers[number], comer{w, lanes, e.id, !e.arrive})
}

// released is called when a barrier of the CTA lets its warps go.
func (c *sanitizer) released(k *cta, number uint32) {
	s := k.checked
	comers := s.barriers[number]
	s.barriers[number] = nil
	if len(comers) == 0 {
		return
	}
	c.checkApart(comers)
	c.checkGone(k, comers)
	var v view
	for _, a := range comers {
		v = joinViews(v, s.warps[a.w.id].gather(len(s.warps), uint32(a.w.id), a.lanes, a.w.live))
	}
	for i := range k.warps {
		if k.warps[i].state == finished {
			v.known = v.known.with(len(s.warps), uint32(i), warpKnow{all: s.warps[i].time})
		}
	}
	for _, a := range comers {
		if a.stays {
			s.warps[a.w.id].give(v, a.lanes, a.w.live)
		} else {
			s.warps[a.w.id].dirty = true
			s.warps[a.w.id].tick()
		}
	}
}

// divergent reports a barrier to which a part of a warp comes that the instruction wants whole; others is where the rest is.
func (c *sanitizer) divergent(a comer, others string) {
	n := popcount(a.w.live | a.lanes)
	c.report(a.w, a.id, lowest(a.lanes), &driver.Finding{Kind: driver.FoundBarrier, First: driver.Party{What: "barrier"},
		Detail: fmt.Sprintf("%d of the warp's %d threads come here, %s", popcount(a.lanes), n, others),
		Advice: "put the barrier where every thread of the CTA comes, outside the branch"}, uint64(n))
}

// aligned reports whether a barrier wants a warp's threads together.
func (c *sanitizer) aligned(id int32) bool {
	in := &c.p.f.Body[id]
	return in.Opcode == "bar" || in.Has("aligned")
}

// checkApart looks for warps whose lanes have come to a barrier at different instructions.
func (c *sanitizer) checkApart(comers []comer) {
	for i, a := range comers {
		for _, b := range comers[i+1:] {
			if a.w == b.w && a.id != b.id && a.lanes&b.lanes == 0 && c.aligned(a.id) {
				c.divergent(a, fmt.Sprintf("lane %d to %s", lowest(b.lanes), lineOf(c.partyOf(b.id))))
				return
			}
		}
	}
}

// checkStuck looks for parts of warps that wait at a barrier when nothing moves any more.
func (c *sanitizer) checkStuck() {
	for _, s := range c.running {
		for number := range s.barriers {
			for _, a := range s.barriers[number] {
				together := uint32(0)
				for _, b := range s.barriers[number] {
					if b.w == a.w {
						together |= b.lanes
					}
				}
				if missing := a.w.live &^ together; missing != 0 && c.aligned(a.id) {
					c.divergent(a, fmt.Sprintf("lane %d does not", lowest(missing)))
				}
			}
		}
	}
}

// checkGone looks for threads that left before a barrier that asks for all of the CTA.
func (c *sanitizer) checkGone(k *cta, comers []comer) {
	first := comers[0]
	in := &c.p.f.Body[first.id]
	if n := len(in.Operands); n == 0 || n > 1 && !in.Has("red") || in.Has("red") && n > 3 {
		return // it counts its threads
	}
	threads, gone, warp, lane := int(k.dim.Count()), 0, 0, uint(0)
	for i := range k.warps {
		all := allLanes
		if left := threads - i*warpSize; left < warpSize {
			all = 1<<left - 1
		}
		if missing := all &^ k.warps[i].live; missing != 0 {
			if gone == 0 {
				warp, lane = i, lowest(missing)
			}
			gone += popcount(missing)
		}
	}
	if gone > 0 {
		c.report(first.w, first.id, lowest(first.lanes), &driver.Finding{Kind: driver.FoundBarrier, First: driver.Party{What: "barrier"},
			Detail: fmt.Sprintf("%d of the CTA's %d threads have left the kernel before it, the first is warp %d lane %d", gone, threads, warp, lane),
			Advice: "let threads without work skip the work, not the barrier: no return before it"}, uint64(gone))
	}
}

// group follows the groups of cp.async.
func (c *sanitizer) group(w *warp, in *inst, wait int) {
	s := w.home
	k := &s.warps[w.id]
	if c.p.f.Body[in.id].Has("bulk") {
		c.follow(w, &k.storing, wait < 0, wait)
		return
	}
	if wait < 0 || c.facts[in.id].waitAll {
		k.groups = append(k.groups, append([]copyMark(nil), k.open...))
		k.open = k.open[:0]
	}
	for wait >= 0 && len(k.groups) > wait {
		for _, m := range k.groups[0] {
			s.shared.arrived(m, s.number, uint16(w.id), k.time)
		}
		k.dirty = true
		k.groups = k.groups[1:]
	}
}

// arrived makes a copy's write one of its lane's accesses.
func (s *shadow) arrived(m copyMark, cta uint32, warp uint16, time uint32) {
	for at := m.at; at < m.at+m.size; {
		p := s.page(at, 4)
		c := &p.cells[at%shadowPage>>p.shift]
		if r := &c.write; r.time == pendingTime && r.cta == cta && r.warp == warp && r.lanes == m.lane && r.id == m.id {
			r.time = time
		}
		if m.reads {
			s.settleRead(c, &m, cta, warp, time)
		}
		at += 1 << p.shift
	}
}

// settleRead makes a read that was under way one of its lane's accesses.
func (s *shadow) settleRead(c *cell, m *copyMark, cta uint32, warp uint16, time uint32) {
	settle := func(r *mark) {
		if r.time == pendingTime && r.cta == cta && r.warp == warp && r.id == m.id {
			r.time = time
		}
	}
	settle(&c.read)
	list := s.readers(c)
	for i := range list {
		settle(&list[i])
	}
}

// findings gives what was found, in the order in which it was first seen, with what stopped the launch.
func (c *sanitizer) findings(err error) []driver.Finding {
	c.doubts.settle(c)
	var fault *driver.Fault
	if errors.As(err, &fault) {
		c.stopped(fault)
	}
	out := make([]driver.Finding, len(c.list))
	for i, f := range c.list {
		out[i] = *f
	}
	return out
}

// remarks are worth knowing and not wrong.
func (c *sanitizer) remarks() string {
	if c.equals == 0 {
		return ""
	}
	return fmt.Sprintf("equal values are written without an order between the writes: %s, first at %s", byteCount(c.equals), c.equalAt)
}

// unwatched says what could not be checked.
func (c *sanitizer) unwatched() string {
	if c.most != "" {
		return c.most
	}
	if c.global.full {
		return fmt.Sprintf("races in device memory touched after the first %s: the sanitizer's shadow is full", byteCount(shadowCap/granuleCost*4))
	}
	return ""
}

// stopped turns what ended the launch into a finding: also a limit or an interrupt, since what would have come was not
// checked.
func (c *sanitizer) stopped(f *driver.Fault) {
	detail := string(f.Kind)
	if f.Detail != "" {
		detail += ": " + f.Detail
	}
	advice := "the launch could not go on"
	if f.Kind == driver.Interrupted || f.Kind == driver.Timeout {
		advice = "only what ran until then was checked: give it more time, or less work"
	}
	if f.Kind == driver.Deadlock {
		advice = "every thread that a barrier asks for must come to it, the same number of times"
	}
	if f.Kind == driver.Deadlock {
		c.checkStuck()
	}
	for _, known := range c.list {
		if known.Kind == driver.FoundBarrier && f.Kind == driver.Deadlock {
			known.Detail += "; then " + detail
			return
		}
	}
	kind := driver.FoundStopped
	switch {
	case f.Kind == driver.OutOfBounds || f.Kind == driver.Misaligned:
		c.list = append(c.list, &driver.Finding{Kind: driver.FindingKind(f.Kind), Function: f.Function, Count: 1, Space: f.Space, Address: f.Address, Bytes: f.Bytes,
			Where: f.Allocation, Detail: "the launch could not go on", First: stoppedParty("access", f)})
		return
	case f.Kind == driver.Illegal && strings.Contains(f.Instruction, "mbarrier"):
		kind, advice = driver.FoundMbarrier, "initialise it once with as many arrivals as come in a phase, and let all threads pass a barrier before they use it"
	case f.Kind == driver.Illegal && strings.Contains(f.Detail, "wgmma.wait_group"):
		kind, advice = driver.FoundNotArrived, "put wgmma.commit_group and wgmma.wait_group before the first use of the result"
	}
	c.list = append(c.list, &driver.Finding{Kind: kind, Function: f.Function, Count: 1, Detail: detail, Advice: advice,
		First: stoppedParty("stopped", f)})
}

func stoppedParty(what string, f *driver.Fault) driver.Party {
	return driver.Party{What: what, Instruction: f.Instruction, PTXLine: f.PTXLine, File: f.File, SourceLine: f.SourceLine, SourceText: f.SourceText,
		CTA: f.CTA, Warp: f.Warp, Lane: f.Lane}
}

// tensorsOf are the extents of the arguments that lie in an allocation.
func (c *sanitizer) tensorOf(origin int32) *driver.Extent {
	if origin < 0 {
		return nil
	}
	if i := slices.IndexFunc(c.tensors, func(e driver.Extent) bool { return e.Param == int(origin) }); i >= 0 {
		return &c.tensors[i]
	}
	return nil
}
