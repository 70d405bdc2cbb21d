//go:build !amd64

package cache

// vectorTurn is the state of assembly, which this architecture has not.
type vectorTurn struct{}

func (f *first) loads(w *tally, c *cursor, took int) int { return took }
