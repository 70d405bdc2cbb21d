package exercise

import (
	"strings"
	"testing"

	"memwall/gpu"
)

const doubling = `.version 6.3
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 out, .param .u64 in, .param .u32 n)
{
	.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<3>;
	ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u32 %r7, [n];
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
	mov.u32 %r4, %nctaid.x; mul.lo.u32 %r4, %r4, %r2;
	START
L:	setp.ge.u32 %p1, %r1, %r7;
	@%p1 ret;
	mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; ld.global.f32 %f1, [%rd4];
	FACTOR
	add.u64 %rd5, %rd1, %rd3; st.global.f32 [%rd5], %f2;
	STEP
	bra L;
}
`

// Kernels of readers: the mended one, and what goes wrong on the way there.
func TestKernels(t *testing.T) {
	dev, err := gpu.Open("virtual:h200")
	if err != nil {
		t.Fatal(err)
	}
	function := func(start, factor, step string) *gpu.Function {
		text := strings.NewReplacer("START", start, "FACTOR", factor, "STEP", step).Replace(doubling)
		m, err := dev.LoadPTX(text)
		if err != nil {
			t.Fatal(err)
		}
		f, err := m.Function("twice")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	const twice, next = "add.f32 %f2, %f1, %f1;", "add.u32 %r1, %r1, %r4;"
	chunk := "mul.lo.u32 %r1, %r1, 25; add.u32 %r5, %r1, 25; min.u32 %r7, %r7, %r5;" // 25 elements a thread, side by side
	for _, c := range []struct {
		name  string
		guess any
		want  string
	}{
		{"mended", function("", twice, next), "02.5  Right: 4 sectors a request.\nNeighbouring lanes stand on neighbouring elements, so each sector comes once and is used whole."},
		{"as given", function(chunk, twice, "add.u32 %r1, %r1, 1;"), "02.5  Right results, but the loads touch 32 sectors a request where 4 would do.\n" +
			"Neighbouring lanes should stand on neighbouring elements: let thread t begin at element t, and step by the number of all threads."},
		{"one element a thread", function("", twice, "ret;"), "02.5  Not yet: element 4096 is NaN, not -809.\nIt was never written: with 4096 threads and 100003 elements each thread takes several, as far as the last."},
		{"a wrong factor", function("", "add.f32 %f2, %f1, 0f3F800000;", next), "02.5  Not yet: element 0 is -499.5, not -1001.\nEvery element must be written once: count which thread takes which."},
		{"no kernel", 4, "02.5  No kernel yet: it takes a function of a %%cuda cell, this is a int.\nLaunch it yourself and read the sectors a request. Which thread should read x[0], and which x[1]?"},
	} {
		if got := Check("02.5", c.guess).String(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	got := Check("02.5", function("", "add.f32 %f2, %f1, %f1; mul.wide.u32 %rd3, %r1, 400;", next)).String()
	if !strings.HasPrefix(got, "02.5  Not yet: the launch stops.\nvirtual GPU: ptx:") || !strings.Contains(got, "out of bounds") {
		t.Errorf("an overrun: %s", got)
	}
}

// The riddle's card tells its distance: sectors a request · 32 B ÷ 32 lanes ÷ 4 B.
func TestRiddle(t *testing.T) {
	dev, err := gpu.Open("virtual:h200")
	if err != nil {
		t.Fatal(err)
	}
	report := gpu.Measure(func() {
		if err := Riddle(dev); err != nil {
			t.Error(err)
		}
	})
	c := report.Launches[0].Counts.GlobalLoad
	if got := float64(c.Sectors) / float64(c.Requests) * sectorBytes / warpLanes / floatBytes; got != hiddenStride {
		t.Errorf("the card says %v floats", got)
	}
}
