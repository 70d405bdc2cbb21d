package card

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// columns is the widest line of a twin: PDF breaks longer ones.
const columns = 80

// twin collects the plain-text form of a card: ASCII and µ × ± – → … only, because LaTeX's mono font has no more.
type twin struct{ lines []string }

// twinSpelling replaces characters that the twin may not have.
var twinSpelling = map[rune]string{
	'·': "|", '−': "-", '÷': "/", '≥': ">=", '≤': "<=", '⌈': "ceil(", '⌉': ")", '⌊': "floor(", '⌋': ")", '\u00a0': " ", '“': `"`,
	'”': `"`, '‘': "'", '’': "'", '■': "", '▲': "", '●': "", '○': "", '²': "^2", '³': "^3", '←': "<-", '—': "-",
}

// plain spells a string with the characters that a twin may have; others become a question mark.
func plain(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return plainSlow(s)
		}
	}
	return s
}

func plainSlow(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		switch {
		case r >= ' ' && r <= '~':
			b = append(b, byte(r))
		case r == 'µ', r == '×', r == '±', r == '–', r == '→', r == '…':
			b = utf8.AppendRune(b, r)
		case r == '\t':
			b = append(b, ' ')
		default:
			if spelled, ok := twinSpelling[r]; ok {
				b = append(b, spelled...)
			} else {
				b = append(b, '?')
			}
		}
	}
	return string(b)
}

// headline is the first line: the card's, without its glyph, small unless it starts with a name.
func (t *twin) headline(s string) { t.sentence(lowerFirst(s), "") }

// lowerFirst starts a sentence small unless its first word is a name: "L2-bound", "B is FASTER".
func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	next, _ := utf8.DecodeRuneInString(s[n:])
	if !unicode.IsLower(next) {
		return s
	}
	return string(unicode.ToLower(r)) + s[n:]
}

// advice is one sentence behind an arrow.
func (t *twin) advice(s string) {
	if s != "" {
		t.sentence("→ "+lowerFirst(s), "  ")
	}
}

// sentence wraps words; later lines start with indent.
func (t *twin) sentence(s, indent string) {
	s = plain(s)
	if utf8.RuneCountInString(s) <= columns && s != "" && s[0] != ' ' && s[len(s)-1] != ' ' && !strings.Contains(s, "  ") {
		t.lines = append(t.lines, s)
		return
	}
	line, used := make([]byte, 0, 2*columns), 0
	flush := func() {
		t.lines = append(t.lines, string(line))
		line, used = append(line[:0], indent...), len(indent)
	}
	fresh := true // nothing but the indent on the line
	for _, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		if !fresh && used+1+n > columns {
			flush()
			fresh = true
		}
		for used+n > columns { // a word longer than a line
			r := []rune(word)
			line = append(line, string(r[:columns-used])...)
			word = string(r[columns-used:])
			flush()
			n = utf8.RuneCountInString(word)
		}
		if !fresh {
			line = append(line, ' ')
			used++
		}
		line = append(line, word...)
		used += n
		fresh = false
	}
	if !fresh {
		t.lines = append(t.lines, string(line))
	}
}

// joined puts parts on as few lines as fit, separated by sep.
func (t *twin) joined(parts []string, sep string) {
	line := ""
	for _, p := range parts {
		p = plain(p)
		if p == "" {
			continue
		}
		if line != "" && utf8.RuneCountInString(line)+len(sep)+utf8.RuneCountInString(p) > columns {
			t.sentence(strings.TrimRight(line, " "), "  ")
			line = ""
		}
		if line != "" {
			line += sep
		}
		line += p
	}
	if line != "" {
		t.sentence(line, "  ")
	}
}

// verbatim keeps the spaces of a line and cuts it at the last column.
func (t *twin) verbatim(s string) {
	s = plain(s)
	if utf8.RuneCountInString(s) > columns {
		s = string([]rune(s)[:columns-1]) + "…"
	}
	t.lines = append(t.lines, strings.TrimRight(s, " "))
}

// table writes aligned columns: the first left, the others as left says.
func (t *twin) table(rows [][]string, left map[int]bool) {
	var widths []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(plain(c)))
		}
	}
	total := -2
	for _, w := range widths {
		total += w + 2
	}
	for ; total > columns; total-- { // names give way, the widest first; numbers never
		widest := -1
		for i, w := range widths {
			if left[i] && w > 12 && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	for _, r := range rows {
		line := ""
		for i, c := range r {
			c = plain(c)
			if utf8.RuneCountInString(c) > widths[i] {
				c = plain(clean(c, widths[i]))
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			if i > 0 {
				line += "  "
			}
			if left[i] {
				line += c + pad
			} else {
				line += pad + c
			}
		}
		t.verbatim(line)
	}
}

func (t *twin) String() string { return strings.Join(t.lines, "\n") }
