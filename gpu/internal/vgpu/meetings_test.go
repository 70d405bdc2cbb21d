package vgpu

import (
	"math/rand/v2"
	"testing"
)

// What is counted of lanes that meet in shared memory is what the banks' model and the hash table say, access after access.
func TestMeetings(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	var m meetings
	for range 3000 {
		n := 1024 << r.IntN(2) * 4
		mask := r.Uint32() | 1<<r.IntN(32)
		if r.IntN(2) == 0 {
			mask = allLanes
		}
		spread := 1 + r.Uint64N(uint64(n/4))>>r.IntN(10)
		var a [32]uint64
		for i := range a {
			a[i] = r.Uint64N(spread) * 4
		}
		if r.IntN(100) == 0 {
			m.access = lastMeeting - 1
		}
		m.next(n)
		waves, distinct, most, ok := m.meet(mask, &a)
		wantWaves, _ := wavefronts(&a, mask, 4)
		var want atomicCounts
		want.contend(mask, &a)
		if !ok || waves != wantWaves || distinct != want.distinct || most != want.passes {
			t.Fatalf("words %v of lanes %x: %d passes, %d words, %d lanes (%t); want %d, %d, %d", a, mask, waves, distinct, most, ok, wantWaves, want.distinct, want.passes)
		}
		for _, bad := range []uint64{2, uint64(n), ^uint64(3)} {
			a[lowest(mask)] = bad
			m.next(n)
			if _, _, _, ok := m.meet(mask, &a); ok {
				t.Fatalf("address %d of %d B is taken", bad, n)
			}
		}
	}
}
