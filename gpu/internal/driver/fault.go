package driver

// FaultKind tells what stopped a launch.
type FaultKind string

const (
	OutOfBounds   FaultKind = "out of bounds"
	Misaligned    FaultKind = "misaligned address"
	Trap          FaultKind = "trap"
	Assert        FaultKind = "assertion failed"
	Interrupted   FaultKind = "interrupted"
	Timeout       FaultKind = "time-out"
	Deadlock      FaultKind = "deadlock" // every warp waits: a barrier that not all reach, a lock that is never freed
	Illegal       FaultKind = "illegal instruction"
	OutOfMemory   FaultKind = "out of host memory" // the launch touched more device memory than the host can stand behind
	ReadOnly      FaultKind = "write to read-only memory"
	Uninitialised FaultKind = "incomplete output" // reading what a sampled launch did not write
	Lost          FaultKind = "device lost"       // it does not answer any more, or its memory failed
)

// OtherDevice is the Allocation of an address that is one of another virtual GPU.
const OtherDevice = "the memory of another virtual GPU"

// Fault is why a launch was stopped, and where. Its text is
//
//	virtual GPU: gemm/3_smem_tile.ptx:214: ld.shared.f32 out of bounds
//	CTA (3,0,0) warp 2 lane 17: address 0x1004, CTA has 4096 B
//	from 3_smem_tile.cu:41
type Fault struct {
	Device      string // "virtual GPU", "cuda:0"
	Kind        FaultKind
	Module      string // LoadOptions.Name
	Function    string
	PTXLine     int
	Instruction string // "ld.shared.f32"
	File        string // CUDA C++ source by .loc, "" where unknown
	SourceLine  int
	SourceText  string
	CTA         [3]uint32
	Warp, Lane  int
	Address     uint64
	Space       string // "global", "shared", "local", "const", "param"
	Bytes       int    // width of the access
	Allocation  string // what lies nearest: "8 B past the end of allocation 0x… of 4,096 B"
	Printed     string // by printf before
	Detail      string // anything else worth a line
	Mend        string // how to mend it; "" where the kind says enough
}
