//go:build !linux && !darwin && !windows

package supervisor

// memoryTotal is unknown here: memory is not limited.
func memoryTotal() uint64 { return 0 }
