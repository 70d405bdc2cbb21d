package card

import (
	"math"
	"strconv"
	"strings"

	"memwall/gpu/perf"
)

// rooflineRows is the most launches that a roofline numbers.
const rooflineRows = 12

// Roofline shows several launches on one roofline with both ridges: FP32 and tensor. A solid marker was measured; a hollow
// one stands on the roof as a bound, because the virtual GPU's rates are not achieved ones.
func Roofline(launches []*perf.Launch) Card {
	var known []*perf.Launch
	for _, l := range launches {
		if l != nil && l.Profile != nil && l.Intensity.Known() && l.Intensity.Value > 0 {
			known = append(known, l)
		}
	}
	if len(launches) == 0 {
		return Card{}
	}
	if len(known) == 0 {
		return noRoofline(launches)
	}
	c := &rooflineCard{launches: known, p: known[0].Profile}
	rows := min(len(known), rooflineRows)
	html := c.html(rows, rows)
	if len(html) > MaxBytes { // the plot has the colours too
		c.plainGlyphs = true
		html = c.html(rows, rows)
	}
	for len(html) > MaxBytes && rows > 2 {
		rows--
		html = c.html(rows, min(len(known), rooflineRows))
	}
	for marks := min(len(known), rooflineRows); len(html) > MaxBytes && marks > 2; marks-- {
		html = c.html(rows, marks)
	}
	return Card{HTML: html, Text: c.text()}
}

// noRoofline says why no launch has a place.
func noRoofline(launches []*perf.Launch) Card {
	why := "FLOPs or DRAM bytes are unknown"
	for _, l := range launches {
		if l != nil && !l.Intensity.Known() && l.Intensity.Why != "" {
			why = l.Intensity.Why
			break
		}
	}
	const head = "No launch has a place on the roofline"
	var p page
	p.open(colourGrey)
	p.headline(looks[perf.ToneNeutral], head)
	p.advice(why)
	p.close()
	var t twin
	t.headline(head)
	t.advice(why)
	return Card{HTML: p.String(), Text: t.String()}
}

type rooflineCard struct {
	launches    []*perf.Launch
	p           *perf.Profile
	plainGlyphs bool // glyphs of the table take the colour of the text
}

var smallNumbers = [...]string{"No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"}

func inWords(n int, capital bool) string {
	if n >= len(smallNumbers) {
		return perf.FormatCount(float64(n))
	}
	if capital {
		return smallNumbers[n]
	}
	return lowerFirst(smallNumbers[n])
}

func (c *rooflineCard) headline() string {
	tones := map[perf.Tone]int{}
	for _, l := range c.launches {
		tones[l.Verdict().Tone]++
	}
	what := c.what()
	if len(c.launches) > 1 {
		what += map[bool]string{true: "es", false: "s"}[strings.HasSuffix(what, "ch")]
	}
	s := inWords(len(c.launches), true) + " " + what
	sep := ": "
	for _, t := range []struct {
		tone perf.Tone
		word string
	}{{perf.ToneBytes, " for bytes"}, {perf.ToneFLOPs, " for FLOPs"}, {perf.ToneWaiting, " otherwise"}} {
		if n := tones[t.tone]; n > 0 {
			wait := ""
			if sep == ": " {
				wait = " wait"
				if n == 1 {
					wait = " waits"
				}
			}
			s += sep + inWords(n, false) + wait + t.word
			sep = ", "
		}
	}
	return s
}

// what the rows are: CUDA kernels, or launches of one, as in a sweep.
func (c *rooflineCard) what() string {
	for _, l := range c.launches[1:] {
		if l.Function != c.launches[0].Function || l.Kernel == c.launches[0].Kernel {
			return "CUDA kernel"
		}
	}
	if len(c.launches) > 1 && c.launches[0].Function != "" {
		return "launch"
	}
	return "CUDA kernel"
}

// measured: every launch has a measured time.
func (c *rooflineCard) measured() bool {
	for _, l := range c.launches {
		if l.Duration.Tag != perf.Measured {
			return false
		}
	}
	return true
}

// Scales of the plot: 600 × 234 units, three decades of FLOP/s under the tensor roof.
type rooflineScale struct {
	lowX, highX float64 // log10 FLOP/B
	topY        float64 // log10 FLOP/s of the tensor roof
}

func (c *rooflineCard) scale() rooflineScale {
	s := rooflineScale{lowX: -1, highX: math.Ceil(math.Log10(c.p.Ridge(perf.FLOPTensor))) + 0.3, topY: math.Log10(c.p.TensorFLOPs)}
	for _, l := range c.launches {
		x := math.Log10(l.Intensity.Value)
		s.lowX, s.highX = min(s.lowX, max(math.Floor(x), -4)), max(s.highX, min(x+0.3, 6))
	}
	return s
}

func (s rooflineScale) x(intensity float64) float64 {
	return min(max(600*(math.Log10(intensity)-s.lowX)/(s.highX-s.lowX), 6), 590)
}

func (s rooflineScale) y(flops float64) float64 {
	return min(25.4+(s.topY-math.Log10(flops))*46, 206)
}

func (c *rooflineCard) svg(marks int) []byte {
	s, p := c.scale(), c.p
	ridgeT, ridgeF := p.Ridge(perf.FLOPTensor), p.Ridge(perf.FLOPF32)
	b := make([]byte, 0, 2200)
	b = append(b, svgOpen+`0 -4 600 234"><path fill="none" stroke="#777" stroke-width="2" d="M`...)
	start := math.Pow(10, s.lowX)
	if floor := math.Pow(10, s.topY-(206-25.4)/46) / p.DRAMBytesPerSecond; floor > start {
		start = floor
	}
	pt := func(x, y float64) {
		b = num(b, x)
		b = append(b, ' ')
		b = num(b, y)
	}
	pt(600*(math.Log10(start)-s.lowX)/(s.highX-s.lowX), s.y(start*p.DRAMBytesPerSecond))
	b = append(b, 'L')
	pt(s.x(ridgeT), s.y(p.TensorFLOPs))
	b = append(b, `H600"/><path fill="none" stroke="#777" stroke-dasharray="5 4" d="M`...)
	pt(s.x(ridgeF), s.y(p.FP32FLOPs))
	b = append(b, `H600"/><path stroke="#777" stroke-opacity=".4" d="M0 212H600`...)
	for _, r := range []struct{ x, y float64 }{{s.x(ridgeT), s.y(p.TensorFLOPs)}, {s.x(ridgeF), s.y(p.FP32FLOPs)}} {
		b = append(b, 'M')
		pt(r.x, r.y)
		b = append(b, `V212`...)
	}
	b = append(b, `"/><g font-family="sans-serif" font-size="12" fill="#777"><text text-anchor="end" x="598" y="`...)
	b = num(b, s.y(p.TensorFLOPs)-14)
	b = append(b, `">`+perf.Format(p.TensorFLOPs, "FLOP/s")+` tensor</text><text text-anchor="end" x="598" y="`...)
	b = num(b, s.y(p.FP32FLOPs)+15)
	b = append(b, `">`+perf.Format(p.FP32FLOPs, "FLOP/s")+` FP32</text><text x="`...)
	b = num(b, s.x(math.Sqrt(start*ridgeT))-90)
	b = append(b, `" y="`...)
	b = num(b, s.y(math.Sqrt(start*ridgeT)*p.DRAMBytesPerSecond)-4)
	b = append(b, `">`+perf.Format(p.DRAMBytesPerSecond, "B/s")+`</text><g text-anchor="middle">`...)
	for e := math.Ceil(s.lowX); e < s.highX; e++ {
		if v := math.Pow(10, e); math.Abs(s.x(v)-s.x(ridgeT)) > 30 && math.Abs(s.x(v)-s.x(ridgeF)) > 30 && s.x(v) > 12 {
			b = c.tick(b, s.x(v), perf.Trimmed(v))
		}
	}
	b = c.tick(b, s.x(ridgeF), wholeNumber(ridgeF))
	b = c.tick(b, s.x(ridgeT), wholeNumber(ridgeT))
	b = append(b, `</g></g>`...)
	b = c.marks(b, s, marks)
	return append(b, `</svg>`...)
}

// marks appends the launches' markers and numbers, one path and one text a tone and form: a picture has up to twelve, and a
// card 4 KiB in all. Numbers of one digit share a text, which places each of its characters.
func (c *rooflineCard) marks(b []byte, s rooflineScale, n int) []byte {
	b = append(b, `<g font-family="sans-serif" font-size="13" stroke-width="2">`...)
	for _, tone := range []perf.Tone{perf.ToneBytes, perf.ToneFLOPs, perf.ToneWaiting, perf.ToneNeutral, perf.ToneFault} {
		for _, solid := range []bool{false, true} {
			var shapes, xs, ys, digits, others []byte
			lk := looks[tone]
			for i, l := range c.launches[:n] {
				if l.Verdict().Tone != tone || (l.Duration.Tag == perf.Measured) != solid {
					continue
				}
				x, y := int64(math.Round(s.x(l.Intensity.Value))), int64(math.Round(s.y(c.height(l))))
				shapes = markerPath(shapes, lk, float64(x), float64(y))
				if i < 9 {
					xs, ys = strconv.AppendInt(append(xs, ' '), x+8, 10), strconv.AppendInt(append(ys, ' '), y+18, 10)
					digits = append(digits, byte('1'+i))
					continue
				}
				others = strconv.AppendInt(append(others, `<text x="`...), x+8, 10)
				others = strconv.AppendInt(append(others, `" y="`...), y+18, 10)
				others = strconv.AppendInt(append(others, `">`...), int64(i+1), 10)
				others = append(others, `</text>`...)
			}
			if shapes == nil {
				continue
			}
			paint := "none"
			if solid {
				paint = lk.colour
			}
			b = add(b, `<path fill="`, paint, `" stroke="`, lk.colour, `" d="`, string(shapes), `"/><g fill="`, lk.colour, `">`)
			if digits != nil {
				b = add(b, `<text x="`, string(xs[1:]), `" y="`, string(ys[1:]), `">`, string(digits), `</text>`)
			}
			b = add(b, string(others), `</g>`)
		}
	}
	return append(b, `</g>`...)
}

func (c *rooflineCard) tick(b []byte, x float64, text string) []byte {
	b = append(b, `<text x="`...)
	b = num(b, x)
	return append(b, `" y="226">`+text+`</text>`...)
}

// height is the measured FLOP/s, or what the roof allows.
func (c *rooflineCard) height(l *perf.Launch) float64 {
	if l.Duration.Tag == perf.Measured && l.TotalFLOPs.Known() && l.Duration.Value > 0 {
		return l.TotalFLOPs.Value / l.Duration.Value
	}
	return l.Profile.Attainable(l.Pipe(), l.Intensity.Value)
}

func (c *rooflineCard) rateHeader() string {
	if c.measured() {
		return "FLOP/s"
	}
	return "roof allows"
}

func (c *rooflineCard) cells(l *perf.Launch) (name, intensity, rate, limit string) {
	limit = l.Verdict().Kind
	if l.Duration.Tag == perf.Measured {
		dram, pipe, roof := l.Roofs()
		if dram >= pipe {
			limit = perf.WholePercent(100*dram) + " of DRAM"
		} else {
			limit = perf.WholePercent(100*pipe) + " of " + roof
		}
	}
	return clean(l.Kernel, 32), perf.Significant(l.Intensity.Value), perf.Format(c.height(l), "FLOP/s"), limit
}

func (c *rooflineCard) subline() (string, []perf.Tag) {
	l := c.launches[0]
	tags := []perf.Tag{perf.Measured}
	if !c.measured() {
		tags = []perf.Tag{perf.Executed, perf.Modelled}
	}
	if l.Profile == nil || l.Profile.RoofTag(l.Pipe()) == perf.Datasheet {
		tags = append(tags, perf.Datasheet)
	} else if c.measured() {
		tags = append(tags, perf.Modelled)
	}
	return deviceName(l.Device, l.Virtual, l.Profile), tags
}

func (c *rooflineCard) html(rows, marks int) string {
	var p page
	p.b = make([]byte, 0, MaxBytes)
	p.open(colourGrey)
	p.headline(looks[perf.ToneNeutral], c.headline())
	device, tags := c.subline()
	p.raw(`<div style="font-size:12px;opacity:.8">`)
	p.text("FLOP per byte against FLOP/s, both log · " + device + " ·")
	for _, t := range tags {
		p.raw(" ")
		p.tagBox(t)
	}
	if !c.measured() {
		p.text(" hollow: what the roof allows")
	}
	p.raw("</div>")
	p.image(c.svg(marks), "roofline of "+inWords(len(c.launches), false)+" launches", 600, 234, true)
	p.raw(tableOpen, "<thead>", rowOpen, leftHead, c.what(), "</th><th>FLOP/B</th><th>", c.rateHeader(), "</th><th>limit</th></tr></thead>", bodyOpen)
	for i, l := range c.launches[:rows] {
		lk := looks[l.Verdict().Tone]
		name, intensity, rate, limit := c.cells(l)
		p.raw("<tr>", leftCell, strconv.Itoa(i+1))
		if c.plainGlyphs {
			p.raw(" ", lk.glyph, " ")
		} else {
			p.raw(` <font color="`, lk.colour, `">`, lk.glyph, "</font> ")
		}
		p.text(name)
		p.raw("<td>")
		p.italic(intensity, l.Intensity.Tag == perf.Modelled)
		p.raw("<td>")
		p.text(rate)
		p.raw("<td>")
		p.text(limit)
	}
	if others := len(c.launches) - rows; others > 0 {
		p.raw("<tr>", leftCell, othersText(others))
	}
	p.raw("</tbody></table>")
	p.close()
	return p.String()
}

func (c *rooflineCard) text() string {
	var t twin
	t.headline(c.headline())
	device, tags := c.subline()
	parts := []string{"on " + device}
	for _, tag := range tags {
		parts = append(parts, string(tag))
	}
	t.joined(append(parts, "ridges "+wholeNumber(c.p.Ridge(perf.FLOPF32))+" (FP32) and "+wholeNumber(c.p.Ridge(perf.FLOPTensor))+" (tensor) FLOP/B"), ", ")
	table := [][]string{{"#", c.what(), "FLOP/B", c.rateHeader(), "limit"}}
	for i, l := range c.launches {
		if i == 40 {
			table = append(table, []string{"", othersText(len(c.launches) - i), "", "", ""})
			break
		}
		name, intensity, rate, limit := c.cells(l)
		table = append(table, []string{strconv.Itoa(i + 1), name, intensity, rate, limit})
	}
	t.table(table, map[int]bool{0: true, 1: true, 4: true})
	return t.String()
}
