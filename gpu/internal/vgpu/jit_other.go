//go:build !amd64

package vgpu

// jitAvailable is false: machine code is made for amd64 alone.
func jitAvailable() bool { return false }

// compiledCode is the machine code of a program, of which there is none here.
type compiledCode struct{}

func (p *program) prune() {}
