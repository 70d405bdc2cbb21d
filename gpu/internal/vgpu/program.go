package vgpu

import (
	"fmt"
	"sync"
	"unsafe"

	"memwall/gpu/internal/ptx"
	"memwall/gpu/internal/vgpu/cache"
	"memwall/gpu/internal/vgpu/simulate"
	"memwall/gpu/perf"
)

// program is a decoded entry function.
type program struct {
	module  *ptx.Module
	f       *ptx.Function
	inlined bool // calls were expanded
	flow    *flow
	jit     compiledCode
	blocks  []block
	infos   []info // by PTX instruction
	slots   *slots

	fileBytes    int // register file of a warp
	constants    []constant
	specials     []specialSlot
	perCTA       []specialSlot // special registers that change from CTA to CTA
	preds        int
	params       []paramSlot
	paramBytes   int
	shared       int       // static bytes, those reserved included
	reserved     int       // bytes at the start of shared memory that %reserved_smem_offset… describe, 0 where nothing reads them
	dynamicAt    int       // where dynamic shared memory begins
	local        int       // bytes a lane
	stackAt      int       // where in them alloca begins
	viaPointers  bool      // functions are called through pointers
	flight       int       // registers that can hold a wgmma's result in flight
	patterns     int       // memory instructions with an address memo
	chain        uint64    // longest chain of loads whose addresses depend on each other, each taken once
	pointers     []bool    // parameters that are used as addresses
	placed       []placed  // shared variables, and those of the lanes' frames
	threading    sync.Once // of the blocks' threads
	landings     []landing // of the blocks
	jumps        []jump
	text         func() []string // the instructions, one line each
	hintsOnce    sync.Once
	evictions    []cache.Hint // by site
	talk         talk         // by which its CTAs communicate; none where in is nil
	simulateOnce sync.Once
	simulated    *simulate.Program // for the time model
}

// info is what is known of one PTX instruction without running it.
type info struct {
	class  perf.Class
	flop   perf.FLOPType
	flops  int
	warp   bool // flops are a warp's, not a lane's
	guard  bool
	kind   memoryKind
	pseudo bool // made by link: it counts for nothing
	global bool // a global load, whose result takes a round trip
	wait   bool // waits for asynchronous work
}

// memoryKind tells which counters an instruction's accesses go to.
type memoryKind uint8

const (
	noMemory memoryKind = iota
	globalLoad
	globalStore
	globalAtomic
	localLoad
	localStore
	sharedLoad
	sharedStore
	sharedAtomic
	asyncCopy  // a global load and a shared store
	bulkOut    // a global store and a shared load
	bulkReduce // a global atomic and a shared load
)

type constant struct {
	at   uint32
	bits uint64
	wide bool
}

type specialSlot struct {
	special ptx.Special
	at      uint32
}

type paramSlot struct {
	name   string
	offset int
	size   int
}

// block is a basic block: decoded instructions, their masked twins, and how it ends.
type block struct {
	code    []inst
	twins   []inst
	threads blockThreads
	syncs   []syncPoint // instructions at which lanes meet
	end     ending
	ipdom   int32
	cost    int   // fuel
	from    int32 // PTX instructions [from, to)
	to      int32
	chase   uint64 // loads in the block whose address depends on their own earlier value (chains.go)
	number  int32
	heat    uint32         // executions by all lanes, until its runs are compiled
	hot     unsafe.Pointer // *inst: its threaded code for all lanes with compiled runs in it; nil where there are none
}

type endKind uint8

const (
	endFall endKind = iota
	endBranch
	endExit
	endTrap
	endBarrier
	endCluster
	endCall
	endTable     // brx.idx
	endWarpgroup // wgmma.wait_group
)

// ending is what stands at the end of a block.
type ending struct {
	kind   endKind
	guard  int32 // predicate, -1 where there is none
	not    uint32
	target int32
	next   int32
	id     int32 // PTX instruction; -1 where the block just falls through
	// Of a barrier: its number, how many threads it waits for (0: all of the CTA), and whether the warp stays.
	barrier  uint32
	threads  uint32
	aligned  bool
	arrive   bool
	barReg   int32 // slot of the number or count where it is no constant; -1
	countReg int32
	reduce   barrierReduce
	calls    []callTarget // functions that a call may go to
	table    []int32      // targets of brx.idx
}

// barrierReduce is what bar.red does: a predicate over all threads of the barrier.
type barrierReduce struct {
	op   uint8 // 0 none, 1 and, 2 or, 3 popc
	d, p uint32
	not  uint32
}

// decoder turns the instructions of one function into a program.
type decoder struct {
	p       *program
	linked  *linked
	starts  map[int]int32 // basic blocks by their first instruction
	m       *ptx.Module
	f       *ptx.Function
	g       *flow
	s       *slots
	symbols map[*ptx.Variable]uint64
	consts  map[constantKey]uint32
	special map[ptx.Special]uint32
	next    uint32
	in      *ptx.Instruction
	inf     *info
	sm      int      // compute capability of the device, 80
	uses    []uint32 // of each register, in the whole function
	defs    []uint32
	half    []bool  // registers whose only value is a converted half
	flight  []int32 // by register: its number among those that can hold a wgmma's result in flight, -1; nil without wgmma
}

type constantKey struct {
	bits uint64
	wide bool
}

// compile decodes an entry; symbols hold the addresses of module variables in global memory.
func compile(m *ptx.Module, entry *ptx.Function, symbols map[*ptx.Variable]uint64, sm int) (*program, error) {
	l, err := link(m, entry)
	if err != nil {
		return nil, err
	}
	f := l.f
	p := &program{module: m, f: f, inlined: l.inlined, viaPointers: l.pointers}
	d := &decoder{p: p, m: m, f: f, linked: l, symbols: map[*ptx.Variable]uint64{}, consts: map[constantKey]uint32{}, special: map[ptx.Special]uint32{}, sm: sm}
	for v, a := range symbols {
		d.symbols[v] = a
	}
	if err := d.layout(); err != nil {
		return nil, err
	}
	if err := d.checkNames(); err != nil {
		return nil, err
	}
	d.countUses()
	p.findTalk(d.uses)
	d.findHalves()
	d.g = newFlow(f)
	if err := d.g.liveness(m, f); err != nil {
		return nil, err
	}
	p.flow = d.g
	d.flight = findFlight(f)
	d.s = d.g.assign(f, d.flight, l.parts)
	p.slots, p.preds, d.next = d.s, d.s.preds, d.s.bytes
	p.infos = make([]info, len(f.Body))
	p.blocks = make([]block, len(d.g.blocks))
	for k := range d.g.blocks {
		if err := d.block(k); err != nil {
			return nil, err
		}
	}
	p.fileBytes = int(d.next)
	for _, n := range d.flight {
		p.flight = max(p.flight, int(n)+1)
	}
	p.pointers = p.f.PointerParams()
	p.findChains()
	p.text = sync.OnceValue(func() []string {
		list := make([]string, len(f.Body))
		for i := range f.Body {
			list[i] = f.Body[i].OneLine()
		}
		return list
	})
	return p, nil
}

// layout places parameters, shared and local variables.
func (d *decoder) layout() error {
	p := d.p
	for _, v := range d.f.Params {
		p.paramBytes = alignUp(p.paramBytes, max(v.Align, 1))
		p.params = append(p.params, paramSlot{v.Name, p.paramBytes, int(v.Size)})
		d.symbols[v] = uint64(p.paramBytes)
		p.paramBytes += int(v.Size)
	}
	used := map[*ptx.Variable]bool{}
	for i := range d.f.Body {
		if readsReserved(d.f.Body[i].Operands) {
			p.reserved, p.shared = reservedShared, reservedShared
		}
		markVariables(d.f.Body[i].Operands, used)
	}
	var dynamic []*ptx.Variable
	align := 16
	place := func(v *ptx.Variable) error {
		switch v.Space {
		case "shared":
			if v.Dynamic || v.Extern {
				dynamic = append(dynamic, v)
				align = max(align, v.Align)
				return nil
			}
			if v.Size > 1<<20 {
				return &ptx.Error{Name: d.m.Name, Line: v.Line, Col: 1, Message: fmt.Sprintf("variable %s takes %d B of shared memory", v.Name, v.Size), Source: d.m.SourceLine(v.Line)}
			}
			p.shared = alignUp(p.shared, max(v.Align, 1))
			d.symbols[v] = uint64(p.shared)
			p.placed = append(p.placed, placed{v, uint64(p.shared), uint64(v.Size)})
			p.shared += int(v.Size)
		case "local", "param": // of calls
			if v.Size > 512<<10 {
				return &ptx.Error{Name: d.m.Name, Line: v.Line, Col: 1, Message: fmt.Sprintf("variable %s takes %d B of local memory a thread: the limit is 512 KiB", v.Name, v.Size), Source: d.m.SourceLine(v.Line)}
			}
			p.local = alignUp(p.local, max(v.Align, 1))
			d.symbols[v] = uint64(p.local)
			p.placed = append(p.placed, placed{v, uint64(p.local), uint64(v.Size)})
			p.local += int(v.Size)
		}
		return nil
	}
	for _, v := range append(append([]*ptx.Variable(nil), d.f.Variables...), d.m.Variables...) {
		if used[v] && v.Space != "global" && v.Space != "const" {
			if err := place(v); err != nil {
				return err
			}
		}
	}
	p.local = alignUp(p.local, 16)
	p.stackAt = p.local
	for i := range d.f.Body {
		if d.f.Body[i].Opcode == "alloca" || d.f.Body[i].Opcode == "stacksave" {
			p.local = p.stackAt + stackBytes
		}
	}
	p.dynamicAt = alignUp(p.shared, align)
	for _, v := range dynamic {
		d.symbols[v] = uint64(p.dynamicAt)
		p.placed = append(p.placed, placed{v, uint64(p.dynamicAt), 0})
	}
	return nil
}

// reservedShared is what the system takes of a CTA's shared memory from sm_80 on; cooperative groups of several warps keep
// their barriers there, from byte 512 on.
const (
	reservedShared      = 1024
	reservedSharedGroup = 512
)

func readsReserved(list []ptx.Operand) bool {
	for i := range list {
		if s := list[i].Special; list[i].Kind == ptx.OperandSpecial && s >= ptx.ReservedSharedBegin && s <= ptx.ReservedShared1 {
			return true
		}
	}
	return false
}

func markVariables(list []ptx.Operand, used map[*ptx.Variable]bool) {
	for i := range list {
		if v := list[i].Variable; v != nil {
			used[v] = true
		}
		markVariables(list[i].Elements, used)
	}
}

func alignUp(n, align int) int { return (n + align - 1) / align * align }

// checkNames finds the row of every instruction before anything is laid out, so that the first one that is not
// supported is what the error names.
func (d *decoder) checkNames() error {
	t := table()
	for i := range d.f.Body {
		in := &d.f.Body[i]
		if isPseudo(in) {
			continue
		}
		if t.find(canonicalSpelling(in), in.Opcode) == nil {
			return unsupported(d.m, in)
		}
		if in.Opcode == "bra" && (len(in.Operands) != 1 || in.Operands[0].Kind != ptx.OperandLabel) {
			return decodeError(d.m, in, "expected a label")
		}
	}
	return nil
}

// canonicalSpelling is the spelling under which an instruction stands in the table: setp without its combining op, min and
// max of three values with ".three".
func canonicalSpelling(in *ptx.Instruction) string {
	if (in.Opcode == "min" || in.Opcode == "max") && len(in.Operands) == 4 {
		return in.Spelling + ".three"
	}
	if in.Opcode == "setp" && len(in.Modifiers) > 2 {
		switch m := in.Modifiers[1]; m {
		case "and", "or", "xor":
			s := "setp." + in.Modifiers[0]
			for _, x := range in.Modifiers[2:] {
				s += "." + x
			}
			return s
		}
	}
	return in.Spelling
}

// block decodes one basic block.
func (d *decoder) block(k int) error {
	fb := &d.g.blocks[k]
	b := &d.p.blocks[k]
	b.number = int32(k)
	b.from, b.to, b.ipdom = int32(fb.from), int32(fb.to), int32(d.g.ipdom[k])
	b.end = ending{kind: endFall, next: int32(k + 1), id: -1, guard: -1, barReg: -1, countReg: -1}
	for i := fb.from; i < fb.to; i++ {
		in := &d.f.Body[i]
		d.in, d.inf = in, &d.p.infos[i]
		r := table().find(canonicalSpelling(in), in.Opcode)
		*d.inf = info{class: r.class, flop: r.flop, flops: r.flops, guard: in.Guard >= 0, wait: isWait(in), pseudo: isPseudo(in)}
		if endsBlock(in) {
			if err := d.ending(b, in, int32(i)); err != nil {
				return err
			}
			continue
		}
		if in.Opcode == "bar" {
			if err := d.warpBarrier(b, in, int32(i)); err != nil {
				return err
			}
			continue
		}
		x, err := d.decode(in, r)
		if err != nil {
			return err
		}
		if i+1 < fb.to && len(d.flying(in)) == 0 && len(d.flying(&d.f.Body[i+1])) == 0 {
			if fused, ok := d.fuse(x, in, &d.f.Body[i+1]); ok {
				r := table().find(d.f.Body[i+1].Spelling, "cvt")
				d.p.infos[i+1] = info{class: r.class, flop: r.flop, flops: r.flops}
				fused.id = int32(i + 1)
				if !d.pair(b, fused) {
					d.emit(b, fused, in)
				}
				i++
				continue
			}
		}
		if x.fn == nil {
			continue
		}
		if d.exactProduct(in) {
			x.fn = laneFmaHalves
		}
		x.id = int32(i)
		d.emit(b, x, in)
		if looksOften(in) {
			l := look(&x)
			b.code, b.twins = append(b.code, l), append(b.twins, l)
		}
	}
	b.cost = len(b.code) + 1
	return nil
}

// isWait reports whether an instruction waits for asynchronous work: copies, tensor cores, phases of an mbarrier, another
// cluster's CTAs or the launch before. Barriers of the CTA count as barriers.
func isWait(in *ptx.Instruction) bool {
	for _, m := range in.Modifiers {
		switch m {
		case "wait_group", "wait_all", "test_wait", "try_wait":
			return true
		case "wait":
			return in.Opcode == "griddepcontrol" || in.Has("cluster")
		}
	}
	return false
}

// emit appends a decoded instruction and its twin, wrapped where it has a guard.
func (d *decoder) emit(b *block, x inst, in *ptx.Instruction) {
	x = d.watchFlight(x, in)
	twin := x
	if x.flags&flagSelf == 0 {
		twin.d = scratch
	}
	if in.Has("sync") {
		d.meets(b, &x, in)
	}
	if in.Guard >= 0 {
		inner, innerTwin := x, twin
		e := &extra{inner: &inner, twin: &innerTwin, guard: d.s.at[in.Guard], second: -1}
		if in.GuardNot {
			e.not = allLanes
		}
		x = inst{fn: opGuarded, ext: e, id: x.id, flags: flagSelf, pattern: -1}
		twin = x
	}
	b.code = append(b.code, x)
	b.twins = append(b.twins, twin)
}

func (d *decoder) decode(in *ptx.Instruction, r *row) (inst, error) {
	if r.sm > 0 {
		if err := d.least(in, r.sm); err != nil {
			return inst{}, err
		}
	}
	if r.decode != nil {
		return r.decode(d, in, r)
	}
	if r.dst == "pred" {
		return d.comparison(in, r)
	}
	if in.Opcode == "mov" {
		if x, ok, err := d.move(in); ok || err != nil {
			return x, err
		}
	}
	if len(in.Operands) != 1+len(r.src) {
		return inst{}, d.m.ErrorAt(in, fmt.Sprintf("%d operands, expected %d", len(in.Operands), 1+len(r.src)), "operands stand between commas, the result first")
	}
	if in.Opcode == "cvt" && len(r.src) == 1 && (d.wideOperand(&in.Operands[0], r.dst) != isWideType(r.dst) || d.wideOperand(&in.Operands[1], r.src[0]) != isWideType(r.src[0])) {
		return decodeConvert(d, in, r) // registers wider than the types
	}
	x := inst{fn: r.lane, pattern: -1}
	var err error
	if x.d, err = d.destination(&in.Operands[0], r.dst); err != nil {
		return x, err
	}
	if isWideType(r.dst) {
		x.flags |= flagWide
	}
	for k, into := range []*uint32{&x.a, &x.b, &x.c, &x.e}[:len(r.src)] {
		if *into, err = d.source(&in.Operands[k+1], r.src[k]); err != nil {
			return x, err
		}
	}
	return x, nil
}
