package vgpu

import "sync"

// Devices have ranges of addresses of their own, so that a pointer of one that is used on another is no address there. The
// first has deviceBase; the distance is a multiple of what the caches' traces keep of an address, so that no counter depends
// on it.

const (
	placeShift = 40 // ranges are 2⁴⁰ bytes apart, the largest arena is half of that
	mostPlaces = 64
)

// places are the ranges in use.
var places placeSet

type placeSet struct {
	mu   sync.Mutex
	used [mostPlaces]int
}

// take gives the first free range; where none is, the least used.
func (p *placeSet) take() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	best := 0
	for i, n := range p.used {
		if n < p.used[best] {
			best = i
		}
	}
	p.used[best]++
	return best
}

// leave gives a range back; -1 is none.
func (p *placeSet) leave(place int) {
	if place < 0 {
		return
	}
	p.mu.Lock()
	p.used[place]--
	p.mu.Unlock()
}

// elsewhere reports whether an address lies where another device has its memory.
func (m *memory) elsewhere(address uint64) bool {
	place := int(deviceBase>>placeShift) - int(address>>placeShift)
	if m.slot < 0 || place == m.slot || place < 0 || place >= mostPlaces {
		return false
	}
	places.mu.Lock()
	defer places.mu.Unlock()
	return places.used[place] > 0
}
