package vgpu

import "unsafe"

// at gives the host's pointer to a byte of shared memory, by its offset, or of device memory, by its address.
func (w *warp) at(address uint64, shared bool) unsafe.Pointer {
	if shared {
		return unsafe.Add(unsafe.Pointer(unsafe.SliceData(w.cta.shared)), address)
	}
	return w.host(address)
}
