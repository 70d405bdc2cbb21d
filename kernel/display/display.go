// Package display is what a cell shows beside text: HTML, Markdown, formulas, pictures, tables, progress.
//
//	display.HTML("<b>bold</b>")           // shown at once; also the cell's value when it is the last expression
//	display.Table(rows)                   // rows: a slice of structs, of maps, of slices; a map
//	p := display.Progress(len(files)); …; p.Add(1)
//
// Everything shown has a plain-text twin, so that it can be read in a terminal, in a diff and in a PDF. HTML keeps to what
// every notebook client renders in untrusted notebooks: pictures as <img> with data, inline styles, tables.
package display

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

// A Publisher takes what cells show. The process that runs cells sets one.
type Publisher interface {
	// Display shows a MIME bundle; id names it for Update, or is empty.
	Display(bundle map[string]any, id string)
	// Update replaces what was shown under id.
	Update(bundle map[string]any, id string)
	// Clear removes the cell's output, with wait when the next output comes.
	Clear(wait bool)
	// Cell is the cell that the calling goroutine belongs to.
	Cell() int
	// Render makes a MIME bundle of any value, as if it were a cell's last expression.
	Render(v any) map[string]any
}

var publisher atomic.Pointer[Publisher]

// SetPublisher sets where output goes; nil: plain text on standard output.
func SetPublisher(p Publisher) {
	if p == nil {
		p = terminal{}
	}
	publisher.Store(&p)
}

func current() Publisher {
	if p := publisher.Load(); p != nil {
		return *p
	}
	return terminal{}
}

// terminal shows plain text where there is no notebook.
type terminal struct{}

func (terminal) Display(b map[string]any, _ string) { fmt.Fprintln(os.Stdout, plain(b)) }
func (terminal) Update(b map[string]any, _ string)  { fmt.Fprintln(os.Stdout, plain(b)) }
func (terminal) Clear(bool)                         {}
func (terminal) Cell() int                          { return 0 }
func (terminal) Render(v any) map[string]any {
	if b := Bundle(v); b != nil {
		return b
	}
	return map[string]any{"text/plain": fmt.Sprint(v)}
}

func plain(b map[string]any) string {
	text, _ := b["text/plain"].(string)
	return text
}

// Bundle is the MIME bundle of a value that shows itself, by a method MIMEBundle() map[string]any; nil for others.
func Bundle(v any) map[string]any {
	if m, ok := v.(interface{ MIMEBundle() map[string]any }); ok {
		return m.MIMEBundle()
	}
	return nil
}

// An Object is something shown, to be shown again or replaced.
type Object struct {
	mu     sync.Mutex
	bundle map[string]any
	id     string
	cell   int // that showed it last
}

var serial atomic.Uint64

func newID() string { return fmt.Sprintf("memwall-%d-%d", os.Getpid(), serial.Add(1)) }

// show publishes a bundle at once.
func show(bundle map[string]any) *Object {
	p := current()
	o := &Object{bundle: bundle, id: newID(), cell: p.Cell()}
	p.Display(bundle, o.id)
	return o
}

// MIMEBundle is what is shown, by MIME type; "text/plain" is always among them.
func (o *Object) MIMEBundle() map[string]any {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.bundle)
}

// ShownIn says whether a cell has shown the object already: as its last expression it need not be shown twice.
func (o *Object) ShownIn(cell int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.cell == cell
}

// String is the plain-text twin.
func (o *Object) String() string { return plain(o.MIMEBundle()) }

// Replace shows another value in this one's place: p := display.HTML("…"); p.Replace(x).
func (o *Object) Replace(v any) {
	p := current()
	b := p.Render(v)
	o.mu.Lock()
	o.bundle = b
	o.mu.Unlock()
	p.Update(b, o.id)
}

// Show shows values of any type, each as it would show as a cell's last expression.
func Show(values ...any) {
	for _, v := range values {
		p := current()
		if o, ok := v.(*Object); ok {
			p.Display(o.MIMEBundle(), o.id)
			continue
		}
		p.Display(p.Render(v), "")
	}
}

// Clear removes what the cell has shown so far; with wait it stays until the next output comes, so that nothing flickers.
func Clear(wait bool) { current().Clear(wait) }

// HTML shows HTML. Clients strip scripts and <style> from untrusted notebooks; inline styles stay.
func HTML(html string) *Object {
	return show(map[string]any{"text/html": html, "text/plain": textOf(html)})
}

// Markdown shows Markdown.
func Markdown(text string) *Object {
	return show(map[string]any{"text/markdown": text, "text/plain": text})
}

// Math shows a formula in LaTeX, without dollar signs.
func Math(latex string) *Object {
	return show(map[string]any{"text/latex": "$$" + latex + "$$", "text/plain": latex})
}

// Text shows plain text.
func Text(text string) *Object { return show(map[string]any{"text/plain": text}) }

// textOf is the text of HTML: tags away, ends of rows and paragraphs as line ends, entities read.
func textOf(html string) string {
	var b strings.Builder
	for html != "" {
		i := strings.IndexByte(html, '<')
		if i < 0 {
			b.WriteString(html)
			break
		}
		b.WriteString(html[:i])
		rest := html[i:]
		j := strings.IndexByte(rest, '>')
		if j < 0 || len(rest) < 2 || !isTagStart(rest[1]) {
			b.WriteByte('<')
			html = rest[1:]
			continue
		}
		name := tagName(rest[1:j])
		closing := rest[1] == '/'
		html = rest[j+1:]
		switch {
		case (name == "script" || name == "style") && !closing:
			if k := strings.Index(strings.ToLower(html), "</"+name); k >= 0 {
				html = html[k:]
			} else {
				html = ""
			}
		case name == "br", closing && breaks[name]:
			b.WriteByte('\n')
		case closing && (name == "td" || name == "th"):
			b.WriteByte(' ')
		case name == "img":
			b.WriteString(attribute(rest[:j], "alt"))
		}
	}
	var lines []string
	for line := range strings.Lines(entities.Replace(b.String())) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// tagName is the lower-case name of a tag's inside: "br" of "br /", "td" of "/TD".
func tagName(inside string) string {
	inside = strings.TrimPrefix(inside, "/")
	if i := strings.IndexAny(inside, " /\n\t"); i >= 0 {
		inside = inside[:i]
	}
	return strings.ToLower(inside)
}

func isTagStart(c byte) bool {
	return c == '/' || c == '!' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

var breaks = map[string]bool{"p": true, "div": true, "tr": true, "li": true, "h1": true, "h2": true, "h3": true, "h4": true, "pre": true, "summary": true, "table": true}

var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", "&quot;", `"`, "&#34;", `"`, "&#39;", "'", "&nbsp;", " ", "&times;", "×", "&minus;", "−")

// attribute is the value of a tag's attribute in double quotes.
func attribute(tag, name string) string {
	_, rest, ok := strings.Cut(tag, name+`="`)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}
