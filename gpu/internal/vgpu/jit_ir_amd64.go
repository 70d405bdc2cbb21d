package vgpu

// The intermediate form of a straight-line run: values in slices of eight lanes and the operations that make them.

type valueKind uint8

const (
	valueSlot   valueKind = iota // what a register held when the run began
	valueShared                  // a word of each lane in shared memory: read again rather than kept
	valueOp                      // the result of an operation
)

type jitValue struct {
	kind      valueKind
	slot      uint32 // valueSlot: its offset in the register file, with the slice's
	group     int32  // valueShared: the base register
	disp      int32
	broadcast bool  // valueShared: one word for the slice
	op        int32 // valueOp: the operation
	nan       bool  // a NaN in it may have any payload: PTX knows one
}

type jitCode uint8

// Operations; x, y, z are the operands, lane by lane.
const (
	jitFMA     jitCode = iota // x·y + z
	jitAddF                   // x + y
	jitSubF                   // x − y
	jitMulF                   // x·y
	jitMinF                   // PTX min
	jitMaxF                   // PTX max
	jitQuiet                  // x, any NaN the canonical one
	jitCopy                   // x
	jitAdd                    // integer x + y
	jitSub                    // x − y
	jitMulLow                 // x·y
	jitAnd                    // x & y
	jitOr                     // x | y
	jitXor                    // x ^ y
	jitNot                    // ^x
	jitNeg                    // −x
	jitAbs                    // |x|
	jitMinS                   // min, max of signed and unsigned
	jitMaxS                   //
	jitMinU                   //
	jitMaxU                   //
	jitShl                    // x << y, 0 from 32 on
	jitShr                    // x >> y
	jitSar                    // x >> y with sign, y at most 31
	jitShlBy                  // x << imm
	jitShrBy                  // x >> imm
	jitSarBy                  // x >> imm with sign
	jitLow16                  // x & 0xffff
	jitSignF                  // x ^ sign bit
	jitAbsF                   // x without sign bit
	jitPack16                 // x & 0xffff | y << 16
	jitLop3                   // truth table imm of x, y, z
	jitFromS32                // float32(signed x)
	jitFromU32                // float32(unsigned x)
	jitHalf                   // float32(f16 in the lower half of x)
	jitHalves                 // both halves
	jitLoad2                  // two words of each lane, lanes in a row
	jitLoad4                  // four
	jitGather                 // a word of each lane anywhere; imm is the slice
	jitCodes
)

type jitOp struct {
	code  jitCode
	def   []int32
	use   []int32
	group int32 // of loads
	imm   int32
}

// sharedGroup is an address register of loads of shared memory: the lanes' addresses are known but for the first one's.
type sharedGroup struct {
	slot   uint32
	wide   bool // 64-bit register
	fixed  bool // no register: the displacement is the address
	delta  [32]int64
	low    int64 // bytes that the loads touch, from the first lane's address
	high   int64
	aligns []alignment
}

// alignment: the first lane's address + disp is a multiple of size.
type alignment struct{ disp, size int32 }

// jitRun is a straight-line run of a block's code.
type jitRun struct {
	from, to int // instructions of the block's code [from, to)
	unroll   int // slices that are computed side by side: 1, 2 or 4
	values   []jitValue
	ops      []jitOp
	out      []jitOut
	groups   []sharedGroup
	loads    []jitLoad
}

// jitOut is a value that a register holds when the run is over.
type jitOut struct {
	value int32
	slot  uint32
}

// jitLoad is what one execution of a load counts.
type jitLoad struct {
	pattern int32
	counts  sharedCounts
}

func (r *jitRun) add(v jitValue) int32 {
	r.values = append(r.values, v)
	return int32(len(r.values) - 1)
}

// op appends an operation with n results.
func (r *jitRun) op(code jitCode, n int, use ...int32) *jitOp {
	o := jitOp{code: code, use: use, def: make([]int32, n)}
	for i := range o.def {
		o.def[i] = r.add(jitValue{kind: valueOp, op: int32(len(r.ops))})
	}
	r.ops = append(r.ops, o)
	return &r.ops[len(r.ops)-1]
}
