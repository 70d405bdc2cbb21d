package perf

import (
	"fmt"
	"math"
	"strings"
)

// profileRows is every GPU that memwall knows. A new one is one row. Roofs are the vendor's datasheet figures for dense
// arithmetic; the parameters of the time model come from the published measurements named in Sources.
//
// Sources of the time model, all rows: L1, L2, DRAM and shared latencies from pointer-chasing microbenchmarks of the same
// architecture (±20 % for DRAM); L2 rates from public streaming benchmarks (16 B/clk/SM at 8.6 and 8.9) and at 9.0
// from a published GEMM (631 TFLOP/s with 128×256 tiles: 7.4 TB/s; plain loads stream 5.5); DRAM reach from measured
// read streams and copies; mma.sync reaches 63 % of the tensor roof at 9.0 (Luo et al. 2025); an instruction of the load/store unit
// takes two cycles where GEMM ladders show it; 2 µs a launch, fitted.
var profileRows = []Profile{
	{
		Name: "v100", Model: "V100 SXM2 16 GB", Major: 7, Minor: 0, SMs: 80, BoostHz: 1.53e9, MemoryBytes: 16e9,
		DRAMBytesPerSecond: 900e9, FP32FLOPs: 15.7e12, FP16FLOPs: 31.4e12, FP64FLOPs: 7.8e12, TensorFLOPs: 125e12,
		Sources: []string{"NVIDIA V100 datasheet, SXM2: 15.7 TFLOP/s FP32, 7.8 FP64, 125 tensor, 900 GB/s"},
		ModelHz: 1.53e9, L1Bytes: 128 << 10, L2Bytes: 6 << 20, DRAMReach: .92, DRAMCopyReach: .92, L2BytesPerSecond: 2150e9,
		L1Latency: 36, L2Latency: 221, DRAMLatency: 460, SharedLatency: 19, TensorMACsPerSMCycle: 512, LSUCycles: 1, LaunchSeconds: 2e-6,
	},
	{
		Name: "t4", Model: "T4 16 GB", Major: 7, Minor: 5, SMs: 40, BoostHz: 1.59e9, MemoryBytes: 16e9,
		DRAMBytesPerSecond: 320e9, FP32FLOPs: 8.1e12, FP16FLOPs: 16.2e12, FP64FLOPs: 0.254e12, TensorFLOPs: 65e12,
		Sources: []string{"NVIDIA T4 datasheet: 8.1 TFLOP/s FP32, 65 mixed precision, 320 GB/s"},
		ModelHz: 1.59e9, L1Bytes: 96 << 10, L2Bytes: 4 << 20, DRAMReach: .90, DRAMCopyReach: .90, L2BytesPerSecond: 1200e9,
		L1Latency: 32, L2Latency: 236, DRAMLatency: 480, SharedLatency: 23, TensorMACsPerSMCycle: 512, LSUCycles: 2, LaunchSeconds: 2e-6,
	},
	{
		Name: "a10g", Model: "A10G 24 GB", Major: 8, Minor: 6, SMs: 80, BoostHz: 1.71e9, MemoryBytes: 24e9,
		DRAMBytesPerSecond: 600e9, FP32FLOPs: 35e12, FP16FLOPs: 35e12, FP64FLOPs: 0.547e12, TensorFLOPs: 70e12,
		Sources: []string{"NVIDIA A10G datasheet: 35 TFLOP/s FP32, 70 tensor dense, 600 GB/s; 80 SMs as its driver reports"},
		ModelHz: 1.71e9, L1Bytes: 128 << 10, L2Bytes: 6 << 20, DRAMReach: .92, DRAMCopyReach: .92, L2BytesPerSecond: 16 * 80 * 1.71e9,
		L1Latency: 40, L2Latency: 240, DRAMLatency: 550, SharedLatency: 25, TensorMACsPerSMCycle: 256, LSUCycles: 2, LaunchSeconds: 2e-6,
	},
	{
		Name: "l4", Model: "L4 24 GB", Major: 8, Minor: 9, SMs: 58, BoostHz: 2.04e9, MemoryBytes: 24e9,
		DRAMBytesPerSecond: 300e9, FP32FLOPs: 30.3e12, FP16FLOPs: 30.3e12, FP64FLOPs: 0.49e12, TensorFLOPs: 121e12,
		Sources: []string{"NVIDIA L4 datasheet: 30.3 TFLOP/s FP32, 242 tensor with sparsity (121 dense), 300 GB/s"},
		ModelHz: 2.04e9, L1Bytes: 128 << 10, L2Bytes: 48 << 20, DRAMReach: .92, DRAMCopyReach: .92, L2BytesPerSecond: 16 * 58 * 2.04e9,
		L1Latency: 40, L2Latency: 280, DRAMLatency: 620, SharedLatency: 25, TensorMACsPerSMCycle: 512, LSUCycles: 2, LaunchSeconds: 2e-6,
	},
	{
		Name: "a100", Model: "A100 SXM4 80 GB", Major: 8, Minor: 0, SMs: 108, BoostHz: 1.41e9, MemoryBytes: 80e9,
		DRAMBytesPerSecond: 2039e9, FP32FLOPs: 19.5e12, FP16FLOPs: 78e12, FP64FLOPs: 9.7e12, TensorFLOPs: 312e12,
		Sources: []string{"NVIDIA A100 datasheet, SXM 80 GB: 19.5 TFLOP/s FP32, 312 tensor dense, 2,039 GB/s"},
		ModelHz: 1.41e9, L1Bytes: 192 << 10, L2Bytes: 40 << 20, DRAMReach: .90, DRAMCopyReach: .90, L2BytesPerSecond: 4800e9,
		L1Latency: 40, L2Latency: 250, DRAMLatency: 550, SharedLatency: 25, TensorMACsPerSMCycle: 1024, LSUCycles: 1, LaunchSeconds: 2e-6,
	},
	{
		Name: "a100-40", Model: "A100 SXM4 40 GB", Major: 8, Minor: 0, SMs: 108, BoostHz: 1.41e9, MemoryBytes: 40e9,
		DRAMBytesPerSecond: 1555e9, FP32FLOPs: 19.5e12, FP16FLOPs: 78e12, FP64FLOPs: 9.7e12, TensorFLOPs: 312e12,
		Sources: []string{"NVIDIA A100 datasheet, 40 GB: 19.5 TFLOP/s FP32, 312 tensor dense, 1,555 GB/s"},
		ModelHz: 1.41e9, L1Bytes: 192 << 10, L2Bytes: 40 << 20, DRAMReach: .90, DRAMCopyReach: .90, L2BytesPerSecond: 4800e9,
		L1Latency: 40, L2Latency: 250, DRAMLatency: 550, SharedLatency: 25, TensorMACsPerSMCycle: 1024, LSUCycles: 1, LaunchSeconds: 2e-6,
	},
	{
		Name: "rtx3090", Model: "GeForce RTX 3090 24 GB", Major: 8, Minor: 6, SMs: 82, BoostHz: 1.695e9, MemoryBytes: 24e9,
		DRAMBytesPerSecond: 936e9, FP32FLOPs: 35.6e12, FP16FLOPs: 35.6e12, FP64FLOPs: 0.556e12, TensorFLOPs: 71e12,
		Sources: []string{"NVIDIA GA102 whitepaper: 35.6 TFLOP/s FP32, 71 tensor with FP32 accumulation, 936 GB/s"},
		ModelHz: 1.695e9, L1Bytes: 128 << 10, L2Bytes: 6 << 20, DRAMReach: .92, DRAMCopyReach: .92, L2BytesPerSecond: 16 * 82 * 1.695e9,
		L1Latency: 40, L2Latency: 240, DRAMLatency: 550, SharedLatency: 25, TensorMACsPerSMCycle: 256, LSUCycles: 2, LaunchSeconds: 2e-6,
	},
	{
		Name: "rtx4090", Model: "GeForce RTX 4090 24 GB", Major: 8, Minor: 9, SMs: 128, BoostHz: 2.52e9, MemoryBytes: 24e9,
		DRAMBytesPerSecond: 1008e9, FP32FLOPs: 82.6e12, FP16FLOPs: 82.6e12, FP64FLOPs: 1.29e12, TensorFLOPs: 165.2e12,
		Sources: []string{"NVIDIA Ada architecture whitepaper: 82.6 TFLOP/s FP32, 165.2 tensor with FP32 accumulation, 1,008 GB/s"},
		ModelHz: 2.52e9, L1Bytes: 128 << 10, L2Bytes: 72 << 20, DRAMReach: .92, DRAMCopyReach: .92, L2BytesPerSecond: 16 * 128 * 2.52e9,
		L1Latency: 40, L2Latency: 280, DRAMLatency: 620, SharedLatency: 25, TensorMACsPerSMCycle: 256, LSUCycles: 2, LaunchSeconds: 2e-6,
	},
	{
		Name: "rtx5090", Model: "GeForce RTX 5090 32 GB", Major: 12, Minor: 0, SMs: 170, BoostHz: 2.407e9, MemoryBytes: 32e9,
		DRAMBytesPerSecond: 1792e9, FP32FLOPs: 104.8e12, FP16FLOPs: 104.8e12, FP64FLOPs: 1.64e12, TensorFLOPs: 209.5e12,
		Sources: []string{"NVIDIA RTX Blackwell architecture whitepaper: 104.8 TFLOP/s FP32, 209.5 tensor with FP32 accumulation, 1,792 GB/s"},
		ModelHz: 2.75e9, L1Bytes: 128 << 10, L2Bytes: 96 << 20, DRAMReach: .92, DRAMCopyReach: .92, L2BytesPerSecond: 6500e9,
		L1Latency: 40, L2Latency: 355, DRAMLatency: 900, SharedLatency: 29, TensorMACsPerSMCycle: 256, LSUCycles: 2, LaunchSeconds: 2e-6,
	},
	{
		Name: "l40s", Model: "L40S 48 GB", Major: 8, Minor: 9, SMs: 142, BoostHz: 2.52e9, MemoryBytes: 48e9,
		DRAMBytesPerSecond: 864e9, FP32FLOPs: 91.6e12, FP16FLOPs: 91.6e12, FP64FLOPs: 1.43e12, TensorFLOPs: 362e12,
		Sources: []string{"NVIDIA L40S datasheet: 91.6 TFLOP/s FP32, 733 tensor with sparsity (362 dense), 864 GB/s"},
		ModelHz: 2.52e9, L1Bytes: 128 << 10, L2Bytes: 96 << 20, DRAMReach: .92, DRAMCopyReach: .92, L2BytesPerSecond: 16 * 142 * 2.52e9,
		L1Latency: 40, L2Latency: 280, DRAMLatency: 620, SharedLatency: 25, TensorMACsPerSMCycle: 512, LSUCycles: 2, LaunchSeconds: 2e-6,
	},
	{
		Name: "h100", Model: "H100 SXM5 80 GB", Major: 9, Minor: 0, SMs: 132, BoostHz: 1.98e9, MemoryBytes: 80e9,
		DRAMBytesPerSecond: 3352e9, FP32FLOPs: 67e12, FP16FLOPs: 134e12, FP64FLOPs: 34e12, TensorFLOPs: 989e12,
		Sources: []string{"NVIDIA H100 datasheet, SXM: 67 TFLOP/s FP32, 1,979 tensor with sparsity (989 dense), 3.35 TB/s"},
		ModelHz: 1.755e9, L1Bytes: 256 << 10, L2Bytes: 50 << 20, DRAMReach: .92, DRAMCopyReach: .83, L2BytesPerSecond: 7400e9,
		L1Latency: 40, L2Latency: 275, DRAMLatency: 650, SharedLatency: 29, TensorMACsPerSMCycle: 2048 * .63, LSUCycles: 1, LaunchSeconds: 2e-6,
	},
	{
		Name: "h100-pcie", Model: "H100 PCIe 80 GB", Major: 9, Minor: 0, SMs: 114, BoostHz: 1.755e9, MemoryBytes: 80e9,
		DRAMBytesPerSecond: 2039e9, FP32FLOPs: 51e12, FP16FLOPs: 102e12, FP64FLOPs: 26e12, TensorFLOPs: 756e12,
		Sources: []string{"NVIDIA H100 datasheet, PCIe: 51 TFLOP/s FP32, 1,513 tensor with sparsity (756 dense), 2 TB/s (2,039 GB/s)"},
		ModelHz: 1.755e9, L1Bytes: 256 << 10, L2Bytes: 50 << 20, DRAMReach: .92, DRAMCopyReach: .83, L2BytesPerSecond: 6400e9,
		L1Latency: 40, L2Latency: 275, DRAMLatency: 650, SharedLatency: 29, TensorMACsPerSMCycle: 2048 * .63, LSUCycles: 1, LaunchSeconds: 2e-6,
	},
	{
		Name: "h200", Model: "H200 SXM5 141 GB", Major: 9, Minor: 0, SMs: 132, BoostHz: 1.98e9, MemoryBytes: 141e9,
		DRAMBytesPerSecond: 4800e9, FP32FLOPs: 67e12, FP16FLOPs: 134e12, FP64FLOPs: 34e12, TensorFLOPs: 989e12,
		Sources: []string{"NVIDIA H200 datasheet, SXM: 67 TFLOP/s FP32, 1,979 tensor with sparsity (989 dense), 4.8 TB/s"},
		ModelHz: 1.755e9, L1Bytes: 256 << 10, L2Bytes: 50 << 20, DRAMReach: .92, DRAMCopyReach: .83, L2BytesPerSecond: 7400e9,
		L1Latency: 40, L2Latency: 275, DRAMLatency: 650, SharedLatency: 29, TensorMACsPerSMCycle: 2048 * .63, LSUCycles: 1, LaunchSeconds: 2e-6,
	},
	{
		Name: "b200", Model: "B200 (HGX) 180 GB", Major: 10, Minor: 0, SMs: 148, BoostHz: 1.98e9, MemoryBytes: 180e9,
		DRAMBytesPerSecond: 7700e9, FP32FLOPs: 75e12, FP16FLOPs: 150e12, FP64FLOPs: 37e12, TensorFLOPs: 2250e12,
		Sources: []string{"NVIDIA Blackwell datasheet, HGX B200: 75 TFLOP/s FP32, 4.5 PFLOP/s tensor with sparsity (2.25 dense), 7.7 TB/s"},
		ModelHz: 1.855e9, L1Bytes: 256 << 10, L2Bytes: 126 << 20, DRAMReach: .88, DRAMCopyReach: .79, L2BytesPerSecond: 21200e9,
		L1Latency: 40, L2Latency: 300, DRAMLatency: 850, SharedLatency: 29, TensorMACsPerSMCycle: 4096 * .63, LSUCycles: 1, LaunchSeconds: 2e-6,
	},
}

// DefaultProfile is the one that `virtual` without a name stands for.
const DefaultProfile = "h200"

// Profiles returns a copy of every profile, in the order of the table.
func Profiles() []*Profile {
	out := make([]*Profile, len(profileRows))
	for i := range profileRows {
		p := profileRows[i]
		out[i] = &p
	}
	return out
}

// ProfileNames lists the names that ProfileByName knows.
func ProfileNames() []string {
	out := make([]string, len(profileRows))
	for i := range profileRows {
		out[i] = profileRows[i].Name
	}
	return out
}

// ProfileByName returns a copy of a profile; the empty name is the default. The error lists the names that there are.
func ProfileByName(name string) (*Profile, error) {
	if name == "" {
		name = DefaultProfile
	}
	for i := range profileRows {
		if strings.EqualFold(profileRows[i].Name, name) {
			p := profileRows[i]
			return &p, nil
		}
	}
	return nil, fmt.Errorf("no device profile named %q\nuse one of %s", name, strings.Join(ProfileNames(), ", "))
}

// ComputeCapability is "9.0".
func (p *Profile) ComputeCapability() string { return fmt.Sprintf("%d.%d", p.Major, p.Minor) }

// Limits of the profile's compute capability; an unknown one gets those of the nearest known one below it, so that a card
// on a GPU newer than this table still has an occupancy, labelled with the capability that was used.
func (p *Profile) Limits() *Limits {
	best := &limitRows[0]
	for i := range limitRows {
		l := &limitRows[i]
		if l.Major*100+l.Minor <= p.Major*100+p.Minor && l.Major*100+l.Minor >= best.Major*100+best.Minor {
			best = l
		}
	}
	return best
}

// Check tells what is missing or contradictory in a profile: a row that is wrong would draw a wrong roof.
func (p *Profile) Check() error {
	for _, f := range []struct {
		name string
		v    float64
	}{
		{"SMs", float64(p.SMs)}, {"BoostHz", p.BoostHz}, {"MemoryBytes", float64(p.MemoryBytes)},
		{"DRAMBytesPerSecond", p.DRAMBytesPerSecond}, {"FP32FLOPs", p.FP32FLOPs}, {"FP16FLOPs", p.FP16FLOPs},
		{"FP64FLOPs", p.FP64FLOPs}, {"TensorFLOPs", p.TensorFLOPs}, {"ModelHz", p.ModelHz}, {"L1Bytes", float64(p.L1Bytes)},
		{"L2Bytes", float64(p.L2Bytes)}, {"DRAMReach", p.DRAMReach}, {"DRAMCopyReach", p.DRAMCopyReach}, {"L2BytesPerSecond", p.L2BytesPerSecond},
		{"L1Latency", p.L1Latency}, {"L2Latency", p.L2Latency}, {"DRAMLatency", p.DRAMLatency},
		{"SharedLatency", p.SharedLatency}, {"TensorMACsPerSMCycle", p.TensorMACsPerSMCycle},
		{"LSUCycles", p.LSUCycles}, {"LaunchSeconds", p.LaunchSeconds},
	} {
		if !(f.v > 0) || math.IsInf(f.v, 0) {
			return fmt.Errorf("profile %q: %s is %v, must be above zero", p.Name, f.name, f.v)
		}
	}
	if len(p.Sources) == 0 {
		return fmt.Errorf("profile %q: names no source", p.Name)
	}
	if p.DRAMReach > 1 {
		return fmt.Errorf("profile %q: DRAMReach is %v, must be at most 1", p.Name, p.DRAMReach)
	}
	if p.DRAMCopyReach > 1 {
		return fmt.Errorf("profile %q: DRAMCopyReach is %v, must be at most 1", p.Name, p.DRAMCopyReach)
	}
	_, err := LimitsOf(p.Major, p.Minor)
	return err
}

// Reach is the share of the datasheet's DRAM bandwidth that traffic reaches of which so much, 0 to 1, is writes: turning
// between reads and writes takes time.
func (p *Profile) Reach(written float64) float64 {
	return p.DRAMReach - (p.DRAMReach-p.DRAMCopyReach)*min(2*max(written, 0), 1)
}
