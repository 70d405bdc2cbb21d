package vgpu

import (
	"fmt"
	"math"
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

var callRows = []row{
	{patterns: []string{"call"}, class: perf.ClassControl, section: "9.7.12.5", decode: decodeCall},
	{patterns: []string{"brx.idx{,.uni}"}, class: perf.ClassControl, section: "9.7.12.4", decode: decodeNothing},
	{patterns: []string{"alloca{.u32,.u64}", "stacksave{.u32,.u64}", "stackrestore{.u32,.u64}"}, class: perf.ClassMove, section: "9.7.15", decode: decodeStack},
}

// isPseudo reports whether link made the instruction: it stands for no line of the text of its own.
func isPseudo(in *ptx.Instruction) bool {
	if in.Opcode != "call" || len(in.Modifiers) != 1 {
		return false
	}
	switch in.Modifiers[0] {
	case callArgument, callReturn, callEnd:
		return true
	}
	return false
}

// callTarget is a function that is entered: where it begins, and the block at which its lanes meet.
type callTarget struct {
	address    uint64
	from, join int32
	name       string
}

// decodeCall decodes what of a call does not end its block: arguments, and calls of the system.
func decodeCall(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	if len(in.Modifiers) == 1 && in.Modifiers[0] == callArgument {
		return d.passArgument(in)
	}
	if s := systemCalls[calleeOf(in).name]; s != nil {
		return s(d, in)
	}
	return inst{}, decodeError(d.m, in, "expected the name of a function")
}

// passArgument decodes a copy between two places of a lane: registers, or variables in its frame. imm holds the offsets of
// variables, to below and from above; c the bytes.
func (d *decoder) passArgument(in *ptx.Instruction) (inst, error) {
	x := inst{fn: opPassArgument, flags: flagSelf, pattern: -1, ext: &extra{second: -1}}
	to, from := &in.Operands[0], &in.Operands[1]
	bytes := int64(1) << 30
	for _, o := range []*ptx.Operand{to, from} {
		switch o.Kind {
		case ptx.OperandRegister:
			bytes = min(bytes, int64(ptx.TypeSize(d.f.Registers[o.Register].Type)))
		case ptx.OperandSymbol:
			bytes = min(bytes, o.Variable.Size)
		}
	}
	if bytes > 8 && (to.Kind != ptx.OperandSymbol || from.Kind != ptx.OperandSymbol) {
		return x, d.m.ErrorAt(in, "an argument of 16 bytes in a register is not supported by the virtual GPU", "pass it in a .param")
	}
	if bytes > 1<<20 {
		return x, decodeError(d.m, in, "an argument of %d B", bytes)
	}
	x.c = uint32(bytes)
	if to.Kind == ptx.OperandSymbol {
		x.imm = d.symbols[to.Variable]
		x.ext.guard = 1
	} else {
		x.d = d.s.at[to.Register]
		if isWide(&d.f.Registers[to.Register]) {
			x.flags |= flagWide
		}
	}
	switch from.Kind {
	case ptx.OperandSymbol:
		x.imm |= d.symbols[from.Variable] << 32
		x.ext.not = 1
	case ptx.OperandRegister:
		x.a = d.s.at[from.Register]
		if isWide(&d.f.Registers[from.Register]) {
			x.flags |= flagWide64
		}
	default:
		bits := from.Bits
		if from.Float == ptx.Float64 && bytes == 4 {
			bits = uint64(math.Float32bits(float32(math.Float64frombits(bits))))
		}
		x.a, x.flags = d.constant(bits, true), x.flags|flagWide64
	}
	return x, nil
}

// opPassArgument copies c bytes, lane by lane.
func opPassArgument(w *warp, in *inst) {
	size := uint64(w.w.p.local)
	to, from := in.imm&math.MaxUint32, in.imm>>32
	toFrame, fromFrame := in.ext.guard != 0, in.ext.not != 0
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		frame := w.local[uint64(i)*size : uint64(i+1)*size]
		if toFrame && fromFrame {
			copy(frame[to:to+uint64(in.c)], frame[from:])
			continue
		}
		var v uint64
		switch {
		case fromFrame:
			v = load(unsafe.Pointer(&frame[from]), uint8(in.c), false)
		case in.flags&flagWide64 != 0:
			v = w.u64(in.a)[i]
		default:
			v = uint64(w.u32(in.a)[i])
		}
		switch {
		case toFrame:
			store(unsafe.Pointer(&frame[to]), uint8(in.c), v)
		case in.flags&flagWide != 0:
			w.u64(in.d)[i] = v
		default:
			w.u32(in.d)[i] = uint32(v)
		}
	}
}

// callEnding decodes the end of a block at which lanes go to a function, or come back from it.
func (d *decoder) callEnding(e *ending, in *ptx.Instruction) error {
	switch in.Modifiers[0] {
	case callReturn, callEnd:
		e.kind = endExit
		return nil
	}
	e.kind = endCall
	if o := &in.Operands[0]; o.Kind == ptx.OperandLabel {
		for k := range d.linked.parts {
			if d.linked.parts[k].from == o.Target {
				e.calls = []callTarget{d.callTarget(k)}
			}
		}
		return nil
	}
	at, err := d.source(&in.Operands[0], "u64")
	e.barReg = int32(at)
	for k := range d.linked.parts {
		if d.linked.parts[k].address != 0 {
			e.calls = append(e.calls, d.callTarget(k))
		}
	}
	return err
}

func (d *decoder) callTarget(k int) callTarget {
	p := &d.linked.parts[k]
	return callTarget{address: p.address, from: d.blockFrom(p.from), join: d.blockFrom(p.to - 1), name: p.name}
}

// tableEnding decodes brx.idx index, targets.
func (d *decoder) tableEnding(e *ending, in *ptx.Instruction) error {
	if len(in.Operands) != 2 || in.Operands[1].Kind != ptx.OperandTable || len(d.f.Tables[in.Operands[1].Target].Targets) == 0 {
		return decodeError(d.m, in, "expected an index and the label of a .branchtargets list")
	}
	e.kind = endTable
	at, err := d.source(&in.Operands[0], "u32")
	e.barReg = int32(at)
	for _, t := range d.f.Tables[in.Operands[1].Target].Targets {
		e.table = append(e.table, d.blockFrom(t))
	}
	return err
}

// blockFrom gives the basic block that begins with an instruction; that behind the last one is the exit.
func (d *decoder) blockFrom(instruction int) int32 {
	if d.starts == nil {
		d.starts = map[int]int32{}
		for k := range d.g.blocks {
			d.starts[d.g.blocks[k].from] = int32(k)
		}
	}
	if k, ok := d.starts[instruction]; ok {
		return k
	}
	return int32(len(d.g.blocks))
}

// call sends lanes to a function; those below them on the stack wait for them behind the call.
func (w *warp) call(c *blockCounts, top *split, b *block) {
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
	if e.barReg < 0 {
		w.enterFunction(e, &e.calls[0], m)
		return
	}
	pointers := *w.u64(uint32(e.barReg))
	parted := false
	for m != 0 {
		first := pointers[lowest(m)]
		var same uint32
		for o := m; o != 0; o &= o - 1 {
			if i := lowest(o); pointers[i] == first {
				same |= 1 << i
			}
		}
		m &^= same
		if m != 0 && !parted {
			parted = true
			c.branches++
			c.divergent++
		}
		var target *callTarget
		for k := range e.calls {
			if e.calls[k].address == first {
				target = &e.calls[k]
			}
		}
		if target == nil {
			w.w.stop(w, e.id, int(lowest(same)), &driver.Fault{Kind: driver.Illegal, Detail: w.noFunction(first), Mend: "take the address of a __device__ function of this module, with the parameters that the call gives"})
		}
		w.enterFunction(e, target, same)
	}
}

// noFunction says why a pointer cannot be called.
func (w *warp) noFunction(pointer uint64) string {
	if k := (pointer-functionBase)/16 - 1; pointer >= functionBase && k < uint64(len(w.w.p.module.Functions)) && (pointer-functionBase)%16 == 0 {
		return fmt.Sprintf("the pointer is to function %s, whose parameters are not those of this call", w.w.p.module.Functions[k].Name)
	}
	return fmt.Sprintf("the pointer 0x%x is to no function of this module", pointer)
}

func (w *warp) enterFunction(e *ending, t *callTarget, m uint32) {
	if w.w.p.viaPointers {
		for i := range w.stack {
			if s := &w.stack[i]; s.join == t.join && s.mask&m != 0 {
				w.w.stop(w, e.id, int(lowest(m)), &driver.Fault{Kind: driver.Illegal, Detail: "recursion: function " + t.name + " is called while it runs", Mend: "write it as a loop, or with a stack of your own in local memory"})
			}
		}
	}
	w.stack = append(w.stack, split{block: t.from, join: t.join, mask: m})
}

// table sends lanes to the targets of brx.idx.
func (w *warp) table(c *blockCounts, top *split, b *block) {
	e := &b.end
	m := w.guardOf(e, top.mask)
	all := top.mask
	if e.guard >= 0 {
		c.takenLanes += uint64(popcount(m))
		c.taken += uint64(b2i(m != 0))
	}
	c.branches++
	if m == 0 {
		top.block = e.next
		return
	}
	index := *w.u32(uint32(e.barReg))
	target := func(i uint) int32 {
		if uint64(index[i]) >= uint64(len(e.table)) {
			w.w.stop(w, e.id, int(i), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("index %d: the list has %d targets", index[i], len(e.table)), Mend: "compare the index with the number of targets first"})
		}
		return e.table[index[i]]
	}
	if first := target(lowest(m)); m == all {
		same := true
		for o := m; o != 0; o &= o - 1 {
			same = same && target(lowest(o)) == first
		}
		if same {
			top.block = first
			return
		}
	}
	c.divergent++
	join := b.ipdom
	if join == top.join {
		w.stack = w.stack[:len(w.stack)-1]
	} else {
		top.block = join
	}
	if rest := all &^ m; rest != 0 && e.next != join {
		w.stack = append(w.stack, split{block: e.next, join: join, mask: rest})
	}
	for m != 0 {
		first := target(lowest(m))
		var same uint32
		for o := m; o != 0; o &= o - 1 {
			if i := lowest(o); target(i) == first {
				same |= 1 << i
			}
		}
		if m &^= same; first != join {
			w.stack = append(w.stack, split{block: first, join: join, mask: same})
		}
	}
}

// stackBytes is what alloca may take of a thread's local memory.
const stackBytes = 16 << 10

// decodeStack decodes alloca, stacksave and stackrestore (PTX ISA 9.7.15): imm holds the operation, c the alignment.
func decodeStack(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opStack, flags: flagSelf, pattern: -1, c: 8}
	t := lastType(in)
	if isWideType(t) {
		x.flags |= flagWide
	}
	var err error
	switch in.Opcode {
	case "alloca":
		if err := d.operands(in, 2, 3); err != nil {
			return x, err
		}
		if x.d, err = d.destination(&in.Operands[0], t); err != nil {
			return x, err
		}
		if len(in.Operands) == 3 {
			o := &in.Operands[2]
			if o.Kind != ptx.OperandImmediate || o.Bits == 0 || o.Bits&(o.Bits-1) != 0 || o.Bits > 1<<23 {
				return x, decodeError(d.m, in, "the alignment must be a constant, a power of two up to 2^23")
			}
			x.c = uint32(max(o.Bits, 8))
		}
		x.a, err = d.source(&in.Operands[1], t)
	case "stacksave":
		x.n = 1
		if err = d.operands(in, 1, 1); err == nil {
			x.d, err = d.destination(&in.Operands[0], t)
		}
	default:
		x.n = 2
		if err = d.operands(in, 1, 1); err == nil {
			x.a, err = d.source(&in.Operands[0], t)
		}
	}
	return x, err
}

// opStack moves lanes' stack pointers, which go up from the end of their frames.
func opStack(w *warp, in *inst) {
	p := w.w.p
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		var a uint64
		if in.n != 1 {
			if a = uint64(w.u32(in.a)[i]); in.flags&flagWide != 0 {
				a = w.u64(in.a)[i]
			}
		}
		var result uint64
		switch in.n {
		case 0:
			at := (uint64(w.sp[i]) + uint64(in.c) - 1) &^ (uint64(in.c) - 1)
			if a > stackBytes || at+a > uint64(p.local) {
				w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("alloca of %d B: a thread's stack has %d B, %d are in use", a, stackBytes, int(w.sp[i])-p.stackAt), Mend: "allocate less, or a fixed array"})
			}
			result, w.sp[i] = at, uint32(at+a)
		case 1:
			result = uint64(w.sp[i])
		case 2:
			if a < uint64(p.stackAt) || a > uint64(p.local) {
				w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("stackrestore of 0x%x, which no stacksave gave", a), Mend: "restore what stacksave gave in the same thread"})
			}
			w.sp[i] = uint32(a)
			continue
		}
		if in.flags&flagWide != 0 {
			w.u64(in.d)[i] = result
		} else {
			w.u32(in.d)[i] = uint32(result)
		}
	}
}
