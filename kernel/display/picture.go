package display

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"html"
	"image"
	"image/png"
	"math"
	"strconv"
	"strings"
)

// maxPixels bounds the pictures that are shown: 8192².
const maxPixels = 1 << 26

// SVG shows a drawing. It goes as <img> with the data in it, which every client shows and none strips; so it can't link to
// other files. The drawing's <title> is the text for readers without pictures.
func SVG(svg string) *Object {
	b, err := SVGBundle(svg, "")
	if err != nil {
		return show(map[string]any{"text/plain": "display.SVG: " + err.Error()})
	}
	return show(b)
}

// SVGBundle is the MIME bundle of a drawing; alt is its text, empty: its <title>.
func SVGBundle(svg, alt string) (map[string]any, error) {
	width, height, title, err := measure(svg)
	if err != nil {
		return nil, err
	}
	if alt == "" {
		alt = title
	}
	if alt == "" {
		alt = "drawing"
	}
	style := ""
	if width > 480 { // shrink with a narrow page
		style = fmt.Sprintf(` style="width:100%%;max-width:%dpx;height:auto"`, width)
	}
	img := fmt.Sprintf(`<img src="data:image/svg+xml;base64,%s" width="%d" height="%d"%s alt="%s">`,
		base64.StdEncoding.EncodeToString([]byte(svg)), width, height, style, html.EscapeString(alt))
	return map[string]any{"text/html": img, "text/plain": fmt.Sprintf("[%s, %d × %d]", alt, width, height)}, nil
}

// measure reads size in pixels and title of a drawing.
func measure(svg string) (width, height int, title string, err error) {
	d := xml.NewDecoder(strings.NewReader(svg))
	d.Strict = false
	root := false
	for {
		t, err := d.Token()
		if err != nil {
			if root {
				return width, height, "", nil
			}
			return 0, 0, "", fmt.Errorf("this is no SVG: it must have an <svg> element")
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		if !root {
			if e.Name.Local != "svg" {
				return 0, 0, "", fmt.Errorf("this is no SVG: its first element is <%s>, not <svg>", e.Name.Local)
			}
			root = true
			width, height = size(e.Attr)
			continue
		}
		if e.Name.Local == "title" {
			d.DecodeElement(&title, &e)
		}
		return width, height, strings.TrimSpace(title), nil
	}
}

// size is that of an <svg> element: width and height, else those of its viewBox, else CSS's default of 300 × 150.
func size(attrs []xml.Attr) (width, height int) {
	var w, h, vw, vh float64
	for _, a := range attrs {
		switch a.Name.Local {
		case "width":
			w = pixels(a.Value)
		case "height":
			h = pixels(a.Value)
		case "viewBox":
			if f := strings.FieldsFunc(a.Value, func(r rune) bool { return r == ' ' || r == ',' }); len(f) == 4 {
				vw, vh = pixels(f[2]), pixels(f[3])
			}
		}
	}
	switch {
	case w > 0 && h > 0:
	case vw <= 0 || vh <= 0:
		w, h = 300, 150
	case w > 0:
		h = w * vh / vw
	case h > 0:
		w = h * vw / vh
	default:
		w, h = vw, vh
	}
	return max(1, int(math.Round(w))), max(1, int(math.Round(h)))
}

// unitPixels are CSS's units in pixels.
var unitPixels = map[string]float64{"": 1, "px": 1, "pt": 96. / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4}

// pixels reads a length; 0 where it is none or relative.
func pixels(s string) float64 {
	s = strings.TrimSpace(s)
	n := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz%")
	x, err := strconv.ParseFloat(n, 64)
	if unit, ok := unitPixels[s[len(n):]]; ok && err == nil && x > 0 && x < 1e5 {
		return x * unit
	}
	return 0
}

// PNG shows a picture in PNG form.
func PNG(data []byte) *Object {
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return show(map[string]any{"text/plain": fmt.Sprintf("display.PNG: these %d bytes are no PNG picture: %v", len(data), err)})
	}
	return show(pngBundle(data, c.Width, c.Height))
}

func pngBundle(data []byte, width, height int) map[string]any {
	return map[string]any{
		"image/png":  base64.StdEncoding.EncodeToString(data),
		"text/plain": fmt.Sprintf("[picture, %d × %d]", width, height),
	}
}

// Image shows a picture of package image.
func Image(m image.Image) *Object {
	b, err := ImageBundle(m)
	if err != nil {
		return show(map[string]any{"text/plain": "display.Image: " + err.Error()})
	}
	return show(b)
}

// ImageBundle is the MIME bundle of a picture.
func ImageBundle(m image.Image) (map[string]any, error) {
	if m == nil {
		return nil, fmt.Errorf("there is no picture: it is nil")
	}
	r := m.Bounds()
	if r.Empty() || r.Dx() > maxPixels/r.Dy() {
		return nil, fmt.Errorf("a picture of %d × %d cannot be shown: it must have 1 to %d pixels", r.Dx(), r.Dy(), maxPixels)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return nil, err
	}
	return pngBundle(b.Bytes(), r.Dx(), r.Dy()), nil
}
