package card

import (
	"strconv"
	"strings"

	"memwall/gpu/perf"
)

// verdictTone is how a comparison's verdict looks.
var verdictTone = map[string]look{
	perf.Faster:  {"●", colourGood},
	perf.Slower:  {"●", colourFault},
	perf.Same:    {"●", colourGrey},
	perf.Unclear: {"○", colourWaiting},
}

// Compare is the verdict of an A/B comparison: B against A.
func Compare(c *perf.Comparison) Card {
	if c == nil {
		return Card{}
	}
	lk := verdictTone[c.Verdict]
	headline := "B is " + c.Verdict + ": " + ratioText(c)
	how := c.Reason
	device := deviceName(c.A.Device, c.A.Virtual, c.A.Profile)
	var p page
	p.b = make([]byte, 0, 2048)
	p.open(lk.colour)
	p.headline(lk, headline)
	p.raw(`<div style="font-size:12px;opacity:.8">`)
	p.text(how + " · " + device + " · ")
	p.tagBox(c.Tag)
	p.raw("</div>")
	p.raw(tableOpen, "<thead>", rowOpen, leftHead, "</th>", leftHead, "CUDA kernel</th><th>time</th><th width=110></th><th>DRAM</th><th>FLOP/B</th>", leftHead, "limit</th></tr></thead><tbody>")
	slowest := max(c.A.Duration.Value, c.B.Duration.Value)
	for _, side := range []struct {
		mark, name, colour string
		t                  *perf.Total
		bold               bool
	}{{"■\u00a0A", c.NameA, colourGrey, c.A, false}, {"●\u00a0B", c.NameB, lk.colour, c.B, true}} {
		b, e := "", ""
		if side.bold {
			b, e = "<b>", "</b>"
		}
		p.raw(rowOpen, leftCell, b, side.mark, e, "</td>", leftCell, "<tt>")
		p.text(clean(side.name, 32))
		p.raw(`</tt></td><td style="white-space:nowrap">`, b)
		p.italic(side.t.Duration.Number(), side.t.Duration.Tag == perf.Modelled)
		p.raw(e, "</td>", leftCell, bar(side.t.Duration.Value/slowest, side.colour), "</td><td>")
		p.italic(side.t.DRAMBytes.Number(), side.t.DRAMBytes.Tag == perf.Modelled)
		p.raw("</td><td>")
		p.text(bareIntensity(side.t.Intensity))
		p.raw("</td>", leftCell)
		p.text(side.t.Verdict().Kind)
		p.raw("</td></tr>")
	}
	p.raw("</tbody></table>")
	advice := compareAdvice(c)
	p.advice(advice)
	p.close()

	var t twin
	t.headline(headline)
	t.joined([]string{how, "on " + device, string(c.Tag)}, ", ")
	t.table([][]string{
		{"", "CUDA kernel", "time", "DRAM", "FLOP/B", "limit"},
		{"A", c.NameA, c.A.Duration.Number(), c.A.DRAMBytes.Number(), bareIntensity(c.A.Intensity), c.A.Verdict().Kind},
		{"B", c.NameB, c.B.Duration.Number(), c.B.DRAMBytes.Number(), bareIntensity(c.B.Intensity), c.B.Verdict().Kind},
	}, map[int]bool{0: true, 1: true, 5: true})
	t.advice(advice)
	return Card{HTML: p.String(), Text: t.String()}
}

// ratioText is the speed-up of B with its interval; a slower B is written as how many times longer it takes.
func ratioText(c *perf.Comparison) string {
	r, low, high := c.Ratio, c.Low, c.High
	longer := ""
	if c.Verdict == perf.Slower && r > 0 && low > 0 {
		r, low, high = 1/r, 1/high, 1/low
		longer = " the time"
	}
	s := perf.Significant(r) + "×" + longer
	if low != high {
		s += " (" + perf.Significant(low) + "–" + perf.Significant(high) + ")"
	}
	if c.Tag == perf.Modelled {
		s += ", predicted"
	}
	return s
}

func bareIntensity(f perf.Figure) string {
	if !f.Known() {
		return "–"
	}
	return strings.TrimSuffix(f.Number(), " FLOP/B")
}

// compareAdvice names the counter that differs most.
func compareAdvice(c *perf.Comparison) string {
	a, b := sums(c.A), sums(c.B)
	best, text := 1.3, ""
	for i, name := range [...]string{"DRAM bytes", "sectors", "requests", "instructions", "shared wavefronts"} {
		if !(a[i] > 0) || !(b[i] > 0) {
			continue
		}
		if r := a[i] / b[i]; r >= best {
			best, text = r, "B needs "+perf.Trimmed(r)+"× fewer "+name+": "+perf.FormatCount(b[i])+" of "+perf.FormatCount(a[i])
		} else if 1/r >= best {
			best, text = 1/r, "B needs "+perf.Trimmed(1/r)+"× more "+name+": "+perf.FormatCount(b[i])+", A "+perf.FormatCount(a[i])
		}
	}
	if c.Agreement != "" {
		if text != "" {
			text += ". "
		}
		text += "Results: " + clean(c.Agreement, 60)
	}
	return text
}

func sums(t *perf.Total) (out [5]float64) {
	for _, l := range t.All() {
		for i, f := range [...]perf.Figure{l.DRAMBytes, l.Sectors, l.Requests, l.WarpInstructions, l.SharedWavefronts} {
			out[i] += f.Value
		}
	}
	return out
}

// PathRow is one layer of the path of a line of code.
type PathRow struct {
	Depth   int
	Layer   string // "Go cell", "gpu API", "driver", "CUDA kernel" …
	Note    string // "check, choose gemv/3_vec16"
	Start   float64
	Seconds perf.Figure
	GPU     bool // work of the GPU, not waiting
}

// Path shows one line of code through the layers, each layer's time as a bar under the first row's.
func Path(code, device string, rows []PathRow) Card {
	if len(rows) == 0 {
		return Card{}
	}
	whole := rows[0].Seconds.Value
	work := 0.0
	for _, r := range rows {
		if r.GPU {
			work = max(work, r.Seconds.Value)
		}
	}
	lk, headline := looks[perf.ToneWaiting], "Starving: the GPU works "+perf.Of(work, whole, "s")
	if whole > 0 && work >= whole/2 {
		lk, headline = looks[perf.ToneGood], "Busy: the GPU works "+perf.Of(work, whole, "s")
	}
	device = clean(strings.Replace(device, ":", " ", 1), 40)
	var p page
	p.open(lk.colour)
	p.headline(lk, headline)
	p.raw(`<div style="font-size:12px;opacity:.8"><tt>`)
	p.text(clean(code, 60))
	p.raw("</tt> · ")
	p.text(device)
	p.raw("</div>", `<table width="100%" style="margin:4px 0;font-size:12px;table-layout:auto"><tbody>`)
	var t twin
	t.headline(headline)
	t.joined([]string{clean(code, 60) + " on " + device}, ", ")
	table := [][]string{}
	for i, r := range rows {
		if i == 12 {
			p.raw("<tr>", leftCell, othersText(len(rows)-i), "</td><td></td><td></td><td></td></tr>")
			table = append(table, []string{othersText(len(rows) - i), "", "", ""})
			break
		}
		p.raw("<tr>", leftCell, strings.Repeat("&nbsp;&nbsp;", min(r.Depth, 8)))
		if r.Depth > 0 {
			p.raw("└ ")
		}
		p.raw("<b>")
		p.text(clean(r.Layer, 24))
		p.raw("</b> ")
		p.text(clean(r.Note, 48))
		p.raw("</td><td>")
		p.italic(r.Seconds.Number(), r.Seconds.Tag == perf.Modelled)
		p.raw("</td><td>", string(r.Seconds.Tag), `</td><td style="width:36%">`)
		colour := colourWaiting
		switch {
		case r.GPU:
			colour = colourBytes
		case i == 0:
			colour = colourGrey
		}
		if whole > 0 {
			p.raw(`<div style="margin-left:`, percentMargin(r.Start/whole), `;width:`, percentWidth(r.Seconds.Value/whole), `;height:8px;background:`, colour, `"></div>`)
		}
		p.raw("</td></tr>")
		table = append(table, []string{strings.Repeat("  ", min(r.Depth, 8)) + clean(r.Layer, 24), r.Seconds.Number(), string(r.Seconds.Tag), clean(r.Note, 48)})
	}
	p.raw("</tbody></table>")
	p.close()
	t.table(table, map[int]bool{0: true, 2: true, 3: true})
	return Card{HTML: p.String(), Text: t.String()}
}

func percentMargin(share float64) string {
	if !(share > 0) {
		return "0"
	}
	return strconv.Itoa(int(min(share, 1)*100+0.5)) + "%"
}
