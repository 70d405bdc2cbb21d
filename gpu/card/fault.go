package card

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FaultInfo is why and where a launch stopped, in plain fields: the device's own type stays behind its seam.
type FaultInfo struct {
	Kind        string // "out of bounds", "misaligned address" …
	Instruction string // "ld.shared.f32"
	Kernel      string // "transpose/2_tile", or module and function
	Device      string // "virtual:h200"
	Virtual     bool
	Located     bool // CTA, Warp, Lane are known
	CTA         [3]uint32
	CTAs        uint64 // of the grid; 0: unknown
	Warp, Lane  int
	Warps       int // of a CTA; 0: unknown
	Address     uint64
	Space       string // "global", "shared" …; "" where no address is involved
	Bytes       int    // width of the access
	Allocation  string // what lies nearest: "8 B past the end of allocation …"
	Module      string // "transpose/2_tile.ptx"
	PTXLine     int
	PTXText     string // the line of PTX
	File        string // CUDA C++ source, "" where unknown
	Lines       []SourceLine
	SourceLine  int // of File; the line that carets mark
	Detail      string
	Advice      string
}

// SourceLine is one line of source around a fault.
type SourceLine struct {
	Number int
	Text   string
}

// Fault is the card of a launch that stopped: where, by whom, and the source line with a caret. Names too long for a card are
// cut.
func Fault(f FaultInfo) Card {
	c := faultCard(f)
	for share := 2; len(c.HTML) > MaxBytes && share <= 16; share *= 2 {
		c.HTML = faultCard(f.cut(share)).HTML
	}
	return c
}

// cut shortens every string to a share of what a card usually has room for.
func (f FaultInfo) cut(share int) FaultInfo {
	for _, s := range []struct {
		text  *string
		limit int
	}{{&f.Kind, 40}, {&f.Instruction, 40}, {&f.Kernel, 48}, {&f.Device, 40}, {&f.Space, 12}, {&f.Allocation, 160}, {&f.Module, 60},
		{&f.PTXText, 120}, {&f.File, 60}, {&f.Detail, 200}, {&f.Advice, 200}} {
		*s.text = clean(*s.text, max(s.limit/share, 8))
	}
	lines := f.Lines
	f.Lines = nil
	for _, l := range lines[:min(len(lines), 5)] {
		f.Lines = append(f.Lines, SourceLine{l.Number, clean(expandTabs(l.Text), max(90/share, 8))})
	}
	return f
}

func faultCard(f FaultInfo) Card {
	lk := look{"×", colourFault}
	title := upperFirst(clean(f.Kind, 40))
	if title == "" {
		title = "Launch stopped"
	}
	where := clean(f.Kernel, 48)
	device := deviceName(f.Device, f.Virtual, nil)
	tag := "MEASURED"
	if f.Virtual {
		tag = "EXECUTED"
	}
	var p page
	p.b = make([]byte, 0, 2048)
	p.open(lk.colour)
	p.raw(`<div style="font-size:17px;line-height:1.35"><span style="color:`, lk.colour, `">×</span> <b>`)
	p.text(title)
	if f.tellsInstruction() {
		p.text(": " + clean(f.Instruction, 40))
	}
	if where != "" {
		p.raw(" in <tt>")
		p.text(where)
		p.raw("</tt>")
	}
	p.raw(`</b></div><div style="font-size:12px;opacity:.8">the launch stopped · `)
	p.text(device)
	p.raw(` · <span style="border:1px solid;border-radius:3px;padding:0 4px;font-size:11px">`, tag, `</span></div>`)
	if fs := f.figures(); len(fs) > 0 {
		p.figures(fs)
	}
	f.source(&p)
	if f.Detail != "" {
		p.raw(`<div style="font-size:13px">`)
		p.text(clean(f.Detail, 200))
		p.raw("</div>")
	}
	p.advice(clean(f.Advice, 200))
	f.ptx(&p)
	p.close()
	return Card{HTML: p.String(), Text: f.text(title, where, device, tag)}
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || r == utf8.RuneError {
		return s
	}
	return strings.ToUpper(string(r)) + s[n:]
}

func (f *FaultInfo) cta() string { return fmt.Sprintf("(%d,%d,%d)", f.CTA[0], f.CTA[1], f.CTA[2]) }

func (f *FaultInfo) figures() []figure {
	var out []figure
	if f.Located {
		cta, warp := "CTA", "warp"
		if f.CTAs > 0 {
			cta = "CTA of " + grouped(f.CTAs)
		}
		if f.Warps > 0 {
			warp = "warp of " + strconv.Itoa(f.Warps)
		}
		out = append(out, figure{f.cta(), cta, false}, figure{strconv.Itoa(f.Warp), warp, false}, figure{strconv.Itoa(f.Lane), "lane", false})
	}
	if f.Space != "" {
		label := "address, " + clean(f.Space, 12)
		if f.Bytes > 0 {
			label += ", " + strconv.Itoa(f.Bytes) + " B"
		}
		out = append(out, figure{fmt.Sprintf("0x%x", f.Address), label, false})
	}
	return out
}

func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// sourceRows are the source lines, numbered, and the carets under the one that failed.
func (f *FaultInfo) sourceRows() (rows []string, carets string) {
	width := 1
	for _, l := range f.Lines {
		width = max(width, len(strconv.Itoa(l.Number)))
	}
	for _, l := range f.Lines {
		text := clean(strings.TrimRight(expandTabs(l.Text), " "), 90)
		rows = append(rows, fmt.Sprintf("%*d | %s", width, l.Number, text))
		if l.Number == f.SourceLine {
			indent := len(text) - len(strings.TrimLeft(text, " "))
			n := utf8.RuneCountInString(text) - indent
			carets = strings.Repeat(" ", width) + " | " + strings.Repeat(" ", indent) + strings.Repeat("^", max(n, 1))
		}
	}
	return rows, carets
}

func expandTabs(s string) string { return strings.ReplaceAll(s, "\t", "    ") }

func (f *FaultInfo) source(p *page) {
	if len(f.Lines) == 0 && f.File == "" && f.Allocation == "" {
		return
	}
	if f.Allocation != "" {
		p.raw(`<div style="font-size:13px">`)
		p.text(clean(f.Allocation, 160))
		p.raw("</div>")
	}
	if len(f.Lines) == 0 {
		return
	}
	rows, carets := f.sourceRows()
	p.raw(`<pre style="margin:4px 0;padding:4px 8px;font:12px monospace;border-left:2px solid `, colourFault, `">`)
	p.text(clean(f.File, 60))
	for i, r := range rows {
		p.raw("\n")
		if f.Lines[i].Number == f.SourceLine {
			number, text, _ := strings.Cut(r, " | ")
			p.text(number + " | ")
			p.raw("<b>")
			p.text(text)
			p.raw(`</b>`)
			bar, mark, _ := strings.Cut(carets, "^")
			p.raw("\n")
			p.text(bar)
			p.raw(`<span style="color:`, colourFault, `">^`, mark, `</span>`)
			continue
		}
		p.text(r)
	}
	p.raw("</pre>")
}

func (f *FaultInfo) ptx(p *page) {
	if f.Module == "" {
		return
	}
	p.raw(detailOpen, `PTX</summary><pre style="margin:4px 0;font:12px monospace">`)
	p.text(clean(f.Module, 60))
	if f.PTXLine > 0 {
		p.raw(":", strconv.Itoa(f.PTXLine))
	}
	if f.PTXText != "" {
		p.raw("\n  ")
		p.text(clean(strings.TrimSpace(f.PTXText), 120))
	}
	p.raw("</pre></details>")
}

// tellsInstruction reports whether the instruction says more than the kind: a trap is a trap, and an assertion a call.
func (f *FaultInfo) tellsInstruction() bool {
	return f.Instruction != "" && !strings.EqualFold(f.Instruction, f.Kind) && f.Kind != "assertion failed"
}

func (f *FaultInfo) text(title, where, device, tag string) string {
	var t twin
	head := "fault: " + lowerFirst(title)
	if f.tellsInstruction() {
		head = "fault: " + clean(f.Instruction, 40) + " " + lowerFirst(title)
	}
	if where != "" {
		head += " in " + where
	}
	t.sentence(head, "  ")
	if f.Located {
		line := fmt.Sprintf("CTA %s warp %d lane %d", f.cta(), f.Warp, f.Lane)
		if f.Space != "" {
			line += fmt.Sprintf(": address 0x%x, %s", f.Address, clean(f.Space, 12))
		}
		t.sentence(line, "  ")
	}
	if f.Allocation != "" {
		t.sentence(clean(f.Allocation, 160), "  ")
	}
	t.joined([]string{device, tag}, ", ")
	if f.Module != "" && f.PTXLine > 0 {
		t.sentence(clean(f.Module, 60)+":"+strconv.Itoa(f.PTXLine), "  ")
	}
	if len(f.Lines) > 0 {
		t.verbatim(clean(f.File, 60))
		rows, carets := f.sourceRows()
		for i, r := range rows {
			t.verbatim(r)
			if f.Lines[i].Number == f.SourceLine {
				t.verbatim(carets)
			}
		}
	}
	if f.Detail != "" {
		t.sentence(clean(f.Detail, 200), "  ")
	}
	t.advice(clean(f.Advice, 200))
	return t.String()
}
