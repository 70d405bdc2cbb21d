//go:build unix && !linux

package vgpu

import "golang.org/x/sys/unix"

// systemMemory is the machine's memory. These systems compress and swap what lies idle, and what they call free is little
// even on an idle machine, so what this device took itself is all that is taken off.
func systemMemory() hostMemory {
	for _, name := range [...]string{"hw.memsize", "hw.physmem"} {
		if n, err := unix.SysctlUint64(name); err == nil {
			return hostMemory{free: int64(n), total: int64(n)}
		}
	}
	return hostMemory{}
}
