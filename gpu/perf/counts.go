package perf

// Class groups PTX instructions by the pipe that would execute them.
type Class uint8

const (
	ClassFP32    Class = iota // add, sub, mul, fma, min, max .f32
	ClassFP16                 // .f16, .bf16 and their packed forms
	ClassFP64                 // .f64
	ClassInteger              // add, mad, mul, logic, shifts, setp, selp, lop3, prmt …
	ClassSFU                  // ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh .approx
	ClassConvert              // cvt between widths and kinds
	ClassMove                 // mov, cvta, ld.param
	ClassTensor               // mma, wmma, wgmma
	ClassGlobal               // ld, st, atom, red on global memory (generic addresses that point there too)
	ClassShared               // ld, st, atom, ldmatrix on shared memory
	ClassLocal                // ld, st on local memory
	ClassAsync                // cp.async and its groups
	ClassWarp                 // shfl, vote, match, redux, activemask
	ClassBarrier              // bar, barrier, membar, fence
	ClassControl              // bra, call, ret, exit, trap
	NumClasses
)

// FLOPType tells floating-point operations apart by type and pipe. An FMA counts two, an mma 2·M·N·K.
type FLOPType uint8

const (
	FLOPF32    FLOPType = iota // scalar f32
	FLOPF16                    // scalar and packed f16, bf16
	FLOPF64                    // scalar f64
	FLOPTensor                 // mma, wmma, wgmma: two a product of any type, a sparse one's left-out zeros counted too
	FLOPSFU                    // one a transcendental
	NumFLOPTypes
)

// Access counts warp-level accesses to one memory space in one direction. Sectors are 32 B, lines 128 B.
// IdealSectors is ⌈active lanes × width / 32⌉ summed over requests (facts: Nsight's "ideal").
type Access struct {
	Requests, Lanes, Bytes, Sectors, IdealSectors, Lines uint64
}

// SharedAccess counts shared-memory accesses. Wavefronts beyond IdealWavefronts are bank conflicts.
type SharedAccess struct {
	Requests, Lanes, Bytes, Wavefronts, IdealWavefronts uint64
}

// Contention tells how the lanes of atomic requests share addresses. A request is served in as many passes as lanes have its
// most wanted address, one where all differ.
type Contention struct {
	Requests  uint64
	Addresses uint64 // distinct addresses of each request, summed
	Passes    uint64 // lanes at each request's most wanted address, summed
}

// Hottest is what atomics on global memory wanted most: the requests of warps to one line of 128 bytes and the lanes' updates of
// it, which L2 serves one after another, and the most compare-and-swaps of one address, each of which waits for the one before.
type Hottest struct {
	Packets, Updates uint64
	Compares         uint64
	Shared           bool // several CTAs updated the line
}

// CacheCounts is what replaying the accesses through the L1 of each SM and one sectored L2 gave, in 32-byte sectors.
// Everything but the Distinct fields depends on the cache model.
type CacheCounts struct {
	L1Lookups, L1Hits                 uint64
	L2Lookups, L2Hits                 uint64 // reads and writes that reached L2
	DRAMReadSectors, DRAMWriteSectors uint64
	DistinctRead, DistinctWritten     uint64 // distinct sectors touched: the least that any cache could move
}

// Counts is everything that one launch did, exact on the virtual GPU. All fields are sums over all CTAs, so that
// two Counts add up field by field, but for those that are a most.
type Counts struct {
	CTAs, Warps                           uint64
	WarpInstructions                      uint64             // issued once a warp
	ThreadInstructions                    uint64             // lanes that were active and not predicated off
	Instructions                          [NumClasses]uint64 // warp instructions by class
	FLOPs                                 [NumFLOPTypes]uint64
	GlobalLoad, GlobalStore, GlobalAtomic Access
	LocalLoad, LocalStore                 Access
	SharedLoad, SharedStore, SharedAtomic SharedAccess
	GlobalContention, SharedContention    Contention
	Hottest                               Hottest
	Barriers                              uint64 // warps arriving at bar.sync and the like
	Waits                                 uint64 // waits for asynchronous work that a warp executed: cp.async.wait_group, mbarrier.try_wait, wgmma.wait_group and the like
	Branches                              uint64 // conditional branches executed by a warp
	DivergentBranches                     uint64 // of these, those where the lanes of the warp parted
	LoadRounds                            uint64 // longest chain of dependent global loads over all warps
	Cache                                 CacheCounts
}

// LineCounts is what one PTX instruction did, summed over the launch.
type LineCounts struct {
	PTXLine                              int
	SourceLine                           int    // of File, by the .loc directive; 0 where there is none
	File                                 string // name of the CUDA C++ source, "" where there is none
	Text                                 string // the PTX instruction
	Class                                Class
	WarpInstructions, ThreadInstructions uint64
	FLOPs                                [NumFLOPTypes]uint64
	Global, Local                        Access
	Shared                               SharedAccess
	Contention                           Contention // of an atomic
	Branches, DivergentBranches          uint64     // of a conditional branch
}
