package vgpu

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu/cache"
	"memwall/gpu/perf"
)

var errClosed = errors.New("virtual GPU: the device is closed")

// Device is a virtual GPU with the limits, caches and memory of a profile.
type Device struct {
	profile    *perf.Profile
	properties driver.Properties
	memory     *memory

	exec     sync.Mutex   // one launch at a time
	hold     sync.RWMutex // launches hold it for reading, what must not happen during one for writing
	closed   atomic.Bool
	launches uint64
	// backwards executes CTAs from the grid's last to its first: a CUDA kernel must not depend on their order.
	backwards bool
	heap      deviceHeap // of malloc in device code
	// globalTime is %globaltimer, ns: it begins at an arbitrary time and goes on with every launch.
	globalTime uint64
	workspace  *allocation   // of cooperative launches
	replay     *cache.Replay // caches of the launch before
	modules    moduleCache
	lanes      LanePath
	// watched, where it is set, sanitizes every launch and gets what is found.
	watched     func(function string, found []driver.Finding)
	predictions predictions // of times

	mu     sync.Mutex
	sticky error // of a launch that nobody waited for

	textures    atomic.Pointer[map[uint64]driver.Texture] // by object; replaced as a whole, under hold
	lastTexture uint64
}

// Open gives the virtual GPU of a profile.
func Open(profile *perf.Profile) (driver.Device, error) {
	d, err := open(profile, false)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// OpenHostAddressed gives the virtual GPU of a profile whose addresses are those of the host, so that the host may look at
// device memory through them, as at CUDA's managed memory. They are others each time.
func OpenHostAddressed(profile *perf.Profile) (*Device, error) { return open(profile, true) }

func open(profile *perf.Profile, hostAddresses bool) (*Device, error) {
	if profile == nil {
		return nil, errors.New("virtual GPU: no profile")
	}
	lanes, err := lanesFromEnvironment()
	if err != nil {
		return nil, err
	}
	m, err := newMemory(profile.MemoryBytes, hostAddresses)
	if err != nil {
		return nil, err
	}
	return &Device{profile: profile, properties: propertiesOf(profile), memory: m, lanes: lanes, globalTime: firstTime}, nil
}

// sharedLimits are the bytes of shared memory that an SM has and that one CTA can opt in to, by compute capability
// (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
func sharedLimits(major, minor int) (sm, cta int) {
	switch 10*major + minor {
	case 70:
		return 96 << 10, 96 << 10
	case 75:
		return 64 << 10, 64 << 10
	case 80, 87:
		return 164 << 10, 163 << 10
	case 86, 89, 120, 121:
		return 100 << 10, 99 << 10
	}
	return 228 << 10, 227 << 10
}

func propertiesOf(p *perf.Profile) driver.Properties {
	sm, cta := sharedLimits(p.Major, p.Minor)
	return driver.Properties{
		Name: "virtual:" + p.Name, Model: p.Model, Virtual: true, ComputeMajor: p.Major, ComputeMinor: p.Minor,
		SMs: p.SMs, WarpSize: warpSize, MaxThreadsPerCTA: 1024, MaxCTADim: driver.Dim3{X: 1024, Y: 1024, Z: 64},
		MaxGridDim: driver.Dim3{X: 1<<31 - 1, Y: 65535, Z: 65535}, SharedPerCTA: 48 << 10, SharedPerCTAOptin: cta, SharedPerSM: sm,
		RegistersPerSM: 65536, L2Bytes: p.L2Bytes, ClockHz: p.BoostHz, MemoryBytes: p.MemoryBytes,
	}
}

// Properties are the profile's.
func (d *Device) Properties() driver.Properties { return d.properties }

// Profile is the one the device was opened with.
func (d *Device) Profile() *perf.Profile { return d.profile }

const (
	firstTime    = 1_700_000_000_000_000_000 // ns
	launchPeriod = 5000                      // ns from the end of a launch to the start of the next
)

// passTime moves %globaltimer behind a launch.
func (d *Device) passTime(pool []*worker) {
	var latest uint64
	for _, k := range pool {
		latest = max(latest, k.latest)
	}
	d.globalTime += launchPeriod + uint64(float64(latest)*1e9/max(d.properties.ClockHz, 1e6))
}

// Capability says why an optional operation does not work, or nothing.
func (d *Device) Capability(c driver.Capability) string {
	switch c {
	case driver.LargeShared, driver.Sampling, driver.Counting, driver.Sanitizer:
		return ""
	case driver.Clusters:
		if d.profile.Major < 9 {
			return fmt.Sprintf("clusters need compute capability 9.0, device %q has %d.%d", d.properties.Name, d.profile.Major, d.profile.Minor)
		}
		return ""
	case driver.Cooperative:
		return ""
	case driver.Graphs:
		return "not yet: the virtual GPU records no graphs; launches run as they come"
	}
	return fmt.Sprintf("the virtual GPU does not know %q", string(c))
}

// Alloc gives zeroed device memory.
func (d *Device) Alloc(bytes int64) (driver.Address, error) {
	if bytes == 0 {
		return 0, errors.New("virtual GPU: allocation of 0 B")
	}
	a, err := d.memory.alloc(bytes, "")
	if err != nil {
		return 0, err
	}
	return driver.Address(a.low), nil
}

// AllocProcedural gives device memory whose contents fill makes, page by page, when a launch or the host first looks at
// them; nobody can write there. fill gets the offset of a page in the allocation, a multiple of 64 KiB, and must give the same bytes each
// time: pages are dropped when many are held, and made again.
func (d *Device) AllocProcedural(bytes int64, fill func(offset int64, dst []byte)) (driver.Address, error) {
	if bytes == 0 || fill == nil {
		return 0, errors.New("virtual GPU: procedural allocation of 0 B or without a function")
	}
	a, err := d.memory.allocProcedural(bytes, fill)
	if err != nil {
		return 0, err
	}
	return driver.Address(a.low), nil
}

// ZeroFilled says that the zeros of a fresh allocation are meant, for the sanitizer.
func (d *Device) ZeroFilled(a driver.Address) error {
	found, err := d.memory.place(a, 1, "zeros at")
	if err == nil {
		found.markWhole()
	}
	return err
}

// Free gives an allocation back, after a launch that is running.
func (d *Device) Free(a driver.Address) error {
	d.exec.Lock()
	defer d.exec.Unlock()
	d.hold.Lock()
	defer d.hold.Unlock()
	return d.memory.free(uint64(a), true)
}

// MemoryInfo counts what Alloc and modules hold.
func (d *Device) MemoryInfo() (free, total int64) {
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	return d.memory.total - d.memory.used, d.memory.total
}

// CopyIn copies from the host.
func (d *Device) CopyIn(dst driver.Address, src []byte, s driver.Stream) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.exec.Unlock()
	b, err := d.memory.writable(dst, int64(len(src)), "copy to")
	if err != nil {
		return err
	}
	copy(b, src)
	return nil
}

// CopyOut copies to the host.
func (d *Device) CopyOut(dst []byte, src driver.Address, s driver.Stream) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.exec.Unlock()
	return d.memory.readOut(dst, src, "copy from")
}

// Copy copies inside the device; the ranges may overlap.
func (d *Device) Copy(dst, src driver.Address, bytes int64, s driver.Stream) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.exec.Unlock()
	return d.memory.copyInside(dst, src, bytes)
}

// Fill writes count copies of a pattern of 1, 2, 4 or 8 bytes.
func (d *Device) Fill(dst driver.Address, pattern []byte, count int64, s driver.Stream) error {
	n := int64(len(pattern))
	if n != 1 && n != 2 && n != 4 && n != 8 {
		return fmt.Errorf("virtual GPU: fill with a pattern of %d B: it must have 1, 2, 4 or 8", n)
	}
	if count < 0 || count > 1<<56/n {
		return fmt.Errorf("virtual GPU: fill with %d copies", count)
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.exec.Unlock()
	b, err := d.memory.writable(dst, count*n, "fill of")
	if err != nil {
		return err
	}
	const cached = 1 << 18 // longer copies would read from memory what they have written
	for filled := copy(b, pattern); filled > 0 && filled < len(b); {
		filled += copy(b[filled:], b[:min(filled, cached)])
	}
	return nil
}

// enter begins a call that must come after the launches before it; the caller unlocks exec.
func (d *Device) enter() error {
	if err := d.pending(); err != nil {
		return err
	}
	d.exec.Lock()
	if d.closed.Load() {
		d.exec.Unlock()
		return errClosed
	}
	return nil
}

// keep holds the error of a launch that nobody waited for; pending gives it once.
func (d *Device) keep(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sticky == nil {
		d.sticky = err
	}
}

func (d *Device) pending() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.sticky
	d.sticky = nil
	return err
}

// Synchronize gives the error of an earlier launch that nobody waited for.
func (d *Device) Synchronize(ctx context.Context) error {
	if err := d.enter(); err != nil {
		return err
	}
	d.exec.Unlock()
	return ctx.Err()
}

// LaunchGraph is not supported yet.
func (d *Device) LaunchGraph(ctx context.Context, g driver.Graph, s driver.Stream) error {
	return errors.New("virtual GPU: " + d.Capability(driver.Graphs))
}

// BeginCapture is not supported yet.
func (d *Device) BeginCapture(s driver.Stream) error {
	return errors.New("virtual GPU: " + d.Capability(driver.Graphs))
}

// EndCapture is not supported yet.
func (d *Device) EndCapture(s driver.Stream) (driver.Graph, error) {
	return nil, errors.New("virtual GPU: " + d.Capability(driver.Graphs))
}

// Close gives the memory back; later calls fail.
func (d *Device) Close() error {
	d.exec.Lock()
	defer d.exec.Unlock()
	d.hold.Lock()
	defer d.hold.Unlock()
	if !d.closed.Swap(true) {
		d.modules.drop()
		d.memory.close()
	}
	return nil
}

// warpsPerSM is how many warps an SM holds at most.
func (d *Device) warpsPerSM() int {
	l, err := perf.LimitsOf(d.profile.Major, d.profile.Minor)
	if err != nil { // a profile of an unknown architecture: what most have
		return 64
	}
	return l.WarpsPerSM
}
