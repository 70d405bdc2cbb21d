package vgpu

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// memoryStatus is MEMORYSTATUSEX.
type memoryStatus struct {
	length, load                  uint32
	totalPhysical, freePhysical   uint64
	totalPageFile, freePageFile   uint64
	totalVirtual, freeVirtual     uint64
	freeExtendedVirtualAlwaysZero uint64
}

// systemMemory is the machine's free memory, or less where the system would commit less.
func systemMemory() hostMemory {
	s := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	if ok, _, _ := globalMemoryStatus.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return hostMemory{}
	}
	return hostMemory{known: true, free: int64(min(s.freePhysical, s.freePageFile)), total: int64(s.totalPhysical)}
}
