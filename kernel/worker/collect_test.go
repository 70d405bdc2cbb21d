package worker

import "testing"

func TestPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 800, 1 << 20: 800, 4 << 20: 800, 8 << 20: 400, 16 << 20: 200, 32 << 20: 100, 1 << 40: 100} {
		if got := percentFor(live); got != want {
			t.Errorf("%d bytes alive: %d %%, want %d", live, got, want)
		}
	}
}
