package vgpu

import (
	"encoding/binary"
	"fmt"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// mbarrierRows are the operations on mbarrier objects (PTX ISA 9.7.13.15). Their modifiers come in many forms: the decoder
// reads them.
var mbarrierRows = []row{
	{patterns: []string{"mbarrier"}, class: perf.ClassBarrier, section: "9.7.13.15", decode: decodeMbarrier},
}

// mbarrier is the 64-bit object in shared memory, which PTX leaves opaque: phase in bit 63, pending arrivals in bits 43–62,
// the arrivals that each phase expects in bits 23–42, bit 22 set once it is initialised, and the bytes that are still to come
// (tx-count) in bits 0–21, signed.
type mbarrier uint64

const (
	mbarrierValid = mbarrier(1) << 22
	mbarrierMost  = 1<<20 - 1 // of each count (9.7.13.15.2)
)

func newMbarrier(count uint64) mbarrier {
	return mbarrierValid | mbarrier(count)<<23 | mbarrier(count)<<43
}

func (b mbarrier) phase() uint64    { return uint64(b >> 63) }
func (b mbarrier) pending() uint64  { return uint64(b>>43) & mbarrierMost }
func (b mbarrier) expected() uint64 { return uint64(b>>23) & mbarrierMost }
func (b mbarrier) tx() int64        { return int64(b<<42) >> 42 }

func (b mbarrier) withPending(n uint64) mbarrier {
	return b&^(mbarrierMost<<43) | mbarrier(n&mbarrierMost)<<43
}

func (b mbarrier) withExpected(n uint64) mbarrier {
	return b&^(mbarrierMost<<23) | mbarrier(n&mbarrierMost)<<23
}

func (b mbarrier) withTx(n int64) mbarrier { return b&^(1<<22-1) | mbarrier(n)&(1<<22-1) }

// next ends the phase if nothing is missing any more.
func (b mbarrier) next() (mbarrier, bool) {
	if b.pending() != 0 || b.tx() != 0 {
		return b, false
	}
	return (b ^ 1<<63).withPending(b.expected()), true
}

type mbarrierOp uint8

const (
	mbarrierInit mbarrierOp = iota
	mbarrierInval
	mbarrierExpect
	mbarrierComplete
	mbarrierArrive
	mbarrierDrop
	mbarrierTest
	mbarrierTry
	mbarrierPendingCount
	mbarrierAsync // cp.async.mbarrier.arrive
)

var mbarrierOps = map[string]mbarrierOp{"init": mbarrierInit, "inval": mbarrierInval, "expect_tx": mbarrierExpect, "complete_tx": mbarrierComplete,
	"arrive": mbarrierArrive, "arrive_drop": mbarrierDrop, "test_wait": mbarrierTest, "try_wait": mbarrierTry, "pending_count": mbarrierPendingCount}

const (
	formExpect      = 1 << iota // arrive.expect_tx
	formNoComplete              // must not complete the phase
	formParity                  // waits by parity, not by state
	formNoIncrement             // cp.async.mbarrier.arrive.noinc
)

// decodeMbarrier decodes mbarrier.*: in.d the state or predicate, in.b count, bytes, state or parity; in.n the operation, in.imm
// an address offset as everywhere, in.size its forms.
func decodeMbarrier(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opMbarrier, flags: flagSelf, pattern: -1}
	op, known := mbarrierOps[""], false
	if len(in.Modifiers) > 0 {
		op, known = mbarrierOps[in.Modifiers[0]]
	}
	if !known {
		return x, d.m.ErrorAt(in, "not supported by the virtual GPU", "there are mbarrier.init .inval .expect_tx .complete_tx .arrive .arrive_drop .test_wait .try_wait .pending_count")
	}
	if d.sm < 80 {
		return x, d.m.ErrorAt(in, "mbarrier needs sm_80", "use bar.sync")
	}
	x.n = uint8(op)
	form, waits := "-", op == mbarrierTest || op == mbarrierTry
	switch {
	case op == mbarrierArrive || op == mbarrierDrop:
		form = "- expect_tx noComplete"
	case waits:
		form = "- parity"
	}
	sem := map[bool]string{false: "- release relaxed acq_rel", true: "- acquire relaxed"}[waits]
	picks, err := d.anyOrder(in, in.Modifiers[0], form, sem, "- cta cluster", "- shared shared::cta shared::cluster", "b64")
	if err != nil {
		return x, err
	}
	switch picks[1] {
	case "expect_tx":
		x.size |= formExpect
	case "noComplete":
		x.size |= formNoComplete
	case "parity":
		x.size |= formParity
	}
	d.inf.kind = sharedAtomic
	switch op {
	case mbarrierInit, mbarrierExpect, mbarrierComplete:
		return x, d.mbarrierCount(&x, in, 2, 2, picks[4])
	case mbarrierInval:
		if err := d.operands(in, 1, 1); err != nil {
			return x, err
		}
		return x, d.mbarrierAddress(&x, &in.Operands[0], picks[4])
	case mbarrierPendingCount:
		x.fn, d.inf.kind = opPendingCount, noMemory
		if err := d.operands(in, 2, 2); err != nil {
			return x, err
		}
		if x.d, err = d.destination(&in.Operands[0], "u32"); err == nil {
			x.a, err = d.source(&in.Operands[1], "b64")
		}
		return x, err
	case mbarrierArrive, mbarrierDrop:
		return x, d.mbarrierArrival(&x, in, picks[4])
	}
	return x, d.mbarrierWait(&x, in, op, picks[4])
}

// mbarrierCount decodes [address], count.
func (d *decoder) mbarrierCount(x *inst, in *ptx.Instruction, least, most int, space string) error {
	if err := d.operands(in, least, most); err != nil {
		return err
	}
	if err := d.mbarrierAddress(x, &in.Operands[0], space); err != nil {
		return err
	}
	var err error
	x.b, err = d.source(&in.Operands[1], "u32")
	return err
}

// mbarrierArrival decodes state, [address]{, count}; the state may be left out.
func (d *decoder) mbarrierArrival(x *inst, in *ptx.Instruction, space string) error {
	ops := in.Operands
	x.d = scratch
	if len(ops) > 0 && ops[0].Kind != ptx.OperandAddress {
		var err error
		if x.d, err = d.destination(&ops[0], "b64"); err != nil {
			return err
		}
		if space == "shared::cluster" && ops[0].Kind != ptx.OperandSink {
			return d.m.ErrorAt(in, "arriving in another CTA gives no state", "write _ in its place")
		}
		ops = ops[1:]
	}
	needs := x.size&(formExpect|formNoComplete) != 0
	if len(ops) < 1 || len(ops) > 2 || needs && len(ops) != 2 {
		return decodeError(d.m, in, "expected a state, an address and a count")
	}
	x.b = d.constant(1, false)
	if len(ops) == 2 {
		var err error
		if x.b, err = d.source(&ops[1], "u32"); err != nil {
			return err
		}
	}
	return d.mbarrierAddress(x, &ops[0], space)
}

// mbarrierWait decodes p, [address], state or parity{, hint}.
func (d *decoder) mbarrierWait(x *inst, in *ptx.Instruction, op mbarrierOp, space string) error {
	most := 3
	if op == mbarrierTry {
		most = 4
		if d.sm < 90 {
			return d.m.ErrorAt(in, "mbarrier.try_wait needs sm_90", "use mbarrier.test_wait")
		}
	}
	if err := d.operands(in, 3, most); err != nil {
		return err
	}
	var err error
	if x.d, err = d.predicateDestination(&in.Operands[0]); err != nil {
		return err
	}
	t := "b64"
	if x.size&formParity != 0 {
		t = "u32"
	}
	if x.b, err = d.source(&in.Operands[2], t); err != nil {
		return err
	}
	if len(in.Operands) == 4 { // how long the thread may be suspended: the virtual GPU lets others run and answers
		if _, err = d.source(&in.Operands[3], "u32"); err != nil {
			return err
		}
	}
	if space == "shared::cluster" {
		return d.m.ErrorAt(in, "a thread can only wait for an mbarrier of its own CTA", "use .shared::cta")
	}
	return d.mbarrierAddress(x, &in.Operands[1], space)
}

// mbarrierAddress decodes the address of an object; without a space it is generic.
func (d *decoder) mbarrierAddress(x *inst, o *ptx.Operand, space string) error {
	if space == "" {
		x.flags |= flagGeneric
	}
	return d.address(x, o, space, true)
}

// opMbarrier executes an mbarrier operation, lane after lane.
func opMbarrier(w *warp, in *inst) {
	a := w.addressesKept(in)
	if in.flags&flagGeneric != 0 {
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			if a[i]-sharedWindow >= windowBytes {
				w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("the mbarrier's address 0x%x does not lie in shared memory", a[i]), Mend: "declare it __shared__, 8-byte aligned"})
			}
			a[i] -= sharedWindow
		}
	}
	asked := w.mask
	var done uint32
	w.inCluster(in, a, func(a *[32]uint64) {
		w.touchShared(in, w.site(in), a, 8)
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			done |= uint32(b2i(w.mbarrierLane(in, i, a[i]))) << i
		}
	})
	switch mbarrierOp(in.n) {
	case mbarrierTest, mbarrierTry:
		w.pred[in.d] = w.pred[in.d]&^asked | done&asked
		if done == 0 && mbarrierOp(in.n) == mbarrierTry {
			w.w.pause(pollCycles)
		} else if done == 0 {
			w.poll()
		}
	}
}

// mbarrierAt reads the object at an offset of a CTA's shared memory.
func (k *cta) mbarrierAt(offset uint64) mbarrier {
	return mbarrier(binary.LittleEndian.Uint64(k.shared[offset:]))
}

func (k *cta) setMbarrier(offset uint64, b mbarrier) {
	binary.LittleEndian.PutUint64(k.shared[offset:], uint64(b))
}

// mbarrierLane does one lane's operation on the object at an offset of w.cta's shared memory; of a wait it tells whether the
// phase is over.
func (w *warp) mbarrierLane(in *inst, i uint, at uint64) bool {
	c, op := w.cta, mbarrierOp(in.n)
	if op == mbarrierInit {
		count := w.u32(in.b)[i]
		if count == 0 || count > mbarrierMost {
			w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("an mbarrier of %d arrivals: the count is 1 to %d", count, mbarrierMost), Mend: "give the number of threads or warps that arrive in a phase"})
		}
		c.setMbarrier(at, newMbarrier(uint64(count)))
		c.watchMbarrier(w, in, i, at)
		return false
	}
	if op == mbarrierTest || op == mbarrierTry {
		c.land(at)
	}
	b := c.mbarrierAt(at)
	if b&mbarrierValid == 0 {
		w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("there is no mbarrier at offset %d of shared memory: mbarrier.init comes first, and a barrier before others use it", at), Mend: "initialise it by one thread, then __syncthreads() (cluster.sync() for another CTA's), and keep its address inside shared memory"})
	}
	switch op {
	case mbarrierInval:
		c.setMbarrier(at, 0)
	case mbarrierExpect:
		w.expectBytes(in, i, at, int64(w.u32(in.b)[i]))
	case mbarrierComplete:
		w.expectBytes(in, i, at, -int64(w.u32(in.b)[i]))
	case mbarrierArrive, mbarrierDrop:
		count := uint64(w.u32(in.b)[i])
		if in.size&formExpect != 0 {
			w.expectBytes(in, i, at, int64(count))
			count = 1
		}
		if in.d != scratch {
			w.u64(in.d)[i] = uint64(b)
		}
		w.arriveAt(in, i, at, count, op == mbarrierDrop)
	case mbarrierAsync:
		w.arriveBehindCopies(in, i, at)
	case mbarrierTest, mbarrierTry:
		done := false
		if in.size&formParity != 0 {
			done = b.phase() != uint64(w.u32(in.b)[i]&1)
		} else {
			done = b.phase() != mbarrier(w.u64(in.b)[i]).phase()
		}
		if done {
			c.watchMbarrier(w, in, i, at)
		}
		return done
	}
	c.watchMbarrier(w, in, i, at)
	return false
}

// arriveAt takes arrivals off the pending ones, and with drop off those of later phases too.
func (w *warp) arriveAt(in *inst, i uint, at, count uint64, drop bool) {
	c := w.cta
	b := c.mbarrierAt(at)
	if count == 0 || count > b.pending() {
		w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("%d arrivals at an mbarrier that waits for %d more of %d: the phase has too many", count, b.pending(), b.expected()), Mend: "count again who arrives: init's count is all arrivals of one phase"})
	}
	if b = b.withPending(b.pending() - count); drop {
		b = b.withExpected(b.expected() - count)
	}
	if in.size&formNoComplete != 0 && b.pending() == 0 {
		w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: "the arrival completes the phase, which .noComplete rules out", Mend: "leave .noComplete out, or arrive with fewer"})
	}
	c.finishMbarrier(at, b)
}

// finishMbarrier stores an object, its phase ended if nothing is missing.
func (k *cta) finishMbarrier(at uint64, b mbarrier) {
	b, over := b.next()
	k.setMbarrier(at, b)
	if over {
		k.watchPhase(at)
	}
}

// expectBytes changes the bytes that are still to come.
func (w *warp) expectBytes(in *inst, i uint, at uint64, n int64) {
	c := w.cta
	b := c.mbarrierAt(at)
	tx := b.tx() + n
	if tx > mbarrierMost || tx < -mbarrierMost {
		w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("%d bytes to come at an mbarrier: the limit is %d", tx, mbarrierMost), Mend: "split the copy over several phases"})
	}
	if b = b.withTx(tx); n < 0 {
		c.finishMbarrier(at, b)
		return
	}
	c.setMbarrier(at, b)
}

// opPendingCount is mbarrier.pending_count d, state: the arrivals that were pending when the state was taken.
func opPendingCount(w *warp, in *inst) {
	d, a := w.u32(in.d), w.u64(in.a)
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i] = uint32(mbarrier(a[i]).pending())
	}
}

// delivery is an asynchronous copy on its way into a CTA's shared memory.
type delivery struct {
	at    uint64 // offset of the mbarrier that it completes bytes on
	bytes uint32
	land  func()
}

// deliver takes an asynchronous copy into the CTA's shared memory: land moves its data, and bytes are completed on the
// mbarrier at an offset. That happens when somebody looks at the mbarrier, or when the CTA ends, so that a missing wait shows.
func (k *cta) deliver(at uint64, bytes uint32, land func()) {
	k.flying = append(k.flying, delivery{at, bytes, land})
}

// land lets the copies arrive that the mbarrier at an offset waits for, in the order of their issue.
func (k *cta) land(at uint64) {
	if len(k.flying) == 0 {
		return
	}
	list := k.flying
	k.flying = nil
	var rest []delivery
	for _, f := range list {
		if f.at != at {
			rest = append(rest, f)
			continue
		}
		f.land()
		k.completeBytes(at, f.bytes)
	}
	k.flying = append(rest, k.flying...)
}

// landAll lets everything arrive at the CTA's end.
func (k *cta) landAll() {
	for len(k.flying) > 0 {
		list := k.flying
		k.flying = nil
		for _, f := range list {
			f.land()
		}
	}
}

// completeBytes takes bytes off those that an mbarrier waits for; false: there is no mbarrier.
func (k *cta) completeBytes(at uint64, bytes uint32) bool {
	if at+8 > uint64(len(k.shared)) {
		return false
	}
	b := k.mbarrierAt(at)
	if b&mbarrierValid == 0 {
		return false
	}
	if bytes > 0 {
		k.finishMbarrier(at, b.withTx(b.tx()-int64(bytes)))
	}
	return true
}

// watchMbarrier and watchPhase tell an observer what happened to an object, after it has.
func (k *cta) watchMbarrier(w *warp, in *inst, lane uint, at uint64) {
	if o, ok := k.watch.(mbarrierObserver); ok {
		o.mbarrier(w, in, int(lane), mbarrierOp(in.n), k, at)
	}
}

func (k *cta) watchPhase(at uint64) {
	if o, ok := k.watch.(mbarrierObserver); ok {
		o.phaseDone(k, at)
	}
}

// mbarrierObserver is an observer that also sees mbarrier objects.
type mbarrierObserver interface {
	mbarrier(w *warp, in *inst, lane int, op mbarrierOp, c *cta, offset uint64)
	phaseDone(c *cta, offset uint64)
}

// decodeAsyncArrive decodes cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [address] (PTX ISA 9.7.13.15.17).
func decodeAsyncArrive(d *decoder, in *ptx.Instruction) (inst, error) {
	x := inst{fn: opMbarrier, flags: flagSelf, pattern: -1, n: uint8(mbarrierAsync)}
	picks, err := d.grammar(in, "async", "mbarrier", "arrive", "- noinc", "- shared shared::cta", "b64")
	if err != nil {
		return x, err
	}
	if picks[3] != "" {
		x.size |= formNoIncrement
	}
	d.inf.kind = sharedAtomic
	if err := d.operands(in, 1, 1); err != nil {
		return x, err
	}
	return x, d.mbarrierAddress(&x, &in.Operands[0], picks[4])
}

// arriveBehindCopies lets a lane arrive once the cp.async copies that its warp has issued are done.
func (w *warp) arriveBehindCopies(in *inst, i uint, at uint64) {
	c := w.cta
	if in.size&formNoIncrement == 0 {
		b := c.mbarrierAt(at)
		if b.pending() == mbarrierMost {
			w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: "the mbarrier has too many pending arrivals", Mend: "wait for the phase before more arrive"})
		}
		c.setMbarrier(at, b.withPending(b.pending()+1))
	}
	issued := w.async.issued
	c.deliver(at, 0, func() {
		w.async.settle(w, issued)
		w.arriveAt(in, i, at, 1, false)
	})
}
