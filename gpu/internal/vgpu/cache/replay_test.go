package cache

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"memwall/gpu/perf"
)

// shape is a kind of traffic.
type shape struct {
	name     string
	ctas     int
	lines    uint64 // that CTAs choose from
	entries  int    // of a CTA
	runs     bool   // whole lines in rows
	stores   int    // in 8
	atomics  int    // in 8
	partial  bool   // stores that fill a part of their sectors
	resident int
	sms      int
	l1, l2   int
	hints    []Hint
	warm     bool // every second launch
	unhinted int  // CTAs at first whose accesses are all of site 0
}

var shapes = []shape{
	{name: "stream", ctas: 40, lines: 1 << 20, entries: 60, runs: true, resident: 16, sms: 4, l1: 32 << 10, l2: 8 << 20},
	{name: "stream that evicts", ctas: 40, lines: 1 << 20, entries: 60, runs: true, resident: 16, sms: 4, l1: 32 << 10, l2: 64 << 10, warm: true},
	{name: "reuse", ctas: 30, lines: 300, entries: 200, runs: true, resident: 12, sms: 3, l1: 16 << 10, l2: 1 << 20},
	{name: "sectors", ctas: 30, lines: 500, entries: 200, stores: 2, partial: true, resident: 7, sms: 3, l1: 9 << 10, l2: 1 << 20, warm: true},
	{name: "stores that evict", ctas: 30, lines: 3000, entries: 200, stores: 4, partial: true, resident: 7, sms: 3, l1: 9 << 10, l2: 96 << 10, warm: true},
	{name: "atomics", ctas: 20, lines: 100, entries: 100, stores: 1, atomics: 4, resident: 40, sms: 5, l1: 8 << 10, l2: 16 << 10},
	{name: "a set each", ctas: 10, lines: 100, entries: 100, runs: true, stores: 2, atomics: 1, partial: true, resident: 3, sms: 1, l1: 512, l2: 2048, warm: true},
	{name: "first in L2", ctas: 30, lines: 3000, entries: 200, runs: true, stores: 3, partial: true, resident: 10, sms: 2, l1: 16 << 10, l2: 128 << 10, hints: []Hint{0, FirstL2, 0, FirstL2}, warm: true},
	{name: "last in L2", ctas: 30, lines: 3000, entries: 200, runs: true, stores: 1, resident: 10, sms: 2, l1: 16 << 10, l2: 128 << 10, hints: []Hint{0, LastL2, FirstL2, 0}, warm: true},
	{name: "hints in L1", ctas: 30, lines: 600, entries: 200, runs: true, stores: 1, resident: 10, sms: 2, l1: 16 << 10, l2: 1 << 20, hints: []Hint{0, FirstL1, LastL1, LastL2}, warm: true},
	{name: "hints in L1 of a late wave", ctas: 60, lines: 400, entries: 200, runs: true, stores: 1, resident: 6, sms: 2, l1: 8 << 10, l2: 1 << 20, hints: []Hint{0, FirstL1, LastL1, FirstL1 | FirstL2}, warm: true, unhinted: 25},
	{name: "hints that no load meets", ctas: 30, lines: 600, entries: 200, runs: true, stores: 1, resident: 10, sms: 2, l1: 16 << 10, l2: 1 << 20, hints: []Hint{0, FirstL1 | FirstL2, LastL1, LastL2}, warm: true, unhinted: 30},
	{name: "hints in some launches", ctas: 20, lines: 1500, entries: 100, runs: true, stores: 1, resident: 10, sms: 2, l1: 16 << 10, l2: 96 << 10, hints: []Hint{0, FirstL2, LastL2, 0}, warm: true},
}

func (s *shape) traces(r *rand.Rand) (list [][]Entry) {
	for cta := range s.ctas {
		var t []Entry
		at := r.Uint64N(s.lines)
		for range s.entries {
			site := Entry(r.IntN(4)) << SiteShift
			if cta < s.unhinted {
				site = 0
			}
			low := at * 128
			size := uint64(32 << r.IntN(6))
			if !s.runs {
				size = uint64(4 << r.IntN(6))
				low += r.Uint64N(4) * 32
			}
			kind := r.IntN(8)
			switch {
			case kind < s.stores && s.partial:
				t = AppendStore(t, site|Write|Bypass, low+r.Uint64N(8)*4, low+32+size)
			case kind < s.stores:
				t = AppendStore(t, site|Write|Bypass, low, low+size)
			case kind < s.stores+s.atomics:
				t = append(t, site|Write|Bypass|Atomic|Entry(low/128)<<LineShift|Entry(1+r.IntN(15)))
			case kind == 7 && !s.runs:
				t = append(t, site|Bypass|Entry(low/128)<<LineShift|Entry(1+r.IntN(15)))
			default:
				t = AppendRow(t, site, low, low+max(size, 4))
			}
			if at += size / 128; r.IntN(6) == 0 || at >= s.lines {
				at = r.Uint64N(s.lines)
			}
		}
		list = append(list, t)
	}
	return list
}

// replayed is what a replay says of traces that come in any order, from several workers.
func replayed(c *Replay, l *Launch, traces [][]Entry, r *rand.Rand) perf.CacheCounts {
	c.Begin(l)
	var stop atomic.Bool
	order := make([]int, len(traces))
	for i := range order {
		order[i] = i
	}
	for k := 0; k+8 <= len(order); k += 8 { // no worker is far ahead
		r.Shuffle(8, func(i, j int) { order[k+i], order[k+j] = order[k+j], order[k+i] })
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for k := int(next.Add(1)) - 1; k < len(order); k = int(next.Add(1)) - 1 {
				own := append([]Entry(nil), traces[order[k]]...)
				if _, ok := c.Submit(uint64(order[k]), own, &stop, false); !ok {
					panic("stopped")
				}
			}
		})
	}
	wg.Wait()
	return c.Finish(true)
}

// TestPlain compares every count of random launches, one after another on one device, with those of the plain replay: cold and
// warm, with few and many lines, hints, stores in part, atomics, on the vectors of this CPU and without.
func TestPlain(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	onVectors(t, func(t *testing.T) {
		for _, s := range shapes {
			r := rand.New(rand.NewPCG(1, 2))
			c, p := New(s.sms, s.l2), newPlain(s.l2)
			for launch := range 12 {
				hints := s.hints
				if hints == nil || launch%3 == 2 && s.name == "hints in some launches" {
					hints = make([]Hint, 4)
				}
				l := &Launch{SMs: s.sms, Resident: s.resident, L1Bytes: s.l1, Hints: hints, Warm: s.warm && launch%4 != 0}
				traces := s.traces(r)
				p.begin(l)
				for i, entries := range traces {
					p.add(i%s.sms, entries)
				}
				want := p.finish()
				if got := replayed(c, l, traces, r); got != want {
					t.Errorf("%s, launch %d:\n%+v, plain\n%+v", s.name, launch, got, want)
				}
				for site := range 4 {
					if requested, fetched := c.Traffic(site); requested != p.requested[site] || fetched != p.fetched[site] {
						t.Errorf("%s, launch %d, site %d: %d sectors, %d from DRAM, plain %d, %d", s.name, launch, site, requested, fetched, p.requested[site], p.fetched[site])
					}
				}
				if want.L2Lookups == 0 || want.DRAMReadSectors+want.DRAMWriteSectors == 0 {
					t.Errorf("%s does nothing: %+v", s.name, want)
				}
				if t.Failed() {
					return
				}
			}
		}
	})
}

// onVectors runs a test with what this CPU has, and without vectors.
func onVectors(t *testing.T, f func(t *testing.T)) {
	had := vectors
	defer func() { vectors = had }()
	for _, vectors = range []bool{false, had} {
		t.Run(fmt.Sprintf("vectors=%t", vectors), f)
	}
	if !had {
		t.Log("this CPU has no AVX2: not tested with vectors")
	}
}

// A launch that was stopped leaves nothing: the next one is cold, also when it is said to be warm.
func TestStopped(t *testing.T) {
	c := New(2, 1<<20)
	l := &Launch{SMs: 2, Resident: 1, L1Bytes: 8 << 10, Hints: make([]Hint, 1)}
	var stop atomic.Bool
	load := AppendRow(nil, 0, 0, 1024)
	store := AppendStore(nil, Write|Bypass, 4, 1024)
	c.Begin(l)
	c.Submit(0, store, &stop, true)
	stop.Store(true)
	if _, ok := c.Submit(1, load, &stop, true); ok {
		t.Error("a trace was taken after the stop")
	}
	if got := c.Finish(false); got != (perf.CacheCounts{}) {
		t.Errorf("%+v", got)
	}
	stop.Store(false)
	l.Warm = true
	c.Begin(l)
	c.Submit(0, load, &stop, true)
	want := perf.CacheCounts{L1Lookups: 32, L2Lookups: 32, DRAMReadSectors: 32, DistinctRead: 32}
	if got := c.Finish(true); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	c.Begin(l)
	c.Submit(0, load, &stop, true)
	want = perf.CacheCounts{L1Lookups: 32, L2Lookups: 32, L2Hits: 32, DistinctRead: 32}
	if got := c.Finish(true); got != want {
		t.Errorf("warm: %+v, want %+v", got, want)
	}
}

// A trace that is replayed in parts counts what it counts as a whole, where its CTA is alone on the SM.
func TestFlush(t *testing.T) {
	s := &shapes[3]
	traces := s.traces(rand.New(rand.NewPCG(7, 7)))[:1]
	l := &Launch{SMs: 1, Resident: 4, L1Bytes: s.l1, Hints: make([]Hint, 4)}
	var stop atomic.Bool
	var want perf.CacheCounts
	for _, parts := range []int{1, 2, 5} {
		c := New(1, s.l2)
		c.Begin(l)
		rest := traces[0]
		for range parts - 1 {
			n := (len(rest) / 2) &^ (turn - 1)
			c.Flush(0, rest[:n], true, func() bool { return false })
			rest = rest[n:]
		}
		c.Submit(0, rest, &stop, true)
		got := c.Finish(true)
		if parts == 1 {
			want = got
		}
		if got != want || got.L2Lookups == 0 {
			t.Errorf("in %d parts: %+v, want %+v", parts, got, want)
		}
	}
}
