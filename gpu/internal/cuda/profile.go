package cuda

import (
	"fmt"
	"math"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// attributes are what the driver says of a GPU.
type attributes struct {
	model                                     string
	uuid                                      string
	memory                                    int64
	major, minor, sms, warp                   int
	threads, shared, sharedOptin, sharedPerSM int
	registers, l2                             int
	clockKHz, memoryKHz, busBits              int
	cta, grid                                 driver.Dim3
	ecc, integrated                           int
}

// properties are the device's under its name.
func (a *attributes) properties(name string) driver.Properties {
	return driver.Properties{
		Name: name, Model: a.model, ComputeMajor: a.major, ComputeMinor: a.minor, SMs: a.sms, WarpSize: a.warp, MaxThreadsPerCTA: a.threads,
		MaxCTADim: a.cta, MaxGridDim: a.grid, SharedPerCTA: a.shared, SharedPerCTAOptin: max(a.sharedOptin, a.shared),
		SharedPerSM: a.sharedPerSM, RegistersPerSM: a.registers, L2Bytes: a.l2, ClockHz: float64(a.clockKHz) * 1e3, MemoryBytes: a.memory,
	}
}

// dramBytesPerSecond is the bandwidth that clock and width give: two transfers a cycle.
func (a *attributes) dramBytesPerSecond() float64 {
	return 2 * float64(a.memoryKHz) * 1e3 * float64(a.busBits) / 8
}

// tensorFLOPsPerSMCycle are dense f16 with f32 accumulation, an FMA being two (architecture whitepapers of each generation).
var tensorFLOPsPerSMCycle = map[int]float64{70: 1024, 75: 1024, 80: 2048, 86: 512, 87: 1024, 89: 512, 90: 4096, 100: 8192, 103: 8192, 120: 1024, 121: 1024}

// profile makes the roofs and limits that cards and the time model use: from the driver's attributes what they tell, and the
// parameters of the time model from the row of the table that comes nearest, one of the same compute capability where there is one.
func (a *attributes) profile(name string) *perf.Profile {
	p := nearest(a)
	p.Name, p.Model, p.Major, p.Minor = name, a.model, a.major, a.minor
	p.SMs, p.MemoryBytes = a.sms, a.memory
	hz := float64(a.clockKHz) * 1e3
	if hz > 0 {
		p.BoostHz, p.ModelHz = hz, hz
	}
	if a.l2 > 0 {
		p.L2Bytes = a.l2
	}
	sources := []string{fmt.Sprintf("the driver's attributes: %d SMs, %.0f MHz", a.sms, hz/1e6)}
	if b := a.dramBytesPerSecond(); b > 0 {
		p.L2BytesPerSecond *= b / p.DRAMBytesPerSecond
		p.DRAMBytesPerSecond = b
		sources[0] += fmt.Sprintf(", memory 2 · %.0f MHz · %d bits", float64(a.memoryKHz)/1e3, a.busBits)
	}
	if l, err := perf.LimitsOf(a.major, a.minor); err == nil && hz > 0 {
		cycles := float64(a.sms) * hz
		p.FP32FLOPs, p.FP16FLOPs, p.FP64FLOPs = l.FP32PerSMCycle*cycles, l.FP16PerSMCycle*cycles, l.FP64PerSMCycle*cycles
		if t := tensorFLOPsPerSMCycle[10*a.major+a.minor]; t > 0 {
			p.TensorFLOPs = t * cycles
		}
		sources = append(sources, "arithmetic: units of an SM of compute capability "+l.ComputeCapability()+" · SMs · clock")
	}
	p.Sources = sources
	return p
}

// nearest copies the profile of the table that is most like a GPU: same compute capability first, then as many SMs.
func nearest(a *attributes) *perf.Profile {
	var best *perf.Profile
	least := math.Inf(1)
	for _, p := range perf.Profiles() {
		distance := 100*math.Abs(float64(10*p.Major+p.Minor-10*a.major-a.minor)) + math.Abs(float64(p.SMs-a.sms))
		if distance < least {
			least, best = distance, p
		}
	}
	copied := *best
	return &copied
}
