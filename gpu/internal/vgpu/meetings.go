package vgpu

// contend counts how an atomic's lanes share addresses: the distinct ones, and the lanes at the most wanted of them, which
// the memory serves one after the other.
func (c *atomicCounts) contend(mask uint32, a *[32]uint64) {
	c.requests++
	var keys [64]uint64 // a hash table, open addressing
	var lanes [64]uint8
	var most uint8
	for m := mask; m != 0; m &= m - 1 {
		address := a[lowest(m)]
		at := address * 0x9e3779b97f4a7c15 >> 58
		for lanes[at&63] > 0 && keys[at&63] != address {
			at++
		}
		if lanes[at&63] == 0 {
			c.distinct++
		}
		keys[at&63] = address
		lanes[at&63]++
		most = max(most, lanes[at&63])
	}
	c.passes += uint64(most)
}

// meetings are the words of shared memory that the lanes of one access have touched, by word: which access it was, above how many of
// its lanes.
type meetings struct {
	words  []uint32
	access uint32
}

const (
	meetingLanes = 8 // bits of the number of lanes
	lastMeeting  = 1<<(32-meetingLanes) - 1
)

// next begins an access to a shared memory of n bytes.
func (m *meetings) next(n int) {
	if m.access++; len(m.words) != n/4 || m.access == lastMeeting {
		m.words, m.access = make([]uint32, n/4), 1
	}
}

// meet is what touchShared and contend count of an access of 4 bytes a lane: passes through the banks, distinct words, and lanes at
// the most wanted of them. ok is false where some lane lies outside or is misaligned.
func (m *meetings) meet(mask uint32, a *[32]uint64) (waves, distinct, most uint64, ok bool) {
	var banks [32]uint8 // distinct words of each
	var worst, lanes uint32
	for ; mask != 0; mask &= mask - 1 {
		address := a[lowest(mask)]
		if address&3 != 0 || address/4 >= uint64(len(m.words)) {
			return 0, 0, 0, false
		}
		word := &m.words[address/4]
		if *word>>meetingLanes != m.access {
			*word = m.access << meetingLanes
			distinct++
			bank := &banks[address/4&31]
			*bank++
			worst = max(worst, uint32(*bank))
		}
		*word++
		lanes = max(lanes, *word&(1<<meetingLanes-1))
	}
	return uint64(worst), distinct, uint64(lanes), true
}

// meetShared checks and counts an atomic access to shared memory of 4 bytes a lane; false: it did nothing, and touchShared is to do
// it, or to say what is wrong. Addresses of atomics depend on data, so that no pattern is worth learning.
func (w *warp) meetShared(in *inst, s *site, a *[32]uint64) bool {
	if w.mask == 0 || w.cta.check != nil || w.cta.watch != nil || len(w.cta.shared)&3 != 0 {
		return false
	}
	if !w.w.count {
		var low, high uint64
		for m := w.mask; m != 0; m &= m - 1 {
			address := a[lowest(m)]
			low, high = low|address, max(high, address)
		}
		return low&3 == 0 && high < uint64(len(w.cta.shared))
	}
	w.w.meetings.next(len(w.cta.shared))
	waves, distinct, most, ok := w.w.meetings.meet(w.mask, a)
	if !ok {
		return false
	}
	lanes := uint64(popcount(w.mask))
	c := &s.shared
	c.requests++
	c.lanes += lanes
	c.bytes += lanes * 4
	c.waves += waves
	c.ideal++
	s.atomicShared.requests++
	s.atomicShared.distinct += distinct
	s.atomicShared.passes += most
	return true
}
