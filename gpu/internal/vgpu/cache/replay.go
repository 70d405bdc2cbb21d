package cache

import (
	"runtime"
	"sync"
	"sync/atomic"

	"memwall/gpu/perf"
)

const (
	turn        = 32      // lines of a CTA's trace before the next CTA's turn
	MaxTrace    = 2 << 20 // lines of one CTA; a longer trace is replayed in parts
	maxWave     = 4 << 20 // lines of a wave; a longer one is replayed in parts
	tracesAhead = 64      // CTAs that workers may be ahead of the replay
	mostClock   = 1 << 31 // ages are compared within launches: at this age the caches begin anew, cold
	keptTrace   = 4 << 20 // entries of the traces that are kept for the next CTAs
	aloneBelow  = 1 << 10 // entries of a wave that one worker replays alone
)

// Replay is the caches of a device while the traces of a launch go through them.
type Replay struct {
	l1       []first // by SM
	l2       second
	used     int // SMs that the CTAs are dealt to
	resident int
	clock    uint32
	hints    []Hint   // by site
	hinted   bool     // some hint is for L1
	aged     bool     // and a load with such a hint has come
	tallies  []*tally // by worker
	wave     []trace
	entries  int // of the wave
	lines    int // of the first counted traces of the wave
	counted  int
	cursors  []*cursor // of the wave, while it is replayed
	dropped  bool
	ears     func(cta uint64, trace []Entry)

	mu      sync.Mutex
	ready   sync.Cond
	next    uint64
	pending map[uint64]trace
	spare   [][]Entry
	busy    bool
}

// trace is what one CTA, or a part of it, touched.
type trace struct {
	sm      int
	entries []Entry
}

// Launch is what the caches have to know of a launch.
type Launch struct {
	SMs      int    // that its CTAs are dealt to
	Resident int    // CTAs that are resident together
	L1Bytes  int    // of each SM
	Warm     bool   // L2 is as the launch before left it
	Hints    []Hint // by site; as many as there are sites
	// Listen is called with the trace of each CTA, in the grid's order; nil: by nobody.
	Listen func(cta uint64, trace []Entry)
}

// New makes the caches of a device: an L1 for each SM, and an L2 of so many bytes.
func New(sms, l2Bytes int) *Replay {
	sets := max(l2Bytes/lineBytes/l2Ways, 1)
	r := &Replay{l1: make([]first, max(sms, 1)), pending: map[uint64]trace{}}
	r.l2.of, r.l2.lines = divisorOf(sets), make([]uint8, sets)
	r.l2.mostPages = 4*sets*l2Ways/pageLines + 64
	r.l2.begin(true, nil, 0)
	r.ready.L = &r.mu
	return r
}

// Begin prepares the caches for a launch.
func (r *Replay) Begin(l *Launch) {
	r.used, r.resident, r.hints, r.ears = min(max(l.SMs, 1), len(r.l1)), max(l.Resident, 1), l.Hints, l.Listen
	cold := !l.Warm || r.dropped || r.clock > mostClock
	if r.clock > mostClock {
		r.clock = 0
	}
	r.dropped, r.hinted, r.aged = false, false, false
	var forL2 []Hint
	for _, h := range l.Hints {
		r.hinted = r.hinted || h&hintsL1 != 0
		if h&hintsL2 != 0 {
			forL2 = l.Hints
		}
	}
	r.l2.begin(cold, forL2, len(l.Hints))
	for i := range r.l1[:r.used] {
		r.l1[i].begin(max(l.L1Bytes/lineBytes/l1Ways, 1))
	}
	for _, w := range r.tallies {
		w.requested, w.lookups, w.hits = emptied(w.requested, len(r.hints)), 0, 0
	}
	r.next = 0
	r.endWave()
	clear(r.pending)
}

// Submit hands over the trace of the i-th executed CTA and gives an empty one for the next. A worker that is too far ahead
// waits, unless it has other CTAs that may have to get on first (mayWait is false). ok is false when the launch has stopped.
func (r *Replay) Submit(i uint64, entries []Entry, stop *atomic.Bool, mayWait bool) (spare []Entry, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for mayWait && i >= r.next+tracesAhead && !stop.Load() {
		r.ready.Wait()
	}
	if stop.Load() {
		r.ready.Broadcast()
		return nil, false
	}
	r.pending[i] = trace{int(i % uint64(r.used)), entries}
	if n := len(r.spare); n > 0 {
		spare, r.spare = r.spare[n-1], r.spare[:n-1]
	}
	if r.busy {
		return spare, true
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
			r.ears(r.next, t.entries)
		}
		r.add(t)
		r.mu.Lock()
		r.next++
		r.ready.Broadcast()
	}
	r.busy = false
	r.ready.Broadcast()
	return spare, true
}

// Flush replays a part of the i-th CTA's trace that has grown long, once all CTAs before it have been replayed. Where
// the parts begin depends on the CTA alone, so that counts do not depend on the workers; not so where CTAs wait for each
// other (inOrder is false): there the part is replayed at once.
func (r *Replay) Flush(i uint64, entries []Entry, inOrder bool, stop func() bool) {
	r.mu.Lock()
	for (inOrder && r.next != i || r.busy) && !stop() {
		r.ready.Wait()
	}
	if stop() {
		r.ready.Broadcast()
		r.mu.Unlock()
		return
	}
	r.busy = true
	r.mu.Unlock()
	r.replayWave()
	if r.ears != nil {
		r.ears(i, entries)
	}
	r.wave = append(r.wave, trace{int(i % uint64(r.used)), entries})
	r.replayWave()
	r.mu.Lock()
	r.busy = false
	r.ready.Broadcast()
	r.mu.Unlock()
}

// add puts a trace into the current wave and replays the wave when it is full.
func (r *Replay) add(t trace) {
	r.wave = append(r.wave, t)
	r.entries += len(t.entries)
	if len(r.wave) >= r.resident || r.long() {
		wave := r.wave
		r.replayWave()
		r.recycle(wave)
	}
}

// long reports whether the wave has more lines than may wait. They are counted only where there may be so many.
func (r *Replay) long() bool {
	if r.entries*mostRun <= maxWave {
		return false
	}
	for ; r.counted < len(r.wave); r.counted++ {
		r.lines += Lines(r.wave[r.counted].entries)
	}
	return r.lines > maxWave
}

func (r *Replay) endWave() {
	r.wave, r.entries, r.lines, r.counted = r.wave[:0], 0, 0, 0
}

// recycle keeps traces for other CTAs.
func (r *Replay) recycle(wave []trace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	most := r.resident + tracesAhead
	for _, t := range wave {
		if len(r.spare) < most && cap(t.entries) <= max(1<<14, keptTrace/most) {
			r.spare = append(r.spare, t.entries[:0])
		}
	}
}

// replayWave takes the wave through the caches: each SM through its L1, then what missed, in the wave's order, through L2.
func (r *Replay) replayWave() {
	if len(r.wave) == 0 {
		return
	}
	for i := range r.l1[:r.used] {
		r.l1[i].ctas = r.l1[i].ctas[:0]
	}
	for _, t := range r.wave {
		r.l1[t.sm].ctas = append(r.l1[t.sm].ctas, cursor{trace: t.entries})
	}
	r.cursors = r.cursors[:0]
	at := make([]int, r.used)
	for _, t := range r.wave {
		r.cursors = append(r.cursors, &r.l1[t.sm].ctas[at[t.sm]])
		at[t.sm]++
	}
	if r.hinted && !r.aged && r.meetsHint() {
		r.aged = true
		for i := range r.l1[:r.used] {
			r.l1[i].toAges()
		}
	}
	if r.aged {
		r.startTurns()
	}
	r.firsts()
	r.seconds()
	r.endWave()
}

// meetsHint reports whether the wave has a load with a hint for L1. A kernel's hints may all stand on a path that a launch does not
// take; then its L1 needs no ages.
func (r *Replay) meetsHint() bool {
	for _, t := range r.wave {
		for _, e := range t.entries {
			if e&Bypass == 0 && r.hints[e.site()]&hintsL1 != 0 {
				return true
			}
		}
	}
	return false
}

// startTurns notes the clock before each turn of the wave.
func (r *Replay) startTurns() {
	left := make([]int, len(r.cursors))
	for i, c := range r.cursors {
		left[i] = Lines(c.trace)
	}
	clock := r.clock
	for more := true; more; {
		more = false
		for i, c := range r.cursors {
			if n := min(left[i], turn); n > 0 {
				c.starts = append(c.starts, clock)
				left[i], clock, more = left[i]-n, clock+uint32(n), true
			}
		}
	}
}

// firsts takes the SMs through their L1.
func (r *Replay) firsts() {
	workers := min(runtime.GOMAXPROCS(0), r.used)
	if r.entries < aloneBelow {
		workers = 1
	}
	for len(r.tallies) < workers {
		r.tallies = append(r.tallies, &tally{requested: make([]uint64, len(r.hints))})
	}
	hints := r.hints
	if !r.aged {
		hints = nil
	}
	var next atomic.Int64
	work := func(k int) {
		for i := int(next.Add(1)) - 1; i < r.used; i = int(next.Add(1)) - 1 {
			r.l1[i].replay(r.tallies[k], hints)
		}
	}
	var wg sync.WaitGroup
	for k := 1; k < workers; k++ {
		wg.Go(func() { work(k) })
	}
	work(0)
	wg.Wait()
}

// seconds takes what missed in L1 through L2, turn by turn.
func (r *Replay) seconds() {
	type place struct{ turn, miss int }
	at := make([]place, r.used) // of each SM
	for round, more := 0, true; more; round++ {
		more = false
		for i, c := range r.cursors {
			if round >= c.turns {
				continue
			}
			sm := r.wave[i].sm
			f, p := &r.l1[sm], &at[sm]
			end := f.turns[p.turn]
			r.l2.turn(f.out[p.miss:][:end.misses], f.after[p.miss:], r.clock)
			p.turn++
			p.miss += int(end.misses)
			r.clock += uint32(end.lines)
			more = more || round+1 < c.turns
		}
	}
}

// Finish replays what is left and gives the counts. What is dirty at the end is written back and counted. Nothing of a launch
// that is not complete stays.
func (r *Replay) Finish(complete bool) perf.CacheCounts {
	if !complete {
		r.dropped = true
		r.endWave()
		r.l2.drop()
		return perf.CacheCounts{}
	}
	if wave := r.wave; len(wave) > 0 {
		r.replayWave()
		r.recycle(wave)
	}
	r.l2.finish()
	for _, w := range r.tallies {
		r.l2.counts.L1Lookups += w.lookups
		r.l2.counts.L1Hits += w.hits
	}
	return r.l2.counts
}

// Counts is what the launch has counted so far, of L2 and DRAM.
func (r *Replay) Counts() perf.CacheCounts { return r.l2.counts }

// Traffic is how many sectors the warps asked for at a site, and how many came for it from DRAM.
func (r *Replay) Traffic(site int) (requested, fetched uint64) {
	for _, w := range r.tallies {
		requested += w.requested[site]
	}
	return requested, r.l2.fetched[site]
}
