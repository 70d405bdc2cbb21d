//go:build cuda && cgo && linux

package cuda

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"gorgonia.org/cu"

	"memwall/gpu/internal/driver"
)

// Alloc gives device memory, whose contents are undefined.
func (d *Device) Alloc(bytes int64) (driver.Address, error) {
	if bytes < 1 {
		return 0, fmt.Errorf("%s: allocation of %d B", d.name, bytes)
	}
	var at cu.DevicePtr
	err := d.do(fmt.Sprintf("allocate %d B", bytes), func() Result {
		p, err := cu.MemAlloc(bytes)
		at = p
		return resultOf(err)
	})
	if err != nil {
		return 0, err
	}
	a := allocation{driver.Address(at), bytes}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.gone, a.base)
	i, _ := d.locate(a.base)
	d.live = slices.Insert(d.live, i, a)
	return a.base, nil
}

// locate finds the place of an address among the live allocations.
func (d *Device) locate(a driver.Address) (int, bool) {
	return slices.BinarySearchFunc(d.live, a, func(x allocation, a driver.Address) int {
		switch {
		case x.base < a:
			return -1
		case x.base > a:
			return 1
		}
		return 0
	})
}

// room says what is wrong with n bytes at an address; what names the operation. The caller holds mu.
func (d *Device) room(what string, a driver.Address, n int64) error {
	if n == 0 {
		return nil
	}
	i, exact := d.locate(a)
	if !exact {
		i--
	}
	if i >= 0 && a >= d.live[i].base && a-d.live[i].base < driver.Address(d.live[i].bytes) {
		left := d.live[i].bytes - int64(a-d.live[i].base)
		if n < 0 || n > left {
			return fmt.Errorf("%s: %s 0x%x: %d B do not fit: %d B are left of the allocation 0x%x of %d B", d.name, what, uint64(a), n, left, uint64(d.live[i].base), d.live[i].bytes)
		}
		return nil
	}
	return fmt.Errorf("%s: %s 0x%x: %s", d.name, what, uint64(a), d.describe(a))
}

// describe says what an address is that lies in no live allocation.
func (d *Device) describe(a driver.Address) string {
	if why, ok := d.gone[a]; ok {
		return fmt.Sprintf("the buffer is gone: it went with the context that %s ruined\nmake it again", why)
	}
	if a < 0x10000 {
		return "a null pointer"
	}
	return "in no allocation of this device"
}

// Free gives an allocation back.
func (d *Device) Free(a driver.Address) error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return fmt.Errorf("%s: %w", d.name, errClosed)
	}
	if _, went := d.gone[a]; went { // with its context
		delete(d.gone, a)
		d.mu.Unlock()
		return nil
	}
	_, ok := d.locate(a)
	if !ok {
		defer d.mu.Unlock()
		return fmt.Errorf("%s: free of 0x%x: %s", d.name, uint64(a), d.describe(a))
	}
	d.mu.Unlock()
	return d.do("free memory", func() Result {
		r := resultOf(cu.MemFree(cu.DevicePtr(a)))
		if i, ok := d.locate(a); ok && r == success {
			d.live = slices.Delete(d.live, i, i+1)
		}
		return r
	})
}

// MemoryInfo asks the driver; both are 0 where it does not answer.
func (d *Device) MemoryInfo() (free, total int64) {
	d.do("ask for free memory", func() Result {
		var err error
		free, total, err = cu.MemInfo()
		return resultOf(err)
	})
	return free, total
}

// transfer runs a copy on a stream, to its end, after its ranges were checked.
func (d *Device) transfer(what string, s driver.Stream, check func() error, call func(cu.Stream) Result) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	raw, err := d.streamOf(s)
	if err == nil {
		err = d.enter()
	}
	if err != nil {
		return err
	}
	defer d.leave()
	if err := check(); err != nil {
		return err
	}
	r := call(raw)
	if r == success && s != nil {
		r = resultOf(raw.Synchronize())
	}
	if r == success {
		d.waited(s)
	}
	return d.check(what, r)
}

// CopyIn copies from the host.
func (d *Device) CopyIn(dst driver.Address, src []byte, s driver.Stream) error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	n := int64(len(src))
	return d.transfer("copy to the device", s, func() error { return d.room("copy to", dst, n) }, func(raw cu.Stream) Result {
		if n == 0 {
			return success
		}
		pinner.Pin(&src[0])
		if s == nil {
			return resultOf(cu.MemcpyHtoD(cu.DevicePtr(dst), unsafe.Pointer(&src[0]), n))
		}
		return resultOf(cu.MemcpyHtoDAsync(cu.DevicePtr(dst), unsafe.Pointer(&src[0]), n, raw))
	})
}

// CopyOut copies to the host.
func (d *Device) CopyOut(dst []byte, src driver.Address, s driver.Stream) error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	n := int64(len(dst))
	return d.transfer("copy from the device", s, func() error { return d.room("copy from", src, n) }, func(raw cu.Stream) Result {
		if n == 0 {
			return success
		}
		pinner.Pin(&dst[0])
		if s == nil {
			return resultOf(cu.MemcpyDtoH(unsafe.Pointer(&dst[0]), cu.DevicePtr(src), n))
		}
		return resultOf(cu.MemcpyDtoHAsync(unsafe.Pointer(&dst[0]), cu.DevicePtr(src), n, raw))
	})
}

// Copy copies inside the device.
func (d *Device) Copy(dst, src driver.Address, bytes int64, s driver.Stream) error {
	check := func() error {
		if bytes < 0 {
			return fmt.Errorf("%s: copy of %d B", d.name, bytes)
		}
		if err := d.room("copy from", src, bytes); err != nil {
			return err
		}
		return d.room("copy to", dst, bytes)
	}
	return d.transfer("copy on the device", s, check, func(raw cu.Stream) Result {
		if bytes == 0 {
			return success
		}
		if s == nil {
			return resultOf(cu.MemcpyDtoD(cu.DevicePtr(dst), cu.DevicePtr(src), bytes))
		}
		return resultOf(cu.MemcpyDtoDAsync(cu.DevicePtr(dst), cu.DevicePtr(src), bytes, raw))
	})
}

// Fill writes count copies of a pattern of 1, 2, 4 or 8 bytes.
func (d *Device) Fill(dst driver.Address, pattern []byte, count int64, s driver.Stream) error {
	n := int64(len(pattern))
	if n != 1 && n != 2 && n != 4 && n != 8 {
		return fmt.Errorf("%s: fill with a pattern of %d B: it must have 1, 2, 4 or 8", d.name, n)
	}
	if count < 0 || count > math.MaxInt64/8 {
		return fmt.Errorf("%s: fill with %d copies", d.name, count)
	}
	check := func() error { return d.room("fill of", dst, count*n) }
	return d.transfer("fill memory", s, check, func(raw cu.Stream) Result { return fill(cu.DevicePtr(dst), pattern, count, raw) })
}

// fill uses the driver's functions where the address is aligned; else it writes bytes, one position of the pattern after another.
func fill(dst cu.DevicePtr, pattern []byte, count int64, s cu.Stream) Result {
	word := func(b []byte) uint32 {
		v := uint32(0)
		for i := len(b) - 1; i >= 0; i-- {
			v = v<<8 | uint32(b[i])
		}
		return v
	}
	n := len(pattern)
	switch {
	case count == 0:
		return success
	case n == 1:
		return resultOf(cu.MemsetD8Async(dst, pattern[0], count, s))
	case n == 2 && dst%2 == 0:
		return resultOf(cu.MemsetD16Async(dst, uint16(word(pattern)), count, s))
	case n == 4 && dst%4 == 0:
		return resultOf(cu.MemsetD32Async(dst, uint(word(pattern)), count, s))
	case n == 8 && dst%4 == 0: // two combs of words
		for i := range 2 {
			if r := resultOf(cu.MemsetD2D32Async(dst+cu.DevicePtr(4*i), 8, uint(word(pattern[4*i:4*i+4])), 1, count, s)); r != success {
				return r
			}
		}
		return success
	}
	for i := range n {
		if r := resultOf(cu.MemsetD2D8Async(dst+cu.DevicePtr(i), int64(n), pattern[i], 1, count, s)); r != success {
			return r
		}
	}
	return success
}
