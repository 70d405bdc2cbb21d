package vgpu

import (
	"fmt"
	"strings"

	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// wgmmaRows are the matrix instructions of a warpgroup (PTX ISA 9.7.15).
var wgmmaRows = []row{{patterns: []string{"wgmma"}, class: perf.ClassTensor, section: "9.7.15", decode: decodeWarpgroup}}

// wgmmaTypes are the types of A and B with the depth of a dense wgmma, the types of D, and what may follow.
var wgmmaTypes = []struct {
	name       string
	k          int
	sums       string
	transposes bool // imm-trans-a, imm-trans-b
	scales     bool // imm-scale-a, imm-scale-b
}{
	{"f16", 16, "f16 f32", true, true},
	{"bf16", 16, "f32", true, true},
	{"tf32", 8, "f32", false, true},
	{"e4m3", 32, "f16 f32", false, true},
	{"e5m2", 32, "f16 f32", false, true},
	{"s8", 32, "s32", false, false},
	{"u8", 32, "s32", false, false},
	{"b1", 256, "s32", false, false},
}

// wgmmaOp is a decoded wgmma.mma_async: D of 64×n += A of 64×k · B of k×n. Each of the four warps owns sixteen rows of A
// and D; a register of A or D lies as in mma.m16n8k, D's columns eight after eight.
type wgmmaOp struct {
	s        *mmaShape // of a warp's rows, n left out
	n        int
	fromRegs bool     // A
	a        []uint32 // its slots
	descA    uint32   // slots of the descriptors
	descB    uint32
	scaleD   int32 // predicate; -1 false always, -2 true always
	notD     uint32
	negA     bool
	negB     bool
	transA   bool // M-major in shared memory
	transB   bool // N-major
	meta     uint32
	selector int
	places   []int32 // of D's registers among those that can be in flight
}

// warpgroupTarget refuses wgmma where the device or the module's target has none.
func (d *decoder) warpgroupTarget(in *ptx.Instruction) error {
	switch {
	case d.sm < 90:
		return d.tooOld(in, 90, "a")
	case d.sm != 90 || !strings.HasSuffix(d.m.Target, "a"):
		return d.m.ErrorAt(in, "needs .target sm_90a, and the PTX is for "+d.m.Target, "compile it for sm_90a, or use mma.sync")
	}
	return nil
}

// decodeWarpgroup decodes wgmma.fence, commit_group and mma_async; wait_group ends a block (wgmma_wait.go).
func decodeWarpgroup(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{flags: flagSelf, pattern: -1}
	if err := d.warpgroupTarget(in); err != nil {
		return x, err
	}
	switch {
	case in.Has("fence"):
		_, err := d.grammar(in, "fence", "sync", "aligned")
		if err == nil {
			err = d.operands(in, 0, 0)
		}
		x.fn = opWarpgroupFence
		return x, err
	case in.Has("commit_group"):
		_, err := d.grammar(in, "commit_group", "sync", "aligned")
		if err == nil {
			err = d.operands(in, 0, 0)
		}
		x.fn = opWarpgroupCommit
		return x, err
	}
	return d.warpgroupProduct(in)
}

// warpgroupProduct decodes wgmma.mma_async.
func (d *decoder) warpgroupProduct(in *ptx.Instruction) (inst, error) {
	x := inst{fn: opWarpgroupProduct, flags: flagSelf, pattern: -1}
	op := &wgmmaOp{scaleD: -2}
	shape := ""
	if len(in.Modifiers) > 1 {
		for _, m := range in.Modifiers {
			if strings.HasPrefix(m, "m64n") {
				shape = m
			}
		}
	}
	picks, err := d.grammar(in, "mma_async", "- sp", "sync", "aligned", shape, "- satfinite", "f16 f32 s32", "f16 bf16 tf32 e4m3 e5m2 s8 u8 b1", "f16 bf16 tf32 e4m3 e5m2 s8 u8 b1", "- and", "- popc")
	if err != nil {
		return x, err
	}
	var m, k int
	fmt.Sscanf(shape, "m%dn%dk%d", &m, &op.n, &k)
	sparse, dt, a, b := picks[1] != "", picks[6], picks[7], picks[8]
	row := -1
	for i, t := range wgmmaTypes {
		if t.name == a && slicesHas(t.sums, dt) {
			row = i
		}
	}
	small := a == "e4m3" || a == "e5m2"
	same := a == b || small && (b == "e4m3" || b == "e5m2") || (a == "s8" || a == "u8") && (b == "s8" || b == "u8")
	if row < 0 || !same || (a == "b1") != (picks[9] == "and" && picks[10] == "popc") || sparse && a == "b1" || picks[5] != "" && (dt != "s32" || a == "b1") {
		return x, d.m.ErrorAt(in, "not supported by the virtual GPU", "types of D, A and B are f16|f32.f16.f16, f32.bf16.bf16, f32.tf32.tf32, f16|f32 of e4m3 and e5m2, s32 of s8 and u8, s32.b1.b1.and.popc")
	}
	t := wgmmaTypes[row]
	depth := t.k
	if sparse {
		depth *= 2
	}
	integer := dt == "s32"
	if op.n < 8 || op.n > 256 || op.n%8 != 0 || integer && op.n > 32 && op.n%16 != 0 || k != depth || shape != fmt.Sprintf("m64n%dk%d", op.n, k) {
		steps := "8, 16, … 256"
		if integer {
			steps = "8, 16, 24, 32, 48, … 256"
		}
		return x, d.m.ErrorAt(in, "not supported by the virtual GPU", fmt.Sprintf("shapes of .%s are m64nNk%d with N = %s", a, depth, steps))
	}
	op.s = &mmaShape{m: 16, k: k, kept: t.k, a: elements[a], b: elements[b], c: dt, d: dt, sat: picks[5] != "", and: true, ordered: true}
	x.ext = &extra{second: -1, wgmma: op}
	return x, d.warpgroupOperands(in, &x, op, t.scales, t.transposes)
}

// warpgroupOperands reads d, a, b, (sp-meta, sp-sel,) scale-d, and as the type has them imm-scale-a, imm-scale-b,
// imm-trans-a (of a descriptor alone), imm-trans-b.
func (d *decoder) warpgroupOperands(in *ptx.Instruction, x *inst, op *wgmmaOp, scales, transposes bool) error {
	if len(in.Operands) < 4 {
		return decodeError(d.m, in, "%d operands, expected d, a, b and scale-d at least", len(in.Operands))
	}
	op.fromRegs = in.Operands[1].Kind == ptx.OperandVector
	want := 4 + 2*b2i(op.s.sparse()) + 2*b2i(scales) + b2i(transposes) + b2i(transposes && !op.fromRegs)
	if err := d.operands(in, want, want); err != nil {
		return err
	}
	sums := op.n / 2
	if op.s.d == "f16" {
		sums /= 2
	}
	var err error
	if x.ext.regs, err = d.fragment(in, 0, sums, "b32"); err != nil {
		return err
	}
	for i := range in.Operands[0].Elements {
		o := &in.Operands[0].Elements[i]
		if o.Kind != ptx.OperandRegister {
			return decodeError(d.m, in, "element %d of D is no register", i)
		}
		op.places = append(op.places, d.flight[o.Register])
	}
	if op.fromRegs {
		na, _, _, _ := op.s.regs()
		op.a, err = d.fragment(in, 1, na, "b32")
	} else {
		op.descA, err = d.source(&in.Operands[1], "b64")
	}
	if err == nil {
		op.descB, err = d.source(&in.Operands[2], "b64")
	}
	if err != nil {
		return err
	}
	at := 3
	if op.s.sparse() {
		if op.meta, err = d.source(&in.Operands[3], "b32"); err != nil {
			return err
		}
		most := uint64(4/op.s.metadataThreads() - 1)
		if f := &in.Operands[4]; f.Kind != ptx.OperandImmediate || f.Bits > most {
			return decodeError(d.m, in, "the selector of the sparse metadata must be a constant from 0 to %d", most)
		}
		op.selector = int(in.Operands[4].Bits)
		at = 5
	}
	if o := &in.Operands[at]; o.Kind == ptx.OperandImmediate {
		op.scaleD = -1 - int32(b2i(o.Bits != 0))
	} else {
		p, not, err := d.predicate(o)
		if err != nil {
			return err
		}
		op.scaleD, op.notD = int32(p), not
	}
	at++
	constant := func(what string, low, high uint64, into *bool) error {
		o := &in.Operands[at]
		at++
		if o.Kind != ptx.OperandImmediate || o.Bits != low && o.Bits != high {
			return decodeError(d.m, in, "%s must be the constant %d or %d", what, int64(low), int64(high))
		}
		*into = o.Bits == high
		return nil
	}
	minus := ^uint64(0)
	if scales {
		if err := constant("imm-scale-a", 1, minus, &op.negA); err != nil {
			return err
		}
		if err := constant("imm-scale-b", 1, minus, &op.negB); err != nil {
			return err
		}
	}
	if transposes && !op.fromRegs {
		if err := constant("imm-trans-a", 0, 1, &op.transA); err != nil {
			return err
		}
	}
	if transposes {
		if err := constant("imm-trans-b", 0, 1, &op.transB); err != nil {
			return err
		}
	}
	d.inf.kind = sharedLoad
	d.inf.flop, d.inf.flops, d.inf.warp = perf.FLOPTensor, 2*16*op.n*op.s.k, true
	x.pattern = int32(d.p.patterns)
	d.p.patterns++
	return nil
}
