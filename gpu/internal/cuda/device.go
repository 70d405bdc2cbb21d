//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"gorgonia.org/cu"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vdrv"
	"memwall/gpu/perf"
)

// Device is an NVIDIA GPU. What it holds belongs to its primary context, which is replaced when a launch has ruined it.
type Device struct {
	name       string // "cuda:0"
	uuid       string // by which NVML knows it
	gpu        cu.Device
	properties driver.Properties
	profile    *perf.Profile
	virtual    bool // the virtual GPU behind the driver API: its launches bring counters and modelled time

	mu         sync.Mutex
	closed     bool
	dead       error // why no context can be had any more
	context    cu.CUContext
	generation uint64                    // of the context; what was made in an older one is gone
	ruined     string                    // why the last context went: "poke (illegal address)"
	live       []allocation              // sorted by address
	gone       map[driver.Address]string // allocations of older contexts, with what took them
	queued     []string                  // launches that nobody has waited for yet
	timer      *timer                    // what timing needs, made at its first use
	clocksRead time.Time                 // when clocksText was
	clocksText string
}

// allocation is a range of device memory.
type allocation struct {
	base  driver.Address
	bytes int64
}

// mostQueued is how many names of launches that nobody waited for are kept for a fault's message.
const mostQueued = 8

// Open opens a GPU by its number among those that the driver shows.
func Open(ordinal int) (driver.Device, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	virtual, _ := opened()
	if n := Count(); ordinal < 0 || ordinal >= n {
		return nil, explainOrdinal(ordinal, n, lookForSlices())
	}
	d := &Device{name: fmt.Sprintf("cuda:%d", ordinal), virtual: virtual, gone: map[driver.Address]string{}}
	var err error
	if d.gpu, err = cu.GetDevice(ordinal); err != nil {
		return nil, d.failed("open", resultOf(err))
	}
	a, err := attributesOf(d.gpu)
	if err != nil {
		return nil, d.failed("ask for its attributes", resultOf(err))
	}
	d.uuid = a.uuid
	d.properties = a.properties(d.name)
	d.profile = a.profile(d.name)
	if virtual {
		d.profile = virtualProfile(d.name)
	}
	if err := d.retain(); err != nil {
		return nil, err
	}
	return d, nil
}

// virtualProfile is the virtual GPU's own profile under the name of the device, so that its figures are those of the direct path.
func virtualProfile(name string) *perf.Profile {
	p := *vdrv.GPU().Profile()
	return &p
}

// ProfileOf is a GPU's profile, without a context on it.
func ProfileOf(ordinal int) (*perf.Profile, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	gpu, err := cu.GetDevice(ordinal)
	if err != nil {
		return nil, explainOrdinal(ordinal, Count(), lookForSlices())
	}
	a, err := attributesOf(gpu)
	if err != nil {
		return nil, err
	}
	return a.profile(fmt.Sprintf("cuda:%d", ordinal)), nil
}

// retain gets the primary context; the caller holds mu, or nobody knows the device yet.
func (d *Device) retain() error {
	c, err := d.gpu.RetainPrimaryCtx()
	if err != nil {
		return d.failed("open its context", resultOf(err))
	}
	d.context = c
	d.generation++
	return nil
}

// failed makes an error of a call that leaves the context as it was.
func (d *Device) failed(what string, r Result) error {
	return &Error{Device: d.name, What: what, Result: r}
}

var errClosed = errors.New("the device is closed")

// enter makes the context current on this OS thread, which leave frees again; the caller holds mu.
func (d *Device) enter() error {
	switch {
	case d.closed:
		return fmt.Errorf("%s: %w", d.name, errClosed)
	case d.dead != nil:
		return d.dead
	}
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(d.context); err != nil {
		runtime.UnlockOSThread()
		return d.check("make its context current", resultOf(err))
	}
	return nil
}

func (d *Device) leave() { runtime.UnlockOSThread() }

// do runs a call in the context and explains what it answers; what names it in the error.
func (d *Device) do(what string, call func() Result) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	return d.check(what, call())
}

// check turns a result into an error. A result that has ruined the context replaces it. The caller holds mu.
func (d *Device) check(what string, r Result) error {
	if r == success {
		return nil
	}
	if _, ruins := fatal[r]; ruins {
		return d.lost(what, r, nil)
	}
	return d.failed(what, r)
}

// lost replaces the context after a fault, and says which launch it was and what went with it. seen is what the virtual GPU
// knows of the fault, nil on a real one. The caller holds mu.
func (d *Device) lost(what string, r Result, seen *driver.Fault) error {
	fault := &driver.Fault{Device: d.name, Kind: fatal[r]}
	if seen != nil {
		*fault = *seen
		fault.Device = d.name
	}
	launches := d.queued
	d.queued = nil
	switch len(launches) {
	case 0:
		fault.Function = ""
	case 1:
		fault.Function = launches[0]
	default:
		fault.Detail = join(fault.Detail, "one of the launches since the last wait: "+strings.Join(launches, ", "))
	}
	d.ruined = string(fault.Kind)
	if fault.Function != "" {
		d.ruined = fmt.Sprintf("%s (%s)", fault.Function, fault.Kind)
	}
	fault.Detail = join(fault.Detail, fmt.Sprintf("%s: %s", what, r))
	lost := len(d.live)
	for _, a := range d.live {
		d.gone[a.base] = d.ruined
	}
	d.live, d.timer = nil, nil
	if err := d.replace(); err != nil {
		d.dead = fmt.Errorf("%s is lost since %s: %w\nrestart the session; nvidia-smi shows whether the GPU still answers", d.name, d.ruined, err)
		fault.Detail = join(fault.Detail, "the GPU gives no new context: restart the session")
		return fault
	}
	fault.Detail = join(fault.Detail, fmt.Sprintf("the context was replaced: %s with it; modules are loaded again when they are used", countGone(lost)))
	return fault
}

func countGone(n int) string {
	switch n {
	case 0:
		return "no buffer went"
	case 1:
		return "one buffer went"
	}
	return fmt.Sprintf("%d buffers went", n)
}

// replace drops the primary context and gets a new one.
func (d *Device) replace() error {
	if err := d.gpu.ResetPrimaryCtx(); err != nil {
		return &Error{Device: d.name, What: "reset its context", Result: resultOf(err)}
	}
	return d.retain()
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n")
}

// Properties are the driver's attributes.
func (d *Device) Properties() driver.Properties { return d.properties }

// Profile is made of the driver's attributes, with the stream ceiling that was measured.
func (d *Device) Profile() *perf.Profile { return d.profile }

// Capability says why an optional operation does not work, or nothing.
func (d *Device) Capability(c driver.Capability) string {
	switch c {
	case driver.LargeShared, driver.Cooperative:
		return ""
	case driver.Clusters:
		if d.properties.ComputeMajor < 9 {
			return fmt.Sprintf("clusters need compute capability 9.0, device %q has %d.%d", d.name, d.properties.ComputeMajor, d.properties.ComputeMinor)
		}
		return ""
	case driver.Graphs:
		return ""
	case driver.Counting, driver.Sampling:
		if d.virtual {
			return ""
		}
		if c == driver.Sampling {
			return "a real GPU executes every CTA"
		}
		return "a GPU does not count what the virtual one counts: gpu.Open(\"virtual\") executes the same PTX and does"
	case driver.Sanitizer:
		return "the sanitizer watches virtual GPUs alone"
	}
	return fmt.Sprintf("%s does not know %q", d.name, string(c))
}

// Synchronize waits for everything that was queued.
func (d *Device) Synchronize(ctx context.Context) error {
	return d.drain(ctx, "wait for the launches", cu.Stream{}, func() Result { return resultOf(cu.Synchronize()) })
}

// Close frees everything and gives the context back.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	if err := d.enter(); err == nil {
		if d.timer != nil {
			d.timer.free()
		}
		for _, a := range d.live {
			cu.MemFree(cu.DevicePtr(a.base))
		}
		d.leave()
		d.gpu.ReleasePrimaryCtx()
	}
	d.live, d.closed = nil, true
	return nil
}
