package vgpu

import (
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// hintRows are instructions that tell the hardware how to run a warp, and those by which lanes choose one of them.
var hintRows = []row{
	{patterns: []string{"nanosleep.u32"}, class: perf.ClassControl, section: "9.7.19.2", decode: decodeSleep},
	{patterns: []string{"pmevent", "pmevent.mask", "brkpt"}, class: perf.ClassControl, section: "9.7.19", decode: decodeNothing},
	{patterns: []string{"elect.sync"}, class: perf.ClassWarp, section: "9.7.13.14", decode: decodeElect},
	{patterns: []string{"setmaxnreg{.inc,.dec}.sync.aligned.u32"}, class: perf.ClassControl, section: "9.7.19.5", decode: decodeMaxRegisters},
	{patterns: []string{"griddepcontrol{.launch_dependents,.wait}"}, class: perf.ClassControl, section: "9.7.13.12", decode: decodeDependents},
}

// decodeSleep decodes nanosleep.u32 t.
func decodeSleep(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opSleep, flags: flagSelf, pattern: -1}
	if err := d.operands(in, 1, 1); err != nil {
		return x, err
	}
	var err error
	x.a, err = d.source(&in.Operands[0], "u32")
	return x, err
}

// opSleep is nanosleep: other warps get their turn, and the warp's clock goes on by the longest time of its lanes, 1 ms at
// most.
func opSleep(w *warp, in *inst) {
	var t uint32
	for m := w.mask; m != 0; m &= m - 1 {
		t = max(t, w.u32(in.a)[lowest(m)])
	}
	w.w.pause(uint64(float64(min(t, 1_000_000)) * w.w.run.device.properties.ClockHz / 1e9))
}

// decodeElect decodes elect.sync d|p, members.
func decodeElect(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opElect, flags: flagSelf, ext: &extra{second: predSink}, pattern: -1}
	if err := d.least(in, 90); err != nil {
		return x, err
	}
	if err := d.operands(in, 2, 2); err != nil {
		return x, err
	}
	o := in.Operands[0]
	pair := o.Pair
	o.Pair = nil
	if pair == nil {
		return x, decodeError(d.m, in, "expected two destinations: lane|predicate")
	}
	var err error
	if x.d, err = d.destination(&o, "b32"); err != nil {
		return x, err
	}
	p, err := d.predicateDestination(pair)
	if err != nil {
		return x, err
	}
	x.ext.second = int32(p)
	x.e, err = d.source(&in.Operands[1], "b32")
	return x, err
}

// opElect is elect.sync: d = the lowest of the members, p = whether the lane is that one.
func opElect(w *warp, in *inst) {
	w.member(in, w.u32(in.e))
	d := w.u32(in.d)
	var leaders uint32
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		leader := lowest(w.u32(in.e)[i] & w.mask)
		d[i] = uint32(leader)
		leaders |= uint32(b2i(leader == i)) << i
	}
	p := in.ext.second
	w.pred[p] = w.pred[p]&^w.mask | leaders
}

// decodeMaxRegisters checks setmaxnreg, which gives registers back to the SM or takes more: nothing that a value shows.
func decodeMaxRegisters(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	if d.sm < 90 {
		return inst{}, d.m.ErrorAt(in, "setmaxnreg needs sm_90a", "leave it out: it only moves registers between warps")
	}
	if err := d.operands(in, 1, 1); err != nil {
		return inst{}, err
	}
	if o := &in.Operands[0]; o.Kind != ptx.OperandImmediate || o.Bits < 24 || o.Bits > 256 || o.Bits%8 != 0 {
		return inst{}, decodeError(d.m, in, "the number of registers must be a constant from 24 to 256, a multiple of 8")
	}
	return inst{}, nil
}

// decodeDependents checks griddepcontrol: launches follow each other here, so that what a grid depends on is always done.
func decodeDependents(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	if err := d.least(in, 90); err != nil {
		return inst{}, err
	}
	return inst{}, d.operands(in, 0, 0)
}
