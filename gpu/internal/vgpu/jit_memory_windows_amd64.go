package vgpu

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// refuseCode makes newCodePages fail, as systems do that forbid memory which is written first and executed then.
var refuseCode bool

// codePages is memory with machine code: written first, then executable and no longer writable.
type codePages struct{ b []byte }

func newCodePages(code []byte) (*codePages, error) {
	if refuseCode {
		return nil, fmt.Errorf("executable memory: %w", windows.ERROR_ACCESS_DENIED)
	}
	size := uintptr(alignUp(len(code), 4096))
	at, err := windows.VirtualAlloc(0, size, windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, fmt.Errorf("executable memory: %w", err)
	}
	c := &codePages{unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size)}
	copy(c.b, code)
	var old uint32
	if err := windows.VirtualProtect(at, size, windows.PAGE_EXECUTE_READ, &old); err != nil {
		c.free()
		return nil, fmt.Errorf("executable memory: %w", err)
	}
	return c, nil
}

// free gives the memory back; nobody may execute it any more.
func (c *codePages) free() {
	if c.b != nil {
		windows.VirtualFree(uintptr(unsafe.Pointer(&c.b[0])), 0, windows.MEM_RELEASE)
		c.b = nil
	}
}
