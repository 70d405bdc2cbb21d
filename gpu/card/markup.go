package card

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"memwall/gpu/perf"
)

// Colours of the limits. Text is never coloured: no colour has enough contrast on both white and black, so a glyph and a
// word always go along.
const (
	colourBytes   = "#27c"
	colourFLOPs   = "#b60"
	colourWaiting = "#a5c"
	colourGood    = "#086"
	colourFault   = "#d43"
	colourGrey    = "#777"
)

// look is the glyph and the colour of a tone.
type look struct{ glyph, colour string }

var looks = map[perf.Tone]look{
	perf.ToneNeutral: {"●", colourGrey},
	perf.ToneBytes:   {"■", colourBytes},
	perf.ToneFLOPs:   {"▲", colourFLOPs},
	perf.ToneWaiting: {"○", colourWaiting},
	perf.ToneGood:    {"●", colourGood},
	perf.ToneFault:   {"×", colourFault},
}

// page collects markup. Every string that comes from outside goes through text, which escapes it.
type page struct{ b []byte }

func (p *page) raw(s ...string) {
	for _, x := range s {
		p.b = append(p.b, x...)
	}
}

// text escapes a string and puts no-break spaces between numbers and units.
func (p *page) text(s string) { p.b = appendEscaped(p.b, s) }

func (p *page) String() string { return string(p.b) }

// escaped is s as text writes it.
func escaped(s string) string { return string(appendEscaped(nil, s)) }

func appendEscaped(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '<':
			b = append(b, "&lt;"...)
		case '>':
			b = append(b, "&gt;"...)
		case '&':
			b = append(b, "&amp;"...)
		case '"':
			b = append(b, "&#34;"...)
		case '\'':
			b = append(b, "&#39;"...)
		case ' ':
			if i > 0 && isDigit(s[i-1]) && startsWithUnit(s[i+1:]) {
				b = append(b, "\u00a0"...)
			} else {
				b = append(b, ' ')
			}
		default:
			b = append(b, c)
		}
	}
	return b
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// startsWithUnit tells whether a string begins with a unit: an optional prefix and s, B, FLOP, Hz …, or a prefix alone.
func startsWithUnit(s string) bool {
	end := 0
	for end < len(s) && (s[end] == '/' || s[end] >= utf8.RuneSelf || isLetter(s[end])) {
		end++
	}
	word := s[:end]
	if unit, rate := strings.CutSuffix(word, "/s"); rate {
		word = unit
	}
	switch word {
	case "s", "B", "FLOP", "FLOP/B", "Hz", "KiB", "MiB", "GiB", "TiB":
		return true
	}
	prefix, size := utf8.DecodeRuneInString(word)
	switch word[min(size, len(word)):] {
	case "s", "B", "FLOP", "Hz":
		return strings.ContainsRune("pnµmkMGTPE", prefix)
	case "":
		return strings.ContainsRune("kMGTPE", prefix) && size > 0
	}
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// clean makes a foreign string fit for one line: control and invisible characters become a question mark, and what is longer
// than limit runes, or twice as many bytes of markup, is cut in the middle, because both ends of a kernel's name tell it apart.
func clean(s string, limit int) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			plain = false
			break
		}
	}
	if !plain {
		s = strings.Map(func(r rune) rune {
			if r == '\t' {
				return ' '
			}
			if r == utf8.RuneError || !unicode.IsPrint(r) {
				return '?'
			}
			return r
		}, s)
	}
	if plain && len(s) <= limit && !strings.ContainsAny(s, `<>&"'`) {
		return s
	}
	runes, bytes := utf8.RuneCountInString(s), escapedLen(s)
	if runes <= limit && bytes <= 2*limit {
		return s
	}
	r := []rune(s)
	keep := min(limit, runes)
	for {
		cut := s
		if keep < runes {
			head := (keep - 1) / 2
			cut = string(r[:head]) + "…" + string(r[runes-(keep-1-head):])
		}
		size := escapedLen(cut)
		if size <= 2*limit || keep <= 4 {
			return cut
		}
		keep = min(keep-1, keep*2*limit/size)
	}
}

// escapedLen is the size of s in markup.
func escapedLen(s string) int {
	n := len(s)
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<', '>':
			n += 3
		case '&', '"', '\'':
			n += 4
		}
	}
	return n
}

// open starts a card: a rule in the colour of the limiting resource.
func (p *page) open(colour string) {
	p.raw(`<div style="max-width:640px;margin:4px 0;border-left:3px solid `, colour, `;padding:0 0 2px 12px;line-height:1.5">`)
}

func (p *page) close() { p.raw("</div>") }

func (p *page) headline(l look, words string) {
	p.raw(`<div style="font-size:17px;line-height:1.35"><span style="color:`, l.colour, `">`, l.glyph, `</span> <b>`)
	p.text(words)
	p.raw("</b></div>")
}

// tagBox is a tag in a box, dashed for MODELLED.
func (p *page) tagBox(t perf.Tag) {
	line := "solid"
	if t == perf.Modelled {
		line = "dashed"
	}
	p.raw(`<span style="border:1px `, line, `;border-radius:3px;padding:0 4px">`, string(t), `</span>`)
}

func (p *page) advice(text string) {
	if text == "" {
		return
	}
	p.raw(`<div style="font-size:13px">→ `)
	p.text(text)
	p.raw("</div>")
}

// image is an SVG in an <img>, the one form that every client shows; wide ones take the width that there is.
func (p *page) image(svg []byte, alt string, width, height int, wide bool) {
	p.raw(`<img src="data:image/svg+xml;base64,`)
	p.b = base64.StdEncoding.AppendEncode(p.b, svg)
	p.raw(`" alt="`)
	p.text(alt)
	p.raw(`" width="`, strconv.Itoa(width), `" height="`, strconv.Itoa(height), `"`)
	if wide {
		p.raw(` style="width:100%;height:auto">`)
	} else {
		p.raw(` align="right" hspace="8">`)
	}
}

func (p *page) caption(text string) {
	p.raw(`<div style="font-size:11px;opacity:.8;text-align:right;line-height:1.2">`)
	p.text(text)
	p.raw("</div>")
}

// figure is one of the four or five numbers under the gauge.
type figure struct {
	value, label string
	modelled     bool // shown in italics
}

// figures is a table of one row whose cells stand below each other where the output is narrow, so that numbers never touch.
func (p *page) figures(fs []figure) {
	p.raw(`<table style="margin:4px 0;line-height:1.3"><tr style="background:none;text-align:left">`)
	for _, f := range fs {
		p.raw(`<td style="display:inline-block;width:114px;text-align:left;vertical-align:top;padding:0 8px 0 0"><b style="font-size:15px;white-space:nowrap">`)
		p.italic(f.value, f.modelled)
		p.raw(`</b><br><small>`)
		p.text(f.label)
		p.raw(`</small></td>`)
	}
	p.raw(`</tr></table>`)
}

func (p *page) italic(s string, modelled bool) {
	if modelled {
		p.raw("<i>")
		p.text(s)
		p.raw("</i>")
		return
	}
	p.text(s)
}

// Markup of a data table. Clients align cells right and fix column widths, so both are said.
const (
	tableOpen = `<table width="100%" cellpadding="3" style="margin:4px 0;font-size:12px;table-layout:auto">`
	rowOpen   = `<tr align="right">`
	// The body of a table of many rows beside a plot. HTML lets end tags of cells and rows be left out, and a table of twelve
	// rows has a hundred of them.
	bodyOpen   = `<tbody align="right">`
	leftCell   = `<td style="text-align:left">`
	leftHead   = `<th style="text-align:left">`
	detailOpen = `<details style="font-size:13px;margin-top:4px"><summary>`
)

// bar is a small bar in a table: a share from 0 to 1 of its cell.
func bar(share float64, colour string) string {
	return `<div style="width:` + percentWidth(share) + `;height:8px;background:` + colour + `"></div>`
}

func percentWidth(share float64) string {
	if !(share > 0) {
		return "0%"
	}
	return strconv.Itoa(int(min(max(share*100+0.5, 1), 100))) + "%"
}

// deviceName is "virtual h200" for a virtual device, the model for a real one.
func deviceName(device string, virtual bool, p *perf.Profile) string {
	if virtual || p == nil {
		return clean(strings.Replace(device, ":", " ", 1), 40)
	}
	return clean(p.Model, 40)
}

// launchName is name<<<grid,CTA>>> with dynamic shared memory where there is some.
func launchName(l *perf.Launch) string {
	name := l.Kernel
	if name == "" {
		name = l.Function
	}
	s := clean(name, 48) + "<<<" + extent(l.Shape.Grid) + "," + extent(l.Shape.CTA)
	if l.Shape.DynamicShared > 0 {
		s += "," + strconv.Itoa(l.Shape.DynamicShared)
	}
	return s + ">>>"
}

func extent(d [3]uint32) string {
	x, y, z := max(d[0], 1), max(d[1], 1), max(d[2], 1)
	u := func(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
	switch {
	case z > 1:
		return "(" + u(x) + "," + u(y) + "," + u(z) + ")"
	case y > 1:
		return "(" + u(x) + "," + u(y) + ")"
	}
	return u(x)
}
