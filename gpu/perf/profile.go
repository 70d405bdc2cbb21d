package perf

// Profile is one GPU as data: roofs from its datasheet (they draw rooflines and ridges), limits from its compute
// capability (they give occupancy), and the parameters of the time model, which are other figures. Rows with their
// sources stand in profiles.go.
type Profile struct {
	Name        string // "h200"
	Model       string // "H200 SXM5 141 GB"
	Major       int    // compute capability
	Minor       int
	SMs         int
	BoostHz     float64 // clock that the datasheet's peaks assume
	MemoryBytes int64

	// Datasheet roofs.
	DRAMBytesPerSecond float64
	FP32FLOPs          float64 // FLOP/s
	FP16FLOPs          float64 // packed, on the CUDA cores
	FP64FLOPs          float64
	TensorFLOPs        float64 // dense f16/bf16 with f32 accumulation, FLOP/s
	Sources            []string
	Origin             *Origin // of a user's profile; nil: a row of the table

	// Caches and the time model (facts/time-model.md).
	ModelHz                                          float64 // clock of the time model
	L1Bytes                                          int     // unified L1 and shared memory an SM
	L2Bytes                                          int
	DRAMReach                                        float64 // share of the datasheet's bandwidth that reads reach
	DRAMCopyReach                                    float64 // and copies, half of whose traffic is writes
	L2BytesPerSecond                                 float64
	L1Latency, L2Latency, DRAMLatency, SharedLatency float64 // cycles
	TensorMACsPerSMCycle                             float64 // what mma.sync reaches
	LSUCycles                                        float64 // that one instruction holds an SM's load/store unit, at least
	LaunchSeconds                                    float64
}
