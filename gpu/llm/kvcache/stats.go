package kvcache

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"memwall/gpu/perf"
)

// Stats is what a cache holds and what it has done so far.
type Stats struct {
	Pages  int // of the device
	Used   int // that sequences have
	Shared int // of these, with more than one sequence
	Kept   int // that nobody has, with contents that can be found again
	Free   int // with nothing in them
	Saved  int // pages that sharing saves: without it Used + Saved would be needed

	Tokens    int     // in used pages, each page counted once
	Slots     int     // of used pages
	Waste     float64 // share of Slots without a token, 0 to 1
	PageBytes int64   // 0 where the cache does not know

	Sequences int // all
	Swapped   int // of these, in host memory
	HostPages int
	HostUsed  int

	Hits, Misses   uint64 // full pages that Add and SwapIn looked for by contents
	Evictions      uint64 // kept pages whose contents were given up
	Copies         uint64 // pages copied because a fork went on
	PagesOut       uint64 // copied to host memory
	PagesIn        uint64 // copied back
	PagesFoundBack uint64 // of sequences that came back, still there
}

// Stats counts.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats()
}

func (c *Cache) stats() Stats {
	p := &c.pool
	s := Stats{Pages: p.total, Used: p.used, Shared: p.shared, Kept: p.kept, Free: p.total - p.used - p.kept, Saved: p.references - p.used,
		Tokens: p.filled, Slots: p.used * c.config.PageSize, PageBytes: c.config.PageBytes(),
		Sequences: len(c.sequences), HostPages: c.host.total, HostUsed: c.host.used(),
		Hits: c.hits, Misses: c.misses, Evictions: p.evictions, Copies: c.copies, PagesOut: c.swappedOut, PagesIn: c.swappedIn, PagesFoundBack: c.restored}
	if s.Slots > 0 {
		s.Waste = float64(s.Slots-s.Tokens) / float64(s.Slots)
	}
	for _, q := range c.sequences {
		if q.swapped {
			s.Swapped++
		}
	}
	return s
}

// String is the counts in words.
func (s Stats) String() string {
	lines := []string{fmt.Sprintf("%d of %d pages used, %d shared (saves %d), %d kept, %d free; %s of the used slots wasted",
		s.Used, s.Pages, s.Shared, s.Saved, s.Kept, s.Free, perf.FormatPercent(100*s.Waste))}
	if s.Hits+s.Misses > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d full pages found by contents, %d given up", s.Hits, s.Hits+s.Misses, s.Evictions))
	}
	if s.Copies > 0 {
		lines = append(lines, fmt.Sprintf("%d copied on write", s.Copies))
	}
	if s.HostPages > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d host pages used; %d pages swapped out, %d in, %d found back", s.HostUsed, s.HostPages, s.PagesOut, s.PagesIn, s.PagesFoundBack))
	}
	return strings.Join(lines, "\n")
}

// Sequence is what is known of one sequence.
type Sequence struct {
	ID     int
	Name   string // Letter(ID)
	Tokens int
	Pages  int
	Shared int // pages that others have too
	Last   int // tokens in the last page
	Reused int // tokens that were in the cache when it was added
	Out    bool
}

// Sequence describes a sequence.
func (c *Cache) Sequence(id int) (Sequence, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.find("Sequence", id)
	if err != nil {
		return Sequence{}, err
	}
	return c.describe(id, s), nil
}

// Sequences describes all, in the order in which they were added.
func (c *Cache) Sequences() []Sequence {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.describeAll()
}

func (c *Cache) describeAll() []Sequence {
	all := make([]Sequence, 0, len(c.sequences))
	for id, s := range c.sequences {
		all = append(all, c.describe(id, s))
	}
	slices.SortFunc(all, func(a, b Sequence) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func (c *Cache) describe(id int, s *sequence) Sequence {
	d := Sequence{ID: id, Name: Letter(id), Tokens: s.length, Pages: len(s.pages), Reused: s.reused, Out: s.swapped}
	if d.Pages > 0 {
		d.Last = s.length - (d.Pages-1)*c.config.PageSize
	}
	if !s.swapped {
		for _, p := range s.pages {
			if c.pool.pages[p].refs > 1 {
				d.Shared++
			}
		}
	}
	return d
}

// Pages is the block table of a sequence on the device: its pages in order.
func (c *Cache) Pages(id int) ([]int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.resident("Pages", id)
	if err != nil {
		return nil, err
	}
	pages := make([]int, len(s.pages))
	for i, p := range s.pages {
		pages[i] = int(p)
	}
	return pages, nil
}

// letters name sequences in pictures; S stands for shared pages there.
const letters = "ABCDEFGHIJKLMNOPQRTUVWXYZ"

// Letter is how pictures name a sequence: 0 is A, 1 is B … 24 is Z, 25 is A2.
func Letter(id int) string {
	if id < 0 {
		return "?"
	}
	name := letters[id%len(letters) : id%len(letters)+1]
	if round := id / len(letters); round > 0 {
		name += fmt.Sprint(round + 1)
	}
	return name
}
