package cache

import "math/bits"

// divisor gives remainders of 32-bit numbers without a division (Lemire, Kaser, Kurz: Faster remainder by direct
// computation, 2019), since a launch looks for millions of lines.
type divisor struct{ n, inverse uint64 }

func divisorOf(n int) divisor { return divisor{uint64(n), ^uint64(0)/uint64(n) + 1} }

func (d divisor) of(x uint64) uint64 {
	r, _ := bits.Mul64(d.inverse*x, d.n)
	return r
}
