// Package card turns counters into cards: what a launch cost, as HTML with inline SVG pictures and as a plain-text twin.
// A card says a verdict with one number, the launch, advice, a gauge, four or five figures and, folded, the source of each.
// Markup keeps to what every notebook client shows (no scripts, no style sheets, pictures as data URIs), is at most 4,096
// bytes, is deterministic, and every value carries its tag.
package card

import "strings"

// MaxBytes is the most HTML that one card may have.
const MaxBytes = 4096

// Card is one output in two forms. Text has lines of at most 80 columns.
type Card struct{ HTML, Text string }

// MIMEBundle is the card as a display_data message carries it: text/plain always, text/html where there is one.
func (c Card) MIMEBundle() map[string]any {
	b := map[string]any{"text/plain": c.Text}
	if c.HTML != "" {
		b["text/html"] = c.HTML
	}
	return b
}

// Empty reports whether there is nothing to show.
func (c Card) Empty() bool { return c.HTML == "" && c.Text == "" }

// SideBySide shows cards next to each other where the output is wide enough, below each other where it is not. The twin
// has one after the other.
func SideBySide(cards ...Card) Card {
	var html, text strings.Builder
	for _, c := range cards {
		if c.Empty() {
			continue
		}
		if text.Len() > 0 {
			text.WriteString("\n\n")
		}
		text.WriteString(c.Text)
		html.WriteString(`<div style="flex:1 1 400px;min-width:0;margin:0 12px 8px 0">`)
		html.WriteString(c.HTML)
		html.WriteString(`</div>`)
	}
	if text.Len() == 0 {
		return Card{}
	}
	return Card{HTML: `<div style="display:flex;flex-wrap:wrap">` + html.String() + `</div>`, Text: text.String()}
}
