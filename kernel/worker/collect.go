package worker

import (
	"runtime/debug"
	"runtime/metrics"
)

const (
	// roomToAllocate is how much a cell may allocate at least between two collections of garbage: with the small heap of a
	// young session the Go runtime would collect every few dozen trivial cells, and each of those would wait for it.
	roomToAllocate = 32 << 20
	usualPercent   = 100 // of the Go runtime
	mostPercent    = 800
)

// A pacer sets when garbage is collected, by what is alive.
type pacer struct{ percent int }

// adjust is called between cells.
func (p *pacer) adjust() {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	want := percentFor(s[0].Value.Uint64())
	if p.percent == 0 || want > p.percent+p.percent/4 || want < p.percent-p.percent/4 {
		debug.SetGCPercent(want)
		p.percent = want
	}
}

// percentFor is the heap's growth until the next collection, in percent of what is alive.
func percentFor(live uint64) int {
	if live == 0 {
		return mostPercent // nothing has been collected yet
	}
	return int(min(max(100*roomToAllocate/live, usualPercent), mostPercent))
}
