package cache

import "math/bits"

// first is the L1 of an SM, empty when a launch begins. Where eviction hints move lines about, it has agedSets.
type first struct {
	groups []group
	aged   []agedSet
	of     divisor
	out    []Entry // what leaves for L2
	after  []uint8 // by how many lines of its turn each entry of out comes after the first
	turns  []turnEnd
	ctas   []cursor // of the wave

	lookups, hits uint64
}

// cursor is how far a CTA's trace has been replayed.
type cursor struct {
	trace  []Entry
	at     int
	taken  int      // lines of the run there
	starts []uint32 // where hints ask for it: the clock before each turn
	turn   int      // the next of them
}

// turnEnd tells, of a turn of an SM's CTAs, how many lines it had and how many misses it left.
type turnEnd struct{ lines, misses uint8 }

// begin empties the cache for a launch.
func (f *first) begin(sets int, aged bool) {
	f.of = divisorOf(sets)
	f.lookups, f.hits = 0, 0
	if aged {
		f.aged = emptied(f.aged, sets)
	} else {
		f.groups = emptied(f.groups, (sets+3)/4)
	}
}

// emptied is a cleared slice of n elements in the memory of an old one.
func emptied[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	old = old[:n]
	clear(old)
	return old
}

// replay takes the CTAs that the SM has in a wave through the cache, turn by turn.
func (f *first) replay(requested []uint64, hints []Hint) {
	f.out, f.after, f.turns = f.out[:0], f.after[:0], f.turns[:0]
	for left := len(f.ctas); left > 0; {
		left = 0
		for i := range f.ctas {
			c := &f.ctas[i]
			if c.at >= len(c.trace) {
				continue
			}
			f.turn(c, requested, hints)
			if c.at < len(c.trace) {
				left++
			}
		}
	}
}

// turn replays the next lines of a CTA.
func (f *first) turn(c *cursor, requested []uint64, hints []Hint) {
	before, took := len(f.out), 0
	var clock uint32
	if hints != nil {
		clock = c.starts[c.turn]
		c.turn++
	}
	for took < turn && c.at < len(c.trace) {
		e := c.trace[c.at]
		line, n, next := e.Line(), e.Lines(), c.at+1
		if n > 1 { // a run may be longer than what is left of the turn
			line += uint64(c.taken)
			if n -= c.taken; n > turn-took {
				n, next = turn-took, c.at
				c.taken += n
			} else {
				c.taken = 0
			}
		}
		c.at = next
		sectors := uint64(bits.OnesCount8(uint8(e&Sectors))) * uint64(n)
		requested[e.site()] += sectors
		switch {
		case e&Bypass != 0:
			f.put(e, line, n, took)
		case hints != nil:
			f.lookups += sectors
			f.loadHinted(e, line, n, took, clock, hints[e.site()])
		default:
			f.lookups += sectors
			f.load(e, line, n, took)
		}
		took += n
	}
	f.turns = append(f.turns, turnEnd{uint8(took), uint8(len(f.out) - before)})
}

// put hands n lines over to L2.
func (f *first) put(e Entry, line uint64, n, after int) {
	e &^= Entry(lines) << LineShift
	if n > 1 {
		e = e&^(15<<runShift) | run | Entry(n-1)<<runShift
	} else if e&run != 0 {
		e &^= run | 15<<runShift
	}
	f.out, f.after = append(f.out, e|Entry(line)<<LineShift), append(f.after, uint8(after))
}

// load looks for n lines, four at a time where their sets stand in one group.
func (f *first) load(e Entry, line uint64, n, after int) {
	sectors := uint64(e & Sectors)
	var lack [4]uint64
	missing, since := uint64(0), 0 // of the lines from since on
	for k := 0; k < n; {
		at := line + uint64(k)
		in := int(at & 3)
		many := min(n-k, 4-in)
		flip := at >> 7 & 3
		var found int
		if f.of.n&3 == 0 {
			lanes := (uint64(1)<<many - 1) << in
			found = look(&f.groups[f.of.of((at^at>>7)&^3)/4], (at&^3+1)<<tagShift, flip, lanes, sectors, &lack)
		} else {
			many = 1
			set := f.of.of(at ^ at>>7)
			flip = uint64(in) ^ set&3
			found = look(&f.groups[set/4], (at&^3+1)<<tagShift, flip, 1<<in, sectors, &lack)
		}
		switch {
		case found == allFound && missing == 0, found == noneFound && missing == sectors:
			k += many
			continue
		}
		for range many {
			if l := lack[uint64(in)^flip]; l != missing {
				f.leave(e, line, missing, since, k, after)
				missing, since = l, k
			}
			in, k = in+1, k+1
		}
	}
	f.leave(e, line, missing, since, n, after)
}

// leave hands the lines [since, to) of an entry over to L2, of which the same sectors are missing, and counts the others as hits.
func (f *first) leave(e Entry, line, missing uint64, since, to, after int) {
	n := to - since
	f.hits += uint64(n) * uint64(bits.OnesCount8(uint8(uint64(e&Sectors)&^missing)))
	if missing != 0 && n > 0 {
		f.put(e&^Sectors|Entry(missing), line+uint64(since), n, after+since)
	}
}
