package cache

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Rows and stores cover exactly the sectors of their bytes, in order, however they are written down.
func TestAppend(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 3000 {
		low := r.Uint64N(1 << 20)
		high := low + 1 + r.Uint64N(4096)
		for _, store := range []bool{false, true} {
			entries := AppendRow(nil, Bypass, low, high)
			if store {
				entries = AppendStore(nil, Bypass|Write, low, high)
			}
			var covered []uint64
			for _, e := range single(entries) {
				for s := range uint64(4) {
					if e>>s&1 == 0 {
						continue
					}
					at := e.Line()*128 + s*32
					covered = append(covered, at/32)
					bytes := min(high, at+32) - max(low, at)
					if fill := uint8(0); store {
						if bytes < 32 {
							fill = uint8(max(bytes/4, 1))
						}
						if e.fill() != fill {
							t.Fatalf("[%d, %d): sector %d filled with %d words, want %d", low, high, at/32, e.fill(), fill)
						}
					}
				}
			}
			var want []uint64
			for s := low / 32; s <= (high-1)/32; s++ {
				want = append(want, s)
			}
			if !slices.Equal(covered, want) {
				t.Fatalf("[%d, %d), store %t: sectors %v, want %v", low, high, store, covered, want)
			}
		}
	}
}

// Join changes how a trace is written, not what it says.
func TestJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	shorter := 0
	for range 500 {
		var trace []Entry
		line := Entry(1<<32 - 40)
		for range 40 {
			sectors := Sectors
			if r.IntN(5) == 0 {
				sectors = Entry(1 + r.IntN(15))
			}
			trace = append(trace, line&lines<<LineShift|sectors|Entry(r.IntN(8)/7)<<SiteShift|Entry(r.IntN(20)/19)<<fillShift)
			if line++; r.IntN(9) == 0 {
				line += Entry(r.IntN(3))
			}
		}
		want := slices.Clone(trace)
		joined := Join(trace)
		if got := single(joined); !slices.Equal(got, want) {
			t.Fatalf("%x\njoined is\n%x", want, got)
		}
		if Lines(joined) != 40 || !Longer(joined, 39) || Longer(joined, 40) {
			t.Fatalf("%d lines", Lines(joined))
		}
		shorter += 40 - len(joined)
	}
	if shorter < 500*15 {
		t.Errorf("only %d of %d entries were joined", shorter, 500*40)
	}
}

// TestDivisor compares with the remainder.
func TestDivisor(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 132, 400, 512, 6553, 25600, 1 << 20, 1<<31 - 1} {
		d := divisorOf(n)
		for _, x := range []uint64{0, 1, uint64(n) - 1, uint64(n), uint64(n) + 1, 12345678, 1<<32 - 1} {
			if got := d.of(x); got != x%uint64(n) {
				t.Errorf("%d mod %d = %d, want %d", x, n, got, x%uint64(n))
			}
		}
	}
}
