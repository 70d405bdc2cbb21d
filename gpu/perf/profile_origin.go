package perf

import "strings"

// Origin is where the figures of a profile come from that a user's file describes; nil for the profiles of the table.
type Origin struct {
	File  string          // base name
	Like  string          // the profile of the table whose figures hold where the file gives none; "" where it gives all
	Given map[string]bool // keys that the file gives
	base  []string        // sources of Like
}

// TagOf is the tag of figures by their keys: DATASHEET where the table or the file gives all of them, MODELLED where one is
// taken over from another GPU.
func (p *Profile) TagOf(keys ...string) Tag {
	for _, k := range keys {
		if p.Origin != nil && !p.Origin.Given[k] {
			return Modelled
		}
	}
	return Datasheet
}

// SourceOf says where a figure comes from, by its key: "h20.json: vendor's data sheet", or "that of h100, which h20.json is like".
func (p *Profile) SourceOf(key string) string {
	first := ""
	if len(p.Sources) > 0 {
		first = p.Sources[0]
	}
	switch o := p.Origin; {
	case o == nil:
		return first
	case o.Given[key]:
		return o.File + ": " + first
	default:
		return "that of " + o.Like + ", which " + o.File + " is like"
	}
}

// Inherited lists the keys of the figures that another profile gave, in the order of ProfileKeys.
func (p *Profile) Inherited() (keys []string) {
	if p.Origin == nil {
		return nil
	}
	for _, k := range ProfileKeys() {
		if !p.Origin.Given[k] && k != "like" && k != "model" && k != "sources" {
			keys = append(keys, k)
		}
	}
	return keys
}

// AllSources are the sources of a profile's figures: of a user's file those that it names, then what another profile gave.
func (p *Profile) AllSources() []string {
	if p.Origin == nil {
		return p.Sources
	}
	out := []string{p.Origin.File + ": " + strings.Join(p.Sources, "; ")}
	if keys := p.Inherited(); len(keys) > 0 {
		out = append(out, "not in the file, as "+p.Origin.Like+" has them (MODELLED): "+strings.Join(keys, ", ")+"; of "+p.Origin.Like+": "+strings.Join(p.Origin.base, "; "))
	}
	return out
}

// Keys of the figures that cards and lists of devices show.
const (
	keyDRAM   = "dram_bytes_per_second"
	keyFP32   = "fp32_flops"
	keyFP16   = "fp16_flops"
	keyFP64   = "fp64_flops"
	keyTensor = "tensor_flops"
)

// RoofTag is the tag of the roofs that a launch is drawn under: that of its pipe and DRAM's.
func (p *Profile) RoofTag(t FLOPType) Tag { return p.TagOf(keyDRAM, roofKey(t)) }

func roofKey(t FLOPType) string {
	switch t {
	case FLOPTensor:
		return keyTensor
	case FLOPF16:
		return keyFP16
	case FLOPF64:
		return keyFP64
	}
	return keyFP32
}
