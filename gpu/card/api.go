package card

import (
	"gonum.org/v1/plot"

	"memwall/gpu/perf"
)

// Launch is the card of one launch.
func Launch(l *perf.Launch) Card { return textOnly(l.Kernel + ": " + l.Duration.Number()) }

// Cell is the card of all launches of a cell: nothing for none, the launch's own card for one, an aggregate for several.
func Cell(launches []*perf.Launch) Card {
	if len(launches) == 0 {
		return Card{}
	}
	return Launch(launches[0])
}

// Total is the card of launches added up by perf.Aggregate.
func Total(t *perf.Total) Card { return textOnly(t.Duration.Number()) }

// Sweep is a plot and a table with the best row marked in words.
func Sweep(s *perf.Sweep) Card { return textOnly(s.Parameter) }

// Roofline shows several launches on one roofline with both ridges.
func Roofline(launches []*perf.Launch) Card { return Cell(launches) }

// Compare is the verdict of an A/B comparison.
func Compare(c *perf.Comparison) Card { return textOnly(c.Verdict) }

// Fault is the card of a launch that stopped.
func Fault(f FaultInfo) Card { return textOnly(f.Kind) }

// Plot shows a gonum plot with the colours and sizes of cards; text is its twin.
func Plot(p *plot.Plot, text string) Card { return textOnly(text) }

// FaultInfo is why and where a launch stopped, in plain fields: the device's own type stays behind its seam.
type FaultInfo struct {
	Kind        string // "out of bounds", "misaligned address" …
	Instruction string // "ld.shared.f32"
	Kernel      string // "transpose/2_tile", or module and function
	Device      string // "virtual:h200"
	Virtual     bool
	CTA         [3]uint32
	CTAs        uint64 // of the grid; 0: unknown
	Warp, Lane  int
	Warps       int // of a CTA; 0: unknown
	Address     uint64
	Space       string // "global", "shared" …
	Bytes       int    // width of the access
	Allocation  string // what lies nearest
	Module      string // "transpose/2_tile.ptx"
	PTXLine     int
	PTXText     string
	File        string // CUDA C++ source, "" where unknown
	Lines       []SourceLine
	SourceLine  int // of File; the line that carets mark
	Detail      string
	Advice      string
}

// SourceLine is one line of source around a fault.
type SourceLine struct {
	Number int
	Text   string
}

func textOnly(s string) Card { return Card{Text: s} }
