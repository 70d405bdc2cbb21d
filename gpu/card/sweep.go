package card

import (
	"math"
	"strconv"
	"strings"

	"memwall/gpu/perf"
)

// sweepRows is the most rows that a sweep shows beside its plot.
const sweepRows = 12

// Sweep is a plot on log axes and a table, the best row marked in words.
func Sweep(s *perf.Sweep) Card {
	if s == nil || len(s.Rows) == 0 {
		return Card{}
	}
	c := newSweepCard(s)
	rows := min(len(s.Rows), sweepRows)
	html := c.html(rows, true)
	for len(html) > MaxBytes && rows > 3 {
		rows--
		html = c.html(rows, true)
	}
	if len(html) > MaxBytes {
		html = c.html(rows, false)
	}
	return Card{HTML: html, Text: c.text()}
}

type sweepCard struct {
	s      *perf.Sweep
	totals []*perf.Total
	costs  []float64
	best   int
	base   int // the row that gains refer to: the first that ran
	look   look
	head   string
	device string
	tag    perf.Tag
	item   bool
	check  bool // some row says whether it is correct
}

func newSweepCard(s *perf.Sweep) *sweepCard {
	c := &sweepCard{s: s, best: s.Best(), base: -1, look: looks[perf.ToneNeutral], item: s.Item != ""}
	for i := range s.Rows {
		r := &s.Rows[i]
		cost, ok := s.Cost(r)
		c.costs = append(c.costs, cost)
		c.totals = append(c.totals, r.Total())
		if ok && c.base < 0 {
			c.base = i
		}
		c.check = c.check || r.Correct != ""
	}
	if c.best < 0 {
		c.head = "Sweep over " + clean(s.Parameter, 24) + ": every row failed"
		c.look = looks[perf.ToneFault]
		return c
	}
	t := c.totals[c.best]
	c.tag, c.device = t.Duration.Tag, deviceName(t.Device, t.Virtual, t.Profile)
	c.look = looks[t.Verdict().Tone]
	c.head = "Best: " + c.label(c.best) + ", " + c.costText(c.best)
	if c.item {
		c.head += " a " + clean(s.Item, 16)
	}
	if other := c.compareWith(); other >= 0 {
		c.head += ", " + perf.Trimmed(c.costs[other]/c.costs[c.best]) + "× less than " + c.label(other)
	}
	return c
}

// compareWith is the row that the headline compares the best with: the first that ran, or the slowest where the first is best.
func (c *sweepCard) compareWith() int {
	if c.base != c.best {
		return c.base
	}
	slowest := -1
	for i, cost := range c.costs {
		if i != c.best && !math.IsNaN(cost) && (slowest < 0 || cost > c.costs[slowest]) {
			slowest = i
		}
	}
	return slowest
}

func (c *sweepCard) label(i int) string {
	return clean(c.s.Parameter, 24) + " " + clean(c.s.Rows[i].Label, 24)
}

// costText is what rows are compared by, as a range where it is MODELLED.
func (c *sweepCard) costText(i int) string {
	d, n := c.totals[i].Duration, 1.0
	if c.item {
		n = c.s.Rows[i].Value
	}
	if d.High > 0 {
		return perf.Range(d.Low/n, d.High/n, "s")
	}
	return perf.Format(d.Value/n, "s")
}

func (c *sweepCard) columns() []string {
	out := []string{clean(c.s.Parameter, 24), "time"}
	if c.item {
		out = append(out, "per "+clean(c.s.Item, 16))
	}
	out = append(out, "FLOP/B", "gain", "limit")
	if c.check {
		out = append(out, "correct")
	}
	return out
}

func (c *sweepCard) cells(i int) []string {
	r, t := &c.s.Rows[i], c.totals[i]
	out := []string{clean(r.Label, 24)}
	if t == nil {
		reason := clean(r.Failed, 48)
		if reason == "" {
			reason = "launched nothing"
		}
		out = append(out, "failed: "+reason)
		for len(out) < len(c.columns()) {
			out = append(out, "")
		}
		return out
	}
	out = append(out, t.Duration.Number())
	if c.item {
		out = append(out, c.costText(i))
	}
	gain := ""
	if c.base >= 0 && c.costs[i] > 0 {
		gain = perf.Significant(c.costs[c.base]/c.costs[i]) + "×"
	}
	out = append(out, bareIntensity(t.Intensity), gain, kindOf(t))
	if c.check {
		out = append(out, clean(r.Correct, 24))
	}
	return out
}

// kindOf is the verdict of a row, of its longest kernel where it launches several.
func kindOf(t *perf.Total) string {
	if t.Launches == 1 || len(t.Groups) == 0 {
		return t.Verdict().Kind
	}
	return t.Groups[0].Longest.Verdict().Kind
}

// shown picks the rows of the table: the first ones and always the best and the last.
func (c *sweepCard) shown(rows int) []int {
	n := len(c.s.Rows)
	if rows >= n {
		out := make([]int, n)
		for i := range out {
			out[i] = i
		}
		return out
	}
	keep := map[int]bool{n - 1: true, 0: true}
	if c.best >= 0 {
		keep[c.best] = true
	}
	for i := 0; i < n && len(keep) < rows; i++ {
		keep[i*n/rows] = true
	}
	for i := 0; i < n && len(keep) < rows; i++ {
		keep[i] = true
	}
	var out []int
	for i := 0; i < n; i++ {
		if keep[i] {
			out = append(out, i)
		}
	}
	return out
}

// advice says where the limit changes.
func (c *sweepCard) advice() string {
	if c.best < 0 {
		return ""
	}
	var parts []string
	last, from := "", 0
	flush := func(to int) {
		switch {
		case last == "":
		case from == to:
			parts = append(parts, last+" at "+clean(c.s.Rows[from].Label, 16))
		default:
			parts = append(parts, last+" from "+clean(c.s.Rows[from].Label, 16)+" to "+clean(c.s.Rows[to].Label, 16))
		}
	}
	end := 0
	for i, t := range c.totals {
		if t == nil {
			continue
		}
		if k := kindOf(t); k != last {
			flush(end)
			last, from = k, i
		}
		end = i
	}
	flush(end)
	if len(parts) < 2 {
		return ""
	}
	for i := 1; i < len(parts); i++ { // one sentence
		parts[i] = lowerFirst(parts[i])
	}
	if len(parts) > 4 {
		parts = append(parts[:3], "and "+strconv.Itoa(len(parts)-3)+" more changes")
	}
	return strings.Join(parts, ", ")
}

func (c *sweepCard) html(rows int, withPlot bool) string {
	var p page
	p.b = make([]byte, 0, MaxBytes)
	p.open(c.look.colour)
	p.headline(c.look, c.head)
	p.raw(`<div style="font-size:12px;opacity:.8">`)
	if c.best >= 0 {
		p.text(c.device + " · ")
		if c.totals[c.best].FLOPs.Tag == perf.Executed {
			p.tagBox(perf.Executed)
			p.raw(" ")
		}
		p.tagBox(c.tag)
		if k := c.totals[c.best].Sampled; k > 1 {
			p.text(" sampled 1 of " + strconv.Itoa(k) + " CTAs")
		}
	}
	if c.s.Note != "" {
		p.text(" · " + clean(c.s.Note, 80))
	}
	p.raw("</div>")
	if svg, alt := c.plot(); svg != nil && withPlot {
		what := "time"
		if c.item {
			what = "time per " + clean(c.s.Item, 16)
		}
		p.raw(`<div style="font-size:12px;margin-top:6px">`)
		axes := "both log"
		if !c.numeric() {
			axes = "time log"
		}
		if c.tag == perf.Modelled {
			axes += "; pale: MODELLED range"
		}
		p.text(what + " against " + clean(c.s.Parameter, 24) + ", " + axes)
		p.raw("</div>")
		p.image(svg, alt, 600, 154, true)
	}
	p.advice(c.advice())
	p.raw(tableOpen, "<thead>", rowOpen)
	columns := c.columns()
	for i, h := range columns {
		if i == 0 {
			p.raw(leftHead)
		} else {
			p.raw("<th>")
		}
		p.text(h)
		p.raw("</th>")
	}
	p.raw("</tr></thead>", bodyOpen)
	shown := c.shown(rows)
	for _, i := range shown {
		c.row(&p, i)
	}
	if others := len(c.s.Rows) - len(shown); others > 0 {
		p.raw("<tr>", leftCell, othersText(others))
	}
	p.raw("</tbody></table>")
	p.close()
	return p.String()
}

func (c *sweepCard) row(p *page, i int) {
	b, e := "", ""
	if i == c.best {
		b, e = "<b>", "</b>"
	}
	p.raw("<tr>")
	for k, cell := range c.cells(i) {
		if k == 0 {
			p.raw(leftCell, b)
			p.text(cell)
			if i == c.best {
				p.raw(" ← best")
			}
			p.raw(e)
			continue
		}
		modelled := c.tag == perf.Modelled && (k == 1 || c.item && k == 2) && c.totals[i] != nil
		p.raw("<td>", b)
		p.italic(cell, modelled)
		p.raw(e)
	}
}

// numeric: every row has a value above zero, each larger than the one before, so the axis can be logarithmic.
func (c *sweepCard) numeric() bool {
	last := 0.0
	for i := range c.s.Rows {
		v := c.s.Rows[i].Value
		if !(v > last) || math.IsInf(v, 0) {
			return false
		}
		last = v
	}
	return true
}

// plot draws cost against the parameter; nil where fewer than two rows ran.
func (c *sweepCard) plot() (svg []byte, alt string) {
	ran := 0
	low, high := math.Inf(1), 0.0
	for i, cost := range c.costs {
		if cost > 0 {
			ran++
			lo, hi := c.ends(i)
			low, high = min(low, lo), max(high, hi)
		}
	}
	if ran < 2 || !(low > 0) {
		return nil, ""
	}
	b := make([]byte, 0, 2000)
	b = append(b, svgOpen+`0 -4 600 154"><g font-family="sans-serif" font-size="12" fill="#777"><path fill="none" stroke="#777" d="M60 8V128H588"/>`...)
	y := func(v float64) int {
		return int(118.5 - 100*(math.Log(v)-math.Log(low))/max(math.Log(high)-math.Log(low), 1e-9))
	}
	b = c.axes(b, y, logTicks(low, high))
	b = c.band(b, y)
	b = append(b, `<path fill="none" stroke="`+c.look.colour+`" stroke-width="2" d="`...)
	b = c.points(b, y, "M", " ", "")
	b = append(b, `"/>`...)
	if c.tag != perf.Modelled {
		b = append(b, `<path stroke="`+c.look.colour+`" stroke-width="8" stroke-linecap="round" d="`...)
		b = c.points(b, y, "M", "M", "h0")
		b = append(b, `"/>`...)
	}
	b = append(b, `<circle fill="none" stroke="`+c.look.colour+`" stroke-width="2" cx="`...)
	b = strconv.AppendInt(b, int64(c.x(c.best)), 10)
	b = append(b, `" cy="`...)
	b = strconv.AppendInt(b, int64(y(c.costs[c.best])), 10)
	b = append(b, `" r="8"/></svg>`...)
	alt = "best at " + c.label(c.best) + ", " + c.costText(c.best)
	return b, alt
}

// axes appends grid lines and labels of both axes, and closes the group of texts.
func (c *sweepCard) axes(b []byte, y func(float64) int, ticks []float64) []byte {
	b = append(b, `<path stroke="#777" stroke-opacity=".3" d="`...)
	for _, tick := range ticks {
		b = append(b, `M60 `...)
		b = strconv.AppendInt(b, int64(y(tick)), 10)
		b = append(b, `H588`...)
	}
	b = append(b, `"/><g text-anchor="end">`...)
	for _, tick := range ticks {
		b = append(b, `<text x="54" y="`...)
		b = strconv.AppendInt(b, int64(y(tick)+4), 10)
		b = append(b, `">`+escaped(tickText(tick))+`</text>`...)
	}
	b = append(b, `</g><g text-anchor="middle">`...)
	every := (len(c.s.Rows) + 7) / 8
	for i := range c.s.Rows {
		last := len(c.s.Rows) - 1
		if i != last && (i%every != 0 || last-i < every) { // the last label always stands, with room before it
			continue
		}
		b = append(b, `<text x="`...)
		b = strconv.AppendInt(b, int64(c.x(i)), 10)
		b = append(b, `" y="144">`+escaped(clean(c.s.Rows[i].Label, 10))+`</text>`...)
	}
	return append(b, `</g></g>`...)
}

func (c *sweepCard) point(b []byte, i, y int) []byte {
	b = strconv.AppendInt(b, int64(c.x(i)), 10)
	b = append(b, ' ')
	return strconv.AppendInt(b, int64(y), 10)
}

// points appends every row that ran.
func (c *sweepCard) points(b []byte, y func(float64) int, first, next, tail string) []byte {
	lead := first
	for i, cost := range c.costs {
		if !(cost > 0) {
			continue
		}
		b = append(b, lead...)
		b = c.point(b, i, y(cost))
		b = append(b, tail...)
		lead = next
	}
	return b
}

// band is the MODELLED range around the line.
func (c *sweepCard) band(b []byte, y func(float64) int) []byte {
	if c.tag != perf.Modelled {
		return b
	}
	b = append(b, `<path fill="`+c.look.colour+`" fill-opacity=".18" d="`...)
	lead := "M"
	for i, cost := range c.costs {
		if cost > 0 {
			_, hi := c.ends(i)
			b = append(b, lead...)
			b = c.point(b, i, y(hi))
			lead = " "
		}
	}
	for i := len(c.costs) - 1; i >= 0; i-- {
		if c.costs[i] > 0 {
			lo, _ := c.ends(i)
			b = append(b, ' ')
			b = c.point(b, i, y(lo))
		}
	}
	return append(b, `z"/>`...)
}

func (c *sweepCard) ends(i int) (low, high float64) {
	d, n := c.totals[i].Duration, 1.0
	if c.item {
		n = c.s.Rows[i].Value
	}
	if d.High > 0 {
		return d.Low / n, d.High / n
	}
	return d.Value / n, d.Value / n
}

func (c *sweepCard) x(i int) float64 {
	n := len(c.s.Rows)
	if n == 1 {
		return 324
	}
	if !c.numeric() {
		return 72 + 504*float64(i)/float64(n-1)
	}
	first, last := math.Log(c.s.Rows[0].Value), math.Log(c.s.Rows[n-1].Value)
	return 72 + 504*(math.Log(c.s.Rows[i].Value)-first)/(last-first)
}

// logTicks are the powers of ten in a range, or its 1-2-5 steps where it spans less than a decade.
func logTicks(low, high float64) []float64 {
	var out []float64
	steps := []float64{1}
	if high/low < 20 {
		steps = []float64{1, 2, 5}
	}
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, s := range steps {
			if v := s * math.Pow(10, e); v >= low*0.999 && v <= high*1.001 {
				out = append(out, v)
			}
		}
	}
	if len(out) == 0 {
		out = append(out, low)
	}
	if len(out) > 6 {
		out = out[len(out)-6:]
	}
	return out
}

// tickText is a time on an axis: "10 µs".
func tickText(v float64) string {
	s := perf.Format(v, "s")
	number, unit, _ := strings.Cut(s, " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + " " + unit
}

func (c *sweepCard) text() string {
	var t twin
	t.headline(c.head)
	parts := []string{}
	if c.best >= 0 {
		parts = append(parts, "on "+c.device)
		if c.tag == perf.Modelled {
			parts = append(parts, "EXECUTED", "time and DRAM MODELLED")
		} else {
			parts = append(parts, string(c.tag))
		}
		if k := c.totals[c.best].Sampled; k > 1 {
			parts = append(parts, "sampled 1 of "+strconv.Itoa(k)+" CTAs")
		}
	}
	if c.s.Note != "" {
		parts = append(parts, clean(c.s.Note, 80))
	}
	t.joined(parts, ", ")
	left := map[int]bool{0: true}
	columns := append(c.columns(), "")
	for i, h := range columns {
		if h == "limit" || h == "correct" || h == "" {
			left[i] = true
		}
	}
	table := [][]string{columns}
	for i := range c.s.Rows {
		mark := ""
		if i == c.best {
			mark = "<- best"
		}
		if c.totals[i] == nil {
			continue
		}
		table = append(table, append(c.cells(i), mark))
	}
	if len(table) > 1 {
		t.table(table, left)
	}
	for i := range c.s.Rows {
		if c.totals[i] == nil {
			t.sentence(c.label(i)+" "+c.cells(i)[1], "  ")
		}
	}
	t.advice(c.advice())
	return t.String()
}
