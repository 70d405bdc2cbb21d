package vgpu

import "unsafe"

const (
	warpSize = 32
	unit     = 4 * warpSize // bytes of a slot that holds one 32-bit value a lane
	allLanes = ^uint32(0)
	scratch  = 0 // offset of the slot that masked twins write to; 2 units
)

// opFunc executes one decoded instruction for a warp.
type opFunc func(w *warp, in *inst)

// inst is a decoded instruction, 64 bytes, its first word the address of its assembly, its second the portable op. Operands are byte offsets of slots in the register
// file, or predicate indexes.
type inst struct {
	code       uintptr // address of the op's assembly, 0 where there is none
	fn         opFunc
	d, a, b, c uint32
	imm        uint64
	ext        *extra
	id         int32 // index of the PTX instruction in the program
	pattern    int32 // index of its address memo in the worker; -1 where there is none
	e          uint32
	size       uint8 // bytes an element
	n          uint8 // elements of a vector
	flags      uint16
}

const (
	flagSelf    uint16 = 1 << iota // looks at the mask itself: needs no masked twin
	flagWide                       // 64-bit destination or data
	flagWide64                     // 64-bit address register
	flagSigned                     // sign-extending load
	flagFixed                      // the address has no register: imm alone
	flagBypass                     // load that does not allocate in L1
	flagTrans                      // ldmatrix .trans
	flagGeneric                    // address space known only at run time
	flagStore
	flagAtomic
	flagShared // cp.async, atom: in shared memory
	flagLocal
	flagLow  // a fused conversion of the lower half of a register
	flagHigh // of the upper half
)

// extra holds what few instructions need.
type extra struct {
	regs               []uint32 // vector destinations, or data of a store
	sources            []uint32 // fragments of an mma, parts of a pack
	inner              *inst    // of a guarded instruction
	twin               *inst    // its masked twin
	guard              uint32   // predicate
	not                uint32   // all ones for @!p
	second             int32    // second predicate destination, -1 where there is none
	combine            int8     // setp: 0 none, 1 and, 2 or, 3 xor
	third              uint32   // predicate that setp combines with
	notC               uint32
	scalar             func(a, b, c uint64) uint64
	mma                *mmaShape
	wmma               *wmmaMove
	parts              []inst // of a wmma.mma
	wgmma              *wgmmaOp
	bulk               *bulkOp
	edit               *mapEdit
	flying             []int32 // registers that can be in flight (wgmma_flight.go)
	atomic             *atomicExtra
	results, arguments []passed // of a system call
}

// warp is 32 lanes with their registers.
type warp struct {
	base     unsafe.Pointer // register file
	pred     []uint32
	mask     uint32 // active lanes
	live     uint32 // lanes that have not exited
	id       int
	state    warpState
	eager    bool // lanes have had to go ahead of those that their paths join
	spun     bool // its last turn ended with looks whether something has changed
	spinning bool // and so did the one before
	turns    int  // slices of fuel since others had their turn
	stack    []split
	sp       []uint32 // lanes' stack pointers; nil where nothing allocates
	arrived  uint32   // lanes that have arrived at the cluster's barrier in this phase
	entered  uint32   // and those that have not waited since
	looks    looks
	async    asyncState
	groups   warpgroupState
	jobs     uint64 // wgmma issued so far
	rounds   uint64 // dependent global loads so far
	probed   uint64 // instructions of a probe, which stops a warp after so many
	spent    uint64 // instructions and waits of its turns so far: its clock
	executed uint64 // instructions of its turns so far
	w        *worker
	cta      *cta      // whose shared memory it accesses: for a moment another one's of its cluster
	home     *ctaCheck // of the sanitizer, that of its own CTA
	local    []byte    // local memory of its lanes, lane after lane
}

func (w *warp) u32(at uint32) *[32]uint32  { return (*[32]uint32)(unsafe.Add(w.base, at)) }
func (w *warp) s32(at uint32) *[32]int32   { return (*[32]int32)(unsafe.Add(w.base, at)) }
func (w *warp) f32(at uint32) *[32]float32 { return (*[32]float32)(unsafe.Add(w.base, at)) }
func (w *warp) u64(at uint32) *[32]uint64  { return (*[32]uint64)(unsafe.Add(w.base, at)) }
func (w *warp) s64(at uint32) *[32]int64   { return (*[32]int64)(unsafe.Add(w.base, at)) }
func (w *warp) f64(at uint32) *[32]float64 { return (*[32]float64)(unsafe.Add(w.base, at)) }

// setPredicate stores the result of a comparison in the active lanes, combined as setp asks, and its complement in the
// second destination.
func (w *warp) setPredicate(in *inst, r uint32) {
	m := w.mask
	if x := in.ext; x != nil {
		other := ^r
		if x.combine != 0 {
			c := w.pred[x.third] ^ x.notC
			switch x.combine {
			case 1:
				r, other = r&c, other&c
			case 2:
				r, other = r|c, other|c
			case 3:
				r, other = r^c, other^c
			}
		}
		if x.second >= 0 {
			w.pred[x.second] = w.pred[x.second]&^m | other&m
		}
	}
	w.pred[in.d] = w.pred[in.d]&^m | r&m
}

// masked executes an instruction that writes every lane of its destination through its twin, which writes to the
// scratch slot, and takes over the active lanes.
func (w *warp) masked(in, twin *inst) {
	twin.fn(w, twin)
	m := w.mask
	if in.flags&flagWide != 0 {
		s, d := w.u64(scratch), w.u64(in.d)
		for i := range d {
			if m>>(uint(i)&31)&1 != 0 {
				d[i] = s[i]
			}
		}
		return
	}
	s, d := w.u32(scratch), w.u32(in.d)
	for i := range d {
		if m>>(uint(i)&31)&1 != 0 {
			d[i] = s[i]
		}
	}
}

// opGuarded executes @p instruction: the lanes whose predicate is set.
func opGuarded(w *warp, in *inst) {
	x := in.ext
	old := w.mask
	m := old & (w.pred[x.guard] ^ x.not)
	g := &w.w.guarded[in.id]
	g.warps++
	if m == 0 {
		return
	}
	g.lanes += uint64(popcount(m))
	g.active++
	w.mask = m
	if m == allLanes || x.inner.flags&flagSelf != 0 {
		x.inner.fn(w, x.inner)
	} else {
		w.masked(x.inner, x.twin)
	}
	w.mask = old
}

// syncKind tells apart the synchronising instructions at which lanes cannot meet each other.
func (in *inst) syncKind() uintptr { return **(**uintptr)(unsafe.Pointer(&in.fn)) }
