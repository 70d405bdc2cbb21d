package perf

import (
	"fmt"
	"strings"
)

// OccupancyQuery asks for the occupancy of one launch, as the command `memwall occupancy` does.
type OccupancyQuery struct {
	CC        string `json:"cc"` // "9.0"
	Threads   int    `json:"threads"`
	Registers int    `json:"registers"`
	Static    int    `json:"static_shared_bytes"`
	Dynamic   int    `json:"dynamic_shared_bytes"`
}

// OccupancyAnswer is how many CTAs fit on an SM and why not more. A limit of −1 means that the launch does not use the
// resource; 0 CTAs mean that the launch fails.
type OccupancyAnswer struct {
	OccupancyQuery
	CTAsPerSM   int      `json:"ctas_per_sm"`
	WarpsPerSM  int      `json:"warps_per_sm"`
	MaxWarps    int      `json:"max_warps_per_sm"`
	Percent     float64  `json:"occupancy_percent"`
	Limiters    []string `json:"limiters"`
	ByWarps     int      `json:"by_warps"`
	ByRegisters int      `json:"by_registers"`
	ByShared    int      `json:"by_shared_memory"`
	ByCTAs      int      `json:"by_ctas"`
	Tag         Tag      `json:"tag"`
	Source      string   `json:"source"`
}

// Answer computes the occupancy; the error says which number cannot be.
func (q OccupancyQuery) Answer() (OccupancyAnswer, error) {
	l, err := ParseComputeCapability(q.CC)
	if err != nil {
		return OccupancyAnswer{}, err
	}
	r, err := l.Residency(q.Threads, q.Registers, q.Static, q.Dynamic)
	if err != nil {
		return OccupancyAnswer{}, err
	}
	o, err := OccupancyOf(l, q.Threads, q.Registers, q.Static, q.Dynamic)
	if err != nil {
		return OccupancyAnswer{}, err
	}
	return OccupancyAnswer{
		OccupancyQuery: q, CTAsPerSM: r.CTAs, WarpsPerSM: o.WarpsPerSM, MaxWarps: l.WarpsPerSM, Percent: o.Value, Limiters: r.Limiters,
		ByWarps: r.ByWarps, ByRegisters: r.ByRegisters, ByShared: r.ByShared, ByCTAs: r.ByCTAs, Tag: o.Tag, Source: o.Source,
	}, nil
}

// Fails reports whether a launch so configured fails: not one CTA fits on an SM.
func (a OccupancyAnswer) Fails() bool { return a.CTAsPerSM == 0 }

// String is the answer in two lines.
func (a OccupancyAnswer) String() string {
	limit := strings.Join(a.Limiters, ", ")
	head := fmt.Sprintf("occupancy %s (%s): %d CTAs an SM, %d of %d warps, limit: %s", FormatPercent(a.Percent), a.Tag, a.CTAsPerSM, a.WarpsPerSM, a.MaxWarps, limit)
	if a.CTAsPerSM == 0 {
		head = "the launch fails: not one CTA fits on an SM, limit: " + limit
	}
	return head + fmt.Sprintf("\nCTAs an SM by warps %s, by registers %s, by shared memory %s, by CTAs %s", limitText(a.ByWarps), limitText(a.ByRegisters), limitText(a.ByShared), limitText(a.ByCTAs))
}

func limitText(n int) string {
	if n == NoLimit {
		return "no limit"
	}
	return fmt.Sprint(n)
}
