package simulate

import (
	"math"

	"memwall/gpu/perf"
)

// pipes are how many cycles a warp instruction occupies a pipe of one quarter of an SM.
type pipes struct{ fp32, imad, alu, mufu, fp64, half float64 }

// machine is the parameters of one GPU as the simulation uses them.
type machine struct {
	pipes
	hz                       float64
	l1, l2, dram, shared     float64 // latencies, cycles
	lsu                      float64 // cycles that an instruction holds the load/store unit, at least
	macs                     float64 // multiply-adds a cycle and quarter that mma.sync reaches
	port                     float64 // bytes a cycle between an SM and L2
	l2Bytes, dramBytes       float64 // bytes a cycle that L2 and DRAM give one of the SMs at work
	turn, burst, queue       float64
	aluLatency, branchCycles float64
	mmaLatency               float64
}

// Parameters that published times have fitted, and that hold for every GPU (facts: time-model).
const (
	portBytes    = 40   // bytes a cycle that an SM gets through its port to L2
	turnCycles   = 700  // from a CTA's end to the next one's first instruction
	burstCycles  = 1500 // of work that L2 and DRAM may be ahead of an SM's mean share
	queueCycles  = 24   // of work in the load/store unit before schedulers stall
	barrierDelay = 20
	fp32Interval = 1.12
	mmaCycles    = 33
)

// architecture is what depends on the compute capability alone: the pipes. FP32 has 16 lanes a quarter up to 8.0 and 32
// since; the integer pipe 16, and 32 at 12.x.
func architecture(major, minor int) pipes {
	p := pipes{fp32: fp32Interval, imad: 2, alu: 2, mufu: 8, fp64: 64, half: 2}
	switch cc := 10*major + minor; {
	case cc < 80:
		p.fp32 = 2
		if cc == 70 {
			p.fp64 = 4
		}
	case cc == 80:
		p.fp32, p.fp64, p.half = 2, 4, 1
	case cc == 90 || cc == 100:
		p.fp64 = 2
	case cc >= 120:
		p.imad, p.alu = 1, 1
	}
	return p
}

// machineOf gives the parameters of a GPU of whose SMs `active` have work, with so much of the DRAM traffic being writes.
func machineOf(p *perf.Profile, active, written float64) *machine {
	return &machine{
		pipes: architecture(p.Major, p.Minor), hz: p.ModelHz, l1: p.L1Latency, l2: p.L2Latency, dram: p.DRAMLatency, shared: p.SharedLatency,
		lsu: p.LSUCycles, macs: p.TensorMACsPerSMCycle / 4, port: portBytes, l2Bytes: min(p.L2BytesPerSecond/active/p.ModelHz, portBytes),
		dramBytes: p.DRAMBytesPerSecond * p.Reach(written) / active / p.ModelHz, turn: turnCycles, burst: burstCycles, queue: queueCycles,
		aluLatency: 4.5, branchCycles: 8, mmaLatency: mmaCycles,
	}
}

// latency is how long a result takes, for scheduling; loads answer when their data comes.
func (m *machine) latency(x *instruction, c class) float64 {
	if x.latency > 0 {
		return float64(x.latency)
	}
	switch c {
	case fp32, imad, half, misc:
		return m.aluLatency
	case alu:
		return m.aluLatency + 1
	case mufu:
		return 20
	case fp64:
		return 8
	case tensor, asyncTensor:
		return m.mmaLatency
	case shuffle:
		return 24
	case loadShared:
		return m.shared
	case loadGlobal, atomicGlobal:
		return m.l2
	case loadConstant:
		return 30
	case atomicShared:
		return 60
	}
	return 4
}

// never is a time that does not come.
const never = math.MaxFloat64
