package card

import (
	"bytes"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of a plot in points: 600 × 234 pixels at 96 a inch.
const (
	plotWidth  = 450
	plotHeight = 210
)

// Plot shows a gonum plot with the colours and sizes of cards: grey axes and text of 12 pixels on nothing, so that it reads
// on light and dark. text is its plain twin, for instance a table of the points; the axes' names where it is empty. A plot
// that gonum cannot draw is an error in words, not a panic.
func Plot(p *plot.Plot, text string) (c Card) {
	if p == nil {
		return Card{}
	}
	title := clean(p.Title.Text, 80)
	var t twin
	if title != "" {
		t.sentence("plot: "+title, "  ")
	}
	if text != "" {
		for _, line := range strings.Split(text, "\n") {
			t.verbatim(line)
		}
	} else {
		t.sentence("plot of "+axisName(p.Y.Label.Text, "y")+" against "+axisName(p.X.Label.Text, "x"), "  ")
	}
	defer func() {
		if r := recover(); r != nil {
			c = Card{Text: t.String() + "\nthe plot cannot be drawn: it has no finite points"}
		}
	}()
	svg := renderPlot(p)
	var out page
	out.raw(`<div style="max-width:640px">`)
	if title != "" {
		out.raw(`<div style="font-size:13px"><b>`)
		out.text(title)
		out.raw(`</b></div>`)
	}
	alt := axisName(p.Y.Label.Text, "y") + " against " + axisName(p.X.Label.Text, "x")
	out.image(svg, alt, 600, plotHeight*600/plotWidth, true)
	out.raw("</div>")
	return Card{HTML: out.String(), Text: t.String()}
}

func axisName(s, otherwise string) string {
	if s = clean(s, 40); s != "" {
		return s
	}
	return otherwise
}

// renderPlot draws a copy of the plot, styled, and makes the SVG compact.
func renderPlot(p *plot.Plot) []byte {
	grey := color.NRGBA{R: 0x77, G: 0x77, B: 0x77, A: 0xff}
	const size = 9 // points: 12 pixels
	q := *p
	q.Title.Text = ""
	q.BackgroundColor = color.Transparent
	for _, a := range []*plot.Axis{&q.X, &q.Y} {
		a.Color, a.Tick.Color = grey, grey
		a.Label.TextStyle.Color, a.Tick.Label.Color = grey, grey
		a.Label.TextStyle.Font.Size, a.Tick.Label.Font.Size = size, size
		if !(a.Max > a.Min) || math.IsInf(a.Max-a.Min, 0) {
			panic("no finite range")
		}
	}
	q.Legend.TextStyle.Color = grey
	q.Legend.TextStyle.Font.Size = size
	canvas := vgsvg.New(plotWidth, vg.Length(plotHeight))
	q.Draw(draw.New(canvas))
	var raw bytes.Buffer
	if _, err := canvas.WriteTo(&raw); err != nil {
		panic(err)
	}
	return compactSVG(raw.String())
}

// compactSVG drops gonum's prologue and line breaks, names one generic font, and turns black, which nothing shows on a dark
// page, into the grey of the axes.
func compactSVG(s string) []byte {
	if i := strings.Index(s, "<svg"); i >= 0 {
		s = s[i:]
	}
	if i := strings.Index(s, "<!--"); i >= 0 {
		if j := strings.Index(s[i:], "-->"); j >= 0 {
			s = s[:i] + s[i+j+3:]
		}
	}
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	s = strings.Join(lines, " ")
	s = strings.ReplaceAll(s, "> <", "><")
	s = strings.NewReplacer("font-family:Liberation Serif", "font-family:sans-serif", "font-variant:none;", "", "font-weight:normal;", "",
		"font-style:normal;", "", "#000000", "#777777").Replace(s)
	return []byte(strings.TrimSpace(s))
}
