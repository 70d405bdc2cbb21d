package gpu

import (
	"runtime"
	"sync"

	"memwall/gpu/internal/driver"
)

// memory is one allocation of a device. Tensors and buffers are windows of it; it is given back by Free, when the last
// window becomes unreachable, or with the device.
type memory struct {
	dev   *Device
	base  driver.Address
	bytes int64

	mu       sync.Mutex
	freed    bool
	borrowed bool // a module's global variable: not ours to give back
	readOnly bool // procedural contents
	state    *memoryState
}

// memoryState is what a device remembers of an allocation without keeping its tensors reachable.
type memoryState struct {
	bytes int64

	mu         sync.Mutex
	incomplete string // why reading is refused: the sampled launch that wrote it; "" when whole
}

func (s *memoryState) mark(incomplete string) {
	s.mu.Lock()
	s.incomplete = incomplete
	s.mu.Unlock()
}

func (s *memoryState) why() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.incomplete
}

// allocate reserves device memory; a device hands out at least one byte, so that empty tensors have an address too.
func (d *Device) allocate(bytes int64) (*memory, error) {
	return d.allocateWith(bytes, func() (driver.Address, error) { return d.d.Alloc(max(bytes, 1)) })
}

func (d *Device) allocateWith(bytes int64, alloc func() (driver.Address, error)) (*memory, error) {
	if err := d.open(); err != nil {
		return nil, err
	}
	base, err := alloc()
	if err != nil {
		e := wrap("allocate "+countBytes(bytes)+" on "+d.name, err)
		e.How = "free what is no longer needed (t.Free()), or open a device with more memory"
		return nil, e
	}
	m := &memory{dev: d, base: base, bytes: bytes, state: &memoryState{bytes: bytes}}
	d.mu.Lock()
	d.live[base] = m.state
	d.mu.Unlock()
	// The cleanup must not hold m: it gets what is needed to give the memory back.
	records.allocated(m)
	runtime.AddCleanup(m, func(base driver.Address) { d.giveBack(base) }, base)
	return m, nil
}

// stateOf is the state of an allocation, or of a module's variable, of which the device remembers nothing until a launch
// touches it or somebody asks for it.
func (d *Device) stateOf(base driver.Address, bytes int64) *memoryState {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.live[base]; s != nil {
		return s
	}
	if s := d.variables[base]; s != nil {
		return s
	}
	s := &memoryState{bytes: bytes}
	d.variables[base] = s
	return s
}

// giveBack frees an allocation once; later calls do nothing.
func (d *Device) giveBack(base driver.Address) error {
	d.mu.Lock()
	_, live := d.live[base]
	delete(d.live, base)
	closed := d.closed
	d.mu.Unlock()
	if !live || closed {
		return nil
	}
	return d.d.Free(base)
}

// free gives the memory back; what names the tensor or buffer in the error of a second call.
func (m *memory) free(what string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.freed {
		records.badFree(what, "it was freed before")
		return fail("call Free once", "free %s: it was freed before", what)
	}
	if m.borrowed {
		records.badFree(what, "it belongs to a module")
		return fail("it goes with its module", "free %s: it belongs to a module", what)
	}
	m.freed = true
	if err := m.dev.giveBack(m.base); err != nil {
		return wrap("free "+what, err)
	}
	return nil
}

// alive says why the memory cannot be used, or nil.
func (m *memory) alive(operation, what string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.freed {
		return fail("make it again, or call Free later", "%s: %s was freed", operation, what)
	}
	return m.dev.open()
}

// writable says why the contents cannot be changed, or nil.
func (m *memory) writable(operation, what string) error {
	if err := m.alive(operation, what); err != nil {
		return err
	}
	if m.readOnly {
		return fail("write to a tensor of its own: dev.Empty, dev.Zeros or dev.Randn", "%s: %s is procedural: its contents are made from a seed and cannot be changed", operation, what)
	}
	return nil
}

// whole says why the contents cannot be read, or nil.
func (m *memory) whole(what string) error {
	if why := m.state.why(); why != "" {
		return &Error{What: "read " + what + ": its contents are incomplete", Where: why,
			How: "launch it without gpu.Sample to read the result; the launch's counters are in its report"}
	}
	return nil
}
