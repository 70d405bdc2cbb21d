package cache

import (
	"slices"
	"unsafe"
)

// vectorTurn is what the assembly knows of a turn.
type vectorTurn struct {
	trace     unsafe.Pointer // entries
	at, end   int            // the next one, and their number
	groups    unsafe.Pointer
	inverse   uint64 // of the divisor
	sets      uint64
	out       unsafe.Pointer // where entries go that leave for L2, with room for a turn's
	after     unsafe.Pointer // and by how many lines each comes after the first
	left      int            // entries that left
	requested unsafe.Pointer // sectors by site
	took      int            // lines of the turn
	lookups   uint64
	hits      uint64
	lines     int                // of the entry that are in this turn
	sectors   uint64             // of these lines
	taken     int                // lines of the entry that were in the turn before
	rest      int                // its other lines
	lack      [mostRun][4]uint64 // by group and lane; runs that do not begin with a group have one group more, and a line less
}

// The offsets in the assembly.
var (
	_ = [1]struct{}{}[unsafe.Offsetof(vectorTurn{}.lack)-136]
	_ = [1]struct{}{}[unsafe.Sizeof(group{})-128]
)

// vectorLoads replays entries of loads, four lines at a time, until the turn ends or until one comes that is no load. mixed tells that it has come to an entry some of whose sectors were found and some not: lack says which, and the
// caller puts it down and goes on behind it. It equals the loop in turn (first.go) for such entries.
//
//go:noescape
func vectorLoads(t *vectorTurn) (mixed bool)

// loads replays the loads that come next in a turn of a CTA, as far as vectors can; took is how many lines the turn has had.
func (f *first) loads(w *tally, c *cursor, took int) int {
	if !vectors || f.of.n&3 != 0 {
		return took
	}
	t := &w.vectors
	t.trace, t.at, t.end = unsafe.Pointer(unsafe.SliceData(c.trace)), c.at, len(c.trace)
	t.groups, t.inverse, t.sets = unsafe.Pointer(unsafe.SliceData(f.groups)), f.of.inverse, f.of.n
	t.requested, t.took, t.taken = unsafe.Pointer(unsafe.SliceData(w.requested)), took, c.taken
	for mixed := true; mixed; {
		f.out, f.after = slices.Grow(f.out, turn), slices.Grow(f.after, turn)
		t.out, t.after, t.left = unsafe.Pointer(unsafe.SliceData(f.out)), unsafe.Pointer(unsafe.SliceData(f.after)), len(f.out)
		mixed = vectorLoads(t)
		f.out, f.after = f.out[:t.left], f.after[:t.left]
		if mixed {
			e := c.trace[t.at]
			line := e.Line() + uint64(t.taken)
			f.leaving(w, e, line, t.lines, t.took, func(k int) uint64 {
				at := line + uint64(k)
				return t.lack[(at>>2-line>>2)&(mostRun-1)][(at^at>>7)&3]
			})
			t.took += t.lines
			if t.taken += t.lines; t.lines == t.rest {
				t.at, t.taken = t.at+1, 0
			}
		}
	}
	c.at, c.taken = t.at, t.taken
	w.lookups, w.hits, t.lookups, t.hits = w.lookups+t.lookups, w.hits+t.hits, 0, 0
	return t.took
}
