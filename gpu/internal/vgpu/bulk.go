package vgpu

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu/cache"
)

// bulkState holds the copies out of shared memory that a warp's lanes have issued and not waited for: they read and write
// when wait_group asks for their group, with .read or without, or at the warp's end.
type bulkState struct{ lanes [32]bulkLane }

// bulkLane is what one lane has under way.
type bulkLane struct {
	open   []func()
	groups [][]func() // committed, oldest first
}

// wait completes all groups of a lane but the latest n.
func (l *bulkLane) wait(n int) {
	for len(l.groups) > n {
		for _, f := range l.groups[0] {
			f()
		}
		l.groups = append(l.groups[:0], l.groups[1:]...)
	}
}

// finish completes everything, at the warp's end.
func (s *bulkState) finish() {
	for i := range s.lanes {
		l := &s.lanes[i]
		l.wait(0)
		for _, f := range l.open {
			f()
		}
		l.open = nil
	}
}

// bulkOf gives a warp's state, made when it is first needed.
func (w *warp) bulkOf() *bulkState {
	if w.async.bulk == nil {
		w.async.bulk = new(bulkState)
	}
	return w.async.bulk
}

// opBulkCommit is cp.async.bulk.commit_group: each lane closes its group.
func opBulkCommit(w *warp, in *inst) {
	s := w.bulkOf()
	for m := w.mask; m != 0; m &= m - 1 {
		l := &s.lanes[lowest(m)]
		l.groups = append(l.groups, l.open)
		l.open = nil
	}
	if w.cta.watch != nil {
		w.cta.watch.group(w, in, -1)
	}
}

// opBulkWait is cp.async.bulk.wait_group n.
func opBulkWait(w *warp, in *inst) {
	s := w.bulkOf()
	for m := w.mask; m != 0; m &= m - 1 {
		s.lanes[lowest(m)].wait(int(in.imm))
	}
	if w.cta.watch != nil {
		w.cta.watch.group(w, in, int(in.imm))
	}
}

// bulkCopy is one copy of one lane while it is issued.
type bulkCopy struct {
	lane    int
	m       *driver.TensorMap // nil for a plain copy
	runs    []boxRun          // in global memory
	bytes   uint64            // in shared memory
	swizzle driver.TensorMapSwizzle
	shared  uint64 // offset
}

// opBulk is cp.async.bulk, its .tensor form, and the reductions, a lane at a time. What it touches is checked and counted
// now: one request a copy, the sectors and lines of each row of the box, past L1; in shared memory a wavefront for every
// 128 bytes. The data move when somebody waits.
func opBulk(w *warp, in *inst) {
	for m := w.mask; m != 0; m &= m - 1 {
		w.bulkLane(in, lowest(m))
	}
}

func (w *warp) bulkLane(in *inst, i uint) {
	op := in.ext.bulk
	c := &bulkCopy{lane: int(i)}
	if op.tensor > 0 {
		w.tensorCopy(in, c)
	} else if c.bytes = uint64(w.u32(op.size)[i]); c.bytes%16 != 0 {
		w.fault(in, c.lane, &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("a bulk copy of %d bytes: they must be a multiple of 16", c.bytes), Mend: "round the size up to a multiple of 16 and leave room for it"})
	}
	switch op.kind {
	case bulkPrefetch:
		return
	case bulkStore:
		c.shared = w.bulkShared(in, op.src, c, w.cta)
		if op.tensor == 0 {
			w.plainRun(in, op.dst, c)
		}
		w.touchRuns(in, c)
		w.showBulk(in, c, nil, 0)
		w.cta.check.bulkStore(w, in.id, c)
		l := &w.bulkOf().lanes[i]
		l.open = append(l.open, w.storeRuns(in, c))
	case bulkLoad:
		if op.tensor == 0 {
			w.plainRun(in, op.src, c)
		}
		w.touchRuns(in, c)
		w.cta.check.bulkLoad(w, in.id, c)
		to, offset := w.clusterAddress(in, c.lane, w.laneAddress(op.dst, i))
		bar, at := w.clusterAddress(in, c.lane, w.laneAddress(op.barrier, i))
		if bar != to && !op.multicast {
			w.fault(in, c.lane, &driver.Fault{Kind: driver.Illegal, Detail: "the mbarrier of a bulk copy must lie in the shared memory that it writes", Mend: "use an mbarrier of the CTA that receives the data (mapa gives its address)"})
		}
		c.shared = offset
		if !op.multicast {
			w.showBulk(in, c, to, at)
			w.deliverRuns(in, c, to, at)
			return
		}
		shown := w.cta // what is fetched once counts for the CTA that fetches
		if w.u32(op.mask)[i]>>w.cta.rank&1 == 0 {
			shown = nil
		}
		w.showBulk(in, c, shown, at)
		for mask := w.u32(op.mask)[i] & 0xffff; mask != 0; mask &= mask - 1 {
			peer := w.peer(uint32(lowest(mask)))
			if lowest(mask) == 0 && len(w.cta.cluster) == 0 {
				peer = w.cta
			}
			if peer == nil {
				w.fault(in, c.lane, &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("the mask of CTAs %#x names one that the cluster does not have", w.u32(op.mask)[i]&0xffff), Mend: "set only bits of ranks below the cluster's size"})
			}
			w.deliverRuns(in, c, peer, at)
		}
	case bulkCluster:
		w.clusterCopy(in, c)
	}
}

// showBulk tells an observer of bulk copies of one: to is the CTA on whose mbarrier at an offset it completes, nil where that is none
// of this CTA.
func (w *warp) showBulk(in *inst, c *bulkCopy, to *cta, barrier uint64) {
	if o, ok := w.cta.watch.(bulkObserver); ok {
		o.bulk(w, in, c, to, barrier)
	}
}

// bulkObserver is an observer that also sees bulk copies.
type bulkObserver interface {
	bulk(w *warp, in *inst, c *bulkCopy, to *cta, barrier uint64)
}

// laneAddress gives an operand's address in a lane.
func (w *warp) laneAddress(in *inst, i uint) uint64 { return w.addresses(in)[i] }

// bulkShared gives the offset of an operand in shared memory, in bounds and aligned.
func (w *warp) bulkShared(in, operand *inst, c *bulkCopy, at *cta) uint64 {
	to, a := w.clusterAddress(in, c.lane, w.laneAddress(operand, uint(c.lane)))
	if to != at {
		w.fault(in, c.lane, &driver.Fault{Kind: driver.Illegal, Detail: "the source of a bulk copy must lie in the CTA's own shared memory", Mend: "copy from the CTA's own shared memory"})
	}
	w.checkShared(in, c, at, a)
	return a
}

// checkShared checks where a copy lies in shared memory: in bounds, by 16 bytes, of a tensor by 128.
func (w *warp) checkShared(in *inst, c *bulkCopy, at *cta, offset uint64) {
	align, n := uint64(16), c.bytes
	if c.m != nil {
		align = 128
		n = (n + uint64(c.swizzle.Span()) - 1) &^ (uint64(c.swizzle.Span()) - 1)
	}
	if offset%align != 0 {
		w.misaligned(in, c.lane, offset, align, "shared")
	}
	if size := uint64(len(at.shared)); offset > size || n > size-offset {
		w.sharedOutOfBounds(in, c.lane, offset, n)
	}
}

// plainRun makes a plain copy's range in global memory its only run.
func (w *warp) plainRun(in, operand *inst, c *bulkCopy) {
	a := w.laneAddress(operand, uint(c.lane))
	if a%16 != 0 {
		w.misaligned(in, c.lane, a, 16, "global")
	}
	c.runs = []boxRun{{address: a, bytes: c.bytes, inside: true}}
}

// touchRuns checks and counts what a copy touches in global memory.
func (w *warp) touchRuns(in *inst, c *bulkCopy) {
	w.w.settleLoose()
	s := w.site(in)
	flags := entryFlags(in) | cache.Bypass
	var inside uint64
	var last *allocation
	for k := range c.runs {
		r := &c.runs[k]
		if !r.inside || r.bytes == 0 {
			continue
		}
		if last == nil || r.address < last.low || r.address+r.bytes > last.high {
			if last = findIn(w.w.allocations, r.address); last == nil || r.address+r.bytes > last.high {
				w.outOfBounds(in, c.lane, r.address, r.bytes)
			}
		}
		w.visit(in, last, r.address, r.address+r.bytes, c.lane)
		if !w.w.count {
			continue
		}
		inside += r.bytes
		g, end := &s.global, r.address+r.bytes
		g.sectors += (end-1)>>5 - r.address>>5 + 1
		g.lines += (end-1)>>7 - r.address>>7 + 1
		w.w.trace = cache.AppendRow(w.w.trace, flags, r.address-w.w.base, end-w.w.base)
	}
	if w.w.count {
		s.global.requests++
		s.global.lanes++
		s.global.bytes += inside
		s.global.ideal += (inside + 31) / 32
		w.countShared(s, c.bytes)
	}
}

func (w *warp) countShared(s *site, bytes uint64) {
	s.shared.requests++
	s.shared.lanes++
	s.shared.bytes += bytes
	s.shared.waves += (bytes + 127) / 128
	s.shared.ideal += (bytes + 127) / 128
}

// hostBytes gives the host's view of device memory that was checked.
func (w *warp) hostBytes(address, n uint64) []byte {
	if w.w.run.procedural {
		w.fetchAgain(address, n)
	}
	return unsafe.Slice((*byte)(w.host(address)), n)
}

// deliverRuns sends a copy from global memory on its way to a CTA.
func (w *warp) deliverRuns(in *inst, c *bulkCopy, to *cta, barrier uint64) {
	w.checkBarrier(in, c, to, barrier)
	w.checkShared(in, c, to, c.shared)
	w.cta.check.asyncWrite(w, c.lane, in.id, to, c.shared, c.bytes, barrier)
	to.deliver(barrier, uint32(c.bytes), func() {
		for _, r := range c.runs {
			var from []byte
			if r.inside && r.bytes > 0 {
				from = w.hostBytes(r.address, r.bytes)
			}
			chunks(c.shared+r.at, r.bytes, c.swizzle, func(at, offset, n uint64) {
				part := to.shared[offset : offset+n]
				if !r.inside {
					fillElements(part, c.m)
					return
				}
				copy(part, from[at:at+n])
				if c.m != nil {
					convertElements(part, c.m.Type)
				}
			})
		}
	})
}

// checkBarrier makes sure that there is an mbarrier for a copy to complete on.
func (w *warp) checkBarrier(in *inst, c *bulkCopy, to *cta, at uint64) {
	if at%8 != 0 {
		w.misaligned(in, c.lane, at, 8, "shared")
	}
	if at+8 > uint64(len(to.shared)) {
		w.sharedOutOfBounds(in, c.lane, at, 8)
	}
	if to.mbarrierAt(at)&mbarrierValid == 0 {
		w.fault(in, c.lane, &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("there is no mbarrier at offset %d of shared memory: mbarrier.init comes first, and a barrier before others use it", at), Mend: "initialise it by one thread, then __syncthreads() (cluster.sync() for another CTA's), and keep its address inside shared memory"})
	}
}

// clusterCopy is a copy or reduction from this CTA's shared memory into another's.
func (w *warp) clusterCopy(in *inst, c *bulkCopy) {
	op := in.ext.bulk
	from := w.bulkShared(in, op.src, c, w.cta)
	to, offset := w.clusterAddress(in, c.lane, w.laneAddress(op.dst, uint(c.lane)))
	bar, at := w.clusterAddress(in, c.lane, w.laneAddress(op.barrier, uint(c.lane)))
	if bar != to {
		w.fault(in, c.lane, &driver.Fault{Kind: driver.Illegal, Detail: "the mbarrier of a bulk copy must lie in the shared memory that it writes", Mend: "use an mbarrier of the CTA that receives the data (mapa gives its address)"})
	}
	w.checkBarrier(in, c, to, at)
	w.checkShared(in, c, to, offset)
	if w.w.count {
		w.countShared(w.site(in), c.bytes)
	}
	source := w.cta.shared
	w.showBulk(in, c, to, at)
	w.cta.check.asyncRead(w, c.lane, in.id, from, c.bytes)
	w.cta.check.asyncWrite(w, c.lane, in.id, to, offset, c.bytes, at)
	to.deliver(at, uint32(c.bytes), func() {
		if op.reduce == nil {
			copy(to.shared[offset:offset+c.bytes], source[from:from+c.bytes])
			return
		}
		for k := uint64(0); k < c.bytes; k += uint64(op.element) {
			reduceAt(op.reduce, op.element, unsafe.Pointer(&to.shared[offset+k]), load(unsafe.Pointer(&source[from+k]), uint8(op.element), false))
		}
	})
}

// storeRuns gives what moves a copy's data from shared to global memory.
func (w *warp) storeRuns(in *inst, c *bulkCopy) func() {
	op, shared := in.ext.bulk, w.cta.shared
	e, size := op.reduce, op.element
	if e != nil && c.m != nil {
		e, size = w.tensorReduction(in, c), c.m.Type.Bytes()
	}
	mask := uint32(0xffff)
	if op.cpMask {
		mask = w.u32(op.bytes)[c.lane]
	}
	return func() {
		for _, r := range c.runs {
			if !r.inside || r.bytes == 0 {
				continue
			}
			to := w.hostBytes(r.address, r.bytes)
			chunks(c.shared+r.at, r.bytes, c.swizzle, func(at, offset, n uint64) {
				from := shared[offset : offset+n]
				switch {
				case e != nil:
					for k := 0; k < len(from); k += size {
						reduceAt(e, size, unsafe.Pointer(&to[int(at)+k]), load(unsafe.Pointer(&from[k]), uint8(size), false))
					}
				case mask&0xffff != 0xffff:
					for k, v := range from {
						if mask>>(k&15)&1 != 0 {
							to[int(at)+k] = v
						}
					}
				default:
					copy(to[at:at+n], from)
				}
			})
		}
	}
}

// reduceAt combines a value with the element of 2, 4 or 8 bytes at p, undisturbed by other CTAs.
func reduceAt(e *atomicExtra, size int, p unsafe.Pointer, b uint64) {
	if size == 8 {
		word := (*uint64)(p)
		for {
			old := atomic.LoadUint64(word)
			if atomic.CompareAndSwapUint64(word, old, combine64(e, old, b, 0)) {
				return
			}
		}
	}
	shift := uint(0)
	if size == 2 { // inside its aligned word
		shift = uint(uintptr(p)&2) * 8
		p = unsafe.Add(p, -int(uintptr(p)&2))
	}
	word := (*uint32)(p)
	for {
		whole := atomic.LoadUint32(word)
		replace := uint32(0)
		if size == 2 {
			replace = whole&^(0xffff<<shift) | combineTyped(e, whole>>shift&0xffff, uint32(b), 0)&0xffff<<shift
		} else {
			replace = combineTyped(e, whole, uint32(b), 0)
		}
		if atomic.CompareAndSwapUint32(word, whole, replace) {
			return
		}
	}
}
