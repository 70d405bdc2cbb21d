// Package driver is the seam between the public API in package gpu and the devices that execute launches: an NVIDIA GPU
// (gpu/internal/cuda) and the virtual GPU (gpu/internal/vgpu). Both get identical PTX and identical packed arguments;
// one conformance suite runs on every device that is present.
package driver

import (
	"context"
	"time"

	"memwall/gpu/perf"
)

// Address is a device address, as a CUDA kernel sees it.
type Address uint64

// Dim3 is an extent in x, y, z; every component is at least 1 when it reaches a device.
type Dim3 struct{ X, Y, Z uint32 }

// Count is X·Y·Z.
func (d Dim3) Count() uint64 { return uint64(d.X) * uint64(d.Y) * uint64(d.Z) }

// Array is the extent as an array.
func (d Dim3) Array() [3]uint32 { return [3]uint32{d.X, d.Y, d.Z} }

// Device is one GPU. Its methods are safe for use by several goroutines.
type Device interface {
	// Properties are those of the device or, for a virtual one, of the profile that it stands for.
	Properties() Properties
	// Profile holds the roofs, caches and limits that cards and the time model use.
	Profile() *perf.Profile
	// Capability says whether an optional operation works: an empty string, or the reason why not.
	Capability(Capability) string

	// Alloc returns device memory, 256-byte aligned, zero-filled on the virtual device and undefined on a real one.
	Alloc(bytes int64) (Address, error)
	// Free gives an allocation back; the address must be one that Alloc returned.
	Free(Address) error
	// MemoryInfo is the free and the total memory in bytes.
	MemoryInfo() (free, total int64)
	CopyIn(dst Address, src []byte, s Stream) error
	CopyOut(dst []byte, src Address, s Stream) error
	Copy(dst, src Address, bytes int64, s Stream) error
	// Fill writes count copies of the pattern (1, 2, 4 or 8 bytes).
	Fill(dst Address, pattern []byte, count int64, s Stream) error

	// LoadPTX parses, checks and prepares a module; anything unsupported is an error that names PTX line and instruction.
	LoadPTX(text string, o LoadOptions) (Module, error)

	// Launch runs a function. With l.Wait it returns when the launch is over, with its result; otherwise the launch is
	// queued on l.Stream and the result is nil. Cancelling ctx stops a running launch within a second. A sanitized launch
	// that is stopped gives its findings beside the error.
	Launch(ctx context.Context, l *Launch) (*Result, error)
	// LaunchGraph runs an instantiated graph on a stream.
	LaunchGraph(ctx context.Context, g Graph, s Stream) error

	NewStream() (Stream, error)
	NewEvent() (Event, error)
	// BeginCapture records what is queued on s into a graph until EndCapture; the virtual device may answer "not yet".
	BeginCapture(s Stream) error
	EndCapture(s Stream) (Graph, error)
	// Synchronize waits for everything queued on all streams.
	Synchronize(ctx context.Context) error
	// Close frees everything; later calls fail.
	Close() error
}

// Proceduraler is a device that can hold memory whose contents are made when they are looked at.
type Proceduraler interface {
	// AllocProcedural is Alloc with read-only contents: fill writes the bytes from an offset on, a multiple of 64 KiB, the
	// same ones each time; it is called by several goroutines, during a launch too.
	AllocProcedural(bytes int64, fill func(offset int64, dst []byte)) (Address, error)
}

// ZeroFiller is a device whose fresh memory is zero.
type ZeroFiller interface {
	// ZeroFilled says that the zeros of a fresh allocation are meant: reading them is no use of uninitialised memory.
	ZeroFilled(Address) error
}

// HostMemory is a device that knows what the host has left.
type HostMemory interface {
	// HostMemory says why the host cannot take so many bytes more, or nil.
	HostMemory(bytes int64) error
}

// Texture is linear memory that CUDA kernels fetch from by element, as tex1Dfetch does: an index outside reads as zeros.
type Texture struct {
	Base       Address // a multiple of 256 B
	Bytes      int64
	Format     string // of a channel: u8, s8, u16, s16, u32, s32, f16, f32
	Channels   int    // 1, 2 or 4
	Normalized bool   // 8-bit and 16-bit integers read as f32 in [0, 1] or [−1, 1]
}

// Texturer is a device that has texture objects.
type Texturer interface {
	// NewTexture gives the number that a kernel takes as its cudaTextureObject_t.
	NewTexture(Texture) (uint64, error)
	// FreeTexture forgets it; the memory stays.
	FreeTexture(uint64) error
}

// Capability names an optional operation.
type Capability string

const (
	Clusters    Capability = "clusters"
	Cooperative Capability = "cooperative launch"
	Graphs      Capability = "graphs"
	LargeShared Capability = "more than 48 KiB shared memory a CTA"
	Sampling    Capability = "sampling" // executing every k-th CTA
	Counting    Capability = "exact counters"
	Sanitizer   Capability = "sanitizer"
)

// Properties of a device, named as the CUDA driver's attributes.
type Properties struct {
	Name              string // "virtual:h200", "cuda:0"
	Model             string // "H200 SXM"
	Virtual           bool
	ComputeMajor      int
	ComputeMinor      int
	SMs               int
	WarpSize          int
	MaxThreadsPerCTA  int
	MaxCTADim         Dim3
	MaxGridDim        Dim3
	SharedPerCTA      int // bytes without opting in (48 KiB)
	SharedPerCTAOptin int
	SharedPerSM       int
	RegistersPerSM    int
	L2Bytes           int
	ClockHz           float64
	MemoryBytes       int64
}

// LoadOptions go with PTX text.
type LoadOptions struct {
	Name string // shown in errors: "gemv/1_naive.ptx", "cell 7"
	// Facts are registers, spills and shared bytes by function, read from a cubin of this device's architecture;
	// where a function is missing its registers are estimated by liveness and marked so.
	Facts map[string]FunctionFacts
	// Sources maps the file names of .file directives to text, for fault messages.
	Sources map[string]string
}

// FunctionFacts is what the assembler decided for one function on one architecture.
type FunctionFacts struct {
	Registers   int
	SharedBytes int // static
	LocalBytes  int // stack a thread
	SpillBytes  int
	Source      string // "cubin sm_90, NVRTC 12.9.86"
}

// Module is loaded PTX.
type Module interface {
	Function(name string) (Function, error) // the error lists the names that there are
	Functions() []string
	Global(name string) (Address, int64, error)
	Unload() error
}

// Variables is implemented by modules whose device can leave a variable incomplete.
type Variables interface {
	Variables() []string // the names that Global knows, sorted
}

// Function is an entry point of a module.
type Function interface {
	Name() string
	Params() []Param
	Attributes() Attributes
	// SetMaxDynamicShared opts in to more than 48 KiB of dynamic shared memory.
	SetMaxDynamicShared(bytes int) error
}

// Param is one .param of an entry.
type Param struct {
	Name    string
	Type    string // PTX type without the dot: "u64", "f32", "b8"
	Offset  int    // in the packed argument buffer
	Size    int    // bytes
	Align   int
	Pointer bool // declared .ptr, or a 64-bit parameter used as an address
}

// Attributes of a function.
type Attributes struct {
	FunctionFacts
	Estimated        bool // Registers is an estimate by liveness
	RegistersLow     int  // with RegistersHigh: the range of an estimate
	RegistersHigh    int
	MaxThreadsPerCTA int
	RequiredCTA      Dim3 // .reqntid; zero where there is none
	MinCTAsPerSM     int  // .minnctapersm
	Target           string
}

// Launch is one launch, arguments packed as the entry's parameters lie.
type Launch struct {
	Function    Function
	Grid, CTA   Dim3
	Cluster     Dim3 // zero: none
	Shared      int  // dynamic bytes
	Cooperative bool
	Stream      Stream // nil: the default stream
	Args        []byte
	Wait        bool
	Count       bool    // keep counters, caches and lines (virtual)
	Warm        bool    // keep the L2 of the launch before
	Simulate    bool    // predict the time by simulating an SM (virtual; needs Count)
	Probe       bool    // run only as many CTAs as a prediction needs, cut short: memory is left incomplete (virtual; implies Simulate)
	Sample      int     // execute every k-th CTA; 0 and 1 mean all
	LeastBytes  float64 // of DRAM traffic of the whole grid, where it is known: of a sample it tells how much CTAs share
	// SampleTime chooses Sample, a power of two, so that the launch takes about so long on this host; 0: Sample holds.
	SampleTime time.Duration
	// Repeat is how many timed samples are taken at least, until they agree; 0 and 1 mean one. What the launch wrote more than once is
	// written once in the end, so that it need not be idempotent. (a real GPU, or a driver before the virtual one; needs Wait)
	Repeat   int
	Sanitize bool     // look for races, accesses out of bounds and the like; go on where that is safe (virtual)
	Tensors  []Extent // tensors and buffers among the arguments, for Sanitize
}

// Result of a launch that was waited for.
type Result struct {
	Counts    perf.Counts       // of the CTAs that were executed; not scaled
	Lines     []perf.LineCounts // by PTX line
	Executed  uint64            // CTAs executed
	Sampled   int               // 1, or every k-th CTA
	Touched   []Touched         // allocations and variables that the launch accessed, sorted by Base; nil where the device cannot tell
	Cold      bool              // the L2 was cold at the start
	Simulated *perf.Simulation  // of the whole grid; nil where it was not asked for
	Samples   []time.Duration   // measured durations; empty on the virtual device
	Batch     int               // launches in a graph whose time a sample is, divided by them; 0 and 1: each was timed by itself
	Clocks    string            // of a real GPU after the samples: "SM 1980 MHz, …", with what holds them down; "" where unknown
	Modelled  bool              // a driver that the virtual GPU answers: the time is the model's
	Host      time.Duration     // host time that the launch took, the simulation's on a virtual device
	Printed   string            // by printf in device code, CTA after CTA in the order of the grid
	Findings  []Finding         // of a sanitized launch, in the order in which they were first seen
	Unwatched string            // of a sanitized launch: what was not checked, and why; "" where all was
	Remarks   string            // of a sanitized launch: what is worth knowing and not wrong
}

// Touched says what a launch did to one allocation or variable of a module; an atomic reads and writes.
type Touched struct {
	Base          Address // as Alloc or Global returned it
	Bytes         int64
	Read, Written bool
}

// Stream is a queue of work; nil stands for the default stream.
type Stream interface {
	Synchronize(ctx context.Context) error
	Record(Event) error
	Wait(Event) error
	Destroy() error
}

// Event is a mark in a stream.
type Event interface {
	Done() bool
	// Since is the time from another event to this one, and its tag.
	Since(Event) (perf.Figure, error)
	Destroy() error
}

// Graph is instantiated work.
type Graph interface {
	Nodes() int
	Destroy() error
}
