package vgpu

import (
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
)

// asyncState holds a warp's cp.async copies until their group is waited for, so that a missing wait shows.
type asyncState struct {
	open   []asyncRecord   // not yet committed
	groups [][]asyncRecord // committed, oldest first
	bulk   *bulkState      // nil until a bulk copy out of shared memory
	// Copies are numbered as they are issued; those up to settled are done although their group was not waited for.
	issued, settled uint64
}

// asyncRecord is one cp.async of a warp.
type asyncRecord struct {
	number uint64
	mask   uint32
	size   uint8
	from   [32]uint64
	to     [32]uint32
	take   [32]uint8 // bytes that come from memory; the rest of size is zero
}

func (s *asyncState) reset() {
	s.open, s.groups, s.bulk, s.issued, s.settled = s.open[:0], s.groups[:0], nil, 0, 0
}

// settle completes the copies up to a number.
func (s *asyncState) settle(w *warp, number uint64) {
	for _, g := range s.groups {
		w.completeAsync(upTo(g, number))
	}
	w.completeAsync(upTo(s.open, number))
	s.settled = max(s.settled, number)
}

func upTo(list []asyncRecord, number uint64) []asyncRecord {
	for len(list) > 0 && list[len(list)-1].number > number {
		list = list[:len(list)-1]
	}
	return list
}

func (s *asyncState) commit() {
	s.groups = append(s.groups, append([]asyncRecord(nil), s.open...))
	s.open = s.open[:0]
}

// wait completes all groups but the latest n.
func (s *asyncState) wait(w *warp, n int) {
	for len(s.groups) > n {
		w.completeAsync(s.groups[0])
		s.groups = append(s.groups[:0], s.groups[1:]...)
	}
}

// finish completes everything at the warp's end.
func (s *asyncState) finish(w *warp) {
	if s.bulk != nil {
		s.bulk.finish()
	}
	if len(s.groups) > 0 || len(s.open) > 0 {
		s.wait(w, 0)
		w.completeAsync(s.open)
		s.open = s.open[:0]
	}
}

func (w *warp) completeAsync(list []asyncRecord) {
	shared := unsafe.Pointer(unsafe.SliceData(w.cta.shared))
	for k := range list {
		r := &list[k]
		if r.number <= w.async.settled {
			continue
		}
		for m := r.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			to := unsafe.Add(shared, r.to[i])
			if w.w.run.procedural && r.take[i] > 0 {
				w.fetchAgain(r.from[i], uint64(r.take[i]))
			}
			if r.size == 16 && r.take[i] == 16 {
				*(*[2]uint64)(to) = *(*[2]uint64)(w.host(r.from[i]))
				continue
			}
			dst := unsafe.Slice((*byte)(to), r.size)
			clear(dst)
			if r.take[i] > 0 {
				copy(dst, unsafe.Slice((*byte)(w.host(r.from[i])), r.take[i]))
			}
		}
	}
}

// fetchAgain makes sure of a page of procedural contents that may have been dropped since the copy was issued.
func (w *warp) fetchAgain(address, n uint64) {
	a := findIn(w.w.allocations, address)
	if a == nil || a.contents == nil {
		return
	}
	w.w.settleLoose()
	p, err := w.w.run.memory.hold(a, address, address+n)
	if err != nil {
		w.w.stop(w, -1, 0, &driver.Fault{Kind: driver.OutOfMemory, Space: "global", Address: address, Detail: err.Error()})
	}
	w.w.loose = append(w.w.loose, p)
}

// decodeAsync decodes cp.async and its groups (PTX ISA 9.7.9.25.3).
func decodeAsync(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	if in.Has("bulk") {
		return decodeBulk(d, in, r)
	}
	x := inst{flags: flagSelf, pattern: -1}
	if in.Has("mbarrier") && d.sm >= 80 {
		return decodeAsyncArrive(d, in)
	}
	if len(in.Modifiers) < 1 || in.Modifiers[0] != "async" || in.Has("mbarrier") || d.sm < 80 {
		hint := "cp.async.ca, cp.async.cg, cp.async.bulk and cp.async.mbarrier.arrive work"
		if d.sm < 80 {
			hint = "cp.async needs sm_80"
		}
		return x, d.m.ErrorAt(in, "not supported by the virtual GPU", hint)
	}
	switch {
	case in.Has("commit_group"):
		x.fn = opAsyncCommit
		return x, d.operands(in, 0, 0)
	case in.Has("wait_all"):
		x.fn = opAsyncWaitAll
		return x, d.operands(in, 0, 0)
	case in.Has("wait_group"):
		if err := d.operands(in, 1, 1); err != nil {
			return x, err
		}
		if in.Operands[0].Kind != ptx.OperandImmediate || in.Operands[0].Bits > 1<<20 {
			return x, decodeError(d.m, in, "the number of groups must be a constant")
		}
		x.fn, x.imm = opAsyncWait, in.Operands[0].Bits
		return x, nil
	}
	picks, err := d.grammar(in, "async", "ca cg", "shared shared::cta", "global", "- L2::cache_hint", prefetches)
	if err != nil {
		return x, err
	}
	most := 4
	if picks[4] != "" {
		most = 5
	}
	if err := d.operands(in, 3, most); err != nil {
		return x, err
	}
	size := &in.Operands[2]
	if size.Kind != ptx.OperandImmediate || size.Bits != 16 && (picks[1] == "cg" || size.Bits != 4 && size.Bits != 8) {
		return x, decodeError(d.m, in, "a copy is of 4, 8 or 16 bytes, with .cg of 16")
	}
	x.fn, x.size, x.n = opAsyncCopy, uint8(size.Bits), 1
	if picks[1] == "cg" {
		x.flags |= flagBypass
	}
	d.inf.kind, d.inf.global = asyncCopy, true
	// The source's address goes where a load's goes, the destination's into the extra.
	if err := d.address(&x, &in.Operands[1], "global", true); err != nil {
		return x, err
	}
	var to inst
	if err := d.address(&to, &in.Operands[0], "shared", false); err != nil {
		return x, err
	}
	to.pattern = x.pattern
	x.ext = &extra{second: -1, inner: nil, twin: &to}
	if len(in.Operands) > 3 {
		o := &in.Operands[3]
		if o.Kind == ptx.OperandRegister && isPredicate(&d.f.Registers[o.Register]) {
			x.ext.guard, x.ext.not, err = d.predicate(o)
			x.ext.combine = 2
		} else if o.Kind == ptx.OperandImmediate || o.Kind == ptx.OperandRegister && !isWide(&d.f.Registers[o.Register]) {
			x.c, err = d.source(o, "u32")
			x.ext.combine = 1
		}
	}
	return x, err
}

// opAsyncCopy is cp.async [shared], [global], size{, src-size}: the bytes are fetched at the wait; the access is checked
// and counted here.
func opAsyncCopy(w *warp, in *inst) {
	s, size := w.site(in), uint64(in.size)
	open := w.async.open
	if len(open) < cap(open) {
		open = open[:len(open)+1]
	} else {
		open = append(open, asyncRecord{})
	}
	w.async.open = open
	r := &open[len(open)-1]
	w.async.issued++
	r.number, r.mask, r.size = w.async.issued, w.mask, in.size
	to := w.addresses(in.ext.twin)
	if in.ext.twin.flags&flagWide64 != 0 && to[lowest(w.mask)]-sharedWindow < windowBytes {
		w.fault(in, int(lowest(w.mask)), &driver.Fault{Kind: driver.OutOfBounds, Space: "shared", Address: to[lowest(w.mask)], Bytes: int(size),
			Allocation: "a generic address; convert it with cvta.to.shared"})
	}
	w.touchShared(in, s, to, size)
	r.mask = w.mask
	for i := range r.to {
		r.to[i] = uint32(to[i])
	}
	from := w.addresses(in)
	r.from = *from
	reads := w.mask
	for i := range r.take {
		r.take[i] = in.size
	}
	if in.ext.combine != 0 {
		reads = w.asyncTakes(in, r)
	}
	old := w.mask
	if w.mask = reads; reads != 0 {
		if w.row(&r.from, size) {
			w.touchRow(in, s, r.from[0], size)
		} else {
			w.touch(in, s, &r.from, size)
			for m := reads &^ w.mask; m != 0; m &= m - 1 { // lanes that the sanitizer took out
				r.take[lowest(m)] = 0
			}
		}
	}
	w.mask = old
}

// asyncTakes fills in how many bytes each lane reads, and gives the lanes that read any.
func (w *warp) asyncTakes(in *inst, r *asyncRecord) uint32 {
	var reads uint32
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		if in.ext.combine == 2 { // ignore-src
			if (w.pred[in.ext.guard]^in.ext.not)>>i&1 != 0 {
				r.take[i] = 0
			}
		} else {
			n := w.u32(in.c)[i]
			if n > uint32(in.size) {
				w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: "src-size is larger than the copy", Mend: "give a source size of at most the size of the copy (4, 8 or 16)"})
			}
			r.take[i] = uint8(n)
		}
		if r.take[i] > 0 {
			reads |= 1 << i
		}
	}
	return reads
}

func opAsyncCommit(w *warp, in *inst) {
	w.async.commit()
	if w.cta.watch != nil {
		w.cta.watch.group(w, in, -1)
	}
}

func opAsyncWait(w *warp, in *inst) {
	w.async.wait(w, int(in.imm))
	if w.cta.watch != nil {
		w.cta.watch.group(w, in, int(in.imm))
	}
}

func opAsyncWaitAll(w *warp, in *inst) {
	w.async.commit()
	w.async.wait(w, 0)
	if w.cta.watch != nil {
		w.cta.watch.group(w, in, 0)
	}
}
