package vgpu

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// Caches. Each CTA leaves a trace of the lines it touched. Traces are replayed in the grid's order: CTA i runs on SM
// i mod SMs; the CTAs that are resident together (a wave, as many as SMs, shared memory, registers and threads allow)
// take turns of a few lines. Loads look at the L1 of their SM first; what misses there, stores and atomics go to one
// L2, which writes back. Lines have 128 bytes in sectors of 32; L1 fetches the sectors that are asked for, L2 fetches from
// DRAM in pairs of 64 bytes. A sector that stores have filled only in part is completed from DRAM before it is written
// back. Eviction hints of PTX choose who leaves a set first.
const (
	turn        = 32      // lines of a CTA's trace before the next CTA's turn
	maxTrace    = 2 << 20 // entries of one CTA; a longer trace is replayed in parts
	maxWave     = 4 << 20 // trace entries of a wave; a longer one is replayed in parts
	l1Ways      = 4
	l2Ways      = 16
	tracesAhead = 64 // CTAs that workers may be ahead of the replay
)

// Sets of the two caches: sectored lines, least-recently-used replacement. A set of L1 is one cache line of the host. A
// tag carries the epoch it was written in, so that emptying a cache costs nothing.
type l1Set struct {
	tags   [l1Ways]uint64 // epoch<<40 | line+1
	age    [l1Ways]uint32
	valid  [l1Ways]uint8 // sectors
	recent uint8         // the way that was used last
	_      [11]uint8
}

type l2Set struct {
	tags   [l2Ways]uint64
	age    [l2Ways]uint32
	valid  [l2Ways]uint8
	dirty  [l2Ways]uint8
	filled [l2Ways][4]uint8 // of a sector without its old contents: words that partial stores have brought; 0: all
	recent uint8
	_      [31]uint8
}

// find gives the way of a line; a new line takes the place of the least recently used one.
func (s *l1Set) find(tag uint64, clock uint32) uint8 {
	if k := s.recent & (l1Ways - 1); s.tags[k] == tag {
		s.age[k] = clock
		return k
	}
	way, least := uint8(0), ^uint32(0)
	for k, t := range &s.tags {
		if t == tag {
			s.recent, s.age[k] = uint8(k), clock
			return uint8(k)
		}
		age := s.age[k]
		if t>>40 != tag>>40 { // of an earlier launch: empty
			age = 0
		}
		if age < least {
			way, least = uint8(k), age
		}
	}
	way &= l1Ways - 1
	s.tags[way], s.age[way], s.valid[way], s.recent = tag, clock, 0, way
	return way
}

// find gives the way of a line, and the dirty sectors of the one that had to leave for it, of which some were filled in
// part.
func (s *l2Set) find(tag uint64, clock uint32) (way, evicted, holes uint8) {
	if k := s.recent & (l2Ways - 1); s.tags[k] == tag {
		s.age[k] = clock
		return k, 0, 0
	}
	least := ^uint32(0)
	for k, t := range &s.tags {
		if t == tag {
			s.recent, s.age[k] = uint8(k), clock
			return uint8(k), 0, 0
		}
		age := s.age[k]
		if t>>40 != tag>>40 {
			age = 0
		}
		if age < least {
			way, least = uint8(k), age
		}
	}
	way &= l2Ways - 1
	if s.tags[way]>>40 == tag>>40 {
		evicted = s.dirty[way]
		holes = s.holes(way)
	}
	s.tags[way], s.age[way], s.valid[way], s.dirty[way], s.filled[way], s.recent = tag, clock, 0, 0, [4]uint8{}, way
	return way, evicted, holes
}

// sectorWords is how many words fill a sector.
const sectorWords = 8

// holes are the dirty sectors of a way that lack a part.
func (s *l2Set) holes(way uint8) (sectors uint8) {
	for i, n := range s.filled[way&(l2Ways-1)] {
		if n > 0 && n < sectorWords {
			sectors |= 1 << i
		}
	}
	return sectors & s.dirty[way&(l2Ways-1)]
}

// dramPairs widens sectors to what DRAM moves: two neighbours of 64 bytes.
func dramPairs(sectors uint8) uint8 { return sectors | sectors>>1&5 | sectors<<1&10 }

// ctaTrace is what one CTA, or a part of it, touched.
type ctaTrace struct {
	sm      int
	entries []uint64
}

// replay is the caches of a device while traces go through them.
type replay struct {
	sms      int
	used     int       // SMs that the executed CTAs are dealt to
	l1       [][]l1Set // by SM
	l1Bytes  int
	l2       []l2Set
	l1Sets   divisor
	l2Sets   divisor
	clock    uint32
	epoch    uint64 // of L1, and of L2 too where the launch begins cold
	l2Epoch  uint64
	counts   perf.CacheCounts
	dirtyNow uint64
	sites    []siteTraffic
	touched  distinct
	ears     *eavesdropper // of a sampled launch
	resident int
	wave     []ctaTrace
	waveSize int

	mu       sync.Mutex
	ready    sync.Cond
	next     uint64
	pending  map[uint64][]uint64
	spare    [][]uint64
	busy     bool
	executed uint64
}

// replayFor prepares the device's caches for a launch.
func (d *Device) replayFor(f *function, l *driver.Launch, executed uint64) *replay {
	p := &d.properties
	resident := d.residentCTAs(f, l)
	shared := f.program.shared + l.Shared
	l1 := max(d.profile.L1Bytes-d.carveOut(shared, resident), 8<<10)
	r := d.replay
	if r == nil {
		r = &replay{sms: max(p.SMs, 1), l2: make([]l2Set, max(d.profile.L2Bytes/128/l2Ways, 1)), pending: map[uint64][]uint64{}}
		r.ready.L = &r.mu
		r.l2Sets = divisorOf(len(r.l2))
		d.replay = r
	}
	if r.l1Bytes != l1 || r.l1 == nil {
		r.l1 = make([][]l1Set, r.sms)
		r.l1Bytes = l1
		r.l1Sets = divisorOf(max(l1/128/l1Ways, 1))
	}
	r.epoch++
	if !l.Warm {
		r.l2Epoch = r.epoch
	}
	r.counts, r.dirtyNow, r.next, r.waveSize, r.executed = perf.CacheCounts{}, 0, 0, 0, executed
	r.wave = r.wave[:0]
	r.sites = f.program.traffic(r.sites)
	if r.clock > 1<<31 { // ages are compared within a launch: begin anew, cold
		r.clock, r.l1 = 0, make([][]l1Set, r.sms)
		clear(r.l2)
	}
	clear(r.pending)
	// A sample of 1/k of the CTAs runs on 1/k of the SMs: each SM then has as many CTAs as in the whole grid, and what its L1
	// saves them scales as the rest does.
	r.used = max((r.sms+max(l.Sample, 1)/2)/max(l.Sample, 1), 1)
	r.resident = r.used * resident
	r.touched.reset()
	r.ears = nil
	if l.Sample > 1 {
		r.ears = &eavesdropper{writers: map[uint64]uint64{}}
	}
	return r
}

// residentCTAs is how many CTAs of a launch fit an SM at once.
func (d *Device) residentCTAs(f *function, l *driver.Launch) int {
	p := &d.properties
	warps := (int(l.CTA.Count()) + warpSize - 1) / warpSize
	most := map[int]int{75: 32, 86: 48, 87: 48, 89: 48, 120: 48, 121: 48}[10*p.ComputeMajor+p.ComputeMinor]
	if most == 0 {
		most = 64
	}
	n := min(most/warps, 32)
	if r := alignUp(warpSize*max(f.attributes.Registers, 16), 256) * alignUp(warps, 4); r > 0 {
		n = min(n, p.RegistersPerSM/r)
	}
	if s := f.program.shared + l.Shared; s > 0 {
		n = min(n, p.SharedPerSM/(s+1024))
	}
	return max(n, 1)
}

// carveOut is the part of an SM's unified memory that holds the resident CTAs' shared memory: the smallest that the
// hardware offers.
func (d *Device) carveOut(shared, resident int) int {
	need := 0
	if shared > 0 {
		need = (shared + 1024) * resident
	}
	for _, kib := range []int{0, 8, 16, 32, 64, 100, 132, 164, 196, 228} {
		if kib<<10 >= need {
			return min(kib<<10, d.properties.SharedPerSM)
		}
	}
	return d.properties.SharedPerSM
}

// submit hands the trace of the i-th executed CTA over and gives the worker an empty one. A worker that is too far
// ahead waits, unless it has other CTAs that may have to get on first; false means that the launch stopped.
func (r *replay) submit(i uint64, k *worker, stop *atomic.Bool, mayWait bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for mayWait && i >= r.next+tracesAhead && !stop.Load() {
		r.ready.Wait()
	}
	if stop.Load() {
		r.ready.Broadcast()
		return false
	}
	r.pending[i] = k.trace
	k.trace = nil
	if n := len(r.spare); n > 0 {
		k.trace, r.spare = r.spare[n-1], r.spare[:n-1]
	}
	if r.busy {
		return true
	}
	// This worker replays what is complete, in order, without the lock.
	r.busy = true
	for {
		t, ok := r.pending[r.next]
		if !ok {
			break
		}
		delete(r.pending, r.next)
		r.mu.Unlock()
		if r.ears != nil {
			r.ears.listen(r.next, t)
		}
		r.add(ctaTrace{int(r.next % uint64(r.used)), t})
		r.mu.Lock()
		r.next++
		r.ready.Broadcast()
	}
	r.busy = false
	r.ready.Broadcast()
	return true
}

// flush replays a part of the i-th CTA's trace that has grown long, once all CTAs before it have been replayed. Where
// the parts begin depends on the CTA alone, so that counts do not depend on the workers; not so where CTAs wait for each
// other (inOrder is false): there the part is replayed at once.
func (r *replay) flush(i uint64, k *worker, inOrder bool, stop func() bool) {
	r.mu.Lock()
	for (inOrder && r.next != i || r.busy) && !stop() {
		r.ready.Wait()
	}
	if stop() {
		k.trace = k.trace[:0]
		r.ready.Broadcast()
		r.mu.Unlock()
		return
	}
	r.busy = true
	r.mu.Unlock()
	if len(r.wave) > 0 {
		r.replayWave()
	}
	if r.ears != nil {
		r.ears.listen(i, k.trace)
	}
	for _, entry := range k.trace {
		r.access(int(i%uint64(r.used)), entry)
	}
	k.trace = k.trace[:0]
	r.mu.Lock()
	r.busy = false
	r.ready.Broadcast()
	r.mu.Unlock()
}

// add puts a trace into the current wave and replays the wave when it is full.
func (r *replay) add(t ctaTrace) {
	r.wave = append(r.wave, t)
	r.waveSize += len(t.entries)
	if len(r.wave) >= r.resident || r.waveSize > maxWave {
		r.replayWave()
	}
}

func (r *replay) replayWave() {
	at := make([]int, len(r.wave))
	for left := len(r.wave); left > 0; {
		left = 0
		for c, t := range r.wave {
			from := at[c]
			if from >= len(t.entries) {
				continue
			}
			to := min(from+turn, len(t.entries))
			for _, entry := range t.entries[from:to] {
				r.access(t.sm, entry)
			}
			at[c] = to
			if to < len(t.entries) {
				left++
			}
		}
	}
	r.mu.Lock()
	for _, t := range r.wave {
		if len(r.spare) < 16 && cap(t.entries) <= 1<<20 {
			r.spare = append(r.spare, t.entries[:0])
		}
	}
	r.mu.Unlock()
	r.wave, r.waveSize = r.wave[:0], 0
}

// divisor gives remainders of 32-bit numbers without a division (Lemire, Kaser, Kurz: Faster remainder by direct
// computation, 2019), since a launch looks for millions of lines.
type divisor struct{ n, inverse uint64 }

func divisorOf(n int) divisor { return divisor{uint64(n), ^uint64(0)/uint64(n) + 1} }

func (d divisor) of(x uint64) uint64 {
	if x>>32 != 0 {
		return x % d.n
	}
	r, _ := bits.Mul64(d.inverse*x, d.n)
	return r
}

// access takes one line of a trace through L1 and L2.
func (r *replay) access(sm int, entry uint64) {
	line, sectors := entry>>entryShift&entryLines, uint8(entry&15)
	write := entry&entryWrite != 0
	r.touched.mark(line, sectors, write, entry&entryAtomic != 0)
	r.clock++
	site := &r.sites[0]
	if at := entry >> entrySite & entrySites; at < uint64(len(r.sites)) {
		site = &r.sites[at]
	}
	site.requested += uint64(bits.OnesCount8(sectors))
	if entry&entryBypass == 0 {
		c := r.l1[sm]
		if c == nil {
			c = make([]l1Set, r.l1Sets.n)
			r.l1[sm] = c
		}
		set := &c[r.l1Sets.of(line^line>>7)]
		way := set.find(r.epoch<<40|(line+1), r.clock)
		if site.hint != 0 {
			set.age[way&(l1Ways-1)] = site.hint.age(r.clock, hintFirstL1, hintLastL1)
		}
		r.counts.L1Lookups += uint64(bits.OnesCount8(sectors))
		hit := sectors & set.valid[way]
		set.valid[way] |= sectors
		r.counts.L1Hits += uint64(bits.OnesCount8(hit))
		if sectors &^= hit; sectors == 0 {
			return
		}
	}
	set := &r.l2[r.l2Sets.of(line^line>>13^line>>23)]
	way, evicted, holes := set.find(r.l2Epoch<<40|(line+1), r.clock)
	if site.hint != 0 {
		set.age[way&(l2Ways-1)] = site.hint.age(r.clock, hintFirstL2, hintLastL2)
	}
	if evicted != 0 {
		n := uint64(bits.OnesCount8(evicted))
		r.counts.DRAMWriteSectors += n
		r.dirtyNow -= n
		r.counts.DRAMReadSectors += uint64(bits.OnesCount8(holes))
	}
	r.counts.L2Lookups += uint64(bits.OnesCount8(sectors))
	miss := sectors &^ set.valid[way]
	if write {
		r.write(set, way, site, entry, sectors, miss)
		return
	}
	r.counts.L2Hits += uint64(bits.OnesCount8(sectors &^ miss))
	if miss != 0 {
		miss = dramPairs(miss) &^ set.valid[way]
		r.fetched(site, miss)
	}
	set.valid[way] |= sectors | miss
}

// fetched counts sectors that come from DRAM for a site.
func (r *replay) fetched(site *siteTraffic, sectors uint8) {
	n := uint64(bits.OnesCount8(sectors))
	r.counts.DRAMReadSectors += n
	site.fetched += n
}

// write puts sectors into a line of L2. A write hits by allocating (hardware.md: vector add reads 33 %); an atomic needs the
// old value.
func (r *replay) write(set *l2Set, way uint8, site *siteTraffic, entry uint64, sectors, miss uint8) {
	way &= l2Ways - 1
	switch {
	case entry&entryAtomic != 0:
		r.counts.L2Hits += uint64(bits.OnesCount8(sectors &^ miss))
		if miss != 0 {
			miss = dramPairs(miss) &^ set.valid[way]
			r.fetched(site, miss)
			set.valid[way] |= miss
		}
	default:
		r.counts.L2Hits += uint64(bits.OnesCount8(sectors))
		if fill := uint8(entry >> entryFill); fill != 0 {
			for m := sectors &^ (set.valid[way] &^ set.holes(way)); m != 0; m &= m - 1 {
				words := &set.filled[way][bits.TrailingZeros8(m)&3]
				*words = min(*words+fill, sectorWords)
			}
		} else {
			for m := sectors; m != 0; m &= m - 1 {
				set.filled[way][bits.TrailingZeros8(m)&3] = 0
			}
		}
	}
	set.valid[way] |= sectors
	r.dirtyNow += uint64(bits.OnesCount8(sectors &^ set.dirty[way]))
	set.dirty[way] |= sectors
}

// finish replays what is left and gives the counts. What is dirty at the end is written back and counted.
func (r *replay) finish(complete bool) perf.CacheCounts {
	if !complete {
		r.wave, r.waveSize = r.wave[:0], 0
		r.l2Epoch = r.epoch // nothing of a broken launch stays
		return perf.CacheCounts{}
	}
	if len(r.wave) > 0 {
		r.replayWave()
	}
	if r.dirtyNow > 0 {
		r.counts.DRAMWriteSectors += r.dirtyNow
		r.dirtyNow = 0
		for i := range r.l2 {
			set := &r.l2[i]
			for way, dirty := range set.dirty {
				if dirty != 0 {
					r.counts.DRAMReadSectors += uint64(bits.OnesCount8(set.holes(uint8(way))))
				}
			}
			set.dirty, set.filled = [l2Ways]uint8{}, [l2Ways][4]uint8{}
		}
	}
	r.counts.DistinctRead, r.counts.DistinctWritten = r.touched.read, r.touched.written
	r.touched.reset()
	return r.counts
}

// distinct counts the sectors that were read and written at least once, with two bits a sector in pages.
type distinct struct {
	pages         map[uint64]*distinctPage
	near          [64]nearPage // pages by the last bits of their number
	read, written uint64
}

type nearPage struct {
	at   uint64
	page *distinctPage
}

const distinctLines = 512 // lines of a page

// distinctPage holds a byte a line: read sectors below, written ones above.
type distinctPage [distinctLines]uint8

func (d *distinct) reset() { *d = distinct{pages: map[uint64]*distinctPage{}} }

// page finds or makes a page.
func (d *distinct) page(at uint64) *distinctPage {
	p := d.pages[at]
	if p == nil {
		p = new(distinctPage)
		d.pages[at] = p
	}
	d.near[at%64] = nearPage{at, p}
	return p
}

func (d *distinct) mark(line uint64, sectors uint8, write, atomic bool) {
	at := line / distinctLines
	n := &d.near[at%64]
	p := n.page
	if p == nil || n.at != at {
		p = d.page(at)
	}
	seen := &p[line%distinctLines]
	if !write || atomic {
		fresh := sectors &^ *seen & 15
		d.read += uint64(bits.OnesCount8(fresh))
		*seen |= fresh
	}
	if write {
		fresh := sectors << 4 &^ *seen
		d.written += uint64(bits.OnesCount8(fresh))
		*seen |= fresh
	}
}
