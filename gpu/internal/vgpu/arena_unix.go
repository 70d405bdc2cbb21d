//go:build unix

package vgpu

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reserve gives n bytes of address space that take host memory only where they are touched; where the system refuses
// (a limit on address space, strict overcommit), half as many, and so on.
func reserve(n int64) ([]byte, error) {
	for {
		b, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		if err == nil || n <= 64<<20 {
			return b, os.NewSyscallError("mmap", err)
		}
		n /= 2
	}
}

func unreserve(b []byte) { unix.Munmap(b) }

// commit makes bytes of the arena usable; a Unix system does so when they are touched.
func commit(b []byte) error { return nil }

// decommit gives the host memory of pages back until commit.
func decommit(b []byte) error { return release(b) }

// release gives the host memory of whole pages back; they read as zero afterwards.
func release(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	p, err := unix.MmapPtr(-1, 0, unsafe.Pointer(&b[0]), uintptr(len(b)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED)
	_ = p
	return os.NewSyscallError("mmap", err)
}
