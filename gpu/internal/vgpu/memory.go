package vgpu

import (
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"

	"memwall/gpu/internal/driver"
)

const (
	deviceBase = uint64(0x7f0000000000) // address of the first byte of the first device's memory, where nobody asks for the host's
	allocAlign = 256
	guardGap   = 4096    // bytes between allocations that belong to none, so that small overruns are found
	pageBytes  = 65536   // what is given back to the system in whole; a page of procedural contents
	chunkBytes = 1 << 20 // what is counted and, where the system asks for it, committed at a time
	keepFreed  = 4096    // freed allocations remembered for diagnosis
)

// allocation is a range of device memory.
type allocation struct {
	low, high uint64        // device addresses [low, high)
	name      string        // of a module's variable; "" for Alloc's
	owned     bool          // by Alloc, and so Free may give it back
	read      atomic.Uint64 // number of the last launch that read here
	written   atomic.Uint64 // number of the last launch that wrote here

	chunks   []atomic.Uint64 // bits of the chunks that host memory stands behind; nil for procedural contents
	absent   atomic.Int64    // chunks without host memory
	contents *contents       // of a procedural allocation: made when they are looked at, and read-only
	validity validity        // which bytes have been written
}

func (a *allocation) String() string {
	if a.name != "" {
		return fmt.Sprintf("variable %s (0x%x, %s)", a.name, a.low, byteCount(a.high-a.low))
	}
	return fmt.Sprintf("allocation 0x%x of %s", a.low, byteCount(a.high-a.low))
}

// byteCount writes a number of bytes with separators: "4,096 B".
func byteCount(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s + " B"
}

// memory is the device memory of one virtual GPU: one reserved range of host addresses, backed as it is touched.
type memory struct {
	mu    sync.Mutex
	arena []byte
	host  unsafe.Pointer
	base  uint64 // device address of the arena's first byte
	slot  int    // range of addresses; -1: the host's
	back  backing
	total int64
	used  int64
	top   uint64 // offset behind the last allocation
	live  []*allocation
	freed []*allocation
	// table is the sorted list of live allocations, replaced as a whole, which launches read without a lock.
	table atomic.Pointer[[]*allocation]
}

// newMemory reserves the arena. With hostAddresses an address means the same on the device and on the host, which managed,
// pinned and mapped memory of the CUDA driver API need.
func newMemory(total int64, hostAddresses bool) (*memory, error) {
	// Addresses are not used twice while there are fresh ones, so reserve several times the device's memory; the caches' traces
	// have room for 2³² lines.
	arena, err := reserve(min(max(min(8*total, 1<<39), 2*total+64<<20), 1<<39))
	if err != nil {
		return nil, fmt.Errorf("virtual GPU: reserving address space for %d B of device memory: %w", total, err)
	}
	m := &memory{arena: arena, host: unsafe.Pointer(&arena[0]), base: uint64(uintptr(unsafe.Pointer(&arena[0]))), total: total, slot: -1}
	if !hostAddresses {
		m.slot = places.take()
		m.base = deviceBase - uint64(m.slot)<<placeShift
	}
	m.back.system = systemMemory
	m.table.Store(&[]*allocation{})
	return m, nil
}

func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.arena != nil {
		unreserve(m.arena)
		places.leave(m.slot)
		m.arena, m.host, m.live, m.used = nil, nil, nil, 0
		m.back.forget()
		m.table.Store(&[]*allocation{})
	}
}

// alloc finds room: behind everything while there is some, so that freed addresses stay recognisable, else in a gap.
func (m *memory) alloc(n int64, name string) (*allocation, error) {
	return m.allocAligned(n, name, allocAlign)
}

func (m *memory) allocAligned(n int64, name string, align uint64) (*allocation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.arena == nil {
		return nil, errClosed
	}
	if n < 0 {
		return nil, fmt.Errorf("virtual GPU: allocation of %d B: the size is negative", n)
	}
	if n > m.total-m.used {
		return nil, fmt.Errorf("virtual GPU: out of memory: %s asked for, %s of %s free%s", byteCount(uint64(n)), byteCount(uint64(m.total-m.used)), byteCount(uint64(m.total)), m.back.beside())
	}
	size := (max(uint64(n), 1) + align - 1) &^ (align - 1)
	start := (m.top + guardGap + align - 1) &^ (align - 1)
	end := start + size
	if end+guardGap > uint64(len(m.arena)) {
		var ok bool
		if start, ok = m.gap(size, align); !ok {
			return nil, fmt.Errorf("virtual GPU: out of address space: %s asked for, and no gap of that size is left in the %s that this system let it reserve", byteCount(uint64(n)), byteCount(uint64(len(m.arena))))
		}
		end = start + size
	} else {
		m.top = end
	}
	a := &allocation{low: m.base + start, high: m.base + start + uint64(n), name: name, owned: name == ""}
	chunks := int64(max(uint64(n), 1)+chunkBytes-1) / chunkBytes
	a.chunks = make([]atomic.Uint64, (chunks+63)/64)
	a.absent.Store(chunks)
	m.live = append(m.live, a)
	sort.Slice(m.live, func(i, j int) bool { return m.live[i].low < m.live[j].low })
	m.used += n
	m.publish()
	return a, nil
}

// gap finds the first gap between live allocations that holds size bytes and guards.
func (m *memory) gap(size, align uint64) (uint64, bool) {
	at := (guardGap + align - 1) &^ (align - 1)
	for _, a := range m.live {
		low := a.low - m.base
		if low >= at+size+guardGap {
			return at, true
		}
		end := a.high - m.base
		if a.contents != nil {
			end = (end + pageBytes - 1) &^ (pageBytes - 1)
		}
		at = (end + guardGap + align) &^ (align - 1)
	}
	return at, at+size+guardGap <= uint64(len(m.arena))
}

func (m *memory) publish() {
	table := append([]*allocation(nil), m.live...)
	m.table.Store(&table)
}

// free gives an allocation back; its memory reads as zero when it is used again.
func (m *memory) free(address uint64, owned bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.arena == nil {
		return errClosed
	}
	i := sort.Search(len(m.live), func(i int) bool { return m.live[i].low >= address })
	if i == len(m.live) || m.live[i].low != address || m.live[i].owned != owned {
		return fmt.Errorf("virtual GPU: free of 0x%x: %s", address, m.describe(address))
	}
	a := m.live[i]
	m.live = append(m.live[:i], m.live[i+1:]...)
	m.used -= int64(a.high - a.low)
	if len(m.freed) >= keepFreed {
		m.freed = append(m.freed[:0], m.freed[keepFreed/2:]...)
	}
	m.freed = append(m.freed, a)
	m.publish()
	return m.giveBack(a)
}

// giveBack returns a freed allocation's host memory; what stands there reads as zero when it is used again.
func (m *memory) giveBack(a *allocation) error {
	from, to := a.low-m.base, a.high-m.base
	if a.contents != nil {
		m.back.drop(a)
		to = (to + pageBytes - 1) &^ (pageBytes - 1)
	}
	first, last := (from+pageBytes-1)&^(pageBytes-1), to&^(pageBytes-1)
	if first >= last {
		m.clearTouched(a, from, to)
	} else if a.contents == nil {
		m.clearTouched(a, from, first)
		m.clearTouched(a, last, to)
	}
	touched := a.touchedBytes()
	m.back.returned(touched)
	a.chunks = nil
	a.validity.chunks.Store(nil)
	if first >= last || touched == 0 && a.contents == nil {
		return nil
	}
	return release(m.arena[first:last])
}

// clearTouched clears [from, to) as far as host memory stands behind it.
func (m *memory) clearTouched(a *allocation, from, to uint64) {
	for at := from; at < to; {
		c := (at - (a.low - m.base)) / chunkBytes
		end := min(a.low-m.base+(c+1)*chunkBytes, to)
		if a.hasChunk(c) {
			clear(m.arena[at:end])
		}
		at = end
	}
}

// describe says what an address is: inside, beside or behind which allocation, or freed.
func (m *memory) describe(address uint64) string {
	if address < 0x10000 {
		return "a null pointer"
	}
	if m.elsewhere(address) {
		return driver.OtherDevice
	}
	for i := len(m.freed) - 1; i >= 0; i-- {
		if a := m.freed[i]; address >= a.low && address < max(a.high, a.low+1) {
			return "inside the freed " + a.String()
		}
	}
	var before, after *allocation
	for _, a := range m.live {
		if address >= a.low && address < a.high {
			if address == a.low {
				return "the start of " + a.String()
			}
			return fmt.Sprintf("%s inside %s", byteCount(address-a.low), a)
		}
		if a.high <= address {
			before = a
		} else if after == nil {
			after = a
		}
	}
	switch {
	case before != nil && (after == nil || address-before.high <= after.low-address):
		if address-before.high < 1<<30 {
			return fmt.Sprintf("%s past the end of %s", byteCount(address-before.high), before)
		}
	case after != nil && after.low-address < 1<<30:
		return fmt.Sprintf("%s before %s", byteCount(after.low-address), after)
	}
	return "in no allocation of this device"
}

func (m *memory) describeLocked(address uint64) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.describe(address)
}

// find gives the live allocation that holds an address, or nil.
func (m *memory) find(address uint64) *allocation {
	return findIn(*m.table.Load(), address)
}

func findIn(table []*allocation, address uint64) *allocation {
	low, high := 0, len(table)
	for low < high {
		mid := (low + high) / 2
		if table[mid].low <= address {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 || address >= table[low-1].high {
		return nil
	}
	return table[low-1]
}
