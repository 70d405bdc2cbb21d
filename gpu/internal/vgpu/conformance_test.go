package vgpu

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/driver/conformance"
)

// The suite that every device passes.
func TestConformance(t *testing.T) {
	conformance.Run(t, func() (driver.Device, error) { return Open(testProfile()) })
}

// It passes too where addresses are the host's, and those are: what a launch wrote stands there.
func TestHostAddressed(t *testing.T) {
	conformance.Run(t, func() (driver.Device, error) { return OpenHostAddressed(testProfile()) })
	d, err := OpenHostAddressed(testProfile())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	a, err := d.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.LoadPTX(conformance.PTX, driver.LoadOptions{Name: "conformance"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("places")
	if err != nil {
		t.Fatal(err)
	}
	args := binary.LittleEndian.AppendUint64(nil, uint64(a))
	if _, err := d.Launch(t.Context(), &driver.Launch{Function: f, Grid: driver.Dim3{X: 1, Y: 1, Z: 1}, CTA: driver.Dim3{X: 16, Y: 1, Z: 1}, Args: args, Wait: true, Count: true}); err != nil {
		t.Fatal(err)
	}
	seen := *(*[16]uint32)(hostPointer(uintptr(a)))
	for i, v := range seen {
		if v != uint32(i) {
			t.Errorf("word %d at the host's address is %d", i, v)
		}
	}
}

// hostPointer is the pointer of an address that the arena holds.
func hostPointer(a uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&a)) }
