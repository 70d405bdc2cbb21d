package vgpu

import (
	"slices"
	"sync"
)

// heapBytes is the size of the heap that malloc of device code takes from: CUDA's default limit, cudaLimitMallocHeapSize.
const heapBytes = 8 << 20

// deviceHeap is the memory of malloc and free in device code: one allocation, made when a module is loaded that calls malloc. What
// is taken stays until it is freed, over launches too.
type deviceHeap struct {
	mu    sync.Mutex
	a     *allocation
	free  []heapPiece // sorted, apart from each other
	taken map[uint64]uint64
}

type heapPiece struct{ at, size uint64 }

// open makes the heap.
func (h *deviceHeap) open(m *memory) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.a != nil {
		return nil
	}
	a, err := m.alloc(heapBytes, "device heap")
	if err != nil {
		return err
	}
	if _, _, err := m.reach(a, a.low, a.high); err != nil {
		return err
	}
	h.a, h.free, h.taken = a, []heapPiece{{a.low, heapBytes}}, map[uint64]uint64{}
	return nil
}

// take gives the address of size bytes, aligned to 16; 0 where there is no piece as large.
func (h *deviceHeap) take(size uint64) uint64 {
	if size > heapBytes {
		return 0
	}
	size = (max(size, 1) + 15) &^ 15
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.free {
		p := &h.free[i]
		if p.size < size {
			continue
		}
		at := p.at
		if p.at, p.size = p.at+size, p.size-size; p.size == 0 {
			h.free = slices.Delete(h.free, i, i+1)
		}
		h.taken[at] = size
		return at
	}
	return 0
}

// give takes a piece back; false: it is none.
func (h *deviceHeap) give(at uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	size, ok := h.taken[at]
	if !ok {
		return false
	}
	delete(h.taken, at)
	i, _ := slices.BinarySearchFunc(h.free, at, func(p heapPiece, at uint64) int {
		if p.at < at {
			return -1
		}
		return 1
	})
	h.free = slices.Insert(h.free, i, heapPiece{at, size})
	if i+1 < len(h.free) && at+size == h.free[i+1].at {
		h.free[i].size += h.free[i+1].size
		h.free = slices.Delete(h.free, i+1, i+2)
	}
	if i > 0 && h.free[i-1].at+h.free[i-1].size == at {
		h.free[i-1].size += h.free[i].size
		h.free = slices.Delete(h.free, i, i+1)
	}
	return true
}
