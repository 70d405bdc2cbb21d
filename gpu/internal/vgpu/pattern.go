package vgpu

import (
	"math/bits"

	"memwall/gpu/internal/vgpu/cache"
)

// site is what a worker keeps for one memory instruction: the allocation that it touched last, its counts, and the
// address patterns that it saw.
type site struct {
	low, high                  uint64 // the window: bytes of the allocation touched last behind which host memory stands
	alloc                      *allocation
	global                     globalCounts
	local                      globalCounts
	shared                     sharedCounts
	atomicGlobal, atomicShared atomicCounts
	memo                       [4]pattern // global accesses: by the first lane's sector in its line
	bank                       bankPattern
	pages                      pinned // of procedural contents, held by the window
}

type globalCounts struct{ requests, lanes, bytes, sectors, ideal, lines uint64 }
type atomicCounts struct{ requests, distinct, passes uint64 }
type sharedCounts struct{ requests, lanes, bytes, waves, ideal uint64 }

const sectorBytes = 32

// pattern is one way in which the lanes' addresses lie to each other, with what it touches.
type pattern struct {
	valid   bool
	phase   uint8 // the least place in its sector that the first lane may have while each lane stays in its own sector
	span    uint8 // and how far beyond it may lie
	mask    uint32
	size    uint64
	delta   [32]uint64 // from the first active lane
	keep    [32]uint64 // all ones for active lanes
	low     uint64     // of the lowest byte, from the first active lane (two's complement)
	high    uint64     // behind the highest
	sectors uint64
	lines   uint64
	touched []lineBytes
	entries []cache.Entry // of a trace, from the line of the lowest byte
}

// lineBytes is one 128-byte line that a pattern touches.
type lineBytes struct {
	line    uint64 // from the first active lane's line
	sectors uint8
	bytes   [4]uint16 // of each sector
}

func lowest(m uint32) uint { return uint(bits.TrailingZeros32(m)) & 31 }

// contiguous reports whether lane i's address is a[0] + i·size, for all lanes.
func contiguous(a *[32]uint64, size uint64) bool {
	x := a[0]
	var differ uint64
	for i := range a {
		differ |= a[i] ^ x
		x += size
	}
	return differ == 0
}

// matches reports whether the active lanes' addresses lie as in the pattern.
func (p *pattern) matches(a *[32]uint64, first uint64, mask uint32, size uint64) bool {
	if !p.valid || p.mask != mask || p.size != size || uint8(first&(sectorBytes-1))-p.phase > p.span {
		return false
	}
	var differ uint64
	if mask == allLanes {
		for i := range a {
			differ |= a[i] - first ^ p.delta[i]
		}
	} else {
		for i := range a {
			differ |= (a[i] - first ^ p.delta[i]) & p.keep[i]
		}
	}
	return differ == 0
}

// learn works out a pattern from addresses that are aligned to size; of a store also how much of the sectors it fills.
func (p *pattern) learn(a *[32]uint64, first uint64, mask uint32, size uint64, store bool) {
	*p = pattern{valid: true, mask: mask, size: size, touched: p.touched[:0], entries: p.entries[:0]}
	down, up := uint64(sectorBytes), uint64(sectorBytes) // how far the lanes may move
	firstLine := first >> 7
	low, high, before := first, first+size, ^uint64(0)
	for m := mask; m != 0; m &= m - 1 {
		i := lowest(m)
		p.keep[i] = ^uint64(0)
		p.delta[i] = a[i] - first
		down, up = min(down, a[i]&(sectorBytes-1)), min(up, sectorBytes-(a[i]+size-1)&(sectorBytes-1)-1)
		low, high = min(low, a[i]), max(high, a[i]+size)
		for s := a[i] >> 5; s <= (a[i]+size-1)>>5; s++ {
			covered := min(a[i]+size, s<<5+32) - max(a[i], s<<5)
			if a[i] == before {
				covered = 0 // the bytes of the lane before
			}
			p.add(s>>2-firstLine, uint(s&3), covered)
		}
		before = a[i]
	}
	p.low, p.high = low-first, high-first
	p.phase, p.span = uint8(first&(sectorBytes-1)-down), uint8(down+up)
	p.lines = uint64(len(p.touched))
	p.enter(firstLine-low>>7, store)
}

// enter writes the pattern's entries; up is how far the first lane's line lies above the lowest. Sectors that are covered only in
// part have entries of their own.
func (p *pattern) enter(up uint64, store bool) {
	var parts []cache.Entry
	for k := range p.touched {
		t := &p.touched[k]
		p.sectors += uint64(bits.OnesCount8(t.sectors))
		part, least := uint8(0), uint16(32)
		for s, n := range t.bytes {
			if t.sectors>>s&1 != 0 && n < 32 {
				part |= 1 << s
				least = min(least, n)
			}
		}
		fill := cache.Entry(0)
		if store {
			fill = cache.Fill(uint64(least))
		}
		line := cache.Entry(t.line+up) << cache.LineShift
		switch {
		case part == t.sectors:
			p.entries = append(p.entries, line|fill|cache.Entry(part))
		case part != 0:
			parts = append(parts, line|fill|cache.Entry(part))
			fallthrough
		default:
			p.entries = append(p.entries, line|cache.Entry(t.sectors&^part))
		}
	}
	p.entries = cache.Join(append(p.entries, parts...))
}

// add notes that bytes of a sector of a line are accessed.
func (p *pattern) add(line uint64, sector uint, bytes uint64) {
	k := len(p.touched) - 1
	for k >= 0 && p.touched[k].line != line {
		k--
	}
	if k < 0 {
		k = len(p.touched)
		p.touched = append(p.touched, lineBytes{line: line})
	}
	e := &p.touched[k]
	e.sectors |= 1 << sector
	e.bytes[sector&3] += uint16(bytes)
}

// bankPattern is a pattern of shared-memory addresses. Bank conflicts depend only on the distances of the lanes, and
// for accesses below 4 bytes on the first one's place in its word.
type bankPattern struct {
	valid  bool
	phase  uint8
	mask   uint32
	size   uint64
	delta  [32]uint64
	keep   [32]uint64
	low    uint64
	high   uint64
	waves  uint64
	phases uint64
}

func (p *bankPattern) matches(a *[32]uint64, first uint64, mask uint32, size uint64) bool {
	if !p.valid || p.mask != mask || p.size != size || p.phase != uint8(first&3) {
		return false
	}
	var differ uint64
	if mask == allLanes {
		for i := range a {
			differ |= a[i] - first ^ p.delta[i]
		}
	} else {
		for i := range a {
			differ |= (a[i] - first ^ p.delta[i]) & p.keep[i]
		}
	}
	return differ == 0
}

func (p *bankPattern) learn(a *[32]uint64, first uint64, mask uint32, size uint64) {
	*p = bankPattern{valid: true, phase: uint8(first & 3), mask: mask, size: size}
	low, high := first, first+size
	for m := mask; m != 0; m &= m - 1 {
		i := lowest(m)
		p.keep[i] = ^uint64(0)
		p.delta[i] = a[i] - first
		low, high = min(low, a[i]), max(high, a[i]+size)
	}
	p.low, p.high = low-first, high-first
	p.waves, p.phases = wavefronts(a, mask, size)
}

// wavefronts counts the passes that an access to shared memory takes, and those that it would take without bank
// conflicts: accesses of up to 4 bytes go in one phase of 32 lanes, of 8 bytes in two of 16, of 16 bytes in four of 8;
// a phase takes as many passes as the most loaded of the 32 banks has distinct words (hardware.md).
func wavefronts(a *[32]uint64, mask uint32, size uint64) (waves, phases uint64) {
	lanes, words := 32, uint64(1)
	if size > 4 {
		words = size / 4
		lanes = 32 / int(words)
	}
	for from := 0; from < 32; from += lanes {
		part := mask >> from
		if lanes < 32 {
			part &= 1<<lanes - 1
		}
		if part == 0 {
			continue
		}
		phases++
		// The distinct words of each bank, at most 32 of all, in lists.
		var count, first, next [32]uint8
		var seen [32]uint64
		n := uint8(0)
		var most uint8
		for ; part != 0; part &= part - 1 {
			low := a[(uint(from)+lowest(part))&31] >> 2
			for word := low; word < low+words; word++ {
				bank := word & 31
				at := first[bank]
				for at != 0 && seen[(at-1)&31] != word {
					at = next[(at-1)&31]
				}
				if at == 0 {
					seen[n&31], next[n&31] = word, first[bank]
					n++
					first[bank] = n
					count[bank]++
					most = max(most, count[bank])
				}
			}
		}
		waves += uint64(most)
	}
	return waves, phases
}
