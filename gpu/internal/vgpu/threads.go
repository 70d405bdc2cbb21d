package vgpu

import "unsafe"

// blockThreads is the code of a block as threaded assembly runs it: each array ends in an instruction without fn. Full is
// for all 32 lanes. Masked is for some of them: an op that writes every lane is followed by a blend of its
// result, where another lane may have something in its destination. In full
// an instruction with a guard is followed by what it guards.
type blockThreads struct{ full, masked []inst }

// opBlend32 takes over the active lanes of a into d.
func opBlend32(w *warp, in *inst) {
	s, d := w.u32(in.a), w.u32(in.d)
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i] = s[i]
	}
}

// opBlend64 is opBlend32 for 64-bit lanes.
func opBlend64(w *warp, in *inst) {
	s, d := w.u64(in.a), w.u64(in.d)
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i] = s[i]
	}
}

// thread makes the arrays of all blocks.
func (p *program) thread() {
	for i := range p.blocks {
		b := &p.blocks[i]
		full := make([]inst, 0, len(b.code)+1)
		masked := make([]inst, 0, 2*len(b.code)+1)
		for k := range b.code {
			x := b.code[k]
			op := asmFor(&x)
			x.code = asmAddress(op)
			full = append(full, x)
			if x.code == asmGuard && x.code != 0 {
				inner := *x.ext.inner
				inner.code = asmAddress(asmFor(&inner))
				full = append(full, inner)
			}
			if x.flags&flagSelf != 0 {
				if op == nil || !op.masks {
					x.code = asmAddress(nil)
				}
				masked = append(masked, x)
				continue
			}
			if p.slots.passing[x.d] {
				masked = append(masked, x)
				continue
			}
			twin := b.twins[k]
			twin.code = asmAddress(asmFor(&twin))
			blend := inst{fn: opBlend32, d: x.d, a: scratch, id: x.id, pattern: -1, flags: flagSelf}
			if x.flags&flagWide != 0 {
				blend.fn = opBlend64
			}
			blend.code = asmAddress(asmFor(&blend))
			masked = append(masked, twin, blend)
		}
		b.threads = blockThreads{full: append(full, p.jump(b, asmJump, asmBranch)), masked: append(masked, p.jump(b, asmMaskedJump, asmMaskedBranch))}
	}
	for i := range p.blocks {
		b := &p.blocks[i]
		p.landings[i].code[0] = unsafe.Pointer(unsafe.SliceData(b.threads.full))
		if len(b.syncs) == 0 { // some lanes may have to wait there for others
			p.landings[i].masked = unsafe.Pointer(unsafe.SliceData(b.threads.masked))
		}
		p.part(b)
	}
}

// asmOp is an op of the assembly: the portable functions that compute the same, for instructions of one variant.
type asmOp struct {
	name    string
	twins   []opFunc
	variant int
	masks   bool // looks at the mask of active lanes itself
	address uintptr
}

// asmKey finds the op of an instruction.
type asmKey struct {
	fn      uintptr
	variant int
}

// codeOf tells functions apart, which Go cannot compare.
func codeOf(fn opFunc) uintptr { return **(**uintptr)(unsafe.Pointer(&fn)) }
