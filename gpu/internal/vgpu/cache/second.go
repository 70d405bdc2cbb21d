package cache

import (
	"encoding/binary"
	"math/bits"

	"memwall/gpu/perf"
)

// second is the L2. It begins a cold launch with the state of each line in the line's page. That is enough while every set has
// had at most as many lines as ways, since then nothing was evicted. When one more comes, the sets are made from the pages, and
// the launch goes on with them.
type second struct {
	of        divisor
	lines     []uint8 // that each set has had
	born      uint32  // lines that have come
	pages     pages
	soiled    []*page // with dirty lines
	mostPages int     // with lines in L2
	hints     []Hint  // by site; nil where none has any
	fetched   []uint64
	counts    perf.CacheCounts
	dirty     uint64 // sectors

	crowded bool // sets hold the state
	sets    []set
	filled  []filledWays // beside sets
	written []uint32     // sets with dirty lines
	epoch   uint64
	sink    uint32 // of what is only touched
}

// dramPairs widens sectors to what DRAM moves: two neighbours of 64 bytes.
func dramPairs(sectors uint8) uint8 { return sectors | sectors>>1&5 | sectors<<1&10 }

func (l *second) place(line uint64) uint64 { return l.of.of(line ^ line>>13 ^ line>>23) }

// begin prepares for a launch; a cold one finds the cache empty.
func (l *second) begin(cold bool, hints []Hint, sites int) {
	l.counts, l.dirty, l.hints = perf.CacheCounts{}, 0, hints
	l.fetched = emptied(l.fetched, sites)
	if !cold {
		l.pages.forget()
		return
	}
	l.pages.reset(l.mostPages)
	clear(l.lines)
	l.born = 0
	l.soiled = l.soiled[:0]
	l.crowded = false
	l.epoch++
}

// turn takes what left an L1 in a turn through the cache: entries, by how many lines each comes after the first, and the clock before
// the turn.
func (l *second) turn(entries []Entry, after []uint8, clock uint32) {
	after = after[:len(entries)]
	for k, e := range entries {
		if now := clock + uint32(after[k]); !l.quick(e, now) {
			l.take(e, now)
		}
	}
}

// quick takes a load of one whole quad, or of a line that has a state of its own, through the cache, as most loads are; false: it
// did nothing, since something is otherwise.
func (l *second) quick(e Entry, clock uint32) bool {
	line := e.Line()
	near := &l.pages.near[line/pageLines%nearPages]
	if near.after != line/pageLines+1 || near.quads == nil || l.hintOf(e) != 0 {
		return false
	}
	const form = Write | run | 15<<runShift | Sectors | 3<<LineShift
	q := &near.quads[line/quadLines%(pageLines/quadLines)]
	switch {
	case e&form == run|(quadLines-1)<<runShift|Sectors:
		return l.inQuad(e, q, line, clock)
	case e&(Write|run) == 0 && *q&quadSpread != 0:
		return l.inLine(e, &near.page.lines[line%pageLines], line, clock)
	}
	return false
}

// inLine takes a load of one line through the cache; false: it did nothing, since the line cannot come in.
func (l *second) inLine(e Entry, state *lineState, line uint64, clock uint32) bool {
	s := *state
	if s == 0 {
		if !l.enter(line) {
			return false
		}
		s = lineState(l.born-1) << bornShift
	}
	sectors := lineState(e & Sectors)
	l.counts.L2Lookups += uint64(bits.OnesCount8(uint8(sectors)))
	l.counts.DistinctRead += uint64(bits.OnesCount8(uint8(sectors &^ (s >> readShift))))
	if miss := uint8(sectors &^ s); miss != 0 {
		l.counts.L2Hits += uint64(bits.OnesCount8(uint8(sectors & s)))
		fetched := dramPairs(miss) &^ s.valid()
		n := uint64(bits.OnesCount8(fetched))
		l.counts.DRAMReadSectors += n
		l.fetched[e.site()] += n
		s |= lineState(fetched)
	} else {
		l.counts.L2Hits += uint64(bits.OnesCount8(uint8(sectors)))
	}
	*state = s&(1<<ageShift-1) | sectors | sectors<<readShift | lineState(clock+1)<<ageShift
	return true
}

// inQuad takes a load of a whole quad through the cache; false: it did nothing, since the quad is spread or cannot come in.
func (l *second) inQuad(e Entry, q *quad, line uint64, clock uint32) bool {
	was := *q
	if was&quadSpread != 0 || was == 0 && !l.enter4(line) {
		return false
	}
	const sectors = 4 * quadLines
	now := quad(clock+1)<<ageShift | quadWhole | quadRead
	l.counts.L2Lookups += sectors
	if was == 0 {
		*q = now | quad(l.born-quadLines)<<bornShift
		l.counts.DRAMReadSectors += sectors
		l.counts.DistinctRead += sectors
		l.fetched[e.site()] += sectors
		return true
	}
	*q = now | was&(mostBorn<<bornShift)
	l.counts.L2Hits += sectors
	if was&quadRead == 0 {
		l.counts.DistinctRead += sectors
	}
	return true
}

// take takes the lines of an entry through the cache; clock is that of the line before.
func (l *second) take(e Entry, clock uint32) {
	line, n := e.Line(), e.Lines()
	for n > 0 {
		if l.crowded {
			l.inSets(e, line, n, clock)
			return
		}
		k := min(n, pageLines-int(line%pageLines))
		done := l.inPage(e, line, k, clock)
		if done < k {
			l.crowd()
		}
		line, n, clock = line+uint64(done), n-done, clock+uint32(done)
	}
}

// inPage takes lines of one page through the cache, until one would have to evict another; it tells how many.
func (l *second) inPage(e Entry, line uint64, n int, clock uint32) int {
	p, at := l.pages.page(line/pageLines), int(line%pageLines)
	if p.quads == nil {
		if l.pages.quads.used >= l.mostPages {
			return 0
		}
		l.pages.hold(p)
	}
	whole := e&(Write|Sectors) == Sectors && l.hintOf(e) == 0
	for done := 0; done < n; {
		i := at + done
		if many := min(n-done, quadLines-i%quadLines); many == quadLines && whole && l.inQuad(e, &p.quads[i/quadLines], line+uint64(done), clock) {
			done, clock = done+quadLines, clock+quadLines
			continue
		}
		if p.quads[i/quadLines]&quadSpread == 0 {
			l.pages.spread(p, i/quadLines)
		}
		s := p.lines[i]
		clock++
		if s == 0 {
			if !l.enter(line + uint64(done)) {
				return done
			}
			s = lineState(l.born-1) << bornShift
		}
		if e&(Write|Atomic) == Write {
			l.fill(p, i, e, s)
		}
		p.lines[i] = l.pass(s, e, clock)
		if e&Write != 0 && !p.dirty {
			p.dirty = true
			l.soiled = append(l.soiled, p)
		}
		done++
	}
	return n
}

// pass counts an access to a line in a state, and gives its new state.
func (l *second) pass(s lineState, e Entry, clock uint32) lineState {
	seen := s.seen()
	l.see(&seen, e)
	state := l.step(s.valid()|s.written()<<4, e)
	return s&(mostBorn<<bornShift) | lineState(state&15)<<validShift | lineState(seen)<<readShift | lineState(l.age(e, clock))<<ageShift
}

// fill notes how far a store fills the sectors of a line.
func (l *second) fill(p *page, i int, e Entry, s lineState) {
	if p.partial == nil {
		if e.fill() == 0 {
			return
		}
		p.partial = new([pageLines]filledSectors)
	}
	p.partial[i].store(e.fill(), uint8(e&Sectors), s.valid(), s.written())
}

// age is that of a line just used.
func (l *second) age(e Entry, clock uint32) uint32 {
	return l.hintOf(e).inL2(clock)
}

// hintOf is the hint for L2 of an entry's site.
func (l *second) hintOf(e Entry) Hint {
	if l.hints == nil {
		return 0
	}
	return l.hints[e.site()] & hintsL2
}

// enter counts a line that its set has not had; false: the set is full.
func (l *second) enter(line uint64) bool {
	n := &l.lines[l.place(line)]
	if *n == l2Ways || l.born == mostBorn {
		return false
	}
	*n++
	l.born++
	return true
}

// enter4 is enter for four lines, all or none. The sets of four neighbours are neighbours.
func (l *second) enter4(line uint64) bool {
	if line&3 == 0 && l.of.n&3 == 0 {
		const full, one = 0x01010101 * l2Ways, 0x01010101
		n := l.lines[l.place(line)&^3:]
		n = n[:4]
		had := binary.LittleEndian.Uint32(n)
		if had&full != 0 || l.born+4 > mostBorn {
			return false
		}
		binary.LittleEndian.PutUint32(n, had+one)
		l.born += 4
		return true
	}
	for k := range uint64(4) {
		if !l.enter(line + k) {
			for ; k > 0; k-- {
				l.lines[l.place(line+k-1)]--
				l.born--
			}
			return false
		}
	}
	return true
}

// see notes which sectors the launch has touched. What hits in L1 need not be noted: it was when it came.
func (l *second) see(seen *uint8, e Entry) {
	sectors := uint8(e & Sectors)
	if e&(Write|Atomic) != Write {
		fresh := sectors &^ *seen
		l.counts.DistinctRead += uint64(bits.OnesCount8(fresh))
		*seen |= fresh
	}
	if e&Write != 0 {
		fresh := sectors << 4 &^ *seen
		l.counts.DistinctWritten += uint64(bits.OnesCount8(fresh))
		*seen |= fresh
	}
}

// step counts an access to a line with a state, valid sectors and dirty ones above, and gives its new state. A write hits by
// allocating (a vector add reads a third of what it moves); an atomic needs the old value.
func (l *second) step(state uint8, e Entry) uint8 {
	sectors, valid := uint8(e&Sectors), state&15
	l.counts.L2Lookups += uint64(bits.OnesCount8(sectors))
	var fetched uint8
	if e&(Write|Atomic) != Write {
		if fetched = sectors &^ valid; fetched != 0 {
			l.counts.L2Hits += uint64(bits.OnesCount8(sectors &^ fetched))
			fetched = dramPairs(fetched) &^ valid
			n := uint64(bits.OnesCount8(fetched))
			l.counts.DRAMReadSectors += n
			l.fetched[e.site()] += n
		} else {
			l.counts.L2Hits += uint64(bits.OnesCount8(sectors))
		}
	} else {
		l.counts.L2Hits += uint64(bits.OnesCount8(sectors))
	}
	if e&Write == 0 {
		return state | sectors | fetched
	}
	l.dirty += uint64(bits.OnesCount8(sectors &^ (state >> 4)))
	return valid | fetched | sectors | (state>>4|sectors)<<4
}

// crowd makes the sets from the pages.
func (l *second) crowd() {
	l.crowded = true
	if l.sets == nil {
		l.sets, l.filled = make([]set, l.of.n), make([]filledWays, l.of.n)
	}
	born := make([][l2Ways]uint32, l.of.n) // by set: lines of one age are told apart by the order of their ways
	clear(l.lines)
	for _, p := range l.pages.list {
		p.seen = l.pages.seen.next()
		if p.quads == nil {
			continue
		}
		for i := range pageLines {
			s := p.line(i)
			if s == 0 {
				continue
			}
			p.seen[i] = s.seen()
			line := p.at*pageLines + uint64(i)
			at := l.place(line)
			way := l.makeRoom(at, int(l.lines[at]), s.born(), &born[at])
			l.lines[at]++
			l.settle(at, way, line, s, p.filled(i))
		}
		p.quads, p.lines, p.partial, p.dirty = nil, nil, nil, false
	}
	clear(l.pages.near[:])
	l.pages.quads.reset(l.mostPages)
	l.pages.lines.reset(l.mostPages)
	l.soiled = l.soiled[:0]
}

// settle puts a line into a way of a set.
func (l *second) settle(at uint64, way int, line uint64, state lineState, filled filledSectors) {
	s := &l.sets[at]
	if s.epoch != l.epoch {
		*s = set{epoch: l.epoch}
	}
	s.tags[way], s.age[way], s.state[way] = uint32(line+1), state.age(), state.valid()|state.written()<<4
	if filled != (filledSectors{}) && !s.partial {
		s.partial, l.filled[at] = true, filledWays{}
	}
	if s.partial {
		l.filled[at][way] = filled
	}
	if state.written() != 0 && !s.listed {
		s.listed = true
		l.written = append(l.written, uint32(at))
	}
}

// makeRoom frees the way of a line among the n of a set, which stand in the order in which they came.
func (l *second) makeRoom(at uint64, n int, came uint32, born *[l2Ways]uint32) int {
	s := &l.sets[at]
	way := n
	for ; way > 0 && born[way-1] > came; way-- {
		born[way] = born[way-1]
		s.tags[way], s.age[way], s.state[way] = s.tags[way-1], s.age[way-1], s.state[way-1]
		l.filled[at][way] = l.filled[at][way-1]
	}
	born[way] = came
	return way
}

// finish ends a launch: what is dirty is written back and counted.
func (l *second) finish() {
	l.counts.DRAMWriteSectors += l.dirty
	l.dirty = 0
	l.cleanSets(true)
	for _, p := range l.soiled {
		if p.partial != nil {
			for i, s := range p.lines { // what was written is spread
				l.counts.DRAMReadSectors += uint64(bits.OnesCount8(p.partial[i].holes(s.written())))
			}
		}
		p.dirty, p.partial = false, nil
	}
	l.soiled = l.soiled[:0]
}

// drop empties the cache after a launch that did not end.
func (l *second) drop() {
	l.cleanSets(false)
	l.begin(true, nil, 0)
}
