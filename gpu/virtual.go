package gpu

import (
	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu"
	"memwall/gpu/perf"
)

// openVirtual makes a virtual GPU that stands for a profile.
func openVirtual(p *perf.Profile) (driver.Device, error) { return vgpu.Open(p) }
