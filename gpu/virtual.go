package gpu

import (
	"errors"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// openVirtual makes a virtual GPU that stands for a profile.
func openVirtual(p *perf.Profile) (driver.Device, error) {
	return nil, errors.New("this build has no virtual GPU")
}
