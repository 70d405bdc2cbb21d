package cache

import "math/bits"

// first is the L1 of an SM, empty when a launch begins. From the wave on in which an eviction hint moves lines about, it has agedSets.
type first struct {
	groups []group
	aged   []agedSet
	of     divisor
	out    []Entry // what leaves for L2
	after  []uint8 // by how many lines of its turn each entry of out comes after the first
	turns  []turnEnd
	ctas   []cursor // of the wave
}

// cursor is how far a CTA's trace has been replayed.
type cursor struct {
	trace  []Entry
	at     int
	taken  int      // lines of the run there
	starts []uint32 // where hints ask for it: the clock before each turn
	turns  int      // that it has had
}

// turnEnd tells, of a turn of an SM's CTAs, how many lines it had and how many misses it left.
type turnEnd struct{ lines, misses uint8 }

// begin empties the cache for a launch.
func (f *first) begin(sets int) {
	f.of = divisorOf(sets)
	f.groups = emptied(f.groups, (sets+3)/4)
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

// tally is what a worker counts that replays L1s.
type tally struct {
	requested     []uint64 // sectors by site
	lookups, hits uint64
	vectors       vectorTurn
}

// replay takes the CTAs that the SM has in a wave through the cache, turn by turn.
func (f *first) replay(w *tally, hints []Hint) {
	f.out, f.after, f.turns = f.out[:0], f.after[:0], f.turns[:0]
	for left := len(f.ctas); left > 0; {
		left = 0
		for i := range f.ctas {
			c := &f.ctas[i]
			if c.at >= len(c.trace) {
				continue
			}
			f.turn(w, c, hints)
			if c.at < len(c.trace) {
				left++
			}
		}
	}
}

// turn replays the next lines of a CTA.
func (f *first) turn(w *tally, c *cursor, hints []Hint) {
	before, took := len(f.out), 0
	var clock uint32
	if hints != nil {
		clock = c.starts[c.turns]
	} else {
		took = f.loads(w, c, took)
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
		w.requested[e.site()] += sectors
		switch {
		case e&Bypass != 0:
			f.put(e, line, n, took)
			took += n
			continue
		case hints != nil:
			f.loadHinted(w, e, line, n, took, clock, hints[e.site()])
		default:
			f.leaving(w, e, line, n, took, func(k int) uint64 {
				at := line + uint64(k)
				set := f.of.of(at ^ at>>7)
				return f.groups[set/4].look(set, at, uint64(e&Sectors))
			})
		}
		w.lookups += sectors
		if took += n; hints == nil {
			took = f.loads(w, c, took)
		}
	}
	c.turns++
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

// leaving hands over to L2 what n lines of an entry lack, which the function tells of each of them, and counts the hits.
func (f *first) leaving(w *tally, e Entry, line uint64, n, after int, lack func(k int) uint64) {
	missing, since := uint64(0), 0 // of the lines from since on
	leave := func(to int) {
		w.hits += uint64(to-since) * uint64(bits.OnesCount8(uint8(uint64(e&Sectors)&^missing)))
		if missing != 0 && to > since {
			f.put(e&^Sectors|Entry(missing), line+uint64(since), to-since, after+since)
		}
	}
	for k := range n {
		if l := lack(k); l != missing {
			leave(k)
			missing, since = l, k
		}
	}
	leave(n)
}
