package cache

// Entry is a word of a trace: one line of 128 bytes, or a run of lines of which the same sectors are touched. From bit 0: sectors, flags, the first line, the
// site, and how much of its sectors a store fills or how many lines the run has.
type Entry uint64

// Fields of an entry. A line is an address in device memory divided by 128, below 2³².
const (
	Sectors Entry = 15
	Atomic  Entry = 1 << 5
	Bypass  Entry = 1 << 6 // does not look at L1
	Write   Entry = 1 << 7

	LineShift = 8
	SiteShift = 40        // of the memory instruction, by the caller's numbers; 0: unknown
	MostSites = 1<<20 - 1 // that an entry can name

	lines     = 1<<32 - 1 // of the line, shifted down
	fillShift = 60        // words of each sector that a store covers, 1 to 7; 0: all of it
	run       = Entry(1 << 4)
	runShift  = 60 // of a run: its lines, less one
	mostRun   = 16

	lineBytes   = 128
	sectorBytes = 32
	sectorWords = 8 // fill a sector
)

// Fill is the field of a store that covers so many bytes of each of its sectors.
func Fill(bytes uint64) Entry {
	if bytes >= sectorBytes {
		return 0
	}
	return Entry(max(bytes/4, 1)) << fillShift
}

// Line is the first line.
func (e Entry) Line() uint64 { return uint64(e) >> LineShift & lines }

// Lines is how many lines follow each other.
func (e Entry) Lines() int {
	if e&run == 0 {
		return 1
	}
	return int(e>>runShift) + 1
}

// fill is how many words of its sectors a store brings; 0: all.
func (e Entry) fill() uint8 {
	if e&run != 0 {
		return 0
	}
	return uint8(e >> fillShift)
}

func (e Entry) site() int { return int(e >> SiteShift & MostSites) }

// Lines counts the lines of a trace.
func Lines(trace []Entry) (n int) {
	for _, e := range trace {
		n += e.Lines()
	}
	return n
}

// Longer reports whether a trace has more lines than n.
func Longer(trace []Entry, n int) bool { return len(trace)*mostRun > n && Lines(trace) > n }

// AppendRow appends entries of an access to [low, high) of device memory; a store covers the sectors at its ends as a whole.
func AppendRow(t []Entry, flags Entry, low, high uint64) []Entry {
	first, last := low/lineBytes, (high-1)/lineBytes
	head, tail := Sectors<<(low/sectorBytes&3)&Sectors, Sectors>>(3-(high-1)/sectorBytes&3)
	if first == last {
		return append(t, Entry(first)<<LineShift|flags|head&tail)
	}
	if head != Sectors {
		t = append(t, Entry(first)<<LineShift|flags|head)
		first++
	}
	whole := last - first
	if tail == Sectors {
		whole++
	}
	for whole > 0 {
		n := min(whole, mostRun)
		e := Entry(first)<<LineShift | flags | Sectors
		if n > 1 {
			e |= run | Entry(n-1)<<runShift
		}
		t = append(t, e)
		first, whole = first+n, whole-n
	}
	if tail != Sectors {
		t = append(t, Entry(last)<<LineShift|flags|tail)
	}
	return t
}

// AppendStore appends entries of a store to [low, high): sectors that it covers in part stand apart.
func AppendStore(t []Entry, flags Entry, low, high uint64) []Entry {
	if (low|high)&(sectorBytes-1) == 0 {
		return AppendRow(t, flags, low, high)
	}
	for sector := low / sectorBytes; sector <= (high-1)/sectorBytes; sector++ {
		covered := min((sector+1)*sectorBytes, high) - max(sector*sectorBytes, low)
		e := Entry(sector>>2)<<LineShift | flags | 1<<(sector&3) | Fill(covered)
		if n := len(t) - 1; n >= 0 && t[n]&^Sectors == e&^Sectors && sector&3 != 0 && sector > low/sectorBytes {
			t[n] |= 1 << (sector & 3)
		} else {
			t = append(t, e)
		}
	}
	return t
}

// Join makes runs of entries that follow each other with the same sectors, filled as a whole.
func Join(t []Entry) []Entry {
	out := t[:0]
	for _, e := range t {
		if k := len(out) - 1; k >= 0 && e.fill() == 0 {
			l := out[k]
			n := l.Lines()
			const same = ^(Entry(lines)<<LineShift | run | 15<<runShift)
			if l.fill() == 0 && l&same == e&same && e.Lines() == 1 && n < mostRun && l.Line()+uint64(n) == e.Line() {
				out[k] = l&^(15<<runShift) | run | Entry(n)<<runShift
				continue
			}
		}
		out = append(out, e)
	}
	return out
}
