package exercise

import "testing"

// Choices of a tile, worked out by hand: a register unit is 256 a warp, a CTA reserves 1 KiB of an SM's 228 KiB.
func TestTile(t *testing.T) {
	for _, c := range []struct {
		guess any
		want  string
	}{
		{[]int{128, 128, 3}, "03.5  Right: 2 CTAs an SM, 64.0 FLOP/B.\nA thread holds 128 · 128 ÷ 128 = 128 sums and 100 other registers, 228 in all; 3 stages take 3 · (128 + 128) · 64 · 2 B = 98.3 kB of shared memory."},
		{[]int{128, 128, 4}, "03.5  Not yet: an SM holds 1 CTA; what limits it: shared memory.\nA thread holds 128 · 128 ÷ 128 = 128 sums and 100 other registers, 228 in all; 4 stages take 4 · (128 + 128) · 64 · 2 B = 131 kB of shared memory. Fewer stages, or a smaller tile."},
		{[]int{192, 96, 3}, "03.5  Right: 2 CTAs an SM, 64.0 FLOP/B.\nA thread holds 192 · 96 ÷ 128 = 144 sums and 100 other registers, 244 in all; 3 stages take 3 · (192 + 96) · 64 · 2 B = 111 kB of shared memory."},
		{[]int{128, 256, 2}, "03.5  Too many registers: 356 a thread, 255 is the most.\nA thread holds 128 · 256 ÷ 128 = 256 sums and 100 other registers, 356 in all; 2 stages take 2 · (128 + 256) · 64 · 2 B = 98.3 kB of shared memory. Take a smaller tile."},
		{[]int{64, 64, 3}, "03.5  Two CTAs fit, but each byte is used for 32.0 FLOP/B only.\nIt should be 64 FLOP/B: BM · BN ÷ (BM + BN). A square uses its rows and columns best."},
		{[]int{128, 128, 2}, "03.5  Two CTAs fit, but 2 stages are too few.\nOne is multiplied, so at least two should be on their way. A thread holds 128 · 128 ÷ 128 = 128 sums and 100 other registers, 228 in all; 2 stages take 2 · (128 + 128) · 64 · 2 B = 65.5 kB of shared memory."},
		{[]int{100, 128, 3}, "03.5  Not a tile yet: 100 rows or columns.\nBM and BN are multiples of 32 from 32 to 256, so that four warps can share them."},
		{[]int{128, 128, 0}, "03.5  Not a ring yet: 0 stages.\nTake 1 to 16."},
		{[]int{128, 128}, "03.5  No choice yet: it takes a []int of 3 numbers, this is [128 128].\nBegin with exercise.Check(\"03.5\", []int{128, 128, 4}) and read what is too much."},
		{7, "03.5  No choice yet: it takes a []int of 3 numbers, this is 7.\nBegin with exercise.Check(\"03.5\", []int{128, 128, 4}) and read what is too much."},
	} {
		if got := Check("03.5", c.guess).String(); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.guess, got, c.want)
		}
	}
}
