package perf

import (
	"fmt"
	"sort"
	"strings"
)

// Limits are what one multiprocessor of a compute capability can hold. Sizes are in bytes.
//
// Source: the arch traits of NVIDIA's cccl; allocation granularity from cuda_occupancy.h 12.6 and 12.9.
type Limits struct {
	Major, Minor        int
	WarpsPerSM          int
	CTAsPerSM           int
	SharedPerSM         int // the largest carve-out
	SharedPerCTAOptin   int
	SharedReserved      int // taken by the driver for each CTA
	SharedGranularity   int
	CarveOuts           []int   // KiB; the driver picks one of these
	FP32PerSMCycle      float64 // FLOP, an FMA is two
	FP16PerSMCycle      float64 // FLOP on the CUDA cores, packed halves
	FP64PerSMCycle      float64
	SpecialPerSMCycle   float64 // transcendentals
	SharedBytesPerCycle float64 // of one SM
}

// Limits that are the same for every compute capability listed.
const (
	WarpSize           = 32
	RegistersPerSM     = 65536
	MaxRegisters       = 255 // a thread
	RegisterUnit       = 256 // registers are allocated to a warp in this unit
	SubPartitions      = 4   // of an SM: each has a scheduler and a quarter of the registers
	MaxThreadsPerCTA   = 1024
	SharedPerCTAStatic = 48 << 10 // without opting in
)

var limitRows = []Limits{
	// CC, warps, CTAs, shared/SM, opt-in, reserved, unit, carve-outs, then FLOP and special functions a cycle, shared bytes a cycle
	{7, 0, 64, 32, 96 << 10, 96 << 10, 0, 256, []int{0, 8, 16, 32, 64, 96}, 128, 256, 64, 16, 128},
	{7, 5, 32, 16, 64 << 10, 64 << 10, 0, 256, []int{32, 64}, 128, 256, 4, 16, 128},
	{8, 0, 64, 32, 164 << 10, 163 << 10, 1 << 10, 128, []int{0, 8, 16, 32, 64, 100, 132, 164}, 128, 512, 64, 16, 128},
	{8, 6, 48, 16, 100 << 10, 99 << 10, 1 << 10, 128, []int{0, 8, 16, 32, 64, 100}, 256, 256, 4, 16, 128},
	{8, 7, 48, 16, 164 << 10, 163 << 10, 1 << 10, 128, []int{0, 8, 16, 32, 64, 100, 132, 164}, 256, 512, 4, 16, 128},
	{8, 9, 48, 24, 100 << 10, 99 << 10, 1 << 10, 128, []int{0, 8, 16, 32, 64, 100}, 256, 256, 4, 16, 128},
	{9, 0, 64, 32, 228 << 10, 227 << 10, 1 << 10, 128, []int{0, 8, 16, 32, 64, 100, 132, 164, 196, 228}, 256, 512, 128, 16, 128},
	{10, 0, 64, 32, 228 << 10, 227 << 10, 1 << 10, 128, []int{0, 8, 16, 32, 64, 100, 132, 164, 196, 228}, 256, 512, 128, 16, 128},
	{10, 3, 64, 32, 228 << 10, 227 << 10, 1 << 10, 128, []int{0, 8, 16, 32, 64, 100, 132, 164, 196, 228}, 256, 512, 4, 16, 128},
	{11, 0, 48, 24, 228 << 10, 227 << 10, 1 << 10, 128, []int{0, 8, 16, 32, 64, 100, 132, 164, 196, 228}, 256, 512, 4, 16, 128},
	{12, 0, 48, 24, 100 << 10, 99 << 10, 1 << 10, 128, []int{0, 8, 16, 32, 64, 100}, 256, 256, 4, 16, 128},
	{12, 1, 48, 24, 100 << 10, 99 << 10, 1 << 10, 128, []int{0, 8, 16, 32, 64, 100}, 256, 256, 4, 16, 128},
}

// LimitsOf returns the limits of a compute capability. The error lists the ones that are known.
func LimitsOf(major, minor int) (*Limits, error) {
	for i := range limitRows {
		if limitRows[i].Major == major && limitRows[i].Minor == minor {
			return &limitRows[i], nil
		}
	}
	known := make([]string, len(limitRows))
	for i, l := range limitRows {
		known[i] = l.ComputeCapability()
	}
	return nil, fmt.Errorf("compute capability %d.%d is not known\nuse one of %s", major, minor, strings.Join(known, ", "))
}

// ComputeCapability is "9.0".
func (l *Limits) ComputeCapability() string { return fmt.Sprintf("%d.%d", l.Major, l.Minor) }

// ComputeCapabilities lists the compute capabilities whose limits are known, ascending.
func ComputeCapabilities() []string {
	rows := append([]Limits(nil), limitRows...)
	sort.Slice(rows, func(i, j int) bool {
		return rows[i].Major*100+rows[i].Minor < rows[j].Major*100+rows[j].Minor
	})
	out := make([]string, len(rows))
	for i := range rows {
		out[i] = rows[i].ComputeCapability()
	}
	return out
}
