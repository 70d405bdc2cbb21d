package card

import (
	"strconv"
	"strings"

	"memwall/gpu/perf"
)

// Launch is the card of one launch.
func Launch(l *perf.Launch) Card {
	if l == nil {
		return Card{}
	}
	c := newLaunchCard(l)
	return Card{HTML: c.html(), Text: c.text()}
}

// Cell is the card of all launches of a cell: nothing for none, the launch's own card for one, an aggregate for several.
func Cell(launches []*perf.Launch) Card {
	switch len(launches) {
	case 0:
		return Card{}
	case 1:
		return Launch(launches[0])
	}
	return Total(perf.Aggregate(launches, perf.Figure{}))
}

// launchCard holds what both forms of a launch's card say.
type launchCard struct {
	l       *perf.Launch
	verdict perf.Verdict
	look    look
	advice  perf.Advice
	excess  float64 // share of the sectors beyond the ideal
	name    string
	device  string
	shown   []figure
}

func newLaunchCard(l *perf.Launch) *launchCard {
	c := &launchCard{l: l, verdict: l.Verdict(), name: launchName(l), device: deviceName(l.Device, l.Virtual, l.Profile)}
	c.look = looks[c.verdict.Tone]
	c.advice = l.TopAdvice()
	c.advice.Text = clean(c.advice.Text, 240)
	c.excess, _ = l.ExcessShare()
	c.shown = c.figures()
	return c
}

func (c *launchCard) wasteful() bool { return strings.HasSuffix(c.verdict.Kind, ", wasteful") }

func (c *launchCard) html() string {
	var thumb page
	if svg, alt := thumbnail(c.l, c.look); svg != nil && !c.wasteful() {
		thumb.image(svg, alt, 168, 76, false)
	}
	body := page{b: make([]byte, 0, 2400)}
	body.headline(c.look, c.verdict.Headline)
	c.subline(&body)
	body.advice(c.advice.Text)
	c.gauge(&body)
	body.figures(c.shown)
	return fit(c.look.colour, &thumb, &body, "Memory path, sources", c.rows())
}

// fit puts a card together within MaxBytes: details rows go first, the least important of them first, then the thumbnail.
func fit(colour string, thumb, body *page, summary string, w *rowWriter) string {
	const end = "</tbody></table></details>"
	out := page{b: make([]byte, 0, MaxBytes)}
	out.open(colour)
	rows := w.rows
	size := len(out.b) + len(thumb.b) + len(body.b) + len(detailOpen) + len(summary) + len("</summary>") + len(tableOpen) + len(bodyOpen) + len(w.b) + len(end) + len("</div>")
	kept := len(rows)
	for size > MaxBytes && kept > 0 {
		least := -1
		for i, r := range rows {
			if !r.dropped && (least < 0 || r.priority >= rows[least].priority) {
				least = i
			}
		}
		size -= rows[least].end - rows[least].start
		rows[least].dropped = true
		kept--
	}
	if size <= MaxBytes {
		out.b = append(out.b, thumb.b...)
	}
	out.b = append(out.b, body.b...)
	if kept > 0 {
		out.raw(detailOpen, summary, "</summary>", tableOpen, bodyOpen)
		for _, r := range rows {
			if !r.dropped {
				out.b = append(out.b, w.b[r.start:r.end]...)
			}
		}
		out.raw(end)
	}
	out.close()
	return out.String()
}

func (c *launchCard) subline(p *page) {
	p.raw(`<div style="font-size:12px;opacity:.8"><tt>`)
	p.text(c.name)
	p.raw(`</tt> · `)
	p.text(c.device)
	p.raw(` · `)
	for i, t := range c.tags() {
		if i > 0 {
			p.raw(" ")
		}
		p.tagBox(t)
	}
	for i, note := range c.notes() {
		if i > 0 {
			p.raw(" ·")
		}
		p.raw(" ")
		p.text(note)
	}
	p.raw("</div>")
}

// tags are those of the numbers that the card shows above its details.
func (c *launchCard) tags() []perf.Tag {
	var out []perf.Tag
	if c.l.Duration.Tag == perf.Measured {
		out = append(out, perf.Measured)
	}
	if c.l.Counted {
		out = append(out, perf.Executed)
	}
	if c.l.Duration.Tag == perf.Modelled || c.l.DRAMBytes.Tag == perf.Modelled {
		out = append(out, perf.Modelled)
	}
	if len(out) == 0 {
		out = append(out, perf.Formula)
	}
	return out
}

// notes are spread, number of samples, state of the L2 and sampling.
func (c *launchCard) notes() []string {
	var out []string
	l := c.l
	if n := len(l.Samples); n > 0 {
		s := "n=" + strconv.Itoa(n)
		if n > 1 {
			s = "±" + strconv.FormatFloat(l.Spread(), 'f', 1, 64) + "%, " + s
		}
		if l.Spread() > unstableAbove {
			s += ", unstable"
		}
		out = append(out, s)
		if sm, _, known := strings.Cut(l.Clocks, ","); known {
			out = append(out, sm)
			if _, why, held := strings.Cut(l.Clocks, ", held down by "); held {
				out = append(out, "clock held down by "+why)
			}
		}
	}
	if l.Cold {
		out = append(out, "cold\u00a0L2")
	} else {
		out = append(out, "warm\u00a0L2")
	}
	if l.Sampled > 1 {
		out = append(out, "sampled 1 of "+strconv.Itoa(l.Sampled)+" CTAs")
	}
	return out
}

// unstableAbove is the spread in percent above which measured samples are called unstable.
const unstableAbove = 2

func (c *launchCard) gauge(p *page) {
	l, col := c.l, c.look.colour
	g := newGauge()
	switch {
	case c.wasteful():
		g.solid(1-c.excess, col)
		g.dotted(1-c.excess, colourFault)
		all := perf.FormatCount(l.Sectors.Value) + " sectors"
		p.image(g.done(), perf.WholePercent(100*(1-c.excess))+" of "+all+" are needed", 600, 14, true)
		p.caption("solid: needed · dotted: excessive · end: " + all)
	case l.Duration.Tag == perf.Measured:
		share, roof := c.measuredShare()
		if share == 0 {
			return
		}
		g.solid(share, col)
		g.ticks(0)
		p.image(g.done(), perf.WholePercent(100*share)+" of the roof", 600, 14, true)
		p.caption("solid: " + perf.WholePercent(100*share) + " of the roof · end: roof " + roof)
	default:
		low, high, end := c.modelledShare()
		if high == 0 {
			return
		}
		g.hatched(low, high, col)
		g.ticks(0)
		span := shareRange(low, high)
		p.image(g.done(), "modelled: "+strings.Replace(span, "–", " to ", 1)+" of the roof", 600, 14, true)
		p.caption("italic, hatched: MODELLED, " + span + " of " + end)
	}
}

// shareRange writes two shares as "61–77%".
func shareRange(low, high float64) string {
	a, b := perf.WholePercent(100*low), perf.WholePercent(100*high)
	if a == b {
		return a
	}
	return strings.TrimSuffix(a, "%") + "–" + b
}

// measuredShare is the share of the roof that limits, and that roof.
func (c *launchCard) measuredShare() (share float64, roof string) {
	dram, pipe, name := c.l.Roofs()
	if pipe > dram {
		return min(pipe, 1), perf.Format(c.l.Profile.Roof(c.l.Pipe()).FLOPs, "FLOP/s") + " " + name
	}
	if dram == 0 || c.l.Profile == nil {
		return 0, ""
	}
	return min(dram, 1), perf.Format(c.l.Profile.DRAMBytesPerSecond, "B/s")
}

// modelledShare is what share of the predicted time the limiting resource needs at its best, and what the bar's end is.
func (c *launchCard) modelledShare() (low, high float64, end string) {
	l := c.l
	if !(l.Duration.Low > 0) || l.Profile == nil {
		return 0, 0, ""
	}
	top := l.Limit()
	switch top.Resource {
	case "":
		return 0, 0, ""
	case perf.ResourceDRAM:
		end = "the roof · end: roof " + perf.Format(l.Profile.DRAMBytesPerSecond, "B/s")
	case perf.ResourceTensor, perf.ResourceFP32, perf.ResourceFP16, perf.ResourceFP64:
		roof := l.Profile.Roof(l.Pipe())
		best := l.TotalFLOPs.Value / roof.FLOPs
		return best / l.Duration.High, min(best/l.Duration.Low, 1), "the roof · end: roof " + perf.Format(roof.FLOPs, "FLOP/s")
	default:
		end = "the time · end: the whole time"
	}
	return top.Seconds / l.Duration.High, min(top.Seconds/l.Duration.Low, 1), end
}

// figures are the four or five numbers: time, rate, bytes, FLOP/B, occupancy.
func (c *launchCard) figures() []figure {
	l := c.l
	occupancy := figure{l.Occupancy.Number(), c.occupancyLabel(), l.Occupancy.Tag == perf.Modelled}
	time := figure{l.Duration.Number(), "time", l.Duration.Tag == perf.Modelled}
	switch floor := c.l.Floor(); {
	case l.Duration.Tag == perf.Measured && l.Predicted.Known():
		time.label = "predicted " + l.Predicted.Number()
	case floor > 0:
		time.label = "time, floor " + perf.Format(floor, "s")
	}
	if l.Duration.Tag == perf.Modelled && l.BoundsAlone() != "" {
		time.label = "time, by bounds alone" + strings.TrimPrefix(time.label, "time")
	}
	if c.wasteful() {
		sectors, ideal, at := c.worstRequest()
		label := "a request" + at + ", ideal " + perf.Trimmed(ideal)
		return []figure{
			{l.Traffic().Number(), "DRAM" + refetchText(l), l.Traffic().Tag == perf.Modelled},
			{l.IdealBytes.Number(), "ideal", l.IdealBytes.Tag == perf.Modelled},
			{perf.Trimmed(sectors) + " sectors", label, false},
			time, occupancy,
		}
	}
	out := []figure{time}
	if l.Duration.Tag == perf.Measured {
		if f, ok := c.rate(); ok {
			out = append(out, f)
		}
	}
	if l.FromL2() && l.L2Bytes.Known() {
		out = append(out, figure{l.L2Bytes.Number(), "L2", l.L2Bytes.Tag == perf.Modelled})
	}
	if traffic := l.Traffic(); traffic.Known() {
		label := "DRAM" + refetchText(l)
		if !l.DRAMBytes.Known() {
			label = "least DRAM traffic"
		}
		out = append(out, figure{traffic.Number(), label, traffic.Tag == perf.Modelled})
	}
	if l.Intensity.Known() {
		out = append(out, figure{l.Intensity.Number(), "ridge " + wholeNumber(l.Ridge.Value) + " FLOP/B", l.Intensity.Tag == perf.Modelled})
	}
	return append(out, occupancy)
}

// refetchText is DRAM traffic against the least traffic; less than that comes only of an L2 that was warm.
func refetchText(l *perf.Launch) string {
	switch r := l.Refetch(); {
	case l.LeastDRAM():
		return " at least: reuse in L2 is not sampled"
	case r == 0 && !l.FromL2():
		return ""
	case r < 0.995 && !l.Cold:
		return ", the rest from L2"
	case r < 0.995: // what the formula counts was not all touched
		return ", less than the formula's " + l.IdealBytes.Number()
	default:
		return ", " + perf.Significant(r) + "× ideal"
	}
}

// worstRequest is sectors a request and their ideal at the line that wastes most, of all requests where lines are unknown.
func (c *launchCard) worstRequest() (sectors, ideal float64, at string) {
	l := c.l
	if line := c.advice.Line; line != nil && line.Global.Requests > 0 {
		n := float64(line.Global.Requests)
		return float64(line.Global.Sectors) / n, float64(line.Global.IdealSectors) / n, " at " + clean(line.Where(), 24)
	}
	return l.Sectors.Value / l.Requests.Value, l.IdealSectors.Value / l.Requests.Value, ""
}

// rate is the measured bandwidth or FLOP/s against its roof.
func (c *launchCard) rate() (figure, bool) {
	l := c.l
	dram, pipe, name := l.Roofs()
	switch {
	case l.Profile == nil || (dram == 0 && pipe == 0):
		return figure{}, false
	case pipe > dram:
		return figure{perf.Format(l.TotalFLOPs.Value/l.Duration.Value, "FLOP/s"), "of " + perf.Format(l.Profile.Roof(l.Pipe()).FLOPs, "FLOP/s") + " " + name + c.floorText(), false}, true
	}
	return figure{perf.Format(l.Traffic().Value/l.Duration.Value, "B/s"), "of " + perf.Format(l.Profile.DRAMBytesPerSecond, "B/s") + c.floorText(), false}, true
}

func (c *launchCard) floorText() string {
	if floor := c.l.Floor(); floor > 0 {
		return ", floor " + perf.Format(floor, "s")
	}
	return ""
}

func (c *launchCard) occupancyLabel() string {
	if c.l.Occupancy.Limiter == "" {
		return "occupancy"
	}
	return "occupancy, limit: " + c.l.Occupancy.Limiter
}

func (c *launchCard) text() string {
	var t twin
	l := c.l
	t.headline(c.verdict.Headline)
	parts := []string{c.name + " on " + c.device}
	switch {
	case l.Duration.Tag == perf.Measured:
		parts = append(parts, "MEASURED")
	case l.Counted:
		parts = append(parts, "EXECUTED", "time and DRAM MODELLED")
	}
	t.joined(append(parts, c.notes()...), ", ")
	var figures []string
	for _, f := range c.shown {
		switch {
		case strings.HasPrefix(f.label, "time"):
			if floor := strings.TrimPrefix(f.label, "time"); floor != "" {
				f.value += " (" + strings.TrimPrefix(floor, ", ") + ")"
			}
			figures = append(figures, f.value)
		case strings.HasPrefix(f.label, "predicted"):
			figures = append(figures, f.value+" ("+f.label+")")
		case strings.HasPrefix(f.label, "occupancy"):
			figures = append(figures, "occupancy "+f.value+limiterText(l.Occupancy.Limiter))
		case strings.HasPrefix(f.label, "DRAM at least"):
			figures = append(figures, f.value+" "+f.label)
		case f.label == "L2":
			figures = append(figures, f.value+" from L2")
		case strings.HasPrefix(f.label, "DRAM, the rest"):
			figures = append(figures, f.value+" from DRAM")
		case strings.HasPrefix(f.label, "ridge"), strings.HasPrefix(f.label, "DRAM"):
			figures = append(figures, f.value+", "+strings.TrimPrefix(f.label, "DRAM, "))
		case strings.HasPrefix(f.label, "of "):
			number, _, _ := strings.Cut(f.value, " ")
			figures = append(figures, number+" "+f.label)
		default:
			figures = append(figures, f.value+" "+f.label)
		}
	}
	t.joined(figures, " | ")
	t.advice(c.advice.Text)
	return t.String()
}

func limiterText(limiter string) string {
	if limiter == "" {
		return ""
	}
	return " (" + limiter + ")"
}
