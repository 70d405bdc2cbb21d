package nvrtc

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// limitResources lets this process take that much more address space than it has now, write no file and dump no core.
// Address space, not resident memory: the kernel then refuses the allocation instead of killing someone.
func limitResources(memory int64) error {
	limits := map[int]uint64{syscall.RLIMIT_CORE: 0, syscall.RLIMIT_FSIZE: 0}
	if memory > 0 {
		data, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			return err
		}
		pages, err := strconv.ParseUint(strings.Fields(string(data) + " ")[0], 10, 64)
		if err != nil {
			return err
		}
		limits[syscall.RLIMIT_AS] = pages*uint64(os.Getpagesize()) + uint64(memory)
	}
	for resource, limit := range limits {
		var current syscall.Rlimit
		if err := syscall.Getrlimit(resource, &current); err != nil {
			return err
		}
		limit = min(limit, current.Max)
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	return nil
}
