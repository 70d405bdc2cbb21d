//go:build cuda && cgo && linux

package cuda

import (
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// slicesOf lists the MIG slices of all GPUs, a line each: CUDA shows a process one slice, which CUDA_VISIBLE_DEVICES chooses by its UUID.
// Multiprocessors and memory are the slice's own. What NVML does not answer is left out.
func slicesOf(api nvml.Interface) []string {
	var lines []string
	n, _ := api.DeviceGetCount()
	for i := range n {
		g, r := api.DeviceGetHandleByIndex(i)
		if r != nvml.SUCCESS {
			continue
		}
		if now, _, r := g.GetMigMode(); r != nvml.SUCCESS || now != nvml.DEVICE_MIG_ENABLE {
			continue
		}
		most, _ := g.GetMaxMigDeviceCount()
		for j := range most {
			slice, r := g.GetMigDeviceHandleByIndex(j) // places may be empty
			if r != nvml.SUCCESS {
				continue
			}
			uuid, r := slice.GetUUID()
			if r != nvml.SUCCESS {
				continue
			}
			line := fmt.Sprintf("%s of GPU %d", uuid, i)
			if a, r := slice.GetAttributes(); r == nvml.SUCCESS {
				line += fmt.Sprintf(": %d SMs, %d MiB", a.MultiprocessorCount, a.MemorySizeMB)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// lookForSlices is lookAround with the MIG slices, which NVML is started for.
func lookForSlices() surroundings {
	s := lookAround()
	if virtual, _ := opened(); virtual {
		return s
	}
	if api, why := managed(); why == "" {
		s.slices = slicesOf(api)
	}
	return s
}
