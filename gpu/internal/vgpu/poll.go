package vgpu

import "memwall/gpu/internal/ptx"

// A warp may wait for another by looking at memory again and again. What such a look costs, beside its instructions, is
// fuel: a warp that sees nothing new gives way soon. An atomic that leaves memory as it was is a look, and so is a load of
// the strong kinds that gives what the last execution gave. Loads that the compiler may hoist out of a loop are none.

// looksOften reports whether an instruction is a load that programs wait with.
func looksOften(in *ptx.Instruction) bool {
	if in.Opcode != "ld" {
		return false
	}
	for _, m := range in.Modifiers {
		switch m {
		case "volatile", "relaxed", "acquire", "mmio", "cv":
			return true
		}
	}
	return false
}

// looks are what a warp's last loads of some sites gave, as sums of their lanes.
type looks [4]struct {
	site int32
	sum  uint64
}

// look decodes what stands behind a load that programs wait with: it compares what the load gave.
func look(x *inst) inst {
	l := inst{fn: opLook, flags: flagSelf, d: x.d, id: x.id, pattern: -1, imm: uint64(x.id)}
	if x.flags&flagWide != 0 {
		l.imm |= 1 << 32
	}
	return l
}

// opLook finds out whether a load gave anything new.
func opLook(w *warp, in *inst) {
	sum := uint64(w.mask)
	if in.imm>>32 != 0 {
		for i, v := range w.u64(in.d) {
			if w.mask>>(uint(i)&31)&1 != 0 {
				sum = sum*0x9e3779b97f4a7c15 + v
			}
		}
	} else {
		for i, v := range w.u32(in.d) {
			if w.mask>>(uint(i)&31)&1 != 0 {
				sum = sum*0x9e3779b97f4a7c15 + uint64(v)
			}
		}
	}
	if s := &w.looks[in.id&3]; s.site == in.id+1 && s.sum == sum {
		w.poll()
	} else {
		s.site, s.sum = in.id+1, sum
	}
}
