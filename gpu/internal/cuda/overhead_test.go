//go:build cuda && cgo && linux

package cuda

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"gorgonia.org/cu"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vdrv"
)

// BenchmarkOwn is what a launch costs beside the driver's call: blocks of Launch and of bare calls of cuLaunchKernel take turns on the
// same driver, and the median of their differences is own-ns/launch. The line is 1 µs (issue 7). Over the virtual driver the time
// includes what binds a launch to its counters, which a GPU's does not.
func BenchmarkOwn(b *testing.B) {
	d := open(b)
	w := newWork(b, d)
	l := w.launch("scale", 1, 32, uint64(w.floats(32)), float32(1), uint32(32))
	l.Wait, l.Count, l.Simulate = false, false, false
	handle, err := l.Function.(*function).handle()
	if err != nil {
		b.Fatal(err)
	}
	s, err := d.streamOf(nil)
	if err != nil {
		b.Fatal(err)
	}
	const block = 200
	bare := func() time.Duration {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cu.SetCurrentContext(d.context); err != nil {
			b.Fatal(err)
		}
		defer vdrv.Bind(&vdrv.Session{Context: b.Context(), Like: &driver.Launch{}})()
		start := time.Now()
		for range block {
			if r := launchKernel(handle, l, s); r != success {
				b.Fatal(r)
			}
		}
		return time.Since(start)
	}
	ours := func() time.Duration {
		start := time.Now()
		for range block {
			if _, err := d.Launch(b.Context(), l); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(start)
	}
	var own, raw []float64
	for b.Loop() {
		x, y := bare(), ours()
		raw, own = append(raw, float64(x)/block), append(own, float64(y-x)/block)
	}
	slices.Sort(raw)
	slices.Sort(own)
	b.ReportMetric(raw[len(raw)/2], "driver-ns/launch")
	b.ReportMetric(own[len(own)/2], "own-ns/launch")
	b.ReportMetric(0, "ns/op")
}
