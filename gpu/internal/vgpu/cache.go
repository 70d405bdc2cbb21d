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
	filled   []filledWays // beside l2
	written  []uint32     // sets of L2 with dirty lines
	sink     uint32       // of what is only touched
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
		r.filled = make([]filledWays, len(r.l2))
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
		r.ears = &eavesdropper{base: d.memory.base, writers: map[uint64]uint64{}}
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
	for rest := k.trace; len(rest) > 0; {
		n := min(turn, len(rest))
		r.accesses(int(i%uint64(r.used)), rest[:n])
		rest = rest[n:]
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
			r.accesses(t.sm, t.entries[from:to])
			at[c] = to
			if to < len(t.entries) {
				left++
			}
		}
	}
	r.mu.Lock()
	for _, t := range r.wave {
		if len(r.spare) < r.resident+tracesAhead && cap(t.entries) <= max(1<<14, (4<<20)/(r.resident+tracesAhead)) {
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

// missed is a line of a trace on its way from L1 to L2.
type missed struct {
	entry   uint64
	set     uint32
	clock   uint32
	sectors uint8
	site    *siteTraffic
}

// accesses takes up to turn lines of a trace through L1 and L2: all through L1 first, then what missed there through L2.
// Before, and meanwhile, the sets that will be needed are touched, so that the host waits for its memory once and not for
// each line.
func (r *replay) accesses(sm int, entries []uint64) {
	c := r.l1[sm]
	if c == nil {
		c = make([]l1Set, r.l1Sets.n)
		r.l1[sm] = c
	}
	var at [turn]uint32
	touched := r.sink
	for i, entry := range entries {
		line := entry >> entryShift & entryLines
		at[i&(turn-1)] = uint32(r.l1Sets.of(line ^ line>>7))
		if entry&entryBypass == 0 {
			touched += uint32(c[at[i&(turn-1)]].recent)
		}
	}
	var list [turn]missed
	n := 0
	for i, entry := range entries {
		line, sectors := entry>>entryShift&entryLines, uint8(entry&15)
		r.touched.mark(line, sectors, entry&entryWrite != 0, entry&entryAtomic != 0)
		r.clock++
		site := &r.sites[0]
		if at := entry >> entrySite & entrySites; at < uint64(len(r.sites)) {
			site = &r.sites[at]
		}
		site.requested += uint64(bits.OnesCount8(sectors))
		if entry&entryBypass == 0 {
			set := &c[at[i&(turn-1)]]
			way := set.find(r.epoch<<40|(line+1), r.clock)
			if site.hint != 0 {
				set.age[way&(l1Ways-1)] = site.hint.age(r.clock, hintFirstL1, hintLastL1)
			}
			r.counts.L1Lookups += uint64(bits.OnesCount8(sectors))
			hit := sectors & set.valid[way&(l1Ways-1)]
			set.valid[way&(l1Ways-1)] |= sectors
			r.counts.L1Hits += uint64(bits.OnesCount8(hit))
			if sectors &^= hit; sectors == 0 {
				continue
			}
		}
		m := &list[n&(turn-1)]
		n++
		*m = missed{entry, uint32(r.l2Sets.of(line ^ line>>13 ^ line>>23)), r.clock, sectors, site}
	}
	for i := range list[:n] {
		touched += r.l2[list[i].set].touch()
	}
	r.sink = touched
	for i := range list[:n] {
		r.second(&list[i])
	}
}

// second takes a line through L2.
func (r *replay) second(m *missed) {
	set := &r.l2[m.set]
	line := m.entry >> entryShift & entryLines
	way, evicted := set.find(r.l2Epoch, uint32(line+1), m.clock)
	if evicted != 0 {
		n := uint64(bits.OnesCount8(evicted))
		r.counts.DRAMWriteSectors += n
		r.dirtyNow -= n
		if set.partial {
			r.counts.DRAMReadSectors += uint64(bits.OnesCount8(r.filled[m.set].holes(way, evicted)))
			r.filled[m.set][way] = [4]uint8{}
		}
	} else if set.partial && set.state[way] == 0 {
		r.filled[m.set][way] = [4]uint8{}
	}
	if m.site.hint != 0 {
		set.age[way] = m.site.hint.age(m.clock, hintFirstL2, hintLastL2)
	}
	r.counts.L2Lookups += uint64(bits.OnesCount8(m.sectors))
	valid := set.state[way] & 15
	miss := m.sectors &^ valid
	if m.entry&entryWrite != 0 {
		r.write(set, way, m, miss)
		return
	}
	r.counts.L2Hits += uint64(bits.OnesCount8(m.sectors &^ miss))
	if miss != 0 {
		miss = dramPairs(miss) &^ valid
		r.fetched(m.site, miss)
	}
	set.state[way] |= m.sectors | miss
}

// fetched counts sectors that come from DRAM for a site.
func (r *replay) fetched(site *siteTraffic, sectors uint8) {
	n := uint64(bits.OnesCount8(sectors))
	r.counts.DRAMReadSectors += n
	site.fetched += n
}

// write puts sectors into a line of L2. A write hits by allocating (hardware.md: vector add reads 33 %); an atomic needs the
// old value.
func (r *replay) write(set *l2Set, way int, m *missed, miss uint8) {
	sectors, valid := m.sectors, set.state[way]&15
	if m.entry&entryAtomic != 0 {
		r.counts.L2Hits += uint64(bits.OnesCount8(sectors &^ miss))
		if miss != 0 {
			miss = dramPairs(miss) &^ valid
			r.fetched(m.site, miss)
			valid |= miss
		}
	} else {
		r.counts.L2Hits += uint64(bits.OnesCount8(sectors))
		if fill := uint8(m.entry >> entryFill); fill != 0 {
			filled := &r.filled[m.set]
			if !set.partial {
				set.partial, *filled = true, filledWays{}
			}
			for left := sectors &^ (valid &^ filled.holes(way, set.state[way]>>4)); left != 0; left &= left - 1 {
				words := &filled[way][bits.TrailingZeros8(left)&3]
				*words = min(*words+fill, sectorWords)
			}
		} else if set.partial {
			for left := sectors; left != 0; left &= left - 1 {
				r.filled[m.set][way][bits.TrailingZeros8(left)&3] = 0
			}
		}
	}
	dirty := set.state[way] >> 4
	r.dirtyNow += uint64(bits.OnesCount8(sectors &^ dirty))
	set.state[way] = valid | sectors | (dirty|sectors)<<4
	if !set.listed {
		set.listed = true
		r.written = append(r.written, m.set)
	}
}

// finish replays what is left and gives the counts. What is dirty at the end is written back and counted.
func (r *replay) finish(complete bool) perf.CacheCounts {
	if !complete {
		r.wave, r.waveSize = r.wave[:0], 0
		r.clean(false)
		r.epoch++
		r.l2Epoch = r.epoch // nothing of a broken launch stays
		return perf.CacheCounts{}
	}
	if len(r.wave) > 0 {
		r.replayWave()
	}
	if r.dirtyNow > 0 {
		r.counts.DRAMWriteSectors += r.dirtyNow
		r.dirtyNow = 0
	}
	r.clean(true)
	r.counts.DistinctRead, r.counts.DistinctWritten = r.touched.read, r.touched.written
	r.touched.reset()
	return r.counts
}

// distinct counts the sectors that were read and written at least once, with two bits a sector in pages.
type distinct struct {
	pages         map[uint64]*distinctPage
	near          [nearPages]nearPage // pages by the last bits of their number
	read, written uint64
}

type nearPage struct {
	at   uint64
	page *distinctPage
}

const (
	distinctLines = 512 // lines of a page
	nearPages     = 1024
)

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
	d.near[at%nearPages] = nearPage{at, p}
	return p
}

func (d *distinct) mark(line uint64, sectors uint8, write, atomic bool) {
	at := line / distinctLines
	n := &d.near[at%nearPages]
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
