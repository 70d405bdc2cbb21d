package vgpu

// row reports whether all lanes access size bytes each in a row, where nobody looks at each lane.
func (w *warp) row(a *[32]uint64, size uint64) bool {
	return w.mask == allLanes && w.cta.check == nil && contiguous(a, size)
}

// watchedSteps is how many instructions of a watched launch pass between two looks at whether the launch was cancelled: one with a finding in
// each lane takes a millisecond.
const watchedSteps = 64

// runChecked executes part of a block's code for the active lanes, telling the sanitizer of each PTX instruction before it.
func (w *warp) runChecked(b *block, from, to int) {
	c, m := w.cta.check, w.mask
	next := b.from
	if from > 0 {
		next = b.code[from-1].id + 1
	}
	for i := from; i < to; i++ {
		in := &b.code[i]
		for ; next < in.id; next++ {
			c.before(w, next, m)
		}
		next = in.id + 1
		if c.steps++; c.steps%watchedSteps == 0 {
			if cause := w.w.run.cancelled(); cause != nil {
				w.w.stop(w, in.id, int(lowest(m)), cause)
			}
		}
		c.before(w, in.id, m)
		if m == allLanes || in.flags&flagSelf != 0 {
			in.fn(w, in)
		} else {
			w.masked(in, &b.twins[i])
		}
		w.mask = m
	}
	if to == len(b.code) {
		for ; next < b.to; next++ {
			c.before(w, next, m)
		}
	}
}
