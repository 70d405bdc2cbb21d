package vgpu

import (
	"fmt"
	"testing"

	"memwall/gpu/internal/driver"
)

// Threads that write so many bytes of local memory and read them again, in order. What L1 holds costs nothing; what L2 holds, its
// bandwidth; of what is more, DRAM writes and reads the part that L2 has no room for.
func TestLocalMemory(t *testing.T) {
	p := timed(t, "h100")
	d := openTest(t, p)
	const threads = 256
	run := func(bytes, ctas int) float64 {
		text := fmt.Sprintf(header+`.visible .entry k(.param .u64 out) {
	.local .align 4 .b8 mine[%d]; .reg .pred %%p; .reg .b32 %%r<8>; .reg .b64 %%d<8>;
	ld.param.u64 %%d1, [out]; mov.u64 %%d2, mine; mov.u32 %%r1, 0; mov.u32 %%r2, 0; mov.u64 %%d3, %%d2;
W:	st.local.u32 [%%d3], %%r1; add.s64 %%d3, %%d3, 4; add.u32 %%r1, %%r1, 1; setp.lt.u32 %%p, %%r1, %d; @%%p bra W;
	mov.u32 %%r1, 0; mov.u64 %%d3, %%d2;
R:	ld.local.u32 %%r3, [%%d3]; add.u32 %%r2, %%r2, %%r3; add.s64 %%d3, %%d3, 4; add.u32 %%r1, %%r1, 1; setp.lt.u32 %%p, %%r1, %d; @%%p bra R;
	mov.u32 %%r4, %%ctaid.x; mov.u32 %%r5, %%tid.x; mad.lo.u32 %%r4, %%r4, %d, %%r5; mul.wide.u32 %%d4, %%r4, 4; add.s64 %%d1, %%d1, %%d4; st.global.u32 [%%d1], %%r2;
	ret;
}
`, bytes, bytes/4, bytes/4, threads)
		f := fn(t, loadModule(t, d, text), "k")
		out := allocate(t, d, int64(4*threads*ctas))
		r, err := d.Launch(t.Context(), &driver.Launch{Function: f, Grid: dim(uint32(ctas)), CTA: dim(threads), Args: pack(t, f, out), Wait: true, Count: true, Simulate: true})
		if err != nil || !r.Simulated.Done() {
			t.Fatalf("%v, %+v", err, r)
		}
		return r.Simulated.Seconds
	}
	const sms = 132
	for _, x := range []struct {
		name            string
		bytes, resident int
		low, high       float64 // × what L2 or DRAM alone take
		dram            bool
	}{
		{"in L1", 64, 8, 0, .6, false},
		{"in L2", 1280, 1, .4, 1.5, false}, // L1 holds four fifths, and thrashes
		{"in DRAM", 512, 8, 1, 1.35, true},
	} {
		got := run(x.bytes, sms*x.resident)
		all := float64(x.bytes * threads * sms * x.resident)
		want := 2 * all / p.L2BytesPerSecond // there and back
		if x.dram {
			want = 2 * (all - float64(p.L2Bytes)) / p.DRAMBytesPerSecond
		}
		if !(got >= x.low*want && got <= x.high*want) {
			t.Errorf("%s: %.2f µs, the bytes alone take %.2f", x.name, 1e6*got, 1e6*want)
		}
	}
}
