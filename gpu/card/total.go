package card

import (
	"strconv"
	"strings"

	"memwall/gpu/perf"
)

// tableRows is the most rows with bar and glyph that a card shows; the rest are counted.
const tableRows = 6

// Total is the card of launches added up by perf.Aggregate: the busy bar, figures and a table by CUDA kernel.
func Total(t *perf.Total) Card {
	if t == nil || t.Launches == 0 {
		return Card{}
	}
	v := t.Verdict()
	c := &totalCard{t: t, verdict: v, look: looks[v.Tone]}
	rows := min(len(t.Groups), tableRows)
	html := c.html(rows)
	for len(html) > MaxBytes && rows > 1 {
		rows--
		html = c.html(rows)
	}
	return Card{HTML: html, Text: c.text()}
}

type totalCard struct {
	t       *perf.Total
	verdict perf.Verdict
	look    look
}

// othersText says how many rows a table leaves out.
func othersText(n int) string {
	if n == 1 {
		return "1 other"
	}
	return strconv.Itoa(n) + " others"
}

func (c *totalCard) what() string {
	n, k := c.t.Launches, len(c.t.Groups)
	if k == 1 {
		return perf.FormatCount(float64(n)) + " launches of " + clean(c.t.Groups[0].Kernel, 40)
	}
	return perf.FormatCount(float64(n)) + " launches of " + strconv.Itoa(k) + " CUDA kernels"
}

func (c *totalCard) tags() []perf.Tag {
	var out []perf.Tag
	seen := map[perf.Tag]bool{"": true}
	for _, f := range []perf.Figure{c.t.Wall, c.t.FLOPs, c.t.Duration, c.t.DRAMBytes} {
		if !seen[f.Tag] {
			seen[f.Tag] = true
			out = append(out, f.Tag)
		}
	}
	return out
}

func (c *totalCard) notes() []string {
	var out []string
	if c.t.Sampled > 1 {
		out = append(out, "sampled 1 of "+strconv.Itoa(c.t.Sampled)+" CTAs")
	}
	if c.t.Warm > 0 {
		out = append(out, perf.FormatCount(float64(c.t.Warm))+" with a warm L2")
	}
	return out
}

func (c *totalCard) html(rows int) string {
	t := c.t
	var p page
	p.b = make([]byte, 0, MaxBytes)
	p.open(c.look.colour)
	p.headline(c.look, c.verdict.Headline)
	p.raw(`<div style="font-size:12px;opacity:.8">`)
	p.text(c.what() + " · " + deviceName(t.Device, t.Virtual, t.Profile) + " ·")
	for _, tag := range c.tags() {
		p.raw(" ")
		p.tagBox(tag)
	}
	for _, n := range c.notes() {
		p.raw(" · ")
		p.text(n)
	}
	p.raw("</div>")
	c.busyBar(&p)
	p.figures(c.figures())
	p.advice(c.advice())
	p.raw(tableOpen, "<thead>", rowOpen, leftHead, "CUDA kernel</th><th>launches</th><th>time</th><th>of busy</th><th width=110></th>", leftHead, "limit</th></tr></thead><tbody>")
	for i := range t.Groups[:rows] {
		c.row(&p, &t.Groups[i])
	}
	if others := len(t.Groups) - rows; others > 0 {
		n, share := 0, 0.0
		for _, g := range t.Groups[rows:] {
			n += g.Launches
			share += g.Share
		}
		p.raw(rowOpen, leftCell, othersText(others), "</td><td>", perf.FormatCount(float64(n)), "</td><td></td><td>", perf.WholePercent(100*share), "</td><td></td><td></td></tr>")
	}
	p.raw("</tbody></table>")
	p.close()
	return p.String()
}

// busyBar shows the busiest kernel solid, the others pale and, where the cell was timed as a whole, the waiting empty. Bars
// made of MODELLED times are hatched.
func (c *totalCard) busyBar(p *page) {
	t := c.t
	if !(t.Duration.Value > 0) {
		return
	}
	whole := t.Duration.Value
	if t.Wall.Known() && t.Wall.Value > whole {
		whole = t.Wall.Value
	}
	first, busy := t.Groups[0].Duration.Value/whole, t.Duration.Value/whole
	name := clean(t.Groups[0].Kernel, 32)
	b := make([]byte, 0, 420)
	b = append(b, svgOpen+`0 -4 600 14" preserveAspectRatio="none">`...)
	modelled := t.Duration.Tag == perf.Modelled
	if modelled {
		b = append(b, `<path stroke="`+c.look.colour+`" stroke-width="10" stroke-dasharray="3" d="M0 5H`...)
		b = num(b, gaugeX(first))
		b = append(b, `"/>`...)
	} else {
		b = append(b, `<path fill="`+c.look.colour+`" d="M0 0h`...)
		b = num(b, gaugeX(first))
		b = append(b, `v10H0z"/>`...)
	}
	b = append(b, `<path fill="`+c.look.colour+`" fill-opacity=".35" d="M`...)
	b = num(b, gaugeX(first)+1)
	b = append(b, ` 0H`...)
	b = num(b, max(gaugeX(busy), gaugeX(first)+1))
	b = append(b, `v10H`...)
	b = num(b, gaugeX(first)+1)
	b = append(b, `z"/>`...)
	caption := "solid: " + name
	if modelled {
		caption = "italic, hatched: " + name + ", MODELLED"
	}
	if len(t.Groups) > 1 {
		caption += " · pale: other CUDA kernels"
	}
	if busy < 0.995 {
		b = append(b, `<path fill="none" stroke="`+colourWaiting+`" d="M`...)
		b = num(b, gaugeX(busy)+1.5)
		b = append(b, ` .5H599.5v9H`...)
		b = num(b, gaugeX(busy)+1.5)
		b = append(b, `z"/>`...)
		caption += " · empty: the GPU waits"
	}
	b = append(b, `</svg>`...)
	p.image(b, name+" takes "+perf.WholePercent(100*first)+" of the time", 600, 14, true)
	p.caption(caption)
}

func (c *totalCard) figures() []figure {
	t := c.t
	modelled := func(f perf.Figure) bool { return f.Tag == perf.Modelled }
	out := []figure{}
	if t.Wall.Known() {
		out = append(out, figure{t.Wall.Number(), "the whole step", modelled(t.Wall)},
			figure{t.Duration.Number(), "GPU busy: " + perf.WholePercent(100*t.Duration.Value/t.Wall.Value), modelled(t.Duration)},
			figure{perf.Format(max(0, t.Wall.Value-t.Duration.Value), "s"), "host gaps: " + perf.WholePercent(100*max(0, 1-t.Duration.Value/t.Wall.Value)), modelled(t.Duration)})
	} else {
		out = append(out, figure{t.Duration.Number(), "time, all launches", modelled(t.Duration)})
	}
	if t.DRAMBytes.Known() {
		label := "DRAM"
		if t.Floor.Known() {
			label += ", floor " + perf.Format(t.Floor.Value, "s")
		}
		out = append(out, figure{t.DRAMBytes.Number(), label, modelled(t.DRAMBytes)})
	}
	if t.FLOPs.Known() {
		out = append(out, figure{perf.Format(t.FLOPs.Value, "FLOP"), "all types", modelled(t.FLOPs)})
	}
	if t.Intensity.Known() && len(out) < 5 {
		out = append(out, figure{t.Intensity.Number(), "ridge " + wholeNumber(t.Ridge.Value) + " FLOP/B", modelled(t.Intensity)})
	}
	return out
}

func (c *totalCard) advice() string {
	t := c.t
	if t.Wall.Known() && t.Wall.Value > 0 && t.Launches > 1 {
		if gap := (t.Wall.Value - t.Duration.Value) / float64(t.Launches); gap > 0.2*t.Duration.Value/float64(t.Launches) {
			return perf.Format(gap, "s") + " pass between launches: record the step as a graph, or fuse small CUDA kernels"
		}
	}
	g := &t.Groups[0]
	text := clean(g.Longest.TopAdvice().Text, 240)
	if text == "" || len(t.Groups) == 1 {
		return text
	}
	return clean(g.Kernel, 32) + " takes most: " + lowerFirst(text)
}

func (c *totalCard) row(p *page, g *perf.Group) {
	v := g.Longest.Verdict()
	lk := looks[v.Tone]
	p.raw(rowOpen, leftCell, "<tt>")
	p.text(clean(g.Kernel, 28))
	p.raw("</tt></td><td>", perf.FormatCount(float64(g.Launches)), "</td><td>")
	p.italic(g.Duration.Number(), g.Duration.Tag == perf.Modelled)
	p.raw("</td><td>", perf.WholePercent(100*g.Share), "</td>", leftCell, bar(g.Share, lk.colour), "</td>", leftCell, `<span style="color:`, lk.colour, `">`, lk.glyph, "</span> ")
	p.text(v.Kind)
	p.raw("</td></tr>")
}

func (c *totalCard) text() string {
	var w twin
	t := c.t
	w.headline(c.verdict.Headline)
	parts := []string{c.what() + " on " + deviceName(t.Device, t.Virtual, t.Profile)}
	if t.Duration.Tag == perf.Modelled {
		parts = append(parts, "EXECUTED", "time and DRAM MODELLED")
	} else {
		for _, tag := range c.tags() {
			parts = append(parts, string(tag))
		}
	}
	w.joined(append(parts, c.notes()...), ", ")
	var fs []string
	for _, f := range c.figures() {
		switch {
		case strings.HasPrefix(f.label, "ridge"), strings.HasPrefix(f.label, "DRAM, "):
			fs = append(fs, f.value+", "+strings.TrimPrefix(f.label, "DRAM, "))
		case strings.HasPrefix(f.label, "time"):
			fs = append(fs, f.value)
		case f.label == "all types":
			fs = append(fs, f.value)
		default:
			fs = append(fs, f.value+" "+f.label)
		}
	}
	w.joined(fs, " | ")
	w.advice(c.advice())
	rows := [][]string{{"CUDA kernel", "launches", "time", "of busy", "limit"}}
	for i := range t.Groups {
		if i == tableRows {
			rows = append(rows, []string{othersText(len(t.Groups) - i), "", "", "", ""})
			break
		}
		g := &t.Groups[i]
		rows = append(rows, []string{g.Kernel, perf.FormatCount(float64(g.Launches)), g.Duration.Number(), perf.WholePercent(100 * g.Share), g.Longest.Verdict().Kind})
	}
	w.table(rows, map[int]bool{0: true, 4: true})
	return w.String()
}
