package gpu

import (
	"fmt"
	"strings"
	"testing"
)

// A long text keeps its first and last lines and says how many are missing; a short one stays as it is.
func TestFolded(t *testing.T) {
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d\n", i)
		}
		return b.String()
	}
	for _, n := range []int{1, 120, 140} {
		if got := folded(lines(n)); got != lines(n) {
			t.Errorf("%d lines are folded to %q", n, got)
		}
	}
	got := strings.Split(folded(lines(19200)), "\n")
	if len(got) != 122 || got[99] != "99" || got[100] != "… 19,080 lines of printf left out: gpu.Printed() gives all 19,200 …" || got[101] != "19180" || got[120] != "19199" {
		t.Errorf("%d lines: %q", len(got), got[98:])
	}
	if got := folded(strings.TrimSuffix(lines(200), "\n")); !strings.HasSuffix(got, "\n198\n199") {
		t.Errorf("without a last line break: %q", got[len(got)-20:])
	}
}

// A launch's printf is kept whole.
func TestPrinted(t *testing.T) {
	d := fresh(t, "h200")
	m, err := d.LoadPTX(`.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.visible .entry say() {
	.reg .b64 %rd<3>; .reg .b32 %r<2>;
	mov.u64 %rd0, text; cvta.global.u64 %rd0, %rd0; mov.u64 %rd1, 0;
	{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd0; st.param.b64 [b], %rd1; call.uni (r), vprintf, (a, b); ld.param.b32 %r0, [r]; }
	ret;
}`)
	if err != nil {
		t.Fatal(err)
	}
	say, err := m.Function("say")
	if err != nil {
		t.Fatal(err)
	}
	if err := say.Launch(Config{Grid: Dim(3), CTA: Dim(1)}); err != nil {
		t.Fatal(err)
	}
	if got := Printed(); got != strings.Repeat("hi\n", 3) {
		t.Errorf("%d bytes printed", len(got))
	}
}
