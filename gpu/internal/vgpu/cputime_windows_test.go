package vgpu

import "time"

var processStart = time.Now()

// cpuTime stands in for the processor time of the process.
func cpuTime() time.Duration { return time.Since(processStart) }
