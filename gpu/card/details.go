package card

import (
	"strconv"
	"strings"

	"memwall/gpu/perf"
)

// detail is one row of the folded table. Rows of a higher priority number are dropped first when a card is too large.
type detail struct {
	html     string
	priority int
}

// rowWriter makes the rows of a details table: name, value, a bar, the source.
type rowWriter struct {
	rows  []detail
	whole float64 // bytes that a full bar stands for
}

// add appends a row; share is that of the bar, 0 for none.
func (w *rowWriter) add(priority int, name, value string, share float64, colour string, tags ...perf.Tag) {
	var p page
	p.b = make([]byte, 0, 220)
	p.raw(rowOpen, leftCell)
	p.text(name)
	p.raw("</td><td>")
	p.italic(value, len(tags) == 1 && tags[0] == perf.Modelled)
	p.raw("</td><td>")
	if share > 0 {
		p.raw(bar(share, colour))
	}
	p.raw("</td><td>")
	for i, t := range tags {
		if i > 0 {
			p.raw(", ")
		}
		p.raw(string(t))
	}
	p.raw("</td></tr>")
	w.rows = append(w.rows, detail{string(p.b), priority})
}

func (w *rowWriter) bytes(priority int, name string, v float64, tag perf.Tag, colour string) {
	share := 0.0
	if w.whole > 0 {
		share = v / w.whole
	}
	w.add(priority, name, perf.Format(v, "B"), share, colour, tag)
}

// rows is the table twin of everything that the card shows, with a tag a row.
func (c *launchCard) rows() []detail {
	l, w := c.l, &rowWriter{rows: make([]detail, 0, 20)}
	if l.Duration.Known() {
		w.add(0, "time", l.Duration.Number(), 0, "", l.Duration.Tag)
	}
	c.memoryPath(w)
	if l.Requests.Known() && l.Requests.Value > 0 {
		w.add(3, "sectors a request", perf.Trimmed(l.Sectors.Value/l.Requests.Value)+", ideal "+perf.Trimmed(l.IdealSectors.Value/l.Requests.Value), 0, "", l.Requests.Tag)
		if line := c.advice.Line; line != nil && line.Global.Requests > 0 {
			n := float64(line.Global.Requests)
			w.add(1, "at "+clean(line.Where(), 24), perf.Trimmed(float64(line.Global.Sectors)/n)+", ideal "+perf.Trimmed(float64(line.Global.IdealSectors)/n), 0, "", l.Requests.Tag)
		}
		if excess := c.excess * l.Sectors.Value; c.excess > 0 {
			w.add(6, "excessive sectors", perf.FormatCount(excess)+", "+perf.WholePercent(100*c.excess), 0, "", l.Sectors.Tag)
		}
	}
	if l.TotalFLOPs.Known() {
		w.add(4, "FLOP, most "+l.Pipe().String(), strings.TrimSuffix(perf.Format(l.TotalFLOPs.Value, "FLOP"), "FLOP"), 0, "", l.TotalFLOPs.Tag)
	}
	if l.Intensity.Known() {
		w.add(1, "FLOP/B, ridge", strings.TrimSuffix(l.Intensity.Number(), " FLOP/B")+", "+wholeNumber(l.Ridge.Value), 0, "", l.Intensity.Tag, l.Ridge.Tag)
	}
	if l.Occupancy.Known() {
		w.add(2, "occupancy", l.Occupancy.Number()+": "+strconv.Itoa(l.Occupancy.CTAsPerSM)+" CTAs an SM, "+strings.ReplaceAll(l.RegistersPerThread.Number(), " ", "")+" registers", 0, "", l.Occupancy.Tag)
	}
	if len(l.Bounds) > 0 {
		w.add(1, "bounds", boundList(l.Bounds), 0, "", perf.Modelled)
	}
	if l.Profile != nil {
		roof := l.Profile.Roof(l.Pipe())
		w.add(2, "roofs", perf.Format(l.Profile.DRAMBytesPerSecond, "B/s")+", "+perf.Format(roof.FLOPs, "FLOP/s")+" "+roof.Name, 0, "", perf.Datasheet)
	}
	if c.advice.Text != "" {
		w.add(5, "advice", c.advice.Rule, 0, "", c.advice.Tags...)
	}
	if l.BankConflicts.Known() && l.BankConflicts.Value > 0 {
		w.add(7, "bank conflicts", perf.FormatCount(l.BankConflicts.Value)+" of "+perf.FormatCount(l.SharedWavefronts.Value)+" wavefronts", 0, "", l.BankConflicts.Tag)
	}
	if l.Waves.Known() {
		w.add(8, "waves", perf.Trimmed(l.Waves.Value), 0, "", l.Waves.Tag)
	}
	if l.DivergentBranches.Known() && l.DivergentBranches.Value > 0 {
		w.add(9, "divergent branches", perf.FormatCount(l.DivergentBranches.Value), 0, "", l.DivergentBranches.Tag)
	}
	return w.rows
}

// memoryPath is kernel → L1 → L2 → DRAM in bytes, then the least that any cache and any kernel could move.
func (c *launchCard) memoryPath(w *rowWriter) {
	l := c.l
	if l.Counted {
		asked := float64(l.Counts.GlobalLoad.Bytes+l.Counts.GlobalStore.Bytes+l.Counts.GlobalAtomic.Bytes) * l.Scale()
		w.whole = max(asked, l.L2Bytes.Value, l.DRAMBytes.Value, l.IdealBytes.Value, l.MinBytes.Value)
		if l.Sectors.Value*32 > w.whole && c.wasteful() {
			w.whole = l.Sectors.Value * 32
		}
		w.bytes(3, "asked by threads", asked, perf.Executed, colourBytes)
		if c.wasteful() {
			w.bytes(1, "moved in sectors", l.Sectors.Value*32, l.Sectors.Tag, colourBytes)
			w.bytes(1, "needed", l.Sectors.Value*32*(1-c.excess), l.Sectors.Tag, colourGrey)
		}
	} else {
		w.whole = l.IdealBytes.Value
	}
	if l.L2Bytes.Known() {
		w.bytes(4, "missed L1", l.L2Bytes.Value, l.L2Bytes.Tag, colourBytes)
	}
	if l.DRAMBytes.Known() {
		w.bytes(1, "missed L2 = DRAM", l.DRAMBytes.Value, l.DRAMBytes.Tag, colourBytes)
	}
	if l.MinBytes.Known() && l.MinBytes.Tag == perf.Executed {
		w.bytes(2, "distinct sectors", l.MinBytes.Value, l.MinBytes.Tag, colourGrey)
	}
	if l.IdealBytes.Known() && l.IdealBytes.Tag == perf.Formula {
		w.bytes(2, "must move", l.IdealBytes.Value, l.IdealBytes.Tag, colourGrey)
	}
}

// boundList names the three largest bounds: "DRAM 7.00 µs, L2 2.41 µs, launch 2.00 µs".
func boundList(bounds []perf.Bound) string {
	s := ""
	for i, b := range bounds {
		if i == 3 {
			break
		}
		if i > 0 {
			s += ", "
		}
		s += b.Resource + " " + perf.Format(b.Seconds, "s")
	}
	return s
}
