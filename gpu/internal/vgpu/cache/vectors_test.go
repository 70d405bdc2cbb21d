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
