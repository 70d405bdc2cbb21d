package driver

import (
	"fmt"
	"strings"
)

// FindingKind is what a sanitized launch found.
type FindingKind string

const (
	FoundOutOfBounds   FindingKind = "out of bounds"            // outside every allocation, or outside the CTA's shared memory or the lane's frame
	FoundOutsideTensor FindingKind = "outside its tensor"       // inside an allocation, and not in the tensor that the pointer was given for
	FoundAfterFree     FindingKind = "use after free"           // in an allocation that was freed
	FoundMisaligned    FindingKind = "misaligned address"       // no multiple of the access's width
	FoundUninitialised FindingKind = "uninitialised read"       // of bytes that nothing wrote
	FoundRace          FindingKind = "race"                     // two lanes, at least one writes, and no order between them
	FoundBarrier       FindingKind = "barrier under divergence" // some threads do not come to a barrier that asks for all
	FoundNotArrived    FindingKind = "used before its wait"     // data of an asynchronous copy that nobody has waited for
	FoundProxy         FindingKind = "missing proxy fence"      // written by ordinary instructions and read by a bulk copy or wgmma without fence.proxy.async
	FoundMbarrier      FindingKind = "mbarrier misuse"
	FoundStopped       FindingKind = "launch stopped" // trap, deadlock, assertion: Detail says which
	FoundLeak          FindingKind = "leaked allocation"
	FoundFree          FindingKind = "invalid free"
	FoundOrder         FindingKind = "result depends on the order of warps"
)

// Party is one of the accesses that a finding is about.
type Party struct {
	What        string    `json:"what"`                  // "read", "write", "atomic", "copy", "barrier"
	Instruction string    `json:"instruction,omitempty"` // "ld.shared.f32"
	PTXLine     int       `json:"ptx_line,omitempty"`
	File        string    `json:"file,omitempty"` // CUDA C++ source by .loc, "" where unknown
	SourceLine  int       `json:"line,omitempty"`
	SourceText  string    `json:"source,omitempty"`
	CTA         [3]uint32 `json:"cta"`
	Warp        int       `json:"warp"`
	Lane        int       `json:"lane"`
	Thread      [3]uint32 `json:"thread"` // in its CTA
}

// Finding is something wrong in a sanitized launch, told once for a pair of source lines, with the first time that it was
// seen. As JSON it is what `memwall exec --json --sanitize` prints, with the keys of gpu.Finding.
type Finding struct {
	Kind     FindingKind `json:"kind"`
	Function string      `json:"kernel"`
	Space    string      `json:"space,omitempty"`   // "global", "shared", "local"; "" where there is no address
	Address  uint64      `json:"address,omitempty"` // in shared and local memory an offset
	Bytes    int         `json:"bytes,omitempty"`   // width of the access
	Where    string      `json:"where,omitempty"`   // allocation, tensor or variable: "tile + 4", "4 B past the end of allocation 0x… of 64 B"
	First    Party       `json:"first"`             // the access at which it was found
	Second   *Party      `json:"second,omitempty"`  // the other party of a race
	Count    uint64      `json:"count"`             // how often it was seen; of a race its hazards, in bytes, as racecheck counts them
	Detail   string      `json:"detail,omitempty"`
	Advice   string      `json:"advice,omitempty"`
}

// Headline is "reduce: race in shared memory between a read and a write, 508 hazards".
func (f *Finding) Headline() string {
	text := string(f.Kind)
	if f.Function != "" {
		text = f.Function + ": " + text
	}
	if f.Space != "" {
		text += " in " + f.Space + " memory"
	}
	switch {
	case f.Kind == FoundRace && f.Second != nil:
		text += fmt.Sprintf(" between %s and %s, %s", article(f.First.What), article(f.Second.What), counted(f.Count, "hazard"))
	case f.Kind == FoundOrder:
		text += ": " + counted(f.Count, "word") + " of 4 B"
	case f.Count > 1:
		text += ", " + counted(f.Count, "time")
	}
	return text
}

func article(what string) string {
	if what == "atomic" {
		return "an " + what
	}
	return "a " + what
}

// counted is "1 hazard", "508 hazards".
func counted(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits + " " + what + "s"
}

// String is the finding as text: headline, parties, address and advice.
func (f *Finding) String() string {
	lines := []string{f.Headline()}
	if f.First.Instruction != "" {
		lines = append(lines, "  "+f.First.String())
	}
	if f.Second != nil {
		lines = append(lines, "  "+f.Second.String())
	}
	if f.Space != "" {
		at := fmt.Sprintf("  address 0x%x", f.Address)
		if f.Where != "" {
			at += ", " + f.Where
		}
		lines = append(lines, at)
	} else if f.Where != "" {
		lines = append(lines, "  "+f.Where)
	}
	if f.Detail != "" {
		lines = append(lines, "  "+f.Detail)
	}
	if f.Advice != "" {
		lines = append(lines, "  → "+f.Advice)
	}
	return strings.Join(lines, "\n")
}

// String is "read by CTA (0,0,0) warp 0 lane 0: ld.shared.f32, sum.cu:9: total += tile[i];".
func (p *Party) String() string {
	text := fmt.Sprintf("%s by CTA (%d,%d,%d) warp %d lane %d: %s", p.What, p.CTA[0], p.CTA[1], p.CTA[2], p.Warp, p.Lane, p.Instruction)
	from := (&Fault{File: p.File, SourceLine: p.SourceLine, SourceText: p.SourceText}).From()
	if from == "" {
		from = fmt.Sprintf("PTX line %d", p.PTXLine)
	}
	return text + ", " + from
}

// Extent is a tensor or buffer among a launch's arguments.
type Extent struct {
	Param int // whose value is Base
	Base  Address
	Bytes int64
	Name  string // "tensor f32 [64, 64]"
}
