package vgpu

import (
	"fmt"

	"memwall/gpu/internal/driver"
)

// place finds the allocation that holds n bytes from an address on; what names the operation in the error.
func (m *memory) place(address driver.Address, n int64, what string) (*allocation, error) {
	a := m.find(uint64(address))
	switch {
	case n == 0 && a == nil:
		return nil, nil
	case a == nil:
		return nil, fmt.Errorf("virtual GPU: %s 0x%x: %s", what, uint64(address), m.describeLocked(uint64(address)))
	case n < 0 || uint64(n) > a.high-uint64(address):
		return nil, fmt.Errorf("virtual GPU: %s 0x%x: %d B do not fit: %s are left of %s", what, uint64(address), n, byteCount(a.high-uint64(address)), a)
	}
	return a, nil
}

// writable gives the host's view of a range that the host is about to overwrite.
func (m *memory) writable(address driver.Address, n int64, what string) ([]byte, error) {
	a, err := m.place(address, n, what)
	if a == nil || err != nil {
		return nil, err
	}
	if a.contents != nil {
		return nil, fmt.Errorf("virtual GPU: %s 0x%x: the contents of %s are procedural, so nothing can be written there", what, uint64(address), a)
	}
	low := uint64(address)
	if n > 0 {
		if _, _, err := m.reach(a, low, low+uint64(n)); err != nil {
			return nil, fmt.Errorf("virtual GPU: %s 0x%x: %s asked for: %w", what, low, byteCount(uint64(n)), err)
		}
	}
	a.markWritten(low, low+uint64(n))
	at := low - m.base
	return m.arena[at : at+uint64(n) : at+uint64(n)], nil
}

// readOut copies device memory to the host: what nobody touched is zero and takes no memory, procedural contents are made.
func (m *memory) readOut(dst []byte, address driver.Address, what string) error {
	a, err := m.place(address, int64(len(dst)), what)
	if a == nil || err != nil {
		return err
	}
	at, step := uint64(address)-a.low, uint64(chunkBytes)
	if a.contents != nil {
		step = pageBytes
	}
	var page []byte
	for len(dst) > 0 {
		n := min(step-at%step, uint64(len(dst)))
		from := a.low - m.base + at
		switch {
		case a.contents != nil && at%step == 0 && (n == step || a.low+at+n == a.high):
			a.contents.fill(int64(at), dst[:n])
		case a.contents != nil:
			start := at / step * step
			page = append(page[:0], make([]byte, min(step, a.high-a.low-start))...)
			a.contents.fill(int64(start), page)
			copy(dst[:n], page[at-start:])
		case a.hasChunk(at / step):
			copy(dst[:n], m.arena[from:])
		default:
			clear(dst[:n])
		}
		dst, at = dst[n:], at+n
	}
	return nil
}

// HostMemory says why this computer cannot take so many bytes more, or nil.
func (d *Device) HostMemory(bytes int64) error {
	if bytes <= lookEvery { // what is left is not worth the look, which reads files
		return nil
	}
	b := &d.memory.back
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.look(); h.total > 0 && bytes > h.free-min(h.total/16, 512<<20) {
		return fmt.Errorf("%s of host memory asked for, and %s", byteCount(uint64(bytes)), h)
	}
	return nil
}

// copyInside copies n bytes from one place of device memory to another; the ranges may overlap.
func (m *memory) copyInside(dst, src driver.Address, n int64) error {
	from, err := m.place(src, n, "copy from")
	if err != nil {
		return err
	}
	to, err := m.writable(dst, n, "copy to")
	if err != nil || from == nil {
		return err
	}
	if from.contents != nil {
		return m.readOut(to, src, "copy from")
	}
	if _, _, err := m.reach(from, uint64(src), uint64(src)+uint64(n)); err != nil {
		return fmt.Errorf("virtual GPU: copy from 0x%x: %w", uint64(src), err)
	}
	copy(to, m.arena[uint64(src)-m.base:uint64(src)-m.base+uint64(n)])
	return nil
}
