package kernels

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"memwall/gpu/perf"
)

// String is the report as tables.
func (r *BenchReport) String() string {
	var parts []string
	if len(r.Ceilings) > 0 {
		parts = append(parts, ceilingTable{r.Device, r.Ceilings}.String())
	}
	for _, g := range r.Groups {
		parts = append(parts, g.String())
	}
	for _, t := range r.Published {
		parts = append(parts, t.String())
	}
	return strings.Join(parts, "\n")
}

// MIMEBundle shows the tables.
func (r *BenchReport) MIMEBundle() map[string]any { return map[string]any{"text/plain": r.String()} }

// String is a table: what the operation costs at least, then a line a step. An arrow marks the step that the ladder's name
// means. What it aims at stands in words.
func (g *BenchGroup) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s on %s: %s, %s FORMULA; %s allows %s DATASHEET\n", strings.TrimSpace(g.Family+" "+g.Types), g.Shape, g.Device,
		perf.Format(g.Bytes, "B"), perf.Format(g.FLOPs, "FLOP"), g.Roof, perf.Format(g.Floor, "s"))
	share := "of the roof"
	for _, l := range g.Lines {
		if l.Time.Tag == perf.Modelled {
			share = "predicted"
		}
	}
	rows := [][]string{{"", "step", "time", "bound", share, "of own ceiling", "aim"}}
	for _, l := range g.Lines {
		rows = append(rows, l.cells(g))
	}
	writeColumns(&b, rows)
	return b.String()
}

// cells are the columns of a step.
func (l *BenchLine) cells(g *BenchGroup) []string {
	mark := ""
	if l.Picked {
		mark = "→"
	}
	if l.Cannot != "" {
		first, _, _ := strings.Cut(l.Cannot, "\n")
		return []string{mark, l.Kernel, "–", first, "", "", ""}
	}
	time := perf.Format(l.Time.Value, "s") + " " + string(l.Time.Tag)
	if l.Time.Tag == perf.Measured { // a modelled rate is never shown as one that was reached
		time += ", " + l.rate(g)
	}
	aim := ""
	if l.Ratio > 0 {
		aim = fmt.Sprintf("%.2f × %s", l.Ratio, l.Base)
	}
	if l.Reached != nil {
		verdict := "reached"
		if !*l.Reached {
			verdict = "missed"
		}
		if aim != "" {
			aim += "; "
		}
		aim += l.Aim + ": " + verdict
	}
	own := ""
	if l.Own > 0 {
		own = perf.FormatPercent(100 * l.Own)
	}
	return []string{mark, l.Kernel, time, l.Bound, perf.FormatPercent(100 * l.Share), own, aim}
}

// rate is what a real GPU reached.
func (l *BenchLine) rate(g *BenchGroup) string {
	if g.Roof == "DRAM" {
		return perf.Format(g.Bytes/l.Time.Value, "B/s")
	}
	return perf.Format(g.FLOPs/l.Time.Value, "FLOP/s")
}

// ceilingTable shows ceilings.
type ceilingTable struct {
	device string
	all    []Ceiling
}

// String is a line a ceiling: what the probe finds, beside the published roof.
func (t ceilingTable) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "what %s does at best\n", t.device)
	rate := "reached"
	if len(t.all) > 0 && t.all[0].Time.Tag == perf.Modelled {
		rate = "predicted"
	}
	rows := [][]string{{"ceiling", "probe", rate, "published roof", "share"}}
	for _, c := range t.all {
		found, roof, share := c.Time, "–", ""
		if c.Rate.Known() {
			found = c.Rate
		}
		if c.Roof.Known() {
			roof, share = perf.Format(c.Roof.Value, c.Roof.Unit)+" "+string(c.Roof.Tag), perf.FormatPercent(100*c.Share)
		}
		rows = append(rows, []string{c.Name, c.Kernel, perf.Format(found.Value, found.Unit) + " " + string(found.Tag), roof, share})
	}
	writeColumns(&b, rows)
	return b.String()
}

// writeColumns aligns columns by the width of their text.
func writeColumns(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		b.WriteString("  " + strings.TrimRight(line, " ") + "\n")
	}
}
