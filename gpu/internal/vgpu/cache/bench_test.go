package cache

import (
	"sync/atomic"
	"testing"
)

// streams are traces as a GEMV leaves them: each CTA reads rows of its own, and a vector that all read.
func streams(ctas int) (traces [][]Entry) {
	for c := range uint64(ctas) {
		var t []Entry
		for k := range uint64(64) {
			t = AppendRow(t, 1<<SiteShift, c<<15+k<<9, c<<15+k<<9+512)
			t = AppendRow(t, 2<<SiteShift, 1<<30+k%16<<9, 1<<30+k%16<<9+512)
		}
		traces = append(traces, t)
	}
	return traces
}

func BenchmarkReplay(b *testing.B) {
	traces := streams(1024)
	lines := 0
	for _, t := range traces {
		lines += Lines(t)
	}
	r := New(132, 50<<20)
	var stop atomic.Bool
	for b.Loop() {
		r.Begin(&Launch{SMs: 132, Resident: 132 * 16, L1Bytes: 256 << 10, Hints: make([]Hint, 3)})
		for i, t := range traces {
			r.Submit(uint64(i), t, &stop, true)
		}
		r.spare = nil
		r.Finish(true)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(lines), "ns/line")
}
