package simulate

import (
	"strings"

	"memwall/gpu/internal/ptx"
)

// families holds the rules of the opcodes that are not plain arithmetic of their type. A new opcode is one row.
var families map[string]func(x *instruction, in *ptx.Instruction, t string)

func init() {
	families = map[string]func(x *instruction, in *ptx.Instruction, t string){
		"add": addition, "sub": addition, "mul": multiplication, "mul24": multiplication, "mad": multiplication, "mad24": multiplication,
		"fma": func(*instruction, *ptx.Instruction, string) {}, "div": division, "rem": division,
		"min": onALU, "max": onALU, "abs": sign, "neg": sign, "and": logic, "or": logic, "xor": logic, "not": logic, "cnot": logic,
		"shl": shift, "shr": shift, "popc": onMUFU, "clz": onMUFU, "brev": onMUFU, "bfind": onMUFU, "setp": compare, "set": compare, "selp": selection,
		"mov": move, "cvta": widen, "cvt": convert, "ex2": special, "lg2": special, "rcp": special, "rsqrt": special, "sqrt": special, "sin": special,
		"cos": special, "tanh": special, "copysign": onALU, "ld": load, "ldu": load, "st": store, "atom": atomic, "red": atomic, "tex": texture,
		"prefetch": nothing, "prefetchu": nothing, "createpolicy": nothing, "pragma": nothing, "bar": barrierOf, "barrier": barrierOf,
		"fence": fence, "membar": fence, "bra": branching, "brx": branching, "ret": branching, "exit": branching, "trap": branching, "call": call,
		"shfl": exchange, "vote": exchange, "match": exchange, "redux": exchange, "activemask": exchange, "elect": exchange,
		"mma": matrix, "wmma": matrix, "wgmma": warpgroup, "ldmatrix": matrixLoad, "stmatrix": matrixStore, "movmatrix": exchange,
		"cp": copying, "mbarrier": phase, "dp4a": dot, "dp2a": dot, "nanosleep": onMisc, "griddepcontrol": onMisc, "setmaxnreg": onMisc,
		"discard": onMisc, "applypriority": onMisc, "isspacep": onALU, "mapa": onALU, "getctarank": onALU, "tensormap": onMisc,
	}
}

func onALU(x *instruction, _ *ptx.Instruction, _ string) {
	if x.class != fp64 && x.class != half {
		x.class = alu
	}
}
func onMUFU(x *instruction, _ *ptx.Instruction, _ string)  { x.class = mufu }
func onMisc(x *instruction, _ *ptx.Instruction, _ string)  { x.class = misc }
func nothing(x *instruction, _ *ptx.Instruction, _ string) { x.class = free }
func dot(x *instruction, _ *ptx.Instruction, _ string)     { x.class = imad }
func widen(x *instruction, _ *ptx.Instruction, _ string)   { x.class, x.kind = free, widened }

func addition(x *instruction, in *ptx.Instruction, _ string) {
	if x.class == alu {
		if x.bits == 64 {
			x.weight = 2
		}
		if in.Opcode == "add" {
			x.kind = sum
		}
	}
}

func multiplication(x *instruction, in *ptx.Instruction, t string) {
	if x.class != alu {
		return
	}
	x.class = imad
	if x.bits == 64 {
		x.weight = 3
	}
	if x.kind = product; in.Opcode == "mad" || in.Opcode == "mad24" {
		x.kind = multiply
	}
	if in.Has("hi") {
		x.kind = opaque
	}
}

// division: a division is a sequence (facts: SASS against PTX).
func division(x *instruction, in *ptx.Instruction, t string) {
	switch {
	case t == "f32" && in.Has("approx"):
		x.weight, x.latency = 5, 45
	case t == "f32" && in.Has("full"):
		x.weight, x.latency = 8, 55
	case t == "f32":
		x.weight, x.latency = 10, 60
	case t == "f64":
		x.weight, x.latency = 20, 200
	case x.bits == 64:
		x.class, x.weight, x.latency = alu, 70, 400
	default:
		x.class, x.weight, x.latency = alu, 20, 110
	}
}

func sign(x *instruction, _ *ptx.Instruction, t string) {
	if strings.HasPrefix(t, "f") || strings.HasPrefix(t, "bf") {
		x.class = free // a modifier of the operand
	}
}

func logic(x *instruction, _ *ptx.Instruction, t string) {
	switch {
	case t == "pred":
		x.class = free
	case x.bits == 64:
		x.weight = 2
	}
}

func shift(x *instruction, in *ptx.Instruction, _ string) {
	if x.bits == 64 {
		x.weight = 2
	}
	if in.Opcode == "shl" {
		x.kind = shifted
	}
}

func compare(x *instruction, _ *ptx.Instruction, _ string) {
	if x.class != fp64 && x.class != half {
		x.class = alu
	}
	x.latency = 10 // through a predicate
}

func selection(x *instruction, _ *ptx.Instruction, _ string) {
	if x.class = alu; x.bits == 64 {
		x.weight = 2
	}
}

// move: registers are renamed away; a special register is read through the slow path.
func move(x *instruction, in *ptx.Instruction, _ string) {
	x.class = free
	if len(in.Operands) == 2 && in.Operands[0].Kind == ptx.OperandRegister && in.Operands[1].Kind != ptx.OperandVector {
		x.kind = same
	}
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Kind == ptx.OperandSpecial && readSlowly(o.Special) {
			x.class, x.latency = mufu, 25
		}
	}
}

// readSlowly: sizes of the grid lie in constant memory.
func readSlowly(s ptx.Special) bool {
	return s < ptx.NtidX || s > ptx.NtidZ && s < ptx.NctaidX || s > ptx.NctaidZ
}

func convert(x *instruction, in *ptx.Instruction, from string) {
	to := firstType(in)
	float := func(t string) bool { return t == "f32" || t == "f64" }
	small := func(t string) bool {
		return t != "" && (strings.HasPrefix(t, "f") || strings.Contains(t, "bf") || strings.HasPrefix(t, "e")) && !float(t)
	}
	integer := func(t string) bool {
		return t != "" && strings.ContainsAny(t[:1], "sub") && !strings.HasPrefix(t, "bf")
	}
	x.class = alu
	switch {
	case integer(to) && integer(from):
		if a, b := ptx.TypeSize(to), ptx.TypeSize(from); a == 8 || b == 8 || a == b {
			x.class = free
		}
		x.kind = widened
	case small(to) && ptx.TypeSize(to) == 4 && strings.HasSuffix(to, "x2"):
		x.class = half
	case small(to) && from == "f32":
		x.class, x.packed = half, true
	case small(to) || small(from):
		x.class = half
	case float(to) && to == from:
		if x.class = fp32; in.Has("rni") || in.Has("rmi") || in.Has("rpi") || in.Has("rzi") {
			x.class = mufu
		}
	default:
		x.class = mufu
	}
}

// special: the .ftz forms are one instruction of the special function unit; the others scale around it, and the exact
// ones (sqrt.rn, rcp.rn) are sequences.
func special(x *instruction, in *ptx.Instruction, t string) {
	if t == "f64" {
		x.class, x.weight, x.latency = fp64, 12, 120
		return
	}
	x.class = mufu
	if !in.Has("approx") && t == "f32" {
		x.latency = 60
	}
}

func load(x *instruction, in *ptx.Instruction, t string) {
	space := spaceOf(in)
	if space == "param" {
		x.class = free
		return
	}
	x.memory = true
	x.bytes = vectorBytes(in, t)
	x.bypass = in.Has("cg") || in.Has("cv") || in.Has("volatile") || in.Has("relaxed") || in.Has("acquire")
	switch space {
	case "shared":
		x.class = loadShared
	case "const":
		x.class = loadConstant
	default:
		x.class = loadGlobal
	}
}

func vectorBytes(in *ptx.Instruction, t string) int {
	n := 1
	for _, m := range in.Modifiers {
		switch m {
		case "v2":
			n = 2
		case "v4":
			n = 4
		case "v8":
			n = 8
		}
	}
	return n * max(ptx.TypeSize(t), 1)
}

func store(x *instruction, in *ptx.Instruction, t string) {
	space := spaceOf(in)
	if space == "param" {
		x.class = free
		return
	}
	x.memory, x.bytes, x.local = true, vectorBytes(in, t), space == "local"
	if x.class = storeGlobal; space == "shared" {
		x.class = storeShared
	}
}

func atomic(x *instruction, in *ptx.Instruction, t string) {
	x.memory, x.bytes = true, ptx.TypeSize(t)
	x.cas = in.Has("cas")
	last := &in.Operands[len(in.Operands)-1]
	x.increment = in.Has("add") && x.bits == 32 && !strings.HasPrefix(t, "f") && last.Kind == ptx.OperandImmediate && last.Bits == 1
	if x.class = atomicGlobal; spaceOf(in) == "shared" {
		x.class = atomicShared
	}
}

func texture(x *instruction, _ *ptx.Instruction, _ string) {
	x.class, x.memory, x.bytes = loadGlobal, true, 4
}

func barrierOf(x *instruction, in *ptx.Instruction, _ string) {
	x.class = barrier
	x.warpOnly = in.Has("warp") || in.Has("arrive") && !in.Has("cluster")
	if x.warpOnly {
		x.class = misc
	} else if n := len(in.Operands); n == 2 && in.Operands[1].Kind == ptx.OperandImmediate {
		x.partners = int(in.Operands[1].Bits / 32)
	}
}

func fence(x *instruction, _ *ptx.Instruction, _ string)     { x.class, x.latency = misc, 20 }
func branching(x *instruction, _ *ptx.Instruction, _ string) { x.class = branch }
func exchange(x *instruction, _ *ptx.Instruction, _ string)  { x.class = shuffle }
func call(x *instruction, _ *ptx.Instruction, _ string)      { x.class, x.weight = misc, 20 }

// matrix: m·n·k multiply-adds of a warp, counted as f16 ones.
func matrix(x *instruction, in *ptx.Instruction, _ string) {
	if in.Opcode == "wmma" && !in.Has("mma") {
		x.memory, x.bytes = true, 16
		switch space := spaceOf(in); {
		case in.Has("store") && space == "shared":
			x.class = storeShared
		case in.Has("store"):
			x.class = storeGlobal
		case space == "shared":
			x.class = loadShared
		default:
			x.class = loadGlobal
		}
		return
	}
	x.class = tensor
	m, n, k := shapeOf(in)
	x.macs = m * n * k * typeRate(in)
	if in.Has("sp") || in.Has("sp::ordered_metadata") {
		x.macs /= 2
	}
}

// typeRate is how much longer a multiply-add of a type takes than one of f16.
func typeRate(in *ptx.Instruction) float32 {
	for _, m := range in.Modifiers {
		switch m {
		case "s8", "u8", "e4m3", "e5m2":
			return 0.5
		case "s4", "u4", "e2m1":
			return 0.25
		case "b1":
			return 0.0625
		case "tf32":
			return 2
		case "f64":
			return 16
		}
	}
	return 1
}

// warpgroup: wgmma.mma_async of four warps; each quarter of the SM is busy N/2 cycles, less below N = 64 (hardware.md).
func warpgroup(x *instruction, in *ptx.Instruction, _ string) {
	x.wgmma, x.class = true, misc
	switch {
	case in.Has("mma_async"):
		x.class = asyncTensor
		_, n, _ := shapeOf(in)
		switch {
		case n >= 64:
			x.macs = n / 2
		case n > 16:
			x.macs = 24
		case n > 8:
			x.macs = 20
		default:
			x.macs = 18
		}
	case in.Has("commit_group"):
		x.commit = true
	case in.Has("wait_group"):
		x.wait = groups(in)
	}
}

// groups is the constant operand of a wait for groups.
func groups(in *ptx.Instruction) int {
	if len(in.Operands) > 0 && in.Operands[0].Kind == ptx.OperandImmediate {
		return int(min(in.Operands[0].Bits, 64))
	}
	return 0
}

func matrixLoad(x *instruction, _ *ptx.Instruction, _ string) {
	x.class, x.memory, x.bytes = loadShared, true, 16
}
func matrixStore(x *instruction, _ *ptx.Instruction, _ string) {
	x.class, x.memory, x.bytes = storeShared, true, 16
}

func copying(x *instruction, in *ptx.Instruction, _ string) {
	x.class = misc
	switch {
	case in.Has("commit_group"):
		x.commit = true
	case in.Has("wait_all"):
		x.wait = 0
	case in.Has("wait_group") || in.Has("wait_group::read"):
		x.wait = groups(in)
	case in.Has("mbarrier"):
		x.class, x.memory = mbarrier, true
	case in.Has("prefetch"):
	case in.Has("bulk"):
		x.class, x.memory = bulkCopy, true
		x.stores = spaceOf(in) == "global" // the first space is that of the destination
	case in.Has("async"):
		x.class, x.memory, x.bypass = copyAsync, true, in.Has("cg")
		if len(in.Operands) > 2 && in.Operands[2].Kind == ptx.OperandImmediate {
			x.bytes = int(in.Operands[2].Bits)
		}
	}
}

// phase: operations on an mbarrier.
func phase(x *instruction, in *ptx.Instruction, _ string) {
	x.class, x.memory = mbarrier, true
	x.polls = in.Has("try_wait") || in.Has("test_wait")
	if in.Has("init") || in.Has("inval") || in.Has("pending_count") || in.Modifiers[0] == "expect_tx" || in.Has("complete_tx") {
		x.class, x.memory = misc, false
	}
}
