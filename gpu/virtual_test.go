package gpu

import (
	"errors"
	"testing"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/driver/conformance"
	"memwall/gpu/perf"
)

// TestVirtualDeviceConforms runs the suite that every driver must pass.
func TestVirtualDeviceConforms(t *testing.T) {
	for _, name := range []string{"h200", "t4"} {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func() (driver.Device, error) {
				p, err := perf.ProfileByName(name)
				if err != nil {
					return nil, err
				}
				return openVirtual(p)
			})
		})
	}
}

// fresh opens a virtual device of its own, so that a test sees the first random numbers and an empty memory.
func fresh(t testing.TB, profile string) *Device {
	t.Helper()
	p, err := perf.ProfileByName(profile)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := openVirtual(p)
	if err != nil {
		t.Fatal(err)
	}
	d := newDevice("virtual:"+profile, raw)
	t.Cleanup(func() { d.Close() })
	return d
}

// wantError checks the whole text of an error.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	var e *Error
	switch {
	case err == nil:
		t.Errorf("no error, want\n%s", want)
	case !errors.As(err, &e):
		t.Errorf("%T is no *Error: %v", err, err)
	case err.Error() != want:
		t.Errorf("error\n%s\nwant\n%s", err, want)
	}
}

// panicOf gives the *Error that f panics with, nil when it does not.
func panicOf(t *testing.T, f func()) (err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(*Error)
			if !ok {
				t.Errorf("panic with %T, want *Error: %v", p, p)
				return
			}
			err = e
		}
	}()
	f()
	return nil
}
