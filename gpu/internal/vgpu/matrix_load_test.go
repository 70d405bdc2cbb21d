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

// stmatrix is the inverse of ldmatrix, and movmatrix transposes a fragment.
func TestStoreAndMoveMatrix(t *testing.T) {
	d := openTest(t, testProfile())
	for _, order := range []string{"m8n8.x4", "x4.m8n8"} {
		for _, trans := range []string{"", ".trans"} {
			text := mmaHeader(d, "") + ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<8>; .reg .b64 %p, %q; .shared .align 16 .b8 s[512];\nld.param.u64 %p, [out]; mov.u32 %r0, %laneid;\n" +
				"mul.lo.u32 %r1, %r0, 0x20002; add.u32 %r1, %r1, 0x10000; add.u32 %r2, %r1, 0x400040; add.u32 %r3, %r2, 0x400040; add.u32 %r4, %r3, 0x400040;\n" + // element e of matrix q is 64q + e
				"mov.u32 %r5, s; mad.lo.u32 %r5, %r0, 16, %r5;\nstmatrix.sync.aligned." + order + trans + ".shared.b16 [%r5], {%r1, %r2, %r3, %r4};\n" +
				"mov.u32 %r5, s; mad.lo.u32 %r5, %r0, 4, %r5; mul.wide.u32 %q, %r0, 4; add.s64 %p, %p, %q;\n" +
				"ld.shared.u32 %r6, [%r5]; st.global.u32 [%p], %r6; ld.shared.u32 %r6, [%r5+384]; st.global.u32 [%p+128], %r6;\nmovmatrix.sync.aligned.m8n8.trans.b16 %r6, %r1; st.global.u32 [%p+256], %r6;\nret;\n}\n"
			out := upload(t, d, make([]uint16, 192))
			r := launch(t, d, fn(t, loadModule(t, d, text), "k"), dim(1), dim(32), out)
			got := download[uint16](t, d, out, 192)
			for i := range 64 {
				row, column := i/8, i%8
				want, turned := uint16(8*row+column), uint16(8*column+row)
				if trans != "" {
					want = turned
				}
				if got[i] != want || got[64+i] != want+192 {
					t.Fatalf("%s%s: (%d, %d) is %d and %d, want %d", order, trans, row, column, got[i], got[64+i], want)
				}
				if got[128+i] != turned {
					t.Fatalf("movmatrix: element %d of the fragment is %d, want %d", i, got[128+i], turned)
				}
			}
			// The 32 rows of 16 bytes lie in a row: four phases of 8 rows, each all banks once.
			if s := r.Counts.SharedStore; s.Requests != 1 || s.Wavefronts != 4 || s.Bytes != 512 {
				t.Errorf("%+v", s)
			}
		}
	}
}
