//go:build cuda && cgo && linux

package cuda

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// A launch that is timed many times writes what one run writes, in every buffer, and leaves no memory behind; its card says how
// its time came about, and does not call the model's measured.
func TestRepeated(t *testing.T) {
	d := open(t)
	w := newWork(t, d)
	const n = 1 << 10
	x, other := w.floats(n), w.floats(n)
	l := w.launch("scale", n/128, 128, uint64(x), float32(3), uint32(n))
	w.run(l) // makes what timing keeps
	if _, err := d.Time(t.Context(), l, TimeOptions{Least: 2, Most: 2}); err != nil {
		t.Fatal(err)
	}
	if err := d.Fill(x, []byte{0, 0, 128, 63}, n, nil); err != nil {
		t.Fatal(err)
	}
	before, _ := d.MemoryInfo()
	l.Repeat = 10
	r := w.run(l)
	if after, _ := d.MemoryInfo(); after != before {
		t.Errorf("%d B are free after the timing, %d were before", after, before)
	}
	for name, want := range map[driver.Address]float32{x: 3, other: 1} {
		b := make([]byte, 4*n)
		if err := d.CopyOut(b, name, nil); err != nil {
			t.Fatal(err)
		}
		if one := binary.LittleEndian.AppendUint32(nil, math.Float32bits(want)); !bytes.Equal(b, bytes.Repeat(one, n)) {
			t.Errorf("0x%x holds % x …, want %v everywhere", uint64(name), b[:8], want)
		}
	}
	if len(r.Samples) != samplesAtOnce || !r.Cold || r.Batch != 1 || r.Executed != n/128 || r.Clocks != "" {
		t.Errorf("%d samples of %d launches, cold %v, %d CTAs, clocks %q", len(r.Samples), r.Batch, r.Cold, r.Executed, r.Clocks)
	}
	got := perf.Evaluate(driver.Observe(d, l, r), d.Profile())
	if s := got.Duration.Source; got.Duration.Tag != perf.Modelled || s != "the model, as events read it, median of 50, ±0%" {
		t.Errorf("the time is %s: %q", got.Duration.Tag, s)
	}
	l.Warm = true
	if r = w.run(l); r.Batch < 2 || r.Cold {
		t.Errorf("warm: %d launches a sample, cold %v", r.Batch, r.Cold)
	}
	if s := perf.Evaluate(driver.Observe(d, l, r), d.Profile()).Duration.Source; !strings.HasSuffix(s, " in a graph") {
		t.Errorf("warm: %q", s)
	}
}

// A fault while a launch is timed is the launch's, and the device goes on.
func TestRepeatedFault(t *testing.T) {
	d := open(t)
	w := newWork(t, d)
	w.floats(8)
	l := w.launch("poke", 3, 32, uint64(0), uint64(0))
	l.Repeat = 10
	_, err := d.Launch(t.Context(), l)
	const want = "cuda:0: conformance:162: st.global.u32 out of bounds\n" +
		"CTA (1,0,0) warp 0 lane 5: address 0x0, a null pointer\n" +
		"time poke: an illegal memory access was encountered (700)\n" +
		"the context was replaced: one buffer went with it; modules are loaded again when they are used"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	w.run(w.launch("scale", 1, 32, uint64(w.floats(32)), float32(1), uint32(32)))
}
