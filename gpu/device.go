package gpu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// Device is one GPU, real or virtual. Its methods may be called by several goroutines.
type Device struct {
	name    string
	d       driver.Device
	props   driver.Properties
	profile *perf.Profile

	mu     sync.Mutex
	closed bool
	live   map[driver.Address]*memoryState
	// variables are those of modules that a launch has touched or somebody has asked for.
	variables map[driver.Address]*memoryState
	seed      uint64 // of Randn
	randoms   uint64 // calls of Randn since Seed
	limit     time.Duration
}

// EnvironmentDevice names the variable that chooses the device of a new session.
const EnvironmentDevice = "MEMWALL_DEVICE"

// opened are the devices of this process by name, so that every cell that opens "virtual:h200" gets the same one.
var opened = struct {
	sync.Mutex
	byName map[string]*Device
	chosen *Device // by SetDefault
}{byName: map[string]*Device{}}

// Open gives the device of a name: "virtual:h200" and the other profiles that Devices lists ("h200" for short), "virtual"
// for the default one, "virtual:FILE.json" for a profile of your own (perf.ParseProfile says what the file holds), "cuda" or
// "cuda:1" for an NVIDIA GPU. Opening a device again gives the same one.
func Open(name string) (*Device, error) {
	if file, ok := profileFile(name); ok {
		return openProfile(file)
	}
	if d := openByName(name); d != nil {
		return d, nil
	}
	full, err := canonicalName(name)
	if err != nil {
		return nil, err
	}
	opened.Lock()
	defer opened.Unlock()
	if d := opened.byName[full]; d != nil {
		return d, nil
	}
	d, err := openCanonical(full)
	if err != nil {
		return nil, err
	}
	opened.byName[full] = d
	return d, nil
}

// openCanonical opens a device by a name that canonicalName gave.
func openCanonical(full string) (*Device, error) {
	if strings.HasPrefix(full, "cuda:") {
		return openCUDA(full)
	}
	profile, err := perf.ProfileByName(strings.TrimPrefix(full, "virtual:"))
	if err != nil {
		return nil, unknownDevice(full)
	}
	raw, err := openVirtual(profile)
	if err != nil {
		return nil, wrap("open "+full, err)
	}
	return newDevice(full, raw), nil
}

func newDevice(name string, raw driver.Device) *Device {
	return &Device{name: name, d: raw, props: raw.Properties(), profile: raw.Profile(), live: map[driver.Address]*memoryState{},
		variables: map[driver.Address]*memoryState{}}
}

// canonicalName completes a name: "t4" → "virtual:t4".
func canonicalName(name string) (string, error) {
	n := strings.ToLower(strings.TrimSpace(name))
	kind, model, _ := strings.Cut(n, ":")
	switch {
	case n == "", n == "virtual", n == "virtual:":
		return "virtual:" + perf.DefaultProfile, nil
	case kind == "cuda":
		return canonicalCUDA(name, model)
	case kind == "virtual":
		n = model
	}
	if _, err := perf.ProfileByName(n); err != nil {
		return "", unknownDevice(name)
	}
	return "virtual:" + n, nil
}

func unknownDevice(name string) error {
	return fail("the devices are virtual:"+strings.Join(perf.ProfileNames(), ", virtual:"), "open %q: there is no such device", name)
}

// OpenDefault gives the device that a session begins with: the one of SetDefault, else of $MEMWALL_DEVICE, else the virtual
// H200.
func OpenDefault() (*Device, error) {
	opened.Lock()
	chosen := opened.chosen
	opened.Unlock()
	if chosen != nil && !chosen.Closed() {
		return chosen, nil
	}
	name := os.Getenv(EnvironmentDevice)
	d, err := Open(name)
	if err != nil && name != "" {
		var e *Error
		if errors.As(err, &e) {
			e.Where = join("\n", e.Where, "from $"+EnvironmentDevice)
		}
	}
	return d, err
}

// SetDefault changes the device that OpenDefault gives.
func SetDefault(d *Device) {
	opened.Lock()
	opened.chosen = d
	opened.Unlock()
}

// CloseAll closes every device of this process.
func CloseAll() {
	opened.Lock()
	devices := make([]*Device, 0, len(opened.byName))
	for _, d := range opened.byName {
		devices = append(devices, d)
	}
	opened.Unlock()
	for _, d := range devices {
		d.Close()
	}
}

// Close frees everything on the device; tensors and modules of it fail from then on. Opening the name again gives a fresh
// device.
func (d *Device) Close() error {
	opened.Lock()
	if opened.byName[d.name] == d {
		delete(opened.byName, d.name)
	}
	if opened.chosen == d {
		opened.chosen = nil
	}
	opened.Unlock()
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	clear(d.live)
	clear(d.variables)
	d.mu.Unlock()
	if err := d.d.Close(); err != nil {
		return wrap("close "+d.name, err)
	}
	return nil
}

// Closed says whether Close was called.
func (d *Device) Closed() bool {
	if d == nil {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}

// open is nil while the device may be used.
func (d *Device) open() error {
	if d == nil {
		return fail("open one: gpu.Open(\"virtual:h200\"), or use dev", "the device is nil")
	}
	if d.Closed() {
		return fail(fmt.Sprintf("open it again: gpu.Open(%q)", d.name), "%s is closed", d.name)
	}
	return nil
}

// Name is the name to open it by: "virtual:h200".
func (d *Device) Name() string { return d.name }

// Virtual says whether the device is simulated.
func (d *Device) Virtual() bool { return d.props.Virtual }

// Profile is the device as data: roofs, caches and limits.
func (d *Device) Profile() *perf.Profile { return d.profile }

// ComputeCapability is 9, 0 for an H200.
func (d *Device) ComputeCapability() (major, minor int) {
	return d.props.ComputeMajor, d.props.ComputeMinor
}

// SMs is the number of streaming multiprocessors.
func (d *Device) SMs() int { return d.props.SMs }

// MemoryFree is what is left of the device's memory, in bytes; Memory is all of it.
func (d *Device) MemoryFree() int64 {
	free, _ := d.d.MemoryInfo()
	return free
}

// Memory is the size of the device's memory in bytes.
func (d *Device) Memory() int64 {
	_, total := d.d.MemoryInfo()
	return total
}

// Supports says why an optional operation does not work on this device, or is empty: "clusters", "cooperative launch",
// "graphs", "sampling", "exact counters" …
func (d *Device) Supports(operation string) string {
	return d.d.Capability(driver.Capability(operation))
}

// SetLimit stops each launch that takes longer than so much of the host's time, unless its gpu.Config gives another limit;
// what it wrote until then stays. Zero means that launches may take as long as they like.
func (d *Device) SetLimit(limit time.Duration) {
	if limit < 0 {
		panic(fail("give a time ≥ 0; 0 means no limit", "SetLimit: the limit %v is negative", limit))
	}
	d.mu.Lock()
	d.limit = limit
	d.mu.Unlock()
}

// limited is the context of a launch: it ends with its limit, or else the device's.
func (d *Device) limited(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		d.mu.Lock()
		limit = d.limit
		d.mu.Unlock()
	}
	if limit == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("the launch did not end within its limit of %v", limit))
}

// Synchronize waits until everything launched on the device is over.
func (d *Device) Synchronize() error {
	if err := d.open(); err != nil {
		return err
	}
	if err := d.d.Synchronize(records.context()); err != nil {
		return wrap("synchronize "+d.name, err)
	}
	return nil
}
