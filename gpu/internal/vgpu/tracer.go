package vgpu

import (
	"math"

	"memwall/gpu/internal/vgpu/simulate"
)

// localLines is where the addresses of local memory begin in traces, far behind all of device memory.
const localLines = 1 << 46

// tracer records one CTA.
type tracer struct {
	t     *tracing
	at    int
	cta   *cta
	warps []warpTracer
	limit int // PTX instructions that are recorded of a warp
	left  int // warps that are still recorded
	// phases counts, by offset, the phases of each mbarrier of the CTA that have ended.
	phases map[uint64]uint32
}

// home gives the tracer of a warp's own CTA and the warp's record: while a warp touches the shared memory of another CTA of its
// cluster, it is the other's observer that is told. Nil: that CTA is not traced.
func (t *tracer) home(w *warp) (*tracer, *warpTracer) {
	if &t.cta.warps[w.id] == w {
		return t, &t.warps[w.id]
	}
	for _, c := range t.cta.cluster {
		if h, ok := c.watch.(*tracer); ok && h.cta == c && &c.warps[w.id] == w {
			return h, &h.warps[w.id]
		}
	}
	return nil, nil
}

// warpTracer records one warp. Accesses of a basic block are put in the order of its memory instructions when the warp
// enters the next, so that a guarded instruction that no lane executes leaves its gap.
type warpTracer struct {
	simulate.Warp
	block    int32
	first    int // of the block's accesses
	recorded int
	full     bool
}

func (t *tracer) enter(w *warp, basicBlock int32, lanes uint32) {
	x := &t.warps[w.id]
	if x.full {
		return
	}
	if x.recorded >= t.limit {
		x.full = true
		if t.left--; t.left == 0 { // from here on the CTA runs as fast as any other
			t.endCTA(w.cta)
			w.cta.watch = nil
		}
		return
	}
	x.recorded += t.t.program.Instructions(basicBlock)
	x.Blocks = append(x.Blocks, basicBlock)
	x.block, x.first = basicBlock, len(x.Accesses)
	for range t.t.program.Memory(basicBlock) {
		x.Accesses = append(x.Accesses, simulate.Access{})
	}
}

// slot finds where the access of an instruction belongs; nil where it is not of the block that the warp is in.
func (x *warpTracer) slot(p *simulate.Program, id int32) *simulate.Access {
	if x.full || x.block < 0 {
		return nil
	}
	for k, site := range p.Memory(x.block) {
		if site == id {
			return &x.Accesses[x.first+k]
		}
	}
	return nil
}

func (t *tracer) access(w *warp, in *inst, a access) {
	at := t
	t, x := t.home(w)
	if t == nil || a.lanes == 0 {
		return
	}
	s := x.slot(t.t.program, in.id)
	if s == nil {
		return
	}
	if t.t.program.OnMbarrier(in.id) {
		s.Lanes = uint8(popcount(a.lanes))
		if at == t { // of a remote one the phases are another CTA's
			t.object(s, a.addresses[lowest(a.lanes)])
		}
		return
	}
	switch a.space {
	case spaceShared:
		if a.kind == asyncCopy {
			var to simulate.Access
			to.SetShared(a.addresses, a.lanes, a.size)
			s.Same = to.Waves
			return
		}
		s.SetShared(a.addresses, a.lanes, a.size)
		if a.kind == sharedAtomic {
			s.SetAtomic(a.addresses, a.lanes)
		}
	case spaceLocal:
		base := localLines + (uint64(t.at)*uint64(len(t.warps))+uint64(w.id))*t.t.local
		for k := range max(a.size/4, 1) { // the hardware interleaves the lanes' words
			var row [32]uint64
			for i, at := range a.addresses {
				row[i] = base + at&^3*32 + 128*k + uint64(i)*4 + at&3
			}
			s.AddGlobal(&x.Warp, &row, a.lanes, min(a.size, 4), false)
		}
	default:
		s.AddGlobal(&x.Warp, a.addresses, a.lanes, a.size, a.kind == globalStore)
		if a.kind == globalAtomic {
			s.SetAtomic(a.addresses, a.lanes)
		}
	}
}

// object notes which mbarrier an access is about, and which of its phases is under way.
func (t *tracer) object(s *simulate.Access, offset uint64) {
	s.Object, s.Phase = uint32(offset)+1, t.phases[offset]
}

// mbarrier is called after an operation, of waits only once they have succeeded: the phase that they waited for is the last
// that ended, not the one under way.
func (t *tracer) mbarrier(w *warp, in *inst, _ int, op mbarrierOp, _ *cta, offset uint64) {
	if op != mbarrierTest && op != mbarrierTry {
		return
	}
	if h, x := t.home(w); h == t {
		if s := x.slot(t.t.program, in.id); s != nil && s.Object == uint32(offset)+1 {
			s.Phase = t.phases[offset] - 1 // −1, which wraps round: none had to end
		}
	}
}

func (t *tracer) phaseDone(_ *cta, offset uint64) { t.phases[offset]++ }

// bulk records a bulk copy: the sectors that it moves between global memory and L2, and the mbarrier of the CTA that it completes.
func (t *tracer) bulk(w *warp, in *inst, c *bulkCopy, to *cta, offset uint64) {
	h, x := t.home(w)
	if h == nil {
		return
	}
	s := x.slot(h.t.program, in.id)
	if s == nil {
		return
	}
	s.Lanes++
	for _, r := range c.runs {
		if r.inside && r.bytes > 0 {
			s.Bytes += uint32((r.address+r.bytes-1)>>5-r.address>>5+1) * 32
		}
	}
	if to == h.cta {
		h.object(s, offset)
	}
}

func (t *tracer) arrive(*warp, *ending, uint32, uint32) {}
func (t *tracer) released(*cta, uint32)                 {}
func (t *tracer) group(*warp, *inst, int)               {}

func (t *tracer) endCTA(*cta) {
	c := &t.t.ctas[t.at]
	c.Warps, c.Recorded, c.Executed = make([]simulate.Warp, len(t.warps)), 0, 0
	for i := range t.warps {
		x := &t.warps[i]
		c.Warps[i] = x.Warp
		c.Warps[i].Recorded = float64(x.recorded)
		if c.Warps[i].Executed = float64(x.recorded); x.full {
			c.Warps[i].Executed = math.Inf(1) // until the CTA has ended
		}
		c.Recorded += float64(x.recorded)
	}
}

// simulation is the program prepared for the time model.
func (p *program) simulation() *simulate.Program {
	p.simulateOnce.Do(func() {
		blocks := make([]simulate.Block, len(p.blocks))
		for i := range p.blocks {
			b := &p.blocks[i]
			x := simulate.Block{From: int(b.from), To: int(b.to)}
			switch b.end.kind {
			case endBranch:
				if x.Next = append(x.Next, int(b.end.target)); b.end.guard >= 0 {
					x.Next = append(x.Next, int(b.end.next))
				}
			case endExit, endTrap:
				x.Next = append(x.Next, len(p.blocks))
			default:
				x.Next = append(x.Next, int(b.end.next))
			}
			blocks[i] = x
		}
		p.simulated = simulate.NewProgram(p.f, blocks)
	})
	return p.simulated
}
