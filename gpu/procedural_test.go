package gpu

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// rows adds up, by each CTA of 32 threads, a row of 16-byte pieces of f16 pairs: out[ctaid] = the number of pairs whose low half is negative.
const countNegatives = `.version 8.0
.target sm_75
.address_size 64
.visible .entry negatives(.param .u64 w, .param .u64 out, .param .u32 pieces) {
	.reg .pred %p, %q; .reg .b32 %r<16>; .reg .b64 %rd<8>;
	ld.param.u64 %rd0, [w]; ld.param.u64 %rd1, [out]; ld.param.u32 %r0, [pieces];
	mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, %r0; cvt.u64.u32 %rd3, %r1; add.u64 %rd2, %rd2, %rd3;
	shl.b64 %rd2, %rd2, 4; add.u64 %rd2, %rd0, %rd2; mov.u32 %r3, 0; mov.u32 %r4, %r1;
LOOP:
	setp.ge.u32 %p, %r4, %r0; @%p bra DONE;
	ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd2];
	bfe.u32 %r5, %r5, 15, 1; add.u32 %r3, %r3, %r5; bfe.u32 %r6, %r6, 15, 1; add.u32 %r3, %r3, %r6;
	bfe.u32 %r7, %r7, 15, 1; add.u32 %r3, %r3, %r7; bfe.u32 %r8, %r8, 15, 1; add.u32 %r3, %r3, %r8;
	add.u64 %rd2, %rd2, 512; add.u32 %r4, %r4, 32; bra LOOP;
DONE:
	mul.wide.u32 %rd4, %r2, 4; add.u64 %rd4, %rd1, %rd4; red.global.add.u32 [%rd4], %r3;
	ret;
}
`

// A tensor of 128 GB, as the weights of a model with 64 billion parameters in f16, is read by a sampled launch; the process
// stays small, and the counts are those of the whole tensor.
func TestProceduralModel(t *testing.T) {
	d := fresh(t, "h200")
	const rows, columns, step = 7_812_500, 8192, 50_000
	w := d.Procedural(F16, 3, rows, columns)
	out := d.Zeros(U32, rows)
	m, err := d.LoadPTX(countNegatives)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("negatives")
	if err != nil {
		t.Fatal(err)
	}
	before := statm()
	r := Sample(step, func() { f.Launch(Config{Grid: Dim(rows), CTA: Dim(32)}, w, out, columns*2/16) })
	l := r.Launches[0]
	if want := float64(w.Bytes()); l.IdealBytes.Value < want || l.IdealBytes.Value > 1.01*want || l.Executed != (rows+step-1)/step {
		t.Errorf("%d CTAs executed, %v of data, want %v", l.Executed, l.IdealBytes, want)
	}
	// A few rows run whole, against the same values read by the host.
	part := w.Slice(rows-4, rows)
	counts := d.Zeros(U32, 4)
	if err := f.Launch(Config{Grid: Dim(4), CTA: Dim(32)}, part, counts, columns*2/16); err != nil {
		t.Fatal(err)
	}
	values := part.Float32s()
	for row, got := range counts.Ints() {
		want := 0
		for i := 0; i < columns; i += 2 {
			if values[row*columns+i] < 0 {
				want++
			}
		}
		if got != want {
			t.Errorf("row %d: %d, want %d", row, got, want)
		}
	}
	grown := statm() - before
	t.Logf("%s; the process grew by %d MiB", r.Launches[0].DRAMBytes, grown>>20)
	if grown > 512<<20 {
		t.Errorf("the process grew by %d MiB", grown>>20)
	}
}

// Reading more than the computer holds is an error, not the end of the process.
func TestReadingTooMuch(t *testing.T) {
	d := fresh(t, "h200")
	w := d.Procedural(F16, 3, 7_812_500, 8192)
	for name, read := range map[string]func(){"Float32s f16 [7812500, 8192]": func() { w.Float32s() }, "Float64s f16 [7812500, 8192]": func() { w.Float64s() },
		"CopyOut buffer of 128,000,000,000 B": func() { w.Buffer().CopyOut() }} {
		err := panicOf(t, read)
		if err == nil || !strings.HasPrefix(err.Error(), name+": out of memory: ") || !strings.HasSuffix(err.Error(), "\nread a part of it: t.Slice(from, to), or b.Tensor(dtype, shape…)") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := w.String(); !strings.Contains(s, "128 GB") || !strings.Contains(s, "elements)") {
		t.Errorf("%s", s)
	}
}

// statm is the host memory of this process, 0 where the system does not say.
func statm() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	var size, resident int64
	if err != nil {
		return 0
	}
	fmt.Sscan(string(b), &size, &resident)
	return resident * int64(os.Getpagesize())
}
