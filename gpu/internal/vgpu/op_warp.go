package vgpu

import (
	"math/bits"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// warpRows are the operations in which lanes see each other.
var warpRows = []row{
	{patterns: []string{"shfl{.sync,}{.up,.down,.bfly,.idx}.b32"}, class: perf.ClassWarp, section: "9.7.9.6", decode: decodeShuffle},
	{patterns: []string{"vote{.sync,}{.all,.any,.uni}.pred", "vote{.sync,}.ballot.b32"}, class: perf.ClassWarp, section: "9.7.13.8", decode: decodeVote},
	{patterns: []string{"match{.any,.all}.sync{.b32,.b64}"}, class: perf.ClassWarp, section: "9.7.13.9", decode: decodeMatch},
	{patterns: []string{"activemask.b32"}, class: perf.ClassWarp, section: "9.7.13.10", decode: decodeActive},
	{patterns: []string{"redux.sync{.add,.min,.max}{.u32,.s32}", "redux.sync{.and,.or,.xor}.b32"}, class: perf.ClassWarp, section: "9.7.13.11", decode: decodeRedux},
	{patterns: []string{"redux.sync{.min,.max}{,.abs}{,.NaN}.f32"}, class: perf.ClassWarp, section: "9.7.13.11", decode: decodeRedux, sm: 100},
}

const (
	shuffleUp = iota
	shuffleDown
	shuffleButterfly
	shuffleIndex
)

func decodeShuffle(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opShuffle, flags: flagSelf, pattern: -1}
	n := 4
	if in.Has("sync") {
		n = 5
	}
	if err := d.operands(in, n, n); err != nil {
		return x, err
	}
	o := in.Operands[0]
	pair := o.Pair
	o.Pair = nil
	var err error
	if x.d, err = d.destination(&o, "b32"); err != nil {
		return x, err
	}
	x.ext = &extra{second: -1}
	if pair != nil {
		p, err := d.predicateDestination(pair)
		if err != nil {
			return x, err
		}
		x.ext.second = int32(p)
	}
	for k, into := range []*uint32{&x.a, &x.b, &x.c} {
		if *into, err = d.source(&in.Operands[k+1], "b32"); err != nil {
			return x, err
		}
	}
	if n == 5 {
		if x.e, err = d.source(&in.Operands[4], "b32"); err != nil {
			return x, err
		}
	} else {
		x.e = d.constant(uint64(allLanes), false)
	}
	x.imm = map[string]uint64{"up": shuffleUp, "down": shuffleDown, "bfly": shuffleButterfly, "idx": shuffleIndex}[in.Modifiers[len(in.Modifiers)-2]]
	// A butterfly over the whole warp with a constant distance is what reductions use.
	b, c := &in.Operands[2], &in.Operands[3]
	if x.imm == shuffleButterfly && b.Kind == ptx.OperandImmediate && c.Kind == ptx.OperandImmediate && c.Bits&0x1f1f == 0x1f && pair == nil {
		x.fn, x.imm = opButterfly, b.Bits&31
	}
	return x, nil
}

// member checks that a lane executing a .sync instruction is named in its member mask.
func (w *warp) member(in *inst, members *[32]uint32) {
	for m := w.mask; m != 0; m &= m - 1 {
		if i := lowest(m); members[i]>>i&1 == 0 {
			w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: "the lane is not in its own member mask", Mend: "give a mask that names every lane which calls: 0xffffffff, or __activemask() before the branch"})
		}
	}
}

// opButterfly is shfl.sync.bfly.b32 d, a, distance, 0x1f: d[i] = a[i ^ distance].
func opButterfly(w *warp, in *inst) {
	a, d, x := *w.u32(in.a), w.u32(in.d), uint(in.imm)
	if w.mask == allLanes {
		for i := range d {
			d[i] = a[(uint(i)^x)&31]
		}
		return
	}
	w.member(in, w.u32(in.e))
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i] = a[(i^x)&31]
	}
}

// opShuffle is shfl.sync (PTX ISA 9.7.9.6): c holds the clamp in bits 0–4 and the segment mask in bits 8–12; the
// second destination tells whether the source lane is in range.
func opShuffle(w *warp, in *inst) {
	a, b, c, d := *w.u32(in.a), *w.u32(in.b), *w.u32(in.c), w.u32(in.d)
	w.member(in, w.u32(in.e))
	var inRange uint32
	for m := w.mask; m != 0; m &= m - 1 {
		lane := int(lowest(m))
		distance, clamp, segment := int(b[lane]&31), int(c[lane]&31), int(c[lane]>>8&31)
		most := lane&segment | clamp&^segment
		from, ok := lane, false
		switch in.imm {
		case shuffleUp:
			from = lane - distance
			ok = from >= most
		case shuffleDown:
			from = lane + distance
			ok = from <= most
		case shuffleButterfly:
			from = lane ^ distance
			ok = from <= most
		case shuffleIndex:
			from = lane&segment | distance&^segment
			ok = from <= most
		}
		if !ok {
			from = lane
		} else {
			inRange |= 1 << lane
		}
		d[lane] = a[from&31]
	}
	if p := in.ext.second; p >= 0 {
		w.pred[p] = w.pred[p]&^w.mask | inRange
	}
}

const (
	voteAll = iota
	voteAny
	voteUniform
	voteBallot
)

func decodeVote(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opVote, flags: flagSelf, pattern: -1}
	n := 2
	if in.Has("sync") {
		n = 3
	}
	if err := d.operands(in, n, n); err != nil {
		return x, err
	}
	var err error
	var not uint32
	if x.a, not, err = d.predicate(&in.Operands[1]); err != nil {
		return x, err
	}
	x.imm = uint64(not)
	x.e = d.constant(uint64(allLanes), false)
	if n == 3 {
		if x.e, err = d.source(&in.Operands[2], "b32"); err != nil {
			return x, err
		}
	}
	for k, name := range []string{"all", "any", "uni", "ballot"} {
		if in.Has(name) {
			x.n = uint8(k)
		}
	}
	if x.n == voteBallot {
		x.d, err = d.destination(&in.Operands[0], "b32")
	} else {
		x.d, err = d.predicateDestination(&in.Operands[0])
	}
	return x, err
}

// opVote is vote.sync: what the members' predicates have in common, or all of them as a mask. Groups of lanes with member
// masks of their own vote apart.
func opVote(w *warp, in *inst) {
	w.member(in, w.u32(in.e))
	members, result := *w.u32(in.e), uint32(0)
	for left := w.mask; left != 0; {
		active := left & members[lowest(left)&31]
		left &^= active
		yes := (w.pred[in.a] ^ uint32(in.imm)) & active
		ok := false
		switch in.n {
		case voteBallot:
			d := w.u32(in.d)
			for m := active; m != 0; m &= m - 1 {
				d[lowest(m)] = yes
			}
		case voteAll:
			ok = yes == active
		case voteAny:
			ok = yes != 0
		case voteUniform:
			ok = yes == active || yes == 0
		}
		if ok {
			result |= active
		}
	}
	if in.n != voteBallot {
		w.setPredicate(in, result)
	}
}

func decodeMatch(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	t := lastType(in)
	x := inst{fn: opMatch, flags: flagSelf, ext: &extra{second: -1}, pattern: -1}
	if err := d.operands(in, 3, 3); err != nil {
		return x, err
	}
	if isWideType(t) {
		x.flags |= flagWide
	}
	o := in.Operands[0]
	pair := o.Pair
	o.Pair = nil
	var err error
	if x.d, err = d.destination(&o, "b32"); err != nil {
		return x, err
	}
	if pair != nil {
		p, err := d.predicateDestination(pair)
		if err != nil {
			return x, err
		}
		x.ext.second = int32(p)
	}
	if in.Has("all") {
		x.n = 1
	}
	if x.a, err = d.source(&in.Operands[1], t); err != nil {
		return x, err
	}
	x.e, err = d.source(&in.Operands[2], "b32")
	return x, err
}

// opMatch is match.any.sync and match.all.sync: the members whose value equals the lane's.
func opMatch(w *warp, in *inst) {
	w.member(in, w.u32(in.e))
	value := func(i uint) uint64 {
		if in.flags&flagWide != 0 {
			return w.u64(in.a)[i]
		}
		return uint64(w.u32(in.a)[i])
	}
	var result [32]uint32
	var all uint32
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		active := w.mask & w.u32(in.e)[i]
		var same uint32
		for o := active; o != 0; o &= o - 1 {
			if j := lowest(o); value(j) == value(i) {
				same |= 1 << j
			}
		}
		if in.n == 1 {
			if same == active {
				all |= 1 << i
			} else {
				same = 0
			}
		}
		result[i] = same
	}
	d := w.u32(in.d)
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i] = result[i]
	}
	if p := in.ext.second; p >= 0 {
		w.pred[p] = w.pred[p]&^w.mask | all
	}
}

func decodeActive(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opActive, flags: flagSelf, pattern: -1}
	if err := d.operands(in, 1, 1); err != nil {
		return x, err
	}
	var err error
	x.d, err = d.destination(&in.Operands[0], "b32")
	return x, err
}

// opActive is activemask.b32.
func opActive(w *warp, in *inst) {
	d := w.u32(in.d)
	for m := w.mask; m != 0; m &= m - 1 {
		d[lowest(m)] = w.mask
	}
}

func decodeRedux(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opRedux, flags: flagSelf, pattern: -1}
	if d.sm < 80 {
		return x, d.m.ErrorAt(in, "redux.sync needs sm_80", "use shfl.sync")
	}
	if err := d.operands(in, 3, 3); err != nil {
		return x, err
	}
	var err error
	if x.d, err = d.destination(&in.Operands[0], lastType(in)); err != nil {
		return x, err
	}
	if x.a, err = d.source(&in.Operands[1], lastType(in)); err != nil {
		return x, err
	}
	x.imm = uint64(atomicOps[in.Modifiers[1]])
	if in.Has("s32") {
		x.flags |= flagSigned
	}
	if in.Has("f32") {
		x.fn, x.size = opReduxFloat, uint8(b2i(in.Has("abs"))|b2i(in.Has("NaN"))<<1)
	}
	x.e, err = d.source(&in.Operands[2], "b32")
	return x, err
}

// opRedux is redux.sync: the members' values joined by an operation, in every lane.
func opRedux(w *warp, in *inst) {
	w.member(in, w.u32(in.e))
	a, d := *w.u32(in.a), w.u32(in.d)
	for done := uint32(0); done != w.mask; {
		i := lowest(w.mask &^ done)
		members := w.mask & w.u32(in.e)[i]
		r := a[bits.TrailingZeros32(members)&31]
		for m := members & (members - 1); m != 0; m &= m - 1 {
			r = combine32(atomicOp(in.imm), r, a[lowest(m)], in.flags&flagSigned != 0)
		}
		for m := members; m != 0; m &= m - 1 {
			d[lowest(m)] = r
		}
		done |= members | 1<<i
	}
}

// opReduxFloat is redux.sync.min.f32 and .max.f32: bit 0 of the size asks for magnitudes, bit 1 for NaN where any is.
func opReduxFloat(w *warp, in *inst) {
	w.member(in, w.u32(in.e))
	a, d := *w.f32(in.a), w.f32(in.d)
	join := minimum[float32]
	switch nan, most := in.size&2 != 0, atomicOp(in.imm) == atomicMax; {
	case nan && most:
		join = maximumNaN
	case nan:
		join = minimumNaN
	case most:
		join = maximum[float32]
	}
	if in.size&1 != 0 {
		for i := range a {
			a[i] = abs32(a[i])
		}
	}
	for done := uint32(0); done != w.mask; {
		i := lowest(w.mask &^ done)
		members := w.mask & w.u32(in.e)[i]
		r := quiet(a[bits.TrailingZeros32(members)&31])
		for m := members & (members - 1); m != 0; m &= m - 1 {
			r = join(r, a[lowest(m)])
		}
		for m := members; m != 0; m &= m - 1 {
			d[lowest(m)] = r
		}
		done |= members | 1<<i
	}
}
