package vgpu

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/cpu"

	"memwall/gpu/internal/vgpu/cache"
)

//go:generate go run ./asmgen/cmd

// Threaded assembly. An op is a frameless TEXT of asm_amd64.s (made by package asmgen) that executes one instruction for
// the 32 lanes of a warp and jumps to the next. Its registers:
//
//	R8   register file of the warp       R9   the instruction
//	R10  predicates                      R11  asmContext of the worker
//
// All others, R14 excepted, are free between ops; there is no frame and SP does not move. An op goes on by
//
//	ADDQ $64, R9; MOVQ (R9), AX; JMP AX
//
// and gives up, before it has changed anything, by leaving (VZEROUPPER; MOVQ R9, 40(SP); RET): then Go executes the
// instruction by its portable function and enters again behind it. The last instruction of an array has no function.
//
// Assembly cannot be preempted. runThreads has a frame, so that each block passes a safe point, and what the caller
// counts as fuel bounds how long a launch goes without a look at its context.

// asmContext is what ops know of the worker and its CTA. Pointers are kept alive by the worker.
type asmContext struct {
	host      uintptr // host address of device address 0
	shared    uintptr
	sharedLen uint64
	memos     uintptr // asmMemo[4*pattern]
	log       uintptr // where the next entry of the trace goes
	logEnd    uintptr
	params    uintptr
	mask      uint64
	guarded   uintptr // guardCounts by instruction
	runs      uintptr // runCounts of compiled runs, by instruction
	fuel      int64   // that jumps from block to block may use up
	selected  uint64  // which of a landing's codes
	counts    uintptr // blockCounts
	rounds    uint64  // that jumps have added
	block     uint64  // where they have come to
	pending   uintptr // where lanes part: code of those that go second
	other     uint64  // and which they are
	after     uintptr // where they join again
	join      int64   // block at which the split of some lanes ends, -1: none
	_         [40]byte
	scratch   [64]uint32
	big       [1024]uint32
}

// asmMemo is one way in which the lanes' addresses lie to each other, with what an access of that kind counts. Global
// accesses have four a site, by the sector of the first lane in its line; shared ones one.
type asmMemo struct {
	delta     [32]uint64 // from lane 0; for shared memory 32 words of 32 bits
	hits      uint64
	kind      uint32
	phase     uint32 // the first lane's address, less whole lines (global; the least of a span) or words (shared)
	min, max  int64  // of the bytes touched, from the first lane's address
	low, high uint64 // addresses that need no look by Go
	lines     uint64
	entries   [36]cache.Entry // of the trace, from the first lane's line
	global    globalCounts
	sharing   sharedCounts
	span      uint32 // global: how far beyond phase the first lane may lie while each lane stays in its sector
	_         [12]byte
}

// Kinds of patterns, in the order in which ops ask for them.
const (
	asmContiguous      = 1
	asmBroadcast       = 2
	asmAny             = 3
	asmSliceBroadcast  = 4 // each eight lanes read one address
	asmSliceContiguous = 5 // each eight lanes read a row
	asmMemoBytes       = 704
	asmMemosPerSite    = 4
	asmLogRoom         = 64 // entries
	asmUntaught        = 16 // accesses in vain after which a site is taught less often
	asmTeachEvery      = 16
	asmNoPhase         = ^uint32(0)
)

// The offsets that asmgen writes into the assembly.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(inst{})-64]
	_ = [1]struct{}{}[unsafe.Offsetof(inst{}.d)-16]
	_ = [1]struct{}{}[unsafe.Offsetof(inst{}.imm)-32]
	_ = [1]struct{}{}[unsafe.Offsetof(inst{}.ext)-40]
	_ = [1]struct{}{}[unsafe.Offsetof(inst{}.pattern)-52]
	_ = [1]struct{}{}[unsafe.Offsetof(inst{}.e)-56]
	_ = [1]struct{}{}[unsafe.Offsetof(extra{}.sources)-24]
	_ = [1]struct{}{}[unsafe.Offsetof(extra{}.second)-72]
	_ = [1]struct{}{}[unsafe.Offsetof(extra{}.guard)-64]
	_ = [1]struct{}{}[unsafe.Offsetof(extra{}.not)-68]
	_ = [1]struct{}{}[unsafe.Sizeof(guardCounts{})-24]
	_ = [1]struct{}{}[unsafe.Offsetof(guardCounts{}.lanes)-16]
	_ = [1]struct{}{}[unsafe.Offsetof(asmContext{}.mask)-56]
	_ = [1]struct{}{}[unsafe.Offsetof(asmContext{}.fuel)-80]
	_ = [1]struct{}{}[unsafe.Offsetof(asmContext{}.block)-112]
	_ = [1]struct{}{}[unsafe.Offsetof(asmContext{}.after)-136]
	_ = [1]struct{}{}[unsafe.Offsetof(jump{}.next)-8]
	_ = [1]struct{}{}[unsafe.Offsetof(jump{}.join)-32]
	_ = [1]struct{}{}[unsafe.Offsetof(jump{}.cost)-40]
	_ = [1]struct{}{}[unsafe.Offsetof(jump{}.ways)-48]
	_ = [1]struct{}{}[unsafe.Offsetof(asmContext{}.join)-144]
	_ = [1]struct{}{}[unsafe.Offsetof(landing{}.counts)-24]
	_ = [1]struct{}{}[unsafe.Offsetof(landing{}.number)-48]
	_ = [1]struct{}{}[unsafe.Offsetof(blockCounts{}.branches)-32]
	_ = [1]struct{}{}[unsafe.Offsetof(asmContext{}.scratch)-192]
	_ = [1]struct{}{}[unsafe.Offsetof(asmContext{}.big)-448]
	_ = [1]struct{}{}[unsafe.Sizeof(asmMemo{})-asmMemoBytes]
	_ = [1]struct{}{}[unsafe.Offsetof(asmMemo{}.low)-288]
	_ = [1]struct{}{}[unsafe.Offsetof(asmMemo{}.entries)-312]
	_ = [1]struct{}{}[unsafe.Offsetof(asmMemo{}.span)-688]
)

func enterThreads(base, code, context, predicates unsafe.Pointer) unsafe.Pointer

// asmAddresses writes the addresses of leaveThreads and of asmOps.
func asmAddresses(to *uintptr)

var asmLeave, asmGuard, asmJump, asmBranch, asmMaskedJump, asmMaskedBranch uintptr

// asmByKey is the index of asmOps.
var asmByKey = func() map[asmKey]*asmOp {
	var addresses [len(asmOps) + 1]uintptr
	asmAddresses(&addresses[0])
	asmLeave = addresses[0]
	index := make(map[asmKey]*asmOp, 2*len(asmOps))
	for i := range asmOps {
		o := &asmOps[i]
		o.address = addresses[i+1]
		for _, fn := range o.twins {
			index[asmKey{codeOf(fn), o.variant}] = o
		}
	}
	asmGuard = index[asmKey{codeOf(opGuarded), 0}].address
	asmMaskedJump, asmMaskedBranch = index[asmKey{codeOf(opMaskedJump), 0}].address, index[asmKey{codeOf(opMaskedBranch), 0}].address
	asmJump, asmBranch = index[asmKey{codeOf(opJump), 0}].address, index[asmKey{codeOf(opBranch), 0}].address
	return index
}()

// threadedAvailable says whether the CPU has all that the assembly uses.
func threadedAvailable() bool { return len(missingFeatures()) == 0 }

// missingFeatures names the CPU features that the assembly needs and this CPU lacks.
func missingFeatures() []string {
	var list []string
	for _, f := range []struct {
		name string
		has  bool
	}{{"AVX2", cpu.X86.HasAVX2}, {"FMA", cpu.X86.HasFMA}, {"F16C", cpu.X86.HasF16C}, {"BMI1", cpu.X86.HasBMI1}, {"BMI2", cpu.X86.HasBMI2}} {
		if !f.has {
			list = append(list, f.name)
		}
	}
	return list
}

// asmFor gives the op of an instruction, or nil.
func asmFor(in *inst) *asmOp {
	v, ok := variantOf(in)
	if !ok {
		return nil
	}
	return asmByKey[asmKey{codeOf(in.fn), v}]
}

func asmAddress(op *asmOp) uintptr {
	if op == nil {
		return asmLeave
	}
	return op.address
}

// threads is the state of a worker that runs threaded assembly.
type threads struct {
	context *asmContext
	memos   []asmMemo
	sites   []asmSite
	keep    []byte
	runs    []runCounts
}

// asmSite tells when a site is taught.
type asmSite struct {
	vain uint32 // patterns learned in a row that did not come again
}

func newThreads(p *program) *threads {
	t := &threads{memos: make([]asmMemo, asmMemosPerSite*max(p.patterns, 1)), sites: make([]asmSite, p.patterns)}
	size := int(unsafe.Sizeof(asmContext{}))
	t.keep = make([]byte, size+64)
	at := alignUp(int(uintptr(unsafe.Pointer(&t.keep[0]))&63), 64) - int(uintptr(unsafe.Pointer(&t.keep[0]))&63)
	t.context = (*asmContext)(unsafe.Pointer(&t.keep[at]))
	t.context.memos = uintptr(unsafe.Pointer(&t.memos[0]))
	return t
}

// begin prepares for a launch: what was learned of allocations is forgotten.
func (t *threads) begin(k *worker) {
	c := t.context
	c.host = uintptr(k.memory) - uintptr(k.base)
	c.params = uintptr(unsafe.Pointer(unsafe.SliceData(k.args)))
	c.guarded = uintptr(unsafe.Pointer(unsafe.SliceData(k.guarded)))
	c.counts = uintptr(unsafe.Pointer(unsafe.SliceData(k.blocks)))
	c.rounds = 0
	t.beginRuns(k)
	for i := range t.memos {
		m := &t.memos[i]
		m.kind, m.hits, m.phase, m.span = 0, 0, asmNoPhase-1, 0
	}
	clear(t.sites)
}

// runThreads executes the code of a block for the lanes of m. It goes on with the blocks behind it as far as the assembly can, and
// gives the one whose ending is to be executed; -1 where the CTA is watched.
func (w *warp) runThreads(b *block, m uint32) int32 {
	k := w.w
	if w.cta.watch != nil || w.cta.check != nil {
		return -1
	}
	at := unsafe.Pointer(unsafe.SliceData(b.threads.full))
	c := k.threads.context
	c.selected = 0
	if m != allLanes {
		at = unsafe.Pointer(unsafe.SliceData(b.threads.masked))
	} else if k.run.lanes == JITLanes {
		if atomic.LoadUint32(&b.heat) < jitHot && w.warm(b) {
			return b.number
		}
		if hot := atomic.LoadPointer(&b.hot); hot != nil {
			at = hot
		}
		c.selected = 8
	}
	top := &w.stack[len(w.stack)-1]
	jumps := k.run.cut == 0 && (m != allLanes || len(w.stack) == 1 && top.join < 0)
	c.join = int64(top.join)
	c.pending, c.after = 0, 0 // after a fault the last ones are still there
	c.block = uint64(b.number)
	c.mask = uint64(m)
	c.shared, c.sharedLen = uintptr(unsafe.Pointer(unsafe.SliceData(w.cta.shared))), uint64(len(w.cta.shared))
	pred := unsafe.Pointer(unsafe.SliceData(w.pred))
	for {
		if k.count && cap(k.trace)-len(k.trace) < asmLogRoom { // an access has up to 32 entries, and they are written by fours
			k.trace = slices.Grow(k.trace, max(len(k.trace)/2, 8*asmLogRoom))
		}
		trace := uintptr(unsafe.Pointer(unsafe.SliceData(k.trace)))
		c.log, c.logEnd = trace+8*uintptr(len(k.trace)), trace+8*uintptr(cap(k.trace))
		fuel := int64(0)
		if jumps {
			fuel = int64(min(k.fuel, mostAhead))
		}
		c.fuel = fuel
		at = enterThreads(w.base, at, unsafe.Pointer(c), pred)
		k.trace = k.trace[:(c.log-trace)/8]
		if jumps {
			k.fuel -= int(fuel - c.fuel)
			w.rounds += c.rounds
			c.rounds = 0
			top.block, w.mask = int32(c.block), uint32(c.mask)
		}
		in := (*inst)(at)
		if in.fn == nil {
			return int32(c.block)
		}
		if in.pattern >= 0 && in.code != asmLeave {
			if k.count && cap(k.trace)-len(k.trace) < asmLogRoom { // that may be all it lacks
				continue
			}
			w.teach(in)
		} else {
			in.fn(w, in)
		}
		if in.code == asmGuard { // what it guards has been executed, and stands behind it
			at = unsafe.Add(at, unsafe.Sizeof(inst{}))
		}
		at = unsafe.Add(at, unsafe.Sizeof(inst{}))
	}
}

// teach executes an access whose pattern the assembly does not know, and puts down what it counted and left in the trace.
func (w *warp) teach(in *inst) {
	k := w.w
	t, s := k.threads, &k.sites[in.pattern]
	global, local, shared, n := s.global, s.local, s.shared, len(k.trace)
	a := *w.addresses(in) // a load may overwrite its address
	in.fn(w, in)
	site := &t.sites[in.pattern]
	if site.vain >= asmUntaught {
		if site.vain++; site.vain%asmTeachEvery != 0 {
			return
		}
	}
	if s.local != local || (s.global != global || len(k.trace) > n) && s.shared != shared {
		return // of a generic access, more than one space
	}
	isShared := in.isShared(k.p)
	m := &t.memos[asmMemosPerSite*int(in.pattern)]
	if !isShared {
		m = &t.memos[asmMemosPerSite*int(in.pattern)+int(a[0]>>5&3)]
	}
	if m.hits < 2 {
		site.vain++
	} else {
		site.vain = 0
	}
	moreGlobal, moreShared := s.global.less(&global), s.shared.less(&shared)
	k.settleMemo(in.pattern, m)
	if isShared {
		m.learnShared(in, &a, uint64(len(w.cta.shared)))
		m.sharing = moreShared
		return
	}
	if !m.learnGlobal(in, &a, s) {
		m.kind, m.phase, m.span = 0, asmNoPhase-1, 0
		return
	}
	m.global = moreGlobal
	base := a[0] >> 7 << cache.LineShift
	m.lines = uint64(copy(m.entries[:32], k.trace[n:]))
	for i := range m.entries[:m.lines] {
		m.entries[i] -= cache.Entry(base)
	}
}

// forget makes the assembly ask Go again at a site: its window is about to move, and its pages may then go.
func (t *threads) forget(pattern int32) {
	for i := range asmMemosPerSite {
		m := &t.memos[asmMemosPerSite*int(pattern)+i]
		m.low, m.high = 1, 0
	}
}

// isShared reports whether an access goes to shared memory.
func (in *inst) isShared(p *program) bool {
	switch p.infos[in.id].kind {
	case sharedLoad, sharedStore, sharedAtomic:
		return true
	}
	return false
}

// accessSize gives the bytes that a lane reads or writes, and how many lanes do: of ldmatrix those that name a row.
func (in *inst) accessSize() (size uint64, lanes int) {
	if codeOf(in.fn) == codeOf(opLoadMatrix) {
		return 16, 8 * int(in.n)
	}
	return uint64(in.size) * uint64(in.n), warpSize
}

// learnShared puts down a pattern of offsets in shared memory of n bytes.
func (m *asmMemo) learnShared(in *inst, a *[32]uint64, n uint64) {
	size, lanes := in.accessSize()
	delta := (*[32]uint32)(unsafe.Pointer(&m.delta))
	low, high := a[0], a[0]
	for i := range a {
		delta[i] = uint32(a[i] - a[0])
		if i < lanes {
			low, high = min(low, a[i]), max(high, a[i])
		}
	}
	m.min, m.max = int64(low-a[0]), int64(high+size-a[0])
	m.low, m.high = 0, n
	m.phase = uint32(a[0] & max(size-1, 3))
	m.kind = patternKind(a, size)
}

// learnGlobal puts down a pattern of device addresses; it reports whether all lie in the window that the site knows.
func (m *asmMemo) learnGlobal(in *inst, a *[32]uint64, s *site) bool {
	size := uint64(in.size) * uint64(in.n)
	low, high := a[0], a[0]
	down, up := uint64(sectorBytes), uint64(sectorBytes) // how far the lanes may move
	for i := range a {
		m.delta[i] = a[i] - a[0]
		low, high = min(low, a[i]), max(high, a[i])
		down, up = min(down, a[i]&(sectorBytes-1)), min(up, sectorBytes-(a[i]+size-1)&(sectorBytes-1)-1)
	}
	if low < s.low || high+size > s.high || high+size-low > 1<<30 {
		return false
	}
	m.min, m.max = int64(low-a[0]), int64(high+size-a[0])
	m.low, m.high = s.low, s.high
	m.phase, m.span = uint32(a[0]&127-down), uint32(down+up)
	m.kind = patternKind(a, size)
	return true
}

func patternKind(a *[32]uint64, size uint64) uint32 {
	same, row, sliceSame, sliceRow := true, true, true, true
	for i := range a {
		slice := a[i&^7]
		same = same && a[i] == a[0]
		row = row && a[i] == a[0]+uint64(i)*size
		sliceSame = sliceSame && a[i] == slice
		sliceRow = sliceRow && a[i] == slice+uint64(i&7)*size
	}
	switch {
	case row:
		return asmContiguous
	case same:
		return asmBroadcast
	case sliceSame:
		return asmSliceBroadcast
	case sliceRow:
		return asmSliceContiguous
	}
	return asmAny
}

func (g globalCounts) less(o *globalCounts) globalCounts {
	return globalCounts{g.requests - o.requests, g.lanes - o.lanes, g.bytes - o.bytes, g.sectors - o.sectors, g.ideal - o.ideal, g.lines - o.lines}
}

func (s sharedCounts) less(o *sharedCounts) sharedCounts {
	return sharedCounts{s.requests - o.requests, s.lanes - o.lanes, s.bytes - o.bytes, s.waves - o.waves, s.ideal - o.ideal}
}

// settleMemo adds to the site what its memo's hits have counted.
func (k *worker) settleMemo(pattern int32, m *asmMemo) {
	h := m.hits
	if h == 0 {
		return
	}
	m.hits = 0
	g, d := &k.sites[pattern].global, &m.global
	g.requests += h * d.requests
	g.lanes += h * d.lanes
	g.bytes += h * d.bytes
	g.sectors += h * d.sectors
	g.ideal += h * d.ideal
	g.lines += h * d.lines
	s, e := &k.sites[pattern].shared, &m.sharing
	s.requests += h * e.requests
	s.lanes += h * e.lanes
	s.bytes += h * e.bytes
	s.waves += h * e.waves
	s.ideal += h * e.ideal
}

// settleThreads adds up at the end of a launch.
func (k *worker) settleThreads() {
	if k.threads == nil {
		return
	}
	for i := range k.threads.memos {
		k.settleMemo(int32(i/asmMemosPerSite), &k.threads.memos[i])
	}
	k.settleRuns()
}
