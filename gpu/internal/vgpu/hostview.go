package vgpu

import "memwall/gpu/internal/driver"

// AllocMapped is Alloc of memory that the host looks at through its own pointers too, as at CUDA's managed and pinned memory: on
// a host-addressed device what either writes there the other sees.
func (d *Device) AllocMapped(bytes int64) (driver.Address, error) {
	at, err := d.Alloc(bytes)
	if err != nil {
		return 0, err
	}
	a := d.memory.find(uint64(at))
	if _, _, err := d.memory.reach(a, a.low, a.high); err != nil {
		d.Free(at)
		return 0, err
	}
	a.markWhole()
	return at, nil
}

// Allocation finds the allocation, or the module's variable, that holds an address.
func (d *Device) Allocation(address driver.Address) (base driver.Address, bytes int64, ok bool) {
	a := d.memory.find(uint64(address))
	if a == nil {
		return 0, 0, false
	}
	return driver.Address(a.low), int64(a.high - a.low), true
}

// Owns says whether an address lies in the range that device memory is taken from, in an allocation or not.
func (d *Device) Owns(address driver.Address) bool {
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	return uint64(address)-d.memory.base < uint64(len(d.memory.arena))
}

// Allocations are the addresses of everything that Alloc gave and Free has not taken back.
func (d *Device) Allocations() []driver.Address {
	var out []driver.Address
	for _, a := range *d.memory.table.Load() {
		if a.owned {
			out = append(out, driver.Address(a.low))
		}
	}
	return out
}
