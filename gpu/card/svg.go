package card

import (
	"math"
	"strconv"

	"memwall/gpu/perf"
)

// svgOpen is the start of every picture: transparent, sizes by viewBox.
const svgOpen = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="`

// add appends strings.
func add(b []byte, parts ...string) []byte {
	for _, s := range parts {
		b = append(b, s...)
	}
	return b
}

// num appends a coordinate with one decimal where it has one.
func num(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	v = math.Round(v*10) / 10
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

// Scales of the thumbnail: a decade of FLOP/B is 33.3 units wide, 1 FLOP/B stands at 34, and a decade of FLOP/s is 17.7
// units high under a roof at 5.
const (
	thumbOne    = 34
	thumbDecade = 33.3
	thumbRoof   = 5
	thumbSlope  = 0.531
)

func thumbX(intensity float64) float64 {
	if !(intensity > 0) {
		return 8
	}
	return min(max(thumbOne+thumbDecade*math.Log10(intensity), 8), 160)
}

// thumbnail is a roofline without text: a solid marker where the launch was measured, a hollow one on the roof, as a bound,
// where it was not.
func thumbnail(l *perf.Launch, lk look) (svg []byte, alt string) {
	if !l.Intensity.Known() || !l.Ridge.Known() {
		return nil, ""
	}
	ridge, x := thumbX(l.Ridge.Value), thumbX(l.Intensity.Value)
	y := thumbRoof + thumbSlope*max(0, ridge-x)
	solid := l.Duration.Tag == perf.Measured
	if solid {
		attainable := l.Profile.Attainable(l.Pipe(), l.Intensity.Value)
		if achieved := l.TotalFLOPs.Value / l.Duration.Value; achieved > 0 && achieved < attainable {
			y += thumbSlope * thumbDecade * math.Log10(attainable/achieved)
		}
	}
	y = min(max(y, 8), 68)
	b := make([]byte, 0, 400)
	b = add(b, svgOpen, `0 0 168 76"><path fill="#777" fill-opacity=".14" stroke="#777" stroke-width="2" d="M-2 `)
	b = num(b, thumbRoof+thumbSlope*(ridge+2))
	b = append(b, 'L')
	b = num(b, ridge)
	b = append(b, ` 5H170V78H-2z"/><path stroke="`...)
	b = append(b, lk.colour...)
	b = append(b, `" stroke-dasharray="2 2" d="M`...)
	b = num(b, x)
	b = append(b, ` 76V`...)
	b = num(b, y+5)
	b = append(b, `"/>`...)
	b = marker(b, lk, x, y, solid)
	b = append(b, `</svg>`...)
	side := "right of"
	if l.Intensity.Value < l.Ridge.Value {
		side = "left of"
	}
	intensity := perf.Significant(l.Intensity.Value)
	if l.Intensity.Value >= 1e5 {
		intensity = perf.FormatCount(l.Intensity.Value)
	}
	return b, "roofline: " + intensity + " FLOP/B, " + side + " ridge " + wholeNumber(l.Ridge.Value)
}

// marker appends a square for bytes, a triangle for FLOPs and a circle otherwise.
func marker(b []byte, lk look, x, y float64, solid bool) []byte {
	paint := `fill="` + lk.colour + `"`
	if !solid {
		paint = `fill="none" stroke="` + lk.colour + `" stroke-width="2"`
	}
	b = add(b, `<path `, paint, ` d="`)
	return append(markerPath(b, lk, x, y), `"/>`...)
}

// markerPath appends the outline of a marker to a path, so that many share one element.
func markerPath(b []byte, lk look, x, y float64) []byte {
	at := func(dx, dy float64) {
		b = append(b, 'M')
		b = num(b, x+dx)
		b = append(b, ' ')
		b = num(b, y+dy)
	}
	switch lk.colour {
	case colourBytes:
		at(-5, -5)
		return append(b, `h10v10h-10z`...)
	case colourFLOPs:
		at(0, -6)
		return append(b, `l6 11h-12z`...)
	}
	at(-5, 0)
	return append(b, `a5 5 0 1 0 10 0a5 5 0 1 0-10 0`...)
}

// gauge is a bar whose full width is the roof, 600 units.
type gauge struct{ b []byte }

func newGauge() *gauge {
	g := &gauge{b: make([]byte, 0, 420)}
	g.b = add(g.b, svgOpen, `0 -4 600 14" preserveAspectRatio="none"><path fill="#777" fill-opacity=".28" d="M0 0h600v10H0z"/>`)
	return g
}

func gaugeX(share float64) float64 { return 600 * min(max(share, 0), 1) }

// solid fills from the left: measured or counted.
func (g *gauge) solid(share float64, colour string) {
	g.b = add(g.b, `<path fill="`, colour, `" d="M0 0h`)
	g.b = num(g.b, gaugeX(share))
	g.b = append(g.b, `v10H0z"/>`...)
}

// hatched fills pale up to the low share and hatched up to the high one: MODELLED.
func (g *gauge) hatched(low, high float64, colour string) {
	g.b = add(g.b, `<path fill="`, colour, `" fill-opacity=".35" d="M0 0h`)
	g.b = num(g.b, gaugeX(low))
	g.b = add(g.b, `v10H0z"/><path stroke="`, colour, `" stroke-width="10" stroke-dasharray="3" d="M`)
	g.b = num(g.b, gaugeX(low))
	g.b = append(g.b, ` 5H`...)
	g.b = num(g.b, gaugeX(high))
	g.b = append(g.b, `"/>`...)
}

// dotted marks the rest of the bar from a share on: excess.
func (g *gauge) dotted(from float64, colour string) {
	g.b = add(g.b, `<path stroke="`, colour, `" stroke-width="3" stroke-dasharray="3 5" d="M`)
	g.b = num(g.b, gaugeX(from))
	g.b = append(g.b, ` 5H600"/>`...)
}

// ticks marks a share, where it is above zero, and the end.
func (g *gauge) ticks(share float64) {
	g.b = append(g.b, `<path fill="#777" d="M`...)
	if share > 0 {
		g.b = num(g.b, gaugeX(share)-1)
		g.b = append(g.b, ` 0h2v10h-2zM`...)
	}
	g.b = append(g.b, `597 0h3v10h-3z"/>`...)
}

func (g *gauge) done() []byte { return append(g.b, `</svg>`...) }

// wholeNumber is a ridge as people say it: 14, 206.
func wholeNumber(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return perf.NotANumber
	}
	return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
}
