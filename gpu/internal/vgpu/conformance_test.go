package vgpu

import (
	"testing"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/driver/conformance"
)

// The suite that every device passes.
func TestConformance(t *testing.T) {
	conformance.Run(t, func() (driver.Device, error) { return Open(testProfile()) })
}
