package cache

// Hint is what PTX says about who should leave a cache first.
type Hint uint8

// Eviction hints.
const (
	FirstL1 Hint = 1 << iota
	LastL1
	FirstL2
	LastL2

	hintsL1 = FirstL1 | LastL1
	hintsL2 = FirstL2 | LastL2
)

// keptAhead is how many accesses pass before a line that a hint keeps counts as used now.
const keptAhead = 1 << 20

// inL2 is the age of a line of L2 just used: the oldest where it should leave first, one in the future where it should leave last.
func (h Hint) inL2(clock uint32) uint32 {
	switch {
	case h&FirstL2 != 0:
		return 1
	case h&LastL2 != 0:
		return clock + keptAhead
	}
	return clock
}
