package vgpu

import (
	"errors"
	"unsafe"
)

// Register allocation: a linear scan over the ordered operations with 16 vector registers. Where none is free, the value
// goes whose next use is furthest (Belady); what memory holds anyway needs no store.

const (
	vectorRegisters = 16
	never           = int32(1) << 30
	spillPlaces     = int(unsafe.Sizeof(asmContext{}.big) / 32)
)

var errSpills = errors.New("too many values at once")

// emitter writes a run's operations as machine code.
type emitter struct {
	run    *jitRun
	code   *machineCode
	tables jitTables
	uses   [][]int32 // of a value: positions at which it is needed, 2·place for operands, 2·place+1 for stores
	cursor []int32   // first of uses that is not behind
	reg    []int8    // of a value, −1 where none
	spill  []int16   // its place among the spilled, −1 where none
	held   [vectorRegisters]int32
	free   []int16 // places of dead spilled values
	places int
	locked uint16
	now    int32
	failed error
}

func newEmitter(r *jitRun, c *machineCode, order *jitOrder, tables jitTables) *emitter {
	n := len(r.values)
	e := &emitter{run: r, code: c, tables: tables, uses: make([][]int32, n), cursor: make([]int32, n), reg: make([]int8, n), spill: make([]int16, n)}
	for v := range n {
		e.reg[v], e.spill[v] = -1, -1
	}
	for i := range e.held {
		e.held[i] = -1
	}
	for place, op := range order.ops {
		if op >= 0 {
			for _, u := range r.ops[op].use {
				e.uses[u] = append(e.uses[u], int32(2*place))
			}
		}
		for _, o := range order.stores[place] {
			e.uses[o.value] = append(e.uses[o.value], int32(2*place+1))
		}
	}
	return e
}

// next is the position of a value's next use from `from` on.
func (e *emitter) next(v, from int32) int32 {
	u := e.uses[v]
	for int(e.cursor[v]) < len(u) && u[e.cursor[v]] < e.now {
		e.cursor[v]++
	}
	for _, at := range u[e.cursor[v]:] {
		if at >= from {
			return at
		}
	}
	return never
}

// home is the memory that holds a value in its whole width.
func (e *emitter) home(v int32) (place, bool) {
	x := &e.run.values[v]
	switch {
	case x.kind == valueSlot:
		return place{regBX, int32(x.slot)}, true
	case x.kind == valueShared && !x.broadcast:
		return place{baseRegisters[x.group], x.disp}, true
	case e.spill[v] >= 0:
		return spillPlace(e.spill[v]), true
	}
	return place{}, false
}

func spillPlace(i int16) place { return place{regR11, contextBig + 32*int32(i)} }

func (e *emitter) lock(r int) { e.locked |= 1 << r }

// take frees a register that is not locked for something that is made at position p.
func (e *emitter) take(p int32) int {
	best, furthest := -1, int32(-1)
	for r := range e.held {
		if e.locked>>r&1 != 0 {
			continue
		}
		d := never + 1
		if v := e.held[r]; v >= 0 {
			d = e.next(v, p)
		}
		if d > furthest {
			best, furthest = r, d
		}
	}
	if v := e.held[best]; v >= 0 {
		if _, kept := e.home(v); furthest < never && !kept && e.run.values[v].kind == valueOp {
			e.keep(v, best)
		}
		e.reg[v], e.held[best] = -1, -1
	}
	return best
}

// keep stores a value among the spilled.
func (e *emitter) keep(v int32, r int) {
	var at int16
	if n := len(e.free); n > 0 {
		at, e.free = e.free[n-1], e.free[:n-1]
	} else {
		at = int16(e.places)
		if e.places++; e.places > spillPlaces {
			e.failed = errSpills
		}
	}
	e.spill[v] = at
	e.code.vexMemory(vStore, wide256, r, 0, spillPlace(at))
}

// forget gives up what is dead behind position p.
func (e *emitter) forget(v, p int32) {
	if e.next(v, p+1) < never {
		return
	}
	if e.spill[v] >= 0 {
		e.free = append(e.free, e.spill[v])
		e.spill[v] = -1
	}
	if r := e.reg[v]; r >= 0 {
		e.held[r], e.reg[v] = -1, -1
	}
}

// load gives the register that holds a value, and locks it.
func (e *emitter) load(v int32) int {
	if r := e.reg[v]; r >= 0 {
		e.lock(int(r))
		return int(r)
	}
	r := e.take(e.now)
	if x := &e.run.values[v]; x.kind == valueShared && x.broadcast {
		e.code.vexMemory(vBroadcast, wide256, r, 0, place{baseRegisters[x.group], x.disp})
	} else if m, ok := e.home(v); ok {
		e.code.vexMemory(vLoad, wide256, r, 0, m)
	} else {
		e.failed = errors.New("a value is lost")
	}
	e.hold(v, r)
	return r
}

// hold says that a register has a value, and locks it.
func (e *emitter) hold(v int32, r int) {
	e.reg[v], e.held[r] = int8(r), v
	e.lock(r)
}

// temporary is a register for one operation.
func (e *emitter) temporary() int {
	r := e.take(e.now)
	e.lock(r)
	return r
}

// define gives the register of a result; its operands are no longer locked where unlocked says that the operation reads them
// before it writes.
func (e *emitter) define(v int32) int {
	r := e.take(e.now + 1)
	e.hold(v, r)
	return r
}

// inMemory says whether an operand may stay in memory: it has a home, is in no register, and keeping it would cost another.
func (e *emitter) inMemory(v int32) (place, bool) {
	if e.reg[v] >= 0 {
		return place{}, false
	}
	m, ok := e.home(v)
	if !ok {
		return m, false
	}
	again := e.next(v, e.now+1)
	return m, again >= never || !e.roomUntil(again)
}

// roomUntil says whether a register could hold a value until position p without a store.
func (e *emitter) roomUntil(p int32) bool {
	for r, v := range e.held {
		if e.locked>>r&1 != 0 {
			continue
		}
		if v < 0 {
			return true
		}
		n := e.next(v, e.now)
		_, kept := e.home(v)
		if n >= never || n > p && (kept || e.run.values[v].kind != valueOp) {
			return true
		}
	}
	return false
}

// body writes the operations in order with the stores behind them.
func (e *emitter) body(order *jitOrder) error {
	for i, op := range order.ops {
		e.now, e.locked = int32(2*i), 0
		if op >= 0 {
			o := &e.run.ops[op]
			e.operation(o)
			for _, u := range o.use {
				e.forget(u, e.now)
			}
			for _, d := range o.def {
				e.forget(d, e.now)
			}
		}
		e.now++
		for _, out := range order.stores[i] {
			e.locked = 0
			e.code.vexMemory(vStore, wide256, e.load(out.value), 0, place{regBX, int32(out.slot)})
			e.stored(out.value)
		}
		if e.failed != nil {
			return e.failed
		}
	}
	return nil
}

// stored gives up a value when its last use is this store.
func (e *emitter) stored(v int32) {
	if last := e.uses[v][len(e.uses[v])-1]; last <= e.now {
		e.forget(v, e.now)
	}
}
