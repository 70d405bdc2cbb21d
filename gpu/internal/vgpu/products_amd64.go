package vgpu

import "golang.org/x/sys/cpu"

// addProductsAVX2 is addProducts for a dense row of f32: n a multiple of 8, k at least 1.
//
//go:noescape
func addProductsAVX2(c *float32, n int, a *float32, k int, b *float32)

var hasProducts = cpu.X86.HasAVX2

// addRow is addProducts by vectors, where the CPU has them; it reports whether it did it.
func addRow(c, a, b []float32) bool {
	if !hasProducts || len(c)%8 != 0 || len(c) == 0 || len(a) == 0 || len(b) < len(a)*len(c) {
		return false
	}
	addProductsAVX2(&c[0], len(c), &a[0], len(a), &b[0])
	return true
}
