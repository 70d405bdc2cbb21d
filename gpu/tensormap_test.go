package gpu

import (
	"fmt"
	"strings"
	"testing"
)

// A tile goes through shared memory by tensor copies and comes out turned by its offset; what the launch checks is said.
func TestTensorMapLaunch(t *testing.T) {
	d, err := Open("virtual:h200")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	m, err := d.LoadPTX(`.version 8.0
.target sm_90
.address_size 64
.visible .entry shift(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .u32 x) {
.reg .b32 %s, %bar, %x, %y; .reg .pred %p; .shared .align 128 .b8 s[2048]; .shared .align 8 .b64 bar;
ld.param.u32 %x, [x]; add.u32 %y, %x, 8; mov.u32 %s, s; mov.u32 %bar, bar;
mbarrier.init.shared.b64 [%bar], 1;
mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 2048;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [from, {%x, 4}], [%bar];
WAIT: mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0;
@!%p bra WAIT;
cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [to, {%y, 0}], [%s];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
ret;
}
`)
	if err != nil {
		t.Fatal(err)
	}
	a, b := d.Arange(F32, 64*64).Reshape(64, 64), d.Zeros(F32, 32, 40)
	from, err := d.TensorMap(a, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	to, err := d.TensorMap(b, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	if n := from.BoxBytes(); n != 2048 {
		t.Errorf("a box of %d bytes", n)
	}
	f, err := m.Function("shift")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Launch(Config{Grid: Dim(1), CTA: Dim(1)}, from, to, 20); err != nil {
		t.Fatal(err)
	}
	for i, got := range b.Float32s() {
		row, column := i/40, i%40
		want := float32(0)
		if row < 16 && column >= 28 { // the box of 32 columns from 28 on is cut at 40
			want = float32((row+4)*64 + 20 + column - 28)
		}
		if got != want {
			t.Fatalf("(%d, %d) is %v, want %v", row, column, got, want)
		}
	}
	for _, c := range []struct {
		make func() error
		want string
	}{
		{func() error { return f.Launch(Config{Grid: Dim(1), CTA: Dim(1)}, a, to, 20) }, "a tensor f32 [64, 64] is an address of 8 B, the parameter is a number of 128 B"},
		{func() error { return f.Launch(Config{Grid: Dim(1), CTA: Dim(1)}, from, to, to) }, "argument 3 (x .u32): a tensor map has 128 B by value, the parameter has 4 B"},
		{func() error { _, err := d.TensorMap(a, 16); return err }, "TensorMap of f32 [64, 64]: a box of 1 dimensions for a tensor of 2"},
		{func() error { _, err := from.Swizzled(64); return err }, "TensorMap of f32 [64, 64]: tensor map: a row of the box has 128 bytes: at most 64 with a swizzle of 64"},
		{func() error { _, err := from.Swizzled(48); return err }, "TensorMap of f32 [64, 64]: a swizzle of 48 bytes: it is 0, 32, 64 or 128"},
		{func() error { a.Free(); return f.Launch(Config{Grid: Dim(1), CTA: Dim(1)}, from, to, 20) }, "the map's tensor f32 [64, 64] was freed"},
	} {
		if err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	swizzled, err := to.Swizzled(128)
	if s := fmt.Sprint(swizzled); err != nil || !strings.HasSuffix(s, "40×32 f32, box 32×16, swizzle 128 B") {
		t.Errorf("%s, %v", s, err)
	}
	old, err := Open("virtual:t4")
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if _, err := old.TensorMap(old.Zeros(F32, 32, 32), 8, 8); err == nil || !strings.Contains(err.Error(), "tensor copies need sm_90, virtual:t4 is sm_75") {
		t.Error(err)
	}
}
