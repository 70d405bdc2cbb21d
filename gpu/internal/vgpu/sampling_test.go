package vgpu

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
)

// The CTAs of a sample: none twice, in order, all columns of the grid alike.
func TestPick(t *testing.T) {
	for _, c := range []struct{ width, height, step uint64 }{{16, 64, 16}, {16, 64, 4}, {12, 100, 8}, {7, 100, 16}, {32, 4, 16}, {1, 1000, 7}, {1000, 1, 8}, {16, 64, 1}, {3, 5, 100},
		{32, 64, 256}, {32, 64, 257}, {64, 32, 255}, {33, 60, 300}, {8, 100, 128}} {
		count := c.width * c.height
		n := (count + c.step - 1) / c.step
		columns := map[uint64]int{}
		last, sum := -1, uint64(0)
		for i := range n {
			at := pick(i, c.step, c.width, count)
			if int(at) <= last || at >= count {
				t.Fatalf("%+v: CTA %d after %d, of %d", c, at, last, count)
			}
			last = int(at)
			columns[at%c.width]++
			sum += at % c.width
		}
		if mean := float64(sum) / float64(n); n >= 6 && c.width > 2 && c.height > 1 && !(mean > .4*float64(c.width-1) && mean < .6*float64(c.width-1)) {
			t.Errorf("%+v: the mean column of %d is %g", c, n, mean)
		}
		least, most := int(n), 0
		for x := range c.width {
			least, most = min(least, columns[x]), max(most, columns[x])
		}
		if n >= 4*c.width && c.height > 1 && most > 2*least {
			t.Errorf("%+v: a column is executed %d times, another %d times", c, least, most)
		}
	}
}

const talkingText = header + `.global .u32 ticket;
.visible .entry plain(.param .u64 p, .param .u32 n) {
	.reg .b32 %r<6>; .reg .b64 %rd<3>;
	ld.param.u64 %rd0, [p]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r0, %r2, %r1;
	mul.wide.u32 %rd1, %r3, 4; add.u64 %rd1, %rd0, %rd1; ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, 1; st.global.u32 [%rd1], %r4; red.global.add.u32 [ticket], %r4;
	ret;
}
.visible .entry last(.param .u64 p, .param .u32 n) {
	.reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<3>;
	mov.u32 %r0, 1;
	atom.global.add.u32 %r1, [ticket], %r0;
	setp.eq.u32 %p, %r1, 7; @%p trap;
	ret;
}
.visible .entry unread(.param .u64 p, .param .u32 n) { .reg .b32 %r<3>; mov.u32 %r0, 1; atom.global.add.u32 %r1, [ticket], %r0; ret; }
.visible .entry polls(.param .u64 p, .param .u32 n) {
	.reg .b32 %r<3>; .reg .b64 %rd<3>;
	ld.param.u64 %rd0, [p];
	ld.acquire.gpu.global.u32 %r0, [%rd0];
	st.global.u32 [%rd0+4], %r0;
	ret;
}
.visible .entry chain(.param .u64 p, .param .u32 n) {
	.reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<4>;
	ld.param.u64 %rd0, [p]; ld.param.u32 %r5, [n]; mov.u32 %r0, %ctaid.x; mul.wide.u32 %rd1, %r0, 64; add.u64 %rd1, %rd0, %rd1;
	st.global.u32 [%rd1], %r0; setp.lt.u32 %p, %r0, %r5; @%p bra END;
	mul.wide.u32 %rd2, %r5, 64; sub.u64 %rd2, %rd1, %rd2; ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd1+4], %r1;
END:
	ret;
}
`

func sample(t *testing.T, d *Device, f driver.Function, grid, k uint32, args ...any) (*driver.Result, error) {
	t.Helper()
	return d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(grid), CTA: dim(32), Args: pack(t, f, args...), Wait: true, Count: true, Sample: int(k)})
}

// A sample counts exactly 1/k where CTAs are alike, and is refused where they communicate: by what the PTX says, or by
// what they are seen to do.
func TestSampledCTAs(t *testing.T) {
	d := openTest(t, testProfile())
	m := loadModule(t, d, talkingText)
	p := upload(t, d, make([]uint32, 32*1024))
	for _, name := range []string{"plain", "unread"} {
		f := fn(t, m, name)
		whole, err := sample(t, d, f, 1024, 1, p, uint32(0))
		if err != nil {
			t.Fatal(err)
		}
		part, err := sample(t, d, f, 1024, 16, p, uint32(0))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if part.Executed != 64 || part.Sampled != 16 || part.Counts.WarpInstructions*16 != whole.Counts.WarpInstructions || part.Counts.GlobalLoad.Sectors*16 != whole.Counts.GlobalLoad.Sectors {
			t.Errorf("%s: %+v\nwhole: %+v", name, part.Counts, whole.Counts)
		}
	}
	for _, c := range []struct {
		name string
		n    uint32
		want string
	}{
		{"last", 0, "launch last: its CTAs communicate, so a few of them say nothing about the others: test.ptx:14: atom.global.add.u32 uses the value that it finds\nrun it whole, without gpu.Sample"},
		{"polls", 0, "launch polls: its CTAs communicate, so a few of them say nothing about the others: test.ptx:22: ld.acquire.gpu.global.u32 waits for what other CTAs write\nrun it whole, without gpu.Sample"},
		{"chain", 64, fmt.Sprintf("launch chain: its CTAs communicate, so a few of them say nothing about the others: CTA (64,0,0) reads what CTA (0,0,0) wrote, the start of allocation 0x%x of 131,072 B\nrun it whole, without gpu.Sample", p)},
	} {
		if _, err := sample(t, d, fn(t, m, c.name), 1024, 16, p, c.n); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant\n%s", c.name, err, c.want)
		}
		if c.name != "last" {
			if _, err := sample(t, d, fn(t, m, c.name), 1024, 1, p, c.n); err != nil {
				t.Errorf("%s, whole: %v", c.name, err)
			}
		}
	}
	// What lies between the sampled CTAs is not executed, so nothing is heard; the result is incomplete all the same.
	if _, err := sample(t, d, fn(t, m, "chain"), 1024, 16, p, uint32(1)); err != nil {
		t.Errorf("%v", err)
	}
}

// A time budget chooses a power of two that fits it, and all CTAs where they fit.
func TestSampleTime(t *testing.T) {
	d := openTest(t, testProfile())
	f := fn(t, loadModule(t, d, talkingText), "plain")
	p := upload(t, d, make([]uint32, 32*1024*16))
	run := func(budget time.Duration) *driver.Result {
		r, err := d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(16 * 1024), CTA: dim(32), Args: pack(t, f, p, uint32(0)), Wait: true, Count: true, SampleTime: budget})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run(time.Hour); r.Sampled != 1 || r.Executed != 16*1024 {
		t.Errorf("with an hour: 1 of %d CTAs, %d executed", r.Sampled, r.Executed)
	}
	if r := run(time.Microsecond); r.Sampled < 64 || r.Sampled&(r.Sampled-1) != 0 || r.Executed != uint64((16*1024+r.Sampled-1)/r.Sampled) {
		t.Errorf("with a microsecond: 1 of %d CTAs, %d executed", r.Sampled, r.Executed)
	}
	last := fn(t, loadModule(t, d, talkingText), "last")
	_, err := d.Launch(context.Background(), &driver.Launch{Function: last, Grid: dim(1024), CTA: dim(32), Args: pack(t, last, p, uint32(0)), Wait: true, SampleTime: time.Hour})
	if err == nil || !strings.HasPrefix(err.Error(), "launch last: its CTAs communicate") {
		t.Errorf("%v", err)
	}
}

// The CTAs that a time budget tries leave memory as it was: every element is incremented once, by whichever step, also with
// atomics, and also where the try ends in a fault.
func TestSampleTimeWritesOnce(t *testing.T) {
	d := openTest(t, testProfile())
	m := loadModule(t, d, header+`.visible .entry plain(.param .u64 p) { .reg .b32 %r<5>; .reg .b64 %rd<4>;
	ld.param.u64 %rd0, [p]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2;
	mul.wide.u32 %rd1, %r3, 4; add.u64 %rd2, %rd0, %rd1; ld.global.u32 %r4, [%rd2]; add.u32 %r4, %r4, 1; st.global.u32 [%rd2], %r4; ret; }
.visible .entry atomic(.param .u64 p) { .reg .b32 %r<5>; .reg .b64 %rd<4>;
	ld.param.u64 %rd0, [p]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2;
	mul.wide.u32 %rd1, %r3, 4; add.u64 %rd2, %rd0, %rd1; red.global.add.u32 [%rd2], 1; ret; }
`)
	const ctas, threads = 1000, 32
	for _, name := range []string{"plain", "atomic"} {
		f := fn(t, m, name)
		launch := func(p driver.Address, budget time.Duration) (*driver.Result, error) {
			return d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(ctas), CTA: dim(threads), Args: pack(t, f, p), Wait: true, Count: true, SampleTime: budget})
		}
		for _, budget := range []time.Duration{time.Hour, time.Microsecond} {
			p := upload(t, d, make([]uint32, ctas*threads))
			r, err := launch(p, budget)
			if err != nil {
				t.Fatal(err)
			}
			sum := uint64(0)
			for i, v := range download[uint32](t, d, p, ctas*threads) {
				if sum += uint64(v); v > 1 {
					t.Fatalf("%s in %v: element %d is %d", name, budget, i, v)
				}
			}
			if sum != r.Executed*threads || budget == time.Hour && sum != ctas*threads {
				t.Errorf("%s in %v: %d elements incremented by %d CTAs", name, budget, sum, r.Executed)
			}
		}
		p := upload(t, d, make([]uint32, ctas*threads/2)) // the second half lies behind it
		if _, err := launch(p, time.Hour); err == nil || !strings.Contains(err.Error(), "out of bounds") {
			t.Errorf("%s past the end: %v", name, err)
		}
		for i, v := range download[uint32](t, d, p, ctas*threads/2) {
			if v != 0 {
				t.Fatalf("%s, stopped: element %d is %d", name, i, v)
			}
		}
	}
}
