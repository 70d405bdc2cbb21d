//go:build !(cuda && cgo && linux)

package cuda

import (
	"runtime"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// Available says why this build opens no NVIDIA GPU.
func Available() error {
	if runtime.GOOS != "linux" {
		return &NoDriver{"this build drives no NVIDIA GPU: that needs Linux or WSL", virtualHint}
	}
	return &NoDriver{"this build drives no NVIDIA GPU: it was made without cgo",
		"with a C compiler (Debian: apt install gcc libc6-dev), memwall lab and memwall install make one that does\nor " + virtualHint}
}

// Count is 0: Available says why.
func Count() int { return 0 }

// Open fails: Available says why.
func Open(ordinal int) (driver.Device, error) { return nil, Available() }

// ProfileOf fails: Available says why.
func ProfileOf(ordinal int) (*perf.Profile, error) { return nil, Available() }
