package gpu

import (
	"context"
	"testing"

	"memwall/gpu/card"
	"memwall/gpu/perf"
)

// BenchmarkCard is what a card adds to a launch: evaluating its counters and rendering it (budget 50 µs).
func BenchmarkCard(b *testing.B) {
	d := fresh(b, "h200")
	scale := load(b, d, "scale")
	x := d.Zeros(F32, 1<<16)
	l := Measure(func() { scale.Launch(Threads(1<<16, 256), x, 2, 1<<16) }).Launches[0]
	b.ResetTimer()
	for range b.N {
		card.Launch(perf.Evaluate(l.Observation, l.Profile)).MIMEBundle()
	}
}

// BenchmarkLaunch is the host's share of the smallest launch, with its counters.
func BenchmarkLaunch(b *testing.B) {
	d := fresh(b, "h200")
	scale := load(b, d, "scale")
	x := d.Zeros(F32, 32)
	BeginCell(context.Background(), 1)
	defer EndCell()
	config := Threads(32, 32)
	b.ResetTimer()
	for range b.N {
		if err := scale.Launch(config, x, 2, 32); err != nil {
			b.Fatal(err)
		}
		if len(records.records) > 1000 {
			records.records = records.records[:0]
		}
	}
}

// BenchmarkRandn makes the weights of notebook 01.
func BenchmarkRandn(b *testing.B) {
	d := fresh(b, "h200")
	b.SetBytes(2 * 4096 * 4096)
	for range b.N {
		d.Randn(F16, 4096, 4096).Free()
	}
}
