package perf

import (
	"fmt"
	"strings"
)

// NoLimit marks a resource that a launch does not use.
const NoLimit = -1

// Names of the limiters, in the order in which several are listed.
const (
	LimitWarps     = "warps"
	LimitRegisters = "registers"
	LimitShared    = "shared memory"
	LimitCTAs      = "CTAs"
)

// Residency is how many CTAs of a launch fit on one SM, by each resource; NoLimit where a resource is not used. CTAs is 0
// where the launch fails.
type Residency struct {
	CTAs                                   int
	ByWarps, ByRegisters, ByShared, ByCTAs int
	Limiters                               []string // every resource that gives CTAs
	WarpsPerCTA                            int
}

// CheckResources tells whether the numbers of a launch make sense before any device is asked: threads 1…1024,
// registers 0…255, sizes not negative.
func CheckResources(threads, registers, static, dynamic int) error {
	switch {
	case threads < 1 || threads > MaxThreadsPerCTA:
		return fmt.Errorf("occupancy: %d threads a CTA, the limits are 1 and %d", threads, MaxThreadsPerCTA)
	case registers < 0 || registers > MaxRegisters:
		return fmt.Errorf("occupancy: %d registers a thread, the limits are 0 and %d", registers, MaxRegisters)
	case static < 0:
		return fmt.Errorf("occupancy: static shared memory of %d B is negative", static)
	case dynamic < 0:
		return fmt.Errorf("occupancy: dynamic shared memory of %d B is negative", dynamic)
	}
	return nil
}

// Residency computes how many CTAs fit on an SM, with the carve-out at its maximum, as NVIDIA's cuda_occupancy.h does:
//
//	w = ⌈threads/32⌉, r = registers of a warp rounded up to 256, s = shared bytes + reserve rounded up to the granularity
//	by registers = ⌊4·⌊16384/r⌋/w⌋, and r·roundup(w, 4) ≤ 65536 or the launch fails
//	by shared memory = ⌊carve-out/s⌋, by warps = ⌊max warps/w⌋
func (l *Limits) Residency(threads, registers, static, dynamic int) (Residency, error) {
	if err := CheckResources(threads, registers, static, dynamic); err != nil {
		return Residency{}, err
	}
	w := (threads + WarpSize - 1) / WarpSize
	out := Residency{WarpsPerCTA: w, ByWarps: l.WarpsPerSM / w, ByRegisters: NoLimit, ByShared: NoLimit, ByCTAs: l.CTAsPerSM}
	if r := roundUp(registers*WarpSize, RegisterUnit); r > 0 {
		out.ByRegisters = SubPartitions * (RegistersPerSM / SubPartitions / r) / w
		if r*roundUp(w, SubPartitions) > RegistersPerSM {
			out.ByRegisters = 0
		}
	}
	if s := roundUp(static+dynamic+l.SharedReserved, l.SharedGranularity); s > 0 {
		out.ByShared = l.SharedPerSM / s
		if static+dynamic > l.SharedPerCTAOptin {
			out.ByShared = 0
		}
	}
	out.CTAs = out.ByCTAs
	for _, n := range []int{out.ByWarps, out.ByRegisters, out.ByShared} {
		if n != NoLimit {
			out.CTAs = min(out.CTAs, n)
		}
	}
	for _, by := range []struct {
		n    int
		name string
	}{{out.ByWarps, LimitWarps}, {out.ByRegisters, LimitRegisters}, {out.ByShared, LimitShared}, {out.ByCTAs, LimitCTAs}} {
		if by.n == out.CTAs {
			out.Limiters = append(out.Limiters, by.name)
		}
	}
	return out, nil
}

// OccupancyOf is the theoretical occupancy of a launch on a compute capability: warps that can be resident over warps
// that an SM holds, in percent, with every resource that limits it.
func OccupancyOf(l *Limits, threads, registers, static, dynamic int) (Occupancy, error) {
	r, err := l.Residency(threads, registers, static, dynamic)
	if err != nil {
		return Occupancy{}, err
	}
	return Occupancy{
		Figure: Figure{
			Value: 100 * float64(r.CTAs*r.WarpsPerCTA) / float64(l.WarpsPerSM), Unit: "%", Tag: Formula,
			Source: "cuda_occupancy.h's formula, compute capability " + l.ComputeCapability(),
		},
		Limiter: strings.Join(r.Limiters, ", "), CTAsPerSM: r.CTAs, WarpsPerSM: r.CTAs * r.WarpsPerCTA,
		ByWarps: r.ByWarps, ByRegisters: r.ByRegisters, ByShared: r.ByShared, ByCTAs: r.ByCTAs,
	}, nil
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
