//go:build !linux && !windows

package nvrtc

// limitResources has nothing to limit where NVRTC does not exist.
func limitResources(int64) error { return nil }
