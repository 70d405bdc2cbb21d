package vgpu

import "testing"

// ldmatrix hands lane l the elements 2·(l%4) and the next of row l/4, with .trans of column l/4.
func TestLoadMatrix(t *testing.T) {
	d := openTest(t, testProfile())
	a, zero := make([]uint32, 32), make([]uint32, 32)
	for i := range a {
		a[i] = uint32(2*i) | uint32(2*i+1)<<16
	}
	// The warp's 32 words are one 8×8 matrix of u16, row after row; the rows are given in reverse.
	start := "mov.u32 %r5, buffer; mad.lo.u32 %r6, %r11, 4, %r5; st.shared.u32 [%r6], %r0; bar.sync 0; and.b32 %r7, %r11, 7; sub.u32 %r7, 7, %r7; mad.lo.u32 %r7, %r7, 16, %r5; "
	for _, c := range []struct {
		op   string
		want func(l int) (low, high int)
	}{
		{"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r7];", func(l int) (int, int) { return (7-l/4)*8 + 2*(l%4), (7-l/4)*8 + 2*(l%4) + 1 }},
		{"ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r2}, [%r7];", func(l int) (int, int) { return (7-2*(l%4))*8 + l/4, (7-2*(l%4)-1)*8 + l/4 }},
		{"ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%r3, %r2}, [%r7];", func(l int) (int, int) { return (7-l/4)*8 + 2*(l%4), (7-l/4)*8 + 2*(l%4) + 1 }},
		{"ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%r3, %r2, %r4, %r8}, [%r7];", func(l int) (int, int) { return (7-l/4)*8 + 2*(l%4), (7-l/4)*8 + 2*(l%4) + 1 }},
	} {
		for lane, got := range runLanes(t, d, start+c.op, a, zero, allLanes) {
			low, high := c.want(lane)
			if got != uint32(low)|uint32(high)<<16 {
				t.Errorf("%s lane %d: %#x, want %d and %d", c.op, lane, got, low, high)
			}
		}
	}
}
