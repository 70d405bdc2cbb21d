package worker

import (
	"bytes"
	"fmt"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"memwall/kernel/display"
)

// A plot is shown 600 × 370 pixels large: as wide as a notebook's page, in the golden ratio.
const (
	plotWidth  = 600 * vg.Inch / 96
	plotHeight = 370 * vg.Inch / 96
)

// plotBundle draws a plot of gonum as SVG. Drawing panics where an axis has no range; that is the plot's error.
func plotBundle(p *plot.Plot) (b map[string]any, err error) {
	defer func() {
		if e := recover(); e != nil {
			b, err = nil, fmt.Errorf("cannot be drawn: %v", e)
		}
	}()
	to, err := p.WriterTo(plotWidth, plotHeight, "svg")
	if err != nil {
		return nil, err
	}
	var svg bytes.Buffer
	if _, err := to.WriteTo(&svg); err != nil {
		return nil, err
	}
	alt := "plot"
	if t := strings.TrimSpace(p.Title.Text); t != "" {
		alt = "plot: " + t
	}
	return display.SVGBundle(svg.String(), alt)
}
