package vgpu

import (
	"fmt"
	"strconv"
	"strings"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// bulkKind is where a bulk copy goes.
type bulkKind uint8

const (
	bulkLoad     bulkKind = iota // global to shared memory, bytes completed on an mbarrier
	bulkStore                    // shared to global memory, in a bulk group
	bulkCluster                  // shared memory to a CTA's of the cluster, bytes completed on an mbarrier there
	bulkPrefetch                 // to L2
)

// bulkOp is a decoded cp.async.bulk, cp.reduce.async.bulk or one of their .tensor forms.
type bulkOp struct {
	kind      bulkKind
	tensor    int // dimensions; 0 for a plain copy
	im2col    bool
	noOffsets bool         // .im2col_no_offs
	dst, src  *inst        // addresses; of a tensor in global memory that of its map
	barrier   *inst        // address of the mbarrier
	size      uint32       // slot of the bytes of a plain copy
	mask      uint32       // slot of the 16-bit mask of CTAs
	multicast bool         //
	bytes     uint32       // slot of .cp_mask's mask of bytes
	cpMask    bool         //
	coords    []uint32     // slots
	offsets   []uint32     // slots of the im2col offsets
	reduce    *atomicExtra // nil for a copy
	element   int          // bytes of an element to reduce; of a tensor those of its map
	spelling  string       // of the reduction
}

// bulkReductions are the operations with the types that each takes in shared memory of a cluster and in global memory
// (PTX ISA 9.7.9.25.4.2); those of a tensor follow its map's type.
var bulkReductions = map[string][2]string{
	"add": {"u32 s32 u64", "u32 s32 u64 f32 f64 f16 bf16"}, "min": {"s32 u32", "s32 u32 s64 u64 f16 bf16"}, "max": {"s32 u32", "s32 u32 s64 u64 f16 bf16"},
	"inc": {"u32", "u32"}, "dec": {"u32", "u32"}, "and": {"b32", "b32 b64"}, "or": {"b32", "b32 b64"}, "xor": {"b32", "b32 b64"},
}

// decodeBulk decodes cp.async.bulk and its groups, cp.reduce.async.bulk, and their .tensor and .prefetch forms
// (9.7.9.25.4 and 9.7.9.25.5).
func decodeBulk(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{flags: flagSelf, pattern: -1}
	if err := d.least(in, 90); err != nil {
		return x, err
	}
	switch {
	case in.Has("commit_group"):
		x.fn = opBulkCommit
		return x, d.operands(in, 0, 0)
	case in.Has("wait_group"):
		if _, err := d.grammar(in, "async", "bulk", "wait_group", "- read"); err != nil {
			return x, err
		}
		if err := d.operands(in, 1, 1); err != nil {
			return x, err
		}
		if o := &in.Operands[0]; o.Kind != ptx.OperandImmediate || o.Bits > 1<<20 {
			return x, decodeError(d.m, in, "the number of groups must be a constant")
		}
		x.fn, x.imm = opBulkWait, in.Operands[0].Bits
		return x, nil
	}
	op := &bulkOp{}
	x.fn, x.ext = opBulk, &extra{second: -1, bulk: op}
	if err := d.bulkModifiers(in, op); err != nil {
		return x, err
	}
	x.pattern = int32(d.p.patterns)
	d.p.patterns++
	d.inf.class = perf.ClassAsync
	switch op.kind {
	case bulkLoad:
		d.inf.kind, d.inf.global = asyncCopy, true
	case bulkStore:
		d.inf.kind = bulkOut
		x.flags |= flagStore
		if op.reduce != nil {
			d.inf.kind = bulkReduce
			x.flags |= flagAtomic
		}
	case bulkCluster:
		d.inf.kind = sharedStore
	}
	return x, d.bulkOperands(in, &x, op)
}

// bulkModifiers reads what follows cp.
func (d *decoder) bulkModifiers(in *ptx.Instruction, op *bulkOp) error {
	refuse := func(hint string) error { return d.m.ErrorAt(in, "not supported by the virtual GPU", hint) }
	var spaces []string
	completion, cached := "", false
	for i, m := range in.Modifiers {
		switch {
		case m == "async" || m == "bulk" || m == "tile" || m == "noftz" || i == 0 && m == "reduce":
		case m == "prefetch":
			op.kind = bulkPrefetch
		case m == "tensor":
			op.tensor = 1
		case len(m) == 2 && m[1] == 'd' && op.tensor > 0:
			op.tensor, _ = strconv.Atoi(m[:1])
			if op.tensor < 1 || op.tensor > 5 {
				return refuse("a tensor has 1 to 5 dimensions")
			}
		case m == "im2col" || m == "im2col_no_offs":
			op.im2col, op.noOffsets = true, m != "im2col"
		case m == "global" || m == "shared::cta" || m == "shared::cluster" || m == "L2":
			spaces = append(spaces, m)
		case m == "mbarrier::complete_tx::bytes" || m == "bulk_group":
			completion = m
		case m == "multicast::cluster":
			op.multicast = true
		case m == "L2::cache_hint":
			cached = true
		case m == "cp_mask":
			op.cpMask = true
		case in.Has("reduce") && bulkReductions[m] != [2]string{}:
			op.spelling = m
		case in.Has("reduce") && ptx.TypeSize(m) > 0:
			op.reduce = &atomicExtra{t: m}
		case strings.HasPrefix(m, "tile::") || strings.HasPrefix(m, "cta_group") || strings.HasPrefix(m, "im2col::"):
			return refuse("." + m + " is of sm_100a and not executed; .tile and .im2col are")
		default:
			return refuse("modifier ." + m + " is unknown here")
		}
	}
	_ = cached
	if len(spaces) != 2 {
		return refuse("expected the spaces of destination and source: .shared::cluster.global, .shared::cta.global, .global.shared::cta, .shared::cluster.shared::cta")
	}
	path := spaces[0] + "." + spaces[1]
	want := "mbarrier::complete_tx::bytes"
	switch path {
	case "shared::cluster.global", "shared::cta.global":
		op.kind = bulkLoad
	case "global.shared::cta":
		op.kind, want = bulkStore, "bulk_group"
	case "shared::cluster.shared::cta":
		op.kind = bulkCluster
	case "L2.global":
		want = ""
		if op.kind != bulkPrefetch {
			return refuse("only .prefetch goes to .L2")
		}
	default:
		return refuse("there is no copy ." + path)
	}
	switch {
	case completion != want:
		return refuse(fmt.Sprintf("a copy .%s completes by .%s", path, want))
	case op.tensor > 0 && op.kind == bulkCluster:
		return refuse("a tensor lies in global memory")
	case op.multicast && (op.kind != bulkLoad || spaces[0] != "shared::cluster"):
		return refuse("only copies .shared::cluster.global go to several CTAs")
	case op.im2col && (op.tensor < 3 || op.noOffsets != (op.kind == bulkStore)):
		return refuse("im2col is of tensors of 3 to 5 dimensions: .im2col to load, .im2col_no_offs to store")
	case op.cpMask && (op.kind != bulkStore || op.tensor > 0 || op.reduce != nil || d.sm < 100):
		return refuse(".cp_mask is of copies .global.shared::cta on sm_100")
	}
	return d.bulkReduction(in, op)
}

// bulkReduction checks operation and type of a cp.reduce.
func (d *decoder) bulkReduction(in *ptx.Instruction, op *bulkOp) error {
	if !in.Has("reduce") {
		return nil
	}
	types := bulkReductions[op.spelling][b2i(op.kind == bulkStore)]
	switch {
	case op.spelling == "":
		return d.m.ErrorAt(in, "not supported by the virtual GPU", "expected an operation: .add .min .max .inc .dec .and .or .xor")
	case op.kind == bulkLoad || op.kind == bulkPrefetch:
		return d.m.ErrorAt(in, "not supported by the virtual GPU", "a reduction reads shared memory")
	case op.tensor > 0:
		op.reduce = &atomicExtra{op: atomicOps[op.spelling]}
		return nil
	case op.reduce == nil || !slicesHas(types, op.reduce.t):
		return d.m.ErrorAt(in, "not supported by the virtual GPU", "types of ."+op.spelling+" here: ."+strings.Join(strings.Fields(types), " ."))
	}
	op.reduce.op, op.reduce.drop = atomicOps[op.spelling], true
	op.element = ptx.TypeSize(op.reduce.t)
	return nil
}

// bulkOperands reads the operands in the order of the syntax.
func (d *decoder) bulkOperands(in *ptx.Instruction, x *inst, op *bulkOp) error {
	list := in.Operands
	take := func(what string) (*ptx.Operand, error) {
		if len(list) == 0 {
			return nil, decodeError(d.m, in, "%d operands: %s is missing", len(in.Operands), what)
		}
		o := &list[0]
		list = list[1:]
		return o, nil
	}
	place := func(what, space string, into **inst) error {
		o, err := take(what)
		if err != nil {
			return err
		}
		if len(o.Elements) > 0 && op.tensor == 0 {
			return decodeError(d.m, in, "coordinates stand only in a tensor's address")
		}
		*into, err = d.bulkAddress(op, o, space)
		return err
	}
	var err error
	switch op.kind {
	case bulkLoad, bulkCluster:
		if err = place("the destination", "shared", &op.dst); err != nil {
			return err
		}
		source := "global"
		if op.kind == bulkCluster {
			source = "shared"
		}
		err = place("the source", source, &op.src)
	case bulkStore:
		if err = place("the destination", "global", &op.dst); err != nil {
			return err
		}
		err = place("the source", "shared", &op.src)
	default:
		err = place("the source", "global", &op.src)
	}
	if err != nil {
		return err
	}
	if op.tensor == 0 {
		o, err := take("the size")
		if err != nil {
			return err
		}
		if op.size, err = d.source(o, "u32"); err != nil {
			return err
		}
	} else if len(op.coords) != op.tensor {
		return decodeError(d.m, in, "%d coordinates for %d dimensions", len(op.coords), op.tensor)
	}
	if op.kind == bulkLoad || op.kind == bulkCluster {
		if err := place("the mbarrier", "shared", &op.barrier); err != nil {
			return err
		}
	}
	if op.im2col && !op.noOffsets {
		o, err := take("the im2col offsets")
		if err != nil {
			return err
		}
		if op.offsets, err = d.bulkVector(o, op.tensor-2, "u16"); err != nil {
			return err
		}
	}
	if op.multicast {
		o, err := take("the mask of CTAs")
		if err != nil {
			return err
		}
		if op.mask, err = d.source(o, "u16"); err != nil {
			return err
		}
	}
	if in.Has("L2::cache_hint") {
		o, err := take("the cache policy")
		if err != nil {
			return err
		}
		if _, err = d.source(o, "b64"); err != nil {
			return err
		}
	}
	if op.cpMask {
		o, err := take("the mask of bytes")
		if err != nil {
			return err
		}
		if op.bytes, err = d.source(o, "u16"); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		return decodeError(d.m, in, "%d operands, expected %d", len(in.Operands), len(in.Operands)-len(list))
	}
	return nil
}

// bulkVector gives the slots of n numbers in braces.
func (d *decoder) bulkVector(o *ptx.Operand, n int, t string) ([]uint32, error) {
	list := o.Elements
	if o.Kind != ptx.OperandVector {
		list = []ptx.Operand{*o}
	}
	if len(list) != n {
		return nil, decodeError(d.m, d.in, "%d numbers in braces, expected %d", len(list), n)
	}
	slots := make([]uint32, n)
	for i := range list {
		var err error
		if slots[i], err = d.source(&list[i], t); err != nil {
			return nil, err
		}
	}
	return slots, nil
}

// bulkAddress decodes an address; of a tensor in global memory the generic address of its map and the coordinates.
func (d *decoder) bulkAddress(op *bulkOp, o *ptx.Operand, space string) (*inst, error) {
	x := &inst{pattern: -1}
	plain := *o
	if op.tensor > 0 && space == "global" {
		if len(o.Elements) != 1 {
			return nil, decodeError(d.m, d.in, "expected [map, {coordinates}]")
		}
		var err error
		if op.coords, err = d.bulkVector(&o.Elements[0], max(len(o.Elements[0].Elements), 1), "s32"); err != nil {
			return nil, err
		}
		plain.Elements = nil
		if v := o.Variable; v != nil && v.Space == "param" {
			base, ok := d.symbols[v]
			if !ok {
				return nil, decodeError(d.m, d.in, "%s is no parameter of this entry", v.Name)
			}
			x.imm, x.flags = paramWindow+base+uint64(o.Offset), flagFixed
			return x, nil
		}
		space = ""
		if v := o.Variable; v != nil {
			space = v.Space
		}
	}
	return x, d.address(x, &plain, space, false)
}

// elementType is the type in which a tensor's elements are reduced.
func elementType(t driver.TensorMapType) string {
	return [...]string{"u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32", "f32", "f32"}[t]
}
