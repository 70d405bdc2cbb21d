package perf

// Roof is one horizontal line of a roofline.
type Roof struct {
	Name   string  // "tensor", "FP32", "FP16", "FP64"
	FLOPs  float64 // FLOP/s, datasheet
	Source string
	Tag    Tag // DATASHEET; MODELLED where a user's profile has it from another GPU
}

// Roof of the pipe that executes a type of FLOP. Transcendentals have no datasheet roof of their own and count as FP32.
func (p *Profile) Roof(t FLOPType) Roof {
	source, tag := p.SourceOf(roofKey(t)), p.TagOf(roofKey(t))
	switch t {
	case FLOPTensor:
		return Roof{"tensor", p.TensorFLOPs, source, tag}
	case FLOPF16:
		return Roof{"FP16", p.FP16FLOPs, source, tag}
	case FLOPF64:
		return Roof{"FP64", p.FP64FLOPs, source, tag}
	default:
		return Roof{"FP32", p.FP32FLOPs, source, tag}
	}
}

// Ridge is the intensity at which a roof meets the DRAM slope, in FLOP/B: peak FLOP/s ÷ peak B/s, both of the datasheet.
func (p *Profile) Ridge(t FLOPType) float64 { return p.Roof(t).FLOPs / p.DRAMBytesPerSecond }

// Attainable is the roofline: min(roof, intensity × DRAM bandwidth), in FLOP/s.
func (p *Profile) Attainable(t FLOPType, intensity float64) float64 {
	return min(p.Roof(t).FLOPs, intensity*p.DRAMBytesPerSecond)
}
