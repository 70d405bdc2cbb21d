//go:build !amd64

package cache

var vectors = false

func findWay(s *set, tag uint32) (way int, hit bool) { return searchWay(s, tag) }
