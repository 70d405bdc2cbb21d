package perf

import "time"

// Shape is how a launch was configured.
type Shape struct {
	Grid, CTA, Cluster [3]uint32 // Cluster is zero where there is none
	DynamicShared      int       // bytes
}

// Observation is what a device reports of one launch: the input of Evaluate.
type Observation struct {
	Kernel                               string // "gemv/1_naive", or module and function
	Function                             string
	Device                               string // "virtual:h200"
	Virtual                              bool
	Shape                                Shape
	Registers                            int
	Estimated                            bool // Registers is an estimate by liveness, between the two bounds
	RegistersLow, RegistersHigh          int
	StaticShared, LocalBytes, SpillBytes int
	Counts                               Counts // of the executed CTAs
	Counted                              bool   // false: a real GPU without counters
	Lines                                []LineCounts
	Sampled                              int    // every k-th CTA was executed; 1 means all
	Executed                             uint64 // CTAs executed
	Cold                                 bool
	Simulated                            *Simulation     // of the virtual GPU; nil where it was not asked for
	Samples                              []time.Duration // measured; empty on the virtual GPU
	Batch                                int             // launches in the graph that gave a sample, which is its mean; 0 and 1: one
	Clocks                               string          // of a real GPU after the samples: "SM 1980 MHz, …"; "" where unknown
	MinimumBytes                         float64         // the registry's closed form of the least traffic, 0 where unknown
	FormulaFLOPs                         float64         // the registry's closed form, 0 where unknown
	OwnBytes                             float64         // a part of a step moves so much at least, workspaces included; the two above are then its share of the step's; 0: no part
}

// Occupancy is a figure in percent with what limits it.
type Occupancy struct {
	Figure
	Limiter                                string // "registers", "shared memory", "warps", "CTAs", or several joined by ", "
	CTAsPerSM                              int
	WarpsPerSM                             int
	ByWarps, ByRegisters, ByShared, ByCTAs int
}

// Bound is the time that one resource alone would need.
type Bound struct {
	Resource string  // "DRAM", "L2", "shared", "issue", "FP32", "tensor", "latency", "launch" …
	Seconds  float64 // at best
	Source   string
	About    bool    // an estimate of the model, which a GPU may beat by a little
	reached  float64 // seconds at the rate that launches reach; 0: not known apart
}

// Launch is one launch as cards, notebooks and --json show it. Every figure has its tag; an absent one says why.
type Launch struct {
	Observation
	Profile *Profile

	Duration                                             Figure // MEASURED, or MODELLED with its range
	Predicted                                            Figure // the model's range, beside a MEASURED duration too
	FLOPs                                                [NumFLOPTypes]Figure
	TotalFLOPs, DRAMBytes, L2Bytes, IdealBytes, MinBytes Figure
	Requests, Sectors, IdealSectors, L1Hit, L2Hit        Figure
	SharedWavefronts, BankConflicts                      Figure
	Instructions                                         [NumClasses]Figure
	WarpInstructions, DivergentBranches, Barriers        Figure
	RegistersPerThread, SharedBytes, Waves               Figure
	Occupancy                                            Occupancy
	Intensity                                            Figure  // FLOP/B of DRAM traffic
	Ridge                                                Figure  // of the roof that applies
	Bounds                                               []Bound // largest first
	Bound                                                string  // the resource that wins, or two within 10 % joined by " and "
	PerLine                                              []LineCounts
}
