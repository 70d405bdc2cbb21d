package vgpu

import (
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// controlRows are branches, barriers, fences and hints. Branches, exits and barriers end a block (program.ending);
// fences have nothing to do here: a warp's accesses happen in order, and those of a CTA's warps too.
var controlRows = []row{
	{patterns: []string{"bra{,.uni}"}, class: perf.ClassControl, section: "9.7.12.3", decode: decodeNothing},
	{patterns: []string{"ret{,.uni}", "exit"}, class: perf.ClassControl, section: "9.7.12.7", decode: decodeNothing},
	{patterns: []string{"trap"}, class: perf.ClassControl, section: "9.7.19.4", decode: decodeNothing},
	{patterns: []string{"bar{,.cta}{.sync,.arrive}", "barrier{,.cta}{.sync,.arrive}{,.aligned}", "bar{,.cta}.red{.popc.u32,.and.pred,.or.pred}",
		"barrier{,.cta}.red{.popc,.and,.or}{,.aligned}{.u32,.pred}"}, class: perf.ClassBarrier, section: "9.7.13.1", decode: decodeNothing},
	{patterns: []string{"barrier.cluster.arrive{,.release,.relaxed}{,.aligned}", "barrier.cluster.wait{,.acquire}{,.aligned}"},
		class: perf.ClassBarrier, section: "9.7.13.3", decode: decodeNothing},
	{patterns: []string{"bar.warp.sync"}, class: perf.ClassBarrier, section: "9.7.13.2", decode: decodeNothing},
	{patterns: []string{"membar{.cta,.gl,.sys,.proxy.alias}", "fence{,.sc,.acq_rel,.acquire,.release}{.cta,.cluster,.gpu,.sys}", "fence{.cta,.cluster,.gpu,.sys}{.sc,.acq_rel,.acquire,.release}",
		"fence.acquire.sync_restrict::shared::cluster.cluster", "fence.release.sync_restrict::shared::cta.cluster", "fence.mbarrier_init.release.cluster",
		"fence.proxy.async{,.global,.shared::cta,.shared::cluster}", "fence.proxy.alias", "fence.proxy.tensormap::generic{.acquire,.release}{.cta,.cluster,.gpu,.sys}",
		"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster"},
		class: perf.ClassBarrier, section: "9.7.13.4", decode: decodeNothing},
}

func decodeNothing(d *decoder, in *ptx.Instruction, r *row) (inst, error) { return inst{}, nil }

// ending decodes the instruction that ends a block.
func (d *decoder) ending(b *block, in *ptx.Instruction, id int32) error {
	e := &b.end
	e.id = id
	if in.Guard >= 0 {
		e.guard = int32(d.s.at[in.Guard])
		if in.GuardNot {
			e.not = allLanes
		}
	}
	switch in.Opcode {
	case "bra":
		e.kind = endBranch
		e.target = d.blockFrom(in.Operands[0].Target)
	case "brx":
		return d.tableEnding(e, in)
	case "call":
		return d.callEnding(e, in)
	case "ret", "exit":
		e.kind = endExit
	case "trap":
		e.kind = endTrap
	case "wgmma":
		return d.warpgroupWait(e, in)
	default:
		if in.Has("cluster") {
			return d.clusterBarrier(e, in)
		}
		return d.barrier(e, in)
	}
	return nil
}

// barrier decodes bar.sync a{, b}, bar.arrive a, b and bar.red (PTX ISA 9.7.13.1).
func (d *decoder) barrier(e *ending, in *ptx.Instruction) error {
	e.kind = endBarrier
	e.aligned = in.Opcode == "bar" || in.Has("aligned")
	e.arrive = in.Has("arrive")
	ops := in.Operands
	if in.Has("red") {
		if len(ops) < 3 {
			return decodeError(d.m, in, "%d operands, expected 3 or 4", len(ops))
		}
		e.reduce.op = 3
		if in.Has("and") {
			e.reduce.op = 1
		} else if in.Has("or") {
			e.reduce.op = 2
		}
		var err error
		if e.reduce.op == 3 {
			e.reduce.d, err = d.destination(&ops[0], "u32")
		} else {
			e.reduce.d, err = d.predicateDestination(&ops[0])
		}
		if err != nil {
			return err
		}
		if e.reduce.p, e.reduce.not, err = d.predicate(&ops[len(ops)-1]); err != nil {
			return err
		}
		ops = ops[1 : len(ops)-1]
	}
	if len(ops) < 1 || len(ops) > 2 || e.arrive && len(ops) != 2 {
		return decodeError(d.m, in, "expected the number of a barrier, and for .arrive a number of threads")
	}
	number := func(o *ptx.Operand, value *uint32, slot *int32, limit uint64, what string) error {
		if o.Kind == ptx.OperandImmediate {
			if o.Bits > limit {
				return decodeError(d.m, in, "%s %d is out of range: 0 to %d", what, o.Bits, limit)
			}
			*value = uint32(o.Bits)
			return nil
		}
		at, err := d.source(o, "u32")
		*slot = int32(at)
		return err
	}
	if err := number(&ops[0], &e.barrier, &e.barReg, maxBarriers-1, "barrier"); err != nil {
		return err
	}
	if len(ops) == 2 {
		if err := number(&ops[1], &e.threads, &e.countReg, 1024, "thread count"); err != nil {
			return err
		}
		if e.countReg < 0 && (e.threads == 0 || e.threads%warpSize != 0) {
			return decodeError(d.m, in, "thread count %d is no multiple of %d", e.threads, warpSize)
		}
	}
	return nil
}

// warpBarrier decodes bar.warp.sync members (PTX ISA 9.7.13.2): lanes that come alone wait for the others.
func (d *decoder) warpBarrier(b *block, in *ptx.Instruction, id int32) error {
	if err := d.operands(in, 1, 1); err != nil {
		return err
	}
	members, err := d.source(&in.Operands[0], "b32")
	if err != nil {
		return err
	}
	b.syncs = append(b.syncs, d.syncPoint(b, in, id, members, nil))
	return nil
}

// meets notes that lanes meet at an instruction that is about to be emitted. Those that exchange values have their member
// mask in slot e; matrix instructions need the whole warp.
func (d *decoder) meets(b *block, x *inst, in *ptx.Instruction) {
	op := *x
	members := x.e
	switch in.Opcode {
	case "shfl", "vote", "match", "redux", "elect":
	default:
		members = d.constant(uint64(allLanes), false)
	}
	b.syncs = append(b.syncs, d.syncPoint(b, in, x.id, members, &op))
}

func (d *decoder) syncPoint(b *block, in *ptx.Instruction, id int32, members uint32, op *inst) syncPoint {
	s := syncPoint{at: int32(len(b.code)), id: id, members: members, in: op, guard: -1}
	if in.Guard >= 0 {
		s.guard = int32(d.s.at[in.Guard])
		if in.GuardNot {
			s.not = allLanes
		}
	}
	return s
}
