package perf

// Tag names where a number comes from; every number shown to a user carries one.
type Tag string

const (
	Measured  Tag = "MEASURED"  // events or the host's clock on a real GPU
	Counter   Tag = "COUNTER"   // a hardware counter
	Executed  Tag = "EXECUTED"  // counted by the virtual GPU while it ran the PTX: exact
	Modelled  Tag = "MODELLED"  // time, cache and DRAM figures of the virtual GPU
	Datasheet Tag = "DATASHEET" // published by the vendor
	Formula   Tag = "FORMULA"   // a closed form over shapes
)

// Figure is one number with its unit and its source. A figure that a device cannot give has an empty Tag and says Why.
type Figure struct {
	Value  float64
	Low    float64 // with High: the range of a MODELLED time; both zero where there is none
	High   float64
	Unit   string // "s", "B", "FLOP", "FLOP/B", "%", "" for plain counts
	Tag    Tag
	Source string // one phrase: which counter, which formula, which datasheet
	Why    string // why the figure is absent
}

// Known reports whether the figure has a value.
func (f Figure) Known() bool { return f.Tag != "" }

// Absent is a figure that this device cannot give, with the reason.
func Absent(unit, why string) Figure { return Figure{Unit: unit, Why: why} }
