package card

import (
	"fmt"
	"strings"
)

// FindingsInfo is what the sanitizer found, in plain fields.
type FindingsInfo struct {
	Headline string
	Launches int
	CTAs     int
	Kernels  []string
	Checks   string // what was looked for
	Notes    []string
	List     []FindingRow
}

// FindingRow is one finding.
type FindingRow struct {
	Headline string
	Lines    []string // a line for each party
	At       string   // address and what lies there
	Advice   string
	Text     string // all of it
}

// Findings is the card of a sanitized cell: what is wrong, where both parties stand, and how to mend it; of a clean one, what
// was checked. As many findings are shown as fit.
func Findings(f FindingsInfo) Card {
	c := Card{Text: f.text()}
	for _, limit := range []int{160, 110, 80} {
		for show := min(len(f.List), 6); show >= 0; show-- {
			if c.HTML = f.html(show, limit); len(c.HTML) <= MaxBytes {
				if show == min(len(f.List), 6) || limit == 80 {
					return c
				}
				break
			}
		}
	}
	return c
}

func (f *FindingsInfo) html(show, limit int) string {
	lk := look{"●", colourGood}
	switch {
	case len(f.List) > 0:
		lk = look{"×", colourFault}
	case f.Launches == 0:
		lk = look{"○", colourWaiting}
	}
	var p page
	p.open(lk.colour)
	p.raw(`<div style="font-size:17px;line-height:1.35"><span style="color:`, lk.colour, `">`, lk.glyph, `</span> <b>`)
	p.text(clean(f.Headline, 80))
	p.raw(`</b></div><div style="font-size:12px;opacity:.8">`)
	if len(f.Kernels) > 0 {
		p.raw("<tt>")
		p.text(clean(f.kernels(), 100))
		p.raw("</tt> · ")
	}
	p.text(f.ctas())
	p.raw(` · <span style="border:1px solid;border-radius:3px;padding:0 4px;font-size:11px">EXECUTED</span></div>`)
	for _, r := range f.List[:show] {
		p.raw(`<div style="font-size:13px;margin-top:6px"><b>`)
		p.text(clean(r.Headline, limit))
		p.raw(`</b></div><pre style="margin:2px 0;padding:2px 8px;font:12px monospace;border-left:2px solid `, colourFault, `">`)
		for i, l := range r.Lines {
			if i > 0 {
				p.raw("\n")
			}
			p.text(clean(l, limit))
		}
		if r.At != "" {
			if len(r.Lines) > 0 {
				p.raw("\n")
			}
			p.text(clean(r.At, limit))
		}
		p.raw("</pre>")
		p.advice(clean(r.Advice, limit))
	}
	if more := len(f.List) - show; more > 0 {
		p.raw(`<div style="font-size:13px">`)
		p.text(fmt.Sprintf("%d more: gpu.Sanitize(…) gives them all in its List", more))
		p.raw("</div>")
	}
	if len(f.List) == 0 && f.Launches > 0 {
		p.raw(`<div style="font-size:13px">`)
		p.text("Checked: " + clean(f.Checks, 160))
		p.raw("</div>")
	}
	for _, n := range f.Notes[:min(len(f.Notes), 3)] {
		p.raw(`<div style="font-size:12px;opacity:.8">`)
		p.text(clean(n, limit))
		p.raw("</div>")
	}
	p.close()
	return p.String()
}

func (f *FindingsInfo) kernels() string { return strings.Join(f.Kernels, ", ") }

func (f *FindingsInfo) ctas() string {
	n := grouped(uint64(f.CTAs))
	if f.CTAs == 1 {
		return "1 CTA, all threads"
	}
	return n + " CTAs, all threads"
}

func (f *FindingsInfo) text() string {
	var t twin
	t.headline("Sanitizer: " + lowerFirst(f.Headline))
	if len(f.Kernels) > 0 {
		t.joined([]string{clean(f.kernels(), 200), f.ctas(), "EXECUTED"}, ", ")
	}
	for _, r := range f.List[:min(len(f.List), 20)] {
		for i, l := range strings.Split(r.Text, "\n") {
			indent := "    "
			if i == 0 {
				indent = "  "
			}
			t.sentence(clean(strings.TrimSpace(l), 300), indent)
		}
	}
	if more := len(f.List) - 20; more > 0 {
		t.sentence(fmt.Sprintf("%d more: gpu.Sanitize(...) gives them all in its List", more), "  ")
	}
	if len(f.List) == 0 && f.Launches > 0 {
		t.sentence("checked: "+f.Checks, "  ")
	}
	for _, n := range f.Notes {
		t.sentence(n, "  ")
	}
	return t.String()
}
