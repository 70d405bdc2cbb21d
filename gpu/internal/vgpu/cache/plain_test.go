package cache

import (
	"math/bits"

	"memwall/gpu/perf"
)

// plain replays traces line by line, by what the package's documentation says and nothing else: it is what Replay is compared
// with.
type plain struct {
	l1         []map[uint64]*plainSet // by SM, then by set
	l2         map[uint64]*plainSet
	l1Sets     uint64
	l2Sets     uint64
	clock      uint32
	hints      []Hint
	counts     perf.CacheCounts
	seen       map[uint64]uint8
	requested  []uint64
	fetched    []uint64
	waveTraces []trace
	waveLines  int
	resident   int
}

type plainSet struct{ ways []*plainWay }

type plainWay struct {
	line         uint64
	age          uint64
	valid, dirty uint8
	words        [4]uint8 // that partial stores have brought to sectors without their old contents; 0: all
}

func newPlain(l2Bytes int) *plain {
	return &plain{l2: map[uint64]*plainSet{}, l2Sets: uint64(max(l2Bytes/2048, 1))}
}

func (p *plain) begin(l *Launch) {
	p.l1, p.l1Sets = make([]map[uint64]*plainSet, l.SMs), uint64(max(l.L1Bytes/512, 1))
	for i := range p.l1 {
		p.l1[i] = map[uint64]*plainSet{}
	}
	if !l.Warm {
		p.l2 = map[uint64]*plainSet{}
	}
	p.hints, p.resident = l.Hints, l.Resident
	p.counts, p.seen = perf.CacheCounts{}, map[uint64]uint8{}
	p.requested, p.fetched = make([]uint64, len(l.Hints)), make([]uint64, len(l.Hints))
}

// find gives the way of a line in one of the sets; where it is new, also who had to leave.
func find(sets map[uint64]*plainSet, at uint64, ways int, line uint64) (w, left *plainWay) {
	s := sets[at]
	if s == nil {
		s = &plainSet{}
		sets[at] = s
	}
	for _, w := range s.ways {
		if w.line == line {
			return w, nil
		}
	}
	w = &plainWay{line: line}
	if len(s.ways) < ways {
		s.ways = append(s.ways, w)
		return w, nil
	}
	oldest := 0
	for i, x := range s.ways {
		if x.age < s.ways[oldest].age {
			oldest = i
		}
	}
	left, s.ways[oldest] = s.ways[oldest], w
	return w, left
}

// add replays a trace with the others of its wave.
func (p *plain) add(sm int, entries []Entry) {
	p.waveTraces = append(p.waveTraces, trace{sm, entries})
	p.waveLines += Lines(entries)
	if len(p.waveTraces) >= p.resident || p.waveLines > maxWave {
		p.wave()
	}
}

// single writes a trace without runs.
func single(entries []Entry) (out []Entry) {
	for _, e := range entries {
		flags := e &^ (Entry(lines)<<LineShift | run | 15<<runShift)
		if e&run == 0 {
			flags |= e & (15 << fillShift)
		}
		for k := range uint64(e.Lines()) {
			out = append(out, flags|Entry(e.Line()+k)<<LineShift)
		}
	}
	return out
}

func (p *plain) wave() {
	left := make([][]Entry, len(p.waveTraces))
	for i, t := range p.waveTraces {
		left[i] = single(t.entries)
	}
	for more := true; more; {
		more = false
		for i, t := range p.waveTraces {
			n := min(len(left[i]), turn)
			for _, e := range left[i][:n] {
				p.access(t.sm, e)
			}
			left[i] = left[i][n:]
			more = more || len(left[i]) > 0
		}
	}
	p.waveTraces, p.waveLines = nil, 0
}

func count(sectors uint8) uint64 { return uint64(bits.OnesCount8(sectors)) }

// access takes a line through the caches.
func (p *plain) access(sm int, e Entry) {
	p.clock++
	line, sectors, hint := e.Line(), uint8(e&Sectors), p.hints[e.site()]
	p.requested[e.site()] += count(sectors)
	if e&Write == 0 || e&Atomic != 0 {
		p.counts.DistinctRead += count(sectors &^ p.seen[line])
		p.seen[line] |= sectors
	}
	if e&Write != 0 {
		p.counts.DistinctWritten += count(sectors << 4 &^ p.seen[line])
		p.seen[line] |= sectors << 4
	}
	if e&Bypass == 0 {
		w, _ := find(p.l1[sm], (line^line>>7)%p.l1Sets, l1Ways, line)
		w.age = hint.inL1(p.clock)
		p.counts.L1Lookups += count(sectors)
		p.counts.L1Hits += count(sectors & w.valid)
		sectors, w.valid = sectors&^w.valid, w.valid|sectors
		if sectors == 0 {
			return
		}
	}
	w, left := find(p.l2, (line^line>>13^line>>23)%p.l2Sets, l2Ways, line)
	if left != nil {
		p.writeBack(left)
	}
	w.age = uint64(hint.inL2(p.clock))
	p.counts.L2Lookups += count(sectors)
	if e&Write == 0 || e&Atomic != 0 {
		p.counts.L2Hits += count(sectors & w.valid)
		if miss := sectors &^ w.valid; miss != 0 {
			miss = (miss | miss>>1&5 | miss<<1&10) &^ w.valid // 64 bytes at a time
			p.counts.DRAMReadSectors += count(miss)
			p.fetched[e.site()] += count(miss)
			w.valid |= miss
		}
	} else {
		p.counts.L2Hits += count(sectors)
		for s := range w.words {
			if bit := uint8(1 << s); sectors&bit != 0 {
				partial := w.dirty&bit != 0 && w.words[s] > 0 && w.words[s] < 8
				switch {
				case e.fill() == 0:
					w.words[s] = 0
				case w.valid&bit == 0 || partial:
					w.words[s] = min(w.words[s]+e.fill(), 8)
				}
			}
		}
	}
	w.valid |= sectors
	if e&Write != 0 {
		w.dirty |= sectors
	}
}

// writeBack writes a line's dirty sectors, and reads what they lack.
func (p *plain) writeBack(w *plainWay) {
	p.counts.DRAMWriteSectors += count(w.dirty)
	for s, n := range w.words {
		if w.dirty>>s&1 != 0 && n > 0 && n < 8 {
			p.counts.DRAMReadSectors++
		}
	}
	w.dirty, w.words = 0, [4]uint8{}
}

func (p *plain) finish() perf.CacheCounts {
	p.wave()
	for _, s := range p.l2 {
		for _, w := range s.ways {
			p.writeBack(w)
		}
	}
	return p.counts
}
