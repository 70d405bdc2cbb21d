package supervisor

import "golang.org/x/sys/unix"

// memoryTotal is the machine's memory in bytes.
func memoryTotal() uint64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return n
}
