package cache

import (
	"math/rand/v2"
	"testing"
)

// The search of a set of L2 in vectors finds what the loop finds.
func TestFindWay(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 2000 {
		var s set
		for k := range s.tags {
			s.tags[k], s.age[k] = r.Uint32N(40), r.Uint32N(9)<<uint(r.IntN(29))
		}
		tag := r.Uint32N(40)
		way, hit := searchWay(&s, tag)
		if w, h := findWay(&s, tag); w != way || h != hit {
			t.Fatalf("tag %d in %v, ages %v: way %d, %t, want %d, %t", tag, s.tags, s.age, w, h, way, hit)
		}
	}
	if !vectors {
		t.Log("this CPU has no AVX2: the loop was compared with itself")
	}
}

// The look-up of four lines in vectors does what the loop does.
func TestLook(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	var g group
	seen := [3]int{}
	for range 20000 {
		tag := (r.Uint64N(7)*4 + 1) << tagShift
		flip, lines, sectors := r.Uint64N(4), r.Uint64N(16), 1+r.Uint64N(15)
		if r.IntN(2) == 0 {
			lines, sectors = 15, 15
		}
		flip = 2 // lines of one place in memory stand in one lane
		want, got := g, g
		var lack, lacking [4]uint64
		code := lookUp(&want, tag, flip, lines, sectors, &lacking)
		if c := look(&got, tag, flip, lines, sectors, &lack); c != code || lack != lacking || got != want {
			t.Fatalf("tag %#x flip %d lines %x sectors %x in %x:\n%d %v %x, want\n%d %v %x", tag, flip, lines, sectors, g, c, lack, got, code, lacking, want)
		}
		g = want
		seen[code]++
	}
	if min(seen[0], seen[1], seen[2]) < 100 {
		t.Errorf("all, none, some were found %v times", seen)
	}
}
