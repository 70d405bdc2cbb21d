package ptx

import (
	"strconv"
	"strings"
)

// Module is parsed PTX text.
type Module struct {
	Name      string // shown in errors
	Text      string
	Version   string // "8.0"
	Target    string // "sm_80"
	TargetAt  [2]int // line and column of the target
	Files     map[int]string
	Variables []*Variable
	Functions []*Function
	Aliases   map[string]string // .alias: another name → the function's
}

// Function gives the function of that name that has a body, or nil.
func (m *Module) Function(name string) *Function {
	if other := m.Aliases[name]; other != "" {
		name = other
	}
	for _, f := range m.Functions {
		if f.Name == name && f.HasBody {
			return f
		}
	}
	return nil
}

// Variable is a .global, .const, .shared, .local or .param declaration.
type Variable struct {
	Space    string // "global", "const", "shared", "local", "param"
	Name     string
	Type     string // element type without the dot: "b8", "f32"
	Align    int    // bytes
	Size     int64  // bytes; 0 for an array without a bound (dynamic shared memory)
	Dynamic  bool   // declared [] without a bound
	Extern   bool
	Pointer  bool   // declared .ptr
	Init     []byte // initial bytes, shorter than Size where the rest is zero; nil where there are none
	InitRefs []Reference
	Vector   int   // 2 or 4 for .v2 and .v4; 0 for single elements
	Register int32 // of a .reg parameter: its register in the function; its Space is "reg"
	Line     int

	at            token // its name
	common        bool  // may be declared several times: .common, .weak
	declaredAlign int   // by .align; 0 where there is none
	listDepth     int   // of the braces being read
}

// Reference is an initialiser that holds the address of another variable or of a function.
type Reference struct {
	Offset int64  // in the variable
	Bytes  int    // that it takes
	Name   string // whose address stands there
	Addend int64
	Mask   uint64 // 0xff00(name): these bits of the address, moved down to bit 0; 0: all of it
}

// Function is an .entry (a CUDA kernel) or a .func.
type Function struct {
	Name         string
	Entry        bool
	HasBody      bool
	Line         int
	Params       []*Variable
	Results      []*Variable
	Registers    []Register // those that the body uses
	Variables    []*Variable
	Body         []Instruction
	Labels       []Label // in order of position
	Tables       []Table
	Prototypes   map[string]*Function // .callprototype: Results and Params alone
	MaxCTA       [3]int               // .maxntid
	RequiredCTA  [3]int               // .reqntid
	MinCTAsPerSM int                  // .minnctapersm
	MaxRegisters int                  // .maxnreg
	ClusterCTAs  [3]int               // .reqnctapercluster
	MaxCluster   int                  // .maxclusterrank; 0 where there is none
	Clustered    bool                 // .explicitcluster: can only be launched with clusters
}

// Table is a list of labels that brx.idx jumps to, or of functions that an indirect call may reach.
type Table struct {
	Name    string
	Kind    string // "branchtargets", "calltargets"
	Names   []string
	Targets []int // indexes into the body, of branchtargets
	Line    int
}

// Label is a jump target: the index of the instruction that follows it.
type Label struct {
	Name string
	At   int
	Line int
}

// Register is a virtual register that the body uses.
type Register struct {
	Name string
	Type string // without the dot
}

// Location is a line of the source that PTX was made from, by a .loc directive; File is 0 where there is none.
type Location struct{ File, Line int }

// Instruction is one instruction with its names resolved.
type Instruction struct {
	Line, Col int
	Source    Location
	Guard     int32 // index of the predicate register, -1 where there is none
	GuardNot  bool  // @!p
	NoUnroll  bool  // .pragma "nounroll" stands before it: the loop that begins here is not unrolled
	Opcode    string
	Modifiers []string // without dots
	Spelling  string   // "fma.rn.f32"
	Operands  []Operand
	Text      string // the whole instruction as written, up to the semicolon
}

// Has reports whether the instruction carries a modifier.
func (in *Instruction) Has(modifier string) bool {
	for _, m := range in.Modifiers {
		if m == modifier {
			return true
		}
	}
	return false
}

// OneLine is the instruction's text with its white space folded.
func (in *Instruction) OneLine() string { return strings.Join(strings.Fields(in.Text), " ") }

// OperandKind tells operands apart.
type OperandKind uint8

const (
	OperandRegister  OperandKind = iota // Register
	OperandSpecial                      // Special: %tid.x …
	OperandImmediate                    // Bits, Float
	OperandAddress                      // [base + offset]
	OperandVector                       // { … }: Elements
	OperandList                         // ( … ): Elements, of a call
	OperandSymbol                       // address of Variable
	OperandLabel                        // Target
	OperandFunction                     // Name of a function
	OperandSink                         // _
	OperandTable                        // Target: index into Function.Tables
)

// FloatKind tells what an immediate is.
type FloatKind uint8

const (
	NotFloat FloatKind = iota
	Float32            // 0f…: Bits holds 32 bits
	Float64            // 0d… or a decimal: Bits holds 64
)

// Operand of an instruction.
type Operand struct {
	Kind     OperandKind
	Not      bool  // !p
	Register int32 // OperandRegister, or the base of an OperandAddress; -1: none
	Special  Special
	Float    FloatKind
	Bits     uint64 // OperandImmediate; of an absolute OperandAddress without a base: 0
	Offset   int64  // OperandAddress, OperandSymbol
	Select   string // OperandRegister: the bytes or halves that a video instruction takes, "b0", "h1", "b3210"
	Negative bool   // OperandRegister: -a, a factor of vmad
	Variable *Variable
	Target   int    // OperandLabel: index into the body
	Name     string // as written
	Elements []Operand
	Pair     *Operand // second destination, d|p
	Col      int
	Line     int
}

// Special is a special register.
type Special uint8

// The special registers that a body can read. Those of three components stand in the order x, y, z.
const (
	NoSpecial Special = iota
	TidX
	TidY
	TidZ
	NtidX
	NtidY
	NtidZ
	CtaidX
	CtaidY
	CtaidZ
	NctaidX
	NctaidY
	NctaidZ
	LaneID
	WarpID
	NwarpID
	SMID
	NSMID
	GridID
	LanemaskEq
	LanemaskLt
	LanemaskLe
	LanemaskGt
	LanemaskGe
	Clock
	ClockHi
	Clock64
	GlobalTimer
	GlobalTimerLo
	GlobalTimerHi
	DynamicSharedSize
	TotalSharedSize
	ClusterIDX
	ClusterIDY
	ClusterIDZ
	NclusterIDX
	NclusterIDY
	NclusterIDZ
	ClusterCtaidX
	ClusterCtaidY
	ClusterCtaidZ
	ClusterNctaidX
	ClusterNctaidY
	ClusterNctaidZ
	ClusterCtarank
	ClusterNctarank
	EnvReg  // %envreg0 … %envreg31 read as 0, but for
	EnvReg1 // the upper half of the address of a cooperative launch's workspace
	EnvReg2 // and the lower one
	AggregateSharedSize
	ReservedSharedBegin
	ReservedSharedEnd
	ReservedSharedCap
	ReservedShared0
	ReservedShared1
	IsExplicitCluster // a predicate
	CurrentGraph      // %current_graph_exec reads as 0
	Performance       // %pm0 … %pm7 read as 0
	Performance64     // %pm0_64 … %pm7_64 read as 0
	NumSpecials
)

var specials = map[string]Special{
	"%laneid": LaneID, "%warpid": WarpID, "%nwarpid": NwarpID, "%smid": SMID, "%nsmid": NSMID, "%gridid": GridID,
	"%lanemask_eq": LanemaskEq, "%lanemask_lt": LanemaskLt, "%lanemask_le": LanemaskLe, "%lanemask_gt": LanemaskGt, "%lanemask_ge": LanemaskGe,
	"%clock": Clock, "%clock_hi": ClockHi, "%clock64": Clock64,
	"%globaltimer": GlobalTimer, "%globaltimer_lo": GlobalTimerLo, "%globaltimer_hi": GlobalTimerHi,
	"%dynamic_smem_size": DynamicSharedSize, "%total_smem_size": TotalSharedSize,
	"%aggr_smem_size": AggregateSharedSize, "%reserved_smem_offset_begin": ReservedSharedBegin, "%reserved_smem_offset_end": ReservedSharedEnd,
	"%reserved_smem_offset_cap": ReservedSharedCap, "%reserved_smem_offset_0": ReservedShared0, "%reserved_smem_offset_1": ReservedShared1,
	"%is_explicit_cluster": IsExplicitCluster, "%current_graph_exec": CurrentGraph,
	// Without a component: the vector that mov.v4 reads.
	"%tid": TidX, "%ntid": NtidX, "%ctaid": CtaidX, "%nctaid": NctaidX, "%clusterid": ClusterIDX, "%nclusterid": NclusterIDX,
	"%cluster_ctaid": ClusterCtaidX, "%cluster_nctaid": ClusterNctaidX,
	"%cluster_ctarank": ClusterCtarank, "%cluster_nctarank": ClusterNctarank,
}

func init() {
	for i, c := range []string{".x", ".y", ".z"} {
		for n := range 8 {
			specials["%pm"+strconv.Itoa(n)], specials["%pm"+strconv.Itoa(n)+"_64"] = Performance, Performance64
		}
		for name, s := range map[string]Special{"%tid": TidX, "%ntid": NtidX, "%ctaid": CtaidX, "%nctaid": NctaidX, "%clusterid": ClusterIDX,
			"%nclusterid": NclusterIDX, "%cluster_ctaid": ClusterCtaidX, "%cluster_nctaid": ClusterNctaidX} {
			specials[name+c] = s + Special(i)
		}
	}
}

// Wide reports whether the special register has 64 bits.
func (s Special) Wide() bool {
	return s == Clock64 || s == GlobalTimer || s == GridID || s == CurrentGraph || s == Performance64
}

// Vector reports whether the special register has components x, y and z.
func (s Special) Vector() bool {
	return s >= TidX && s <= NctaidZ || s >= ClusterIDX && s <= ClusterNctaidZ
}

// TypeSize is the size of a PTX type in bytes, 1 for pred and 0 for what is no type.
func TypeSize(t string) int {
	switch t {
	case "pred", "b8", "u8", "s8", "e4m3", "e5m2":
		return 1
	case "b16", "u16", "s16", "f16", "bf16", "e4m3x2", "e5m2x2":
		return 2
	case "b32", "u32", "s32", "f32", "f16x2", "bf16x2", "tf32":
		return 4
	case "b64", "u64", "s64", "f64", "f32x2", "texref", "samplerref", "surfref":
		return 8
	case "b128":
		return 16
	}
	return 0
}
