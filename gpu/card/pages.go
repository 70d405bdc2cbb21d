package card

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"memwall/gpu/perf"
)

// PageKind is what a page of a KV cache is used for.
type PageKind uint8

// The kinds, in the order in which a square that stands for several pages prefers them.
const (
	PageFree   PageKind = iota
	PageKept            // nobody has it; its contents can be found again
	PagePart            // the last page of one sequence, part filled
	PageOwn             // a full page of one sequence
	PageShared          // several sequences have it
)

// Page is one page of the device.
type Page struct {
	Kind  PageKind
	Owner string // the sequence's name, for PageOwn and PagePart
}

// PageSequence is a row of the table of sequences.
type PageSequence struct {
	Name                        string
	Tokens, Pages, Shared, Last int  // Last: tokens in the last page
	Out                         bool // in host memory
}

// PageMap is the state of a paged KV cache.
type PageMap struct {
	Device     string // "" without one
	Virtual    bool
	Profile    *perf.Profile
	PageTokens int
	PageBytes  int64 // 0 where it is not known
	Pages      []Page
	Total      int // pages; those beyond len(Pages) are free
	Tokens     int // in used pages, each page counted once
	Saved      int // pages that sharing saves
	Reserve    int // tokens that an allocator without pages would reserve a sequence, 0: none
	Sequences  []PageSequence
	HostUsed   int // pages in host memory
	HostTotal  int
}

const (
	mapColumns = 24
	mapSquares = 8 * mapColumns
	squarePace = 23.4 // units from one square to the next
	squareSize = 19
	rowPace    = 22
)

// pagesCard is a map being made: squares that stand for one or several pages.
type pagesCard struct {
	m       *PageMap
	squares []Page
	each    int // pages a square
	count   [PageShared + 1]int
	head    string
}

// Pages is a map of the pages of a KV cache: which are shared, full, part filled and free, what is wasted, what sharing
// saves. A cache of more than 192 pages is drawn with a square for several, by what most of them are.
func Pages(m *PageMap) Card {
	if m == nil || m.Total <= 0 || m.PageTokens <= 0 {
		return Card{}
	}
	c := &pagesCard{m: m}
	for _, p := range m.Pages {
		c.count[min(p.Kind, PageShared)]++
	}
	c.count[PageFree] += m.Total - len(m.Pages)
	c.head = "KV cache: " + wholeCount(c.used()) + " of " + wholeCount(m.Total) + " pages used"
	if c.used() > 0 {
		c.head += ", " + perf.FormatPercent(100*c.waste()) + " of their slots wasted"
	}
	html := ""
	for _, try := range []struct {
		squares int
		labels  bool
		rows    int
	}{{mapSquares, true, 6}, {mapSquares, true, 3}, {mapSquares, false, 3}, {mapSquares / 2, true, 2}, {mapSquares / 4, false, 0}} {
		c.draw(try.squares)
		if html = c.html(try.labels, try.rows); len(html) <= MaxBytes {
			break
		}
	}
	c.draw(mapSquares)
	return Card{HTML: html, Text: c.text()}
}

func (c *pagesCard) used() int {
	return c.count[PagePart] + c.count[PageOwn] + c.count[PageShared]
}

func (c *pagesCard) waste() float64 {
	slots := c.used() * c.m.PageTokens
	return float64(slots-c.m.Tokens) / float64(max(slots, 1))
}

func wholeCount(n int) string { return perf.FormatCount(float64(n)) }

// draw folds the pages into at most so many squares.
func (c *pagesCard) draw(most int) {
	c.each = (c.m.Total + most - 1) / most
	c.squares = c.squares[:0]
	for from := 0; from < c.m.Total; from += c.each {
		to := min(from+c.each, c.m.Total)
		var votes [PageShared + 1]int
		owners := map[string]int{}
		for _, p := range c.m.Pages[min(from, len(c.m.Pages)):min(to, len(c.m.Pages))] {
			votes[min(p.Kind, PageShared)]++
			if p.Owner != "" {
				owners[p.Owner]++
			}
		}
		votes[PageFree] += to - max(from, min(to, len(c.m.Pages)))
		best := PageFree
		for kind := PageFree; kind <= PageShared; kind++ {
			if votes[kind] > 0 && votes[kind] >= votes[best] {
				best = kind
			}
		}
		square := Page{Kind: best}
		if best == PageOwn || best == PagePart {
			for owner, n := range owners {
				if square.Owner == "" || n > owners[square.Owner] || n == owners[square.Owner] && owner < square.Owner {
					square.Owner = owner
				}
			}
		}
		c.squares = append(c.squares, square)
	}
}

// stripes are how a kind is drawn: strokes at heights of a row, each a dashed line over a run of squares.
var stripes = [...][]struct {
	y, width       float64
	colour, opaque string
}{
	PageFree:   {{18, 2, colourGrey, ""}},
	PageKept:   {{2, 2, colourGrey, ""}, {10, 2, colourGrey, ""}, {18, 2, colourGrey, ""}},
	PagePart:   {{10, 18, colourBytes, ".45"}},
	PageOwn:    {{10, 18, colourBytes, ""}},
	PageShared: {{3, 4, colourBytes, ""}, {10, 4, colourBytes, ""}, {17, 4, colourBytes, ""}},
}

// picture draws a run of equal squares as one dashed line; labels name each sequence at its first square.
func (c *pagesCard) picture(labels bool) (svg []byte, alt string, height int) {
	rows := (len(c.squares) + mapColumns - 1) / mapColumns
	height = 4 + rowPace*rows
	b := make([]byte, 0, 1500)
	b = add(b, svgOpen, `0 -4 561 `, strconv.Itoa(height), `">`)
	for kind, lines := range stripes {
		if !slices.ContainsFunc(c.squares, func(p Page) bool { return p.Kind == PageKind(kind) }) {
			continue
		}
		first := lines[0]
		b = add(b, `<path stroke="`, first.colour, `" stroke-width="`, strconv.Itoa(int(first.width)), `" stroke-dasharray="19 4.4"`)
		if first.opaque != "" {
			b = add(b, ` stroke-opacity="`, first.opaque, `"`)
		}
		b = append(b, ` d="`...)
		for _, line := range lines {
			b = c.runs(b, PageKind(kind), line.y)
		}
		b = append(b, `"/>`...)
	}
	if labels {
		b = c.labels(b)
	}
	alt = "page map: " + strconv.Itoa(c.count[PageShared]) + " shared, " + strconv.Itoa(c.count[PageOwn]) + " full, " +
		strconv.Itoa(c.count[PagePart]) + " partly filled, " + strconv.Itoa(c.count[PageFree]+c.count[PageKept]) + " free"
	return append(b, `</svg>`...), alt, height
}

func (c *pagesCard) runs(b []byte, kind PageKind, y float64) []byte {
	for i := 0; i < len(c.squares); {
		row, end := i/mapColumns, i
		for end < len(c.squares) && end/mapColumns == row && c.squares[end].Kind == c.squares[i].Kind {
			end++
		}
		if c.squares[i].Kind == kind {
			b = append(b, 'M')
			b = num(b, squarePace*float64(i%mapColumns))
			b = append(b, ' ')
			b = num(b, y+float64(rowPace*row))
			b = append(b, 'h')
			b = num(b, squarePace*float64(end-i-1)+squareSize)
		}
		i = end
	}
	return b
}

func (c *pagesCard) labels(b []byte) []byte {
	named := map[string]bool{"": true}
	b = append(b, `<g font-family="sans-serif" font-size="12" font-weight="bold" fill="#fff" text-anchor="middle">`...)
	for i, p := range c.squares {
		if p.Kind != PageOwn || named[p.Owner] {
			continue
		}
		named[p.Owner] = true
		b = append(b, `<text x="`...)
		b = num(b, squarePace*float64(i%mapColumns)+squareSize/2.)
		b = append(b, `" y="`...)
		b = strconv.AppendInt(b, int64(14+rowPace*(i/mapColumns)), 10)
		b = append(b, `">`+escaped(clean(p.Owner, 3))+`</text>`...)
	}
	return append(b, `</g>`...)
}

// subline is page, sequences, device.
func (c *pagesCard) subline() []string {
	page := "page of " + wholeCount(c.m.PageTokens) + plural(" token", c.m.PageTokens)
	if c.m.PageBytes > 0 {
		page += ", " + perf.FormatCapacity(float64(c.m.PageBytes))
	}
	parts := []string{page, wholeCount(len(c.m.Sequences)) + plural(" sequence", len(c.m.Sequences))}
	if c.m.Device != "" {
		parts = append(parts, deviceName(c.m.Device, c.m.Virtual, c.m.Profile))
	}
	return parts
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// figures are what is used, saved, wasted and free; in tokens where a page's bytes are not known.
func (c *pagesCard) figures() []figure {
	m := c.m
	amount := func(pages int) string {
		if m.PageBytes > 0 {
			return perf.FormatCapacity(float64(m.PageBytes) * float64(pages))
		}
		return wholeCount(pages) + plural(" page", pages)
	}
	all := []figure{{value: amount(c.used()), label: "in use, of " + amount(m.Total)}}
	if m.Saved > 0 {
		all = append(all, figure{value: amount(m.Saved), label: "saved by sharing"})
	}
	all = append(all, figure{value: perf.FormatPercent(100 * c.waste()), label: "of used slots wasted"})
	free := c.count[PageFree] + c.count[PageKept]
	all = append(all, figure{value: wholeCount(free) + plural(" page", free), label: "free: " + wholeCount(free*m.PageTokens) + " tokens"})
	if m.HostUsed > 0 {
		all = append(all, figure{value: amount(m.HostUsed), label: "in host memory"})
	}
	return all
}

// advice compares with reserving the longest sequence for each.
func (c *pagesCard) advice() string {
	m, tokens, on := c.m, 0, 0
	for _, s := range m.Sequences {
		if !s.Out {
			tokens, on = tokens+s.Tokens, on+1
		}
	}
	if m.Reserve > 0 && on > 0 {
		return "Reserving " + wholeCount(m.Reserve) + " tokens a sequence would waste " + perf.WholePercent(100*(1-float64(tokens)/(float64(m.Reserve)*float64(on))))
	}
	return ""
}

func (c *pagesCard) html(labels bool, rows int) string {
	m := c.m
	var p page
	p.b = make([]byte, 0, MaxBytes)
	p.open(colourBytes)
	p.headline(looks[perf.ToneBytes], c.head)
	p.raw(`<div style="font-size:12px;opacity:.8">`)
	p.text(strings.Join(c.subline(), " · ") + " · ")
	p.tagBox(perf.Executed)
	p.raw("</div>")
	svg, alt, height := c.picture(labels)
	p.image(svg, alt, 561, height, true)
	p.raw(`<div style="font-size:12px">`)
	for _, k := range []struct {
		kind                        PageKind
		glyph, colour, extra, words string
	}{{PageShared, "▤", colourBytes, "", "shared"}, {PageOwn, "■", colourBytes, "", "own"}, {PagePart, "■", colourBytes, ";opacity:.45", "last, part filled"},
		{PageKept, "▤", colourGrey, "", "kept for reuse"}, {PageFree, "▁", colourGrey, "", "free"}} {
		if n := c.count[k.kind]; n > 0 {
			p.raw(`<span style="color:`, k.colour, k.extra, `">`, k.glyph, `</span> `)
			p.text(k.words + " " + wholeCount(n))
			p.raw(" \u2003")
		}
	}
	if c.each > 1 {
		p.text("a square is " + strconv.Itoa(c.each) + " pages")
	}
	p.raw("</div>")
	p.figures(c.figures())
	p.advice(c.advice())
	if rows > 0 && len(m.Sequences) > 0 {
		p.raw(detailOpen, "Per sequence</summary>", tableOpen, "<thead>", rowOpen, leftHead, "sequence</th><th>tokens</th><th>pages</th><th>shared</th><th>last page</th></tr></thead>", bodyOpen)
		for _, s := range m.Sequences[:min(rows, len(m.Sequences))] {
			p.raw("<tr>")
			for i, cell := range c.row(s) {
				if i == 0 {
					p.raw(leftCell)
				} else {
					p.raw("<td>")
				}
				p.text(cell)
			}
		}
		if others := len(m.Sequences) - rows; others > 0 {
			p.raw("<tr>", leftCell, othersText(others))
		}
		p.raw("</tbody></table></details>")
	}
	p.close()
	return p.String()
}

func (c *pagesCard) row(s PageSequence) []string {
	last := strconv.Itoa(s.Last) + " of " + strconv.Itoa(c.m.PageTokens)
	if s.Out {
		last = "in host memory"
	}
	return []string{clean(s.Name, 12), wholeCount(s.Tokens), wholeCount(s.Pages), wholeCount(s.Shared), last}
}

// text draws the map with a letter a square.
func (c *pagesCard) text() string {
	var t twin
	t.headline(c.head)
	sub := c.subline()
	sub[len(sub)-1] += ", " + string(perf.Executed)
	t.joined(sub, " | ")
	var parts []string
	for _, f := range c.figures() {
		parts = append(parts, f.value+" "+f.label)
	}
	t.joined(parts, " | ")
	seen := map[PageKind]bool{}
	names := map[string]string{} // letter → the sequence that has it
	twice := false
	for i := 0; i < len(c.squares); i += mapColumns {
		line := "  "
		for _, p := range c.squares[i:min(i+mapColumns, len(c.squares))] {
			seen[p.Kind] = true
			letter, _ := utf8.DecodeRuneInString(p.Owner)
			if p.Kind == PageOwn || p.Kind == PagePart {
				twice = twice || names[string(letter)] != "" && names[string(letter)] != p.Owner
				names[string(letter)] = p.Owner
			}
			switch p.Kind {
			case PageShared:
				line += "S"
			case PageOwn:
				line += strings.ToUpper(string(letter))
			case PagePart:
				line += strings.ToLower(string(letter))
			case PageKept:
				line += "+"
			default:
				line += "."
			}
		}
		t.verbatim(line)
	}
	var legend []string
	for _, k := range []struct {
		kind  PageKind
		words string
	}{{PageShared, "S shared"}, {PageOwn, "A – Z a sequence's own"}, {PagePart, "small letter part filled"}, {PageKept, "+ kept for reuse"}, {PageFree, ". free"}} {
		if seen[k.kind] {
			legend = append(legend, k.words)
		}
	}
	if twice {
		legend = append(legend, "a letter may stand for several sequences")
	}
	if c.each > 1 {
		legend = append(legend, "each character is "+strconv.Itoa(c.each)+" pages")
	}
	t.sentence("legend: "+strings.Join(legend, ", "), "  ")
	if len(c.m.Sequences) > 0 {
		table := [][]string{{"sequence", "tokens", "pages", "shared", "last page"}}
		for _, s := range c.m.Sequences[:min(12, len(c.m.Sequences))] {
			table = append(table, c.row(s))
		}
		t.table(table, map[int]bool{0: true})
		if others := len(c.m.Sequences) - 12; others > 0 {
			t.sentence(othersText(others), "")
		}
	}
	t.advice(c.advice())
	return t.String()
}
