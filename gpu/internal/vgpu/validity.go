package vgpu

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// validity knows which bytes of an allocation were ever written. The sanitizer asks and tells it by byte. While it is off
// nothing is told: copies by the host are noted by ranges, and a launch that wrote anywhere in an allocation makes all of
// it valid, so that no read is called uninitialised wrongly.
//
// The sanitizer's use, for global memory: firstUnwritten(low, high) before a load's lane reads, markWritten(low, high)
// when a store's or an atomic's lane has written. Both are safe for concurrent workers.
type validity struct {
	whole  atomic.Bool // every byte
	grow   sync.Mutex
	chunks atomic.Pointer[[]atomic.Pointer[chunkBits]] // by validChunk bytes; nil: none
}

const validChunk = 1 << 16

// chunkBits has a bit for each byte of a chunk.
type chunkBits [validChunk / 64]atomic.Uint64

// chunk gives the bits of a chunk, made when asked for.
func (a *allocation) chunkBits(c uint64, create bool) *chunkBits {
	v := &a.validity
	list := v.chunks.Load()
	if list == nil {
		if !create {
			return nil
		}
		v.grow.Lock()
		if list = v.chunks.Load(); list == nil {
			made := make([]atomic.Pointer[chunkBits], (a.high-a.low+validChunk-1)/validChunk)
			list = &made
			v.chunks.Store(list)
		}
		v.grow.Unlock()
	}
	p := &(*list)[c]
	if b := p.Load(); b != nil || !create {
		return b
	}
	p.CompareAndSwap(nil, new(chunkBits))
	return p.Load()
}

// words calls visit with each word of bits of [low, high), as a mask, until it answers false.
func (a *allocation) words(low, high uint64, visit func(chunk, word, mask uint64) bool) {
	for at := low - a.low; at < high-a.low; {
		n := min(64-at%64, high-a.low-at)
		mask := ^uint64(0) >> (64 - n) << (at % 64)
		if !visit(at/validChunk, at%validChunk/64, mask) {
			return
		}
		at += n
	}
}

// markWritten notes that [low, high) of the allocation holds values from now on.
func (a *allocation) markWritten(low, high uint64) {
	if a.validity.whole.Load() || low >= high {
		return
	}
	if low <= a.low && high >= a.high {
		a.markWhole()
		return
	}
	a.words(low, high, func(c, word, mask uint64) bool {
		bits := &a.chunkBits(c, true)[word]
		if bits.Load()&mask != mask {
			bits.Or(mask)
		}
		return true
	})
}

// markWhole notes that every byte holds a value.
func (a *allocation) markWhole() {
	a.validity.whole.Store(true)
	a.validity.chunks.Store(nil)
}

// firstUnwritten gives the address of the first byte of [low, high) that was never written; ok is false where there is
// none. The range lies in the allocation.
func (a *allocation) firstUnwritten(low, high uint64) (address uint64, ok bool) {
	if a.validity.whole.Load() {
		return 0, false
	}
	a.words(low, high, func(c, word, mask uint64) bool {
		missing := mask
		if b := a.chunkBits(c, false); b != nil {
			missing &^= b[word].Load()
		}
		if missing != 0 {
			address, ok = a.low+c*validChunk+word*64+uint64(bits.TrailingZeros64(missing)), true
		}
		return !ok
	})
	return address, ok && !a.validity.whole.Load()
}
