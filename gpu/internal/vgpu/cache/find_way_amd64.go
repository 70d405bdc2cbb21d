package cache

import "golang.org/x/sys/cpu"

// vectorFindWay is searchWay: the way, and 16 more where the tag was not found.
//
//go:noescape
func vectorFindWay(s *set, tag uint32) uint32

// vectors says whether this CPU has what the assembly uses.
var vectors = cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT

// findWay gives the way with a tag, else the first of the least recently used ones.
func findWay(s *set, tag uint32) (way int, hit bool) {
	if !vectors {
		return searchWay(s, tag)
	}
	found := vectorFindWay(s, tag)
	return int(found & (l2Ways - 1)), found < l2Ways
}
