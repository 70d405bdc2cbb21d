package supervisor

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// memoryTotal is the machine's memory in bytes.
func memoryTotal() uint64 {
	var status struct {
		length, load                                uint32
		total, available, totalPage, availablePage  uint64
		totalVirtual, availableVirtual, availableEx uint64
	}
	status.length = uint32(unsafe.Sizeof(status))
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return 0
	}
	return status.total
}
