package vgpu

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// reserve gives n bytes of address space without memory behind them; where the system refuses, half as many, and so on.
func reserve(n int64) ([]byte, error) {
	for {
		p, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE, windows.PAGE_READWRITE)
		if err == nil {
			return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n), nil
		}
		if n <= 64<<20 {
			return nil, os.NewSyscallError("VirtualAlloc", err)
		}
		n /= 2
	}
}

func unreserve(b []byte) {
	windows.VirtualFree(uintptr(unsafe.Pointer(&b[0])), 0, windows.MEM_RELEASE)
}

// commit puts memory behind bytes of the arena.
func commit(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := windows.VirtualAlloc(uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return os.NewSyscallError("VirtualAlloc", err)
}

// decommit gives the host memory of pages back until commit.
func decommit(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	return os.NewSyscallError("VirtualFree", windows.VirtualFree(uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), windows.MEM_DECOMMIT))
}

// release gives the memory of whole pages back until commit.
func release(b []byte) error { return decommit(b) }
