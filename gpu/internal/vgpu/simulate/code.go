package simulate

import (
	"strconv"
	"strings"

	"memwall/gpu/internal/ptx"
)

// class is the part of an SM that executes a machine instruction.
type class uint8

const (
	free         class = iota // nothing in machine code: moves, conversions of addresses, ld.param
	fp32                      // add, mul, fma
	imad                      // integer multiply-add, on the FP32 pipe at half its rate
	alu                       // integer, logic, comparisons, min, max, selects
	mufu                      // special functions, float↔integer conversions, popc, reads of special registers
	fp64                      // double precision
	half                      // f16, bf16 and conversions to them
	tensor                    // mma, wmma
	asyncTensor               // wgmma.mma_async: the warp goes on
	loadShared                // ld.shared, ldmatrix
	storeShared               // st.shared, stmatrix
	atomicShared              // atom.shared, red.shared
	loadGlobal                // ld.global, ld.local, ld of a generic address
	storeGlobal               // st.global, st.local
	atomicGlobal              // atom, red
	copyAsync                 // cp.async
	bulkCopy                  // cp.async.bulk: one thread starts a copy of a tile
	loadConstant              // ld.const
	shuffle                   // shfl, vote, match, redux
	barrier                   // bar, barrier
	branch                    // bra, ret, exit
	misc                      // fences, waits, clocks
	mbarrier                  // mbarrier.arrive, try_wait
	numClasses
)

// classNames are what the classes are called in breakdowns.
var classNames = [numClasses]string{"free", "FP32", "IMAD", "ALU", "MUFU", "FP64", "half", "tensor", "wgmma", "ld.shared", "st.shared", "atom.shared",
	"ld.global", "st.global", "atom.global", "cp.async", "bulk copy", "ld.const", "shuffle", "barrier", "branch", "misc", "mbarrier"}

func (c class) String() string { return classNames[c] }

// operand is a source as value numbering sees it: a register, or a constant with the symbol that it is relative to.
type operand struct {
	register int32 // −1: a constant
	symbol   uint64
	value    int64
}

// arithmetic tells what value numbering can compute with.
type arithmetic uint8

const (
	opaque   arithmetic = iota // equal only to the same instruction with the same operands
	same                       // mov
	widened                    // cvt between integers, cvta: linear in its operand
	sum                        // add
	shifted                    // shl by a constant
	product                    // mul by a constant
	multiply                   // mad by a constant
)

// instruction is what simulation needs of one PTX instruction.
type instruction struct {
	class     class
	weight    float32 // issue slots
	latency   float32 // cycles; 0: of its class
	macs      float32 // multiply-adds of a warp's mma in f16 terms, or cycles of a wgmma
	dst, src  []int32
	guard     int32
	address   int32 // base register of a memory operand, −1 where there is none
	memory    bool  // leaves an access in the trace
	bytes     int   // a lane
	pure      bool  // value numbering may fold it
	kind      arithmetic
	spelling  uint64 // hash
	args      []operand
	packed    bool // a conversion to one half: two become one packed one
	bypass    bool // does not look into L1
	local     bool // a store to local memory, which L1 keeps
	cas       bool
	increment bool // adds one: lanes on the same address go together
	wait      int  // of a wait for asynchronous groups: how many may stay open; −1: it is no wait
	opcode    string
	index     int // of the PTX instruction
	bits      int // of its type
	commit    bool
	wgmma     bool
	warpOnly  bool // bar.warp.sync, arrive without waiting
	partners  int  // warps that meet at a barrier; 0: all of the CTA
	stores    bool // a bulk copy to global memory
	polls     bool // waits for a phase of an mbarrier
}

const fnvOffset, fnvPrime = 14695981039346656037, 1099511628211

func hashOf(parts ...uint64) uint64 {
	h := uint64(fnvOffset)
	for _, p := range parts {
		h = (h ^ p) * fnvPrime
		h ^= h >> 29
	}
	return h | 1
}

func hashText(s string) uint64 {
	h := uint64(fnvOffset)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h | 1
}

// analyse classifies an instruction. The rules are those of the SASS that ptxas makes of PTX (facts: SASS against PTX).
func analyse(in *ptx.Instruction) instruction {
	x := instruction{guard: in.Guard, address: -1, weight: 1, wait: -1, opcode: in.Opcode, spelling: hashText(in.Spelling), class: alu}
	x.registers(in)
	t := lastType(in)
	x.bits = 8 * ptx.TypeSize(t)
	float := strings.HasPrefix(t, "f") || strings.HasPrefix(t, "bf")
	switch {
	case t == "f32" || t == "f32x2":
		x.class = fp32
	case t == "f64":
		x.class = fp64
	case float:
		x.class = half
	}
	if f := families[in.Opcode]; f != nil {
		f(&x, in, t)
	} else if !float && x.bits == 64 {
		x.weight = 2
	}
	x.pure = !x.memory && len(x.dst) == 1 && x.guard < 0 && (x.class == alu || x.class == imad || x.class == free) && in.Opcode != "ld"
	return x
}

// registers collects what an instruction reads and writes, and its sources for value numbering.
func (x *instruction) registers(in *ptx.Instruction) {
	writes := !noDestination[in.Opcode]
	if in.Opcode == "bar" || in.Opcode == "barrier" {
		writes = in.Has("red")
	}
	if in.Opcode == "mbarrier" {
		writes = in.Has("arrive") || in.Has("try_wait") || in.Has("test_wait") || in.Has("arrive_drop")
	}
	if in.Opcode == "wgmma" {
		writes = in.Has("mma_async")
	}
	var walk func(o *ptx.Operand, define bool)
	walk = func(o *ptx.Operand, define bool) {
		switch o.Kind {
		case ptx.OperandRegister:
			if define {
				x.dst = append(x.dst, o.Register)
			} else {
				x.src = append(x.src, o.Register)
			}
		case ptx.OperandAddress:
			if o.Register >= 0 {
				x.src = append(x.src, o.Register)
				if x.address < 0 {
					x.address = o.Register
				}
			}
			define = false
		}
		for i := range o.Elements {
			walk(&o.Elements[i], define)
		}
		if o.Pair != nil {
			walk(o.Pair, define)
		}
	}
	for i := range in.Operands {
		o := &in.Operands[i]
		walk(o, i == 0 && writes)
		if i == 0 && writes {
			continue
		}
		x.args = append(x.args, operandOf(o))
	}
	if in.Guard >= 0 {
		x.src = append(x.src, in.Guard)
	}
	if x.opcode == "wgmma" && writes { // the accumulators are read too
		x.src = append(x.src, x.dst...)
	}
}

func operandOf(o *ptx.Operand) operand {
	switch o.Kind {
	case ptx.OperandRegister:
		return operand{register: o.Register}
	case ptx.OperandImmediate:
		return operand{register: -1, value: int64(o.Bits)}
	case ptx.OperandSpecial:
		return operand{register: -1, symbol: hashOf(23, uint64(o.Special))}
	case ptx.OperandSymbol:
		if o.Variable != nil {
			return operand{register: -1, symbol: hashText(o.Variable.Name), value: o.Offset}
		}
	}
	return operand{register: -1, symbol: hashText(o.Name)}
}

var noDestination = map[string]bool{"st": true, "red": true, "bra": true, "brx": true, "ret": true, "exit": true, "trap": true, "membar": true,
	"fence": true, "prefetch": true, "prefetchu": true, "stmatrix": true, "nanosleep": true, "griddepcontrol": true, "discard": true,
	"applypriority": true, "setmaxnreg": true, "brkpt": true, "pmevent": true, "cp": true, "call": true, "sust": true, "tensormap": true}

// lastType is the type that ends a spelling: "f32" of fma.rn.f32.
func lastType(in *ptx.Instruction) string {
	for i := len(in.Modifiers) - 1; i >= 0; i-- {
		if ptx.TypeSize(in.Modifiers[i]) > 0 {
			return in.Modifiers[i]
		}
	}
	return ""
}

func firstType(in *ptx.Instruction) string {
	for _, m := range in.Modifiers {
		if ptx.TypeSize(m) > 0 {
			return m
		}
	}
	return ""
}

// spaceOf is the state space of a memory instruction, "" for a generic address.
func spaceOf(in *ptx.Instruction) string {
	for _, m := range in.Modifiers {
		base, _, _ := strings.Cut(m, "::")
		switch base {
		case "global", "local", "const", "shared", "param":
			return base
		}
	}
	return ""
}

// shapeOf reads m16n8k16.
func shapeOf(in *ptx.Instruction) (m, n, k float32) {
	for _, s := range in.Modifiers {
		if !strings.HasPrefix(s, "m") {
			continue
		}
		a, rest, ok1 := strings.Cut(s[1:], "n")
		b, c, ok2 := strings.Cut(rest, "k")
		x, e1 := strconv.Atoi(a)
		y, e2 := strconv.Atoi(b)
		z, e3 := strconv.Atoi(c)
		if ok1 && ok2 && e1 == nil && e2 == nil && e3 == nil {
			return float32(x), float32(y), float32(z)
		}
	}
	return 0, 0, 0
}
