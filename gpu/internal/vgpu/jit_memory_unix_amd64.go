//go:build unix

package vgpu

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// refuseCode makes newCodePages fail, as systems do that forbid memory which is written first and executed then.
var refuseCode bool

// codePages is memory with machine code: written first, then executable and no longer writable.
type codePages struct{ b []byte }

func newCodePages(code []byte) (*codePages, error) {
	if refuseCode {
		return nil, fmt.Errorf("executable memory: %w", unix.EPERM)
	}
	b, err := unix.Mmap(-1, 0, alignUp(len(code), unix.Getpagesize()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("executable memory: %w", err)
	}
	copy(b, code)
	if err := unix.Mprotect(b, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		unix.Munmap(b)
		return nil, fmt.Errorf("executable memory: %w", err)
	}
	return &codePages{b}, nil
}

// free gives the memory back; nobody may execute it any more.
func (c *codePages) free() {
	if c.b != nil {
		unix.Munmap(c.b)
		c.b = nil
	}
}
