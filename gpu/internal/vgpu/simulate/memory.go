package simulate

import (
	"math"
	"math/bits"
)

// l1 is the cache of the SM: sectored lines, least recently used.
type l1 struct {
	sets  uint64
	tags  []uint64 // line+1
	valid []uint8
	dirty []uint8 // sectors of local memory that L2 does not have yet
	age   []uint32
	fills []float64 // when the line's last sectors arrive
	clock uint32
}

const l1Ways = 16

func (c *l1) make(bytes int) {
	c.sets = uint64(max(bytes/128/l1Ways, 1))
	n := c.sets * l1Ways
	c.tags, c.valid, c.dirty, c.age, c.fills = make([]uint64, n), make([]uint8, n), make([]uint8, n), make([]uint32, n), make([]float64, n)
}

// find gives the way of a line, or the one to replace.
func (c *l1) find(line uint64) (way uint64, hit bool) {
	h := (line ^ line>>9) % c.sets * l1Ways
	c.clock++
	least := ^uint32(0)
	for q := h; q < h+l1Ways; q++ {
		if c.tags[q] == line+1 {
			c.age[q] = c.clock
			return q, true
		}
		if c.age[q] < least {
			way, least = q, c.age[q]
		}
	}
	return way, false
}

// take gives a way to a line, and tells how many dirty sectors the line had that it held.
func (c *l1) take(way, line uint64, sectors uint8) (dirty int) {
	dirty = bits.OnesCount8(c.dirty[way])
	c.tags[way], c.valid[way], c.dirty[way], c.age[way] = line+1, sectors, 0, c.clock
	return dirty
}

// share is what L2 and DRAM have still to do for this SM, as the cycle at which they are done, and sectors owed to DRAM.
type share struct {
	l2, port, dram float64
	owed           []float64 // by PTX instruction: sectors of DRAM that its requests are due
}

// sharedAccess is an access to shared or constant memory, or a shuffle, which uses the same path.
func (s *sm) sharedAccess(it *item, a *Access, t float64) float64 {
	c := s.m.lsu
	if a != nil && it.class != shuffle {
		if a.Lanes == 0 {
			c = 1
		} else {
			waves := a.Waves
			switch {
			case it.merged > 0:
				waves = a.Wide[it.merged-1]
			case it.class == atomicShared && !it.code.increment:
				waves = max(waves, a.Same) // lanes on one address one after another
			}
			c = max(c, float64(waves))
			s.stats.Wavefronts += float64(waves)
		}
	}
	begin := max(t, s.lsu)
	s.lsu = begin + c
	s.stats.LSU += c
	if it.class == atomicShared && a != nil {
		if it.code.increment {
			return begin + s.m.shared + c
		}
		return begin + 30 + 8*float64(a.Same)
	}
	return begin + float64(it.latency) + c - 1
}

// globalAccess is an access to global or local memory, and gives when its data is there.
func (s *sm) globalAccess(w *warp, it *item, a *Access, t float64) float64 {
	if a == nil || a.Lanes == 0 {
		return t + 4
	}
	if a.Lines == 0 { // a generic address that lies in shared memory
		c := max(s.m.lsu, float64(a.Waves))
		begin := max(t, s.lsu)
		s.lsu = begin + c
		s.stats.LSU += c
		return begin + s.m.shared + c
	}
	c := max(float64(a.Waves), s.m.lsu)
	s.stats.LSU += c
	begin := max(t, s.lsu)
	s.lsu = begin + c
	done := begin + s.m.l1 + c - 1
	site := it.code.index
	for _, x := range w.trace.Lines[a.At : int(a.At)+int(a.Lines)] {
		switch {
		case it.code.local:
			s.storeLocal(x, begin)
		case it.class == storeGlobal || it.class == atomicGlobal:
			s.storeLine(it, x, begin)
		default:
			done = max(done, s.loadLine(it, site, x, begin))
		}
	}
	switch it.class {
	case atomicGlobal:
		return s.share.l2 + s.m.l2
	case copyAsync:
		more := max(float64(a.Same)-c, 0) // the write into shared memory
		s.lsu += more
		s.stats.LSU += more
		w.copies.open = max(w.copies.open, done)
		return t + 4
	case storeGlobal:
		return t + 4
	}
	return done
}

// loadLine takes the sectors of one line through L1, L2 and DRAM.
func (s *sm) loadLine(it *item, site int, x uint64, begin float64) float64 {
	line, sectors := x>>5, uint8(x&15)
	s.stats.L1Sectors += float64(bits.OnesCount8(sectors))
	s.share.owed[site] += float64(bits.OnesCount8(sectors)) * s.in.dram(site)
	done := begin
	way := uint64(0)
	if !it.code.bypass {
		var hit bool
		if way, hit = s.l1.find(line); hit {
			done = max(done, s.l1.fills[way]+4)
			if sectors &^= s.l1.valid[way]; sectors == 0 {
				return done
			}
			s.l1.valid[way] |= sectors
		} else {
			s.writeBack(s.l1.take(way, line, sectors), begin)
		}
	}
	n := float64(bits.OnesCount8(sectors))
	f := s.fetch(n, math.Floor(s.share.owed[site]), begin)
	if d := min(math.Floor(s.share.owed[site]), n); d > 0 {
		s.share.owed[site] -= d
	}
	if !it.code.bypass {
		s.l1.fills[way] = f
	}
	return max(done, f)
}

// fetch brings n sectors from L2, of which some come from DRAM, and gives when.
func (s *sm) fetch(n, fromDRAM, begin float64) float64 {
	s.stats.L2Sectors += n
	s.stats.LoadedSectors += n
	s.share.port = max(begin, s.share.port) + n*32/s.m.port
	s.share.l2 = max(begin-s.m.burst, s.share.l2) + n*32/s.m.l2Bytes
	f := max(s.share.l2, s.share.port) + s.m.l2
	if d := min(fromDRAM, n); d > 0 {
		s.stats.DRAMSectors += d
		s.share.dram = max(begin-s.m.burst, s.share.dram) + d*32/s.m.dramBytes
		f = max(s.share.dram, s.share.l2, s.share.port) + s.m.dram
	}
	return f
}

// storeLocal keeps a line of local memory in L1, which writes it back only when others need the room.
func (s *sm) storeLocal(x uint64, begin float64) {
	line, sectors := x>>5, uint8(x&15)
	way, hit := s.l1.find(line)
	if !hit {
		s.writeBack(s.l1.take(way, line, sectors), begin)
		s.l1.fills[way] = 0
	}
	s.l1.valid[way] |= sectors
	s.l1.dirty[way] |= sectors
}

// writeBack sends sectors of local memory that L1 has no more room for to L2, and what L2 has no room for to DRAM.
func (s *sm) writeBack(sectors int, begin float64) {
	if sectors == 0 {
		return
	}
	n := float64(sectors)
	s.stats.L2Sectors += n
	s.share.l2 = max(begin-s.m.burst, s.share.l2) + n*32/s.m.l2Bytes
	s.stats.DRAMSectors += n * s.in.Local
	s.share.dram = max(begin-s.m.burst, s.share.dram) + n*s.in.Local*32/s.m.dramBytes
}

// storeLine sends the sectors of one line to L2. A sector that is filled in part takes L2 twice: it reads, then writes.
func (s *sm) storeLine(it *item, x uint64, begin float64) {
	n := float64(bits.OnesCount8(uint8(x & 15)))
	s.stats.L2Sectors += n
	s.stats.StoredSectors += n
	work := n
	if x&Partial != 0 {
		work *= 2
		s.stats.PartialSectors += n
	}
	s.share.l2 = max(begin-s.m.burst, s.share.l2) + work*32/s.m.l2Bytes
	if it.class == storeGlobal {
		d := n * s.in.WriteBack
		s.stats.DRAMSectors += d
		s.share.dram = max(begin-s.m.burst, s.share.dram) + d*32/s.m.dramBytes
	}
}
