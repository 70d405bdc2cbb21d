//go:build !amd64

package vgpu

// addRow would be addProducts by vectors: this architecture has no assembly for it.
func addRow(c, a, b []float32) bool { return false }
