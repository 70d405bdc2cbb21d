package card

import (
	"strconv"
	"strings"

	"memwall/gpu/perf"
)

// detail is one row of the folded table, a part of the writer's bytes. Rows of a higher priority number are dropped first when
// a card is too large.
type detail struct {
	start, end int
	priority   int
	dropped    bool
}

// rowWriter makes the rows of a details table: name, value, source. Bars would cost half of a row's bytes, and a card is to
// keep all of its rows.
type rowWriter struct {
	page
	rows []detail
}

func (w *rowWriter) add(priority int, name, value string, tags ...perf.Tag) {
	start := len(w.b)
	w.raw("<tr>", leftCell)
	w.text(name)
	w.raw("<td>")
	w.italic(value, len(tags) == 1 && tags[0] == perf.Modelled)
	w.raw("<td>")
	for i, t := range tags {
		if i > 0 {
			w.raw(", ")
		}
		w.raw(string(t))
	}
	w.rows = append(w.rows, detail{start: start, end: len(w.b), priority: priority})
}

// Priorities of details rows: first the numbers that the card shows above, then the memory path, then the rest.
const (
	shownAbove = iota
	memoryPath
	explains
	extra
)

// rows is the table twin of everything that the card shows, with a tag a row.
func (c *launchCard) rows() *rowWriter {
	l, w := c.l, &rowWriter{page: page{b: make([]byte, 0, 1800)}, rows: make([]detail, 0, 20)}
	if l.Duration.Known() {
		w.add(shownAbove, "time", l.Duration.Number(), l.Duration.Tag)
	}
	if l.Duration.Tag == perf.Measured && l.Predicted.Known() {
		w.add(shownAbove, "predicted", l.Predicted.Number(), l.Predicted.Tag)
	}
	if f, ok := c.rate(); ok && l.Duration.Tag == perf.Measured {
		w.add(shownAbove, "rate", f.value+", "+perf.WholePercent(100*c.verdict.Share)+" of the roof", perf.Measured)
	}
	if len(l.Bounds) > 0 {
		w.add(shownAbove, "bounds", boundList(l.Bounds), perf.Modelled)
	}
	if why := l.BoundsAlone(); why != "" {
		w.add(shownAbove, "by bounds alone", why, perf.Modelled)
	}
	if waits := l.Waits(3); waits != "" {
		w.add(explains, "schedulers wait for", waits, perf.Modelled)
	}
	c.memoryRows(w)
	c.workRow(w)
	if useful := l.Useful(); useful.Tag == perf.Formula && l.TotalFLOPs.Tag == perf.Executed && l.TotalFLOPs.Value > 1.01*useful.Value {
		w.add(explains, "FLOP asked for", flopCount(useful), useful.Tag)
	}
	if l.Intensity.Known() {
		w.add(shownAbove, "FLOP/B, ridge", strings.TrimSuffix(l.Intensity.Number(), " FLOP/B")+", "+wholeNumber(l.Ridge.Value), l.Intensity.Tag, l.Ridge.Tag)
	}
	if l.Occupancy.Known() {
		w.add(shownAbove, "occupancy", l.Occupancy.Number()+": "+strconv.Itoa(l.Occupancy.CTAsPerSM)+" CTAs an SM, "+l.RegistersPerThread.Number()+" registers", l.Occupancy.Tag)
	}
	if l.Profile != nil {
		roof := l.Profile.Roof(l.Pipe())
		w.add(shownAbove, "roofs", perf.Format(l.Profile.DRAMBytesPerSecond, "B/s")+", "+perf.Format(roof.FLOPs, "FLOP/s")+" "+roof.Name, l.Profile.RoofTag(l.Pipe()))
	}
	if l.BankConflicts.Known() && l.BankConflicts.Value > 0 {
		w.add(explains, "bank conflicts", perf.FormatCount(l.BankConflicts.Value)+" of "+perf.FormatCount(l.SharedWavefronts.Value)+" wavefronts", l.BankConflicts.Tag)
	}
	if c.advice.Text != "" {
		w.add(extra, "advice", c.advice.Rule, c.advice.Tags...)
	}
	if l.Waves.Known() {
		w.add(extra, "waves", perf.Trimmed(l.Waves.Value), l.Waves.Tag)
	}
	if l.DivergentBranches.Known() && l.DivergentBranches.Value > 0 {
		w.add(extra, "divergent branches", perf.FormatCount(l.DivergentBranches.Value), l.DivergentBranches.Tag)
	}
	return w
}

// workRow is FLOPs and sectors a request, one row because both are EXECUTED.
func (c *launchCard) workRow(w *rowWriter) {
	l := c.l
	if !l.TotalFLOPs.Known() {
		return
	}
	name, value := "FLOP", flopCount(l.TotalFLOPs)
	if l.TotalFLOPs.Value > 0 {
		value += " " + l.Pipe().String()
	}
	w.add(explains, name, value, l.TotalFLOPs.Tag)
	if l.Requests.Known() && l.Requests.Value > 0 && !c.wasteful() {
		w.add(explains, "sectors a request", perf.Trimmed(l.Sectors.Value/l.Requests.Value)+" (ideal "+perf.Trimmed(l.IdealSectors.Value/l.Requests.Value)+")", l.Requests.Tag)
	}
}

func flopCount(f perf.Figure) string {
	return strings.TrimSpace(strings.TrimSuffix(perf.Format(f.Value, "FLOP"), "FLOP"))
}

// memoryRows is kernel → L1 → L2 → DRAM in bytes, then the least that any cache and any kernel could move.
func (c *launchCard) memoryRows(w *rowWriter) {
	l := c.l
	bytes := func(priority int, name string, f perf.Figure) {
		if f.Known() {
			w.add(priority, name, f.Number(), f.Tag)
		}
	}
	if l.Counted {
		asked := float64(l.Counts.GlobalLoad.Bytes+l.Counts.GlobalStore.Bytes+l.Counts.GlobalAtomic.Bytes) * l.Scale()
		w.add(memoryPath, "asked by threads", perf.Format(asked, "B"), perf.Executed)
	}
	if c.wasteful() {
		w.add(shownAbove, "excessive sectors", perf.FormatCount(c.excess*l.Sectors.Value)+" of "+perf.FormatCount(l.Sectors.Value)+", "+perf.WholePercent(100*c.excess), l.Sectors.Tag)
		sectors, ideal, at := c.worstRequest()
		w.add(shownAbove, "sectors a request"+at, perf.Trimmed(sectors)+", ideal "+perf.Trimmed(ideal), l.Requests.Tag)
	}
	bytes(memoryPath, "missed L1", l.L2Bytes)
	if l.DRAMBytes.Known() {
		value := l.DRAMBytes.Number() + refetchText(l)
		w.add(shownAbove, "missed L2 = DRAM", value, l.DRAMBytes.Tag)
	}
	distinct := l.MinBytes.Known() && l.MinBytes.Tag == perf.Executed
	switch formula := l.IdealBytes.Tag == perf.Formula; {
	case distinct && !formula && l.IdealBytes.Value < l.MinBytes.Value:
		w.add(memoryPath, "ideal, distinct sectors", l.IdealBytes.Number()+", "+l.MinBytes.Number(), l.MinBytes.Tag)
	case distinct && formula:
		w.add(memoryPath, "must move, distinct", l.IdealBytes.Number()+", "+l.MinBytes.Number(), perf.Formula, perf.Executed)
	case distinct:
		bytes(memoryPath, "distinct sectors", l.MinBytes)
	case formula:
		bytes(memoryPath, "must move", l.IdealBytes)
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
